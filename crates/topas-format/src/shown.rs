//! Bytes of others as a terminal can show them: names of files, users and programs.

use core::fmt::{self, Display, Formatter, Write};

/// Text of which nothing acts on a terminal: control characters, characters that change the
/// direction or the line of what follows, and what is no UTF-8 stand as `%XX`, byte by byte.
///
/// For tools only: what is linked into user programs has no formatting machinery.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a>(pub &'a [u8]);

/// Whether a character would act on a terminal or on a reader of XML, or garble what stands behind
/// it: control characters, ends of lines, marks of the writing direction and of annotations, what
/// is no character.
pub fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{61c}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' | '\u{fff9}'..='\u{fffb}')
}

/// The character, or U+FFFD for one that [`acts`]: where a text keeps its number of characters.
pub fn replaced(c: char) -> char {
    if acts(c) { char::REPLACEMENT_CHARACTER } else { c }
}

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                if acts(c) {
                    escape(c.encode_utf8(&mut [0; 4]).as_bytes(), f)?;
                } else {
                    f.write_char(c)?;
                }
            }
            escape(chunk.invalid(), f)?;
        }
        Ok(())
    }
}

fn escape(bytes: &[u8], f: &mut Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "%{byte:02X}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn what_acts_is_escaped_and_all_else_stands() {
        for (bytes, shown) in [
            (&b"2026-10.1000.log"[..], "2026-10.1000.log"),
            ("männer 100%".as_bytes(), "männer 100%"),
            (b"\x1b]0;x\x07\n\xff", "%1B]0;x%07%0A%FF"),
            ("a\u{9b}31m\u{202e}b".as_bytes(), "a%C2%9B31m%E2%80%AEb"),
        ] {
            assert_eq!(Shown(bytes).to_string(), shown);
        }
        let replaced = "a\x1b[31m\n\u{202e}b\u{85}é\u{feff}".chars().map(replaced);
        assert!(replaced.eq("a\u{fffd}[31m\u{fffd}\u{fffd}b\u{fffd}é\u{fffd}".chars()));
    }
}
