//! One JSON object of everything that is asked for.

use serde_json::{Map, Value, json as object};
use topas_data::pes::{
    Balance, Cluster, Column, Comparison, Groups, KMeans, PeEnding, PeEndings, PeFinding, PeLaunch,
    PeRange, PeTable, RunChange, Subject, Summary,
};

use topas_findings::RuleFinding;

use super::groups::{key, name};
use super::piece::OutputPiece;
use super::quantity::shown;
use super::verdict::{Verdict, sentence};

/// Value of the key `schema`; it changes if the meaning of a key does.
pub const SCHEMA: &str = "topas.view/1";

/// What is to be in the object; what is None is not.
#[derive(Default)]
pub struct JsonParts<'v> {
    /// Column of the following
    pub column: Option<Column>,
    /// Summary; Some(None) if there are no values
    pub summary: Option<Option<&'v Summary>>,
    /// Clusters of a width
    pub clusters: Option<(f64, &'v [Cluster])>,
    /// Optimal clusters
    pub best: Option<&'v KMeans>,
    /// Groups
    pub groups: Option<&'v [Groups]>,
    /// Balance of loads
    pub balances: Option<&'v [Balance]>,
    /// What stands out
    pub findings: Option<&'v Verdict<'v>>,
    /// The old run and the comparison with it
    pub comparison: Option<(&'v PeTable, &'v Comparison, &'v [RunChange])>,
}

/// The object, with these rows if any are given. Not measured is null.
pub fn json<'v>(
    table: &'v PeTable,
    rows: Option<&'v [u32]>,
    parts: &JsonParts<'_>,
) -> Vec<OutputPiece<'v>> {
    let mut all = Map::new();
    all.insert("schema".to_owned(), SCHEMA.into());
    all.insert("launch".to_owned(), launch(table));
    let column = parts.column.unwrap_or(Column::Rate);
    if parts.summary.is_some()
        || parts.clusters.is_some()
        || parts.best.is_some()
        || parts.groups.is_some()
    {
        let unit = shown(column, table.metric).unit;
        all.insert("column".to_owned(), object!({ "name": column.name(), "unit": unit }));
    }
    if let Some(of) = parts.summary {
        all.insert("statistics".to_owned(), of.map_or(Value::Null, |of| summary(table, of)));
    }
    if let Some((width, clusters)) = parts.clusters {
        let list: Vec<Value> = clusters.iter().map(cluster).collect();
        all.insert("clusters".to_owned(), object!({ "width": width, "clusters": list }));
    }
    if let Some(best) = parts.best {
        all.insert("best_clusters".to_owned(), k_means(best));
    }
    if let Some(of) = parts.groups {
        let list: Vec<Value> = of.iter().flat_map(|groups| group_list(table, groups)).collect();
        all.insert("groups".to_owned(), list.into());
    }
    if let Some(of) = parts.balances {
        let list: Vec<Value> = of.iter().map(|of| balance(table, of)).collect();
        all.insert("balance".to_owned(), list.into());
    }
    if let Some(of) = parts.findings {
        let both = of.findings.findings.iter().zip(&of.of_parts);
        let list: Vec<Value> = both.map(|(of, rule)| finding(table, of, rule.as_ref())).collect();
        let looked: Vec<&str> = of.findings.looked_at.iter().map(|column| column.name()).collect();
        all.insert("findings".to_owned(), object!({ "looked_at": looked, "findings": list }));
        let list: Vec<Value> = of.of_run.iter().map(crate::finding::json).collect();
        all.insert("run_findings".to_owned(), list.into());
        let ended = of.endings.as_ref().map(|of| ended(table, of));
        all.insert("endings".to_owned(), ended.unwrap_or(Value::Null));
    }
    if let Some((old, of, runs)) = parts.comparison {
        all.insert("old".to_owned(), launch(old));
        all.insert("comparison".to_owned(), comparison(table.metric, of, runs));
    }
    let text = format!("{:#}", Value::Object(all));
    let Some(rows) = rows else {
        return vec![(text + "\n").into()];
    };
    // The rows come last, and are written as they are made.
    let open = text.trim_end_matches('}').trim_end();
    vec![
        format!("{open},\n  \"pes\": [\n").into(),
        super::data::objects(table, rows, "    {".to_owned(), "}", ",\n"),
        "\n  ]\n}\n".to_owned().into(),
    ]
}

/// Bytes as a JSON string; null if empty.
pub(super) fn string(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "null".to_owned();
    }
    Value::from(String::from_utf8_lossy(bytes)).to_string()
}

fn text(bytes: &[u8]) -> Value {
    if bytes.is_empty() { Value::Null } else { String::from_utf8_lossy(bytes).into() }
}

fn launch(table: &PeTable) -> Value {
    let PeLaunch { id, npes, user, mpi, compiler, job, end, .. } = &table.launch;
    let hosts: Vec<Value> = table.hosts.iter().map(|host| text(host)).collect();
    let exes: Vec<Value> = table.exes.iter().map(|exe| text(exe)).collect();
    let without = &table.without;
    object!({
        "id": text(id),
        "ended": super::heading::when(&table.launch),
        "ended_epoch_s": end,
        "user": text(user),
        "executables": exes,
        "language": table.launch.lang.word(),
        "library": table.launch.lib.word(),
        "mpi": text(mpi),
        "compiler": text(compiler),
        "job": text(job),
        "npes": npes,
        "pes": table.rows.len(),
        "missing_pes": without.missing.filter(|_| !without.of_log),
        "lines_of_log": without.of_log,
        "missing_ranges": ranges(if without.of_log { &[] } else { &without.ranges }),
        "repeated_lines": without.repeated,
        "earlier_lines": without.earlier,
        "hosts": hosts,
        "metric": table.metric.letter().escape_ascii().to_string(),
        "other_metric_pes": table.others,
    })
}

fn ranges(ranges: &[PeRange]) -> Value {
    let pairs = ranges.iter().map(|range| object!([range.first, range.last]));
    pairs.collect::<Vec<_>>().into()
}

fn pe(table: &PeTable, place: u32) -> Value {
    table.rows.get(place as usize).map_or(Value::Null, |row| row.pe.into())
}

fn summary(table: &PeTable, of: &Summary) -> Value {
    let at = |&(value, place): &(f64, u32)| object!({ "value": value, "pe": pe(table, place) });
    let [q25, q50, q75] = of.quartiles;
    object!({
        "values": of.count,
        "extremes_low": of.low.iter().map(at).collect::<Vec<_>>(),
        "min": at(&of.min),
        "q25": q25,
        "q50": q50,
        "q75": q75,
        "max": at(&of.max),
        "extremes_high": of.high.iter().map(at).collect::<Vec<_>>(),
        "mean": of.mean,
        "rho": of.deviation,
    })
}

fn cluster(of: &Cluster) -> Value {
    object!({ "from": of.from, "to": of.to, "pes": of.count, "pe_ranges": ranges(&of.pes) })
}

fn k_means(of: &KMeans) -> Value {
    let with_mean = |(at, one): (usize, &Cluster)| {
        let mut value = cluster(one);
        if let Some(map) = value.as_object_mut() {
            map.insert("mean".to_owned(), of.means[at].into());
            map.insert("rho".to_owned(), of.deviations[at].into());
        }
        value
    };
    object!({
        "clusters": of.clusters.iter().enumerate().map(with_mean).collect::<Vec<_>>(),
        "bic": of.criteria,
    })
}

fn group_list(table: &PeTable, groups: &Groups) -> Vec<Value> {
    let one = |group: &topas_data::pes::Group| {
        let at = |of: Option<(f64, u32)>| {
            of.map(|(value, place)| object!({ "value": value, "pe": pe(table, place) }))
        };
        object!({
            "by": key(groups.by),
            "name": name(table, groups.by, group.name, group.numa),
            "numa": group.numa,
            "pes": group.count,
            "pe_ranges": ranges(&group.pes),
            "values": group.measured,
            "min": at(group.min),
            "median": group.median,
            "max": at(group.max),
            "mean": group.mean,
            "cpu_s": group.cpu_time as f64 / 1e6,
            "cpu_share": (groups.cpu_time > 0).then(|| group.cpu_time as f64 / groups.cpu_time as f64),
        })
    };
    groups.groups.iter().map(one).collect()
}

fn balance(table: &PeTable, of: &Balance) -> Value {
    object!({
        "of": of.of.name(),
        "unit": shown(of.of, table.metric).unit,
        "pes": of.pes,
        "mean": of.mean,
        "max": { "value": of.max.0, "pe": pe(table, of.max.1) },
        "imbalance": of.imbalance(),
        "wall_s": of.wall as f64 / 1e6,
        "saving_s": of.gain().seconds,
        "lost_pe_s": of.gain().pe_seconds(),
        "saving_share": of.gain().share(),
        "all_pe_s": of.gain().all_pe_seconds(),
    })
}

fn ended(table: &PeTable, of: &PeEndings) -> Value {
    let one = |ending: &PeEnding| {
        object!({
            "end": text(&ending.end),
            "well": ending.well,
            "from_outside": ending.from_outside,
            "pes": ending.count,
            "pe_ranges": ranges(&ending.pes),
        })
    };
    object!({
        "first_failed_pe": of.first.map(|row| pe(table, row)),
        "others_in_same_second": of.same_second,
        "endings": of.all.iter().map(one).collect::<Vec<_>>(),
    })
}

fn finding(table: &PeTable, of: &PeFinding, rule: Option<&RuleFinding>) -> Value {
    let (by, names) = match &of.subject {
        Subject::Pes { .. } => ("pe", Vec::new()),
        Subject::Groups { by, groups, .. } => {
            let names = groups.iter().map(|&(place, numa)| name(table, *by, place, numa));
            (key(*by), names.collect())
        }
    };
    let evidence = |of: &topas_data::pes::Evidence| {
        object!({
            "column": of.column.name(),
            "unit": shown(of.column, table.metric).unit,
            "theirs": of.theirs,
            "others": of.others,
            "difference": of.difference(),
        })
    };
    object!({
        "by": by,
        "names": names,
        "pes": of.count,
        "pe_ranges": ranges(of.subject.pes()),
        "classes": of.classes,
        "evidence": of.evidence.iter().map(evidence).collect::<Vec<_>>(),
        "saving_s": of.gain.map(|gain| gain.seconds),
        "saving_share": of.gain.map(|gain| gain.share()),
        "rule": rule.map(crate::finding::json),
        "sentence": sentence(table, of, rule),
    })
}

fn comparison(metric: topas_format::event::Metric, of: &Comparison, runs: &[RunChange]) -> Value {
    let one = |change: &topas_data::pes::Change| {
        let pes = change.pes.iter().map(|(pe, share)| object!({ "pe": pe, "change": share }));
        object!({
            "column": change.column.name(),
            "unit": shown(change.column, metric).unit,
            "pes": [change.counts.0, change.counts.1],
            "median": [change.medians.0, change.medians.1],
            "mean": [change.means.0, change.means.1],
            "max": [change.max.0, change.max.1],
            "change": change.relative(),
            "p": change.test.map(|test| test.p),
            "largest": pes.collect::<Vec<_>>(),
        })
    };
    let run = |change: &RunChange| {
        object!({
            "column": change.column.name(),
            "unit": shown(change.column, metric).unit,
            "runs": [change.old.runs, change.new.runs],
            "median": [change.old.median, change.new.median],
            "min": [change.old.range.0, change.new.range.0],
            "max": [change.old.range.1, change.new.range.1],
            "change": change.relative(),
            "enough_runs": change.has_enough(),
            "p": change.test.map(|test| test.p),
        })
    };
    object!({
        "runs": runs.iter().map(run).collect::<Vec<_>>(),
        "test": super::compare::test_name(of.pairing),
        "columns": of.changes.iter().map(one).collect::<Vec<_>>(),
    })
}
