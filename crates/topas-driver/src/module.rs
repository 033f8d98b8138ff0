//! Whether the module can be linked.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::elf_records::MACHINE;

/// Length of the part of an ELF header that is looked at, in bytes.
const HEAD: usize = 20;
/// `ET_REL`: an object to be linked.
const RELOCATABLE: u16 = 1;

/// Why an object cannot be linked.
#[derive(Debug)]
pub enum Unfit {
    /// It cannot be opened or read.
    Unreadable(io::Error),
    /// It is empty, cut short, or no relocatable object of this machine.
    NotAnObject,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Unreadable(error) => write!(f, "{error}"),
            Unfit::NotAnObject => write!(f, "no relocatable object of this machine"),
        }
    }
}

/// Looks at the object: it must be readable and begin as a 64-bit relocatable object
/// of this machine does. Returns its size in bytes.
///
/// # Errors
/// [`Unfit`]: a link with it would fail.
pub fn check(path: &Path) -> Result<u64, Unfit> {
    let mut file = File::open(path).map_err(Unfit::Unreadable)?;
    let about = file.metadata().map_err(Unfit::Unreadable)?;
    let mut head = [0; HEAD];
    if !about.is_file() || file.read_exact(&mut head).is_err() {
        return Err(Unfit::NotAnObject);
    }
    let [0x7f, b'E', b'L', b'F', class, _, .., t0, t1, m0, m1] = head else {
        return Err(Unfit::NotAnObject);
    };
    let kind = u16::from_ne_bytes([t0, t1]);
    let machine = u16::from_ne_bytes([m0, m1]);
    if class == 2 && kind == RELOCATABLE && MACHINE.is_none_or(|ours| ours == machine) {
        Ok(about.len())
    } else {
        Err(Unfit::NotAnObject)
    }
}
