//! `cargo xtask release --check`: the points that a release has to meet, each with what was found.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use super::{SIGNATURE, SUMS, VERSION, objects, recipes, sources, tarball_name};
use crate::process::{cargo, on_path, output, root, run};
use crate::{codegen, licences, needs, object, pictures, site, symcheck, tools};

/// What became of a point.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    /// It is met, and by what that is known.
    Ok(String),
    /// It is not met.
    NotOk(String),
    /// Nothing here can tell; what has to be done by hand.
    NotChecked(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Ok(how) => write!(f, "ok           {how}"),
            Verdict::NotOk(why) => write!(f, "NOT OK       {why}"),
            Verdict::NotChecked(how) => write!(f, "not checked  {how}"),
        }
    }
}

/// Walks the list for the files in `out`, which `cargo xtask release` has made for a processor.
/// `other` has those of another builder, or of another directory.
///
/// # Errors
/// If `other` is `out` itself, or a point is not met.
pub fn check(out: &Path, processor: &str, other: Option<&Path>) -> Result<()> {
    if let Some(other) = other {
        is_another(out, other)?;
    }
    let points: [(&str, Verdict); 17] = [
        ("version and date of CHANGELOG.md agree", changelog()),
        ("nothing is changed since the last commit", clean()),
        ("everything is tested", by_hand("cargo xtask test --full --packages, and the other sets")),
        ("pictures and tables are as the tools make them", made_files()),
        ("logs of all earlier versions are read", golden_logs()),
        ("all files are there, and have the checksums", sums(out, processor)),
        ("two builds in two directories give the same bits", same_bits(out, other)),
        (
            "built from the archive of all sources without network",
            by_hand(
                "cargo xtask test --packages, with a quick profile; with the real one, unpack the archive, \
                 unshare --map-root-user --net cargo --frozen xtask release, and --check --other",
            ),
        ),
        (
            "installed, upgraded and removed on Debian, EL and SLES",
            by_hand("cargo xtask test --packages; where a real EL or SLES is at hand, also there"),
        ),
        ("executables of earlier releases still write a line", earlier_objects()),
        ("no tool needs a library or a version of glibc", tarball_tools(out, processor)),
        ("objects have their size and no panic code", objects(processor)),
        ("licences and components are complete", licence_files(out)),
        ("cargo-deny has nothing against a crate, its licence or its source", denied()),
        ("the checksums are signed", signature(out)),
        ("the site of documentation is made", documentation()),
        (
            "announcement, and the next version opened",
            by_hand(
                "write what changed for sites; add the object of this release to \
                 tests/fixtures/objects; raise the version in Cargo.toml",
            ),
        ),
    ];
    println!("release {VERSION}, files in {}", out.display());
    for (number, (point, verdict)) in (1..).zip(&points) {
        println!("{number:>2}. {point}\n      {verdict}");
    }
    let faults = points.iter().filter(|(_, verdict)| matches!(verdict, Verdict::NotOk(_))).count();
    let open = points.iter().filter(|(_, v)| matches!(v, Verdict::NotChecked(_))).count();
    println!(
        "{} of {} points ok, {faults} not ok, {open} not checked here",
        points.len() - faults - open,
        points.len()
    );
    if faults > 0 {
        bail!("{faults} points are not ok");
    }
    Ok(())
}

fn by_hand(how: &str) -> Verdict {
    Verdict::NotChecked(how.to_owned())
}

/// From a Result whose Ok says by what the point is met.
fn told(result: Result<String>) -> Verdict {
    result.map_or_else(|error| Verdict::NotOk(format!("{error:#}")), Verdict::Ok)
}

fn changelog() -> Verdict {
    told(fs::read_to_string(root().join("CHANGELOG.md")).map_err(Into::into).and_then(|text| {
        let head = text.lines().find(|line| line.starts_with("## ")).unwrap_or_default().to_owned();
        dated(&head)?;
        Ok(head)
    }))
}

/// Whether the head of a section is `## VERSION (YYYY-MM-DD)`, of this version.
fn dated(head: &str) -> Result<()> {
    let date = head.strip_prefix("## ").and_then(|rest| rest.strip_prefix(VERSION));
    let date = date.and_then(|rest| rest.trim().strip_prefix('(')?.strip_suffix(')'));
    let is_date = |date: &str| {
        let parts: Vec<&str> = date.split('-').collect();
        let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
        lengths == [4, 2, 2] && date.bytes().all(|b| b.is_ascii_digit() || b == b'-')
    };
    match date {
        Some(date) if is_date(date) => Ok(()),
        _ => bail!("`{head}` is not `## {VERSION} (YYYY-MM-DD)`"),
    }
}

fn clean() -> Verdict {
    let mut git = Command::new("git");
    told(output(git.current_dir(root()).args(["status", "--porcelain"])).and_then(|text| {
        match text.lines().count() {
            0 => Ok("git status".into()),
            many => bail!("{many} files differ from the commit"),
        }
    }))
}

fn golden_logs() -> Verdict {
    let dir = root().join("tests/fixtures/logs/v1");
    match fs::read_dir(&dir).map(Iterator::count) {
        Ok(many) if many > 0 => {
            let mut test = cargo();
            test.args(["test", "--quiet", "--package", "topas-format", "--test", "line"]);
            told(run(test.stdout(Stdio::null())).map(|()| format!("{many} files of golden lines")))
        }
        _ => Verdict::NotOk(format!("no golden logs in {}", dir.display())),
    }
}

/// Whether pictures, and files that are made from tables, are as they would be made.
fn made_files() -> Verdict {
    let made = codegen::codegen(&root(), true).and_then(|()| pictures::pictures(true));
    told(made.map(|()| "codegen --check, pictures --check".into()))
}

/// An error if `other` is the directory `out`, whatever its name, because that would compare a build
/// with itself. A directory that cannot be read is told with its point.
fn is_another(out: &Path, other: &Path) -> Result<()> {
    let (Ok(own), Ok(theirs)) = (out.canonicalize(), other.canonicalize()) else { return Ok(()) };
    if own == theirs {
        bail!(
            "--other {} is the directory whose files are checked\n\
             hint: name target/release-files of a clone in another directory, where cargo xtask \
             release was run, too",
            other.display()
        );
    }
    Ok(())
}

/// Whether the checksums of another build are the same.
fn same_bits(out: &Path, other: Option<&Path>) -> Verdict {
    let Some(other) = other else {
        return by_hand(
            "cargo xtask release in a clone in another directory, then --check --other DIR with \
             its target/release-files",
        );
    };
    let read = |dir: &Path| fs::read_to_string(dir.join(SUMS));
    told(read(out).and_then(|own| Ok((own, read(other)?))).map_err(Into::into).and_then(
        |(own, theirs)| {
            let mut differ = differing(&own, &theirs);
            // What was built from the archive does not make it again.
            let archive = sources::name();
            if !theirs.contains(&archive) {
                differ.remove(&*archive);
            }
            if !differ.is_empty() {
                bail!("other bits in {}: {}", other.display(), Vec::from_iter(differ).join(", "));
            }
            Ok(format!("{} files as in {}", own.lines().count(), other.display()))
        },
    ))
}

/// The names of files whose checksums differ, or that one of two lists does not have.
fn differing<'s>(one: &'s str, other: &'s str) -> BTreeSet<&'s str> {
    let lines = |list: &'s str| list.lines().collect::<BTreeSet<&str>>();
    let (one, other) = (lines(one), lines(other));
    let differing = one.symmetric_difference(&other);
    differing.filter_map(|line| line.split_whitespace().nth(1)).collect()
}

/// Whether there is an object of each earlier version that `CHANGELOG.md` names.
fn earlier_objects() -> Verdict {
    let read = fs::read_to_string(root().join("CHANGELOG.md")).map_err(Into::into);
    told(read.and_then(|text| {
        let kept: BTreeSet<String> = objects::kept()?.into_iter().map(|o| o.version).collect();
        let missing: Vec<&str> = earlier_versions(&text).filter(|v| !kept.contains(*v)).collect();
        if !missing.is_empty() {
            bail!("tests/fixtures/objects has no object of {}", missing.join(", "));
        }
        Ok(format!("{} objects are kept; cargo xtask test --packages runs them", kept.len()))
    }))
}

/// The versions in the heads of a changelog behind the first one.
fn earlier_versions(changelog: &str) -> impl Iterator<Item = &str> {
    let heads = changelog.lines().filter_map(|line| line.strip_prefix("## "));
    heads.skip(1).filter_map(|head| head.split_whitespace().next())
}

/// Makes the site, where there is what makes it.
fn documentation() -> Verdict {
    if !on_path("mdbook") {
        return by_hand("cargo install mdbook --version 0.5.4 --locked; cargo xtask site");
    }
    told(
        site::site(None).map(|()| {
            "cargo xtask site; copy target/site to where the documentation is served".into()
        }),
    )
}

/// The files that a release for a processor consists of.
fn expected(processor: &str) -> Vec<String> {
    let debian = tools::debian_name(processor);
    let bill = format!("topas-{VERSION}.cdx.json");
    let mut names = vec![tarball_name(processor), sources::name(), bill, SUMS.to_owned()];
    names.extend(recipes::RECIPES.iter().map(|(_, name)| recipes::name(name)));
    for package in ["topas-hpc", "topas-hpc-center", "topas-hpc-collector"] {
        names.push(format!("{package}_{VERSION}_{debian}.deb"));
        names.push(format!("{package}-{VERSION}-1.{processor}.rpm"));
    }
    names
}

fn sums(out: &Path, processor: &str) -> Verdict {
    let missing: Vec<String> =
        expected(processor).into_iter().filter(|name| !out.join(name).is_file()).collect();
    if !missing.is_empty() {
        return Verdict::NotOk(format!("missing: {}; cargo xtask release", missing.join(", ")));
    }
    let mut check = Command::new("sha256sum");
    let status = check.args(["--check", "--quiet", SUMS]).current_dir(out).status();
    match status {
        Ok(status) if status.success() => {
            Verdict::Ok(format!("{} files", expected(processor).len()))
        }
        _ => Verdict::NotOk("sha256sum --check".into()),
    }
}

/// Unpacks the tools of the tarball and looks at them.
fn tarball_tools(out: &Path, processor: &str) -> Verdict {
    let tarball = out.join(tarball_name(processor));
    if !tarball.is_file() {
        return Verdict::NotOk(format!("no {}", tarball.display()));
    }
    told(unpacked_tools(out, &tarball))
}

fn unpacked_tools(out: &Path, tarball: &Path) -> Result<String> {
    let work = out.join(".check");
    fs::create_dir_all(&work)?;
    let unpack = |path: &str| -> Result<PathBuf> {
        let mut tar = Command::new("tar");
        tar.arg("-C").arg(&work).args(["--zstd", "--strip-components=1", "-xf"]).arg(tarball);
        run(tar.arg(format!("topas-{VERSION}/{path}")))?;
        Ok(work.join(path))
    };
    let bin = unpack("bin")?;
    let driver = unpack("libexec/topas/topas-driver")?;
    // The names of the driver are links; the check wants the driver beside the tools.
    fs::copy(driver, bin.join("topas-driver"))?;
    let result = needs::check(&bin, true);
    fs::remove_dir_all(&work)?;
    result.map(|()| "every tool is static".into())
}

fn objects(processor: &str) -> Verdict {
    let dir = object::built_for(processor);
    let objects: Vec<PathBuf> = ["c", "cxx", "f77", "f90"]
        .iter()
        .map(|language| dir.join(format!("topas.{language}.o")))
        .filter(|path| path.is_file())
        .collect();
    if objects.is_empty() {
        return by_hand("cargo xtask object");
    }
    told(
        symcheck::check_files(&objects, symcheck::Size::Told, super::TARBALL_PREFIX.len() + 256)
            .map(|()| format!("{} objects", objects.len())),
    )
}

fn licence_files(out: &Path) -> Verdict {
    let bill = out.join(format!("topas-{VERSION}.cdx.json"));
    told(licences::crates().and_then(|crates| {
        licences::third_party(&crates)?;
        if fs::read_to_string(&bill).unwrap_or_default() != licences::bill_of_materials(&crates) {
            bail!("{} is not of these sources; cargo xtask release", bill.display());
        }
        Ok(format!("{} crates", crates.len()))
    }))
}

/// What cargo-deny says, where it is installed.
fn denied() -> Verdict {
    if !on_path("cargo-deny") {
        return by_hand("cargo install cargo-deny --locked; cargo deny check");
    }
    told(deny().map(|()| "cargo deny check bans licenses sources".into()))
}

/// Lets cargo-deny look at licences, sources and duplicates of all crates. It fetches those of other
/// systems, too.
///
/// # Errors
/// If there is no cargo-deny, or what it objects to.
pub fn deny() -> Result<()> {
    if !on_path("cargo-deny") {
        bail!("there is no cargo-deny\nhint: cargo install cargo-deny --locked");
    }
    let mut deny = cargo();
    deny.args(["deny", "check", "bans", "licenses", "sources"]);
    run(deny.stdout(Stdio::null()))
}

/// Whether the signature of the checksums is good, and whose it is.
fn signature(out: &Path) -> Verdict {
    let path = out.join(SIGNATURE);
    if !path.is_file() {
        return by_hand("cargo xtask release --sign KEY, with the key of the project");
    }
    let mut gpg = Command::new("gpg");
    gpg.args(["--batch", "--status-fd", "1", "--verify"]).arg(&path).arg(out.join(SUMS));
    let told = gpg.stderr(Stdio::null()).output();
    let said = told.map(|told| String::from_utf8_lossy(&told.stdout).into_owned());
    let good = |said: &String| {
        said.lines()
            .find_map(|l| l.strip_prefix("[GNUPG:] GOODSIG "))
            .map(|who| who.split_once(' ').map_or(who, |(_, name)| name).to_owned())
    };
    match said.as_ref().ok().and_then(good) {
        Some(who) => Verdict::Ok(format!("by {who}: look whether that is the key of the project")),
        None => Verdict::NotOk(format!("gpg does not verify {}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_the_changelog_has_version_and_date() {
        assert!(dated(&format!("## {VERSION} (2027-01-31)")).is_ok());
        for wrong in ["(unreleased)", "", "(2027-1-31)", "(2027-01-31"] {
            assert!(dated(&format!("## {VERSION} {wrong}")).is_err(), "{wrong}");
        }
        assert!(dated("## 99.0.0 (2027-01-31)").is_err());
    }

    #[test]
    fn bits_of_another_build_are_compared() {
        let one = "aa  topas.tar\nbb  topas.deb\n";
        assert!(differing(one, one).is_empty());
        let other = "aa  topas.tar\ncc  topas.deb\ndd  topas.rpm\n";
        assert_eq!(Vec::from_iter(differing(one, other)), ["topas.deb", "topas.rpm"]);
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(a.path().join(SUMS), one).unwrap();
        fs::write(b.path().join(SUMS), other).unwrap();
        let copy = tempfile::tempdir().unwrap();
        fs::write(copy.path().join(SUMS), one).unwrap();
        assert!(matches!(same_bits(a.path(), Some(copy.path())), Verdict::Ok(_)));
        assert!(matches!(same_bits(a.path(), Some(b.path())), Verdict::NotOk(_)));
        assert!(matches!(same_bits(a.path(), None), Verdict::NotChecked(_)));
    }

    #[test]
    fn a_build_is_not_compared_with_itself() {
        let dir = tempfile::tempdir().unwrap();
        let (own, other) = (dir.path().join("own"), dir.path().join("other"));
        let link = dir.path().join("link");
        fs::create_dir(&own).unwrap();
        std::os::unix::fs::symlink(&own, &link).unwrap();
        for itself in [own.clone(), own.join("../own"), link] {
            let error = check(&own, tools::PROCESSORS[0], Some(&itself)).unwrap_err().to_string();
            let expected = format!("--other {} is the directory", itself.display());
            assert!(error.starts_with(&expected), "{error}");
        }
        assert!(is_another(&own, &other).is_ok());
        fs::create_dir(&other).unwrap();
        assert!(is_another(&own, &other).is_ok());
    }

    #[test]
    fn earlier_versions_are_those_behind_the_first() {
        let text =
            "# Changelog\n\n## 0.3.0 (unreleased)\n* x\n## 0.2.0 (2027-01-31)\n## 0.1.0 (x)\n";
        assert_eq!(Vec::from_iter(earlier_versions(text)), ["0.2.0", "0.1.0"]);
    }

    #[test]
    fn what_is_missing_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let processor = tools::PROCESSORS[0];
        let Verdict::NotOk(text) = sums(dir.path(), processor) else { panic!("nothing is there") };
        for name in expected(processor) {
            assert!(text.contains(&name), "{name}");
        }
        for name in expected(processor) {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        fs::write(dir.path().join(SUMS), format!("{}  topas-{VERSION}.cdx.json\n", "0".repeat(64)))
            .unwrap();
        assert!(matches!(sums(dir.path(), processor), Verdict::NotOk(_)));
    }
}
