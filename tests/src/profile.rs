//! What the MPI profile of a run says, read here by rules of our own: from the lines of ranks in
//! the user's data file, or from the mapped files of ranks that did not come so far.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::mem::{offset_of, size_of};
use std::path::{Path, PathBuf};
use std::process::Command;

use topas_mpi_profile::layout::{self, Block, Header, RankState, Row};

use crate::ending::{masked, status};
use crate::mpi_installation::{Mpi, launched, launched_after};
use crate::running::{Run, run};
use crate::site::{Scratch, Site};

/// What one rank counted of one routine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Routine {
    /// Calls
    pub calls: u64,
    /// Seconds in them
    pub seconds: f64,
    /// Sum of the count arguments
    pub count: u64,
    /// Messages sent
    pub sends: u64,
    /// Bytes in them
    pub sent: u64,
    /// Messages received
    pub receives: u64,
    /// Bytes in them
    pub received: u64,
}

/// What one rank counted.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// Rank in its world
    pub rank: u32,
    /// Ranks of the world
    pub ranks: u32,
    /// Process
    pub pid: u32,
    /// How it ended: `running` (or without a word), `finalize`, `abort:CODE`, `exit`
    pub end: String,
    /// Seconds from the first call of MPI to the last moment known
    pub wall: f64,
    /// Bindings, such as `f08`; empty if they are not told
    pub languages: String,
    /// Whether names of the profiling interface were called
    pub profiling: bool,
    /// What was not counted
    pub missed: Vec<String>,
    /// Routines that were called, without `MPI_`
    pub routines: BTreeMap<String, Routine>,
}

impl Counted {
    /// A routine; all zero if it was not called. `mpi` is the sum of all that are not the
    /// beginning or the end of MPI, `outside` the time between those in none of them.
    pub fn routine(&self, name: &str) -> Routine {
        if name == "outside" {
            let seconds = self.between() - self.routine("mpi").seconds;
            return Routine { seconds, ..Routine::default() };
        }
        if name != "mpi" {
            return self.routines.get(name).copied().unwrap_or_default();
        }
        let inner = self.routines.iter().filter(|(name, _)| !is_edge(name));
        inner.fold(Routine::default(), |sum, (_, one)| sum.plus(one))
    }

    /// Calls of all routines.
    pub fn calls(&self) -> u64 {
        self.routines.values().map(|routine| routine.calls).sum()
    }

    /// Seconds between beginning and end of MPI.
    pub fn between(&self) -> f64 {
        let edges = self.routines.iter().filter(|(name, _)| is_edge(name));
        self.wall - edges.map(|(_, routine)| routine.seconds).sum::<f64>()
    }
}

fn is_edge(name: &str) -> bool {
    ["Init", "Init_thread", "Finalize"].contains(&name)
}

impl Routine {
    /// Both together.
    pub fn plus(&self, other: &Routine) -> Routine {
        Routine {
            calls: self.calls + other.calls,
            seconds: self.seconds + other.seconds,
            count: self.count + other.count,
            sends: self.sends + other.sends,
            sent: self.sent + other.sent,
            receives: self.receives + other.receives,
            received: self.received + other.received,
        }
    }
}

/// The library of an installation.
pub fn library(site: &Site) -> PathBuf {
    let library = site.module("c").with_file_name("libtopas_mpi.so");
    assert!(library.exists(), "no {}", library.display());
    library
}

/// A place for profiles: the directory of mapped files and the user's data file.
#[derive(Debug)]
pub struct Places {
    /// Directory of mapped files
    pub spool: PathBuf,
    /// Data file
    pub out: PathBuf,
}

/// The event logs in a directory.
pub fn event_logs(directory: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(directory).expect("a directory");
    let paths = all.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.extension().is_some_and(|end| end == "trace")).collect()
}

/// The only event log in a directory.
///
/// # Panics
/// If there are none or several.
pub fn event_log(directory: &Path) -> PathBuf {
    let [log] = <[PathBuf; 1]>::try_from(event_logs(directory))
        .unwrap_or_else(|all| panic!("not one log in {}: {all:?}", directory.display()));
    log
}

impl Places {
    /// Places of their own in a directory.
    pub fn new(scratch: &Scratch) -> Places {
        Places { spool: scratch.sub("spool"), out: scratch.path().join("profile.out") }
    }

    /// Variables of a process that is profiled to these places, without the library.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("TOPAS_MPI", "yes".to_owned()),
            ("TOPAS_MPI_SPOOL", self.spool.display().to_string()),
            ("TOPAS_MPI_OUT", self.out.display().to_string()),
        ]
    }

    /// The words in front of a program that profile it, for `preloaded` in this order.
    pub fn words(&self, preloaded: &[&Path]) -> Vec<String> {
        let preload: Vec<_> = preloaded.iter().map(|path| path.display().to_string()).collect();
        let mut words = vec!["env".to_owned(), format!("LD_PRELOAD={}", preload.join(":"))];
        words.extend(self.variables().iter().map(|(name, value)| format!("{name}={value}")));
        words
    }

    /// Removes what a run left.
    pub fn clear(&self) {
        // What it did not leave is no fault here.
        let _ = fs::remove_file(&self.out);
        let _ = fs::remove_dir_all(&self.spool);
        fs::create_dir(&self.spool).expect("directory of mapped files");
    }

    /// What all ranks counted, by rank: of the data file, else of the mapped files.
    #[track_caller]
    pub fn counted(&self) -> Vec<Counted> {
        let mut all = match fs::read_to_string(&self.out) {
            Ok(text) => of_lines(&text),
            Err(_) => self.spooled(),
        };
        all.sort_by_key(|counted| (counted.rank, counted.pid));
        all
    }

    /// What the mapped files hold, by rank.
    #[track_caller]
    pub fn spooled(&self) -> Vec<Counted> {
        let files = spool_files(&self.spool).len();
        let all = self.spooled_so_far();
        assert_eq!(all.len(), files, "profiles in mapped files");
        all
    }

    /// The same of processes that may just begin: without those whose file holds nothing yet.
    pub fn spooled_so_far(&self) -> Vec<Counted> {
        let files = spool_files(&self.spool);
        let mut all: Vec<_> =
            files.iter().filter_map(|path| of_file(&in_use(path).ok()?)).collect();
        all.sort_by_key(|counted| (counted.rank, counted.pid));
        all
    }
}

/// The mapped files in a directory.
pub fn spool_files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let ours = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("topas-mpi."))
    };
    let mut files: Vec<_> = entries.map(|entry| entry.path()).filter(ours).collect();
    files.sort();
    files
}

/// The part of a mapped file that is in use: it is as long as it may ever become.
fn in_use(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = vec![0; layout::BLOCKS_AT];
    file.read_exact(&mut bytes)?;
    let used = u64_at(&bytes, offset_of!(Header, used)).unwrap_or(0) as usize;
    bytes.resize(used.max(bytes.len()), 0);
    file.read_exact(&mut bytes[layout::BLOCKS_AT..])?;
    Ok(bytes)
}

/// Launches a program with the library loaded into its ranks only.
#[track_caller]
pub fn profiled(mpi: Mpi, scratch: &Scratch, ranks: u32, program: &[&str], places: &Places) -> Run {
    let library = library(Site::shared());
    let mut launch = mpi.launch_bare(scratch, ranks);
    launch.args(places.words(&[&library])).args(program).current_dir(scratch.path());
    launched_after(scratch, &mut launch, &|| places.clear())
}

/// The same launch without the library.
#[track_caller]
pub fn bare(mpi: Mpi, scratch: &Scratch, ranks: u32, program: &[&str]) -> Run {
    let mut launch = mpi.launch_bare(scratch, ranks);
    launch.arg("env").args(program).current_dir(scratch.path());
    launched(scratch, &mut launch)
}

/// How a run ended and the lines it wrote, whatever their order and numbers of processes.
pub fn outcome(run: &Run) -> (String, Vec<String>, Vec<String>) {
    let sorted = |text: String| {
        let mut lines = masked(&text);
        lines.sort();
        lines
    };
    (status(run), sorted(run.out()), sorted(run.err()))
}

/// Panics unless both ended alike and wrote the same. Lines of several ranks may stand in each
/// other.
#[track_caller]
pub fn alike(without: &Run, with: &Run) {
    let (mut with, mut without) = (outcome(with), outcome(without));
    let mixed = |lines: &[String]| {
        let mut all: Vec<char> = lines.iter().flat_map(|line| line.chars()).collect();
        all.sort_unstable();
        all
    };
    if mixed(&with.1) == mixed(&without.1) {
        with.1.clear();
        without.1.clear();
    }
    assert_eq!(with, without, "with the library, and without");
}

/// A command of an MPI's own compiler driver, without TOPAS. Sources and options follow.
pub fn compiler(mpi: Mpi, tool: &str) -> Command {
    let real = mpi.real(tool).unwrap_or_else(|| panic!("no {tool} of {}", mpi.name()));
    crate::running::command(real)
}

/// Compiles sources below `tests/programs` without TOPAS. Panics if that fails.
#[track_caller]
pub fn build(mpi: Mpi, tool: &str, sources: &[&str], options: &[&str], output: &Path) {
    let mut compiler = compiler(mpi, tool);
    compiler.args(sources.iter().map(|name| crate::build::source(name)));
    // Modules of Fortran are written where the compiler runs.
    compiler.current_dir(output.parent().expect("a directory"));
    run(compiler.args(options).arg("-o").arg(output)).good();
}

/// Ranks of the lines `of=rank` that are no subtotals.
fn of_lines(text: &str) -> Vec<Counted> {
    let mut all: BTreeMap<(u32, u32), Counted> = BTreeMap::new();
    let mut latest = (u32::MAX, 0);
    for line in text.lines() {
        let words: Vec<_> = line.split(' ').collect();
        assert_eq!(words.get(2), Some(&"topas-mpi"), "no line of a profile: {line}");
        let pairs: Vec<_> = words[7..].iter().filter_map(|word| word.split_once('=')).collect();
        let value = |key| pairs.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
        if value("of") != Some("rank") || value("at").is_some() {
            continue;
        }
        let number = |key| value(key).and_then(|value| value.parse().ok());
        // Further lines of a record follow its first.
        if let Some(rank) = number("rank") {
            latest = (rank, number("pid").unwrap_or(0));
        }
        let counted = all.entry(latest).or_default();
        (counted.rank, counted.pid) = latest;
        counted.ranks = words[5].parse().unwrap_or_else(|_| panic!("no ranks: {line}"));
        for (key, value) in pairs {
            match key {
                "end" => counted.end = value.to_owned(),
                "wall" => counted.wall = value.parse().expect("seconds"),
                "lang" => counted.languages = value.to_owned(),
                "pmpi" => counted.profiling = value == "1",
                "miss" => counted.missed = value.split(',').map(str::to_owned).collect(),
                "f" => {
                    let (name, routine) = of_token(value);
                    let twice = counted.routines.insert(name, routine);
                    assert!(twice.is_none(), "a routine twice: {line}");
                }
                _ => {}
            }
        }
    }
    all.into_values().collect()
}

/// `Send:CALLS:SECONDS:LONGEST:COUNT:SENDS:SENT:RECEIVES:RECEIVED:RANKS`
fn of_token(token: &str) -> (String, Routine) {
    let fields: Vec<_> = token.split(':').collect();
    let number = |index: usize| fields.get(index).and_then(|text| text.parse().ok()).unwrap_or(0);
    let seconds = fields.get(2).and_then(|text| text.parse().ok()).unwrap_or(0.0);
    let routine = Routine {
        calls: number(1),
        seconds,
        count: number(4),
        sends: number(5),
        sent: number(6),
        receives: number(7),
        received: number(8),
    };
    (fields[0].to_owned(), routine)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// What was not counted.
const MISSED: [(u64, &str); 3] = [
    (layout::flag::UNKNOWN_MPI, "bytes"),
    (layout::flag::THREADS_LOST, "threads"),
    (layout::flag::REQUESTS_LOST, "requests"),
];

/// A mapped file; None if it is none.
fn of_file(bytes: &[u8]) -> Option<Counted> {
    (bytes.get(..8)? == layout::MAGIC).then_some(())?;
    let word = |at| u32_at(bytes, at);
    let moment = |at: usize, field: usize| u64_at(bytes, at + field);
    let (began, latest) = (offset_of!(Header, began), offset_of!(Header, latest));
    let ticks_of = offset_of!(layout::Moment, ticks);
    let monotonic = offset_of!(layout::Moment, monotonic);
    let ticks = moment(latest, ticks_of)?.saturating_sub(moment(began, ticks_of)?);
    let nanoseconds = moment(latest, monotonic)?.saturating_sub(moment(began, monotonic)?) as f64;
    let tick = if ticks == 0 { 0.0 } else { nanoseconds / ticks as f64 * 1e-9 };
    let languages = word(offset_of!(Header, languages))?;
    let flags = u64_at(bytes, offset_of!(Header, flags))?;
    let named = [(layout::language::C, "c"), (layout::language::FORTRAN, "mpifh")];
    let named = named.into_iter().chain([(layout::language::F08, "f08")]);
    let named: Vec<_> =
        named.filter(|(bit, _)| languages & bit != 0).map(|(_, name)| name).collect();
    let mut counted = Counted {
        rank: word(offset_of!(Header, rank))?,
        ranks: word(offset_of!(Header, ranks))?,
        pid: word(offset_of!(Header, pid))?,
        end: end(word(offset_of!(Header, state))?, word(offset_of!(Header, code))?),
        wall: nanoseconds * 1e-9,
        languages: named.join(","),
        profiling: flags & layout::flag::PROFILING != 0,
        missed: MISSED
            .iter()
            .filter(|(bit, _)| flags & bit != 0)
            .map(|(_, word)| (*word).to_owned())
            .collect(),
        routines: BTreeMap::new(),
    };
    let mut block = u64_at(bytes, offset_of!(Header, first_block))? as usize;
    let mut blocks = 0;
    while block != 0 {
        add_block(&mut counted, bytes, block, tick)?;
        block = u64_at(bytes, block + offset_of!(Block, next))? as usize;
        blocks += 1;
    }
    assert_eq!(blocks, word(offset_of!(Header, blocks))?, "threads of a mapped file");
    Some(counted)
}

fn add_block(counted: &mut Counted, bytes: &[u8], block: usize, tick: f64) -> Option<()> {
    for (index, function) in topas_mpi_table::functions().enumerate() {
        let row = block + offset_of!(Block, rows) + index * size_of::<Row>();
        let field = |at| u64_at(bytes, row + at);
        let routine = Routine {
            calls: field(offset_of!(Row, calls))?,
            seconds: field(offset_of!(Row, ticks))? as f64 * tick,
            count: field(offset_of!(Row, count))?,
            sends: field(offset_of!(Row, sends))?,
            sent: field(offset_of!(Row, sent))?,
            receives: field(offset_of!(Row, receives))?,
            received: field(offset_of!(Row, received))?,
        };
        if routine != Routine::default() {
            let name = function.name.trim_start_matches("MPI_").to_owned();
            let sum = counted.routines.entry(name).or_default();
            *sum = sum.plus(&routine);
        }
    }
    Some(())
}

fn end(state: u32, code: u32) -> String {
    match state {
        s if s == RankState::Running as u32 => "running".to_owned(),
        s if s == RankState::Finalizing as u32 => "finalizing".to_owned(),
        s if s == RankState::Written as u32 => "finalize".to_owned(),
        s if s == RankState::Aborted as u32 => format!("abort:{}", code.cast_signed()),
        s if s == RankState::Exited as u32 => "exit".to_owned(),
        other => panic!("unknown state {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lines_of_ranks() {
        let text = "2026/11/20 08:01:02 topas-mpi mohr heat 2 t1 v=1 of=run line=1/1 f=Send:9:1 len=001\n\
                    2026/11/20 08:01:02 topas-mpi mohr heat 2 t1 v=1 of=rank line=1/2 rank=1 pid=7 end=exit \
                    wall=2.5 miss=a,b f=Send:3:0.25:0.2:12:3:48::: len=001\n\
                    2026/11/20 08:01:02 topas-mpi mohr heat 2 t1 v=1 of=rank line=2/2 f=Barrier:2:1 len=001\n";
        let [counted] = &of_lines(text)[..] else { panic!("one rank") };
        assert_eq!((counted.rank, counted.ranks, counted.pid), (1, 2, 7));
        assert_eq!((counted.end.as_str(), counted.wall), ("exit", 2.5));
        assert_eq!(counted.missed, ["a", "b"]);
        let send = counted.routine("Send");
        assert_eq!(
            (send.calls, send.count, send.sends, send.sent, send.received),
            (3, 12, 3, 48, 0)
        );
        assert_eq!((counted.calls(), counted.routine("mpi").seconds), (5, 1.25));
    }
}
