//! Every function of MPI, from 1.0 to 5.0: parameters, class, where its bytes come from, and
//! the names under which libraries export it. Data only.
//!
//! Wrappers, documentation and tests of the MPI profile are made from this one table. It
//! stands in `table`, a file per chapter of the standard; `row` tells how rows are written.
//!
//! Facts are those of the standard. `tests/tests/mpi_table` holds them against the MPIs at hand:
//! types against headers and Fortran modules as compilers understand them, names against what
//! libraries export, bytes of collectives against what changes in real buffers.
//!
//! # From a row to a wrapper
//!
//! A wrapper is made of the row alone; nothing in it is written by hand. On System V x86-64 and
//! AArch64 each argument is a word ([`ParameterKind`] has nothing larger, and [`Returns::Double`]
//! is the one result in another register), so that one wrapper passes on the arguments of any MPI:
//!
//! 1. *Entry.* Note the time if this is the outermost wrapper of the thread: MPIs call their own
//!    functions, and Fortran's may call those of C ([`Symbol`] tells all names of a function).
//! 2. *Before the call,* for each [`Flow`] that takes place ([`Flow::by`](field@Flow::by), peer
//!    not `MPI_PROC_NULL`, [`Flow::in_place`](field@Flow::in_place), [`Flow::unless_no_op`]):
//!    bytes from [`Flow::amount`]. Nothing else is looked at, and nothing if no flow takes
//!    place: arguments that are not significant may point anywhere. The group is that of
//!    [`Function::object`].
//! 3. *The call.* Of [`ToldBy::Status`] with a status to be ignored: with one of the wrapper.
//! 4. *After the call.* [`Moment::Call`]: the flow counts, as far as its status says.
//!    [`Moment::Start`] and [`Moment::Completion`]: it is kept with the handle that
//!    [`Function::gives_request`] points to, and counts when a function of class
//!    [`FunctionClass::Start`], [`FunctionClass::Wait`] or [`FunctionClass::Test`] meets that handle. Handles that
//!    come out of `Out` parameters are born, those of `InOut` ones may be gone.
//! 5. *Exit.* The time goes to the function, under [`FunctionClass`] and
//!    [`Function::waits`](field@Function::waits).
//!
//! So the row of `MPI_Gather` makes, with W for a word and S for `PMPI_Type_size_x`:
//!
//! ```text
//! W MPI_Gather(W sendbuf, W sendcount, W sendtype, W recvbuf, W recvcount, W recvtype,
//!              W root, W comm)
//!     enter(GATHER)                                                  // 1
//!     role, ranks, own = role(root, comm)                            // 2, cached per comm
//!     in_place = role is root and sendbuf == IN_PLACE
//!     if role is group or (role is root and comm is no intercomm):   // sends ... by(group)
//!         sent = 0 if in_place else sendcount * S(sendtype)
//!     if role is root:                                               // receives ... by(root)
//!         received = (ranks - in_place) * recvcount * S(recvtype)
//!     error = next(GATHER)(sendbuf, ..., comm)                       // 3
//!     count(GATHER, comm, peer = root, sent, received)               // 4
//!     leave(GATHER, collective, waits for its group)                 // 5
//!     return error
//! ```
//!
//! `MPI_Igather` is the same without waiting; `MPI_Gather_init` keeps `sent` and `received`
//! with the request, and `MPI_Start` counts them. Of `MPI_Gather_c` the words are wider inside,
//! and of `mpi_gather_` they are references to what these words hold.
//!
//! In Fortran the same words are references; [`ParameterKind::fortran`] tells what is behind them.
//! The lengths of [`Fortran::Character`] follow the last argument, and `_f08ts` names get a
//! descriptor for each [`Fortran::Choice`], whose first word is the address. A function that
//! [`Function::may_be_macro`] may never be seen, and one that is not in the table passes by.
#![no_std]
#![forbid(unsafe_code)]

pub mod abi;
mod class;
mod flow;
mod function;
mod gathering;
mod kind;
mod parameter;
mod row;
mod show;
mod symbol;
mod table;
mod version;

pub use class::{CallProgress, Coordination, Epoch, FunctionClass, Position, Rma, Transfer, Waits};
pub use flow::{Flow, FlowAmount, InPlace, Moment, Participants, Span, ToldBy, Way};
pub use function::{Function, Languages, Returns, same};
pub use gathering::Gathering;
pub use kind::{CType, Fortran, ParameterKind};
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
