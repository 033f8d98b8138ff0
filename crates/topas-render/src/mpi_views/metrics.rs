//! Metrics of the features of MPI-2, by the names of K. Mohror's thesis, Tables 3 to 13.

use serde_json::{Map, Value, json};
use topas_mpi_data::{METRICS, Metric, MetricUnit, MpiProfile, MpiSums, RoutineAmount};

use super::Views;
use super::amount::amount;
use super::body::ViewBody;
use super::cells::CellTable;
use super::json::{counted, number, seconds as json_seconds};
use crate::number::{NONE, compact, exact_seconds, seconds};

/// Decimals of seconds.
const DECIMALS: u32 = 6;

const fn unit(metric: &Metric) -> &'static str {
    match metric.unit {
        MetricUnit::Calls => "calls",
        MetricUnit::Bytes => "B",
        MetricUnit::Nanoseconds => "s",
    }
}

fn cell(metric: &Metric, sums: &MpiSums) -> String {
    amount(metric.value(sums), |n| match metric.unit {
        MetricUnit::Nanoseconds => seconds(n, DECIMALS),
        MetricUnit::Calls | MetricUnit::Bytes => compact(n),
    })
}

/// The rank with most, if ranks are told.
fn most(metric: &Metric, profile: &MpiProfile) -> Option<(u32, String)> {
    let value = |sums: &MpiSums| metric.value(sums).counted().unwrap_or(0);
    let rank = profile.ranks.iter().rev().max_by_key(|rank| value(&rank.sums))?;
    Some((rank.rank, cell(metric, &rank.sums)))
}

/// All that are not 0, with the sum over ranks and the rank that has most.
pub(super) fn body(views: &Views<'_>) -> ViewBody {
    let profile = views.profile;
    let mut cells =
        CellTable::new(["metric", "unit", "all ranks", "most", "on rank", "what it is"])
            .left(2)
            .words();
    let mut zeros = 0;
    for metric in METRICS {
        if metric.value(&profile.total) == RoutineAmount::Exact(0) {
            zeros += 1;
            continue;
        }
        let (rank, value) = most(metric, profile)
            .map_or_else(|| (NONE.to_owned(), NONE.to_owned()), |(r, v)| (r.to_string(), v));
        cells.row([
            metric.name.to_owned(),
            unit(metric).to_owned(),
            cell(metric, &profile.total),
            value,
            rank,
            metric.about.to_owned(),
        ]);
    }
    if cells.is_empty() {
        let text = format!(
            "All {} metrics are 0: no processes were started, no memory of others and no files \
             were used.",
            METRICS.len()
        );
        return ViewBody::default().prose(text);
    }
    let body = ViewBody::default().table("Metrics", cells);
    if zeros > 0 { body.note(format!("The other {zeros} metrics are 0.")) } else { body }
}

/// A row for each metric of the sum, where `rank` is empty, and of each rank.
pub(super) fn csv(profile: &MpiProfile) -> String {
    let mut cells = CellTable::new(["metric", "table", "unit", "rank", "value"]);
    let ranks = profile.ranks.iter().map(|rank| (rank.rank.to_string(), &rank.sums));
    for (rank, sums) in std::iter::once((String::new(), &profile.total)).chain(ranks) {
        for metric in METRICS {
            let value = metric.value(sums).exact();
            cells.row([
                metric.name.to_owned(),
                metric.table.to_string(),
                unit(metric).to_owned(),
                rank.clone(),
                value.map_or_else(String::new, |n| match metric.unit {
                    MetricUnit::Nanoseconds => exact_seconds(n),
                    MetricUnit::Calls | MetricUnit::Bytes => n.to_string(),
                }),
            ]);
        }
    }
    cells.csv()
}

/// For JSON: by name, the sum and each rank.
pub(super) fn value(profile: &MpiProfile) -> Value {
    let of = |metric: &Metric, sums: &MpiSums| {
        counted(metric.value(sums), |n| match metric.unit {
            MetricUnit::Nanoseconds => json_seconds(n),
            MetricUnit::Calls | MetricUnit::Bytes => number(n),
        })
    };
    let object: Map<String, Value> = METRICS
        .iter()
        .map(|metric| {
            let ranks: Vec<Value> = profile
                .ranks
                .iter()
                .map(|rank| json!({ "rank": rank.rank, "value": of(metric, &rank.sums) }))
                .collect();
            let value = json!({
                "table": metric.table,
                "unit": unit(metric),
                "all_ranks": of(metric, &profile.total),
                "ranks": ranks,
            });
            (metric.name.to_owned(), value)
        })
        .collect();
    object.into()
}
