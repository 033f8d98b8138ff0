//! Whom call paths waited for: paths of other ranks, and how closely the two are in step.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use topas_mpi_profile::layout::{PARTNERS, Partner, Partners, SLACKS};
use topas_mpi_profile::parse::PartnerToken;
use topas_mpi_profile::sums::{TickLength, WaitedSums};

use super::profile::MpiProfile;
use super::waits::Blame;

/// How long before calls their last messages were sent, of those calls that were looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slack {
    /// Calls by how long behind their beginning the message was sent: below 1 us, from 2^(k-1) us to
    /// less than 2^k us, and the last has no end
    pub behind: [u128; SLACKS],
    /// The same of how long before their beginning
    pub before: [u128; SLACKS],
}

impl Slack {
    /// Calls that were looked at.
    pub fn calls(&self) -> u128 {
        self.behind.iter().chain(&self.before).sum()
    }

    /// Calls whose message was sent less than 1 us before they began, or later.
    pub fn stiff(&self) -> u128 {
        self.behind.iter().sum::<u128>() + self.before[0]
    }

    /// The class that the median is in, as its limits in us; negative if the message was sent behind
    /// the beginning. None without calls; a limit that is none is infinite.
    pub fn median(&self) -> Option<(Option<i64>, Option<i64>)> {
        let middle = self.calls().checked_sub(1)? / 2;
        let mut below = 0;
        for class in (0..SLACKS).rev() {
            below += self.behind[class];
            if middle < below {
                let (from, to) = limits(class);
                return Some((to.map(|to| -to), from.map(|from| -from)));
            }
        }
        let class = self.before.iter().position(|calls| {
            below += calls;
            middle < below
        });
        class.map(limits)
    }

    fn add(&mut self, other: &Slack) {
        let mine = self.behind.iter_mut().chain(&mut self.before);
        mine.zip(other.behind.iter().chain(&other.before)).for_each(|(sum, more)| *sum += more);
    }
}

/// Where a class begins and ends, in us.
fn limits(class: usize) -> (Option<i64>, Option<i64>) {
    let from = if class == 0 { 0 } else { 1 << (class - 1) };
    (Some(from), (class + 1 < SLACKS).then_some(1 << class))
}

/// A partner of a path of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPartner {
    /// Number of the path in its rank
    pub path: u32,
    /// The other rank of the world
    pub peer: u32,
    /// Number of the path in that rank; 0 if it is not known
    pub peer_path: u32,
    /// Waits for which the other is to blame
    pub blame: Blame,
    /// How closely the two are in step
    pub slack: Slack,
}

impl PathPartner {
    pub(super) fn of_token(token: &PartnerToken) -> PathPartner {
        let PartnerToken { path, peer, peer_path, waits, slack: [behind, before], .. } = *token;
        let slack = Slack { behind, before };
        PathPartner { path, peer, peer_path, blame: Blame::of(waits), slack }
    }

    /// Of the mapped file of a rank.
    pub(super) fn of_table(table: &Partners, tick: &TickLength) -> Vec<PathPartner> {
        let count = (table.count as usize).min(PARTNERS);
        let of = |partner: &Partner| {
            let waits = [&partner.late, &partner.late_receiver, &partner.collective];
            let [behind, before] = partner.slack.map(|classes| classes.map(u128::from));
            PathPartner {
                path: partner.path.into(),
                peer: partner.peer,
                peer_path: partner.peer_path.into(),
                blame: Blame::of(waits.map(|figure| WaitedSums::of(figure, tick))),
                slack: Slack { behind, before },
            }
        };
        table.partner.iter().take(count).map(of).collect()
    }
}

/// A partner of a path of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchPartner {
    /// The other rank of the world
    pub peer: u32,
    /// Its path; None if it is not known
    pub peer_path: Option<u64>,
    /// Waits for which the other is to blame
    pub blame: Blame,
    /// What of them other ranks than the partner waited: the rest its own threads waited for each other. If an event log
    /// tells that, this is what begins in the partner while they wait here, with what is handed on to others
    pub by_others: Blame,
    /// How closely the two are in step
    pub slack: Slack,
    /// Ranks that have it as a partner, ascending, and what each waited in ns
    pub ranks: Vec<(u32, u128)>,
}

/// What ranks waited in their paths for others, in ns: by the rank, the number of the path and the other rank.
type DirectWaits = HashMap<(u32, u32, u32), u128>;

/// These waits; an event log has to know of whose partners they are.
fn direct_waits(profile: &MpiProfile) -> DirectWaits {
    let mut direct = DirectWaits::new();
    for rank in profile.ranks.iter().filter(|_| profile.logged.is_some()) {
        for partner in rank.sums.paths.iter().flat_map(|paths| &paths.partners) {
            let place = direct.entry((rank.rank, partner.path, partner.peer));
            *place.or_default() += partner.blame.time();
        }
    }
    direct
}

/// What begins in a partner while a rank waits for it: by the event log, if that is known, in the parts of what was waited by
/// the paths of the partner; else what was waited.
fn begun(profile: &MpiProfile, rank: u32, partner: &PathPartner, direct: &DirectWaits) -> Blame {
    let Some(logged) = &profile.logged else { return partner.blame };
    let key = (rank, partner.path, partner.peer);
    let all = direct.get(&key).copied().unwrap_or(0);
    logged.at(rank, partner.path, partner.peer).part(partner.blame.time(), all)
}

/// What tells partners apart: the path, the other rank, and its path.
type PartnerKey = (u64, u32, Option<u64>);

/// The partners of each path, that with most time first. `paths` has the paths of ranks by their
/// numbers.
pub(super) fn partners_of(
    profile: &MpiProfile,
    paths: &HashMap<(u32, u32), u64>,
) -> HashMap<u64, Vec<LaunchPartner>> {
    let mut all: BTreeMap<PartnerKey, LaunchPartner> = BTreeMap::new();
    let direct = direct_waits(profile);
    for rank in &profile.ranks {
        for partner in rank.sums.paths.iter().flat_map(|paths| &paths.partners) {
            let Some(path) = paths.get(&(rank.rank, partner.path)) else { continue };
            let known = Some((partner.peer, partner.peer_path)).filter(|(_, path)| *path != 0);
            let peer_path = known.and_then(|key| paths.get(&key).copied());
            let place = all.entry((*path, partner.peer, peer_path));
            let of = place.or_insert_with(|| LaunchPartner {
                peer: partner.peer,
                peer_path,
                blame: Blame::default(),
                by_others: Blame::default(),
                slack: Slack::default(),
                ranks: Vec::new(),
            });
            of.blame.add(&partner.blame);
            if partner.peer != rank.rank {
                of.by_others.add(&begun(profile, rank.rank, partner, &direct));
            }
            of.slack.add(&partner.slack);
            match of.ranks.last_mut().filter(|(last, _)| *last == rank.rank) {
                Some((_, time)) => *time += partner.blame.time(),
                None => of.ranks.push((rank.rank, partner.blame.time())),
            }
        }
    }
    let mut by_path: HashMap<u64, Vec<LaunchPartner>> = HashMap::new();
    for ((path, ..), partner) in all {
        by_path.entry(path).or_default().push(partner);
    }
    for partners in by_path.values_mut() {
        partners.sort_by_key(|of| (Reverse((of.blame.time(), of.slack.calls())), of.peer));
    }
    by_path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_told_by_its_class() {
        let mut slack = Slack::default();
        assert_eq!((slack.median(), slack.calls(), slack.stiff()), (None, 0, 0));
        slack.before[3] = 2;
        assert_eq!(slack.median(), Some((Some(4), Some(8))));
        slack.behind[1] = 3;
        assert_eq!(slack.median(), Some((Some(-2), Some(-1))));
        assert_eq!((slack.calls(), slack.stiff()), (5, 3));
        slack.before[0] = 10;
        assert_eq!((slack.median(), slack.stiff()), (Some((Some(0), Some(1))), 13));
        slack.before[SLACKS - 1] = 100;
        assert_eq!(slack.median(), Some((Some(1 << (SLACKS - 2)), None)));
    }
}
