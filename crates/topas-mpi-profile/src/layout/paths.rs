//! Call paths in the mapped file: each thread that counts them has a table of them, and its block
//! tells where that is. What the table has no room for is counted as one: the others.

/// Paths of a thread; the first place is that of all others.
pub const PATHS: usize = 512;

/// Modules of the process that frames of a thread are in.
pub const PATH_MODULES: usize = 64;

/// Functions of Python that frames of a thread are in.
pub const PATH_FUNCTIONS: usize = 256;

/// Most frames of a path.
pub const PATH_FRAMES: usize = 16;

/// Frames of a path if nobody says how many.
pub const PATH_DEPTH: usize = 8;

/// A module of the process: the executable or a library.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PathModule {
    /// What was added to the addresses of its file
    pub base: u64,
    /// Hash of its loaded segments, which stands for a build id where there is none
    pub print: u64,
    /// Bytes of the build id; 0 if there is none
    pub build_id_length: u32,
    /// Build id
    pub build_id: [u8; 20],
    /// Path of its file
    pub name: [u8; 216],
}

/// A function that Python runs.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PathFunction {
    /// Hash of the base name of its file, of its name and of its first line: equal on all ranks
    pub print: u64,
    /// File of its source; its base name alone if the path has no room
    pub file: [u8; 104],
    /// Name
    pub name: [u8; 80],
}

/// How a path ends, behind its last frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum PathEnd {
    /// With the outermost function
    Outermost = 0,
    /// There are further frames
    Deeper = 1,
    /// The caller of the last frame could not be found
    Cut = 2,
}

/// Calls of one function on one path.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct CallPath {
    /// Number of the function, plus 1; 0 of the others
    pub function: u16,
    /// Frames
    pub count: u16,
    /// A [`PathEnd`]
    pub end: u16,
    /// Room for what comes
    pub reserved: u16,
    /// Calls
    pub calls: u64,
    /// Ticks in them
    pub ticks: u64,
    /// Bytes sent, put or written
    pub sent: u64,
    /// Bytes received, got or read, those of requests that the calls completed included
    pub received: u64,
    /// Ticks by kind of wait: late senders, late receivers, collectives
    pub waits: [u64; 3],
    /// Ticks in calls of which it is not known whether they were waits
    pub unknown: u64,
    /// Innermost first: offset in its module, in bytes, below 2^48; above it the number of the
    /// module, plus 1, or 0 if there was no room for that. Of a function of Python its line, and
    /// above it the number of the function plus [`PATH_MODULES`], plus 1
    pub frames: [u64; PATH_FRAMES],
}

/// Bits of an offset in [`CallPath::frames`].
pub const OFFSET_BITS: u32 = 48;

/// The paths of a thread.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PathTable {
    /// Paths in use, the others included
    pub count: u32,
    /// Modules in use
    pub modules: u32,
    /// Most frames of a path in this run
    pub depth: u32,
    /// The path that the thread is in, plus 1; 0 if it is in none
    pub inside: u32,
    /// The number of this table in its process. A path has this number times [`PATHS`], plus its own
    /// in the table, as its number in the process
    pub number: u32,
    /// Functions of Python in use
    pub function_count: u32,
    /// Offset of [`PATH_FUNCTIONS`] of [`PathFunction`] in the file; 0 before there was one
    pub functions: u64,
    /// Room for what comes
    pub reserved: [u32; 8],
    /// By number
    pub module: [PathModule; PATH_MODULES],
    /// By number
    pub path: [CallPath; PATHS],
}
