//! Call paths: those of a rank, and those of a launch, where ranks with the same path are one.

use std::collections::HashMap;

use super::partners::{LaunchPartner, PathPartner, partners_of};
use super::profile::MpiProfile;
use super::routine::RoutineNumber;

/// What frames are in: a module of a process, which is the executable or a library, or a function
/// of Python.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PathModule {
    /// `b` and its build id in hexadecimal digits, or `s` and a hash of its segments; of a function
    /// of Python `p` and a hash of its file, name and first line
    pub id: Box<str>,
    /// Its file, where the program ran
    pub file: Box<str>,
    /// Name of the function of Python; None of a module
    pub function: Option<Box<str>>,
}

/// A frame of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PathFrame {
    /// Place in the list of modules; None if its module is not known
    pub module: Option<u32>,
    /// The address it returns to: an offset in the file of the module, in B. In a function of Python
    /// the line
    pub offset: u64,
}

/// How a path ends, behind its last frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PathEnding {
    /// With the outermost function
    Outermost,
    /// There are further frames
    Deeper,
    /// The caller of the last frame could not be found
    Cut,
}

impl PathEnding {
    /// By its number in a mapped file, which is its place in lines, too.
    pub(super) fn of(number: usize) -> PathEnding {
        [PathEnding::Outermost, PathEnding::Deeper].get(number).copied().unwrap_or(PathEnding::Cut)
    }
}

/// What the calls of a path took and moved; times in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathAmounts {
    /// Calls
    pub calls: u128,
    /// Time in them
    pub time: u128,
    /// Bytes sent, put or written
    pub sent: u128,
    /// Bytes received, got or read, those of requests that the calls completed included
    pub received: u128,
    /// Time by kind of wait: late senders, late receivers, collectives
    pub waits: [u128; 3],
    /// Time in calls of which it is not known whether they were waits
    pub unknown: u128,
}

impl PathAmounts {
    /// Time that is neither a wait nor in calls of which that is not known: transfer and other.
    pub fn other(&self) -> u128 {
        let [late, receiver, collective] = self.waits;
        self.time.saturating_sub(late + receiver + collective + self.unknown)
    }

    fn add(&mut self, other: &PathAmounts) {
        self.calls += other.calls;
        self.time += other.time;
        self.sent += other.sent;
        self.received += other.received;
        for (sum, more) in self.waits.iter_mut().zip(other.waits) {
            *sum += more;
        }
        self.unknown += other.unknown;
    }
}

/// The calls of one routine on one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPathSums {
    /// The routine; None of all paths that had no room
    pub routine: Option<RoutineNumber>,
    /// Innermost first
    pub frames: Vec<PathFrame>,
    /// Behind the last frame
    pub ending: PathEnding,
    /// What they took and moved
    pub amounts: PathAmounts,
    /// Its number in its rank, by which partners call it; None if it is not told
    pub number: Option<u32>,
}

/// The paths of a rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankPaths {
    /// Modules that the frames are in
    pub modules: Vec<PathModule>,
    /// Paths; threads may have the same
    pub paths: Vec<CallPathSums>,
    /// Whom they waited for
    pub partners: Vec<PathPartner>,
}

/// Most modules that are believed.
const MOST_MODULES: usize = 1 << 16;

impl RankPaths {
    /// Adds a module of this number. Numbers that are left out are modules that nobody knows.
    pub(super) fn module(&mut self, number: u32, module: PathModule) {
        let number = number as usize;
        if number < MOST_MODULES {
            if self.modules.len() <= number {
                let unknown = PathModule { id: "".into(), file: "".into(), function: None };
                self.modules.resize(number + 1, unknown);
            }
            self.modules[number] = module;
        }
    }
}

/// A path of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchPath {
    /// Hash of routine, modules and offsets: the same in all runs of an executable
    pub id: u64,
    /// What the calls of all its ranks took and moved; frames are in [`LaunchPaths::modules`]
    pub sums: CallPathSums,
    /// Its ranks, ascending, with what each took and moved
    pub ranks: Vec<(u32, PathAmounts)>,
    /// Whom they waited for, that with most time first
    pub partners: Vec<LaunchPartner>,
}

impl LaunchPath {
    /// What the calls of all its ranks took and moved.
    pub fn amounts(&self) -> PathAmounts {
        self.sums.amounts
    }

    /// Its ranks, ascending.
    pub fn ranks(&self) -> &[(u32, PathAmounts)] {
        &self.ranks
    }
}

/// The paths of a launch, that with most time first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchPaths {
    /// Modules of all ranks
    pub modules: Vec<PathModule>,
    /// Paths
    pub paths: Vec<LaunchPath>,
    /// Hashes of paths by rank and by the number that it has there
    numbered: HashMap<(u32, u32), u64>,
}

/// What tells two paths of a launch apart.
type PathKey = (Option<RoutineNumber>, Vec<PathFrame>, PathEnding);

impl LaunchPaths {
    /// Of all ranks whose paths are known; None if no rank has counted them.
    pub fn of(profile: &MpiProfile) -> Option<LaunchPaths> {
        let mut launch = LaunchPaths::default();
        let mut modules: HashMap<&str, u32> = HashMap::new();
        let mut places: HashMap<PathKey, usize> = HashMap::new();
        let mut numbers_of: HashMap<(u32, u32), u64> = HashMap::new();
        let mut counted = false;
        for rank in &profile.ranks {
            let Some(paths) = &rank.sums.paths else { continue };
            counted = true;
            let mut numbers = Vec::with_capacity(paths.modules.len());
            for module in &paths.modules {
                // The same file may lie at another place on another node.
                let number = *modules.entry(&module.id).or_insert_with(|| {
                    launch.modules.push(module.clone());
                    (launch.modules.len() - 1) as u32
                });
                numbers.push(number);
            }
            for path in &paths.paths {
                let frames = path.frames.iter().map(|frame| PathFrame {
                    module: frame.module.and_then(|module| numbers.get(module as usize).copied()),
                    ..*frame
                });
                let key = (path.routine, frames.collect::<Vec<_>>(), path.ending);
                let place = *places.entry(key).or_insert_with_key(|(routine, frames, ending)| {
                    let id = launch.id(profile, *routine, frames);
                    launch.paths.push(LaunchPath {
                        id,
                        sums: CallPathSums {
                            routine: *routine,
                            frames: frames.clone(),
                            ending: *ending,
                            amounts: PathAmounts::default(),
                            number: None,
                        },
                        ranks: Vec::new(),
                        partners: Vec::new(),
                    });
                    launch.paths.len() - 1
                });
                let of = &mut launch.paths[place];
                of.sums.amounts.add(&path.amounts);
                if let Some(number) = path.number {
                    numbers_of.insert((rank.rank, number), of.id);
                }
                match of.ranks.last_mut().filter(|(last, _)| *last == rank.rank) {
                    Some((_, amounts)) => amounts.add(&path.amounts),
                    None => of.ranks.push((rank.rank, path.amounts)),
                }
            }
        }
        launch.paths.sort_by(|a, b| {
            (b.sums.amounts.time.cmp(&a.sums.amounts.time))
                .then_with(|| b.sums.amounts.calls.cmp(&a.sums.amounts.calls))
                .then_with(|| a.id.cmp(&b.id))
        });
        let mut partners = partners_of(profile, &numbers_of);
        for path in &mut launch.paths {
            path.partners = partners.remove(&path.id).unwrap_or_default();
        }
        launch.numbered = numbers_of;
        counted.then_some(launch)
    }

    /// The path that has this number in a rank.
    pub fn numbered(&self, rank: u32, number: u32) -> Option<&LaunchPath> {
        self.path(*self.numbered.get(&(rank, number))?)
    }

    /// Ranks, the numbers of their paths there, and the hashes of these paths, in no order.
    pub fn numbers(&self) -> impl Iterator<Item = (u32, u32, u64)> {
        self.numbered.iter().map(|((rank, number), id)| (*rank, *number, *id))
    }

    /// The path of this hash.
    pub fn path(&self, id: u64) -> Option<&LaunchPath> {
        self.paths.iter().find(|path| path.id == id)
    }

    /// FNV-1a of the routine's name, and of modules and offsets.
    fn id(
        &self,
        profile: &MpiProfile,
        routine: Option<RoutineNumber>,
        frames: &[PathFrame],
    ) -> u64 {
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        let mut put = |bytes: &[u8]| {
            for byte in bytes.iter().chain(&[0]) {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        };
        put(routine.map_or("", |routine| profile.routines.name(routine)).as_bytes());
        for frame in frames {
            let module = frame.module.and_then(|module| self.modules.get(module as usize));
            put(module.map_or("", |module| &module.id).as_bytes());
            put(&frame.offset.to_le_bytes());
        }
        hash
    }
}

/// A function as the source has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceFrame {
    /// Its name; None if nothing tells it
    pub function: Option<String>,
    /// File of the source
    pub file: Option<String>,
    /// Line in it
    pub line: Option<u32>,
    /// It was inlined into the function that follows
    pub inlined: bool,
}

/// What frames are in the source, by module and offset: the innermost first, behind it those into
/// which it was inlined.
pub type SourceFrames = HashMap<PathFrame, Vec<SourceFrame>>;
