//! Any bytes as a line: read or refused; what is read is written and read as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topas_format::MAX_LINE;
use topas_format::line::{Line, Writer};

fuzz_target!(|text: &[u8]| {
    let Ok((line, extras)) = Line::parse(text) else {
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
