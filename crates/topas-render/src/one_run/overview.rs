//! Several runs of a name: a row for each, and what they are together.

use topas_data::field::{Field, MILLION};
use topas_data::measure::Measure;
use topas_data::{PeTime, Period, RunColumn, RunListPlan, RunRecord, RunRow, RunValue, Selection};

use super::RunReport;
use crate::number::{hours, short};
use crate::runs::{RunListForm, RunListWriter};
use crate::wording::{hanging, runs};

/// Rows that are shown.
const MOST: usize = 20;

/// Rows of the runs, and their sums.
pub(super) fn text(report: &RunReport<'_>, width: Option<usize>) -> String {
    let all = report.all;
    let time = PeTime(all.iter().map(|run| run.pe_micros).sum());
    let badly = all.iter().filter(|run| run.worst_ending().is_some_and(|ending| ending > 0));
    let name = report.name;
    let mut out = hanging(
        &format!(
            "{} of {name}, the latest first: {} PE-h ({} PE x wall clock), {} of them ended badly.",
            runs(all.len() as u64),
            short(time.hours()),
            hours(time),
            badly.count()
        ),
        super::prose(width),
        0,
    );
    out.push('\n');
    let plan = plan();
    let rows: Vec<RunRow> = all.iter().take(MOST).map(|run| row(run, &plan.columns)).collect();
    out += &RunListWriter::new(&plan, RunListForm::Text(width)).portion(&rows);
    if all.len() > MOST {
        out += &format!("and {} more\n", all.len() - MOST);
    }
    if report.told.is_empty() {
        out += &hanging("\n--run ID tells one of them in words.", super::prose(width), 0);
    }
    out
}

/// The columns of an overview.
fn plan() -> RunListPlan {
    let field = |name: &str| Field::named(name).ok().map(RunColumn::Field);
    let measure = |name: &str| Measure::named(name).ok().map(RunColumn::Measure);
    let columns = [
        Some(RunColumn::Ended),
        field("id"),
        field("exe"),
        field("npes"),
        Some(RunColumn::Wall),
        measure("pe_hours"),
        measure("mflops"),
        field("end"),
    ];
    RunListPlan {
        selection: Selection::default(),
        own: None,
        period: Period::default(),
        columns: columns.into_iter().flatten().collect(),
        sort: RunColumn::Ended,
        reverse: false,
        top: None,
    }
}

fn row(run: &RunRecord, columns: &[RunColumn]) -> RunRow {
    let text = |text: &[u8]| match text {
        [] => RunValue::Missing,
        text => RunValue::Text(text.into()),
    };
    let ends = || {
        let mut ends: Vec<&[u8]> = Vec::new();
        for line in &run.lines {
            if !line.end.is_empty() && !ends.contains(&&*line.end) {
                ends.push(&line.end);
            }
        }
        ends.join(&b'|')
    };
    let value = |column: &RunColumn| match (column, column.name()) {
        (RunColumn::Ended, _) => RunValue::Number(run.ended),
        (RunColumn::Wall, _) => RunValue::Number(run.wall.into()),
        (RunColumn::Measure(measure), _) => {
            run.comparable(measure.name).map_or(RunValue::Missing, RunValue::Ratio)
        }
        (_, "id") => text(&run.id),
        (_, "exe") => text(&run.exe),
        (_, "npes") => {
            let number = |npes: u32| RunValue::Number(i128::from(npes) * MILLION);
            run.npes.map_or(RunValue::Missing, number)
        }
        (_, "end") => text(&ends()),
        _ => RunValue::Missing,
    };
    RunRow { cells: columns.iter().map(value).collect() }
}
