//! Rates of a run, each with what it was counted on.

use topas_data::RunRecord;
use topas_format::event::Metric;
use topas_format::number::Count;

use crate::number::{compact, short, si, trimmed};
use crate::runs::length;
use crate::wording::clean;

/// `PE 5`, `PEs 5, 10`.
pub(super) fn those(pes: &[u32]) -> String {
    let names: Vec<String> = pes.iter().map(u32::to_string).collect();
    format!("{} {}", if pes.len() == 1 { "PE" } else { "PEs" }, names.join(", "))
}

/// What is counted by time: label, measure, what is counted, how to read it.
type Counted = (&'static str, &'static str, &'static str, fn(&topas_data::PeRecord) -> Count);

const COUNTED: [Counted; 5] = [
    ("Floating point", "mflops", "floating point operations", |pe| pe.count(Metric::FpOps)),
    ("Integer", "mintops", "integer operations", |pe| pe.count(Metric::IntOps)),
    ("Loads", "mloads", "loads", |pe| pe.count(Metric::Loads)),
    ("Stores", "mstores", "stores", |pe| pe.count(Metric::Stores)),
    ("L1 misses", "l1_rate", "misses of the level 1 data cache", |pe| pe.l1_miss),
];

/// The figures of a run, of those that were measured.
pub(super) fn items(facts: &RunRecord) -> Vec<(&'static str, String)> {
    let mut items = Vec::new();
    for (label, measure, what, read) in COUNTED {
        let Some(of) = facts.measures.iter().find(|of| of.measure.name == measure) else {
            continue;
        };
        let Some(value) = of.value else { continue };
        let lines = || facts.lines.iter().filter(|line| of.pes.contains(&line.record.pe));
        let counts: u128 =
            lines().filter_map(|line| read(&line.record).value()).map(u128::from).sum();
        let time: u128 = lines().map(|line| u128::from(line.record.wall.0)).sum();
        let mark = if of.estimate { "~" } else { "" };
        items.push((
            label,
            format!(
                "{mark}{} {}: {mark}{} {what} of {} in {} wall clock{}",
                short(value),
                of.measure.unit,
                compact(counts),
                those(&of.pes),
                length(time),
                beside_accelerators(facts)
            ),
        ));
    }
    items.extend(ratio(facts, "l1_per_op", "L1/op"));
    items.extend(ratio(facts, "ipc", "IPC"));
    items.extend(cpu(facts));
    items.extend(memory(facts));
    items
}

fn ratio(facts: &RunRecord, measure: &str, label: &'static str) -> Option<(&'static str, String)> {
    let of = facts.measures.iter().find(|of| of.measure.name == measure)?;
    let mark = if of.estimate { "~" } else { "" };
    let text = format!(
        "{mark}{} {}, {}{}",
        short(of.value?),
        of.measure.unit,
        those(&of.pes),
        beside_accelerators(facts)
    );
    Some((label, text))
}

/// What is to be said of each rate of the processor, if the run used accelerators.
fn beside_accelerators(facts: &RunRecord) -> String {
    if !facts.accelerated {
        return String::new();
    }
    format!(" (not comparable: uses {})", clean(&facts.gpu))
}

/// Use of the processor, and the share of the system in it.
fn cpu(facts: &RunRecord) -> Option<(&'static str, String)> {
    let of = facts.measures.iter().find(|of| of.measure.name == "cpu_use")?;
    let mut text = format!("{}% of the wall clock time of {}", percent(of.value?), those(&of.pes));
    if let Some(share) = facts.value("sys_share") {
        text += &format!("; {}% of this CPU time in the system", percent(share));
    }
    Some(("CPU", text))
}

/// A share that is in percent already.
fn percent(value: f64) -> String {
    trimmed((value * 100.0).round() / 100.0)
}

/// The largest resident set.
fn memory(facts: &RunRecord) -> Option<(&'static str, String)> {
    let told = facts.lines.iter().filter_map(|line| Some((line.rss?, line.record.pe)));
    let (rss, pe) = told.clone().max_by_key(|(rss, pe)| (*rss, std::cmp::Reverse(*pe)))?;
    let pes: Vec<u32> = told.map(|(_, pe)| pe).collect();
    let text = match pes.len() {
        1 => format!("{} resident at most, PE {pe}", si(rss as f64, "B")),
        _ => {
            format!(
                "{} resident at most, PE {pe}, the most of {}",
                si(rss as f64, "B"),
                those(&pes)
            )
        }
    };
    Some(("Memory", text))
}
