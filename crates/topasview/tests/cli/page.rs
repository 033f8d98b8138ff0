//! The page of HTML: what everybody needs of it, and how a browser shows it.

use std::fs;

use serde_json::Value;
use topas_testkit::browser::{measured_in_frame, page_with_reader, page_with_script};

use super::synthetic::{Imbalance, Launch};
use super::{directory, shown};

/// The page of a run on several hosts, one of which is slow.
fn written() -> String {
    let launch = Launch { imbalance: Imbalance::SlowHost(3), ..Launch::default() };
    let dir = directory(launch.text());
    shown(dir.path(), &["--html", "out.html"]);
    fs::read_to_string(dir.path().join("out.html")).unwrap()
}

/// What every page has without scripts. See [`has_its_parts_and_scripts`].
pub fn has_its_parts(page: &str, title: &str) {
    has_its_parts_and_scripts(page, title, 0);
}

/// What every page has: a language, a title, one of each part, headings that name their sections,
/// tables that the keyboard moves, and headings of tables that say what they are of.
pub fn has_its_parts_and_scripts(page: &str, title: &str, scripts: usize) {
    assert!(page.contains("<html lang=\"en\">"), "{page:.300}");
    assert!(page.contains(&format!("<title>{title} - TOPAS</title>")), "{page:.300}");
    for part in ["<header>", "<main id=\"main\"", "<footer>", "<h1>"] {
        assert_eq!(page.matches(part).count(), 1, "{part}");
    }
    let headings: Vec<&str> = page.split("<h2 id=\"").skip(1).collect();
    assert_eq!(headings.len(), page.matches("<section aria-labelledby=\"").count());
    for heading in headings {
        let (id, _) = heading.split_once('"').unwrap();
        assert!(page.contains(&format!("<section aria-labelledby=\"{id}\"")), "{id}");
        assert_eq!(page.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
    }
    let fixed = page.matches("<pre>").count();
    let tables = page.matches("<table>").count();
    assert_eq!(tables + fixed, page.matches("role=\"region\"").count());
    for heading in page.split("<th").skip(1).filter(|text| !text.starts_with("ead")) {
        assert!(heading.split('>').next().unwrap().contains("scope="), "{heading:.60}");
    }
    assert_eq!(page.matches("<script").count(), scripts, "scripts");
}

#[test]
fn a_page_says_its_language_its_parts_and_what_its_tables_are() {
    has_its_parts(&written(), "cpmd: 64 PEs");
}

#[test]
#[ignore = "cargo xtask test --browser"]
fn a_browser_shows_the_page_readably() {
    is_readable(&written(), 3, 300);
}

/// As Chromium shows a page with so many pictures and at least so many texts, in the widths of a
/// telephone and of a screen, light and dark.
pub fn is_readable(page: &str, pictures: usize, texts: usize) {
    measured(page, include_str!("page.js"), |seen, what| {
        assert_eq!(seen["scripts"], 0, "{what}");
        assert_eq!(seen["pictures"], pictures, "each picture in one size: {what}");
        assert!(seen["texts"].as_f64().unwrap() > texts as f64, "{what}");
    });
}

/// Shows a page with a script that measures the page, in the widths of a telephone and of a screen,
/// light and dark. `more` looks at what the script has found, beside what is asked of all pages.
pub fn measured(page: &str, script: &str, more: impl Fn(&Value, &str)) {
    measured_page(&page_with_script(page, script), more);
}

/// The same by a script that does what the reader of the page does.
pub fn measured_as_read(page: &str, script: &str, more: impl Fn(&Value, &str)) {
    measured_page(&page_with_reader(page, script), more);
}

fn measured_page(page: &str, more: impl Fn(&Value, &str)) {
    let dir = tempfile::tempdir().unwrap();
    for (width, dark) in [(390, false), (390, true), (1280, false), (1280, true)] {
        let seen =
            measured_in_frame(dir.path(), page, width, dark, &["--virtual-time-budget=10000000"]);
        let number = |value: &Value| value.as_f64().unwrap();
        let what = format!("{width} px, dark: {dark}: {seen}");
        more(&seen, &what);
        assert_eq!(seen["width"], width, "{what}");
        assert!(number(&seen["scroll"]) <= f64::from(width), "the page is too wide: {what}");
        assert!(number(&seen["contrast"]["contrast"]) >= 4.5, "WCAG 2.2, AA: {what}");
        assert!(number(&seen["size"]["size"]) >= 8.0, "too small to be read: {what}");
        assert_eq!(seen["unreachable"], 0, "moved only by a mouse: {what}");
        assert_eq!(number(&seen["ground"]) < 0.05, dark, "{what}");
    }
}
