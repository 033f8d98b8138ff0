//! Environments of ranks, recorded from real launchers or composed from their descriptions:
//! `tests/fixtures/environments`, whose README tells the form.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use topas_format::out::Out;
use topas_launch::extended::Extended;
use topas_launch::hash::Fnv;
use topas_launch::{Proof, Rank, Vars, job, nearest};

/// One process: its environment and what is expected of it.
struct Process {
    /// Processes of one launch have the same
    launch: String,
    /// What stands behind it, by key
    words: BTreeMap<String, String>,
    entries: Vec<String>,
}

/// The system as it was when the environment was recorded.
struct Recorded<'a>(&'a Process);

impl Recorded<'_> {
    fn number(&self, key: &str) -> u32 {
        self.0.words.get(key).map_or(0, |text| text.parse().expect("a number"))
    }
}

impl Proof for Recorded<'_> {
    fn own_pid(&mut self) -> u32 {
        self.number("pid")
    }

    fn peer(&mut self, _: u32) -> Option<u32> {
        Some(self.number("peer")).filter(|peer| *peer != 0)
    }

    fn control_port(&mut self, pid: u32) -> u64 {
        assert_eq!(pid, self.number("peer"), "asked of another process");
        self.0.words.get("port").map_or(0, |port| Fnv::new().with(port.as_bytes()).value())
    }
}

impl Process {
    /// Reads `[LAUNCH] KEY=VALUE ...`.
    fn header(line: &str) -> Process {
        let (launch, words) = line.strip_prefix('[').unwrap().split_once(']').expect("]");
        let words = words.split_whitespace().map(|word| {
            let (key, value) = word.split_once('=').unwrap_or_else(|| panic!("{word}"));
            (key.to_owned(), value.to_owned())
        });
        Process { launch: launch.to_owned(), words: words.collect(), entries: Vec::new() }
    }

    fn expected(&self, key: &str) -> &str {
        self.words.get(key).unwrap_or_else(|| panic!("no {key}= in the header"))
    }

    fn vars<'a>(&'a self, order: impl Iterator<Item = &'a String>) -> Vars<'a> {
        let mut vars = Vars::new();
        for entry in order {
            vars.offer(entry.as_bytes());
        }
        vars
    }

    /// Whether all ranks are told to be on one host.
    fn one_host(&self, rank: &Rank) -> bool {
        let mut vars = Extended::new();
        for entry in &self.entries {
            vars.offer(entry.as_bytes());
        }
        vars.one_host(rank)
    }

    /// What is said of it, as in the header, and its launch id.
    fn answer(&self, vars: &Vars<'_>) -> (BTreeMap<&'static str, String>, Option<u64>) {
        let none = || "-".to_owned();
        let known = |text: String| if text.is_empty() { none() } else { text };
        let rank = nearest(vars, &mut Recorded(self));
        let mut buf = [0; 200];
        let mut id = Out::new(&mut buf);
        job::write_id(vars, &mut id);
        let mut buf = [0; 200];
        let mut part = Out::new(&mut buf);
        job::write_partition(vars, &mut part);
        let one_host = rank.as_ref().is_some_and(|rank| self.one_host(rank));
        let step = rank.as_ref().and_then(|rank| job::step(vars, rank.family));
        let said = BTreeMap::from([
            ("family", rank.as_ref().map_or_else(none, |rank| format!("{:?}", rank.family))),
            ("rank", rank.as_ref().map_or_else(none, |rank| rank.rank.to_string())),
            // 0: the launcher does not tell it.
            (
                "size",
                rank.as_ref()
                    .filter(|rank| rank.size > 0)
                    .map_or_else(none, |rank| rank.size.to_string()),
            ),
            ("job", known(String::from_utf8(id.text().to_vec()).expect("UTF-8"))),
            ("hosts", if one_host { "one".to_owned() } else { none() }),
            ("part", known(String::from_utf8(part.text().to_vec()).expect("UTF-8"))),
            ("step", known(String::from_utf8_lossy(step.unwrap_or_default()).into_owned())),
            ("mode", job::mode(vars).word().to_owned()),
        ]);
        (said, rank.map(|rank| rank.id))
    }
}

fn files() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/environments");
    let entries = fs::read_dir(&dir).expect("directory of environments").flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "env"));
    files.sort();
    assert!(files.len() > 80, "{} environments in {}", files.len(), dir.display());
    files
}

fn processes(path: &Path) -> Vec<Process> {
    let text = fs::read_to_string(path).expect("environment");
    let mut processes: Vec<Process> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if line.starts_with('[') {
            processes.push(Process::header(line));
        } else {
            processes.last_mut().expect("a header first").entries.push(line.to_owned());
        }
    }
    assert!(!processes.is_empty(), "{}: no process", path.display());
    processes
}

/// What is wrong with the answers to these keys for the processes of one file.
fn faults(path: &Path, processes: Vec<Process>, keys: &[&str]) -> Vec<String> {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let mut faults = Vec::new();
    let mut ids: Vec<(String, u64)> = Vec::new();
    for process in processes {
        let case = format!("{name}, rank {} of {}", process.expected("rank"), process.launch);
        let vars = process.vars(process.entries.iter());
        let (said, id) = process.answer(&vars);
        for key in keys {
            let (expected, said) = (process.expected(key), &said[key]);
            // Where a launcher sets names of two families and they agree, either will do.
            if !expected.split('|').any(|one| one == said) {
                faults.push(format!("{case}: {key} is {said}, expected {expected}"));
            }
        }
        let backwards = process.vars(process.entries.iter().rev());
        if process.answer(&backwards) != (said, id) {
            faults.push(format!("{case}: the order of the variables matters"));
        }
        let Some(id) = id else {
            continue;
        };
        for (launch, other) in &ids {
            if (*launch == process.launch) != (*other == id) {
                let relation =
                    if *launch == process.launch { "another id than" } else { "the id of" };
                faults.push(format!("{case}: {relation} a process of {launch}"));
            }
        }
        ids.push((process.launch, id));
    }
    faults
}

#[test]
fn every_environment_is_understood() {
    let all = ["family", "rank", "size", "hosts", "job", "step", "part", "mode"];
    let faults: Vec<String> =
        files().iter().flat_map(|path| faults(path, processes(path), &all)).collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// What Slurm sets for a batch script is in the environment of everything that the script
/// starts, and reads like rank 0 of 4. It must decide nothing.
#[test]
fn a_batch_script_around_it_changes_no_rank() {
    const SCRIPT: [&str; 8] = [
        "SLURM_PROCID=0",
        "SLURM_LOCALID=0",
        "SLURM_NTASKS=4",
        "SLURM_NPROCS=4",
        "SLURM_TASK_PID=4099",
        "SLURM_JOB_ID=900",
        "SLURM_CLUSTER_NAME=big",
        "ENVIRONMENT=BATCH",
    ];
    let mut faulty = Vec::new();
    let mut tried = 0;
    for path in files() {
        let mut processes = processes(&path);
        if processes.iter().any(|one| one.entries.iter().any(|e| e.starts_with("SLURM_"))) {
            continue;
        }
        for process in &mut processes {
            process.entries.extend(SCRIPT.map(str::to_owned));
        }
        tried += 1;
        faulty.extend(faults(&path, processes, &["family", "rank", "size"]));
    }
    assert!(tried > 40, "only {tried} files");
    assert!(faulty.is_empty(), "{} faults:\n{}", faulty.len(), faulty.join("\n"));
}

/// A fixture that could not fail would prove nothing.
#[test]
fn each_launcher_is_there_twice() {
    for path in files() {
        let processes = processes(&path);
        let ranks: Vec<_> = processes.iter().filter(|one| one.expected("rank") != "-").collect();
        let of_first = ranks.iter().filter(|one| one.launch == ranks[0].launch).count();
        assert!(ranks.is_empty() || of_first >= 2, "{}: one rank of a launch", path.display());
        for process in &processes {
            let unknown = process.entries.iter().find(|entry| !entry.contains('='));
            assert_eq!(unknown, None, "{}", path.display());
        }
    }
}
