//! The tables by which CPython tells the lines of instructions.

/// How a table is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinesForm {
    /// Up to 3.9: pairs of bytes, by how many bytes of instructions and by how many lines it goes on
    Increments,
    /// 3.10: pairs of bytes, how many bytes of instructions follow, and by how many lines they differ
    Ranges,
    /// From 3.11 on: entries of several bytes with columns
    Locations,
}

/// The line of an instruction, a number of units of 2 bytes, in code that begins at a line.
pub fn line(
    form: LinesForm,
    table: impl Iterator<Item = Option<u8>>,
    first: u32,
    unit: u32,
) -> u32 {
    let mut table = table.map_while(|byte| byte);
    let line = if form == LinesForm::Locations {
        by_locations(&mut table, first, unit)
    } else {
        by_pairs(&mut table, first, unit, form == LinesForm::Increments)
    };
    line.cast_unsigned()
}

/// `increments`: a pair tells where the next line begins, otherwise where its own ends.
fn by_pairs(table: &mut impl Iterator<Item = u8>, first: u32, unit: u32, increments: bool) -> i32 {
    const NO_LINE: i8 = i8::MIN;
    let wanted = unit.wrapping_mul(2);
    let (mut line, mut at) = (first.cast_signed(), 0u32);
    while let (Some(bytes), Some(lines)) = (table.next(), table.next()) {
        let lines = lines.cast_signed();
        at = at.wrapping_add(bytes.into());
        if increments && at > wanted {
            break;
        }
        if increments || lines != NO_LINE {
            line = line.wrapping_add(lines.into());
        }
        if !increments && at > wanted {
            break;
        }
    }
    line
}

fn by_locations(table: &mut impl Iterator<Item = u8>, first: u32, unit: u32) -> i32 {
    /// An entry without any place
    const NONE: u8 = 15;
    /// An entry with a line and no columns
    const LINE: u8 = 13;
    /// An entry with all numbers
    const LONG: u8 = 14;
    /// The first entry that goes on by lines and tells its columns
    const FEW_LINES: u8 = 10;
    let (mut line, mut at) = (first.cast_signed(), 0u32);
    while let Some(head) = table.next() {
        let code = head >> 3 & 15;
        at = at.wrapping_add(u32::from(head & 7) + 1);
        let mut columns = 1;
        if code == NONE {
            columns = 0;
        } else if code == LINE || code == LONG {
            line = line.wrapping_add(signed(table));
            columns = 0;
            if code == LONG {
                // The last line, and two columns.
                for _ in 0..3 {
                    unsigned(table);
                }
            }
        } else if code >= FEW_LINES {
            line = line.wrapping_add((code - FEW_LINES).into());
            columns = 2;
        }
        for _ in 0..columns {
            table.next();
        }
        if at > unit {
            break;
        }
    }
    line
}

/// A number in groups of 6 bits, the lowest first.
fn unsigned(table: &mut impl Iterator<Item = u8>) -> u32 {
    let (mut value, mut shift) = (0, 0);
    for byte in table {
        value |= u32::from(byte & 63).checked_shl(shift).unwrap_or(0);
        shift += 6;
        if byte & 64 == 0 {
            break;
        }
    }
    value
}

/// The same with the sign in the lowest bit.
fn signed(table: &mut impl Iterator<Item = u8>) -> i32 {
    let value = unsigned(table);
    let amount = (value >> 1).cast_signed();
    if value & 1 == 0 { amount } else { amount.wrapping_neg() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(form: LinesForm, table: &[u8], first: u32, unit: u32) -> u32 {
        line(form, table.iter().map(|byte| Some(*byte)), first, unit)
    }

    /// Lines 10 (4 units), 11 (3), 9 (1).
    #[test]
    fn lines_are_those_of_the_instruction() {
        let increments: &[u8] = &[8, 1, 6, 0xfe];
        let ranges: &[u8] = &[8, 0, 6, 1, 2, 0xfe];
        // Short columns; a line further with two columns; back by two without columns.
        let locations: &[u8] = &[0x80 | 3, 0x11, 0x80 | 11 << 3 | 2, 4, 9, 0x80 | 13 << 3, 5];
        for (form, table) in [
            (LinesForm::Increments, increments),
            (LinesForm::Ranges, ranges),
            (LinesForm::Locations, locations),
        ] {
            let lines: Vec<u32> = (0..8).map(|unit| of(form, table, 10, unit)).collect();
            assert_eq!(lines, [10, 10, 10, 10, 11, 11, 11, 9], "{form:?}");
        }
    }

    /// Instructions without a line belong to the line before; long entries have four numbers.
    #[test]
    fn entries_of_every_form_are_read_to_their_end() {
        assert_eq!(of(LinesForm::Ranges, &[4, 0, 2, 0x80, 2, 3], 7, 2), 7);
        assert_eq!(of(LinesForm::Ranges, &[4, 0, 2, 0x80, 2, 3], 7, 3), 10);
        // 100 lines further (200 in two groups), its numbers in one and two groups; then none; then
        // a line further.
        let long: &[u8] =
            &[0x80 | 14 << 3, 64 | 8, 3, 1, 64 | 1, 1, 2, 0x80 | 15 << 3, 0x80 | 11 << 3, 0, 0];
        assert_eq!([0, 1, 2].map(|unit| of(LinesForm::Locations, long, 1, unit)), [101, 101, 102]);
    }

    #[test]
    fn a_table_that_ends_early_ends_nothing_else() {
        for form in [LinesForm::Increments, LinesForm::Ranges, LinesForm::Locations] {
            for table in [&[][..], &[0xff], &[0xff; 64], &[0; 64], &[0x80 | 14 << 3, 0xff, 0xff]] {
                for unit in [0, 5, u32::MAX] {
                    let _ = of(form, table, u32::MAX, unit);
                }
            }
        }
    }
}
