//! Waits by call path, in a program that notes itself how long which function waited: the seconds of
//! each path are those of the notes, the partners are the functions that sent late, and the paths of
//! a routine add up to the routine.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, build, profiled};
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};

const RANKS: u32 = 2;
const ROUNDS: u32 = 20;

/// Seconds by rank and function.
type Seconds = BTreeMap<(u64, String), f64>;

/// `truth RANK FUNCTION SECONDS`
fn truth(out: &str) -> Seconds {
    let lines = out.lines().filter_map(|line| line.strip_prefix("truth "));
    let known = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let seconds = words[2].parse().expect("seconds");
        ((words[0].parse().expect("a rank"), words[1].to_owned()), seconds)
    };
    lines.map(known).collect()
}

fn view(scratch: &Scratch, places: &Places, args: &[&str]) -> String {
    let mut view = scratch.command(Site::shared().tool("topasview"));
    view.env("COLUMNS", "200").env("LC_ALL", "C.UTF-8").arg("--mpi").args(args).arg(&places.out);
    run(&mut view).good().out()
}

fn seconds(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no seconds: {value}"))
}

/// The function that called, of a path.
fn caller(path: &Value) -> &str {
    let name = path["callers"][0]["function"].as_str().unwrap_or("?");
    // As compilers of Fortran write names.
    name.strip_suffix('_').unwrap_or(name)
}

/// Waits of each rank by the function that called; late senders and collectives together.
fn found(paths: &[Value]) -> Seconds {
    let mut found = Seconds::new();
    for path in paths {
        for rank in path["ranks"].as_array().expect("ranks") {
            let waits = &rank["amounts"]["waits"];
            let time =
                seconds(&waits["late_sender_seconds"]) + seconds(&waits["collective_seconds"]);
            let key = (rank["rank"].as_u64().expect("a rank"), caller(path).to_owned());
            *found.entry(key).or_default() += time;
        }
    }
    found
}

/// The program in C and Fortran: driver of the compiler, source, words for the compiler.
const PROGRAMS: [(&str, &str, &[&str]); 3] = [
    ("mpicc", "by_path.c", &["-O2", "-g"]),
    ("mpifort", "by_path.F90", &["-O2", "-g"]),
    ("mpifort", "by_path.F90", &["-O2", "-g", "-DF08"]),
];

#[test]
fn waits_by_path_are_those_that_the_program_noted() {
    for mpi in Mpi::installed("waits_by_path_are_those_that_the_program_noted") {
        for (driver, source, options) in PROGRAMS {
            is_told_by_path(mpi, driver, source, options);
        }
    }
}

/// Each figure has to be the truth once in some runs: see `mpi_waits`.
fn is_told_by_path(mpi: Mpi, driver: &str, source: &str, options: &[&str]) {
    const TIMES: usize = 6;
    let name = &format!("{} {source} {options:?}", mpi.name());
    let scratch = Scratch::new();
    let program = scratch.path().join("by_path");
    build(mpi, driver, &[&format!("waits/{source}")], options, &program);
    let rounds = ROUNDS.to_string();
    let program = program.to_str().expect("path");
    let words = ["TOPAS_MPI_WAITS=yes", "TOPAS_MPI_PATHS=4", program, &rounds];
    let mut apart = BTreeMap::new();
    for time in 0..TIMES {
        let places = Places::new(&scratch);
        places.clear();
        let ended = profiled(mpi, &scratch, RANKS, &words, &places).good();
        let truth = truth(&ended.out());
        assert_eq!(truth.len() as u32, 3 * RANKS, "{}", ended.out());
        let json: Value =
            serde_json::from_str(&view(&scratch, &places, &["--paths", "--json"])).unwrap();
        let paths = json["paths"].as_array().expect("paths");
        let found = found(paths);
        for (key, truth) in &truth {
            let found = found.get(key).copied().unwrap_or_default();
            let bound = truth / 1_000.0 + 4e-6 * f64::from(ROUNDS);
            let difference = (truth - found).abs();
            assert!(difference < truth / 10.0 + 0.1, "{key:?} under {name}: {found} of {truth}");
            if difference <= bound {
                apart.remove(key);
            } else if time == 0 {
                apart.insert(key.clone(), format!("{found} of {truth}"));
            }
        }
        adds_up(&fs::read_to_string(&places.out).expect("profile"), name);
        if apart.is_empty() {
            partners(paths, name);
            if driver == "mpicc" {
                sentence(&scratch, &places, name);
                page(&scratch, &places, name);
            }
            lines(paths, source, name);
            return;
        }
    }
    panic!("under {name}: {apart:#?}");
}

/// Each path begins in the line of the source in which the function calls MPI.
fn lines(paths: &[Value], source: &str, name: &str) {
    let text = fs::read_to_string(topas_tests::build::source(&format!("waits/{source}"))).unwrap();
    let text: Vec<&str> = text.lines().collect();
    for function in ["near", "far", "together", "send_near", "send_far"] {
        let path = paths.iter().find(|path| caller(path) == function);
        let path = path.unwrap_or_else(|| panic!("no {function} under {name}"));
        let line = path["callers"][0]["line"].as_u64().expect("a line") as usize;
        let routine = path["routine"].as_str().expect("a routine");
        let called = text[line - 1].contains(&format!("MPI_{routine}("));
        assert!(called, "{function} under {name}: line {line}: {}", text[line - 1]);
    }
}

/// The page names the functions and lines of each path, and the partners.
fn page(scratch: &Scratch, places: &Places, name: &str) {
    let page = view(scratch, places, &["--html", "-", "--paths", "--partners"]);
    let text = view(scratch, places, &["--paths"]);
    let callers: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split("  ").last())
        .filter(|cell| cell.contains("by_path.c:"))
        .collect();
    assert!(!callers.is_empty(), "under {name}: {text}");
    for caller in callers {
        let cell = format!(">{}</td>", caller.replace('<', "&lt;"));
        assert!(page.contains(&cell), "under {name}: no {cell} in {page}");
    }
    for column in ["Self %", "late snd s", "waited s", "median slack us"] {
        assert!(page.contains(&format!(">{column}</th>")), "under {name}: {column}");
    }
}

/// What ranks leave that end without a word is collected with paths, waits and partners.
#[test]
fn waits_by_path_are_collected() {
    let installed = Mpi::installed("waits_by_path_are_collected");
    let Some(mpi) = installed.into_iter().next() else { return };
    let name = mpi.name();
    let scratch = Scratch::new();
    let places = Places::new(&scratch);
    let program = scratch.path().join("by_path");
    build(mpi, "mpicc", &["waits/by_path.c"], &["-O2", "-g"], &program);
    let program = program.to_str().expect("path");
    let words = ["TOPAS_MPI_WAITS=yes", "TOPAS_MPI_PATHS=4", program, "10", "_exit"];
    profiled(mpi, &scratch, RANKS, &words, &places);
    let mut collect = scratch.command(Site::shared().tool("topas-mpi"));
    collect.args(["collect", "--spool"]).arg(&places.spool).arg("--out").arg(&places.out);
    run(collect.env("TOPAS_LOG", scratch.log_target())).good();
    adds_up(&fs::read_to_string(&places.out).expect("profile"), name);
    let json: Value =
        serde_json::from_str(&view(&scratch, &places, &["--paths", "--json"])).unwrap();
    partners(json["paths"].as_array().expect("paths"), name);
}

/// The paths of a routine have the waits of the routine, to the nanosecond of each path.
fn adds_up(text: &str, mpi: &str) {
    let mut apart: BTreeMap<(u32, String), [f64; 6]> = BTreeMap::new();
    let mut rank = 0;
    for line in text.lines().filter(|line| line.contains(" of=rank ")) {
        for (key, value) in line.split(' ').filter_map(|word| word.split_once('=')) {
            let fields: Vec<&str> = value.split(':').collect();
            let number = |place: usize| fields[place].parse::<f64>().expect("a number");
            match key {
                "rank" => rank = value.parse().expect("a rank"),
                "l" => {
                    let of = apart.entry((rank, fields[0].to_owned())).or_default();
                    for (place, at) in [(0, 2), (1, 4), (2, 6), (3, 8), (3, 10)] {
                        of[place] += number(at);
                    }
                }
                "k" if fields[0] != "-" => {
                    let of = apart.entry((rank, fields[0].to_owned())).or_default();
                    for (place, at) in [(0, 5), (1, 6), (2, 7), (3, 11)] {
                        of[place] -= number(at);
                    }
                    of[5] += 1.0;
                }
                _ => {}
            }
        }
    }
    assert!(!apart.is_empty());
    for (routine, of) in &apart {
        // Each path is rounded down.
        let most = 1e-9 * (of[5] + 1.0);
        let close = of[..4].iter().all(|difference| difference.abs() <= most);
        assert!(close, "{routine:?} under {mpi}: {of:?}");
    }
}

/// Whom the two functions of rank 1 waited for.
fn partners(paths: &[Value], mpi: &str) {
    for (function, sender) in [("near", "send_near"), ("far", "send_far")] {
        let path = paths.iter().find(|path| caller(path) == function);
        let path = path.unwrap_or_else(|| panic!("no {function} under {mpi}"));
        let partner = &path["partners"][0];
        assert_eq!(partner["rank"], 0, "{function} under {mpi}: {path}");
        let its = paths.iter().find(|other| other["path"] == partner["path"]);
        assert_eq!(its.map(caller), Some(sender), "{function} under {mpi}: {partner}");
        let late = seconds(&partner["late_sender_seconds"]);
        let all = seconds(&path["amounts"]["waits"]["late_sender_seconds"]);
        assert!((late - all).abs() < 1e-6, "{function} under {mpi}: {late} of {all}");
        // On a machine that is busy rank 1 may have been late itself; who waited for a message was
        // not less than 1 us early.
        let calls = |key: &str| partner[key].as_f64().expect("calls");
        let (late, seen) = (calls("late_sender_calls"), calls("calls_seen"));
        let stiffness = calls("stiffness");
        assert!(late >= 1.0 && late <= seen, "{function} under {mpi}: {partner}");
        assert!(stiffness >= late / seen - 1e-6 && stiffness <= 1.0, "{function}: {partner}");
        // Whoever waits for most messages has a negative median, and else it is not.
        let [from, to] = [0, 1].map(|place| partner["median_slack_us"][place].as_i64());
        let negative = from.is_none() || to.is_some_and(|to| to <= 0);
        assert_eq!(negative, late > (seen - 1.0) / 2.0, "{function} under {mpi}: {partner}");
    }
}

/// The first lines name the rank, the line that waits, and the one that sends.
fn sentence(scratch: &Scratch, places: &Places, mpi: &str) {
    let shown = view(scratch, places, &["--waits"]);
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    // On a machine that is busy either rank may have cost the other most.
    assert!(words.contains(" s for rank "), "under {mpi}: {shown}");
    let place = words.split("They wait for it in ").nth(1).and_then(|text| text.split(')').next());
    let known =
        ["Recv, from far", "Recv, from near", "Allreduce, from together", "Barrier, from main"];
    let named =
        |place: &str| known.iter().any(|known| place.starts_with(&format!("{known} (by_path.c:")));
    // Or each as much as the other.
    let is_even = words.contains("The ranks wait for each other in turn, ");
    assert_ne!(is_even, place.is_some_and(named), "under {mpi}: {shown}");
    let shown = view(scratch, places, &["--partners"]);
    assert!(shown.contains("Send, send_far (by_path.c:"), "under {mpi}: {shown}");
    let rows = view(scratch, places, &["--partners", "--csv"]);
    assert!(rows.lines().any(|row| row.contains("near") && row.contains("send_near")), "{rows}");
    let matrix = view(scratch, places, &["--matrix", "time"]);
    assert!(matrix.contains("late_sender") && matrix.contains("not_measured"), "{matrix}");
}
