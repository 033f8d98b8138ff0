//! The extras of a line: the `key=value` tokens behind its sixteen fields.
//!
//! [`EXTRAS`] owns all of an extra: what its value is, what it means, what becomes of it where
//! lines are handed on without names, and how reports and pictures call it. Parsers of options,
//! exports, listings and documents ask this table, so that an extra cannot be forgotten by one
//! of them.

/// What the value of an extra is. JSON and CSV, selections and reports take it as this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtraValue {
    /// Text, escaped as a name
    Text,
    /// A whole number
    Number,
    /// A number of events, with a `~` before it if it is an estimate
    Count,
    /// Whole seconds
    Seconds,
    /// Bytes
    Bytes,
    /// A share of 1 with decimals
    Share,
}

/// What becomes of a field where lines are handed on without names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportRule {
    /// It belongs to the form of the line and identifies nobody: it always stays
    Fixed,
    /// It identifies nobody: it stays, or is left out if that is asked for
    Kept,
    /// It is a name that many have: it stays, or is hashed or left out if that is asked for
    KeptName,
    /// It identifies a person, a program or a run: it is hashed unless something else is asked for
    Hashed,
}

/// An extra. All but the two names for people must be told of each.
pub struct Extra {
    /// The key in the line
    pub name: &'static str,
    /// What its value is
    pub value: ExtraValue,
    /// What becomes of it where lines are handed on without names
    pub export: ExportRule,
    /// What it means, with its unit
    pub about: &'static str,
    /// Heading of its column in a report; if it is empty, the key with a capital
    pub heading: &'static str,
    /// What the titles of pictures call it; if it is empty, the key
    pub title: &'static str,
}

impl Extra {
    /// The extra of this key.
    pub fn known(key: &[u8]) -> Option<&'static Extra> {
        EXTRAS.iter().find(|extra| extra.name.as_bytes() == key)
    }

    const fn called(self, heading: &'static str, title: &'static str) -> Self {
        Extra { heading, title, ..self }
    }
}

const fn extra(
    name: &'static str,
    value: ExtraValue,
    export: ExportRule,
    about: &'static str,
) -> Extra {
    Extra { name, value, export, about, heading: "", title: "" }
}

use ExportRule::{Fixed, Hashed, Kept, KeptName};
use ExtraValue::{Bytes, Count, Number, Seconds, Share, Text};

/// Every extra, in the order of the columns of CSV.
pub const EXTRAS: &[Extra] = &[
    extra("v", Number, Fixed, "Version of the line, 1."),
    extra("t", Seconds, Kept, "When the program ended: seconds since 1970-01-01 00:00 UTC."),
    extra("uid", Number, Hashed, "Numeric user id."),
    extra("host", Text, Hashed, "Node of this rank."),
    extra("job", Text, Hashed, "Job id of the batch system."),
    extra("step", Text, Hashed, "Step of the job."),
    extra("part", Text, KeptName, "Partition or queue of the batch system.")
        .called("Partition", "partition"),
    extra(
        "end",
        Text,
        Kept,
        "How the program ended: `exit:0` to `exit:255`, `sig:15` for a signal, `abort` for SIGABRT.",
    ),
    extra("cyc", Count, Kept, "Processor cycles of this rank in user mode."),
    extra("ins", Count, Kept, "Instructions of this rank in user mode."),
    extra(
        "run",
        Share,
        Kept,
        "Smallest share of the time an event was on a counter, 0.000 to 1; absent if 1.",
    ),
    extra("rss", Bytes, Kept, "Largest resident set of this rank in B."),
    extra("thr", Number, Kept, "Threads of this rank."),
    extra(
        "why",
        Text,
        Kept,
        "Reason of each `-`: `f:pmu,m:pmu`; the letter of the metric (m: cache misses), then the word.",
    ),
    extra(
        "mpi",
        Text,
        KeptName,
        "MPI library, as it names itself, blanks as `_`; the file name of one loaded by dlopen.",
    )
    .called("MPI", "MPI library"),
    extra("cc", Text, KeptName, "Compiler, as it names itself in the executable, blanks as `_`.")
        .called("Compiler", "compiler"),
    extra(
        "gpu",
        Text,
        Kept,
        "Accelerators for which the library of a driver was loaded at the end: `cuda`, `hip`, `ze`, \
         `opencl`, several joined by `+`.",
    )
    .called("Accelerator", "accelerator"),
    extra("via", Text, Kept, "`run` if measured through topas-run."),
    extra("bid", Text, Hashed, "Build id of the executable."),
    extra("cpu", Number, Kept, "Processor the rank ended on, in topas.out."),
    extra("numa", Number, Kept, "NUMA node the rank ended on, in topas.out."),
    extra("cut", Number, Fixed, "1: a name was too long for the line and lost its end."),
    extra(
        "len",
        Number,
        Fixed,
        "Bytes of the line without its newline, three digits; always last.",
    ),
];
