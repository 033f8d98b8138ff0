//! Names of every environment variable TOPAS reads or sets.
//!
//! Variables of launchers and batch systems are listed in `topas-launch`, beside
//! the rules that use them. Man page: `topas-environment(7)`.

use crate::hash::{place, word};

/// Declares the variables with their one-line meaning, for code and for `doc/`.
macro_rules! variables {
    ($($name:ident = $about:literal;)*) => {
        $(#[doc = $about] pub const $name: &str = stringify!($name);)*
        /// Every variable with its meaning.
        pub const ALL: &[(&str, &str)] = &[$((stringify!($name), $about)),*];
    };
}

variables! {
    TOPAS = "`off` (also `no`, `false`, `0`): no measurement, and at link time no module. Anything else: on.";
    TOPAS_PE = "Ranks that measure, such as `3,7`, in place of the random choice.";
    TOPAS_OPS = "What every measuring rank counts: `fpops`, `intops`, `loads` or `stores`.";
    TOPAS_PRINT = "`yes` or `true`: each measuring rank prints its result on standard error.";
    TOPAS_VERBOSE = "`1`: say on standard error why nothing was measured or written.";
    TOPAS_LOG = "Log targets in place of those of topas.conf, where the site allows it; if none takes the line, those of topas.conf do.";
    TOPAS_CONF = "The topas.conf the tools read. The module does not look at it.";
    TOPAS_LINK = "At link time: `no` leaves the module out, `always` links it into programs that use the counters themselves, too.";
    TOPAS_MEASURE_ALL_PE = "At link time, set to anything but `no`: every rank of the program will be measured.";
    TOPAS_OUT = "Where a program of which every rank is measured writes them: a file, with %i (launch), %h (host), %u (numeric user id), %Y %m %d (date). Without it `topas.out` in the directory it was started in, or `topas.out.HOST` on several hosts.";
    TOPAS_MPI = "Profile of MPI calls. At link time `yes`: the executable gets the library. At run time `no`: a program that has the library is not profiled; `yes`: it is, and the user's files are written.";
    TOPAS_MPI_OUT = "The user's data file of an MPI profile, with %i (launch), %h (host), %u (numeric user id), %Y %m %d (date); without it `topas-mpi.out`. The table for people is beside it, `.txt` in place of `.out`.";
    TOPAS_MPI_PEERS = "`yes`: messages and bytes are counted for each peer, too.";
    TOPAS_MPI_COMMS = "`yes`: MPI calls are counted for each communicator, too.";
    TOPAS_MPI_WAITS = "`yes`: MPI profiles tell why ranks wait for each other: late senders, late receivers, collectives.";
    TOPAS_MPI_COUNTERS = "`yes`: hardware counters are read around MPI calls.";
    TOPAS_MPI_PATHS = "`yes`, or the most frames of a path (1 to 16): MPI calls are counted for each call path, too; `no`: they are not.";
    TOPAS_MPI_LOG = "`yes`, or the most bytes that each thread keeps, such as `64M`: each MPI call is written to an event log beside the MPI profile, `topas-mpi.HOST.trace`; `no`: it is not.";
    TOPAS_MPI_SPOOL = "The directory where running programs keep the counters of their MPI calls, in place of `mpi_spool` of topas.conf.";
    TOPAS_MPI_DOOR = "Set in a process that was loaded with the library of MPI profiles: its number.";
    TOPAS_LAUNCH_ID = "Set by the mpiexec drop-in: the id of a launch whose launcher gives none.";
    TOPAS_RANK = "Set by a measuring rank for its children, so that none of them takes itself for the rank.";
    TOPAS_ROOT = "Set by modulefiles and profile.d: where TOPAS is installed. Nothing of TOPAS reads it.";
    TOPAS_PASSED = "Set by a driver that suspects a circle of drivers that call each other: those it has passed.";
}

/// Whether a value of [`TOPAS`] switches TOPAS off.
pub fn is_off(value: &[u8]) -> bool {
    switch(value) == Some(false)
}

/// Whether a value asks for something: `yes`, `true`, `on` or `1`.
pub fn is_yes(value: &[u8]) -> bool {
    switch(value) == Some(true)
}

/// A switch: off by `no`, `off`, `false` or `0`, on by `yes`, `on`, `true` or `1`; in capital
/// letters, too. None for any other word.
#[inline(never)]
pub fn switch(value: &[u8]) -> Option<bool> {
    const WORDS: [u32; 14] = [
        word(b"no"),
        word(b"off"),
        word(b"false"),
        word(b"0"),
        word(b"NO"),
        word(b"OFF"),
        word(b"FALSE"),
        word(b"yes"),
        word(b"on"),
        word(b"true"),
        word(b"1"),
        word(b"YES"),
        word(b"ON"),
        word(b"TRUE"),
    ];
    place(&WORDS, value).map(|at| at >= WORDS.len() / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::ToOwned;

    #[test]
    fn a_switch_has_words_in_small_and_in_capital_letters() {
        for (word, expected) in [
            ("yes", Some(true)),
            ("on", Some(true)),
            ("true", Some(true)),
            ("no", Some(false)),
            ("off", Some(false)),
            ("false", Some(false)),
            ("1", Some(true)),
            ("0", Some(false)),
            ("", None),
            ("2", None),
            ("y", None),
            ("perhaps", None),
        ] {
            for word in [word.to_owned(), word.to_uppercase()] {
                assert_eq!(switch(word.as_bytes()), expected, "{word}");
                assert_eq!(is_yes(word.as_bytes()), expected == Some(true), "{word}");
                assert_eq!(is_off(word.as_bytes()), expected == Some(false), "{word}");
            }
        }
    }
}
