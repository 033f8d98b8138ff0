//! The AArch64 table as user programs have it.

#![allow(clippy::indexing_slicing, reason = "at compile time only")]

use super::super::cpu::Cpu;
use super::super::table::{Small, terms_of};
use super::{ROWS, TABLE};

/// Rows and events as user programs have them.
pub static SMALL: Small<{ ROWS.len() }, { terms_of::<{ ROWS.len() }>(ROWS) }> = Small::new(ROWS);

/// [`Table::place`] as user programs have it.
#[inline(always)]
pub fn place(cpu: Cpu) -> usize {
    static KEYS: [(u32, u8, u8); TABLE.models.len()] = {
        let mut keys = [(0, 0, 0); TABLE.models.len()];
        let mut at = 0;
        while at < keys.len() {
            let models = TABLE.models[at];
            keys[at] = (models.first.key(), (models.last - models.first.model) as u8, models.row);
            at += 1;
        }
        keys
    };
    for (first, more, row) in &KEYS {
        if cpu.key().wrapping_sub(*first) <= u32::from(*more) {
            return (*row).into();
        }
    }
    0
}
