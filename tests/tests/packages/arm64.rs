//! The files of a release for AArch64, in a root of that processor: a Debian with a real MPICH, all of
//! whose programs qemu plays. What qemu plays has no counters, and the kernel is that of this machine.

use std::fs;
use std::path::Path;

use topas_tests::running::{Run, command, have, run_within};
use topas_tests::site::{Scratch, source_root};
use topas_tests::skip::skip;

use crate::{MEASURE, MOUNTS, TIME, copied, nix_is_root, release, tarball};

/// Tells the kernel what plays executables of AArch64, in a user namespace of its own, so that nothing
/// else on this machine has to do with the rule; and runs a script in the root. All users are there
/// under their own numbers, which somebody outside of the namespace has to say.
const ENTER: &str = r#"
    rm -f "$1/tmp/go"; mkfifo "$1/tmp/go"
    unshare --user --mount sh -ec '
        read -r go <"$1/tmp/go"
        mount -t binfmt_misc none /proc/sys/fs/binfmt_misc || exit 77
        printf %s "$RULE" >/proc/sys/fs/binfmt_misc/register
        exec chroot "$1" sh -ec "$2"' sh "$@" &
    for map in uid_map gid_map; do
        until echo 0 0 65536 2>/dev/null >/proc/$!/$map; do kill -0 $! || exit 1; sleep 0.1; done
    done
    echo >"$1/tmp/go"; wait $!"#;

/// The rule: what begins like an executable of 64 bits for processor 183.
const RULE: &str = concat!(
    r":topas-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:",
    r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:",
    "/usr/bin/qemu-aarch64-static:F"
);

/// How [`ENTER`] ends where the kernel has no such rules in a user namespace.
const NO_RULES: i32 = 77;

/// Packages of Debian, which measure programs that the drivers link and that `topas-run` starts, count
/// calls of MPI and open the MPI; then those of RPM; then the tarball, by the commands that INSTALL.md tells.
const STEPS: &str = "\
    cd /tmp/made; uname -m; dpkg -i ./topas-hpc*_arm64.deb >/tmp/log 2>&1; stat -c %a /var/log/topas; \
    for tool in -doctor -log -mpi -report -stat -top view; do topas$tool --version; done; \
    measure /usr; lines /var/log/topas; \
    topas-stat --runs --csv --columns exe,npes,mplib /var/log/topas | tail -n 1; \
    topas-stat --runs --csv --columns exe,npes,mplib /tmp/golden.log | tail -n 1; \
    mpicc --topas-explain h.c -o h | grep -o /usr/lib/topas/topas.c.o | sort -u; \
    sed 's/return/MPI_Barrier(MPI_COMM_WORLD); return/' h.c >b.c; /usr/bin/mpicc b.c -o bare; \
    mpiexec -n 2 topas-run ./bare; lines /var/log/topas; \
    mpiexec -n 2 topas-run --mpi ./bare; grep -o 'barrier *[0-9]* calls' topas-mpi.txt; \
    mpiexec -n 2 topas-mpi calibrate --longest 64 --repetitions 3 >/tmp/rows; grep -c ^Alltoall /tmp/rows; \
    dpkg -P topas-hpc-collector topas-hpc topas-hpc-center >/tmp/log 2>&1; again; \
    test -e /usr/libexec/topas -o -e /etc/topas -o -e /usr/bin/topas || echo gone; \
    test -s /var/log/topas/*.log && rm -r /var/log/topas; \
    RPM='rpm --nodeps --dbpath /tmp/db'; $RPM -i /tmp/made/topas-hpc*.aarch64.rpm; \
    measure /usr; lines /var/log/topas; $RPM -e topas-hpc-collector topas-hpc topas-hpc-center; \
    test -e /usr/libexec/topas -o -e /usr/bin/topas || echo gone; rm -r /var/log/topas; \
    cd /tmp/made\nTARBALL\nmeasure /opt/topas; lines /opt/topas/var/log/topas";

/// What [`STEPS`] print, beside the versions of seven tools.
const PRINTED: [&str; 13] = [
    "aarch64",
    "1733",
    "2 lines",
    "h,4,mpi",
    "heat,8,mpi",
    "/usr/lib/topas/topas.c.o",
    "4 lines",
    "barrier  1 calls",
    "2",
    "gone",
    "2 lines",
    "gone",
    "2 lines",
];

#[test]
#[ignore = "cargo xtask test --arm64"]
fn a_release_for_aarch64_measures_under_qemu() {
    const NAME: &str = "a_release_for_aarch64_measures_under_qemu";
    if !have("mmdebstrap") || !have("qemu-aarch64-static") || !nix_is_root() {
        return skip(NAME, "no mmdebstrap, no qemu, or not root");
    }
    let scratch = Scratch::new();
    let root = debian(&scratch);
    if inside(&root, "true").code() == NO_RULES {
        return skip(NAME, "the kernel has no rules of a user namespace for executables");
    }
    let made = scratch.path().join("made");
    release(&made, &["--processor", "aarch64"]);
    copied(&made, &root.join("tmp/made"));
    let golden = source_root().join("tests/fixtures/logs/v1/demo.log");
    fs::copy(golden, root.join("tmp/golden.log")).expect("golden lines");

    let [install, _] = tarball::documented().map(|text| text.replace("x86_64", "aarch64"));
    let steps = STEPS.replace("TARBALL", &format!("{{ {install} }} >/tmp/log 2>&1"));
    let said = inside(&root, &format!("{MEASURE}{steps}")).good().out();
    let (versions, rest): (Vec<&str>, Vec<&str>) =
        said.lines().partition(|line| line.ends_with(env!("CARGO_PKG_VERSION")));
    assert_eq!(versions.len(), 7, "{said}");
    assert_eq!(rest, PRINTED, "{said}");
}

/// A root of Debian 12 for AArch64. Its packages are unpacked and not configured, which would take
/// minutes in an emulation.
fn debian(scratch: &Scratch) -> std::path::PathBuf {
    let root = scratch.path().join("arm64");
    let mut bootstrap = command("mmdebstrap");
    bootstrap.args(["--quiet", "--variant=extract", "--architectures=arm64"]);
    bootstrap.args(["--include=?essential", "--include=gcc,libc6-dev,libmpich-dev,mpich,rpm,zstd"]);
    run_within(bootstrap.arg("bookworm").arg(&root), TIME).good();
    for name in ["mpicc", "mpiexec"] {
        std::os::unix::fs::symlink(format!("{name}.mpich"), root.join("usr/bin").join(name))
            .expect("what alternatives would link");
    }
    fs::write(root.join("etc/hosts"), "127.0.0.1 localhost\n").expect("hosts");
    fs::write(root.join("etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n").expect("passwd");
    root
}

/// A script in the root.
fn inside(root: &Path, script: &str) -> Run {
    let mut shell = command("unshare");
    let text = format!("{MOUNTS}{ENTER}");
    shell.args(["--mount", "--uts", "sh", "-c", &text, "sh"]).arg(root).arg(script);
    run_within(shell.env("RULE", RULE), TIME)
}
