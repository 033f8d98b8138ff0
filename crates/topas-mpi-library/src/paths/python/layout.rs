//! Where CPython keeps the frames of a thread, by version: offsets in bytes on machines of 64 bits.

use super::lines::LinesForm;

/// What a thread's state leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FramesOf {
    /// The innermost frame
    Thread,
    /// What a loop of the interpreter keeps, which leads to the innermost frame
    Caller,
}

/// How an instruction is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum InstructionForm {
    /// Its number, 32 bits, in bytes
    Bytes,
    /// Its number, 32 bits, in units of 2 bytes
    Units,
    /// Its address
    Address,
}

/// A version.
#[derive(Clone, Copy)]
pub struct Layout {
    minor: u32,
    pub frames_of: FramesOf,
    /// In the state of a thread
    pub of_thread: usize,
    /// In what a loop of the interpreter keeps
    pub of_caller: usize,
    /// In a frame: the frame that called it
    pub previous: usize,
    /// In a frame: the code of its function
    pub code: usize,
    /// In a frame: the instruction
    pub instruction: usize,
    instruction_form: InstructionForm,
    /// In a frame: whose it is, a byte; 0 if that is not told
    pub owner: usize,
    /// The first owner that is the interpreter itself
    pub first_own_owner: u8,
    /// In code: number of the first line, 32 bits
    pub first_line: usize,
    /// In code: file
    pub file: usize,
    /// In code: name
    pub name: usize,
    /// In code: name with those of what the function is in; 0 if there is none
    pub long_name: usize,
    /// In code: the table of lines
    pub lines: usize,
    pub lines_form: LinesForm,
    /// In code: the instructions; 0 if they are elsewhere
    instructions: usize,
    /// Bytes in front of the letters of a text that is ASCII
    pub ascii: usize,
    /// Bytes in front of the letters of another text
    pub letters: usize,
}

const V3_8: Layout = Layout {
    minor: 8,
    frames_of: FramesOf::Thread,
    of_thread: 24,
    of_caller: 0,
    previous: 24,
    code: 32,
    instruction: 104,
    instruction_form: InstructionForm::Bytes,
    owner: 0,
    first_own_owner: 0,
    first_line: 40,
    file: 104,
    name: 112,
    long_name: 0,
    lines: 120,
    lines_form: LinesForm::Increments,
    instructions: 0,
    ascii: 48,
    letters: 72,
};

const V3_7: Layout = Layout { minor: 7, first_line: 36, file: 96, name: 104, lines: 112, ..V3_8 };

const V3_11: Layout = Layout {
    minor: 11,
    frames_of: FramesOf::Caller,
    of_thread: 56,
    of_caller: 8,
    previous: 48,
    code: 32,
    instruction: 56,
    instruction_form: InstructionForm::Address,
    owner: 0,
    first_own_owner: 0,
    first_line: 72,
    file: 112,
    name: 120,
    long_name: 128,
    lines: 136,
    lines_form: LinesForm::Locations,
    instructions: 184,
    ascii: 48,
    letters: 72,
};

const V3_12: Layout = Layout {
    minor: 12,
    of_caller: 0,
    previous: 8,
    code: 0,
    owner: 70,
    first_own_owner: 3,
    first_line: 68,
    instructions: 192,
    ascii: 40,
    letters: 56,
    ..V3_11
};

/// Versions whose frames are known, which all begin with 3.
const LAYOUTS: [Layout; 8] = [
    Layout { minor: 6, instruction: 120, ..V3_7 },
    V3_7,
    V3_8,
    Layout { minor: 9, ..V3_8 },
    Layout {
        minor: 10,
        instruction: 96,
        instruction_form: InstructionForm::Units,
        lines_form: LinesForm::Ranges,
        ..V3_8
    },
    V3_11,
    V3_12,
    Layout { minor: 13, frames_of: FramesOf::Thread, of_thread: 72, instructions: 200, ..V3_12 },
];

impl Layout {
    /// Of a version, as the interpreter tells it: `3.11.2 (main, ...`.
    pub fn of(version: &[u8]) -> Option<Layout> {
        let mut parts = version.strip_prefix(b"3.")?.split(|byte| !byte.is_ascii_digit());
        let minor = parts.next()?.iter().fold(0u32, |number, digit| {
            number.wrapping_mul(10).wrapping_add(u32::from(digit.wrapping_sub(b'0')))
        });
        LAYOUTS.iter().find(|layout| layout.minor == minor).copied()
    }

    /// What a frame tells of an instruction.
    #[inline(always)]
    pub fn instruction(&self, word: usize) -> usize {
        if self.instruction_form == InstructionForm::Address { word } else { word as u32 as usize }
    }

    /// The number of an instruction of some code, in units of 2 bytes.
    pub fn unit(&self, code: usize, instruction: usize) -> u32 {
        if self.instruction_form == InstructionForm::Units {
            return instruction as u32;
        }
        let first = if self.instruction_form == InstructionForm::Address {
            code.wrapping_add(self.instructions)
        } else {
            0
        };
        (instruction.wrapping_sub(first) / 2) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_told_apart() {
        let minor = |version: &str| Layout::of(version.as_bytes()).map(|layout| layout.minor);
        for (version, expected) in [
            ("3.11.2 (main, Apr 28 2025, 14:11:48) [GCC 12.2.0]", Some(11)),
            ("3.6.15 (default, ...)", Some(6)),
            ("3.13.0rc1+ (heads/3.13)", Some(13)),
            ("3.14.0 (main)", None),
            ("3.5.2 (default)", None),
            ("3.113.0", None),
            ("2.7.18 (default)", None),
            ("3.", None),
            ("", None),
        ] {
            assert_eq!(minor(version), expected, "{version}");
        }
    }

    #[test]
    fn instructions_are_counted_in_units() {
        let of = |version: &[u8]| Layout::of(version).unwrap();
        assert_eq!(of(b"3.9.1").unit(0x1000, 34), 17);
        assert_eq!(of(b"3.10.1").unit(0x1000, 17), 17);
        assert_eq!(of(b"3.11.1").unit(0x1000, 0x1000 + 184 + 34), 17);
    }
}
