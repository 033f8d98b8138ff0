//! Every way to end, by `topas-run` and without: the same status, the same output; what the
//! line says.

use topas_tests::ending::{Language, Twins, status};
use topas_tests::ways::{CASES, Case};

use crate::topas_run;

/// Ways whose program becomes another or itself again: the library went with the first.
const BECOMES_ANOTHER: [&str; 3] = ["exec_other", "exec_self", "exec_self_segv"];

/// Asks for the disposition before the module looks; the library has looked before everything.
const LOOKS_FIRST: &str = "early_ignoring";

fn run_all(language: Language, options: &[&str], end: impl Fn(&Case, &str) -> Vec<String>) {
    let twins = Twins::without_module(language, options);
    let runner = topas_run().display().to_string();
    let here = |case: &&Case| case.languages.split(' ').any(|name| name == language.name());
    let mut wrong = Vec::new();
    for case in CASES.iter().filter(here) {
        let words: Vec<&str> = case.words.split(' ').collect();
        if words[0] == LOOKS_FIRST && options.is_empty() {
            continue;
        }
        let pair = twins.alone_by(&runner, case.before, &words);
        let name = format!("{} {options:?} {}", language.name(), case.words);
        pair.alike_but_for_core(&name);
        let ended = status(&pair.linked);
        let ends = pair.ends_of(1);
        let expected = end(case, ended.trim_end_matches(" core"));
        let via = pair.lines.iter().all(|line| line.extra("via") == "run" && line.pe == 1);
        if !via || ends != expected {
            wrong.push(format!("{name}: {ended}, lines {ends:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// What a linked module would write.
fn inside(case: &Case, _: &str) -> Vec<String> {
    let way = case.words.split(' ').next().unwrap_or_default();
    let lost = BECOMES_ANOTHER.contains(&way) || case.end.is_empty();
    if lost { Vec::new() } else { vec![case.end.to_owned()] }
}

/// From outside every end is seen.
fn outside(_: &Case, ended: &str) -> Vec<String> {
    vec![match ended.split_once(' ') {
        Some(("signal", "6")) => "abort".to_owned(),
        Some(("signal", number)) => format!("sig:{number}"),
        Some((_, code)) => format!("exit:{code}"),
        None => panic!("no status: {ended}"),
    }]
}

#[test]
fn inside_in_c() {
    run_all(Language::C, &[], inside);
}

#[test]
fn inside_in_cxx() {
    run_all(Language::Cxx, &[], inside);
}

#[test]
fn inside_in_fortran() {
    run_all(Language::Fortran, &[], inside);
}

#[test]
fn outside_in_c() {
    run_all(Language::C, &["-static"], outside);
}

#[test]
fn outside_in_fortran_without_backtraces() {
    run_all(Language::FortranWithoutBacktrace, &["-static"], outside);
}
