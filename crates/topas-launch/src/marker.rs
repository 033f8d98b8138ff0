//! The environment marker by which children of a measuring rank know what they are.
//!
//! `TOPAS_RANK=<id>/<rank>/<pid>`. A child of a rank inherits the launcher's variables
//! and would take itself for the rank. A process that finds the marker of its own
//! launch and rank but another process id is such a child. A nested launch inherits the
//! marker, too, but has another id.

use topas_format::out::Out;
use topas_format::text::Cursor;

/// Longest marker entry, `TOPAS_RANK=` and the ending NUL included.
pub const MAX: usize = 11 + 16 + 1 + 10 + 1 + 10 + 1;

/// Appends the entry `TOPAS_RANK=...` and a NUL.
pub fn write(out: &mut Out<'_>, id: u64, rank: u32, pid: u32) {
    out.put(topas_format::env::TOPAS_RANK.as_bytes()).byte(b'=').hex(id).byte(b'/');
    out.dec(rank.into()).byte(b'/').dec(pid.into()).byte(0);
}

/// Whether the marker's value was set by another process of the same launch and rank.
pub fn is_of_another(value: &[u8], id: u64, rank: u32, own_pid: u32) -> bool {
    let mut hex = [0; 16];
    let mut hex = Out::new(&mut hex);
    let mut text = Cursor::new(value);
    text.ok = text.until(b'/') == hex.hex(id).text();
    let their_rank = text.number();
    text.expect(b'/');
    let pid = text.number();
    text.ok && their_rank == u64::from(rank) && pid != u64::from(own_pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_itself_and_other_launches_are_not_children() {
        let mut buf = [0; MAX];
        let mut out = Out::new(&mut buf);
        write(&mut out, 0xfeed, 3, 4711);
        assert!(!out.is_cut());
        let value = out.text().strip_prefix(b"TOPAS_RANK=").unwrap().strip_suffix(b"\0").unwrap();
        assert_eq!(value, b"000000000000feed/3/4711");
        assert!(is_of_another(value, 0xfeed, 3, 4712));
        assert!(!is_of_another(value, 0xfeed, 3, 4711));
        assert!(!is_of_another(value, 0xfeed, 2, 4712));
        assert!(!is_of_another(value, 0xfeee, 3, 4712));
        assert!(!is_of_another(b"", 0, 0, 1));
    }

    #[test]
    fn the_longest_marker_fits() {
        let mut buf = [0; MAX];
        let mut out = Out::new(&mut buf);
        write(&mut out, u64::MAX, u32::MAX, u32::MAX);
        assert!(!out.is_cut() && out.room() == 0);
    }
}
