//! The house rules of ARCHITECTURE.md as tests: who depends on whom, who reads the
//! environment, who opens files, where `unsafe` may stand. A message tells the remedy.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The crates each crate may use, top to bottom. What is not listed has none.
const LAYERS: &[(&str, &[&str])] = &[
    ("topas-callpath", &[]),
    ("topas-mpi-table", &[]),
    ("topas-mpi-profile", &["topas-format", "topas-mpi-table", "topas-trace"]),
    ("topas-mpi-waits", &[]),
    ("topas-trace", &[]),
    ("topas-launch", &["topas-format"]),
    ("topas-mpi-door", &["topas-format", "topas-launch", "topas-node"]),
    ("topas-node", &["topas-format", "topas-launch"]),
    ("topas-module", &["topas-format", "topas-launch", "topas-node"]),
    (
        "topas-mpi-library",
        &[
            "topas-callpath",
            "topas-format",
            "topas-launch",
            "topas-mpi-profile",
            "topas-mpi-table",
            "topas-mpi-waits",
            "topas-node",
            "topas-trace",
        ],
    ),
    ("topas-config", &["topas-format"]),
    ("topas-driver", &["topas-config", "topas-format", "topas-launch", "topas-node"]),
    ("topas-data", &["topas-format", "topas-mpi-profile", "topas-mpi-table", "topas-node"]),
    (
        "topas-mpi-data",
        &[
            "topas-data",
            "topas-format",
            "topas-mpi-profile",
            "topas-mpi-table",
            "topas-mpi-waits",
            "topas-trace",
        ],
    ),
    ("topas-store", &["topas-data", "topas-format"]),
    ("topas-symbols", &["topas-callpath", "topas-config", "topas-mpi-data"]),
    ("topas-chart", &["topas-format"]),
    ("topas-findings", &["topas-data", "topas-format", "topas-mpi-data", "topas-mpi-table"]),
    (
        "topas-render",
        &[
            "topas-chart",
            "topas-data",
            "topas-findings",
            "topas-format",
            "topas-mpi-data",
            "topas-mpi-table",
        ],
    ),
    (
        "topas-doctor",
        &["topas-config", "topas-driver", "topas-format", "topas-launch", "topas-node"],
    ),
    ("topas-terminal", &["topas-config", "topas-format"]),
    (
        "topas-top",
        &[
            "topas-config",
            "topas-data",
            "topas-findings",
            "topas-format",
            "topas-mpi-data",
            "topas-render",
            "topas-symbols",
            "topas-terminal",
        ],
    ),
    (
        "topas-stat",
        &[
            "topas-chart",
            "topas-config",
            "topas-data",
            "topas-findings",
            "topas-findings",
            "topas-format",
            "topas-mpi-data",
            "topas-render",
            "topas-terminal",
        ],
    ),
    (
        "topas-web",
        &[
            "topas-chart",
            "topas-data",
            "topas-findings",
            "topas-mpi-data",
            "topas-render",
            "topas-store",
        ],
    ),
    (
        "topas-report",
        &[
            "topas-config",
            "topas-data",
            "topas-findings",
            "topas-format",
            "topas-mpi-data",
            "topas-render",
            "topas-store",
            "topas-terminal",
            "topas-web",
        ],
    ),
    (
        "topas-log",
        &["topas-config", "topas-data", "topas-format", "topas-render", "topas-terminal"],
    ),
    (
        "topasview",
        &[
            "topas-chart",
            "topas-config",
            "topas-data",
            "topas-findings",
            "topas-format",
            "topas-mpi-data",
            "topas-render",
            "topas-symbols",
            "topas-terminal",
        ],
    ),
    (
        "topas-mpi",
        &[
            "topas-config",
            "topas-data",
            "topas-format",
            "topas-mpi-data",
            "topas-mpi-table",
            "topas-render",
            "topas-terminal",
        ],
    ),
    ("topas-testkit", &["topas-config", "topas-format", "topas-launch"]),
    ("xtask", &["topas-config", "topas-data", "topas-format", "topas-mpi-table"]),
    (
        "topas-tests",
        &[
            "topas-data",
            "topas-format",
            "topas-launch",
            "topas-mpi-profile",
            "topas-mpi-table",
            "topas-testkit",
        ],
    ),
];

/// Crates without any dependency outside the workspace, because they are linked into
/// user programs.
const PURE: [&str; 11] = [
    "topas-callpath",
    "topas-format",
    "topas-launch",
    "topas-module",
    "topas-mpi-library",
    "topas-mpi-door",
    "topas-mpi-profile",
    "topas-mpi-table",
    "topas-mpi-waits",
    "topas-node",
    "topas-trace",
];

/// Crates that exist for developers only.
const FOR_DEVELOPERS: [&str; 3] = ["topas-testkit", "topas-tests", "xtask"];

/// Crates whose sources may open files: configuration, logs, the mapped files of ranks, the
/// driver's own inputs, log targets that are tried, not read or written, files that a tool is
/// asked to write, and what mails are made with: templates, lists, the state of what was sent.
const MAY_OPEN_FILES: [&str; 8] = [
    "topas-config",
    "topas-data",
    "topas-mpi-data",
    "topas-doctor",
    "topas-driver",
    "topas-report",
    "topas-symbols",
    "topas-terminal",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// Per workspace crate: its direct normal dependencies, and its features.
fn packages() -> BTreeMap<String, (Vec<String>, usize)> {
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&out.stdout).unwrap();
    let package = |p: &Value| {
        let dependencies = p["dependencies"].as_array().unwrap().iter();
        let normal = dependencies.filter(|d| d["kind"].is_null());
        let names = normal.map(|d| d["name"].as_str().unwrap().to_owned()).collect();
        let features = p["features"].as_object().unwrap().len();
        (p["name"].as_str().unwrap().to_owned(), (names, features))
    };
    metadata["packages"].as_array().unwrap().iter().map(package).collect()
}

/// Rust sources of a crate's `src`, with their text.
fn sources(name: &str) -> Vec<(PathBuf, String)> {
    let found = sources_below(name, &["src"]);
    assert!(!found.is_empty(), "no sources of {name}");
    found
}

/// The Rust files in these directories of a crate, as far as the crate has them.
fn sources_below(name: &str, directories: &[&str]) -> Vec<(PathBuf, String)> {
    let dir =
        if name == "topas-tests" { root().join("tests") } else { root().join("crates").join(name) };
    let mut found = Vec::new();
    let mut open: Vec<_> =
        directories.iter().map(|below| dir.join(below)).filter(|below| below.is_dir()).collect();
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found
}

/// The part of a source that is not its unit tests.
fn code(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text)
}

#[test]
fn dependencies_point_down() {
    let packages = packages();
    assert_eq!(packages.len(), LAYERS.len() + 1, "a crate is missing in LAYERS: {packages:?}");
    for (name, (dependencies, features)) in &packages {
        let allowed = LAYERS.iter().find(|(n, _)| n == name).map_or(&[][..], |(_, below)| below);
        for dependency in dependencies {
            if dependency.starts_with("topas") {
                assert!(
                    allowed.contains(&dependency.as_str()),
                    "{name} must not depend on {dependency}: move what it needs to a lower crate"
                );
            }
            assert_ne!(dependency, "topas-module", "nobody depends on the module: {name}");
        }
        if PURE.contains(&name.as_str()) {
            let foreign: Vec<_> =
                dependencies.iter().filter(|d| !PURE.contains(&d.as_str())).collect();
            assert!(foreign.is_empty(), "{name} is linked into user programs: remove {foreign:?}");
            assert_eq!(*features, 0, "{name} has features, which unify over the workspace");
        }
    }
}

#[test]
fn the_shared_crates_forbid_unsafe_and_std() {
    for name in [
        "topas-format",
        "topas-launch",
        "topas-mpi-profile",
        "topas-mpi-table",
        "topas-mpi-waits",
        "topas-trace",
    ] {
        let text = fs::read_to_string(root().join("crates").join(name).join("src/lib.rs")).unwrap();
        for line in ["#![no_std]", "#![forbid(unsafe_code)]"] {
            assert!(text.contains(line), "{name}/src/lib.rs lacks {line}");
        }
    }
}

#[test]
fn the_environment_is_read_in_one_crate() {
    for (name, _) in LAYERS.iter().filter(|(n, _)| !FOR_DEVELOPERS.contains(n)) {
        for (path, text) in sources(name) {
            let reads =
                ["std::env", "env::var", "env::args"].iter().any(|w| code(&text).contains(w));
            assert!(
                !reads || *name == "topas-config",
                "{} reads the environment: add a getter to topas_config::Environment",
                path.display()
            );
        }
    }
}

#[test]
fn files_are_opened_where_they_belong() {
    for (name, _) in LAYERS.iter().filter(|(n, _)| !FOR_DEVELOPERS.contains(n)) {
        for (path, text) in sources(name) {
            let opens =
                ["std::fs", "File::open", "OpenOptions"].iter().any(|w| code(&text).contains(w));
            assert!(
                !opens || MAY_OPEN_FILES.contains(name),
                "{} opens files: logs are opened by topas-data alone",
                path.display()
            );
        }
    }
}

/// `is_yes`, `is_off` and `switch` of `topas_format::env` know the words of a switch. Code that
/// compares with one of these words has a second list, which lacks some of the others.
#[test]
fn the_words_of_switches_are_known_in_one_place() {
    let words = ["yes", "YES", "TRUE", "no", "NO", "OFF", "FALSE"];
    for (name, _) in LAYERS.iter().filter(|(n, _)| !FOR_DEVELOPERS.contains(n)) {
        for (path, text) in sources(name).iter().filter(|(path, _)| !path.ends_with("env.rs")) {
            let word = words.iter().find(|word| code(text).contains(&format!("b\"{word}\"")));
            assert_eq!(word, None, "{}: use topas_format::env", path.display());
        }
    }
}

/// Crates in which `unsafe` may stand anywhere; in others it stands in `sys.rs`.
const ROOMS: [&str; 4] = ["topas-module", "topas-mpi-library", "topas-mpi-door", "topas-node"];

#[test]
fn unsafe_stays_in_its_rooms() {
    let below = ["src", "examples", "tests", "benches"];
    let crates = LAYERS.iter().filter(|(n, _)| !ROOMS.contains(n));
    let in_crates = crates.flat_map(|(name, _)| sources_below(name, &below));
    // Fuzz targets are a workspace of their own, and have no room.
    let targets = sources_below("topas-tests", &["fuzz/fuzz_targets"]);
    for (path, text) in in_crates.chain(targets) {
        let has = [" {", " fn", " impl", " extern", "("]
            .iter()
            .any(|after| text.contains(&format!("unsafe{after}")));
        assert!(
            !has || path.ends_with("sys.rs"),
            "{} has unsafe code: move it to the crate's sys.rs",
            path.display()
        );
    }
}

#[test]
fn every_source_says_what_it_is_and_is_short_enough_to_read() {
    for (name, _) in LAYERS.iter().chain([&("topas-format", &[][..])]) {
        for (path, text) in sources(name) {
            let shown = path.display();
            assert!(text.starts_with("//!"), "{shown} does not begin with what it is (`//!`)");
            let lines = text.lines().count();
            // What is made from tables is as long as they are.
            let made = path.components().any(|part| part.as_os_str() == "generated");
            assert!(lines <= 600 || made, "{shown} has {lines} lines: split it by subject");
            let stem = path.file_stem().unwrap().to_str().unwrap();
            assert!(
                !["utils", "util", "helpers", "common", "misc"].contains(&stem),
                "{shown}: name the file after what is in it"
            );
        }
    }
}

/// The name of a public struct, enum, union or trait that a line declares.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
    let words = ["struct ", "enum ", "union ", "trait "];
    let rest = words.iter().find_map(|word| rest.strip_prefix(word))?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    Some(&rest[..end])
}

/// Who searches for a name must not find three of them.
#[test]
fn the_name_of_a_public_type_says_whose_the_type_is() {
    let mut crates: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (name, _) in LAYERS.iter().chain([&("topas-format", &[][..])]) {
        for (_, text) in sources(name) {
            for public in code(&text).lines().filter_map(public_type) {
                crates.entry(public.to_owned()).or_default().insert(name);
            }
        }
    }
    crates.retain(|_, crates| crates.len() >= 3);
    assert!(crates.is_empty(), "name these types after what they belong to: {crates:#?}");
}

/// topas(7) has an entry for every variable, and none that does not exist.
#[test]
fn the_manual_lists_every_variable() {
    let page = fs::read_to_string(root().join("doc/topas.7")).unwrap();
    let listed: Vec<&str> =
        page.lines().filter_map(|l| l.strip_prefix(".B TOPAS").map(|_| &l[3..])).collect();
    let known: Vec<&str> = topas_format::env::ALL.iter().map(|(name, _)| *name).collect();
    assert_eq!(listed, known);
}
