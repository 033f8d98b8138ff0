//! Facts of a run of a log, of which few PEs are known.

use topas_data::{LineFacts, RunHistory, RunRecord};
use topas_mpi_data::MpiProfile;

use crate::ending::ending_words;
use crate::fact::FactValues;
use crate::kernel;
use crate::mpi_run::add_mpi_facts;

/// A ratio of sums over the PEs that have both terms, the second of which is not 0.
fn ratio(run: &RunRecord, of: impl Fn(&LineFacts) -> Option<(u64, u64)>) -> Option<f64> {
    let both = run.lines.iter().filter_map(of);
    let (part, whole) = both.fold((0u128, 0u128), |(part, whole), (a, b)| {
        (part + u128::from(a), whole + u128::from(b))
    });
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// User and system time of a PE in µs.
fn cpu(line: &LineFacts) -> Option<u64> {
    line.record.cpu.and_then(|cpu| u64::try_from(cpu.micros()).ok())
}

fn system(line: &LineFacts) -> Option<u64> {
    line.record.cpu.map(|cpu| cpu.sys.0)
}

/// The facts of a run of a log, of its earlier runs and of its MPI profile.
///
/// Two PEs of a run say little about its balance, so no fact of `imbalance` is set. The operations
/// of a run that uses accelerators are not those of the processor, so they are no facts either.
pub fn run_facts(
    run: &RunRecord,
    earlier: Option<&RunHistory>,
    profile: Option<&MpiProfile>,
) -> FactValues {
    let mut facts = FactValues::default();
    let wall = run.wall as f64 / 1e6;
    facts.text("source", "log");
    facts.number("pes", run.lines.len() as f64);
    facts.number("npes", run.npes.map(f64::from));
    facts.number("wall", wall);
    facts.number("pe_hours", topas_data::PeTime(run.pe_micros).hours());
    let used = ratio(run, |line| Some((cpu(line)?, line.record.wall.0)));
    facts.number("cpu_use", used.map(|share| 100.0 * share));
    facts.number("processors", used);
    let of_cpu = ratio(run, |line| Some((system(line)?, cpu(line)?)));
    facts.number("system_share", of_cpu.map(|share| 100.0 * share));
    let of_wall = ratio(run, |line| Some((system(line)?, line.record.wall.0)));
    facts.number("system_wall", of_wall.map(|share| 100.0 * share));
    facts.number("system_time", of_wall.map(|share| share * wall));
    let of_cpu = of_cpu.map(|share| 100.0 * share);
    kernel::add(of_wall.map(|share| share * wall), of_cpu, &mut facts);
    if !run.accelerated {
        facts.number("mflops", run.value("mflops"));
        facts.number("l1_per_op", run.value("l1_per_op"));
        facts.text("counted", "floating point operations");
    }
    facts.number("ipc", run.value("ipc"));
    let mhz = ratio(run, |line| Some((line.record.cycles.value()?, line.record.cpu?.user.0)));
    let nominal = run.mhz.map(|mhz| mhz as f64).filter(|mhz| *mhz > 0.0);
    facts.number("ghz", mhz);
    facts.number("ghz_nominal", nominal);
    facts.number("ghz_share", mhz.zip(nominal).map(|(mhz, nominal)| 100.0 * mhz / nominal));
    let largest = run.lines.iter().filter_map(|line| line.rss).max();
    facts.number("memory_largest", largest.map(|bytes| bytes as f64));
    first_failed(run, &mut facts);
    if let Some(profile) = profile {
        add_mpi_facts(profile, wall, &mut facts);
    }
    if let Some(earlier) = earlier {
        facts.number("earlier_runs", earlier.walls.len() as f64);
        if let Some(median) = earlier.median_wall().filter(|median| *median > 0.0) {
            let median = median / 1e6;
            facts.number("earlier_wall", median);
            facts.number("slower_by", wall - median);
            facts.number("slower", 100.0 * (wall / median - 1.0));
        }
    }
    facts
}

/// Classes of the field `ending` of PEs that failed by themselves: all but those that ended well
/// and those that a signal from outside ended.
const FAILED: std::ops::RangeInclusive<u32> = 3..=6;

/// Of the measured PEs that failed by themselves the first.
fn first_failed(run: &RunRecord, facts: &mut FactValues) {
    let failed = run.lines.iter().filter(|line| line.ending.is_some_and(|of| FAILED.contains(&of)));
    let Some(line) = failed.min_by_key(|line| line.record.end) else { return };
    facts.text("ending", ending_words(&line.end));
    let host = String::from_utf8_lossy(&line.host);
    let on = if host.is_empty() { String::new() } else { format!(" on {host}") };
    facts.text("ending_who", format!("Of the measured PEs, PE {}{on}", line.record.pe));
    facts.number("ending_after", line.record.wall.0 as f64 / 1e6);
}
