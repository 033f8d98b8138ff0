//! The commands that documents show, as tests run them.

use std::fs;
use std::path::Path;

/// What a block begins with that has commands and nothing else.
const FIRST_WORDS: [&str; 4] = ["cargo ", "grep ", "sacct ", "topas"];

/// The commands of a block, whose text is given: all of its lines, or those with a prompt. None of
/// a block that shows no commands.
pub fn commands(block: &str) -> Option<String> {
    if block.starts_with("$ ") {
        let shown = block.lines().filter_map(|line| line.strip_prefix("$ "));
        return Some(shown.map(|line| format!("{line}\n")).collect());
    }
    let is_script = FIRST_WORDS.iter().any(|word| block.starts_with(word));
    is_script.then(|| block.to_owned())
}

/// The blocks between two fences of the text of a document, whatever language a fence names.
pub fn blocks(text: &str) -> Vec<String> {
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

/// The scripts of a document that its reader calls after TOPAS is installed, in their order: not the
/// commands that build the sources.
pub fn scripts(document: &Path) -> Vec<String> {
    let text = fs::read_to_string(document).expect("a document");
    let scripts = blocks(&text).into_iter().filter_map(|block| commands(&block));
    scripts.filter(|text| !text.starts_with("cargo xtask")).collect()
}
