//! An installation that was moved: `topas-driver --relocate` writes its new place into what goes into
//! programs and into the files for shells, modules and daemons, and `--topas-explain` and
//! `topas-doctor` say which configuration programs read.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use topas_tests::build::source;
use topas_tests::mpi_installation::emulate_rank;
use topas_tests::record::read_log;
use topas_tests::running::{Run, command, run, system_path};
use topas_tests::site::{Scratch, Site};

/// The prefix of the installation that all tests share.
fn prefix() -> PathBuf {
    Site::shared().wrappers().ancestors().nth(3).expect("libexec/topas/wrappers").to_owned()
}

/// A copy of the installation in another place, whose path is not longer, with the topas.conf that
/// was installed.
fn moved(scratch: &Scratch, name: &str) -> PathBuf {
    let to = scratch.path().join(name);
    assert!(to.as_os_str().len() <= prefix().as_os_str().len(), "the slots are for the old path");
    run(command("cp").arg("-a").arg(prefix()).arg(&to)).good();
    // As after an upgrade, too, which leaves the sample beside a topas.conf that was changed.
    for name in ["topas.conf", "topas.conf.new"] {
        let sample = to.join("share/doc/topas/examples/topas.conf");
        fs::copy(sample, to.join("etc/topas").join(name)).expect(name);
    }
    let logs = to.join("var/log/topas");
    fs::remove_dir_all(&logs).expect("logs of other tests");
    to
}

fn relocate(at: &Path, more: &[&str]) -> Run {
    let mut driver = command(at.join("libexec/topas/topas-driver"));
    run(driver.arg("--relocate").args(more).env("PATH", system_path()))
}

/// Every file below a directory but the tools, with its bytes and its mode.
fn files(dir: &Path) -> BTreeMap<PathBuf, (Vec<u8>, u32)> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(path) = open.pop() {
        let about = fs::symlink_metadata(&path).expect("a file");
        if about.is_dir() {
            open.extend(fs::read_dir(&path).expect("directory").map(|entry| entry.unwrap().path()));
        } else if about.is_file() && about.permissions().mode() & 0o111 == 0 {
            let name = path.strip_prefix(dir).unwrap().to_owned();
            found.insert(name, (fs::read(&path).expect("file"), about.permissions().mode()));
        }
    }
    found
}

fn holds(bytes: &[u8], path: &Path) -> bool {
    let path = path.to_str().expect("a path").as_bytes();
    bytes.windows(path.len()).any(|window| window == path)
}

/// What the drop-in gcc of an installation says of a link.
fn explained(at: &Path) -> String {
    let gcc = at.join("libexec/topas/gcc");
    if fs::symlink_metadata(&gcc).is_err() {
        symlink("topas-driver", &gcc).expect("link");
    }
    run(command(gcc).args(["--topas-explain", "a.o"]).env("TOPAS_LINK", "always")).good().out()
}

#[test]
fn programs_obey_the_place_to_which_the_installation_was_moved() {
    let scratch = Scratch::new();
    let new = moved(&scratch, "t");
    let conf = new.join("etc/topas/topas.conf");
    let old_conf = prefix().join("etc/topas/topas.conf");
    let said = explained(&new);
    assert!(said.contains(&format!("module reads:  {}\n", old_conf.display())), "{said}");
    assert!(said.contains("warning:       the module was made for another place"), "{said}");
    let doctor = || {
        let mut doctor = command(new.join("bin/topas-doctor"));
        run(doctor.arg("--no-self-test").env("PATH", system_path())).out()
    };
    let said = doctor();
    assert!(said.contains(&format!("reads {}", old_conf.display())), "{said}");
    assert!(said.contains("topas-driver --relocate"), "{said}");

    let done = relocate(&new, &[]).good();
    let note = format!("note: {} was made for {}", new.display(), prefix().display());
    assert!(done.err().contains(&note), "{}", done.err());
    for (name, (bytes, _)) in files(&new) {
        // Documents show an installation in /opt/topas.
        assert!(!holds(&bytes, &prefix()), "{} names the former place", name.display());
    }
    let said = explained(&new);
    assert!(said.contains(&format!("module reads:  {}\n", conf.display())), "{said}");
    assert!(!said.contains("warning:"), "{said}");
    let said = doctor();
    assert!(said.contains(&format!("programs read        {}\n", conf.display())), "{said}");
    assert!(!said.contains("none of this installation"), "{said}");
    let logs = new.join("var/log/topas");
    assert_eq!(fs::metadata(&logs).unwrap().permissions().mode() & 0o7777, 0o1733);

    // A program that is linked there logs there, and one of topas-run, too.
    let hello = scratch.path().join("hello");
    let module = new.join("lib/topas/topas.c.o");
    let mut gcc = command("gcc");
    gcc.arg(source("c/says.c")).arg("-o").arg(&hello).arg(format!("-Wl,{}", module.display()));
    run(&mut gcc).good();
    let plain = scratch.path().join("plain");
    run(command("gcc").arg(source("c/says.c")).arg("-o").arg(&plain)).good();
    let mut linked = command(&hello);
    let mut preloaded = command(new.join("bin/topas-run"));
    preloaded.arg(&plain);
    for rank in [&mut linked, &mut preloaded] {
        emulate_rank(rank, 1, 4, "0123456789abcdef-0123456789abcdef");
        run(rank.env("TOPAS_PE", "1,2")).ends(3);
    }
    let lines: usize =
        fs::read_dir(&logs).unwrap().map(|entry| read_log(&entry.unwrap().path()).len()).sum();
    assert_eq!(lines, 2);
}

#[test]
fn the_same_place_gives_the_same_bytes_and_the_way_back_leads_back() {
    let scratch = Scratch::new();
    let new = moved(&scratch, "t");
    let before = files(&new);
    relocate(&new, &[]).good();
    let once = files(&new);
    assert_ne!(once, before);
    let again = relocate(&new, &[]).good();
    assert!(again.err().contains(": 0 files written for"), "{}", again.err());
    assert_eq!(files(&new), once);
    // To a place where it is going to stand.
    relocate(&new, &["/sw/topas/"]).good();
    let elsewhere = files(&new);
    let conf = &elsewhere[Path::new("etc/topas/topas.conf")].0;
    assert!(holds(conf, Path::new("\nlog = file:/sw/topas/var/log/topas/%Y-%m.%u.log\n")));
    let package = &elsewhere[Path::new("lib/topas/pkgconfig/topas-c.pc")].0;
    assert!(holds(package, Path::new("Libs: -Wl,/sw/topas/lib/topas/topas.c.init.o\n")));
    relocate(&new, &[new.to_str().unwrap()]).good();
    assert_eq!(files(&new), once);
    relocate(&new, &[prefix().to_str().unwrap()]).good();
    assert_eq!(files(&new), before);
    let sizes = |files: &BTreeMap<PathBuf, (Vec<u8>, u32)>| -> Vec<usize> {
        let objects = files.iter().filter(|(name, _)| name.extension().is_some_and(|e| e == "o"));
        objects.map(|(_, (bytes, _))| bytes.len()).collect()
    };
    assert_eq!(sizes(&elsewhere), sizes(&before));
}

#[test]
fn the_configuration_of_a_site_stays_and_what_cannot_be_written_changes_nothing() {
    let scratch = Scratch::new();
    let new = moved(&scratch, "t");
    let own = format!("measure = yes\nlog = file:{}/var/log/topas/all.log\n", prefix().display());
    fs::write(new.join("etc/topas/topas.conf"), &own).unwrap();
    let before = files(&new);
    let longer = format!("/{}", "x".repeat(prefix().as_os_str().len()));
    for (prefix, code, cause) in [
        (longer.as_str(), 1, "has room for"),
        ("/a b", 2, "characters with a meaning"),
        ("relative", 2, "an absolute path"),
        ("/usr", 2, "the prefix /usr is for packages"),
    ] {
        let refused = relocate(&new, &[prefix]).ends(code);
        assert!(refused.err().contains(cause), "{prefix}: {}", refused.err());
        assert_eq!(files(&new), before, "{prefix}");
    }
    let done = relocate(&new, &[]).good();
    assert!(done.err().contains("is the site's own and names the former place"), "{}", done.err());
    assert_eq!(fs::read_to_string(new.join("etc/topas/topas.conf")).unwrap(), own);
}
