//! The report for programs: one object, whose key `schema` is [`SCHEMA`].
//!
//! What is not known is `null`, never 0. Keys are only ever added.

use nix::errno::Errno;
use serde_json::{Value, json};
use topas_format::event::Why;

use crate::hint::remedy;
use crate::metric::Finding;
use crate::place::{Answer, Place};
use crate::report::{Report, in_words};
use crate::selftest::{Check, Outcome};
use crate::together::{Combination, Together};

/// Name and version of the object's layout.
pub const SCHEMA: &str = "topas.doctor/1";

/// The object, with a newline at its end.
pub fn object(report: &Report) -> String {
    let processor = &report.processor;
    let system = &report.system;
    let launch = &report.launch;
    let object = json!({
        "schema": SCHEMA,
        "status": report.status().word(),
        "exit_code": report.status().exit_code(),
        "verdict": report.verdict(),
        "processor": {
            "name": processor.name,
            "signature": processor.signature(),
            "row": processor.row().map(|row| row.processors),
            "caveat": processor.row().map(|row| row.caveat),
            "formulas": processor.row().map(|row| row.status.says()),
        },
        "self_tested": report.counting.self_tested,
        "quantities": report.counting.findings.iter().map(finding).collect::<Vec<_>>(),
        "together": report.counting.combinations.iter().map(combination).collect::<Vec<_>>(),
        "hints": report.counting.reasons().into_iter().filter_map(remedy).collect::<Vec<_>>(),
        "system": {
            "kernel": system.kernel,
            "perf_event_paranoid": system.paranoid,
            "perf_event_paranoid_means": system.paranoid_means(),
            "privileged": system.privileged,
            "seccomp": system.seccomp.map(|mode| mode.word()),
            "nmi_watchdog": system.nmi_watchdog,
            "container": system.container,
            "open_files": system.open_files,
            "uid": system.uid,
        },
        "installation": report.installation.as_ref().map(|installation| json!({
            "prefix": installation.prefix.to_string_lossy(),
            "programs_read": installation.programs_read.as_ref().map(|conf| conf.to_string_lossy()),
            "elsewhere": installation.elsewhere.iter().map(|(file, conf)| json!({
                "file": file.to_string_lossy(), "topas_conf": conf.to_string_lossy(),
            })).collect::<Vec<_>>(),
        })),
        "mpi_profile": report.profile.as_ref().map(|profile| json!({
            "library": profile.library.to_string_lossy(), "faults": profile.faults,
        })),
        "names": report.names.as_ref().map(|names| json!({
            "directories": names.directories.iter().map(|directory| json!({
                "path": directory.path.to_string_lossy(), "names": directory.names,
                "without_program": directory.without,
            })).collect::<Vec<_>>(),
            "shadows": names.shadows.iter().map(|shadow| json!({
                "name": shadow.name, "mpi": shadow.mpi.to_string_lossy(), "wrong": shadow.wrong,
            })).collect::<Vec<_>>(),
            "mpis_without_shadow": names.offered.iter().map(|p| p.to_string_lossy())
                .collect::<Vec<_>>(),
        })),
        "configuration": {
            "file": report.configuration.file.as_ref().map(|file| file.to_string_lossy()),
            "problem": report.configuration.problem,
            "kill_switch": report.kill_switch.as_ref().map(|file| file.to_string_lossy()),
            "settings": report.configuration.settings.iter().map(|s| json!({
                "key": s.key, "value": s.value, "origin": s.origin,
            })).collect::<Vec<_>>(),
            "warnings": report.configuration.warnings,
        },
        "log": report.places.iter().map(place).collect::<Vec<_>>(),
        "launch": {
            "launcher": launch.family(),
            "rank": launch.rank.map(|rank| rank.rank),
            "size": launch.rank.map(|rank| rank.size).filter(|size| *size > 0),
            "id": launch.rank.map(|rank| format!("{:016x}", rank.id)),
            "measuring": launch.measuring,
            "would_measure": report.here.is_ok(),
            "why_not": report.here.as_ref().err(),
            "mode": if launch.batch { "batch" } else { "interactive" },
            "job": Some(&launch.job).filter(|job| !job.is_empty()),
            "step": launch.step,
        },
        "variables": report.variables.iter().map(|v| json!({
            "name": v.name, "value": v.value, "effect": v.effect, "valid": v.valid,
        })).collect::<Vec<_>>(),
    });
    format!("{object:#}\n")
}

/// What was found of one quantity.
pub fn finding(finding: &Finding) -> Value {
    json!({
        "quantity": finding.quantity.key(),
        "counted": finding.why.is_none(),
        "why": finding.why.map(word),
        "reason": finding.why.map(in_words),
        "expected_here": finding.is_expected(),
        "estimate": finding.estimate,
        "events": finding.events.iter().map(|(event, answer)| json!({
            "encoding": event.encoding(),
            "type": event.kind,
            "config": event.config,
            "weight": event.weight,
            "opens": answer.is_ok(),
            "errno": answer.as_ref().err().and_then(|refusal| refusal.errno)
                .map(|errno| format!("{:?}", Errno::from_raw(errno))),
        })).collect::<Vec<_>>(),
        "self_test": finding.checks.iter().map(check).collect::<Vec<_>>(),
    })
}

fn check(check: &Check) -> Value {
    let (measured, share, why) = match check.outcome {
        Outcome::Count { measured, share } => (Some(measured), Some(share), None),
        Outcome::NotCounted(why) => (None, None, Some(word(why))),
        Outcome::NoInstructions => (None, None, None),
    };
    json!({
        "loop": check.name,
        "verdict": check.verdict().word(),
        "expected": check.expected,
        "tolerance": check.tolerance.in_words(),
        "measured": measured,
        "share_per_mille": share,
        "off_by_percent": check.off_by(),
        "why": why,
    })
}

/// How the events of a rank do together.
pub fn combination(combination: &Combination) -> Value {
    let (state, share) = match combination.together {
        Together::AllTheTime => ("all-the-time", Some(1000)),
        Together::InTurns(share) => ("in-turns", Some(share)),
        Together::Never => ("never", None),
    };
    json!({
        "quantity": crate::metric::Quantity::Metric(combination.metric).key(),
        "events": combination.events,
        "state": state,
        "share_per_mille": share,
    })
}

fn place(place: &Place) -> Value {
    let (why, hint) = match &place.answer {
        Answer::Refuses { why, hint } => (Some(why), Some(hint)),
        _ => (None, None),
    };
    json!({
        "target": place.target,
        "path": place.path.as_ref().map(|path| path.to_string_lossy()),
        "takes_a_line": place.answer.takes(),
        "answer": place.answer.says(),
        "why": why,
        "hint": hint,
        "readers": place.readers,
        "advice": place.advice,
    })
}

fn word(why: Why) -> String {
    String::from_utf8_lossy(why.word()).into_owned()
}
