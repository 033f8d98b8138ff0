//! Any bytes as a line: read or refused, whether its blanks are known or not; what is read is
//! written and read as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topas_format::MAX_LINE;
use topas_format::line::{IndexedLine, Line, Writer};

fuzz_target!(|text: &[u8]| {
    let blanks: Vec<u32> = (0..).zip(text).filter(|(_, b)| **b == b' ').map(|(at, _)| at).collect();
    let of = IndexedLine { blanks: &blanks, ..IndexedLine::lone(text) };
    let found = Line::parse(text);
    if let Some(ends) = blanks.first_chunk() {
        assert_eq!(Line::parse_indexed(&of, ends), found);
    }
    let Ok((line, extras)) = found else {
        return;
    };
    let _ = extras.count();
    let mut buf = [0; MAX_LINE];
    let out = Writer::new(&mut buf, &line).finish();
    let written = out.text().strip_suffix(b"\n").unwrap();
    let (again, extras) = Line::parse(written).unwrap();
    if extras.get(b"cut").is_none() {
        assert_eq!(again, line);
    }
});
