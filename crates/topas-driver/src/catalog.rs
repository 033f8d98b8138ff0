//! `drivers.conf`: which names there are, and what is known of the programs behind.
//!
//! Two files: the installed one, which an update replaces, and behind it the site's own.
//! The last line about a name counts, so a site adds names and changes what they mean.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use topas_config::{Paths, regular};

/// The file as it was when the driver was built, for the case that it is missing.
const BUILT_IN: &[u8] = include_bytes!("../../../wrappers/drivers.conf");

/// Longest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Language of a compiler driver. In this order: of two runtime libraries the later tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    /// C
    C,
    /// C++
    Cxx,
    /// Fortran 77
    F77,
    /// Fortran 90 and later
    F90,
}

impl Language {
    /// The word in file names, in `drivers.conf` and in the log.
    pub fn word(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cxx => "cxx",
            Language::F77 => "f77",
            Language::F90 => "f90",
        }
    }

    /// The language of a word, if it is one.
    pub fn parse(word: &[u8]) -> Option<Self> {
        [Language::C, Language::Cxx, Language::F77, Language::F90]
            .into_iter()
            .find(|language| language.word().as_bytes() == word)
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Personality {
    /// A compiler driver.
    Compiler(Language),
    /// A launcher of parallel programs.
    Launcher,
    /// A linker, called by a build directly.
    Linker,
    /// Answers questions on how to link with installed packages.
    PackageQuery,
}

/// The set of names that go into the directory for PATH.
pub const MPI_SET: &str = "mpi";

/// Meaning of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum DriverFactKind {
    Name { personality: Personality, answers: bool, set: Vec<u8> },
    GivesId { beside: Option<Vec<u8>> },
    NeedsInput,
    LooksOn,
    Runtime(Language),
    Package(Language),
    Counters,
    CountersSymbol,
    Plain,
    NoWl,
    NoMpi,
}

impl DriverFactKind {
    /// The meaning of the words behind a name; `None` if they make no sense.
    fn parse(words: &[&[u8]]) -> Option<Self> {
        let name = |personality, answers, set: Option<&&[u8]>| DriverFactKind::Name {
            personality,
            answers,
            set: set.map_or(MPI_SET.as_bytes(), |set| set).to_vec(),
        };
        Some(match words {
            [b"compiler", language, set @ ..] if set.len() < 2 => {
                name(Personality::Compiler(Language::parse(language)?), true, set.first())
            }
            [b"serial", language, set] => {
                name(Personality::Compiler(Language::parse(language)?), false, Some(set))
            }
            [b"launcher", set @ ..] if set.len() < 2 => {
                name(Personality::Launcher, false, set.first())
            }
            [b"package-query", set @ ..] if set.len() < 2 => {
                name(Personality::PackageQuery, false, set.first())
            }
            [b"linker", set] => name(Personality::Linker, false, Some(set)),
            [b"gives-id"] => DriverFactKind::GivesId { beside: None },
            [b"gives-id", beside] => DriverFactKind::GivesId { beside: Some(beside.to_vec()) },
            [b"needs-input"] => DriverFactKind::NeedsInput,
            [b"looks-on"] => DriverFactKind::LooksOn,
            [b"runtime", language] => DriverFactKind::Runtime(Language::parse(language)?),
            [b"package", language] => DriverFactKind::Package(Language::parse(language)?),
            [b"counters"] => DriverFactKind::Counters,
            [b"counters-symbol"] => DriverFactKind::CountersSymbol,
            [b"plain"] => DriverFactKind::Plain,
            [b"no-wl"] => DriverFactKind::NoWl,
            [b"no-mpi"] => DriverFactKind::NoMpi,
            _ => return None,
        })
    }
}

/// A line that makes no sense: the file and the number of the line.
pub type Skipped = (PathBuf, u32);

/// The content of `drivers.conf`.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    lines: Vec<(Vec<u8>, DriverFactKind)>,
    /// Where the site's own lines begin.
    site: Option<usize>,
    skipped: Vec<Skipped>,
}

impl Catalog {
    /// Reads the installed file, or what was built in if it cannot be read, and the site's.
    pub fn load(paths: Option<&Paths>) -> Self {
        let mut catalog = Catalog::default();
        let installed = paths.map(Paths::drivers_conf).unwrap_or_default();
        let text = regular::read(&installed, MAX_FILE);
        catalog.add(text.as_deref().unwrap_or(BUILT_IN), &installed);
        if let Some(file) = paths.map(Paths::site_drivers_conf)
            && let Ok(text) = regular::read(&file, MAX_FILE)
        {
            catalog.site = Some(catalog.lines.len());
            catalog.add(&text, &file);
        }
        catalog
    }

    /// What was built in.
    pub fn built_in() -> Self {
        Catalog::parse(BUILT_IN)
    }

    /// Reads the text of a file.
    pub fn parse(text: &[u8]) -> Self {
        let mut catalog = Catalog::default();
        catalog.add(text, Path::new("drivers.conf"));
        catalog
    }

    /// Adds the lines of a file. Those that make no sense are skipped and counted.
    fn add(&mut self, text: &[u8], file: &Path) {
        for (line, number) in text.split(|&b| b == b'\n').zip(1u32..) {
            let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            let words: Vec<&[u8]> = words.collect();
            let Some((name, rest)) = words.split_first() else { continue };
            if name.starts_with(b"#") {
                continue;
            }
            match DriverFactKind::parse(rest) {
                Some(kind) => self.lines.push((name.to_vec(), kind)),
                None => self.skipped.push((file.to_path_buf(), number)),
            }
        }
    }

    /// The lines that make no sense.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// The lines about a name that hold: those behind the last `plain`.
    fn about(&self, name: &[u8]) -> impl Iterator<Item = &DriverFactKind> {
        let lines = self.lines.iter().rev().filter(move |(of, _)| of == name);
        lines.map(|(_, kind)| kind).take_while(|kind| **kind != DriverFactKind::Plain)
    }

    /// What a name stands for; the last line about it counts.
    pub fn personality(&self, name: &OsStr) -> Option<Personality> {
        self.about(name.as_bytes()).find_map(|kind| match kind {
            DriverFactKind::Name { personality, .. } => Some(*personality),
            _ => None,
        })
    }

    /// Whether the name is that of a driver around a compiler, which answers questions on
    /// how to link; a compiler may mean something else by the same options.
    pub fn answers(&self, name: &OsStr) -> bool {
        let mut names = self.about(name.as_bytes()).filter_map(|kind| match kind {
            DriverFactKind::Name { answers, .. } => Some(*answers),
            _ => None,
        });
        names.next() == Some(true)
    }

    /// Whether the name is that of a driver of MPI, whose programs can have an MPI profile.
    pub fn links_mpi(&self, name: &OsStr) -> bool {
        self.answers(name)
            && !self.about(name.as_bytes()).any(|kind| *kind == DriverFactKind::NoMpi)
    }

    /// Every name with its set, in the order of the file; a name may be in several sets.
    pub fn names(&self) -> impl Iterator<Item = (&OsStr, Personality, &OsStr)> {
        self.lines.iter().filter_map(|(name, kind)| match kind {
            DriverFactKind::Name { set, .. } => {
                let name = OsStr::from_bytes(name);
                Some((name, self.personality(name)?, OsStr::from_bytes(set)))
            }
            _ => None,
        })
    }

    /// Whether the site's own file puts a name into a set.
    pub fn is_of_site(&self, name: &OsStr, set: &OsStr) -> bool {
        let lines = self.site.and_then(|from| self.lines.get(from..)).unwrap_or_default();
        lines.iter().any(|(of, kind)| {
            let in_set =
                matches!(kind, DriverFactKind::Name { set: of, .. } if *of == set.as_bytes());
            in_set && of == name.as_bytes()
        })
    }

    /// Whether the name, in the directory of an MPI's programs, is one that this driver stands
    /// in front of: a driver of an MPI, a launcher, or what is asked for an MPI's package.
    pub fn fronts(&self, name: &OsStr) -> bool {
        let other = Some(Personality::Launcher) == self.personality(name)
            || Some(Personality::PackageQuery) == self.personality(name);
        self.answers(name) || other
    }

    /// Whether the launcher at `real`, a path without symbolic links, gives its ranks
    /// an id of the launch.
    pub fn gives_launch_id(&self, real: &Path) -> bool {
        let Some(name) = real.file_name() else { return false };
        self.about(name.as_bytes()).any(|kind| match kind {
            DriverFactKind::GivesId { beside: None } => true,
            DriverFactKind::GivesId { beside: Some(other) } => {
                real.with_file_name(OsStr::from_bytes(other)).exists()
            }
            _ => false,
        })
    }

    /// Whether the driver at `real`, a path without symbolic links, leaves its flags out of
    /// the answer to `-show` if it is given an option and no input.
    pub fn needs_input(&self, real: &Path) -> bool {
        let name = real.file_name().unwrap_or_default();
        self.about(name.as_bytes()).any(|kind| *kind == DriverFactKind::NeedsInput)
    }

    /// Whether the program at `real`, a path without symbolic links, looks for the next
    /// program of the name it is called by.
    pub fn looks_on(&self, real: &Path) -> bool {
        let name = real.file_name().unwrap_or_default();
        self.about(name.as_bytes()).any(|kind| *kind == DriverFactKind::LooksOn)
    }

    /// The name the program at `real` is told, where ours was called as `argv0`.
    ///
    /// That is its path: MPICH's launcher looks for its helpers beside it. But Open MPI's
    /// launcher takes a path as a `--prefix` and changes the ranks' environment, so it is
    /// told the bare name it was called by.
    pub fn argv0(&self, argv0: &OsStr, real: &Path) -> OsString {
        let file = fs::canonicalize(real);
        let bare = Path::new(argv0).file_name() == Some(argv0)
            && matches!(self.personality(argv0), Some(Personality::Launcher))
            && self.gives_launch_id(file.as_deref().unwrap_or(real));
        if bare { argv0.to_owned() } else { real.as_os_str().to_owned() }
    }

    /// The language whose runtime library `name` (as in `-lname`) is.
    pub fn runtime(&self, name: &[u8]) -> Option<Language> {
        self.about(name).find_map(|kind| match kind {
            DriverFactKind::Runtime(language) => Some(*language),
            _ => None,
        })
    }

    /// The language of the MPI package `name`, as pkg-config names it.
    pub fn package(&self, name: &[u8]) -> Option<Language> {
        self.about(name).find_map(|kind| match kind {
            DriverFactKind::Package(language) => Some(*language),
            _ => None,
        })
    }

    /// Whether programs that link the library `name` (as in `-lname`) use the counters.
    pub fn uses_counters(&self, name: &[u8]) -> bool {
        self.about(name).any(|kind| *kind == DriverFactKind::Counters)
    }

    /// The functions whose callers use the counters.
    pub fn counter_functions(&self) -> Vec<&[u8]> {
        let lines = self.lines.iter().filter(|(_, kind)| *kind == DriverFactKind::CountersSymbol);
        let names = lines.map(|(name, _)| name.as_slice());
        names
            .filter(|name| self.about(name).any(|kind| *kind == DriverFactKind::CountersSymbol))
            .collect()
    }

    /// Whether `command`, a compiler with options perhaps, does not know `-Wl,`.
    pub fn lacks_wl(&self, command: &OsStr) -> bool {
        let words = command.as_bytes().split(u8::is_ascii_whitespace);
        words
            .filter_map(|word| Path::new(OsStr::from_bytes(word)).file_name())
            .any(|program| self.about(program.as_bytes()).any(|kind| *kind == DriverFactKind::NoWl))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_file_is_whole() {
        let catalog = Catalog::built_in();
        assert_eq!(catalog.skipped(), []);
        let of = |name: &str| catalog.personality(OsStr::new(name));
        assert_eq!(of("mpicc"), Some(Personality::Compiler(Language::C)));
        assert_eq!(of("mpiCC.mpich"), Some(Personality::Compiler(Language::Cxx)));
        assert_eq!(of("mpif77.openmpi"), Some(Personality::Compiler(Language::F77)));
        assert_eq!(of("mpifort"), Some(Personality::Compiler(Language::F90)));
        assert_eq!(of("mpirun.mpich"), Some(Personality::Launcher));
        assert_eq!(of("gcc"), Some(Personality::Compiler(Language::C)));
        assert_eq!(of("ftn"), Some(Personality::Compiler(Language::F90)));
        assert_eq!(of("ld"), Some(Personality::Linker));
        assert_eq!(of("papi"), None);
        for (name, links) in [("mpicc", true), ("mpiifx", true), ("oshcc", false), ("gcc", false)] {
            assert_eq!(catalog.links_mpi(OsStr::new(name)), links, "{name}");
        }
        assert!(catalog.answers(OsStr::new("mpiicx")) && !catalog.answers(OsStr::new("nvc")));
        assert!(catalog.uses_counters(b"papi") && !catalog.uses_counters(b"m"));
        for function in topas_format::event::COUNTING_FUNCTIONS {
            assert!(catalog.counter_functions().contains(&function.as_bytes()), "{function}");
        }
        assert_eq!(catalog.runtime(b"gfortran"), Some(Language::F90));
        assert!(catalog.needs_input(Path::new("/usr/bin/opal_wrapper")));
        // What is in front of PATH everywhere is no compiler by its own name: build systems take
        // the first of several they see.
        let mpi: Vec<_> = catalog.names().filter(|(.., set)| *set == MPI_SET).collect();
        assert!(mpi.iter().all(|(name, ..)| {
            let name = name.to_str().unwrap();
            ["mpi", "osh", "shmem", "pkg", "orterun", "prterun", "caf"]
                .iter()
                .any(|head| name.starts_with(head))
        }));
    }

    #[test]
    fn lines_that_make_no_sense_are_counted() {
        let text = b"a compiler\nb launcher x y\n# c\nd compiler c a b\ne compiler f90\n\nf what\n";
        let catalog = Catalog::parse(text);
        let skipped: Vec<_> = catalog.skipped().iter().map(|(_, line)| *line).collect();
        assert_eq!(skipped, [1, 2, 4, 7]);
        assert_eq!(catalog.names().count(), 1);
    }

    #[test]
    fn the_last_line_about_a_name_counts() {
        let catalog = Catalog::parse(b"cc compiler c\ncc compiler cxx\n");
        assert_eq!(
            catalog.personality(OsStr::new("cc")),
            Some(Personality::Compiler(Language::Cxx))
        );
    }

    #[test]
    fn the_site_adds_names_and_takes_meanings_back() {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths::at(dir.path());
        std::fs::create_dir_all(paths.site_drivers_conf().parent().unwrap()).unwrap();
        let site = "papi plain\nmpiCC plain\nfcaf compiler f90\nfcaf compiler f90 odd\nx y\n";
        std::fs::write(paths.site_drivers_conf(), site).unwrap();
        let catalog = Catalog::load(Some(&paths));
        assert!(!catalog.uses_counters(b"papi") && catalog.uses_counters(b"likwid"));
        assert_eq!(catalog.personality(OsStr::new("mpiCC")), None);
        assert!(!catalog.names().any(|(name, ..)| name == "mpiCC"));
        let sets = catalog.names().filter(|(name, ..)| *name == "fcaf").map(|(.., set)| set);
        assert_eq!(sets.collect::<Vec<_>>(), ["mpi", "odd"]);
        assert_eq!(catalog.skipped(), [(paths.site_drivers_conf(), 5)]);
    }

    #[test]
    fn a_launcher_is_known_by_its_file_or_its_neighbour() {
        let dir = tempfile::tempdir().unwrap();
        let mpirun = dir.path().join("mpirun");
        let catalog = Catalog::built_in();
        assert!(!catalog.gives_launch_id(&mpirun));
        std::fs::write(dir.path().join("ompi_info"), "").unwrap();
        assert!(catalog.gives_launch_id(&mpirun));
        assert!(catalog.gives_launch_id(Path::new("/usr/bin/orterun")));
        assert!(!catalog.gives_launch_id(Path::new("/usr/bin/mpiexec.hydra")));
    }

    #[test]
    fn a_compiler_is_recognised_behind_path_and_prefix() {
        let catalog = Catalog::built_in();
        for command in ["nvcc", "/opt/cuda/bin/nvcc", "ccache nvcc -O2"] {
            assert!(catalog.lacks_wl(OsStr::new(command)), "{command}");
        }
        assert!(!catalog.lacks_wl(OsStr::new("gcc -DX=nvcc1")));
    }
}
