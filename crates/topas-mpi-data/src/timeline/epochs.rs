//! Epochs of windows that are posted and started: who waited for whose post, and for the end of whose access.
//! The log has the ranks at both ends of an epoch, and the number of what two ranks tell each other.

use rustc_hash::FxHashMap;
use topas_trace::LoggedEpoch;

use super::messages::TimedCall;
use super::notes::{NoteKind, Notes, TimelineNote};
use super::states::{EpochCall, TimeClass};

/// Most moments that are kept until somebody asks for them, and most calls that wait for one. A rank whose log is
/// missing tells nothing and asks for nothing.
const MOST_OPEN: usize = 1 << 20;

/// What a rank tells another one of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Sign {
    /// It has posted its window
    Post,
    /// It has ended its access
    AccessEnd,
}

/// One of the things that one rank tells another one, which both of them number in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct EpochKey {
    window: u64,
    from: u32,
    to: u32,
    number: u64,
    sign: Sign,
}

/// When a rank told something, and its row.
#[derive(Clone, Copy, Debug)]
struct Told {
    moment: u64,
    row: u32,
}

/// A call that may have waited.
#[derive(Clone, Copy, Debug)]
struct EpochWait {
    call: TimedCall,
    sign: Sign,
    /// How many ranks have not told what it waited for
    missing: usize,
    latest: Option<Told>,
}

/// Who asks for a moment that nobody has told so far.
#[derive(Clone, Copy, Debug)]
struct Asker {
    /// The number of the call; 0 if nobody wants to know
    wait: u64,
    /// Whether nobody else will ask
    is_last: bool,
}

/// The ranks at the other end of an epoch, with the numbers of what they and this rank tell each other.
#[derive(Clone, Debug)]
struct Members {
    ranks: Vec<(u32, u64)>,
    is_whole: bool,
}

/// An epoch: its process, window and number.
type Epoch = (usize, u64, u64);

/// The call that ends an epoch.
#[derive(Clone, Copy, Debug)]
struct Ending {
    act: EpochCall,
    rank: u32,
    call: TimedCall,
}

/// Epochs of a launch.
#[derive(Debug, Default)]
pub(super) struct Epochs {
    open: FxHashMap<Epoch, Members>,
    /// Calls that end epochs whose begin was not read so far: another thread may have begun them
    ending: FxHashMap<Epoch, Ending>,
    told: FxHashMap<EpochKey, Told>,
    asked: FxHashMap<EpochKey, Vec<Asker>>,
    waits: FxHashMap<u64, EpochWait>,
    /// Numbers of calls that were given out
    count: u64,
    /// Calls of which not all ranks at the other end could be told
    pub(super) untold: u64,
    /// Calls at windows that the log does not tell apart
    pub(super) unnamed: u64,
}

impl Epochs {
    /// Adds a call of a process with this rank at a window, with what its event tells of the epoch.
    pub(super) fn add(
        &mut self,
        act: EpochCall,
        (process, rank): (usize, i32),
        call: TimedCall,
        window: u64,
        epoch: Option<LoggedEpoch<'_>>,
        notes: &mut Notes,
    ) {
        let waits = !matches!(act, EpochCall::Post | EpochCall::Test);
        let Some(epoch) = epoch.filter(|_| window > 0) else {
            self.unnamed += u64::from(waits);
            return;
        };
        if epoch.number == 0 {
            self.untold += u64::from(waits);
            return;
        }
        let (rank, own) = (rank as u32, (process, window, epoch.number));
        let (is_post, is_start) = (act == EpochCall::Post, act == EpochCall::Start);
        if is_post || is_start {
            let members = Members { ranks: epoch.ranks().collect(), is_whole: epoch.is_whole };
            for (peer, number) in members.ranks.iter().copied().filter(|_| is_post) {
                let key = EpochKey { window, from: rank, to: peer, number, sign: Sign::Post };
                self.tell(key, call, notes);
            }
            if is_start {
                self.wait(call, (window, rank), Sign::Post, &members, false, notes);
            }
            match self.ending.remove(&own) {
                Some(ending) => self.end(window, ending, &members, notes),
                None => {
                    self.open.insert(own, members);
                }
            }
            return;
        }
        let ending = Ending { act, rank, call };
        match self.open.remove(&own) {
            Some(members) => self.end(window, ending, &members, notes),
            None => {
                self.ending.insert(own, ending);
            }
        }
    }

    /// An epoch ends, of which all is known.
    fn end(&mut self, window: u64, ending: Ending, members: &Members, notes: &mut Notes) {
        let Ending { act, rank, call } = ending;
        match act {
            EpochCall::Post | EpochCall::Start => {}
            EpochCall::Complete => {
                for (peer, number) in members.ranks.iter().copied() {
                    let sign = Sign::AccessEnd;
                    let key = EpochKey { window, from: rank, to: peer, number, sign };
                    self.tell(key, call, notes);
                }
                self.wait(call, (window, rank), Sign::Post, members, true, notes);
            }
            EpochCall::Wait => {
                self.wait(call, (window, rank), Sign::AccessEnd, members, true, notes);
            }
            EpochCall::Test => {
                for (peer, number) in members.ranks.iter().copied() {
                    let sign = Sign::AccessEnd;
                    let key = EpochKey { window, from: peer, to: rank, number, sign };
                    if self.told.remove(&key).is_none() {
                        self.ask(key, Asker { wait: 0, is_last: true });
                    }
                }
            }
        }
    }

    /// A rank tells something by a call.
    fn tell(&mut self, key: EpochKey, call: TimedCall, notes: &mut Notes) {
        let told = Told { moment: call.began, row: call.place.row };
        let mut is_over = false;
        for Asker { wait, is_last } in self.asked.remove(&key).unwrap_or_default() {
            is_over |= is_last;
            let Some(waiting) = self.waits.get_mut(&wait) else { continue };
            waiting.hear(told);
            if waiting.missing == 0 {
                waiting.note(notes);
                self.waits.remove(&wait);
            }
        }
        if is_over {
            return;
        }
        self.told.insert(key, told);
        if self.told.len() > MOST_OPEN {
            let mut moments: Vec<u64> = self.told.values().map(|told| told.moment).collect();
            let place = moments.len() / 2;
            let (_, middle, _) = moments.select_nth_unstable(place);
            let middle = *middle;
            self.told.retain(|_, told| told.moment > middle);
        }
    }

    /// A call of a rank at a window has waited for what others tell. `is_last` if nobody asks for that later.
    fn wait(
        &mut self,
        call: TimedCall,
        (window, rank): (u64, u32),
        sign: Sign,
        members: &Members,
        is_last: bool,
        notes: &mut Notes,
    ) {
        let missing = members.ranks.len();
        let mut waiting = EpochWait { call, sign, missing, latest: None };
        self.count += 1;
        let number = if members.is_whole { self.count } else { 0 };
        for (peer, nth) in members.ranks.iter().copied() {
            let key = EpochKey { window, from: peer, to: rank, number: nth, sign };
            let told = if is_last { self.told.remove(&key) } else { self.told.get(&key).copied() };
            match told {
                Some(told) => waiting.hear(told),
                None => self.ask(key, Asker { wait: number, is_last }),
            }
        }
        if !members.is_whole {
            self.untold += 1;
        } else if waiting.missing == 0 {
            waiting.note(notes);
        } else {
            self.waits.insert(number, waiting);
        }
    }

    fn ask(&mut self, key: EpochKey, asker: Asker) {
        if self.asked.len() >= MOST_OPEN {
            self.forget();
        }
        self.asked.entry(key).or_default().push(asker);
    }

    /// What calls wait for will not be told.
    fn forget(&mut self) {
        self.asked.clear();
        self.untold += self.waits.drain().count() as u64;
    }

    /// Everything was added.
    pub(super) fn finish(&mut self) {
        self.forget();
        let waits = |ending: &Ending| ending.act != EpochCall::Test;
        self.untold += self.ending.drain().filter(|(_, ending)| waits(ending)).count() as u64;
    }
}

impl EpochWait {
    /// A rank has told what the call waited for. A call that was over before a window was posted did not need it.
    fn hear(&mut self, told: Told) {
        self.missing -= 1;
        let counts = self.sign == Sign::AccessEnd || told.moment <= self.call.ended;
        if counts && self.latest.is_none_or(|latest| latest.moment < told.moment) {
            self.latest = Some(told);
        }
    }

    /// Notes for whom the call waited.
    fn note(&self, notes: &mut Notes) {
        let Some(Told { moment, row }) = self.latest else { return };
        let wait = moment.min(self.call.ended).saturating_sub(self.call.began);
        if wait > 0 {
            let kind = match self.sign {
                Sign::Post => NoteKind::Post,
                Sign::AccessEnd => NoteKind::AccessEnd,
            };
            let TimedCall { place, path, .. } = self.call;
            let note = TimelineNote { place, path, kind, wait, partner: row, moment };
            notes.add(note, TimeClass::OneSided);
        }
    }
}
