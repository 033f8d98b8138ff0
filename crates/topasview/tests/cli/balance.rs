//! The default view says first what costs time: made runs, each with one cause.

use topas_testkit::with_lengths;

use super::{directory, shown};

/// What a PE did; `end=` is `exit:0`, hosts have 8 PEs.
#[derive(Clone, Copy)]
pub struct MadePe {
    pub user: f64,
    pub system: f64,
    pub wall: f64,
    pub operations: f64,
    pub misses: f64,
    pub memory: f64,
    pub end: &'static str,
    /// Seconds since the launch ended
    pub later: u64,
}

pub const PE: MadePe = MadePe {
    user: 30.0,
    system: 1.0,
    wall: 42.0,
    operations: 2e9,
    misses: 1e8,
    memory: 5e8,
    end: "exit:0",
    later: 0,
};

/// Some noise that is the same each time: up to half a percent to both sides.
fn noise(pe: u32) -> f64 {
    0.995 + f64::from(pe.wrapping_mul(2_654_435_761) >> 16) / 65_536.0 / 100.0
}

/// The lines of the PEs that `of` makes; a PE may have none.
pub fn made_run(id: &str, pes: u32, of: impl Fn(u32) -> Option<MadePe>) -> String {
    let line = |pe: u32| -> Option<String> {
        let MadePe { user, system, wall, operations, misses, memory, end, later } = of(pe)?;
        let (host, core) = (pe / 8, pe % 8);
        let second = 2 + later;
        Some(format!(
            "2026/11/20 08:01:{second:02} mohr cpmd {pe} {pes} t2596 B f90 mpi {:.6} {system:.6} \
             {wall:.6} f={operations:.0} {misses:.0} {id} v=1 t={} end={end} host=node{host} \
             cpu={core} numa=0 rss={memory:.0}\n",
            user * noise(pe),
            1_795_161_660 + second,
        ))
    };
    with_lengths(&(0..pes).filter_map(line).collect::<String>())
}

/// What stands above the table, in one line.
fn said(text: &str) -> String {
    let dir = directory(text);
    let all = shown(dir.path(), &[]);
    let table = all.lines().position(|line| line.trim_start().starts_with("PE host"));
    let said: Vec<&str> = all.lines().take(table.expect("a table")).skip(1).collect();
    said.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn run_of_64(of: impl Fn(u32) -> MadePe) -> String {
    said(&made_run("a", 64, |pe| Some(of(pe))))
}

#[test]
fn a_ramp_of_one_to_three() {
    let ramp = |pe: u32| 1.0 + 2.0 * f64::from(pe) / 63.0;
    let text = run_of_64(|pe| MadePe { user: 10.0 * ramp(pe), wall: 31.0, ..PE });
    // Mean 21 s, at most 31 s.
    assert!(text.starts_with("Load imbalance costs up to 32."), "{text}");
    assert!(text.contains("PE 63 on node7 has the most CPU time, 31."), "{text}");
    assert!(text.contains(" It goes along the numbers of the PEs, from 10.9"), "{text}");
    // The others wait in loops: only the operations tell.
    let spins = run_of_64(|pe| MadePe { operations: 1e9 * ramp(pe), user: 30.0, wall: 31.0, ..PE });
    assert!(
        spins.starts_with("Load imbalance costs up to 33.3% of the wall clock time"),
        "{spins}"
    );
    assert!(spins.contains("save up to 10.3"), "{spins}");
    assert!(
        spins.contains(" of 31.00 s wall clock time (33.3%): 0.184 of 0.551 PE-hours."),
        "{spins}"
    );
}

#[test]
fn a_random_spread() {
    let text = run_of_64(|pe| MadePe {
        user: 20.0 * (0.6 + 0.8 * (noise(pe * 7 + 3) - 0.995) * 100.0),
        wall: 29.5,
        ..PE
    });
    assert!(text.starts_with("Load imbalance costs up to "), "{text}");
    let share: f64 =
        text["Load imbalance costs up to ".len()..].split('%').next().unwrap().parse().unwrap();
    assert!((20.0..35.0).contains(&share), "{text}");
    assert!(text.contains("no single PE, host or class of PEs stands out."), "{text}");
}

#[test]
fn one_slow_pe_and_one_slow_host() {
    let one = run_of_64(|pe| MadePe { user: if pe == 9 { 40.0 } else { 30.0 }, ..PE });
    assert!(one.starts_with("Load imbalance costs up to 2"), "{one}");
    assert!(one.contains("PE 9 on node1 stands out: CPU time 41."), "{one}");
    assert!(one.contains(" If it were as the others, that would save up to "), "{one}");
    let host = run_of_64(|pe| MadePe { user: if pe / 8 == 3 { 40.0 } else { 30.0 }, ..PE });
    assert!(host.contains("Host node3 (PEs 24-31) stands out: CPU time 41."), "{host}");
    assert!(
        host.contains(" of 42.00 s wall clock time (23.") && host.contains(" of 0.747 PE-hours"),
        "{host}"
    );
}

#[test]
fn kernel_time_on_some_pes() {
    let slow = [3, 17, 40];
    let some = |pe: u32| slow.contains(&pe);
    let text = run_of_64(|pe| MadePe { system: if some(pe) { 11.0 } else { 1.0 }, ..PE });
    assert!(
        text.contains("3 PEs (3, 17, 40) stand out: system time 11.00 s, the other 61 PEs 1.00 s"),
        "{text}"
    );
    assert!(text.contains("More time in the kernel"), "{text}");
    // Where the others wait in loops their CPU time is the same.
    let spins = run_of_64(|pe| match some(pe) {
        true => MadePe { user: 30.0, system: 10.0, ..PE },
        false => MadePe { user: 40.0, system: 0.0, ..PE },
    });
    assert!(
        spins.starts_with(
            "3 PEs (3, 17, 40) stand out: system time 10.00 s, the other 61 PEs 0.00 s (medians)."
        ),
        "{spins}"
    );
    assert!(
        spins.contains("save up to 10.00 s of 42.00 s wall clock time (23.8%): 0.178 of 0.747"),
        "{spins}"
    );
}

#[test]
fn cache_misses_and_memory_of_one_host() {
    let third = |pe: u32| pe / 8 == 2;
    let slow = run_of_64(|pe| match third(pe) {
        true => MadePe { misses: 3e8, user: 40.0, ..PE },
        false => PE,
    });
    assert!(slow.starts_with("Load imbalance costs up to 2"), "{slow}");
    assert!(slow.contains("Host node2 (PEs 16-23) stands out: L1 misses per operation 0.1500, the other 56 PEs 0.0500 (medians), +200.0%; CPU time "), "{slow}");
    assert!(slow.contains("Slower, with more cache misses"), "{slow}");
    let memory = run_of_64(|pe| MadePe { memory: if third(pe) { 2e9 } else { 5e8 }, ..PE });
    assert_eq!(
        memory,
        "Host node2 (PEs 16-23) stands out: resident memory 2.000 GB, the other 56 PEs 0.500 GB \
         (medians), +300.0%. It has more resident memory than the others. It costs no wall clock time \
         by itself. Next: Look at which arrays only these PEs hold; the host with the most memory \
         limits the size of the problem."
    );
}

#[test]
fn small_runs_are_judged_too() {
    for pes in [2, 3, 4, 5] {
        let slow = |pe: u32| Some(MadePe { user: if pe == 1 { 30.0 } else { 10.0 }, ..PE });
        let text = said(&made_run("a", pes, slow));
        assert!(text.starts_with("Load imbalance costs up to "), "{pes}: {text}");
        assert!(text.contains("PE 1 has the most CPU time, 3"), "{pes}: {text}");
        assert_eq!(text.contains("PE 1 stands out: CPU time 3"), pes >= 4, "{pes}: {text}");
    }
}

/// The limit is stated, and what is below it.
#[test]
fn nothing_stands_out_below_the_limit_only() {
    let slowest = |user: f64| {
        run_of_64(move |pe| MadePe { user: if pe % 8 == 1 { user } else { 30.0 }, ..PE })
    };
    let even = slowest(30.0);
    assert!(even.starts_with("Nothing stands out among 64 PEs, in "), "{even}");
    assert!(even.contains("no load imbalance costs more than 5.0% of the wall clock time; the largest costs up to 0."), "{even}");
    assert!(slowest(33.0).starts_with("Load imbalance costs up to 6."));
    let short =
        run_of_64(|pe| MadePe { user: 0.01 * f64::from(pe % 3), system: 0.0, wall: 0.03, ..PE });
    assert!(
        short.contains("no load imbalance costs more than 0.05 s; the largest costs up to 10."),
        "{short}"
    );
}

#[test]
fn who_died_first_and_how_the_others_ended() {
    let fault = said(&made_run("a", 8, |pe| {
        Some(match pe {
            5 => MadePe { wall: 11.0, end: "sig:11", ..PE },
            _ => MadePe { wall: 12.0, end: "sig:15", later: 1, ..PE },
        })
    }));
    assert!(
        fault.starts_with(
            "PE 5 on node0 died first: sig:11 (SIGSEGV) after 11.00 s. Of the other 7 PEs, 7 ended \
             with others, by sig:15 (SIGTERM) (PEs 0-4, 6-7). "
        ),
        "{fault}"
    );
    // Within a second the wall clock times tell.
    let several = said(&made_run("a", 8, |pe| {
        Some(match pe {
            2 => MadePe { wall: 11.0, end: "exit:3", ..PE },
            6 => MadePe { wall: 10.0, end: "exit:3", ..PE },
            _ => MadePe { wall: 12.0, ..PE },
        })
    }));
    assert!(
        several.starts_with(
            "PE 6 on node0 died first: exit:3 after 10.00 s. 1 other PE failed in the same second; \
             the wall clock times tell which was first. Of the other 7 PEs, 6 ended well (exit:0), 1 \
             failed, too: exit:3. "
        ),
        "{several}"
    );
    // Nobody who left a line did it.
    let killed = said(&made_run("a", 8, |pe| (pe != 2).then_some(MadePe { end: "sig:15", ..PE })));
    assert!(
        killed.contains(
            "No PE failed by itself. Of 7 PEs, 7 were ended from outside, by sig:15 (SIGTERM) (PEs \
             0-1, 3-7): the launcher, the batch system or the user sent the signal. 1 PE left no \
             line, so one of them may have died before."
        ),
        "{killed}"
    );
    assert!(!run_of_64(|_| PE).contains("died"));
}

/// A center changes a limit, and words; what is faulty is told with its line, and the rest counts.
#[test]
fn rules_of_the_center_count() {
    let ramp = |pe: u32| MadePe { user: 20.0 + 10.0 * f64::from(pe) / 63.0, wall: 31.0, ..PE };
    let dir = directory(made_run("a", 64, |pe| Some(ramp(pe))));
    let rules = dir.path().join("rules.d");
    std::fs::create_dir(&rules).unwrap();
    std::fs::write(dir.path().join("topas.conf"), "").unwrap();
    let run = || -> super::ViewOutput {
        let mut command = super::command(dir.path(), &["topas.out"]);
        command.env("TOPAS_CONF", dir.path().join("topas.conf")).output().unwrap().into()
    };
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let builtin = run();
    assert!(builtin.out.contains("Load imbalance costs up to 16"), "{}", builtin.out);
    assert_eq!((builtin.code, &*builtin.err), (0, ""));
    let change = |text: &str| std::fs::write(rules.join("site.conf"), text).unwrap();
    change("[load-imbalance]\nshare = 40\n");
    let changed = run();
    assert!(!changed.out.contains("Load imbalance costs"), "{}", changed.out);
    assert!(
        flat(&changed.out).contains("no load imbalance costs more than 40.0% of"),
        "{}",
        changed.out
    );
    change(
        "[low-ipc]\nnonsense\n[load-imbalance]\nnext = Ask us, {pes} PEs.\nlink = https://c.example\n\
         [ours]\nwhat = x\nwhen = pes = 64\nsentence = We see {wall}.\nnext = None.\n",
    );
    let words = run();
    assert!(flat(&words.out).contains("Next: Ask us, 64 PEs. https://c.example"), "{}", words.out);
    assert!(words.out.contains("We see 31.00 s. Next: None.\n"), "{}", words.out);
    let warning = "site.conf:2: `nonsense` is not of the form `key = value`\n";
    assert!(words.err.contains(warning), "{}", words.err);
    assert_eq!(words.code, 0);
    change("[load-imbalance]\noff = yes\n");
    assert!(!run().out.contains("Load imbalance costs"));
    let json = shown(dir.path(), &["--json"]);
    assert!(json.contains("\"rule\": \"load-imbalance\"") && json.contains("\"next\": "), "{json}");
}
