//! Runs of a name as JSON.

use serde_json::{Map, Value, json};
use topas_data::{LineFacts, RunRecord};
use topas_format::number::Count;

use super::{KnownRun, RunReport, unknown};
use crate::number::machine;
use crate::runs::{day, moment};

/// Value of the key `schema`; it changes if the meaning of a key does.
pub const ONE_RUN_SCHEMA: &str = "topas.run/1";

/// One object, indented. What was not measured or not told is null.
pub(super) fn json(report: &RunReport<'_>) -> String {
    let told: Vec<Value> = report.all.iter().map(|facts| run(report, facts)).collect();
    let object = json!({ "schema": ONE_RUN_SCHEMA, "name": report.name, "runs": told });
    format!("{object:#}\n")
}

fn text(bytes: &[u8]) -> Value {
    if bytes.is_empty() { Value::Null } else { String::from_utf8_lossy(bytes).into() }
}

fn run(report: &RunReport<'_>, facts: &RunRecord) -> Value {
    let measure = |of: &topas_data::MeasuredValue| {
        let value = json!({
            "value": of.value.map(machine),
            "unit": of.measure.unit,
            "pes": of.pes,
            "estimate": of.estimate,
            "comparable": !(facts.accelerated && of.measure.is_of_processor()),
        });
        (of.measure.name.to_owned(), value)
    };
    let measures: Map<String, Value> = facts.measures.iter().map(measure).collect();
    let mut object = json!({
        "id": text(&facts.id),
        "user": text(&facts.user),
        "uid": facts.uid,
        "exe": text(&facts.exe),
        "npes": facts.npes,
        "job": text(&facts.job),
        "step": text(&facts.step),
        "partition": text(&facts.part),
        "account": text(&facts.account),
        "qos": text(&facts.qos),
        "state": text(&facts.state),
        "mode": text(&facts.mode),
        "language": text(&facts.lang),
        "library": text(&facts.lib),
        "mpi": text(&facts.mpi),
        "compiler": text(&facts.compiler),
        "via": text(&facts.via),
        "build": text(&facts.build),
        "gpu": text(&facts.gpu),
        "mhz": facts.mhz,
        "started": moment(facts.started),
        "ended": moment(facts.ended),
        "wall_s": seconds(facts.wall),
        "pe_seconds": facts.pe_micros as f64 / 1e6,
        "lines": facts.lines.iter().map(line).collect::<Vec<_>>(),
        "measures": measures,
    });
    let known = report.told.iter().find(|known| std::ptr::eq(known.facts, facts));
    if let (Some(known), Some(object)) = (known, object.as_object_mut()) {
        object.insert("mpi_profile".to_owned(), profile(known));
        object.insert("earlier".to_owned(), earlier(known));
        let findings: Vec<Value> = known.findings.iter().map(crate::finding::json).collect();
        object.insert("findings".to_owned(), findings.into());
        object.insert("not_known".to_owned(), unknown::sentences(known).into());
    }
    object
}

fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

fn line(of: &LineFacts) -> Value {
    let record = &of.record;
    let why = of.why.iter().map(|(letter, word)| {
        let letter = letter.escape_ascii().to_string();
        json!({ "metric": letter, "why": text(word), "says": text(LineFacts::reason(word)) })
    });
    let estimate = |count: Count| matches!(count, Count::Estimate(_));
    json!({
        "pe": record.pe,
        "host": text(&of.host),
        "end": text(&of.end),
        "wall_s": seconds(record.wall.0),
        "user_s": record.cpu.map(|cpu| seconds(cpu.user.0)),
        "sys_s": record.cpu.map(|cpu| seconds(cpu.sys.0)),
        "metric": record.ops.metric.letter().escape_ascii().to_string(),
        "ops": record.ops.count.value(),
        "ops_estimate": estimate(record.ops.count),
        "l1_miss": record.l1_miss.value(),
        "l1_miss_estimate": estimate(record.l1_miss),
        "rss_bytes": of.rss,
        "threads": of.threads,
        "why": why.collect::<Vec<_>>(),
    })
}

fn profile(known: &KnownRun<'_>) -> Value {
    let Some(profile) = known.profile else { return Value::Null };
    let sums = &profile.total;
    json!({
        "ranks": sums.ranks,
        "mpi_s": sums.mpi as f64 / 1e9,
        "wall_s": sums.wall as f64 / 1e9,
        "share": (sums.wall > 0).then(|| machine(sums.mpi as f64 / sums.wall as f64)),
        "waits": sums.waits.measured.then(|| {
            let all = sums.waits.all();
            json!({
                "late_sender_s": all.late.nanoseconds as f64 / 1e9,
                "late_receiver_s": all.late_receiver.nanoseconds as f64 / 1e9,
                "collective_s": all.collective.nanoseconds as f64 / 1e9,
                "not_known_s": all.unknown() as f64 / 1e9,
            })
        }),
    })
}

fn earlier(known: &KnownRun<'_>) -> Value {
    let Some(earlier) = known.earlier else { return Value::Null };
    let wall = known.facts.wall;
    json!({
        "runs": earlier.runs,
        "compared": earlier.walls.len(),
        "ended_badly": earlier.failed,
        "first_day": earlier.since.map(day),
        "median_wall_s": earlier.median_wall().map(|wall| machine(wall / 1e6)),
        "shorter": earlier.faster_than(wall),
        "longer": earlier.slower_than(wall),
        "rates": earlier.rates.len(),
        "accelerated": earlier.accelerated,
        "median_mflops": earlier.median_rate().map(machine),
    })
}
