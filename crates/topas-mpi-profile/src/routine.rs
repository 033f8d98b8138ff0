//! What applies to a function: what of it can be counted, and under which class its messages
//! are.

use topas_mpi_table::{
    CHAPTERS, Chapter, Direction, Function, FunctionClass, ParameterKind, Significant, Way,
    functions,
};

use crate::layout::FUNCTIONS;

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
        FunctionClass::Collective(_) | FunctionClass::Neighborhood(_) => {
            Some(SizeClass::Collective)
        }
        FunctionClass::Rma(_) => Some(SizeClass::Rma),
        FunctionClass::Io(..) => Some(SizeClass::Io),
        FunctionClass::Send(_)
        | FunctionClass::Receive(_)
        | FunctionClass::SendReceive(_)
        | FunctionClass::PartitionedSend
        | FunctionClass::PartitionedReceive
        | FunctionClass::Partition
        | FunctionClass::MatchedProbe(_) => Some(SizeClass::PointToPoint),
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
pub const fn applies(function: &Function) -> Applies {
    let mut applies = Applies { count: false, sends: false, receives: false };
    let [mut own, mut last] = function.parameter_lists();
    while let ([parameter, rest @ ..], _) | ([], [parameter, rest @ ..]) = (own, last) {
        applies.count |= matches!(parameter.direction, Direction::In)
            && parameter.array.is_none()
            && matches!(
                parameter.kind,
                ParameterKind::Count | ParameterKind::LargeCount | ParameterKind::Length
            )
            && matches!(parameter.name.as_bytes(), [.., b'c', b'o', b'u', b'n', b't'])
            && !matches!(parameter.significant, Significant::Large);
        if own.is_empty() {
            last = rest;
        } else {
            own = rest;
        }
    }
    let mut flows = function.flows;
    while let [flow, rest @ ..] = flows {
        match flow.way {
            Way::Sent => applies.sends = true,
            Way::Received => applies.receives = true,
        }
        flows = rest;
    }
    applies
}

/// What the library needs of the table: a byte for each function and its name. The table itself
/// would be 300 kB of addresses, which the loader writes into the memory of each rank.
struct Extract {
    facts: [u8; FUNCTIONS],
    ends: [u16; FUNCTIONS],
    names: [u8; NAMES],
}

/// Bytes of all names without `MPI_`.
const NAMES: usize = {
    let (mut length, mut chapters): (_, &[Chapter]) = (0, &CHAPTERS);
    while let [chapter, others @ ..] = chapters {
        let mut functions = chapter.functions;
        while let [function, rest @ ..] = functions {
            length += function.name.len() - PREFIX;
            functions = rest;
        }
        chapters = others;
    }
    length
};

/// `MPI_`
const PREFIX: usize = 4;

const COUNT: u8 = 1;
const SENDS: u8 = 2;
const RECEIVES: u8 = 4;
const CLASS: u32 = 3;

#[allow(clippy::indexing_slicing)] // at compile time only
static EXTRACT: Extract = {
    let mut to = Extract { facts: [0; FUNCTIONS], ends: [0; FUNCTIONS], names: [0; NAMES] };
    let (mut number, mut end, mut chapter) = (0, 0, 0);
    while chapter < CHAPTERS.len() {
        let mut functions = CHAPTERS[chapter].functions;
        while let [function, rest @ ..] = functions {
            let Applies { count, sends, receives } = applies(function);
            to.facts[number] = if count { COUNT } else { 0 }
                | if sends { SENDS } else { 0 }
                | if receives { RECEIVES } else { 0 }
                | match size_class(function) {
                    Some(class) => (class as u8 + 1) << CLASS,
                    None => 0,
                };
            let mut at = PREFIX;
            while at < function.name.len() {
                to.names[end] = function.name.as_bytes()[at];
                (end, at) = (end + 1, at + 1);
            }
            to.ends[number] = end as u16;
            number += 1;
            functions = rest;
        }
        chapter += 1;
    }
    to
};

/// The name of a function by its number, without `MPI_`; empty without one.
pub fn name(number: usize) -> &'static [u8] {
    let ends = &EXTRACT.ends;
    let begin = number.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    let end = ends.get(number).copied().unwrap_or(begin);
    EXTRACT.names.get(begin.into()..end.into()).unwrap_or_default()
}

/// [`applies`] by number.
pub fn columns(number: usize) -> Applies {
    let fact = EXTRACT.facts.get(number).copied().unwrap_or_default();
    Applies { count: fact & COUNT != 0, sends: fact & SENDS != 0, receives: fact & RECEIVES != 0 }
}

/// [`size_class`] by number.
pub fn class(number: usize) -> Option<SizeClass> {
    let fact = EXTRACT.facts.get(number).copied().unwrap_or_default();
    let class = usize::from(fact >> CLASS).checked_sub(1)?;
    SizeClass::ALL.get(class).copied()
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
            assert_eq!(name(at), short(function).as_bytes());
            assert_eq!(columns(at), applies(function));
            assert_eq!(class(at), size_class(function));
        }
        assert_eq!(number(b"Sent"), None);
        assert_eq!(name(FUNCTIONS), b"");
    }
}
