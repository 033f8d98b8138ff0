//! Programs that become the program named behind them, such as `numactl`: `topas-run` looks
//! behind them, and what it has loaded into them waits for the program itself. And those behind
//! which a library of this system is not seen.

use topas_format::hash::{place, word};

/// Whether a program of this file name sets something up and becomes another by exec, as the
/// same process.
pub fn becomes_another(name: &[u8]) -> bool {
    const NAMES: [u32; 16] = [
        word(b"env"),
        word(b"nice"),
        word(b"ionice"),
        word(b"nohup"),
        word(b"numactl"),
        word(b"taskset"),
        word(b"chrt"),
        word(b"setarch"),
        word(b"linux64"),
        word(b"x86_64"),
        word(b"stdbuf"),
        word(b"prlimit"),
        word(b"choom"),
        word(b"hwloc-bind"),
        // All of them in one file.
        word(b"coreutils"),
        word(b"setpriv"),
    ];
    place(&NAMES, name).is_some()
}

/// Whether a program of this file name runs others in a root directory of their own: a loader
/// there complains of every library that is named and not to be seen.
pub fn leads_elsewhere(name: &[u8]) -> bool {
    const NAMES: [u32; 13] = [
        word(b"apptainer"),
        word(b"bwrap"),
        word(b"ch-run"),
        word(b"chroot"),
        word(b"crun"),
        word(b"docker"),
        word(b"enroot"),
        word(b"podman"),
        word(b"runc"),
        word(b"sarus"),
        word(b"shifter"),
        word(b"singularity"),
        word(b"udocker"),
    ];
    place(&NAMES, name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_elsewhere_and_starters_on_this_system_are_not() {
        assert!(
            ["apptainer", "podman", "chroot"].iter().all(|name| leads_elsewhere(name.as_bytes()))
        );
        assert!(
            !["timeout", "sh", "mpiexec", ""].iter().any(|name| leads_elsewhere(name.as_bytes()))
        );
    }

    #[test]
    fn those_that_fork_are_none() {
        for name in ["env", "numactl", "taskset", "stdbuf"] {
            assert!(becomes_another(name.as_bytes()), "{name}");
        }
        for name in ["timeout", "time", "bash", "python3", "a.out", ""] {
            assert!(!becomes_another(name.as_bytes()), "{name}");
        }
    }
}
