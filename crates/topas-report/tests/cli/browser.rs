//! What a browser makes of a page.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Center;

/// Shows a page, which has its style in itself, as Chromium does in the widths of a telephone and of a
/// screen, light and dark: without scripts of its own, no wider than its window, with enough contrast.
pub(crate) fn assert_readable(center: &Center, name: &str, page: &str) {
    let script = include_str!("../../../topasview/tests/cli/page.js");
    let page = page.replace("</body>", &format!("<script>{script}</script></body>"));
    let inner = page.replace('&', "&amp;").replace('"', "&quot;");
    for (width, dark) in [(390, false), (390, true), (1280, false), (1280, true)] {
        // A window is never as narrow as a telephone, but a frame in a window can be.
        let path = center.path("frame.html");
        let outer = format!(
            "<!DOCTYPE html><meta charset=utf-8><style>:root{{color-scheme:light dark}}\
             iframe{{border:0;width:{width}px}}</style><iframe srcdoc=\"{inner}\"></iframe>"
        );
        fs::write(&path, outer).unwrap();
        let output = Command::new("chromium")
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"])
            .args(["--hide-scrollbars", "--window-size=1400,900"])
            .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!dark)))
            .arg(format!("--user-data-dir={}", center.path("profile").display()))
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
        let what = format!("{name}, {width} px, dark: {dark}: {seen}");
        assert_eq!((&seen["scripts"], &seen["width"]), (&0.into(), &width.into()), "{what}");
        assert!(number(&seen["scroll"]) <= f64::from(width), "the page is too wide: {what}");
        assert!(number(&seen["contrast"]["contrast"]) >= 4.5, "WCAG 2.2, AA: {what}");
        assert!(number(&seen["size"]["size"]) >= 8.0, "too small to be read: {what}");
        assert_eq!(seen["faults"], serde_json::json!([]), "landmarks, names, headings: {what}");
        assert_eq!(seen["unreachable"], 0, "moved only by a mouse: {what}");
        assert_eq!(number(&seen["ground"]) < 0.05, dark, "{what}");
        for ground in seen["grounds"].as_array().unwrap() {
            assert_eq!(number(ground) < 0.05, dark, "pictures on another ground: {what}");
        }
        assert!(number(&seen["lines"]) <= 2.1, "rows of tables are too high: {what}");
    }
}
