//! Words to the user on standard error, each message with one `write`.

use topas_format::out::Out;

use crate::sys;

const STDERR: i32 = 2;

/// One line after `topas: `.
pub fn line(parts: &[&[u8]]) {
    let mut buf = [0; 512];
    let mut out = Out::new(&mut buf);
    out.put(b"topas: ");
    for part in parts {
        out.put(part);
    }
    out.byte(b'\n');
    text(out.text());
}

/// A text as it is.
pub fn text(text: &[u8]) {
    // Nobody can be told if standard error is closed.
    let _ = sys::write(STDERR, text);
}
