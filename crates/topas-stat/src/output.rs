//! Shows a report in the form that is asked for.

use std::io::stdout;
use std::path::Path;

use topas_chart::{Chart, Picture, Screen, Size};
use topas_config::Environment;
use topas_data::{LogReport, Outputs, SacctCoverage, SortKey, Source, TableOrder};
use topas_render::{Document, Weight, bars};
use topas_terminal::{Look, Printed};

use crate::args::{OutputArgs, ShareOf};
use crate::form::ReportScreen;
use crate::message::TOOL;
use crate::reading::StatReading;

/// Whether the files that are asked for may be written; what may not is said.
pub fn may_write(args: &OutputArgs, sources: &[Source]) -> bool {
    let mut outputs = Outputs::new(sources, args.force);
    let kept =
        [&args.svg, &args.png].into_iter().flatten().find_map(|path| outputs.add(path).err());
    kept.inspect(|kept| TOOL.kept(kept)).is_none()
}

/// Columns of the text: those of the terminal or of `COLUMNS`, else 80; None if it is to be as
/// wide as its labels need.
pub fn text_width(args: &OutputArgs, env: &Environment) -> Option<usize> {
    (!args.wide).then(|| screen(args, env).width)
}

/// Writes the report on standard output, and pictures into files.
pub fn write(
    args: &OutputArgs,
    env: &Environment,
    reading: &StatReading<LogReport<'_>>,
    order: &TableOrder,
    coverage: Option<&SacctCoverage>,
) -> Printed {
    let tables = reading.answer.fold.tables(order);
    let document = Document {
        report: &reading.answer.fold,
        tables: &tables,
        tally: &reading.answer.tally,
        unwanted: reading.answer.unwanted,
        unwanted_runs: reading.answer.unwanted_runs,
        aside: reading.answer.aside,
        coverage,
    };
    let weight = match (args.share, order.key()) {
        (Some(ShareOf::Runs), _) => Weight::Runs,
        // Bars that do not follow their order are hard to read.
        (Some(ShareOf::Time), _) | (None, Some(SortKey::Time)) => Weight::Time,
        (None, _) => Weight::Runs,
    };
    if let Some(printed) = pictures(args, &document, weight) {
        return printed;
    }
    let shown = ReportScreen { width: text_width(args, env), screen: screen(args, env), weight };
    TOOL.print(args.form.chosen().render(&document, shown).as_bytes())
}

/// What the terminal can show.
pub fn screen(args: &OutputArgs, env: &Environment) -> Screen {
    let Look { width, color, unicode, .. } = Look::of(env, args.color, &stdout());
    Screen { width, unicode, color }
}

/// Pixels of a PNG for one of CSS: sharp on paper and on fine screens.
const FINE: f64 = 2.0;

/// Writes the pictures. Some if nothing else is to be written: one went to standard output,
/// or could not be written.
fn pictures(args: &OutputArgs, document: &Document<'_>, weight: Weight) -> Option<Printed> {
    let table = document.tables.first()?;
    if args.svg.is_none() && args.png.is_none() || document.report.total.runs == 0 {
        return None;
    }
    save_pictures(args, &bars(document, table, weight).picture(Size::default()))
}

/// Writes a picture in the forms that are asked for, as [`pictures`].
pub fn save_pictures(args: &OutputArgs, picture: &Picture) -> Option<Printed> {
    let mut on_stdout = None;
    let forms = [
        (&args.svg, args.svg.as_ref().map(|_| picture.svg().into_bytes())),
        (&args.png, args.png.as_ref().map(|_| picture.png(FINE))),
    ];
    for (path, bytes) in forms {
        let (Some(path), Some(bytes)) = (path, bytes) else { continue };
        if path == Path::new("-") {
            on_stdout = Some(TOOL.print(&bytes));
        } else if TOOL.saved(path, Outputs::save(path, &bytes)) == Printed::Failed {
            return Some(Printed::Failed);
        }
    }
    on_stdout
}
