//! A replay as JSON and as CSV.

use std::fmt::Write as _;

use serde_json::{Value, json};
use topas_format::shown::Shown;
use topas_mpi_data::ReplayTimes;

use super::{NS, Shows, tree};

fn times(times: &ReplayTimes) -> Value {
    json!({
        "elapsed_seconds": times.elapsed / NS,
        "computing_seconds": times.computing / NS,
        "mpi_seconds": times.mpi() / NS,
    })
}

pub(super) fn object(shows: &Shows) -> Value {
    let model = &shows.model;
    let ranks: Vec<Value> = model
        .ranks
        .iter()
        .map(|rank| {
            json!({
                "rank": rank.rank,
                "host": rank.host,
                "threads": rank.threads,
                "events": rank.events,
                "measured": times(&rank.measured),
                "model": times(&rank.modelled),
            })
        })
        .collect();
    let routines: Vec<Value> = model
        .routines
        .iter()
        .map(|routine| {
            json!({
                "routine": routine.name,
                "calls": routine.calls,
                "measured_seconds": routine.measured / NS,
                "model_seconds": routine.modelled / NS,
            })
        })
        .collect();
    let as_measured: Vec<Value> = model
        .as_measured
        .iter()
        .map(|(reason, calls, time)| {
            json!({ "reason": reason.word(), "calls": calls, "seconds": time / NS })
        })
        .collect();
    let [real, ideal] = model.elapsed();
    let [measured, modelled] = model.sums();
    let factors = shows.perfect.factors().map(|factors| {
        tree(&factors).iter().map(|(key, _, value, _)| ((*key).to_owned(), json!(value))).collect()
    });
    json!({
        "schema": "topas.mpi.replay/1",
        "launch": shows.launch,
        "launches": shows.launches,
        "ranks_here": model.ranks.len(),
        "ranks_of_run": model.size,
        "network": {
            "perfect": shows.network.is_perfect(),
            "latency_us": shows.network.latency / 1e3,
            "bandwidth_mb_per_s": (shows.network.per_byte > 0.0).then(|| 1e3 / shows.network.per_byte),
            "calibrated": shows.network.calibration.is_some(),
            "processors": shows.network.processors,
        },
        "elapsed": { "measured_seconds": real / NS, "model_seconds": ideal / NS },
        "sum": { "measured": times(&measured), "model": times(&modelled) },
        "efficiencies": factors.map_or(Value::Null, Value::Object),
        "ranks": ranks,
        "routines": routines,
        "as_measured": as_measured,
        "left_out": model.damage.iter().map(|damage| json!({
            "rank": damage.rank,
            "damaged_blocks": damage.damaged,
            "absent_blocks": damage.absent,
            "events": damage.events,
            "seconds": damage.time as f64 / NS,
        })).collect::<Vec<_>>(),
        "cut": model.is_cut,
        "without_finalize": shows.unfinished,
        "messages": { "sent": model.sent, "received": model.received, "left": model.left },
        "events": model.events,
        "overwritten": model.missing,
        "paused_seconds": model.ranks.iter().map(|rank| rank.paused).sum::<f64>() / NS,
        "polls": model.polls,
        "replay_seconds": shows.took,
    })
}

pub(super) fn ranks_csv(shows: &Shows) -> String {
    let mut text = "rank,host,threads,events,elapsed_s,model_elapsed_s,computing_s,\
                    model_computing_s,mpi_s,model_mpi_s\n"
        .to_owned();
    for rank in &shows.model.ranks {
        let (a, b) = (&rank.measured, &rank.modelled);
        let times = [a.elapsed, b.elapsed, a.computing, b.computing, a.mpi(), b.mpi()];
        let _ = writeln!(
            text,
            "{},{},{},{},{}",
            rank.rank,
            quoted(&rank.host),
            rank.threads,
            rank.events,
            times.map(|time| format!("{:.9}", time / NS)).join(",")
        );
    }
    text
}

pub(super) fn routines_csv(shows: &Shows) -> String {
    let mut text = "routine,calls,measured_s,model_s\n".to_owned();
    for routine in &shows.model.routines {
        let times = [routine.measured, routine.modelled].map(|time| format!("{:.9}", time / NS));
        let _ = writeln!(text, "{},{},{}", routine.name, routine.calls, times.join(","));
    }
    text
}

/// A cell of text that ends no cell and no line.
fn quoted(text: &str) -> String {
    let text = Shown(text.as_bytes()).to_string();
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}
