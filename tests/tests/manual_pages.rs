//! `man` finds the pages of TOPAS by the files for `/etc/profile.d` and by the modulefiles, also
//! where the modulefile of an MPI sets `MANPATH`, and it still finds those of the system.

use std::fs;
use std::path::{Path, PathBuf};

use topas_tests::running::{command, have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

/// Debian's place of Lmod, which reads modulefiles of both kinds.
const LMOD: &str = "/usr/share/lmod/lmod/libexec/lmod";

/// The prefix of the installation that all tests share.
fn prefix() -> PathBuf {
    Site::shared().wrappers().ancestors().nth(3).expect("libexec/topas/wrappers").to_owned()
}

/// What a shell prints.
#[track_caller]
fn shell(name: &str, script: &str, home: &Path) -> String {
    run(command(name).args(["-c", script]).env("HOME", home)).good().out().trim().to_owned()
}

/// Two questions to man: where it finds a page of TOPAS, and where it looks.
const ASK: &str = "man -w topas-stat && manpath -q";

/// Holds the answers: our page is found, and man looks wherever it looked before.
#[track_caller]
fn found(answer: &str, before: &str) {
    let (page, places) = answer.split_once('\n').expect("two lines");
    assert_eq!(Path::new(page), prefix().join("share/man/man1/topas-stat.1"));
    for place in before.split(':') {
        assert!(places.split(':').any(|other| other == place), "{place} is not in {places}");
    }
}

#[test]
fn by_the_file_for_profile_d() {
    if !have("man") {
        return skip("by_the_file_for_profile_d", "no man");
    }
    let scratch = Scratch::new();
    let file = prefix().join("share/topas/profile.d/topas.sh");
    let file = file.display();
    let before = shell("sh", "manpath -q", scratch.path());
    // Read twice, as by a shell in a shell; then an MPI's modulefile puts its own pages in front.
    found(&shell("sh", &format!(". {file}; . {file}; {ASK}"), scratch.path()), &before);
    let later = format!(". {file}; export MANPATH=/opt/mpi/share/man:$MANPATH; {ASK}");
    found(&shell("sh", &later, scratch.path()), &before);
    let twice = shell("sh", &format!(". {file}; . {file}; echo $MANPATH"), scratch.path());
    assert_eq!(twice, format!("{}/share/man:", prefix().display()));
    // What a user chose stays: without an empty entry in it only these places, and ours.
    let own = format!("MANPATH=/own; . {file}; echo $MANPATH");
    let own = shell("sh", &own, scratch.path());
    assert_eq!(own, format!("{}/share/man:/own", prefix().display()));
}

#[test]
fn by_the_modulefiles() {
    if !have("man") || !Path::new(LMOD).exists() {
        return skip("by_the_modulefiles", "no man or no lmod");
    }
    let scratch = Scratch::new();
    let modules = scratch.sub("modules");
    let mpi = modules.join("mpi");
    fs::create_dir_all(&mpi).expect("directory");
    let pages = scratch.sub("mpi-pages");
    let text = format!("#%Module1.0\nprepend-path MANPATH {}\n", pages.display());
    fs::write(mpi.join("1"), text).expect("modulefile");
    let ours = prefix().join("share/modulefiles");
    let before = shell("sh", "manpath -q", scratch.path());
    for version in [
        env!("CARGO_PKG_VERSION").to_owned(),
        concat!(env!("CARGO_PKG_VERSION"), ".lua").to_owned(),
    ] {
        // One form of the modulefile at a time: Lmod takes that of Lua where there are both.
        let one = scratch.sub(&format!("only-{version}"));
        fs::create_dir_all(one.join("topas")).expect("directory");
        fs::copy(ours.join("topas").join(&version), one.join("topas").join(&version))
            .expect("modulefile");
        for order in ["mpi topas", "topas mpi", "topas"] {
            let script = format!(
                "export MODULEPATH={}:{}; eval \"$({LMOD} bash load {order})\"; {ASK}",
                one.display(),
                modules.display()
            );
            found(&shell("bash", &script, scratch.path()), &before);
        }
        let script = format!(
            "export MODULEPATH={}; eval \"$({LMOD} bash load topas)\"; \
             eval \"$({LMOD} bash unload topas)\"; echo ${{MANPATH-none}}",
            one.display()
        );
        assert_eq!(shell("bash", &script, scratch.path()), "none", "{version}");
    }
}
