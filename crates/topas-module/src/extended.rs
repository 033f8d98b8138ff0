//! The extended module: every rank of a launch measures one counter, and their lines go to a
//! file of the user's, `topas.out`. The ranks that would measure anyway write to the log, too.
//!
//! A build of its own (`--cfg topas_extended`), so that ordinary programs hold nothing of it.

use topas_format::MAX_LINE;
use topas_format::form::{PLACED_LINE, PLACED_RUN_LINE, UNKNOWN, Values, number};
use topas_format::hash::Fnv;
use topas_format::out::Out;
use topas_format::target::expand_launch;
use topas_launch::extended::Extended;
use topas_launch::gather::{ONE_HOST, SEVERAL_HOSTS};
use topas_launch::{Family, Rank};
use topas_node::gather::{self, GatherFile, GatherOutcome, Teller};

use crate::log;
use crate::say::{Sentence, say_by_number};
use crate::start::own_launch;
use crate::state::{FILE_MAX, out};
use crate::sys::{self, EINVAL, PATH_MAX};

/// Whether this is the extended module.
pub const ON: bool = cfg!(topas_extended);

/// What the extended module keeps from start to end.
#[repr(C)]
pub struct Own {
    pub vars: Extended<'static>,
    /// Whether this rank writes to the log, too
    pub logs: bool,
    /// The directory the program was started in, with a slash; empty if it had gone
    directory: Option<&'static [u8]>,
    /// The name of the file, a pattern
    pattern: Option<&'static [u8]>,
    kept: [u8; 2 * PATH_MAX],
    path: [u8; PATH_MAX],
    line: [u8; MAX_LINE],
}

impl Own {
    /// Nothing known.
    pub const fn new() -> Self {
        Own {
            vars: Extended::new(),
            logs: false,
            directory: None,
            pattern: None,
            kept: [0; 2 * PATH_MAX],
            path: [0; PATH_MAX],
            line: [0; MAX_LINE],
        }
    }

    /// Notes where the file is to be: later the program may be in another directory, and have
    /// overwritten its environment.
    pub fn begin(&'static mut self, rank: &Rank, room: &mut [u8; FILE_MAX]) {
        let kept = &mut Out::new(&mut self.kept);
        // One that cannot be reached from the root is shown in parentheses.
        if let [path @ .., 0] = sys::directory(room)
            && path.starts_with(b"/")
        {
            kept.put(path).byte(b'/');
        }
        self.directory = Some(kept.take());
        let mut pattern = kept.put(self.vars.out()).take() as &[u8];
        if pattern.is_empty() {
            pattern = if self.vars.one_host(rank) { ONE_HOST } else { SEVERAL_HOSTS };
        }
        self.pattern = Some(pattern);
    }

    /// Writes the line of this rank to the user's file. If that cannot be, and it `speaks` for
    /// its host, it says so.
    pub fn write(&mut self, values: &mut Values<'_>, rank: &Rank, speaks: bool) {
        let (cpu, numa) = sys::processor().unwrap_or((UNKNOWN, UNKNOWN));
        values.numbers[number::CPU] = cpu;
        values.numbers[number::NUMA] = numa;
        let line = &mut Out::new(&mut self.line);
        const FORM: &[u8] = if cfg!(topas_run) { PLACED_RUN_LINE } else { PLACED_LINE };
        values.fill_line(line, 0, FORM);

        let pattern = self.pattern.unwrap_or_default();
        let path = &mut Out::new(&mut self.path);
        if !pattern.starts_with(b"/") {
            path.put(self.directory.unwrap_or_default());
        }
        let shape = expand_launch(pattern, values, path);
        let name = Fnv::new().with(path.text()).value();
        let shown = path.len();
        let path = path.byte(0).take_mut();
        let mut outcome = GatherOutcome { errno: EINVAL, teller: Teller::First };
        if let (Some(shape), [.., 0]) = (shape, &*path) {
            let target = &mut GatherFile::new(path, shape);
            if rank.size == 1 {
                outcome = gather::alone(target, line.text());
            } else {
                let address = gather::address(out(), rank.id, name);
                outcome = gather::together(address, target, line.text());
            }
        }
        if outcome.errno != 0 && outcome.is_told(speaks) {
            let path = path.get(..shown).unwrap_or_default();
            let sentence = log::sentence(path, outcome.errno);
            say_by_number(Sentence::NotWritten as usize, path, sentence);
        }
    }
}

/// The place of a rank that measures: here every rank does, chosen or not, and a program that
/// runs alone, too.
pub fn place(found: Result<u32, Sentence>, rank: &mut Rank) -> Result<u32, Sentence> {
    match found {
        Ok(_) => Ok(rank.rank),
        Err(Sentence::NotChosen) if rank.family != Family::Own => Ok(rank.rank),
        Err(Sentence::NoRank) => {
            rank.id = own_launch();
            Ok(0)
        }
        Err(why) => Err(why),
    }
}
