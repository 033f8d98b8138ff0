//! Lists of names in `topas.conf`, in which `*` stands for any characters.

use crate::text::Cursor;

/// Whether a word of a list stands for one of two names; `*` in it stands for any characters.
#[inline(never)]
pub(crate) fn listed(list: &[u8], name: &[u8], other: &[u8]) -> bool {
    let mut text = Cursor::new(list);
    while !text.rest.is_empty() {
        let pattern = text.until(b' ');
        if !pattern.is_empty() && (matches(pattern, name) || matches(pattern, other)) {
            return true;
        }
    }
    false
}

/// Whether a pattern stands for a name; `*` stands for any characters, also none.
#[inline(never)]
fn matches(mut pattern: &[u8], mut name: &[u8]) -> bool {
    // Where to go on if the last star stands for one character more.
    let mut again: Option<(&[u8], &[u8])> = None;
    loop {
        match (pattern, name) {
            ([b'*', rest @ ..], _) => {
                again = Some((rest, name));
                pattern = rest;
                continue;
            }
            ([a, more @ ..], [b, rest @ ..]) if a == b => {
                (pattern, name) = (more, rest);
                continue;
            }
            ([], []) => return true,
            _ => {}
        }
        let Some((after, [_, shorter @ ..])) = again else {
            return false;
        };
        again = Some((after, shorter));
        (pattern, name) = (after, shorter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, name, expected) in [
            ("conftest", "conftest", true),
            ("conftest", "conftest2", false),
            ("cmTC_*", "cmTC_3fa", true),
            ("*test", "conftest", true),
            ("*a*b*", "xaxxb", true),
            ("*a*b*", "xbxxa", false),
            ("*ab", "aab", true),
            ("**", "", true),
            ("", "", true),
            ("?", "x", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }

    proptest::proptest! {
        /// Against an independent definition: parts between stars in order, the outer anchored.
        #[test]
        fn matches_as_parts_do(pattern in "[ab*]{0,6}", name in "[ab]{0,8}") {
            fn defined(pattern: &str, name: &str) -> bool {
                match pattern.split_once('*') {
                    None => pattern == name,
                    Some((head, rest)) => name.strip_prefix(head).is_some_and(|tail| {
                        (0..=tail.len()).any(|skip| defined(rest, &tail[skip..]))
                    }),
                }
            }
            proptest::prop_assert_eq!(
                matches(pattern.as_bytes(), name.as_bytes()), defined(&pattern, &name)
            );
        }
    }
}
