//! What applies to a function: what of it can be counted, and under which class its messages
//! are.

use topas_mpi_table::{Class, Direction, Function, Kind, Transfer, Way, functions};

/// The function with a number: its position in the table.
pub fn by_number(number: usize) -> Option<&'static Function> {
    functions().nth(number)
}

/// The number of a function by its name, with or without `MPI_`.
pub fn number(name: &[u8]) -> Option<usize> {
    let name = name.strip_prefix(b"MPI_").unwrap_or(name);
    functions().position(|f| short(f).as_bytes() == name)
}

/// The name of a function without `MPI_`.
pub fn short(function: &Function) -> &'static str {
    function.name.strip_prefix("MPI_").unwrap_or(function.name)
}

/// Classes of messages in sums over ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum SizeClass {
    /// Point-to-point
    PointToPoint = 0,
    /// Collectives, neighbourhood collectives among them
    Collective = 1,
    /// Access to memory of others
    Rma = 2,
    /// Files
    Io = 3,
}

/// Number of [`SizeClass`].
pub const SIZE_CLASSES: usize = 4;

impl SizeClass {
    /// All, by number.
    pub const ALL: [SizeClass; SIZE_CLASSES] =
        [SizeClass::PointToPoint, SizeClass::Collective, SizeClass::Rma, SizeClass::Io];

    /// The word in lines.
    pub const fn word(self) -> &'static str {
        match self {
            SizeClass::PointToPoint => "p2p",
            SizeClass::Collective => "coll",
            SizeClass::Rma => "rma",
            SizeClass::Io => "io",
        }
    }

    /// The class that a word names.
    pub fn of_word(word: &[u8]) -> Option<SizeClass> {
        SizeClass::ALL.into_iter().find(|class| class.word().as_bytes() == word)
    }
}

/// The class of what a function moves; None for functions that move nothing to others.
pub const fn size_class(function: &Function) -> Option<SizeClass> {
    match function.class {
        Class::Collective(_) | Class::Neighborhood(_) => Some(SizeClass::Collective),
        Class::Rma(_) => Some(SizeClass::Rma),
        Class::Io(..) => Some(SizeClass::Io),
        Class::Send(_)
        | Class::Receive(_)
        | Class::SendReceive(_)
        | Class::PartitionedSend
        | Class::PartitionedReceive
        | Class::Partition
        | Class::MatchedProbe(_) => Some(SizeClass::PointToPoint),
        _ => None,
    }
}

/// Which columns a function has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Applies {
    /// A count argument
    pub count: bool,
    /// It sends, puts, or writes.
    pub sends: bool,
    /// It receives, gets, or reads.
    pub receives: bool,
}

/// Which columns a function has, by its row of the table.
pub fn applies(function: &Function) -> Applies {
    let mut applies = Applies::default();
    for parameter in function.parameters(false) {
        applies.count |= parameter.direction == Direction::In
            && parameter.array.is_none()
            && matches!(parameter.kind, Kind::Count | Kind::LargeCount | Kind::Length)
            && parameter.name.ends_with("count");
    }
    for flow in function.flows {
        match flow.way {
            Way::Sent | Way::File(Transfer::Write) => applies.sends = true,
            Way::Received | Way::File(Transfer::Read) => applies.receives = true,
        }
    }
    applies
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Applies {
        applies(topas_mpi_table::find(name).unwrap().0)
    }

    #[test]
    fn columns_are_those_of_the_standard() {
        let all = Applies { count: true, sends: true, receives: true };
        assert_eq!(of("MPI_Sendrecv"), all);
        assert_eq!(of("MPI_Bcast"), all);
        assert_eq!(of("MPI_Send"), Applies { receives: false, ..all });
        assert_eq!(of("MPI_Recv"), Applies { sends: false, ..all });
        assert_eq!(of("MPI_Get"), Applies { sends: false, ..all });
        assert_eq!(of("MPI_File_write"), Applies { receives: false, ..all });
        assert_eq!(of("MPI_Waitall"), Applies { count: true, ..Applies::default() });
        assert_eq!(of("MPI_Barrier"), Applies::default());
        assert_eq!(of("MPI_Get_count"), Applies::default());
    }

    #[test]
    fn what_moves_bytes_has_a_class() {
        for function in functions() {
            if !function.flows.is_empty() {
                assert!(size_class(function).is_some(), "{} has no class", function.name);
            }
        }
    }

    #[test]
    fn names_and_numbers_belong_together() {
        for (at, function) in functions().enumerate() {
            assert_eq!(number(short(function).as_bytes()), Some(at));
            assert_eq!(number(function.name.as_bytes()), Some(at));
            assert_eq!(by_number(at).unwrap().name, function.name);
        }
        assert_eq!(number(b"Sent"), None);
    }
}
