//! Any bytes as a line: read or refused, whether its blanks are known or not, and in a log, where vectors
//! read what they can, the same; what is read is written and read as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topas_data::{Source, Tally, scan_reader};
use topas_format::MAX_LINE;
use topas_format::line::{Extras, IndexedLine, Line, Writer};

fuzz_target!(|text: &[u8]| {
    let blanks: Vec<u32> = (0..).zip(text).filter(|(_, b)| **b == b' ').map(|(at, _)| at).collect();
    let of = IndexedLine { blanks: &blanks, ..IndexedLine::lone(text) };
    let found = Line::parse(text);
    if let Some(ends) = blanks.first_chunk() {
        assert_eq!(Line::parse_indexed(&of, ends), found);
    }
    if !text.contains(&b'\n') {
        let log = [text, b"\n"].concat();
        let mut tally = Tally::default();
        let mut lines = 0;
        let each = |line: &Line<'_>, extras: Extras<'_>| {
            // What is read behind a torn line is another line, and the torn one is counted.
            if let Ok(found) = &found {
                assert_eq!((line, extras), (&found.0, found.1));
            }
            lines += 1;
        };
        let read = scan_reader(&Source::Stdin, log.as_slice(), &mut tally, each, |_| ());
        assert!(found.is_err() || read.is_ok() && lines == 1, "{lines} lines: {read:?}");
        assert!(found.is_ok() || lines == 0 || tally.skipped() > 0, "{lines} lines: {tally:?}");
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
