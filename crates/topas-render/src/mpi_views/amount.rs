//! Amounts of a profile as text: what does not apply, what was not counted, what may be more.

use topas_mpi_data::{MpiProfile, RoutineAmount, RoutineNumber};

use crate::number::NONE;

/// Name of a routine without `MPI_`. Lines can hold any.
pub(super) fn routine_name(profile: &MpiProfile, number: RoutineNumber) -> String {
    crate::wording::named(profile.routines.name(number).as_bytes())
}

/// An amount for people: nothing is blank, what was not counted `-`; a `+` behind it says that
/// there may be more. As a suffix it leaves the number readable for awk.
pub(super) fn amount(amount: RoutineAmount, text: impl Fn(u128) -> String) -> String {
    match amount {
        RoutineAmount::Nothing => String::new(),
        RoutineAmount::NotCounted => NONE.to_owned(),
        RoutineAmount::AtLeast(n) => text(n) + "+",
        RoutineAmount::Exact(n) => text(n),
    }
}

/// An amount for programs: empty unless all was counted.
pub(super) fn plain(amount: RoutineAmount) -> String {
    amount.exact().map_or_else(String::new, |n| n.to_string())
}
