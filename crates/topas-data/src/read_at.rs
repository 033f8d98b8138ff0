//! Reads at a place of a file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Reads as much of `bytes` as the file has from `offset` on: how many bytes. The position of the
/// file is left where it is.
///
/// # Errors
///
/// What reading says.
pub fn read_at_most(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut read = 0;
    while read < bytes.len() {
        match file.read_at(&mut bytes[read..], offset.saturating_add(read as u64)) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
    Ok(read)
}
