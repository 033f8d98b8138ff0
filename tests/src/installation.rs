//! MPI installations of many versions: Debian's two, and those that
//! `cargo xtask test --all-mpi` puts into a directory of its own.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::source;
use crate::mpi_installation::{Mpi, permit};
use crate::running::{command, run, system_path};
use crate::site::{Scratch, Site};

/// A family of implementations: what its launcher can do, and what it calls itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MpiKind {
    /// Open MPI, with ORTE or PRRTE
    OpenMpi,
    /// MPICH, with hydra
    Mpich,
    /// Intel MPI, with its own hydra
    Intel,
}

/// How ranks are launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    /// By our drop-in, first on PATH
    DropIn,
    /// By the MPI's own launcher, without TOPAS on PATH
    Bare,
}

/// An MPI with its launcher and compiler drivers.
#[derive(Clone, Debug)]
pub struct Installation {
    /// Such as `mpich-5.0`.
    pub name: String,
    /// What it is.
    pub kind: MpiKind,
    tools: PathBuf,
    variables: Vec<(&'static str, String)>,
}

impl Installation {
    /// Debian's package of an implementation, if it is installed.
    pub fn of_debian(mpi: Mpi) -> Option<Installation> {
        mpi.real("mpiexec")?;
        let kind = match mpi {
            Mpi::OpenMpi => MpiKind::OpenMpi,
            Mpi::Mpich => MpiKind::Mpich,
        };
        let name = format!("{}-of-debian", mpi.name());
        Some(Installation { name, kind, tools: mpi.tools(), variables: Vec::new() })
    }

    /// Those in the directory that `TOPAS_TEST_ALL_MPI` names, None without that variable.
    /// Panics if the directory holds none.
    pub fn all() -> Option<Vec<Installation>> {
        let dir = PathBuf::from(env::var_os("TOPAS_TEST_ALL_MPI")?);
        let entries = fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
        let mut all: Vec<_> =
            entries.flatten().filter_map(|entry| Installation::at(&entry.path())).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        assert!(!all.is_empty(), "no MPI in {}", dir.display());
        Some(all)
    }

    /// A virtual environment of Python with the wheels of one MPI.
    fn at(dir: &Path) -> Option<Installation> {
        let name = dir.file_name()?.to_str()?.to_owned();
        let tools = dir.join("bin");
        tools.join("mpiexec").exists().then_some(())?;
        let kind = match name.rsplit_once('-')?.0 {
            "open-mpi" => MpiKind::OpenMpi,
            "mpich" => MpiKind::Mpich,
            "intel-mpi" => MpiKind::Intel,
            other => panic!("unknown kind of MPI: {other}"),
        };
        let mut variables = Vec::new();
        if kind == MpiKind::OpenMpi {
            // Its drivers find it themselves; a program without a launcher does not.
            variables = vec![("OPAL_PREFIX", dir.display().to_string())];
        }
        if kind == MpiKind::Intel {
            let lib = dir.join("lib");
            // With its providers beside or below it.
            let fabric = [lib.join("libfabric"), lib.clone()];
            let fabric = fabric.iter().find(|dir| dir.join("libfabric.so.1").exists())?;
            let providers = [fabric.join("prov"), fabric.clone()];
            let providers = providers.iter().find(|dir| dir.exists())?;
            variables = vec![
                ("I_MPI_ROOT", dir.display().to_string()),
                ("LD_LIBRARY_PATH", format!("{}:{}", lib.display(), fabric.display())),
                ("FI_PROVIDER_PATH", providers.display().to_string()),
            ];
        }
        Some(Installation { name, kind, tools, variables })
    }

    /// Path of one of its programs, such as `mpiexec.gforker`, if it has it.
    pub fn tool(&self, name: &str) -> Option<PathBuf> {
        Some(self.tools.join(name)).filter(|path| path.exists())
    }

    /// A command of its own, or of the drop-ins in front of it, that logs into `scratch`.
    pub fn command(
        &self,
        site: &Site,
        scratch: &Scratch,
        through: Through,
        program: &str,
    ) -> Command {
        let mut command = scratch.command(program);
        let path = match through {
            Through::DropIn => site.path(&self.tools),
            Through::Bare => format!("{}:{}", self.tools.display(), system_path()),
        };
        command.env("PATH", path).envs(self.variables.iter().cloned());
        if self.kind == MpiKind::OpenMpi {
            permit(&mut command, scratch);
        }
        command
    }

    /// Builds a C program with its driver behind ours. Panics if that fails.
    #[track_caller]
    pub fn build(&self, site: &Site, scratch: &Scratch, name: &str, output: &Path) {
        let mut driver = self.command(site, scratch, Through::DropIn, "mpicc");
        // Libraries of a virtual environment are on no path of the loader.
        let lib = self.tools.parent().expect("directory of an MPI").join("lib");
        driver.arg(source(name)).arg("-o").arg(output);
        driver.arg(format!("-Wl,-rpath,{}", lib.display()));
        run(&mut driver).good();
    }

    /// The version its launcher tells, such as `4.1.4`: another source than the library.
    pub fn version(&self) -> String {
        let mut launcher = command(self.tools.join("mpiexec"));
        let said = run(launcher.arg("--version").envs(self.variables.iter().cloned())).good().out();
        let number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
        let found = said.split_whitespace().find(|word| number(word) && word.contains('.'));
        found.unwrap_or_else(|| panic!("{}: no version in {said}", self.name)).to_owned()
    }
}
