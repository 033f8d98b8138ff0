//! `topas-mpi collect`.

use std::io;
use std::path::Path;

use nix::unistd::{geteuid, getuid};
use topas_config::{Conf, Environment};
use topas_data::{LineWriter, Outputs, append, deliver};
use topas_format::conf::List;
use topas_mpi_data::{Collection, Ending, LeftLaunch, collect};
use topas_terminal::Progress;

use crate::args::Collect;
use crate::collect_users::{become_user, of_all_users};
use crate::spool::{conf, directories};
use crate::{TOOL, exit};

/// Collects: the exit code.
pub fn run(options: &Collect, env: &Environment) -> u8 {
    if let Some(user) = options.as_user
        && let Err(cause) = become_user(user)
    {
        TOOL.error(&format!("cannot become uid {}", user.uid), Some(&cause), "");
        return exit::FAILED;
    }
    let conf = conf(env);
    let directories = directories(&options.spool, &conf, env);
    if options.all_users && geteuid().is_root() {
        return of_all_users(options, &directories);
    }
    if options.all_users {
        let what = "only root collects what other users left";
        TOOL.error(&what, None, "leave --all-users out: your own is collected then");
        return exit::USAGE;
    }
    if let Some(out) = &options.out
        && let Err(kept) = Outputs::default().add_appended(out)
    {
        TOOL.error(&kept, None, "name another file for --out");
        return exit::USAGE;
    }
    let (mut worst, mut found) = (exit::OK, 0);
    for directory in &directories {
        worst = worst.max(in_directory(options, directory, &conf, &mut found));
    }
    if let Some(launch) = options.launch.as_ref().filter(|_| found == 0 && worst == exit::OK) {
        let what = format!(
            "no launch that left something on this node has an id that begins with {launch}"
        );
        TOOL.error(&what, None, "topas-mpi list tells the launches and their ids");
        return exit::FAILED;
    }
    worst
}

/// Adds to `found` how many files were found.
fn in_directory(options: &Collect, directory: &Path, conf: &Conf, found: &mut usize) -> u8 {
    let mut progress = Progress::new(TOOL, options.quiet);
    let launch = options.launch.as_deref().unwrap_or_default();
    let collected = collect(directory, getuid().as_raw(), launch, |done, of| {
        progress.at(|| format!("{}: {done} of {of} files read", directory.display()));
    });
    drop(progress);
    let collected = match collected {
        Ok(collected) => collected,
        Err(cause) => {
            let what = format!("cannot list {}", directory.display());
            TOOL.error(&what, Some(&cause), "check the directory and its permissions");
            return exit::FAILED;
        }
    };
    let Collection { launches, running, busy, removed, unknown, refused } = collected;
    *found += launches.len() + running + busy + removed;
    let mut worst = exit::OK;
    for (path, cause) in refused {
        let what = format!("cannot collect {}", path.display());
        let hint = "the topas-mpi of the installation that the program ran with can; or remove it";
        TOOL.error(&what, Some(&cause), hint);
        worst = exit::FAILED;
    }
    for launch in launches {
        worst = worst.max(tell(options, launch, conf));
    }
    if !options.quiet {
        let many = |n: usize, one: &str, more: &str| match n {
            1 => one.to_owned(),
            n => format!("{n} {more}"),
        };
        if running > 0 {
            let who = many(running, "a rank belongs", "ranks belong");
            TOOL.say(&format!("{who} to launches that still run on this node; left alone"));
        }
        if busy > 0 {
            let who = many(busy, "a file is", "files are");
            TOOL.say(&format!("{who} in the hands of another topas-mpi collect"));
        }
        if removed > 0 {
            let who = many(removed, "a file", "files");
            TOOL.say(&format!("{who} had nothing more to tell; removed"));
        }
        if unknown > 0 {
            let what =
                many(unknown, "a file that cannot be read is", "files that cannot be read are");
            TOOL.say(&format!("{what} left alone; topas-mpi collect without --launch tells why"));
        }
    }
    worst
}

/// Writes what a launch left, and removes it.
fn tell(options: &Collect, launch: LeftLaunch, conf: &Conf) -> u8 {
    let facts = launch.facts();
    let named = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    let ranks = match launch.ranks() {
        1 => "1 rank".to_owned(),
        n => format!("{n} ranks"),
    };
    let ended = match facts.ending {
        Some(Ending::Abort(code)) => format!("ended by MPI_Abort({code})"),
        Some(Ending::Exit) => "ended without MPI_Finalize".to_owned(),
        Some(Ending::Finalize) => "ended in MPI_Finalize".to_owned(),
        Some(Ending::Lost | Ending::Running) | None => "ended without a word".to_owned(),
    };
    let (exe, id) = (named(&facts.exe), named(&facts.id));
    let what = format!("{exe} ({id}): {ranks} on {} {ended}", named(launch.host()));
    if options.dry_run {
        TOOL.say(&format!("{what}; would be collected"));
        return exit::OK;
    }
    let record = launch.record();
    let mut written: Vec<String> = Vec::new();
    let mut worst = exit::OK;
    if let Some(path) = options.out.clone().or_else(|| launch.user_file()) {
        let records = [record.as_slice(), &launch.rank_records(&path)].concat();
        match append(&path, &records) {
            Ok(()) => written.push(path.display().to_string()),
            Err(cause) => {
                let what = format!("cannot write {}", path.display());
                if !gives_up(options, &cause) {
                    let hint = "check the directory and its permissions; nothing was removed";
                    TOOL.error(&what, Some(&cause), hint);
                    return exit::FAILED;
                }
                let hint = "the directory that TOPAS_MPI_OUT named has gone or takes no file; the log of the center has \
                            the sums of all ranks";
                TOOL.error(&what, Some(&cause), hint);
                worst = exit::FAILED;
            }
        }
    }
    if !options.no_log {
        let settings = conf.settings();
        let writer = LineWriter { date: facts.date, uid: getuid().as_raw(), host: launch.host() };
        match deliver(settings.list(List::Log), writer, &record) {
            Ok(target) => written.push(target),
            Err(failed) => {
                not_written(&what, &failed);
                return exit::FAILED;
            }
        }
    }
    match launch.write_traces() {
        Ok(trace) => written.extend(trace.map(|(path, _)| path.display().to_string())),
        Err((path, cause)) => {
            let what = format!("cannot write the event log of {what} to {}", path.display());
            if !gives_up(options, &cause) {
                TOOL.error(&what, Some(&cause), "nothing was removed; check the directory");
                return exit::FAILED;
            }
            let hint = "the directory of the run has gone or takes no file; this event log is lost";
            TOOL.error(&what, Some(&cause), hint);
            worst = exit::FAILED;
        }
    }
    let line = format!("{what}; written to {}", written.join(" and "));
    if let Err((path, cause)) = launch.remove() {
        let what = format!("cannot remove {}", path.display());
        TOOL.error(&what, Some(&cause), "it will be told again; remove it by hand");
        return exit::FAILED;
    }
    if !options.quiet {
        TOOL.say(&line);
    }
    worst
}

/// Whether what a user's file does not take is left out: files of a job whose directory has gone would
/// take the memory of the node for ever. Not where there may be room, or a file server, later, and not for
/// somebody who wants this profile now and can make the directory.
fn gives_up(options: &Collect, cause: &io::Error) -> bool {
    use io::ErrorKind::{
        IsADirectory, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem,
    };
    options.out.is_none()
        && !options.no_log
        && matches!(
            cause.kind(),
            NotFound | NotADirectory | IsADirectory | PermissionDenied | ReadOnlyFilesystem
        )
}

fn not_written(what: &str, failed: &[(String, std::io::Error)]) {
    let causes: Vec<String> =
        failed.iter().map(|(target, cause)| format!("{target}: {cause}")).collect();
    let what = format!("nothing takes the profile of {what}");
    if causes.is_empty() {
        let hint = "log = in topas.conf names no target; --out FILE --no-log keeps it in a file";
        TOOL.error(&what, None, hint);
    } else {
        TOOL.error(
            &what,
            Some(&causes.join("; ")),
            "see topas.conf(5), log =; nothing was removed",
        );
    }
}
