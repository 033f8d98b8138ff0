//! Where topas.out is, by its name, by `TOPAS_OUT` and by host; and files that cannot be written.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use topas_tests::alone::{as_nobody, is_root, through};
use topas_tests::build::{source, with_module};
use topas_tests::gang::Gang;
use topas_tests::record::read_log;
use topas_tests::running::{Run, command, have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;
use topas_tests::small_disk::SmallDisk;

fn gate(scratch: &Scratch) -> PathBuf {
    let program = scratch.path().join("gate");
    let mut gcc = command("gcc");
    gcc.args(["-static", "-O1"]).arg(source("c/gate.c")).arg("-o").arg(&program);
    run(gcc.arg(with_module(Site::shared(), "c.all"))).good();
    program
}

/// One rank of `size` by itself.
fn rank(scratch: &Scratch, program: &Path, rank: u32, size: u32) -> Command {
    Gang::rank(scratch, program, rank, size)
}

fn host() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").expect("host name").trim().to_owned()
}

/// Panics unless the file holds one line of each of these ranks.
#[track_caller]
fn holds(path: &Path, ranks: &[u32]) {
    let seen: Vec<u32> = read_log(path).iter().map(|line| line.pe).collect();
    let all: BTreeSet<u32> = seen.iter().copied().collect();
    assert_eq!(seen.len(), all.len(), "{}", path.display());
    assert_eq!(all.into_iter().collect::<Vec<_>>(), ranks, "{}", path.display());
}

#[test]
fn the_name_by_what_the_launcher_tells() {
    let scratch = Scratch::new();
    let program = gate(&scratch);
    let several = scratch.path().join(format!("topas.out.{}", host()));
    // Not all are on this host, or nobody knows.
    run(rank(&scratch, &program, 1, 4).env("OMPI_COMM_WORLD_LOCAL_SIZE", "2")).good();
    run(rank(&scratch, &program, 2, 4).env_remove("OMPI_COMM_WORLD_LOCAL_SIZE")).good();
    holds(&several, &[1, 2]);
    assert!(!scratch.path().join("topas.out").exists());
    run(&mut rank(&scratch, &program, 3, 4)).good();
    holds(&scratch.path().join("topas.out"), &[3]);
}

#[test]
fn patterns_of_the_user() {
    let scratch = Scratch::new();
    let program = gate(&scratch);
    let with = |out: &str| run(rank(&scratch, &program, 0, 4).env("TOPAS_OUT", out)).good();
    with("");
    let plain = scratch.path().join("topas.out");
    let line = read_log(&plain).remove(0);
    let date = line.text.get(..10).unwrap().replace('/', "-");
    let own = scratch.sub("a").join("b %i");
    for (pattern, path) in [
        ("other", scratch.path().join("other")),
        ("./a/../%i.out", scratch.path().join(format!("{}.out", line.id))),
        ("%h-%%-%Y-%m-%d", scratch.path().join(format!("{}-%-{date}", host()))),
        ("%u", scratch.path().join("0")),
        // A directory with a form is made, one without must be there.
        ("runs.%i/out", scratch.path().join(format!("runs.{}/out", line.id))),
        (&own.display().to_string(), scratch.path().join(format!("a/b {}", line.id))),
    ] {
        if pattern == "%u" && !nix::unistd::geteuid().is_root() {
            continue;
        }
        assert_eq!(with(pattern).err(), "", "{pattern}");
        holds(&path, &[0]);
    }
    // A link is followed, the mode is an ordinary one.
    symlink("a/target", scratch.path().join("link")).expect("link");
    with("link");
    holds(&scratch.path().join("a/target"), &[0]);
    let mode = fs::metadata(&plain).expect("file").mode();
    let umask = nix::sys::stat::umask(nix::sys::stat::Mode::empty());
    nix::sys::stat::umask(umask);
    assert_eq!(mode & 0o777, 0o644 & !umask.bits());
    assert_eq!(with("/dev/null").err(), "");
}

/// What is a pattern in `TOPAS_OUT` is none in the path of the directory.
#[test]
fn a_directory_of_any_name() {
    let scratch = Scratch::new();
    let program = gate(&scratch);
    for name in ["%i %q", "with\nnewline", "ü", &"d".repeat(255)] {
        let dir = scratch.sub(name);
        run(rank(&scratch, &program, 0, 4).current_dir(&dir)).good();
        holds(&dir.join("topas.out"), &[0]);
    }
}

/// Runs ranks 0 to 3 one after the other: all that they said. Each must end as without.
#[track_caller]
fn four(scratch: &Scratch, program: &Path, set: impl Fn(&mut Command)) -> String {
    let mut said = String::new();
    for place in 0..4 {
        let mut rank = rank(scratch, program, place, 4);
        rank.arg("7");
        set(&mut rank);
        let ended: Run = run(&mut rank).ends(7);
        assert_eq!(ended.out(), "");
        said += &ended.err();
    }
    said
}

#[test]
fn what_cannot_be_written_is_said_once() {
    let scratch = Scratch::new();
    let program = gate(&scratch);
    let dir = scratch.path().display();
    fs::create_dir(scratch.path().join("directory")).expect("directory");
    let out = |out: &str| {
        four(&scratch, &program, |rank| {
            rank.env("TOPAS_OUT", out);
        })
    };
    for (value, said) in [
        ("none/topas.out", format!("{dir}/none/topas.out: no such directory")),
        ("directory", format!("{dir}/directory is a directory")),
        ("/dev/full", "/dev/full: no space left".to_owned()),
        ("%q", format!("{dir}/ is no target")),
    ] {
        assert_eq!(out(value), format!("topas: not written: {said}\n"), "{value}");
    }
    let long = "x".repeat(5000);
    let said = out(&long);
    assert!(said.lines().count() == 1 && said.contains(" is no target"), "{said:.200}");
}

/// The file that ranks of a gang say things to.
fn told(scratch: &Scratch) -> fs::File {
    let path = scratch.path().join("said");
    fs::File::options().append(true).create(true).open(path).expect("file")
}

#[test]
fn files_that_a_user_may_not_write() {
    if !is_root("files_that_a_user_may_not_write") {
        return;
    }
    let scratch = Scratch::new();
    let program = gate(&scratch);
    let dir = scratch.sub("readonly");
    // The directory is root's.
    let nobody = |place: u32, out: &str| {
        let mut inner = rank(&scratch, &program, place, 4);
        inner.current_dir(&dir).env("TOPAS_OUT", out).env("TOPAS_LOG", "file:/dev/null");
        run(&mut as_nobody(&inner)).good().err()
    };
    let expected = format!("topas: not written: {}/topas.out: permission denied\n", dir.display());
    assert_eq!(nobody(0, ""), expected);
    assert_eq!(nobody(1, ""), "");
    // One that its owner may write and not read.
    let write_only = scratch.sub("open").join("out");
    fs::write(&write_only, "").expect("file");
    nix::unistd::chown(&write_only, Some(topas_tests::alone::NOBODY.into()), None).expect("chown");
    fs::set_permissions(&write_only, fs::Permissions::from_mode(0o200)).expect("mode");
    assert_eq!(nobody(0, write_only.to_str().unwrap()), "");
    holds(&write_only, &[0]);
}

#[test]
fn a_directory_that_has_gone() {
    let scratch = Scratch::new();
    let program = gate(&scratch);
    let dir = scratch.sub("gone");
    let script = "rmdir \"$PWD\"; exec \"$0\"";
    let mut inner = rank(&scratch, Path::new("sh"), 0, 4);
    inner.args(["-c", script]).arg(&program).current_dir(&dir);
    let said = run(&mut inner).good().err();
    assert_eq!(said, "topas: not written: topas.out: no such directory\n");
}

/// A file system of 64 kB: what fits is whole, one rank says that the rest did not, or two if the
/// first of the host comes after it has become full, and once there is room again the next run
/// is whole.
#[test]
fn a_full_file_system() {
    let test = "a_full_file_system";
    if !is_root(test) {
        return;
    }
    let scratch = Scratch::new();
    let program = gate(&scratch);
    let dir = scratch.sub("small");
    let Some(disk) = SmallDisk::mount(&dir, "size=64k,mode=755") else {
        return skip(test, "no file system can be mounted");
    };
    let out = dir.join("topas.out");
    let start = |ranks: u32| {
        let mut gang = Gang::new();
        for place in 0..ranks {
            let mut rank = rank(&scratch, &program, place, ranks);
            let said = told(&scratch);
            gang.start(rank.arg("5").current_dir(&dir).stderr(said));
        }
        let (statuses, _) = gang.release();
        assert!(statuses.iter().all(|status| status.code() == Some(5)));
        fs::read_to_string(scratch.path().join("said")).expect("what was said")
    };
    let sentence = format!("topas: not written: {}: no space left\n", out.display());
    // Without any room no file stays that would tell of a run without ranks; one of the user's
    // does.
    let filler = disk.leave(0);
    assert_eq!(start(4), sentence);
    assert!(!out.exists());
    fs::write(&out, "").unwrap();
    fs::remove_file(scratch.path().join("said")).unwrap();
    assert_eq!(start(4), sentence);
    assert!(out.exists());
    fs::remove_file(scratch.path().join("said")).unwrap();
    fs::remove_file(&filler).unwrap();
    let said = start(600);
    assert!([1, 2].iter().any(|&times| said == sentence.repeat(times)), "{said}");
    let text = fs::read(&out).expect("file");
    let torn = text.split_inclusive(|byte| *byte == b'\n').filter(|line| !line.ends_with(b"\n"));
    assert!(text.len() > 60_000 && torn.count() <= 1);
    // Room for some more, behind the torn line.
    fs::OpenOptions::new().write(true).open(&out).and_then(|f| f.set_len(20_000)).unwrap();
    fs::remove_file(scratch.path().join("said")).unwrap();
    assert_eq!(start(8), "");
    let text = fs::read_to_string(&out).expect("file");
    let last: Vec<&str> = text.lines().rev().take(8).collect();
    assert!(last.iter().all(|line| line.contains(" 8 ") && line.contains(" len=")));
}

/// A limit on the size of files raises a signal that would end the program.
#[test]
fn a_limit_on_the_size_of_files() {
    let scratch = Scratch::new();
    let program = gate(&scratch);
    // What is said goes to a file, too, and must fit.
    fs::write(scratch.path().join("topas.out"), "#\n".repeat(500)).expect("write");
    let limited = |place| {
        let mut inner = rank(&scratch, &program, place, 4);
        inner.env("TOPAS_LOG", "file:/dev/null");
        run(&mut through(&["prlimit", "--fsize=999"], &inner)).good().err()
    };
    assert!(limited(0).starts_with("topas: not written: "), "{}", limited(0));
    assert_eq!(limited(3), "");
}

/// A host of its own: another name, and a network of its own, so that its sockets are not seen
/// elsewhere.
struct Host(Child);

impl Host {
    fn named(name: &str) -> Option<Host> {
        let script = format!("hostname {name} && echo up && exec sleep 1000");
        let mut unshare = command("unshare");
        unshare.args(["--uts", "--net", "sh", "-c", &script]).stdout(Stdio::piped());
        let mut holder = unshare.spawn().ok()?;
        let mut up = [0; 2];
        let told = std::io::Read::read_exact(holder.stdout.as_mut()?, &mut up).is_ok();
        told.then_some(Host(holder))
    }

    /// A command on this host.
    fn run(&self, inner: &Command) -> Command {
        let pid = self.0.id().to_string();
        through(&["nsenter", "--target", &pid, "--uts", "--net"], inner)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

#[test]
fn ranks_on_several_hosts() {
    let test = "ranks_on_several_hosts";
    if !is_root(test) || !have("nsenter") {
        return skip(test, "needs root and nsenter");
    }
    let scratch = Scratch::new();
    let program = gate(&scratch);
    let hosts: Vec<Host> =
        ["east", "west", "far.north"].into_iter().filter_map(Host::named).collect();
    assert_eq!(hosts.len(), 3, "no name spaces");
    let mut gang = Gang::new();
    // By blocks of 8, in a directory that all hosts share.
    for place in 0..24 {
        let mut inner = rank(&scratch, &program, place, 24);
        inner.env("OMPI_COMM_WORLD_LOCAL_SIZE", "8");
        inner.env("OMPI_COMM_WORLD_LOCAL_RANK", (place % 8).to_string());
        gang.start(&mut hosts[place as usize / 8].run(&inner));
    }
    let (statuses, _) = gang.release();
    assert!(statuses.iter().all(std::process::ExitStatus::success));
    for (block, name) in ["east", "west", "far.north"].into_iter().enumerate() {
        let ranks: Vec<u32> = (block as u32 * 8..block as u32 * 8 + 8).collect();
        let path = scratch.path().join(format!("topas.out.{name}"));
        holds(&path, &ranks);
        assert!(read_log(&path).iter().all(|line| line.extra("host") == name));
    }
    assert!(!scratch.path().join("topas.out").exists());
    // Each host says for itself what it cannot write.
    let mut gang = Gang::new();
    for place in 0..6 {
        let mut inner = rank(&scratch, &program, place, 6);
        inner.env("OMPI_COMM_WORLD_LOCAL_SIZE", "2").env("TOPAS_OUT", "/none/%h");
        inner.env("OMPI_COMM_WORLD_LOCAL_RANK", (place % 2).to_string());
        let said = told(&scratch);
        gang.start(hosts[place as usize / 2].run(&inner).stderr(said));
    }
    gang.release();
    let said = fs::read_to_string(scratch.path().join("said")).expect("what was said");
    let mut said: Vec<&str> = said.lines().collect();
    said.sort_unstable();
    let all = ["east", "far.north", "west"];
    let all = all.map(|host| format!("topas: not written: /none/{host}: no such directory"));
    assert_eq!(said, all);
}
