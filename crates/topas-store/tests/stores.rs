//! The same answers from the index, from a real PostgreSQL, and from a real ClickHouse of two
//! shards; and nothing is lost while one of them is away.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use topas_data::Inputs;
use topas_store::{
    Cell, CellKind, Dialect, Index, Ingest, RunClass, RunFilter, RunPosition, Store, StoredRun,
    SumsBy, ToPurge, class_samples, deliver, find_run, latest_runs, owners_of, profile_lines,
    remote_store, sums_by, sums_of_all,
};
use topas_testkit::with_lengths;

#[path = "ingest/generated.rs"]
mod generated;
#[path = "stores/servers.rs"]
mod servers;

use servers::{ClickHouseServers, PostgresServer, Server};

/// What a store answers to every question.
fn answers(store: &mut dyn Store) -> Vec<String> {
    let mut told = Vec::new();
    for by in [
        SumsBy::User,
        SumsBy::Owner,
        SumsBy::Language,
        SumsBy::Library,
        SumsBy::Month,
        SumsBy::Day,
        SumsBy::Rate,
    ] {
        let rows = sums_by(store, by, (0, 99_999_999), &[]).unwrap();
        assert!(!rows.is_empty());
        told.extend(rows.iter().map(|row| format!("{by:?} {row:?}")));
    }
    let all = sums_of_all(store).unwrap().unwrap();
    told.push(format!("{all:?}"));
    let own = ["1003".to_owned(), "1004".to_owned()];
    told.extend(
        sums_by(store, SumsBy::Month, (0, 99_999_999), &own)
            .unwrap()
            .iter()
            .map(|row| format!("{row:?}")),
    );
    let mut listed = |filter: RunFilter| {
        let mut behind = None;
        for _ in 0..4 {
            let page: Vec<StoredRun> = latest_runs(store, &filter, behind, 23).unwrap();
            behind = page.last().map(|run| RunPosition { last: run.last, id: run.id }).or(behind);
            told.extend(page.iter().map(|run| format!("{run:?}")));
        }
    };
    listed(RunFilter::default());
    listed(RunFilter { owner: Some("1003".to_owned()), ..RunFilter::default() });
    listed(RunFilter { text: Some("x'y".to_owned()), failed: true, ..RunFilter::default() });
    listed(RunFilter { exe: Some("a<b>".to_owned()), npes: Some(16), ..RunFilter::default() });
    let some = latest_runs(store, &RunFilter::default(), None, 1).unwrap().remove(0);
    assert_eq!(find_run(store, some.launch, some.id).unwrap().as_ref(), Some(&some));
    assert!(some.record().is_some());
    told.push(format!("{:?}", owners_of(store, "user3").unwrap()));
    let class = RunClass { lang: "f90".to_owned(), lib: "mpi".to_owned(), size: 16 };
    for (owner, sample) in class_samples(store, &class, 0, "mflops").unwrap() {
        let mflops = topas_data::measure::Measure::named("mflops").unwrap();
        told.push(format!("{owner} {:?}", sample.mean(mflops)));
    }
    let profile = profile_lines(store, b"a1", "1003").unwrap();
    assert!(profile.starts_with(b"2026/11/17"), "{profile:?}");
    told.push(format!("{profile:?}"));
    assert_eq!(profile_lines(store, b"a2", "1003").unwrap(), b"", "another launch");
    told
}

/// A line of a user's MPI profile.
fn profile() -> String {
    with_lengths(
        "2026/11/17 12:00:00 topas-mpi user3 heat 8 a1 v=1 of=run line=1/1 t=1794916800 uid=1003 \
         end=finalize host=n1 mpi=Open_MPI ranks=8 wall=28800 wallmax=3600 mpisum=14400\n",
    )
}

fn number_of_rows(store: &mut dyn Store) -> Vec<Vec<Cell>> {
    let sql = format!("SELECT count(*) FROM {} WHERE gone = 0", store.dialect().table("runs"));
    store.select(&sql, &[], &[topas_store::CellKind::Int]).unwrap()
}

/// An engine of today, in a process of Python.
fn current_engine(dir: &Path) -> (Server, String) {
    let python = std::env::var_os("TOPAS_TEST_CHDB").unwrap_or_else(|| "python3".into());
    let mut child = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/chdb_server.py"))
        .arg(dir)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut port = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let server = Server(child);
    assert!(!port.trim().is_empty(), "asked for, so it must run");
    (server, format!("clickhouse://127.0.0.1:{}/default", port.trim()))
}

#[test]
#[ignore = "cargo xtask test --stores"]
fn a_current_engine_gives_the_same_answers() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    fs::create_dir(&log).unwrap();
    let (_server, url) = current_engine(&dir.path().join("engine"));
    let mut index = Index::open(&dir.path().join("index")).unwrap();
    let mut store = remote_store(&url).unwrap();
    for round in 0..3 {
        let mut more = generated::runs(70 + round, 400);
        if round == 0 {
            more.push((0, profile()));
        }
        generated::append(&log, &more);
        let inputs = Inputs::new(std::slice::from_ref(&log));
        Ingest::new(&mut index, 97, true).run(&inputs.sources, |_| {}).unwrap();
        deliver(&mut index, &mut *store).unwrap();
        // What arrived before is sent once more.
        index.set_state("delivered", 0).unwrap();
        deliver(&mut index, &mut *store).unwrap();
        assert_eq!(number_of_rows(&mut index), number_of_rows(&mut *store));
        let (own, remote) = (answers(&mut index), answers(&mut *store));
        for (own, remote) in own.iter().zip(&remote) {
            assert_eq!(own, remote);
        }
        assert_eq!(own.len(), remote.len());
    }
}

#[test]
#[ignore = "cargo xtask test --stores"]
fn three_stores_give_one_answer() {
    let dir = tempfile::tempdir().unwrap();
    // The servers' accounts come through it.
    fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let log = dir.path().join("log");
    fs::create_dir(&log).unwrap();
    let postgres = PostgresServer::new(dir.path());
    let clickhouse = ClickHouseServers::new(dir.path());
    let urls = [postgres.url(), clickhouse.url()];
    // Small batches, so that runs are joined later and become others.
    let (runs, batch) = (400, 97);
    for (at, url) in urls.iter().enumerate() {
        let mut index = Index::open(&dir.path().join(format!("index{at}"))).unwrap();
        let mut store = remote_store(url).unwrap();
        let mut running = Vec::new();
        for round in 0..4 {
            let mut more = generated::runs(40 + 10 * at as u64 + round, runs);
            if round == 0 {
                more.push((0, profile()));
            }
            generated::append(&log, &more);
            let inputs = Inputs::new(std::slice::from_ref(&log));
            Ingest::new(&mut index, batch, true).run(&inputs.sources, |_| {}).unwrap();
            match round {
                0 => {
                    // It is not there yet.
                    deliver(&mut index, &mut *store).unwrap_err();
                    running = match at {
                        0 => vec![postgres.start()],
                        _ => clickhouse.start(),
                    };
                    assert!(deliver(&mut index, &mut *store).unwrap().rows > 0);
                }
                1 => {
                    // It goes away.
                    running.clear();
                    deliver(&mut index, &mut *store).unwrap_err();
                }
                2 => {
                    running = match at {
                        0 => vec![postgres.start()],
                        _ => clickhouse.start(),
                    };
                    deliver(&mut index, &mut *store).unwrap();
                    // What arrived before is sent once more.
                    index.set_state("delivered", 0).unwrap();
                    deliver(&mut index, &mut *store).unwrap();
                }
                _ => {
                    index.clear().unwrap();
                    Ingest::new(&mut index, 5000, true).run(&inputs.sources, |_| {}).unwrap();
                    deliver(&mut index, &mut *store).unwrap();
                    assert_eq!(deliver(&mut index, &mut *store).unwrap().batches, 0);
                }
            }
            if round != 1 {
                assert_eq!(number_of_rows(&mut index), number_of_rows(&mut *store), "{url}");
                let (own, remote) = (answers(&mut index), answers(&mut *store));
                for (own, remote) in own.iter().zip(&remote) {
                    assert_eq!(own, remote, "{url}");
                }
                assert_eq!(own.len(), remote.len());
            }
        }
        drop(running);
    }
}

/// Parts of the numbers of launches by which all runs are compared.
const PARTS: i64 = 64;

/// Every run of an owner in a part of the launches, whole.
fn runs_of_part(store: &mut dyn Store, owner: &str, part: i64) -> Vec<Vec<Cell>> {
    let table = topas_store::TABLES[0];
    // The index finds them by the launches, and not by the owner, of whom it has many runs.
    let owned = if store.dialect() == Dialect::Sqlite { "+owner" } else { "owner" };
    let step = i64::MAX / PARTS * 2 + 2;
    let first = i64::MIN.saturating_add(step.saturating_mul(part));
    let sql = format!(
        "SELECT {} FROM {} WHERE gone = 0 AND {owned} = ? AND launch >= ? AND launch <= ? ORDER BY launch, id",
        table.column_names(),
        store.dialect().table(table.name)
    );
    let kinds: Vec<CellKind> = table.columns().map(|column| column.kind).collect();
    let last = first.saturating_add(step - 1);
    let values = [Cell::Text(owner.to_owned()), Cell::Int(first), Cell::Int(last)];
    store.select(&sql, &values, &kinds).unwrap()
}

/// The same runs, brought from one index to each database: all answers, and every run with its
/// lines. With `TOPAS_TEST_FULL=1` there are a million.
#[test]
#[ignore = "cargo xtask test --stores"]
fn the_same_runs_are_the_same_in_every_store() {
    let runs = if std::env::var_os("TOPAS_TEST_FULL").is_some() { 1_000_000 } else { 2_000 };
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let log = dir.path().join("log");
    fs::create_dir(&log).unwrap();
    generated::append(&log, &[(0, profile())]);
    // A file holds lines of a few weeks, as at a center: a batch then changes the sums of few days.
    for part in 0..20 {
        let lines = generated::runs_from(90 + part, part * runs / 20, runs / 20);
        let dir = log.join(format!("{part:02}"));
        fs::create_dir(&dir).unwrap();
        generated::append(&dir, &lines);
    }
    let begun = Instant::now();
    let told = |what: &str| println!("{:8.1} s  {what}", begun.elapsed().as_secs_f64());
    let mut index = Index::open(&dir.path().join("index")).unwrap();
    let inputs = Inputs::new(std::slice::from_ref(&log));
    let batch = topas_store::MOST_BATCH.min(runs as usize / 4);
    let done = Ingest::new(&mut index, batch, true).run(&inputs.sources, |_| {}).unwrap();
    told(&format!("{} lines are {} runs of the index", done.new_lines, done.runs));
    assert!(done.runs >= runs * 9 / 10, "{done:?}");
    let own = answers(&mut index);
    told("the index has answered");
    let postgres = PostgresServer::new(dir.path());
    let clickhouse = ClickHouseServers::new(dir.path());
    let (_engine, engine) = current_engine(&dir.path().join("engine"));
    let _postgres_server = postgres.start();
    let _clickhouse_servers = clickhouse.start();
    for url in [postgres.url(), clickhouse.url(), engine] {
        let mut store = remote_store(&url).unwrap();
        index.set_state("prepared", 0).unwrap();
        index.set_state("delivered", 0).unwrap();
        let delivered = deliver(&mut index, &mut *store).unwrap();
        told(&format!("{delivered:?} to {}", store.name()));
        let remote = answers(&mut *store);
        told(&format!("{} has answered", store.name()));
        assert_eq!(own.len(), remote.len());
        for (own, remote) in own.iter().zip(&remote) {
            assert_eq!(own, remote, "{url}");
        }
        let mut compared = 0;
        for owner in 1000..1006 {
            for part in 0..PARTS {
                let mine = runs_of_part(&mut index, &owner.to_string(), part);
                let remote = runs_of_part(&mut *store, &owner.to_string(), part);
                assert!(mine == remote, "{url}: runs of {owner}, part {part}");
                compared += mine.len() as u64;
            }
        }
        told(&format!("{compared} runs are the same in {}", store.name()));
        assert!(compared >= runs * 9 / 10);
    }
}

/// What is purged from the index is gone from the databases: by age from the tables, of a user also from
/// the files of PostgreSQL.
#[test]
#[ignore = "cargo xtask test --stores"]
fn what_is_purged_is_gone_from_every_store() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let log = dir.path().join("log");
    fs::create_dir(&log).unwrap();
    // Around the end of May 2026.
    generated::append(&log, &generated::runs_from(5, 7200, 300));
    let old = profile().replace("2026/11/17", "2026/05/17");
    generated::append(&log, &[(0, profile()), (1, old)]);
    let inputs = Inputs::new(std::slice::from_ref(&log));
    let postgres = PostgresServer::new(dir.path());
    let clickhouse = ClickHouseServers::new(dir.path());
    let mut running = vec![postgres.start()];
    running.extend(clickhouse.start());
    let (_engine, engine) = current_engine(&dir.path().join("engine"));
    for (at, url) in [postgres.url(), clickhouse.url(), engine].iter().enumerate() {
        let mut index = Index::open(&dir.path().join(format!("index{at}"))).unwrap();
        let mut store = remote_store(url).unwrap();
        Ingest::new(&mut index, 97, true).run(&inputs.sources, |_| {}).unwrap();
        deliver(&mut index, &mut *store).unwrap();
        let before = number_of_rows(&mut *store);
        let june = topas_data::Month { year: 2026, month: 6 };
        let purged = index.purge(ToPurge::Before(june), true, false).unwrap();
        assert!(purged.runs > 100 && purged.profiles == 1, "{url}: {purged:?}");
        // What is killed here is done by the next call.
        deliver(&mut index, &mut *store).unwrap();
        assert_ne!(number_of_rows(&mut *store), before, "{url}");
        for (table, condition) in [
            ("runs", "day < 20260601"),
            ("by_user", "day < 20260601"),
            ("by_rate", "day < 20260601"),
            ("by_class", "month < 202606"),
            ("profiles", "line < '2026/06/01'"),
        ] {
            let of = |condition: &str| format!("SELECT count(*) FROM {table} WHERE {condition}");
            let mut count = |sql: &str| store.select(sql, &[], &[CellKind::Int]).unwrap();
            assert_eq!(count(&of(condition)), [[Cell::Int(0)]], "{url} {table}");
            assert_ne!(count(&of("version > 0")), [[Cell::Int(0)]], "{url} {table}");
        }
        assert_eq!(answers(&mut index), answers(&mut *store), "{url}");

        let user = topas_data::OwnLines::new(1000);
        let purged = index.purge(ToPurge::User(&user), true, false).unwrap();
        assert!(purged.runs > 10, "{url}: {purged:?}");
        deliver(&mut index, &mut *store).unwrap();
        assert_eq!(answers(&mut index), answers(&mut *store), "{url}");
        let sql = "SELECT count(*) FROM runs WHERE owner = '1000'";
        assert_eq!(store.select(sql, &[], &[CellKind::Int]).unwrap(), [[Cell::Int(0)]], "{url}");
    }
    // The server writes what it has in memory when it is told to end.
    let pid = nix::unistd::Pid::from_raw(running[0].0.id() as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    running[0].0.wait().unwrap();
    let base = dir.path().join("postgres/data/base");
    let found = |text: &str| {
        let found = Command::new("grep").args(["-raqF", text]).arg(&base).status().unwrap();
        found.success()
    };
    assert!(found("uid=1001") && !found("uid=1000"));
}
