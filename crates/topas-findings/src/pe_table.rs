//! FactValues of a table of PEs.

use topas_data::pes::{
    Balance, Column, Findings, Grouping, LoadSpread, PeEndings, PeFinding, PeTable, Subject,
    costliest,
};
use topas_format::event::Metric;

use crate::ending::ending_words;
use crate::fact::FactValues;
use crate::kernel;

/// Share of the wall clock time below which CPU time is that of an idle PE.
const IDLE: f64 = 0.05;

/// The facts of a run whose PEs are known. `names` tells what a column is called, and the unit of
/// its values; `ended` how the PEs ended, with what is to be said of all but the first.
pub fn pe_facts(
    table: &PeTable,
    balances: &[Balance],
    findings: &Findings,
    ended: Option<(&PeEndings, String)>,
    names: &impl Fn(Column) -> (&'static str, &'static str),
) -> FactValues {
    let mut facts = FactValues::default();
    let pes = table.rows.len() as f64;
    let wall = table.wall as f64 / 1e6;
    let npes = table.launch.npes.map_or(pes, f64::from);
    facts.text("source", if table.without.of_log { "log" } else { "pes" });
    facts.number("pes", pes);
    facts.number("npes", npes);
    facts.number("hosts", table.hosts.len() as f64);
    facts.number("wall", wall);
    facts.number("pe_hours", npes * wall / 3600.0);
    facts.number("ghz_nominal", table.launch.mhz.0.map(f64::from));
    if table.rows.iter().any(|pe| pe.count.value().is_some()) {
        facts.text("counted", names(Column::Counter).0);
    }
    sums(table, wall, &mut facts);
    memory(table, &mut facts);
    if let Some(balance) = costliest(balances) {
        imbalance(table, balance, findings, names, &mut facts);
    }
    if let Some((endings, others)) = ended {
        first_failed(table, endings, &mut facts);
        facts.text("ending_others", others);
    }
    if let Some(missing) = table.without.missing.filter(|_| !table.without.of_log) {
        facts.number("no_line", f64::from(missing));
    }
    facts
}

/// A PE with its host, if there are several.
fn who(table: &PeTable, row: u32) -> String {
    let Some(pe) = table.rows.get(row as usize) else { return String::new() };
    let host = table.host(pe);
    if host.is_empty() || table.hosts.len() < 2 {
        return format!("PE {}", pe.pe);
    }
    format!("PE {} on {}", pe.pe, String::from_utf8_lossy(host))
}

/// A ratio of sums over the PEs that have both terms.
#[derive(Default)]
struct SumRatio {
    part: u128,
    whole: u128,
}

impl SumRatio {
    fn add(&mut self, terms: Option<(u64, u64)>) {
        if let Some((part, whole)) = terms {
            self.part += u128::from(part);
            self.whole += u128::from(whole);
        }
    }

    /// None if the whole is nothing.
    fn value(&self) -> Option<f64> {
        (self.whole > 0).then(|| self.part as f64 / self.whole as f64)
    }
}

/// Sums over all PEs.
#[derive(Default)]
struct PeSums {
    /// User and system CPU time in µs
    cpu: u128,
    /// System CPU time in µs
    system: u128,
    /// Operations per µs of wall clock time
    mflops: SumRatio,
    l1_per_op: SumRatio,
    ipc: SumRatio,
    /// Cycles per µs of user CPU time
    mhz: SumRatio,
    /// PEs without much CPU time
    idle: usize,
}

impl PeSums {
    /// One pass over a table, which for many PEs is larger than any cache. `wall` is in s.
    fn of(table: &PeTable, wall: f64) -> Self {
        let mut sums = PeSums::default();
        for pe in &table.rows {
            sums.cpu += u128::from(pe.cpu_time());
            sums.system += u128::from(pe.system);
            let counted = pe.count.value().filter(|_| pe.metric == table.metric);
            sums.mflops.add(counted.map(|count| (count, pe.wall)));
            sums.l1_per_op.add(pe.l1_misses.value().zip(counted));
            sums.ipc.add(pe.instructions.zip(pe.cycles));
            sums.mhz.add(pe.cycles.map(|cycles| (cycles, pe.user)));
            sums.idle += usize::from((pe.cpu_time() as f64) < IDLE * wall * 1e6);
        }
        sums
    }
}

fn sums(table: &PeTable, wall: f64, facts: &mut FactValues) {
    let pes = table.rows.len() as f64;
    let sums = PeSums::of(table, wall);
    let (cpu, system) = (sums.cpu as f64 / 1e6, sums.system as f64 / 1e6);
    facts.number("cpu_use", 100.0 * cpu / (pes * wall));
    facts.number("processors", cpu / (pes * wall));
    facts.number("system_share", 100.0 * system / cpu);
    facts.number("system_wall", 100.0 * system / (pes * wall));
    facts.number("system_time", system / pes);
    let each = table.rows.iter().map(|pe| (pe.pe, pe.system as f64 / 1e6));
    facts.system = each.collect();
    kernel::add(Some(system / pes), Some(100.0 * system / cpu), facts);
    if table.metric == Metric::FpOps {
        facts.number("mflops", sums.mflops.value());
    }
    facts.number("l1_per_op", sums.l1_per_op.value());
    facts.number("ipc", sums.ipc.value());
    let mhz = sums.mhz.value();
    facts.number("ghz", mhz);
    let nominal = table.launch.mhz.0.map(f64::from).filter(|mhz| *mhz > 0.0);
    facts.number("ghz_share", mhz.zip(nominal).map(|(mhz, nominal)| 100.0 * mhz / nominal));
    facts.number("idle_pes", sums.idle as f64);
    facts.number("idle_share", 100.0 * sums.idle as f64 / pes);
    let mut places: Vec<(u32, u32)> =
        table.rows.iter().filter_map(|pe| Some((pe.host, pe.cpu?))).collect();
    if !places.is_empty() {
        places.sort_unstable();
        let shared = places.chunk_by(|a, b| a == b).filter(|same| same.len() > 1);
        facts.number("shared_pes", shared.map(<[_]>::len).sum::<usize>() as f64);
    }
}

fn memory(table: &PeTable, facts: &mut FactValues) {
    let mut of_hosts: Vec<u128> = vec![0; table.hosts.len()];
    for pe in &table.rows {
        if let (Some(rss), Some(sum)) = (pe.rss, of_hosts.get_mut(pe.host as usize)) {
            *sum += u128::from(rss);
        }
    }
    let largest = table.rows.iter().filter_map(|pe| pe.rss).max();
    facts.number("memory_largest", largest.map(|bytes| bytes as f64));
    let most = table.hosts.iter().zip(&of_hosts).max_by_key(|(_, bytes)| **bytes);
    if let Some((name, bytes)) = most.filter(|(_, bytes)| **bytes > 0) {
        facts.number("memory_of_host", *bytes as f64);
        facts.text("memory_host", String::from_utf8_lossy(name));
    }
}

fn imbalance(
    table: &PeTable,
    balance: &Balance,
    findings: &Findings,
    names: &impl Fn(Column) -> (&'static str, &'static str),
    facts: &mut FactValues,
) {
    let (gain, (name, unit)) = (balance.gain(), names(balance.of));
    facts.text("imbalance_of", name);
    facts.number("imbalance_pes", balance.pes as f64);
    facts.text("imbalance_who", who(table, balance.max.1));
    let pe = table.rows.get(balance.max.1 as usize);
    facts.number("imbalance_pe", pe.map(|pe| f64::from(pe.pe)));
    facts.quantity("imbalance_max", balance.max.0, unit);
    facts.quantity("imbalance_mean", balance.mean, unit);
    facts.number("imbalance_cost", gain.seconds);
    facts.number("imbalance_share", 100.0 * gain.share());
    facts.number("imbalance_lost", gain.pe_seconds() / 3600.0);
    facts.number("imbalance_all", gain.all_pe_seconds() / 3600.0);
    match balance.spread {
        Some(LoadSpread::AlongPes(first, last)) => {
            facts.quantity("imbalance_first", first, unit);
            facts.quantity("imbalance_last", last, unit);
        }
        Some(LoadSpread::Quartiles([low, _, high]))
            if findings.findings.is_empty() && !findings.looked_at.is_empty() =>
        {
            facts.quantity("imbalance_low", low, unit);
            facts.quantity("imbalance_high", high, unit);
        }
        Some(LoadSpread::Quartiles(_)) | None => {}
    }
}

fn first_failed(table: &PeTable, endings: &PeEndings, facts: &mut FactValues) {
    let Some(pe) = endings.first.and_then(|row| table.rows.get(row as usize)) else { return };
    let host = String::from_utf8_lossy(table.host(pe));
    let on = if host.is_empty() { String::new() } else { format!(" on {host}") };
    facts.text("ending", ending_words(table.ending(pe)));
    facts.text("ending_who", format!("PE {}{on}", pe.pe));
    facts.number("ending_after", pe.wall as f64 / 1e6);
}

/// The facts of a part that stands out, besides those of its run.
pub fn part_facts(run: &FactValues, finding: &PeFinding) -> FactValues {
    let mut facts = run.clone();
    let part = match &finding.subject {
        _ if finding.classes > 1 => "class",
        Subject::Pes { .. } => "pe",
        Subject::Groups { by: Grouping::Exe, .. } => "exe",
        Subject::Groups { by: Grouping::Host, .. } => "host",
        Subject::Groups { .. } => "numa",
    };
    facts.text("part", part);
    facts.number("part_pes", finding.count as f64);
    for (more, less, column) in [
        ("cpu_more", "cpu_less", Column::CpuTime),
        ("operations_more", "operations_less", Column::Counter),
        ("rate_more", "rate_less", Column::Rate),
        ("wall_more", "wall_less", Column::Wall),
        ("frequency_more", "frequency_less", Column::Frequency),
        ("l1_more", "l1_less", Column::MissesPerOperation),
        ("memory_more", "memory_less", Column::Memory),
        ("system_more", "system_less", Column::System),
    ] {
        let evidence = finding.evidence.iter().find(|evidence| evidence.column == column);
        let change = evidence.map_or(0.0, |evidence| match column {
            Column::System => {
                let wall = run.get_number("wall").unwrap_or(f64::INFINITY);
                (evidence.theirs - evidence.others) / wall
            }
            _ => evidence.difference(),
        });
        facts.number(more, 100.0 * change.max(0.0));
        facts.number(less, 100.0 * (-change).max(0.0));
    }
    facts
}
