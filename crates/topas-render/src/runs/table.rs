//! A list of runs for people.

use topas_data::{RunColumn, RunListAnswer, RunListPlan, RunRow};

use super::{RunListWriter, day, heading, is_text, shown};
use crate::number::hours;
use crate::text::notes::{selected_of, set_aside};
use crate::text::{columns, cut, right};
use crate::wording::{hanging, runs};

/// Least width of a text that gives way.
const LEAST: usize = 6;

/// Blanks before the further lines of a note.
const INDENT: usize = 4;

/// Rows, below a heading if they are the first.
pub(super) fn rows(
    writer: &mut RunListWriter<'_>,
    rows: &[RunRow],
    width: Option<usize>,
) -> String {
    let plan = writer.plan;
    let narrow = width.is_some();
    let cells = |row: &RunRow| -> Vec<String> {
        let both = plan.columns.iter().zip(&row.cells);
        both.map(|(column, value)| shown(column, value, narrow)).collect()
    };
    let mut lines: Vec<Vec<String>> = Vec::with_capacity(rows.len() + 1);
    if !writer.begun {
        if rows.is_empty() {
            return String::new();
        }
        lines.push(plan.columns.iter().map(heading).collect());
    }
    lines.extend(rows.iter().map(cells));
    if !writer.begun {
        writer.begun = true;
        writer.widths = widths(&plan.columns, &lines, width);
    }
    let gap = if narrow { " " } else { "  " };
    let mut out = String::new();
    for line in &lines {
        let mut text = String::new();
        let mut used = 0;
        for (at, (cell, &wide)) in line.iter().zip(&writer.widths).enumerate() {
            if at > 0 && used + gap.len() + wide > width.unwrap_or(usize::MAX) {
                // What does not fit beside the others goes below them.
                out += text.trim_end();
                out.push('\n');
                text = "  ".to_owned();
                used = 2;
            } else if at > 0 {
                text += gap;
                used += gap.len();
            }
            used += wide;
            let cell = cut(cell, wide);
            if is_text(&plan.columns[at]) {
                let blanks = wide.saturating_sub(columns(&cell));
                text += &cell;
                text.extend(std::iter::repeat_n(' ', blanks));
            } else {
                text += &right(&cell, wide);
            }
        }
        out += text.trim_end();
        out.push('\n');
    }
    out
}

/// Each column as wide as its widest cell; of a list that is too wide the widest texts give way.
fn widths(of: &[RunColumn], lines: &[Vec<String>], width: Option<usize>) -> Vec<usize> {
    let widest = |at: usize| lines.iter().map(|line| columns(&line[at])).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..of.len()).map(widest).collect();
    let Some(most) = width else { return widths };
    let gives = |at: usize| matches!(&of[at], RunColumn::Field(field) if field.kind() == topas_data::field::FieldKind::Text);
    while widths.iter().sum::<usize>() + widths.len().saturating_sub(1) > most {
        let texts =
            widths.iter_mut().enumerate().filter(|(at, width)| gives(*at) && **width > LEAST);
        match texts.max_by_key(|(_, width)| **width) {
            Some((_, widest)) => *widest -= 1,
            // Rows are broken then, and texts need not be cut.
            None => return (0..of.len()).map(|at| widest(at).min(most)).collect(),
        }
    }
    widths
}

/// What stands below: how many runs there are, in what order, and what the columns are.
pub(super) fn notes(plan: &RunListPlan, answer: &RunListAnswer, width: usize) -> String {
    let Some((first, last)) = answer.days else {
        return "no runs\n".to_owned();
    };
    let mut out = "\n".to_owned();
    let mut note = |text: &str| out += &hanging(text, width, INDENT);
    let all = answer.total.runs;
    let shown = match answer.shown {
        n if n == all => format!("All {}", runs(all)),
        n => format!("{n} of {}", runs(all)),
    };
    let order = match (is_text(&plan.sort), &plan.sort, plan.reverse) {
        (_, RunColumn::Ended | RunColumn::Started, false) => "the latest first",
        (_, RunColumn::Ended | RunColumn::Started, true) => "the earliest first",
        (true, _, false) => "from A to Z",
        (true, _, true) => "from Z to A",
        (false, _, false) => "the largest first",
        (false, _, true) => "the smallest first",
    };
    note(&format!("{shown}, sorted by {}, {order}.", plan.sort.name()));
    note(&format!(
        "{} from {} to {} took {} PE x wall clock (h:mm:ss).",
        runs(all),
        day(first),
        day(last),
        hours(answer.total.time)
    ));
    for column in &plan.columns {
        match column {
            RunColumn::Measure(measure) => {
                note(&format!("{}: {}. {}", measure.heading, measure.unit, measure.about));
            }
            RunColumn::Wall => note("Wall: longest wall clock time of the measuring ranks."),
            _ => {}
        }
    }
    note("- : not measured, or not known.");
    if answer.accelerated > 0 {
        let all = runs(answer.accelerated);
        note(&format!(
            "- : {all} of {} used an accelerator, and no rate of the processor is shown of {}; \
             --with-accelerators shows it.",
            answer.total.runs,
            if answer.accelerated == 1 { "it" } else { "them" }
        ));
    }
    set_aside(answer.asked.aside).into_iter().for_each(|text| note(&text));
    let asked = &answer.asked;
    let (good, outside) = (asked.tally.good, answer.outside);
    for text in selected_of(good, asked.unwanted, asked.unwanted_runs, outside, plan.period) {
        note(&text);
    }
    out
}
