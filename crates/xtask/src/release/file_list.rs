//! `packaging/files.list`: which file of an installation in /usr belongs to which package.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::process::root;

/// What a packager does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackedKind {
    /// A file or a link, as it was installed
    File,
    /// A file that a site changes
    Conf,
    /// An empty directory with this mode
    Directory(u32),
    /// A file of systemd, copied from the examples
    Unit,
}

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFiles {
    /// The package
    pub package: String,
    /// What is done with the files
    pub kind: PackedKind,
    /// The path from the root, with `*` for any characters
    pub pattern: String,
}

/// A file with its package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackedFile {
    /// The path from the root
    pub path: PathBuf,
    /// The package
    pub package: String,
    /// Whether a site changes it
    pub is_conf: bool,
    /// The mode of a directory that is packed empty; None for a file
    pub directory: Option<u32>,
}

/// The list of the source tree.
///
/// # Errors
/// If the file cannot be read, or a line is none; the error names its number.
pub fn read() -> Result<Vec<ListedFiles>> {
    let path = root().join("packaging/files.list");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    parse(&text)
}

fn parse(text: &str) -> Result<Vec<ListedFiles>> {
    let mut list = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (kind, pattern) = match words.as_slice() {
            [] => continue,
            [first, ..] if first.starts_with('#') => continue,
            [_, "file", pattern] => (PackedKind::File, pattern),
            [_, "conf", pattern] => (PackedKind::Conf, pattern),
            [_, "unit", pattern] => (PackedKind::Unit, pattern),
            [_, "directory", mode, pattern] => {
                let mode = u32::from_str_radix(mode, 8);
                (PackedKind::Directory(mode.with_context(|| format!("line {number}"))?), pattern)
            }
            _ => bail!("files.list, line {number}: not understood: {line}"),
        };
        let (package, pattern) = (words[0].to_owned(), (*pattern).to_owned());
        list.push(ListedFiles { package, kind, pattern });
    }
    Ok(list)
}

/// The packages of a list, each once, in its order.
pub fn packages(list: &[ListedFiles]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for line in list {
        if !names.contains(&line.package.as_str()) {
            names.push(&line.package);
        }
    }
    names
}

/// Gives every file below `stage` to its package, and copies the files of systemd to their places.
/// Sorted by path.
///
/// # Errors
/// Files without a line, and lines without a file.
pub fn assign(list: &[ListedFiles], stage: &Path) -> Result<Vec<PackedFile>> {
    copy_units(list, stage)?;
    let mut used = BTreeSet::new();
    let mut packed = Vec::new();
    let mut faults = Vec::new();
    for (path, directory) in staged(stage)? {
        let text = path.to_str().context("a path that is no text")?;
        let found = list.iter().position(|line| fits(&line.pattern, text));
        match found.map(|at| (at, &list[at])) {
            Some((at, line)) => {
                used.insert(at);
                packed.push(PackedFile {
                    package: line.package.clone(),
                    is_conf: line.kind == PackedKind::Conf,
                    directory: match line.kind {
                        PackedKind::Directory(mode) => Some(mode),
                        _ => directory,
                    },
                    path,
                });
            }
            None => faults.push(format!("no line for {text}")),
        }
    }
    let unused = list.iter().enumerate().filter(|(at, _)| !used.contains(at));
    faults.extend(unused.map(|(_, line)| format!("no file for {}", line.pattern)));
    if !faults.is_empty() {
        bail!("packaging/files.list: {}", faults.join("; "));
    }
    packed.sort();
    Ok(packed)
}

/// Copies the units out of the examples, without the words at their beginning that say where to
/// copy them.
fn copy_units(list: &[ListedFiles], stage: &Path) -> Result<()> {
    let examples = stage.join("usr/share/doc/topas/examples");
    for line in list.iter().filter(|line| line.kind == PackedKind::Unit) {
        let pattern = Path::new(&line.pattern);
        let (Some(to), Some(names)) = (pattern.parent(), pattern.file_name()) else {
            bail!("files.list: a unit without a directory: {}", line.pattern);
        };
        let kind = if to.ends_with("tmpfiles.d") { "tmpfiles.d" } else { "systemd" };
        for entry in fs::read_dir(examples.join(kind))? {
            let from = entry?.path();
            let name = from.file_name().context("a unit without a name")?;
            if !fits(&names.to_string_lossy(), &name.to_string_lossy()) {
                continue;
            }
            let text = fs::read_to_string(&from)?;
            let begin = text.find("[Unit]").unwrap_or_default();
            let to = stage.join(to.strip_prefix("/").unwrap_or(to));
            fs::create_dir_all(&to)?;
            fs::write(to.join(name), &text[begin..])?;
        }
    }
    Ok(())
}

/// Files, links and empty directories below a directory: the path from there as from the root, and
/// the mode of an empty directory.
fn staged(stage: &Path) -> Result<Vec<(PathBuf, Option<u32>)>> {
    let mut found = Vec::new();
    let mut open = vec![stage.to_owned()];
    while let Some(dir) = open.pop() {
        let entries = fs::read_dir(&dir)?.collect::<Result<Vec<_>, _>>()?;
        if entries.is_empty() {
            let mode = fs::metadata(&dir)?.permissions().mode() & 0o7777;
            found.push((from_root(stage, &dir), Some(mode)));
        }
        for entry in entries {
            if entry.file_type()?.is_dir() {
                open.push(entry.path());
            } else {
                found.push((from_root(stage, &entry.path()), None));
            }
        }
    }
    Ok(found)
}

fn from_root(stage: &Path, path: &Path) -> PathBuf {
    Path::new("/").join(path.strip_prefix(stage).unwrap_or(path))
}

/// Whether a text is of a pattern, in which `*` stands for any characters.
fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((begin, rest)) => text.strip_prefix(begin).is_some_and(|text| {
            (0..=text.len())
                .filter(|at| text.is_char_boundary(*at))
                .any(|at| fits(rest, &text[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_the_source_tree_is_understood() {
        let list = read().unwrap();
        let names = packages(&list);
        assert_eq!(names, ["topas-hpc-center", "topas-hpc-collector", "topas-hpc"]);
        for name in names {
            let control = fs::read_to_string(root().join("packaging/deb/control")).unwrap();
            assert!(control.contains(&format!("\nPackage: {name}\n")), "{name}");
            let spec = fs::read_to_string(root().join("packaging/rpm/topas.spec")).unwrap();
            let described = name == "topas-hpc" || spec.contains(&format!("%package -n {name}\n"));
            assert!(described && spec.contains("@FILES@"), "{name}");
        }
        let logs = list.iter().find(|line| line.pattern == "/var/log/topas").unwrap();
        assert_eq!(logs.kind, PackedKind::Directory(0o1733));
        // No script of a package may remove logs: they belong to users.
        for entry in fs::read_dir(root().join("packaging/deb")).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            assert!(!text.contains("/var/log"), "{}", path.display());
        }
        let spec = fs::read_to_string(root().join("packaging/rpm/topas.spec")).unwrap();
        assert!(!spec.contains("/var/log"));
    }

    #[test]
    fn every_file_has_one_package_and_every_line_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "# Install it.\n[Unit]\n").unwrap();
        };
        put("usr/bin/a");
        put("usr/bin/ab");
        put("etc/t.conf");
        put("usr/share/doc/topas/examples/systemd/t.timer");
        fs::create_dir_all(dir.path().join("var/log/t")).unwrap();
        let text = "# words\n\none file /usr/bin/ab\ntwo file /usr/bin/a*\none conf /etc/*\n\
                    two directory 1733 /var/log/t\ntwo unit /usr/lib/systemd/system/*.timer\n\
                    one file /usr/share/*\n";
        let packed = assign(&parse(text).unwrap(), dir.path()).unwrap();
        let of = |package: &str| {
            let files = packed.iter().filter(|file| file.package == package);
            files.map(|file| file.path.to_str().unwrap()).collect::<Vec<_>>()
        };
        let example = "/usr/share/doc/topas/examples/systemd/t.timer";
        assert_eq!(of("one"), ["/etc/t.conf", "/usr/bin/ab", example]);
        let unit = "/usr/lib/systemd/system/t.timer";
        assert_eq!(of("two"), ["/usr/bin/a", unit, "/var/log/t"]);
        let unit = fs::read_to_string(dir.path().join(&unit[1..])).unwrap();
        assert_eq!(unit, "[Unit]\n");
        assert!(packed.iter().any(|file| file.is_conf && file.path.ends_with("t.conf")));
        assert!(packed.iter().any(|file| file.directory == Some(0o1733)));
        put("opt/x");
        let list = parse(&format!("{text}one file /none\n")).unwrap();
        let fault = assign(&list, dir.path()).unwrap_err().to_string();
        assert!(fault.contains("no line for /opt/x; no file for /none"), "{fault}");
        assert!(parse("one two three four five").is_err());
    }

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("/a", "/a", true),
            ("/a", "/ab", false),
            ("/a*", "/a", true),
            ("/*/b*", "/x/y/b.c", true),
            ("/*/b", "/b", false),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }
}
