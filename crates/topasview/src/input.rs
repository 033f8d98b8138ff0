//! Reads the files and picks the launch.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use topas_data::pes::{PeLaunch, PeLines, PeTable, RunMedians, add, here, read};
use topas_data::{Inputs, Problem, SourceError, Tally};
use topas_format::line::Fault;
use topas_terminal::Progress;

use crate::args::{Args, TOOL};
use crate::exit;
use crate::output::may_write;

/// What was read, and how well.
pub struct Input<'a> {
    args: &'a Args,
    /// Sources that could not be read
    unreadable: RefCell<usize>,
}

/// Threads that read and write.
pub fn threads() -> NonZero<usize> {
    thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}

impl<'a> Input<'a> {
    /// Of these arguments.
    pub fn new(args: &'a Args) -> Self {
        Input { args, unreadable: RefCell::new(0) }
    }

    /// Whether something could not be read; that has been said.
    pub fn has_failed(&self) -> bool {
        *self.unreadable.borrow() > 0
    }

    /// The lines of the files that were named, or of those in this directory. The Err is the
    /// exit code, all has then been said.
    pub fn lines(&self) -> Result<PeLines, u8> {
        if !self.args.inputs.is_empty() {
            return self.read(&self.args.inputs);
        }
        let sources = here(Path::new(".")).map_err(|error| {
            self.failed(&error);
            exit::INPUT
        })?;
        if sources.is_empty() {
            let hint = "link the program with `topas mpicc ...` and run it, or name a file";
            TOOL.error(&"no topas.out in this directory", None, hint);
            return Err(exit::NO_PES);
        }
        self.read_inputs(&Inputs { sources, ..Inputs::default() })
    }

    fn read(&self, paths: &[PathBuf]) -> Result<PeLines, u8> {
        let mut inputs = Inputs::default();
        paths.iter().for_each(|path| add(path, &mut inputs));
        inputs.failed.iter().for_each(|error| self.failed(error));
        if !self.args.quiet {
            passed_over(&inputs);
        }
        self.read_inputs(&inputs)
    }

    fn read_inputs(&self, inputs: &Inputs) -> Result<PeLines, u8> {
        let sources = &inputs.sources;
        may_write(self.args, sources)?;
        let progress = Mutex::new(Progress::new(TOOL, self.args.quiet));
        let found = read(sources, threads(), self.args.memory, &|bytes| {
            if let Ok(mut progress) = progress.try_lock() {
                progress.at(|| format!("{} MB of text read", bytes / 1_000_000));
            }
        });
        drop(progress);
        let (lines, errors) = found.map_err(|error| {
            TOOL.error(
                &error,
                None,
                "allow more --memory, name fewer files, or list runs by topas-stat --runs",
            );
            exit::INPUT
        })?;
        errors.iter().for_each(|error| self.failed(error));
        let nothing = lines.launches().next().is_none();
        if !self.args.quiet || nothing {
            skipped(&lines.tally);
        }
        if nothing {
            if !self.has_failed() {
                no_lines(inputs, &lines.tally);
            }
            return Err(if self.has_failed() { exit::INPUT } else { exit::NO_PES });
        }
        Ok(lines)
    }

    fn failed(&self, error: &SourceError) {
        *self.unreadable.borrow_mut() += 1;
        let (cause, hint) = match error {
            SourceError::Open { cause, .. } => (cause, "check its name and its permissions"),
            SourceError::Broken { cause, .. } => {
                (cause, "copy the file again, or test it with its decompressor")
            }
        };
        TOOL.error(error, Some(cause), hint);
    }

    /// The launch that `--launch` names, or the newest.
    pub fn table(&self, lines: &PeLines) -> Result<PeTable, u8> {
        match &self.args.launch {
            None => lines.launches().next().map(|launch| lines.table(launch)).ok_or(exit::NO_PES),
            Some(id) => self.named(lines, id).map(|launch| lines.table(launch)),
        }
    }

    /// The newest launch with this id, else the only id that begins so.
    fn named<'l>(&self, lines: &'l PeLines, id: &str) -> Result<&'l PeLaunch, u8> {
        if let Some(launch) = lines.launches().find(|launch| *launch.id == *id.as_bytes()) {
            return Ok(launch);
        }
        let mut found = lines.launches().filter(|launch| launch.id.starts_with(id.as_bytes()));
        let (what, code) = match (found.next(), found.next()) {
            (Some(launch), None) => return Ok(launch),
            (Some(_), Some(_)) => {
                (format!("several launches have an id that begins with {id}"), exit::USAGE)
            }
            (None, _) => (format!("no launch {id} in the files"), exit::NO_PES),
        };
        TOOL.error(&what, None, "topasview --list shows the launches");
        Err(code)
    }

    /// One side of a comparison: the launches of a file that are of the same program and size as
    /// the newest, or the launch of this id in the files that were named.
    pub fn side(&self, which: &OsStr) -> Result<ComparedSide, u8> {
        let path = Path::new(which);
        if which == "-" || path.exists() {
            let lines = self.read(&[path.to_owned()])?;
            return self.same_program(&lines);
        }
        let lines = self.lines()?;
        let id = which.to_string_lossy();
        let newest = self.named(&lines, &id).map(|launch| lines.table(launch))?;
        Ok(ComparedSide { runs: vec![RunMedians::new(&newest)], newest, others: 0 })
    }

    /// The newest launch, or that of `--launch`, and those before it that are like it.
    fn same_program(&self, lines: &PeLines) -> Result<ComparedSide, u8> {
        let newest = self.table(lines)?;
        let is_same = |launch: &PeLaunch| {
            launch.exe == newest.launch.exe && launch.npes == newest.launch.npes
        };
        let mut runs = vec![RunMedians::new(&newest)];
        let mut others = 0;
        if self.args.launch.is_none() {
            for launch in lines.launches().skip(1) {
                if is_same(launch) {
                    runs.push(RunMedians::new(&lines.table(launch)));
                } else {
                    others += 1;
                }
            }
        }
        Ok(ComparedSide { newest, runs, others })
    }
}

/// One side of a comparison.
pub struct ComparedSide {
    /// The newest run
    pub newest: PeTable,
    /// Of all runs of this program and size, the newest first
    pub runs: Vec<RunMedians>,
    /// Launches of other programs or sizes, which are left out
    pub others: usize,
}

/// Lines that were skipped, with the first of them.
pub fn skipped(tally: &Tally) {
    let Some(skipped) = topas_render::skipped(tally) else {
        return;
    };
    let mut text = format!("{}: warning: {skipped}", TOOL.0);
    if tally.problems().any(|(problem, _)| problem == Problem::Fault(Fault::version)) {
        text += "  hint: a newer TOPAS wrote those of an unknown version; use its topasview\n";
    }
    TOOL.write(&text);
}

/// What was found in directories and is not read.
pub fn passed_over(inputs: &Inputs) {
    if let Some(text) = topas_render::passed_over(inputs) {
        TOOL.write(&format!("{}: warning: {text}", TOOL.0));
    }
}

fn no_lines(inputs: &Inputs, tally: &Tally) {
    let of = match inputs.sources.as_slice() {
        [one] => one.to_string(),
        _ => topas_render::looked_at(inputs, tally.lines(), &[]),
    };
    let (what, hint) = if tally.lines() == 0 {
        (format!("{of}: empty"), "did the program end? TOPAS writes when a PE ends")
    } else {
        (format!("{of}: no line of a PE"), "is this a topas.out? It has a line for each PE")
    };
    TOOL.error(&what, None, hint);
}
