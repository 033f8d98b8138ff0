//! Who came when to calls of all ranks of a communicator, and who waited for whom.

use rustc_hash::FxHashMap;
use topas_mpi_table::Gathering;
use topas_mpi_waits::protocol::SMALL_MESSAGE;
use topas_mpi_waits::wait::stayed_for;

use super::messages::TimedCall;
use super::notes::{NoteKind, Notes, TimelineNote};
use super::started::CollectiveKey;
use super::states::TimeClass;

/// Most collectives that are not complete; the oldest are then taken for complete.
const MOST_OPEN: usize = 100_000;

/// The number of `MPI_COMM_WORLD`.
pub(super) const WORLD: u64 = 1;

/// Who came.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    call: TimedCall,
    rank: i32,
    /// Bytes that the call has sent, or received if these are more
    bytes: u64,
    waiting: Waiting,
}

/// Which call waits for the others.
#[derive(Clone, Copy, Debug)]
enum Waiting {
    /// That with which the rank comes
    Itself,
    /// A later one, which is not known yet
    Later,
    /// This one
    By(TimedCall),
    /// Nobody knows which
    Untold,
}

/// A collective, as far as it is known.
#[derive(Debug)]
struct Assembly {
    gathering: Gathering,
    routine: u16,
    root: i32,
    class: TimeClass,
    arrivals: Vec<Arrival>,
    /// Whether the calls are not of the same routine
    is_odd: bool,
}

/// A call of all ranks of a communicator.
#[derive(Clone, Copy, Debug)]
pub(super) struct GatheredCall {
    pub(super) gathering: Gathering,
    pub(super) routine: u16,
    pub(super) root: i32,
    pub(super) rank: i32,
    /// Bytes that the call has sent, or received if these are more
    pub(super) bytes: u64,
    pub(super) waits: bool,
    pub(super) class: TimeClass,
    pub(super) call: TimedCall,
}

/// Collectives of a launch.
#[derive(Debug, Default)]
pub(super) struct Collectives {
    open: FxHashMap<CollectiveKey, Assembly>,
    /// Ranks of the world
    ranks: usize,
    /// Collectives that could not be told
    pub(super) untold: u64,
}

impl Collectives {
    /// None yet, in a world of so many ranks.
    pub(super) fn of(ranks: usize) -> Collectives {
        Collectives { ranks, ..Collectives::default() }
    }

    /// Adds a call with which a rank comes to a collective.
    pub(super) fn add(&mut self, key: CollectiveKey, gathered: &GatheredCall, notes: &mut Notes) {
        let GatheredCall { gathering, routine, root, rank, bytes, waits, class, call } = *gathered;
        let assembly = self.open.entry(key).or_insert_with(|| Assembly {
            gathering,
            routine,
            root,
            class,
            arrivals: Vec::new(),
            is_odd: false,
        });
        assembly.is_odd |= assembly.routine != routine;
        let waiting = if waits { Waiting::Itself } else { Waiting::Later };
        assembly.arrivals.push(Arrival { call, rank, bytes, waiting });
        self.close_whole(key, notes);
        if self.open.len() > MOST_OPEN {
            self.close_oldest(notes);
        }
    }

    /// What a rank has started is complete: by this call, which waited for that, if it is known.
    pub(super) fn complete(
        &mut self,
        key: CollectiveKey,
        rank: i32,
        by: Option<TimedCall>,
        notes: &mut Notes,
    ) {
        let Some(assembly) = self.open.get_mut(&key) else { return };
        let own = assembly.arrivals.iter_mut().find(|arrival| arrival.rank == rank);
        if let Some(own) = own.filter(|own| matches!(own.waiting, Waiting::Later)) {
            own.waiting = by.map_or(Waiting::Untold, Waiting::By);
        }
        self.close_whole(key, notes);
    }

    /// Tells a collective of the world to which all ranks came, once it is known which calls wait for it.
    fn close_whole(&mut self, key: CollectiveKey, notes: &mut Notes) {
        let is_whole = |open: &Assembly| {
            let later = |arrival: &Arrival| matches!(arrival.waiting, Waiting::Later);
            open.arrivals.len() >= self.ranks && !open.arrivals.iter().any(later)
        };
        if key.0 == WORLD && self.open.get(&key).is_some_and(is_whole) {
            self.close(key, notes);
        }
    }

    fn close_oldest(&mut self, notes: &mut Notes) {
        let began = |open: &Assembly| open.arrivals.first().map_or(0, |first| first.call.began);
        let mut all: Vec<u64> = self.open.values().map(began).collect();
        let place = all.len() / 2;
        let (_, middle, _) = all.select_nth_unstable(place);
        let middle = *middle;
        let old: Vec<CollectiveKey> = self
            .open
            .iter()
            .filter(|(_, open)| began(open) <= middle)
            .map(|(key, _)| *key)
            .collect();
        for key in old {
            self.close(key, notes);
        }
    }

    /// Nobody else comes. Of the world, all ranks must have come; of other communicators, the number of
    /// members is not known.
    fn close(&mut self, key: CollectiveKey, notes: &mut Notes) {
        let Some(whole) = self.open.remove(&key) else { return };
        let count = whole.arrivals.len();
        let is_whole = if key.0 == WORLD { count >= self.ranks } else { count > 1 };
        let is_open =
            |arrival: &&Arrival| matches!(arrival.waiting, Waiting::Later | Waiting::Untold);
        self.untold += if is_whole && whole.tell(notes) {
            whole.arrivals.iter().filter(is_open).count() as u64
        } else {
            1
        };
    }

    /// Tells the rest.
    pub(super) fn finish(&mut self, notes: &mut Notes) {
        let keys: Vec<CollectiveKey> = self.open.keys().copied().collect();
        for key in keys {
            self.close(key, notes);
        }
    }
}

impl Assembly {
    /// Notes who waited for whom; false if that cannot be told.
    fn tell(&self, notes: &mut Notes) -> bool {
        if self.is_odd {
            return false;
        }
        let of_root = |arrival: &&Arrival| arrival.rank == self.root;
        let root = self.arrivals.iter().find(of_root);
        let rooted = matches!(self.gathering, Gathering::FromRoot | Gathering::ToRoot);
        if rooted && root.is_none() {
            return false;
        }
        let mut order: Vec<&Arrival> = self.arrivals.iter().collect();
        order.sort_by_key(|arrival| arrival.call.began);
        let last = order.last().copied();
        let mut by_rank = order.clone();
        by_rank.sort_by_key(|arrival| arrival.rank);
        let mut latest: Option<&Arrival> = None;
        for arrival in by_rank {
            let is_root = arrival.rank == self.root;
            let late = match self.gathering {
                Gathering::All => last,
                Gathering::FromRoot => root.filter(|_| !is_root),
                Gathering::ToRoot => last.filter(|_| is_root),
                Gathering::FromLower => latest,
            };
            if latest.is_none_or(|latest| latest.call.began < arrival.call.began) {
                latest = Some(arrival);
            }
            let (waiting, class) = match arrival.waiting {
                Waiting::Itself => (arrival.call, self.class),
                Waiting::By(call) => (call, TimeClass::PointToPoint),
                Waiting::Later | Waiting::Untold => continue,
            };
            let is_own = matches!(arrival.waiting, Waiting::Itself);
            let stayed = if is_own { self.stayed(arrival, is_root, late, &order) } else { late };
            let Some(late) = stayed else { continue };
            let came = late.call.began;
            let wait = came.min(waiting.ended).saturating_sub(waiting.began);
            if wait > 0 {
                let note = TimelineNote {
                    place: waiting.place,
                    path: waiting.path,
                    kind: NoteKind::Collective,
                    wait,
                    partner: late.call.place.row,
                    moment: came,
                };
                notes.add(note, class);
            }
        }
        true
    }

    /// For whom a call waited that had to wait for this one, if for any: perhaps it stayed longer for another rank. `order` has
    /// the arrivals in their order.
    fn stayed<'a>(
        &self,
        own: &Arrival,
        is_root: bool,
        late: Option<&'a Arrival>,
        order: &[&'a Arrival],
    ) -> Option<&'a Arrival> {
        let TimedCall { began, ended, .. } = own.call;
        let is_rooted = matches!(self.gathering, Gathering::FromRoot | Gathering::ToRoot);
        if !is_rooted && self.gathering != Gathering::FromLower {
            return late;
        }
        let blocks = if is_root { self.arrivals.len().max(1) as u64 } else { 1 };
        let much = is_rooted && own.bytes / blocks > SMALL_MESSAGE;
        let last = |counts: &dyn Fn(i32) -> bool| {
            let is_it = |other: &&&Arrival| {
                other.rank != own.rank && counts(other.rank) && other.call.began <= ended
            };
            order.iter().rev().find(is_it).copied()
        };
        let root = last(&|rank| self.gathering == Gathering::ToRoot && rank == self.root);
        let mut found = late;
        for other in [root, last(&|_| true)].into_iter().flatten() {
            let longest = found.map_or(0, |late| late.call.began.min(ended).saturating_sub(began));
            let waited = other.call.began.saturating_sub(began).saturating_sub(longest);
            let rest = ended.saturating_sub(other.call.began);
            if waited > 0 && stayed_for(much, longest, waited, rest) {
                found = Some(other);
            }
        }
        found
    }
}
