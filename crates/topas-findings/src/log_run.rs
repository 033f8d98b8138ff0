//! RunFacts of a run of a log, of which few PEs are known.

use topas_data::{PeRecord, Run};
use topas_format::event::Metric;
use topas_mpi_data::Efficiency;

use crate::ending::ending_words;
use crate::fact::RunFacts;

/// What a log has besides a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct EarlierRuns<'a> {
    /// Wall clock times in s of earlier runs of the same program by the same user on as many PEs
    pub walls: &'a [f64],
    /// How the run ended: `end=` of its worst line with the PE of this line; None if it ended well
    /// or that is not known
    pub ended: Option<(u32, &'a [u8])>,
    /// Nominal frequency of the processor in MHz
    pub mhz: Option<f64>,
    /// Efficiency of its MPI profile, if it has one
    pub mpi: Option<&'a Efficiency>,
}

/// A ratio of sums over the PEs that have both terms.
fn ratio(run: &Run<'_>, of: impl Fn(&PeRecord) -> Option<(u64, u64)>) -> Option<f64> {
    let both = run.pes.iter().filter_map(of);
    let (part, whole) = both.fold((0u128, 0u128), |(part, whole), (a, b)| {
        (part + u128::from(a), whole + u128::from(b))
    });
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The facts of a run of a log, whose lines were kept in [`topas_data::Detail::Counters`].
///
/// Two PEs of a run say little about its balance, so no fact of `imbalance` is set.
pub fn run_facts(run: &Run<'_>, more: &EarlierRuns<'_>) -> RunFacts {
    let mut facts = RunFacts::default();
    let wall = run.wall.0 as f64 / 1e6;
    facts.text("source", "log");
    facts.number("pes", f64::from(run.lines()));
    facts.number("npes", f64::from(run.npes));
    facts.number("wall", wall);
    facts.number("pe_hours", run.pe_micros() as f64 / 3.6e9);
    let all = |of: fn(&PeRecord) -> Option<u64>| ratio(run, |pe| Some((of(pe)?, pe.wall.0)));
    let cpu = |pe: &PeRecord| pe.cpu.and_then(|cpu| u64::try_from(cpu.micros()).ok());
    let system = |pe: &PeRecord| pe.cpu.map(|cpu| cpu.sys.0);
    let used = all(|pe| pe.cpu.and_then(|cpu| u64::try_from(cpu.micros()).ok()));
    facts.number("cpu_use", used.map(|share| 100.0 * share));
    facts.number("processors", used);
    let of_cpu = ratio(run, |pe| Some((system(pe)?, cpu(pe)?)));
    facts.number("system_share", of_cpu.map(|share| 100.0 * share));
    let of_wall = all(|pe| pe.cpu.map(|cpu| cpu.sys.0));
    facts.number("system_wall", of_wall.map(|share| 100.0 * share));
    facts.number("system_time", of_wall.map(|share| share * wall));
    facts.number("mflops", run.fp().map(|rate| rate.mflops()));
    let operations = |pe: &PeRecord| pe.count(Metric::FpOps).value();
    let per_op = ratio(run, |pe| Some((pe.l1_miss.value()?, operations(pe)?)));
    facts.number("l1_per_op", per_op);
    facts.text("counted", "floating point operations");
    let ipc = ratio(run, |pe| Some((pe.instructions.value()?, pe.cycles.value()?)));
    facts.number("ipc", ipc);
    let mhz = ratio(run, |pe| Some((pe.cycles.value()?, pe.cpu?.user.0)));
    facts.number("ghz", mhz);
    facts.number("ghz_nominal", more.mhz);
    let nominal = more.mhz.filter(|mhz| *mhz > 0.0);
    facts.number("ghz_share", mhz.zip(nominal).map(|(mhz, nominal)| 100.0 * mhz / nominal));
    if let Some((pe, end)) = more.ended {
        facts.text("ending", ending_words(end));
        facts.text("ending_who", format!("Of the measured PEs, PE {pe}"));
        let wall = run.pes.iter().find(|record| record.pe == pe).map_or(run.wall, |pe| pe.wall);
        facts.number("ending_after", wall.0 as f64 / 1e6);
    }
    if let Some(mpi) = more.mpi {
        let inside = mpi.parallel().value().map(|outside| 1.0 - outside);
        facts.number("mpi_share", inside.map(|share| 100.0 * share));
        facts.number("mpi_cost", inside.map(|share| share * mpi.time as f64 / 1e9));
    }
    earlier(more.walls, wall, &mut facts);
    facts
}

fn earlier(walls: &[f64], wall: f64, facts: &mut RunFacts) {
    facts.number("earlier_runs", walls.len() as f64);
    let mut sorted = walls.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let median = topas_data::pes::quantile(&sorted, 0.5);
    if median > 0.0 {
        facts.number("earlier_wall", median);
        facts.number("slower_by", wall - median);
        facts.number("slower", 100.0 * (wall / median - 1.0));
    }
}
