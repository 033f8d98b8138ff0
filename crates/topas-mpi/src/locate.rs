//! Which MPI the launcher belongs to.

use std::path::PathBuf;

use nix::unistd::getppid;
use topas_config::Environment;

/// Names that libraries of MPI have: of Open MPI, MPICH and its relatives, Debian's MPICH, and
/// with the standard's binary interface.
const OPEN_MPI: &[&str] = &["libmpi.so.40", "libmpi.so.80"];
const MPICH: &[&str] = &["libmpi.so.12", "libmpich.so.12"];
const STANDARD: &[&str] = &["libmpi_abi.so.1", "libmpi_abi.so.0"];

/// Libraries to be tried, the most likely first: beside the programs that started this one, then
/// where the loader looks.
pub fn candidates(env: &Environment) -> Vec<PathBuf> {
    let is_open_mpi = ["OMPI_COMM_WORLD_SIZE", "PMIX_RANK"].iter().any(|v| env.get(v).is_some());
    let names: Vec<&str> = match is_open_mpi && env.get("PMI_RANK").is_none() {
        true => [OPEN_MPI, MPICH, STANDARD].concat(),
        false => [MPICH, OPEN_MPI, STANDARD].concat(),
    };
    let mut found: Vec<PathBuf> = Vec::new();
    for prefix in prefixes() {
        for (dir, name) in ["lib", "lib64", "lib/release", "lib/x86_64-linux-gnu"]
            .iter()
            .flat_map(|dir| names.iter().map(move |name| (dir, name)))
        {
            let path = prefix.join(dir).join(name);
            if path.exists() && !found.contains(&path) {
                found.push(path);
            }
        }
    }
    // Of a prefix that has several the likely one.
    let place =
        |path: &PathBuf| names.iter().position(|name| path.ends_with(name)).unwrap_or(names.len());
    found.sort_by_key(place);
    found.extend(names.iter().map(PathBuf::from));
    found
}

/// Where the programs that started this one are installed: the launcher is one of them.
fn prefixes() -> Vec<PathBuf> {
    let mut prefixes: Vec<PathBuf> = Vec::new();
    let mut pid = getppid().as_raw();
    for _ in 0..16 {
        if pid <= 1 {
            break;
        }
        let exe = nix::fcntl::readlink(format!("/proc/{pid}/exe").as_str()).map(PathBuf::from);
        let prefix = exe.ok().and_then(|exe| Some(exe.parent()?.parent()?.to_owned()));
        prefixes.extend(prefix.filter(|prefix| !prefixes.contains(prefix)));
        let Some(parent) = topas_mpi_data::parent_of(pid) else { break };
        pid = parent;
    }
    prefixes
}
