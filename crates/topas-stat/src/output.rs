//! Shows a report in the form that is asked for.

use std::io::stdout;
use std::path::Path;

use topas_config::Environment;
use topas_data::Order;
use topas_render::chart::{Chart, Screen, Size};
use topas_render::{
    Csv, Document, Form, Gnuplot, Json, JsonLines, R, TerminalBars, Text, Weight, bars,
};
use topas_terminal::{Look, Printed};

use crate::args::{Format, OutputArgs, ShareOf};
use crate::message::TOOL;
use crate::reading::Reading;

/// Columns of the text unless it is wide.
const WIDTH: usize = 80;

/// Writes the report on standard output, and pictures into files.
pub fn write(
    args: &OutputArgs,
    env: &Environment,
    reading: &Reading<'_>,
    order: &Order,
) -> Printed {
    let tables = reading.answer.fold.tables(order);
    let document = Document {
        report: &reading.answer.fold,
        tables: &tables,
        tally: &reading.answer.tally,
        unwanted: reading.answer.unwanted,
    };
    let weight = match args.share {
        ShareOf::Runs => Weight::Runs,
        ShareOf::Time => Weight::Time,
    };
    if let (Some(path), Some(table)) = (&args.svg, tables.first()) {
        let svg = bars(&document, table, weight).picture(Size::default()).svg();
        if path == Path::new("-") {
            return TOOL.print(svg.as_bytes());
        }
        if TOOL.save(path, svg.as_bytes()) == Printed::Failed {
            return Printed::Failed;
        }
    }
    let text = match args.form() {
        Format::Text => Text { width: (!args.wide).then_some(WIDTH) }.render(&document),
        Format::Csv => Csv.render(&document),
        Format::Json => Json.render(&document),
        Format::Jsonl => JsonLines.render(&document),
        Format::Gnuplot => Gnuplot.render(&document),
        Format::R => R.render(&document),
        Format::Bars => {
            let look = Look::of(env, args.color, &stdout());
            let Look { width, color, unicode } = look;
            TerminalBars { screen: Screen { width, unicode, color }, weight }.render(&document)
        }
    };
    TOOL.print(text.as_bytes())
}
