//! What ranks counted that were killed comes into the log: `topas-mpi collect` after real ends
//! under real launchers, against the mapped files as the tests read them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use topas_testkit::WrittenJson;
use topas_tests::alone::as_user;
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::profile::{Counted, Places, Routine, build, library, spool_files};
use topas_tests::running::{Run, command, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;
use topas_tests::small_disk::SmallDisk;

const RANKS: u32 = 3;

/// Ways to end, and the worst word that the record of all ranks may have for it.
const ENDS: &[(&str, &[&str])] = &[
    ("kill 1", &["lost"]),
    ("segv 1", &["lost"]),
    ("term -1", &["lost"]),
    ("mpi_abort 1", &["abort:7"]),
    ("exit -1", &["exit", "lost"]),
    ("_exit 1", &["lost"]),
];

struct LeftProfiles {
    scratch: Scratch,
    program: PathBuf,
    places: Places,
    mpi: Mpi,
}

impl LeftProfiles {
    fn new(mpi: Mpi) -> LeftProfiles {
        let scratch = Scratch::new();
        let program = scratch.path().join("ends");
        build(mpi, "mpicc", &["faults/ends.c"], &["-O1", "-pthread"], &program);
        let places = Places::new(&scratch);
        LeftProfiles { scratch, program, places, mpi }
    }

    fn launch(&self, words: &str) -> Command {
        let mut launch = self.mpi.launch_bare(&self.scratch, RANKS);
        launch.args(self.places.words(&[&library(Site::shared())])).arg(&self.program);
        launch.args(words.split(' ')).current_dir(self.scratch.path());
        launch
    }

    /// `topas-mpi` with these words, in the directory that the environment names.
    fn tool_by_variable(&self, words: &[&str]) -> Command {
        let mut tool = self.scratch.command(Site::shared().tool("topas-mpi"));
        tool.args(words).env("TOPAS_MPI_SPOOL", &self.places.spool);
        tool.env("TOPAS_LOG", self.scratch.log_target());
        tool
    }

    /// `topas-mpi collect` with these words, its log in the scratch directory.
    fn collect(&self, words: &[&str]) -> Command {
        let mut collect = self.scratch.command(Site::shared().tool("topas-mpi"));
        collect.args(["collect", "--spool"]).arg(&self.places.spool).args(words);
        collect.env("TOPAS_LOG", self.scratch.log_target());
        collect
    }

    /// Waits until nobody has the files mapped: ranks may outlive their launcher a little.
    fn settled(&self) {
        let begun = Instant::now();
        let spool = self.places.spool.display().to_string();
        while mapped(&spool) && begun.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Whether some process has a file of the directory mapped.
fn mapped(dir: &str) -> bool {
    let processes = fs::read_dir("/proc").expect("proc").flatten();
    processes.into_iter().any(|process| {
        let maps = fs::read_to_string(process.path().join("maps"));
        maps.is_ok_and(|maps| maps.contains(dir))
    })
}

/// A key's values in lines of a kind, as awk would find them.
fn values<'t>(text: &'t str, of: &str, key: &str) -> Vec<&'t str> {
    let lines = text.lines().filter(|line| line.contains(&format!(" of={of} ")));
    let words = lines.flat_map(|line| line.split(' '));
    words.filter_map(|word| word.strip_prefix(key)?.strip_prefix('=')).collect()
}

/// Calls, messages and bytes of routines in `f=` of lines of a kind.
fn routines(text: &str, of: &str) -> BTreeMap<String, [u64; 5]> {
    let mut all: BTreeMap<String, [u64; 5]> = BTreeMap::new();
    for value in values(text, of, "f") {
        let fields: Vec<&str> = value.split(':').collect();
        let field = |at: usize| fields.get(at).map_or(0, |field| field.parse().unwrap_or(0));
        let sum = all.entry(fields[0].to_owned()).or_default();
        for (sum, at) in sum.iter_mut().zip([1, 5, 6, 7, 8]) {
            *sum += field(at);
        }
    }
    all
}

fn sums(counted: &[Counted]) -> BTreeMap<String, [u64; 5]> {
    let mut all: BTreeMap<String, Routine> = BTreeMap::new();
    for one in counted {
        for (name, routine) in &one.routines {
            let sum = all.entry(name.clone()).or_default();
            *sum = sum.plus(routine);
        }
    }
    let fields = |r: &Routine| [r.calls, r.sends, r.sent, r.receives, r.received];
    all.iter().map(|(name, routine)| (name.clone(), fields(routine))).collect()
}

#[test]
fn what_was_counted_until_the_end_is_told() {
    for mpi in Mpi::installed("collect") {
        let left = LeftProfiles::new(mpi);
        for (way, ends) in ENDS {
            let name = format!("{way} under {}", mpi.name());
            left.places.clear();
            let _ = fs::remove_file(left.scratch.log());
            launched(&left.scratch, &mut left.launch(way));
            left.settled();
            let spooled = left.places.spooled();
            assert_eq!(spooled.len(), RANKS as usize, "{name}");
            let out = left.places.out.display().to_string();
            let told = run(&mut left.collect(&["--out", &out])).good();
            assert_eq!(spool_files(&left.places.spool), <[PathBuf; 0]>::default(), "{name}");

            let log = fs::read_to_string(left.scratch.log()).expect("log");
            assert_eq!(routines(&log, "host"), sums(&spooled), "{name}: {log}");
            assert_eq!(values(&log, "host", "ranks"), ["3"], "{name}");
            let end = values(&log, "host", "end");
            assert!(end.len() == 1 && ends.contains(&end[0]), "{name}: {end:?}");
            assert!(log.lines().all(|line| line.len() < 1000), "{name}");
            // The ranks one by one, in the user's file.
            let mut ranks = left.places.counted();
            ranks.retain(|one| !one.routines.is_empty());
            let bytes = |all: &[Counted]| -> Vec<(u32, BTreeMap<String, [u64; 5]>)> {
                all.iter().map(|one| (one.rank, sums(std::slice::from_ref(one)))).collect()
            };
            assert_eq!(bytes(&ranks), bytes(&spooled), "{name}");
            assert!(told.err().contains("written to"), "{name}: {}", told.err());

            // Nothing is left to be told.
            let again = run(&mut left.collect(&[])).good();
            assert_eq!(again.err(), "", "{name}");
            assert_eq!(fs::read_to_string(left.scratch.log()).expect("log"), log, "{name}");
        }
    }
}

/// Who sets TOPAS_MPI_OUT finds the profile of killed ranks there, without naming it again.
#[test]
fn the_file_that_the_user_named_gets_the_profile() {
    for mpi in Mpi::installed("collect into the user's file") {
        let left = LeftProfiles::new(mpi);
        let dir = left.scratch.sub("results");
        for (name, words) in [
            ("kept.%h.out", &[][..]),
            ("gone/kept.out", &[]),
            ("kept.out", &["--out", "other.out"]),
        ] {
            left.places.clear();
            let _ = fs::remove_file(left.scratch.log());
            let mut launch = left.mpi.launch_bare(&left.scratch, RANKS);
            launch.args(left.places.words(&[&library(Site::shared())]));
            launch.arg(format!("TOPAS_MPI_OUT={name}"));
            launch.args(name.contains('/').then_some("TOPAS_MPI_LOG=1M"));
            launch.arg(&left.program).args(["kill", "1"]);
            launched(&left.scratch, launch.current_dir(&dir));
            left.settled();
            let spooled = left.places.spooled();
            if name.contains('/') {
                // Who wants this profile can make the directory, and collect once more.
                let out = left.scratch.path().join("wanted.out").display().to_string();
                let told = run(&mut left.collect(&["--no-log", "--out", &out])).ends(1).err();
                assert!(told.contains("cannot write the event log"), "{told}");
                assert!(told.contains("nothing was removed"), "{told}");
                assert_eq!(spool_files(&left.places.spool).len(), RANKS as usize);
            }
            let told = run(left.collect(words).current_dir(left.scratch.path()));
            let what = format!("{name} under {}: {}", mpi.name(), told.err());
            let log = fs::read_to_string(left.scratch.log()).expect("log");
            assert_eq!(routines(&log, "host"), sums(&spooled), "{what}");
            assert_eq!(spool_files(&left.places.spool), <[PathBuf; 0]>::default(), "{what}");
            let files =
                fs::read_dir(&dir).expect("directory").map(|file| file.expect("file").path());
            let files: Vec<PathBuf> = files.collect();
            if name.contains('/') {
                // Nobody can write there, now or later.
                assert!(told.code() == 1 && told.err().contains("gone/kept.out"), "{what}");
                assert!(told.err().contains("the directory that TOPAS_MPI_OUT named"), "{what}");
                assert!(told.err().contains("this event log is lost"), "{what}");
                assert_eq!(files, <[PathBuf; 0]>::default(), "{what}");
                continue;
            }
            assert_eq!(told.code(), 0, "{what}");
            let file = if words.is_empty() {
                let [file] = &files[..] else { panic!("{what}: {files:?}") };
                assert!(!file.display().to_string().contains('%'), "{what}");
                file.clone()
            } else {
                assert_eq!(files, <[PathBuf; 0]>::default(), "{what}");
                left.scratch.path().join("other.out")
            };
            let file_name = file.file_name().expect("a name").to_string_lossy();
            assert!(told.err().contains(&*file_name), "{what}");
            let text = fs::read_to_string(&file).expect("the user's file");
            assert_eq!(routines(&text, "host"), routines(&log, "host"), "{what}");
            assert_eq!(values(&text, "rank", "rank").len(), RANKS as usize, "{what}");
            let mut view = left.scratch.command(Site::shared().tool("topasview"));
            run(view.arg("--mpi").arg(&file)).good();
            fs::remove_file(&file).expect("remove");
        }
    }
}

/// What finds no room in the user's file stays where it was counted, and no empty file is left.
#[test]
fn nothing_is_lost_on_a_full_file_system() {
    let test = "collect on a full file system";
    for mpi in Mpi::installed(test).into_iter().take(1) {
        let left = LeftProfiles::new(mpi);
        launched(&left.scratch, &mut left.launch("kill -1"));
        left.settled();
        let dir = left.scratch.sub("small");
        let Some(disk) = SmallDisk::mount(&dir, "size=64k,mode=1777") else {
            return skip(test, "no file system can be mounted");
        };
        let filler = disk.leave(0);
        let out = dir.join("profile.out");
        let words = ["--no-log", "--out", &out.display().to_string()];
        let full = run(&mut left.collect(&words)).ends(1);
        assert!(full.err().contains("No space left"), "{}", full.err());
        assert!(full.err().contains("hint: "), "{}", full.err());
        assert!(!out.exists(), "an empty file stays");
        assert_eq!(spool_files(&left.places.spool).len(), RANKS as usize);
        fs::remove_file(filler).expect("remove");
        run(&mut left.collect(&words)).good();
        assert_eq!(values(&fs::read_to_string(&out).expect("file"), "host", "ranks"), ["3"]);
        assert_eq!(spool_files(&left.places.spool), <[PathBuf; 0]>::default());
    }
}

/// Whoever names a directory means no other: what lies in the places that are known stays there.
#[test]
fn the_directory_that_the_environment_names_is_the_only_one() {
    for mpi in Mpi::installed("collect by variable").into_iter().take(1) {
        let left = LeftProfiles::new(mpi);
        launched(&left.scratch, &mut left.launch("kill -1"));
        left.settled();
        let mine = spool_files(&left.places.spool).swap_remove(0);
        let known = Path::new("/dev/shm").join(mine.file_name().expect("name"));
        let mut part = Vec::new();
        let file = fs::File::open(&mine).expect("mapped file");
        std::io::Read::read_to_end(&mut std::io::Read::take(file, 8 << 20), &mut part)
            .expect("read");
        fs::write(&known, part).expect("/dev/shm");
        let listed = run(&mut left.tool_by_variable(&["list", "--json"]));
        let collected = run(&mut left.tool_by_variable(&["collect"]));
        let stayed = known.exists();
        fs::remove_file(&known).expect("it was not collected");
        assert!(stayed, "{}", collected.good().err());
        let listed = listed.good().out();
        assert!(!listed.contains("/dev/shm"), "{listed}");
        assert!(listed.contains("\"ranks_here\": 3"), "{listed}");
        assert!(spool_files(&left.places.spool).is_empty());
    }
}

#[test]
fn what_runs_is_left_alone() {
    for mpi in Mpi::installed("collect while it runs") {
        let left = LeftProfiles::new(mpi);
        let mut launch = left.launch("recv 1");
        launch.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = launch.spawn().expect("launch");
        let begun = Instant::now();
        let all = |counted: &[Counted]| {
            counted.len() == RANKS as usize && counted.iter().all(|one| one.ranks == RANKS)
        };
        while !all(&left.places.spooled_so_far()) && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(50));
        }
        let collected = run(&mut left.collect(&[]));
        let list = |form: &[&str]| {
            let mut command = left.scratch.command(Site::shared().tool("topas-mpi"));
            run(command.args(["list", "--spool"]).arg(&left.places.spool).args(form)).good().out()
        };
        let (table, mut object) = (list(&[]), list(&["--json"]));
        // Rank 1 comes to the call in which it stays some time after the others have nothing to do.
        while !object.contains("\"MPI_Recv\"") && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(50));
            object = list(&["--json"]);
        }
        let files = spool_files(&left.places.spool).len();
        kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).expect("launcher");
        child.wait().expect("launcher");
        assert_eq!(files, RANKS as usize, "under {}", mpi.name());
        assert!(collected.good().err().contains("still run"), "under {}", mpi.name());
        assert!(!left.scratch.log().exists(), "under {}", mpi.name());
        let words: Vec<&str> = table.lines().nth(1).expect("a line").split_whitespace().collect();
        assert_eq!(words[..2], ["runs", "3/3"], "{table}");
        let mut written = WrittenJson::default();
        written.add(&object);
        written.hold_all_but(&["topas.mpi.replay/1"], "topas-mpi", &[]);
        left.settled();
        // Of one launch everything else is left alone.
        let none = run(&mut left.collect(&["--launch", "no-id"])).ends(1).err();
        assert!(none.contains("no launch that left something on this node"), "{none}");
        assert_eq!(spool_files(&left.places.spool).len(), files);
        let is_id = |word: &&&str| word.len() == 16 && word.chars().all(|c| c.is_ascii_hexdigit());
        let id = *words.iter().find(is_id).expect("an id");
        let one = run(&mut left.collect(&["--launch", &id[..6]])).good().err();
        assert!(one.contains(id), "{one}");
        assert_eq!(spool_files(&left.places.spool), <[PathBuf; 0]>::default());
    }
}

#[test]
fn many_collectors_tell_each_rank_once() {
    for mpi in Mpi::installed("many collectors") {
        let left = LeftProfiles::new(mpi);
        launched(&left.scratch, &mut left.launch("kill -1"));
        left.settled();
        let expected = sums(&left.places.spooled());
        let mut collectors: Vec<_> =
            (0..8).map(|_| left.collect(&["-q"]).spawn().expect("collector")).collect();
        for collector in &mut collectors {
            assert!(collector.wait().expect("collector").success());
        }
        let log = fs::read_to_string(left.scratch.log()).expect("log");
        assert_eq!(routines(&log, "host"), expected, "{log}");
        let ranks: u32 =
            values(&log, "host", "ranks").iter().map(|ranks| ranks.parse::<u32>().unwrap()).sum();
        assert_eq!(ranks, RANKS, "{log}");
    }
}

#[test]
fn what_cannot_be_written_is_kept_and_what_is_foreign_is_told() {
    for mpi in Mpi::installed("collect without a log").into_iter().take(1) {
        let left = LeftProfiles::new(mpi);
        launched(&left.scratch, &mut left.launch("kill -1"));
        left.settled();
        let none = "file:/proc/none";
        let failed = run(left.collect(&[]).env("TOPAS_LOG", none)).ends(1);
        assert!(failed.err().contains(none) && failed.err().contains("hint:"), "{}", failed.err());
        let kept = spool_files(&left.places.spool);
        assert_eq!(kept.len(), RANKS as usize);
        let only_told = run(&mut left.collect(&["--dry-run"])).good();
        assert!(only_told.err().contains("would be collected"));
        // Another version of the layout; a link; something else of that name.
        let version = kept[0].with_file_name("topas-mpi.0.1.1");
        let uid = geteuid().as_raw();
        let named = |end: &str| version.with_file_name(format!("topas-mpi.{uid}.{end}"));
        fs::copy(&kept[0], named("1.1")).expect("copy");
        change(&named("1.1"), 8, 99);
        std::os::unix::fs::symlink(&kept[0], named("2.1")).expect("link");
        fs::write(named("3.1"), "something else").expect("file");
        let run = run(&mut left.collect(&["-q"])).ends(1);
        for what in ["version 99", "no profile", "cannot collect"] {
            assert!(run.err().contains(what), "{what}: {}", run.err());
        }
        // The others were collected, these were not touched.
        let rest: Vec<PathBuf> = ["1.1", "2.1", "3.1"].map(named).into();
        assert_eq!(spool_files(&left.places.spool), rest);
        let of_one = self::run(&mut left.collect(&["--launch", "no-id"])).ends(1).err();
        assert!(of_one.contains("3 files that cannot be read are left alone"), "{of_one}");
        assert_eq!(spool_files(&left.places.spool), rest);
    }
}

/// Changes a byte of a file.
fn change(path: &Path, at: usize, byte: u8) {
    use std::os::unix::fs::FileExt;
    let file = fs::OpenOptions::new().write(true).open(path).expect("file");
    file.write_all_at(&[byte], at as u64).expect("write");
}

/// Root collects of everybody, as everybody.
#[test]
fn root_collects_as_the_users() {
    const USER: u32 = 65_534;
    if !geteuid().is_root() {
        skip("root collects", "needs root");
        return;
    }
    for mpi in Mpi::installed("root collects").into_iter().take(1) {
        let left = LeftProfiles::new(mpi);
        launched(&left.scratch, &mut left.launch("kill -1"));
        left.settled();
        let mode = |path: &Path, mode| {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("mode");
        };
        // The files of another user; one of them says that it is of root.
        let files = spool_files(&left.places.spool);
        for (number, file) in files.iter().enumerate() {
            let uid_at = std::mem::offset_of!(topas_mpi_profile::layout::Header, uid);
            if number > 0 {
                use std::os::unix::fs::FileExt;
                let spool = fs::OpenOptions::new().write(true).open(file).expect("file");
                spool.write_all_at(&USER.to_ne_bytes(), uid_at as u64).expect("write");
            }
            let other = file.with_file_name(format!("topas-mpi.{USER}.{number}.1"));
            fs::rename(file, &other).expect("rename");
            std::os::unix::fs::chown(&other, Some(USER), Some(USER)).expect("owner");
        }
        mode(&left.places.spool, 0o1777);
        mode(left.scratch.path(), 0o777);
        let Run { .. } = run(&mut left.collect(&["--all-users", "-q"])).ends(1);
        let log = fs::read_to_string(left.scratch.log()).expect("log");
        assert_eq!(values(&log, "host", "uid"), ["65534"], "{log}");
        assert_eq!(values(&log, "host", "ranks"), ["2"], "{log}");
        // The one that lied is left.
        assert_eq!(spool_files(&left.places.spool).len(), 1);
    }
}

/// A user may stop every process that has the user's rights, also that of the collector. This
/// holds up no other user, and nothing of root's is in its reach.
#[test]
fn a_user_who_stops_the_collector_stops_nobody_else() {
    // The one who stops comes first.
    const STOPPER: u32 = 64_377;
    const USER: u32 = 64_378;
    const FILES: usize = 40;
    let test = "a user who stops the collector";
    if !geteuid().is_root() {
        skip(test, "needs root");
        return;
    }
    for mpi in Mpi::installed(test).into_iter().take(1) {
        let left = LeftProfiles::new(mpi);
        launched(&left.scratch, &mut left.launch("kill -1"));
        left.settled();
        let files = spool_files(&left.places.spool);
        let (bytes, size) = beginning(&files[0]);
        files.iter().for_each(|file| fs::remove_file(file).expect("remove"));
        let put = |uid: u32, number: usize| {
            let name = format!("topas-mpi.{uid}.{number}.1");
            let path = left.places.spool.join(name);
            let mut bytes = bytes.clone();
            let uid_at = std::mem::offset_of!(topas_mpi_profile::layout::Header, uid);
            bytes[uid_at..uid_at + 4].copy_from_slice(&uid.to_ne_bytes());
            fs::write(&path, bytes).expect("file");
            fs::OpenOptions::new()
                .write(true)
                .open(&path)
                .and_then(|f| f.set_len(size))
                .expect("len");
            std::os::unix::fs::chown(&path, Some(uid), Some(uid)).expect("owner");
        };
        // Many, so that there is time to stop the collector.
        (0..FILES).for_each(|number| put(STOPPER, number));
        put(USER, 0);
        let mode = |path: &Path, mode| {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("mode");
        };
        mode(&left.places.spool, 0o1777);
        mode(left.scratch.path(), 0o777);
        // All files are copies of one, so both users have the same data file.
        fs::write(&left.places.out, "").expect("data file");
        mode(&left.places.out, 0o666);
        // All processes of this user but itself, again before each look, so that the collector is
        // not done meanwhile; whether it can read their environment, too.
        let script = "[ $(id -u) = 64377 ] || exit; while :; do \
                      for p in /proc/[0-9]*; do kill -s STOP -- -1; \
                      grep -sqa of-root $p/environ && echo $p; done; done 2>/dev/null";
        let mut shell = command("sh");
        let seen = left.scratch.path().join("seen");
        shell.args(["-c", script]).stdout(fs::File::create(&seen).expect("file"));
        let mut stopper = as_user(STOPPER, STOPPER, &shell).spawn().expect("shell");
        let mut collect = left.collect(&["--all-users", "-q"]);
        let ended = run(collect.env("SECRET", "of-root"));
        stopper.kill().expect("kill");
        stopper.wait().expect("shell");
        let log = fs::read_to_string(left.scratch.log()).expect("log");
        assert!(log.contains(&format!(" uid={USER} ")), "{log}: {}", ended.err());
        assert!(ended.err().contains(&format!("of uid {STOPPER}")), "{}", ended.err());
        assert_eq!(ended.code(), 1, "{}", ended.err());
        assert_eq!(fs::read_to_string(&seen).expect("file"), "");
        // Once the user lets go, the next collector takes what is left.
        run(&mut left.collect(&["--all-users", "-q"])).good();
        assert!(spool_files(&left.places.spool).is_empty());
    }
}

/// The first MiB of a mapped file and its size: the rest is mostly holes.
fn beginning(path: &Path) -> (Vec<u8>, u64) {
    let file = fs::File::open(path).expect("mapped file");
    let size = file.metadata().expect("size").len();
    let mut bytes = Vec::new();
    file.take(1 << 20).read_to_end(&mut bytes).expect("mapped file");
    (bytes, size)
}

/// Neither a profile that is collected nor a log is lost to an output option that names it.
#[test]
fn no_output_replaces_an_input() {
    for mpi in Mpi::installed("outputs of topas-mpi") {
        let left = LeftProfiles::new(mpi);
        launched(&left.scratch, &mut left.launch("kill -1"));
        left.settled();
        let before: Vec<_> = spool_files(&left.places.spool)
            .into_iter()
            .map(|path| (beginning(&path), path))
            .collect();
        assert_eq!(before.len(), RANKS as usize);
        let unchanged = || before.iter().all(|(bytes, path)| beginning(path) == *bytes);
        let (_, profile) = &before[0];
        let profile = profile.to_str().expect("a path");
        for words in [&["--out", profile][..], &["--out", profile, "--no-log"]] {
            let said = run(&mut left.collect(words)).ends(2).err();
            assert!(said.contains("holds the MPI profile of a rank"), "{words:?}: {said}");
            assert!(unchanged(), "{words:?}");
            assert!(!left.scratch.log().exists(), "{words:?}");
        }
        // What was refused is collected by another name.
        run(left.collect(&["--out", "own.out"]).current_dir(left.scratch.path())).good();
        assert_eq!(spool_files(&left.places.spool), Vec::<PathBuf>::new());
        let (log, own) = (left.scratch.log(), left.scratch.path().join("own.out"));

        // An MPI that the user has built is an input, too.
        let libraries = run(command("ldd").arg(&left.program)).good().out();
        let library = libraries.split_whitespace().find(|word| word.contains("/libmpi"));
        let copy = left.scratch.path().join("libmpi-copy.so");
        fs::copy(library.expect("the library of the MPI"), &copy).expect("copy");
        let calibrate = |path: &Path, more: &[&str]| {
            let mut launch = mpi.launch_bare(&left.scratch, 2);
            launch.arg(Site::shared().tool("topas-mpi")).args(["calibrate", "-o"]).arg(path);
            launched(&left.scratch, launch.args(more).args(["--repetitions", "3"]))
        };
        let bytes = fs::read(&copy).expect("library");
        let ended = calibrate(&copy, &["--mpi", copy.to_str().expect("a path")]);
        assert!(ended.code() != 0 && ended.err().contains("is an input"), "{}", ended.err());
        assert!(fs::read(&copy).expect("library") == bytes);

        for path in [&log, &own] {
            let text = fs::read(path).expect("records");
            for more in [&[][..], &["--add"]] {
                let ended = calibrate(path, more);
                let said = ended.err();
                assert_ne!(ended.code(), 0, "{more:?}: {said}");
                assert_eq!(said.matches("holds lines of a log").count(), 1, "{more:?}: {said}");
                assert_eq!(fs::read(path).expect("records"), text, "{more:?}");
            }
        }
    }
}
