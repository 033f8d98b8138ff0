//! Finds the profiles and picks the launch.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use topas_config::{Conf, Environment, Paths, spool_directories};
use topas_data::{Inputs, Source, SourceError};
use topas_format::mpi_conf::OUT;
use topas_mpi_data::{
    Calibration, CalibrationError, MpiProfile, Origin, SpoolReading, Timeline, TraceLog,
    data_file_beside, is_event_log, is_spool, own_uid, read_profiles, read_spool, read_spool_files,
    trace_files,
};
use topas_terminal::Progress;

use crate::args::{Args, TOOL};
use crate::exit;
use crate::input::{passed_over, skipped};
use crate::output::may_write;

/// What was read, and how well.
pub struct MpiInput<'a> {
    args: &'a Args,
    /// Sources that could not be read
    unreadable: usize,
    /// Launches of other directories that ranks keep on this node
    elsewhere: usize,
}

impl<'a> MpiInput<'a> {
    /// Of these arguments.
    pub fn new(args: &'a Args) -> Self {
        MpiInput { args, unreadable: 0, elsewhere: 0 }
    }

    /// Whether something could not be read; that has been said.
    pub fn has_failed(&self) -> bool {
        self.unreadable > 0
    }

    /// The profiles in the files that were named, else in this directory's, else those that
    /// ranks keep on this node; the newest first. The Err is the exit code, all has been said.
    pub fn read(&mut self) -> Result<Vec<MpiProfile>, u8> {
        // The files that are compared are enough.
        let named = self.args.compare.iter().flatten();
        if self.args.inputs.is_empty()
            && self.args.compare.is_some()
            && named.clone().all(|name| Path::new(name).exists())
        {
            may_write(self.args, &[])?;
            return Ok(Vec::new());
        }
        if !self.args.inputs.is_empty() {
            return self.named();
        }
        if Path::new(OUT).exists() {
            let sources = vec![Source::File(PathBuf::from(OUT))];
            return self.files(&Inputs { sources, ..Inputs::default() });
        }
        self.ranks()
    }

    /// The event logs of a launch beside the files that were named, with the names by which a user finds them.
    fn logs_of(&self, profile: &MpiProfile) -> Vec<(PathBuf, TraceLog)> {
        let directory = |path: &PathBuf| match path.parent() {
            _ if path.is_dir() => path.clone(),
            Some(parent) => parent.to_path_buf(),
            None => PathBuf::new(),
        };
        let mut directories: Vec<PathBuf> = self.args.inputs.iter().map(directory).collect();
        if directories.is_empty() {
            directories.push(PathBuf::new());
        }
        directories.dedup();
        let mut found = Vec::new();
        for directory in &directories {
            let here = Path::new(".");
            let listed = if directory.as_os_str().is_empty() { here } else { directory };
            for path in trace_files(listed).unwrap_or_default() {
                let (Ok(log), Some(name)) = (TraceLog::open(&path), path.file_name()) else {
                    continue;
                };
                if ids_in(&log).any(|id| id.as_bytes() == &*profile.facts.id) {
                    found.push((directory.join(name), log));
                }
            }
        }
        found
    }

    /// A profile with what its event log beside the files that were named tells of where waits begin. None if there is none, or
    /// if that takes long.
    pub fn followed(&self, profile: &MpiProfile) -> Option<MpiProfile> {
        /// Largest logs that are read for a sentence, in B: of some ten million calls
        const MOST_READ: u64 = 64_000_000;
        if !profile.total.waits.measured || profile.origin == Origin::Live {
            return None;
        }
        let logs: Vec<TraceLog> = self.logs_of(profile).into_iter().map(|(_, log)| log).collect();
        let bytes: u64 =
            logs.iter().map(|log| log.length().unwrap_or(u64::MAX)).fold(0, u64::saturating_add);
        if logs.is_empty() || bytes > MOST_READ {
            return None;
        }
        let id = String::from_utf8_lossy(&profile.facts.id);
        let timeline = read_timeline(self.args, &logs, &id).ok()??;
        let mut followed = profile.clone();
        followed.follow(&timeline);
        Some(followed)
    }

    /// The command that replays the event log of a launch beside the files that were named; None if none is there.
    pub fn replay(&self, profile: &MpiProfile) -> Option<String> {
        /// Logs that are named one by one
        const NAMED: usize = 3;
        let id = String::from_utf8_lossy(&profile.facts.id);
        let logs = self.logs_of(profile);
        let has_others = logs.iter().any(|(_, log)| ids_in(log).any(|own| *own != *id));
        let found: Vec<PathBuf> = logs.into_iter().map(|(path, _)| path).collect();
        let word = |path: &PathBuf| {
            let text = path.display().to_string();
            let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@".contains(c);
            if text.chars().all(is_plain) { text } else { format!("\"{text}\"") }
        };
        let (named, more) = found.split_at(NAMED.min(found.len()));
        let mut command = String::from("topas-mpi replay");
        if has_others {
            command += &format!(" --launch {id}");
        }
        named.iter().for_each(|path| command += &format!(" {}", word(path)));
        command += if more.is_empty() { "" } else { " ..." };
        (!found.is_empty()).then_some(command)
    }

    /// The profiles in the files that were named: lines, or mapped files of ranks.
    fn named(&mut self) -> Result<Vec<MpiProfile>, u8> {
        let mut inputs = Inputs::default();
        self.args.inputs.iter().for_each(|path| add_profiles(path, &mut inputs));
        inputs.failed.iter().for_each(|error| self.failed(error));
        if !self.args.quiet {
            passed_over(&inputs);
        }
        let (mut mapped, mut logs) = (Vec::new(), Vec::new());
        inputs.sources.retain(|source| match source.path() {
            Some(path) if is_spool(&path) => {
                mapped.push(path.into_owned());
                false
            }
            Some(path) if is_event_log(&path) => {
                logs.push(path.into_owned());
                false
            }
            _ => true,
        });
        if inputs.sources.is_empty() && mapped.is_empty() {
            inputs.sources.extend(files_of_logs(&logs));
            if let (true, Some(log)) = (inputs.sources.is_empty(), logs.first()) {
                let what = format!("no profile of MPI calls: {} is an event log", log.display());
                TOOL.error(&what, None, LOG_ALONE);
                return Err(if self.has_failed() { exit::INPUT } else { exit::NO_PES });
            }
        }
        if mapped.is_empty() {
            return self.files(&inputs);
        }
        let sources = inputs.sources;
        let mut profiles = self.mapped(read_spool_files(mapped));
        if !sources.is_empty() {
            // Beside mapped files a text without a profile is no failure.
            let (read, errors) = read_profiles(&sources, &mut |_| {});
            errors.iter().for_each(|error| self.failed(error));
            profiles.extend(read.profiles);
            profiles.sort_by_key(|profile| std::cmp::Reverse(profile.facts.epoch));
        }
        if profiles.is_empty() {
            if !self.has_failed() {
                let what = "the mapped files have nothing to tell: their ranks have written it";
                TOOL.error(&what, None, "");
            }
            return Err(if self.has_failed() { exit::INPUT } else { exit::NO_PES });
        }
        Ok(profiles)
    }

    /// What mapped files say; those that cannot be read are told.
    fn mapped(&mut self, read: SpoolReading) -> Vec<MpiProfile> {
        for (path, why) in &read.refused {
            self.unreadable += 1;
            TOOL.error(&format!("cannot read {}", path.display()), Some(why), "");
        }
        read.profiles
    }

    /// What ranks of this user keep on this node, the newest launch first: of the launches of this directory, or
    /// those that run elsewhere, if no launch is named. What cannot be read has been said.
    pub fn kept(&mut self) -> Vec<MpiProfile> {
        let profiles = self.kept_here();
        if !self.args.quiet && !profiles.is_empty() {
            let live = profiles.iter().filter(|profile| profile.origin == Origin::Live).count();
            let elsewhere = match self.elsewhere {
                0 => String::new(),
                count => format!(" (not {} of other directories: --list)", launches(count)),
            };
            TOOL.say(&format!(
                "no {OUT} in this directory: what ranks keep on this node, of {}, {live} running{elsewhere}",
                launches(profiles.len()),
            ));
        }
        profiles
    }

    /// The same without a word.
    fn kept_here(&mut self) -> Vec<MpiProfile> {
        let mut profiles: Vec<MpiProfile> = Vec::new();
        for dir in &spools() {
            match read_spool(dir, Some(own_uid())) {
                Ok(read) => profiles.extend(self.mapped(read)),
                Err(cause) => {
                    self.unreadable += 1;
                    let what = format!("cannot list {}", dir.display());
                    TOOL.error(&what, Some(&cause), "is it what mpi_spool of topas.conf names?");
                }
            }
        }
        profiles.sort_by_key(|profile| std::cmp::Reverse(profile.facts.epoch));
        if self.args.launch.is_some() || self.args.list {
            return profiles;
        }
        let all = profiles.len();
        let (elsewhere, mut here): (Vec<_>, Vec<_>) =
            profiles.into_iter().partition(is_of_another_directory);
        if here.is_empty() {
            here = elsewhere;
            here.retain(|profile| profile.origin == Origin::Live);
        }
        self.elsewhere = all - here.len();
        here
    }

    /// How many launches of other directories were passed over by [`kept`](MpiInput::kept).
    pub fn elsewhere(&self) -> usize {
        self.elsewhere
    }

    /// The same; the Err is the exit code if there is nothing, all has then been said.
    fn ranks(&mut self) -> Result<Vec<MpiProfile>, u8> {
        may_write(self.args, &[])?;
        let profiles = self.kept();
        if profiles.is_empty() {
            self.nothing_kept();
            return Err(if self.has_failed() { exit::INPUT } else { exit::NO_PES });
        }
        Ok(profiles)
    }

    /// Says that there is neither a file nor a launch of this directory.
    fn nothing_kept(&self) {
        if self.elsewhere > 0 {
            let what = format!(
                "no {OUT} in this directory, and no launch of it on this node, but {} of other directories",
                launches(self.elsewhere)
            );
            TOOL.error(&what, None, ELSEWHERE);
            return;
        }
        let names: Vec<String> = spools().iter().map(|dir| dir.display().to_string()).collect();
        let what = format!(
            "no {OUT} in this directory, and no rank of yours with a profile in {}",
            names.join(" or ")
        );
        let hint = "run the program by topas-run --mpi, or with TOPAS_MPI=yes, or name a file";
        TOOL.error(&what, None, hint);
    }

    /// The calibration that is named, else that of the site, if it has one. The Err is the exit
    /// code, all has been said.
    pub fn calibration(&mut self) -> Result<Option<Calibration>, u8> {
        let own = || paths(&Environment::of_process()).map(|paths| paths.mpi_calibration());
        let named = self.args.mpi.calibration.clone();
        let Some(path) = named.clone().or_else(own) else { return Ok(None) };
        match Calibration::read(&path) {
            Ok(calibration) => Ok(Some(calibration)),
            Err(CalibrationError::File(cause))
                if named.is_none() && cause.kind() == ErrorKind::NotFound =>
            {
                Ok(None)
            }
            Err(why) => {
                let what = format!("cannot use the calibration {}", path.display());
                TOOL.error(&what, Some(&why), "topas-mpi calibrate writes one");
                self.unreadable += 1;
                if named.is_some() { Err(exit::INPUT) } else { Ok(None) }
            }
        }
    }

    fn files(&mut self, inputs: &Inputs) -> Result<Vec<MpiProfile>, u8> {
        let sources = &inputs.sources;
        may_write(self.args, sources)?;
        let mut progress = Progress::new(TOOL, self.args.quiet);
        let (read, errors) = read_profiles(sources, &mut |bytes| {
            progress.at(|| format!("{} MB of text read", bytes / 1_000_000));
        });
        drop(progress);
        errors.iter().for_each(|error| self.failed(error));
        let nothing = read.profiles.is_empty();
        if !self.args.quiet || nothing {
            skipped(&read.tally);
        }
        if !nothing {
            return Ok(read.profiles);
        }
        if self.has_failed() {
            return Err(exit::INPUT);
        }
        let what = match sources.as_slice() {
            [one] => format!("no profile of MPI calls in {one}"),
            _ => {
                let looked_at = topas_render::looked_at(inputs, read.tally.lines(), &[]);
                format!("no profile of MPI calls; looked at {looked_at}")
            }
        };
        TOOL.error(
            &what,
            None,
            "TOPAS_MPI=yes at run time makes a program with the library write one",
        );
        Err(exit::NO_PES)
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

    /// The newest launch in a file of this name, or that of this id among the profiles.
    pub fn named_launch(
        &mut self,
        profiles: &[MpiProfile],
        name: &OsStr,
    ) -> Result<MpiProfile, u8> {
        let path = Path::new(name);
        if !path.exists() {
            return self.launch(profiles, &name.to_string_lossy()).cloned();
        }
        let mut inputs = Inputs::default();
        add_profiles(path, &mut inputs);
        inputs.failed.iter().for_each(|error| self.failed(error));
        let read = if inputs.sources.iter().any(|s| s.path().is_some_and(|path| is_spool(&path))) {
            let paths =
                inputs.sources.iter().filter_map(Source::path).map(|path| path.into_owned());
            self.mapped(read_spool_files(paths.collect()))
        } else {
            self.files(&inputs)?
        };
        read.into_iter().next().ok_or_else(|| {
            TOOL.error(&format!("no profile of MPI calls in {}", path.display()), None, "");
            exit::NO_PES
        })
    }

    /// The launch that `--launch` names, or the newest.
    pub fn pick<'p>(&self, profiles: &'p [MpiProfile]) -> Result<&'p MpiProfile, u8> {
        match &self.args.launch {
            None => profiles.first().ok_or(exit::NO_PES),
            Some(id) => self.launch(profiles, id),
        }
    }

    /// The launch whose id begins with this.
    fn launch<'p>(&self, profiles: &'p [MpiProfile], id: &str) -> Result<&'p MpiProfile, u8> {
        let is = |profile: &&MpiProfile| *profile.facts.id == *id.as_bytes();
        if let Some(profile) = profiles.iter().find(is) {
            return Ok(profile);
        }
        let mut found = profiles.iter().filter(|p| p.facts.id.starts_with(id.as_bytes()));
        let (what, code) = match (found.next(), found.next()) {
            (Some(profile), None) => return Ok(profile),
            (Some(_), Some(_)) => {
                (format!("several launches have an id that begins with {id}"), exit::USAGE)
            }
            (None, _) => (format!("no profile of launch {id}"), exit::NO_PES),
        };
        TOOL.error(&what, None, "topasview --mpi --list shows the launches");
        Err(code)
    }
}

/// How launches of other directories are seen.
pub const ELSEWHERE: &str = "topasview --mpi --list shows them, --launch ID one of them";

/// What to do with an event log of whose run there is no profile.
pub const LOG_ALONE: &str = "topasview --timeline and topas-mpi replay show an event log; name the topas-mpi.out of its run, too (topas-mpi \
     collect writes that of killed runs)";

/// The files of users beside event logs: who names logs alone means the run that wrote them.
pub fn files_of_logs(logs: &[PathBuf]) -> impl Iterator<Item = Source> {
    let beside: BTreeSet<PathBuf> = logs.iter().filter_map(|log| data_file_beside(log)).collect();
    beside.into_iter().map(Source::File)
}

/// The time line of a launch, told by its id; None if it is not in the logs. Shows progress.
pub fn read_timeline<'l>(
    args: &Args,
    logs: &'l [TraceLog],
    id: &str,
) -> std::io::Result<Option<Timeline<'l>>> {
    let mut progress = Progress::new(TOOL, args.quiet);
    let tell = |read, all| progress.at(|| format!("{read} of {all} blocks of the event log read"));
    Timeline::read(logs, Some(id), tell)
}

/// The ids of the launches in a log, one for each process.
fn ids_in(log: &TraceLog) -> impl Iterator<Item = &str> {
    log.processes.iter().map(|process| process.facts.value("id"))
}

/// How many launches, in words.
fn launches(count: usize) -> String {
    if count == 1 { "1 launch".to_owned() } else { format!("{count} launches") }
}

/// Whether a launch was begun in another directory than this one, as far as that is known.
fn is_of_another_directory(profile: &MpiProfile) -> bool {
    let Some(directory) = profile.facts.directory() else { return false };
    let real = |path: &Path| path.canonicalize().ok();
    match (real(directory), real(Path::new("."))) {
        (Some(its), Some(this)) => its != this,
        // Its directory is gone, or cannot be looked at.
        _ => true,
    }
}

/// Adds what a name stands for: of a directory its topas-mpi.out, or all if there is none.
fn add_profiles(path: &Path, inputs: &mut Inputs) {
    let own = path.join(OUT);
    if own.is_file() { inputs.sources.push(Source::File(own)) } else { inputs.add(path) }
}

/// The directories in which ranks may keep their counters.
pub fn spools() -> Vec<PathBuf> {
    let env = Environment::of_process();
    let conf = Conf::load(paths(&env).as_ref(), &env);
    spool_directories(&conf, &env)
}

/// The installation that this program belongs to.
fn paths(env: &Environment) -> Option<Paths> {
    let argv0 = topas_config::command_line().into_iter().next().unwrap_or_default();
    Paths::of_this_program(&argv0, env)
}
