//! What a program finds in its environment: what it would find without, and the marker.

use std::fs;
use std::path::Path;

use topas_tests::build::plain;
use topas_tests::running::{command, run};
use topas_tests::site::{Scratch, Site};

use crate::topas_run;

/// How many.
const ENVIRONMENTS: usize = 1000;

/// Where the random numbers begin; a failure tells it.
const SEED: u64 = 20_261_121;

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % limit as u64) as usize
    }

    fn one_of<'t>(&mut self, choices: &[&'t str]) -> &'t str {
        choices[self.below(choices.len())]
    }

    /// Entries of a rank that measures, in any order and company.
    fn environment(&mut self, library: &str) -> Vec<Vec<u8>> {
        let mut entries: Vec<Vec<u8>> = [
            "OMPI_COMM_WORLD_RANK=1",
            "OMPI_COMM_WORLD_SIZE=4",
            "OMPI_MCA_orte_precondition_transports=5f",
            "TOPAS_PE=1,2",
        ]
        .map(|entry| entry.as_bytes().to_vec())
        .to_vec();
        let preload = format!("LD_PRELOAD={library}");
        let twice = format!("LD_PRELOAD={library}:{library}");
        for _ in 0..self.below(12) {
            entries.push(match self.below(9) {
                0 => Vec::new(),
                1 => b"=".to_vec(),
                2 => self.one_of(&["A", "LD_PRELOAD", "TOPAS_RANK"]).as_bytes().to_vec(),
                3 => self.one_of(&["TOPAS_RANK=7", "TOPAS_RANK="]).as_bytes().to_vec(),
                4 => self.one_of(&["LD_PRELOAD=", &preload, &twice]).as_bytes().to_vec(),
                5 => vec![b'Z'; 1 + self.below(5000)],
                _ => {
                    let mut entry = b"V=".to_vec();
                    entry.extend((0..self.below(40)).map(|_| (1 + self.below(255)) as u8));
                    entry
                }
            });
        }
        for at in (1..entries.len()).rev() {
            entries.swap(at, self.below(at + 1));
        }
        entries
    }
}

/// What `run/lists.c` finds, entry by entry.
fn found(program: &Path, runner: &[&str], file: &Path, scratch: &Scratch) -> Vec<Vec<Vec<u8>>> {
    let lister = scratch.path().join("starts");
    let mut all = command(lister);
    all.arg(file).args(runner).arg(program).current_dir(scratch.path());
    let out = run(&mut all).good().stdout;
    let mut rest = &out[..];
    let mut found = Vec::new();
    while let Some((count, behind)) = rest.split_first_chunk::<4>() {
        rest = behind;
        let mut entries = Vec::new();
        for _ in 0..u32::from_ne_bytes(*count) {
            let end = rest.iter().position(|byte| *byte == 0).expect("an entry");
            entries.push(rest[..end].to_vec());
            rest = &rest[end + 1..];
        }
        found.push(entries);
    }
    found
}

#[test]
fn a_thousand_environments_stay_as_they_are() {
    let scratch = Scratch::new();
    let site = Site::shared();
    let (program, lister) = (scratch.path().join("lists"), scratch.path().join("starts"));
    plain(site, "run/lists.c", true, &program);
    plain(site, "run/starts.c", true, &lister);
    // A library of the user's own.
    let library = scratch.path().join("libown.so");
    let mut gcc = command("gcc");
    gcc.args(["-shared", "-fPIC", "-x", "c", "/dev/null", "-o"]).arg(&library);
    run(&mut gcc).good();

    let library = library.display().to_string();
    let mut random = Random(SEED);
    let environments: Vec<_> = (0..ENVIRONMENTS).map(|_| random.environment(&library)).collect();
    let mut bytes = Vec::new();
    for entries in &environments {
        bytes.extend(u32::try_from(entries.len()).unwrap().to_ne_bytes());
        for entry in entries {
            bytes.extend(entry);
            bytes.push(0);
        }
    }
    let file = scratch.path().join("environments");
    fs::write(&file, bytes).expect("write the environments");

    let tool = topas_run().display().to_string();
    for runner in [&[tool.as_str()][..], &[&tool, "--outside"]] {
        let seen = found(&program, runner, &file, &scratch);
        assert_eq!(seen.len(), ENVIRONMENTS);
        for (number, (seen, given)) in seen.iter().zip(&environments).enumerate() {
            let shown = |entries: &[Vec<u8>]| -> Vec<String> {
                entries.iter().map(|e| e[..e.len().min(80)].escape_ascii().to_string()).collect()
            };
            let is_marker = |entry: &&Vec<u8>| entry.starts_with(b"TOPAS_RANK=");
            let without = |entries: &[Vec<u8>]| -> Vec<Vec<u8>> {
                entries.iter().filter(|entry| !is_marker(entry)).cloned().collect()
            };
            let case = format!("{runner:?}, seed {SEED}, number {number}");
            assert_eq!(shown(&without(seen)), shown(&without(given)), "{case}");
            assert_eq!(without(seen), without(given), "{case}");
            // The first of several is the one that counts.
            let marker = seen.iter().find(is_marker).expect("a marker");
            let value = String::from_utf8_lossy(&marker[11..]).into_owned();
            assert!(value.len() > 10 && value.parse::<u64>().is_ok(), "{case}: {value}");
        }
    }
}
