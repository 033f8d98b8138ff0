//! Why ranks waited: by routine, and by the rank that is to blame.

use std::collections::BTreeMap;

use topas_mpi_profile::layout::{Bridges, Outsider, Partners, WaitPeer, Waits, flag};
use topas_mpi_profile::lines::text;
use topas_mpi_profile::sums::{self, TickLength, WaitSums, WaitedSums};

use super::outside::OutsideRank;
use super::routine::RoutineNumber;
use super::spool::{Spool, SpoolError};
use super::sums::Waiting;

/// Why calls of a routine waited. What is left of their time is transfer and other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutineWaits {
    /// Which routine
    pub number: RoutineNumber,
    /// Calls and ns, by reason
    pub sums: WaitSums,
}

/// What others waited because of a rank, or what a rank waited because of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blame {
    /// It sent late
    pub late: Waiting,
    /// It received late
    pub late_receiver: Waiting,
    /// It was the last of a collective
    pub collective: Waiting,
}

/// What a rank did between calls that asked in vain for what another had not begun: time of the program, and of no
/// call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AskedInVain {
    /// How often it found at last what it had asked for, and the time between its questions until then
    pub between: Waiting,
    /// As much of this time in which the process slept, so that it computed nothing, in ns
    pub slept: u128,
}

impl AskedInVain {
    pub(super) fn of(between: WaitedSums, slept: u128) -> AskedInVain {
        let WaitedSums { calls, nanoseconds } = between;
        AskedInVain { between: Waiting { calls, time: nanoseconds }, slept }
    }

    /// Adds more.
    pub fn add(&mut self, other: &AskedInVain) {
        self.between.calls += other.between.calls;
        self.between.time += other.between.time;
        self.slept += other.slept;
    }
}

/// Why ranks waited, of one rank or of several together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitFigures {
    /// Waits were told apart
    pub measured: bool,
    /// By routine, those that have something to tell, by number
    pub routines: Vec<RoutineWaits>,
    /// By the rank of the world that is to blame; of one rank only
    pub blamed: Vec<(u32, Blame)>,
    /// By the rank for which it asked in vain, in order; of one rank only
    pub asked: Vec<(u32, AskedInVain)>,
    /// By the rank of another world that is to blame; of one rank only
    pub outside: Vec<(OutsideRank, Blame)>,
}

impl Blame {
    /// All of it, whatever for.
    pub fn all(&self) -> Waiting {
        let kinds = [self.late, self.late_receiver, self.collective];
        Waiting {
            calls: kinds.iter().map(|kind| kind.calls).sum(),
            time: kinds.iter().map(|kind| kind.time).sum(),
        }
    }

    /// Nanoseconds, whatever for.
    pub fn time(&self) -> u128 {
        self.all().time
    }

    /// Adds more.
    pub fn add(&mut self, other: &Blame) {
        let mine = [&mut self.late, &mut self.late_receiver, &mut self.collective];
        let theirs = [&other.late, &other.late_receiver, &other.collective];
        for (to, from) in mine.into_iter().zip(theirs) {
            to.calls += from.calls;
            to.time += from.time;
        }
    }

    /// That for which a rank waited most often; that it sent late if there is nothing.
    fn most_often_mut(&mut self) -> &mut Waiting {
        let Blame { late, late_receiver, collective } = self;
        let most = if collective.calls > late_receiver.calls { collective } else { late_receiver };
        if most.calls > late.calls { most } else { late }
    }

    /// The time of one part in so many, of how many calls is not told.
    pub(super) fn part(&self, part: u128, of: u128) -> Blame {
        let kinds = [self.late, self.late_receiver, self.collective];
        let time = |kind: Waiting| (kind.time * part).checked_div(of).unwrap_or(0);
        Blame::of(kinds.map(|kind| WaitedSums { calls: 0, nanoseconds: time(kind) }))
    }

    /// Of times in ns, of how many calls is not told.
    pub(super) fn of_times(times: [u64; 3]) -> Blame {
        Blame::of(times.map(|time| WaitedSums { calls: 0, nanoseconds: time.into() }))
    }

    pub(super) fn of([late, late_receiver, collective]: [WaitedSums; 3]) -> Blame {
        let waiting = |WaitedSums { calls, nanoseconds }| Waiting { calls, time: nanoseconds };
        Blame {
            late: waiting(late),
            late_receiver: waiting(late_receiver),
            collective: waiting(collective),
        }
    }
}

impl From<&WaitSums> for Blame {
    /// What ranks waited, whoever is to blame.
    fn from(sums: &WaitSums) -> Blame {
        Blame::of([sums.late, sums.late_receiver, sums.collective])
    }
}

impl WaitFigures {
    /// From the sums of the library.
    pub(super) fn of(all: &sums::Sums) -> WaitFigures {
        let told = (0..).map(RoutineNumber).zip(&all.waits).filter(|(_, sums)| !sums.is_empty());
        WaitFigures {
            measured: all.flags & flag::WAITS != 0,
            routines: told.map(|(number, sums)| RoutineWaits { number, sums: *sums }).collect(),
            blamed: Vec::new(),
            asked: Vec::new(),
            outside: Vec::new(),
        }
    }

    /// Those of a routine; nothing if there are none.
    pub fn routine(&self, number: RoutineNumber) -> WaitSums {
        let found = self.routines.binary_search_by_key(&number, |routine| routine.number).ok();
        found.map_or(WaitSums::NONE, |place| self.routines[place].sums)
    }

    /// What a rank waited for others, in order of these: in MPI, and asleep between calls that asked in vain, which counts like
    /// most of the waits in MPI for the same rank.
    pub fn with_sleep(&self) -> Vec<(u32, Blame)> {
        let mut all: BTreeMap<u32, Blame> = self.blamed.iter().copied().collect();
        for (peer, asked) in self.asked.iter().filter(|(_, asked)| asked.slept > 0) {
            all.entry(*peer).or_default().most_often_mut().time += asked.slept;
        }
        all.into_iter().collect()
    }

    pub(super) fn take(&mut self, number: RoutineNumber, sums: &WaitSums) {
        let found = self.routines.binary_search_by_key(&number, |routine| routine.number);
        let place = found.unwrap_or_else(|place| {
            self.routines.insert(place, RoutineWaits { number, sums: WaitSums::NONE });
            place
        });
        self.routines[place].sums.merge(sums);
    }

    pub(super) fn blame(&mut self, rank: u32, more: &Blame) {
        match self.blamed.binary_search_by_key(&rank, |(rank, _)| *rank) {
            Ok(place) => self.blamed[place].1.add(more),
            Err(place) => self.blamed.insert(place, (rank, *more)),
        }
    }

    pub(super) fn asked(&mut self, rank: u32, more: &AskedInVain) {
        match self.asked.binary_search_by_key(&rank, |(rank, _)| *rank) {
            Ok(place) => self.asked[place].1.add(more),
            Err(place) => self.asked.insert(place, (rank, *more)),
        }
    }

    /// For how long the rank slept between calls that asked in vain, in ns.
    pub fn slept(&self) -> u128 {
        self.asked.iter().map(|(_, asked)| asked.slept).sum()
    }

    pub(super) fn blame_outside(&mut self, of: OutsideRank, more: &Blame) {
        match self.outside.binary_search_by(|(known, _)| known.cmp(&of)) {
            Ok(place) => self.outside[place].1.add(more),
            Err(place) => self.outside.insert(place, (of, *more)),
        }
    }

    /// Adds other ranks, without whom they blame.
    pub(super) fn add(&mut self, other: &WaitFigures) {
        self.measured |= other.measured;
        for routine in &other.routines {
            self.take(routine.number, &routine.sums);
        }
    }

    /// Of all routines.
    pub fn all(&self) -> WaitSums {
        let mut all = WaitSums::NONE;
        self.routines.iter().for_each(|routine| all.merge(&routine.sums));
        all
    }
}

/// Adds to sums what the mapped file of a rank says of waits: whom it blames.
///
/// # Errors
///
/// [`SpoolError`] for what cannot be read or be true.
pub(super) fn read(
    spool: &Spool,
    sums: &mut sums::Sums,
    tick: &TickLength,
) -> Result<Vec<(u32, WaitPeer)>, SpoolError> {
    if spool.header.waits == 0 {
        return Ok(Vec::new());
    }
    let waits: Waits = spool.decode(spool.header.waits)?;
    sums.wait_rows(&waits, tick);
    if waits.peers == 0 {
        return Ok(Vec::new());
    }
    let peers: Vec<WaitPeer> = spool.array(waits.peers, spool.header.ranks as usize)?;
    Ok((0..).zip(peers).filter(|(_, peer)| *peer != WaitPeer::default()).collect())
}

/// The ranks of other worlds for whom a rank waited.
///
/// # Errors
///
/// [`SpoolError`] for what cannot be read.
pub(super) fn outsiders(spool: &Spool) -> Result<Vec<Outsider>, SpoolError> {
    if spool.header.waits == 0 {
        return Ok(Vec::new());
    }
    let waits: Waits = spool.decode(spool.header.waits)?;
    if waits.bridges == 0 {
        return Ok(Vec::new());
    }
    let bridges: Box<Bridges> = Box::new(spool.decode(waits.bridges)?);
    Ok(bridges.outsiders().to_vec())
}

/// Whom the call paths of a rank waited for.
///
/// # Errors
///
/// [`SpoolError`] for what cannot be read.
pub(super) fn partners(spool: &Spool) -> Result<Option<Box<Partners>>, SpoolError> {
    if spool.header.waits == 0 {
        return Ok(None);
    }
    let waits: Waits = spool.decode(spool.header.waits)?;
    if waits.partners == 0 {
        return Ok(None);
    }
    Ok(Some(Box::new(spool.decode(waits.partners)?)))
}

/// Whom of other worlds a rank blames, in ns.
pub(super) fn blame_outsiders(
    figures: &mut WaitFigures,
    outsiders: &[Outsider],
    tick: &TickLength,
) {
    for Outsider { id, rank, parent, waits } in outsiders {
        let launch = text(id).into();
        let of = OutsideRank { launch, is_parent: *parent != 0, rank: *rank };
        let told = [&waits.late, &waits.late_receiver, &waits.collective];
        figures.blame_outside(of, &Blame::of(told.map(|figure| WaitedSums::of(figure, tick))));
    }
}

/// Whom a rank blames, in ns.
pub(super) fn blamed(peers: &[(u32, WaitPeer)], tick: &TickLength) -> Vec<(u32, Blame)> {
    let of = |peer: &WaitPeer| {
        let figures = [&peer.late, &peer.late_receiver, &peer.collective];
        Blame::of(figures.map(|figure| WaitedSums::of(figure, tick)))
    };
    peers.iter().map(|(rank, peer)| (*rank, of(peer))).collect()
}

/// For whom a rank asked in vain, in ns.
pub(super) fn asked(peers: &[(u32, WaitPeer)], tick: &TickLength) -> Vec<(u32, AskedInVain)> {
    let asked = peers.iter().filter(|(_, peer)| peer.between.calls > 0);
    let of = |peer: &WaitPeer| {
        let [between, slept] = [&peer.between, &peer.slept].map(|of| WaitedSums::of(of, tick));
        AskedInVain::of(between, slept.nanoseconds)
    };
    asked.map(|(rank, peer)| (*rank, of(peer))).collect()
}
