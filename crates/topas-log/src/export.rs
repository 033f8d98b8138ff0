//! `topas-log export` and `topas-log key`.

use std::io::{ErrorKind, Write};
use std::ops::ControlFlow;
use std::path::Path;

use topas_config::Environment;
use topas_data::{
    Anonymizer, ExportKey, Fate, Inputs, KeyError, LeftOut, LogLine, NoSuchFate, Output, OwnLines,
    OwnProfiles, SegmentError, Source, each_line,
};
use topas_format::line::{Extras, Line};
use topas_render::{looked_at, record};
use topas_terminal::Progress;

use crate::args::{Export, KeyOptions};
use crate::inputs::{self, failed};
use crate::{TOOL, exit};

/// Makes a key: the exit code.
pub fn make_key(options: &KeyOptions) -> u8 {
    match ExportKey::make(&options.file) {
        Ok(()) => exit::OK,
        Err(error) => {
            let hint = match &error {
                KeyError::File(cause) if cause.kind() == ErrorKind::AlreadyExists => {
                    "with another key the same names get other hashes; move the old one away first"
                }
                _ => "check the directory and its permissions",
            };
            let what = format!("cannot make the key {}", options.file.display());
            TOOL.error(&what, Some(&error), hint);
            exit::FAILED
        }
    }
}

/// Exports: the exit code.
pub fn run(options: &Export, env: &Environment) -> u8 {
    let anonymizer = match options.key.as_deref().map(|key| anonymizer(key, options)).transpose() {
        Ok(anonymizer) => anonymizer,
        Err(code) => return code,
    };
    let own = options.mine.then(OwnLines::of_caller);
    let found = match &own {
        Some(own) => inputs::own(&options.logs, own, env, options.quiet),
        None => Some(inputs::inputs(&options.logs, options.quiet)),
    };
    let Some(inputs) = found else { return exit::FAILED };
    let key = options.key.clone().map(Source::File);
    let read: Vec<Source> = inputs.sources.iter().chain(&key).cloned().collect();
    if !inputs::may_write(&[Some(&options.output)], &read, options.force) {
        return exit::USAGE;
    }
    let mut export = match Output::create(&options.output) {
        Ok(output) => Exporter {
            options,
            own,
            anonymizer,
            output,
            lines: 0,
            without_columns: 0,
            own_profiles: OwnProfiles::default(),
            left_out: LeftOut::default(),
            unreadable: inputs.failed.len(),
            text: String::new(),
        },
        Err(cause) => {
            failed(&SegmentError::Write { path: options.output.clone(), cause });
            return exit::FAILED;
        }
    };
    let done = export.all(&inputs.sources);
    let (left_out, without_columns) = (export.left_out.clone(), export.without_columns);
    let unreadable = export.unreadable;
    match done.and_then(|()| export.finish()) {
        Ok((lines, lost)) => {
            tell(options, lines, &left_out, lost, without_columns);
            match (unreadable, lines) {
                (1.., _) => exit::FAILED,
                (0, 0) => {
                    nothing(&inputs, &left_out, options.quiet);
                    exit::NO_LINES
                }
                (0, _) => exit::OK,
            }
        }
        Err(error) if error.is_reader_gone() => exit::OK,
        Err(error) => {
            failed(&error);
            exit::FAILED
        }
    }
}

/// Says what was looked at for nothing.
fn nothing(inputs: &Inputs, left_out: &LeftOut, quiet: bool) {
    if !quiet {
        let of_them = [(left_out.bad, "no log lines"), (left_out.foreign.lines(), "foreign")];
        let looked_at = looked_at(inputs, left_out.of_lines, &of_them);
        TOOL.say(&format!("no log lines; looked at {looked_at}"));
    }
}

fn tell(options: &Export, lines: u64, left_out: &LeftOut, lost: u64, without_columns: u64) {
    if options.quiet {
        return;
    }
    let bad = left_out.bad;
    let mut text = format!("{lines} lines");
    if bad > 0 {
        text += &format!(", {bad} left out because they are no log lines");
    }
    if lost > 0 {
        text += &format!("; {lost} extras did not fit into their lines");
    }
    if without_columns > 0 {
        text +=
            &format!("; {without_columns} lines of MPI profiles have no columns and are left out");
    }
    TOOL.say(&text);
    if let Some(text) = topas_render::foreign(&left_out.foreign) {
        TOOL.write(&format!("{}: warning: {text}", TOOL.0));
    }
}

/// What hides names, as the options say; an error is said here.
fn anonymizer(key: &Path, options: &Export) -> Result<Anonymizer, u8> {
    let key = ExportKey::read(key).map_err(|error| {
        let hint = match &error {
            KeyError::Open(_) => "chmod 600 it, or make another if somebody may have read it",
            KeyError::Short(_) => "make one with topas-log key FILE",
            _ => "check its name and its owner; topas-log key FILE makes one",
        };
        TOOL.error(&format!("cannot use the key {}", key.display()), Some(&error), hint);
        exit::FAILED
    })?;
    let mut anonymizer = Anonymizer::new(key);
    for (fields, fate) in
        [(&options.hash, Fate::Hash), (&options.keep, Fate::Keep), (&options.drop, Fate::Drop)]
    {
        for field in fields {
            anonymizer.set(field, fate).map_err(|NoSuchFate { field, .. }| {
                let what = format!("`{field}` is no field that this can be done with");
                TOOL.error(&what, None, "names are user, exe, id and those of extras: job, host");
                exit::USAGE
            })?;
        }
    }
    Ok(anonymizer)
}

/// Writes lines in the form that is wanted.
struct Exporter<'o> {
    options: &'o Export,
    own: Option<OwnLines>,
    anonymizer: Option<Anonymizer>,
    output: Output,
    lines: u64,
    /// Lines of MPI profiles that a table cannot hold
    without_columns: u64,
    own_profiles: OwnProfiles,
    left_out: LeftOut,
    /// Sources that could not be read, or not to their end
    unreadable: usize,
    text: String,
}

impl Exporter<'_> {
    /// Exports all sources; one that cannot be read is said.
    fn all(&mut self, sources: &[Source]) -> Result<(), SegmentError> {
        if self.options.csv {
            self.text += &record::csv_header();
        }
        let mut progress = Progress::new(TOOL, self.options.quiet);
        let mut seen = 0u64;
        for source in sources {
            let mut result = Ok(());
            let mut left_out = std::mem::take(&mut self.left_out);
            let read = each_line(source, &mut left_out, |line, text| {
                seen += 1;
                if seen.is_multiple_of(256) {
                    progress.at(|| format!("{source}: {seen} lines read so far"));
                }
                result = match line {
                    LogLine::Run(line, extras) => self.line(line, extras, text),
                    LogLine::Profile => self.profile(text),
                };
                if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            progress.clear();
            self.left_out = left_out;
            result.map_err(|cause| self.failed(cause))?;
            if let Err(error) = read {
                inputs::unreadable(&error);
                self.unreadable += 1;
            }
        }
        Ok(())
    }

    /// A line of an MPI profile: it has no columns.
    fn profile(&mut self, text: &[u8]) -> std::io::Result<()> {
        if self.own.as_ref().is_some_and(|own| !own.wrote_profile(text, &mut self.own_profiles)) {
            return Ok(());
        }
        if self.options.csv || self.options.jsonl {
            self.without_columns += 1;
            return Ok(());
        }
        let mut hidden = Vec::new();
        let mut line = text;
        if let Some(anonymizer) = &mut self.anonymizer {
            anonymizer.write_profile(text, &mut hidden);
            line = hidden.trim_ascii_end();
        }
        self.lines += 1;
        self.output.write_all(line)?;
        self.output.write_all(b"\n")
    }

    fn failed(&self, cause: std::io::Error) -> SegmentError {
        SegmentError::Write { path: self.options.output.clone(), cause }
    }

    fn line(&mut self, line: &Line<'_>, extras: Extras<'_>, text: &[u8]) -> std::io::Result<()> {
        if self.own.as_ref().is_some_and(|own| !own.wrote(line.user, extras)) {
            return Ok(());
        }
        self.lines += 1;
        let mut hidden = Vec::new();
        let (mut line, mut extras, mut text) = (*line, extras, text);
        if let Some(anonymizer) = &mut self.anonymizer {
            anonymizer.write(&line, extras, &mut hidden);
            text = hidden.trim_ascii_end();
            (line, extras) = Line::parse(text)
                .map_err(|fault| std::io::Error::other(format!("not written: {}", fault.name())))?;
        }
        if self.options.csv {
            record::csv(&line, extras, &mut self.text);
        } else if self.options.jsonl {
            record::json(&line, extras, &mut self.text);
        } else {
            self.output.write_all(text)?;
            self.output.write_all(b"\n")?;
        }
        if self.text.len() > 1 << 16 {
            self.output.write_all(std::mem::take(&mut self.text).as_bytes())?;
        }
        Ok(())
    }

    /// Makes the output whole: lines written, and extras that did not fit.
    fn finish(self) -> Result<(u64, u64), SegmentError> {
        let Exporter { options, anonymizer, mut output, lines, text, .. } = self;
        // Nothing takes the place of what an earlier export has written.
        if lines == 0 && options.output.as_os_str() != "-" {
            return Ok((0, 0));
        }
        let written = output
            .write_all(text.as_bytes())
            .and_then(|()| output.flush())
            .and_then(|()| output.finish());
        written.map_err(|cause| SegmentError::Write { path: options.output.clone(), cause })?;
        Ok((lines, anonymizer.map_or(0, |anonymizer| anonymizer.lost)))
    }
}
