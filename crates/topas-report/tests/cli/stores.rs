//! `topas-report ingest` with a database that goes away in the middle and comes back, and
//! `topas-report serve` on it.

use std::fs;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use topas_store::{Cell, CellKind, Index, Store, SumsBy, TABLES, remote_store, sums_by};
use topas_testkit::numbers_below;

use super::{Center, stderr};

#[path = "../../../topas-store/tests/stores/servers.rs"]
mod servers;

use servers::{ClickHouseServers, PostgresServer, Server};

/// Runs that come between two deaths.
const RUNS: u64 = 500;

/// How often a server or an ingest dies at a random moment.
const DEATHS: u64 = 50;

fn ingest(center: &Center) -> Child {
    center.ingest(&["--batch", "100"])
}

/// All runs, in an order of their own, and the sums by user and day.
fn held(store: &mut dyn Store) -> (Vec<Vec<Cell>>, Vec<String>) {
    let runs = TABLES[0];
    let sql = format!(
        "SELECT {} FROM {} WHERE gone = 0 ORDER BY launch, id",
        runs.column_names(),
        store.dialect().table(runs.name)
    );
    let kinds: Vec<CellKind> = runs.columns().map(|column| column.kind).collect();
    let rows = store.select(&sql, &[], &kinds).unwrap();
    let mut sums = Vec::new();
    for by in [SumsBy::User, SumsBy::Day, SumsBy::Language] {
        let of = sums_by(store, by, (0, 99_999_999), &[]).unwrap();
        sums.extend(of.iter().map(|row| format!("{row:?}")));
    }
    (rows, sums)
}

/// Kills servers and ingests at random moments of work; what comes out is what the index has, which
/// is what awk adds up from the log.
fn dies_and_comes_back(url: &str, start: &dyn Fn() -> Vec<Server>) {
    let center = Center::new("");
    fs::write(center.path("etc/topas.conf"), format!("store = {url}\n")).unwrap();
    let mut below = numbers_below(url.len() as u64);
    let mut running = start();
    let (mut told, mut killed) = (0, 0);
    for round in 0..DEATHS {
        center.append_runs(round, RUNS);
        let mut child = ingest(&center);
        thread::sleep(Duration::from_millis(20 + below(600)));
        // The server in two rounds of three, the ingest in the third.
        match round % 3 {
            2 => child.kill().unwrap(),
            _ => running.clear(),
        }
        let output = child.wait_with_output().unwrap();
        let said = stderr(&output);
        match output.status.code() {
            None => killed += 1,
            // The server may have died when all had arrived.
            Some(0) => {}
            code => {
                assert_eq!(code, Some(1), "{said}");
                assert!(said.contains("nothing is lost"), "{said}");
                told += 1;
            }
        }
        if round % 3 != 2 {
            // While it is away, lines come all the same.
            center.append_runs(1000 + round, RUNS);
            let output = ingest(&center).wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
            running = start();
        }
    }
    let output = ingest(&center).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    println!("{DEATHS} rounds: {told} times the server was away, {killed} times ingest was killed");
    let mut index = Index::read(&center.path("index")).unwrap();
    let mut store = remote_store(url).unwrap();
    let (own, remote) = (held(&mut index), held(&mut *store));
    assert_eq!(own.0.len(), remote.0.len());
    assert!(own == remote, "the database has other runs or sums than the index");
    let awk = Command::new("awk").arg("END { print NR }").arg(center.log()).output().unwrap();
    let lines: usize = String::from_utf8(awk.stdout).unwrap().trim().parse().unwrap();
    assert_eq!(own.0.len(), lines, "a line a run");
    drop(running);
}

#[test]
#[ignore = "cargo xtask test --stores"]
fn postgres_dies_in_the_middle_and_nothing_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let postgres = PostgresServer::new(dir.path());
    dies_and_comes_back(&postgres.url(), &|| vec![postgres.start()]);
}

#[test]
#[ignore = "cargo xtask test --stores"]
fn clickhouse_dies_in_the_middle_and_nothing_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let clickhouse = ClickHouseServers::new(dir.path());
    dies_and_comes_back(&clickhouse.url(), &|| clickhouse.start());
}
