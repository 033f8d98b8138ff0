//! `topas-log purge`.

use std::io::Write;
use std::path::Path;

use topas_config::Environment;
use topas_data::{LeftFile, Month, PurgeOptions, PurgeReport, Purging, purge};
use topas_terminal::shown;

use crate::args::Purge;
use crate::close::{directories, failed, reason};
use crate::{TOOL, exit};

/// Removes old segments in every directory: the exit code.
pub fn run(options: &Purge, env: &Environment) -> u8 {
    let mut dirs = options.dir.clone();
    if dirs.is_empty() {
        dirs = match directories(env) {
            Ok(dirs) => dirs,
            Err(code) => return code,
        };
    }
    let kept = options.keep.map(|months| Month::present().earlier(months.get()));
    // The command line has one of the two.
    let Some(before) = options.before.or(kept) else { return exit::USAGE };
    let how = PurgeOptions { before, dry_run: options.dry_run };
    let mut code = exit::OK;
    for dir in &dirs {
        let mut first = exit::OK;
        let report =
            purge(dir, how, &mut |path, became| tell(path, became, options), &mut |dir, error| {
                let told = failed(dir, error);
                first = if first == exit::OK { told } else { first };
            });
        told(dir, &report, before, options);
        if report.failed > 0 && first == exit::OK {
            first = exit::FAILED;
        }
        code = if code == exit::OK { first } else { code };
    }
    code
}

fn tell(path: &Path, became: &Purging, options: &Purge) {
    let path = shown(path);
    let text = match became {
        Purging::Left(LeftFile::Failed(cause)) => {
            let what = format_args!("cannot remove {path}");
            return TOOL.error(&what, Some(cause), "check the permissions of its directory");
        }
        _ if options.quiet => return,
        Purging::Removed { bytes } if options.dry_run => {
            format!("{path}: would be removed, {bytes} B")
        }
        Purging::Removed { bytes } => format!("{path}: removed, {bytes} B"),
        Purging::NotClosed => format!("{path}: left: not closed yet (topas-log close)"),
        Purging::Left(why) => format!("{path}: left: {}", reason(why)),
    };
    // Who closed the pipe does not want to know; the work goes on.
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn told(dir: &Path, report: &PurgeReport, before: Month, options: &Purge) {
    if options.quiet {
        return;
    }
    let PurgeReport { files, bytes, .. } = report;
    let dir = shown(dir);
    let text = match (files, options.dry_run) {
        (0, _) => format!("{dir}: no closed segment of a month before {before}"),
        (_, true) => {
            format!("{dir}: {files} segments of {bytes} B from before {before} would be removed")
        }
        (_, false) => {
            format!("{dir}: {files} segments of {bytes} B from before {before} were removed")
        }
    };
    let _ = writeln!(std::io::stdout(), "{text}");
}
