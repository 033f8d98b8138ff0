//! `struct perf_event_attr` as the program filled it, and the kernel's first look at it.

use std::io;

use super::kernel::KernelEvent;

/// Size of the first published structure, `PERF_ATTR_SIZE_VER0`.
const SIZE_VER0: u32 = 64;
/// Size of the largest structure known here, `PERF_ATTR_SIZE_VER8`.
const SIZE_KNOWN: usize = 136;
/// Largest size the kernel copies: one page.
const SIZE_MAX: u32 = 4096;

/// Bits of the word after `read_format`, in the kernel's order.
mod bit {
    pub const DISABLED: u32 = 0;
    pub const INHERIT: u32 = 1;
    pub const PINNED: u32 = 2;
    pub const EXCLUSIVE: u32 = 3;
    pub const EXCLUDE_KERNEL: u32 = 5;
    pub const EXCLUDE_HV: u32 = 6;
    pub const ENABLE_ON_EXEC: u32 = 12;
    pub const INHERIT_THREAD: u32 = 35;
    pub const REMOVE_ON_EXEC: u32 = 36;
    pub const FIRST_RESERVED: u32 = 38;
}

/// Bits of `read_format` (`PERF_FORMAT_*`).
pub mod read_format {
    /// The time the event was enabled follows the value.
    pub const TOTAL_TIME_ENABLED: u64 = 1;
    /// The time the event was on a counter follows.
    pub const TOTAL_TIME_RUNNING: u64 = 2;
    /// The event's id follows.
    pub const ID: u64 = 4;
    /// One read gives the whole group.
    pub const GROUP: u64 = 8;
    /// The number of lost samples follows.
    pub const LOST: u64 = 16;
    /// All of them.
    pub const ALL: u64 = 31;
}

/// An error number with the reason a report shows.
pub(super) type Refusal = (i32, &'static str);

/// The fields of `struct perf_event_attr` that matter to counting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attr {
    /// `type`: which PMU, such as 4 for `PERF_TYPE_RAW`.
    pub kind: u32,
    /// `size` as the program gave it, in bytes.
    pub size: u32,
    /// `config`: which event of that PMU.
    pub config: u64,
    /// `config1`, also the address of a breakpoint.
    pub config1: u64,
    /// `config2`, also the length of a breakpoint.
    pub config2: u64,
    /// `sample_period` or `sample_freq`; 0 for counting.
    pub sample_period: u64,
    /// `read_format`, bits of [`read_format`].
    pub read_format: u64,
    /// The word of single-bit fields.
    pub bits: u64,
}

impl Attr {
    /// Takes the structure from memory that `read` copies: first its head, whose second
    /// word is the size, then as many bytes as that says.
    ///
    /// # Errors
    /// The outer error is the copy's; the inner one is what the kernel answers to a
    /// size it does not take or to bytes beyond those it knows.
    pub(super) fn read(
        mut read: impl FnMut(&mut [u8]) -> io::Result<()>,
    ) -> io::Result<Result<Attr, (Attr, Refusal)>> {
        let mut head = [0; 8];
        read(&mut head)?;
        let given = u32_at(&head, 4);
        // The kernel takes 0 for the first structure.
        let size = if given == 0 { SIZE_VER0 } else { given };
        if !(SIZE_VER0..=SIZE_MAX).contains(&size) {
            let attr = Attr { kind: u32_at(&head, 0), size: given, ..Attr::default() };
            return Ok(Err((attr, (libc::E2BIG, "size out of range"))));
        }
        let mut bytes = vec![0; (size as usize).max(SIZE_KNOWN)];
        read(&mut bytes[..size as usize])?;
        let attr = Attr {
            kind: u32_at(&bytes, 0),
            size: given,
            config: u64_at(&bytes, 8),
            sample_period: u64_at(&bytes, 16),
            read_format: u64_at(&bytes, 32),
            bits: u64_at(&bytes, 40),
            config1: u64_at(&bytes, 56),
            config2: u64_at(&bytes, 64),
        };
        Ok(if bytes[SIZE_KNOWN..].iter().any(|&b| b != 0) {
            Err((attr, (libc::E2BIG, "bytes beyond the known fields")))
        } else {
            Ok(attr)
        })
    }

    /// The whole structure for another event of the kernel with the same flags, of
    /// `PERF_ATTR_SIZE_VER1`, which has room for a breakpoint.
    pub(super) fn with_event(&self, event: KernelEvent) -> [u64; 9] {
        const SIZE: u64 = 72;
        let KernelEvent { kind, config, bp_type, config1, config2 } = event;
        let head = u64::from(kind) | SIZE << 32;
        // wakeup_events stands in the lower half of the word with bp_type.
        let bp_type = u64::from(bp_type) << 32;
        [head, config, 0, 0, self.read_format, self.bits, bp_type, config1, config2]
    }

    fn has(&self, bit: u32) -> bool {
        self.bits >> bit & 1 == 1
    }

    /// `disabled`: does not count before it is enabled.
    pub fn disabled(&self) -> bool {
        self.has(bit::DISABLED)
    }

    /// `inherit`: counts threads and children too.
    pub fn inherit(&self) -> bool {
        self.has(bit::INHERIT)
    }

    /// `inherit_thread`: of those, threads only.
    pub fn inherit_thread(&self) -> bool {
        self.has(bit::INHERIT_THREAD)
    }

    /// `pinned`: on a counter always or in error.
    pub fn pinned(&self) -> bool {
        self.has(bit::PINNED)
    }

    /// `exclude_kernel`: user space only.
    pub fn exclude_kernel(&self) -> bool {
        self.has(bit::EXCLUDE_KERNEL)
    }

    /// `exclude_hv`: not the hypervisor.
    pub fn exclude_hv(&self) -> bool {
        self.has(bit::EXCLUDE_HV)
    }

    /// `enable_on_exec`: the next exec enables it.
    pub fn enable_on_exec(&self) -> bool {
        self.has(bit::ENABLE_ON_EXEC)
    }

    /// Whether the leader of a group may not be followed by this event.
    pub(super) fn leads_only(&self) -> bool {
        self.pinned() || self.has(bit::EXCLUSIVE)
    }

    /// What a kernel says to these fields whatever its PMU can do.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        let combination = [
            (self.bits >> bit::FIRST_RESERVED != 0, "reserved bits set"),
            (self.read_format & !read_format::ALL != 0, "unknown read_format"),
            (self.inherit_thread() && !self.inherit(), "inherit_thread without inherit"),
            (
                self.has(bit::REMOVE_ON_EXEC) && self.enable_on_exec(),
                "remove_on_exec with enable_on_exec",
            ),
        ];
        let (_, why) = combination.into_iter().find(|(holds, _)| *holds)?;
        Some((libc::EINVAL, why))
    }

    /// What only the kernel's own events can do.
    pub(super) fn not_played(&self) -> Option<Refusal> {
        if self.read_format & read_format::GROUP != 0 {
            return Some((libc::EINVAL, "group reads are not played"));
        }
        (self.sample_period != 0).then_some((libc::EOPNOTSUPP, "sampling is not played"))
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(std::array::from_fn(|i| bytes[at + i]))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(std::array::from_fn(|i| bytes[at + i]))
}
