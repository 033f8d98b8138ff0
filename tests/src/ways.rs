//! Every way a program can end, for the programs of `programs/endings`.

/// A way to end.
#[derive(Debug)]
pub struct Case {
    /// Languages it is for.
    pub languages: &'static str,
    /// Commands of the shell that starts the program.
    pub before: &'static str,
    /// Name of the way and its number.
    pub words: &'static str,
    /// How the process ends.
    pub status: &'static str,
    /// `end` of its line, empty where there can be none; `|` between what both may happen.
    pub end: &'static str,
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

/// All of them.
pub const CASES: &[Case] = &[
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
    case("c c++ fortran", "raise 2", "signal 2", ""),
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
