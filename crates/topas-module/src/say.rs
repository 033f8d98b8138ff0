//! Words to the user on standard error, each message with one `write`.
//!
//! All sentences stand in one text: an array of strings would cost a pointer, a length
//! and two relocations for each of them in every user program.

use topas_format::out::Out;
use topas_format::text::Words;

use crate::state::out;
use crate::{extended, sys};

macro_rules! sentences {
    ($($name:ident = $text:literal,)*) => {
        /// What can be said; some only by number. As wide as other numbers, so that results
        /// that hold one are returned in registers.
        #[allow(dead_code)]
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[repr(u32)]
        pub enum Sentence { $($name,)* }

        const SENTENCES: Words = Words(concat!($($text, "\n"),*).as_bytes(), b'\n');
    };
}

sentences! {
    // What it is about.
    Pe = "TOPAS_PE=",
    Ops = "TOPAS_OPS=",
    Log = "TOPAS_LOG=",
    AllPe = "TOPAS_MEASURE_ALL_PE=",
    Mpi = "TOPAS_MPI=",
    NotMeasured = "not measured: ",
    NotWritten = "not written: ",
    // In the order of `topas_launch::named::NamedRanksFault`; what happens then follows.
    NotANumber = " is no list of ranks",
    NoSuchRank = " names a rank this run lacks",
    Repeated = " names a rank twice",
    AtRandom = ": two chosen at random",
    BadOps = " names no operations",
    // In the order of the variables.
    AllPeAtLink = " needs topas-run --all-pe",
    MpiAtLink = " needs topas-run --mpi",
    Off = "TOPAS is off",
    NoRank = "no parallel run",
    Privileged = "privileged",
    Child = "child of a rank",
    Filter = "seccomp",
    Measure = "by topas.conf",
    NoTarget = "no log in topas.conf",
    // In the order of the error numbers in `crate::log`.
    NoWrite = " not writable",
    Denied = ": permission denied",
    NoDirectory = ": no such directory",
    NoReader = ": no reader",
    Directory = " is a directory",
    NoSuchTarget = " is no target",
    Full = ": no space left",
    ReadOnly = ": read-only",
    Link = " is a link",
    NotChosen = "",
}

/// One line: what it is about, the value as far as it fits, a sentence.
pub fn say(subject: Sentence, value: &[u8], sentence: Sentence) {
    say_by_number(subject as usize, value, sentence as usize);
}

/// As [`say`].
#[inline(never)]
pub fn say_by_number(subject: usize, value: &[u8], mut sentence: usize) {
    // Most of a value that is shown; here it may be the path of the user's own file.
    const SHOWN: usize = if extended::ON { 4000 } else { 128 };
    let out = out().put(b"topas: ");
    put(out, subject);
    out.one_line(value, SHOWN);
    loop {
        put(out, sentence);
        if sentence >= Sentence::AtRandom as usize {
            break;
        }
        sentence = Sentence::AtRandom as usize;
    }
    out.byte(b'\n');
    text(out.text());
}

#[inline(never)]
fn put(out: &mut Out<'_>, sentence: usize) {
    out.put(SENTENCES.at(sentence));
}

/// A text as it is.
pub fn text(text: &[u8]) {
    const STDERR: i32 = 2;
    // Nobody can be told if standard error is closed.
    sys::write(STDERR, text);
}
