//! Every key of the JSON that topas-stat writes stands in topas-json(5), and no other does.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use topas_testkit::with_lengths;

const PAGE: &str = include_str!("../../../doc/topas-json.5");

/// Documented keys that only files of several users have, which a test of one user cannot make.
const OF_OTHER_USERS: &str = "foreign.owners[].";

/// The patterns that a heading stands for: names in braces are alternatives.
fn expanded(heading: &str) -> Vec<String> {
    let Some((before, rest)) = heading.split_once('{') else { return vec![heading.to_owned()] };
    let (names, behind) = rest.split_once('}').expect("a brace is closed");
    let names = names.split(',').map(|name| format!("{before}{name}{behind}"));
    names.flat_map(|pattern| expanded(&pattern)).collect()
}

/// The patterns of each schema.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let page = PAGE.replace("\\-", "-");
    let schemas = page.split_once(".SH SCHEMAS\n").expect("schemas").1;
    let schemas = schemas.split("\n.SH ").next().unwrap();
    let sections = schemas.split(".SS ").skip(1);
    sections
        .map(|section| {
            let (name, rest) = section.split_once('\n').expect("a name");
            let heads = rest.split(".TP\n.B ").skip(1).map(|entry| entry.lines().next().unwrap());
            (name.to_owned(), heads.flat_map(expanded).collect())
        })
        .collect()
}

/// The paths of all values that are no objects and no lists of objects.
fn leaves(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| leaves(value, &below(key), found));
        }
        Value::Array(values) if values.iter().any(Value::is_object) => {
            values.iter().for_each(|value| leaves(value, &format!("{path}[]"), found));
        }
        _ => {
            found.insert(path.to_owned());
        }
    }
}

/// Whether a path is one that the pattern describes. A value that is null or an empty list stands
/// for all that it could hold.
fn describes(pattern: &str, path: &str) -> bool {
    let mut names = pattern.split('.');
    for name in path.split('.') {
        let Some(expected) = names.next() else { return false };
        let same = expected == "*" || expected == name || expected.trim_end_matches("[]") == name;
        if !same {
            return false;
        }
    }
    true
}

struct KeySite {
    dir: tempfile::TempDir,
}

impl KeySite {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let fixtures = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures"));
        for file in ["logs/v1/module.log", "logs/v1/broken.log", "sacct/slurm-22.05.txt"] {
            let name = Path::new(file).file_name().unwrap();
            fs::copy(fixtures.join(file), dir.path().join(name)).unwrap();
        }
        fs::copy(fixtures.join("sacct/slurm-22.05.log"), dir.path().join("jobs.log")).unwrap();
        // Two runs of a program in a partition, of which the later failed and waited for the system.
        let line = |day: u32, pe: u32, end: &str| {
            format!(
                "2026/11/{day} 12:00:00 ann heat {pe} 4 t2596 B c mpi 10.0 60.0 100.0 f=- - r{day} v=1 \
                 t={} uid=7 end={end} why=f:pmu job=9{day} part=batch host=n{pe} rss=1000\n",
                1_795_003_200 + u64::from(day - 18) * 86_400
            )
        };
        let mut text: String = (1..3).map(|pe| line(18, pe, "exit:0")).collect();
        text.extend((1..3).map(|pe| line(19, pe, "exit:1")));
        fs::write(dir.path().join("runs.log"), with_lengths(&text)).unwrap();
        let below = dir.path().join("logs");
        fs::create_dir(&below).unwrap();
        fs::copy(dir.path().join("runs.log"), below.join("runs.log")).unwrap();
        std::os::unix::fs::symlink("runs.log", below.join("link.log")).unwrap();
        KeySite { dir }
    }

    /// The objects that a command prints, by their schema.
    fn add(&self, words: &str, found: &mut BTreeMap<String, BTreeSet<String>>) {
        let output = Command::new(env!("CARGO_BIN_EXE_topas-stat"))
            .args(words.split(' '))
            .current_dir(self.dir.path())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!text.is_empty(), "{words}: {error}");
        let objects: Vec<Value> = match serde_json::from_str(&text) {
            Ok(object) => vec![object],
            Err(_) => text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        };
        for object in objects {
            let schema = object["schema"].as_str().unwrap().to_owned();
            leaves(&object, "", found.entry(schema).or_default());
        }
    }
}

#[test]
fn the_manual_has_every_key_and_no_other() {
    let site = KeySite::new();
    let mut found = BTreeMap::new();
    for words in [
        "--json --by mflops,wall --by ending --measure mflops,users,exes,failures module.log broken.log runs.log",
        "--json --sacct slurm-22.05.txt --percent row --by lang,lib --measure wall,jobs,failures jobs.log",
        "--jsonl --by mflops,wall --by exe --measure mflops,users,failures module.log",
        "--jsonl --by mflops,lang --percent column module.log",
        "--json --compare-where npes>0 --by exe,user runs.log",
        "--jsonl --compare-where npes>0 --by exe,user runs.log",
        "--json --runs module.log broken.log",
        "--jsonl --runs module.log",
        "--json --run r19 runs.log",
        "--json --utilisation day --capacity 100 runs.log",
        "--jsonl --utilisation day --capacity 100 runs.log",
        "--json --sacct slurm-22.05.txt --coverage jobs.log",
        "--jsonl --sacct slurm-22.05.txt --coverage jobs.log",
        "--check --json broken.log logs",
    ] {
        site.add(words, &mut found);
    }
    let documented = documented();
    let schemas = |of: &BTreeMap<String, BTreeSet<String>>| of.keys().cloned().collect::<Vec<_>>();
    assert_eq!(schemas(&found), schemas(&documented));
    for (schema, paths) in &found {
        let patterns = &documented[schema];
        for path in paths {
            let known = patterns.iter().any(|pattern| describes(pattern, path));
            assert!(known, "topas-json(5) does not describe {path} of {schema}");
        }
        for pattern in patterns.iter().filter(|pattern| !pattern.contains(OF_OTHER_USERS)) {
            let real = paths.iter().any(|path| describes(pattern, path));
            assert!(real, "nothing is {pattern} of {schema}: {paths:#?}");
        }
    }
}
