//! Where waits begin, which is not followed from rank to rank if several threads of a rank call MPI: what is said of a
//! rank that may be late because of another one.

use topas_mpi_data::{Blame, MpiProfile, has_one_caller, waited_for_others};

use crate::number::{percent_of, seconds};

/// What a thread waits delays no other thread of its rank.
pub(super) const NOT_FOLLOWED: &str = "Where waits begin is not followed from rank to rank, because several threads of a rank \
                                       call MPI. An event log of the whole run tells it: topas-run --mpi=log,waits.";

/// Whether it is known in which ranks waits begin.
pub(super) fn is_followed(profile: &MpiProfile) -> bool {
    profile.logged.is_some() || has_one_caller(profile)
}

/// That less than half of what ranks wait for each other, `waited` in all, is because of a rank, if so: a sentence behind a
/// blank. `all` is what they wait for each rank, most first; times in ns.
pub(super) fn less_than_half(
    profile: &MpiProfile,
    rank: u32,
    time: u128,
    all: &[(u32, Blame)],
    waited: u128,
) -> Option<String> {
    if 2 * time >= waited {
        return None;
    }
    let of = percent_of(time, waited);
    let text = format!(" That is {of} of what they wait for each other");
    // A rank that is far ahead of all others is not acquitted.
    let next = all.iter().find(|(other, _)| *other != rank);
    Some(
        text + &match next {
            Some((next, second)) if 2 * time >= 3 * second.time() => format!(
                ", more than for any other rank: next is rank {next} with {}.",
                percent_of(second.time(), waited)
            ),
            _ if !is_followed(profile) => format!(". {NOT_FOLLOWED}"),
            _ => ": no rank causes most of it.".to_owned(),
        },
    )
}

/// What is said, behind a blank, of a rank for which others wait `time` ns: that this is less than half, and that it waits
/// itself, if so. `all` and `waited` are those of [`less_than_half`].
pub(super) fn beside_late(
    profile: &MpiProfile,
    rank: u32,
    time: u128,
    all: &[(u32, Blame)],
    waited: u128,
) -> String {
    let half = less_than_half(profile, rank, time, all, waited).unwrap_or_default();
    match waits_itself(profile, rank) {
        None => half,
        // That delays are not followed is said once, at the end.
        Some(itself) => {
            let half = half.strip_suffix(NOT_FOLLOWED).unwrap_or(&half).trim_end();
            format!("{half}{itself} {NOT_FOLLOWED}")
        }
    }
}

/// That a rank waits itself at least half as long as any other for it, so that it may be late because of that: a sentence
/// behind a blank. None where waits are followed.
fn waits_itself(profile: &MpiProfile, rank: u32) -> Option<String> {
    if is_followed(profile) {
        return None;
    }
    let known = profile.ranks.iter().find(|known| known.rank == rank)?;
    let (peer, most) = waited_for_others(known).max_by_key(|(_, blame)| blame.time())?;
    let for_it = profile.ranks.iter().flat_map(waited_for_others).filter(|(of, _)| *of == rank);
    let longest = for_it.map(|(_, blame)| blame.time()).max()?;
    (2 * most.time() >= longest).then(|| {
        format!(
            " Rank {rank} waits itself, {} s for rank {peer}, and may be late because of that.",
            seconds(most.time(), 3)
        )
    })
}
