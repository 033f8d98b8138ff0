//! Ranks that ended their launch by themselves before `MPI_Finalize`.

use topas_mpi_data::{Ending, LostRanks, MpiProfile, MpiRank};

use super::standing::{CallPlaces, rank_words};
use crate::wording::capital;

/// Which rank ended the launch by `MPI_Abort`, or itself by `exit`; None if none did, or all by `exit`.
pub(super) fn words(profile: &MpiProfile, places: &CallPlaces) -> Option<String> {
    let ranks = |is: &dyn Fn(&MpiRank) -> bool| -> Vec<u32> {
        profile.ranks.iter().filter(|rank| is(rank)).map(|rank| rank.rank).collect()
    };
    let aborted = profile.ranks.iter().find_map(|rank| match rank.ending {
        Some(Ending::Abort(code)) => Some((rank.rank, code)),
        _ => None,
    });
    if let Some((_, code)) = aborted {
        let these = ranks(&|rank| matches!(rank.ending, Some(Ending::Abort(_))));
        let calls = LostRanks::calls(profile, &these);
        let place = calls.iter().find_map(|(rank, call)| places.get(&(*rank, call.path?)));
        let place = place.map_or_else(String::new, |place| format!(" at {place}"));
        let who = capital(&rank_words(&these));
        return Some(format!(
            "{who} called MPI_Abort with code {code}{place}, which ended the launch."
        ));
    }
    let these = ranks(&|rank| rank.ending == Some(Ending::Exit));
    let are_some = !these.is_empty() && these.len() < profile.ranks.len();
    are_some.then(|| {
        format!(
            "{} ended by exit or the end of main, without MPI_Finalize: launchers end the other ranks then.",
            capital(&rank_words(&these))
        )
    })
}
