//! The keys of the lines of a profile, and what becomes of each where lines are handed on
//! without names.

/// What becomes of a token where lines are handed on without names. A token whose key is not
/// in [`KEYS`] is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyExport {
    /// It names nobody, and stays
    Kept,
    /// It may name somebody, and is left out
    LeftOut,
    /// The log line has the same key, and what becomes of it there becomes of it here
    AsInLog,
    /// It begins with the name of a communicator, which is hashed unless it is a function of MPI
    Communicator,
    /// It is told anew of the line that is written
    Anew,
}

use KeyExport::{Anew, AsInLog, Communicator, Kept, LeftOut};

/// Every key. One that ends with a point begins the keys of counters.
pub const KEYS: &[(&str, KeyExport)] = &[
    ("v", Kept),
    ("of", Kept),
    ("at", Kept),
    ("cut", Kept),
    ("line", Kept),
    ("t", AsInLog),
    ("uid", AsInLog),
    ("end", AsInLog),
    ("host", AsInLog),
    ("job", AsInLog),
    ("step", AsInLog),
    ("part", AsInLog),
    ("mpi", AsInLog),
    ("rank", Kept),
    // With the node and the time it leads to the entries of a process accounting.
    ("pid", LeftOut),
    ("before", Kept),
    ("spawned", Kept),
    ("launcher", Kept),
    ("ranks", Kept),
    ("wall", Kept),
    ("wallmax", Kept),
    ("mpisum", Kept),
    ("mpimax", Kept),
    ("mpimin", Kept),
    ("usemax", Kept),
    ("over", Kept),
    ("pause", Kept),
    ("thr", AsInLog),
    ("lang", Kept),
    ("pmpi", Kept),
    ("level", Kept),
    ("miss", Kept),
    ("late", Kept),
    ("latercv", Kept),
    ("coll", Kept),
    ("lateunk", Kept),
    ("l", Kept),
    ("b", Kept),
    ("a", Kept),
    ("ci.", Kept),
    ("co.", Kept),
    ("f", Kept),
    ("w", Kept),
    ("h", Kept),
    ("p", Kept),
    ("u", Kept),
    ("n", Kept),
    ("o", Kept),
    // The moments of a process lead to the entries of a process accounting.
    ("z", LeftOut),
    // It leads from one launch to another.
    ("bx", LeftOut),
    // Files and places of a user's own code.
    ("m", LeftOut),
    ("k", LeftOut),
    ("q", LeftOut),
    // The name of a program.
    ("s", LeftOut),
    ("c", Communicator),
    // Variables and their values may name people.
    ("e", LeftOut),
    ("len", Anew),
];

/// What becomes of the token of a key.
pub fn export(key: &[u8]) -> KeyExport {
    let is = |name: &str| {
        let name = name.as_bytes();
        name == key || name.last() == Some(&b'.') && key.starts_with(name)
    };
    KEYS.iter().find(|(name, _)| is(name)).map_or(LeftOut, |(_, export)| *export)
}
