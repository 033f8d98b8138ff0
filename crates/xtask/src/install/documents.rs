//! The documents of an installation: those of the source tree, in one directory, with links that lead
//! there. A link to a file that is not installed becomes text.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::process::root;
use crate::site::links;

/// Documents beside those of `doc`: where they are in the source tree, and their names in an
/// installation.
const BESIDE: [(&str, &str); 7] = [
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("INSTALL.md", "INSTALL.md"),
    ("LICENSE", "LICENSE"),
    ("README.md", "README.md"),
    ("SECURITY.md", "SECURITY.md"),
    ("bench/results.md", "results.md"),
    ("packaging/README.md", "packaging.md"),
];

/// All documents, by their paths in the source tree: their names in an installation.
///
/// # Errors
/// If `doc` cannot be read.
fn names() -> Result<BTreeMap<PathBuf, String>> {
    let mut names: BTreeMap<PathBuf, String> =
        BESIDE.iter().map(|(path, name)| (path.into(), (*name).to_owned())).collect();
    for entry in fs::read_dir(root().join("doc"))? {
        let name = entry?.file_name().into_string().ok().context("a name that is no text")?;
        if name.ends_with(".md") {
            names.insert(Path::new("doc").join(&name), name);
        }
    }
    for entry in fs::read_dir(root().join("doc/pictures"))? {
        let name = entry?.file_name().into_string().ok().context("a name that is no text")?;
        names.insert(Path::new("doc/pictures").join(&name), format!("pictures/{name}"));
    }
    Ok(names)
}

/// The documents, by their names in an installation.
///
/// # Errors
/// If one cannot be read.
pub fn all() -> Result<Vec<(String, Vec<u8>)>> {
    let names = names()?;
    let document = |(path, name): (&PathBuf, &String)| {
        let from = root().join(path);
        let bytes = fs::read(&from).with_context(|| format!("cannot read {}", from.display()))?;
        let bytes = match name.ends_with(".md") {
            true => as_installed(path, &String::from_utf8(bytes)?, &names).into_bytes(),
            false => bytes,
        };
        Ok((name.clone(), bytes))
    };
    names.iter().map(document).collect()
}

/// A page of Markdown with the links that it has in an installation.
fn as_installed(page: &Path, text: &str, names: &BTreeMap<PathBuf, String>) -> String {
    let targets: Vec<(usize, &str)> = links::of_markdown(text).collect();
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for (number, target) in targets {
        if links::is_elsewhere(target) || target.starts_with('#') {
            continue;
        }
        let (file, anchor) = links::parts(target);
        let to = links::resolved(page, file);
        let Some(line) = lines.get_mut(number - 1) else { continue };
        let link = format!("]({target})");
        *line = match names.get(&to) {
            Some(name) if anchor.is_empty() => line.replacen(&link, &format!("]({name})"), 1),
            Some(name) => line.replacen(&link, &format!("]({name}#{anchor})"), 1),
            None => unlinked(line, &link),
        };
    }
    lines.join("\n")
}

/// A line in which the text of a link stands without the link.
fn unlinked(line: &str, link: &str) -> String {
    let Some(end) = line.find(link) else { return line.to_owned() };
    let (text, behind) = (&line[..end], &line[end + link.len()..]);
    match text.rfind('[') {
        Some(begin) => format!("{}{}{behind}", &text[..begin], &text[begin + 1..]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_of_an_installed_document_leads_to_an_installed_one() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("pictures")).unwrap();
        let all = all().unwrap();
        for (name, bytes) in &all {
            fs::write(dir.path().join(name), bytes).unwrap();
        }
        for (name, _) in all.iter().filter(|(name, _)| name.ends_with(".md")) {
            let wrong = links::wrong_in_markdown(dir.path(), Path::new(name)).unwrap();
            assert!(wrong.is_empty(), "{name}: {wrong:?}");
        }
    }

    #[test]
    fn links_are_those_of_the_installation_or_text() {
        let names = BTreeMap::from([
            (PathBuf::from("INSTALL.md"), "INSTALL.md".to_owned()),
            (PathBuf::from("doc/a.md"), "a.md".to_owned()),
        ]);
        for (page, text, expected) in [
            ("README.md", "see [a](doc/a.md#b), [c](doc/a.md)", "see [a](a.md#b), [c](a.md)"),
            ("doc/a.md", "see [i](../INSTALL.md) and [x](#y)", "see [i](INSTALL.md) and [x](#y)"),
            ("README.md", "| [M.md](M.md) | the map |\n", "| M.md | the map |\n"),
            ("README.md", "[topas(7)](doc/topas.7) `[x](y)`", "topas(7) `[x](y)`"),
            ("README.md", "[w](https://example.org)", "[w](https://example.org)"),
        ] {
            assert_eq!(as_installed(Path::new(page), text, &names), expected);
        }
    }
}
