//! Every way a program can end, one rank at a time: what the line says, and that the program
//! ends as it does without the module: status, output, core dump.

use std::os::unix::process::ExitStatusExt;

use topas_tests::ending::{Language, Twins, core_dump, is_caught, status};
use topas_tests::running::have;
use topas_tests::skip::skip;

/// A way to end.
struct Case {
    /// Languages it is for.
    languages: &'static str,
    /// Commands of the shell that starts the program.
    before: &'static str,
    /// Name of the way and its number.
    words: &'static str,
    /// How the process ends.
    status: &'static str,
    /// `end` of its line, empty where there can be none; `|` between what both may happen.
    end: &'static str,
}

const fn case(
    languages: &'static str,
    words: &'static str,
    status: &'static str,
    end: &'static str,
) -> Case {
    Case { languages, before: "", words, status, end }
}

/// gfortran's library writes its report and takes the default action again: it has put its
/// own handlers in place of what it found.
const GFORTRAN: &str = "";

const CASES: &[Case] = &[
    // Ends that run exit handlers.
    case("c c++ fortran", "return 0", "exit 0", "exit:0"),
    case("c c++ fortran", "return 3", "exit 3", "exit:3"),
    case("c c++ fortran", "return 255", "exit 255", "exit:255"),
    case("c c++", "return 256", "exit 0", "exit:0"),
    case("c c++", "return -1", "exit 255", "exit:255"),
    case("c c++ fortran", "exit 4", "exit 4", "exit:4"),
    case("c c++ fortran", "thread_exit 5", "exit 5", "exit:5"),
    case("c c++", "pthread_exit 0", "exit 0", "exit:0"),
    case("c++", "caught 6", "exit 6", "exit:6"),
    case("fortran", "end 3", "exit 0", "exit:0"),
    case("fortran", "stop 3", "exit 0", "exit:0"),
    case("fortran", "stop_number 3", "exit 3", "exit:3"),
    case("fortran", "stop_text 3", "exit 0", "exit:0"),
    case("fortran", "error_stop 3", "exit 1", "exit:1"),
    case("fortran", "error_stop_number 3", "exit 3", "exit:3"),
    case("fortran", "error_stop_text 3", "exit 1", "exit:1"),
    case("fortran", "call_exit 3", "exit 3", "exit:3"),
    case("fortran", "open_missing 3", "exit 2", "exit:2"),
    case("fortran", "read_text 3", "exit 2", "exit:2"),
    case("fortran", "allocate_twice 3", "exit 2", "exit:2"),
    case("fortran", "bounds 3", "exit 2", "exit:2"),
    case("fortran", "divide_reals 3", "exit 0", "exit:0"),
    // Ends that run none. quick_exit has handlers of its own.
    case("c c++ fortran", "quick_exit 3", "exit 3", "exit:3"),
    case("c++", "std_quick_exit 3", "exit 3", "exit:3"),
    case("c c++ fortran", "_exit 3", "exit 3", ""),
    case("c c++ fortran", "_Exit 3", "exit 3", ""),
    case("c c++ fortran", "raise 9", "signal 9", ""),
    case("c++", "own_terminate 9", "exit 9", ""),
    // Signals a program raises: on itself, on its process, with a value.
    case("c c++ fortran", "raise 15", "signal 15", "sig:15"),
    case("c c++ fortran", "raise 2", "signal 2", "sig:2"),
    case("c c++ fortran", "raise 1", "signal 1", "sig:1"),
    case("c c++ fortran", "kill 15", "signal 15", "sig:15"),
    case("c c++ fortran", "kill 10", "signal 10", "sig:10"),
    case("c c++ fortran", "sigqueue 12", "signal 12", "sig:12"),
    case("c c++", "sigqueue 3", "signal 3", "sig:3"),
    // Faults.
    case("c c++ -fno-backtrace", "segv 1", "signal 11", "sig:11"),
    case("c c++ -fno-backtrace", "thread_segv 1", "signal 11", "sig:11"),
    case("c c++ -fno-backtrace", "two_faults 1", "signal 11", "sig:11"),
    case("c c++ -fno-backtrace", "fpe 1", "signal 8", "sig:8"),
    case("c c++ -fno-backtrace", "ill 1", "signal 4", "sig:4"),
    case("c c++ -fno-backtrace", "bus 1", "signal 7", "sig:7"),
    case("-fno-backtrace", "null_pointer 1", "signal 11", "sig:11"),
    case("-fno-backtrace", "divide 1", "signal 8", "sig:8"),
    case("fortran", "segv 1", "signal 11", GFORTRAN),
    case("fortran", "thread_segv 1", "signal 11", GFORTRAN),
    case("fortran", "null_pointer 1", "signal 11", GFORTRAN),
    case("fortran", "divide 1", "signal 8", GFORTRAN),
    case("fortran", "ill 1", "signal 4", GFORTRAN),
    case("fortran", "bus 1", "signal 7", GFORTRAN),
    // A stack that is full, with and without a stack for handlers.
    case("c c++ -fno-backtrace", "overflow 1", "signal 11", "sig:11"),
    case("c c++ -fno-backtrace", "stack_without_handler 1", "signal 11", "sig:11"),
    case("fortran", "overflow 1", "signal 11", GFORTRAN),
    case("c c++ fortran", "own_stack 5", "exit 11", ""),
    case("c c++ fortran", "deep_handler 15", "exit 7", "exit:7"),
    // Aborts.
    case("c c++ -fno-backtrace", "abort 1", "signal 6", "abort"),
    case("c c++ -fno-backtrace", "thread_abort 1", "signal 6", "abort"),
    case("c c++ -fno-backtrace", "assert 1", "signal 6", "abort"),
    case("fortran", "abort 1", "signal 6", GFORTRAN),
    case("fortran", "call_abort 1", "signal 6", GFORTRAN),
    case("-fno-backtrace", "call_abort 1", "signal 6", "abort"),
    case("c++", "throw 1", "signal 6", "abort"),
    case("c++", "throw_int 1", "signal 6", "abort"),
    case("c++", "noexcept 1", "signal 6", "abort"),
    case("c++", "terminate 1", "signal 6", "abort"),
    case("c++", "thread_throw 1", "signal 6", "abort"),
    case("c++", "joinable_thread 1", "signal 6", "abort"),
    case("c++", "pure_virtual 1", "signal 6", "abort"),
    case("c++", "throw_at_exit 3", "signal 6", "abort"),
    // Limits and timers.
    case("c -fno-backtrace", "cpu_limit 1", "signal 24", "sig:24"),
    case("fortran", "cpu_limit 1", "signal 24", GFORTRAN),
    case("c c++ -fno-backtrace", "file_limit 1", "signal 25", "sig:25"),
    case("fortran", "file_limit 1", "signal 25", GFORTRAN),
    case("c c++ fortran", "pipe 13", "signal 13", "sig:13"),
    case("c c++ fortran", "timer 14", "signal 14", "sig:14"),
    case("c c++ fortran", "timer 27", "signal 27", "sig:27"),
    // Signals at awkward moments.
    case("c c++ fortran", "signal_to_threads 15", "signal 15", "sig:15"),
    case("c c++ fortran", "signal_in_exit_handler 15", "signal 15", "sig:15"),
    case("c c++", "signal_in_exit_handler 6", "signal 6", "abort"),
    case("c c++ fortran", "blocked_signal 15", "signal 15", "sig:15"),
    case("c c++ fortran", "sigwait 15", "exit 7", "exit:7"),
    case("c c++ fortran", "stop_and_continue 3", "exit 3", "exit:3"),
    case("c c++ fortran", "group_term 3", "signal 15", "sig:15"),
    // Other programs.
    case("c c++ fortran", "exec_other 3", "exit 3", ""),
    case("c c++ fortran", "failed_exec 3", "exit 3", "exit:3"),
    case("c c++ fortran", "exec_self 3", "exit 3", "exit:3"),
    case("c c++", "exec_self_segv 3", "signal 11", "sig:11"),
    // Children end as they do and write no line; the rank's own line comes.
    case("c c++ fortran", "fork_exit 3", "exit 3", "exit:3"),
    case("c c++ fortran", "fork_segv 3", "exit 3", "exit:3"),
    case("c c++ fortran", "fork_abort 3", "exit 3", "exit:3"),
    case("c c++ fortran", "fork_term 3", "exit 3", "exit:3"),
    case("c c++ fortran", "fork_kill 3", "exit 3", "exit:3"),
    case("c c++ fortran", "parent_exit 3", "exit 3", "exit:3"),
    case("c c++ fortran", "children 3", "exit 3", "exit:3"),
    // Handlers of the program.
    case("c c++ fortran", "handler_that_exits 15", "exit 15", "exit:15"),
    case("c c++ fortran", "handler_that_leaves 15", "exit 15", ""),
    case("c c++ fortran", "handler_that_returns 15", "exit 0", "exit:0"),
    case("c c++ fortran", "chain 15", "signal 15", "sig:15"),
    case("c c++ -fno-backtrace", "chain 11", "signal 11", "sig:11"),
    case("c c++ fortran", "chain_once 15", "signal 15", "sig:15"),
    case("c c++ -fno-backtrace", "chain_once 11", "signal 11", "sig:11"),
    case("c c++ fortran", "chain_simply 15", "signal 15", "sig:15"),
    case("c c++ -fno-backtrace", "chain_simply 11", "signal 11", "sig:11"),
    case("c c++ fortran", "handler_put_back 15", "signal 15", "sig:15"),
    case("c c++ fortran", "handler_set_to_default 15", "signal 15", ""),
    case("c c++ fortran", "ignoring 15", "exit 7", "exit:7"),
    case("c c++ fortran", "catching_unless_ignored 15", "exit 15", "exit:15"),
    case("c c++ fortran", "recovery 11", "exit 11", "exit:11"),
    case("c c++ fortran", "early_handler 15", "exit 15", "exit:15"),
    case("c c++ fortran", "early_ignoring 15", "exit 7", "exit:7"),
    ignoring("c c++ fortran", "ignored 1", "exit 7", "exit:7"),
    ignoring("c c++ fortran", "ignored 15", "exit 7", "exit:7"),
    ignoring("c c++ fortran", "catching_unless_ignored 15", "exit 7", "exit:7"),
];

/// As under nohup.
const fn ignoring(
    languages: &'static str,
    words: &'static str,
    status: &'static str,
    end: &'static str,
) -> Case {
    Case { languages, before: "trap '' HUP TERM;", words, status, end }
}

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
