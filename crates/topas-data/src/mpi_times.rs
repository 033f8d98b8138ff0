//! What the MPI profile of a launch adds to its lines: time in MPI, and why ranks waited.
//!
//! A profile is a record of its own in the log, and any line of the log can stand before or behind
//! it. So what records tell is kept apart while a log is read, and a run gets it when the run is
//! made.

use rapidhash::v3::rapidhash_v3;
use topas_mpi_profile::lines::Of;
use topas_mpi_profile::parse::{Line, Token, nanoseconds, whole};

use crate::engine::launch_key_of;
use crate::first_extras::Claim;
use crate::run::Run;

/// Times of the ranks of a launch in µs, by their MPI profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MpiTimes {
    /// From the first call of MPI to the end, of all ranks
    pub wall: u64,
    /// In calls of MPI, of all ranks and threads
    pub mpi: u64,
    /// Why ranks waited; None if the profile does not tell waits apart
    pub waits: Option<MpiWaits>,
}

/// Times in which ranks waited, in µs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MpiWaits {
    /// For senders that were late
    pub late: u64,
    /// For receivers that were late
    pub late_receiver: u64,
    /// For others in collectives
    pub collective: u64,
    /// In calls of which it is not known whether they waited
    pub unknown: u64,
}

impl MpiTimes {
    /// Together with those of other ranks. Waits are of all ranks or of none.
    fn plus(self, other: MpiTimes) -> MpiTimes {
        let waits = match (self.waits, other.waits) {
            (Some(one), Some(other)) => Some(MpiWaits {
                late: one.late.saturating_add(other.late),
                late_receiver: one.late_receiver.saturating_add(other.late_receiver),
                collective: one.collective.saturating_add(other.collective),
                unknown: one.unknown.saturating_add(other.unknown),
            }),
            _ => None,
        };
        MpiTimes {
            wall: self.wall.saturating_add(other.wall),
            mpi: self.mpi.saturating_add(other.mpi),
            waits,
        }
    }
}

/// What a line of a record tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Fragment {
    /// Hash of what all lines of the record begin with
    head: u64,
    /// Hash of the line
    text: u64,
    /// The launch, as lines that tell the number of ranks call it and as those that do not, and when
    /// the record was written in s since 1970-01-01. Only the first line of a record tells that
    launch: Option<([u64; 2], i64)>,
    /// Times in µs: wall clock, in MPI, late senders, late receivers, collectives, not known
    times: [Option<u64>; FACTS.len()],
}

/// Facts of a record, in the order of [`Fragment::times`].
const FACTS: [&[u8]; 6] = [b"wall", b"mpisum", b"late", b"latercv", b"coll", b"lateunk"];

/// What one thread found in the lines of records.
#[derive(Debug, Default)]
pub(crate) struct ProfileFragments(Vec<Fragment>);

/// Bytes that a launch with a profile takes while a log is read: a vector that grows takes twice
/// what is in it.
pub(crate) const PROFILE_BYTES: u64 = 2 * size_of::<Fragment>() as u64;

impl ProfileFragments {
    /// Adds a line of a record that is whole.
    #[cold]
    pub(crate) fn add(&mut self, text: &[u8]) {
        let Ok(line) = Line::parse(text) else { return };
        if line.of == Of::Rank || line.subtotal != 0 {
            return;
        }
        let mut fragment = Fragment { text: rapidhash_v3(text), ..Fragment::default() };
        let (mut uid, mut epoch) = (None, None);
        for token in line.tokens() {
            let Ok(Token::Fact(key, value)) = token else { continue };
            let Some(value) = value.plain() else { continue };
            match key {
                b"uid" => uid = whole(value).and_then(|uid| u64::try_from(uid).ok()),
                b"t" => epoch = whole(value).and_then(|t| i64::try_from(t).ok()),
                _ => {
                    let place = FACTS.iter().position(|fact| *fact == key);
                    let micros = || u64::try_from(nanoseconds(value)? / 1000).ok();
                    if let Some(time) = place.and_then(|place| fragment.times.get_mut(place)) {
                        *time = micros();
                    }
                }
            }
        }
        if line.line == 1 {
            let claim = uid.map_or(Claim::None, Claim::Uid);
            let key = |npes| launch_key_of(claim, [line.user, line.exe, line.id], npes);
            let keys = [key(Some(line.npes).filter(|npes| *npes > 0)), key(None)];
            fragment.launch = epoch.map(|epoch| (keys, epoch));
        } else if fragment.times == [None; FACTS.len()] {
            return;
        }
        // Date, time, user, executable, ranks and id.
        let head = text.splitn(8, |byte| *byte == b' ').take(7);
        let len = head.map(|word| word.len() + 1).sum::<usize>();
        fragment.head = rapidhash_v3(text.get(..len).unwrap_or(text));
        self.0.push(fragment);
    }

    /// Number of lines that are kept.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Times of launches by their keys.
#[derive(Debug, Default)]
pub(crate) struct LaunchProfiles(Vec<(u64, i64, MpiTimes)>);

/// How far the time of a profile may be from its run, in µs: whole seconds, clocks of nodes, and
/// ranks that end one after the other.
const SLACK: i64 = 10_000_000;

impl LaunchProfiles {
    /// Of what all threads found.
    pub(crate) fn new(found: impl IntoIterator<Item = ProfileFragments>) -> Self {
        let mut fragments: Vec<Fragment> =
            found.into_iter().flat_map(|ProfileFragments(found)| found).collect();
        fragments.sort_unstable();
        // A line that is there twice counts once.
        fragments.dedup();
        let mut launches: Vec<(u64, i64, MpiTimes)> = Vec::new();
        let tells = |line: &Fragment| line.launch;
        for record in fragments.chunk_by(|one, other| one.head == other.head) {
            let mut firsts: Vec<([u64; 2], i64)> = record.iter().filter_map(tells).collect();
            firsts.sort_unstable();
            firsts.dedup_by_key(|(keys, _)| *keys);
            // Records that look alike and are of two users: what their later lines tell is nobody's.
            let is_alone = firsts.len() == 1;
            launches.extend(firsts.into_iter().flat_map(|first| {
                let own = record
                    .iter()
                    .filter(move |line| line.launch.map_or(is_alone, |(keys, _)| keys == first.0));
                times_of(own, first)
            }));
        }
        launches.sort_by_key(|(launch, epoch, _)| (*launch, *epoch));
        LaunchProfiles(launches)
    }

    /// The times of a run: of its launch, written while it ran. An id can come again.
    pub(crate) fn of(&self, run: &Run<'_>) -> Option<MpiTimes> {
        let first = self.0.partition_point(|(launch, ..)| *launch < run.launch);
        let own = self.0[first..].iter().take_while(|(launch, ..)| *launch == run.launch);
        let during = run.start.saturating_sub(SLACK)..=run.end.saturating_add(SLACK);
        let own = own.filter(|(_, epoch, _)| during.contains(epoch));
        own.map(|(.., times)| *times).reduce(MpiTimes::plus)
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The times that lines of one launch tell together, by each of its keys.
fn times_of<'f>(
    lines: impl Iterator<Item = &'f Fragment> + Clone,
    (keys, epoch): ([u64; 2], i64),
) -> Vec<(u64, i64, MpiTimes)> {
    let sum = |place: usize| {
        let told = lines.clone().filter_map(|line| line.times[place]);
        told.reduce(u64::saturating_add)
    };
    let (Some(wall), Some(mpi)) = (sum(0), sum(1)) else { return Vec::new() };
    let waits = sum(2).map(|late| MpiWaits {
        late,
        late_receiver: sum(3).unwrap_or(0),
        collective: sum(4).unwrap_or(0),
        unknown: sum(5).unwrap_or(0),
    });
    let epoch = epoch.saturating_mul(1_000_000);
    let mut told = vec![(keys[0], epoch, MpiTimes { wall, mpi, waits })];
    if keys[1] != keys[0] {
        told.push((keys[1], epoch, MpiTimes { wall, mpi, waits }));
    }
    told
}
