//! `topas-log purge`.

use std::io::Write;
use std::path::Path;

use topas_config::{Conf, Environment, Paths, command_line};
use topas_data::{
    CloseError, ForgetReport, Forgetting, LeftFile, Month, OwnLines, PurgeOptions, PurgeReport,
    Purging, UnknownUser, forget, purge,
};
use topas_terminal::shown;

use crate::args::Purge;
use crate::close::{directories, failed, reason};
use crate::{TOOL, exit};

/// Removes old segments or the lines of a user in every directory: the exit code.
pub fn run(options: &Purge, env: &Environment) -> u8 {
    let whose = match options.user.as_deref().map(OwnLines::named).transpose() {
        Ok(whose) => whose,
        Err(unknown) => {
            TOOL.error(&unknown, None, UnknownUser::HINT);
            return exit::USAGE;
        }
    };
    let mut before = None;
    if whose.is_none() {
        let Some(month) = limit(options, env) else { return exit::USAGE };
        before = Some(month);
    }
    let mut dirs = options.dir.clone();
    if dirs.is_empty() {
        dirs = match directories(env) {
            Ok(dirs) => dirs,
            Err(code) => return code,
        };
    }
    let mut code = exit::OK;
    for dir in &dirs {
        let mut first = exit::OK;
        let mut fault = |dir: &Path, error: &CloseError| {
            let told = failed(dir, error);
            first = if first == exit::OK { told } else { first };
        };
        let is_done = match (&whose, before) {
            (Some(user), _) => forget_in(dir, user, options, &mut fault),
            (None, Some(before)) => purge_in(dir, before, options, &mut fault),
            (None, None) => true,
        };
        if !is_done && first == exit::OK {
            first = exit::FAILED;
        }
        code = if code == exit::OK { first } else { code };
    }
    code
}

/// The month before which segments go. What is wrong is said.
fn limit(options: &Purge, env: &Environment) -> Option<Month> {
    if options.before.is_some() {
        return options.before;
    }
    let of_site = || {
        let argv0 = command_line().into_iter().next().unwrap_or_default();
        // The site's own limit, whatever a user has in the environment.
        Conf::load(Paths::of_this_program(&argv0, env).as_ref(), &Environment::default()).keep()
    };
    let months = options.keep.or_else(of_site);
    if months.is_none() {
        let hint = "give --keep MONTHS, or set keep = in topas.conf";
        TOOL.error(&"nothing says how long segments are kept", None, hint);
    }
    Some(Month::present().earlier(months?.get()))
}

/// Removes segments of months before this one: whether all went well.
fn purge_in(
    dir: &Path,
    before: Month,
    options: &Purge,
    fault: &mut dyn FnMut(&Path, &CloseError),
) -> bool {
    let how = PurgeOptions { before, dry_run: options.dry_run };
    let report = purge(dir, how, &mut |path, became| tell(path, became, options), fault);
    told(dir, &report, before, options);
    report.failed == 0
}

/// Removes the lines of a user: whether none are left.
fn forget_in(
    dir: &Path,
    user: &OwnLines,
    options: &Purge,
    fault: &mut dyn FnMut(&Path, &CloseError),
) -> bool {
    let mut each = |path: &Path, became: &Forgetting| tell_of_user(path, became, options);
    let report = forget(dir, user, options.dry_run, &mut each, fault);
    told_of_user(dir, &report, options);
    report.failed == 0 && report.left == 0
}

fn tell_of_user(path: &Path, became: &Forgetting, options: &Purge) {
    let path = shown(path);
    let would = if options.dry_run { "would be " } else { "" };
    let text = match became {
        Forgetting::Left(LeftFile::Failed(cause)) => {
            let what = format_args!("cannot remove lines of {path}");
            let hint = "check the permissions of its directory, and the file";
            return TOOL.error(&what, Some(cause), hint);
        }
        Forgetting::NotClosed { lines } => {
            let what = format_args!("{path} still has {lines} lines of the user");
            let hint = "topas-log close it (--before NEXT-MONTH --idle 0), and call this again";
            return TOOL.error(&what, None, hint);
        }
        Forgetting::Left(why) => {
            let what = format_args!("{path} still has lines of the user");
            let cause = reason(why);
            return TOOL.error(&what, Some(&cause), "remove its other names, and call this again");
        }
        _ if options.quiet => return,
        Forgetting::Removed { bytes } => {
            format!("{path}: {would}removed, {bytes} B: it belongs to the user")
        }
        Forgetting::Rewritten { lines } => format!("{path}: {lines} lines {would}removed"),
    };
    // Who closed the pipe does not want to know; the work goes on.
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn told_of_user(dir: &Path, report: &ForgetReport, options: &Purge) {
    if options.quiet {
        return;
    }
    let ForgetReport { files, lines, left, .. } = report;
    let would = if options.dry_run { "would be" } else { "were" };
    let mut text =
        format!("{}: {files} files of the user and {lines} lines {would} removed", shown(dir));
    if *left > 0 {
        text += &format!("; {left} files still have lines of the user");
    }
    let _ = writeln!(std::io::stdout(), "{text}");
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
