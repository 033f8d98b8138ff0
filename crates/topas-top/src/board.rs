//! What a reading found, as rows: of ranks, routines, communicators and pairs of ranks.

use std::collections::HashMap;

use topas_findings::BottleneckSearch;
use topas_format::shown::Shown;
use topas_mpi_data::{
    CallersTime, Inside, LostRanks, MessageClass, MpiProfile, MpiRank, MpiSums,
    SHORTEST_STANDSTILL, Standstill, time_of_callers,
};
use topas_render::mpi_views::{CallPlaces, call_words, standing_words, worlds_in_words};

use crate::args::{TopArgs, TopOrder, TopView};
use crate::cell::{TopCell, percent, seconds};
use crate::watch::RankHistory;

/// A launch at one moment.
pub struct Board {
    /// What was read
    pub profile: MpiProfile,
    /// Launches that run
    pub launches: usize,
    /// What costs time so far
    pub search: BottleneckSearch,
    /// Where long calls were made
    places: CallPlaces,
    histories: HashMap<u32, RankHistory>,
}

/// Shares of the wall clock time since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimeShares {
    /// Outside MPI
    pub outside: f64,
    /// Inside: where waits were told apart, waiting for late senders and receivers, waiting in
    /// collectives, in a long call that goes on, and the rest; else in point-to-point calls, in collectives, in
    /// all other calls, and nothing
    pub inside: [f64; 4],
    /// Letters of these in a bar
    pub letters: [char; 4],
}

/// A row of the board: cells by column, and what it is sorted by.
#[derive(Clone, Debug, PartialEq)]
pub struct TopRow {
    /// Cells, in the order of [`columns`]
    pub cells: Vec<TopCell>,
    /// Shares, of ranks
    pub shares: Option<TimeShares>,
    /// Shares of MPI between the readings, 0 to 1, the newest last
    pub history: Vec<f64>,
    /// Time in MPI, in ns
    mpi: u128,
    /// Time of waiting for others, in ns
    waited: u128,
    /// Longest call that goes on, in ns
    now: u64,
}

/// Headings of the cells of a view; `waits` if waits were told apart.
pub fn columns(view: TopView, waits: bool) -> &'static [&'static str] {
    match view {
        TopView::Ranks if waits => &[
            "rank", "host", "MPI %", "late %", "coll %", "open %", "other %", "calls", "sent B",
            "now",
        ],
        TopView::Ranks => {
            &["rank", "host", "MPI %", "p2p %", "coll %", "other %", "calls", "sent B", "now"]
        }
        TopView::Routines => {
            &["routine", "ranks", "calls", "time s", "MPI %", "sent B", "received B", "now in it"]
        }
        TopView::Comms => &["communicator", "size", "calls", "time s", "sent B", "received B"],
        TopView::Peers => &["from", "to", "messages", "sent B"],
    }
}

fn ratio(part: u128, whole: u128) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64).min(1.0) }
}

/// What a rank waited for late senders and receivers, and in collectives, in ns.
fn waited(sums: &MpiSums) -> [u128; 2] {
    let all = sums.waits.all();
    [all.late.nanoseconds + all.late_receiver.nanoseconds, all.collective.nanoseconds]
}

/// `open`: ns in a long call that goes on.
fn shares(sums: &MpiSums, open: u64) -> TimeShares {
    let whole = time_of_callers(sums);
    let outside = ratio(whole.saturating_sub(sums.mpi), whole);
    if sums.waits.measured {
        let [late, collective] = waited(sums);
        // Why a call waits that has not ended is told when it ends.
        let open = u128::from(open).min(sums.mpi.saturating_sub(late + collective));
        let other = sums.mpi.saturating_sub(late + collective + open);
        let inside = [late, collective, open, other].map(|part| ratio(part, whole));
        return TimeShares { outside, inside, letters: ['l', 'c', 'o', '.'] };
    }
    let mut by_class = [0u128; 4];
    for routine in &sums.routines {
        let place = match MessageClass::of(routine.number) {
            Some(MessageClass::PointToPoint) => 0,
            Some(MessageClass::Collective) => 1,
            _ => 2,
        };
        by_class[place] += routine.time;
    }
    let inside = by_class.map(|part| ratio(part, whole));
    TimeShares { outside, inside, letters: ['p', 'c', '.', ' '] }
}

/// A name of which nothing acts on a terminal.
fn name(bytes: &[u8]) -> String {
    Shown(bytes).to_string()
}

impl Board {
    /// Of a profile, with what was read before.
    pub fn new(
        profile: MpiProfile,
        histories: HashMap<u32, RankHistory>,
        launches: usize,
        search: BottleneckSearch,
        places: CallPlaces,
    ) -> Board {
        Board { profile, launches, search, places, histories }
    }

    /// Which program, and how much of its time is MPI.
    pub fn title(&self) -> String {
        let facts = &self.profile.facts;
        let total = &self.profile.total;
        let npes = facts.npes.map_or_else(|| "?".to_owned(), |npes| npes.to_string());
        let job = match &*facts.job {
            b"" => String::new(),
            job => format!(", job {}", name(job)),
        };
        let more = match self.launches {
            0 | 1 => String::new(),
            n => format!("  (1 of {n} launches)"),
        };
        let callers = CallersTime::of(&self.profile);
        let whose = if callers.threads { "their threads'" } else { "the ranks' wall clock" };
        let worlds = worlds_in_words(&self.profile);
        let worlds = worlds.map_or_else(String::new, |words| format!(", {words}"));
        format!(
            "{}  {} of {npes} ranks here{job}{worlds}  {} s  MPI {} of {} s of {whose} time{more}",
            name(&facts.exe),
            total.ranks,
            seconds(total.wall_max.into()),
            percent(ratio(total.mpi, callers.time)),
            seconds(callers.time),
        )
    }

    /// Whether waits were told apart.
    pub fn tells_waits(&self) -> bool {
        self.profile.ranks.iter().any(|rank| rank.sums.waits.measured)
    }

    /// The call that a rank has been in for longest, of its threads.
    fn inside(&self, rank: u32) -> Option<&Inside> {
        let of_rank = self.profile.inside.iter().filter(|(of, _)| *of == rank);
        of_rank.max_by_key(|(_, inside)| inside.time.unwrap_or(0)).map(|(_, inside)| inside)
    }

    /// Which ranks have been in which calls for long, whether the program may hang, and which ranks were lost; None if
    /// all go on.
    pub fn standing(&self) -> Option<String> {
        standing_words(&self.profile, &self.places)
    }

    /// Whether no rank goes on, or one was lost.
    pub fn is_stuck(&self) -> bool {
        Standstill::of(&self.profile).is_some_and(|standstill| standstill.since.is_some())
            || LostRanks::of(&self.profile).is_some()
    }

    /// Rows of a view in the wanted order, those that the filter leaves.
    pub fn rows(&self, args: &TopArgs) -> Vec<TopRow> {
        let mut rows = match args.view {
            TopView::Ranks => self.ranks(),
            TopView::Routines => self.routines(),
            TopView::Comms => self.communicators(),
            TopView::Peers => self.peers(),
        };
        rows.retain(|row| {
            args.filter.is_empty() || row.cells.iter().any(|cell| cell.shown.contains(&args.filter))
        });
        match args.sort {
            TopOrder::Name => {}
            TopOrder::Mpi => rows.sort_by_key(|row| std::cmp::Reverse(row.mpi)),
            TopOrder::Waits => rows.sort_by_key(|row| std::cmp::Reverse(row.waited)),
            TopOrder::Now => rows.sort_by_key(|row| std::cmp::Reverse(row.now)),
        }
        rows
    }

    fn ranks(&self) -> Vec<TopRow> {
        self.profile.ranks.iter().map(|rank| self.rank(rank)).collect()
    }

    fn rank(&self, rank: &MpiRank) -> TopRow {
        let sums = &rank.sums;
        let inside = self.inside(rank.rank);
        let now = inside.and_then(|inside| inside.time).unwrap_or(0);
        let is_long = now >= SHORTEST_STANDSTILL;
        let open = if is_long { now } else { 0 };
        let shares = shares(sums, open);
        let history = self.histories.get(&rank.rank).map(|history| history.shares.clone());
        let history = history.unwrap_or_default();
        let what = inside.map_or_else(
            || "outside MPI".to_owned(),
            |inside| {
                let mut what = call_words(&self.profile, inside.routine, inside.peer);
                if is_long {
                    what += &format!(" for {} s !!", seconds(now.into()));
                    let place = inside.path.and_then(|path| self.places.get(&(rank.rank, path)));
                    what.extend(place.map(|place| format!(" at {place}")));
                }
                what
            },
        );
        let sent = TopCell::amount(sums.sent().counted());
        let mpi = history.last().copied().unwrap_or_else(|| ratio(sums.mpi, time_of_callers(sums)));
        let parts = if self.tells_waits() { 4 } else { 3 };
        let mut cells =
            vec![TopCell::words(rank.rank), TopCell::words(name(&rank.host)), TopCell::share(mpi)];
        cells.extend(shares.inside.iter().take(parts).map(|share| TopCell::share(*share)));
        cells.extend([TopCell::amount(Some(sums.calls())), sent, TopCell::words(what)]);
        let waited = waited(sums).iter().sum::<u128>() + u128::from(open);
        TopRow { cells, shares: Some(shares), history, mpi: sums.mpi, waited, now }
    }

    fn routines(&self) -> Vec<TopRow> {
        let total = &self.profile.total;
        let row = |routine: &topas_mpi_data::RoutineCalls| {
            let inside: Vec<u64> = (self.profile.inside.iter())
                .filter(|(_, inside)| inside.routine == routine.number)
                .map(|(_, inside)| inside.time.unwrap_or(0))
                .collect();
            let now = inside.iter().copied().max().unwrap_or(0);
            let routine_name = name(self.profile.routines.name(routine.number).as_bytes());
            let cells = vec![
                TopCell::words(format!("MPI_{routine_name}")),
                TopCell::amount(routine.ranks.map(u128::from)),
                TopCell::amount(Some(routine.calls)),
                TopCell::time(routine.time),
                TopCell::share(ratio(routine.time, total.mpi)),
                TopCell::amount(routine.sent.counted()),
                TopCell::amount(routine.received.counted()),
                match inside.len() {
                    0 => TopCell::amount(None),
                    n => TopCell::words(format!("{n}, {} s", seconds(now.into()))),
                },
            ];
            let waited = total.waits.routine(routine.number).waited();
            TopRow { cells, shares: None, history: Vec::new(), mpi: routine.time, waited, now }
        };
        let mut rows: Vec<TopRow> = total.routines.iter().map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.mpi));
        rows
    }

    fn communicators(&self) -> Vec<TopRow> {
        let row = |of: &topas_mpi_data::Communicator| TopRow {
            cells: vec![
                TopCell::words(of.kind.name(&name(of.name.as_bytes()))),
                TopCell::amount(of.size.map(u128::from)),
                TopCell::amount(Some(of.calls)),
                TopCell::time(of.time),
                TopCell::amount(Some(of.traffic.sent)),
                TopCell::amount(Some(of.traffic.received)),
            ],
            shares: None,
            history: Vec::new(),
            mpi: of.time,
            waited: 0,
            now: 0,
        };
        self.profile.total.communicators.iter().map(row).collect()
    }

    fn peers(&self) -> Vec<TopRow> {
        let of_rank = |rank: &MpiRank| {
            let from = rank.rank;
            let row = move |peer: &topas_mpi_data::PeerSums| TopRow {
                cells: vec![
                    TopCell::words(from),
                    peer.rank.map_or_else(|| TopCell::words("others"), TopCell::words),
                    TopCell::amount(Some(peer.traffic.sends)),
                    TopCell::amount(Some(peer.traffic.sent)),
                ],
                shares: None,
                history: Vec::new(),
                mpi: peer.traffic.sent,
                waited: 0,
                now: 0,
            };
            let sent = rank.sums.peers.iter().filter(|peer| peer.traffic.sends > 0);
            sent.map(row).collect::<Vec<_>>()
        };
        self.profile.ranks.iter().flat_map(of_rank).collect()
    }
}

/// Whether no rank of a launch has gone on for long, ranks wait for each other in a circle, or one was lost: what costs time
/// is then not told.
pub fn hides_costs(profile: &MpiProfile) -> bool {
    Standstill::of(profile).is_some_and(|standstill| standstill.hides_costs)
        || LostRanks::of(profile).is_some()
}

/// What an empty view lacks.
pub fn why_empty(view: TopView) -> &'static str {
    match view {
        TopView::Comms => "Communicators are not counted: run with topas-run --mpi --comms.",
        TopView::Peers => "Pairs of ranks are not counted: run with topas-run --mpi --peers.",
        TopView::Ranks | TopView::Routines => "No row contains the text of the filter.",
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use topas_format::civil::{Date, Time};
    use topas_mpi_data::{LastSign, MpiRecordFacts, NowPeer, Origin, Routines};

    /// Arguments that show a view.
    pub fn args(view: TopView) -> TopArgs {
        TopArgs {
            once: true,
            plain: false,
            csv: false,
            every: 2.0,
            launch: None,
            spool: Vec::new(),
            view,
            sort: TopOrder::Name,
            filter: String::new(),
            hosts: Vec::new(),
            via: "ssh".to_owned(),
            reader: false,
        }
    }

    /// Two ranks that wait for each other: rank 0 in a receive, rank 1 in a barrier.
    pub fn board() -> Board {
        let mut routines = Routines::default();
        let mut total = MpiSums::default();
        let (mut ranks, mut inside) = (Vec::new(), Vec::new());
        let calls = [("Recv", 7, 3), ("Barrier", 5, 2)];
        for (rank, (routine, mpi, now)) in (0..).zip(calls) {
            let second = 1_000_000_000;
            let number = routines.number(routine).unwrap();
            let mut sums = MpiSums {
                ranks: 1,
                wall: 10 * second,
                wall_max: 10_000_000_000,
                mpi: mpi * second,
                ..MpiSums::default()
            };
            let of = sums.routine_mut(number);
            (of.calls, of.time) = (5, mpi * second);
            total.add(&sums);
            let host = (*b"n1").into();
            let (missed, started) = Default::default();
            let last = Some(LastSign { quiet: Some(now * 1_000_000_000), ..LastSign::default() });
            ranks.push(MpiRank {
                rank,
                pid: None,
                host,
                ending: None,
                missed,
                sums,
                started,
                last,
            });
            let peer = (rank == 0).then_some(NowPeer { rank: 1, of_world: true });
            inside.push((
                rank,
                Inside {
                    routine: number,
                    peer,
                    tag: (rank == 0).then_some(-1),
                    path: (rank == 0).then_some(7),
                    time: Some(now * 1_000_000_000),
                },
            ));
        }
        let date = Date { year: 2026, month: 1, day: 1 };
        let at = MpiRecordFacts::at(date, Time { hour: 0, minute: 0, second: 0 });
        let facts = MpiRecordFacts { exe: (*b"heat").into(), npes: Some(2), ..at };
        let profile = MpiProfile {
            facts,
            origin: Origin::Live,
            total,
            ranks,
            subtotals: Vec::new(),
            routines,
            lost_lines: 0,
            inside,
            unposted: Vec::new(),
            open_messages: Vec::new(),
            logged: None,
            is_log_silent: false,
        };
        let history = RankHistory { shares: vec![0.0, 0.5, 1.0, 0.4], ..RankHistory::default() };
        let places = CallPlaces::from([((0, 7), "solve (heat.c:12)".to_owned())]);
        let histories = HashMap::from([(0, history)]);
        Board::new(profile, histories, 1, BottleneckSearch::default(), places)
    }

    #[test]
    fn the_title_tells_that_a_world_was_started_by_another() {
        let mut board = board();
        assert!(!board.title().contains("world"), "{}", board.title());
        let parent = Some((7, 3));
        board.profile.facts.spawned =
            Some(topas_mpi_data::SpawnedWorld { began: 1, parent, launcher: 0 });
        let title = board.title();
        assert!(title.contains("ranks here, started by rank 3 of another world  "), "{title}");
    }
}
