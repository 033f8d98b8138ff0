//! What a thread does at this moment: a line of 32 bytes, written at the entry of each call of the
//! program's, so that whoever reads the file sees in which call a rank hangs, and since when.
//!
//! At entry the peer and the communicator are written by functions that name a rank, then
//! [`NowLine::inside`], then [`NowLine::since`]; at return `inside` alone. Who reads it while it is
//! written takes it twice, until both are the same: see `NowLine` in `topas-mpi-data`.

/// The line of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct NowLine {
    /// Function that the thread is in, plus 1; 0 if none
    pub inside: u32,
    /// The rank that the call names, or the root of a collective, in [`NowLine::comm`]; -1 or less
    /// are constants of the MPI, such as `MPI_ANY_SOURCE`. It means something only while a function
    /// that names a rank is called: see [`names_rank`]
    pub peer: i32,
    /// The communicator or window of that rank: the handle as the call passes it, with bits above
    /// that may mean nothing where handles are integers
    pub comm: u64,
    /// Ticks at the entry of the call
    pub since: u64,
    /// Number of the call path; 0 if none is known
    pub path: u32,
    /// Where the [`NamedRanks`] of the thread stand, in units of 8 bytes from the beginning of the file; 0 if it has none. They
    /// mean something only while a function that names ranks by a group is called: see [`names_group`]
    pub group: u32,
}

/// Ranks that are told one by one of those that a call names by a group.
pub const NAMED_RANKS: usize = 42;

/// A rank whose window a call is to access.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct NamedRank {
    /// Its rank in the world
    pub rank: u32,
    /// Room
    pub reserved: u32,
    /// The key on its board under which it tells that it has posted its window; 0 if it has none
    pub key: u64,
    /// The number of the post for which the call waits
    pub number: u64,
}

/// The ranks that a call names by a group, as far as they are of the world and waits are told.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct NamedRanks {
    /// Entries of [`NamedRanks::ranks`]; written last
    pub count: u32,
    /// 1 if these are all members of the group
    pub are_all: u32,
    /// The ranks
    pub ranks: [NamedRank; NAMED_RANKS],
}

const _: () = assert!(size_of::<NowLine>() == 32 && size_of::<NamedRank>() == 24);

/// The argument of a function that [`NowLine::peer`] shows, by its position: of those that send
/// and receive the rank they receive from. None of functions that name no rank, and of those that
/// name it in another way.
pub const fn peer_place(function: &topas_mpi_table::Function) -> Option<usize> {
    use topas_mpi_table::{Direction, ParameterKind};
    let (mut i, mut found, mut root) = (0, None, None);
    while let Some(parameter) = function.at(i) {
        if matches!(parameter.direction, Direction::In) && parameter.array.is_none() {
            match parameter.kind {
                // The last of them is the source.
                ParameterKind::Rank => found = Some(i),
                ParameterKind::Root => root = Some(i),
                _ => {}
            }
        }
        i += 1;
    }
    let names_group = matches!(function.class, topas_mpi_table::FunctionClass::Group);
    match found {
        _ if names_group => None,
        Some(_) => found,
        None => root,
    }
}

/// The argument behind that of [`peer_place`], if it is the tag of a message to this rank or from it. None of functions
/// that name no such message.
pub const fn tag_place(function: &topas_mpi_table::Function) -> Option<usize> {
    use topas_mpi_table::ParameterKind;
    let Some(peer) = peer_place(function) else { return None };
    match function.at(peer + 1) {
        Some(parameter) if matches!(parameter.kind, ParameterKind::Tag) => Some(peer + 1),
        _ => None,
    }
}

/// Whether calls of a function, by its number, wait for ranks that they name by a group.
pub fn names_group(number: usize) -> bool {
    topas_mpi_table::functions()
        .nth(number)
        .is_some_and(|function| function.name == "MPI_Win_start")
}

/// Whether calls of a function, by its number, name the tag of a message: see [`tag_place`].
pub fn names_tag(number: usize) -> bool {
    topas_mpi_table::functions().nth(number).is_some_and(|function| tag_place(function).is_some())
}

/// Whether calls of a function, by its number, name a rank or a root.
pub fn names_rank(number: usize) -> bool {
    topas_mpi_table::functions().nth(number).is_some_and(|function| peer_place(function).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_and_roots_are_found() {
        let place = |name: &str| {
            let function = topas_mpi_table::functions().find(|function| function.name == name);
            peer_place(function.expect("is in the table"))
        };
        assert_eq!(place("MPI_Send"), Some(3));
        assert_eq!(place("MPI_Recv"), Some(3));
        assert_eq!(place("MPI_Sendrecv"), Some(8));
        assert_eq!(place("MPI_Probe"), Some(0));
        assert_eq!(place("MPI_Bcast"), Some(3));
        assert_eq!(place("MPI_Win_lock"), Some(1));
        for none in ["MPI_Waitall", "MPI_Allreduce", "MPI_Comm_rank"] {
            assert_eq!(place(none), None, "{none}");
        }
    }

    #[test]
    fn tags_stand_behind_their_ranks() {
        let place = |name: &str| {
            let function = topas_mpi_table::functions().find(|function| function.name == name);
            tag_place(function.expect("is in the table"))
        };
        for (name, tag) in [
            ("MPI_Send", 4),
            ("MPI_Recv", 4),
            ("MPI_Sendrecv", 9),
            ("MPI_Sendrecv_replace", 6),
            ("MPI_Probe", 1),
            ("MPI_Mprobe", 1),
            ("MPI_Irecv", 4),
        ] {
            assert_eq!(place(name), Some(tag), "{name}");
        }
        for none in ["MPI_Bcast", "MPI_Win_lock", "MPI_Put", "MPI_Mrecv", "MPI_Barrier"] {
            assert_eq!(place(none), None, "{none}");
        }
    }
}
