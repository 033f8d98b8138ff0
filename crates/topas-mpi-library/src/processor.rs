//! Whether the process had a processor when it wanted one: its processor time, and how often the kernel
//! took a processor away in favour of others.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use topas_mpi_profile::sums::Sums;
use topas_node::sys as kernel;

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
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u32, |number, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number.checked_mul(10)?.checked_add(digit.into())
    })
}

#[cfg(test)]
mod tests {
    use super::count;

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
