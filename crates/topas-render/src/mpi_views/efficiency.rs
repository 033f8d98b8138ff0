//! Efficiencies in the scheme of POP as a tree.

use serde_json::{Value, json};
use topas_mpi_data::{Efficiency, Ending, MpiProfile, NoEfficiency, Ratio, efficiency};

use super::Views;
use super::body::ViewBody;
use super::cells::CellTable;
use super::json::rounded;
use crate::number::{NONE, exact_seconds, percent_of, percentage, seconds};
use topas_chart::{AxisUnit, BarPlaces, Bars, Quantity, Series};

/// Decimals of seconds.
const DECIMALS: u32 = 3;

/// What is told of each efficiency.
struct EfficiencyRow {
    /// Name in CSV and JSON
    key: &'static str,
    name: &'static str,
    /// How deep in the tree
    depth: usize,
    definition: String,
    ratio: Option<Ratio>,
}

fn rows(of: &Efficiency, replay: Option<&str>) -> [EfficiencyRow; 5] {
    let replay = replay.unwrap_or("topas-run --mpi=log, then topas-mpi replay");
    let row = |key, name, depth, definition: &str, ratio| {
        let definition = definition.to_owned();
        EfficiencyRow { key, name, depth, definition, ratio }
    };
    [
        row(
            "parallel_efficiency",
            "parallel efficiency",
            0,
            "mean time outside MPI / time of the launch",
            Some(of.parallel()),
        ),
        row(
            "load_balance",
            "load balance",
            1,
            "mean time outside MPI / largest",
            Some(of.load_balance()),
        ),
        row(
            "communication_efficiency",
            "communication efficiency",
            1,
            "largest time outside MPI / time of the launch",
            Some(of.communication()),
        ),
        row("serialisation_efficiency", "serialisation", 2, replay, None),
        row("transfer_efficiency", "transfer", 2, replay, None),
    ]
}

/// Branches at the places of [`rows`].
const BRANCHES: [&str; 5] = ["", "├─ ", "└─ ", "   ├─ ", "   └─ "];
const ASCII_BRANCHES: [&str; 5] = ["", "|- ", "`- ", "   |- ", "   `- "];

fn share(ratio: Option<Ratio>) -> String {
    ratio.map_or_else(|| NONE.to_owned(), |ratio| percent_of(ratio.part, ratio.whole))
}

/// The tree with its definitions, or why there is none.
pub(super) fn body(views: &Views<'_>) -> ViewBody {
    let of = match efficiency(views.profile) {
        Ok(of) => of,
        Err(why) => return ViewBody::default().prose(reason(why)),
    };
    let branches = if views.screen.unicode { BRANCHES } else { ASCII_BRANCHES };
    let mut cells = CellTable::new(["efficiency", "", "definition"]).words();
    for (row, branch) in rows(&of, views.replay.as_deref()).iter().zip(branches) {
        cells.row([format!("{branch}{}", row.name), share(row.ratio), row.definition.clone()]);
    }
    let mean = of.outside / u128::from(of.ranks.max(1));
    ViewBody::default().table("Efficiency", cells).prose(format!(
        "{} s outside MPI on average of {} and {} s at most, of {} s{}. Parallel efficiency is \
             load balance x communication efficiency.{}",
        seconds(mean, DECIMALS),
        crate::wording::count(of.ranks, "rank"),
        seconds(of.outside_max, DECIMALS),
        seconds(of.time, DECIMALS),
        ends(views.profile),
        crowd(views)
    ))
}

/// What MPI itself takes to begin and to end, which is much of a short run.
fn ends(profile: &MpiProfile) -> String {
    let ends = profile.total.routines.iter().filter(|of| of.number.is_edge());
    let time: u128 = ends.map(|of| of.time).sum();
    if time == 0 {
        return " from the first call of MPI on".to_owned();
    }
    let share = percent_of(time, profile.total.wall);
    match profile.facts.ending {
        Some(Ending::Finalize) => format!(
            " from the entry of MPI_Init to the end of the profile in MPI_Finalize; these two are \
             time in MPI, {share} of the time"
        ),
        Some(Ending::Running) => {
            format!(
                " from the entry of MPI_Init until now; that is time in MPI, {share} of the time"
            )
        }
        _ => format!(
            " from the entry of MPI_Init to the last sign of life of each rank; MPI_Init is time in \
             MPI, {share} of the time"
        ),
    }
}

/// What is to be said if ranks share processors, or if that is not known.
fn crowd(views: &Views<'_>) -> String {
    match views.processors {
        Some(processors) if views.profile.total.ranks > processors => format!(
            " {} ranks shared {processors} processors: time outside MPI holds time in which a rank had \
             none, so efficiencies look better than they are.",
            views.profile.total.ranks
        ),
        Some(_) => String::new(),
        None => " That holds where each rank had a processor of its own.".to_owned(),
    }
}

/// Why there are no efficiencies, in words.
pub(super) fn reason(why: NoEfficiency) -> String {
    match why {
        NoEfficiency::NoTime => "No efficiencies: no time is known.".to_owned(),
        NoEfficiency::Threads(threads) => format!(
            "No efficiencies: up to {threads} threads of a rank called MPI, and the ranks are not \
             told one by one: sums over threads say nothing of the time of ranks."
        ),
        NoEfficiency::Unseen => "No efficiencies: a thread of a rank is in MPI nearly all the time, as one that waits for \
                                 requests of other ranks, and what other threads compute is not known."
            .to_owned(),
        NoEfficiency::Paused => "No efficiencies: measuring was paused, and the ranks are not \
                                 told one by one."
            .to_owned(),
        NoEfficiency::Contradiction => {
            "No efficiencies: the times in the profile contradict each other.".to_owned()
        }
    }
}

/// A row for each.
pub(super) fn csv(profile: &MpiProfile) -> String {
    let mut cells = CellTable::new(["efficiency", "percent", "part_seconds", "whole_seconds"]);
    for row in efficiency(profile).iter().flat_map(|of| rows(of, None)) {
        let ratio = row.ratio;
        let of = |text: fn(Ratio) -> String| ratio.map(text).unwrap_or_default();
        cells.row([
            row.key.to_owned(),
            of(|ratio| percentage(ratio.part, ratio.whole, 4).unwrap_or_default()),
            of(|ratio| exact_seconds(ratio.part)),
            of(|ratio| exact_seconds(ratio.whole)),
        ]);
    }
    cells.csv()
}

/// Shares of 1, or why there are none.
pub(super) fn value(views: &Views<'_>) -> Value {
    match efficiency(views.profile) {
        Ok(of) => {
            let mut object = json!({ "ranks": of.ranks, "processors": views.processors });
            for row in rows(&of, None) {
                object[row.key] = rounded(row.ratio.and_then(Ratio::value));
            }
            object
        }
        Err(why) => json!({ "not_known": reason(why) }),
    }
}

/// The efficiencies as bars.
pub(super) fn chart(views: &Views<'_>) -> Bars {
    let known = efficiency(views.profile);
    let rows = known.as_ref().map(|of| rows(of, None));
    let told = || rows.iter().flatten().filter(|row| row.depth < 2);
    let mut bars = Bars::new(
        BarPlaces::Categories(told().map(|row| row.name.to_owned()).collect()),
        Quantity::new("", AxisUnit::Count),
        Quantity::new("Efficiency", AxisUnit::Percent),
    );
    let values = told().map(|row| Some(row.ratio?.value()? * 100.0));
    bars.series = vec![Series::new("", values)];
    bars.caption.title = "Efficiency of the ranks".to_owned();
    bars.caption.subtitle = super::heading::first_line(views.profile);
    bars.caption.notes = match known {
        Ok(_) => {
            let definitions = told().map(|row| format!("{}: {}.", row.name, row.definition));
            definitions.chain([crowd(views).trim().to_owned()]).filter(|n| !n.is_empty()).collect()
        }
        Err(why) => vec![reason(why)],
    };
    bars
}
