//! The recipes of a release install the tarball, and what they install measures a program: EasyBuild
//! and RPM for real, Spack's recipe by a stand-in for what it takes from Spack.

use std::fs;
use std::path::{Path, PathBuf};

use topas_tests::running::{Run, command, have, run, run_cargo, run_within};
use topas_tests::site::{Scratch, source_root};
use topas_tests::skip::skip;

use crate::documents::documented_command;
use crate::{TIME, copied, nix_is_root, quick_release, xtask_release};

/// Compiles a program by the drivers on `PATH`, runs it, and tells how many lines it left in the
/// log of the prefix.
const MEASURED: &str = "mpicc \"$SOURCE\" -o h && mpiexec -n 4 ./h >/dev/null && \
                        echo $(cat \"$TOPAS_ROOT\"/var/log/topas/*.log | wc -l) lines";

/// A script that has the release in its directory, with what makes ranks of root start.
fn script(dir: &Path, text: &str) -> Run {
    let mut shell = command("bash");
    shell.args(["-ec", text]).current_dir(dir);
    shell.env("SOURCE", source_root().join("tests/programs/c/hello.c"));
    shell.env("HOME", dir).env("USER", "root");
    shell.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    shell.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    run_within(&mut shell, TIME)
}

/// The release's file with this end.
fn file(dir: &Path, end: &str) -> PathBuf {
    let mut all = fs::read_dir(dir).expect("release").map(|entry| entry.unwrap().path());
    all.find(|path| path.to_str().unwrap().ends_with(end)).expect(end)
}

fn installs_and_measures(said: &str) {
    assert_eq!(said.lines().last(), Some("2 lines"), "{said}");
}

#[test]
#[ignore = "cargo xtask test --packages"]
fn recipes_install_what_measures() {
    const NAME: &str = "recipes_install_what_measures";
    if !have("mpiexec") || !have("rpmbuild") || !nix_is_root() {
        return skip(NAME, "no mpiexec, no rpmbuild, or not root");
    }
    let scratch = Scratch::new();
    let made = scratch.path().join("made");
    copied(quick_release(), &made);

    let eb = file(&made, ".eb");
    let Some(python) = std::env::var_os("TOPAS_TEST_EASYBUILD") else {
        return skip(NAME, "no EasyBuild: TOPAS_TEST_EASYBUILD");
    };
    let options = "--prefix=$PWD/eb --sourcepath=$PWD --modules-tool=Lmod --module-syntax=Lua \
                   --disable-rpath --allow-use-as-root-and-accept-consequences";
    let module = "module use eb/modules/all; module load topas-hpc";
    let text = format!(
        "source /etc/profile.d/lmod.sh; {} -m easybuild.main {} {options} >log 2>&1 || {{ cat log; exit 1; }}; \
         {module}; TOPAS_ROOT=$EBROOTTOPASMINHPC; {MEASURED}",
        Path::new(&python).display(),
        eb.display()
    );
    installs_and_measures(&script(&made, &text).good().out());

    // Below a directory of its own, which only this script sees.
    let spec = file(&made, ".spec").display().to_string();
    let place = "/opt/ohpc/pub/utils/topas/*";
    let text = format!(
        "rpmbuild -bb --quiet --define \"_sourcedir $PWD\" --define \"_topdir $PWD/rpm\" {spec} >log \
         2>&1 || {{ cat log; exit 1; }}; unshare --mount bash -ec 'mount -t tmpfs none /opt; \
         rpm -i --nodeps --dbpath /opt/db rpm/RPMS/*/*.rpm >log 2>&1; export TOPAS_ROOT=$(echo {place}); \
         test -e /opt/ohpc/pub/modulefiles/topas/*.lua; stat -c %a $TOPAS_ROOT/var/log/topas; \
         export PATH=$TOPAS_ROOT/libexec/topas/wrappers:$PATH; {MEASURED}; \
         rpm -e --nodeps --dbpath /opt/db topas-hpc-ohpc >log 2>&1; \
         test -e $TOPAS_ROOT/bin -o -e $TOPAS_ROOT/libexec || echo gone; ls $TOPAS_ROOT/var/log/topas'"
    );
    let said = script(&made, &text).good().out();
    let lines: Vec<&str> = said.lines().collect();
    // The log stays.
    assert_eq!(&lines[..3], ["1733", "2 lines", "gone"], "{said}");
    assert_eq!(lines.len(), 4, "{said}");

    let package = file(&made, ".spack.py");
    let stand_in = source_root().join("tests/tests/packages/spack_stand_in.py");
    let text = format!(
        "mkdir sp; python3 {} {} sp; export TOPAS_ROOT=$PWD/sp; \
         PATH=$TOPAS_ROOT/libexec/topas/wrappers:$PATH; {MEASURED}",
        stand_in.display(),
        package.display()
    );
    installs_and_measures(&script(&made, &text).good().out());
}

#[test]
#[ignore = "cargo xtask test --packages"]
fn a_signed_release_is_verified() {
    const NAME: &str = "a_signed_release_is_verified";
    if !have("gpg") {
        return skip(NAME, "no gpg");
    }
    let scratch = Scratch::new();
    let home = scratch.sub("gnupg");
    let mut gpg = command("gpg");
    gpg.env("GNUPGHOME", &home).args(["--batch", "--passphrase", "", "--quick-generate-key"]);
    run(gpg.args(["Release <release@example.org>", "default", "sign", "never"])).good();
    let made = scratch.path().join("made");
    let mut xtask = xtask_release();
    xtask.arg("--check").arg("--out").arg(&made).env("GNUPGHOME", &home);
    fs::create_dir(&made).unwrap();
    fs::write(made.join("SHA256SUMS"), "0  file\n").unwrap();
    let mut sign = command("gpg");
    sign.env("GNUPGHOME", &home).args(["--batch", "--armor", "--detach-sign"]);
    run(sign.arg(made.join("SHA256SUMS"))).good();
    let told = run_cargo(&mut xtask).out();
    assert!(told.contains("ok           by Release <release@example.org>"), "{told}");
    let mut verify = command("sh");
    verify.args(["-c", &documented_command("gpg")]).env("GNUPGHOME", &home).current_dir(&made);
    assert!(run(&mut verify).good().err().contains("Release <release@example.org>"));
    fs::write(made.join("SHA256SUMS"), "1  file\n").unwrap();
    let told = run_cargo(&mut xtask).out();
    assert!(told.contains("NOT OK       gpg does not verify"), "{told}");
    assert_ne!(run(&mut verify).code(), 0);
}
