//! Endings of processes in words.

use topas_format::number::whole;

/// An ending with the name of its signal: `sig:11 (SIGSEGV)`.
pub fn ending_words(end: &[u8]) -> String {
    let signal = end.strip_prefix(b"sig:").and_then(whole);
    match signal.and_then(signal_name) {
        Some(name) => format!("{} ({name})", String::from_utf8_lossy(end)),
        None => String::from_utf8_lossy(end).into_owned(),
    }
}

/// Names of the signals that end programs; the numbers are those of x86 and Arm.
/// None of others.
pub fn signal_name(number: u64) -> Option<&'static str> {
    Some(match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 => "SIGUSR1",
        11 => "SIGSEGV",
        12 => "SIGUSR2",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        26 => "SIGVTALRM",
        27 => "SIGPROF",
        31 => "SIGSYS",
        _ => return None,
    })
}
