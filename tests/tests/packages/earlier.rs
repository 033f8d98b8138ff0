//! Executables that were linked with the objects of earlier releases still write lines, which the tools
//! of today read, with the topas.conf of today.

use std::fs;
use std::path::Path;

use topas_tests::record::read_log;
use topas_tests::running::{command, have, run, run_cargo};
use topas_tests::site::{Scratch, Site, source_root, xtask};
use topas_tests::skip::skip;

use crate::nix_is_root;

/// Runs a command with a copy of /etc in place of /etc, in which topas is a directory of ours: the
/// objects of releases name /etc/topas/topas.conf.
const WITH_ETC: &str = "cp -a /etc \"$1/etc\" && rm -rf \"$1/etc/topas\" && cp -a \"$1/topas\" \"$1/etc/topas\" && \
                        mount --bind \"$1/etc\" /etc && shift && exec \"$@\"";

#[test]
#[ignore = "cargo xtask test --packages"]
fn executables_of_earlier_releases_write_lines() {
    const NAME: &str = "executables_of_earlier_releases_write_lines";
    if !have("mpicc.mpich") || !nix_is_root() {
        return skip(NAME, "no MPICH, or not root");
    }
    let scratch = Scratch::new();
    let site = Site::shared();
    // The configuration of today, with a log of this test.
    // As installed: a file of each user, which nobody else can read.
    let (etc, logs) = (scratch.sub("topas"), scratch.sub("log"));
    let log = logs.join("0.log");
    let conf = fs::read_to_string(site.conf()).expect("topas.conf");
    let own = |line: &str| match line.starts_with("log =") {
        true => format!("log = file:{}/%u.log\n", logs.display()),
        false => format!("{line}\n"),
    };
    fs::write(etc.join("topas.conf"), conf.lines().map(own).collect::<String>()).expect("conf");

    let objects = scratch.sub("objects");
    run_cargo(xtask().args(["object", "--earlier", "--out"]).arg(&objects)).good();
    let objects: Vec<_> =
        fs::read_dir(&objects).expect("objects").map(|e| e.unwrap().path()).collect();
    assert!(!objects.is_empty());
    for object in objects {
        let program = scratch.path().join("hello");
        let mut link = command("mpicc.mpich");
        link.arg(source_root().join("tests/programs/c/hello.c")).arg(&object);
        run(link.arg("-o").arg(&program)).good();
        let mut launch = command("unshare");
        launch.args(["--mount", "sh", "-c", WITH_ETC, "sh"]).arg(scratch.path());
        launch.args(["mpiexec.mpich", "-n", "4"]).arg(&program);
        run(&mut launch).good();
        told_by_today(site, &log, &object);
        fs::remove_dir_all(scratch.path().join("etc")).expect("the copy of /etc");
        fs::remove_file(&log).expect("log");
    }
}

/// The two lines of the run, as the readers of today see them.
fn told_by_today(site: &Site, log: &Path, object: &Path) {
    let lines = read_log(log);
    assert_eq!(lines.len(), 2, "{}", object.display());
    for line in &lines {
        assert_eq!((line.npes, line.exe.as_slice()), (4, &b"hello"[..]), "{}", line.text);
    }
    let mut stat = command(site.tool("topas-stat"));
    let told = run(stat.args(["--runs", "--csv", "--columns", "exe,npes,mplib"]).arg(log)).good();
    assert_eq!(told.out().lines().last(), Some("hello,4,mpi"), "{}", told.out());
    let mut check = command(site.tool("topas-stat"));
    run(check.arg("--check").arg(log)).good();
}
