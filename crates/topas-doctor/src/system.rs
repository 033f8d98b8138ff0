//! What the kernel, a container and limits of this process have to say about counting.

use std::path::Path;

use nix::sys::resource::{Resource, getrlimit};
use nix::unistd::geteuid;
use topas_config::Environment;

use crate::procfs;

/// Bits of `CapEff`: capabilities that lift `perf_event_paranoid`.
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;

/// Descriptors a measuring rank has open at most.
const DESCRIPTORS: u64 = 16;

/// Mode of seccomp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seccomp {
    /// No filter
    Off,
    /// `read`, `write`, `exit` only
    Strict,
    /// A filter decides
    Filter,
}

impl Seccomp {
    /// For people.
    pub fn word(self) -> &'static str {
        match self {
            Seccomp::Off => "off",
            Seccomp::Strict => "strict",
            Seccomp::Filter => "filter",
        }
    }
}

/// Facts about kernel and process; None is "not known".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct System {
    /// Kernel release
    pub kernel: Option<String>,
    /// `/proc/sys/kernel/perf_event_paranoid`
    pub paranoid: Option<i64>,
    /// Whether this process may count whatever that says
    pub privileged: bool,
    /// seccomp of this process
    pub seccomp: Option<Seccomp>,
    /// `/proc/sys/kernel/nmi_watchdog`: whether the kernel holds one counter per core
    pub nmi_watchdog: Option<bool>,
    /// Signs of a container
    pub container: Vec<String>,
    /// Soft limit of open files
    pub open_files: Option<u64>,
    /// Effective user
    pub uid: u32,
}

impl System {
    /// Reads them; `root` is where the file systems of the kernel are.
    pub fn read(root: &Path, env: &Environment) -> Self {
        let sysctl = |name: &str| {
            procfs::text(&root.join("proc/sys/kernel").join(name)).map(|t| t.trim().to_owned())
        };
        let status = procfs::text(&root.join("proc/self/status")).unwrap_or_default();
        let field = |key: &str| {
            status.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix(':').map(str::trim))
        };
        let capabilities =
            field("CapEff").and_then(|hex| u64::from_str_radix(hex, 16).ok()).unwrap_or(0);
        System {
            kernel: sysctl("osrelease").filter(|text| !text.is_empty()),
            paranoid: sysctl("perf_event_paranoid").and_then(|text| text.parse().ok()),
            privileged: [CAP_SYS_ADMIN, CAP_PERFMON].iter().any(|c| capabilities >> c & 1 == 1),
            seccomp: field("Seccomp").and_then(|mode| match mode {
                "0" => Some(Seccomp::Off),
                "1" => Some(Seccomp::Strict),
                "2" => Some(Seccomp::Filter),
                _ => None,
            }),
            nmi_watchdog: sysctl("nmi_watchdog").map(|text| text != "0"),
            container: container(root, env),
            open_files: getrlimit(Resource::RLIMIT_NOFILE).ok().map(|(soft, _)| soft),
            uid: geteuid().as_raw(),
        }
    }

    /// What the value of `perf_event_paranoid` means for a user without privileges.
    pub fn paranoid_means(&self) -> &'static str {
        match self.paranoid {
            None => "not readable: only trying to count can tell",
            Some(i64::MIN..=1) => "users can count own processes, in the kernel too",
            Some(2) => "users can count own processes in user mode: all that TOPAS needs",
            Some(_) => {
                "on kernels of Debian, Ubuntu and Android users cannot count; the mainline kernel \
                 takes it as 2"
            }
        }
    }

    /// Whether users may be refused what this process is allowed.
    pub fn users_may_be_refused(&self) -> bool {
        self.privileged && self.paranoid.is_none_or(|level| level > 2)
    }

    /// Whether the limit of open files leaves room for the counters of a rank.
    pub fn has_descriptors(&self) -> bool {
        self.open_files.is_none_or(|limit| limit >= 4 * DESCRIPTORS)
    }
}

/// Signs that this is a container, each in words.
fn container(root: &Path, env: &Environment) -> Vec<String> {
    let mut signs = Vec::new();
    for (file, what) in [(".dockerenv", "Docker"), ("run/.containerenv", "Podman")] {
        if root.join(file).exists() {
            signs.push(format!("{what} (/{file})"));
        }
    }
    for (name, what) in [
        ("APPTAINER_CONTAINER", "Apptainer"),
        ("SINGULARITY_CONTAINER", "Singularity"),
        ("KUBERNETES_SERVICE_HOST", "Kubernetes"),
        ("container", "a container manager"),
    ] {
        if env.get(name).is_some_and(|value| !value.is_empty()) {
            signs.push(format!("{what} (${name})"));
        }
    }
    signs
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn made(files: &[(&str, &str)], env: &[(&str, &str)]) -> System {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        System::read(root.path(), &env.iter().copied().collect())
    }

    #[test]
    fn facts_come_from_the_files_of_the_kernel() {
        let system = made(
            &[
                ("proc/sys/kernel/perf_event_paranoid", "4\n"),
                ("proc/sys/kernel/nmi_watchdog", "1\n"),
                ("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n"),
                ("proc/self/status", "Name:\tx\nCapEff:\t0000004000000000\nSeccomp:\t2\n"),
                (".dockerenv", ""),
            ],
            &[("container", "podman"), ("SINGULARITY_CONTAINER", "")],
        );
        assert_eq!(system.paranoid, Some(4));
        assert!(system.privileged && system.users_may_be_refused());
        assert_eq!(system.seccomp, Some(Seccomp::Filter));
        assert_eq!(system.nmi_watchdog, Some(true));
        assert_eq!(system.kernel.as_deref(), Some("6.1.0-18-amd64"));
        assert_eq!(system.container, ["Docker (/.dockerenv)", "a container manager ($container)"]);
        assert!(system.paranoid_means().contains("cannot count"));
    }

    #[test]
    fn what_cannot_be_read_is_not_known() {
        let system = made(&[("proc/self/status", "CapEff:\t0\n")], &[]);
        assert_eq!((system.paranoid, system.seccomp, system.nmi_watchdog), (None, None, None));
        assert!(!system.privileged && system.container.is_empty() && system.kernel.is_none());
        assert!(system.paranoid_means().contains("not readable"));
    }

    #[test]
    fn negative_levels_are_numbers() {
        let system = made(&[("proc/sys/kernel/perf_event_paranoid", "-1\n")], &[]);
        assert_eq!(system.paranoid, Some(-1));
        assert!(!system.users_may_be_refused());
    }
}
