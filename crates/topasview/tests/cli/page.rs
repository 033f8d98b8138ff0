//! The page of HTML: what everybody needs of it, and how a browser shows it.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::synthetic::{Imbalance, Launch};
use super::{directory, shown};

/// The page of a run on several hosts, one of which is slow.
fn written() -> String {
    let launch = Launch { imbalance: Imbalance::SlowHost(3), ..Launch::default() };
    let dir = directory(launch.text());
    shown(dir.path(), &["--html", "out.html"]);
    fs::read_to_string(dir.path().join("out.html")).unwrap()
}

#[test]
fn a_page_says_its_language_its_parts_and_what_its_tables_are() {
    let page = written();
    assert!(page.contains("<html lang=\"en\">") && page.contains("<title>cpmd: 64 PEs - TOPAS"));
    for part in ["<header>", "<main>", "<footer>", "<h1>"] {
        assert_eq!(page.matches(part).count(), 1, "{part}");
    }
    let headings: Vec<&str> = page.split("<h2 id=\"").skip(1).collect();
    assert_eq!(headings.len(), page.matches("<section aria-labelledby=\"").count());
    for heading in headings {
        let (id, _) = heading.split_once('"').unwrap();
        assert!(page.contains(&format!("<section aria-labelledby=\"{id}\"")), "{id}");
        assert_eq!(page.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
    }
    assert_eq!(page.matches("<table>").count() + 1, page.matches("role=\"region\"").count());
    for heading in page.split("<th").skip(1).filter(|text| !text.starts_with("ead")) {
        assert!(heading.split('>').next().unwrap().contains("scope="), "{heading:.60}");
    }
}

/// As Chromium shows the page, in the widths of a telephone and of a screen, light and dark.
#[test]
#[ignore = "cargo xtask test --browser"]
fn a_browser_shows_the_page_readably() {
    let dir = tempfile::tempdir().unwrap();
    let script = include_str!("page.js");
    let page = written().replace("</body>", &format!("<script>{script}</script></body>"));
    let inner = page.replace('&', "&amp;").replace('"', "&quot;");
    for (width, dark) in [(390, false), (390, true), (1280, false), (1280, true)] {
        // A window is never as narrow as a telephone, but a frame in a window can be.
        let path = dir.path().join("page.html");
        let outer = format!(
            "<!DOCTYPE html><meta charset=utf-8><style>:root{{color-scheme:light dark}}\
             iframe{{border:0;width:{width}px}}</style><iframe srcdoc=\"{inner}\"></iframe>"
        );
        fs::write(&path, outer).unwrap();
        let output = Command::new("chromium")
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"])
            .args(["--hide-scrollbars", "--window-size=1400,900"])
            .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!dark)))
            .arg(format!("--user-data-dir={}", dir.path().join("profile").display()))
            .arg(format!("file://{}", path.display()))
            .stderr(Stdio::null())
            .output()
            .expect("chromium");
        let text = String::from_utf8(output.stdout).unwrap();
        let at = text.rfind("measured:{").expect("results of the script") + "measured:".len();
        let json = text[at..].split_once(":end").unwrap().0;
        let json = json.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
        let seen: Value = serde_json::from_str(&json).unwrap();
        let number = |value: &Value| value.as_f64().unwrap();
        let what = format!("{width} px, dark: {dark}: {seen}");
        assert_eq!(seen["scripts"], 0, "{what}");
        assert_eq!(seen["width"], width, "{what}");
        assert!(number(&seen["scroll"]) <= f64::from(width), "the page is too wide: {what}");
        assert_eq!(seen["pictures"], 3, "each picture in one size: {what}");
        assert!(number(&seen["texts"]) > 300.0, "{what}");
        assert!(number(&seen["contrast"]["contrast"]) >= 4.5, "WCAG 2.2, AA: {what}");
        assert!(number(&seen["size"]["size"]) >= 8.0, "too small to be read: {what}");
        assert_eq!(seen["unreachable"], 0, "moved only by a mouse: {what}");
        assert_eq!(number(&seen["ground"]) < 0.05, dark, "{what}");
    }
}
