//! What a check of a log found, for people and as JSON.

use serde_json::{Value, json};
use topas_data::Inputs;
use topas_data::check::{CheckFinding, FindingCount, FindingPlace, Findings};

use crate::skipped::{foreign, foreign_json, passed_json, passed_over};

/// The findings for people: faults, then remarks, each with its first places.
pub fn text(findings: &Findings, inputs: &Inputs) -> String {
    let Findings { files, lines, good, profile, runs, .. } = findings;
    let mut text = format!("{files} files, {lines} lines: {good} log lines of {runs} runs");
    if *profile > 0 {
        text += &format!(", {profile} lines of MPI profiles");
    }
    text.push('\n');
    text += &foreign(&findings.foreign).unwrap_or_default();
    text += &passed_over(inputs).unwrap_or_default();
    for (title, remarks) in [("Faults", false), ("Remarks", true)] {
        let mut of_kind =
            findings.found.iter().filter(|(finding, _)| finding.is_remark() == remarks).peekable();
        if of_kind.peek().is_some() {
            text += &format!("\n{title}\n");
        }
        for (finding, found) in of_kind {
            entry(*finding, found, &mut text);
        }
    }
    if !findings.has_faults() {
        text += "\nNo faults.\n";
    }
    text
}

fn entry(finding: CheckFinding, found: &FindingCount, text: &mut String) {
    *text += &format!("{:>10}  {}", found.count, finding.words());
    if !found.names.is_empty() {
        *text += &format!(": {}", found.names.join(" "));
    }
    text.push('\n');
    for place in &found.places {
        *text += &format!("{:>10}  {}\n", "", self::place(place));
    }
    if found.count > found.places.len() as u64 && !found.places.is_empty() {
        *text += &format!("{:>10}  ...\n", "");
    }
}

fn place(place: &FindingPlace) -> String {
    match place.line {
        Some(line) => format!("{}:{line}", place.source),
        None => place.source.to_string(),
    }
}

/// The findings as one JSON object, schema `topas.check/1`.
pub fn json(findings: &Findings, inputs: &Inputs) -> String {
    let found: Vec<Value> = findings
        .found
        .iter()
        .map(|(finding, found)| {
            let places: Vec<Value> = found
                .places
                .iter()
                .map(|place| json!({ "file": place.source.to_string(), "line": place.line }))
                .collect();
            json!({
                "name": finding.name(),
                "remark": finding.is_remark(),
                "words": finding.words(),
                "count": found.count,
                "places": places,
                "names": found.names,
            })
        })
        .collect();
    let object = json!({
        "schema": "topas.check/1",
        "files": findings.files,
        "unreadable": findings.failed.len() + inputs.failed.len(),
        "lines": findings.lines,
        "log_lines": findings.good,
        "mpi_profile_lines": findings.profile,
        "foreign": foreign_json(&findings.foreign),
        "directories": inputs.directories,
        "passed_over": passed_json(inputs),
        "runs": findings.runs,
        "clean": !findings.has_faults() && findings.failed.is_empty() && inputs.failed.is_empty(),
        "findings": found,
    });
    format!("{object:#}\n")
}
