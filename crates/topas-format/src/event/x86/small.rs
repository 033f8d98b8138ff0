//! The x86-64 table as user programs have it.

#![allow(clippy::indexing_slicing, reason = "at compile time only")]

use super::super::cpu::{Cpu, Family};
use super::super::table::{Small, terms_of};
use super::{ROWS, TABLE};

/// Rows and events as user programs have them.
pub static SMALL: Small<{ ROWS.len() }, { terms_of::<{ ROWS.len() }>(ROWS) }> = Small::new(ROWS);

/// First model that has a place in [`INTEL`], and how many have.
const FROM: usize = 0x3c;
const MODELS: usize = 0xe6 - FROM;

/// First family that has places in [`AMD`], and how many have.
const FAMILY: u8 = 23;
const FAMILIES: usize = 4;

/// Rows of Intel's family 6, two models in a byte.
static INTEL: [u8; MODELS / 2] = {
    let mut rows = [0; MODELS / 2];
    let mut at = 0;
    while at < MODELS {
        let cpu = Cpu { family: Family::Intel, number: 6, model: (FROM + at) as u16 };
        rows[at / 2] |= TABLE.place(cpu) << (at % 2 * 4);
        at += 1;
    }
    rows
};

/// Rows of AMD's families, per 16 models, two of them in a byte.
static AMD: [u8; FAMILIES * 8] = {
    let mut rows = [0; FAMILIES * 8];
    let mut at = 0;
    while at < FAMILIES * 16 {
        let number = FAMILY + (at / 16) as u8;
        let cpu = Cpu { family: Family::Amd, number, model: (at % 16 * 16) as u16 };
        rows[at / 2] |= TABLE.place(cpu) << (at % 2 * 4);
        at += 1;
    }
    rows
};

const _: () = assert!(ROWS.len() <= 16);

/// Number of the row of a processor, 0 if the table does not know it: as `Table::place`,
/// without its list.
#[inline(always)]
pub fn place(cpu: Cpu) -> usize {
    let model = usize::from(cpu.model);
    let (rows, at): (&[u8], usize) = match cpu {
        Cpu { family: Family::Intel, number: 6, .. } => (&INTEL, model.wrapping_sub(FROM)),
        Cpu { family: Family::Amd, number, .. } => {
            (&AMD, usize::from(number.wrapping_sub(FAMILY)) * 16 + model / 16)
        }
        _ => return 0,
    };
    usize::from(rows.get(at / 2).copied().unwrap_or(0) >> (at % 2 * 4) & 0xf)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables of user programs and the list that people read are the same.
    #[test]
    fn places_are_those_of_the_list() {
        for family in [Family::Intel, Family::Amd] {
            for number in 0..=255 {
                for model in 0..=255 {
                    let cpu = Cpu { family, number, model };
                    assert_eq!(place(cpu), usize::from(TABLE.place(cpu)), "{cpu:?}");
                }
            }
        }
    }
}
