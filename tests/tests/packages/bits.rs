//! Two builds of a release in two directories, one of which has blanks in its path, have the same bits.

use std::fs;
use std::path::Path;

use topas_tests::running::{command, run, run_within};
use topas_tests::site::{Scratch, source_root};

use crate::{DATE, QUICK, TIME, quick_release, xtask_release};

#[test]
#[ignore = "cargo xtask test --packages"]
fn builds_in_two_directories_have_the_same_bits() {
    let scratch = Scratch::new();
    let here = quick_release();
    // The sources without a repository and without what was built, in a directory with blanks, where
    // all of it is built anew.
    let copy = scratch.sub("a copy, with blanks");
    let both = "tar -C \"$1\" --exclude=./target --exclude=./.git -cf - . | tar -C \"$2\" -xf -";
    run(command("sh").args(["-c", both, "sh"]).args([source_root(), &copy])).good();
    let mut xtask = xtask_release(&copy);
    xtask.args(QUICK).env_remove("CARGO_TARGET_DIR").env(DATE.0, DATE.1);
    run_within(&mut xtask, TIME).good();
    let there = copy.join("target/release-files");
    let sums = |dir: &Path| fs::read_to_string(dir.join("SHA256SUMS")).expect("checksums");
    let (here, there) = (sums(here), sums(&there));
    assert_eq!(here.lines().count(), 11, "{here}");
    assert_eq!(here, there);
}
