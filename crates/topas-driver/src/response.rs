//! Response files: `@file` among the arguments.
//!
//! They are read to decide, never rewritten. The rules are those of GCC: words are
//! separated by white space, quoted with ' or ", a backslash takes the next byte as it
//! is, inside quotes too. A file that is not there is no response file but an input.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use topas_config::regular;

/// How deep response files may name each other. Beyond that it is a circle.
const MAX_DEPTH: usize = 32;
/// How many may be read for one command, as in GCC.
const MAX_FILES: usize = 2000;
/// How much they may hold together, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// What became of a word `@name`.
#[derive(Debug)]
pub enum Response {
    /// The file's text.
    Text(Vec<u8>),
    /// No such file: the word stands for itself.
    Absent,
    /// There is something that must not or cannot be read, a pipe for one.
    Unfit(io::Error),
}

/// Reads the file named behind the `@` from the file system.
pub fn from_file(name: &OsStr) -> Response {
    match regular::read(Path::new(name), MAX_BYTES as u64) {
        Ok(text) => Response::Text(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Response::Absent,
        Err(error) => Response::Unfit(error),
    }
}

/// The words of a response file.
pub fn words(text: &[u8]) -> Vec<OsString> {
    // C strings end at a NUL, and so does the file for the compiler.
    let text = text.split(|&b| b == 0).next().unwrap_or_default();
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut escaped = false;
    for &byte in text {
        if escaped {
            escaped = false;
            word.get_or_insert_default().push(byte);
        } else if byte == b'\\' {
            escaped = true;
            word.get_or_insert_default();
        } else if quote == Some(byte) {
            quote = None;
        } else if quote.is_some() {
            word.get_or_insert_default().push(byte);
        } else if byte == b'\'' || byte == b'"' {
            quote = Some(byte);
            word.get_or_insert_default();
        } else if byte.is_ascii_whitespace() || byte == b'\x0b' {
            words.extend(word.take().map(OsString::from_vec));
        } else {
            word.get_or_insert_default().push(byte);
        }
    }
    words.extend(word.map(OsString::from_vec));
    words
}

/// Why the words of a command cannot be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// This response file must not or cannot be read.
    Unfit(OsString, String),
    /// They name each other in a circle, or are too many or too long.
    Endless(OsString),
}

/// Replaces `@file` by the words of the file, over and over.
///
/// # Errors
/// [`Trouble`] if the words cannot be told.
pub fn expand(
    args: &[OsString],
    read: &dyn Fn(&OsStr) -> Response,
) -> Result<Vec<OsString>, Trouble> {
    let mut expansion = Expansion { read, words: Vec::new(), files: 0, bytes: 0 };
    expansion.add(args, 0)?;
    Ok(expansion.words)
}

struct Expansion<'a> {
    read: &'a dyn Fn(&OsStr) -> Response,
    words: Vec<OsString>,
    files: usize,
    bytes: usize,
}

impl Expansion<'_> {
    fn add(&mut self, args: &[OsString], depth: usize) -> Result<(), Trouble> {
        for arg in args {
            let Some(name) = arg.as_bytes().strip_prefix(b"@").map(OsStr::from_bytes) else {
                self.words.push(arg.clone());
                continue;
            };
            match (self.read)(name) {
                Response::Absent => self.words.push(arg.clone()),
                Response::Unfit(error) => {
                    return Err(Trouble::Unfit(name.to_owned(), error.to_string()));
                }
                Response::Text(text) => {
                    self.files += 1;
                    self.bytes += text.len();
                    if depth == MAX_DEPTH || self.files > MAX_FILES || self.bytes > MAX_BYTES {
                        return Err(Trouble::Endless(name.to_owned()));
                    }
                    self.add(&words(&text), depth + 1)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn split(text: &[u8]) -> Vec<String> {
        words(text).into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn words_are_split_as_gcc_does() {
        for (text, expected) in [
            ("", vec![]),
            (" \t\n", vec![]),
            ("a b\nc", vec!["a", "b", "c"]),
            ("'a b' \"c d\"", vec!["a b", "c d"]),
            ("a\\ b", vec!["a b"]),
            ("'it\\'s'", vec!["it's"]),
            ("\"a'b\"", vec!["a'b"]),
            ("pre'mid'post", vec!["premidpost"]),
            ("'' x", vec!["", "x"]),
            ("'open end", vec!["open end"]),
            ("a\\", vec!["a"]),
            ("a\x0bb\x0cc\rd", vec!["a", "b", "c", "d"]),
            ("a\0b c", vec!["a"]),
        ] {
            assert_eq!(split(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn a_circle_ends() {
        let read = |_: &OsStr| Response::Text(b"@again @again".to_vec());
        let result = expand(&["@again".into()], &read);
        assert_eq!(result, Err(Trouble::Endless("again".into())));
    }

    #[test]
    fn an_absent_file_is_a_word() {
        let read = |_: &OsStr| Response::Absent;
        assert_eq!(expand(&["@x".into()], &read).unwrap(), [OsString::from("@x")]);
    }
}
