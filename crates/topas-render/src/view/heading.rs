//! What stands above every view, and what is said of PEs that are not in it.

use std::collections::BTreeMap;

use topas_data::pes::{Column, PeLaunch, PeTable, Values};
use topas_format::event::Metric;

use super::quantity::{ColumnText, shown};
use crate::wording::{COUNTING_NEEDS, clean, count, hanging, named, paragraph, some_pes};

/// The launch in a line or two: program, PEs, hosts, when, id.
pub fn heading(table: &PeTable) -> String {
    let launch = &table.launch;
    let exes: Vec<String> = table.exes.iter().map(|exe| named(exe)).collect();
    let present = table.rows.len() as u64;
    let pes = match launch.npes {
        Some(npes) if u64::from(npes) != present => {
            format!("{present} of {}", count(npes.into(), "PE"))
        }
        _ => count(present, "PE"),
    };
    let hosts = match &table.hosts[..] {
        [] => String::new(),
        [one] if one.is_empty() => String::new(),
        [one] => format!(" on {}", clean(one)),
        many => format!(" on {}", count(many.len() as u64, "host")),
    };
    format!(
        "{} of {}, {pes}{hosts}, {}, launch {}\n",
        exes.join(" and "),
        named(&launch.user),
        when(launch),
        named(&launch.id)
    )
}

/// The same in lines of so many columns.
pub fn heading_lines(table: &PeTable, columns: usize) -> String {
    paragraph(heading(table).trim_end(), columns)
}

/// The same of one of two sides, behind the word for this side.
pub fn heading_of_side(word: &str, table: &PeTable, columns: usize) -> String {
    hanging(&format!("{word}{}", heading(table).trim_end()), columns, word.len())
}

/// Day and time of the end.
pub(super) fn when(launch: &PeLaunch) -> String {
    topas_format::civil::Civil { date: launch.date, time: launch.time }.to_string()
}

/// Ranges of PEs that are named in a note.
const NAMED: usize = 8;

/// What is missing, double or not counted; a paragraph each, in lines of `columns`.
pub fn notes(table: &PeTable, column: Option<(Column, &Values)>, columns: usize) -> String {
    let without = &table.without;
    let mut notes = Vec::new();
    let missing = without.missing.filter(|&missing| missing > 0);
    if let Some(missing) = missing
        && without.of_log
    {
        let of = table.launch.npes.unwrap_or(missing);
        notes.push(format!(
            "These are lines of a log, which holds two PEs of a launch, or as many as TOPAS_PE \
             names: {missing} of {} have none here by design.",
            count(of.into(), "PE")
        ));
    } else if let Some(missing) = missing {
        let of = table.launch.npes.unwrap_or(missing);
        let these = some_pes(&without.ranges, NAMED);
        notes.push(format!(
            "{missing} of {} left no line: {these}. They died before their end, or their file is \
             not here.",
            count(of.into(), "PE")
        ));
    }
    if without.repeated > 0 {
        notes.push(format!(
            "{} of PEs that have a later one are left out.",
            count(without.repeated, "line")
        ));
    }
    if without.earlier > 0 {
        let lines = count(without.earlier, "line");
        notes.push(format!("{lines} of an earlier run with the same launch id are left out."));
    }
    if without.beyond > 0 {
        notes.push(format!(
            "{} beyond the number of PEs.",
            if without.beyond == 1 {
                "1 PE is".to_owned()
            } else {
                format!("{} PEs are", without.beyond)
            }
        ));
    }
    if table.others > 0 {
        notes.push(format!(
            "{} counted something else than most did; their counts are not compared.",
            count(table.others as u64, "PE")
        ));
    }
    if let Some((column, values)) = column {
        if values.missing > 0 {
            let mut note = without_value(table, column, values.missing);
            if table.rows.iter().any(|pe| !table.why(pe).is_empty()) {
                note += " Next: ";
                note += COUNTING_NEEDS;
            }
            notes.push(note);
        }
        if values.estimates > 0 {
            let all = count(values.values.len() as u64, "value");
            notes.push(format!("{} of {all} rest on estimated counts.", values.estimates));
        }
    }
    notes.iter().map(|note| paragraph(note, columns)).collect()
}

/// How many PEs have no value of a column, and why.
pub(super) fn without_value(table: &PeTable, column: Column, missing: usize) -> String {
    let (all, why) = (count(table.rows.len() as u64, "PE"), reasons(table, column));
    let ColumnText { name, unit, .. } = shown(column, table.metric);
    format!("{missing} of {all} have no {name} in {unit}{why}.")
}

/// Why PEs have no count, with the number of PEs of each reason if there are several.
fn reasons(table: &PeTable, column: Column) -> String {
    let letter = match column {
        Column::Counter | Column::Rate => table.metric.letter(),
        Column::Misses | Column::MissRate | Column::MissesPerOperation => Metric::L1Miss.letter(),
        _ => return String::new(),
    };
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for pe in table.rows.iter().filter(|pe| column.value(table, pe).is_none()) {
        let mut words = table.why(pe).split(|byte| *byte == b',');
        let word = words.find_map(|word| word.strip_prefix(&[letter, b':']));
        let nothing = if pe.count.value().is_some() && pe.wall == 0 { "no time" } else { "" };
        let reason = word.map_or_else(|| nothing.to_owned(), clean);
        *reasons.entry(reason).or_default() += 1;
    }
    let without = reasons.remove("").unwrap_or(0);
    if reasons.is_empty() {
        return String::new();
    }
    let is_one = without == 0 && reasons.len() == 1;
    let text = |(word, count): (&String, &u64)| match is_one {
        true => explained(word),
        false => format!("{} {count}", explained(word)),
    };
    let texts: Vec<String> = reasons.iter().map(text).collect();
    format!(": {}", texts.join(", "))
}

/// A reason of `why=` in words, as doc/format.md explains it.
fn explained(word: &str) -> String {
    let words = match word {
        "cpu" => "processor not in the event table",
        "event" => "the processor has no such event",
        "pmu" => "no hardware counters here",
        "paranoid" => "forbidden by perf_event_paranoid",
        "seccomp" => "forbidden by a seccomp filter",
        "kernel" => "kernel without perf events",
        "files" => "no file descriptor free",
        "refused" => "refused by the kernel",
        "shared" => "counters taken by others",
        "lost" => "closed by the program",
        "used" => "used by the program itself",
        other => other,
    };
    if words == word { words.to_owned() } else { format!("{words} ({word})") }
}
