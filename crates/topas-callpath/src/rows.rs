//! The rules of return addresses that a thread has seen.

#[cfg(target_arch = "x86_64")]
use crate::rule::{FrameEnd, Rule};
#[cfg(target_arch = "x86_64")]
use crate::{frame_table, module};

#[cfg(target_arch = "x86_64")]
const ROWS_BITS: u32 = 9;
/// Rows of a table.
const ROWS: usize = 512;
/// Rows that an address may be in, one behind the other.
#[cfg(target_arch = "x86_64")]
const PROBES: usize = 4;

#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
struct Row {
    address: usize,
    rule: u64,
}

/// The table of one thread: 8 kB, at first all zero, which is an empty table.
#[repr(C)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub struct Rows {
    rows: [Row; ROWS],
    /// How many modules the process had unloaded when the rows were made
    unloads: u64,
}

impl Rows {
    /// An empty table.
    pub const fn new() -> Rows {
        Rows { rows: [Row { address: 0, rule: 0 }; ROWS], unloads: 0 }
    }
}

impl Rows {
    /// How many modules the process had unloaded when the rows were made.
    pub(crate) fn unloads(&self) -> u64 {
        self.unloads
    }
}

impl Default for Rows {
    fn default() -> Self {
        Rows::new()
    }
}

#[cfg(target_arch = "x86_64")]
impl Rows {
    #[inline(always)]
    fn place(address: usize) -> usize {
        ((address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - ROWS_BITS)) as usize
    }

    /// The rule of a return address.
    #[inline(always)]
    pub(crate) fn rule(&mut self, address: usize) -> Rule {
        match self.rows.get(Rows::place(address)) {
            Some(row) if row.address == address => Rule(row.rule),
            _ => self.elsewhere(address),
        }
    }

    /// The rule of a return address that is not in its first place.
    #[inline(never)]
    fn elsewhere(&mut self, address: usize) -> Rule {
        // A row may stand behind one that is empty by now: outermost frames stay when modules go.
        for i in 0..PROBES {
            match self.rows.get((Rows::place(address) + i) % ROWS) {
                Some(row) if row.address == address && row.rule != 0 => return Rule(row.rule),
                _ => {}
            }
        }
        self.learn(address)
    }

    /// Asks the tables of the module.
    #[cold]
    #[inline(never)]
    fn learn(&mut self, address: usize) -> Rule {
        let module = module::module_of(address.wrapping_sub(1));
        let rule = match &module {
            Some(module) => frame_table::rule(module, address),
            None => Rule::plain(FrameEnd::Foreign),
        };
        // Another module may stand by now where one stood.
        if let Some(module) = &module
            && module.loader.unloads() != self.unloads
        {
            // The outermost frames of a thread stand on its stack as long as it runs.
            let outermost = FrameEnd::Outermost as u64;
            for row in self.rows.iter_mut().filter(|row| Rule(row.rule).end() != outermost) {
                *row = Row { address: 0, rule: 0 };
            }
            self.unloads = module.loader.unloads();
        }
        self.put(address, rule);
        rule
    }

    /// Keeps a rule, if need be in the place of another.
    pub(crate) fn put(&mut self, address: usize, rule: Rule) {
        let first = Rows::place(address);
        let usable = (0..PROBES).map(|i| (first + i) % ROWS).find(|place| {
            self.rows.get(*place).is_some_and(|row| row.rule == 0 || row.address == address)
        });
        if let Some(row) = self.rows.get_mut(usable.unwrap_or(first)) {
            *row = Row { address, rule: rule.0 };
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn an_outermost_frame_is_found_behind_a_row_that_went() {
        let mut rows = Rows::new();
        let address = 0x1000;
        let other = (1..usize::MAX).find(|other| Rows::place(*other) == Rows::place(address));
        let first = other.expect("an address of the same place");
        rows.put(first, Rule::plain(FrameEnd::Foreign));
        rows.put(address, Rule::plain(FrameEnd::Outermost));
        let outermost = FrameEnd::Outermost as u64;
        for row in rows.rows.iter_mut().filter(|row| Rule(row.rule).end() != outermost) {
            *row = Row { address: 0, rule: 0 };
        }
        assert_eq!(rows.rule(address).end(), outermost);
    }
}
