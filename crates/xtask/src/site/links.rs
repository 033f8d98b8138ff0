//! Follows links: those of Markdown in the source tree, and those of the pages of a site.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Links of Markdown outside of blocks and spans of code: number of the line, and target.
pub fn of_markdown(text: &str) -> impl Iterator<Item = (usize, &str)> {
    lines_of_text(text).flat_map(|(number, line)| {
        let targets = line.match_indices("](").filter_map(move |(at, begin)| {
            // In a span of code there is an odd number of signs before it.
            let before = line.get(..at)?;
            let is_code = before.matches('`').count() % 2 == 1;
            let rest = line.get(at + begin.len()..)?;
            let end = rest.find(')')?;
            if is_code { None } else { rest.get(..end) }
        });
        targets.map(move |target| (number, target))
    })
}

/// Lines outside of blocks of code, with their numbers from 1.
fn lines_of_text(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Links of a page of the source tree to files or headings that are not there: line and target.
pub fn wrong_in_markdown(root: &Path, page: &Path) -> Result<Vec<(usize, String)>> {
    let read = |path: &Path| {
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
    };
    let text = read(&root.join(page))?;
    let mut wrong = Vec::new();
    for (line, target) in of_markdown(&text) {
        if is_elsewhere(target) {
            continue;
        }
        let (file, anchor) = parts(target);
        let to = resolved(page, file);
        let is_right = root.join(&to).exists()
            && (anchor.is_empty() || headings(&read(&root.join(&to))?).contains(anchor));
        if !is_right {
            wrong.push((line, target.to_owned()));
        }
    }
    Ok(wrong)
}

/// The names by which headings of Markdown are reached: small letters, blanks as `-`, without
/// punctuation, the second of a name with `-1` behind it.
fn headings(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for (_, line) in lines_of_text(text) {
        if !line.starts_with('#') {
            continue;
        }
        let kept = line.trim_start_matches('#').trim().chars().filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            _ => c.is_alphanumeric().then(|| c.to_ascii_lowercase()),
        });
        let name: String = kept.collect();
        let before = seen.entry(name.clone()).or_default();
        names.insert(if *before == 0 { name } else { format!("{name}-{before}") });
        *before += 1;
    }
    names
}

/// Follows the links of all pages of a site; gives their number.
///
/// # Errors
///
/// All links that lead nowhere.
pub fn check_site(site: &Path) -> Result<usize> {
    let mut pages: BTreeMap<PathBuf, String> = BTreeMap::new();
    let mut dirs = vec![site.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).with_context(|| format!("cannot read {}", dir.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == "html") {
                let name = path.strip_prefix(site)?.to_owned();
                // The page of errors may be shown at any address.
                if name != Path::new("404.html") {
                    pages.insert(name, fs::read_to_string(&path)?);
                }
            }
        }
    }
    let anchors: BTreeMap<&Path, BTreeSet<&str>> =
        pages.iter().map(|(name, html)| (&**name, values(html, "id").collect())).collect();
    let (mut links, mut wrong) = (0, Vec::new());
    for (name, html) in &pages {
        for target in values(html, "href").chain(values(html, "src")) {
            if is_elsewhere(target) {
                continue;
            }
            links += 1;
            let (file, anchor) = parts(target);
            let to = resolved(name, file);
            let is_there = match anchors.get(&*to) {
                Some(anchors) => anchor.is_empty() || anchors.contains(anchor),
                None => site.join(&to).is_file(),
            };
            if !is_there {
                wrong.push(format!("{}: {target}", name.display()));
            }
        }
    }
    wrong.sort();
    wrong.dedup();
    if !wrong.is_empty() {
        bail!("{} links lead nowhere:\n{}", wrong.len(), wrong.join("\n"));
    }
    Ok(links)
}

/// The values of an attribute in HTML, between double quotes.
fn values<'h>(html: &'h str, attribute: &str) -> impl Iterator<Item = &'h str> {
    let begin = format!(" {attribute}=\"");
    let found: Vec<usize> = html.match_indices(&begin).map(|(at, _)| at + begin.len()).collect();
    found.into_iter().filter_map(|at| html.get(at..)?.split('"').next())
}

/// Whether a link leads out of the site, or is none to a file.
pub fn is_elsewhere(target: &str) -> bool {
    ["http:", "https:", "mailto:", "data:"].iter().any(|scheme| target.starts_with(scheme))
}

/// File and anchor of a link; each may be empty.
pub fn parts(target: &str) -> (&str, &str) {
    target.split_once('#').unwrap_or((target, ""))
}

/// The path to which a link of a page leads, from the root: the page itself if no file is named.
pub fn resolved(page: &Path, file: &str) -> PathBuf {
    if file.is_empty() {
        return page.to_owned();
    }
    let mut path = page.parent().map(Path::to_owned).unwrap_or_default();
    for part in Path::new(file).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_of_code() {
        let text = "[a](b.md), [c](d.md#e)\n```\n[no](f)\n```\n`[no](g)` [h](https://i)\n";
        let found: Vec<_> = of_markdown(text).collect();
        assert_eq!(found, [(1, "b.md"), (1, "d.md#e"), (5, "https://i")]);
    }

    #[test]
    fn headings_have_the_names_that_links_use() {
        let text = "# What is measured, and what is not\n```\n# no\n```\n## A `b_c`\n## A `b_c`\n";
        let names = headings(text);
        let expected = ["a-b_c", "a-b_c-1", "what-is-measured-and-what-is-not"];
        assert_eq!(names.iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_site_whose_links_hold_and_one_with_wrong_ones() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("a.html", "<a href=\"doc/b.html#here\">b</a> <a href=\"https://x.y\">x</a>");
        put("doc/b.html", "<p id=\"here\"><a href=\"../a.html\">a</a> <img src=\"c.svg\">");
        put("doc/c.svg", "");
        assert_eq!(check_site(dir.path()).unwrap(), 3);
        put("a.html", "<a href=\"doc/b.html#there\">b</a> <a href=\"d.html\">d</a>");
        let error = check_site(dir.path()).unwrap_err().to_string();
        let lines: Vec<&str> = error.lines().collect();
        assert_eq!(lines[1..], ["a.html: d.html", "a.html: doc/b.html#there"]);
    }
}
