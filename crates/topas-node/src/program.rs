//! The program that runs, and the clock of the site.

use topas_format::hash::word;
use topas_format::out::Out;
use topas_format::text::last;
use topas_format::zone;

use crate::sys;

/// Appends the file name of the executable, also if it was removed since.
#[inline(never)]
pub fn executable(out: &mut Out<'_>, room: &mut [u8]) {
    const DELETED: u32 = word(b" (deleted)");
    let mut name = last(sys::read_link(c"/proc/self/exe", room), b'/');
    if let Some((removed, end)) = name.split_last_chunk::<10>()
        && word(end) == DELETED
    {
        name = removed;
    }
    out.put(name);
}

/// Seconds to add to UTC for the site's local time; 0 without `/etc/localtime`. The
/// user's `TZ` does not matter: one log has one clock. `buf` must take the whole file.
pub fn utc_offset(epoch: i64, buf: &mut [u8]) -> i64 {
    let tail = sys::load(c"/etc/localtime", buf);
    zone::offset_at(zone::footer(tail), epoch).unwrap_or(0)
}
