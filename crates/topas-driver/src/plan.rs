//! What is to be done for a command: which program, with which arguments, and why.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::unistd::{getcwd, getuid};
use topas_config::conf::Origin;
use topas_config::paths::Executable;
use topas_config::policy::{Program, absolute, kill_switch};
use topas_config::{Conf, Environment, LinkWish, Paths};
use topas_format::conf::Switch;

use crate::catalog::{Catalog, Language, Personality};
use crate::decision::{
    Decision, Facts, LeftAlone, NotALink, Question, Seen, examine, examine_linker,
};
use crate::options::{COMPILER, LINKER};
use crate::profile::{self, Left, Link, Profile};
use crate::relocate::other_conf;
use crate::search::NotFound;
use crate::{EXPLAIN, cld, module, package, response, search, symbols};

/// Where pkg-config looks before its own directories.
const PKG_CONFIG_PATH: &str = "PKG_CONFIG_PATH";

/// What the driver is about to do.
#[derive(Debug)]
pub struct Plan {
    /// The name it was called by.
    pub name: OsString,
    /// The real program.
    pub real: PathBuf,
    /// The name it is told.
    pub argv0: OsString,
    /// The arguments as they came, without [`EXPLAIN`] and `topas.cld`.
    pub args: Vec<OsString>,
    /// What is added behind them: nothing, or the module.
    pub added: Vec<OsString>,
    /// Variables that are set for the real program.
    pub set: Vec<(&'static str, OsString)>,
    /// What the name stands for, and what was decided.
    pub role: Role,
    /// What was wished and cannot be, in sentences.
    pub notes: Vec<String>,
    /// The MPI profile, if it is asked for.
    pub profile: Option<Profile>,
    /// The topas.conf that the module names, if it is none of the installation; looked at only
    /// if the plan is to be shown.
    pub other_conf: Option<PathBuf>,
    /// Whether the plan is to be shown, not run.
    pub explain: bool,
    /// The configuration, if it was read.
    pub conf: Option<Conf>,
}

/// What the name stands for, and what was decided.
#[derive(Debug)]
pub enum Role {
    /// A compiler driver or a linker.
    Linking {
        /// Which of the two.
        kind: &'static str,
        /// Its language.
        language: Language,
        /// What was decided.
        decision: Decision,
        /// The module of the language, where it should be.
        module: Option<PathBuf>,
    },
    /// A launcher: what becomes of the launch id.
    Launcher(LaunchId),
    /// A name that `drivers.conf` does not know: passed through.
    Unknown,
}

/// What becomes of `TOPAS_LAUNCH_ID`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchId {
    /// Set anew: the launcher gives its ranks none.
    Fresh,
    /// Removed: the launcher has its own, and one around it would mislead.
    Removed,
    /// TOPAS is off: the environment stays as it is.
    Untouched,
}

/// What surrounds a command.
#[derive(Clone, Copy)]
struct Around<'a> {
    catalog: &'a Catalog,
    env: &'a Environment,
    paths: Option<&'a Paths>,
}

impl Plan {
    /// Plans the command `argv0 args`.
    ///
    /// # Errors
    /// [`NotFound`] if there is no real program of that name.
    pub fn of(
        argv0: &OsStr,
        args: &[OsString],
        env: &Environment,
        own: Option<&Executable>,
        paths: Option<&Paths>,
    ) -> Result<Self, NotFound> {
        let name = Path::new(argv0).file_name().unwrap_or_default();
        let catalog = Catalog::load(paths);
        let personality = catalog.personality(name);
        let real = search::real_program(argv0, own, env, &catalog)?;
        // Behind the first argument of a launcher come the user's program and its own.
        let ours = match personality {
            Some(Personality::Launcher) | None => 1,
            Some(_) => args.len(),
        };
        let explain = args.iter().take(ours).any(|arg| arg == EXPLAIN);
        let args: Vec<OsString> = args
            .iter()
            .enumerate()
            .filter(|(i, arg)| *i >= ours || *arg != EXPLAIN)
            .map(|(_, arg)| arg.clone())
            .collect();
        let mut plan = Plan {
            name: name.to_owned(),
            argv0: catalog.argv0(argv0, &real.path),
            real: real.path,
            args,
            added: Vec::new(),
            set: real.set,
            role: Role::Unknown,
            notes: Vec::new(),
            profile: None,
            other_conf: None,
            explain,
            conf: None,
        };
        let around = Around { catalog: &catalog, env, paths };
        match personality {
            Some(Personality::Compiler(language)) => plan.compile(language, around),
            Some(Personality::Linker) => plan.link(around),
            Some(Personality::Launcher) => plan.launch(around),
            Some(Personality::PackageQuery) => plan.query(around),
            None => {}
        }
        if let (true, Role::Linking { module: Some(module), .. }, Some(paths)) =
            (explain, &plan.role, paths)
        {
            plan.other_conf = other_conf(module, paths);
        }
        Ok(plan)
    }

    fn compile(&mut self, language: Language, around: Around<'_>) {
        let read = &response::from_file;
        let all =
            self.take_cld(cld::without(&self.args, COMPILER, read)) || around.env.measures_all();
        let compilers: Vec<_> = around.env.compiler_choices(language.word()).collect();
        let facts = Facts {
            compilers: &compilers,
            answers: around.catalog.answers(&self.name),
            always: around.env.link() == Some(LinkWish::Always),
            ..Facts::new(around.catalog, read)
        };
        let (decision, seen) = examine(&self.args, &facts);
        let decision = match decision {
            Decision::Answer(question) => self.question(question, around.catalog),
            decision => decision,
        };
        let (decision, module) = self.choose(decision, &seen, language, all, around);
        if let Some(object) = module.as_deref().filter(|_| takes_module(&decision)) {
            let mut words = link_arguments(object);
            words.append(&mut self.added);
            self.added = words;
        }
        self.add_profile(&decision, seen.archives, around);
        self.role = Role::Linking { kind: "compiler driver", language, decision, module };
    }

    /// Adds the MPI profile in front of the module.
    fn add_profile(&mut self, decision: &Decision, archives: bool, around: Around<'_>) {
        let answer = matches!(decision, Decision::Answer(_));
        if matches!(decision, Decision::NotALink(_)) || !around.catalog.links_mpi(&self.name) {
            return;
        }
        let Some(by) = self.profile_asked_by(around) else { return };
        let link = Link { real: &self.real, args: &self.args, archives, answer };
        let words = match around.paths {
            _ if !takes_profile(decision) => Err(Left::Module),
            None => Err(Left::NotInstalled),
            Some(paths) => link.words(paths, around.env),
        };
        if let Ok(words) = &words {
            self.added.splice(0..0, words.iter().cloned());
        }
        self.profile = Some(Profile { by, words });
    }

    fn profile_asked_by(&mut self, around: Around<'_>) -> Option<String> {
        let conf = &mut self.conf;
        profile::asked_by(around.env, || {
            let conf = conf.get_or_insert_with(|| Conf::load(around.paths, around.env));
            let by = || format!("mpi_link ({})", conf.origin_in_words("mpi_link"));
            conf.links_mpi().then(by)
        })
    }

    fn link(&mut self, around: Around<'_>) {
        let read = &response::from_file;
        let all =
            self.take_cld(cld::without(&self.args, LINKER, read)) || around.env.measures_all();
        let always = around.env.link() == Some(LinkWish::Always);
        let facts = Facts { always, ..Facts::new(around.catalog, read) };
        let (decision, seen) = examine_linker(&self.args, &facts);
        let language = seen.language.unwrap_or(Language::C);
        let (decision, module) = self.choose(decision, &seen, language, all, around);
        if let Some(object) = module.as_ref().filter(|_| takes_module(&decision)) {
            self.added.push(object.into());
            self.added.extend(seen.archive);
        }
        self.role = Role::Linking { kind: "linker", language, decision, module };
    }

    fn query(&mut self, around: Around<'_>) {
        let (language, decision) = match package::asked(&self.args, around.catalog) {
            None => (Language::C, Decision::NotALink(NotALink::OtherQuestion)),
            Some((language, option)) => {
                let option = option.to_owned();
                let question = Question { option, command: false, inputs: false };
                (language, Decision::Answer(question))
            }
        };
        let (mut decision, module) =
            self.choose(decision, &Seen::default(), language, false, around);
        if let Some(paths) = around.paths.filter(|_| takes_module(&decision)) {
            let name = format!("topas-{}", language.word());
            let file = paths.packages().join(format!("{name}.pc"));
            if file.is_file() {
                let by = self.profile_asked_by(around);
                let mut path = around.env.get(PKG_CONFIG_PATH).unwrap_or_default().to_owned();
                if !path.is_empty() {
                    path.push(":");
                }
                path.push(paths.packages());
                self.set.push((PKG_CONFIG_PATH, path));
                self.added.push(name.into());
                if let Some(by) = by {
                    let words = profile::package(&self.real, &self.args, paths, around.env);
                    self.added.extend(words.iter().flatten().cloned());
                    self.profile = Some(Profile { by, words });
                }
            } else {
                let why = "there is no such file".to_owned();
                decision = Decision::LeaveAlone(LeftAlone::Module(file, why));
            }
        }
        self.role = Role::Linking { kind: "package query", language, decision, module };
    }

    /// Takes the arguments without `topas.cld`. True if it was there.
    fn take_cld(&mut self, without: Option<Vec<OsString>>) -> bool {
        without.map(|args| self.args = args).is_some()
    }

    /// A driver that leaves its flags out of an answer as soon as an option is given is
    /// given an empty input, too. Where the user gave the option the answer stays as it is.
    fn question(&mut self, question: Question, catalog: &Catalog) -> Decision {
        let bare = question.command && !question.inputs;
        let real = fs::canonicalize(&self.real);
        if bare && catalog.needs_input(real.as_deref().unwrap_or(&self.real)) {
            if self.args.len() > 1 {
                return Decision::NotALink(NotALink::Asks(question.option));
            }
            self.added.push(OsString::new());
        }
        Decision::Answer(question)
    }

    /// Which module, and what keeps it out of a link that could take it.
    fn choose(
        &mut self,
        decision: Decision,
        seen: &Seen,
        language: Language,
        all: bool,
        around: Around<'_>,
    ) -> (Decision, Option<PathBuf>) {
        let word = language.word();
        let Some(paths) = around.paths.filter(|_| takes_module(&decision)) else {
            let decision = if takes_module(&decision) {
                Decision::LeaveAlone(LeftAlone::NotInstalled)
            } else {
                decision
            };
            return self.settle(decision, around.paths.map(|paths| paths.module(word)));
        };
        // The site's files are looked at only if the module would be linked.
        let conf = Conf::load(Some(paths), around.env);
        let answer = matches!(decision, Decision::Answer(_));
        let ordinary = if answer {
            paths.init_module(word)
        } else if conf.settings().is(Switch::Serial) {
            paths.serial_module(word)
        } else {
            paths.module(word)
        };
        let mut object = ordinary;
        if all {
            let wanted = if answer { paths.all_init_module(word) } else { paths.all_module(word) };
            match module::check(&wanted) {
                Ok(_) => object = wanted,
                Err(unfit) => self.notes.push(format!(
                    "all ranks cannot be measured: module {}: {unfit}; linked for two",
                    wanted.display()
                )),
            }
        }
        let obstacle = self.obstacle(&conf, seen, &object, around);
        self.conf = Some(conf);
        self.settle(obstacle.map_or(decision, Decision::LeaveAlone), Some(object))
    }

    /// An answer without the module needs no empty input.
    fn settle(
        &mut self,
        decision: Decision,
        module: Option<PathBuf>,
    ) -> (Decision, Option<PathBuf>) {
        if !takes_module(&decision) {
            self.added.clear();
            self.notes.clear();
        }
        (decision, module)
    }

    fn obstacle(
        &self,
        conf: &Conf,
        seen: &Seen,
        object: &Path,
        around: Around<'_>,
    ) -> Option<LeftAlone> {
        if let Some(off) = kill_switch(around.paths) {
            return Some(LeftAlone::Off(format!("the file {}", off.display())));
        }
        if !conf.settings().is(Switch::Link) {
            let by = match conf.origin("link") {
                Origin::Variable(name) => name.to_owned(),
                _ => format!("`link = no` ({})", conf.origin_in_words("link")),
            };
            return Some(LeftAlone::Off(by));
        }
        let output = seen.output.as_deref().unwrap_or(OsStr::new("a.out"));
        let path = absolute(&getcwd().unwrap_or_default(), Path::new(output));
        let program = Program { path: &path, user: around.env.user(), uid: getuid().as_raw() };
        if let Some(key) = conf.refuses(&program) {
            return Some(LeftAlone::Refused(format!("`{key}` ({})", conf.origin_in_words(key))));
        }
        if around.env.link() != Some(LinkWish::Always) {
            let functions = around.catalog.counter_functions();
            let called = symbols::caller(&seen.objects, &|name| functions.contains(&name));
            if let Some((object, function)) = called {
                return Some(LeftAlone::CallsCounters(object.to_owned(), function));
            }
        }
        let unfit = module::check(object).err()?;
        Some(LeftAlone::Module(object.to_path_buf(), unfit.to_string()))
    }

    fn launch(&mut self, around: Around<'_>) {
        let id = if around.env.is_off() || kill_switch(around.paths).is_some() {
            LaunchId::Untouched
        } else {
            let real = fs::canonicalize(&self.real);
            let real = real.as_deref().unwrap_or(&self.real);
            if around.catalog.gives_launch_id(real) { LaunchId::Removed } else { LaunchId::Fresh }
        };
        self.role = Role::Launcher(id);
    }

    /// Why an executable goes without the module, if that is so.
    pub fn left_alone(&self) -> Option<&LeftAlone> {
        match &self.role {
            Role::Linking { decision: Decision::LeaveAlone(why), .. } => Some(why),
            _ => None,
        }
    }
}

fn takes_module(decision: &Decision) -> bool {
    matches!(decision, Decision::Link | Decision::Answer(_))
}

/// Whether a program can have the MPI profile: it uses no counters of its own accord.
fn takes_profile(decision: &Decision) -> bool {
    let counters =
        |why: &LeftAlone| matches!(why, LeftAlone::UsesCounters(_) | LeftAlone::CallsCounters(..));
    takes_module(decision) || matches!(decision, Decision::LeaveAlone(why) if counters(why))
}

/// The words that make a compiler pass the object to the linker: one, or two if its path has
/// a comma.
pub fn link_arguments(object: &Path) -> Vec<OsString> {
    if object.as_os_str().as_bytes().contains(&b',') {
        return vec!["-Xlinker".into(), object.into()];
    }
    let mut word = OsString::from("-Wl,");
    word.push(object);
    vec![word]
}
