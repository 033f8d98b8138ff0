//! Two profiles side by side: efficiencies, waits, routines and call paths, before and after.
//!
//! Times are of a rank in the mean, so that launches of different numbers of ranks can be compared.
//! Call paths are the same if their routines and the names of their functions are: lines change with
//! the source, and addresses with every build.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use topas_mpi_data::{MpiProfile, efficiency};

use super::Views;
use super::amount::routine_name;
use super::cells::CellTable;
use super::heading::first_line;
use super::order::{MpiOrder, MpiSort, RowKeys};
use super::waits::{are_measured, waited};
use crate::number::{NONE, machine, machine_text, significant};
use crate::wording::paragraph;

/// Rows of each part in text for people, where no other number is asked for.
const SHOWN: usize = 12;

/// What a row is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ComparedPart {
    Efficiency,
    Launch,
    Waits,
    Routine,
    Path,
}

impl ComparedPart {
    const ALL: [ComparedPart; 5] = [
        ComparedPart::Efficiency,
        ComparedPart::Launch,
        ComparedPart::Waits,
        ComparedPart::Routine,
        ComparedPart::Path,
    ];

    const fn name(self) -> &'static str {
        match self {
            ComparedPart::Efficiency => "efficiency",
            ComparedPart::Launch => "launch",
            ComparedPart::Waits => "waits",
            ComparedPart::Routine => "routine",
            ComparedPart::Path => "path",
        }
    }

    /// Whether its rows are sorted and may be left out.
    const fn is_list(self) -> bool {
        matches!(self, ComparedPart::Routine | ComparedPart::Path)
    }
}

/// A figure of both profiles; None if it was not measured.
struct ComparedRow {
    part: ComparedPart,
    name: String,
    unit: &'static str,
    before: Option<f64>,
    after: Option<f64>,
}

impl ComparedRow {
    fn delta(&self) -> Option<f64> {
        Some(self.after? - self.before?)
    }

    fn ratio(&self) -> Option<f64> {
        Some(self.after? / self.before.filter(|before| *before > 0.0)?)
    }

    /// How much it changed, to be sorted by; what is new or gone changed by all of it.
    fn change(&self) -> f64 {
        (self.after.unwrap_or(0.0) - self.before.unwrap_or(0.0)).abs()
    }
}

/// Seconds of a rank in the mean.
fn of_rank(profile: &MpiProfile, ns: u128) -> f64 {
    ns as f64 / 1e9 / profile.total.ranks.max(1) as f64
}

/// Figures of one profile in the order in which they are shown.
fn figures(views: &Views<'_>) -> Vec<(ComparedPart, String, &'static str, Option<f64>)> {
    let profile = views.profile;
    let total = &profile.total;
    let mut rows = Vec::new();
    let of = efficiency(profile).ok();
    for (name, ratio) in [
        ("parallel efficiency", of.as_ref().map(topas_mpi_data::Efficiency::parallel)),
        ("load balance", of.as_ref().map(topas_mpi_data::Efficiency::load_balance)),
        ("communication efficiency", of.as_ref().map(topas_mpi_data::Efficiency::communication)),
    ] {
        let value = ratio.and_then(topas_mpi_data::Ratio::value).map(|value| 100.0 * value);
        rows.push((ComparedPart::Efficiency, name.to_owned(), "%", value));
    }
    let mut seconds = |part, name: &str, ns: Option<u128>| {
        rows.push((part, name.to_owned(), "s", ns.map(|ns| of_rank(profile, ns))));
    };
    seconds(ComparedPart::Launch, "wall clock", Some(total.wall));
    seconds(ComparedPart::Launch, "in MPI", Some(total.mpi));
    seconds(ComparedPart::Launch, "outside MPI", Some(total.outside()));
    let waits = are_measured(profile).then(|| total.waits.all());
    for (name, figure) in [
        ("late sender", waits.map(|waits| waits.late.nanoseconds)),
        ("late receiver", waits.map(|waits| waits.late_receiver.nanoseconds)),
        ("collective", waits.map(|waits| waits.collective.nanoseconds)),
        ("not measured", waits.map(|waits| waits.unknown())),
        ("other", waits.map(|waits| total.mpi.saturating_sub(waits.waited() + waits.unknown()))),
    ] {
        seconds(ComparedPart::Waits, name, figure);
    }
    for routine in &total.routines {
        let name = routine_name(profile, routine.number);
        seconds(ComparedPart::Routine, &name, Some(routine.time));
        if waits.is_some() {
            seconds(
                ComparedPart::Routine,
                &format!("{name}, waiting"),
                Some(waited(profile, routine)),
            );
        }
    }
    let mut paths: BTreeMap<String, (u128, u128)> = BTreeMap::new();
    let counted =
        views.paths.iter().flat_map(|of| of.paths.paths.iter().map(move |path| (of, path)));
    for (of, path) in counted {
        let name = format!("{} by {}", super::paths::routine(views, path), of.functions(path));
        let place = paths.entry(name).or_default();
        place.0 += path.amounts().time;
        place.1 += path.amounts().waits.iter().sum::<u128>();
    }
    for (name, (time, waited)) in paths {
        seconds(ComparedPart::Path, &name, Some(time));
        if waits.is_some() {
            seconds(ComparedPart::Path, &format!("{name}, waiting"), Some(waited));
        }
    }
    rows
}

/// The rows of both, those of one part together.
fn rows(before: &Views<'_>, after: &Views<'_>) -> Vec<ComparedRow> {
    let mut rows: Vec<ComparedRow> = figures(before)
        .into_iter()
        .map(|(part, name, unit, before)| ComparedRow { part, name, unit, before, after: None })
        .collect();
    for (part, name, unit, after) in figures(after) {
        match rows.iter_mut().find(|row| row.part == part && row.name == name) {
            Some(row) => row.after = after,
            None => rows.push(ComparedRow { part, name, unit, before: None, after }),
        }
    }
    rows
}

/// The rows of a part in their order, and how many are left out.
fn part_of(rows: &[ComparedRow], part: ComparedPart, order: &MpiOrder) -> (Vec<usize>, usize) {
    let places = rows.iter().enumerate().filter(|(_, row)| row.part == part);
    let mut places: Vec<usize> = places.map(|(place, _)| place).collect();
    if !part.is_list() {
        return (places, 0);
    }
    let sort = order.sort.unwrap_or(MpiSort::Change);
    let order = MpiOrder { sort: Some(sort), ..*order };
    let ns = |seconds: f64| (seconds.max(0.0) * 1e9) as u128;
    let left = order.apply(&mut places, |place| {
        let row = &rows[*place];
        let time = ns(row.after.or(row.before).unwrap_or(0.0));
        RowKeys {
            time,
            calls: time,
            sent: time,
            received: time,
            waits: time,
            change: ns(row.change()),
            name: row.name.clone(),
        }
    });
    (places, left)
}

/// Tables, one for each part.
pub fn compare_text(before: &Views<'_>, after: &Views<'_>) -> String {
    let rows = rows(before, after);
    let mut out = format!("before: {}\n", first_line(before.profile));
    out += &format!("after:  {}\n", first_line(after.profile));
    let mut order = after.order;
    order.top = order.top.or(Some(SHOWN));
    for part in ComparedPart::ALL {
        let (places, left) = part_of(&rows, part, &order);
        let told = |row: &ComparedRow| row.before.is_some() || row.after.is_some();
        if !places.iter().any(|place| told(&rows[*place])) {
            continue;
        }
        let unit = if part == ComparedPart::Efficiency { "%" } else { "s of a rank" };
        let header = format!("{}, {unit}", part.name());
        let mut cells = CellTable::new([header.as_str(), "before", "after", "change", "ratio"]);
        for row in places.iter().map(|place| &rows[*place]) {
            let number = |value: Option<f64>| {
                value.map_or_else(|| NONE.to_owned(), |value| format!("{value:.3}"))
            };
            let change =
                row.delta().map_or_else(|| NONE.to_owned(), |delta| format!("{delta:+.3}"));
            let ratio = row.ratio().map_or_else(|| NONE.to_owned(), |ratio| significant(ratio, 3));
            cells.row([row.name.clone(), number(row.before), number(row.after), change, ratio]);
        }
        out.push('\n');
        out += &cells.aligned(2);
        if left > 0 {
            out += &format!("{left} further rows changed less; --top and --csv show more.\n");
        }
    }
    let (one, other) = (before.profile.total.ranks, after.profile.total.ranks);
    if one != other {
        out.push('\n');
        let note = format!(
            "The launches had {one} and {other} ranks: times are means of a rank, and efficiencies \
             are of each launch."
        );
        out += &paragraph(&note, after.columns());
    }
    out
}

/// All rows as comma separated values.
pub fn compare_csv(before: &Views<'_>, after: &Views<'_>) -> String {
    let rows = rows(before, after);
    let header = ["part", "name", "unit", "before", "after", "change", "ratio"];
    let mut cells = CellTable::new(header);
    for part in ComparedPart::ALL {
        let (places, _) = part_of(&rows, part, &after.order);
        for row in places.iter().map(|place| &rows[*place]) {
            let number = |value: Option<f64>| value.map(machine_text).unwrap_or_default();
            cells.row([
                part.name().to_owned(),
                row.name.clone(),
                row.unit.to_owned(),
                number(row.before),
                number(row.after),
                number(row.delta()),
                number(row.ratio()),
            ]);
        }
    }
    cells.csv()
}

/// The same as one JSON object.
pub fn compare_json(before: &Views<'_>, after: &Views<'_>) -> String {
    let rows = rows(before, after);
    let mut told = Vec::new();
    for part in ComparedPart::ALL {
        let (places, _) = part_of(&rows, part, &after.order);
        for row in places.iter().map(|place| &rows[*place]) {
            told.push(json!({
                "part": part.name(),
                "name": row.name,
                "unit": row.unit,
                "before": row.before.map(machine),
                "after": row.after.map(machine),
                "change": row.delta().map(machine),
                "ratio": row.ratio().map(machine),
            }));
        }
    }
    let launch = |views: &Views<'_>| {
        let facts = &views.profile.facts;
        json!({
            "id": String::from_utf8_lossy(&facts.id),
            "exe": String::from_utf8_lossy(&facts.exe),
            "ranks": views.profile.total.ranks,
        })
    };
    let object: Value = json!({
        "schema": "topas.mpi.compare/1",
        "before": launch(before),
        "after": launch(after),
        "rows": told,
    });
    format!("{object:#}\n")
}
