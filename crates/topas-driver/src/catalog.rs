//! `drivers.conf`: which names there are, and what is known of the programs behind.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use topas_config::{Paths, regular};

/// The file as it was when the driver was built, for the case that it is missing.
const BUILT_IN: &[u8] = include_bytes!("../../../wrappers/drivers.conf");

/// Longest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Language of a compiler driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    fn parse(word: &[u8]) -> Option<Self> {
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
}

/// Meaning of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Name(Personality),
    GivesId { beside: Option<Vec<u8>> },
    Counters,
    NoWl,
}

/// The content of `drivers.conf`.
#[derive(Clone, Debug)]
pub struct Catalog {
    lines: Vec<(Vec<u8>, Kind)>,
    skipped: Vec<u32>,
}

impl Catalog {
    /// Reads the installed file; what was built in holds if it cannot be read.
    pub fn load(paths: Option<&Paths>) -> Self {
        let text = paths.and_then(|paths| regular::read(&paths.drivers_conf(), MAX_FILE).ok());
        Catalog::parse(text.as_deref().unwrap_or(BUILT_IN))
    }

    /// What was built in.
    pub fn built_in() -> Self {
        Catalog::parse(BUILT_IN)
    }

    /// Reads the text of a file. Lines that make no sense are skipped and counted.
    pub fn parse(text: &[u8]) -> Self {
        let (mut lines, mut skipped) = (Vec::new(), Vec::new());
        for (line, number) in text.split(|&b| b == b'\n').zip(1u32..) {
            let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            let (name, kind, argument) = (words.next(), words.next(), words.next());
            let Some(name) = name.filter(|name| !name.starts_with(b"#")) else { continue };
            let kind = match (kind, argument) {
                (Some(b"compiler"), Some(language)) => {
                    Language::parse(language).map(|l| Kind::Name(Personality::Compiler(l)))
                }
                (Some(b"launcher"), None) => Some(Kind::Name(Personality::Launcher)),
                (Some(b"gives-id"), beside) => {
                    Some(Kind::GivesId { beside: beside.map(<[u8]>::to_vec) })
                }
                (Some(b"counters"), None) => Some(Kind::Counters),
                (Some(b"no-wl"), None) => Some(Kind::NoWl),
                _ => None,
            };
            match kind.filter(|_| words.next().is_none()) {
                Some(kind) => lines.push((name.to_vec(), kind)),
                None => skipped.push(number),
            }
        }
        Catalog { lines, skipped }
    }

    /// Numbers of the lines that make no sense.
    pub fn skipped(&self) -> &[u32] {
        &self.skipped
    }

    /// What a name stands for; the last line about it counts.
    pub fn personality(&self, name: &OsStr) -> Option<Personality> {
        self.lines.iter().rev().find_map(|(of, kind)| match kind {
            Kind::Name(personality) if of == name.as_bytes() => Some(*personality),
            _ => None,
        })
    }

    /// Every name, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = (&OsStr, Personality)> {
        self.lines.iter().filter_map(|(name, kind)| match kind {
            Kind::Name(personality) => Some((OsStr::from_bytes(name), *personality)),
            _ => None,
        })
    }

    /// Whether the launcher at `real`, a path without symbolic links, gives its ranks
    /// an id of the launch.
    pub fn gives_launch_id(&self, real: &Path) -> bool {
        let Some(name) = real.file_name() else { return false };
        self.lines.iter().filter(|(of, _)| of == name.as_bytes()).any(|(_, kind)| match kind {
            Kind::GivesId { beside: None } => true,
            Kind::GivesId { beside: Some(other) } => {
                real.with_file_name(OsStr::from_bytes(other)).exists()
            }
            _ => false,
        })
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

    /// Whether programs that link the library `name` (as in `-lname`) use the counters.
    pub fn uses_counters(&self, name: &[u8]) -> bool {
        self.lines.iter().any(|(of, kind)| *kind == Kind::Counters && of == name)
    }

    /// Whether `command`, a compiler with options perhaps, does not know `-Wl,`.
    pub fn lacks_wl(&self, command: &OsStr) -> bool {
        let words = command.as_bytes().split(u8::is_ascii_whitespace);
        words.filter_map(|word| Path::new(OsStr::from_bytes(word)).file_name()).any(|program| {
            self.lines.iter().any(|(of, kind)| *kind == Kind::NoWl && of == program.as_bytes())
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_file_is_whole() {
        let catalog = Catalog::built_in();
        assert_eq!(catalog.skipped(), [0u32; 0]);
        let of = |name: &str| catalog.personality(OsStr::new(name));
        assert_eq!(of("mpicc"), Some(Personality::Compiler(Language::C)));
        assert_eq!(of("mpiCC.mpich"), Some(Personality::Compiler(Language::Cxx)));
        assert_eq!(of("mpif77.openmpi"), Some(Personality::Compiler(Language::F77)));
        assert_eq!(of("mpifort"), Some(Personality::Compiler(Language::F90)));
        assert_eq!(of("mpirun.mpich"), Some(Personality::Launcher));
        assert_eq!(of("gcc"), None);
        assert_eq!(of("papi"), None);
        assert_eq!(catalog.names().count(), 27);
        assert!(catalog.uses_counters(b"papi") && !catalog.uses_counters(b"m"));
    }

    #[test]
    fn lines_that_make_no_sense_are_counted() {
        let text = b"a compiler\nb launcher x\n# c\nd compiler c extra\ne compiler f90\n\nf what\n";
        let catalog = Catalog::parse(text);
        assert_eq!(catalog.skipped(), [1, 2, 4, 7]);
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
