//! `topas.cld`: a word on the link line that asks for the module of all ranks.
//!
//! It names no file: the real program must not see it. This is the one word that is taken
//! out of a command.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use memchr::memmem;

use crate::options::{Item, Means, Reader, Row};
use crate::response::{Response, expand};

const WORD: &str = "topas.cld";

/// The command without the word, read by `table`; `None` if it is not there.
///
/// Where a response file holds it, the words of all response files take their place.
pub fn without(
    args: &[OsString],
    table: &'static [Row],
    read: &dyn Fn(&OsStr) -> Response,
) -> Option<Vec<OsString>> {
    if holds(args) {
        return taken_out(args, table);
    }
    // For the compiler they begin with @, for its linker they may stand behind -Wl,.
    if !args.iter().any(|arg| arg.as_bytes().starts_with(b"@")) {
        return None;
    }
    let words = expand(args, read).ok().filter(|words| holds(words))?;
    taken_out(&words, table)
}

fn holds(args: &[OsString]) -> bool {
    args.iter().any(|arg| memmem::find(arg.as_bytes(), WORD.as_bytes()).is_some())
}

fn is_word(word: &OsStr) -> bool {
    Path::new(word).file_name() == Some(OsStr::new(WORD))
}

fn taken_out(args: &[OsString], table: &'static [Row]) -> Option<Vec<OsString>> {
    let mut kept = Vec::with_capacity(args.len());
    let mut reader = Reader::new(table, args);
    let mut found = false;
    let mut begin = 0;
    while let Some(item) = reader.next() {
        let end = args.len() - reader.left();
        let words = args.get(begin..end).unwrap_or_default();
        begin = end;
        let short = match item {
            Item::Input(word)
            | Item::Option { means: Means::LinkerWord, argument: Some(word), .. }
                if is_word(word) =>
            {
                Some(None)
            }
            Item::Option { means: Means::LinkerWords, argument: Some(list), .. } => shorter(list),
            _ => None,
        };
        match short {
            Some(rest) => {
                found = true;
                kept.extend(rest);
            }
            None => kept.extend_from_slice(words),
        }
    }
    found.then_some(kept)
}

/// What is left of the words behind `-Wl,` without ours; `None` if it is not among them.
fn shorter(list: &OsStr) -> Option<Option<OsString>> {
    let words = || list.as_bytes().split(|&b| b == b',');
    if !words().any(|word| is_word(OsStr::from_bytes(word))) {
        return None;
    }
    let rest: Vec<_> = words().filter(|word| !is_word(OsStr::from_bytes(word))).collect();
    Some((!rest.is_empty()).then(|| {
        let mut word = OsString::from("-Wl,");
        word.push(OsStr::from_bytes(&rest.join(&b',')));
        word
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::COMPILER;
    use crate::response::words;

    fn read(name: &OsStr) -> Response {
        match name.to_str() {
            Some("with") => Response::Text(b"a.o 'b c.o' lib/topas.cld".to_vec()),
            Some("plain") => Response::Text(b"a.o".to_vec()),
            _ => Response::Absent,
        }
    }

    #[test]
    fn the_word_is_taken_out_and_nothing_else() {
        for (command, expected) in [
            ("a.o topas.cld -o a", Some("a.o -o a")),
            ("a.o /opt/cld/topas.cld", Some("a.o")),
            ("topas.cld -c a.c", Some("-c a.c")),
            ("a.o -Wl,topas.cld", Some("a.o")),
            ("a.o -Wl,-M,topas.cld,-x", Some("a.o -Wl,-M,-x")),
            ("a.o -Xlinker topas.cld -lm", Some("a.o -lm")),
            ("-c a.c -o topas.cld", None),
            ("-I topas.cld a.c", None),
            ("a.o mytopas.cld topas.cld.o", None),
            ("a.o @with -lm", Some("a.o a.o 'b c.o' -lm")),
            ("a.o @plain", None),
            ("@plain topas.cld", Some("@plain")),
            ("@missing a.o", None),
        ] {
            let result = without(&words(command.as_bytes()), COMPILER, &read);
            assert_eq!(result, expected.map(|text| words(text.as_bytes())), "{command}");
        }
    }
}
