//! Events with weights, and how the module keeps them.

/// `perf_event_attr.type` of generic events: `PERF_TYPE_HARDWARE`.
pub const PERF_TYPE_HARDWARE: u32 = 0;

/// `perf_event_attr.type` of the kernel's generic cache events: `PERF_TYPE_HW_CACHE`.
pub const PERF_TYPE_HW_CACHE: u32 = 3;

/// `perf_event_attr.type` of the processor's own events: `PERF_TYPE_RAW`.
pub const PERF_TYPE_RAW: u32 = 4;

/// Most events a formula has.
pub const MAX_TERMS: usize = 5;

/// One event of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// `perf_event_attr.type`: [`PERF_TYPE_RAW`] or [`PERF_TYPE_HW_CACHE`]
    pub kind: u32,
    /// `perf_event_attr.config`
    pub config: u32,
    /// What one count is worth
    pub weight: Weight,
    /// Whether it counts work that was begun and thrown away, too
    pub speculative: bool,
}

/// What one count of an event is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// A constant: 1, 2, 4, 8, 16 or 32
    Times(u8),
    /// The vector length in units of 128 bit, known on the node only (Arm SVE)
    VectorLength,
}

/// A weighted sum of events; without any it cannot be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formula(pub &'static [Term]);

impl Formula {
    /// Its events.
    pub fn terms(self) -> impl Iterator<Item = Term> {
        self.0.iter().copied()
    }

    /// How many events it has, at most [`MAX_TERMS`].
    pub fn count(self) -> usize {
        self.0.len()
    }

    /// Whether the events count work that was begun and thrown away, too.
    pub fn estimate(self) -> bool {
        self.0.iter().any(|term| term.speculative)
    }
}

/// An event the processor does not have.
pub(super) const NONE: Formula = Formula(&[]);

/// An event of a maker's list, counted where instructions retire.
pub(super) const fn raw(weight: u8, config: u32) -> Term {
    Term { kind: PERF_TYPE_RAW, config, weight: Weight::Times(weight), speculative: false }
}

/// An event of a maker's list that counts instructions thrown away, too.
pub(super) const fn begun(config: u32) -> Term {
    Term { kind: PERF_TYPE_RAW, config, weight: Weight::Times(1), speculative: true }
}

/// The same of vectors of scalable length, counted per 128 bit.
pub(super) const fn begun_per_128_bit(config: u32) -> Term {
    Term { kind: PERF_TYPE_RAW, config, weight: Weight::VectorLength, speculative: true }
}

/// A generic event of the first level data cache: operation (0 read, 1 write) and result
/// (0 access, 1 miss) of `PERF_COUNT_HW_CACHE_*`.
pub(super) const fn cache(operation: u32, result: u32) -> Term {
    let config = operation << 8 | result << 16;
    Term { kind: PERF_TYPE_HW_CACHE, config, weight: Weight::Times(1), speculative: false }
}

/// A [`Term`] in four bytes, as user programs have it: from the top the end of a formula,
/// speculative, a generic event, the logarithm of the weight (3 bit), the config (26 bit).
/// Zero is no event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packed(u32);

impl Packed {
    const LAST: u32 = 1 << 31;
    const SPECULATIVE: u32 = 1 << 30;
    const CACHE: u32 = 1 << 29;
    const WEIGHT: u32 = 26;

    /// In place of a logarithm: [`Weight::VectorLength`].
    pub const PER_VECTOR: u32 = 7;

    /// No event.
    pub const NONE: Packed = Packed(0);

    /// A formula of one event, of weight 1 and with this config below 2^26; its type is
    /// known where it is used.
    pub const fn alone(config: u32) -> Packed {
        Packed(Packed::LAST | config)
    }

    /// Whether it is an event.
    pub fn is_some(self) -> bool {
        self.0 != 0
    }

    /// Packs an event. Only at compile time.
    #[allow(clippy::panic)]
    pub(super) const fn new(term: Term, last: bool) -> Packed {
        let weight = match term.weight {
            Weight::VectorLength => Packed::PER_VECTOR,
            Weight::Times(n) => {
                assert!(n.is_power_of_two() && n <= 32);
                n.trailing_zeros()
            }
        };
        let kind = match term.kind {
            PERF_TYPE_RAW => 0,
            PERF_TYPE_HW_CACHE => Packed::CACHE,
            _ => panic!("no room for this type of event"),
        };
        assert!(term.config >> Packed::WEIGHT == 0);
        let mut bits = term.config | weight << Packed::WEIGHT | kind;
        if term.speculative {
            bits |= Packed::SPECULATIVE;
        }
        if last {
            bits |= Packed::LAST;
        }
        Packed(bits)
    }

    pub(super) const fn same(self, other: Packed) -> bool {
        self.0 == other.0
    }

    /// Whether it is the last of its formula.
    pub fn is_last(self) -> bool {
        self.0 & Packed::LAST != 0
    }

    /// Place of the next event of its formula, which is beyond all behind the last.
    pub fn next(self, place: usize) -> usize {
        if self.is_last() { usize::MAX } else { place + 1 }
    }

    /// [`Term::speculative`]
    pub fn speculative(self) -> bool {
        self.0 & Packed::SPECULATIVE != 0
    }

    /// [`Term::kind`]
    pub fn kind(self) -> u32 {
        PERF_TYPE_RAW - (self.0 >> 29 & 1)
    }

    /// [`Term::config`]
    pub fn config(self) -> u32 {
        self.0 & ((1 << Packed::WEIGHT) - 1)
    }

    /// Logarithm of its weight, [`Packed::PER_VECTOR`] for that of a vector's length.
    pub fn logarithm(self) -> u32 {
        self.0 >> Packed::WEIGHT & 7
    }
}

const _: () = assert!(Packed::CACHE == 1 << 29 && PERF_TYPE_RAW - PERF_TYPE_HW_CACHE == 1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back() {
        for (term, logarithm) in [
            (raw(16, 0x60c7), 4),
            (raw(2, 0x0080_0000), 1),
            (raw(1, 0x0160_0000), 0),
            (begun(0x0529), 0),
            (begun_per_128_bit(0x80c0), Packed::PER_VECTOR),
            (cache(0, 1), 0),
            (cache(1, 0), 0),
        ] {
            for last in [false, true] {
                let packed = Packed::new(term, last);
                assert_eq!((packed.kind(), packed.config()), (term.kind, term.config));
                assert_eq!((packed.speculative(), packed.is_last()), (term.speculative, last));
                assert_eq!(packed.logarithm(), logarithm, "{term:?}");
                assert!(packed.is_some());
            }
        }
        let alone = Packed::alone(0);
        assert!(alone.is_some() && alone.is_last() && !alone.speculative());
        assert_eq!((alone.logarithm(), Packed::alone(1).config()), (0, 1));
    }
}
