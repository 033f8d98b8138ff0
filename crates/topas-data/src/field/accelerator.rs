//! Accelerators that a program used, which the extra `gpu` names.

use topas_format::line::Extras;

use super::Value;
use super::value::of_name;
use crate::first_extras::stands;

/// What the extra says. Most lines have none, which one search tells.
pub(super) fn named(extras: Extras<'_>) -> Value<'_> {
    if !stands(b'g', b" gpu=", extras.text()) {
        return Value::Missing;
    }
    extras.name(b"gpu").map_or(Value::Missing, of_name)
}

#[cfg(test)]
mod tests {
    use topas_format::line::Line;

    use super::*;

    #[test]
    fn the_extra_itself_is_meant() {
        for (extras, expected) in [
            ("", None),
            ("gpu=cuda", Some("cuda")),
            ("a=1 gpu=cuda+hip x=y", Some("cuda+hip")),
            ("a=1 mygpu=cuda", None),
            ("a=1 cc=gpu=x", None),
            ("a=1 gpu=-", None),
            ("a=1 gpu=", None),
        ] {
            let text = format!("1999/05/04 12:00:00 u x 1 2 - B c - 0 0 1 f=- - 1 {extras}");
            let (_, extras) = Line::parse(text.trim_end().as_bytes()).unwrap();
            let expected = expected.map_or(Value::Missing, Value::word);
            assert_eq!(named(extras), expected, "{text}");
        }
    }
}
