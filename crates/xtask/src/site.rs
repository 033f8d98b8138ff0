//! `cargo xtask site`: the pages of documentation as a site, by mdBook.
//!
//! `doc/site/SUMMARY.md` names the pages. They are those of the source tree, under the names they
//! have there, so that a link between two files holds on the site, too. Manual pages are made into
//! HTML by mandoc.

pub mod links;
mod manual;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::packages::{self, ensure};
use crate::process::{on_path, root, run, target_dir};

/// What a page has behind the name of the manual page from which it is made.
const MADE: &str = ".md";

/// Builds the site in `target/site`, or in `out`, and follows each of its links.
pub fn site(out: Option<PathBuf>) -> Result<()> {
    if !on_path("mdbook") {
        bail!("mdbook is not on PATH\nhint: cargo install mdbook --version 0.5.4 --locked");
    }
    ensure(packages::SITE)?;
    let dir = target_dir().join("site-source");
    if dir.exists() {
        fs::remove_dir_all(&dir).with_context(|| format!("cannot clear {}", dir.display()))?;
    }
    let pages = stage(&dir)?;
    check_sources(&pages)?;
    let out = std::path::absolute(out.unwrap_or_else(|| target_dir().join("site")))?;
    run(Command::new("mdbook").args(["build", "--dest-dir"]).arg(&out).arg(&dir))?;
    let links = links::check_site(&out)?;
    println!("{}: {} pages, {links} links followed", out.display(), pages.len());
    Ok(())
}

/// Follows the links of the pages that are files, which readers of the source tree follow.
fn check_sources(pages: &[String]) -> Result<()> {
    for page in pages.iter().filter(|page| manual_of(page).is_none()) {
        if let Some((line, target)) = links::wrong_in_markdown(&root(), Path::new(page))?.first() {
            bail!("{page}:{line}: the link to {target} leads nowhere");
        }
    }
    Ok(())
}

/// Puts all that mdBook reads into a directory; gives the pages.
fn stage(dir: &Path) -> Result<Vec<String>> {
    let from = root();
    let source = dir.join("src");
    let put = |from: &Path, to: PathBuf| -> Result<()> {
        let text = fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
        fs::create_dir_all(to.parent().context("no directory")?)?;
        fs::write(&to, text).with_context(|| format!("cannot write {}", to.display()))
    };
    for name in ["book.toml", "manual.css"] {
        put(&from.join("doc/site").join(name), dir.join(name))?;
    }
    put(&from.join("doc/site/SUMMARY.md"), source.join("SUMMARY.md"))?;
    for entry in fs::read_dir(from.join("doc/pictures"))? {
        let path = entry?.path();
        put(&path, source.join(path.strip_prefix(&from)?))?;
    }
    let pages = pages(&from)?;
    let manuals: BTreeSet<&str> = pages.iter().filter_map(|page| manual_of(page)).collect();
    for page in &pages {
        let text = match manual_of(page) {
            Some(manual) => manual::page(&from.join(manual), &manuals)?,
            None => with_links_to_made_pages(&fs::read_to_string(from.join(page))?, &manuals),
        };
        let to = source.join(page);
        fs::create_dir_all(to.parent().context("no directory")?)?;
        fs::write(&to, text).with_context(|| format!("cannot write {}", to.display()))?;
    }
    Ok(pages)
}

/// The pages that the summary names, by their paths from the root.
fn pages(root: &Path) -> Result<Vec<String>> {
    let summary = fs::read_to_string(root.join("doc/site/SUMMARY.md"))?;
    Ok(links::of_markdown(&summary).map(|(_, target)| target.to_owned()).collect())
}

/// The manual page from which a page is made; None if it is a file.
fn manual_of(page: &str) -> Option<&str> {
    let file = page.strip_suffix(MADE)?;
    let section = file.rsplit_once('.')?.1;
    matches!(section, "1" | "5" | "7" | "8").then_some(file)
}

/// A page whose links to manual pages lead to the pages made from them.
fn with_links_to_made_pages(text: &str, manuals: &BTreeSet<&str>) -> String {
    manuals.iter().fold(text.to_owned(), |text, manual| {
        text.replace(&format!("]({manual})"), &format!("]({manual}{MADE})"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever adds a page finds a place for it.
    #[test]
    fn the_site_has_every_page() {
        let root = root();
        let pages = pages(&root).unwrap();
        let mut named: BTreeSet<&str> = BTreeSet::new();
        for page in &pages {
            let file = manual_of(page).unwrap_or(page);
            assert!(root.join(file).is_file(), "doc/site/SUMMARY.md: {page}");
            assert!(named.insert(file), "doc/site/SUMMARY.md names {file} twice");
        }
        for dir in ["", "doc"] {
            for entry in fs::read_dir(root.join(dir)).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                let is_page = name.ends_with(".md") || manual_of(&format!("{name}.md")).is_some();
                if path.is_file() && is_page {
                    assert!(named.contains(&*name), "doc/site/SUMMARY.md does not name {name}");
                }
            }
        }
    }

    /// Files, and headings in them.
    #[test]
    fn links_between_pages_lead_somewhere() {
        check_sources(&pages(&root()).unwrap()).unwrap();
    }
}
