//! Communicators, windows and files: the names that the program gave them, and what made them.

use std::collections::BTreeMap;

use topas_mpi_table::{Direction, Parameter, ParameterKind, find};
use topas_trace::LoggedObject;

use crate::sums::MpiObjectKind;

/// Most objects that are kept: programs may make them in loops.
const MOST_OBJECTS: usize = 65_536;

/// What the log tells of a communicator, window or file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimelineObject {
    /// The latest name that the program gave it, of a file the last part of its path; empty without one
    pub name: Vec<u8>,
    /// The routine that made it; empty if the log does not tell that
    pub maker: String,
}

/// What calls of a routine tell of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectCall {
    /// Nothing
    Nothing,
    /// They give a name to one
    Names,
    /// They make one
    Makes,
}

/// Whether a parameter is a communicator, window or file.
fn kind_of(kind: ParameterKind) -> Option<MpiObjectKind> {
    match kind {
        ParameterKind::Comm => Some(MpiObjectKind::Communicator),
        ParameterKind::Win => Some(MpiObjectKind::Window),
        ParameterKind::File => Some(MpiObjectKind::File),
        _ => None,
    }
}

/// What the calls of a routine of this name are on, as far as events tell it; a communicator of one that is not
/// known.
pub fn object_of_routine(name: &str) -> MpiObjectKind {
    let Some((function, _)) = find(name) else { return MpiObjectKind::Communicator };
    let passed = function.parameters(false).filter(|own| own.direction != Direction::Out);
    let kinds = passed.filter_map(|own| kind_of(own.kind));
    // What is made on a communicator is a collective of this.
    kinds.min().unwrap_or(MpiObjectKind::Communicator)
}

impl ObjectCall {
    pub(super) fn of_routine(name: &str) -> ObjectCall {
        let Some((function, _)) = find(name) else { return ObjectCall::Nothing };
        if matches!(function.name, "MPI_Comm_set_name" | "MPI_Win_set_name") {
            return ObjectCall::Names;
        }
        let makes = |parameter: &'static Parameter| {
            parameter.direction == Direction::Out && kind_of(parameter.kind).is_some()
        };
        if function.parameters(false).any(makes) { ObjectCall::Makes } else { ObjectCall::Nothing }
    }
}

/// Adds what an event of a routine with this name tells of an object. Ranks tell the same of the same object, in any
/// order.
pub(super) fn add(
    objects: &mut BTreeMap<u64, TimelineObject>,
    call: ObjectCall,
    told: LoggedObject<'_>,
    routine: impl FnOnce() -> String,
) {
    if objects.len() >= MOST_OBJECTS && !objects.contains_key(&told.number) {
        return;
    }
    let object = objects.entry(told.number).or_default();
    if call == ObjectCall::Makes && object.maker.is_empty() {
        object.maker = routine();
    }
    if call == ObjectCall::Names || object.name.is_empty() {
        object.name = told.name.to_vec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_on_what_their_events_number() {
        use MpiObjectKind::{Communicator, File, Window};
        for (name, kind, call) in [
            ("MPI_Send", Communicator, ObjectCall::Nothing),
            ("MPI_Comm_dup", Communicator, ObjectCall::Makes),
            ("MPI_Cart_create", Communicator, ObjectCall::Makes),
            ("MPI_Comm_set_name", Communicator, ObjectCall::Names),
            ("MPI_Win_create", Communicator, ObjectCall::Makes),
            ("MPI_Win_set_name", Window, ObjectCall::Names),
            ("MPI_Win_fence", Window, ObjectCall::Nothing),
            ("MPI_Put", Window, ObjectCall::Nothing),
            ("MPI_File_open", Communicator, ObjectCall::Makes),
            ("MPI_File_write_all", File, ObjectCall::Nothing),
            ("MPI_File_read", File, ObjectCall::Nothing),
            ("routine 7", Communicator, ObjectCall::Nothing),
        ] {
            assert_eq!(object_of_routine(name), kind, "{name}");
            assert_eq!(ObjectCall::of_routine(name), call, "{name}");
        }
    }

    #[test]
    fn names_and_makers_come_in_any_order() {
        let mut objects = BTreeMap::new();
        let mut tell = |call, number, name: &[u8]| {
            add(&mut objects, call, LoggedObject { number, name }, || "MPI_Comm_dup".to_owned());
        };
        tell(ObjectCall::Makes, 7, b"");
        tell(ObjectCall::Names, 7, b"rows");
        tell(ObjectCall::Makes, 7, b"");
        tell(ObjectCall::Names, 8, b"first");
        tell(ObjectCall::Names, 8, b"last");
        tell(ObjectCall::Makes, 9, b"data.bin");
        let told = |number| {
            let TimelineObject { name, maker } = &objects[&number];
            (String::from_utf8_lossy(name).into_owned(), maker.as_str())
        };
        assert_eq!(told(7), ("rows".to_owned(), "MPI_Comm_dup"));
        assert_eq!(told(8), ("last".to_owned(), ""));
        assert_eq!(told(9), ("data.bin".to_owned(), "MPI_Comm_dup"));
    }
}
