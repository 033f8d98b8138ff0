//! A line on the terminal that tells how far the reading is.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

use topas_data::Source;

/// Nothing is shown before this, and then this often.
const INTERVAL: Duration = Duration::from_secs(1);

/// The line, on standard error, only if that is a terminal.
pub struct Progress {
    shown: bool,
    next: Option<Instant>,
    file: usize,
    files: usize,
}

impl Progress {
    /// For the given sources; never shown if `quiet`.
    pub fn new(quiet: bool, sources: &[Source]) -> Self {
        let visible = !quiet && stderr().is_terminal();
        let next = visible.then(|| Instant::now() + INTERVAL);
        Progress { shown: false, next, file: 1, files: sources.len() }
    }

    /// `bytes` of text of a source have been read.
    pub fn at(&mut self, source: &Source, bytes: u64) {
        let Some(next) = self.next else { return };
        let now = Instant::now();
        if now < next {
            return;
        }
        self.next = Some(now + INTERVAL);
        self.shown = true;
        let megabytes = bytes / 1_000_000;
        let (file, files) = (self.file, self.files);
        // Blanks instead of a control sequence wipe what a longer line left.
        let text = format!("topas-stat: {file} of {files}: {source}: {megabytes} MB of text read");
        let _ = write!(stderr().lock(), "\r{text:<79.79}");
    }

    /// A source is finished.
    pub fn done(&mut self) {
        self.file += 1;
    }

    /// Wipes the line, so that other text can follow.
    pub fn clear(&mut self) {
        if self.shown {
            let _ = write!(stderr().lock(), "\r{:79}\r", "");
            self.shown = false;
        }
    }
}
