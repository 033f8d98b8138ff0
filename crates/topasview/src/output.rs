//! Puts together what was asked for, and writes it.

use std::ffi::OsString;
use std::io::{Write, stdout};
use std::path::Path;

use topas_chart::{Screen, Size};
use topas_config::Environment;
use topas_data::pes::{PeTable, compare, compare_runs};
use topas_data::{Outputs, Source};
use topas_findings::Rules;
use topas_render::PROSE_WIDTH;
use topas_render::view::{self, HtmlPage, JsonParts, OutputPiece, Selection, ViewSections};
use topas_terminal::{Look, Printed};

use crate::args::{Args, AskedViews, Clusters, TOOL};
use crate::input::{Input, threads};

/// Pixels of a PNG in one of CSS: sharp in print and on dense screens.
pub const PNG_SCALE: f64 = 2.0;

/// What is asked for.
pub struct Output<'a> {
    args: &'a Args,
    views: &'a AskedViews,
    look: Look,
    rules: Rules,
}

/// Pieces to be written one after the other.
type ViewPieces<'v> = Vec<OutputPiece<'v>>;

impl<'a> Output<'a> {
    /// By these arguments.
    pub fn new(args: &'a Args, views: &'a AskedViews, rules: Rules) -> Self {
        let look = Look::of(&Environment::of_process(), args.color, &stdout());
        Output { args, views, look, rules }
    }

    fn columns(&self) -> usize {
        self.look.width.min(PROSE_WIDTH)
    }

    /// Shows everything; the Err is the exit code, all has then been said.
    pub fn show(&self, input: &Input<'_>) -> Result<Printed, u8> {
        if let Some(sides) = &self.args.compare {
            return self.compare(input, sides);
        }
        let lines = input.lines()?;
        if self.args.list {
            return Ok(print(&[self.list(&lines).into()]));
        }
        let table = input.table(&lines)?;
        let sections = self.of(&table);
        let mut done = self.pictures(&sections);
        if self.has_view() || !self.writes_files() {
            let rows = if self.has_table() { self.rows(&table) } else { Vec::new() };
            done = both(done, print(&self.text(&sections, &rows)));
        }
        Ok(done)
    }

    /// A report without a column is of what stands out most.
    fn of<'t>(&self, table: &'t PeTable) -> ViewSections<'t> {
        let sections = ViewSections::new(table, self.views.column);
        if self.views.column.is_none() && (self.args.report || self.args.html.is_some()) {
            return sections.of_first_finding();
        }
        sections
    }

    fn writes_files(&self) -> bool {
        self.args.svg.is_some() || self.args.png.is_some() || self.args.html.is_some()
    }

    fn has_view(&self) -> bool {
        let Args { raw, groups, balance, strip, report, csv, json, jsonl, .. } = *self.args;
        let views = self.views.stat || self.views.cluster.is_some();
        raw || groups || balance || strip || report || views || csv || json || jsonl
    }

    /// Whether the table of the PEs is shown: asked for, or nothing else.
    fn has_table(&self) -> bool {
        let Args { raw, groups, balance, strip, report, .. } = *self.args;
        raw || !(groups
            || balance
            || strip
            || report
            || self.views.stat
            || self.views.cluster.is_some())
    }

    fn list(&self, lines: &topas_data::pes::PeLines) -> String {
        let known = lines.list();
        if self.args.csv {
            view::launches_csv(&known)
        } else {
            view::launches(&known, self.look.width)
        }
    }

    fn rows(&self, table: &PeTable) -> Vec<u32> {
        let Args { sort, ascending, top, .. } = *self.args;
        let sort = sort.and_then(|sort| sort.column);
        view::select(table, Selection { sort, ascending, top })
    }

    fn text<'v>(&self, of: &'v ViewSections<'v>, rows: &'v [u32]) -> ViewPieces<'v> {
        if self.args.csv {
            self.csv(of, rows)
        } else if self.args.jsonl {
            view::jsonl(of.table, rows)
        } else if self.args.json {
            self.json(of, rows)
        } else {
            self.sections(of, rows)
        }
    }

    fn csv<'v>(&self, of: &'v ViewSections<'v>, rows: &'v [u32]) -> ViewPieces<'v> {
        let (table, column) = (of.table, of.column);
        let text = if self.views.stat {
            let header = "column,statistic,value,unit,pe\n".to_owned();
            of.summary().map_or(header, |summary| view::listing_csv(table, column, &summary))
        } else if let Some(clusters) = self.views.cluster {
            match clusters {
                Clusters::Width(width) => view::clusters_csv(table, column, &of.clusters(width)),
                Clusters::Best => view::best_csv(table, column, &of.best()),
            }
        } else if self.args.groups {
            view::groups_csv(table, column, of.groups())
        } else {
            return view::csv(table, rows);
        };
        vec![text.into()]
    }

    fn json<'v>(&self, of: &'v ViewSections<'v>, rows: &'v [u32]) -> ViewPieces<'v> {
        let Args { groups, balance, report, .. } = *self.args;
        let summary = (self.views.stat || report).then(|| of.summary());
        let clusters = self.views.cluster.and_then(Clusters::width);
        let clusters = clusters.map(|width| (width, of.clusters(width)));
        let best = (report || self.views.cluster == Some(Clusters::Best)).then(|| of.best());
        let groups = (groups || report).then(|| of.groups());
        let balances = (balance || report).then(|| of.balances());
        let findings = (balance || report || self.has_table()).then(|| of.verdict(&self.rules));
        let parts = JsonParts {
            column: Some(of.column),
            summary: summary.as_ref().map(Option::as_ref),
            clusters: clusters.as_ref().map(|(width, clusters)| (*width, &clusters[..])),
            best: best.as_ref(),
            groups,
            balances,
            findings: findings.as_ref(),
            comparison: None,
        };
        view::json(of.table, self.has_table().then_some(rows), &parts)
    }

    /// The views as text, one blank line between them.
    fn sections<'v>(&self, of: &'v ViewSections<'v>, rows: &'v [u32]) -> ViewPieces<'v> {
        let Args { groups, balance, strip, report, all, no_heading, .. } = *self.args;
        let (table, column, columns) = (of.table, of.column, self.columns());
        let mut parts: Vec<ViewPieces<'v>> = Vec::new();
        let mut add = |text: String| parts.push(vec![text.into()]);
        let sorted = self.has_table();
        if !no_heading {
            add(view::heading_lines(table, self.look.width));
            let about =
                if self.views.column.is_none() { topas_data::pes::Column::Rate } else { column };
            let values = topas_data::pes::values(table, about);
            let notes = view::notes(table, Some((about, &values)), columns);
            if !notes.is_empty() {
                add(notes);
            }
        }
        // What matters most comes first.
        if report || balance || sorted && !no_heading {
            add(view::findings(&of.verdict(&self.rules), all, columns));
        }
        if self.views.stat || report {
            let caption = view::caption(column, table.metric) + "\n\n";
            let text = match of.summary() {
                Some(summary) => view::listing(table, column, &summary, all),
                None => "no PE has a value\n".to_owned(),
            };
            add(if no_heading { text } else { caption + &text });
        }
        if let Some(width) = self.views.cluster.and_then(Clusters::width) {
            add(view::unit_clusters(&of.clusters(width), columns));
        }
        if report || self.views.cluster == Some(Clusters::Best) {
            add(view::best_clusters(table, column, &of.best(), columns));
        }
        if strip || report {
            let Look { unicode, color, .. } = self.look;
            add(view::strip(table, column, &of.values, Screen { width: columns, unicode, color }));
        }
        if groups || report {
            of.groups()
                .iter()
                .for_each(|groups| add(view::groups(table, column, groups, self.look.width)));
        }
        if balance || report {
            let balances = of.balances();
            if !balances.is_empty() {
                add(view::balance(table, balances, columns));
            }
        }
        if sorted {
            parts.push(view::raw(table, rows, self.look.width));
        }
        let mut all = ViewPieces::new();
        for part in parts {
            if !all.is_empty() {
                all.push("\n".to_owned().into());
            }
            all.extend(part);
        }
        all
    }

    /// Writes the pictures and the page.
    fn pictures(&self, of: &ViewSections<'_>) -> Printed {
        let mut done = Printed::Done;
        let picture = || {
            let kind = self.args.picture.into();
            view::drawing(of.table, of.column, &of.values, kind).picture(Size::default())
        };
        if let Some(path) = &self.args.svg {
            done = both(done, save(path, picture().svg().as_bytes()));
        }
        if let Some(path) = &self.args.png {
            done = both(done, save(path, &picture().png(PNG_SCALE)));
        }
        if let Some(path) = &self.args.html {
            let (summary, best) = (of.summary(), of.best());
            let page = HtmlPage {
                table: of.table,
                column: of.column,
                values: &of.values,
                summary: summary.as_ref(),
                best: &best,
                groups: of.groups(),
                balances: of.balances(),
                verdict: &of.verdict(&self.rules),
                rows: &self.rows(of.table),
            };
            done = both(done, save(path, view::page(&page).as_bytes()));
        }
        done
    }

    fn compare(&self, input: &Input<'_>, sides: &[OsString]) -> Result<Printed, u8> {
        let [old, new] = sides else { return Err(crate::exit::USAGE) };
        let (old, new) = (input.side(old)?, input.side(new)?);
        let comparison = compare(&old.newest, &new.newest);
        let runs = compare_runs(&old.runs, &new.runs, &comparison);
        if self.args.csv {
            return Ok(print(&[view::compare_csv(&new.newest, &comparison, &runs).into()]));
        }
        if self.args.json {
            let comparison = Some((&old.newest, &comparison, &runs[..]));
            let parts = JsonParts { comparison, ..JsonParts::default() };
            return Ok(print(&view::json(&new.newest, None, &parts)));
        }
        let mut text = String::new();
        if !self.args.no_heading {
            for (word, side) in [("old: ", &old), ("new: ", &new)] {
                text += &view::heading_of_side(word, &side.newest, self.columns());
                text += &view::other_runs(side.runs.len() - 1, side.others);
            }
            text.push('\n');
        }
        text += &view::compare(&old.newest, &new.newest, &comparison, &runs, self.columns());
        Ok(print(&[text.into()]))
    }
}

/// Whether the files that are asked for may be written, by a command that reads these. The Err
/// is the exit code, all has then been said.
pub fn may_write(args: &Args, sources: &[Source]) -> Result<(), u8> {
    let calibration = args.mpi.calibration.clone().map(Source::File);
    let mut outputs = Outputs::new(sources.iter().chain(&calibration), args.force);
    for path in [&args.svg, &args.png, &args.html].into_iter().flatten() {
        outputs.add(path).map_err(|kept| {
            TOOL.kept(&kept);
            crate::exit::USAGE
        })?;
    }
    Ok(())
}

/// Whether both were written.
pub fn both(one: Printed, other: Printed) -> Printed {
    if one == Printed::Done { other } else { one }
}

/// Writes all pieces on standard output; a reader that has seen enough ends it.
fn print(pieces: &[OutputPiece<'_>]) -> Printed {
    let mut out = stdout().lock();
    let written = view::write(pieces, threads(), |text| out.write_all(text));
    TOOL.printed(written.and_then(|()| out.flush()))
}

/// Writes into a file, or on standard output for `-`.
pub fn save(path: &Path, data: &[u8]) -> Printed {
    if path.as_os_str() == "-" {
        TOOL.print(data)
    } else {
        TOOL.saved(path, Outputs::save(path, data))
    }
}
