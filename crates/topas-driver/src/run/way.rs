//! How a program is measured, if it is.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::unistd::getuid;
use topas_config::policy::kill_switch;
use topas_config::{Conf, Environment, Paths};
use topas_format::conf::{Ops, Settings, Switch};
use topas_format::env::{TOPAS_CONF, TOPAS_OPS, TOPAS_PE};
use topas_format::event::Metric;
use topas_format::field::{Lang, Lib, Mode};
use topas_format::policy::{ProgramFacts, SiteRefusal};
use topas_launch::named::NamedRanksFault;

use super::counters::can_count;
use super::elf::{Facts, MAGIC_NUMBER};
use super::launch::{Launch, NotMeasured};
use super::options::Wish;
use super::program::{self, ExecutableKind, Program};
use super::{NAME, sys};
use crate::message::say;

/// What is done with a program.
#[derive(Debug)]
pub enum Way {
    /// It runs, and nothing else
    Plain(NotMeasured),
    /// This library is loaded into it
    Inside(PathBuf),
    /// It is a child of this process; why so
    Outside(&'static str),
}

/// All that was decided.
#[derive(Debug)]
pub struct Decision {
    /// The rank this is
    pub launch: Launch,
    /// The program, as far as it was looked at
    pub program: Option<Program>,
    /// What is done
    pub way: Way,
    /// What is counted, from outside
    pub metric: Metric,
    /// Whether a line goes to the log, from outside
    pub logs: bool,
    /// What the site says
    pub conf: Conf,
    /// What people should know of
    pub notes: Vec<String>,
}

impl Decision {
    /// Decides. The program is looked at on measuring ranks only.
    pub fn of(wish: &Wish, env: &Environment, paths: Option<&Paths>) -> Self {
        let mut decision = Decision {
            launch: Launch::of(env),
            program: None,
            way: Way::Plain(NotMeasured::NotChosen),
            metric: Metric::FpOps,
            logs: false,
            conf: Conf::default(),
            notes: Vec::new(),
        };
        if let Err(why) = decision.decide(wish, env, paths) {
            decision.way = Way::Plain(why);
        }
        decision
    }

    fn decide(
        &mut self,
        wish: &Wish,
        env: &Environment,
        paths: Option<&Paths>,
    ) -> Result<(), NotMeasured> {
        if env.is_off() {
            return Err(NotMeasured::Off);
        }
        // What a privileged process does must not depend on its caller's environment.
        if sys::is_privileged() {
            return Err(NotMeasured::Privileged);
        }
        let parallel = self.launch.is_parallel();
        let chosen = self.launch.place.is_some();
        if parallel && !chosen && !wish.all {
            return Err(NotMeasured::NotChosen);
        }
        if self.launch.is_child {
            return Err(NotMeasured::Child);
        }
        // Programs with the module read the site's file, and no other.
        let mut site = env.clone();
        site.remove(TOPAS_CONF);
        self.conf = Conf::load(paths, &site);
        let found = program::find(&wish.command, env).map_err(|_| NotMeasured::NoProgram)?;
        let found = self.program.insert(found);
        let facts = match &found.kind {
            ExecutableKind::Elf(facts) => Some(facts),
            _ => None,
        };
        // Tasks of PVM are told apart by the library, which asks the kernel.
        let pvm = facts.is_some_and(|facts| facts.dynamic && facts.lib == Lib::Pvm);
        let settings = self.conf.settings();
        if !parallel && !wish.all && !pvm && !settings.is(Switch::Serial) {
            return Err(NotMeasured::Alone);
        }
        let (way, note) = way(found, wish, paths)?;
        if kill_switch(paths).is_some() {
            return Err(NotMeasured::Site(SiteRefusal::Off));
        }
        let answer = answer(&settings, &self.launch, found, env);
        if let Err(refusal) = answer
            && (!wish.all || refusal == SiteRefusal::Measure)
        {
            return Err(NotMeasured::Site(refusal));
        }
        // The module of a program that runs alone cannot be told to give way, and logs the line.
        let alone = !parallel && !found.has_module() && settings.is(Switch::Serial);
        self.logs = answer.is_ok() && (chosen || alone);
        self.notes.extend(note);
        self.metric = self.chosen_metric(wish, env, &settings, matches!(way, Way::Outside(_)));
        self.way = way;
        Ok(())
    }

    /// What this rank counts: as chosen, or operations of both kinds in turn.
    fn chosen_metric(
        &self,
        wish: &Wish,
        env: &Environment,
        settings: &Settings<'_>,
        speak: bool,
    ) -> Metric {
        let place = if wish.all { self.launch.rank.rank } else { self.launch.place.unwrap_or(0) };
        let word = env.ops().map(OsStrExt::as_bytes).unwrap_or_default();
        let parsed = Ops::parse(word);
        if speak && !word.is_empty() && parsed.is_none() && place == 0 {
            let word = String::from_utf8_lossy(word);
            say!("topas: {TOPAS_OPS}={word} names no operations");
        }
        // Where every rank is measured they are to be compared.
        let turn = if wish.all { 0 } else { place };
        parsed.unwrap_or(settings.ops).metric(turn, || can_count(Metric::IntOps))
    }

    /// Says what the user should know, before the program begins.
    pub fn warn(&self, env: &Environment, asked_for_all: bool) {
        let inside = matches!(self.way, Way::Inside(_));
        if let Some(fault) = self.launch.fault.filter(|_| self.launch.rank.rank == 0 && !inside) {
            let list = env.get(TOPAS_PE).unwrap_or_default().to_string_lossy();
            let what = match fault {
                NamedRanksFault::NotANumber => "is no list of ranks",
                NamedRanksFault::NoSuchRank => "names a rank this run lacks",
                NamedRanksFault::Repeated => "names a rank twice",
            };
            say!("topas: {TOPAS_PE}={list} {what}: two chosen at random");
        }
        // One rank of a launch says it.
        if self.launch.place.unwrap_or(self.launch.rank.rank) == 0 {
            for note in &self.notes {
                say!("{NAME}: warning: {note}");
            }
        }
        if let Way::Plain(why) = &self.way
            && *why != NotMeasured::NotChosen
        {
            // Who asks for every rank hears why it cannot be, from one of them.
            let refused = asked_for_all && self.launch.rank.rank == 0 && why.refuses();
            if env.is_verbose() || refused {
                say!("{NAME}: not measured: {why}");
            }
        }
    }
}

/// How a program can be measured; with a note if that is not how it should be.
fn way(
    program: &Program,
    wish: &Wish,
    paths: Option<&Paths>,
) -> Result<(Way, Option<String>), NotMeasured> {
    let outside = |why| Ok((Way::Outside(why), None));
    let facts = match &program.kind {
        ExecutableKind::Elf(facts) => facts,
        ExecutableKind::Foreign => {
            return outside("an executable of another machine, or of 32 bits");
        }
        ExecutableKind::Shell => return outside("a shell, with all that it starts"),
        ExecutableKind::Starter => {
            return outside("a program that starts others, with all of them");
        }
        ExecutableKind::Privileged => return Err(NotMeasured::Privileged),
        ExecutableKind::Unreadable(why) => return Err(NotMeasured::Unreadable(why.to_string())),
    };
    if facts.has_extended {
        return Err(NotMeasured::HasExtended);
    }
    // The ordinary module gives way where every rank is to be measured.
    if facts.has_module && !wish.all {
        return Err(NotMeasured::HasModule);
    }
    if let Some(why) = cannot_be_loaded_into(facts) {
        return outside(why);
    }
    if wish.outside {
        return outside("--outside");
    }
    let library = paths.map(|paths| paths.run_library(language(facts), wish.all));
    let result = match &library {
        Some(library) => usable(library),
        None => Err(io::Error::other("this program does not stand in an installation")),
    };
    Ok(match (library, result) {
        (Some(library), Ok(())) => (Way::Inside(library), None),
        (library, result) => {
            let library = library.unwrap_or_default();
            let why = result.err().map(|why| why.to_string()).unwrap_or_default();
            let note = format!("library {}: {why}; measured from outside", library.display());
            (Way::Outside("the library cannot be loaded"), Some(note))
        }
    })
}

/// Why nothing can be loaded into a program of this machine.
fn cannot_be_loaded_into(facts: &Facts) -> Option<&'static str> {
    if !facts.dynamic {
        Some("linked statically")
    } else if facts.holds_lib {
        Some("it holds its message passing library, which a loaded library does not see")
    } else if facts.must_be_first {
        Some("a memory checker that must be the first library in it")
    } else {
        None
    }
}

/// The language of the library; what is not told apart is C.
fn language(facts: &Facts) -> &'static str {
    match facts.lang {
        Lang::Cxx => Lang::Cxx.word(),
        Lang::F90 => Lang::F90.word(),
        _ => Lang::C.word(),
    }
}

/// Whether the loader will take a library without a word.
pub fn usable(library: &Path) -> io::Result<()> {
    // What separates libraries in the variable, and what the loader replaces.
    if library.as_os_str().as_bytes().iter().any(|byte| b" :$\t\n".contains(byte)) {
        return Err(io::Error::other("its path has a character that the loader takes apart"));
    }
    let mut file = File::open(library)?;
    let mut head = [0; 4];
    file.read_exact(&mut head)?;
    if head != *MAGIC_NUMBER {
        return Err(io::Error::other("is no library"));
    }
    if !sys::may_execute(file.as_fd()) {
        return Err(io::Error::other("on a file system mounted noexec"));
    }
    Ok(())
}

/// What the site says of a measurement: by the rules of the module.
fn answer(
    settings: &Settings<'_>,
    launch: &Launch,
    program: &Program,
    env: &Environment,
) -> Result<(), SiteRefusal> {
    let uid = getuid().as_raw().to_string();
    settings.answer(&ProgramFacts {
        is_batch: launch.mode == Mode::Batch,
        ranks: launch.rank.size,
        exe: Some(program.exe.as_bytes()),
        user: env.user_or_id(&uid).as_bytes(),
        uid: uid.as_bytes(),
    })
}
