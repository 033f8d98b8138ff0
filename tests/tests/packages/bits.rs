//! Two builds of a release in two directories, one of which has blanks in its path, have the same bits: one from
//! a repository, the other one from the archive of all sources, without network.

use std::fs;
use std::path::Path;
use std::process::Command;

use topas_tests::running::{command, run, run_within};
use topas_tests::site::Scratch;

use crate::{DATE, QUICK, TIME, cargo, quick_release};

#[test]
#[ignore = "cargo xtask test --packages"]
fn builds_in_two_directories_have_the_same_bits() {
    let scratch = Scratch::new();
    let here = quick_release();
    let files = fs::read_dir(here).expect("a release").flatten();
    let mut names = files.filter_map(|file| file.file_name().into_string().ok());
    let archive = names.find(|name| name.ends_with("-source.tar.zst")).expect("all sources");
    // In a directory with blanks, all of it is built anew from the archive of all sources: where there is no
    // network, and nothing that Cargo fetched before.
    let copy = scratch.sub("a copy, with blanks");
    let mut tar = command("tar");
    tar.args(["--zstd", "--strip-components=1", "-xf"]).arg(here.join(&archive));
    run(tar.arg("-C").arg(&copy)).good();
    let mut build = Command::new("unshare");
    build
        .args(["--map-root-user", "--net", "--"])
        .arg(cargo())
        .args(["--frozen", "xtask", "release"]);
    build.args(QUICK).current_dir(&copy).env_remove("CARGO_TARGET_DIR").env(DATE.0, DATE.1);
    build.env("CARGO_HOME", scratch.sub("empty"));
    run_within(&mut build, TIME).good();
    let there = copy.join("target/release-files");
    let sums = |dir: &Path| fs::read_to_string(dir.join("SHA256SUMS")).expect("checksums");
    let (here, there) = (sums(here), sums(&there));
    assert_eq!(here.lines().count(), 12, "{here}");
    let same: Vec<&str> = here.lines().filter(|line| !line.ends_with(&archive)).collect();
    assert_eq!(same, there.lines().collect::<Vec<_>>());
}
