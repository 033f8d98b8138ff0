//! The pages of a center: one for each week, month or year, and an index of them.

use maud::{Markup, html};
use topas_render::center::{Part, PartTable};
use topas_render::html::{document, figure, section, wide};

/// A page in the index.
pub struct IndexEntry {
    /// What the period is called, such as `2026-W47`
    pub name: String,
    /// File name of its page
    pub file: String,
    /// The days of the page in words
    pub days: String,
    /// The sentence of its summary
    pub sentence: String,
}

/// The pages there are.
pub struct CenterIndex {
    /// The latest first
    pub entries: Vec<IndexEntry>,
    /// When they were made, in words
    pub made: String,
}

/// Who a page is for.
fn footer(made: &str) -> Markup {
    html! {
        p.note {
            "Made by topas-report, a tool of TOPAS, " (made) ". For the staff of the center: the "
            "page names users. It is one file and has no scripts."
        }
    }
}

/// The page of a period. `index` is the file name of the index.
pub fn center_page(name: &str, days: &str, parts: &[Part], index: &str, made: &str) -> String {
    document(
        name,
        &html! {
            h1 { "The center in " (name) }
            p.soft { (days) }
            nav aria-label="Parts of this page" {
                p {
                    a href=(index) { "All times" }
                    @for part in parts { " · " a href={ "#" (part.id) } { (part.title) } }
                }
            }
        },
        &html! { @for part in parts { (section(part.id, part.title, &content(part))) } },
        &footer(made),
    )
}

/// A part: what to see, the pictures, the tables, what is to be known.
fn content(part: &Part) -> Markup {
    html! {
        p { (part.sentence) }
        @for chart in &part.charts { (figure(chart)) }
        @for of in &part.tables { (table(of)) }
        @for note in &part.notes { p.note { (note) } }
    }
}

/// A table, the first column of which names the rows.
fn table(of: &PartTable) -> Markup {
    let marked = |at: usize| of.marked.contains(&at).then_some("marked");
    wide(
        &of.caption,
        &html! {
            table {
                thead { tr {
                    @for (at, heading) in of.headings.iter().enumerate() {
                        // Of two columns both have words.
                        @if at == 0 || of.headings.len() == 2 { th.l scope="col" { (heading) } }
                        @else { th scope="col" { (heading) } }
                    }
                } }
                tbody { @for (at, cells) in of.rows.iter().enumerate() {
                    tr class=[marked(at)] {
                        @for (column, cell) in cells.iter().enumerate() {
                            @if column == 0 {
                                th.l scope="row" {
                                    (cell)
                                    @if marked(at).is_some() { " *" }
                                    @if let Some(bar) = of.bars.get(at) {
                                        // The number stands in the row; the bar is for the eye.
                                        span.bar style={ "width:" (bar) "%" } aria-hidden="true" {}
                                    }
                                }
                            } @else if of.headings.len() == 2 {
                                // Words, which may be longer than a telephone is wide.
                                td.list { (cell) }
                            } @else { td { (cell) } }
                        }
                    }
                } }
            }
        },
    )
}

/// The page that leads to all others.
pub fn center_index(index: &CenterIndex) -> String {
    let rows = html! {
        table {
            thead { tr {
                th.l scope="col" { "time" } th.l scope="col" { "days" } th.l scope="col" { "in short" }
            } }
            tbody { @for entry in &index.entries { tr {
                th.l scope="row" { a href=(entry.file) { (entry.name) } }
                td.l { (entry.days) }
                td.list { (entry.sentence) }
            } } }
        }
    };
    document(
        "The center",
        &html! { h1 { "The center" } },
        &section(
            "times",
            "Weeks, months, years",
            &html! {
                @if index.entries.is_empty() { p { "There are no pages yet." } }
                @else { (wide("Weeks, months, years", &rows)) }
            },
        ),
        &footer(&index.made),
    )
}

/// Whether a page of [`center_page`] names somebody: the name stands there, and is no part of a longer
/// word. A dot or a dash is one of a word only between its letters: a name can end a sentence.
pub fn names_in_page(page: &str, name: &str) -> bool {
    let name = html! { (name) }.into_string();
    !name.is_empty()
        && page.match_indices(&name).any(|(at, _)| {
            let behind = &page[at + name.len()..];
            !goes_on(page[..at].chars().rev()) && !goes_on(behind.chars())
        })
}

/// Whether a word goes on with these characters.
fn goes_on(mut text: impl Iterator<Item = char>) -> bool {
    let letter = text.find(|c| !"-.".contains(*c));
    letter.is_some_and(|c| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_word_of_a_page() {
        for page in
            ["<td>anna</td>", "by anna.", "anna", "-anna-", "mostly anna, bob", "x anna...y anna z"]
        {
            assert!(names_in_page(page, "anna"), "{page}");
        }
        for page in ["", "<td>annas</td>", "anna.b", "b-anna", "anna_", "_anna", "hanna", "anna..b"]
        {
            assert!(!names_in_page(page, "anna"), "{page}");
        }
        assert!(names_in_page("<td>a&amp;b</td>", "a&b"));
        assert!(!names_in_page("anything", ""));
    }
}
