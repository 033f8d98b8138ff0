//! The part of a run's page that tells of every PE.

use maud::{Markup, html};
use topas_data::RunRecord;
use topas_data::pes::PeTable;
use topas_findings::Rules;
use topas_render::html::figure;
use topas_render::view::{Drawing, ViewSections, caption, drawing, notes};

/// What is known of all PEs of a run.
pub enum AllPes {
    /// There are no lines of all PEs, or not where the site has them
    None,
    /// There are, and they are too many for a page
    TooLarge,
    /// The lines
    Measured(Box<PeTable>),
}

/// Finds the lines of all PEs of a run.
pub type FindAllPes = Box<dyn Fn(&RunRecord) -> AllPes + Send + Sync>;

/// The part of the page; empty where nothing is known.
pub(crate) fn part(pes: &AllPes, rules: &Rules) -> Markup {
    match pes {
        AllPes::None => html! {},
        AllPes::TooLarge => html! {
            h2 { "All PEs" }
            p { "Every PE was measured. The lines are too many for this page; topasview shows them." }
        },
        AllPes::Measured(table) => picture(table, rules),
    }
}

fn picture(table: &PeTable, rules: &Rules) -> Markup {
    let sections = ViewSections::new(table, None).of_first_finding();
    let verdict = sections.verdict(rules);
    let missing = notes(table, Some((sections.column, &sections.values)), usize::MAX);
    let drawn = |what| figure(&*drawing(table, sections.column, &sections.values, what));
    html! {
        h2 { "All PEs" }
        ul { @for sentence in verdict.sentences(usize::MAX) { li { (sentence) } } }
        p { (caption(sections.column, table.metric)) }
        @for note in missing.lines() { p { (note) } }
        (drawn(Drawing::Strip))
        (drawn(Drawing::Points))
    }
}
