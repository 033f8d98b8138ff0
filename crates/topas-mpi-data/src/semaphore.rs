//! When a rank that was killed ended: the kernel noted it at a semaphore that the rank had raised,
//! see `topas_mpi_library::life`.

use std::fs;

use topas_mpi_profile::layout::Header;

use crate::sys;

/// Where the kernel shows the sets of semaphores of this node.
const SETS: &str = "/proc/sysvipc/sem";

/// Seconds between the making of a set and of the mapped file that names it, at most.
const APART: u64 = 10;

/// A set of semaphores: its key, who made it and when, and when it was changed last, in s since 1970.
#[derive(Debug, PartialEq, Eq)]
struct Set {
    key: i32,
    uid: u32,
    made: u64,
    changed: u64,
}

impl Set {
    /// From the kernel's table: the set with a number.
    fn of(table: &str, id: u32) -> Option<Set> {
        // key semid perms nsems uid gid cuid cgid otime ctime
        let number = |line: &str| line.split_ascii_whitespace().nth(1)?.parse::<u32>().ok();
        let line = table.lines().find(|line| number(line) == Some(id))?;
        let word = |place: usize| line.split_ascii_whitespace().nth(place);
        Some(Set {
            key: word(0)?.parse().ok()?,
            uid: word(4)?.parse().ok()?,
            changed: word(8)?.parse().ok()?,
            made: word(9)?.parse().ok()?,
        })
    }

    /// Whether it is that of the file: a number may have come back, or be of another container.
    fn is_of(&self, header: &Header) -> bool {
        let began = header.began.realtime / 1_000_000_000;
        self.uid == header.uid && self.made.abs_diff(began) <= APART
    }
}

/// A set that a mapped file names by its number, plus 1, with this number.
fn set(header: &Header, name: u32) -> Option<(u32, Set)> {
    let id = name.checked_sub(1)?;
    let set = Set::of(&fs::read_to_string(SETS).ok()?, id)?;
    set.is_of(header).then_some((id, set))
}

/// The set in which the ranks of a node note the order of their ends.
fn order_set(header: &Header) -> Option<u32> {
    let (id, set) = set(header, header.order)?;
    (set.key.cast_unsigned() == header.order_key()).then_some(id)
}

/// How many ranks of the launch have ended on this node after this one, which has ended. None if nobody noted it.
pub(super) fn ended_after(header: &Header) -> Option<u32> {
    sys::semaphore(order_set(header)?, header.rank)
}

/// When the process ended, in ns since 1970: the beginning of that second. None if it runs, or
/// nobody noted it.
pub(super) fn death(header: &Header) -> Option<u128> {
    let (_, set) = set(header, header.life)?;
    (set.changed > set.made).then(|| u128::from(set.changed) * 1_000_000_000)
}

/// Removes the sets of a rank that is gone, when all was told.
pub(super) fn remove(header: &Header) {
    if let Some((id, _)) = set(header, header.life) {
        sys::remove_semaphores(id);
    }
    if let Some(id) = order_set(header) {
        sys::remove_semaphores(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "       key      semid perms      nsems   uid   gid  cuid  cgid      otime      ctime\n\
        -5          3   600          1  1000  1000  1000  1000 1795161670 1795161662\n\
         0         33   600          1  1001  1000  1001  1000 1795161662 1795161662\n";

    #[test]
    fn a_set_is_found_by_its_number() {
        let set = Set { key: -5, uid: 1000, made: 1_795_161_662, changed: 1_795_161_670 };
        assert_eq!(Set::of(TABLE, 3), Some(set));
        assert_eq!(Set::of(TABLE, 33).map(|set| set.uid), Some(1001));
        assert_eq!(Set::of(TABLE, 0), None);
        assert_eq!(Set::of("", 3), None);
    }
}
