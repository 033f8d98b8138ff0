//! Numbers and names as the lines of a record have them.

use topas_format::out::Out;

/// Appends a decimal number of any size.
pub fn decimal<'o, 'b>(out: &'o mut Out<'b>, n: u128) -> &'o mut Out<'b> {
    const LOW: u128 = 1_000_000_000_000_000_000;
    if n < LOW {
        return out.dec(n as u64);
    }
    decimal(out, n / LOW).dec_wide((n % LOW) as u64, 18)
}

/// Appends nanoseconds as seconds with as many decimals as there are, up to nine.
pub fn seconds<'o, 'b>(out: &'o mut Out<'b>, nanoseconds: u128) -> &'o mut Out<'b> {
    const SECOND: u128 = 1_000_000_000;
    decimal(out, nanoseconds / SECOND);
    let mut fraction = (nanoseconds % SECOND) as u64;
    let mut digits = 9;
    while digits > 0 && fraction.is_multiple_of(10) {
        fraction /= 10;
        digits -= 1;
    }
    if digits > 0 {
        out.byte(b'.').dec_wide(fraction, digits);
    }
    out
}

/// Appends a part of a token: what would end it or the token is escaped.
pub fn part<'o, 'b>(out: &'o mut Out<'b>, name: &[u8]) -> &'o mut Out<'b> {
    if name.is_empty() {
        out.byte(b'-');
    }
    for byte in name {
        let dash = *byte == b'-' && name.len() == 1;
        if *byte <= b' ' || dash || matches!(byte, b'%' | b':' | b'=' | b',' | 0x7f) {
            const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
            out.byte(b'%');
            for digit in [byte >> 4, byte & 15] {
                out.byte(DIGITS.get(usize::from(digit)).copied().unwrap_or_default());
            }
        } else {
            out.byte(*byte);
        }
    }
    out
}
