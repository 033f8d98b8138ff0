//! Every command in a block of the documents is run.

use std::fs;

use topas_tests::site::source_root;

use crate::room::Room;

/// Where documents are, beside the root.
const PLACES: [&str; 2] = ["", "doc"];

/// Not these: the gallery has a step of its own in `cargo xtask test`, which makes its pictures, and
/// the architecture's blocks are drawings.
const OTHERS: [&str; 2] = ["gallery.md", "ARCHITECTURE.md"];

/// What a block begins with that has commands and nothing else.
const FIRST_WORDS: [&str; 4] = ["cargo ", "grep ", "sacct ", "topas"];

/// The commands of a block, whose text is given: all of its lines, or those with a prompt. None of
/// a block that shows no commands.
fn commands(block: &str) -> Option<String> {
    if block.starts_with("$ ") {
        let shown = block.lines().filter_map(|line| line.strip_prefix("$ "));
        return Some(shown.map(|line| format!("{line}\n")).collect());
    }
    let is_script = FIRST_WORDS.iter().any(|word| block.starts_with(word));
    is_script.then(|| block.to_owned())
}

/// The blocks between two fences of a document, whatever language a fence names.
fn blocks(text: &str) -> Vec<String> {
    let (mut blocks, mut open) = (Vec::new(), None::<String>);
    for line in text.lines() {
        match (line.starts_with("```"), &mut open) {
            (true, None) => open = Some(String::new()),
            (true, Some(_)) => blocks.extend(open.take()),
            (false, Some(block)) => *block += &format!("{line}\n"),
            (false, None) => {}
        }
    }
    assert_eq!(open, None, "a fence without its other one");
    blocks
}

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
        for block in blocks(&fs::read_to_string(&path).unwrap()) {
            // What CI itself is, and what made the installation of this test.
            let Some(script) = commands(&block).filter(|text| !text.starts_with("cargo xtask"))
            else {
                continue;
            };
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
