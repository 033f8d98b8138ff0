//! Who came when to calls of all ranks of a communicator, and who waited for whom.

use rustc_hash::FxHashMap;
use topas_mpi_table::Gathering;

use super::messages::TimedCall;
use super::notes::{NoteKind, Notes, TimelineNote};
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
    /// Whether the call waits itself
    waits: bool,
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
    pub(super) waits: bool,
    pub(super) class: TimeClass,
    pub(super) call: TimedCall,
}

/// Collectives of a launch.
#[derive(Debug, Default)]
pub(super) struct Collectives {
    open: FxHashMap<(u64, u64), Assembly>,
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

    /// Adds a call that is the `number`th on a communicator.
    pub(super) fn add(
        &mut self,
        communicator: u64,
        number: u64,
        gathered: &GatheredCall,
        notes: &mut Notes,
    ) {
        let GatheredCall { gathering, routine, root, rank, waits, class, call } = *gathered;
        let key = (communicator, number);
        let assembly = self.open.entry(key).or_insert_with(|| Assembly {
            gathering,
            routine,
            root,
            class,
            arrivals: Vec::new(),
            is_odd: false,
        });
        assembly.is_odd |= assembly.routine != routine;
        assembly.arrivals.push(Arrival { call, rank, waits });
        if communicator == WORLD && assembly.arrivals.len() >= self.ranks {
            if let Some(whole) = self.open.remove(&key) {
                self.untold += u64::from(!whole.tell(notes));
            }
        } else if self.open.len() > MOST_OPEN {
            self.close_oldest(notes);
        }
    }

    fn close_oldest(&mut self, notes: &mut Notes) {
        let began = |open: &Assembly| open.arrivals.first().map_or(0, |first| first.call.began);
        let mut all: Vec<u64> = self.open.values().map(began).collect();
        let place = all.len() / 2;
        let (_, middle, _) = all.select_nth_unstable(place);
        let middle = *middle;
        let old: Vec<(u64, u64)> = self
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
    fn close(&mut self, key: (u64, u64), notes: &mut Notes) {
        let Some(whole) = self.open.remove(&key) else { return };
        let known = key.0 != WORLD && whole.arrivals.len() > 1 && whole.tell(notes);
        self.untold += u64::from(!known);
    }

    /// Tells the rest.
    pub(super) fn finish(&mut self, notes: &mut Notes) {
        let keys: Vec<(u64, u64)> = self.open.keys().copied().collect();
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
            let Some(late) = late.filter(|_| arrival.waits) else { continue };
            let came = late.call.began;
            let wait = came.min(arrival.call.ended).saturating_sub(arrival.call.began);
            if wait > 0 {
                let note = TimelineNote {
                    place: arrival.call.place,
                    kind: NoteKind::Collective,
                    wait,
                    partner: late.call.place.row,
                    moment: came,
                };
                notes.add(note, self.class);
            }
        }
        true
    }
}
