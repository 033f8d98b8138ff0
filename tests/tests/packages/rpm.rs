//! Packages of RPM, by dnf and zypper. There is no EL and no SLES here: the C library and the programs are
//! those of Debian 11, and one package without files stands for all packages of the system.

use std::fs;
use std::path::Path;
use std::process::Command;

use topas_tests::running::{command, run, run_within};
use topas_tests::site::Scratch;

use crate::{MEASURE, NEWER, TIME, inside};

/// What the packages may need of a system.
const SYSTEM: &str = "Name: system\nVersion: 8\nRelease: 1\nSummary: A system\nLicense: MIT\n\
                      BuildArch: noarch\nProvides: /bin/sh\n%description\nNothing.\n%files\n";

/// The packages by which the tools are asked for; they bring topas-hpc-center.
pub const PACKAGES: [&str; 2] = ["topas-hpc", "topas-hpc-collector"];

/// In copies of a root, installs and measures, upgrades with a topas.conf that the site has changed,
/// as the new release has, measures with the old executable, and removes.
pub fn is_installed_upgraded_and_removed(
    scratch: &Scratch,
    base: &Path,
    first: &Path,
    newer: &Path,
) {
    system(first);
    for repository in [first, newer] {
        run(command("createrepo_c").arg("--quiet").arg(repository)).good();
    }
    for tool in [dnf, zypper] {
        let root = scratch.path().join("rpm");
        run_within(command("cp").arg("-a").args([base, &root]), TIME).good();
        let call = |repository: &Path, verb: &str, packages: &[&str]| {
            run_within(&mut tool(&root, "8", repository, verb, packages), TIME).good();
        };
        let said = |script: &str| inside(&root, &format!("{MEASURE}{script}")).good().out();
        call(first, "install", &PACKAGES);
        assert_eq!(
            said("stat -c %a /var/log/topas; measure /usr; lines /var/log/topas"),
            "1733\n2 lines\n"
        );
        said("echo '# of the site' >>/etc/topas/topas.conf");
        call(newer, "update", &PACKAGES);
        let sample = format!("# The sample of {NEWER}.");
        assert_eq!(
            said(
                "cd /etc/topas; tail -q -n 1 topas.conf topas.conf.rpmnew; \
                 stat -c %a /var/log/topas; again; lines /var/log/topas"
            ),
            format!("# of the site\n{sample}\n1733\n4 lines\n")
        );
        call(newer, "remove", &["topas-hpc-center"]);
        // The programs have no configuration any more, and no line.
        assert_eq!(
            said(
                "tail -q -n 1 /etc/topas/topas.conf.rpmsave; again; lines /var/log/topas; \
                 test -e /usr/libexec/topas -o -e /usr/bin/topas -o -e /etc/topas/topas.conf || echo gone"
            ),
            "# of the site\n4 lines\ngone\n"
        );
        fs::remove_dir_all(&root).expect("the root");
    }
}

/// Makes the package of the system in a directory.
fn system(to: &Path) {
    let spec = to.join("system.spec");
    fs::write(&spec, SYSTEM).expect("a spec");
    let mut rpmbuild = command("rpmbuild");
    rpmbuild.args(["-bb", "--quiet"]);
    rpmbuild.arg(format!("--define=_topdir {}/system", to.display()));
    run(rpmbuild.arg(format!("--define=_rpmdir {}", to.display())).arg(&spec)).good();
}

/// dnf in a root of a release, with the packages of a directory and nothing else.
pub fn dnf(
    root: &Path,
    release: &str,
    repository: &Path,
    verb: &str,
    packages: &[&str],
) -> Command {
    let mut dnf = command("dnf");
    dnf.args(["--quiet", "--assumeyes", "--nogpgcheck", "--disablerepo=*"]);
    dnf.arg(format!("--releasever={release}"));
    dnf.arg("--setopt=reposdir=/dev/null").arg(format!("--installroot={}", root.display()));
    dnf.arg(format!("--setopt=cachedir={}/var/cache/dnf", root.display()));
    dnf.arg(format!("--repofrompath=topas,{}", repository.display())).arg(verb).args(packages);
    dnf
}

/// zypper in a root of a release, with the packages of a directory and nothing else.
pub fn zypper(
    root: &Path,
    release: &str,
    repository: &Path,
    verb: &str,
    packages: &[&str],
) -> Command {
    let mut zypper = command("zypper");
    zypper.arg(format!("--releasever={release}"));
    zypper.args(["--quiet", "--non-interactive", "--no-gpg-checks", "--root"]).arg(root);
    zypper.arg("--plus-repo").arg(repository).arg(verb).args(packages);
    zypper
}
