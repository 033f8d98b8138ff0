//! Parts of pages of HTML: one look for all of them, light or dark as the reader's system is, on
//! paper, and on a telephone. No page has other files, and none but that of time lines has a script.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use topas_chart::{Chart, Size};

/// How pages look, and the pictures in them.
pub fn style() -> String {
    include_str!("html/style.css").to_owned() + &dark_pictures()
}

/// The part of a style by which pictures are dark where the page is. Paper is light.
pub fn dark_pictures() -> String {
    format!("@media screen and (prefers-color-scheme:dark){{{}}}\n", topas_chart::dark_rules())
}

/// The size of pictures where the page is narrow, in pixels of CSS: shrunk pictures of the usual
/// size could not be read there.
const NARROW: Size = Size { width: 360.0, height: 320.0 };

/// A whole page: its title, what stands at its head, its sections, and its foot.
pub fn document(title: &str, header: &Markup, main: &Markup, footer: &Markup) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                title { (title) " - TOPAS" }
                style { (PreEscaped(style())) }
            }
            body {
                a.skip href="#main" { "To the content" }
                header { (header) }
                // The focus goes where the link leads.
                main id="main" tabindex="-1" { (main) }
                footer { (footer) }
            }
        }
    }
    .into_string()
}

/// A part of the page with its heading, which is also its name.
pub fn section(id: &str, title: &str, content: &Markup) -> Markup {
    html! { section aria-labelledby=(id) { h2 id=(id) { (title) } (content) } }
}

/// What may be wider than the page, and then is moved inside of itself, with the keyboard, too.
pub fn wide(name: &str, content: &Markup) -> Markup {
    html! { div.wide role="region" aria-label=(name) tabindex="0" { (content) } }
}

/// A picture in two sizes, of which the page shows one.
pub fn figure(chart: &dyn Chart) -> Markup {
    let drawn = |size| chart.picture(size).svg();
    html! {
        figure {
            div.broad { (PreEscaped(inline(&drawn(Size::default())))) }
            div.narrow { (PreEscaped(inline(&drawn(NARROW)))) }
        }
    }
}

/// A picture as it stands in a page: without the prologue of a file.
fn inline(svg: &str) -> &str {
    svg.find("<svg").and_then(|at| svg.get(at..)).unwrap_or(svg)
}
