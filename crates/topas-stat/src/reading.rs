//! Reads all inputs.

use topas_data::{Joiner, Source, SourceError, Statistics, Tally, expand, scan};
use topas_terminal::Progress;

use crate::args::Options;
use crate::message::{self, TOOL};

/// What was read.
pub struct Reading {
    /// The lines
    pub joiner: Joiner,
    /// Inputs that could not be read, or not to their end
    pub unreadable: usize,
    tally: Tally,
}

/// Reads every input; one that cannot be read is reported and the others are read.
pub fn read(options: &Options) -> Reading {
    let mut reading = Reading { joiner: Joiner::new(), unreadable: 0, tally: Tally::default() };
    let mut sources = Vec::new();
    for input in &options.inputs {
        match expand(input) {
            Ok(found) => sources.extend(found),
            Err(error) => reading.failed(&error),
        }
    }
    let mut progress = Progress::new(TOOL, options.quiet);
    for (source, number) in sources.iter().zip(1..) {
        let place = format!("{number} of {}: {source}", sources.len());
        if let Err(error) = reading.scan(source, &place, &mut progress) {
            progress.clear();
            reading.failed(&error);
        }
    }
    progress.clear();
    reading
}

impl Reading {
    fn scan(
        &mut self,
        source: &Source,
        place: &str,
        progress: &mut Progress,
    ) -> Result<(), SourceError> {
        let joiner = &mut self.joiner;
        scan(
            source,
            &mut self.tally,
            |line, extras| joiner.add(line, extras, &Statistics::key(line)),
            |bytes| progress.at(|| format!("{place}: {} MB of text read", bytes / 1_000_000)),
        )
    }

    fn failed(&mut self, error: &SourceError) {
        self.unreadable += 1;
        let (cause, hint) = match error {
            SourceError::Open { cause, .. } => (cause, "check its name and its permissions"),
            SourceError::Broken { cause, .. } => {
                (cause, "copy the file again, or test it with its decompressor")
            }
        };
        TOOL.error(error, Some(cause), hint);
    }

    /// Says what was skipped.
    pub fn report_problems(&self, options: &Options) {
        if !options.quiet {
            message::skipped(&self.tally);
        }
    }
}
