//! What is asked about the node and the program, on measuring ranks only.

use topas_format::text::{Cursor, Words};
use topas_format::zone;

use crate::sys::{self, open_to_read};

/// The file name of the executable, also if it was removed since.
#[inline(never)]
pub fn executable(path: &mut [u8; sys::PATH_MAX]) -> &[u8] {
    let path = sys::read_link(b"/proc/self/exe\0", path);
    let name = path.iter().rposition(|b| *b == b'/').map_or(0, |at| at + 1);
    let name = path.get(name..).unwrap_or_default();
    name.strip_suffix(b" (deleted)").unwrap_or(name)
}

/// Seconds to add to UTC for the site's local time; 0 without `/etc/localtime`. The
/// user's `TZ` does not matter: one log has one clock.
#[inline(never)]
pub fn utc_offset(epoch: i64) -> i64 {
    let mut tail = [0; 128];
    let tail = match open_to_read(b"/etc/localtime\0") {
        Ok(file) => file.read_end(&mut tail),
        Err(_) => &[],
    };
    zone::offset_at(zone::footer(tail), epoch).unwrap_or(0)
}

/// Nominal frequency in MHz, 0 if nobody tells: CPUID, the kernel's base or nominal
/// frequency, what /proc/cpuinfo says, the highest frequency; in this order.
#[inline(never)]
pub fn mhz() -> u32 {
    const FILES: Words = Words(
        b"/sys/devices/system/cpu/cpu0/cpufreq/base_frequency\0\n\
          /sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq\0\n\
          /proc/cpuinfo\0\n\
          /sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq\0",
        b'\n',
    );
    let mut found = sys::base_mhz().into();
    let mut place = 0;
    while found == 0 && place < 4 {
        if let Ok(file) = open_to_read(FILES.at(place)) {
            found = frequency(file.read(&mut [0; 2048]));
        }
        place += 1;
    }
    found as u32
}

/// MHz from a file that holds a number in kHz or MHz, or a line `cpu MHz : 2596.098`.
#[inline(never)]
fn frequency(text: &[u8]) -> u64 {
    let mut text = Cursor::new(text);
    let label = text.rest.windows(3).position(|word| word == b"MHz");
    if let Some(at) = label {
        text.rest = text.rest.get(at..).unwrap_or_default();
        text.until(b':');
        text.eat(b' ');
    }
    let n = text.number();
    // No processor has 100 GHz; the kernel's other unit is kHz.
    if n < 100_000 { n } else { n / 1000 }
}
