//! What a reading found, as rows: of ranks, routines, communicators and pairs of ranks.

use std::collections::HashMap;

use topas_findings::BottleneckSearch;
use topas_format::shown::Shown;
use topas_mpi_data::{MessageClass, MpiProfile, MpiRank, MpiSums, NowPeer};
use topas_render::mpi_views::worlds_in_words;

use crate::args::{TopArgs, TopOrder, TopView};
use crate::watch::RankHistory;

/// A call of so many ns is long: the rank may hang.
const LONG: u64 = 1_000_000_000;

/// A launch at one moment.
pub struct Board {
    /// What was read
    pub profile: MpiProfile,
    /// Launches that run
    pub launches: usize,
    /// What costs time so far
    pub search: BottleneckSearch,
    histories: HashMap<u32, RankHistory>,
}

/// Shares of the wall clock time since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimeShares {
    /// Outside MPI
    pub outside: f64,
    /// Inside: where waits were told apart, waiting for late senders and receivers, waiting in
    /// collectives, and the rest; else in point-to-point calls, in collectives, in all other calls
    pub inside: [f64; 3],
    /// Letters of these in a bar
    pub letters: [char; 3],
}

/// A row of the board: cells by column, and what it is sorted by.
#[derive(Clone, Debug, PartialEq)]
pub struct TopRow {
    /// Cells, in the order of [`columns`]
    pub cells: Vec<String>,
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
        TopView::Ranks if waits => {
            &["rank", "host", "MPI %", "late %", "coll %", "other %", "calls", "sent B", "now"]
        }
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

fn shares(sums: &MpiSums) -> TimeShares {
    let outside = ratio(sums.outside(), sums.wall);
    if sums.waits.measured {
        let [late, collective] = waited(sums);
        let other = sums.mpi.saturating_sub(late + collective);
        let inside = [late, collective, other].map(|part| ratio(part, sums.wall));
        return TimeShares { outside, inside, letters: ['l', 'c', '.'] };
    }
    let mut by_class = [0u128; 3];
    for routine in &sums.routines {
        let place = match MessageClass::of(routine.number) {
            Some(MessageClass::PointToPoint) => 0,
            Some(MessageClass::Collective) => 1,
            _ => 2,
        };
        by_class[place] += routine.time;
    }
    let inside = by_class.map(|part| ratio(part, sums.wall));
    TimeShares { outside, inside, letters: ['p', 'c', '.'] }
}

/// A name of which nothing acts on a terminal.
fn name(bytes: &[u8]) -> String {
    Shown(bytes).to_string()
}

/// A share of 1 as a percentage.
pub fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

/// ns in s, in a few digits.
fn seconds(ns: u128) -> String {
    let seconds = ns as f64 / 1e9;
    if seconds < 10.0 { format!("{seconds:.2}") } else { format!("{seconds:.0}") }
}

/// A large number in a few digits, with an SI prefix.
fn short(n: u128) -> String {
    if n < 1000 { n.to_string() } else { topas_render::si_bare(n as f64) }
}

impl Board {
    /// Of a profile, with what was read before.
    pub fn new(
        profile: MpiProfile,
        histories: HashMap<u32, RankHistory>,
        launches: usize,
        search: BottleneckSearch,
    ) -> Board {
        Board { profile, launches, search, histories }
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
        let worlds = worlds_in_words(&self.profile);
        let worlds = worlds.map_or_else(String::new, |words| format!(", {words}"));
        format!(
            "{}  {} of {npes} ranks here{job}{worlds}  {} s  MPI {} of {} s of wall clock time{more}",
            name(&facts.exe),
            total.ranks,
            seconds(total.wall_max.into()),
            percent(ratio(total.mpi, total.wall)),
            seconds(total.wall),
        )
    }

    /// Whether waits were told apart.
    pub fn tells_waits(&self) -> bool {
        self.profile.ranks.iter().any(|rank| rank.sums.waits.measured)
    }

    /// The call that a rank has been in for longest, of its threads, and for how many ns.
    fn inside(&self, rank: u32) -> Option<(String, u64)> {
        let of_rank = self.profile.inside.iter().filter(|(of, _)| *of == rank);
        let longest = of_rank.max_by_key(|(_, inside)| inside.time.unwrap_or(0))?;
        let inside = &longest.1;
        let routine = name(self.profile.routines.name(inside.routine).as_bytes());
        let peer = match inside.peer {
            Some(NowPeer { rank, .. }) if rank < 0 => " (any rank)".to_owned(),
            Some(NowPeer { rank, of_world: true }) => format!(" with {rank}"),
            Some(NowPeer { rank, of_world: false }) => format!(" with {rank} of its communicator"),
            None => String::new(),
        };
        Some((format!("MPI_{routine}{peer}"), inside.time.unwrap_or(0)))
    }

    /// What every rank does, if all have done the same for long: the program may hang. None if some rank
    /// goes on.
    pub fn standstill(&self) -> Option<String> {
        let mut groups: Vec<(String, Vec<u32>, u64)> = Vec::new();
        let mut shortest = u64::MAX;
        for rank in &self.profile.ranks {
            let (what, time) = match self.inside(rank.rank) {
                Some(call) => call,
                None => ("outside MPI".to_owned(), u64::MAX),
            };
            shortest = shortest.min(time);
            match groups.iter_mut().find(|(of, ..)| *of == what) {
                Some((_, ranks, longest)) => {
                    ranks.push(rank.rank);
                    *longest = (*longest).max(time);
                }
                None => groups.push((what, vec![rank.rank], time)),
            }
        }
        let stuck = groups.iter().filter(|(what, ..)| what != "outside MPI");
        let waits = stuck.clone().any(|(.., time)| *time >= LONG);
        if !waits || shortest < LONG {
            return None;
        }
        let say = |(what, ranks, time): &(String, Vec<u32>, u64)| {
            let ranks = match ranks.as_slice() {
                [one] => format!("rank {one}"),
                many if many.len() <= 8 => {
                    let words: Vec<String> = many.iter().map(u32::to_string).collect();
                    format!("ranks {}", words.join(", "))
                }
                many => format!("{} ranks", many.len()),
            };
            match time {
                &u64::MAX => format!("{ranks} outside MPI"),
                time => format!("{ranks} in {what} for {} s", seconds((*time).into())),
            }
        };
        let words: Vec<String> = groups.iter().map(say).collect();
        Some(format!(
            "No call has ended for {} s: {}.",
            seconds(
                groups
                    .iter()
                    .map(|(.., time)| *time)
                    .filter(|time| *time != u64::MAX)
                    .min()
                    .unwrap_or(0)
                    .into(),
            ),
            words.join("; ")
        ))
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
            args.filter.is_empty() || row.cells.iter().any(|cell| cell.contains(&args.filter))
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
        let shares = shares(sums);
        let history = self.histories.get(&rank.rank).map(|history| history.shares.clone());
        let history = history.unwrap_or_default();
        let (what, now) = match self.inside(rank.rank) {
            Some((routine, time)) if time >= LONG => {
                (format!("{routine} for {} s !!", seconds(time.into())), time)
            }
            Some(call) => call,
            None => ("outside MPI".to_owned(), 0),
        };
        let sent = sums.sent().counted().map_or_else(|| "-".to_owned(), short);
        let cells = vec![
            rank.rank.to_string(),
            name(&rank.host),
            percent(history.last().copied().unwrap_or_else(|| ratio(sums.mpi, sums.wall))),
            percent(shares.inside[0]),
            percent(shares.inside[1]),
            percent(shares.inside[2]),
            short(sums.calls()),
            sent,
            what,
        ];
        let waited = waited(sums).iter().sum();
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
            let amount = |amount: topas_mpi_data::RoutineAmount| {
                amount.counted().map_or_else(|| "-".to_owned(), short)
            };
            let cells = vec![
                format!("MPI_{}", name(self.profile.routines.name(routine.number).as_bytes())),
                routine.ranks.map_or_else(|| "-".to_owned(), |ranks| ranks.to_string()),
                short(routine.calls),
                seconds(routine.time),
                percent(ratio(routine.time, total.mpi)),
                amount(routine.sent),
                amount(routine.received),
                match inside.len() {
                    0 => "-".to_owned(),
                    n => format!("{n}, {} s", seconds(now.into())),
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
                of.kind.name(&name(of.name.as_bytes())),
                of.size.map_or_else(|| "-".to_owned(), |size| size.to_string()),
                short(of.calls),
                seconds(of.time),
                short(of.traffic.sent),
                short(of.traffic.received),
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
                    from.to_string(),
                    peer.rank.map_or_else(|| "others".to_owned(), |to| to.to_string()),
                    short(peer.traffic.sends),
                    short(peer.traffic.sent),
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
    use topas_mpi_data::{Inside, MpiRecordFacts, Origin, Routines};

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
            ranks.push(MpiRank { rank, pid: None, host, ending: None, missed, sums, started });
            let peer = (rank == 0).then_some(NowPeer { rank: 1, of_world: true });
            inside.push((rank, Inside { routine: number, peer, time: Some(now * 1_000_000_000) }));
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
        };
        let history = RankHistory { shares: vec![0.0, 0.5, 1.0, 0.4], ..RankHistory::default() };
        Board::new(profile, HashMap::from([(0, history)]), 1, BottleneckSearch::default())
    }

    #[test]
    fn the_title_tells_that_a_world_was_started_by_another() {
        let mut board = board();
        assert!(!board.title().contains("world"), "{}", board.title());
        let parent = Some((7, 3));
        board.profile.facts.spawned = Some(topas_mpi_data::SpawnedWorld { began: 1, parent });
        let title = board.title();
        assert!(title.contains("ranks here, started by rank 3 of another world  "), "{title}");
    }

    #[test]
    fn numbers_are_short() {
        for (n, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1.000k"),
            (12_345, "12.35k"),
            (123_456, "123.5k"),
            (5_600_000_000, "5.600G"),
        ] {
            assert_eq!(short(n), text);
        }
        assert_eq!(
            (seconds(1_234_000_000), seconds(312_400_000_000)),
            ("1.23".into(), "312".into())
        );
    }
}
