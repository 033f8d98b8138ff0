//! Debian packages that the demo and the tests need.

use std::io::{IsTerminal, Write};
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::process::{on_path, output, run};

/// Compilers and both MPIs.
pub const DEMO: &[&str] = &[
    "binutils",
    "gcc",
    "g++",
    "gfortran",
    "openmpi-bin",
    "libopenmpi-dev",
    "mpich",
    "libmpich-dev",
];

/// What the site of documentation takes beside mdBook.
pub const SITE: &[&str] = &["mandoc"];

/// What the tests use beyond that.
pub const TEST: &[&str] = &[
    "acl",
    "ccache",
    "clang",
    "file",
    "fonts-croscore",
    "gawk",
    "gdb",
    "gnuplot-nox",
    "libcoarrays-openmpi-dev",
    "libpapi-dev",
    "libpfm4-dev",
    "libpocl2",
    "librsvg2-bin",
    "libxml2-utils",
    "likwid",
    "linux-perf",
    "libpython3-dev",
    "lld",
    "lmod",
    "logrotate",
    "man-db",
    "mold",
    "musl-tools",
    "ocl-icd-opencl-dev",
    "perl",
    "pvm",
    "pvm-dev",
    "python3-dev",
    "python3-mpi4py",
    "python3-numpy",
    "python3-scipy",
    "r-base-core",
    "rsyslog",
    "rsyslog-relp",
    "scalapack-mpi-test",
    "sccache",
    "strace",
    "systemd",
    "time",
    "tzdata",
    "valgrind",
    "xz-utils",
    "zstd",
];

/// Build systems that the tests drive.
pub const BUILDS: &[&str] =
    &["autoconf", "automake", "cmake", "make", "meson", "ninja-build", "pkg-config"];

/// Those of the slower set.
pub const MORE_BUILDS: &[&str] = &["libboost-tools-dev", "libtool", "python3-setuptools", "scons"];

/// What the real projects need. Their sources come from Debian's archive and PyPI.
pub const PROJECTS: &[&str] = &[
    "libblas-dev",
    "liblapack-dev",
    "libmetis-dev",
    "libscalapack-openmpi-dev",
    "libscotch-dev",
    "python3-pip",
    "zlib1g-dev",
];

/// A Slurm that runs on one machine, and the database of its accounting.
pub const SLURM: &[&str] =
    &["mariadb-server-core", "munge", "slurm-client", "slurmctld", "slurmd", "slurmdbd"];

/// A real program with tests of its own: PETSc on Open MPI, of Debian 12.
pub const PROGRAMS: &[&str] = &["libpetsc-real3.18-dev", "libpetsc3.18-dev-examples", "pkg-config"];

/// A server of ssh, by which readers on other nodes are reached.
pub const FULL: &[&str] = &["openssh-server"];

/// A browser that draws without a screen.
pub const BROWSER: &[&str] = &["chromium"];

/// Databases that several machines share.
pub const STORES: &[&str] = &["clickhouse-server", "postgresql-15"];

/// What makes packages, roots of other Debians, and what installs the packages in these roots.
pub const RELEASE: &[&str] = &[
    "busybox-static",
    "createrepo-c",
    "dnf",
    "gnupg",
    "mmdebstrap",
    "musl-tools",
    "python3-venv",
    "rpm",
    "zstd",
    "zypper",
];

/// Virtual environments of Python, with pip in them.
pub const VENV: &[&str] = &["python3-venv"];

/// Compilers and emulators for AArch64 and POWER.
pub const ARM64: &[&str] = &[
    "gcc-aarch64-linux-gnu",
    "gcc-powerpc64le-linux-gnu",
    "libc6-dev-arm64-cross",
    "libc6-dev-ppc64el-cross",
    "make",
    "qemu-user-static",
];

/// The architecture of Debian that [`MUSL_ARM64`] is of.
pub const ARM64_ARCHITECTURE: &str = "arm64";

/// The C library of static tools for AArch64.
pub const MUSL_ARM64: &[&str] = &["musl-dev:arm64"];

/// A machine for AArch64, and what fills it.
pub const QEMU_PMU: &[&str] =
    &["cpio", "gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-system-arm"];

/// Installs what is missing: says what, and asks if somebody is there to answer.
pub fn ensure(wanted: &[&str]) -> Result<()> {
    let missing: Vec<&str> = wanted.iter().copied().filter(|p| !is_installed(p)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(" ");
    if !on_path("apt-get") {
        bail!("these Debian packages are missing, and there is no apt-get: {names}");
    }
    println!("needed and not installed: {names}");
    if std::io::stdin().is_terminal() {
        print!("install them with apt-get? [y/N] ");
        std::io::stdout().flush()?;
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer)?;
        if !answer.trim().eq_ignore_ascii_case("y") {
            bail!("not installed: {names}");
        }
    }
    run(apt().args(["update", "-qq"]))?;
    run(apt().args(["install", "-y", "-qq", "--no-install-recommends"]).args(&missing))
}

/// Makes packages of another architecture of Debian known to `apt-get`, if it is not known yet.
///
/// # Errors
/// Of `dpkg`, also where there is none.
pub fn ensure_architecture(name: &str) -> Result<()> {
    let print = |option: &str| output(Command::new("dpkg").arg(option));
    let known = print("--print-architecture")? + &print("--print-foreign-architectures")?;
    if known.lines().any(|line| line == name) {
        return Ok(());
    }
    run(as_root("dpkg").args(["--add-architecture", name]))
}

fn is_installed(package: &str) -> bool {
    let query = Command::new("dpkg-query")
        .args(["-W", "-f", "${db:Status-Abbrev}", package])
        .stderr(Stdio::null())
        .output();
    query.is_ok_and(|out| out.stdout.starts_with(b"ii"))
}

/// `apt-get` without questions.
fn apt() -> Command {
    let mut apt = as_root("apt-get");
    apt.env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null());
    apt
}

/// A program, through sudo for anybody but root.
fn as_root(program: &str) -> Command {
    let root = Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout == b"0\n");
    let mut command = if root { Command::new(program) } else { Command::new("sudo") };
    if !root {
        command.arg(program);
    }
    command
}
