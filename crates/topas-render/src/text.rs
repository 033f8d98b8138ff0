//! The report for people, in the layout of the 1999 paper's Listing 4.

use std::fmt::Write;

use topas_data::{Share, Statistics};

use crate::Form;
use crate::number::{date, hours, percent, runs};
use crate::table::{buckets, langs, libs, unmeasured};

/// Text for people. Not an interface for programs: its layout may change.
pub struct Text;

/// What a cell shows that has no value.
const NONE: &str = "-";

/// A row as it is printed.
struct Row {
    label: String,
    num_percent: String,
    num: String,
    time_percent: String,
    time: String,
}

impl Row {
    fn new(label: String, share: Share, of: Share) -> Self {
        let cell = |part, whole| percent(part, whole, 2).map_or(NONE.to_owned(), |p| p + "%");
        Row {
            label,
            num_percent: cell(share.runs.into(), of.runs.into()),
            num: share.runs.to_string(),
            time_percent: cell(share.time.0, of.time.0),
            time: hours(share.time),
        }
    }

    fn heading(label: &str) -> Self {
        let [num_percent, num, time_percent, time] =
            ["Num%", "Num", "Time%", "Time"].map(str::to_owned);
        Row { label: label.to_owned(), num_percent, num, time_percent, time }
    }
}

impl Form for Text {
    fn render(&self, statistics: &Statistics) -> String {
        let Some((first, last)) = statistics.days else {
            return "no runs\n".to_owned();
        };
        let tables = [
            (Row::heading("Mflops"), distribution(statistics)),
            (Row::heading("Lang"), shares(langs(statistics), statistics.total)),
            (Row::heading("MP-Lib"), shares(libs(statistics), statistics.total)),
        ];
        // Columns are those of the paper, wider where a number needs it.
        let rows = || tables.iter().flat_map(|(heading, rows)| rows.iter().chain([heading]));
        let width = |of: fn(&Row) -> &str, least: usize| {
            rows().map(|row| of(row).len()).max().unwrap_or(0).max(least)
        };
        let label = width(|row| &row.label, 7);
        let num = width(|row| &row.num, 5);
        let time = width(|row| &row.time, 12);
        let total = label + num + time + 18;

        let mut out = String::new();
        let rule = |sign: &str| sign.repeat(total) + "\n";
        let days = format!("{} to {}", date(first), date(last));
        out += &rule("=");
        line(&mut out, format_args!("TOPAS Report{days:>0$}", total - 12));
        out += &rule("=");
        for (heading, rows) in &tables {
            out.push('\n');
            for (at, row) in [heading].into_iter().chain(rows).enumerate() {
                let Row { label: l, num_percent: np, num: n, time_percent: tp, time: t } = row;
                line(&mut out, format_args!("{l:>label$} {np:>7} {n:>num$} {tp:>7} {t:>time$}"));
                if at == 0 {
                    out += &rule("-");
                }
            }
        }
        out.push('\n');
        footnotes(&mut out, statistics);
        out
    }
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(text);
    out.push('\n');
}

fn distribution(statistics: &Statistics) -> Vec<Row> {
    let buckets = buckets(statistics);
    let width = buckets.iter().map(|bucket| bucket.to.len()).max().unwrap_or(0).max(3);
    let row = |bucket: &crate::table::Bucket| {
        let label = format!("{:>width$}-{:>width$}", bucket.from, bucket.to);
        Row::new(label, bucket.share, statistics.measured)
    };
    let mut rows: Vec<Row> = buckets.iter().map(row).collect();
    let rest = unmeasured(statistics);
    if rest.runs > 0 {
        rows.push(Row::new(NONE.to_owned(), rest, Share::default()));
    }
    rows
}

fn shares(rows: Vec<(&str, Share)>, of: Share) -> Vec<Row> {
    rows.into_iter().map(|(word, share)| Row::new(word.to_owned(), share, of)).collect()
}

/// What the percentages are of, and what the `-` stands for.
fn footnotes(out: &mut String, statistics: &Statistics) {
    let Statistics { total, measured, uncounted, timeless, estimated, .. } = statistics;
    line(out, format_args!("Mflops: MFlop/s per PE, over the wall clock time."));
    line(
        out,
        format_args!(
            "Num% of {}, Time% of {} PE x wall clock (h:mm:ss).",
            runs(total.runs),
            hours(total.time)
        ),
    );
    if measured.runs < total.runs {
        line(
            out,
            format_args!(
                "Under Mflops: Num% of {} with a rate, Time% of their {}.",
                runs(measured.runs),
                hours(measured.time)
            ),
        );
    }
    for (share, why) in [
        (uncounted, "without a count of floating point operations"),
        (timeless, "with a wall clock time of 0"),
    ] {
        if share.runs > 0 {
            line(out, format_args!("- : {} {why} (not measured)", runs(share.runs)));
        }
    }
    if estimated.runs > 0 {
        let counts = if estimated.runs == 1 { "an estimate" } else { "estimates" };
        line(out, format_args!("~ : {} counted by {counts}", runs(estimated.runs)));
    }
}
