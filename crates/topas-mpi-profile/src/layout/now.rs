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
    /// Nothing yet
    pub reserved: u32,
}

const _: () = assert!(size_of::<NowLine>() == 32);

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
}
