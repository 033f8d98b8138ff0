//! Pages of HTML as Chromium shows them: a script of a test is put into a page, and leaves what it saw.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// What each script of [`page_with_reader`] begins with.
const WAITS: &str = include_str!("page_waits.js");

/// A page with a script at its end.
pub fn page_with_script(page: &str, script: &str) -> String {
    page.replace("</body>", &format!("<script>{script}</script></body>"))
}

/// A page with a script at its end that does what the reader of the page does; the script has the names that
/// `page_waits.js` defines. The page loses its content policy, which allows no other script than its own.
///
/// # Panics
///
/// If the page has no policy.
pub fn page_with_reader(page: &str, script: &str) -> String {
    page_with_script(&page_without_policy(page), &format!("{{\n{WAITS}{script}}}"))
}

/// A page without its content policy.
///
/// # Panics
///
/// If the page has none.
pub fn page_without_policy(page: &str) -> String {
    let (before, rest) = page.split_once("<meta http-equiv=").expect("a policy");
    format!("{before}{}", rest.split_once('>').expect("the end of the policy").1)
}

/// What a script of a page has left as `measured:{...}:end`. Chromium gets these options beside its own, and `dir` is
/// for the page and for what Chromium keeps.
///
/// # Panics
///
/// If Chromium cannot be started, or the script has left nothing.
pub fn measured_in_browser(dir: &Path, page: &str, options: &[&str]) -> Value {
    let path = dir.join("page-of-test.html");
    fs::write(&path, page).expect("the page is written");
    let output = Command::new("chromium")
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--dump-dom",
            "--hide-scrollbars",
        ])
        .args(options)
        .arg(format!("--user-data-dir={}", dir.join("profile").display()))
        .arg(format!("file://{}", path.display()))
        .stderr(Stdio::null())
        .output()
        .expect("chromium");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let (_, json) = text.rsplit_once("measured:{").expect("results of the script");
    let (json, _) = json.split_once(":end").expect("the end of the results");
    let json = json.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&format!("{{{json}")).expect("JSON")
}

/// The same of a page in a frame of this width, light or dark: a window is never as narrow as a telephone, but a frame
/// in a window can be.
///
/// # Panics
///
/// As [`measured_in_browser`] does.
pub fn measured_in_frame(
    dir: &Path,
    page: &str,
    width: u32,
    dark: bool,
    options: &[&str],
) -> Value {
    let inner = page.replace('&', "&amp;").replace('"', "&quot;");
    let outer = format!(
        "<!DOCTYPE html><meta charset=utf-8><style>:root{{color-scheme:light dark}}\
         iframe{{border:0;width:{width}px}}</style><iframe srcdoc=\"{inner}\"></iframe>"
    );
    let scheme = format!("--blink-settings=preferredColorScheme={}", u8::from(!dark));
    let own = ["--window-size=1400,900", scheme.as_str()];
    measured_in_browser(dir, &outer, &[&own, options].concat())
}
