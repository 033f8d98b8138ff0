//! Every command in a block of the documents is run.

use std::fs;

use topas_tests::documents::scripts;
use topas_tests::site::source_root;

use crate::room::Room;

/// Where documents are, beside the root.
const PLACES: [&str; 2] = ["", "doc"];

/// Not these: the gallery has a step of its own in `cargo xtask test`, which makes its pictures, and
/// the architecture's blocks are drawings.
const OTHERS: [&str; 2] = ["gallery.md", "ARCHITECTURE.md"];

#[test]
fn every_command_of_the_documents_runs() {
    let Some(room) = Room::new("every_command_of_the_documents_runs") else { return };
    // The README's second program, which its reader has from the demo; and logs of this month.
    room.shell("mpicc cg.c -o cg -lm && mpiexec -n 2 ./cg").good();
    let mut names = Vec::new();
    for place in PLACES {
        for entry in fs::read_dir(source_root().join(place)).unwrap() {
            let path = entry.unwrap().path();
            let is_other = OTHERS.iter().any(|other| path.ends_with(other));
            if path.extension().is_some_and(|end| end == "md") && !is_other {
                names.push(path);
            }
        }
    }
    names.sort();
    let mut count = 0;
    for path in names {
        for script in scripts(&path) {
            // Last week has no runs here, which a code tells.
            let ends = "set -o pipefail; trap 'code=$?; [ $code = 3 ] || exit $code' ERR";
            let done = room.shell(&format!("{ends}\n{}\nexit 0", room.here(&script)));
            let (out, error) = (done.out(), done.err());
            assert_eq!(done.code(), 0, "{}:\n{script}{out}{error}", path.display());
            count += 1;
        }
    }
    assert!(count > 9, "{count}");
}
