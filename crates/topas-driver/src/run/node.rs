//! What the line says of the node.

use std::fs;

use topas_format::zone;

/// Name of the node, as the kernel has it.
pub fn host() -> Vec<u8> {
    let name = fs::read("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim_ascii().to_vec()
}

/// Seconds to add to UTC for the site's local time; the user's `TZ` does not matter.
pub fn utc_offset(epoch: u64) -> i64 {
    let zone = fs::read("/etc/localtime").unwrap_or_default();
    zone::offset_at(zone::footer(&zone), epoch.cast_signed()).unwrap_or(0)
}

/// Nominal frequency in MHz, if anybody tells: CPUID, the kernel's base or nominal frequency,
/// what /proc/cpuinfo says, the highest frequency; in this order, as the module has it.
pub fn mhz() -> Option<u64> {
    const FILES: [&str; 4] = [
        "/sys/devices/system/cpu/cpu0/cpufreq/base_frequency",
        "/sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq",
        "/proc/cpuinfo",
        "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
    ];
    let told = FILES.iter().filter_map(|file| frequency(&fs::read_to_string(file).ok()?));
    base_mhz().into_iter().chain(told).find(|mhz| *mhz > 0)
}

/// MHz from a file that holds a number in kHz or MHz, or a line `cpu MHz : 2596.098`.
fn frequency(text: &str) -> Option<u64> {
    let number = match text.split_once("MHz") {
        None => text,
        Some((_, behind)) => behind.split_once(':')?.1.lines().next()?,
    };
    let number = number.trim();
    let digits = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
    let n: u64 = number.get(..digits)?.parse().ok()?;
    // No processor has 100 GHz; the kernel's other unit is kHz.
    Some(if n < 100_000 { n } else { n / 1000 })
}

/// Base frequency from CPUID leaf 16h, which Intel has since Skylake.
#[cfg(target_arch = "x86_64")]
fn base_mhz() -> Option<u64> {
    use topas_node::sys::cpuid;
    let highest = cpuid(0);
    // AMD leaves it reserved; beyond the highest leaf, Intel returns another leaf's data.
    (highest.ebx == topas_format::event::INTEL && highest.eax >= 0x16)
        .then(|| u64::from(cpuid(0x16).eax & 0xffff))
}

#[cfg(not(target_arch = "x86_64"))]
fn base_mhz() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_of_every_file() {
        assert_eq!(frequency("2600000\n"), Some(2600));
        assert_eq!(frequency("2600\n"), Some(2600));
        assert_eq!(frequency("processor\t: 0\ncpu MHz\t\t: 2596.098\ncpu MHz : 1\n"), Some(2596));
        assert_eq!(frequency(""), None);
        assert_eq!(frequency("model name : x\n"), None);
    }
}
