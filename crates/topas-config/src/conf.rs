//! `topas.conf` as it is in force: values, where each comes from, and what is wrong.

use std::borrow::Cow;
use std::fmt;
use std::fs;
use std::io;
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use topas_format::capacity::CapacityLine;
use topas_format::conf::{KEYS, Key, List, MAX_READ, Ops, Settings, Switch, entries, in_force};
use topas_format::env::{self as names, switch};
use topas_format::mpi_conf;

use crate::environment::{Environment, LinkWish};
use crate::paths::{Paths, SYSTEM_CONF};
use crate::policy;
use crate::regular;

/// Longest configuration file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Built in: nobody set it.
    Default,
    /// This line of the file.
    Line(u32),
    /// This environment variable.
    Variable(&'static str),
}

/// A line of the file that has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The file.
    pub file: PathBuf,
    /// Line number, from 1.
    pub line: u32,
    /// What is wrong with it.
    pub fault: ConfFault,
}

/// Why a line has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfFault {
    /// It is not of the form `key = value`.
    NotAnEntry,
    /// No key of that name.
    UnknownKey(String),
    /// The value is not of the key's form.
    BadValue {
        /// The key.
        key: &'static str,
        /// The value as written.
        value: String,
        /// The form it should have.
        form: &'static str,
    },
    /// This line and all behind it are more than is read.
    TooLong,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.file.display(), self.line)?;
        match &self.fault {
            ConfFault::NotAnEntry => write!(f, "line is not of the form `key = value`; ignored"),
            ConfFault::TooLong => write!(
                f,
                "from here on ignored: programs and drivers take whole lines of the first \
                 {MAX_READ} B"
            ),
            ConfFault::UnknownKey(key) => write!(f, "unknown key `{key}`; ignored"),
            ConfFault::BadValue { key, value, form } => {
                write!(f, "`{value}` is no value of `{key}`, which takes {form}; ignored")
            }
        }
    }
}

/// Rules of the site for findings.
#[derive(Debug, Default)]
pub struct SiteRules {
    /// Name and text of each file
    pub texts: Vec<(String, String)>,
    /// What could not be read, and why
    pub problems: Vec<(PathBuf, io::Error)>,
}

/// The configuration in force.
#[derive(Debug, Default)]
pub struct Conf {
    file: Option<PathBuf>,
    text: Vec<u8>,
    problem: Option<io::Error>,
    off: bool,
    never_link: bool,
    log: Option<Vec<u8>>,
    ops: Option<Vec<u8>>,
}

impl Conf {
    /// Reads the file `TOPAS_CONF` names, else that of the prefix, else the system's.
    /// A missing file means defaults unless `TOPAS_CONF` named it; a file that cannot
    /// be read is kept in [`Conf::problem`], and defaults hold.
    pub fn load(paths: Option<&Paths>, env: &Environment) -> Self {
        let mut conf = match env.conf_file() {
            Some(named) => Conf::read(&named),
            None => {
                let own = paths.map(Paths::conf_file);
                own.iter()
                    .map(PathBuf::as_path)
                    .chain([Path::new(SYSTEM_CONF)])
                    .map(Conf::read)
                    .find(|conf| !conf.is_missing())
                    .unwrap_or_default()
            }
        };
        conf.off = env.is_off();
        conf.never_link = env.link() == Some(LinkWish::Never);
        conf.log = env.log().map(|value| value.as_bytes().to_vec());
        conf.ops = env
            .ops()
            .filter(|value| Ops::parse(value.as_bytes()).is_some())
            .map(|value| value.as_bytes().to_vec());
        conf
    }

    /// As [`Conf::load`], for the installation that the running program belongs to.
    pub fn of_this_program(env: &Environment) -> Self {
        let argv0 = crate::command_line().into_iter().next().unwrap_or_default();
        Conf::load(Paths::of_this_program(&argv0, env).as_ref(), env)
    }

    /// Reads one file; the environment is not looked at.
    pub fn read(file: &Path) -> Self {
        let (text, problem) = match regular::read(file, MAX_FILE) {
            Ok(text) => (text, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        Conf { file: Some(file.to_path_buf()), text, problem, ..Conf::default() }
    }

    fn is_missing(&self) -> bool {
        self.problem.as_ref().is_some_and(|e| e.kind() == io::ErrorKind::NotFound)
    }

    /// Rules of the site: the texts of `rules.d/*.conf` beside the file, in the order of their
    /// names, and what could not be read. Without that directory there are none.
    pub fn site_rules(&self) -> SiteRules {
        let mut rules = SiteRules::default();
        let Some(dir) = self.file().map(|file| file.with_file_name("rules.d")) else {
            return rules;
        };
        let entries =
            fs::read_dir(&dir).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
        let mut paths: Vec<PathBuf> = match entries {
            Ok(entries) => entries.iter().map(fs::DirEntry::path).collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return rules,
            Err(error) => {
                rules.problems.push((dir, error));
                return rules;
            }
        };
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "conf"));
        paths.sort_unstable();
        for path in paths {
            let text = regular::read(&path, MAX_FILE).and_then(|text| {
                String::from_utf8(text)
                    .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8"))
            });
            match text {
                Ok(text) => rules.texts.push((path.display().to_string(), text)),
                Err(error) => rules.problems.push((path, error)),
            }
        }
        rules
    }

    /// Accounts whose log files are believed besides root's: `log_owner`, empty if it is not set.
    pub fn log_owner(&self) -> &[u8] {
        self.value(LOG_OWNER.name)
    }

    /// The database that shares the index of runs: `store`, empty if it is not set.
    pub fn store(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.value(STORE.name))
    }

    /// How many whole months before the present one runs are kept: `keep`; None for ever.
    pub fn keep(&self) -> Option<NonZero<u16>> {
        months(self.value(KEEP.name))
    }

    /// The lines of `capacity`, in their order; those of another form are left out.
    pub fn capacity(&self) -> impl Iterator<Item = CapacityLine<'_>> {
        let lines = entries(in_force(&self.text)).flatten();
        lines
            .filter(|e| e.key == CAPACITY.name.as_bytes())
            .filter_map(|e| CapacityLine::parse(e.value))
    }

    /// The value of a key that is no part of [`Settings`]; empty if it is not set.
    pub(crate) fn value(&self, key: &str) -> &[u8] {
        let lines = entries(in_force(&self.text)).flatten().filter(|e| e.key == key.as_bytes());
        lines.filter(|e| !e.value.is_empty()).last().map_or(b"", |e| e.value)
    }

    /// The file that was read, or that could not be. `None` if there is none.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Why the file could not be read.
    pub fn problem(&self) -> Option<&io::Error> {
        self.problem.as_ref()
    }

    /// The values in force, the environment's over those of the file. `TOPAS=off` turns
    /// `measure` and `link` off; `TOPAS_LOG` counts only where `user_log` allows it.
    pub fn settings(&self) -> Settings<'_> {
        let mut settings = Settings::read(&self.text);
        if self.off {
            settings.turn(Switch::Measure, false);
            settings.turn(Switch::Link, false);
        }
        if self.never_link {
            settings.turn(Switch::Link, false);
        }
        if let Some(log) = self.log.as_deref().filter(|_| settings.is(Switch::UserLog)) {
            settings.put(List::Log, log);
        }
        if let Some(ops) = self.ops.as_deref().and_then(Ops::parse) {
            settings.ops = ops;
        }
        settings
    }

    /// The site's own targets of the log; the environment is not looked at.
    pub fn site_log(&self) -> &[u8] {
        Settings::read(&self.text).list(List::Log)
    }

    /// What programs with the library of MPI profiles read; the environment is not looked at.
    pub fn mpi(&self) -> mpi_conf::Settings<'_> {
        mpi_conf::Settings::read(&self.text)
    }

    /// Whether the drivers of MPI link that library into every executable: `mpi_link`.
    pub fn links_mpi(&self) -> bool {
        entries(in_force(&self.text))
            .flatten()
            .filter(|e| e.key == policy::MPI_LINK.as_bytes())
            .filter_map(|e| switch(e.value))
            .last()
            .unwrap_or(false)
    }

    /// Where the value of a key comes from.
    pub fn origin(&self, key: &str) -> Origin {
        match key {
            "measure" | "link" if self.off => return Origin::Variable(names::TOPAS),
            "link" if self.never_link => return Origin::Variable(names::TOPAS_LINK),
            "log" if self.log.is_some() && Settings::read(&self.text).is(Switch::UserLog) => {
                return Origin::Variable(names::TOPAS_LOG);
            }
            "ops" if self.ops.is_some() => return Origin::Variable(names::TOPAS_OPS),
            _ => {}
        }
        entries(in_force(&self.text))
            .flatten()
            .filter(|e| e.key == key.as_bytes() && is_valid(e.key, e.value))
            .last()
            .map_or(Origin::Default, |e| Origin::Line(e.line))
    }

    /// [`Conf::origin`] in words: `PATH:LINE`, `default` or the variable's name.
    pub fn origin_in_words(&self, key: &str) -> String {
        match (self.origin(key), &self.file) {
            (Origin::Line(line), Some(file)) => format!("{}:{line}", file.display()),
            (Origin::Variable(name), _) => name.to_owned(),
            _ => "default".to_owned(),
        }
    }

    /// The lines without effect, in order.
    pub fn warnings(&self) -> Vec<Warning> {
        let file = self.file.clone().unwrap_or_default();
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (read, file_here) = (in_force(&self.text), file.clone());
        let lines = read.iter().filter(|byte| **byte == b'\n').count();
        let too_long = (read.len() < self.text.len()).then_some(Warning {
            file: file_here,
            line: lines as u32 + 1,
            fault: ConfFault::TooLong,
        });
        entries(read)
            .filter_map(|entry| {
                let (line, fault) = match entry {
                    Err(bad) => (bad.line, ConfFault::NotAnEntry),
                    Ok(e) if is_valid(e.key, e.value) => return None,
                    Ok(e) => (
                        e.line,
                        match keys().find(|key| key.name.as_bytes() == e.key) {
                            None => ConfFault::UnknownKey(lossy(e.key)),
                            Some(key) => ConfFault::BadValue {
                                key: key.name,
                                value: lossy(e.value),
                                form: key.form,
                            },
                        },
                    ),
                };
                Some(Warning { file: file.clone(), line, fault })
            })
            .chain(too_long)
            .collect()
    }
}

/// Every key of the file: what measured programs read, then what the drivers alone do, then
/// what the library of MPI profiles reads, then what the tools that read logs do.
pub fn keys() -> impl Iterator<Item = &'static Key> {
    KEYS.iter()
        .chain(policy::KEYS)
        .chain(mpi_conf::KEYS)
        .chain([&LOG_OWNER, &CAPACITY, &STORE, &KEEP])
}

/// The key that the tools that read logs look at, and nobody else.
pub const LOG_OWNER: Key = Key {
    name: "log_owner",
    form: "list of users",
    default: "(none)",
    about: "Accounts, besides root, whose log files are believed whatever user a line is of, by \
            name or numeric id: the one a daemon that collects lines runs as.",
};

/// Where runs are shared between machines; only `topas-report` looks at it.
pub const STORE: Key = Key {
    name: "store",
    form: "URL",
    default: "(none)",
    about: "The database to which topas-report ingest also brings the runs of the log, and which \
            topas-report serve reads: postgres://... or clickhouse://...",
};

/// How long runs are kept; only `topas-log purge` and `topas-report purge` look at it.
pub const KEEP: Key = Key {
    name: "keep",
    form: "MONTHS",
    default: "(for ever)",
    about: "Whole months before the present one of which topas-log purge and topas-report purge keep \
            the runs, from 1 to 1200. Nothing is removed unless these commands are called.",
};

/// Longest time that `keep` can say, in months.
const MOST_MONTHS: u16 = 1200;

/// A number of months; None for what is none.
fn months(value: &[u8]) -> Option<NonZero<u16>> {
    let months: NonZero<u16> = str::from_utf8(value).ok()?.parse().ok()?;
    (months.get() <= MOST_MONTHS).then_some(months)
}

/// What the site has to give; only the tools that read logs look at it. Every line counts.
pub const CAPACITY: Key = Key {
    name: "capacity",
    form: "[DATE] [PARTITION] PES",
    default: "(unknown)",
    about: "Processing elements that can be used from a day on: a number, or NODESxPES, of a \
            partition or of the whole machine. The key can stand on several lines, which all \
            count.",
};

/// Whether a value names a store of a form that is known.
fn is_store(value: &[u8]) -> bool {
    let forms: [&[u8]; 3] = [b"postgres://", b"postgresql://", b"clickhouse://"];
    forms.iter().any(|form| value.starts_with(form)) && str::from_utf8(value).is_ok()
}

/// Whether a line has an effect.
fn is_valid(key: &[u8], value: &[u8]) -> bool {
    Settings::default().set(key, value)
        || mpi_conf::Settings::default().set(key, value)
        || policy::is_valid(key, value)
        || key == LOG_OWNER.name.as_bytes() && !value.is_empty()
        || key == STORE.name.as_bytes() && is_store(value)
        || key == KEEP.name.as_bytes() && months(value).is_some()
        || key == CAPACITY.name.as_bytes() && CapacityLine::parse(value).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn site(text: &str) -> (tempfile::TempDir, Paths) {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths::at(dir.path());
        fs::create_dir_all(paths.conf_file().parent().unwrap()).unwrap();
        fs::write(paths.conf_file(), text).unwrap();
        (dir, paths)
    }

    fn env(variables: &[(&str, &str)]) -> Environment {
        variables.iter().copied().collect()
    }

    #[test]
    fn every_value_has_its_origin() {
        let (_dir, paths) = site("link = no\nlog = file:/a\nlink = yes\nmeasure = maybe\n");
        let conf = Conf::load(Some(&paths), &env(&[("TOPAS_LOG", "file:/b")]));
        let settings = conf.settings();
        assert!(settings.is(Switch::Link) && settings.is(Switch::Measure));
        assert_eq!(settings.list(List::Log), b"file:/b");
        assert_eq!(conf.origin("link"), Origin::Line(3));
        assert_eq!(conf.origin("measure"), Origin::Default);
        assert_eq!(conf.origin("log"), Origin::Variable("TOPAS_LOG"));
        assert_eq!(conf.origin_in_words("link"), format!("{}:3", paths.conf_file().display()));
    }

    #[test]
    fn the_site_can_keep_its_log() {
        let (_dir, paths) = site("log = file:/a\nuser_log = no\n");
        let conf = Conf::load(Some(&paths), &env(&[("TOPAS_LOG", "file:/b")]));
        assert_eq!(conf.settings().list(List::Log), b"file:/a");
        assert_eq!(conf.origin("log"), Origin::Line(1));
    }

    #[test]
    fn off_turns_linking_and_measuring_off() {
        let (_dir, paths) = site("");
        let conf = Conf::load(Some(&paths), &env(&[("TOPAS", "off"), ("TOPAS_OPS", "loads")]));
        let settings = conf.settings();
        assert!(!settings.is(Switch::Link) && !settings.is(Switch::Measure));
        assert_ne!(settings.ops, Settings::default().ops);
        assert_eq!(conf.origin("measure"), Origin::Variable("TOPAS"));
        assert_eq!(conf.origin("ops"), Origin::Variable("TOPAS_OPS"));
    }

    #[test]
    fn faults_are_told_with_file_and_line() {
        let (_dir, paths) = site("nonsense\ncolour = red\nops = flops\nlink = no\n");
        let conf = Conf::load(Some(&paths), &env(&[]));
        let warnings = conf.warnings();
        let faults: Vec<_> = warnings.iter().map(|w| (w.line, &w.fault)).collect();
        assert_eq!(faults[0], (1, &ConfFault::NotAnEntry));
        assert_eq!(faults[1], (2, &ConfFault::UnknownKey("colour".into())));
        assert!(matches!(faults[2], (3, ConfFault::BadValue { key: "ops", .. })));
        assert_eq!(faults.len(), 3);
        let text = warnings[2].to_string();
        assert!(text.starts_with(&format!("{}:3: ", paths.conf_file().display())), "{text}");
        assert!(text.contains("flops") && text.contains("intops"), "{text}");
    }

    #[test]
    fn what_is_not_read_is_told_and_has_no_effect() {
        let whole = format!("link = no\n{}\n", "#".repeat(MAX_READ - 11));
        for (more, warnings) in [("", 0), ("measure = no\nnonsense\n", 1)] {
            let (_dir, paths) = site(&format!("{whole}{more}"));
            let conf = Conf::load(Some(&paths), &env(&[]));
            assert!(conf.settings().is(Switch::Measure) && !conf.settings().is(Switch::Link));
            assert_eq!(conf.origin("measure"), Origin::Default);
            let told: Vec<_> = conf.warnings().iter().map(ToString::to_string).collect();
            assert_eq!(told.len(), warnings, "{told:?}");
            assert!(told.iter().all(|w| w.contains(":3: from here on ignored")), "{told:?}");
        }
    }

    #[test]
    fn every_line_of_capacity_counts() {
        let text = "capacity = 512\ncapacity = 2026-06-01 big 8x64\ncapacity = many\n";
        let (_dir, paths) = site(text);
        let conf = Conf::load(Some(&paths), &env(&[]));
        let lines: Vec<_> = conf.capacity().map(|line| (line.partition, line.pes)).collect();
        assert_eq!(lines, [(None, 512), (Some(b"big".as_slice()), 512)]);
        let told: Vec<_> = conf.warnings().iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains(":3: `many` is no value of `capacity`"), "{told:?}");
    }

    #[test]
    fn the_named_file_wins_and_must_exist() {
        let (dir, paths) = site("link = no\n");
        let named = dir.path().join("mine");
        let named = named.to_str().unwrap();
        let conf = Conf::load(Some(&paths), &env(&[("TOPAS_CONF", named)]));
        assert_eq!(conf.problem().unwrap().kind(), io::ErrorKind::NotFound);
        assert!(conf.settings().is(Switch::Link));
        fs::write(named, "measure = no\n").unwrap();
        let conf = Conf::load(Some(&paths), &env(&[("TOPAS_CONF", named)]));
        assert!(conf.problem().is_none());
        let settings = conf.settings();
        assert!(settings.is(Switch::Link) && !settings.is(Switch::Measure));
    }

    #[test]
    fn an_unreadable_file_is_a_value() {
        let (dir, _) = site("");
        let conf = Conf::read(dir.path());
        assert!(conf.problem().is_some());
        assert_eq!(conf.settings(), Settings::default());
        assert_eq!(conf.file(), Some(dir.path()));
    }
}
