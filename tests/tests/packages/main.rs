//! The files of a release, as `cargo xtask release` makes them: two releases are the same, packages
//! and tarball are installed, upgraded and removed in roots of Debian that have never seen Rust, and
//! RPM and dnf take the packages with the C library of EL 8. The recipes for package managers of
//! centers install the tarball. Executables of earlier releases still write lines.

mod earlier;
mod recipes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use topas_tests::running::{Run, command, have, run, run_cargo, run_within};
use topas_tests::site::{Scratch, source_root};
use topas_tests::skip::skip;

const TIME: std::time::Duration = std::time::Duration::from_secs(1800);

/// Makes a release; its tools are those that are quick to compile, and static all the same. One at
/// a time, because objects are built in one directory.
fn release(out: &Path) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut xtask = xtask_release(out);
    run_cargo(xtask.args(["--level", "1", "--tools-profile", "dev"])).good();
}

/// `cargo xtask release` with files in `out`.
fn xtask_release(out: &Path) -> Command {
    let mut xtask = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    xtask.args(["run", "--quiet", "--package", "xtask", "--", "release", "--out"]).arg(out);
    xtask.current_dir(source_root());
    xtask
}

/// A root of a Debian with MPICH and a compiler of C.
fn debian(scratch: &Scratch, suite: &str) -> PathBuf {
    let root = scratch.path().join(suite);
    let mut bootstrap = command("mmdebstrap");
    bootstrap.args(["--quiet", "--variant=essential"]);
    bootstrap.arg("--include=gcc,libc6-dev,mpich,libmpich-dev").arg(suite).arg(&root);
    run_within(&mut bootstrap, TIME).good();
    fs::write(root.join("etc/hosts"), "127.0.0.1 localhost\n").expect("hosts");
    root
}

/// A script in a root, with the devices of this machine.
fn inside(root: &Path, script: &str) -> Run {
    const MOUNTS: &str = "mount --bind /dev \"$1/dev\" && mount -t proc proc \"$1/proc\" && \
                          hostname localhost && exec chroot \"$1\" sh -ec \"$2\"";
    let mut shell = command("unshare");
    shell.args(["--mount", "--uts", "sh", "-c", MOUNTS, "sh"]).arg(root).arg(script);
    run_within(&mut shell, TIME)
}

#[test]
#[ignore = "cargo xtask test --packages"]
fn two_releases_are_the_same_and_are_installed_and_removed() {
    const NAME: &str = "two_releases_are_the_same_and_are_installed_and_removed";
    if !have("mmdebstrap") || !nix_is_root() {
        return skip(NAME, "no mmdebstrap, or not root");
    }
    let scratch = Scratch::new();
    let (first, second) = (scratch.path().join("first"), scratch.path().join("second"));
    release(&first);
    release(&second);
    let sums = |dir: &Path| fs::read_to_string(dir.join("SHA256SUMS")).expect("checksums");
    assert_eq!(sums(&first), sums(&second));
    for suite in ["bullseye", "trixie"] {
        let root = debian(&scratch, suite);
        for entry in fs::read_dir(&first).expect("release") {
            let path = entry.expect("entry").path();
            if path.is_file() {
                fs::copy(&path, root.join("tmp").join(path.file_name().unwrap())).expect("copy");
            }
        }
        let said = inside(&root, PACKAGES).good().out();
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(
            lines,
            ["1733", "2 lines", "# of the site", "2 lines", "gone"],
            "{suite}: {said}"
        );
        let tarball = first.join(format!(
            "topas-{}-{}-linux.tar.zst",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::ARCH
        ));
        fs::create_dir(root.join("sw")).expect("directory");
        run(command("tar").arg("-C").arg(root.join("sw")).arg("--zstd").arg("-xf").arg(tarball))
            .good();
        let said = inside(&root, TARBALL).good().out();
        assert_eq!(said.lines().last(), Some("2 lines"), "{suite}: {said}");
    }
}

/// Installs the packages, measures a program, upgrades with a changed topas.conf, removes and purges.
const PACKAGES: &str = "cd /tmp; export DEBIAN_FRONTEND=noninteractive; \
    install() { dpkg -i topas-hpc-center_*.deb topas-hpc_*.deb topas-hpc-collector_*.deb; }; \
    install >log 2>&1 </dev/null; stat -c %a /var/log/topas; \
    export PATH=/usr/libexec/topas/wrappers:$PATH; \
    printf '#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); return MPI_Finalize(); }' >h.c; \
    mpicc h.c -o h; mpiexec -n 4 ./h >log 2>&1; \
    echo $(cat /var/log/topas/*.log | wc -l) lines; \
    echo '# of the site' >>/etc/topas/topas.conf; install >log 2>&1 </dev/null; \
    tail -n 1 /etc/topas/topas.conf; \
    dpkg -r topas-hpc-collector topas-hpc topas-hpc-center >log 2>&1; ./h >log 2>&1; \
    dpkg -P topas-hpc-center >log 2>&1; \
    echo $(cat /var/log/topas/*.log | head -n 2 | wc -l) lines; \
    test -e /usr/libexec/topas -o -e /etc/topas -o -e /usr/bin/topas || echo gone";

/// Installs the unpacked tarball, and measures a program.
const TARBALL: &str = "cd /tmp; /sw/topas-*/libexec/topas/topas-driver --relocate >log 2>&1; \
    export PATH=$(echo /sw/topas-*)/libexec/topas/wrappers:$PATH; \
    mpicc h.c -o h2; mpiexec -n 4 ./h2 >log 2>&1; \
    echo $(cat /sw/topas-*/var/log/topas/*.log | wc -l) lines";

fn nix_is_root() -> bool {
    run(command("id").arg("-u")).good().out().trim() == "0"
}
