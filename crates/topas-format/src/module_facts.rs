//! Layout of the `.topas` section, written at installation and read by the module.

use core::ops::Range;

use crate::field::Lang;

/// Most bytes of the section; it ends where its text does.
pub const SIZE: usize = 208;

/// First bytes of the section.
pub const MAGIC: &[u8; 8] = b"TOPAS\0\0\x02";

/// Where a 1 stands if programs that run alone may be measured: `serial` of topas.conf when
/// the program was linked.
pub const SERIAL: usize = 8;

/// Where texts begin, each with a NUL, and a NUL behind the last: the word of the language,
/// then the directories in which topas.conf is looked for, each with its slash.
pub const TEXTS: usize = 9;

/// What stands behind the last NUL of the extended module, in which every rank measures; behind
/// that of the ordinary one the section ends.
pub const EVERY_RANK: u8 = 1;

/// Whether a section is that of the extended module. Of several that a link has joined the first
/// counts.
pub fn is_of_every_rank(section: &[u8]) -> bool {
    let texts = section.strip_prefix(MAGIC).and_then(|rest| rest.get(TEXTS - SERIAL..));
    let texts = texts.unwrap_or_default();
    let end = texts.windows(2).position(|pair| pair == [0, 0]);
    end.is_some_and(|end| texts.get(end + 2) == Some(&EVERY_RANK))
}

/// The system's directory, looked into last.
pub const SYSTEM: &[u8] = b"/etc/topas/";

/// The name of the file.
pub const CONF: &[u8] = b"topas.conf";

/// The name of the file beside it that switches TOPAS off for everybody.
pub const OFF: &[u8] = b"off";

/// Bytes of the longest directory that fits into every section, with its slash. An installation
/// that can be moved has directories of this length in its objects: slashes fill the rest, and to the
/// kernel several slashes are one.
pub const LONGEST_DIRECTORY: usize = SIZE - TEXTS - LONGEST_WORD - SYSTEM.len() - 4 - 1;

/// Bytes of the longest word of a language, such as `cxx`.
const LONGEST_WORD: usize = 3;

/// Where the first directory stands in a section, with its slashes and without its NUL. None if the
/// section is not of this layout.
pub fn directory(section: &[u8]) -> Option<Range<usize>> {
    let texts = section.strip_prefix(MAGIC)?.get(TEXTS - SERIAL..)?;
    let begin = texts.iter().position(|byte| *byte == 0)? + 1;
    let rest = texts.get(begin..)?;
    let end = begin + rest.iter().position(|byte| *byte == 0)?;
    (rest.first() == Some(&b'/')).then_some(TEXTS + begin..TEXTS + end)
}

/// The section as compiled: no language, no directory.
pub const fn blank() -> [u8; SIZE] {
    let mut section = [0; SIZE];
    let (mut head, mut magic): (&mut [u8], &[u8]) = (&mut section, MAGIC);
    while let ([to, head_rest @ ..], [from, magic_rest @ ..]) = (head, magic) {
        *to = *from;
        head = head_rest;
        magic = magic_rest;
    }
    section
}

/// The section for a language and the path of a topas.conf, and how many of its bytes count.
/// None if the path is too long, holds a NUL, or is of a file of another name.
pub fn section(lang: Lang, serial: bool, conf: &[u8]) -> Option<([u8; SIZE], usize)> {
    let dir = conf.strip_suffix(CONF).filter(|dir| dir.ends_with(b"/") && !dir.contains(&0))?;
    let mut section = blank();
    *section.get_mut(SERIAL)? = serial.into();
    let mut end = TEXTS;
    let mut put = |text: &[u8]| {
        section.get_mut(end..end + text.len())?.copy_from_slice(text);
        end += text.len() + 1;
        Some(())
    };
    put(lang.token())?;
    put(dir)?;
    if dir != SYSTEM {
        put(SYSTEM)?;
    }
    put(b"")?;
    (end <= SIZE).then_some((section, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_holds_what_was_put_in() {
        let (s, len) = section(Lang::F90, true, b"/opt/t/etc/topas/topas.conf").unwrap();
        assert!(s.starts_with(MAGIC));
        assert_eq!(s[SERIAL], 1);
        assert_eq!(&s[TEXTS..len], b"f90\0/opt/t/etc/topas/\0/etc/topas/\0\0");
        let (s, len) = section(Lang::C, false, b"/etc/topas/topas.conf").unwrap();
        assert_eq!(&s[TEXTS..len], b"c\0/etc/topas/\0\0");
    }

    #[test]
    fn the_extended_module_is_told_by_a_byte_behind_the_texts() {
        let (s, len) = section(Lang::C, false, b"/opt/t/etc/topas/topas.conf").unwrap();
        let plain = &s[..len];
        assert!(!is_of_every_rank(plain));
        let extended = [plain, &[EVERY_RANK]].concat();
        assert!(is_of_every_rank(&extended));
        // Two objects in one link.
        assert!(is_of_every_rank(&[&extended[..], plain].concat()));
        assert!(!is_of_every_rank(&[plain, &extended[..]].concat()));
        assert!(!is_of_every_rank(b"") && !is_of_every_rank(MAGIC));
    }

    #[test]
    fn the_directory_is_found_whose_place_can_take_another() {
        let (s, len) = section(Lang::F90, true, b"/opt/t/etc/topas/topas.conf").unwrap();
        assert_eq!(&s[directory(&s[..len]).unwrap()], b"/opt/t/etc/topas/");
        let (s, len) = section(Lang::C, true, b"/etc/topas/topas.conf").unwrap();
        assert_eq!(&s[directory(&s[..len]).unwrap()], SYSTEM);
        assert_eq!(directory(&blank()), None);
        assert_eq!(directory(b"TOPAS\0\0\x02\0c\0/never ends"), None);
        assert_eq!(directory(MAGIC), None);
        assert_eq!(directory(b""), None);
    }

    #[test]
    fn the_longest_directory_fits_with_every_language_and_the_mark_of_the_extended_module() {
        for lang in [Lang::C, Lang::Cxx, Lang::F77, Lang::F90] {
            let conf = [&b"/".repeat(LONGEST_DIRECTORY)[..], CONF].concat();
            let (s, len) = section(lang, false, &conf).unwrap();
            assert!(len < SIZE, "no room for the mark");
            assert_eq!(directory(&s).unwrap().len(), LONGEST_DIRECTORY);
        }
        let (_, len) =
            section(Lang::Cxx, false, &[&b"/".repeat(LONGEST_DIRECTORY)[..], CONF].concat())
                .unwrap();
        assert_eq!(len, SIZE - 1, "it could be longer");
    }

    #[test]
    fn a_path_that_does_not_fit_is_refused() {
        let of = |length: usize| [&b"/".repeat(length - CONF.len())[..], CONF].concat();
        let longest = SIZE - TEXTS - 2 - SYSTEM.len() - 3 + CONF.len();
        let (s, len) = section(Lang::C, false, &of(longest)).unwrap();
        assert_eq!((len, s[SIZE - 3]), (SIZE, b'/'));
        assert_eq!(section(Lang::C, false, &of(longest + 1)), None);
        assert_eq!(section(Lang::C, false, &of(1000)), None);
        assert_eq!(section(Lang::C, false, b"/etc/other.conf"), None);
        assert_eq!(section(Lang::C, false, b"topas.conf"), None);
        assert_eq!(section(Lang::C, false, b"/a\0/topas.conf"), None);
    }
}
