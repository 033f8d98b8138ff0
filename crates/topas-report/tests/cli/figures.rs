//! Every figure of pages and mails is what DuckDB makes of the raw log.

use std::fs;
use std::path::Path;
use std::process::Command;

use topas_format::civil::Civil;
use topas_testkit::{numbers_below, with_lengths};

use super::{Center, stderr};

/// 1 June 2026, 00:00 UTC.
const BEGIN: u64 = 1_780_272_000;

/// Runs of all kinds, and runs that can be compared with each other.
const RUNS: u64 = 2500;
const ALIKE: u64 = 48;

/// Routines of a profile: name, share of the time in percent, calls of a rank, and bytes of a call.
const ROUTINES: [(&str, u64, u64, u64); 6] = [
    ("Allreduce", 34, 500, 64),
    ("Waitall", 30, 900, 0),
    ("Isend", 21, 900, 8192),
    ("Irecv", 9, 900, 8192),
    ("Barrier", 5, 40, 0),
    ("Init", 1, 1, 0),
];

/// When a run of this second ended, as a line has it.
fn when(second: u64) -> String {
    Civil::from_seconds(second as i64).to_string().replace('-', "/")
}

/// Runs of June and July of many users: with one line and two, with and without counts, with
/// estimates, accelerators, bad ends, other processors and MPI profiles.
fn log() -> String {
    let mut below = numbers_below(3);
    let mut text = String::new();
    for run in 0..RUNS + ALIKE {
        // The last runs are of many users and comparable, so that profiles can be compared, too.
        let alike = run >= RUNS;
        let end = match alike {
            true => BEGIN + 36 * 86_400 + below(86_400),
            false => BEGIN + below(61 * 86_400),
        };
        let user = if alike {
            [0, 12, 30, 31, 32, 33, 34, 35][(run % 8) as usize]
        } else {
            (below(9) * below(9)) % 64
        };
        let program = if alike { 0 } else { (user + below(3)) % 14 };
        let lang = ["c", "cxx", "f77", "f90"][(program % 4) as usize];
        let lib = ["mpi", "mpi", "mpi", "sma", "-"][(program % 5) as usize];
        let npes = if alike { 16 } else { 1u64 << (1 + below(9)) };
        let wall = if alike { 30_000 + below(40_000) } else { 1 + below(40_000) };
        let mhz = [2250, 2400, 3100][below(3) as usize];
        let slow = if program == 3 && end > BEGIN + 36 * 86_400 { 2 } else { 1 };
        let rate = (20 + program * 60 + below(40)) / slow;
        let ended = ["exit:0", "exit:0", "exit:0", "exit:0", "exit:1", "sig:11"][below(6) as usize];
        let ended = if alike { "exit:0" } else { ended };
        for pe in [0, npes / 2] {
            if pe > 0 && (npes < 4 || below(9) == 0) {
                continue;
            }
            let time = wall + u64::from(pe > 0);
            let ops = rate * time * 1_000_000 + below(1_000_000);
            let count = match below(9) {
                0 => "f=-".to_owned(),
                1 => format!("f~{ops}"),
                2 | 3 => format!("i={ops}"),
                _ => format!("f={ops}"),
            };
            let misses =
                if below(8) == 0 { "-".to_owned() } else { (ops / (50 + program)).to_string() };
            let counters = if below(4) == 0 {
                String::new()
            } else {
                format!(
                    " cyc={} ins={}",
                    time * mhz * 1_000_000,
                    time * mhz * (900_000 + below(400_000))
                )
            };
            let gpu = if program == 7 && below(3) == 0 { " gpu=cuda" } else { "" };
            text += &with_lengths(&format!(
                "{} u{user:02} prog{program} {pe} {npes} t{mhz} B {lang} {lib} {time}.25 1.5 {time}.5 {count} \
                 {misses} r{run:x} v=1 t={end} uid={} end={ended} host=n{pe} job={run}{counters}{gpu}\n",
                when(end),
                70_000 + user,
            ));
        }
        if (alike || run.is_multiple_of(9)) && lib == "mpi" && ended == "exit:0" {
            let percent = if alike { 10 + below(50) } else { 20 + program };
            text += &profile([run, end, user, program, npes, wall], percent);
        }
    }
    text
}

fn profile([run, end, user, program, npes, wall]: [u64; 6], percent: u64) -> String {
    let (all, mpi) = (wall * npes, wall * npes * percent / 100);
    let mut line = format!(
        "{} topas-mpi u{user:02} prog{program} {npes} r{run:x} v=1 of=run line=1/1 t={end} uid={} \
         end=finalize host=n1 mpi=Open_MPI ranks={npes} wall={all} wallmax={wall} mpisum={mpi} mpimax={} \
         mpimin=0 usemax={wall} over=0.001 thr=1 lang=c",
        when(end),
        70_000 + user,
        mpi / npes + 1,
    );
    let told = run.is_multiple_of(2);
    if told {
        line += &format!(" late={} latercv=0 coll={}", mpi / 5, mpi / 4);
    }
    for (name, share, calls, bytes) in ROUTINES {
        let calls = calls * npes;
        let moved = match bytes {
            0 => ":::".to_owned(),
            _ => format!("{calls}:{0}:{calls}:{0}", calls * bytes),
        };
        let counted = if bytes > 0 { (calls * bytes / 8).to_string() } else { String::new() };
        line += &format!(" f={name}:{calls}:{}:1:{counted}:{moved}:{npes}", mpi * share / 100);
    }
    if told {
        line += &format!(" l=Allreduce:0:0:0:0:9:{}:0:0:0:0:0:0", mpi / 4);
        line += &format!(" l=Waitall:9:{}:0:0:0:0:0:0:0:0:0:0", mpi / 5);
    }
    let length = line.len() + 8;
    format!("{line} len={:03}\n", length + usize::from(length > 999))
}

/// Runs a script of DuckDB, which fails if a figure differs: what it prints.
fn duckdb(script: &str, args: &[&Path], words: &[&str]) -> String {
    let python = std::env::var_os("TOPAS_TEST_DUCKDB").unwrap_or_else(|| "python3".into());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli").join(script);
    let mut command = Command::new(python);
    command.arg("-B").arg(path).arg(args[0]).args(words).args(&args[1..]);
    let output = command.output().expect("asked for, so it must run");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", stderr(&output));
    println!("{said}");
    said
}

#[test]
#[ignore = "cargo xtask test --duckdb"]
fn pages_say_what_duckdb_says_of_the_log() {
    let center = Center::new(&log());
    fs::write(center.path("etc/topas.conf"), "capacity = fast 100x48\ncapacity = slow 50x128\n")
        .unwrap();
    fs::copy(center.path("etc/topas.conf"), center.path("topas.conf")).unwrap();
    let args = [
        "pages", "log", "--out", "www", "--period", "2026-W28", "--period", "2026-07", "--period",
        "2026",
    ];
    let output = center.report(&args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = duckdb("figures.py", &[&center.path("www"), &center.log()], &[]);
    assert_eq!(said.matches(" 0 differ, 0 texts left out").count(), 3, "{said}");
}

#[test]
#[ignore = "cargo xtask test --duckdb"]
fn mails_say_what_duckdb_says_of_the_log() {
    let center = Center::new(&log());
    for user in ["u00", "u12", "u16"] {
        let args = ["mail", "log", "--period", "2026-W28", "--show", "--user", user];
        let output = center.report(&args);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        fs::write(center.path("mail"), &output.stdout).unwrap();
        duckdb("mail_figures.py", &[&center.path("mail"), &center.log()], &[user, "2026-W28"]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(text.contains("Time in MPI"), user != "u16", "{text}");
    }
}
