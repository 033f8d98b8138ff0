//! The environment marker by which children of a measuring rank know what they are.
//!
//! `TOPAS_RANK=` and a decimal number: a hash of launch and rank of 28 bits, and the process
//! id in the low 32. A child of a rank inherits the launcher's variables and would take
//! itself for the rank. A process that finds the marker of its own launch and rank but
//! another process id is such a child. A nested launch inherits the marker, too, but has
//! another id.

use topas_format::hash::word;
use topas_format::out::Out;
use topas_format::text::Cursor;

use crate::hash::spread;
use crate::launcher::Rank;

/// Most bytes of the entry `TOPAS_RANK=...` with its ending NUL.
pub const SIZE: usize = 32;

/// The marker's value.
#[inline(never)]
fn value(rank: &Rank, pid: u32) -> u64 {
    spread(rank.id ^ u64::from(rank.rank)) >> 36 << 32 | u64::from(pid)
}

/// The variable, with its equals sign.
const NAME: &[u8; 11] = b"TOPAS_RANK=";

/// Whether an entry of the environment is a marker. By hash: a comparison of memory would be one
/// more import.
pub fn is_entry(entry: &[u8]) -> bool {
    entry.first_chunk().is_some_and(|front: &[u8; NAME.len()]| word(front) == word(NAME))
}

/// Appends the entry and a NUL.
pub fn write(out: &mut Out<'_>, rank: &Rank, pid: u32) {
    out.put(NAME).dec(value(rank, pid)).byte(0);
}

/// Whether the marker's value was set by another process of the same launch and rank.
pub fn is_of_another(found: &[u8], rank: &Rank, own_pid: u32) -> bool {
    let (found, own) = (Cursor::new(found).number(), value(rank, own_pid));
    found >> 32 == own >> 32 && found != own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launcher::Family;

    #[test]
    fn the_rank_itself_and_other_launches_are_not_children() {
        let rank = Rank { family: Family::Pmi, rank: 3, size: 8, id: 0xfeed };
        let mut buf = [0; SIZE];
        let mut out = Out::new(&mut buf);
        write(&mut out, &rank, 4711);
        assert!(!out.is_cut());
        assert!(is_entry(out.text()) && !is_entry(b"TOPAS_RANKS=1") && !is_entry(b"TOPAS"));
        let value = out.text().strip_prefix(b"TOPAS_RANK=").unwrap().strip_suffix(b"\0").unwrap();
        assert!(is_of_another(value, &rank, 4712));
        assert!(!is_of_another(value, &rank, 4711));
        assert!(!is_of_another(value, &Rank { rank: 2, ..rank }, 4712));
        assert!(!is_of_another(value, &Rank { id: 0xfeee, ..rank }, 4712));
        assert!(!is_of_another(b"", &rank, 1));
        assert!(!is_of_another(&value[..7], &rank, 1));
    }
}
