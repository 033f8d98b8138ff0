//! Whether the parts of the MPI profile are there, and the library loads on this node.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use topas_config::Paths;

/// The library, and what is wrong.
#[derive(Debug)]
pub struct Profile {
    /// The library that is loaded into programs
    pub library: PathBuf,
    /// Why it does not load, or which part is missing; empty if all is well
    pub faults: Vec<String>,
}

impl Profile {
    /// Looks at an installation. The library is loaded into a small program, where it does nothing.
    pub fn of(paths: &Paths) -> Self {
        let library = paths.mpi_library();
        let mut faults: Vec<String> = refusal(&library).into_iter().collect();
        let mut parts = vec![paths.mpi_object(), paths.mpi_init_object()];
        if cfg!(target_arch = "x86_64") {
            parts.extend([paths.mpi_wrap_archive(), paths.mpi_wrap_names()]);
        }
        let missing = parts.iter().filter(|part| !part.is_file());
        faults.extend(missing.map(|part| format!("{} is missing", part.display())));
        Profile { library, faults }
    }
}

/// Places of a program that only ends.
const TRUE: [&str; 2] = ["/bin/true", "/usr/bin/true"];

/// What the loader has against a library: None if it loads. A program of the system is asked, as
/// launches ask it, because a tool that is linked statically has no loader.
fn refusal(library: &Path) -> Option<String> {
    let Some(program) = TRUE.iter().find(|program| Path::new(program).exists()) else {
        return Some(format!("not tried: there is no {}", TRUE[0]));
    };
    let mut program = Command::new(program);
    program.env_clear().env("LD_PRELOAD", library).stdin(Stdio::null());
    match program.output() {
        Ok(output) if output.status.success() && output.stderr.is_empty() => None,
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.lines().next().unwrap_or_default();
            // The reason that glibc gives stands in parentheses, behind the path.
            let reason = said.split_once(" (").and_then(|(_, rest)| rest.split_once("):"));
            let reason = reason.map_or(said, |(reason, _)| reason);
            let reason = if reason.is_empty() { "the loader does not say why" } else { reason };
            Some(format!("{} does not load: {reason}", library.display()))
        }
        Err(error) => Some(format!("not tried: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_says_why_a_library_does_not_load() {
        let dir = tempfile::tempdir().unwrap();
        let library = dir.path().join("libtopas_mpi.so");
        let said = refusal(&library).expect("the file is missing");
        assert!(said.contains("cannot open shared object file"), "{said}");
        std::fs::write(&library, "no library").unwrap();
        assert!(refusal(&library).is_some());
        let source = dir.path().join("empty.c");
        std::fs::write(&source, "").unwrap();
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-o"]).args([&library, &source]);
        assert!(compiler.status().unwrap().success());
        assert_eq!(refusal(&library), None);
    }
}
