//! One JSON object of everything that is asked for. Not measured is null.

use serde_json::{Map, Value, json};
use topas_mpi_data::{Ending, MpiProfile, MpiSums, Origin, RoutineAmount};

use super::heading::when;
use super::{View, Views};
use super::{
    communicators, counters, efficiency, matrix, metrics, paths, peers, routines, sizes, standing,
    switches, waiting, waits,
};
use crate::number::machine;
use crate::wording::clean;

/// Value of the key `schema`; it changes if the meaning of a key does.
pub const SCHEMA: &str = "topas.mpi/1";

/// An integer; beyond 64 bits the nearest double.
pub(super) fn number(n: u128) -> Value {
    u64::try_from(n).map_or_else(|_| json!(n as f64), Value::from)
}

/// An amount: null unless counted, `{"at_least": n}` if there may be more.
pub(super) fn counted(amount: RoutineAmount, value: impl Fn(u128) -> Value) -> Value {
    match amount {
        RoutineAmount::Nothing | RoutineAmount::NotCounted => Value::Null,
        RoutineAmount::AtLeast(n) => json!({ "at_least": value(n) }),
        RoutineAmount::Exact(n) => value(n),
    }
}

/// ns in s.
pub(super) fn seconds(ns: u128) -> Value {
    json!(ns as f64 / 1e9)
}

/// A number of nine significant digits.
pub(super) fn rounded(value: Option<f64>) -> Value {
    value.filter(|value| value.is_finite()).map_or(Value::Null, |value| json!(machine(value)))
}

/// The object.
pub(super) fn json(views: &Views<'_>, which: &[View]) -> String {
    let profile = views.profile;
    let mut object = Map::new();
    object.insert("schema".to_owned(), SCHEMA.into());
    let mut about = launch(profile);
    about["spawned"] = views.worlds.spawned.clone();
    about["started"] = views.worlds.started.clone().into();
    object.insert("launch".to_owned(), about);
    object.insert("sums".to_owned(), sums(&profile.total));
    if standing::is_told(profile) {
        object.insert("standing".to_owned(), standing::value(profile, views.paths.as_ref()));
    }
    for view in which {
        match view {
            View::Overview => {
                object.insert("efficiency".to_owned(), efficiency::value(views));
                object.insert("routines".to_owned(), routines::value(views));
                object.insert("waited".to_owned(), waiting::value(profile));
            }
            View::Matrix(of) => {
                let all = object.entry("matrices").or_insert_with(|| json!({}));
                all[of.name()] = matrix::value(profile, *of);
            }
            View::Routines => {
                object.insert("routines".to_owned(), routines::value(views));
                let calibration = views.calibration.map(|of| {
                    let hosts: Vec<String> =
                        of.hosts.iter().map(|host| clean(host.as_bytes())).collect();
                    let (mpi, date) = (clean(of.mpi.as_bytes()), clean(of.date.as_bytes()));
                    json!({ "mpi": mpi, "hosts": hosts, "date": date })
                });
                object.insert("calibration".to_owned(), json!(calibration));
            }
            View::Efficiency => {
                object.insert("efficiency".to_owned(), efficiency::value(views));
            }
            View::Peers(_) => {
                object.insert("peers".to_owned(), peers::value(profile));
            }
            View::Sizes => {
                object.insert("sizes".to_owned(), sizes::value(profile));
            }
            View::Communicators => {
                object.insert("communicators".to_owned(), communicators::value(profile));
            }
            View::Waits => {
                object.insert("waits".to_owned(), waits::value(views));
            }
            View::Metrics => {
                object.insert("metrics".to_owned(), metrics::value(profile));
            }
            View::Paths | View::Partners => {
                object.insert("paths".to_owned(), paths::value(views));
            }
            View::Counters => {
                object.insert("counters".to_owned(), counters::value(profile));
            }
            View::Switches => {
                object.insert("switches".to_owned(), switches::value(profile));
            }
        }
    }
    format!("{:#}\n", Value::Object(object))
}

/// Text of bytes; null if empty.
pub(super) fn text(bytes: &[u8]) -> Value {
    if bytes.is_empty() { Value::Null } else { clean(bytes).into() }
}

fn launch(profile: &MpiProfile) -> Value {
    let facts = &profile.facts;
    let (end, code) = match facts.ending {
        Some(Ending::Finalize) => (Some("finalize"), None),
        Some(Ending::Abort(code)) => (Some("abort"), Some(code)),
        Some(Ending::Exit) => (Some("exit"), None),
        Some(Ending::Lost) => (Some("lost"), None),
        Some(Ending::Running) => (Some("running"), None),
        None => (None, None),
    };
    let hosts: Vec<Value> = facts.hosts.iter().map(|host| text(host)).collect();
    let origin = match profile.origin {
        Origin::Lines => "lines",
        Origin::Live => "live",
        Origin::Left => "left",
    };
    json!({
        "id": text(&facts.id),
        "exe": text(&facts.exe),
        "user": text(&facts.user),
        "uid": facts.uid,
        "npes": facts.npes,
        "when": when(facts.date, facts.time),
        "epoch": facts.epoch,
        "hosts": hosts,
        "job": text(&facts.job),
        "step": text(&facts.step),
        "part": text(&facts.part),
        "mpi": text(&facts.mpi),
        "end": end,
        "abort_code": code,
        "origin": origin,
        "languages": facts.languages.iter().map(|name| clean(name.as_bytes())).collect::<Vec<_>>(),
        "level": facts.level.map(|level| level.name()),
        "profiling_interface": facts.profiling_interface,
        "not_counted": facts.missed.iter().map(|word| clean(word.as_bytes())).collect::<Vec<_>>(),
    })
}

fn sums(sums: &MpiSums) -> Value {
    json!({
        "ranks": sums.ranks,
        "calls": number(sums.calls()),
        "seconds": seconds(sums.wall),
        "largest_seconds": seconds(sums.wall_max.into()),
        "mpi_seconds": seconds(sums.mpi),
        "largest_mpi_seconds": seconds(sums.mpi_max.into()),
        "smallest_mpi_seconds": seconds(sums.mpi_min.into()),
        "largest_outside_seconds": seconds(sums.outside_max.into()),
        "overhead_seconds": seconds(sums.overhead),
        "paused_seconds": seconds(sums.paused),
        "threads": sums.threads,
    })
}
