//! What is not known of a run, why, and what must be known to read its figures.

use topas_data::{LineFacts, RunRecord};

use super::KnownRun;
use super::rates::those;
use crate::number::percent;
use crate::wording::{clean, count};

/// What the letters of `why=` stand for.
fn metric(letter: u8) -> String {
    match letter {
        b'f' => "Floating point operations".to_owned(),
        b'i' => "Integer operations".to_owned(),
        b'l' => "Loads".to_owned(),
        b's' => "Stores".to_owned(),
        b'm' => "Level 1 data cache misses".to_owned(),
        other => format!("The metric '{}'", other.escape_ascii()),
    }
}

/// Sentences, the weightiest first.
pub(super) fn sentences(run: &KnownRun<'_>) -> Vec<String> {
    let facts = run.facts;
    let mut all = Vec::new();
    all.extend(missing_lines(run));
    all.extend(reasons(facts));
    all.extend(untold(facts));
    if run.profile.is_none() && &*facts.lib == b"mpi" {
        all.push(
            "The time in MPI: there is no MPI profile of this run. TOPAS_MPI=yes or topas-run --mpi \
             makes one."
                .to_owned(),
        );
    }
    all.extend(odd(facts));
    all
}

fn missing_lines(run: &KnownRun<'_>) -> Vec<String> {
    let facts = run.facts;
    let measured = facts.lines.len() as u64;
    let mut all = Vec::new();
    match facts.npes.map(u64::from) {
        None => all.push(
            "The number of PEs: the launcher did not tell it. The time is booked on the PEs that \
             have a line."
                .to_owned(),
        ),
        Some(npes) if npes >= 2 && measured == 1 => {
            let pe = facts.lines.first().map_or(0, |line| line.record.pe);
            all.push(format!(
                "The other measuring PE: only PE {pe} has a line. The other one was killed, or its \
                 line is not in what was read."
            ));
        }
        Some(npes) if npes > measured => all.push(format!(
            "{} of {npes} were not measured, by design: {}rates are of the PEs that were measured.",
            count(npes - measured, "PE"),
            // The profile of MPI has every rank.
            if run.profile.is_none() { "how they ended is not known, and " } else { "" }
        )),
        Some(_) => {}
    }
    all
}

/// Metrics that were not counted, by reason.
fn reasons(facts: &RunRecord) -> Vec<String> {
    let mut found: Vec<(u8, &[u8], Vec<u32>)> = Vec::new();
    for line in &facts.lines {
        for (letter, word) in &line.why {
            let pe = line.record.pe;
            match found.iter_mut().find(|(of, why, _)| of == letter && *why == &**word) {
                Some((.., pes)) => pes.push(pe),
                None => found.push((*letter, word, vec![pe])),
            }
        }
    }
    let told = found.into_iter().map(|(letter, word, pes)| {
        let says = clean(LineFacts::reason(word));
        let (metric, word) = (metric(letter), clean(word));
        format!("{metric} of {}: {says} (why={}:{word}).", those(&pes), char::from(letter))
    });
    let mut all: Vec<String> = told.collect();
    let silent = facts
        .lines
        .iter()
        .filter(|line| line.why.is_empty() && line.record.ops.count.value().is_none());
    let silent: Vec<u32> = silent.map(|line| line.record.pe).collect();
    if !silent.is_empty() {
        all.push(format!("Operations of {}: the line does not tell why.", those(&silent)));
    }
    for line in &facts.lines {
        if let Some(counted) = line.counted {
            all.push(format!(
                "The counters of PE {} ran for {} of the time, so its counts are estimates (~).",
                line.record.pe,
                percent(counted as f64 / 1e6)
            ));
        }
    }
    all
}

/// Facts that no line tells.
fn untold(facts: &RunRecord) -> Option<String> {
    let no_line = |has: fn(&LineFacts) -> bool| !facts.lines.iter().any(has);
    let is_mpi = &*facts.lib == b"mpi";
    let untold: Vec<&str> = [
        ("how it ended", no_line(|line| !line.end.is_empty())),
        ("the job", facts.job.is_empty() && &*facts.mode == b"B"),
        ("the host", no_line(|line| !line.host.is_empty())),
        ("the memory", no_line(|line| line.rss.is_some())),
        ("the compiler", facts.compiler.is_empty()),
        ("the version of MPI", is_mpi && facts.mpi.is_empty()),
        ("threads", no_line(|line| line.threads.is_some())),
    ]
    .into_iter()
    .filter_map(|(what, is_untold)| is_untold.then_some(what))
    .collect();
    (!untold.is_empty()).then(|| format!("Not told by any line: {}.", untold.join(", ")))
}

/// What is odd about the lines.
fn odd(facts: &RunRecord) -> Vec<String> {
    let odd = &facts.odd;
    let mut all = Vec::new();
    if !facts.gpu.is_empty() {
        all.push(
            "The program used accelerators, whose operations are in none of these counts."
                .to_owned(),
        );
    }
    if odd.apart {
        all.push("The clocks of its nodes disagree, so start and end are uncertain.".to_owned());
    }
    if odd.zone > 0 {
        all.push("A clock jumped: t= and the local time of a line disagree.".to_owned());
    }
    if odd.span > 0 {
        all.push(format!("{} with impossible times.", count(odd.span.into(), "line")));
    }
    if odd.duplicates > 0 {
        let lines = count(odd.duplicates.into(), "line");
        all.push(format!("{lines} there twice, counted once."));
    }
    all
}
