//! Words to the user on standard error, each message with one `write`.
//!
//! All sentences stand in one text: an array of strings would cost a pointer, a length
//! and two relocations for each of them in every user program.

use topas_format::out::Out;
use topas_format::text::Words;

use crate::sys;

/// Places of the sentences.
pub const OFF: usize = 0;
pub const NO_RANK: usize = 1;
pub const PRIVILEGED: usize = 2;
pub const CHILD: usize = 3;
pub const MEASURE: usize = 4;
pub const NO_HANDLER: usize = 5;
pub const NO_TARGET: usize = 6;
/// The first of those that [`crate::log`] chooses by error number.
pub const NO_WRITE: usize = 7;
pub const BAD_OPS: usize = 16;
pub const AT_RANDOM: usize = 17;

const SENTENCES: Words = Words(
    b"TOPAS is off\n\
      not a rank of a parallel run\n\
      the program has privileges\n\
      a child of a measuring rank\n\
      topas.conf says so\n\
      no room for an exit handler\n\
      topas.conf names no log\n\
      cannot be written\n\
      permission denied\n\
      permission denied\n\
      no such directory\n\
      nobody reads this pipe\n\
      is a directory\n\
      is no target\n\
      no space left\n\
      read-only file system\n\
      none of fpops, intops, loads, stores\n\
      ; two are chosen at random",
    b'\n',
);

/// One line: what it is about, what is wrong, a sentence, and the value as far as it fits.
#[inline(never)]
pub fn say(subject: &[u8], wrong: &[u8], sentence: usize, value: &[u8]) {
    let mut buf = [0; 250];
    let mut out = Out::new(&mut buf);
    out.put(b"topas: ").put(subject).put(wrong).put(SENTENCES.at(sentence));
    if !value.is_empty() {
        out.put(b": ").put(value);
    }
    // Room for the end of the line, whatever was cut.
    out.rewind(249);
    out.byte(b'\n');
    text(&out);
}

/// A text as it is.
#[inline(never)]
pub fn text(text: &Out<'_>) {
    const STDERR: i32 = 2;
    // Nobody can be told if standard error is closed.
    let _ = sys::write(STDERR, text.text());
}
