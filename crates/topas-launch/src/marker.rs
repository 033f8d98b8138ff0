//! The environment marker by which children of a measuring rank know what they are.
//!
//! `TOPAS_RANK=` and two numbers of 16 hexadecimal digits: a hash of launch and rank,
//! and the process id. A child of a rank inherits the launcher's variables and would take
//! itself for the rank. A process that finds the marker of its own launch and rank but
//! another process id is such a child. A nested launch inherits the marker, too, but has
//! another id.

use topas_format::out::Out;

use crate::hash::spread;
use crate::launcher::Rank;

/// Bytes of the entry `TOPAS_RANK=...` with its ending NUL.
pub const SIZE: usize = NAME + 2 * HEX + 1;

const NAME: usize = 11;
const HEX: usize = 16;

/// Appends the entry and a NUL.
#[inline(never)]
pub fn write(out: &mut Out<'_>, rank: &Rank, pid: u32) {
    let place = spread(rank.id ^ u64::from(rank.rank));
    out.put(b"TOPAS_RANK=").hex(place).hex(pid.into()).byte(0);
}

/// Whether the marker's value was set by another process of the same launch and rank.
#[inline(never)]
pub fn is_of_another(value: &[u8], rank: &Rank, own_pid: u32) -> bool {
    let mut own = [0; SIZE];
    write(&mut Out::new(&mut own), rank, own_pid);
    let own = own.get(NAME..NAME + 2 * HEX);
    value.get(..HEX) == own.and_then(|own| own.get(..HEX)) && Some(value) != own
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
        assert!(!out.is_cut() && out.room() == 0);
        let value = out.text().strip_prefix(b"TOPAS_RANK=").unwrap().strip_suffix(b"\0").unwrap();
        assert!(is_of_another(value, &rank, 4712));
        assert!(!is_of_another(value, &rank, 4711));
        assert!(!is_of_another(value, &Rank { rank: 2, ..rank }, 4712));
        assert!(!is_of_another(value, &Rank { id: 0xfeee, ..rank }, 4712));
        assert!(!is_of_another(b"", &rank, 1));
        assert!(!is_of_another(&value[..7], &rank, 1));
    }
}
