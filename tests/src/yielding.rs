//! Ranks of MPICH that leave the processor to others while they wait.
//!
//! Open MPI's do where there are more ranks than processors. MPICH 4.0 spins: a program of four
//! ranks with 600 collectives takes 5 s on two busy processors, and 0.4 s with what is built here.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::OnceLock;

use crate::running::{command, run};
use crate::site::{source_root, work_dir};

/// What the loader looks for.
const NAME: &str = "libucp.so.0";

/// Makes a launcher's ranks leave the processor to others, by a library in front of UCX's.
/// `TOPAS_TEST_SPIN=1` leaves them as they are.
pub fn yielding(launch: &mut Command) -> &mut Command {
    static DIRECTORY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let made = || if env::var_os("TOPAS_TEST_SPIN").is_some() { None } else { make() };
    let Some(dir) = DIRECTORY.get_or_init(made) else { return launch };
    let mut path = OsString::from(dir);
    let before = launch.get_envs().find(|(name, _)| *name == "LD_LIBRARY_PATH");
    if let Some(before) = before.and_then(|(_, before)| before) {
        path.push(":");
        path.push(before);
    }
    launch.env("LD_LIBRARY_PATH", path)
}

/// The directory with the library; `None` if MPICH does not stand on a shared library of UCX.
fn make() -> Option<PathBuf> {
    let real = ["/lib", "/usr/lib", "/lib64", "/usr/lib64"]
        .iter()
        .flat_map(|dir| [PathBuf::from(dir), Path::new(dir).join(multiarch())])
        .map(|dir| dir.join(NAME))
        .find(|path| path.is_file())?;
    let dir = work_dir().join("mpich/yielding");
    fs::create_dir_all(&dir).expect("make directory");
    let made = dir.join(NAME);
    if !made.exists() {
        // Others may make it, too.
        let own = |name: &str| dir.join(format!("{name}.{}", process::id()));
        let (behind, library) = (own("behind"), own(NAME));
        // The real one is needed by its path, because our own has its name.
        run(shared(&real, &behind).args(["-x", "c", "/dev/null"])).good();
        let mut link = shared(Path::new(NAME), &library);
        link.args(["-O1", "-fPIC"]).arg(source_root().join("tests/src/yielding.c"));
        run(link.arg("-Wl,--no-as-needed").arg(&behind)).good();
        fs::rename(&library, &made).expect("rename");
        fs::remove_file(&behind).expect("remove");
    }
    Some(dir)
}

/// A link of a shared library with this name for the loader.
fn shared(name: &Path, output: &Path) -> Command {
    let mut link = command("gcc");
    link.arg("-shared").arg(format!("-Wl,-soname,{}", name.display())).arg("-o").arg(output);
    link
}

/// Debian's directory of libraries for this processor.
fn multiarch() -> String {
    format!("{}-linux-gnu", env::consts::ARCH)
}
