//! The page of time lines: what it says, that it believes and runs nothing of a log, that its decoder
//! finds what ours finds, and how a browser shows it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use data_encoding::BASE64;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use topas_mpi_data::{TraceLog, TraceSkips};
use topas_testkit::browser::page_without_policy;
use topas_trace::{
    BODY, BlockContent, BlockHead, CallArguments, CallEvent, HEAD, MOST_OF_OBJECT, TraceBlock,
    Writer, checksum, most_of_epoch,
};

use super::page::{has_its_parts_and_scripts, measured, measured_as_read};
use super::synthetic_mpi::Launch;
use super::synthetic_trace::SyntheticTrace;
use super::{shown, view};

const DECODER: &str = "../topas-render/src/timeline/decode.js";

/// A directory with the log of a run that was made up.
fn made_up(run: &SyntheticTrace) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes = Vec::new();
    run.write(&mut bytes).unwrap();
    fs::write(dir.path().join("topas-mpi.n001.trace"), bytes).unwrap();
    dir
}

pub fn page(run: &SyntheticTrace, args: &[&str]) -> String {
    shown(made_up(run).path(), &[&["--timeline"][..], args].concat())
}

#[test]
fn the_page_names_the_late_rank_and_has_the_numbers_of_all() {
    let page = page(&SyntheticTrace::default(), &[]);
    has_its_parts_and_scripts(&page, "ring: time line of 8 ranks", 4);
    assert!(page.contains("Rank 5 is late"), "{page:.3000}");
    let body = page.split_once("<h2 id=\"ranks-title\"").unwrap().1;
    let rows: Vec<&str> = body.split("<th scope=\"row\">").skip(1).collect();
    assert_eq!(rows.len(), 8);
    assert!(rows[5].starts_with("5</th><td class=\"l\">n001</td>"), "{}", rows[5]);
    // A page goes into a file as all pages do, and a log is not replaced.
    let dir = made_up(&SyntheticTrace::default());
    let log = "topas-mpi.n001.trace";
    assert_eq!(shown(dir.path(), &["--timeline", log, "--html", "run.html"]), "");
    assert_eq!(fs::read_to_string(dir.path().join("run.html")).unwrap(), page);
    let kept = view(dir.path(), &["--timeline", log, "--html", log]);
    assert!(kept.code == 2 && kept.err.contains("is not replaced"), "{}", kept.err);
}

/// A log without the profile of its run is no text of one, and says what shows it.
#[test]
fn of_a_log_alone_it_is_said_what_shows_it() {
    let dir = made_up(&SyntheticTrace::default());
    for args in [["--mpi", "."], ["--mpi", "topas-mpi.n001.trace"], ["--why", "."]] {
        let said = view(dir.path(), &args);
        assert_eq!((said.code, &*said.out), (3, ""), "{args:?}: {}", said.err);
        assert!(!said.err.contains("bad date"), "{args:?}: {}", said.err);
        assert!(said.err.contains("topasview --timeline"), "{args:?}: {}", said.err);
        assert!(said.err.contains("topas-mpi collect"), "{args:?}: {}", said.err);
    }
    // With a profile beside it, it stands for the run.
    fs::write(dir.path().join("topas-mpi.out"), Launch::default().text()).unwrap();
    assert!(!shown(dir.path(), &["--mpi", "topas-mpi.n001.trace"]).is_empty());
}

#[test]
fn a_large_log_stays_beside_the_page() {
    let inside = page(&SyntheticTrace::default(), &[]);
    let beside = page(&SyntheticTrace::default(), &["--log-beside"]);
    assert!(inside.contains("<script id=\"blocks\"") && !inside.contains("type=\"file\""));
    assert!(!beside.contains("<script id=\"blocks\"") && beside.contains("type=\"file\""));
    assert!(beside.contains("<b>topas-mpi.n001.trace</b>") && beside.len() < inside.len());
}

#[test]
fn the_page_runs_its_own_script_alone_and_opens_no_network() {
    let page = page(&SyntheticTrace::default(), &[]);
    let script = page.rsplit_once("<script>").unwrap().1.split_once("</script>").unwrap().0;
    let style = page.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    let hash = |text: &str| BASE64.encode(&Sha256::digest(text.as_bytes()));
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action \
         'none'",
        hash(script),
        hash(style)
    );
    assert!(page.contains(&policy), "{page:.600}");
    for word in ["http:", "https:", "//cdn", " src=", "@import", "url("] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn what_a_log_says_of_itself_is_text() {
    let run = SyntheticTrace {
        exe: "/tmp/</script><script>alert(1)</script>",
        host: "<img src=x onerror=alert(2)>\u{202e}",
        id: "</title><b>",
        ..SyntheticTrace::default()
    };
    let page = page(&run, &[]);
    assert_eq!(page.matches("<script").count(), 4, "facts, index, blocks, and the script");
    assert!(!page.contains("<img") && !page.contains("<b>") && !page.contains('\u{202e}'));
    assert!(page.contains("&lt;img src=x onerror=alert(2)&gt;%E2%80%AE"));
}

#[test]
fn ranks_that_were_killed_are_named() {
    let dir = made_up(&SyntheticTrace::default());
    let path = dir.path().join("topas-mpi.n001.trace");
    let mut bytes = fs::read(&path).unwrap();
    kill(bytes.chunks_mut(HEAD + BODY).filter(|block| block[10] == 2).nth(3).unwrap());
    fs::write(&path, &bytes).unwrap();
    let page = shown(dir.path(), &["--timeline"]);
    assert!(page.contains("1 rank ended without MPI_Finalize: 3."), "{page:.3000}");
}

/// Makes the facts of a rank those of one that was killed.
fn kill(facts: &mut [u8]) {
    let mut head = BlockHead::decode(facts).unwrap();
    let used = HEAD + head.used() as usize;
    let place = facts[..used].windows(8).position(|text| text == b"\nstate 1").unwrap();
    facts[place + 7] = b'0';
    head.check = checksum(&head, &facts[HEAD..used]);
    facts[..HEAD].copy_from_slice(&head.encode());
}

#[test]
fn wrong_inputs_are_told() {
    let dir = made_up(&SyntheticTrace::default());
    fs::write(dir.path().join("other"), "no log").unwrap();
    for (args, code, text) in [
        (&["--timeline", "other"][..], 1, "other holds no event log"),
        (&["--timeline", "no-such.trace"], 1, "cannot read no-such.trace"),
        (&["--timeline", "--mpi"], 2, "--mpi is no option of --timeline"),
        (&["--timeline", "--csv"], 2, "--csv is no option of --timeline"),
        (&["--timeline", "--launch", "nobody"], 3, "no launch nobody in the event logs"),
        (&["--log-beside"], 2, "--timeline"),
    ] {
        let told = view(dir.path(), args);
        assert!(told.code == code && told.err.contains(text), "{args:?}: {}", told.err);
    }
    let none = view(tempfile::tempdir().unwrap().path(), &["--timeline"]);
    assert!(none.code == 3 && none.err.contains("no event log in this directory"), "{}", none.err);
}

#[test]
fn a_damaged_log_is_shown_as_far_as_it_goes() {
    let dir = made_up(&SyntheticTrace::default());
    let path = dir.path().join("topas-mpi.n001.trace");
    let mut bytes = fs::read(&path).unwrap();
    let whole = bytes.clone();
    bytes[HEAD + 50] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let told = view(dir.path(), &["--timeline"]);
    let sentence = "1 block of rank 0 is damaged, 0.0";
    assert_eq!(told.code, 1, "{}", told.err);
    assert!(told.err.starts_with("topasview: warning: "), "{}", told.err);
    assert!(told.err.contains(sentence) && told.out.contains(sentence), "{}", told.err);
    let words = "For whom the ranks waited is not known: of 1 of 8 ranks, the log is damaged";
    assert!(told.out.contains(words) && !told.out.contains("is late"), "{:.3000}", told.out);
    let row = told.out.split_once(">0 (damaged)</th>").expect("a row").1;
    assert!(row.split_once("</tr>").expect("its end").0.contains("not known"), "{row:.500}");
    assert!(!told.out.contains("overwritten"), "their log was not full");
    // Of any part, at any place.
    for place in (0..bytes.len()).step_by(40_001) {
        fs::write(&path, &bytes[place..]).unwrap();
        let told = view(dir.path(), &["--timeline", "--quiet"]);
        assert!(matches!(told.code, 0 | 1), "{place}: {}", told.err);
    }
    // Nothing can be read: no page.
    let mut bytes = whole;
    for block in bytes.chunks_mut(HEAD + BODY).filter(|block| block[10] == 1) {
        block[HEAD + 50] ^= 1;
    }
    fs::write(&path, &bytes).unwrap();
    let told = view(dir.path(), &["--timeline"]);
    assert_eq!((told.code, &*told.out), (1, ""));
    assert!(told.err.contains("error: no call in these logs can be read"), "{}", told.err);
}

#[test]
fn a_log_that_was_cut_is_not_another_launch() {
    let dir = made_up(&SyntheticTrace::default());
    let path = dir.path().join("topas-mpi.n001.trace");
    let bytes = fs::read(&path).unwrap();
    // Rank by rank, as ranks append their blocks at their ends.
    let mut blocks: Vec<&[u8]> = bytes.chunks(HEAD + BODY).collect();
    blocks.sort_by_key(|block| block[12]);
    fs::write(&path, &blocks.concat()[..10 * (HEAD + BODY) + 9000]).unwrap();
    let told = view(dir.path(), &["--timeline"]);
    assert_eq!(told.code, 1, "{}", told.err);
    let words = "the file is cut: it has 664360 B, and had 720896 B or more; ranks that are whole: 0 to 4; ranks that \
                 are there in part: 5; ranks that are not in it: 6, 7";
    assert!(told.err.contains(words), "{}", told.err);
    assert!(
        told.out
            .contains("A log was cut after it was written. 2 ranks of the launch are not there.")
    );
    for false_words in ["another launch", "several hosts", "is late"] {
        assert!(!told.out.contains(false_words), "{false_words}: {:.3000}", told.out);
    }
}

/// The same words as of `topas-mpi replay` and `topas-mpi trace`.
#[test]
fn of_several_launches_it_is_told_which_is_drawn() {
    let dir = made_up(&SyntheticTrace { ranks: 3, ..SyntheticTrace::default() });
    let newer = SyntheticTrace { ranks: 2, id: "made-up-2", ..SyntheticTrace::default() };
    let newer = made_up(&newer);
    let other = dir.path().join("topas-mpi.n002.trace");
    fs::copy(newer.path().join("topas-mpi.n001.trace"), other).unwrap();
    let told = view(dir.path(), &["--timeline"]);
    let said = "topasview: the logs hold 2 launches; the newest is taken, and --launch takes another: made-up-2 (2 \
                ranks), made-up-1 (3 ranks)\n";
    assert_eq!((told.code, &*told.err), (0, said));
    has_its_parts_and_scripts(&told.out, "ring: time line of 2 ranks", 4);
    assert!(told.out.contains("The logs hold another launch"), "{:.3000}", told.out);
    let quiet = view(dir.path(), &["--timeline", "--quiet"]);
    assert_eq!((quiet.code, &*quiet.err), (0, ""));
    let asked = view(dir.path(), &["--timeline", "--launch", "made-up-1"]);
    assert_eq!((asked.code, &*asked.err), (0, ""));
    has_its_parts_and_scripts(&asked.out, "ring: time line of 3 ranks", 4);
    let none = view(dir.path(), &["--timeline", "--launch", "nobody"]);
    assert_eq!(none.code, 3);
    assert!(none.err.contains("there are: made-up-2 (2 ranks), made-up-1"), "{}", none.err);
}

#[test]
fn ranks_that_are_not_in_the_logs_are_told() {
    let dir = made_up(&SyntheticTrace::default());
    let path = dir.path().join("topas-mpi.n001.trace");
    let bytes = fs::read(&path).unwrap();
    let without: Vec<&[u8]> =
        bytes.chunks(HEAD + BODY).filter(|block| ![1, 2].contains(&block[12])).collect();
    fs::write(&path, without.concat()).unwrap();
    let told = view(dir.path(), &["--timeline"]);
    let warning = "topasview: warning: ranks 1, 2 of 8 are not in these logs\n  hint: name the logs of all hosts\n";
    assert_eq!((told.code, &*told.err), (1, warning));
    assert!(
        told.out.contains("2 ranks of the launch are not in these logs."),
        "{:.3000}",
        told.out
    );
    has_its_parts_and_scripts(&told.out, "ring: time line of 6 of 8 ranks", 4);
    let quiet = view(dir.path(), &["--timeline", "--quiet"]);
    assert_eq!((quiet.code, &*quiet.err), (1, ""));
}

/// All events of a log as `topas-mpi trace --events` prints them.
fn events(path: &Path) -> String {
    let log = TraceLog::open(path).unwrap();
    let mut out = String::from(
        "rank,thread,routine,began_ns,length_ns,peer,source,tag,sent,received,communicator,number,path,\
         received_tag\n",
    );
    let origin = log.processes.iter().map(|process| process.began()).min().unwrap();
    let cell = |number: i32| if number < 0 { String::new() } else { number.to_string() };
    let mut skips = TraceSkips::default();
    for process in &log.processes {
        let each = |thread, event: &CallEvent| {
            let began = process.nanoseconds(event.began);
            let length = process.nanoseconds(event.ended) - began;
            let a = &event.arguments;
            out += &format!(
                "{},{thread},{},{},{length},{},{},{},{},{},{:x},{},{},{}\n",
                process.rank,
                process.routine(event.routine),
                began - origin,
                cell(a.peer),
                cell(a.source),
                cell(a.tag),
                a.sent,
                a.received,
                a.communicator,
                a.number,
                a.path,
                cell(a.received_tag)
            );
            Ok(())
        };
        log.events(process, &mut skips, each).unwrap();
    }
    assert!(skips.is_empty());
    out
}

/// The same by the decoder of the page; None if there is no node to run it.
fn events_by_script(path: &Path) -> Option<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut node = Command::new("node");
    node.arg(here.join("tests/cli/timeline_oracle.js")).arg(here.join(DECODER)).arg(path);
    let told = node.stderr(Stdio::inherit()).output().ok()?;
    assert!(told.status.success(), "{}", told.status);
    Some(String::from_utf8(told.stdout).unwrap())
}

/// A block of events with arguments of any size.
fn any_block() -> Vec<u8> {
    let mut random = 7u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let first = (1 << 50) + 5;
    let head = BlockHead { first, process: 1000, shift: 3, ..BlockHead::new(BlockContent::Events) };
    let mut block = Box::new(TraceBlock { head, body: [0; BODY] });
    let mut writer = Box::new(Writer::new());
    writer.begin(&mut block);
    let mut clock = first;
    loop {
        let began = clock + (next() >> (24 + next() % 40));
        clock = began + (next() >> (24 + next() % 40));
        let wide = next() >> (next() % 64);
        let arguments = CallArguments {
            peer: (next() % 5) as i32 - 2,
            source: next() as i32,
            tag: next() as i32 >> (next() % 32),
            received_tag: if wide % 5 == 0 { next() as i32 & i32::MAX } else { -1 },
            path: next() as u32,
            sent: wide,
            received: next() >> (next() % 64),
            communicator: if wide % 3 == 0 { next() } else { 1 },
            number: if wide % 7 == 0 { next() } else { 4 },
        };
        let event = CallEvent { routine: (next() % 6) as u16, began, ended: clock, arguments };
        let fits = match wide % 11 {
            0 => writer.put_with_supplement(&mut block, &event, most_of_epoch(20), |epoch| {
                epoch.epoch(next() as u32 >> 9, true);
                (0..wide % 20).for_each(|_| epoch.rank(next() as u32, next() >> (next() % 64)));
            }),
            1 => writer.put_with_supplement(&mut block, &event, MOST_OF_OBJECT, |object| {
                object.object(next(), b"a name");
            }),
            _ => writer.put(&mut block, &event),
        };
        if !fits {
            break;
        }
    }
    block.close(0, writer.last());
    [&block.head.encode()[..], &block.body].concat()
}

#[test]
fn the_script_reads_the_events_that_we_read() {
    let dir = made_up(&SyntheticTrace { ranks: 3, steps: 5000, ..SyntheticTrace::default() });
    let path = dir.path().join("topas-mpi.n001.trace");
    let Some(told) = events_by_script(&path) else {
        eprintln!("skipped: the_script_reads_the_events_that_we_read: there is no node");
        return;
    };
    assert!(told == events(&path), "the made up run");
    // The facts of its first rank, and events of another kind.
    let mut log = fs::read(&path).unwrap();
    let facts = log.chunks_mut(HEAD + BODY).find(|block| block[10] == 2).unwrap();
    // Its calls go on for days behind the latest moment that it tells.
    kill(facts);
    fs::write(&path, [&any_block()[..], &*facts].concat()).unwrap();
    let (told, own) = (events_by_script(&path).unwrap(), events(&path));
    assert!(own.lines().count() > 500);
    for (told, own) in told.lines().zip(own.lines()) {
        assert_eq!(told, own);
    }
    assert_eq!(told.len(), own.len());
}

#[test]
#[ignore = "cargo xtask test --browser"]
fn a_browser_shows_time_lines_readably() {
    let page = page_without_policy(&page(&SyntheticTrace::default(), &[]));
    measured(&page, include_str!("page.js"), |_, _| {});
}

/// What a reader does: zooms, moves, sorts, chooses a call and a state, all of it with the keyboard or
/// the mouse; and what then stands there.
#[test]
#[ignore = "cargo xtask test --browser"]
fn a_browser_moves_in_time_lines() {
    let page = page(&SyntheticTrace::default(), &[]);
    measured_as_read(&page, include_str!("timeline.js"), |seen, what| {
        let text = |key: &str| seen[key].as_str().unwrap_or_default().to_owned();
        assert_eq!(seen["errors"], Value::Array(Vec::new()), "{what}");
        assert!(text("whole").contains("; 5216 calls"), "{what}");
        // The late rank computes where the others wait.
        assert!(seen["lateComputes"].as_f64().unwrap() > 0.9, "{what}");
        assert!(seen["othersCompute"].as_f64().unwrap() < 0.5, "{what}");
        assert!(seen["zoomed"].as_f64().unwrap() < 0.4, "the wheel zooms in: {what}");
        assert!(seen["stays"].as_f64().unwrap() < 0.02, "around the pointer: {what}");
        assert!(seen["moved"].as_f64().unwrap() > 0.04, "dragging moves: {what}");
        for word in ["Waitall", "Took", "wait for late sender", "Message from rank"] {
            assert!(text("call").contains(word), "{word}: {what}");
        }
        assert!(
            text("arrows").starts_with("In view") && seen["ink"].as_f64().unwrap() > 0.0,
            "{what}"
        );
        assert_eq!(text("first"), "rank 5", "sorted by delays: {what}");
        assert!(text("summary").contains("200 times in view"), "{what}");
        assert_eq!(seen["inBins"], 200, "{what}");
        assert_eq!(seen["bins"], 12, "{what}");
        assert_eq!(seen["longest"], 5, "{what}");
        assert!(text("row").starts_with("rank 5: computing 9"), "{what}");
        // The rank that is late, at the time for which another one waited longest for it.
        for word in ["rank 5", "computing"] {
            assert!(text("late").contains(word), "{word}: {what}");
        }
        let (began, ended) =
            (seen["lateBegan"].as_f64().unwrap(), seen["lateEnded"].as_f64().unwrap());
        assert!(
            began < seen["from"].as_f64().unwrap() && seen["to"].as_f64().unwrap() < ended,
            "{what}"
        );
        assert!(
            text("lateWords").starts_with("rank 5: the longest delay that arose here ended at "),
            "{what}"
        );
    });
}

/// A page that has no calls opens the log, and no other file.
#[test]
#[ignore = "cargo xtask test --browser"]
fn a_browser_opens_the_log_beside_the_page() {
    let dir = made_up(&SyntheticTrace::default());
    let log = fs::read(dir.path().join("topas-mpi.n001.trace")).unwrap();
    let page = shown(dir.path(), &["--timeline", "--log-beside"]);
    let script = include_str!("timeline_file.js").replace("LOG_IN_BASE64", &BASE64.encode(&log));
    measured_as_read(&page, &script, |seen, what| {
        assert_eq!(seen["errors"], Value::Array(Vec::new()), "{what}");
        let text = |key: &str| seen[key].as_str().unwrap().to_owned();
        assert!(text("before").contains("open the log to see single calls"), "{what}");
        assert!(
            text("wrong").contains("is none of the logs from which this page was made"),
            "{what}"
        );
        assert!(text("after").contains("; 5216 calls"), "{what}");
        assert_eq!(seen["hidden"], true, "{what}");
        assert!(text("summary").starts_with("MPI_Waitall: 1600 times in view"), "{what}");
    });
}

/// What Chromium shows of `run.html` in a directory, as its reader moves in it; the page opens this log, if it has no
/// calls.
fn browsed(dir: &Path, log: &str, width: &str) -> Value {
    let mut node = Command::new("node");
    node.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/page.js"));
    let told = node.args(["run.html", log, width]).current_dir(dir).output().unwrap();
    let err = String::from_utf8_lossy(&told.stderr);
    assert!(told.status.success(), "{err}");
    serde_json::from_slice(&told.stdout).unwrap()
}

/// Many ranks and a log beside the page, as a reader opens both: each view is drawn whole, and of the log only
/// about what is in view is read.
#[test]
#[ignore = "cargo xtask test --browser"]
fn a_browser_moves_in_time_lines_of_many_ranks() {
    let dir = made_up(&SyntheticTrace { ranks: 256, steps: 3000, ..SyntheticTrace::default() });
    let log = "topas-mpi.n001.trace";
    shown(dir.path(), &["--timeline", log, "--log-beside", "--html", "run.html"]);
    for width in ["1280", "390"] {
        let told = browsed(dir.path(), log, width);
        assert_eq!(told["faults"], Value::Array(Vec::new()), "{told}");
        let step = |name: &str| {
            let steps = told["steps"].as_array().unwrap();
            steps
                .iter()
                .find(|step| step["name"] == name)
                .unwrap_or_else(|| panic!("{name}: {told}"))
        };
        let view = |name: &str| step(name)["view"].as_str().unwrap().to_owned();
        assert!(view("open").contains("sums of calls; open the log"), "{told}");
        assert!(view("whole").contains("; sums of "), "{told}");
        for name in ["zoom-100", "zoom-1000", "zoom-100000", "move"] {
            let view = view(name);
            let calls = view.split_once("); ").unwrap_or_else(|| panic!("{name}: {told}")).1;
            let calls = calls.split(' ').next().unwrap().replace('\u{202f}', "");
            // Of each row that is in view, three parts of a block at most: of a row there are 10,000 calls.
            let calls: u64 = calls.parse().unwrap();
            assert!(calls > 0 && calls < 220 * 3 * 1100, "{name}: {calls} calls: {told}");
        }
        // Ten times what is the goal for 100,000,000 calls: for a machine that does much else.
        for (name, most) in [("open", 10_000.0), ("zoom-1000", 3000.0), ("move", 3000.0)] {
            assert!(step(name)["ms"].as_f64().unwrap() < most, "{name}: {told}");
        }
    }
}

/// What node prints of parts of the script without a page; None if there is no node to run it.
fn by_node(script: &str, parts: &[&str]) -> Option<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut node = Command::new("node");
    node.arg(here.join("tests/cli").join(script));
    node.args(parts.iter().map(|part| here.join("../topas-render/src/timeline").join(part)));
    let told = node.output().ok()?;
    let err = String::from_utf8_lossy(&told.stderr);
    assert!(told.status.success(), "{script}: {err}");
    Some(String::from_utf8_lossy(&told.stdout).into_owned())
}

#[test]
fn estimated_waits_add_up_to_their_sum() {
    match by_node("timeline_estimate.js", &["decode.js", "data.js"]) {
        Some(told) => assert_eq!(told, "200 sums\n"),
        None => eprintln!("skipped: estimated_waits_add_up_to_their_sum: there is no node"),
    }
}

#[test]
fn lengths_have_three_digits_and_no_thousand() {
    match by_node("timeline_lengths.js", &["decode.js", "data.js", "picture.js"]) {
        Some(told) => assert_eq!(told, "9 lengths\n"),
        None => eprintln!("skipped: lengths_have_three_digits_and_no_thousand: there is no node"),
    }
}

#[test]
fn parts_of_a_log_near_each_other_are_read_as_one() {
    match by_node("timeline_bytes.js", &["decode.js", "data.js"]) {
        Some(told) => assert_eq!(told, "4 cases\n"),
        None => {
            eprintln!("skipped: parts_of_a_log_near_each_other_are_read_as_one: there is no node")
        }
    }
}

#[test]
fn an_idle_browser_reads_the_calls_around_the_pointer() {
    match by_node("timeline_ahead.js", &["ahead.js"]) {
        Some(told) => assert_eq!(told, "4 views\n"),
        None => eprintln!(
            "skipped: an_idle_browser_reads_the_calls_around_the_pointer: there is no node"
        ),
    }
}

/// The page as it is, with its policy: it draws, and what stands in the log runs nowhere.
#[test]
#[ignore = "cargo xtask test --browser"]
fn a_browser_runs_the_script_of_the_page_alone() {
    let run = SyntheticTrace {
        exe: "</script><script>document.title='bad'</script>",
        ..SyntheticTrace::default()
    };
    let text = page(&run, &[]);
    let text = text.replace("</body>", "<script>document.title = 'bad'</script></body>");
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("run.html"), text).unwrap();
    let told = browsed(dir.path(), "none", "1280");
    assert_eq!(told["faults"], Value::Array(Vec::new()), "{told}");
    let whole = told["steps"].as_array().unwrap().last().unwrap();
    assert!(whole["view"].as_str().unwrap().contains(" calls"), "{told}");
    let title = told["title"].as_str().unwrap();
    assert!(!title.is_empty() && title != "bad", "{told}");
}
