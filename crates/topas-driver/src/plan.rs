//! What is to be done for a command: which program, with which arguments, and why.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use topas_config::conf::Origin;
use topas_config::paths::Executable;
use topas_config::{Conf, Environment, Paths};
use topas_format::conf::Switch;

use crate::catalog::{Catalog, Language, Personality};
use crate::decision::{Decision, Facts, LeftAlone, decide};
use crate::{EXPLAIN, module, response, search};

/// What the driver is about to do.
#[derive(Debug)]
pub struct Plan {
    /// The name it was called by.
    pub name: OsString,
    /// The real program.
    pub real: PathBuf,
    /// The name it is told.
    pub argv0: OsString,
    /// The arguments as they came, without [`EXPLAIN`].
    pub args: Vec<OsString>,
    /// What is added behind them: nothing, or the module.
    pub added: Vec<OsString>,
    /// What the name stands for, and what was decided.
    pub role: Role,
    /// Whether the plan is to be shown, not run.
    pub explain: bool,
    /// The configuration, if it was read.
    pub conf: Option<Conf>,
}

/// What the name stands for, and what was decided.
#[derive(Debug)]
pub enum Role {
    /// A compiler driver.
    Compiler {
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

impl Plan {
    /// Plans the command `argv0 args`. `None`: there is no real program of that name.
    pub fn of(
        argv0: &OsStr,
        args: &[OsString],
        env: &Environment,
        own: Option<&Executable>,
        paths: Option<&Paths>,
    ) -> Option<Self> {
        let name = Path::new(argv0).file_name().unwrap_or_default();
        let real = search::real_program(name, own, env)?;
        let catalog = Catalog::load(paths);
        let personality = catalog.personality(name);
        // Behind the first argument of a launcher come the user's program and its own.
        let ours = match personality {
            Some(Personality::Compiler(_)) => args.len(),
            _ => 1,
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
            argv0: catalog.argv0(argv0, &real),
            real,
            args,
            added: Vec::new(),
            role: Role::Unknown,
            explain,
            conf: None,
        };
        match personality {
            Some(Personality::Compiler(language)) => plan.compile(language, &catalog, env, paths),
            Some(Personality::Launcher) => plan.launch(&catalog, env),
            None => {}
        }
        Some(plan)
    }

    fn compile(
        &mut self,
        language: Language,
        catalog: &Catalog,
        env: &Environment,
        paths: Option<&Paths>,
    ) {
        let compilers: Vec<_> = env.compiler_choices(language.word()).collect();
        let facts = Facts { catalog, compilers: &compilers, read: &response::from_file };
        let mut decision = decide(&self.args, &facts);
        let mut object = paths.map(|paths| paths.module(language.word()));
        // The site's files are looked at only if the module would be linked.
        if decision == Decision::Link {
            let conf = Conf::load(paths, env);
            if conf.settings().is(Switch::Serial) {
                object = paths.map(|paths| paths.serial_module(language.word()));
            }
            if let Some(why) = obstacle(&conf, object.as_deref()) {
                decision = Decision::LeaveAlone(why);
            }
            self.conf = Some(conf);
        }
        if let (Decision::Link, Some(object)) = (&decision, &object) {
            self.added = link_arguments(object);
        }
        self.role = Role::Compiler { language, decision, module: object };
    }

    fn launch(&mut self, catalog: &Catalog, env: &Environment) {
        let id = if env.is_off() {
            LaunchId::Untouched
        } else {
            let real = fs::canonicalize(&self.real);
            let real = real.as_deref().unwrap_or(&self.real);
            if catalog.gives_launch_id(real) { LaunchId::Removed } else { LaunchId::Fresh }
        };
        self.role = Role::Launcher(id);
    }

    /// Why an executable goes without the module, if that is so.
    pub fn left_alone(&self) -> Option<&LeftAlone> {
        match &self.role {
            Role::Compiler { decision: Decision::LeaveAlone(why), .. } => Some(why),
            _ => None,
        }
    }
}

/// What keeps the module out of a link that could take it.
fn obstacle(conf: &Conf, object: Option<&Path>) -> Option<LeftAlone> {
    if !conf.settings().is(Switch::Link) {
        let by = match conf.origin("link") {
            Origin::Variable(name) => name.to_owned(),
            _ => format!("`link = no` ({})", conf.origin_in_words("link")),
        };
        return Some(LeftAlone::Off(by));
    }
    let Some(object) = object else { return Some(LeftAlone::NotInstalled) };
    let unfit = module::check(object).err()?;
    Some(LeftAlone::Module(object.to_path_buf(), unfit.to_string()))
}

/// The words that make the linker take the object: one, or two if its path has a comma.
fn link_arguments(object: &Path) -> Vec<OsString> {
    if object.as_os_str().as_bytes().contains(&b',') {
        return vec!["-Xlinker".into(), object.into()];
    }
    let mut word = OsString::from("-Wl,");
    word.push(object);
    vec![word]
}
