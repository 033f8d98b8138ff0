//! What the MPI profile costs: programs of `bench/` with each MPI, with nothing in front of it,
//! with the library in its settings, and with other things to compare with.

pub mod calls;
pub mod instructions;
pub mod start;
pub mod waits;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use super::Bench;
use crate::process::{output, root, run};

/// The MPIs of Debian.
pub const MPIS: [BenchedMpi; 2] = [
    BenchedMpi { name: "openmpi", title: "Open MPI" },
    BenchedMpi { name: "mpich", title: "MPICH" },
];

/// An MPI.
#[derive(Clone, Copy, Debug)]
pub struct BenchedMpi {
    /// The ending of its programs.
    pub name: &'static str,
    /// As people write it.
    pub title: &'static str,
}

/// A library of another tool, from the command line.
#[derive(Clone, Debug)]
pub struct Beside {
    mpi: String,
    library: PathBuf,
}

/// Reads `MPI=LIBRARY`, such as `openmpi=/opt/tool/lib/libtool.so`.
///
/// # Errors
/// If it is not of that form, or the MPI is none of ours.
pub fn beside(text: &str) -> Result<Beside> {
    let Some((mpi, library)) = text.split_once('=') else {
        bail!("'{text}' has no MPI=LIBRARY, such as openmpi=/opt/tool/lib/libtool.so");
    };
    if !MPIS.iter().any(|known| known.name == mpi) {
        bail!("'{mpi}' is none of {}", MPIS.map(|known| known.name).join(", "));
    }
    Ok(Beside { mpi: mpi.to_owned(), library: std::path::absolute(library)? })
}

/// What stands between a program and the MPI.
#[derive(Clone, Debug)]
pub struct Front {
    /// In headings.
    pub title: String,
    preload: Option<PathBuf>,
    /// The program with the object in it.
    pub linked: bool,
    environment: Vec<(&'static str, &'static str)>,
    /// Arguments of the program.
    pub arguments: &'static [&'static str],
}

/// Everything that can be counted without hardware counters: a user switches on the first, then
/// one by one.
const EVERYTHING: [(&str, &str); 3] =
    [("TOPAS_MPI", "yes"), ("TOPAS_MPI_PEERS", "yes"), ("TOPAS_MPI_COMMS", "yes")];

impl Front {
    /// Nothing.
    pub fn none(title: &str) -> Front {
        Front {
            title: title.to_owned(),
            preload: None,
            linked: false,
            environment: Vec::new(),
            arguments: &[],
        }
    }

    /// The least a wrapper can do, compiled for this MPI.
    pub fn minimal(bench: &Bench, mpi: BenchedMpi) -> Result<Front> {
        let library = bench.sub(mpi.name)?.join("minimal.so");
        let mut cc = mpi.compiler("mpicc");
        cc.args(["-shared", "-fPIC", "-ftls-model=initial-exec", "mpi_minimal.c", "-o"]);
        run(cc.arg(&library))?;
        Ok(Front { preload: Some(library), ..Front::none("minimal") })
    }

    /// The library, preloaded.
    fn library(bench: &Bench, title: &str) -> Front {
        Front { preload: Some(bench.paths.mpi_library()), ..Front::none(title) }
    }

    /// The library as a user gets it.
    pub fn profile(bench: &Bench, title: &str) -> Front {
        Front { environment: vec![EVERYTHING[0]], ..Front::library(bench, title) }
    }

    /// The same with more switched on.
    fn with(mut self, title: &str, options: &[(&'static str, &'static str)]) -> Front {
        title.clone_into(&mut self.title);
        self.environment.extend_from_slice(options);
        self
    }

    /// With peers.
    pub fn peers(bench: &Bench, title: &str) -> Front {
        Front { environment: EVERYTHING[..2].to_vec(), ..Front::library(bench, title) }
    }

    /// With all that can be switched on.
    pub fn everything(bench: &Bench, title: &str) -> Front {
        Front { environment: EVERYTHING.to_vec(), ..Front::library(bench, title) }
    }

    /// Loaded, but not wanted.
    pub fn off(bench: &Bench, title: &str) -> Front {
        Front { environment: vec![("TOPAS_MPI", "no")], ..Front::library(bench, title) }
    }

    /// The object in the program, with all that can be switched on.
    pub fn object(title: &str) -> Front {
        Front { linked: true, environment: EVERYTHING.to_vec(), ..Front::none(title) }
    }

    /// The libraries of the command line that are for this MPI.
    pub fn beside(bench: &Bench, mpi: BenchedMpi) -> Vec<Front> {
        let ours = bench.beside.iter().filter(|beside| beside.mpi == mpi.name);
        ours.map(|beside| {
            let name = beside.library.file_stem().unwrap_or_default().to_string_lossy();
            Front { preload: Some(beside.library.clone()), ..Front::none(&name) }
        })
        .collect()
    }

    /// True if it is ours, and switched on.
    pub fn counts(&self) -> bool {
        self.environment.first() == Some(&EVERYTHING[0])
    }
}

impl BenchedMpi {
    /// A compiler driver of this MPI, in `bench/`.
    pub fn compiler(self, tool: &str) -> Command {
        let mut compiler = Command::new(format!("{tool}.{}", self.name));
        compiler.current_dir(root().join("bench"));
        // MPICH's header says of MPI_STATUSES_IGNORE that it has no room.
        compiler.args(["-O2", "-Wall"]);
        if tool == "mpicc" {
            compiler.arg("-Wno-stringop-overflow");
        }
        compiler
    }

    /// `mpiexec -n RANKS` in a small environment; program and arguments follow. `dir` gets what
    /// the library writes.
    pub fn launch(self, ranks: u32, front: &Front, dir: &Path) -> Command {
        let mut launch = Command::new(format!("mpiexec.{}", self.name));
        launch.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", "/tmp").env("LANG", "C.UTF-8");
        launch.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        launch.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
        launch.env("TOPAS_LOG", format!("file:{}", dir.join("log").display()));
        launch.env("TOPAS_MPI_OUT", dir.join("topas-mpi.out")).current_dir(dir);
        launch.envs(front.environment.iter().copied());
        launch.args(["-n", &ranks.to_string()]);
        // By `env`, so that the launcher itself is without.
        if let Some(library) = &front.preload {
            launch.arg("env").arg(format!("LD_PRELOAD={}", library.display()));
        }
        launch
    }

    /// What the MPI says of itself.
    pub fn version(self) -> Result<String> {
        let said = output(Command::new(format!("mpiexec.{}", self.name)).arg("--version"))?;
        let word = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
        let version = said.split_whitespace().find(|at| word(at)).unwrap_or("?");
        Ok(format!("{} {version}", self.title))
    }
}
