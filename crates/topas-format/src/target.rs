//! Log targets: the words of `log =` and of `TOPAS_LOG`.

use crate::civil::Date;
use crate::out::Out;
use crate::text::Cursor;

/// What the `%` forms of a path stand for.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Local date of the line: %Y, %m, %d
    pub date: Date,
    /// Host name: %h
    pub host: &'a [u8],
    /// Numeric user id: %u
    pub uid: u32,
}

/// The path pattern of a `file:` target; empty for a target of another kind.
pub fn file_pattern(target: &[u8]) -> &[u8] {
    target.strip_prefix(b"file:").filter(|path| path.first() == Some(&b'/')).unwrap_or_default()
}

/// What a path pattern says besides the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Whether it names a user: then the file is that user's, else everybody's.
    pub per_user: bool,
    /// Length of the directory's path, where its last part holds a `%` form and so may be
    /// made when it is missing; else 0.
    pub own_dir: usize,
}

/// Appends the path a pattern stands for. None if it does not fit or is empty, or holds a
/// `%` form that is not known.
#[inline(never)]
pub fn expand(pattern: &[u8], facts: &Facts<'_>, out: &mut Out<'_>) -> Option<Shape> {
    let mut shape = Shape::default();
    let mut form_in_part = false;
    let mut text = Cursor::new(pattern);
    while !text.rest.is_empty() {
        let byte = text.peek();
        text.skip();
        if byte == b'/' {
            shape.own_dir = if form_in_part { out.len() } else { 0 };
            form_in_part = false;
        }
        if byte != b'%' {
            out.byte(byte);
            continue;
        }
        form_in_part = true;
        let form = text.peek();
        text.skip();
        let mut width = 2;
        let number = match form {
            b'Y' => {
                width = 4;
                facts.date.year.into()
            }
            b'm' => facts.date.month.into(),
            b'd' => facts.date.day.into(),
            b'u' => {
                shape.per_user = true;
                width = 1;
                facts.uid
            }
            b'h' => {
                out.put(facts.host);
                continue;
            }
            b'%' => {
                out.byte(b'%');
                continue;
            }
            _ => return None,
        };
        out.dec_wide(number.into(), width);
    }
    (!out.is_cut() && !pattern.is_empty()).then_some(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: Facts<'_> =
        Facts { date: Date { year: 2026, month: 3, day: 7 }, host: b"n1_x", uid: 1000 };

    fn path(pattern: &[u8]) -> Option<(std::vec::Vec<u8>, Shape)> {
        let mut buf = [0; 60];
        let mut out = Out::new(&mut buf);
        expand(pattern, &FACTS, &mut out).map(|shape| (out.text().to_vec(), shape))
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
    fn only_a_directory_named_by_a_form_may_be_made() {
        assert_eq!(path(b"/%h/l/%Y").unwrap().1.own_dir, 0);
        assert_eq!(path(b"/%Y/%h/l").unwrap().1.own_dir, 10);
        assert!(!path(b"/l/%%u").unwrap().1.per_user);
    }

    #[test]
    fn kinds_of_target() {
        assert_eq!(file_pattern(b"file:/a"), b"/a");
        assert_eq!(file_pattern(b"file:a"), b"");
        assert_eq!(file_pattern(b"syslog"), b"");
    }
}
