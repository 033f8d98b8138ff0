//! Measuring from outside: the program runs in a child, which this process waits for.

use std::ffi::{CString, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::{Instant, SystemTime};

use nix::unistd::getuid;
use topas_config::Environment;
use topas_format::MAX_LINE;
use topas_format::conf::{Settings, Switch};
use topas_format::event::{Metric, NOT_MEASURED, Why};
use topas_format::field::{Lang, Mode};
use topas_format::form::{RUN_LINE, UNKNOWN, Values, mark, number, text};
use topas_format::out::Out;

use super::counters::{Counters, Counts};
use super::elf::Facts;
use super::environment::Entries;
use super::launch::Launch;
use super::program::{ExecutableKind, Program};
use super::sys::{Child, Ended, Image, end_by};
use super::{log, node, user_file};
use crate::message::say;

/// What is to be run and how it is to be measured.
pub struct Measured<'m> {
    /// The words of the command
    pub command: &'m [OsString],
    /// What they lead to
    pub program: &'m Program,
    /// The rank it is
    pub launch: &'m Launch,
    /// What is counted
    pub metric: Metric,
    /// Whether every rank is measured
    pub all: bool,
    /// Whether a line goes to the log
    pub logs: bool,
    /// What the site says
    pub settings: &'m Settings<'m>,
    /// Its targets of the log, whatever the environment says
    pub site_log: &'m [u8],
    /// The variables of this process
    pub env: &'m Environment,
    /// The environment that the program is to have, but for the marker of the rank
    pub entries: Entries,
}

impl Measured<'_> {
    /// Runs the program to its end and writes the line. Returns its exit code; a signal that
    /// ended it ends this process.
    ///
    /// # Errors
    /// The program could not be started.
    pub fn run(&self) -> io::Result<i32> {
        let mut entries = self.entries.clone();
        entries.mark(&self.launch.rank, std::process::id());
        let environment = entries.into_c_strings();
        let c_string = |bytes: Vec<u8>| CString::new(bytes).map_err(io::Error::from);
        let path = c_string(self.program.path.as_os_str().as_bytes().to_vec())?;
        let words: io::Result<Vec<_>> =
            self.command.iter().map(|word| c_string(word.clone().into_vec())).collect();
        let words = words?;
        let facts = self.facts();
        let counters = Counters::open(self.metric, facts.counts);
        let begun = Instant::now();
        let image = Image { path: &path, words: &words, environment: &environment };
        let child = Child::start(&image)?;
        let ended = child.wait();
        let wall = begun.elapsed().as_micros() as u64;
        self.record(&facts, &ended, wall, &counters.finish());
        Ok(match (ended.code, ended.signal) {
            (_, Some(signal)) => end_by(signal),
            (code, None) => code.unwrap_or_default().into(),
        })
    }

    /// What is known of the program without looking into it.
    fn facts(&self) -> Facts {
        match &self.program.kind {
            ExecutableKind::Elf(facts) => facts.clone(),
            _ => Facts { lang: Lang::Unknown, ..Facts::default() },
        }
    }

    /// Writes the line, and prints it if the user or the site asks for it.
    fn record(&self, facts: &Facts, ended: &Ended, wall: u64, counts: &Counts) {
        let texts = self.texts(facts, ended, counts);
        let mut values = texts.values();
        self.fill(&mut values, ended, wall, counts);
        let mut buffer = [0; MAX_LINE];
        let mut out = Out::new(&mut buffer);
        values.fill_line(&mut out, 0, RUN_LINE);
        if self.logs {
            let is_batch = self.launch.mode == Mode::Batch;
            if self.env.prints() || is_batch && self.settings.is(Switch::PrintBatch) {
                self.print(&texts, ended, wall, counts);
            }
            self.append(&mut values, out.text());
        }
        if self.all
            && let Err((path, error, speaks)) =
                user_file::append(&mut values, &self.launch.rank, self.env)
            && (speaks || self.env.is_verbose())
        {
            say!("topas: not written: {}: {error}", path.display());
        }
    }

    /// Appends the line to the user's log, or to the site's if that takes none.
    fn append(&self, values: &mut Values<'_>, line: &[u8]) {
        let own = self.env.log().filter(|_| self.settings.is(Switch::UserLog));
        if let Some(own) = own {
            let Err(failed) = log::append(own.as_bytes(), values, line) else { return };
            let (last, others) = match failed.split_last() {
                Some((last, others)) => (Some(last), others),
                None => (None, &[][..]),
            };
            // One rank says what is wrong.
            let lowest = self.launch.place.unwrap_or(0) == 0;
            for (target, error) in others.iter().filter(|_| self.env.is_verbose()) {
                say!("topas: not written: {target}: {error}");
            }
            if let Some((target, error)) = last.filter(|_| lowest || self.env.is_verbose()) {
                say!("topas: TOPAS_LOG={target}: {error}");
            }
        }
        if let Err(failed) = log::append(self.site_log, values, line)
            && self.env.is_verbose()
        {
            for (target, error) in &failed {
                say!("topas: not written: {target}: {error}");
            }
            if failed.is_empty() {
                say!("topas: not written: no log in topas.conf");
            }
        }
    }

    fn texts(&self, facts: &Facts, ended: &Ended, counts: &Counts) -> Texts {
        let uid = getuid().as_raw();
        let user = self.env.user().as_bytes();
        let [ops, misses, ..] = &counts.quantities;
        let letters = [self.metric.letter(), Metric::L1Miss.letter()];
        let reasons = letters.iter().zip([ops, misses]).filter_map(|(letter, counted)| {
            let why: Why = counted.err()?;
            Some([&[*letter, b':'], why.word()].concat())
        });
        Texts {
            user: if user.is_empty() { format!("#{uid}").into_bytes() } else { user.to_vec() },
            exe: self.program.exe.as_bytes().to_vec(),
            lang: facts.lang.token().to_vec(),
            lib: facts.lib.token().to_vec(),
            id: format!("{:016x}", self.launch.rank.id).into_bytes(),
            host: node::host(),
            why: reasons.collect::<Vec<_>>().join(&b','),
            job: self.launch.job.clone(),
            step: self.launch.step.clone(),
            partition: self.launch.partition.clone(),
            compiler: one_word(&facts.compiler),
            ending: match (ended.signal, ended.code) {
                (Some(libc::SIGABRT), _) => b"abort".to_vec(),
                (Some(signal), _) => format!("sig:{signal}").into_bytes(),
                (None, code) => format!("exit:{}", code.unwrap_or_default()).into_bytes(),
            },
        }
    }

    fn fill(&self, values: &mut Values<'_>, ended: &Ended, wall: u64, counts: &Counts) {
        let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let epoch = since.as_secs();
        values.set_time(epoch.wrapping_add_signed(node::utc_offset(epoch)));
        let [user, system] = ended.cpu;
        for (at, micros) in [user, system, wall].into_iter().enumerate() {
            let millis = (micros + 500) / 1000;
            for (slot, value) in
                [(number::SECONDS + at, millis / 1000), (number::MILLIS + at, millis % 1000)]
            {
                if let Some(to) = values.numbers.get_mut(slot) {
                    *to = value;
                }
            }
        }
        let mhz = node::mhz();
        let npes = self.launch.rank.size;
        let numbers = [
            (number::EPOCH, epoch),
            (number::UID, getuid().as_raw().into()),
            (number::PE, self.launch.rank.rank.into()),
            (number::NPES, if npes == 0 { UNKNOWN } else { npes.into() }),
            (number::MHZ, mhz.unwrap_or(UNKNOWN)),
            (number::RESIDENT, ended.resident),
            (number::RUN, if counts.share < 1000 { counts.share } else { UNKNOWN }),
        ];
        for (slot, value) in numbers {
            if let Some(to) = values.numbers.get_mut(slot) {
                *to = value;
            }
        }
        values.marks[mark::MHZ] = if mhz.is_some() { b't' } else { 0 };
        values.marks[mark::MODE] = self.launch.mode.letter();
        values.marks[mark::METRIC] = self.metric.letter();
        values.marks[mark::COUNTS] = b'=';
        for (at, counted) in counts.quantities.iter().enumerate() {
            let (value, estimate) =
                counted.map_or((UNKNOWN, false), |counted| (counted.value, counted.estimate));
            if let Some(to) = values.numbers.get_mut(number::COUNTS + at) {
                *to = value;
            }
            if let Some(to) = values.marks.get_mut(mark::COUNTS + at).filter(|_| estimate) {
                *to = b'~';
            }
        }
    }

    /// The same facts for a person, on standard error, in the words of the module.
    fn print(&self, texts: &Texts, ended: &Ended, wall: u64, counts: &Counts) {
        let shown = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        let seconds = |micros: u64| {
            let millis = (micros + 500) / 1000;
            format!("{}.{:03}", millis / 1000, millis % 1000)
        };
        let rank = &self.launch.rank;
        let npes = if rank.size == 0 { "-".to_owned() } else { rank.size.to_string() };
        let [user, system] = ended.cpu;
        let count = |counted: &Result<super::counters::Counted, Why>| match counted {
            Ok(counted) => {
                format!("{}{}", if counted.estimate { "~" } else { "" }, counted.value)
            }
            Err(why) => format!("-{NOT_MEASURED}{}", shown(why.word())),
        };
        let label = match self.metric {
            Metric::FpOps => "FP operations",
            Metric::IntOps => "integer operations",
            Metric::Loads => "loads",
            Metric::Stores => "stores",
            Metric::L1Miss => "L1 data misses",
        };
        let [ops, misses, ..] = &counts.quantities;
        say!(
            "topas: {}, PE {} of {npes}, launch {}\n\
             topas:   wall clock {} s, CPU user {} s, system {} s\n\
             topas:   {label}: {}\n\
             topas:   L1 data misses: {}",
            shown(&texts.exe),
            rank.rank,
            shown(&texts.id),
            seconds(wall),
            seconds(user),
            seconds(system),
            count(ops),
            count(misses)
        );
    }
}

/// Texts of the line.
struct Texts {
    user: Vec<u8>,
    exe: Vec<u8>,
    lang: Vec<u8>,
    lib: Vec<u8>,
    id: Vec<u8>,
    host: Vec<u8>,
    why: Vec<u8>,
    job: Vec<u8>,
    step: Vec<u8>,
    partition: Vec<u8>,
    compiler: Vec<u8>,
    ending: Vec<u8>,
}

impl Texts {
    fn values(&self) -> Values<'_> {
        let mut values = Values::new();
        for (slot, value) in [
            (text::USER, &self.user),
            (text::EXE, &self.exe),
            (text::LANG, &self.lang),
            (text::LIB, &self.lib),
            (text::ID, &self.id),
            (text::HOST, &self.host),
            (text::WHY, &self.why),
            (text::JOB, &self.job),
            (text::STEP, &self.step),
            (text::PART, &self.partition),
            (text::CC, &self.compiler),
            (text::ENDING, &self.ending),
        ] {
            if let Some(to) = values.texts.get_mut(slot) {
                *to = Some(value.as_slice());
            }
        }
        values
    }
}

/// What a compiler says of itself as the line has it.
fn one_word(text: &[u8]) -> Vec<u8> {
    let mut room = [0; 64];
    Out::new(&mut room).one_word(text).text().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_as_the_line_has_them() {
        for (said, expected) in [
            ("GCC: (Debian 12.2.0-14) 12.2.0", "GCC:_(Debian_12.2.0-14)_12.2.0"),
            ("clang  version 14, of x", "clang_version_14"),
            (&"x".repeat(70), &"x".repeat(60)),
            ("", ""),
        ] {
            assert_eq!(one_word(said.as_bytes()), expected.as_bytes());
        }
    }
}
