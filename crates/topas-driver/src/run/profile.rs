//! The MPI profile of a program that is run: whether the library for it is loaded, and why not.
//!
//! It is loaded into every rank, whether that measures or not: a profile is of all of them.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use topas_config::{Environment, Paths};
use topas_format::env::{
    TOPAS_MPI, TOPAS_MPI_COMMS, TOPAS_MPI_COUNTERS, TOPAS_MPI_LOG, TOPAS_MPI_OUT, TOPAS_MPI_PATHS,
    TOPAS_MPI_PEERS, TOPAS_MPI_WAITS,
};

use topas_launch::through::leads_elsewhere;

use super::options::Wish;
use super::program::{self, ExecutableKind};
use super::way::usable;

/// What becomes of the profile.
#[derive(Debug, PartialEq, Eq)]
pub enum Profile {
    /// Nobody asks for it.
    Unwanted,
    /// This library is loaded into the program.
    Load {
        /// The library
        library: PathBuf,
        /// Whether other programs come before the program, which become it
        between: bool,
    },
    /// It was asked for and cannot be: why.
    Cannot(String),
}

impl Profile {
    /// Decides. The program is looked at only if somebody could want its profile.
    pub fn of(wish: &Wish, env: &Environment, paths: Option<&Paths>) -> Self {
        if env.is_off() {
            return Profile::Unwanted;
        }
        let asked = wish.profile.is_some();
        let Ok(found) = program::find(&wish.command, env) else { return Profile::Unwanted };
        let why = match &found.kind {
            ExecutableKind::Elf(facts) if !asked => {
                // Linked with it: its door keeps shut where `topas-run` has something loaded.
                if !facts.has_door || env.mpi() == Some(false) {
                    return Profile::Unwanted;
                }
                None
            }
            _ if !asked => return Profile::Unwanted,
            ExecutableKind::Elf(facts) if facts.has_profile => {
                // Linked statically, with its MPI: it needs the variables only.
                return Profile::Unwanted;
            }
            ExecutableKind::Elf(facts) if !facts.dynamic => Some("it is linked statically"),
            ExecutableKind::Elf(facts) if facts.holds_lib => Some("it holds its MPI"),
            ExecutableKind::Elf(facts) if facts.must_be_first => {
                Some("a memory checker must be the first library in it")
            }
            ExecutableKind::Elf(_) => None,
            ExecutableKind::Foreign => Some("it is of another machine, or of 32 bits"),
            ExecutableKind::Shell | ExecutableKind::Starter
                if leads_elsewhere(found.exe.as_bytes()) =>
            {
                Some("it runs a container: put topas-run into that")
            }
            ExecutableKind::Shell | ExecutableKind::Starter if found.exe == "valgrind" => {
                Some("a memory checker must be the first library in what it starts")
            }
            // The library waits in them for the program that has an MPI.
            ExecutableKind::Shell | ExecutableKind::Starter => None,
            ExecutableKind::Privileged => Some("it runs with the rights of another"),
            ExecutableKind::Unreadable(_) => Some("it cannot be read"),
        };
        if let Some(why) = why {
            return Profile::Cannot(why.to_owned());
        }
        let Some(library) = paths.map(Paths::mpi_library) else {
            return Profile::Cannot("topas-run does not stand in an installation".to_owned());
        };
        match usable(&library) {
            Ok(()) => Profile::Load {
                library,
                between: !matches!(found.kind, ExecutableKind::Elf(_)) || found.behind,
            },
            Err(why) => Profile::Cannot(format!("library {}: {why}", library.display())),
        }
    }

    /// The library that is loaded, if one is.
    pub fn library(&self) -> Option<&Path> {
        match self {
            Profile::Load { library, .. } => Some(library),
            _ => None,
        }
    }
}

/// What is asked of a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Messages and bytes for each peer
    pub peers: bool,
    /// Calls for each communicator
    pub comms: bool,
    /// Why ranks wait for each other
    pub waits: bool,
    /// Hardware counters around calls
    pub counters: bool,
    /// Call paths of so many frames at most; None leaves it to the site
    pub paths: Option<u32>,
    /// An event log of so many bytes for each thread at most
    pub log: Option<u64>,
    /// The user's data file
    pub out: Option<std::ffi::OsString>,
}

impl Wanted {
    /// The variables by which the library is told, with their values.
    pub fn variables(&self) -> impl Iterator<Item = (&'static str, std::ffi::OsString)> {
        let switches = [
            (TOPAS_MPI, true),
            (TOPAS_MPI_PEERS, self.peers),
            (TOPAS_MPI_COMMS, self.comms),
            (TOPAS_MPI_WAITS, self.waits),
            (TOPAS_MPI_COUNTERS, self.counters),
        ];
        let on = switches.into_iter().filter(|(_, on)| *on).map(|(name, _)| (name, "yes".into()));
        let paths = self.paths.map(|depth| (TOPAS_MPI_PATHS, depth.to_string().into()));
        let log = self.log.map(|bytes| (TOPAS_MPI_LOG, bytes.to_string().into()));
        on.chain(paths).chain(log).chain(self.out.clone().map(|file| (TOPAS_MPI_OUT, file)))
    }
}
