//! What is asked about the node and the program, on measuring ranks only.

use core::ffi::CStr;

use topas_format::hash::word;
use topas_format::out::Out;
use topas_format::text::{Cursor, last};
use topas_format::zone;

use crate::{processor, sys};

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

/// Nominal frequency in MHz, 0 if nobody tells: CPUID, the kernel's base or nominal
/// frequency, what /proc/cpuinfo says, the highest frequency; in this order.
pub fn mhz(buf: &mut [u8]) -> u64 {
    const FILES: &[u8] = b"/sys/devices/system/cpu/cpu0/cpufreq/base_frequency\0\
        /sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq\0\
        /proc/cpuinfo\0\
        /sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq\0";
    let mut found = processor::base_mhz().into();
    let mut files = Cursor::new(FILES);
    while found == 0 && !files.rest.is_empty() {
        // SAFETY: each name in the constant ends with a NUL.
        let name = unsafe { CStr::from_ptr(files.until(0).as_ptr().cast()) };
        found = frequency(sys::load(name, buf));
    }
    found
}

/// MHz from a file that holds a number in kHz or MHz, or a line `cpu MHz : 2596.098`.
fn frequency(text: &[u8]) -> u64 {
    let mut text = Cursor::new(text);
    let mut n = text.number();
    if !text.ok {
        // The one word with a capital H behind an M.
        while text.peek() != b'H' && !text.rest.is_empty() {
            text.until(b'M');
        }
        text.until(b':');
        text.eat(b' ');
        n = text.number();
    }
    // No processor has 100 GHz; the kernel's other unit is kHz.
    if n < 100_000 { n } else { n / 1000 }
}

/// Appends what a library or a compiler says of itself, up to a comma, the end of the line or a
/// NUL, with a run of blanks as `_`.
#[inline(never)]
pub fn shown(name: &mut Out<'_>, text: &[u8]) {
    // Some go on for pages.
    const SHOWN: usize = 60;
    let mut blank = false;
    for byte in text.iter().take(SHOWN) {
        if *byte == b',' || *byte == b'\n' || *byte == 0 {
            break;
        }
        if *byte > b' ' {
            if blank {
                name.byte(b'_');
            }
            name.byte(*byte);
        }
        blank = *byte <= b' ';
    }
}
