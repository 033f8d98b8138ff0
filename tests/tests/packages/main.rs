//! The files of a release, as `cargo xtask release` makes them: builds in two directories are the same,
//! packages and tarball are installed, upgraded and removed in roots of Debian that have never seen
//! Rust, by dpkg, dnf and zypper. The recipes for package managers of centers install the tarball.
//! Executables of earlier releases still write lines. What README.md and INSTALL.md say holds for the
//! packages. The same files for AArch64 are installed in a root of that processor, which qemu plays.

mod arm64;
mod bits;
mod center;
mod debs;
mod documents;
mod earlier;
mod recipes;
mod rpm;
mod systems;
mod tarball;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

use topas_tests::running::{Run, command, have, run, run_within};
use topas_tests::site::{Scratch, source_root};
use topas_tests::skip::skip;

/// How long a release, a root or an installation may take on a busy machine. A release takes 11 minutes of
/// processor time, and a root one.
const TIME: std::time::Duration = std::time::Duration::from_secs(2 * 3600);

/// The version that the later of two releases says it is of.
const NEWER: &str = "99.0.0";

/// Options by which tools are quick to compile, and static all the same.
const QUICK: [&str; 4] = ["--level", "1", "--tools-profile", "dev"];

/// The date of a quick release, which sources without a repository have from nowhere else.
const DATE: (&str, &str) = ("SOURCE_DATE_EPOCH", "1700000000");

/// Makes a quick release. One at a time, because objects are built in one directory.
fn release(out: &Path, options: &[&str]) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut xtask = xtask_release();
    xtask.env(DATE.0, DATE.1);
    run_within(xtask.args(QUICK).args(options).arg("--out").arg(out), TIME).good();
}

/// A quick release of these sources, made once for all tests of this process, below the target directory.
/// What a test changes it copies. `TOPAS_TEST_RELEASE` names a release to be tested in its place, as it is.
fn quick_release() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        if let Some(made) = std::env::var_os("TOPAS_TEST_RELEASE") {
            return made.into();
        }
        let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join("release");
        let _ = fs::remove_dir_all(&made);
        release(&made, &[]);
        made
    })
}

/// Copies a file into a directory, or a directory to a new one.
fn copied(from: &Path, to: &Path) {
    run_within(command("cp").arg("-r").args([from, to]), TIME).good();
}

/// The Cargo that runs the tests.
fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// `cargo xtask release` of these sources.
fn xtask_release() -> Command {
    let mut xtask = Command::new(cargo());
    xtask.args(["run", "--quiet", "--package", "xtask", "--", "release"]);
    xtask.current_dir(source_root());
    xtask
}

/// A root of a Debian with MPICH, a compiler of C, and what unpacks the tarball.
fn debian(scratch: &Scratch, suite: &str) -> PathBuf {
    let root = scratch.path().join(suite);
    let mut bootstrap = command("mmdebstrap");
    // What happens to the root if the machine loses its power does not matter.
    bootstrap.args(["--quiet", "--variant=essential", "--dpkgopt=force-unsafe-io"]);
    bootstrap.arg("--include=gcc,libc6-dev,mpich,libmpich-dev,zstd").arg(suite).arg(&root);
    run_within(&mut bootstrap, TIME).good();
    fs::write(root.join("etc/hosts"), "127.0.0.1 localhost\n").expect("hosts");
    root
}

/// Gives a root the devices of this machine, shared memory for ranks of any user, and a name.
const MOUNTS: &str = "set -e; mount --bind /dev \"$1/dev\"; mount -t proc proc \"$1/proc\"; \
                      mount -t tmpfs -o mode=1777 shm \"$1/dev/shm\"; \
                      mount --bind /sys \"$1/sys\"; hostname localhost; ";

/// A script in a root.
fn inside(root: &Path, script: &str) -> Run {
    let text = format!("{MOUNTS}exec chroot \"$1\" sh -ec \"$2\"");
    let mut shell = command("unshare");
    shell.args(["--mount", "--uts", "sh", "-c", &text, "sh"]).arg(root).arg(script);
    run_within(&mut shell, TIME)
}

#[test]
#[ignore = "cargo xtask test --packages"]
fn a_release_is_installed_upgraded_and_removed() {
    const NAME: &str = "a_release_is_installed_upgraded_and_removed";
    let all = ["createrepo_c", "dnf", "mmdebstrap", "zypper"];
    if !all.iter().all(|tool| have(tool)) || !nix_is_root() {
        return skip(NAME, "no createrepo_c, dnf, mmdebstrap or zypper, or not root");
    }
    let scratch = Scratch::new();
    let (first, newer) = (scratch.path().join("first"), scratch.path().join("newer"));
    copied(quick_release(), &first);
    release(&newer, &["--as-version", NEWER]);
    for suite in ["bullseye", "bookworm", "trixie"] {
        let root = debian(&scratch, suite);
        for release in [&first, &newer] {
            copied(release, &root.join("tmp").join(release.file_name().unwrap()));
        }
        if suite == "bullseye" {
            rpm::is_installed_upgraded_and_removed(&scratch, &root, &first, &newer);
        }
        debs::are_installed_upgraded_and_removed(&root);
        tarball::is_installed_and_upgraded(&root);
        if suite == "bookworm" {
            documents::hold_for_the_packages(&root);
        }
        fs::remove_dir_all(&root).expect("the root");
    }
}

/// Shell functions for scripts in a root: `measure` compiles and runs a program with the drivers of a
/// prefix, `again` runs it once more, `lines` counts the lines in a directory of logs.
const MEASURE: &str = "\
    measure() { cd /tmp; PATH=$1/libexec/topas/wrappers:$PATH; \
    printf '#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); return MPI_Finalize(); }' >h.c; \
    mpicc h.c -o h; again; }; \
    again() { mpiexec -n 4 /tmp/h >/tmp/log 2>&1; }; \
    lines() { echo $(cat $1/*.log | wc -l) lines; }; ";

fn nix_is_root() -> bool {
    run(command("id").arg("-u")).good().out().trim() == "0"
}
