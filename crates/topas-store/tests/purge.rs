//! What is purged from the index is gone: from every answer, and from the bytes of its files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use topas_data::{Inputs, Month, OwnLines};
use topas_store::{
    Cell, CellKind, Index, Ingest, IngestReport, Purged, RunFilter, Store, StoredRun, SumsBy,
    ToPurge, latest_runs, sums_by, sums_of_all,
};
use topas_testkit::{numbers_below, with_lengths};

#[path = "ingest/generated.rs"]
mod generated;

use generated::{append, runs_from};

/// The directory in which a process of its own purges, see [`killed_at_any_point`].
const DIRECTORY: &str = "TOPAS_TEST_PURGE";

/// The last run of May 2026 is in the middle of those that are generated.
const FIRST: u64 = 7200;

const RUNS: u64 = 300;

const JUNE: Month = Month { year: 2026, month: 6 };

/// Everything of a log in an index.
fn ingest(index: &Path, log: &Path) -> IngestReport {
    let inputs = Inputs::new(&[log.to_path_buf()]);
    let mut index = Index::open(index).unwrap();
    Ingest::new(&mut index, 97, false).run(&inputs.sources, |_| {}).unwrap()
}

/// An MPI profile of two lines, of which only the first says whose it is.
fn profile(uid: u32, day: &str) -> String {
    let head = format!("{day} 12:00:00 topas-mpi user{} heat 8 a1 v=1 of=run", uid - 1000);
    let first = format!(
        "{head} line=1/2 t=1780000000 uid={uid} end=finalize host=n1 mpi=Open_MPI ranks=8 wall=80 \
         wallmax=10 mpisum=40\n"
    );
    with_lengths(&first) + &with_lengths(&format!("{head} line=2/2 f=Barrier:2:1:1::::::\n"))
}

/// Lines of runs and of profiles, around the end of May.
fn lines() -> Vec<(usize, String)> {
    let mut lines = runs_from(5, FIRST, RUNS);
    for uid in [1003, 1004] {
        lines.push((0, profile(uid, "2026/05/31") + &profile(uid, "2026/06/01")));
    }
    lines
}

/// What every question is answered, and the lines of profiles.
fn held(index: &Path) -> (Vec<StoredRun>, Vec<String>) {
    let mut index = Index::read(index).unwrap();
    let mut runs = latest_runs(&mut index, &RunFilter::default(), None, 1_000_000).unwrap();
    runs.iter_mut().for_each(|run| run.version = 0);
    let mut told = vec![format!("{:?}", sums_of_all(&mut index).unwrap())];
    for by in [
        SumsBy::User,
        SumsBy::Owner,
        SumsBy::Language,
        SumsBy::Library,
        SumsBy::Month,
        SumsBy::Day,
        SumsBy::Rate,
    ] {
        let rows = sums_by(&mut index, by, (0, 99_999_999), &[]).unwrap();
        told.extend(rows.iter().map(|row| format!("{by:?} {row:?}")));
    }
    for (sql, kind) in [
        ("SELECT line FROM profiles ORDER BY line", CellKind::Bytes),
        ("SELECT DISTINCT owner FROM by_class ORDER BY owner", CellKind::Text),
    ] {
        let rows = index.select(sql, &[], &[kind]).unwrap();
        told.extend(rows.iter().map(|row| format!("{row:?}")));
    }
    (runs, told)
}

/// Whether a file of the index, or one that SQLite puts beside it, has these bytes.
fn has(index: &Path, bytes: &str) -> bool {
    ["", "-wal", "-shm", "-journal"].iter().any(|end| {
        let path = PathBuf::from(format!("{}{end}", index.display()));
        let text = fs::read(path).unwrap_or_default();
        text.windows(bytes.len()).any(|found| found == bytes.as_bytes())
    })
}

/// A directory with a log of runs and an index.
fn site() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let (log, index) = (dir.path().join("log"), dir.path().join("index"));
    fs::create_dir(&log).unwrap();
    append(&log, &lines());
    ingest(&index, &log);
    (dir, log, index)
}

#[test]
fn old_runs_are_gone_and_do_not_come_back() {
    let (dir, log, index) = site();
    let before = held(&index);
    assert!(has(&index, "2026/05/31"));
    let purge = |dry_run| {
        Index::open(&index).unwrap().purge(ToPurge::Before(JUNE), false, dry_run).unwrap()
    };
    let told = purge(true);
    assert!(held(&index) == before);
    assert_eq!(purge(false), told);
    let gone = before.0.iter().filter(|run| run.day < 20_260_601).count() as u64;
    assert!(gone > 100 && gone < RUNS - 50, "{gone}");
    assert_eq!(told, Purged { runs: gone, profiles: 4 });
    // Deleted rows are still in the file, until it is written anew.
    let text = lines().into_iter().map(|(_, line)| line).collect::<String>();
    assert!(text.lines().any(|line| line.starts_with("2026/05/") && has(&index, line)));
    assert!(Index::open(&index).unwrap().compact().unwrap());
    assert!(!Index::open(&index).unwrap().compact().unwrap());
    for line in text.lines().filter(|line| line.starts_with("2026/05/")) {
        // A run at midnight is whole or not there.
        let of_later = before
            .0
            .iter()
            .any(|run| run.day >= 20_260_601 && run.texts().any(|text| text == line.as_bytes()));
        assert!(of_later || !has(&index, line), "{line}");
    }
    assert!(text.lines().any(|line| line.starts_with("2026/06/") && has(&index, line)));

    // What one pass makes of the same log if the limit is known before.
    let clean = dir.path().join("clean");
    Index::open(&clean).unwrap().purge(ToPurge::Before(JUNE), false, false).unwrap();
    let read = ingest(&clean, &log);
    assert!(read.too_old > gone, "{read:?}");
    assert!(held(&index) == held(&clean));
    let runs: Vec<&StoredRun> = before.0.iter().filter(|run| run.day >= 20_260_601).collect();
    assert!(runs.iter().copied().eq(held(&index).0.iter()));

    // The same lines in a file that is new to the index. The old ones are removed after the new
    // one is made, which would have the inode of one of them, and so be the same to the index.
    let all: Vec<u8> = fs::read_dir(&log)
        .unwrap()
        .flat_map(|file| fs::read(file.unwrap().path()).unwrap())
        .collect();
    let moved = dir.path().join("moved");
    fs::rename(&log, &moved).unwrap();
    fs::create_dir(&log).unwrap();
    fs::write(log.join("again.log"), all).unwrap();
    fs::remove_dir_all(&moved).unwrap();
    let again = ingest(&index, &log);
    assert_eq!((again.new_lines, again.too_old), (0, read.too_old), "{again:?}");
    assert!(held(&index) == held(&clean));
    // An index that is made again keeps the limit.
    Index::open(&index).unwrap().clear().unwrap();
    ingest(&index, &log);
    assert!(held(&index) == held(&clean));
}

#[test]
fn a_user_who_asked_for_it_is_gone_and_nobody_else() {
    let (dir, log, index) = site();
    let user = OwnLines::new(1003);
    let purge = |dry_run| {
        let mut index = Index::open(&index).unwrap();
        index.purge(ToPurge::User(&user), false, dry_run).unwrap()
    };
    let before = held(&index);
    assert!(has(&index, "user3") && has(&index, "uid=1003"));
    let told = purge(true);
    assert!(held(&index) == before);
    assert_eq!(purge(false), told);
    assert!(told.runs > 30 && told.profiles == 4, "{told:?}");
    assert!(Index::open(&index).unwrap().compact().unwrap());
    assert!(!has(&index, "user3") && !has(&index, "uid=1003"));
    assert_eq!(purge(false), Purged::default());

    // As if the user had never been there.
    let (others, clean) = (dir.path().join("others"), dir.path().join("clean"));
    fs::create_dir(&others).unwrap();
    let lines: Vec<(usize, String)> = lines()
        .into_iter()
        .map(|(file, text)| {
            let own = |line: &&str| !line.contains(" user3 ");
            (file, text.lines().filter(own).map(|line| format!("{line}\n")).collect())
        })
        .collect();
    append(&others, &lines);
    ingest(&clean, &others);
    assert!(held(&index) == held(&clean));
    drop(log);
}

/// Readers see the index as it is while it is written anew.
#[test]
fn readers_go_on() {
    let (_dir, _log, index) = site();
    let mut reader = Index::read(&index).unwrap();
    let count = |reader: &mut Index| {
        let rows = reader.select("SELECT count(*) FROM runs", &[], &[CellKind::Int]).unwrap();
        rows[0][0].clone()
    };
    let all = count(&mut reader);
    Index::open(&index).unwrap().purge(ToPurge::Before(JUNE), false, false).unwrap();
    Index::open(&index).unwrap().compact().unwrap();
    let (Cell::Int(all), Cell::Int(now)) = (all, count(&mut reader)) else { panic!() };
    assert!(now > 50 && now < all, "{now} of {all}");
}

/// What [`killed_at_any_point`] starts and kills.
#[test]
#[ignore = "a process of another test"]
fn purges_what_it_is_told() {
    let Some(dir) = std::env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    let mut index = Index::open(&dir.join("index")).unwrap();
    index.purge(ToPurge::Before(JUNE), false, false).unwrap();
    index.purge(ToPurge::User(&OwnLines::new(1003)), false, false).unwrap();
    index.compact().unwrap();
}

#[test]
fn killed_at_any_point() {
    let kills = if std::env::var_os("TOPAS_TEST_FULL").is_some() { 50 } else { 8 };
    let (dir, _log, index) = site();
    let whole = fs::read(&index).unwrap();
    let purge = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "purges_what_it_is_told"]);
        command.env(DIRECTORY, dir.path()).stdout(Stdio::null()).spawn().unwrap()
    };
    assert!(purge().wait().unwrap().success());
    let expected = held(&index);
    assert!(!expected.0.is_empty());
    let (mut below, mut killed) = (numbers_below(3), 0);
    for number in 0..kills {
        for end in ["-wal", "-shm", "-journal"] {
            let _ = fs::remove_file(format!("{}{end}", index.display()));
        }
        fs::write(&index, &whole).unwrap();
        let mut child = purge();
        thread::sleep(Duration::from_micros(1000 + below(40_000)));
        child.kill().unwrap();
        killed += u64::from(!child.wait().unwrap().success());
        assert!(purge().wait().unwrap().success());
        assert!(held(&index) == expected, "kill {number}");
        assert!(!has(&index, "user3") && !has(&index, " uid=1003"), "kill {number}");
    }
    assert!(killed > kills / 4, "{killed} of {kills} were killed at work");
}
