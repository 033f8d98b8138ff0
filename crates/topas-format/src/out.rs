//! A fixed buffer that text is written into without `core::fmt`.

/// Appends to a byte slice. What does not fit is dropped and noted in [`Out::is_cut`];
/// nothing is ever written beyond the slice.
///
/// The methods are not inlined: in the measurement module a call is smaller.
pub struct Out<'b> {
    buf: &'b mut [u8],
    len: usize,
    cut: bool,
}

impl<'b> Out<'b> {
    /// An empty text that can grow to the length of `buf`.
    pub fn new(buf: &'b mut [u8]) -> Self {
        Out { buf, len: 0, cut: false }
    }

    /// Appends bytes as they are, as many as fit.
    #[inline(never)]
    pub fn put(&mut self, mut bytes: &[u8]) -> &mut Self {
        while let [byte, rest @ ..] = bytes {
            bytes = rest;
            self.byte(*byte);
        }
        self
    }

    /// Appends one byte.
    #[inline(never)]
    pub fn byte(&mut self, byte: u8) -> &mut Self {
        if let Some(to) = self.buf.get_mut(self.len) {
            *to = byte;
            self.len += 1;
        } else {
            self.cut = true;
        }
        self
    }

    /// Appends at most so many bytes of a text of others on one line: control characters as `?`.
    ///
    /// Inlined, because the measurement module has one call of it.
    #[inline(always)]
    pub fn one_line(&mut self, text: &[u8], most: usize) -> &mut Self {
        for byte in text.iter().take(most) {
            self.byte(if *byte < b' ' || *byte == 0x7f { b'?' } else { *byte });
        }
        self
    }

    /// Appends what a library or a compiler says of itself as a word of the log line: up to a
    /// comma, the end of the line or a NUL, with a run of blanks as `_`.
    #[inline(never)]
    pub fn one_word(&mut self, text: &[u8]) -> &mut Self {
        // Some go on for pages.
        const MOST: usize = 60;
        let mut blank = false;
        for byte in text.iter().take(MOST) {
            if *byte == b',' || *byte == b'\n' || *byte == 0 {
                break;
            }
            if *byte > b' ' {
                if blank {
                    self.byte(b'_');
                }
                self.byte(*byte);
            }
            blank = *byte <= b' ';
        }
        self
    }

    /// Appends a decimal number.
    #[inline(never)]
    pub fn dec(&mut self, n: u64) -> &mut Self {
        self.dec_wide(n, 1)
    }

    /// Appends a decimal number with leading zeros up to `width` digits.
    #[inline(never)]
    pub fn dec_wide(&mut self, n: u64, width: u32) -> &mut Self {
        if n >= 10 || width > 1 {
            self.dec_wide(n / 10, width.saturating_sub(1));
        }
        self.byte(b'0' + (n % 10) as u8)
    }

    /// Appends 16 hexadecimal digits.
    pub fn hex(&mut self, n: u64) -> &mut Self {
        self.digits(n, 16, b'a')
    }

    /// Appends the low hexadecimal digits of a number, of which `ten` is the letter for 10.
    #[inline(never)]
    pub(crate) fn digits(&mut self, n: u64, mut count: u32, ten: u8) -> &mut Self {
        while count > 0 {
            count -= 1;
            let digit = (n >> (4 * count)) as u8 & 15;
            self.byte(if digit < 10 { b'0' + digit } else { ten - 10 + digit });
        }
        self
    }

    /// The text so far, for as long as the buffer lives; what follows is another text in
    /// the rest of the buffer.
    pub fn take(&mut self) -> &'b [u8] {
        self.take_mut()
    }

    /// As [`Out::take`], to be changed.
    #[inline(never)]
    pub fn take_mut(&mut self) -> &'b mut [u8] {
        let buf = core::mem::take(&mut self.buf);
        let Some((text, rest)) = buf.split_at_mut_checked(self.len) else {
            return &mut [];
        };
        self.buf = rest;
        self.len = 0;
        text
    }

    /// The text so far.
    #[inline(never)]
    pub fn text(&self) -> &[u8] {
        self.buf.get(..self.len).unwrap_or(self.buf)
    }

    /// Number of bytes so far.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of bytes that still fit.
    pub fn room(&self) -> usize {
        self.buf.len() - self.len
    }

    /// Whether something did not fit since the last [`Out::rewind`].
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Goes back to an earlier length and forgets that something did not fit.
    pub fn rewind(&mut self, len: usize) {
        self.len = self.len.min(len);
        self.cut = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn numbers_agree_with_core_fmt() {
        let mut buf = [0; 64];
        for n in [0, 1, 9, 10, 99, 1234567890, u64::MAX] {
            assert_eq!(Out::new(&mut buf).dec(n).text(), format!("{n}").as_bytes());
            assert_eq!(Out::new(&mut buf).dec_wide(n, 6).text(), format!("{n:06}").as_bytes());
            assert_eq!(Out::new(&mut buf).hex(n).text(), format!("{n:016x}").as_bytes());
        }
    }

    #[test]
    fn what_does_not_fit_is_dropped_and_noted() {
        let mut buf = [0; 4];
        let mut out = Out::new(&mut buf);
        out.put(b"abc");
        assert!(!out.is_cut());
        out.put(b"de");
        assert_eq!(out.text(), b"abcd");
        assert!(out.is_cut());
        out.rewind(2);
        assert!(!out.is_cut());
        assert_eq!(out.room(), 2);
    }
}
