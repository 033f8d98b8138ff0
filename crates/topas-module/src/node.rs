//! What is asked about the node and the program, on measuring ranks only.

use topas_format::number::leading;
use topas_format::zone;

use crate::state::Text;
use crate::sys;

/// The file name of the executable, even if it was moved since.
pub fn executable(name: &mut Text<255>) {
    let mut path = [0; sys::PATH_MAX];
    let path = sys::read_link(b"/proc/self/exe\0", &mut path);
    name.set(path.rsplit(|b| *b == b'/').next().unwrap_or_default());
}

/// Seconds to add to UTC for the site's local time; 0 without `/etc/localtime`. The
/// user's `TZ` does not matter: one log has one clock.
pub fn utc_offset(epoch: i64) -> i64 {
    let mut tail = [0; 128];
    sys::open(b"/etc/localtime\0", sys::O_RDONLY | sys::O_CLOEXEC, 0)
        .ok()
        .and_then(|file| zone::offset_at(zone::footer(file.read_end(&mut tail)), epoch))
        .unwrap_or(0)
}

/// Nominal frequency in MHz: CPUID, the kernel's base or nominal frequency, what
/// /proc/cpuinfo says, the highest frequency; in this order.
pub fn mhz() -> Option<u32> {
    const SYS: [(&[u8], u64); 3] = [
        (b"/sys/devices/system/cpu/cpu0/cpufreq/base_frequency\0", 1000),
        (b"/sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq\0", 1),
        (b"/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq\0", 1000),
    ];
    let [base, nominal, highest] = SYS;
    let file = |(path, unit)| {
        let mut text = [0; 32];
        let (n, _) = leading(read(path, &mut text))?;
        u64::checked_div(n, unit).and_then(|mhz| u32::try_from(mhz).ok()).filter(|mhz| *mhz > 0)
    };
    crate::sys::base_mhz()
        .or_else(|| file(base))
        .or_else(|| file(nominal))
        .or_else(cpuinfo_mhz)
        .or_else(|| file(highest))
}

/// The first `cpu MHz` of /proc/cpuinfo.
fn cpuinfo_mhz() -> Option<u32> {
    let mut text = [0; 2048];
    let text = read(b"/proc/cpuinfo\0", &mut text);
    let line = text.split(|b| *b == b'\n').find(|line| line.starts_with(b"cpu MHz"))?;
    let value = line.rsplit(|b| *b == b':').next()?.trim_ascii();
    leading(value).and_then(|(mhz, _)| u32::try_from(mhz).ok())
}

fn read<'b>(path: &[u8], buf: &'b mut [u8]) -> &'b [u8] {
    match sys::open(path, sys::O_RDONLY | sys::O_CLOEXEC, 0) {
        Ok(file) => file.read(buf),
        Err(_) => &[],
    }
}
