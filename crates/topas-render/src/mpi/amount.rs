//! Amounts of a profile as text: what does not apply, what was not counted, what may be more.

use topas_data::mpi::{Amount, Profile, RoutineNumber};

use crate::number::NONE;

/// Name of a routine without `MPI_`. Lines can hold any.
pub(super) fn routine_name(profile: &Profile, number: RoutineNumber) -> String {
    crate::wording::named(profile.routines.name(number).as_bytes())
}

/// An amount for people: nothing is blank, what was not counted `-`; a `+` behind it says that
/// there may be more. As a suffix it leaves the number readable for awk.
pub(super) fn amount(amount: Amount, text: impl Fn(u128) -> String) -> String {
    match amount {
        Amount::Nothing => String::new(),
        Amount::NotCounted => NONE.to_owned(),
        Amount::AtLeast(n) => text(n) + "+",
        Amount::Exact(n) => text(n),
    }
}

/// An amount for programs: empty unless all was counted.
pub(super) fn plain(amount: Amount) -> String {
    amount.exact().map_or_else(String::new, |n| n.to_string())
}
