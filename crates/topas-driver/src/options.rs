//! The options of compilers and linkers, as far as the decision depends on them.
//!
//! Two sorted tables, searched by bisection. An option stands here because it decides
//! something, or because its argument is a word of its own that must not be taken for
//! an input. Any other option takes no word and decides nothing. The tables hold those
//! of GCC, Clang and their Fortran compilers, of Intel's and NVIDIA's, and of the MPI
//! drivers around them.

mod compiler;
mod linker;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

pub use compiler::COMPILER;
pub use linker::LINKER;

/// How an option takes its argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// No argument: the whole word must match.
    None,
    /// The rest of the word.
    Joined,
    /// The next word.
    Separate,
    /// The rest of the word or, if there is none, the next word.
    Either,
}

/// What an option means for the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// Nothing; it is listed for its argument.
    Nothing,
    /// The compiler stops before the link.
    StopsBeforeLink,
    /// The program answers a question in place of compiling.
    Asks,
    /// The answer is the whole command the driver would run.
    AsksCommand,
    /// The answer is what a link needs.
    AsksLink,
    /// The name of the result.
    Output,
    /// Libraries behind it are archives.
    Static,
    /// Libraries behind it are shared if there are shared ones.
    Dynamic,
    /// The result is an object again.
    Relocatable,
    /// The result is a shared library.
    SharedLibrary,
    /// The start files, which call the module, are missing.
    NoStartFiles,
    /// The C library, which the module calls, is not linked by itself.
    NoLibc,
    /// Code for a machine of another width.
    OtherWidth,
    /// Code for the usual width after all.
    OwnWidth,
    /// Code for the machine in the argument.
    Target,
    /// Code of the format in the argument, as linkers name it.
    Emulation,
    /// Language of the inputs that follow.
    Language,
    /// A library.
    Library,
    /// One word for the linker.
    LinkerWord,
    /// Words for the linker, separated by commas.
    LinkerWords,
    /// The compiler behind the MPI driver.
    Compiler,
    /// Every further word is an input.
    EndOfOptions,
    /// The linker writes another format than ELF if the argument is one.
    RawOutput,
}

/// A line of a table.
pub type Row = (&'static str, Takes, Means);

/// A word as a table understands it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matched<'a> {
    /// What it means.
    pub means: Means,
    /// Its argument, if it has one in the same word.
    pub joined: Option<&'a OsStr>,
    /// Whether the next word is its argument.
    pub takes_next: bool,
}

/// Looks a word up. `None`: it is no option of the table.
///
/// The whole word is looked for first, then the longest option that the word begins
/// with and that can have its argument joined.
pub fn look_up<'a>(table: &[Row], word: &'a OsStr) -> Option<Matched<'a>> {
    let bytes = word.as_bytes();
    let end = table.partition_point(|(name, ..)| name.as_bytes() <= bytes);
    // Whatever begins like the word stands before it, the longest last; and nothing
    // that begins with other letters can stand in between.
    let start = bytes.get(..2).unwrap_or(bytes);
    let near = table.get(..end)?.iter().rev().take_while(|(name, ..)| name.as_bytes() >= start);
    for &(name, takes, means) in near {
        let Some(rest) = bytes.strip_prefix(name.as_bytes()) else { continue };
        let exact = rest.is_empty();
        match takes {
            Takes::None | Takes::Separate if !exact => continue,
            _ => {}
        }
        let takes_next = exact && matches!(takes, Takes::Separate | Takes::Either);
        let joined = matches!(takes, Takes::Joined | Takes::Either) && !takes_next;
        return Some(Matched {
            means,
            joined: joined.then(|| OsStr::from_bytes(rest)),
            takes_next,
        });
    }
    None
}

/// What a word says to a reader of a command.
#[derive(Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// An option that stands in a table, with its argument.
    Option {
        /// The word.
        word: &'a OsStr,
        /// What it means.
        means: Means,
        /// Its argument: from the same word or the next.
        argument: Option<&'a OsStr>,
    },
    /// Another option.
    Other(&'a OsStr),
    /// A word that is no option.
    Input(&'a OsStr),
    /// The last word wants an argument that does not come.
    Dangling(&'a OsStr),
}

/// Reads a command word by word.
pub struct Reader<'a> {
    table: &'static [Row],
    words: std::slice::Iter<'a, OsString>,
    only_inputs: bool,
}

impl<'a> Reader<'a> {
    /// Reads `words` by `table`.
    pub fn new(table: &'static [Row], words: &'a [OsString]) -> Self {
        Reader { table, words: words.iter(), only_inputs: false }
    }

    /// How many words are still to be read.
    pub fn left(&self) -> usize {
        self.words.len()
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let word = self.words.next()?.as_os_str();
        let is_option = word.len() > 1 && word.as_bytes().starts_with(b"-");
        if self.only_inputs || !is_option {
            return Some(Item::Input(word));
        }
        let Some(found) = look_up(self.table, word) else {
            return Some(Item::Other(word));
        };
        self.only_inputs = found.means == Means::EndOfOptions;
        let argument = if found.takes_next {
            match self.words.next() {
                Some(next) => Some(next.as_os_str()),
                None => return Some(Item::Dangling(word)),
            }
        } else {
            found.joined
        };
        Some(Item::Option { word, means: found.means, argument })
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted_and_have_nothing_twice() {
        for table in [COMPILER, LINKER] {
            for pair in table.windows(2) {
                assert!(pair[0].0.as_bytes() < pair[1].0.as_bytes(), "{} {}", pair[0].0, pair[1].0);
            }
        }
    }

    #[test]
    fn every_row_is_found_as_itself() {
        for table in [COMPILER, LINKER] {
            for &(name, takes, means) in table {
                let found = look_up(table, OsStr::new(name)).unwrap();
                assert_eq!(found.means, means, "{name}");
                assert_eq!(
                    found.takes_next,
                    matches!(takes, Takes::Separate | Takes::Either),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn a_word_is_looked_up_as_one_would_by_reading_the_whole_table() {
        let words = [
            "-ofile",
            "-o",
            "-oc",
            "-c",
            "-cc",
            "-cpp",
            "-cc=nvcc",
            "-r",
            "-r8",
            "-rdynamic",
            "-M",
            "-MD",
            "-MFx",
            "-Minfo",
            "-lpapi",
            "-link_info",
            "-linfo",
            "-show",
            "-show-compile-info",
            "-showme",
            "-showme:link",
            "-showme:linkx",
            "-x",
            "-xc",
            "-Wl,-r",
            "-Wall",
            "-Ttext",
            "-Tfoo",
            "-print-search-dirs",
            "-nostdlib",
            "-nostdlib++",
            "-",
            "--",
            "-isystem/x",
            "-include",
            "-i8",
            "-E",
            "-Export",
            "-shared-libgcc",
            "-é",
            "",
        ];
        for word in words {
            let slow = COMPILER
                .iter()
                .filter(|(name, takes, _)| match takes {
                    Takes::None | Takes::Separate => *name == word,
                    Takes::Joined | Takes::Either => word.starts_with(name),
                })
                .max_by_key(|(name, ..)| name.len())
                .map(|(_, _, means)| *means);
            assert_eq!(look_up(COMPILER, OsStr::new(word)).map(|m| m.means), slow, "{word}");
        }
    }
}
