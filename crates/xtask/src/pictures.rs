//! `cargo xtask pictures`: doc/gallery.md and its pictures, made anew by the commands in it.
//!
//! Blocks marked `console` are run: each line that begins with `$ ` by a shell, in a directory of
//! their own. What they print replaces what stands there, and what they leave in `pictures/` goes
//! into doc/pictures. The page names its sources, so the text cannot tell another thing than the
//! tools do.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process::{cargo, output, root, run, target_dir};

/// Begin and end of a block of commands.
const BEGIN: &str = "```console";
const END: &str = "```";

/// Makes them anew, or with `check` only says which are not what they would be.
pub fn pictures(check: bool) -> Result<()> {
    let bins = ["build", "--quiet", "-p", "topas-stat", "-p", "topasview"];
    run(cargo().args(bins))?;
    let examples = ["build", "--quiet", "-p", "topas-data", "-p", "topas-mpi-data", "--examples"];
    run(cargo().args(examples))?;
    pictures_by_built_tools(check)
}

/// As [`pictures`], by tools and examples that `cargo test` has built.
pub fn pictures_by_built_tools(check: bool) -> Result<()> {
    let dir = target_dir().join("gallery");
    if dir.exists() {
        fs::remove_dir_all(&dir).with_context(|| format!("cannot clear {}", dir.display()))?;
    }
    fs::create_dir_all(dir.join("pictures"))?;
    let page = root().join("doc/gallery.md");
    let text =
        fs::read_to_string(&page).with_context(|| format!("cannot read {}", page.display()))?;
    let mut made: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
    made.insert(page, page_anew(&text, &dir)?.into_bytes());
    for (name, bytes) in files(&dir.join("pictures"))? {
        if !text.contains(&format!("](pictures/{name})")) {
            bail!("doc/gallery.md does not show pictures/{name}, which it makes");
        }
        made.insert(root().join("doc/pictures").join(name), bytes);
    }
    let there = files(&root().join("doc/pictures"))?.into_keys();
    let kept: BTreeSet<PathBuf> =
        there.map(|name| root().join("doc/pictures").join(name)).collect();
    let stale = kept.iter().filter(|path| !made.contains_key(*path));
    let changed = made
        .iter()
        .filter(|(path, bytes)| fs::read(path).ok().as_deref() != Some(bytes.as_slice()));
    if check {
        let names: Vec<String> = changed
            .map(|(path, _)| path)
            .chain(stale)
            .map(|path| path.display().to_string())
            .collect();
        if !names.is_empty() {
            bail!("not what the tools make of them: {}; cargo xtask pictures", names.join(", "));
        }
        return Ok(());
    }
    fs::create_dir_all(root().join("doc/pictures"))?;
    for path in stale {
        fs::remove_file(path)?;
        println!("removed {}", path.display());
    }
    for (path, bytes) in changed {
        fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        println!("wrote {}", path.display());
    }
    Ok(())
}

/// Name and content of the files of a directory; none if there is no such.
fn files(dir: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut found = BTreeMap::new();
    if !dir.is_dir() {
        return Ok(found);
    }
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).context("no file name")?;
        found.insert(name.to_owned(), fs::read(&path)?);
    }
    Ok(found)
}

/// The page with the output of its commands.
fn page_anew(text: &str, dir: &Path) -> Result<String> {
    let mut page = String::new();
    let mut inside = false;
    for line in text.lines() {
        if inside && line == END {
            inside = false;
        } else if line == BEGIN {
            inside = true;
        } else if inside && !line.starts_with("$ ") {
            continue;
        }
        page += line;
        page.push('\n');
        if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            page += &shell(command, dir)?;
        }
    }
    if inside {
        bail!("doc/gallery.md: a block of commands has no end");
    }
    Ok(page)
}

/// What a command prints, in a small environment.
fn shell(command: &str, dir: &Path) -> Result<String> {
    // Its own directory only beside the system's: what else is on PATH here is not asked.
    let bin = target_dir().join("debug");
    let path = format!("{}:{}:/usr/bin:/bin", bin.display(), bin.join("examples").display());
    let mut shell = Command::new("sh");
    shell.args(["-ec", command]).current_dir(dir);
    shell.env_clear().env("PATH", path).env("LC_ALL", "C.UTF-8").env("COLUMNS", "80");
    output(&mut shell)
}
