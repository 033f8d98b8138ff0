//! The numbers of symbols, as the generated stubs pass them: which function is called, and by which
//! of its names.

use topas_mpi_profile::layout::{FUNCTIONS, language};

/// Bits of a number that tell the function; those above tell the name.
const FUNCTION_BITS: u32 = 10;

/// Entries of a table by functions, so that no number of a stub leads out of it.
pub const FUNCTION_ROOM: usize = 1 << FUNCTION_BITS;

/// Entries of a table by bindings, so that no number of a stub leads out of it.
pub const BINDING_ROOM: usize = 16;

const _: () = assert!(FUNCTIONS <= FUNCTION_ROOM && StubBinding::COUNT <= BINDING_ROOM);

/// The number of a symbol. `cargo xtask codegen` numbers the stubs in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct StubSymbol(u32);

/// By which of its names a function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct StubBinding(u32);

impl StubSymbol {
    /// The symbol of a function by one of its names.
    pub const fn new(function: u32, binding: StubBinding) -> StubSymbol {
        StubSymbol(function | binding.0 << FUNCTION_BITS)
    }

    /// The number of the function.
    #[inline(always)]
    pub const fn function(self) -> u32 {
        self.0 & (FUNCTION_ROOM as u32 - 1)
    }

    /// The number of the function if the name is one in C, else a larger one.
    #[inline(always)]
    pub const fn without_name_in_c(self) -> u32 {
        const { assert!(StubBinding::FORTRAN.0.is_power_of_two()) };
        self.0 & !((StubBinding::FORTRAN.0 - 1) << FUNCTION_BITS)
    }

    /// The name.
    #[inline(always)]
    pub const fn binding(self) -> StubBinding {
        StubBinding(self.0 >> FUNCTION_BITS)
    }

    /// Whether it is a name in C, and not that of the variant for large counts.
    #[inline(always)]
    pub const fn is_small_c(self) -> bool {
        self.0 < StubBinding::MPI_LARGE.0 << FUNCTION_BITS
    }

    /// The number.
    #[inline(always)]
    pub const fn number(self) -> u32 {
        self.0
    }
}

impl StubBinding {
    /// `MPI_Send`
    pub const MPI: StubBinding = StubBinding(0);
    /// `PMPI_Send`
    pub const PMPI: StubBinding = StubBinding(1);
    /// `MPI_Send_c`
    pub const MPI_LARGE: StubBinding = StubBinding(2);
    /// `PMPI_Send_c`
    pub const PMPI_LARGE: StubBinding = StubBinding(3);
    /// `mpi_send_`; the first of the Fortran names
    pub const FORTRAN: StubBinding = StubBinding(4);
    /// `mpi_alloc_mem_cptr_`
    pub const FORTRAN_POINTER: StubBinding = StubBinding(5);

    /// Endings of all Fortran names, from [`StubBinding::FORTRAN`] on.
    const ENDINGS: [&[u8]; 8] = [
        b"_",
        b"_cptr_",
        b"_f08_",
        b"_f08ts_",
        b"_c_f08_",
        b"_c_f08ts_",
        b"_f08_large_",
        b"_f08ts_large_",
    ];

    /// How many there are.
    const COUNT: usize = StubBinding::FORTRAN.0 as usize + StubBinding::ENDINGS.len();

    /// All of them.
    pub fn all() -> impl Iterator<Item = StubBinding> {
        (0..StubBinding::COUNT as u32).map(StubBinding)
    }

    /// A bit for each.
    #[inline(always)]
    pub const fn bit(self) -> u32 {
        1 << self.0
    }

    /// Whether its bit is set.
    #[inline(always)]
    pub const fn is_in(self, bits: u32) -> bool {
        bits >> (self.0 & 31) & 1 != 0
    }

    /// Whether words are those of C.
    #[inline(always)]
    pub const fn is_c(self) -> bool {
        self.0 < StubBinding::FORTRAN.0
    }

    /// Whether it is the variant for large counts, in C.
    #[inline(always)]
    pub const fn is_large(self) -> bool {
        self.0 == StubBinding::MPI_LARGE.0 || self.0 == StubBinding::PMPI_LARGE.0
    }

    /// Whether it is a name of the profiling interface.
    pub const fn is_profiling(self) -> bool {
        self.0 == StubBinding::PMPI.0 || self.0 == StubBinding::PMPI_LARGE.0
    }

    /// The language, a bit of [`language`].
    pub const fn language(self) -> u32 {
        match self {
            _ if self.is_c() => language::C,
            StubBinding::FORTRAN | StubBinding::FORTRAN_POINTER => language::FORTRAN,
            _ => language::F08,
        }
    }

    /// The name in C that is as good: that of the profiling interface, or the one that it stands
    /// for.
    pub const fn twin(self) -> Option<StubBinding> {
        match self {
            StubBinding::MPI => Some(StubBinding::PMPI),
            StubBinding::PMPI => Some(StubBinding::MPI),
            StubBinding::MPI_LARGE => Some(StubBinding::PMPI_LARGE),
            StubBinding::PMPI_LARGE => Some(StubBinding::MPI_LARGE),
            _ => None,
        }
    }

    /// What stands before and behind the name of a function, which Fortran has in small letters.
    pub fn affixes(self) -> (&'static [u8], &'static [u8]) {
        let fortran = self.0.checked_sub(StubBinding::FORTRAN.0);
        match fortran.and_then(|place| StubBinding::ENDINGS.get(place as usize)) {
            Some(ending) => (b"mpi_", ending),
            None => (
                if self.is_profiling() { b"PMPI_" } else { b"MPI_" },
                if self.is_large() { b"_c" } else { b"" },
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_tells_function_and_name() {
        for binding in StubBinding::all() {
            let symbol = StubSymbol::new(FUNCTIONS as u32 - 1, binding);
            assert_eq!(symbol.function() as usize, FUNCTIONS - 1);
            assert_eq!(symbol.binding(), binding);
        }
        assert_eq!(StubSymbol::new(3, StubBinding::PMPI).number(), 3 + 1024);
    }

    #[test]
    fn names_have_their_language() {
        let languages: Vec<u32> = StubBinding::all().map(StubBinding::language).collect();
        assert!(languages[..4].iter().all(|of| *of == language::C));
        assert_eq!(languages[4..6], [language::FORTRAN; 2]);
        assert!(languages[6..].iter().all(|of| *of == language::F08));
        assert_eq!(StubBinding::PMPI_LARGE.affixes(), (&b"PMPI_"[..], &b"_c"[..]));
        assert_eq!(StubBinding::FORTRAN_POINTER.affixes(), (&b"mpi_"[..], &b"_cptr_"[..]));
    }
}
