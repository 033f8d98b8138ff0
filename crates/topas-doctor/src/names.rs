//! The names in front of PATH: which have no program behind them, which shadows do not fit their
//! MPI, and which MPIs have none.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use topas_config::{Environment, Paths};
use topas_driver::catalog::{Catalog, MPI_SET};
use topas_driver::shadow::{Shadow, ShadowState, TELL_BUILDS, holds_mpi};
use topas_driver::{links, mpis, search};

/// Variables by which builds are told a compiler.
const COMPILERS: [&str; 12] = [
    "CC", "CXX", "FC", "F77", "F90", "MPICC", "MPICXX", "MPIFC", "MPIF77", "MPIF90", "MPI_CC",
    "MPI_CXX",
];

/// A directory of names.
#[derive(Debug)]
pub struct Directory {
    /// Where it is
    pub path: PathBuf,
    /// How many names it holds
    pub names: usize,
    /// Those without a program behind them on the PATH of this process, in words
    pub without: Option<String>,
}

/// The shadow of an MPI.
#[derive(Debug)]
pub struct Told {
    /// Its name
    pub name: String,
    /// The prefix of the MPI
    pub mpi: PathBuf,
    /// What is wrong with it
    pub wrong: Option<String>,
    /// Whether the MPI has gone
    pub gone: bool,
}

/// What an installation has in front of MPIs and compilers.
#[derive(Debug)]
pub struct Names {
    /// The directory for everybody's PATH first, then those of sets that are on PATH
    pub directories: Vec<Directory>,
    /// Every shadow
    pub shadows: Vec<Told>,
    /// Prefixes of MPIs that were found and have no shadow
    pub offered: Vec<PathBuf>,
    /// The driver, for the hint
    pub driver: PathBuf,
    /// The command, for the hint
    pub command: PathBuf,
}

impl Names {
    /// Looks at an installation, and at the MPIs of this system.
    pub fn of(env: &Environment, paths: &Paths) -> Self {
        let catalog = Catalog::load(Some(paths));
        let shadows = Shadow::all(paths);
        let mut directories = vec![directory(OsStr::new(MPI_SET), paths, &catalog, env)];
        let on_path: Vec<PathBuf> = env.search_path().collect();
        let mut sets: Vec<_> = catalog.names().map(|(.., set)| set).collect();
        sets.sort();
        sets.dedup();
        for set in sets.into_iter().filter(|set| *set != MPI_SET) {
            if on_path.contains(&paths.wrappers_of(set)) {
                directories.push(directory(set, paths, &catalog, env));
            }
        }
        let found = mpis::find(Path::new("/"), env, &catalog, &shadows);
        let without = found.into_iter().filter(|mpi| mpi.shadow.is_none());
        let told = |shadow: &Shadow| {
            let state = shadow.state(&catalog);
            Told {
                name: shadow.name().to_string_lossy().into_owned(),
                mpi: shadow.prefix(),
                wrong: state.says(shadow),
                gone: state == ShadowState::Gone,
            }
        };
        Names {
            directories,
            shadows: shadows.iter().map(told).collect(),
            offered: without.filter_map(|mpi| mpi.prefix).collect(),
            driver: paths.driver(),
            command: paths.bin().join("topas"),
        }
    }
}

/// Looks behind each name of a directory. What the site itself names is its own affair.
fn directory(set: &OsStr, paths: &Paths, catalog: &Catalog, env: &Environment) -> Directory {
    let path = links::directory(set, paths);
    let entries = fs::read_dir(&path).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| links::leads_to_driver(&entry.path()));
    let mut names: Vec<_> = ours.map(|entry| entry.file_name()).collect();
    names.sort();
    let stale = |name: &OsStr| {
        search::places(name, None, env).next().is_none() && !catalog.is_of_site(name, set)
    };
    let without: Vec<_> = names.iter().filter(|name| stale(name)).cloned().collect();
    let without = (!without.is_empty()).then(|| links::in_words(&without));
    Directory { path, names: names.len(), without }
}

/// A way in which this environment leads a build past the drivers.
#[derive(Debug, PartialEq, Eq)]
pub struct Past {
    /// The variable
    pub variable: &'static str,
    /// The program that a build takes
    pub program: PathBuf,
    /// The MPI's prefix
    pub prefix: PathBuf,
}

/// What variables lead builds to MPI's own programs: those that name a prefix, where CMake looks
/// before PATH, and those that name a compiler by its path.
pub fn past_the_drivers(env: &Environment, paths: Option<&Paths>) -> Vec<Past> {
    let catalog = Catalog::load(paths);
    let by_prefix = TELL_BUILDS.into_iter().filter_map(|variable| {
        let prefix = PathBuf::from(env.get(variable).filter(|dir| !dir.is_empty())?);
        let bin = prefix.join("bin");
        holds_mpi(&bin, &catalog).then(|| Past { variable, program: bin.join("mpicc"), prefix })
    });
    let by_path = COMPILERS.into_iter().filter_map(|variable| {
        let command = env.get(variable)?.to_str()?;
        let program = PathBuf::from(command.split_whitespace().next()?);
        let known = catalog.links_mpi(program.file_name()?);
        let past = known && program.is_absolute() && search::is_executable(&program);
        if !past || search::is_driver_file(&program) {
            return None;
        }
        let prefix = program.parent()?.parent()?.to_path_buf();
        Some(Past { variable, program, prefix })
    });
    by_prefix.chain(by_path).collect()
}
