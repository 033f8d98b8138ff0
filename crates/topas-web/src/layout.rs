//! What all pages have in common.

use maud::{DOCTYPE, Markup, html};

use crate::access::Viewer;

/// The one style of all pages: no script, no picture, nothing from elsewhere.
const STYLE: &str = "\
:root { color-scheme: light dark; --line: #8886; --soft: #8881; --bad: #b00020; --link: #0b57d0 }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --link: #8ab4f8 } }
* { box-sizing: border-box }
body { background: Canvas; color: CanvasText; font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; margin: 0 auto; max-width: 72rem; padding: 0 1rem 3rem }
a { color: var(--link) }
a:focus-visible, input:focus-visible, button:focus-visible { outline: 3px solid var(--link); outline-offset: 2px }
header, footer { display: flex; flex-wrap: wrap; gap: .25rem 1rem; justify-content: space-between; padding: .75rem 0 }
header { border-bottom: 1px solid var(--line) }
h1 { font-size: 1.4rem; line-height: 1.3 }
h2 { font-size: 1.1rem; margin-top: 2rem }
.verdict { border-left: .3rem solid var(--link); padding: .5rem 1rem; background: var(--soft) }
.boxes { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)) }
.box { border: 1px solid var(--line); border-radius: .5rem; padding: .25rem 1rem 1rem }
.box h2 { margin: .5rem 0 }
dl { margin: 0 } dt { font-weight: 600 } dd { margin: 0 0 .5rem }
.wide { overflow-x: auto; overflow-wrap: normal }
table { border-collapse: collapse; width: 100% }
th, td { padding: .3rem .6rem; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; white-space: nowrap }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }
td.t { white-space: normal; overflow-wrap: anywhere; min-width: 9em }
form { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: end; margin: 1rem 0 }
label { display: grid; font-size: .9rem } label.row { display: flex; gap: .4rem; align-items: center }
input, button { font: inherit; padding: .3rem .5rem; max-width: 100% }
.bad { color: var(--bad); font-weight: 600 }
figure { margin: .75rem 0 } svg { display: block; max-width: 100%; height: auto }
.narrow { display: none }
@media screen and (max-width: 640px) { .broad { display: none } .narrow { display: block } }
main:focus { outline: none }
.skip { position: absolute; left: -99rem } .skip:focus { left: 1rem; background: Canvas }
@media print { th, td { white-space: normal } header, footer, form { display: none } }
";

/// The style with that of pictures.
pub fn style() -> String {
    STYLE.to_owned() + &topas_render::html::dark_pictures()
}

/// A page.
pub fn page(title: &str, viewer: Option<&Viewer>, body: Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " - TOPAS" }
                link rel="stylesheet" href="/style.css";
            }
            body {
                a class="skip" href="#main" { "To the content" }
                header {
                    nav aria-label="Pages" { a href="/runs" { "My runs" }
                        @if viewer.is_some_and(|viewer| viewer.role >= crate::ViewerRole::Support) {
                            " " a href="/runs?all=1" { "All runs" }
                        }
                    }
                    @if let Some(viewer) = viewer {
                        span { "Signed in as " (viewer.name) ", " (viewer.role.word()) }
                    }
                }
                main id="main" tabindex="-1" { h1 { (title) } (body) }
                footer { span { "Times are local times of the site. What was not measured is said to be so, and is never 0." } }
            }
        }
    }
}

/// A page that says why there is no other.
pub fn problem(title: &str, what: &str) -> Markup {
    page(title, None, html! { p { (what) } })
}
