//! What a browser makes of a page.

use serde_json::Value;
use topas_testkit::browser::{measured_in_frame, page_with_script};

use super::Center;

/// Shows a page, which has its style in itself, as Chromium does in the widths of a telephone and of a
/// screen, light and dark: without scripts of its own, no wider than its window, with enough contrast.
pub(crate) fn assert_readable(center: &Center, name: &str, page: &str) {
    let script = include_str!("../../../topasview/tests/cli/page.js");
    let page = page_with_script(page, script);
    for (width, dark) in [(390, false), (390, true), (1280, false), (1280, true)] {
        let seen = measured_in_frame(&center.path(""), &page, width, dark, &[]);
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
