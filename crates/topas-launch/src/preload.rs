//! The variable by which the loader is told of libraries, and the guard that tells a process that
//! it has been loaded with the library of MPI profiles.
//!
//! A library that TOPAS has loaded takes itself out before the program begins, so that children
//! are not loaded with it. Entries of the environment are changed in place: their number stays,
//! and with it what follows them on the stack.

use topas_format::hash::word;
use topas_format::out::Out;

/// The variable, with its equals sign.
pub const PRELOAD: &[u8; 11] = b"LD_PRELOAD=";

/// How file names of the libraries of `topas-run` begin.
pub const RUN: &[u8; 13] = b"libtopas-run.";

/// How file names of the library of MPI profiles begin.
pub const PROFILE: &[u8; 13] = b"libtopas_mpi.";

/// The guard's variable, with its equals sign.
pub const GUARD: &[u8] = b"TOPAS_MPI_DOOR=";

/// Most bytes of the guard with its ending NUL.
pub const GUARD_SIZE: usize = 26;

/// Appends the guard of a process, and a NUL.
pub fn write_guard(out: &mut Out<'_>, pid: u32) {
    out.put(GUARD).dec(pid.into()).byte(0);
}

/// Whether a text begins with another. By hash: a comparison of memory would be one more import.
fn begins<const N: usize>(text: &[u8], with: &[u8; N]) -> bool {
    text.first_chunk::<N>().is_some_and(|front| word(front) == word(with))
}

/// Whether an entry of the environment, without its NUL or with it, names a library by how its
/// file name begins.
pub fn names<const N: usize>(entry: &[u8], library: &[u8; N]) -> bool {
    begins(entry, PRELOAD) && place(entry, library).is_some()
}

/// Where the path of the library begins and ends in the variable.
fn place<const N: usize>(entry: &[u8], library: &[u8; N]) -> Option<(usize, usize)> {
    let is_end = |byte: &u8| matches!(byte, b':' | b' ' | 0);
    let mut begin = PRELOAD.len();
    while begin < entry.len() {
        let rest = entry.get(begin..)?;
        let length = rest.iter().position(is_end).unwrap_or(rest.len());
        let path = rest.get(..length)?;
        let name = path.rsplit(|byte| *byte == b'/').next()?;
        if begins(name, library) {
            return Some((begin, begin + length));
        }
        begin += length + 1;
    }
    None
}

/// Takes a library out of the variable, which ends with its NUL, with the colon in front of it or
/// behind it. True if it was all there was, without a colon: then the variable was made for it,
/// and stays as it is.
pub fn take_out<const N: usize>(entry: &mut [u8], library: &[u8; N]) -> bool {
    let Some((mut begin, mut end)) = place(entry, library) else {
        return false;
    };
    let last = entry.get(end) == Some(&0);
    if begin > PRELOAD.len() {
        begin -= 1;
    } else if last {
        return true;
    } else {
        end += 1;
    }
    // By the byte: a call of memmove would be one more import.
    while let Some(byte) = entry.get(end).copied() {
        if let Some(to) = entry.get_mut(begin) {
            *to = byte;
        }
        begin += 1;
        end += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;
    use std::vec::Vec;

    /// What is left of a variable up to its NUL, and whether it was made for the library.
    fn left(text: &str) -> (String, bool) {
        let mut entry: Vec<u8> = text.bytes().chain([0]).collect();
        let made = take_out(&mut entry, PROFILE);
        let end = entry.iter().position(|byte| *byte == 0).unwrap();
        (String::from_utf8(entry[..end].to_vec()).unwrap(), made)
    }

    #[test]
    fn others_stay_as_they_are() {
        const OURS: &str = "/p/lib/topas/libtopas_mpi.so";
        for (before, after, made) in [
            ("LD_PRELOAD=@", "LD_PRELOAD=@", true),
            ("LD_PRELOAD=@:/a.so", "LD_PRELOAD=/a.so", false),
            ("LD_PRELOAD=/a.so:@", "LD_PRELOAD=/a.so", false),
            ("LD_PRELOAD=/a.so:@:/b.so", "LD_PRELOAD=/a.so:/b.so", false),
            ("LD_PRELOAD=/a.so @ /b.so", "LD_PRELOAD=/a.so /b.so", false),
            (":@", ":@", false),
            ("LD_PRELOAD=/libtopas_mpi/a.so", "LD_PRELOAD=/libtopas_mpi/a.so", false),
            ("LD_PRELOAD=", "LD_PRELOAD=", false),
        ] {
            let (before, after) = (before.replace('@', OURS), after.replace('@', OURS));
            let skip = !before.starts_with("LD_PRELOAD=");
            assert_eq!(names(before.as_bytes(), PROFILE), !skip && before.contains(OURS));
            if !skip {
                assert_eq!(left(&before), (after, made), "{before}");
            }
        }
    }

    #[test]
    fn the_guard_has_room_where_the_library_was() {
        let mut room = [0; GUARD_SIZE];
        let mut out = Out::new(&mut room);
        write_guard(&mut out, u32::MAX);
        assert!(!out.is_cut());
        assert_eq!(out.text(), b"TOPAS_MPI_DOOR=4294967295\0");
        let shortest = "LD_PRELOAD=/libtopas_mpi.so\0";
        assert!(shortest.len() >= GUARD_SIZE);
    }
}
