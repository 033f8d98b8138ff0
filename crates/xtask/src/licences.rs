//! The licences of all that is in the tools: the texts that have to go with binaries, gathered from
//! the sources of the crates, and a list of components in the form of CycloneDX.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::process::{cargo, output, root};
use crate::tools::{DRIVER, PROCESSORS, TOOLS};

/// How the names of files begin that hold a licence or a notice, in small letters.
const NAMES: [&str; 6] = ["licen", "copying", "notice", "unlicense", "copyright", "ofl"];

/// Directories below a crate that are looked into for such files: crates that compile C have the
/// sources of another project in them.
const DEPTH: usize = 4;

/// Licences of which the text stands in `packaging/licences`, for crates that come without a text.
const TEXTS: [&str; 1] = ["MIT"];

/// What is in static tools besides crates: name, licence, holder of the rights.
const BESIDES: [(&str, &str, &str); 2] = [
    ("the standard library of Rust", "MIT", "The Rust Project Developers"),
    ("musl, the C library of static tools", "MIT", "2005-2020 Rich Felker, et al."),
];

/// A crate that is in a tool, and is none of ours.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Crate {
    /// Its name at the registry
    pub name: String,
    /// Its version
    pub version: String,
    /// Its licence, as its authors state it in SPDX
    pub licence: String,
    /// The directory of its sources
    dir: PathBuf,
}

/// The crates in the tools, by name and version: what the tools need on Linux, on any processor,
/// without that with which they are built and tested.
///
/// # Errors
/// Of Cargo, and if a crate states no licence.
pub fn crates() -> Result<Vec<Crate>> {
    let mut ask = cargo();
    ask.args(["metadata", "--format-version", "1", "--locked"]);
    for processor in PROCESSORS {
        ask.args(["--filter-platform", &format!("{processor}-unknown-linux-musl")]);
    }
    let text = output(&mut ask)?;
    let metadata: Value = serde_json::from_str(&text).context("the answer of cargo metadata")?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let nodes: BTreeMap<String, Vec<String>> = list(&metadata["resolve"]["nodes"])
        .iter()
        .map(|node| {
            let normal = |dep: &&Value| list(&dep["dep_kinds"]).iter().any(|k| k["kind"].is_null());
            let deps = list(&node["deps"]);
            let deps = deps.iter().filter(normal).filter_map(|dep| dep["pkg"].as_str());
            (word(&node["id"]), deps.map(str::to_owned).collect())
        })
        .collect();
    let packages = list(&metadata["packages"]);
    let is_tool = |name: &Value| TOOLS.into_iter().chain([DRIVER]).any(|tool| name == tool);
    let mut open: Vec<String> =
        packages.iter().filter(|p| is_tool(&p["name"])).map(|p| word(&p["id"])).collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if seen.insert(id.clone()) {
            open.extend(nodes.get(&id).into_iter().flatten().cloned());
        }
    }
    let mut crates = Vec::new();
    for package in packages.iter().filter(|p| seen.contains(&word(&p["id"]))) {
        if package["source"].is_null() {
            continue;
        }
        let manifest = PathBuf::from(word(&package["manifest_path"]));
        let (name, version) = (word(&package["name"]), word(&package["version"]));
        let licence = package["license"].as_str();
        let licence = licence.with_context(|| format!("{name} {version} states no licence"))?;
        let dir = manifest.parent().context("a manifest without a directory")?.to_owned();
        crates.push(Crate { licence: licence.to_owned(), name, version, dir });
    }
    crates.sort();
    Ok(crates)
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The file `THIRD-PARTY` of an installation: which crates are in the tools, and the text of each
/// licence once, with the crates that it came with.
///
/// # Errors
/// If a crate comes without a text, and there is none of its licence here.
pub fn third_party(crates: &[Crate]) -> Result<String> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut table = String::new();
    for part in crates {
        let name = format!("{} {}", part.name, part.version);
        table.push_str(&format!("{name}: {}\n", part.licence));
        let mut files = Vec::new();
        licence_files(&part.dir, DEPTH, &mut files)?;
        let mut found: BTreeSet<String> = BTreeSet::new();
        for file in files {
            let bytes = fs::read(&file).with_context(|| file.display().to_string())?;
            let text = String::from_utf8_lossy(&bytes).replace('\r', "");
            found.insert(text.trim().to_owned());
        }
        if found.is_empty() {
            found.insert(text_of(&part.licence).with_context(|| format!("{name} has no text"))?);
        }
        found.into_iter().for_each(|text| texts.entry(text).or_default().push(name.clone()));
    }
    for (name, licence, holder) in BESIDES {
        table.push_str(&format!("{name}: {licence}\n"));
        let text = format!("Copyright (c) {holder}\n\n{}", text_of(licence)?);
        texts.entry(text).or_default().push(name.to_owned());
    }
    let mut page = format!(
        "The tools of TOPAS {} contain the following works of others. TOPAS itself is under the\n\
         licence in the file LICENSE. What TOPAS links into programs of users contains none of\n\
         these works.\n\n{table}",
        env!("CARGO_PKG_VERSION")
    );
    let mut texts: Vec<(String, Vec<String>)> = texts.into_iter().collect();
    texts.sort_by(|(a, of_a), (b, of_b)| (of_a, a).cmp(&(of_b, b)));
    for (text, of) in texts {
        page.push_str(&format!("\n{}\n{}\n\n{text}\n", "=".repeat(78), of.join(", ")));
    }
    Ok(page)
}

/// The text of a licence that has one alternative of which a text is here.
fn text_of(licence: &str) -> Result<String> {
    let words = |word: &&&str| licence.split([' ', '/', '(', ')']).any(|part| part == **word);
    let Some(known) = TEXTS.iter().find(words) else {
        bail!("packaging/licences has no text of {licence}");
    };
    let file = root().join("packaging/licences").join(known).with_extension("txt");
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    Ok(text.trim().to_owned())
}

/// Files of licences in a directory and below, in the order of their names.
fn licence_files(dir: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let is_code = [".rs", ".c", ".h", ".py", ".sh"].iter().any(|end| name.ends_with(end));
        if path.is_dir() && depth > 0 {
            licence_files(&path, depth - 1, found)?;
        } else if path.is_file() && !is_code && NAMES.iter().any(|begin| name.starts_with(begin)) {
            found.push(path);
        }
    }
    Ok(())
}

/// The list of components in the form of CycloneDX 1.5, the same for the same sources.
pub fn bill_of_materials(crates: &[Crate]) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let component = |part: &Crate| {
        let purl = format!("pkg:cargo/{}@{}", part.name, part.version);
        json!({
            "type": "library", "bom-ref": purl, "name": part.name, "version": part.version,
            "purl": purl, "licenses": [{ "expression": part.licence.replace('/', " OR ") }],
        })
    };
    let own = format!("pkg:generic/topas@{version}");
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": {
            "type": "application", "bom-ref": own, "name": "topas", "version": version,
            "licenses": [{ "expression": "MIT" }],
        } },
        "components": crates.iter().map(component).collect::<Vec<_>>(),
    });
    format!("{bill:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_crate_in_the_tools_has_a_licence_and_its_text() {
        let crates = crates().unwrap();
        assert!(crates.iter().any(|part| part.name == "clap"));
        // Those with which the tools are built or tested are not in them.
        assert!(
            !crates.iter().any(|part| ["proptest", "goblin-none", "cc"].contains(&&*part.name))
        );
        let page = third_party(&crates).unwrap();
        for part in &crates {
            let name = format!("{} {}", part.name, part.version);
            assert!(page.contains(&format!("\n{name}: {}\n", part.licence)), "{name}");
            let heads = page.lines().filter(|line| line.split(", ").any(|of| of == name));
            assert!(heads.count() >= 1, "no text of {name}");
        }
        // The C library of the index is part of a crate, and a work of others all the same.
        assert!(page.contains("Rich Felker"));
        let home = std::env::var("HOME").unwrap();
        assert!(!page.contains(&format!("{home}/")), "a path of the builder");
    }

    #[test]
    fn the_bill_of_materials_names_each_component_once() {
        let part = |name: &str, licence: &str| Crate {
            name: name.into(),
            version: "1.2.3".into(),
            licence: licence.into(),
            dir: PathBuf::new(),
        };
        let text = bill_of_materials(&[part("a", "MIT/Apache-2.0"), part("b", "MIT")]);
        let bill: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(bill["bomFormat"], "CycloneDX");
        let components = bill["components"].as_array().unwrap();
        assert_eq!(components[0]["purl"], "pkg:cargo/a@1.2.3");
        assert_eq!(components[0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(components.len(), 2);
    }

    #[test]
    fn an_alternative_is_enough_for_a_text() {
        assert!(text_of("MIT").unwrap().contains("WITHOUT WARRANTY OF ANY KIND"));
        assert_eq!(text_of("Apache-2.0 OR MIT").unwrap(), text_of("MIT").unwrap());
        assert!(text_of("Apache-2.0").is_err());
    }
}
