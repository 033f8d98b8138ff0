//! How to get from a frame to the one that called it, packed into one word.

/// A rule of a return address; 0 is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule(pub u64);

/// Where the frame of a function ends: the address that is called CFA.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum FrameEnd {
    /// At `rsp` and the offset
    Stack = 1,
    /// At `rbp` and the offset
    Base = 2,
    /// The end is told by the word at `rbp` and the offset: of functions that align their stack
    ByBase = 3,
    /// Nobody has called this function
    Outermost = 4,
    /// The module is known, and no rule: the path is cut behind this frame
    Unknown = 5,
    /// Not even the module is known: the path is cut in front of this frame
    Foreign = 6,
}

/// Where a function has saved `rbp` of its caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SavedBase {
    /// The function did not change `rbp`
    Kept,
    /// So many bytes from the end of its frame
    ByEnd(i32),
    /// So many bytes from where its own `rbp` leads
    ByBase(i32),
}

impl Rule {
    /// A rule without offsets.
    pub const fn plain(end: FrameEnd) -> Rule {
        Rule(end as u64)
    }

    /// A rule; [`FrameEnd::Unknown`] if an offset has no room. `how` and `from` tell where `rbp` was
    /// saved: 0 kept, 1 by the end of the frame, 2 by its own `rbp`.
    pub fn new(end: FrameEnd, offset: i64, how: u8, from: i64) -> Rule {
        let unknown = Rule::plain(FrameEnd::Unknown);
        let Ok(offset) = i32::try_from(offset) else { return unknown };
        if how > 2 || !(-(1 << 23)..1 << 23).contains(&from) {
            return unknown;
        }
        let from = u64::from(from as u32 & 0xff_ffff);
        Rule(end as u64 | u64::from(how) << 4 | from << 8 | u64::from(offset as u32) << 32)
    }

    /// How the end of the frame is told, as a number.
    #[inline(always)]
    pub const fn end(self) -> u64 {
        self.0 & 0xf
    }

    /// The offset of the end.
    #[inline(always)]
    pub const fn offset(self) -> isize {
        (self.0 as i64 >> 32) as isize
    }

    /// Where `rbp` was saved.
    #[inline(always)]
    pub const fn base(self) -> SavedBase {
        let from = self.0 as i32 >> 8;
        match self.0 >> 4 & 3 {
            0 => SavedBase::Kept,
            1 => SavedBase::ByEnd(from),
            _ => SavedBase::ByBase(from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_tells_what_went_into_it() {
        for end in [FrameEnd::Stack, FrameEnd::Base, FrameEnd::ByBase] {
            for offset in [8, 16, 1 << 20, -8, i64::from(i32::MAX)] {
                for (how, from, base) in [
                    (0, 0, SavedBase::Kept),
                    (1, -16, SavedBase::ByEnd(-16)),
                    (2, 8, SavedBase::ByBase(8)),
                    (1, -(1 << 23), SavedBase::ByEnd(-(1 << 23))),
                ] {
                    let rule = Rule::new(end, offset, how, from);
                    let told = (rule.end(), rule.offset() as i64, rule.base());
                    assert_eq!(told, (end as u64, offset, base));
                }
            }
        }
        let unknown = Rule::plain(FrameEnd::Unknown);
        assert_eq!(Rule::new(FrameEnd::Stack, 1 << 32, 0, 0), unknown);
        assert_eq!(Rule::new(FrameEnd::Stack, 8, 1, 1 << 23), unknown);
    }
}
