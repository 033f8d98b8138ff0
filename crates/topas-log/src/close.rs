//! `topas-log close`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use topas_config::{Conf, Environment, Paths, command_line};
use topas_data::{
    CloseError, CloseOptions, CloseReport, Closing, LeftFile, Listener, Month, Pattern, close,
};
use topas_format::conf::List;
use topas_format::shown::Shown;
use topas_terminal::{Progress, shown};

use crate::args::Close;
use crate::{TOOL, exit};

/// Closes past months in every directory: the exit code.
pub fn run(options: &Close, env: &Environment) -> u8 {
    let mut dirs = options.dir.clone();
    // `log =` says exactly where its files are; who names a directory means all of it.
    let below = !dirs.is_empty();
    if dirs.is_empty() {
        dirs = match directories(env) {
            Ok(dirs) => dirs,
            Err(code) => return code,
        };
    }
    let how = CloseOptions {
        before: options.before.unwrap_or_else(Month::present),
        to: options.to.as_deref(),
        join: options.join,
        idle: Duration::from_secs(options.idle),
        settle: Duration::from_secs(options.settle),
        dry_run: options.dry_run,
    };
    let progress = Progress::new(TOOL, options.quiet);
    let mut teller = Teller { options, dirs: &dirs, progress, code: exit::OK };
    for dir in &dirs {
        close(dir, below, how, &mut teller);
    }
    teller.code
}

/// Says what happens; the exit code is that of the first thing that went wrong.
struct Teller<'o> {
    options: &'o Close,
    /// The directories that were named
    dirs: &'o [PathBuf],
    progress: Progress,
    code: u8,
}

impl Listener for Teller<'_> {
    fn file(&mut self, event: &Closing<'_>) {
        if let Closing::Working { name, bytes, again } = event {
            let what = if *again { "checked" } else { "compressed" };
            self.progress.at(|| format!("{name}: {} MB {what}", bytes / 1_000_000));
            return;
        }
        self.progress.clear();
        tell(event, self.options.quiet);
    }

    fn directory(&mut self, path: &Path, done: Result<CloseReport, CloseError>) {
        self.progress.clear();
        let code = match done {
            // Of directories below those that were named only what was done is told.
            Ok(CloseReport { files: 0, failed: 0, .. })
                if !self.dirs.iter().any(|dir| dir == path) =>
            {
                exit::OK
            }
            Ok(report) => told(path, &report, self.options),
            Err(error) => failed(path, &error),
        };
        if self.code == exit::OK {
            self.code = code;
        }
    }
}

/// The directories of the files that `log =` names.
pub fn directories(env: &Environment) -> Result<Vec<PathBuf>, u8> {
    let argv0 = command_line().into_iter().next().unwrap_or_default();
    // The site's logs, whatever a user has in the environment.
    let conf = Conf::load(Paths::of_this_program(&argv0, env).as_ref(), &Environment::default());
    let patterns = Pattern::of_targets(conf.settings().list(List::Log));
    let mut dirs: Vec<PathBuf> = patterns.iter().flat_map(Pattern::directories).collect();
    dirs.sort();
    dirs.dedup();
    if dirs.is_empty() {
        let what = "log = in topas.conf names no directory of files that exists";
        TOOL.error(&what, None, "name the directory with --dir");
        return Err(exit::USAGE);
    }
    Ok(dirs)
}

/// Says what became of a file.
fn tell(event: &Closing<'_>, quiet: bool) {
    let text = match event {
        Closing::Left { name, why: LeftFile::Failed(cause) } => {
            let hint = "its lines are safe; when that is mended the next close takes them";
            let name = Shown(name.as_bytes());
            return TOOL.error(&format_args!("cannot close {name}"), Some(cause), hint);
        }
        Closing::Working { .. } => return,
        _ if quiet => return,
        Closing::Planned { name, bytes } => {
            format!("{}: would be closed, {bytes} B", Shown(name.as_bytes()))
        }
        Closing::Closed { name, into, lines, bytes, packed } => {
            let (name, into) = (Shown(name.as_bytes()), shown(into));
            format!("{name}: {lines} lines, {bytes} B, into {into}, {packed} B")
        }
        Closing::Left { name, why } => {
            format!("{}: left: {}", Shown(name.as_bytes()), reason(why))
        }
    };
    // Who closed the pipe does not want to know; the work goes on.
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Why a file is left, in words.
pub fn reason(why: &LeftFile) -> &'static str {
    match why {
        LeftFile::NoMonth => "no month YYYY-MM in its name",
        LeftFile::Recent => "written a moment ago (--idle)",
        LeftFile::Open => "a process has it open for writing",
        LeftFile::NoFile => "a link, or no regular file",
        LeftFile::Hollow => "most of it is holes, which no log has",
        LeftFile::Linked => "it has more than one name (hard links)",
        LeftFile::Shorter => "it became shorter while it was closed",
        LeftFile::Failed(_) => "failed",
    }
}

fn told(dir: &Path, report: &CloseReport, options: &Close) -> u8 {
    if !options.quiet {
        let CloseReport { files, lines, bytes, packed, .. } = report;
        let dir = shown(dir);
        let text = match (options.dry_run, files) {
            (_, 0) if report.failed > 0 => format!("{dir}: nothing closed"),
            (_, 0) => format!("{dir}: nothing to close"),
            (true, _) => format!("{dir}: {files} files of {bytes} B would be closed"),
            (false, _) => format!("{dir}: {files} files, {lines} lines, {bytes} B to {packed} B"),
        };
        let _ = writeln!(std::io::stdout(), "{text}");
    }
    if report.failed > 0 { exit::FAILED } else { exit::OK }
}

/// Says why nothing was done in a directory: the exit code.
pub fn failed(dir: &Path, error: &CloseError) -> u8 {
    let dir = shown(dir);
    match error {
        CloseError::Busy => {
            let what = format_args!("another close or purge is at work in {dir}");
            TOOL.error(&what, None, "wait until it has ended");
            exit::BUSY
        }
        CloseError::Dir(cause) => {
            let what = format_args!("cannot look after the files in {dir}");
            TOOL.error(&what, Some(cause), "check its name and its permissions");
            exit::FAILED
        }
    }
}
