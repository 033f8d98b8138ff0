//! Layout of the `.topas` section, written at installation and read by the module.

use crate::field::Lang;

/// Bytes of the section.
pub const SIZE: usize = 208;

/// First bytes of the section.
pub const MAGIC: &[u8; 8] = b"TOPAS\0\0\x01";

/// Where the index of the language in [`Lang::ALL`] stands.
pub const LANG: usize = 8;

/// Where a 1 stands if programs that run alone may be measured: `serial` of topas.conf when
/// the program was linked.
pub const SERIAL: usize = 9;

/// Where the NUL-terminated path of topas.conf begins.
pub const CONF: usize = 16;

/// Bytes for the path, with its NUL.
pub const CONF_MAX: usize = SIZE - CONF;

/// The section as compiled: no path, language C.
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

/// The section for a language and a path; None if the path is too long or holds a NUL.
pub fn section(lang: Lang, serial: bool, conf: &[u8]) -> Option<[u8; SIZE]> {
    if conf.len() >= CONF_MAX || conf.contains(&0) {
        return None;
    }
    let mut section = blank();
    *section.get_mut(LANG)? = Lang::ALL.iter().position(|l| *l == lang)? as u8;
    *section.get_mut(SERIAL)? = serial.into();
    section.get_mut(CONF..CONF + conf.len())?.copy_from_slice(conf);
    Some(section)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_holds_what_was_put_in() {
        let s = section(Lang::F90, true, b"/etc/topas/topas.conf").unwrap();
        assert!(s.starts_with(MAGIC));
        assert_eq!(Lang::ALL[usize::from(s[LANG])], Lang::F90);
        assert_eq!(s[SERIAL], 1);
        assert!(s[CONF..].starts_with(b"/etc/topas/topas.conf\0"));
        assert_eq!(section(Lang::C, false, &[b'a'; CONF_MAX]), None);
        assert!(section(Lang::C, false, &[b'a'; CONF_MAX - 1]).is_some());
    }
}
