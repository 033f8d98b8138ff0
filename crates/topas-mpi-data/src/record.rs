//! Records of profiles: their lines are put together, whatever stands between them.

use std::collections::HashMap;

use topas_format::civil::Civil;
use topas_format::escape::Name;
use topas_mpi_profile::lines::{LEVEL_WORDS, Of};
use topas_mpi_profile::parse::{Line, ProfileLineFault, SizesOf, Token, nanoseconds, whole};

use super::last_sign::LastSign;
use super::now::NowPeer;
use super::open_messages::OpenMessages;
use super::outside::OutsideRank;
use super::partners::PathPartner;
use super::paths::{CallPathSums, PathAmounts, PathEnding, PathFrame, PathModule};
use super::profile::{Ending, LEVELS, MpiRecordFacts};
use super::rank::Inside;
use super::routine::{RoutineAmount, RoutineCalls, RoutineNumber, Routines};
use super::sums::{
    Communicator, Counter, MessageClass, MpiObjectKind, MpiSums, PeerSums, Sizes, TrafficSums,
};
use super::waits::{AskedInVain, Blame};
use super::worlds::StartedWorld;

/// A record: the lines that tell one sum.
#[derive(Clone, Debug)]
pub(super) struct MpiRecord {
    pub(super) of: Of,
    /// Number of the subtotal; 0 for a total
    pub(super) subtotal: u32,
    pub(super) facts: MpiRecordFacts,
    pub(super) rank: Option<u32>,
    pub(super) pid: Option<u32>,
    pub(super) sums: MpiSums,
    pub(super) started: Vec<StartedWorld>,
    /// Calls in which its threads were when it ended
    pub(super) inside: Vec<Inside>,
    /// Messages of which one side only knew then
    pub(super) open: OpenMessages,
    pub(super) last: Option<LastSign>,
    /// Lines of it that are missing
    pub(super) lost: u32,
}

/// What all lines of a record begin with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct RecordKey {
    /// The one user whose file it stands in; None of a file that is believed
    owner: Option<u32>,
    at: (i64, u8, u8, u8),
    user: Box<[u8]>,
    exe: Box<[u8]>,
    npes: u32,
    id: Box<[u8]>,
    of: u8,
    subtotal: u32,
}

/// A record whose last line has not come.
struct OpenRecord {
    record: MpiRecord,
    /// Number of the line that is next
    next: u32,
    lines: u32,
    /// Its place in the order of the input
    place: usize,
}

/// Puts lines together.
#[derive(Default)]
pub(super) struct Records {
    open: HashMap<RecordKey, Vec<OpenRecord>>,
    done: Vec<(usize, MpiRecord)>,
    begun: usize,
    pub(super) routines: Routines,
}

/// What a token says, before the whole line is known to be good.
type Tokens<'a> = Vec<Token<'a>>;

impl Records {
    /// Adds a line of a file that only `owner` vouches for, or of one that is believed.
    ///
    /// # Errors
    ///
    /// What is wrong with it; nothing of it is used then.
    pub(super) fn line(&mut self, text: &[u8], owner: Option<u32>) -> Result<(), ProfileLineFault> {
        let line = Line::parse(text)?;
        let tokens: Tokens<'_> = line.tokens().collect::<Result<_, _>>()?;
        if !tokens.iter().all(is_believable) {
            return Err(ProfileLineFault::Token);
        }
        let key = RecordKey::of(&line, owner);
        let place = self.begun;
        let open = self.open.entry(key).or_default();
        // Records of several hosts may have come at the same time. Their lines are in order.
        let fits = |open: &OpenRecord| open.lines == line.lines && open.next <= line.line;
        let found = match line.line {
            1 => None,
            _ => {
                let exact = open.iter().rposition(|o| fits(o) && o.next == line.line);
                exact.or_else(|| open.iter().rposition(fits))
            }
        };
        let at = found.unwrap_or_else(|| {
            self.begun += 1;
            open.push(OpenRecord {
                record: MpiRecord::of(&line, owner),
                next: 1,
                lines: line.lines,
                place,
            });
            open.len() - 1
        });
        let of = &mut open[at];
        of.record.lost += line.line - of.next;
        of.next = line.line + 1;
        for token in tokens {
            of.record.take(token, &mut self.routines);
        }
        if of.next > of.lines {
            let OpenRecord { record, place, .. } = open.swap_remove(at);
            self.done.push((place, record.finished()));
        }
        Ok(())
    }

    /// All records, in the order in which they began.
    pub(super) fn finish(mut self) -> (Vec<MpiRecord>, Routines) {
        for of in self.open.into_values().flatten() {
            let mut record = of.record;
            record.lost += of.lines - (of.next - 1);
            self.done.push((of.place, record.finished()));
        }
        self.done.sort_by_key(|(place, _)| *place);
        (self.done.into_iter().map(|(_, record)| record).collect(), self.routines)
    }
}

/// More than any amount or number of nanoseconds: 10^28. Sums of as many lines as there can be
/// stay far below 2^128.
const TOO_MUCH: u128 = 1 << 93;

/// Whether all numbers of a token can be.
fn is_believable(token: &Token<'_>) -> bool {
    let fits = |numbers: &[u128]| numbers.iter().all(|number| *number < TOO_MUCH);
    let moved =
        |t: &topas_mpi_profile::parse::Traffic| fits(&[t.sends, t.sent, t.receives, t.received]);
    match token {
        Token::Routine(told) => {
            let amounts = [told.count, told.sends, told.sent, told.receives, told.received];
            let counted = amounts.map(|amount| RoutineAmount::from(amount).counted().unwrap_or(0));
            fits(&counted) && fits(&[told.calls, told.nanoseconds])
        }
        Token::Sizes { bins, .. } => fits(bins),
        Token::Waited { calls, nanoseconds, .. } | Token::Unended { calls, nanoseconds, .. } => {
            fits(&[*calls, *nanoseconds])
        }
        Token::Communicator { calls, nanoseconds, traffic, .. } => {
            fits(&[*calls, *nanoseconds]) && moved(traffic)
        }
        Token::Peer { traffic, .. } => moved(traffic),
        Token::Counter { count, .. } => fits(&[*count]),
        Token::Path(told) => {
            fits(&[told.calls, told.nanoseconds, told.sent, told.received])
                && fits(&told.waits)
                && fits(&[told.unknown])
        }
        Token::Partner(told) => {
            let waits = told.waits.iter();
            waits.clone().all(|figure| fits(&[figure.calls, figure.nanoseconds]))
                && told.slack.iter().all(|classes| fits(classes))
        }
        Token::Fact(..) | Token::Switch { .. } | Token::Module { .. } => true,
        Token::Spawned(_) | Token::Launcher(_) | Token::Started(_) => true,
        Token::OpenCall(_) | Token::OpenMessage(_) | Token::LastSign(_) => true,
        Token::Waits { waits, .. } => {
            waits.figures().iter().all(|figure| fits(&[figure.calls, figure.nanoseconds]))
        }
        Token::Asked { between, slept, .. } => fits(&[between.calls, between.nanoseconds, *slept]),
        Token::Blamed { waits, .. } | Token::BlamedOutside { waits, .. } => {
            waits.iter().all(|figure| fits(&[figure.calls, figure.nanoseconds]))
        }
    }
}

impl RecordKey {
    fn of(line: &Line<'_>, owner: Option<u32>) -> RecordKey {
        let Civil { date, time } = line.at;
        RecordKey {
            owner,
            at: (date.days(), time.hour, time.minute, time.second),
            user: bytes(line.user),
            exe: bytes(line.exe),
            npes: line.npes,
            id: bytes(line.id),
            of: line.of as u8,
            subtotal: line.subtotal,
        }
    }
}

fn bytes(name: Name<'_>) -> Box<[u8]> {
    name.bytes().collect()
}

fn string(name: Name<'_>) -> Box<str> {
    String::from_utf8_lossy(&bytes(name)).into()
}

fn traffic(told: topas_mpi_profile::parse::Traffic) -> TrafficSums {
    TrafficSums {
        sends: told.sends,
        sent: told.sent,
        receives: told.receives,
        received: told.received,
    }
}

impl MpiRecord {
    fn of(line: &Line<'_>, owner: Option<u32>) -> MpiRecord {
        MpiRecord {
            of: line.of,
            subtotal: line.subtotal,
            facts: MpiRecordFacts {
                id: bytes(line.id),
                npes: (line.npes > 0).then_some(line.npes),
                user: bytes(line.user),
                uid: owner.map(u64::from),
                exe: bytes(line.exe),
                ..MpiRecordFacts::at(line.at.date, line.at.time)
            },
            rank: None,
            pid: None,
            sums: MpiSums::default(),
            started: Vec::new(),
            inside: Vec::new(),
            open: OpenMessages::default(),
            last: None,
            lost: 0,
        }
    }

    fn take(&mut self, token: Token<'_>, routines: &mut Routines) {
        let MpiRecord { facts, sums, .. } = self;
        match token {
            Token::Fact(key, value) => self.fact(key, value),
            Token::Spawned(world) => {
                (facts.spawned, facts.launcher) = (Some(world), world.launcher);
            }
            Token::Launcher(name) => facts.launcher = name,
            Token::Started(told) => self.started.push(StartedWorld::of_token(&told, routines)),
            Token::Routine(told) => {
                let name = String::from_utf8_lossy(told.name);
                let number = match told.number.and_then(|number| u16::try_from(number).ok()) {
                    Some(number) => Some(RoutineNumber(number)),
                    None => routines.number(&name),
                };
                let Some(number) = number else { return };
                let amount = RoutineAmount::from;
                sums.routine_mut(number).add(&RoutineCalls {
                    calls: told.calls,
                    time: told.nanoseconds,
                    longest: told.longest,
                    count: amount(told.count),
                    sends: amount(told.sends),
                    sent: amount(told.sent),
                    receives: amount(told.receives),
                    received: amount(told.received),
                    ranks: told.ranks,
                    ..RoutineCalls::new(number)
                });
            }
            Token::Sizes { of, received, bins } => {
                let mut sizes = Sizes::default();
                *if received { &mut sizes.received } else { &mut sizes.sent } = bins;
                match of {
                    SizesOf::Class(class) => {
                        sums.classes[MessageClass::from(class) as usize].add(&sizes)
                    }
                    SizesOf::Routine(name) => {
                        let name = String::from_utf8_lossy(name);
                        let Some(number) = routines.number(&name) else { return };
                        if let Some(class) = MessageClass::of(number) {
                            sums.classes[class as usize].add(&sizes);
                        }
                        let found = sums.sizes.binary_search_by_key(&number, |(of, _)| *of);
                        let place = found.unwrap_or_else(|place| {
                            sums.sizes.insert(place, (number, Sizes::default()));
                            place
                        });
                        sums.sizes[place].1.add(&sizes);
                    }
                }
            }
            Token::Waited { kind, calls, nanoseconds } => {
                if let Some(waiting) = sums.waited.get_mut(kind) {
                    waiting.calls += calls;
                    waiting.time += nanoseconds;
                }
            }
            Token::Unended { name, calls, nanoseconds } => {
                let Some(number) = routines.number(&String::from_utf8_lossy(name)) else { return };
                let routine = sums.routine_mut(number);
                routine.unended += calls;
                routine.unended_time += nanoseconds;
            }
            Token::OpenCall(told) => {
                let name = String::from_utf8_lossy(told.routine);
                self.inside.extend(routines.number(&name).map(|routine| Inside {
                    routine,
                    peer: told.peer.map(|(rank, of_world)| NowPeer { rank, of_world }),
                    tag: told.tag,
                    path: (told.path > 0).then_some(told.path),
                    time: told.nanoseconds,
                }));
            }
            Token::OpenMessage(told) => self.open.add(&told),
            Token::LastSign(told) => self.last = Some(LastSign::of_token(&told, routines)),
            Token::Communicator { name, kind, size, calls, nanoseconds, traffic: moved } => {
                let name = string(name);
                sums.add_communicator(&Communicator {
                    name,
                    kind: MpiObjectKind::of(kind),
                    size,
                    calls,
                    time: nanoseconds,
                    traffic: traffic(moved),
                });
            }
            Token::Peer { rank, traffic: moved } => {
                sums.peers.push(PeerSums { rank, traffic: traffic(moved) });
            }
            Token::Waits { name, number, waits } => {
                let known = number.and_then(|number| u16::try_from(number).ok());
                let number = known
                    .map(RoutineNumber)
                    .or_else(|| routines.number(&String::from_utf8_lossy(name)));
                if let Some(number) = number {
                    sums.waits.take(number, &waits);
                }
            }
            Token::Blamed { rank, waits } => sums.waits.blame(rank, &Blame::of(waits)),
            Token::Asked { rank, between, slept } => {
                sums.waits.asked(rank, &AskedInVain::of(between, slept));
            }
            Token::BlamedOutside { launch, is_parent, rank, waits } => {
                let launch = launch.bytes().collect();
                let of = OutsideRank { launch, is_parent, rank };
                sums.waits.blame_outside(of, &Blame::of(waits));
            }
            Token::Switch { name, value } => {
                facts.switches.push((string(name), value.map(string)));
            }
            Token::Module { number, id, file, function } => {
                let module = PathModule {
                    id: String::from_utf8_lossy(id).into(),
                    file: string(file),
                    function: function.map(string),
                };
                sums.paths.get_or_insert_default().module(number, module);
            }
            Token::Path(told) => {
                let routine = told.number.and_then(|number| u16::try_from(number).ok());
                let routine = routine
                    .map(RoutineNumber)
                    .or_else(|| routines.number(&String::from_utf8_lossy(told.name)));
                sums.paths.get_or_insert_default().paths.push(CallPathSums {
                    routine: routine.filter(|_| told.name != b"-"),
                    frames: told
                        .frames()
                        .map(|(module, offset)| PathFrame { module, offset })
                        .collect(),
                    ending: PathEnding::of(told.end),
                    amounts: PathAmounts {
                        calls: told.calls,
                        time: told.nanoseconds,
                        sent: told.sent,
                        received: told.received,
                        waits: told.waits,
                        unknown: told.unknown,
                    },
                    number: told.place,
                });
            }
            Token::Partner(told) => {
                let partner = PathPartner::of_token(&told);
                sums.paths.get_or_insert_default().partners.push(partner);
            }
            Token::Counter { name, inside, count } => {
                let name = string(name);
                let found = sums.counters.iter().position(|counter| counter.name == name);
                let place = found.unwrap_or_else(|| {
                    sums.counters.push(Counter { name, inside: None, outside: None });
                    sums.counters.len() - 1
                });
                let counter = &mut sums.counters[place];
                *if inside { &mut counter.inside } else { &mut counter.outside } = Some(count);
            }
        }
    }

    /// A fact. One that is not known, or has a value that it cannot have, is left alone: a
    /// newer version may have it.
    fn fact(&mut self, key: &[u8], value: Name<'_>) {
        let MpiRecord { facts, sums, .. } = self;
        let text = bytes(value);
        let number = || whole(&text);
        let narrow = || number().and_then(|n| u32::try_from(n).ok());
        let time = || nanoseconds(&text).filter(|time| *time < TOO_MUCH).unwrap_or(0);
        let short = || u64::try_from(time()).unwrap_or(u64::MAX);
        let words = || -> Vec<Box<str>> {
            let words = text.split(|byte| *byte == b',').filter(|word| !word.is_empty());
            words.map(|word| String::from_utf8_lossy(word).into()).collect()
        };
        match key {
            b"t" => facts.epoch = number().and_then(|n| u64::try_from(n).ok()),
            b"uid" => facts.uid = number().and_then(|n| u64::try_from(n).ok()),
            b"host" => facts.hosts = vec![text],
            b"job" => facts.job = text,
            b"step" => facts.step = text,
            b"part" => facts.part = text,
            b"mpi" => facts.mpi = text,
            b"end" => facts.ending = Ending::of_word(&text),
            b"rank" => self.rank = narrow(),
            b"pid" => self.pid = narrow(),
            b"ranks" => sums.ranks = number().and_then(|n| u64::try_from(n).ok()).unwrap_or(0),
            b"wall" => sums.wall = time(),
            b"wallmax" => sums.wall_max = short(),
            b"mpisum" => sums.mpi = time(),
            b"mpimax" => sums.mpi_max = short(),
            b"mpimin" => sums.mpi_min = short(),
            b"usemax" => sums.outside_max = short(),
            b"over" => sums.overhead = time(),
            b"pause" => sums.paused = time(),
            b"cpu" => sums.processor = time(),
            b"preempted" => sums.interruptions = number().unwrap_or(0),
            b"cpus" => sums.processors = narrow().unwrap_or(0),
            b"before" => sums.before = short(),
            b"thr" => sums.threads = narrow().unwrap_or(0),
            b"lang" => facts.languages = words(),
            b"pmpi" => facts.profiling_interface = *text == *b"1",
            b"level" => {
                let place = LEVEL_WORDS.iter().position(|word| word.as_bytes() == &*text);
                facts.level = place.and_then(|place| LEVELS.get(place).copied());
            }
            b"miss" => facts.missed = words(),
            // It is there if waits were told apart, even if there were none.
            b"late" => sums.waits.measured = true,
            _ => {}
        }
    }

    /// With all of its lines: what stands in order of its place.
    fn finished(mut self) -> MpiRecord {
        self.sums.merge_peers();
        self
    }
}

impl Ending {
    /// By the word in lines.
    fn of_word(word: &[u8]) -> Option<Ending> {
        Some(match word {
            b"finalize" => Ending::Finalize,
            b"exit" => Ending::Exit,
            b"lost" => Ending::Lost,
            b"running" => Ending::Running,
            _ => {
                let code = word.strip_prefix(b"abort:")?;
                Ending::Abort(std::str::from_utf8(code).ok()?.parse().ok()?)
            }
        })
    }
}
