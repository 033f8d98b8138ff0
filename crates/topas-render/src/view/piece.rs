//! Text that is made as it is written: a table of a million rows never stands in memory.

use std::num::NonZero;
use std::thread;

/// Rows that a thread makes at a time.
const BATCH: usize = 16 * 1024;

/// Appends the text of a row.
pub type WriteRow<'v> = dyn Fn(&mut Vec<u8>, u32) + Sync + 'v;

/// A part of an output.
pub enum OutputPiece<'v> {
    /// Text
    Text(String),
    /// Rows
    Rows {
        /// Which, in their order
        rows: &'v [u32],
        /// Appends the text of one
        write: Box<WriteRow<'v>>,
    },
}

impl From<String> for OutputPiece<'_> {
    fn from(text: String) -> Self {
        OutputPiece::Text(text)
    }
}

/// Hands the text of all pieces to `sink`, in order; rows are made by up to `threads` threads.
///
/// # Errors
///
/// The first of `sink`, which is then not called again.
pub fn write<E>(
    pieces: &[OutputPiece<'_>],
    threads: NonZero<usize>,
    mut sink: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut buffers: Vec<Vec<u8>> = vec![Vec::new(); threads.get()];
    for piece in pieces {
        match piece {
            OutputPiece::Text(text) => sink(text.as_bytes())?,
            OutputPiece::Rows { rows, write } => {
                for round in rows.chunks(BATCH * threads.get()) {
                    let batches = || round.chunks(BATCH);
                    thread::scope(|scope| {
                        for (buffer, batch) in buffers.iter_mut().zip(batches()) {
                            let mut fill = move || {
                                buffer.clear();
                                batch.iter().for_each(|&row| write(buffer, row));
                            };
                            if batches().len() == 1 {
                                fill();
                            } else {
                                scope.spawn(fill);
                            }
                        }
                    });
                    for (buffer, _) in buffers.iter().zip(batches()) {
                        sink(buffer)?;
                    }
                }
            }
        }
    }
    Ok(())
}
