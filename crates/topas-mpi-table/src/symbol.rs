//! Names under which libraries export a function.
//!
//! `use mpi_f08` is the least uniform: the standard's names end in `_f08`, or `_f08ts` where a
//! descriptor is passed for a buffer, behind `_c` for large counts. MPICH 4.0 and 4.1 put
//! `_large` behind them instead. `use mpi` calls the names of `mpif.h`.

use core::fmt;

use crate::function::Function;

/// How a compiler makes a symbol of a name in Fortran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mangling {
    /// `mpi_send_`: gfortran, Intel, LLVM, NVIDIA, Cray.
    Underscore,
    /// `mpi_send__`: f2c and g77.
    TwoUnderscores,
    /// `mpi_send`: IBM XL.
    Plain,
    /// `MPI_SEND`: Cray's of old.
    Upper,
}

/// A language's name of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binding {
    /// `MPI_Send`
    C,
    /// `MPI_Send_c`
    LargeC,
    /// `mpi_send_`
    Fortran(Mangling),
    /// `mpi_alloc_mem_cptr_`: takes a `TYPE(C_PTR)`, see [`Function::has_c_pointer`].
    CPointer(Mangling),
    /// `mpi_send_f08_`
    F08,
    /// `mpi_send_f08ts_`
    F08Descriptor,
    /// `mpi_send_c_f08_`
    LargeF08,
    /// `mpi_send_c_f08ts_`
    LargeF08Descriptor,
    /// `mpi_send_f08_large_`
    MpichF08,
    /// `mpi_send_f08ts_large_`
    MpichF08Descriptor,
}

impl Binding {
    /// All of `use mpi_f08`.
    pub const ALL_F08: [Binding; 6] = [
        Binding::F08,
        Binding::F08Descriptor,
        Binding::LargeF08,
        Binding::LargeF08Descriptor,
        Binding::MpichF08,
        Binding::MpichF08Descriptor,
    ];

    /// True if it takes large counts.
    pub const fn large(self) -> bool {
        matches!(
            self,
            Binding::LargeC
                | Binding::LargeF08
                | Binding::LargeF08Descriptor
                | Binding::MpichF08
                | Binding::MpichF08Descriptor
        )
    }

    /// True if it passes buffers by descriptor.
    pub const fn descriptor(self) -> bool {
        matches!(
            self,
            Binding::F08Descriptor | Binding::LargeF08Descriptor | Binding::MpichF08Descriptor
        )
    }

    const fn ending(self) -> &'static str {
        match self {
            Binding::C => "",
            Binding::LargeC => "_c",
            Binding::Fortran(mangling) => mangling.ending(),
            Binding::CPointer(Mangling::Underscore) => "_cptr_",
            Binding::CPointer(Mangling::TwoUnderscores) => "_cptr__",
            Binding::CPointer(Mangling::Plain) => "_cptr",
            Binding::CPointer(Mangling::Upper) => "_CPTR",
            Binding::F08 => "_f08_",
            Binding::F08Descriptor => "_f08ts_",
            Binding::LargeF08 => "_c_f08_",
            Binding::LargeF08Descriptor => "_c_f08ts_",
            Binding::MpichF08 => "_f08_large_",
            Binding::MpichF08Descriptor => "_f08ts_large_",
        }
    }
}

impl Mangling {
    /// All.
    pub const ALL: [Mangling; 4] =
        [Mangling::Underscore, Mangling::TwoUnderscores, Mangling::Plain, Mangling::Upper];

    const fn ending(self) -> &'static str {
        match self {
            Mangling::Underscore => "_",
            Mangling::TwoUnderscores => "__",
            Mangling::Plain | Mangling::Upper => "",
        }
    }
}

/// A symbol of a function; it shows itself as the linker knows it.
#[derive(Clone, Copy, Debug)]
pub struct Symbol {
    name: &'static str,
    binding: Binding,
    profiling: bool,
}

impl Function {
    /// Its symbol in a language, whether or not the standard has it there.
    pub const fn symbol(&self, binding: Binding) -> Symbol {
        Symbol { name: self.name, binding, profiling: false }
    }

    /// The same for the profiling interface: `PMPI_Send`, `pmpi_send_`.
    pub const fn profiling_symbol(&self, binding: Binding) -> Symbol {
        Symbol { name: self.name, binding, profiling: true }
    }

    /// True if `use mpi` has a second one that takes a `TYPE(C_PTR)`.
    pub fn has_c_pointer(&self) -> bool {
        self.parameter("baseptr").is_some()
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        let ending = self.binding.ending();
        match self.binding {
            Binding::C | Binding::LargeC => {
                let first = if self.profiling { "P" } else { "" };
                write!(f, "{first}{}{ending}", self.name)
            }
            Binding::Fortran(Mangling::Upper) | Binding::CPointer(Mangling::Upper) => {
                f.write_str(if self.profiling { "P" } else { "" })?;
                self.name.chars().try_for_each(|c| f.write_char(c.to_ascii_uppercase()))?;
                f.write_str(ending)
            }
            _ => {
                f.write_str(if self.profiling { "p" } else { "" })?;
                self.name.chars().try_for_each(|c| f.write_char(c.to_ascii_lowercase()))?;
                f.write_str(ending)
            }
        }
    }
}
