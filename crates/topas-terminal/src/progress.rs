//! A line on the terminal that tells how far long work is.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

use topas_format::shown::Shown;

use crate::tool::Tool;

/// Nothing is shown before this, and then this often.
const INTERVAL: Duration = Duration::from_secs(1);

/// Columns of the line.
const WIDTH: usize = 79;

/// The line, on standard error, only if that is a terminal.
pub struct Progress {
    tool: Tool,
    shown: bool,
    next: Option<Instant>,
}

impl Progress {
    /// Of a tool; never shown if `quiet`.
    pub fn new(tool: Tool, quiet: bool) -> Self {
        let visible = !quiet && stderr().is_terminal();
        Progress { tool, shown: false, next: visible.then(|| Instant::now() + INTERVAL) }
    }

    /// Shows how far the work is, if it is time to. Cheap enough to be called for each block.
    pub fn at(&mut self, what: impl FnOnce() -> String) {
        let Some(next) = self.next else { return };
        let now = Instant::now();
        if now < next {
            return;
        }
        self.next = Some(now + INTERVAL);
        self.shown = true;
        let what = what();
        self.overwrite(&format!("{}: {}", self.tool.0, Shown(what.as_bytes())));
    }

    /// Wipes the line, so that other text can follow.
    pub fn clear(&mut self) {
        if self.shown {
            self.overwrite("");
            let _ = write!(stderr().lock(), "\r");
            self.shown = false;
        }
    }

    /// Blanks instead of a control sequence wipe what a longer line left.
    fn overwrite(&self, text: &str) {
        let _ = write!(stderr().lock(), "\r{text:<WIDTH$.WIDTH$}");
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
