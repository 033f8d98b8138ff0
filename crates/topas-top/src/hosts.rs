//! Readers on other nodes: started by ssh or by what a batch system has for that, one for each node.
//! Each prints sums of its ranks again and again, and ends when nobody reads them.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::args::TopArgs;
use crate::snapshot::{RankLine, ReaderLine};
use crate::{TOOL, exit};

/// Longest line of a reader, in B: a rank that calls every routine of MPI has 60,000.
const LONGEST: u64 = 1 << 20;

/// Readers that are started before others, so that a server of ssh is not asked by all at once.
const TOGETHER: usize = 32;
const PAUSE: Duration = Duration::from_millis(200);

/// How long the first reading of all nodes is waited for.
const PATIENCE: Duration = Duration::from_secs(15);

/// What is known of a node.
#[derive(Default)]
struct HostReading {
    /// Ranks of the last reading that is whole
    ranks: Vec<RankLine>,
    /// Readings so far
    readings: u64,
    /// Its reader has ended; and the last line on its standard error
    ended: Option<String>,
}

/// A node and its reader.
struct Host {
    name: String,
    reader: Option<Child>,
    reading: Arc<Mutex<HostReading>>,
    /// It was said that the reader has ended
    told: bool,
}

/// All nodes.
pub struct Hosts(Vec<Host>);

impl Hosts {
    /// Starts a reader on each node. The Err is the exit code, the reason has been said.
    pub fn start(args: &TopArgs) -> Result<Hosts, u8> {
        let own = std::env::current_exe().unwrap_or_else(|_| "topas-top".into());
        let mut hosts = Vec::new();
        for (number, name) in args.hosts.iter().enumerate() {
            // A name is an argument of another command: never an option of that.
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:@".contains(&byte);
            if name.is_empty() || name.starts_with('-') || !name.bytes().all(is_name) {
                let what = format!("--hosts: '{name}' is no name of a node");
                TOOL.error(&what, None, "separate names by commas, without blanks");
                return Err(exit::USAGE);
            }
            if number > 0 && number % TOGETHER == 0 {
                thread::sleep(PAUSE);
            }
            let mut words: Vec<String> =
                args.via.split_whitespace().map(|word| word.replace("{host}", name)).collect();
            if !args.via.contains("{host}") {
                words.push(name.clone());
            }
            let Some((program, rest)) = words.split_first() else {
                TOOL.error(&"--via is empty", None, "name a command, such as ssh");
                return Err(exit::USAGE);
            };
            let mut command = Command::new(program);
            command.args(rest).args(["nice", "-n", "19"]).arg(&own).arg("--reader");
            command.arg(format!("--every={}", args.every));
            for spool in &args.spool {
                command.arg("--spool").arg(spool);
            }
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut reader = command.spawn().map_err(|cause| {
                let what = format!("cannot start {program} for {name}");
                TOOL.error(&what, Some(&cause), "--via names the command that reaches a node");
                exit::FAILED
            })?;
            let reading = Arc::<Mutex<HostReading>>::default();
            if let (Some(out), Some(err)) = (reader.stdout.take(), reader.stderr.take()) {
                let reading = Arc::clone(&reading);
                thread::spawn(move || {
                    let last = thread::spawn(move || last_line(err));
                    follow(out, &reading);
                    let last = last.join().unwrap_or_default();
                    locked(&reading).ended = Some(last);
                });
            }
            hosts.push(Host { name: name.clone(), reader: Some(reader), reading, told: false });
        }
        Ok(Hosts(hosts))
    }

    /// Waits until every node was read, or its reader has ended, or for some time at most.
    pub fn first_reading(&self) {
        let begun = Instant::now();
        let is_open = |host: &Host| {
            let reading = locked(&host.reading);
            reading.readings == 0 && reading.ended.is_none()
        };
        while self.0.iter().any(is_open) && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// The ranks of all nodes, as their readers told them last.
    pub fn ranks(&self) -> Vec<RankLine> {
        self.0.iter().flat_map(|host| locked(&host.reading).ranks.clone()).collect()
    }

    /// What there is to say of nodes that cannot be read, each once.
    pub fn complaints(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        for host in &mut self.0 {
            let reading = locked(&host.reading);
            if let Some(last) = &reading.ended
                && !host.told
            {
                host.told = true;
                let why = if last.is_empty() { String::new() } else { format!(": {last}") };
                all.push(format!("the reader on {} has ended{why}", host.name));
            }
        }
        all
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        // The reader itself ends because nobody reads what it prints.
        for host in &mut self.0 {
            if let Some(mut reader) = host.reader.take() {
                let _ = reader.kill();
                let _ = reader.wait();
            }
        }
    }
}

fn locked(reading: &Mutex<HostReading>) -> std::sync::MutexGuard<'_, HostReading> {
    reading.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the lines of a reader until there are no more.
fn follow(out: impl Read, reading: &Mutex<HostReading>) {
    let mut lines = BufReader::new(out);
    let mut ranks = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        match lines.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        // What a shell on the way says is none of it.
        match ReaderLine::read(&line) {
            Some(ReaderLine::Rank(rank)) => ranks.push(*rank),
            Some(ReaderLine::End) => {
                let mut reading = locked(reading);
                reading.ranks = std::mem::take(&mut ranks);
                reading.readings += 1;
            }
            None => {}
        }
    }
    locked(reading).ranks.clear();
}

/// The last line that is not empty, without what acts on a terminal.
fn last_line(err: impl Read) -> String {
    let mut last = String::new();
    for line in BufReader::new(err.take(LONGEST)).split(b'\n') {
        let Ok(line) = line else { break };
        if !line.trim_ascii().is_empty() {
            last = topas_format::shown::Shown(line.trim_ascii()).to_string();
        }
    }
    last
}
