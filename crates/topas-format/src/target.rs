//! Log targets: the words of `log =` and of `TOPAS_LOG`.

use crate::form::{Values, n, number, t, text};
use crate::hash::{place, word};
use crate::out::Out;
use crate::text::Cursor;

/// What a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TargetKind {
    /// `file:PATH`: the line is appended
    File,
    /// `unix:PATH`: the line is a datagram
    Unix,
    /// `syslog`: a datagram with a tag, to the path of [`SYSLOG`]
    Syslog,
}

/// Where a system's log listens.
pub const SYSLOG: &[u8] = b"/dev/log";

/// Kind and path pattern of a target; an empty pattern for what is none.
pub fn kind(target: &[u8]) -> (TargetKind, &[u8]) {
    const KINDS: [u32; 3] = [word(b"file"), word(b"unix"), word(b"syslog")];
    let mut text = Cursor::new(target);
    let place = place(&KINDS, text.until(b':'));
    let mut pattern = text.rest;
    if place == Some(2) {
        pattern = if pattern.is_empty() { SYSLOG } else { &[] };
    }
    if place.is_none() || !pattern.starts_with(b"/") {
        pattern = &[];
    }
    let kind = match place {
        Some(1) => TargetKind::Unix,
        Some(2) => TargetKind::Syslog,
        _ => TargetKind::File,
    };
    (kind, pattern)
}

/// What a path pattern says besides the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Whether it names a user: then the file is that user's, else everybody's.
    pub per_user: bool,
    /// Length of the directory's path, where its last part holds a `%` form and so may be
    /// made when it is missing; else 0.
    pub own_dir: u16,
}

/// Appends the path a pattern stands for; %Y, %m and %d are the local date, %h the host and
/// %u the numeric user id of `values`. None if it does not fit or is empty, or holds a `%`
/// form that is not known.
pub fn expand(pattern: &[u8], values: &mut Values<'_>, out: &mut Out<'_>) -> Option<Shape> {
    expand_for::<false>(pattern, values, out)
}

/// As [`expand`], for a file of one launch, whose id is %i.
pub fn expand_launch(pattern: &[u8], values: &mut Values<'_>, out: &mut Out<'_>) -> Option<Shape> {
    expand_for::<true>(pattern, values, out)
}

fn expand_for<const LAUNCH: bool>(
    pattern: &[u8],
    values: &mut Values<'_>,
    out: &mut Out<'_>,
) -> Option<Shape> {
    let mut shape = Shape::default();
    let mut form_in_part = false;
    let mut bytes = pattern.iter();
    while let Some(byte) = bytes.next() {
        if *byte == b'/' {
            shape.own_dir = if form_in_part { out.len() as u16 } else { 0 };
            form_in_part = false;
        }
        if *byte != b'%' {
            out.byte(*byte);
            continue;
        }
        form_in_part = true;
        const FORMS: [(u8, u8); 6] = [
            (b'Y', n(number::YEAR)),
            (b'm', n(number::MONTH)),
            (b'd', n(number::DAY)),
            (b'u', n(number::UID)),
            (b'h', t(text::HOST)),
            (b'%', b'%'),
        ];
        let form = bytes.next()?;
        shape.per_user |= *form == b'u';
        if LAUNCH && *form == b'i' {
            values.put(out, t(text::ID));
            continue;
        }
        let (_, code) = FORMS.iter().find(|(known, _)| known == form)?;
        values.put(out, *code);
    }
    (!out.is_cut() && !pattern.is_empty()).then_some(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(pattern: &[u8]) -> Option<(std::vec::Vec<u8>, Shape)> {
        let mut values = Values::new();
        values.numbers[number::YEAR] = 2026;
        values.numbers[number::MONTH] = 3;
        values.numbers[number::DAY] = 7;
        values.numbers[number::UID] = 1000;
        values.texts[text::HOST] = Some(b"n1_x");
        let mut buf = [0; 60];
        let mut out = Out::new(&mut buf);
        expand(pattern, &mut values, &mut out).map(|shape| (out.text().to_vec(), shape))
    }

    #[test]
    fn every_form() {
        let (text, shape) = path(b"/l/%h/%Y-%m-%d.%u.%%").unwrap();
        assert_eq!(text, b"/l/n1_x/2026-03-07.1000.%");
        assert_eq!(shape, Shape { per_user: true, own_dir: 7 });
        assert_eq!(path(b"/l/%q"), None);
        assert_eq!(path(b"/l/%"), None);
        assert_eq!(path(b""), None);
        assert_eq!(path(&[b'a'; 61]), None);
    }

    #[test]
    fn the_launch_is_a_form_of_its_own_files_only() {
        let mut values = Values::new();
        values.texts[text::ID] = Some(b"5f");
        let mut buf = [0; 20];
        let mut out = Out::new(&mut buf);
        assert!(expand_launch(b"r/%i.%%", &mut values, &mut out).is_some());
        assert_eq!(out.text(), b"r/5f.%");
        assert_eq!(path(b"/l/%i"), None);
    }

    #[test]
    fn only_a_directory_named_by_a_form_may_be_made() {
        assert_eq!(path(b"/%h/l/%Y").unwrap().1.own_dir, 0);
        assert_eq!(path(b"/%Y/%h/l").unwrap().1.own_dir, 10);
        assert!(!path(b"/l/%%u").unwrap().1.per_user);
    }

    #[test]
    fn kinds_of_target() {
        assert_eq!(kind(b"file:/a"), (TargetKind::File, &b"/a"[..]));
        assert_eq!(kind(b"unix:/a:b"), (TargetKind::Unix, &b"/a:b"[..]));
        assert_eq!(kind(b"syslog"), (TargetKind::Syslog, SYSLOG));
        for none in [&b"file:a"[..], b"unix:", b"syslog:/a", b"/a", b"", b"fil:/a"] {
            assert_eq!(kind(none).1, b"");
        }
    }
}
