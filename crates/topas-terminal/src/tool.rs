//! A tool by its name: its messages and its output.

use std::fmt::Display;
use std::io::{ErrorKind, Write, stderr, stdout};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use clap::error::ErrorKind as Clap;
use topas_config::conf::SiteRules;
use topas_format::shown::Shown;

/// Text of several lines of which nothing acts on a terminal: a newline ends a line, and all else
/// is as [`Shown`] has it.
pub fn shown_lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        shown += &Shown(line.as_bytes()).to_string();
        shown += end;
    }
    shown
}

/// A path of which nothing acts on a terminal.
pub fn shown(path: &Path) -> Shown<'_> {
    Shown(path.as_os_str().as_bytes())
}

/// What became of a tool's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printed {
    /// It is written, or its reader has seen enough (`| head`), which is no error
    Done,
    /// It could not be written; that has been said
    Failed,
}

/// A tool, by the name it is called by.
#[derive(Clone, Copy, Debug)]
pub struct Tool(pub &'static str);

impl Tool {
    /// An error: what happened with the value, its cause, what to do.
    pub fn error(self, what: &dyn Display, cause: Option<&dyn Display>, hint: &str) {
        self.problem("error", what, cause, hint);
    }

    /// Something that the user should know although the tool goes on.
    pub fn warning(self, what: &dyn Display, cause: Option<&dyn Display>, hint: &str) {
        self.problem("warning", what, cause, hint);
    }

    fn problem(self, kind: &str, what: &dyn Display, cause: Option<&dyn Display>, hint: &str) {
        let cause = cause.map(|cause| format!("  cause: {cause}\n")).unwrap_or_default();
        let hint = if hint.is_empty() { String::new() } else { format!("  hint: {hint}\n") };
        self.write(&format!("{}: {kind}: {what}\n{cause}{hint}", self.0));
    }

    /// Rules of the site that are faulty, or could not be read; the others are used.
    pub fn faulty_rules(self, site: &SiteRules, faults: &[impl Display]) {
        let hint = "the manual page topas-rules(5) describes the form";
        for (path, cause) in &site.problems {
            self.warning(&format!("cannot read {}", path.display()), Some(cause), "");
        }
        for fault in faults {
            self.warning(fault, None, hint);
        }
    }

    /// A remark in a line of its own; further lines stand as they are.
    pub fn say(self, text: &dyn Display) {
        self.write(&format!("{}: {text}\n", self.0));
    }

    /// Text on standard error; what would act on the terminal stands as `%XX`, because names of
    /// files are anybody's. Standard error may be closed, and must not end the program.
    pub fn write(self, text: &str) {
        let _ = stderr().lock().write_all(shown_lines(text).as_bytes());
    }

    /// Shows what clap has to say: help and version on standard output, what is wrong with
    /// the command line on standard error. The exit code: 0 for help and version, `failed` if they could not be
    /// written, `wrong` for a wrong command line.
    pub fn command_line(self, error: &clap::Error, failed: u8, wrong: u8) -> u8 {
        if matches!(error.kind(), Clap::DisplayHelp | Clap::DisplayVersion) {
            return match self.printed(error.print().and_then(|()| stdout().flush())) {
                Printed::Done => 0,
                Printed::Failed => failed,
            };
        }
        let text = error.render().to_string();
        let text = text.trim_end().replace("For more information, try", "  hint: try");
        self.write(&format!("{}: {text}\n", self.0));
        wrong
    }

    /// Writes data on standard output.
    pub fn print(self, data: &[u8]) -> Printed {
        self.printed(stdout().lock().write_all(data).and_then(|()| stdout().flush()))
    }

    /// Judges the writing of data on standard output that was done elsewhere.
    pub fn printed(self, result: std::io::Result<()>) -> Printed {
        match result {
            Ok(()) => Printed::Done,
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Printed::Done,
            Err(error) => {
                let what = &"cannot write to standard output";
                self.error(what, Some(&error), "is the disk full?");
                Printed::Failed
            }
        }
    }

    /// Says that a file stays as it is, and how it would be replaced.
    pub fn kept(self, kept: &dyn Display) {
        self.error(kept, None, "name another file, or say --force to have it replaced");
    }

    /// Judges the writing of a file that was done elsewhere; a failure is said.
    pub fn saved(self, path: &Path, result: std::io::Result<()>) -> Printed {
        match result {
            Ok(()) => Printed::Done,
            Err(error) => {
                let what = format!("cannot write {}", shown(path));
                self.error(&what, Some(&error), "check the directory and its permissions");
                Printed::Failed
            }
        }
    }
}
