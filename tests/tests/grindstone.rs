//! The Grindstone suite: programs with a known bottleneck, and what their profile says of it.

use std::collections::BTreeMap;
use std::fs;

use topas_tests::build::source;
use topas_tests::expected::Expected;
use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, bare, build, profiled};
use topas_tests::site::Scratch;

const PROGRAMS: [&str; 8] = [
    "small_messages",
    "big_message",
    "wrong_way",
    "random_barrier",
    "intensive_server",
    "diffuse_procedure",
    "system_time",
    "hot_procedure",
];

/// Where time goes is not the same in each run of a busy machine; counts are. So shares of time are
/// judged by most of so many runs.
const RUNS: usize = 3;

fn judge(name: &str) {
    for mpi in Mpi::installed(&format!("grindstone {name}")) {
        let scratch = Scratch::new();
        let program = scratch.path().join(name);
        let file = format!("grindstone/{name}.c");
        let text = fs::read_to_string(source(&file)).expect("program");
        let expected = Expected::read(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        build(mpi, "mpicc", &[&file], &["-O1", "-Wall", "-Wextra", "-Werror"], &program);
        let mut words = vec![program.to_str().expect("path")];
        words.extend(expected.args.iter().map(String::as_str));
        // Of each row and number, the runs in which it was not what is expected.
        let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for done in 1..=RUNS {
            let places = Places::new(&scratch);
            let run = profiled(mpi, &scratch, expected.ranks, &words, &places).good();
            assert_eq!(run.err(), "", "{name} under {}", mpi.name());
            let faults = expected.faults(&places.counted(), &run.out());
            places.clear();
            for fault in faults.lines() {
                let of_time = [": share ", ": seconds "]
                    .into_iter()
                    .find_map(|key| fault.find(key).map(|at| fault[..at + key.len()].to_owned()));
                let row =
                    of_time.unwrap_or_else(|| panic!("{name} under {}: {faults}", mpi.name()));
                wrong.entry(row).or_default().push(fault.to_owned());
            }
            // What is left to run cannot make most of them wrong.
            let most_at_worst = wrong.values().map(Vec::len).max().unwrap_or(0) + RUNS - done;
            if 2 * most_at_worst <= RUNS {
                break;
            }
        }
        let most: Vec<_> = wrong.values().filter(|faults| 2 * faults.len() > RUNS).collect();
        assert!(most.is_empty(), "{name} under {}: {most:#?}", mpi.name());
    }
}

macro_rules! programs {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            judge(stringify!($name));
        })*

        #[test]
        fn every_program_is_judged() {
            assert_eq!(PROGRAMS, [$(stringify!($name)),*]);
            let dir = fs::read_dir(source("grindstone")).expect("directory of programs");
            let programs = dir.flatten().filter(|entry| {
                entry.path().extension().is_some_and(|extension| extension == "c")
            });
            assert_eq!(programs.count(), PROGRAMS.len());
        }
    };
}

programs! {
    small_messages big_message wrong_way random_barrier intensive_server diffuse_procedure
    system_time hot_procedure
}

#[test]
fn the_programs_say_the_same_without_the_library() {
    let test = "grindstone without the library";
    for mpi in Mpi::installed(test) {
        let scratch = Scratch::new();
        let program = scratch.path().join("random_barrier");
        build(mpi, "mpicc", &["grindstone/random_barrier.c"], &["-O1"], &program);
        let words = [program.to_str().expect("path"), "8", "1"];
        let sorted = |text: String| {
            let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        let without = bare(mpi, &scratch, 3, &words).good();
        let with = profiled(mpi, &scratch, 3, &words, &Places::new(&scratch)).good();
        assert_eq!(sorted(without.out()), sorted(with.out()));
        assert_eq!(without.err(), with.err());
    }
}
