//! Tests that cannot run here, and what else is said past the capture of their output.

use std::io::Write;

/// A test that cannot run: `skipped: TEST: REASON`. CI allows none in the default set.
pub fn skip(test: &str, reason: &str) {
    line("skipped", test, reason);
}

/// Something to know about a test that did run: `note: TEST: WHAT`.
pub fn note(test: &str, what: &str) {
    line("note", test, what);
}

fn line(kind: &str, test: &str, text: &str) {
    let line = format!("{kind}: {test}: {text}\n");
    // Nobody can be told if standard error is closed.
    let _ = std::io::stderr().write_all(line.as_bytes());
}
