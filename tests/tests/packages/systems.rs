//! What the packages of RPM need, beside what EL 8, 9 and 10 and SLES 15 have: in a root with nothing but
//! one package that stands for such a system. It provides the versions of glibc of the system, has its
//! directories, and a shell without libraries.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use topas_tests::running::{command, have, run, run_within};
use topas_tests::site::{Scratch, source_root};
use topas_tests::skip::skip;

use crate::rpm::{PACKAGES, dnf, zypper};
use crate::{TIME, copied, nix_is_root, quick_release};

/// What calls a package manager: with a root, a release, a directory of packages, a verb and names.
type PackageManager = fn(&Path, &str, &Path, &str, &[&str]) -> Command;

/// The systems: a name, its release, the last number of the version of its glibc, and its package manager.
const SYSTEMS: [(&str, &str, u32, PackageManager); 4] = [
    ("el-8", "8", 28, dnf),
    ("el-9", "9", 34, dnf),
    ("el-10", "10", 39, dnf),
    ("sles-15-sp5", "15.5", 31, zypper),
];

/// A version of glibc that divides these systems, and a package that needs this version: shows that what
/// a system lacks is refused.
const DIVIDING: u32 = 34;
const PROBE: &str = "needs-glibc";

/// Directories that packages of each system have, and their modes. A package that had one of them with
/// another mode would be refused.
const DIRECTORIES: [(&str, &str); 12] = [
    ("/etc", "0755"),
    ("/usr", "0755"),
    ("/usr/bin", "0555"),
    ("/usr/include", "0755"),
    ("/usr/lib", "0555"),
    ("/usr/lib/systemd", "0755"),
    ("/usr/lib/systemd/system", "0755"),
    ("/usr/lib/tmpfiles.d", "0755"),
    ("/usr/libexec", "0755"),
    ("/usr/share/doc", "0755"),
    ("/usr/share/man/man1", "0755"),
    ("/var/log", "0755"),
];

/// All that a package may require of a system: a shell, and what RPM 4.6 of RHEL 6 and every later one
/// can read. Features of later ones, such as a payload of zstd, would not do for EL 8.
const REQUIRED: [&str; 5] = [
    "/bin/sh",
    "rpmlib(CompressedFileNames) <= 3.0.4-1",
    "rpmlib(FileDigests) <= 4.6.0-1",
    "rpmlib(PayloadFilesHavePrefix) <= 4.0-1",
    "rpmlib(PayloadIsXz) <= 5.2-1",
];

#[test]
#[ignore = "cargo xtask test --packages"]
fn packages_need_no_more_than_each_system_has() {
    const NAME: &str = "packages_need_no_more_than_each_system_has";
    let all = ["busybox", "createrepo_c", "dnf", "rpmbuild", "zypper"];
    if !all.iter().all(|tool| have(tool)) || !nix_is_root() {
        return skip(NAME, "no busybox, createrepo_c, dnf, rpmbuild or zypper, or not root");
    }
    let scratch = Scratch::new();
    let repository = scratch.sub("packages");
    for package in fs::read_dir(quick_release()).expect("release").map(|e| e.unwrap().path()) {
        if package.extension().is_some_and(|extension| extension == "rpm") {
            is_readable_everywhere(&package);
            copied(&package, &repository);
        }
    }
    rpmbuild(&scratch, &repository, &probe());
    for (name, release, glibc, manager) in SYSTEMS {
        rpmbuild(&scratch, &repository, &system(release, glibc));
        run(command("createrepo_c").arg("--quiet").arg(&repository)).good();
        let root = scratch.sub(name);
        let call = |verb: &str, packages: &[&str]| {
            run_within(&mut manager(&root, release, &repository, verb, packages), TIME)
        };
        call("install", &PACKAGES).good();
        tools_start(&root);
        let probed = call("install", &[PROBE]);
        let said = format!("{name}: {}{}", probed.out(), probed.err());
        assert_eq!(root.join(PROBE).exists(), glibc >= DIVIDING, "{said}");
        if glibc < DIVIDING {
            assert!(said.contains(&format!("GLIBC_2.{DIVIDING}")), "{said}");
        }
        call("remove", &["topas-hpc-center"]).good();
        assert!(!root.join("usr/bin/topas-stat").exists(), "{name}");
        assert!(!root.join("usr/libexec/topas").exists(), "{name}");
        fs::remove_dir_all(&root).expect("the root");
    }
}

/// What a package requires of a system, and which digests it has: EL 9 takes none of SHA-1 or MD5 alone.
fn is_readable_everywhere(package: &Path) {
    let told = run(command("rpm").args(["-qp", "--requires"]).arg(package)).good().out();
    let ours = |line: &&str| line.starts_with("topas-hpc") || line.starts_with("config(topas-hpc");
    let others: Vec<&str> = told.lines().filter(|line| !ours(line)).collect();
    let unknown: Vec<&&str> = others.iter().filter(|line| !REQUIRED.contains(line)).collect();
    assert!(!others.is_empty() && unknown.is_empty(), "{}: {unknown:?}", package.display());
    let mut query = command("rpm");
    query.args(["-qp", "--qf", "%{SHA256HEADER} %{PAYLOADDIGESTALGO} %{FILEDIGESTALGO}"]);
    let told = run(query.arg(package)).good().out();
    let (header, others) = told.split_once(' ').expect("three words");
    // 8 is SHA-256.
    assert!(header.len() == 64 && others == "8 8", "{}: {told}", package.display());
}

/// Every tool starts without a library of C, and one of them reads a log.
fn tools_start(root: &Path) {
    let inside = |words: &[&str]| run(command("chroot").arg(root).args(words)).good().out();
    let mut tools: Vec<String> =
        fs::read_dir(root.join("usr/bin")).expect("tools").fold(Vec::new(), |mut tools, entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            tools.extend(name.starts_with("topas").then_some(name));
            tools
        });
    tools.sort();
    assert_eq!(tools.len(), 9, "{tools:?}");
    for tool in &tools {
        let told = inside(&[tool, "--version"]);
        assert!(told.contains(env!("CARGO_PKG_VERSION")), "{tool}: {told}");
    }
    let log = source_root().join("tests/fixtures/logs/v1/demo.log");
    fs::copy(&log, root.join("demo.log")).expect("golden lines");
    let told = inside(&["topas-stat", "--csv", "/demo.log"]);
    assert!(told.lines().count() > 1, "{told}");
}

/// The package that stands for a system. It has one name for all, so that the next one replaces it.
fn system(release: &str, glibc: u32) -> String {
    let mut spec = head("system", "1");
    let _ = write!(spec, "Provides: system-release = {release} /bin/sh libc.so.6()(64bit)");
    spec += " libc.so.6(GLIBC_2.2.5)(64bit)";
    for number in 3..=glibc {
        let _ = write!(spec, " libc.so.6(GLIBC_2.{number})(64bit)");
    }
    spec += "\n%description\nA system.\n%install\n";
    for (directory, _) in DIRECTORIES {
        let _ = writeln!(spec, "mkdir -p %{{buildroot}}{directory}");
    }
    spec += "ln -s usr/bin %{buildroot}/bin\ncp /bin/busybox %{buildroot}/usr/bin\n\
             for name in rm sh; do ln -s busybox %{buildroot}/usr/bin/$name; done\n\
             %files\n/bin\n/usr/bin/busybox\n/usr/bin/rm\n/usr/bin/sh\n";
    for (directory, mode) in DIRECTORIES {
        let _ = writeln!(spec, "%dir %attr({mode},root,root) {directory}");
    }
    spec
}

/// The package that needs a version of glibc, and has a file by which its installation is seen.
fn probe() -> String {
    let head = head(PROBE, "1");
    format!(
        "{head}Requires: libc.so.6(GLIBC_2.{DIVIDING})(64bit)\n%description\nA probe.\n\
         %install\nmkdir -p %{{buildroot}}; touch %{{buildroot}}/{PROBE}\n%files\n/{PROBE}\n"
    )
}

fn head(name: &str, version: &str) -> String {
    format!(
        "%global debug_package %{{nil}}\n%global __os_install_post %{{nil}}\nName: {name}\n\
         Version: {version}\nRelease: 1\nSummary: {name}\nLicense: MIT\nAutoReqProv: no\n"
    )
}

/// Makes a package of a spec in a directory.
fn rpmbuild(scratch: &Scratch, to: &Path, spec: &str) {
    let path = scratch.path().join("spec");
    fs::write(&path, spec).expect("a spec");
    let mut rpmbuild = command("rpmbuild");
    rpmbuild.args(["-bb", "--quiet"]);
    rpmbuild.arg(format!("--define=_topdir {}/rpmbuild", scratch.path().display()));
    let made = scratch.path().join("rpmbuild/RPMS");
    run(rpmbuild.arg(&path)).good();
    run(command("sh").args(["-c", "mv \"$1\"/*/*.rpm \"$2\"", "sh"]).args([&made, to])).good();
}
