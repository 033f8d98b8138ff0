//! `topas-log close`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use topas_config::{Conf, Environment, Paths, command_line};
use topas_data::{CloseError, CloseOptions, CloseReport, Closing, Left, Month, Pattern, close};
use topas_format::conf::List;

use crate::args::Close;
use crate::{TOOL, exit};

/// Closes past months in every directory: the exit code.
pub fn run(options: &Close, env: &Environment) -> u8 {
    let mut dirs = options.dir.clone();
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
    let mut code = exit::OK;
    for dir in &dirs {
        let result = close(dir, how, &mut |event| tell(&event, options.quiet));
        let this = match result {
            Ok(report) => told(dir, &report, options),
            Err(error) => failed(dir, &error),
        };
        if code == exit::OK {
            code = this;
        }
    }
    code
}

/// The directories of the files that `log =` names.
fn directories(env: &Environment) -> Result<Vec<PathBuf>, u8> {
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
        Closing::Left { name, why: Left::Failed(cause) } => {
            let hint = "its lines are safe; when that is mended the next close takes them";
            return TOOL.error(&format_args!("cannot close {name}"), Some(cause), hint);
        }
        _ if quiet => return,
        Closing::Planned { name, bytes } => format!("{name}: would be closed, {bytes} B"),
        Closing::Closed { name, into, lines, bytes, packed } => {
            let into = into.display();
            format!("{name}: {lines} lines, {bytes} B, into {into}, {packed} B")
        }
        Closing::Left { name, why } => format!("{name}: left: {}", reason(why)),
    };
    // Who closed the pipe does not want to know; the work goes on.
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn reason(why: &Left) -> &'static str {
    match why {
        Left::NoMonth => "no month YYYY-MM in its name",
        Left::Recent => "written a moment ago (--idle)",
        Left::Open => "a process has it open for writing",
        Left::NoFile => "a link, or no regular file",
        Left::Linked => "it has more than one name (hard links)",
        Left::Shorter => "it became shorter while it was closed",
        Left::Failed(_) => "failed",
    }
}

fn told(dir: &Path, report: &CloseReport, options: &Close) -> u8 {
    if !options.quiet {
        let CloseReport { files, lines, bytes, packed, .. } = report;
        let dir = dir.display();
        let text = match (options.dry_run, files) {
            (_, 0) => format!("{dir}: nothing to close"),
            (true, _) => format!("{dir}: {files} files of {bytes} B would be closed"),
            (false, _) => format!("{dir}: {files} files, {lines} lines, {bytes} B to {packed} B"),
        };
        let _ = writeln!(std::io::stdout(), "{text}");
    }
    if report.failed > 0 { exit::FAILED } else { exit::OK }
}

fn failed(dir: &Path, error: &CloseError) -> u8 {
    let dir = dir.display();
    match error {
        CloseError::Busy => {
            let what = format_args!("another close is at work in {dir}");
            TOOL.error(&what, None, "wait until it has ended");
            exit::BUSY
        }
        CloseError::Dir(cause) => {
            let what = format_args!("cannot close files in {dir}");
            TOOL.error(&what, Some(cause), "check its name and its permissions");
            exit::FAILED
        }
    }
}
