//! PVM: tasks have no rank before they call, so two processes of a host measure.

use std::collections::BTreeSet;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, UnixAddr, bind, listen, socket,
};
use nix::unistd::getuid;
use topas_format::field::{Lang, Lib};
use topas_tests::build::{source, with_module};
use topas_tests::pvm::VirtualMachine;
use topas_tests::record::Record;
use topas_tests::running::{command, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

/// What every line says, and that no more than two do.
#[track_caller]
fn checked(lines: &[Record], count: usize, lang: Lang) {
    let shown: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    let shown = shown.join("\n");
    assert_eq!(lines.len(), count, "{shown}");
    let places: BTreeSet<u32> = lines.iter().map(|line| line.pe).collect();
    assert_eq!(places, (0..count as u32).collect(), "places:\n{shown}");
    for line in lines {
        assert_eq!((line.npes, line.lib, line.lang), (0, Lib::Pvm, lang), "{shown}");
        assert_eq!((&line.id, line.extra("end")), (&lines[0].id, "exit:0"), "{shown}");
        assert_eq!(line.extra("mpi"), "", "{shown}");
    }
}

/// Builds a program, with the module of a language or without.
fn build(
    compiler: &str,
    name: &str,
    libraries: &[&str],
    lang: Option<&str>,
    dir: &Path,
) -> PathBuf {
    let output = dir.join(format!("{compiler}-{}", lang.unwrap_or("bare")));
    let mut build = command(compiler);
    build.arg(source(name)).args(libraries).arg("-o").arg(&output);
    build.args(lang.map(|lang| with_module(Site::shared(), lang)));
    run(&mut build).good();
    output
}

#[test]
fn tasks_of_a_virtual_machine() {
    let scratch = Scratch::new();
    let machine = match VirtualMachine::start(&scratch) {
        Ok(machine) => machine,
        Err(reason) => return skip("tasks_of_a_virtual_machine", &reason),
    };
    let dir = scratch.path();
    let c = build("gcc", "c/pvm.c", &["-lpvm3"], Some("c"), dir);
    let bare = build("gcc", "c/pvm.c", &["-lpvm3"], None, dir);
    let fortran = build("gfortran", "f77/pvm.f", &["-lfpvm3", "-lpvm3"], Some("f77"), dir);
    let by_hand = |program: &Path, args: &[&str]| {
        run(machine.command(&scratch, program).args(args)).good().out()
    };
    let mut ids = BTreeSet::new();
    // The sum of the squares of 0 to 7.
    for _ in 0..3 {
        assert_eq!(by_hand(&c, &["8"]), "sum of squares: 140\n");
        let lines = scratch.take_log();
        checked(&lines, 2, Lang::C);
        assert!(ids.insert(lines[0].id.clone()), "an id repeats: {}", lines[0].text);
    }
    // Of the workers alone, all of which live at one time.
    assert_eq!(by_hand(&bare, &["8", c.to_str().unwrap()]), "sum of squares: 140\n");
    let lines = scratch.take_log();
    checked(&lines, 2, Lang::C);
    assert!(ids.insert(lines[0].id.clone()), "an id repeats: {}", lines[0].text);
    assert_eq!(by_hand(&c, &["0"]), "sum of squares: 0\n");
    checked(&scratch.take_log(), 1, Lang::C);
    assert_eq!(by_hand(&fortran, &[]), "a task\n");
    checked(&scratch.take_log(), 1, Lang::F77);
    // The kernel may stop the first one between its two calls that claim a place.
    let first = named_but_deaf();
    let mut second = machine.command(&scratch, &c);
    let mut second = second.arg("0").stdout(Stdio::null()).spawn().unwrap();
    thread::sleep(Duration::from_millis(20));
    listen(&first, Backlog::new(0).unwrap()).unwrap();
    assert!(second.wait().unwrap().success());
    let lines = scratch.take_log();
    let shown: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(lines.iter().map(|line| line.pe).collect::<Vec<_>>(), [1], "{shown:?}");
}

/// A socket that has the name of the first task of this user, and does not listen.
fn named_but_deaf() -> OwnedFd {
    let kind = SockType::Stream;
    let first = socket(AddressFamily::Unix, kind, SockFlag::SOCK_CLOEXEC, None).unwrap();
    let name = format!("topas.{:016x}", getuid().as_raw());
    bind(first.as_raw_fd(), &UnixAddr::new_abstract(name.as_bytes()).unwrap()).unwrap();
    first
}
