//! Compressed or not: told by the first bytes, never by the name.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

/// Forms a log can be stored in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Plain,
    Gzip,
    Zstd,
    Xz,
}

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
    let mut len = 0;
    while len < MAGIC {
        match file.read_at(&mut head[len..], len as u64) {
            Ok(0) => break,
            Ok(n) => len += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
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
    Ok(match encoding {
        Encoding::Plain => Box::new(all),
        Encoding::Gzip => Box::new(flate2::read::MultiGzDecoder::new(all)),
        Encoding::Zstd => Box::new(zstd::stream::read::Decoder::new(all)?),
        Encoding::Xz => Box::new(liblzma::read::XzDecoder::new_multi_decoder(all)),
    })
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
