//! Compressed or not: told by the first bytes, never by the name.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::read_at::read_at_most;

/// Forms a log can be stored in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Plain,
    Gzip,
    Zstd,
    Xz,
}

/// Bytes of text that any compressed file may hold.
const FREE: u64 = 256 << 20;

/// Bytes of text beyond that for each compressed byte. Log lines come to 5 to 60; what was made
/// to be large comes to 1,000 (gzip) or 30,000 (zstd).
const RATIO: u64 = 200;

/// Most bytes of text in a compressed file.
const MOST: u64 = 1 << 40;

/// Most memory that xz may take, in B; `xz -9` makes files that take 65 MB.
const XZ_MEMORY: u64 = 256 << 20;

/// Bytes that tell the encodings apart.
const MAGIC: usize = 6;

fn encoding(head: &[u8]) -> Encoding {
    match head {
        [0x1f, 0x8b, ..] => Encoding::Gzip,
        // A frame, or a skippable frame before it.
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Encoding::Zstd,
        [0xfd, b'7', b'z', b'X', b'Z', 0x00] => Encoding::Xz,
        _ => Encoding::Plain,
    }
}

/// Whether the text of a file is not compressed. Its position is left where it is.
pub(crate) fn is_plain(file: &File) -> io::Result<bool> {
    let mut head = [0; MAGIC];
    let len = read_at_most(file, &mut head, 0)?;
    Ok(encoding(&head[..len]) == Encoding::Plain)
}

/// The text in `raw`. Members and frames that follow each other are read as one text.
///
/// # Errors
///
/// What reading the first bytes or setting up the decoder says.
pub(crate) fn decoded<'r>(mut raw: impl Read + Send + 'r) -> io::Result<Box<dyn Read + Send + 'r>> {
    let mut head = [0; MAGIC];
    let mut len = 0;
    while len < MAGIC {
        match raw.read(&mut head[len..]) {
            Ok(0) => break,
            Ok(n) => len += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    let encoding = encoding(&head[..len]);
    let all = io::Cursor::new(head).take(len as u64).chain(raw);
    if encoding == Encoding::Plain {
        return Ok(Box::new(all));
    }
    let packed = Arc::new(AtomicU64::new(0));
    let all = Packed { raw: all, bytes: Arc::clone(&packed) };
    let reader: Box<dyn Read + Send + 'r> = match encoding {
        Encoding::Plain => Box::new(all),
        Encoding::Gzip => Box::new(flate2::read::MultiGzDecoder::new(all)),
        Encoding::Zstd => Box::new(zstd::stream::read::Decoder::new(all)?),
        Encoding::Xz => {
            let flags = liblzma::stream::CONCATENATED;
            let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, flags)?;
            Box::new(liblzma::read::XzDecoder::new_stream(all, stream))
        }
    };
    Ok(Box::new(Bounded { reader, text: 0, packed }))
}

/// Counts what is read of a compressed file.
struct Packed<R> {
    raw: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Packed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.raw.read(buffer)?;
        self.bytes.fetch_add(got as u64, Ordering::Relaxed);
        Ok(got)
    }
}

/// Text that ends with an error where it is more than a log can be.
struct Bounded<'r> {
    reader: Box<dyn Read + Send + 'r>,
    /// Bytes of text so far
    text: u64,
    packed: Arc<AtomicU64>,
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let packed = self.packed.load(Ordering::Relaxed);
        if self.text > packed.saturating_mul(RATIO).saturating_add(FREE).min(MOST) {
            let text = format!(
                "{packed} B hold more than {} B of text, which no log does; not read further",
                self.text
            );
            return Err(io::Error::other(text));
        }
        let got = self.reader.read(buffer)?;
        self.text += got as u64;
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magic_bytes_decide() {
        assert_eq!(encoding(b""), Encoding::Plain);
        assert_eq!(encoding(b"\x1f"), Encoding::Plain);
        assert_eq!(encoding(b"\x1f\x8b\x08\0\0\0"), Encoding::Gzip);
        assert_eq!(encoding(b"\x28\xb5\x2f\xfd\x04\x58"), Encoding::Zstd);
        assert_eq!(encoding(b"\x50\x2a\x4d\x18\x04\0"), Encoding::Zstd);
        assert_eq!(encoding(b"\xfd7zXZ\0"), Encoding::Xz);
        assert_eq!(encoding(b"2026/1"), Encoding::Plain);
    }
}
