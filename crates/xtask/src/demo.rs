//! `cargo xtask demo`: what TOPAS does, in two minutes, with nothing installed outside
//! the target directory but compilers and MPIs.

mod center;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use topas_config::Paths;

use crate::install::{self, install};
use crate::packages::{self, ensure};
use crate::process::{root, target_dir};

/// An MPI of Debian, whose programs have a suffix so that several can be installed.
const MPIS: [(&str, &str); 2] = [("Open MPI", "openmpi"), ("MPICH", "mpich")];

/// The commands an environment module would put in front of PATH.
const COMMANDS: [&str; 6] = ["mpicc", "mpicxx", "mpif77", "mpif90", "mpiexec", "mpirun"];

/// Runs the demo, or that of a center.
pub fn demo(is_center: bool) -> Result<()> {
    if is_center {
        return center::demo();
    }
    ensure(packages::DEMO)?;
    let dir = target_dir().join("demo");
    if dir.exists() {
        fs::remove_dir_all(&dir).with_context(|| format!("cannot clear {}", dir.display()))?;
    }
    fs::create_dir_all(&dir)?;
    let prefix = dir.canonicalize()?.join("prefix");
    say("Installing into a scratch prefix");
    install(&install::InstallOptions::into(prefix.clone()))?;
    let paths = Paths::at(&prefix);

    for (title, suffix) in MPIS {
        say(&format!("{title}: two programs, compiled and run by their usual commands"));
        let work = dir.join(suffix);
        let bin = work.join("bin");
        fs::create_dir_all(&bin)?;
        for command in COMMANDS {
            symlink(Path::new("/usr/bin").join(format!("{command}.{suffix}")), bin.join(command))?;
        }
        // MPICH's mpiexec looks for it in its own directory.
        symlink("/usr/bin/hydra_pmi_proxy", bin.join("hydra_pmi_proxy"))?;
        for source in ["f90/heat.f90", "c/cg.c"] {
            let from = root().join("tests/programs").join(source);
            let name = from.file_name().context("no file name")?;
            fs::copy(&from, work.join(name))
                .with_context(|| format!("cannot copy {}", from.display()))?;
        }
        let shell = Shell { path: search_path(&[paths.wrappers(), bin, paths.bin()])?, dir: work };
        shell.run("which mpif90 mpicc mpiexec")?;
        shell.run("mpif90 heat.f90 -o heat")?;
        shell.run("mpicc cg.c -o cg")?;
        shell.run("mpiexec -n 8 ./heat")?;
        let print = if suffix == "openmpi" { "TOPAS_PRINT=yes " } else { "" };
        shell.run(&format!("{print}mpiexec -n 8 ./cg"))?;
        // All ranks, for its user: linked by `topas`, seen by `topasview`.
        shell.run("topas mpicc cg.c -o cg")?;
        shell.run("mpiexec -n 8 ./cg")?;
        shell.run("topasview")?;
    }

    say("The log: two lines for each run, by two ranks chosen at random");
    let shell = Shell { path: search_path(&[paths.bin()])?, dir: prefix };
    shell.run("cat var/log/topas/*.log")?;
    say("The report");
    shell.run("cat var/log/topas/*.log | topas-stat")?;
    shell.run("cat var/log/topas/*.log | grep ' f90 ' | grep ' mpi ' | topas-stat")?;
    say("Done");
    println!("The prefix stays: {}", shell.dir.display());
    println!("Try your own program: export PATH={}:$PATH", paths.wrappers().display());
    Ok(())
}

fn say(title: &str) {
    println!("\n== {title}");
}

/// A search path with these directories in front.
fn search_path(first: &[PathBuf]) -> Result<OsString> {
    let old = std::env::var_os("PATH").unwrap_or_default();
    let all = first.iter().cloned().chain(std::env::split_paths(&old));
    Ok(std::env::join_paths(all)?)
}

/// A place where commands are shown and run.
struct Shell {
    path: OsString,
    dir: PathBuf,
}

impl Shell {
    fn run(&self, line: &str) -> Result<()> {
        println!("$ {line}");
        let status = Command::new("sh")
            .args(["-c", line])
            .current_dir(&self.dir)
            .env("PATH", &self.path)
            // Open MPI counts cores and refuses root; a demo has eight ranks anywhere.
            .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .status()
            .context("cannot run sh")?;
        if !status.success() {
            bail!("failed with {status}: {line}");
        }
        Ok(())
    }
}
