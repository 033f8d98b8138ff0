//! What a call of MPI costs more than with the plain profile when waits are told apart, when paths are
//! counted, and when events are logged.

use std::fmt::Write as _;

use anyhow::{Context, Result};

use super::calls::{CallProgram, Costs, ranks_text, timed};
use super::{Front, MPIS};
use crate::bench::Bench;

/// The columns: title and what is switched on besides the profile.
const OPTIONS: [(&str, &[(&str, &str)]); 5] = [
    ("waits", &[("TOPAS_MPI_WAITS", "yes")]),
    ("paths, 4 frames", &[("TOPAS_MPI_PATHS", "4")]),
    ("paths, 8 frames", &[("TOPAS_MPI_PATHS", "8")]),
    ("waits, paths of 4 frames", &[("TOPAS_MPI_WAITS", "yes"), ("TOPAS_MPI_PATHS", "4")]),
    ("event log", &[("TOPAS_MPI_LOG", "yes")]),
];

/// What all bindings and large messages leave out: they show nothing more.
const LEFT_OUT: [&str; 3] = ["mpi:", "f08:", "nested:"];

/// The tables.
pub fn waits(bench: &Bench) -> Result<String> {
    let mut text = String::from(
        "## MPI profile: cost of its options\n\n\
         Nanoseconds that a call takes longer than with the plain profile, whose own cost is in the column \
         \"profile\"; all are timed in turn as in the section before. Goals, beside the profile: waits +15 ns \
         for each end of a message and +10 ns for a collective, 4 frames +12 ns, 8 frames +40 ns, event \
         log +8 ns.\n",
    );
    for mpi in MPIS {
        let dir = bench.sub(&format!("{}-waits", mpi.name))?;
        let program = CallProgram::build(mpi, &dir)?;
        let profile = Front::profile(bench, "profile");
        let mut fronts = vec![profile.clone()];
        for (title, options) in OPTIONS {
            fronts.push(profile.clone().with(title, options));
        }
        for ranks in [1, 2] {
            let costs = timed(bench, mpi, &program, ranks, &fronts)?;
            write!(text, "\n{}, {}:\n\n", mpi.version()?, ranks_text(ranks))?;
            table(&mut text, &costs)?;
        }
    }
    Ok(text)
}

fn table(text: &mut String, costs: &[Costs]) -> Result<()> {
    let (profile, options) = costs.split_first().context("the profile is the first")?;
    let titles = OPTIONS.map(|(title, _)| title).join(" | ");
    writeln!(text, "| routine | bare call, ns | profile | {titles} |")?;
    writeln!(text, "| --- | --- | --- |{}", " --- |".repeat(OPTIONS.len()))?;
    let is_shown = |name: &&String| !LEFT_OUT.iter().any(|left| name.starts_with(left));
    for name in profile.order.iter().filter(is_shown) {
        let base = profile.of(name)?;
        write!(text, "| {} | {:.1} | {:+.1} |", name.replace('_', " "), base.bare, base.more)?;
        for costs in options {
            write!(text, " {:+.1} |", costs.of(name)?.more - base.more)?;
        }
        writeln!(text)?;
    }
    Ok(())
}
