//! Instruction sets of other machines: libpfm4 built from Debian's sources, run by qemu.
//! Ignored unless asked for, because the sources are fetched.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Known, arm, compare, encodings, helper_source, power};

/// An instruction set: libpfm4's name of it, that of its compiler, that of its emulator.
struct Machine {
    arch: &'static str,
    compiler: &'static str,
    emulator: &'static str,
}

const ARM: Machine =
    Machine { arch: "arm64", compiler: "aarch64-linux-gnu-gcc", emulator: "qemu-aarch64-static" };
const POWER: Machine = Machine {
    arch: "powerpc",
    compiler: "powerpc64le-linux-gnu-gcc",
    emulator: "qemu-ppc64le-static",
};

fn good(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// libpfm4's sources of this Debian, in `dir`, from where its packages come from.
fn sources(dir: &Path) -> PathBuf {
    let format = "deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)";
    let mut targets = Command::new("apt-get");
    targets.args(["indextargets", "--format", format, "Created-By: Packages"]);
    let list = dir.join("sources.list");
    fs::write(&list, good(&mut targets)).unwrap();
    let lists = dir.join("lists");
    fs::create_dir_all(&lists).unwrap();
    for verb in [&["update"][..], &["source", "--download-only", "libpfm4"]] {
        let mut apt = Command::new("apt-get");
        apt.arg("-qq").arg("-o").arg(format!("Dir::Etc::sourcelist={}", list.display()));
        apt.args(["-o", "Dir::Etc::sourceparts=/dev/null", "-o"]);
        apt.arg(format!("Dir::State::lists={}", lists.display()));
        good(apt.args(verb).current_dir(dir));
    }
    let mut files = fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path());
    let archive = files.find(|path| path.to_string_lossy().contains(".orig.tar"));
    let tree = dir.join("tree");
    fs::create_dir_all(&tree).unwrap();
    let archive = archive.expect("an archive of sources");
    good(
        Command::new("tar").args(["--strip-components=1", "-xf"]).arg(archive).arg("-C").arg(&tree),
    );
    tree
}

fn agree(machine: &Machine, known: &[Known]) {
    let dir = tempfile::tempdir().unwrap();
    let tree = sources(dir.path());
    let Machine { arch, compiler, emulator } = machine;
    let mut make = Command::new("make");
    make.args(["-s", "CONFIG_PFMLIB_SHARED=n", "libpfm.a"]).current_dir(tree.join("lib"));
    good(make.arg(format!("ARCH={arch}")).arg(format!("CC={compiler}")));
    let helper = dir.path().join("encode");
    let mut link = Command::new(compiler);
    link.args(["-static", "-I"]).arg(tree.join("include")).arg(helper_source());
    good(link.arg(tree.join("lib/libpfm.a")).arg("-o").arg(&helper));
    let mut run = Command::new(emulator);
    run.arg(&helper);
    assert_eq!(compare(known, &encodings(run, known)), known.len());
}

#[test]
#[ignore = "cargo xtask test --arm64"]
fn arm_agrees_with_libpfm4() {
    agree(&ARM, arm::KNOWN);
}

#[test]
#[ignore = "cargo xtask test --arm64"]
fn power_agrees_with_libpfm4() {
    agree(&POWER, power::KNOWN);
}
