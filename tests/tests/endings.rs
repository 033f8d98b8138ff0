//! Every way a program can end, one rank at a time: what the line says, and that the program
//! ends as it does without the module: status, output, core dump.

use std::os::unix::process::ExitStatusExt;

use topas_tests::ending::{Language, Twins, core_dump, ending, is_caught, status};
use topas_tests::running::{command, have, run};
use topas_tests::skip::skip;
use topas_tests::ways::{CASES, Case};

/// Cases of a language, each compared with the program without the module.
fn run_all(language: Language) {
    let twins = Twins::plain(language);
    let here = |case: &&Case| case.languages.split(' ').any(|name| name == language.name());
    let cases: Vec<&Case> = CASES.iter().filter(here).collect();
    assert!(cases.len() > 10, "{language:?} has {} cases", cases.len());
    let wrong: Vec<String> =
        cases.iter().filter_map(|case| fault(&twins, language, case)).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// What is not as the case says.
fn fault(twins: &Twins, language: Language, case: &Case) -> Option<String> {
    let words: Vec<&str> = case.words.split(' ').collect();
    let name = format!("{} {}", language.name(), case.words);
    let pair = twins.alone(case.before, &words);
    pair.alike(&name);
    let ended = status(&pair.linked);
    let ends = pair.ends_of(1).join(" and ");
    let right = ended.trim_end_matches(" core") == case.status
        && case.end.split('|').any(|end| end == ends)
        && pair.lines.iter().all(|line| line.pe == 1);
    let end = case.end;
    (!right).then(|| format!("{name}: {ended}, lines '{ends}'; not {}, '{end}'", case.status))
}

#[test]
fn in_c() {
    run_all(Language::C);
}

#[test]
fn in_cxx() {
    run_all(Language::Cxx);
}

#[test]
fn in_fortran() {
    run_all(Language::Fortran);
}

#[test]
fn in_fortran_without_backtraces() {
    run_all(Language::FortranWithoutBacktrace);
}

/// Every signal there is, but for those that stop the process.
#[test]
fn every_signal() {
    const STOP: std::ops::RangeInclusive<i32> = 19..=22;
    let twins = Twins::plain(Language::C);
    for signal in (1..=64).filter(|signal| !STOP.contains(signal)) {
        let pair = twins.alone("", &["kill", &signal.to_string()]);
        let case = format!("signal {signal}");
        pair.alike(&case);
        let ended = pair.linked.status.code();
        let expected = match signal {
            6 => vec!["abort".to_owned()],
            _ if ended.is_some() => vec!["exit:0".to_owned()],
            _ if is_caught(signal) => vec![format!("sig:{signal}")],
            _ => Vec::new(),
        };
        assert_eq!(pair.ends_of(1), expected, "{case}: {}", status(&pair.linked));
    }
}

/// A core dump shows the same signal, its origin and value, and the same stack.
#[test]
fn core_dumps() {
    let test = "core_dumps";
    if !have("gdb") {
        return skip(test, "no gdb");
    }
    let cases: [(Language, &[&str]); 4] = [
        (
            Language::C,
            &[
                "segv 1",
                "thread_segv 1",
                "overflow 1",
                "fpe 1",
                "ill 1",
                "bus 1",
                "abort 1",
                "assert 1",
                "raise 3",
                "sigqueue 3",
                "signal_in_exit_handler 6",
            ],
        ),
        (Language::Cxx, &["throw 1", "pure_virtual 1"]),
        (Language::Fortran, &["segv 1", "call_abort 1"]),
        (Language::FortranWithoutBacktrace, &["null_pointer 1"]),
    ];
    for (language, ways) in cases {
        let twins = Twins::plain(language);
        for way in ways {
            let words: Vec<&str> = way.split(' ').collect();
            let pair = twins.alone("", &words);
            let case = format!("{} {way}", language.name());
            pair.alike(&case);
            if !pair.bare.status.core_dumped() {
                return skip(test, "the kernel writes no core dumps here");
            }
            let Some(bare) = core_dump(&twins.bare) else {
                return skip(test, "core dumps go to a place of the kernel's choice");
            };
            let linked = core_dump(&twins.linked).unwrap_or_default();
            assert!(bare.len() > 3 && bare[3].contains("#0"), "{case}: {bare:#?}");
            assert_eq!(linked, bare, "{case}");
        }
    }
}

/// A signal that comes while the module writes its line: one line in any case, and the
/// program ends by the signal or as it was about to.
#[test]
fn a_signal_near_the_end() {
    let twins = Twins::plain(Language::C);
    let [mut exits, mut signals] = [0; 2];
    for number in 0..300 {
        // 1 to 2,500 us from the exit on: before, in and after the work of the module.
        let delay = (1 + number * number * 2500 / 90_000).to_string();
        let pair = twins.alone("", &["signal_near_end", &delay]);
        let ended = status(&pair.linked);
        assert!(["exit 0", "signal 14"].contains(&ended.as_str()), "{delay} us: {ended}");
        assert_eq!(pair.linked.err(), "", "{delay} us");
        match pair.ends_of(1)[..] {
            ["exit:0"] => exits += 1,
            ["sig:14"] => {
                assert_eq!(ended, "signal 14", "{delay} us");
                signals += 1;
            }
            ref ends => panic!("{delay} us: {ended}: {ends:?}"),
        }
    }
    assert!(exits > 0 && signals > 0, "exit:0 {exits}, sig:14 {signals}");
}

/// The same, exactly: a signal after each instruction by which the process comes to hold
/// signals back, and its line is written in any case.
#[test]
fn a_signal_at_each_instruction_before_signals_are_held() {
    let twins = Twins::plain(Language::C);
    let stepped = twins.scratch.path().join("stepped");
    let mut build = command("gcc");
    build.args(["-Wall", "-Wextra", "-Werror", "-O1"]).arg(ending("stepped.c"));
    run(build.arg("-o").arg(&stepped)).good();
    let pair = twins.alone_by(&stepped.display().to_string(), "", &["marked_exit", "0"]);
    assert_eq!(pair.linked.err(), "");
    let runs: usize = pair.linked.out().trim().parse().expect("number of runs");
    let ends = pair.ends_of(1);
    let count = |end: &str| ends.iter().filter(|other| **other == end).count();
    let [exits, signals] = [count("exit:0"), count("sig:14")];
    assert!(exits > 0 && signals > 10, "exit:0 {exits}, sig:14 {signals}");
    assert_eq!(exits + signals, runs, "{ends:?}");
}
