//! What is asked about the node and the program, on measuring ranks only.

use core::ffi::CStr;

use topas_format::text::Cursor;
pub use topas_node::program::{executable, utc_offset};

use crate::{processor, sys};

/// Nominal frequency in MHz, 0 if nobody tells: CPUID, the kernel's base or nominal
/// frequency, what /proc/cpuinfo says, the highest frequency; in this order.
///
/// The kernel composes /proc/cpuinfo processor by processor until the buffer is full, in some
/// 10 us each, and the frequency stands among the first 300 bytes.
pub fn mhz(buf: Option<&mut [u8; 512]>) -> u64 {
    const FILES: &[u8] = b"/sys/devices/system/cpu/cpu0/cpufreq/base_frequency\0\
        /sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq\0\
        /proc/cpuinfo\0\
        /sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq\0";
    let Some(buf) = buf else { return 0 };
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
