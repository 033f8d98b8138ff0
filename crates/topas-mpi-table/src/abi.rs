//! Constants and layouts of MPIs in binary: what a library has to know that is not compiled
//! with `mpi.h`.
//!
//! There are three families. Who uses these has to verify them with the library at hand, see
//! [`Abi::status`] and [`Abi::byte`]; what does not verify is an MPI that is not known. The tests
//! in `tests/tests/mpi_table` hold them against headers.

/// A constant that stands for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predefined {
    /// The address of this symbol of the library
    Symbol(&'static str),
    /// This value
    Value(u64),
}

/// How a handle is passed and stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handles {
    /// Pointers
    Pointers,
    /// `int`
    Integers,
}

/// How a status holds the length of a message in bytes, and whether it was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// The length is a 64-bit word here; `cancelled` is the offset of an `int`.
    Word {
        /// Offset of the length
        at: usize,
        /// Offset of the flag
        cancelled: usize,
    },
    /// Lower half of the length here, behind it the upper half times 2; its lowest bit tells
    /// that it was cancelled.
    Halves {
        /// Offset of the lower half
        at: usize,
    },
}

/// A status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusLayout {
    /// Its size in bytes
    pub size: usize,
    /// Offset of `MPI_SOURCE`, an `int`
    pub source: usize,
    /// Offset of `MPI_ERROR`, an `int`
    pub error: usize,
    /// Where an implementation may hold the length: the standard leaves it open. The one that
    /// tells what `MPI_Status_set_elements` was told is right.
    pub length: &'static [Length],
}

/// Constants and layouts of a family of MPIs.
#[derive(Clone, Copy, Debug)]
pub struct Abi {
    /// The family
    pub name: &'static str,
    /// How handles are passed
    pub handles: Handles,
    /// Sends that do not block, of however few bytes, may end only when their receiver calls MPI
    pub sends_stay: bool,
    /// Words that `MPI_Get_library_version` has, any of them; empty if symbols tell it
    pub says: &'static [&'static str],
    /// True if `MPI_Abi_get_version` has to tell a version of the standard's binary interface
    pub standard: bool,
    /// `MPI_COMM_WORLD`
    pub comm_world: Predefined,
    /// `MPI_COMM_SELF`
    pub comm_self: Predefined,
    /// `MPI_COMM_NULL`
    pub comm_null: Predefined,
    /// `MPI_REQUEST_NULL`
    pub request_null: Predefined,
    /// `MPI_MESSAGE_NO_PROC`
    pub message_no_proc: Predefined,
    /// `MPI_NO_OP`
    pub no_op: Predefined,
    /// `MPI_BOR`
    pub bit_or: Predefined,
    /// `MPI_BYTE`, to verify the size of a datatype and the length in a status
    pub byte: Predefined,
    /// Requests that many operations share because they were complete at once; those that the
    /// library has
    pub completed: &'static [Predefined],
    /// Sizes of most predefined datatypes are in their handles, see [`Abi::size_in_handle`]
    pub sizes_in_handles: bool,
    /// `MPI_IN_PLACE`
    pub in_place: u64,
    /// `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE`
    pub status_ignore: u64,
    /// `MPI_PROC_NULL`
    pub proc_null: i32,
    /// `MPI_ANY_SOURCE`
    pub any_source: i32,
    /// `MPI_ROOT`
    pub root: i32,
    /// `MPI_UNDEFINED`
    pub undefined: i32,
    /// `MPI_IDENT`
    pub identical: i32,
    /// `MPI_CART`
    pub cartesian: i32,
    /// `MPI_GRAPH`
    pub graph: i32,
    /// `MPI_DIST_GRAPH`
    pub distributed_graph: i32,
    /// `MPI_LOCK_SHARED`, if it is known
    pub lock_shared: Option<i32>,
    /// `MPI_THREAD_SINGLE`, `_FUNNELED`, `_SERIALIZED`, `_MULTIPLE`
    pub thread_levels: [i32; 4],
    /// The status
    pub status: StatusLayout,
}

/// Open MPI 2 to 5 and what comes of it: predefined objects are variables of the library.
pub const OPEN_MPI: Abi = Abi {
    name: "Open MPI",
    handles: Handles::Pointers,
    sends_stay: true,
    says: &[],
    standard: false,
    comm_world: Predefined::Symbol("ompi_mpi_comm_world"),
    comm_self: Predefined::Symbol("ompi_mpi_comm_self"),
    comm_null: Predefined::Symbol("ompi_mpi_comm_null"),
    request_null: Predefined::Symbol("ompi_request_null"),
    message_no_proc: Predefined::Symbol("ompi_message_no_proc"),
    no_op: Predefined::Symbol("ompi_mpi_op_no_op"),
    bit_or: Predefined::Symbol("ompi_mpi_op_bor"),
    byte: Predefined::Symbol("ompi_mpi_byte"),
    completed: &[Predefined::Symbol("ompi_request_empty")],
    sizes_in_handles: false,
    in_place: 1,
    status_ignore: 0,
    proc_null: -2,
    any_source: -1,
    root: -4,
    undefined: -32766,
    identical: 0,
    cartesian: 1,
    graph: 2,
    distributed_graph: 3,
    lock_shared: Some(2),
    thread_levels: [0, 1, 2, 3],
    status: StatusLayout {
        size: 24,
        source: 0,
        error: 8,
        length: &[Length::Word { at: 16, cancelled: 12 }],
    },
};

/// MPICH 3 to 5 and its relatives that keep to its binary interface: Intel MPI, MVAPICH,
/// Cray MPICH, ParaStation MPI.
pub const MPICH: Abi = Abi {
    name: "MPICH",
    handles: Handles::Integers,
    sends_stay: false,
    says: &["MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation MPI"],
    standard: false,
    comm_world: Predefined::Value(0x4400_0000),
    comm_self: Predefined::Value(0x4400_0001),
    comm_null: Predefined::Value(0x0400_0000),
    request_null: Predefined::Value(0x2c00_0000),
    message_no_proc: Predefined::Value(0x6c00_0000),
    no_op: Predefined::Value(0x5800_000e),
    bit_or: Predefined::Value(0x5800_0008),
    byte: Predefined::Value(0x4c00_010d),
    // All requests that are not made for one operation; see `is_shared_request`.
    completed: &[],
    sizes_in_handles: true,
    in_place: u64::MAX,
    status_ignore: 1,
    proc_null: -1,
    any_source: -2,
    root: -3,
    undefined: -32766,
    identical: 0,
    cartesian: 2,
    graph: 1,
    distributed_graph: 3,
    lock_shared: Some(235),
    thread_levels: [0, 1, 2, 3],
    status: StatusLayout { size: 20, source: 8, error: 16, length: &[Length::Halves { at: 0 }] },
};

/// The standard's own binary interface, since MPI 5.0.
pub const STANDARD: Abi = Abi {
    name: "MPI standard ABI",
    handles: Handles::Pointers,
    sends_stay: false,
    says: &[],
    standard: true,
    comm_world: Predefined::Value(0x101),
    comm_self: Predefined::Value(0x102),
    comm_null: Predefined::Value(0x100),
    request_null: Predefined::Value(0x180),
    message_no_proc: Predefined::Value(0x129),
    no_op: Predefined::Value(0x3d),
    bit_or: Predefined::Value(0x29),
    byte: Predefined::Value(0x247),
    completed: &[],
    sizes_in_handles: false,
    in_place: 1,
    status_ignore: 0,
    proc_null: -3,
    any_source: -1,
    root: -4,
    undefined: -32766,
    identical: 201,
    cartesian: 211,
    graph: 212,
    distributed_graph: 213,
    // No MPI that has this interface was at hand with locks.
    lock_shared: None,
    thread_levels: [0, 1024, 2048, 4096],
    // Three fields of the standard, then five integers of the implementation.
    status: StatusLayout {
        size: 32,
        source: 0,
        error: 8,
        length: &[
            Length::Halves { at: 12 },
            Length::Halves { at: 16 },
            Length::Halves { at: 20 },
            Length::Halves { at: 24 },
            Length::Word { at: 16, cancelled: 12 },
            Length::Word { at: 24, cancelled: 12 },
            Length::Word { at: 16, cancelled: 24 },
            Length::Word { at: 24, cancelled: 16 },
        ],
    },
};

/// All families. That of the standard comes first: a library for it says what implementation it is
/// of, too, and may lie on top of one with that one's own handles.
pub const ALL: [Abi; 3] = [STANDARD, OPEN_MPI, MPICH];

impl Abi {
    /// Names of the symbols of the library that stand for objects.
    pub fn symbols(&self) -> impl Iterator<Item = &'static str> {
        let objects = [
            self.comm_world,
            self.comm_self,
            self.comm_null,
            self.request_null,
            self.message_no_proc,
            self.no_op,
            self.bit_or,
            self.byte,
        ];
        objects.into_iter().chain(self.completed.iter().copied()).filter_map(
            |object| match object {
                Predefined::Symbol(name) => Some(name),
                Predefined::Value(_) => None,
            },
        )
    }

    /// The size in B of a predefined datatype, where its handle tells it.
    #[inline]
    pub const fn size_in_handle(&self, datatype: u64) -> Option<u64> {
        // MPICH: kind of object and of its making in the upper 6 bits, size in the second byte.
        if self.sizes_in_handles && datatype & 0xfc00_0000 == 0x4c00_0000 {
            Some(datatype >> 8 & 0xff)
        } else {
            None
        }
    }

    /// True if many operations share a request of this kind because they are complete.
    #[inline]
    pub const fn is_shared_request(&self, request: u64) -> bool {
        // MPICH: the kind of making is "built in".
        matches!(self.handles, Handles::Integers) && request & 0xfc00_0000 == 0x6c00_0000
    }
}
