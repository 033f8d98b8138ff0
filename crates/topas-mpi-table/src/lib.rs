//! Every function of MPI, from 1.0 to 5.0: parameters, class, where its bytes come from, and
//! the names under which libraries export it. Data only.
//!
//! Wrappers, documentation and tests of the MPI profile are made from this one table. It
//! stands in `table`, a file per chapter of the standard; `row` tells how rows are written.
//!
//! Facts are those of the standard. What the tests hold them against: the headers and symbols
//! of the MPIs at hand (`tests/tests/mpi_table.rs`).
#![no_std]
#![forbid(unsafe_code)]

mod class;
mod flow;
mod function;
mod kind;
mod parameter;
mod row;
mod symbol;
mod table;
mod version;

pub use class::{Class, Coordination, Epoch, Position, Progress, Rma, Transfer, Waits};
pub use flow::{Amount, By, Flow, InPlace, Moment, Span, ToldBy, Way};
pub use function::{Function, Languages, Returns};
pub use kind::{CType, Fortran, Kind};
pub use parameter::{Direction, Length, Parameter, Significant};
pub use symbol::{Binding, Mangling, Symbol};
pub use table::{CHAPTERS, Chapter, PREDEFINED_CALLBACKS};
pub use version::{NEVER, VERSIONS, Version};

/// All functions, by chapter.
pub fn functions() -> impl Iterator<Item = &'static Function> + Clone {
    CHAPTERS.iter().flat_map(|chapter| chapter.functions)
}

/// The function of this name in C, such as `MPI_Send` or `MPI_Send_c`, and whether that is
/// its variant for large counts.
pub fn find(name: &str) -> Option<(&'static Function, bool)> {
    let exact = functions().find(|f| f.name == name).map(|f| (f, false));
    exact.or_else(|| {
        let small = name.strip_suffix("_c")?;
        functions().find(|f| f.name == small && f.large.is_some()).map(|f| (f, true))
    })
}
