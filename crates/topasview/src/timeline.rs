//! `topasview --timeline`: time lines of event logs as a page of HTML.

mod worlds;

use std::io::{IsTerminal, stdout};
use std::path::{Path, PathBuf};

use topas_data::Source;
use topas_format::shown::Shown;
use topas_mpi_data::{
    Origin, Timeline, TraceLog, absent_in_words, absent_ranks, is_readable, launch_of, launches_in,
    launches_in_words, own_uid, read_spool_files, several_launches_in_words, spool_files,
    trace_files,
};
use topas_render::timeline::{LogFile, TimelinePage};
use topas_terminal::{Printed, Progress};

use crate::args::{Args, TOOL};
use crate::exit;
use crate::mpi_profile;
use crate::output::{may_write, save};
use worlds::{RunWorlds, shared_processors};

/// Largest logs whose blocks stand in the page, in B.
const MOST_INSIDE: u64 = 32_000_000;

const DAMAGED_HINT: &str = "they were changed or cut after they were written: copy them again";

const LOGS_HINT: &str = "name logs that topas-run --mpi=log wrote, such as topas-mpi.HOST.trace";

/// Writes the page; the exit code, all has then been said.
pub fn show(args: &Args) -> u8 {
    let Ok(paths) = paths(args) else { return exit::INPUT };
    if paths.is_empty() {
        no_log(args);
        return exit::NO_PES;
    }
    let to = args.html.clone().unwrap_or_else(|| PathBuf::from("-"));
    if args.html.is_none() && stdout().is_terminal() {
        TOOL.error(&"a page is nothing for a terminal", None, "add --html FILE");
        return exit::USAGE;
    }
    let sources: Vec<Source> = paths.iter().cloned().map(Source::File).collect();
    if let Err(code) = may_write(args, &sources) {
        return code;
    }
    let mut worst = exit::OK;
    let mut logs = Vec::new();
    let mut files = Vec::new();
    let mut read = Vec::new();
    for path in &paths {
        let opened = TraceLog::open(path).and_then(|log| Ok((log.length()?, log)));
        match opened {
            Ok((_, log)) if log.processes.is_empty() => {
                TOOL.error(&format!("{} holds no event log", path.display()), None, LOGS_HINT);
                worst = exit::INPUT;
            }
            Ok((bytes, log)) => {
                warn(path, &log, args.quiet);
                if log.is_damaged() {
                    worst = exit::INPUT;
                }
                let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
                files.push(LogFile { name: name.into_owned(), bytes });
                logs.push(log);
                read.push(path.as_path());
            }
            Err(cause) => {
                TOOL.error(&format!("cannot read {}", path.display()), Some(&cause), LOGS_HINT);
                worst = exit::INPUT;
            }
        }
    }
    if logs.is_empty() {
        return worst;
    }
    if logs.iter().any(TraceLog::is_damaged) && !is_readable(&logs) {
        TOOL.error(&"no call in these logs can be read", None, DAMAGED_HINT);
        return exit::INPUT;
    }
    match page(args, &logs, &files, &read, &mut worst) {
        Ok(page) if save(&to, page.as_bytes()) == Printed::Done => worst,
        Ok(_) => exit::INPUT,
        Err(code) => code,
    }
}

/// Says that there is no log; of ranks that were killed and kept theirs, how it is written.
fn no_log(args: &Args) {
    let here = [PathBuf::from(".")];
    let named = if args.inputs.is_empty() { &here[..] } else { &args.inputs };
    let directories = named.iter().cloned().chain(mpi_profile::spools());
    let kept = directories.filter_map(|dir| {
        let files = spool_files(&dir, Some(own_uid())).ok()?;
        let newest = read_spool_files(files).profiles.into_iter().next()?;
        Some((dir, newest))
    });
    let newest = kept.max_by_key(|(_, profile)| profile.facts.epoch);
    let Some((dir, profile)) = newest else {
        return TOOL.error(&"no event log in this directory", None, LOGS_HINT);
    };
    let ranks = match profile.total.ranks {
        1 => "1 rank keeps".to_owned(),
        ranks => format!("{ranks} ranks keep"),
    };
    let dir = dir.display();
    let (state, hint) = match profile.origin {
        Origin::Live => ("runs", "its event log is written when the program ends".to_owned()),
        _ => (
            "ended without a word",
            format!("topas-mpi collect --spool {dir} writes their profile and their event log"),
        ),
    };
    let exe = String::from_utf8_lossy(&profile.facts.exe);
    let what = format!(
        "no event log in this directory, but {ranks} the profile of {}, which {state}, in {dir}",
        Shown(exe.as_bytes())
    );
    TOOL.error(&what, None, &hint);
}

/// The logs that are named, those in directories that are named, or those of the working directory.
fn paths(args: &Args) -> Result<Vec<PathBuf>, ()> {
    let here = [PathBuf::from(".")];
    let named = if args.inputs.is_empty() { &here[..] } else { &args.inputs };
    let mut paths = Vec::new();
    for path in named {
        if !path.is_dir() {
            paths.push(path.clone());
            continue;
        }
        match trace_files(path) {
            Ok(found) => paths.extend(found),
            Err(cause) => {
                TOOL.error(&format!("cannot list {}", path.display()), Some(&cause), LOGS_HINT);
                return Err(());
            }
        }
    }
    Ok(paths)
}

/// Says what of a log cannot be read.
pub fn warn(path: &Path, log: &TraceLog, quiet: bool) {
    for words in log.damage_words().iter().filter(|_| !quiet) {
        TOOL.warning(&format!("{}: {words}", path.display()), None, "");
    }
}

/// Says which ranks of the worlds of a timeline are not in the logs: whether some are missing.
pub fn lacks_ranks(timeline: &Timeline<'_>, logs: &[TraceLog], quiet: bool) -> bool {
    for world in &timeline.worlds {
        let first = timeline.processes.get(world.first);
        let launch = first.map_or("", |(_, process)| process.facts.value("id"));
        let (absent, size) = absent_ranks(logs, launch);
        if let Some(words) = absent_in_words(logs, &absent, size).filter(|_| !quiet) {
            TOOL.warning(&words, None, "name the logs of all hosts");
        }
    }
    timeline.missing_ranks > 0
}

/// The page of these logs. What of the launch is missing makes the exit code `worst`. The Err is the exit code.
fn page(
    args: &Args,
    logs: &[TraceLog],
    files: &[LogFile],
    named: &[&Path],
    worst: &mut u8,
) -> Result<String, u8> {
    let failed = |cause| {
        TOOL.error(&"cannot read the event log", Some(&cause), "is it still written?");
        exit::INPUT
    };
    let mut launches = launches_in(logs);
    let none_such = |launches: &[(String, usize)]| {
        let id = args.launch.as_deref().unwrap_or_default();
        let there = format!("there are: {}", launches_in_words(launches));
        TOOL.error(&format!("no launch {id} in the event logs"), None, &there);
        exit::NO_PES
    };
    let id = launch_of(&launches, args.launch.as_deref()).map(str::to_owned);
    let id = id.ok_or_else(|| none_such(&launches))?;
    let mut worlds = RunWorlds::of(args, &launches, &id, named);
    let drawn = worlds.ids();
    // The other worlds of the run are drawn, too.
    launches.retain(|(other, _)| *other == id || !drawn.contains(&other.as_str()));
    let several = several_launches_in_words(&launches);
    if let Some(words) = several.filter(|_| args.launch.is_none() && !args.quiet) {
        TOOL.say(&words);
    }
    let mut progress = Progress::new(TOOL, args.quiet);
    let tell = |read, all| progress.at(|| format!("{read} of {all} blocks read"));
    let timeline = match &drawn[..] {
        [_, _, ..] => Timeline::read_worlds(logs, &drawn, tell),
        _ => Timeline::read(logs, Some(&id), tell),
    };
    let timeline = timeline.map_err(failed)?;
    drop(progress);
    let timeline = timeline.ok_or_else(|| none_such(&launches))?;
    if timeline.rows.iter().all(|row| row.calls == 0) && !timeline.damage.is_empty() {
        TOOL.error(&"no call of this launch can be read", None, DAMAGED_HINT);
        return Err(exit::INPUT);
    }
    if lacks_ranks(&timeline, logs, args.quiet) {
        *worst = exit::INPUT;
    }
    let inside = !args.log_beside && timeline.bytes() <= MOST_INSIDE;
    let blocks = if inside { Some(timeline.blocks(logs).map_err(failed)?) } else { None };
    worlds.follow(&timeline);
    let paths = worlds.paths(args);
    let page = TimelinePage {
        timeline: &timeline,
        logs: files,
        blocks: blocks.as_deref(),
        worlds: &worlds.on_page(&timeline, &paths),
        shares_processors: shared_processors(&timeline),
    };
    Ok(page.html())
}
