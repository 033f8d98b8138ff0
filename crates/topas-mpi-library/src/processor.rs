//! Whether the process had a processor when it wanted one: its processor time, and how often the kernel
//! took a processor away in favour of others.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use topas_mpi_profile::sums::Sums;
use topas_node::sys as kernel;

use crate::sys;

/// Processor time in microseconds, and interruptions, when measuring began.
static BEGAN: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Measuring begins.
pub fn begin() {
    for (place, value) in BEGAN.iter().zip(kernel::usage()) {
        place.store(value, Relaxed);
    }
}

/// Adds what was used since measuring began.
pub fn add(sums: &mut Sums) {
    let [began, interrupted] = &BEGAN;
    let [microseconds, interruptions] = kernel::usage();
    let used = microseconds.saturating_sub(began.load(Relaxed));
    sums.processor = u128::from(used) * 1000;
    sums.interruptions = interruptions.saturating_sub(interrupted.load(Relaxed)).into();
    sums.processors = of_node();
}

/// For how long the process has run, in nanoseconds, without the time in which its first thread wanted a processor and
/// had none; 0 if that is not known.
pub fn ran() -> u64 {
    const CLOCK_BOOTTIME: usize = 7;
    const TICKS_A_SECOND: usize = 17;
    let mut room = [0; 1024];
    // The kernel tells the start in these ticks, since it was booted itself.
    let ticks = topas_node::sys::auxiliary(TICKS_A_SECOND) as u64;
    let began = start(kernel::load(c"/proc/self/stat", &mut room));
    let lacked = waited(kernel::load(c"/proc/self/schedstat", &mut room));
    let (Some(began), Some(lacked), true) = (began, lacked, ticks > 0) else { return 0 };
    let began = began.saturating_mul(1_000_000_000).checked_div(ticks).unwrap_or(u64::MAX);
    sys::clock(CLOCK_BOOTTIME).saturating_sub(began).saturating_sub(lacked).max(1)
}

/// When a process began, in ticks, as its `stat` tells. Its name may have any byte.
fn start(stat: &[u8]) -> Option<u64> {
    const PLACE: usize = 19;
    let name_ends = stat.iter().rposition(|byte| *byte == b')')?;
    let fields = stat.get(name_ends + 2..)?;
    long(fields.split(|byte| *byte == b' ').nth(PLACE)?)
}

/// The nanoseconds in which a thread waited for a processor, as its `schedstat` tells.
fn waited(schedstat: &[u8]) -> Option<u64> {
    long(schedstat.split(|byte| *byte == b' ').nth(1)?)
}

fn long(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |number, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number.checked_mul(10)?.checked_add(digit.into())
    })
}

/// The processors of the node; 0 if they are not known.
fn of_node() -> u32 {
    let file = kernel::open(c"/sys/devices/system/cpu/online", kernel::O_CLOEXEC, 0);
    if file < 0 {
        return 0;
    }
    let mut room = [0; 256];
    let count = count(kernel::read(file, &mut room));
    kernel::close(file);
    count
}

/// How many numbers a list of ranges has, such as `0-3,8`; 0 if it is none, or is cut.
fn count(list: &[u8]) -> u32 {
    let Some(list) = list.strip_suffix(b"\n") else { return 0 };
    let mut sum = 0u32;
    for range in list.split(|byte| *byte == b',') {
        let mut ends = range.split(|byte| *byte == b'-').map(number);
        let Some(Some(first)) = ends.next() else { return 0 };
        let last = match ends.next() {
            Some(Some(last)) => last,
            Some(None) => return 0,
            None => first,
        };
        sum = sum.saturating_add(last.saturating_sub(first).saturating_add(1));
    }
    sum
}

fn number(digits: &[u8]) -> Option<u32> {
    u32::try_from(long(digits)?).ok()
}

#[cfg(test)]
mod tests {
    use super::{count, start, waited};

    #[test]
    fn the_start_of_a_process_and_its_waits_are_found() {
        let stat = b"123 (a ) (b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21\n";
        assert_eq!(start(stat), Some(4711));
        assert_eq!(start(b"123 (a) S 1"), None);
        assert_eq!(start(b""), None);
        assert_eq!(waited(b"1200 34000 7\n"), Some(34_000));
        assert_eq!(waited(b""), None);
        assert_eq!(waited(b"1 x 2\n"), None);
        // This process has run for some time.
        assert!(super::ran() > 0);
    }

    #[test]
    fn ranges_are_counted() {
        for (list, processors) in [
            (&b"0-1\n"[..], 2),
            (b"0\n", 1),
            (b"0-3,8,10-11\n", 7),
            (b"0-3,8", 0),
            (b"\n", 0),
            (b"0-x\n", 0),
            (b"99999999999\n", 0),
        ] {
            assert_eq!(count(list), processors, "{list:?}");
        }
    }
}
