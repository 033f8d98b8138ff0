//! Ranks without a profile: what the others wait for them is in no figure.

use topas_mpi_data::{MpiProfile, Origin, RoutineCalls};

use super::amount::routine_name;
use super::culprit::untold;
use super::heading::absent;
use super::standing::rank_words;
use super::waits::{Parts, are_measured, waited};
use crate::number::seconds;

/// That it is not known what the others wait for ranks without a profile: a sentence. None if there are none, if it is
/// not known which these are, or if the ranks are longer in calls of which it is known for whom they wait.
pub fn absent_ranks(profile: &MpiProfile) -> Option<String> {
    let npes = profile.facts.npes.map(u64::from)?;
    let present = profile.ranks.len() as u64;
    if !are_measured(profile) || present == 0 || present != profile.total.ranks || present >= npes {
        return None;
    }
    let told = |routine: &RoutineCalls| Parts::of(profile, routine).told();
    let all = &profile.total.routines;
    let between = || all.iter().filter(|routine| !routine.number.is_edge());
    let (routine, time) = untold(between(), told, 1)?;
    let known: u128 = all.iter().map(|routine| waited(profile, routine)).sum();
    let in_mpi: u128 = between().map(|routine| routine.time).sum();
    if time < known || 2 * time < in_mpi {
        return None;
    }
    let missing: Vec<u32> =
        absent(&profile.ranks, npes).iter().flat_map(|range| range.first..=range.last).collect();
    let why = match profile.origin {
        Origin::Lines => "ran without the library, or its profile was lost",
        Origin::Live | Origin::Left => "ran without the library, or on another node",
    };
    let (it, why) = match missing.len() {
        1 => ("it", format!("it {why}")),
        _ => ("them", format!("they {}", why.replace("its profile was", "their profiles were"))),
    };
    let names = rank_words(&missing);
    Some(format!(
        "Of {names} there is no profile ({why}), and what the others wait for {it} is not known: of {} s that they are \
         in MPI between its start and its end, {} s are in calls of which it is not known for whom they wait, most of \
         that in {}.",
        seconds(in_mpi, 3),
        seconds(time, 3),
        routine_name(profile, routine)
    ))
}
