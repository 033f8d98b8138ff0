//! The tool as users call it.

#[path = "../../topas-mpi-data/examples/generate-trace/synthetic.rs"]
mod synthetic;

use std::path::Path;
use std::process::Command;

use synthetic::SyntheticTrace;
use topas_trace::{BlockContent, BlockHead, HEAD, LENGTH, checksum};

#[test]
fn help_and_version_are_told_on_standard_output() {
    for (option, text) in [("--help", "Usage: topas-mpi"), ("--version", env!("CARGO_PKG_VERSION"))]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_topas-mpi")).arg(option).output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{option}");
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(out.contains(text), "{option}: {out}");
    }
}

/// A log of one rank that says this of itself.
fn log_of(facts: &[u8]) -> Vec<u8> {
    let mut head =
        BlockHead { process: 7, filled: facts.len() as u64, ..BlockHead::new(BlockContent::Facts) };
    head.check = checksum(&head, facts);
    let mut bytes = [&head.encode()[..], facts].concat();
    bytes.resize(LENGTH, 0);
    assert!(bytes.len() > HEAD);
    let events = BlockHead { process: 7, ..BlockHead::new(BlockContent::Events) };
    bytes.extend_from_slice(&events.encode());
    bytes.resize(2 * LENGTH, 0);
    bytes
}

#[test]
fn what_a_log_says_does_nothing_to_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("run.topas");
    std::fs::write(&log, log_of(b"host a b\x1b]0;x\x07\npid 1\x1b[2J\n")).unwrap();
    let output =
        Command::new(env!("CARGO_BIN_EXE_topas-mpi")).arg("trace").arg(&log).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && !out.contains(['\x1b', '\x07']), "{out}");
    assert!(out.contains("a?b%1B]0;x%07") && out.contains("1%1B[2J"), "{out}");
}

/// What a command says of a log with these bytes: exit code, standard output, and standard error.
fn told(dir: &Path, bytes: &[u8], args: &[&str]) -> (i32, String, String) {
    let log = dir.join("run.n001.trace");
    std::fs::write(&log, bytes).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_topas-mpi"));
    let output = command.args(args).arg("run.n001.trace").current_dir(dir).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (output.status.code().unwrap(), out, err)
}

#[test]
fn what_of_a_log_is_damaged_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let mut whole = Vec::new();
    SyntheticTrace::default().write(&mut whole).unwrap();
    // Rank by rank, as ranks append their blocks at their ends.
    let mut blocks: Vec<&[u8]> = whole.chunks(LENGTH).collect();
    blocks.sort_by_key(|block| block[12]);
    let whole = blocks.concat();
    let told = |bytes: &[u8], args: &[&str]| told(dir.path(), bytes, args);
    let (code, out, err) = told(&whole, &["replay"]);
    assert_eq!((code, &*err), (0, ""), "{out}");
    assert!(out.contains("8 of 8 ranks") && out.contains("parallel efficiency"), "{out}");

    // A byte of the events of rank 3.
    let mut one = whole.clone();
    one[6 * LENGTH + HEAD + 100] ^= 1;
    let warning = "topas-mpi: warning: run.n001.trace: 1 block of rank 3 is damaged, 0.0";
    for args in [&["trace"][..], &["trace", "--events"], &["trace", "--chrome"], &["replay"]] {
        let (code, _, err) = told(&one, args);
        assert!(code == 1 && err.starts_with(warning), "{args:?}: {code} {err}");
        assert_eq!(err.lines().count(), 1, "{args:?}: {err}");
    }
    let (_, out, _) = told(&one, &["replay"]);
    assert!(
        out.contains("7 of 8 ranks") && out.contains("No efficiencies: they need all"),
        "{out}"
    );
    assert!(out.contains("Left out, because the log is damaged: 1 block of rank 3"), "{out}");
    let (_, out, _) = told(&one, &["replay", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["efficiencies"], serde_json::Value::Null);
    assert_eq!((&json["left_out"][0]["rank"], &json["cut"]), (&3.into(), &false.into()));

    // Cut in the events of rank 5.
    let (code, out, err) = told(&whole[..10 * LENGTH + 9000], &["replay"]);
    assert!(code == 1 && err.contains("the file is cut: it has 664360 B"), "{err}");
    assert!(out.contains("No efficiencies") && !out.contains("launches"), "{out}");
    assert!(out.contains("Of 2 ranks there is no log: the file was cut."), "{out}");

    // All events.
    let mut none = whole.clone();
    for block in none.chunks_mut(LENGTH).filter(|block| block[10] == 1) {
        block[HEAD + 100] ^= 1;
    }
    for (args, error) in [
        (&["trace"][..], "no call in these logs can be read"),
        (&["trace", "--events"], "no call in these logs can be read"),
        (&["replay"], "no rank of this launch can be replayed"),
    ] {
        let (code, out, err) = told(&none, args);
        assert_eq!((code, &*out), (1, ""), "{args:?}");
        assert!(err.contains(error), "{args:?}: {err}");
    }
}

/// A log of which each block is made anew: its head, and the facts of its process.
fn changed(log: &[u8], change: impl Fn(&mut BlockHead, &mut String)) -> Vec<u8> {
    let mut all = Vec::new();
    for block in log.chunks(LENGTH) {
        let mut head = BlockHead::decode(block).unwrap();
        let mut body = block[HEAD..HEAD + head.used() as usize].to_vec();
        let mut facts = String::new();
        if block[10] == 2 {
            facts = String::from_utf8(body).unwrap();
        }
        change(&mut head, &mut facts);
        if block[10] == 2 {
            head.filled = facts.len() as u64;
        }
        body = if block[10] == 2 { facts.into_bytes() } else { block[HEAD..].to_vec() };
        head.check = checksum(&head, &body[..head.used() as usize]);
        body.resize(LENGTH - HEAD, 0);
        all.extend([&head.encode()[..], &body].concat());
    }
    all
}

/// What is shown of a log that holds two launches, of 3 ranks and of 2.
#[test]
fn of_several_launches_the_newest_is_taken_and_the_others_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let of = |ranks, steps, id| {
        let mut log = Vec::new();
        SyntheticTrace { ranks, steps, id, late: 1, ..SyntheticTrace::default() }
            .write(&mut log)
            .unwrap();
        log
    };
    // Both began at the same moment: then the id tells which is the newer one.
    let old = of(3, 30, "made-up-1");
    let new = changed(&of(2, 10, "made-up-2"), |head, _| head.process += 5000);
    let both = [old.clone(), new].concat();
    let both = |args: &[&str]| told(dir.path(), &both, args);
    let said = "topas-mpi: the logs hold 2 launches; the newest is taken, and --launch takes another: made-up-2 (2 \
                ranks), made-up-1 (3 ranks)\n";
    for args in [
        &["trace"][..],
        &["trace", "--events"],
        &["trace", "--chrome"],
        &["trace", "--paraver", "run"],
        &["replay"],
        &["replay", "--json"],
    ] {
        let (code, _, err) = both(args);
        assert_eq!((code, &*err), (0, said), "{args:?}");
    }
    let (_, out, _) = both(&["trace"]);
    assert_eq!(out.lines().count(), 2 + 2, "{out}");
    let (_, out, _) = both(&["trace", "--events"]);
    let ranks: std::collections::BTreeSet<&str> =
        out.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(ranks.into_iter().collect::<Vec<_>>(), ["0", "1"]);
    let first = out.lines().nth(1).unwrap().split(',').nth(3).unwrap().parse::<u64>().unwrap();
    assert!(first < 1_000_000, "times begin with the launch that is shown: {first} ns");
    let (_, out, _) = both(&["trace", "--chrome"]);
    assert_eq!(out.matches("process_name").count(), 2);
    let (_, out, _) = both(&["replay"]);
    assert!(out.starts_with("launch made-up-2: 2 of 2 ranks"), "{out}");
    // The other one is as if it were alone.
    let alone = |args: &[&str]| told(dir.path(), &old, args);
    for args in [&["trace"][..], &["trace", "--events"], &["trace", "--chrome"]] {
        assert_eq!(both(&[args, &["--launch", "made-up-1"]].concat()), alone(args), "{args:?}");
    }
    for command in ["trace", "replay"] {
        let (code, out, err) = both(&[command, "--launch", "nobody"]);
        assert_eq!((code, &*out), (1, ""), "{command}");
        assert!(err.contains("no launch nobody") && err.contains("made-up-2 (2 ranks)"), "{err}");
    }
}

#[test]
fn ranks_that_are_not_in_the_logs_are_told_as_damage_is() {
    let dir = tempfile::tempdir().unwrap();
    let mut whole = Vec::new();
    SyntheticTrace::default().write(&mut whole).unwrap();
    let without = |ranks: &[u8]| -> Vec<u8> {
        whole
            .chunks(LENGTH)
            .filter(|block| !ranks.contains(&block[12]))
            .flatten()
            .copied()
            .collect()
    };
    for (lacks, words) in
        [(&[2][..], "rank 2 of 8 is"), (&[0, 1, 2, 7], "ranks 0 to 2, 7 of 8 are")]
    {
        let log = without(lacks);
        for args in [&["trace"][..], &["trace", "--events"], &["trace", "--perfetto"], &["replay"]]
        {
            let log_path = dir.path().join("run.n001.trace");
            std::fs::write(&log_path, &log).unwrap();
            let mut command = Command::new(env!("CARGO_BIN_EXE_topas-mpi"));
            let output = command.args(args).arg(&log_path).output().unwrap();
            let err = String::from_utf8(output.stderr).unwrap();
            let warning = format!(
                "topas-mpi: warning: {words} not in these logs\n  hint: name the logs of all hosts\n"
            );
            assert_eq!((output.status.code(), err), (Some(1), warning), "{args:?}");
            assert!(!output.stdout.is_empty(), "{args:?}: the rest is shown");
        }
    }
    // Nobody asked for them.
    let (code, _, err) = told(dir.path(), &without(&[2]), &["trace", "--rank", "3"]);
    assert_eq!((code, &*err), (0, ""));
    let (code, _, _) = told(dir.path(), &without(&[2]), &["trace", "--rank", "2"]);
    assert_eq!(code, 1);
}

#[test]
fn a_log_without_any_call_shows_nothing() {
    let dir = tempfile::tempdir().unwrap();
    for args in [&["trace"][..], &["trace", "--events"], &["trace", "--chrome"], &["replay"]] {
        let (code, out, err) = told(dir.path(), b"", args);
        assert_eq!((code, &*out), (1, ""), "{args:?}");
        assert!(err.contains("run.n001.trace holds no event log"), "{args:?}: {err}");
        assert_eq!(err.matches("error").count(), 1, "{args:?}: {err}");
    }
}

#[test]
fn a_replay_tells_whose_end_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let mut whole = Vec::new();
    SyntheticTrace::default().write(&mut whole).unwrap();
    let killed = changed(&whole, |head, facts| {
        if [2, 3, 4].contains(&head.rank) {
            *facts = facts.replace("\nstate 1\n", "\nstate 0\n");
        }
    });
    let (code, out, err) = told(dir.path(), &killed, &["replay"]);
    assert_eq!(code, 0, "the log is whole: {err}");
    assert!(
        err.starts_with("topas-mpi: warning: ranks 2 to 4 ended without MPI_Finalize: their end is not in the log\n"),
        "{err}"
    );
    assert!(out.contains("Efficiencies of the part of the run that the log has:"), "{out}");
    assert!(out.contains("ranks 2 to 4 ended without MPI_Finalize"), "{out}");
    let (_, out, _) = told(dir.path(), &killed, &["replay", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["without_finalize"], serde_json::json!([2, 3, 4]));
}
