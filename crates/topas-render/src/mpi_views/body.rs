//! The body of a view in pieces, from which text for terminals and pages of HTML are both made.

use maud::{Markup, html};

use super::Views;
use super::cells::CellTable;
use crate::html::wide;
use crate::wording::paragraph;

/// What a view shows, from top to bottom.
#[derive(Default)]
pub(super) struct ViewBody(Vec<ViewPiece>);

struct ViewPiece {
    content: PieceContent,
    /// Whether the piece belongs to the one above: text has no blank line between them
    joined: bool,
}

enum PieceContent {
    /// A paragraph; a note is smaller on a page
    Prose { text: String, note: bool },
    /// A table with its name, and whether its lines may be longer than the terminal's
    Table { name: &'static str, cells: CellTable, long: bool },
    /// Lines that are shown as they are, with their name
    Lines { name: &'static str, text: String },
    /// A picture of characters; a page has the picture itself
    Characters(String),
}

impl ViewBody {
    fn add(mut self, content: PieceContent) -> Self {
        self.0.push(ViewPiece { content, joined: false });
        self
    }

    /// Takes the blank line above the last piece away.
    pub(super) fn joined(mut self) -> Self {
        if let Some(last) = self.0.last_mut() {
            last.joined = true;
        }
        self
    }

    /// Adds a paragraph.
    pub(super) fn prose(self, text: impl Into<String>) -> Self {
        self.add(PieceContent::Prose { text: text.into(), note: false })
    }

    /// Adds a paragraph on how to read what is above.
    pub(super) fn note(self, text: impl Into<String>) -> Self {
        self.add(PieceContent::Prose { text: text.into(), note: true })
    }

    /// Adds a table, unless it is empty.
    pub(super) fn table(self, name: &'static str, cells: CellTable) -> Self {
        if cells.is_empty() {
            self
        } else {
            self.add(PieceContent::Table { name, cells, long: false })
        }
    }

    /// Adds a table whose lines stay whole on any terminal.
    pub(super) fn long_table(self, name: &'static str, cells: CellTable) -> Self {
        self.add(PieceContent::Table { name, cells, long: true })
    }

    /// Adds lines of their own form, each with its newline.
    pub(super) fn lines(self, name: &'static str, text: String) -> Self {
        self.add(PieceContent::Lines { name, text })
    }

    /// Adds a picture of characters.
    pub(super) fn characters(self, text: String) -> Self {
        self.add(PieceContent::Characters(text))
    }

    /// Adds the pieces of another body.
    pub(super) fn and(mut self, other: ViewBody) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The first piece, and the others.
    pub(super) fn split_first(mut self) -> (ViewBody, ViewBody) {
        let others = self.0.split_off(1.min(self.0.len()));
        (self, ViewBody(others))
    }

    /// As text for a terminal, blank lines between the pieces.
    pub(super) fn text(&self, views: &Views<'_>) -> String {
        let mut out = String::new();
        for ViewPiece { content, joined } in &self.0 {
            if !out.is_empty() && !joined {
                out.push('\n');
            }
            out += &match content {
                PieceContent::Prose { text, .. } => paragraph(text, views.columns()),
                PieceContent::Table { cells, long: true, .. } => cells.aligned(2),
                PieceContent::Table { cells, .. } => cells.within(views.screen.width),
                PieceContent::Lines { text, .. } | PieceContent::Characters(text) => text.clone(),
            };
        }
        out
    }

    /// As a part of a page.
    pub(super) fn markup(&self) -> Markup {
        html! { @for ViewPiece { content, .. } in &self.0 { @match content {
            PieceContent::Prose { text, note: false } => { p { (text) } },
            PieceContent::Prose { text, .. } => { p.note { (text) } },
            PieceContent::Table { name, cells, .. } => { (wide(name, &cells.markup())) },
            PieceContent::Lines { name, text } => { (wide(name, &html! { pre { (text) } })) },
            PieceContent::Characters(_) => {},
        } } }
    }
}
