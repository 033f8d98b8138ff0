//! The same answers from the index, from a real PostgreSQL, and from a real ClickHouse of two
//! shards; and nothing is lost while one of them is away.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use topas_data::Inputs;
use topas_store::{
    Cell, Index, Ingest, RunClass, RunFilter, RunPosition, Store, StoredRun, SumsBy, class_samples,
    deliver, find_run, latest_runs, owners_of, profile_lines, remote_store, sums_by, sums_of_all,
};
use topas_testkit::with_lengths;

#[path = "ingest/generated.rs"]
mod generated;

/// A server that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port that nobody listens on.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn wait_for(port: u16) {
    let begun = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(60), "nobody listens on {port}");
        thread::sleep(Duration::from_millis(100));
    }
}

/// PostgreSQL, which does not run as root.
struct PostgresServer {
    dir: PathBuf,
    port: u16,
    nobody: bool,
}

impl PostgresServer {
    const BIN: &str = "/usr/lib/postgresql/15/bin";

    fn new(dir: &Path) -> Self {
        let dir = dir.join("postgres");
        fs::create_dir(&dir).unwrap();
        let uid = std::os::unix::fs::MetadataExt::uid(&fs::metadata(&dir).unwrap());
        let server = PostgresServer { dir, port: free_port(), nobody: uid == 0 };
        if server.nobody {
            chown(&server.dir, Some(65534), Some(65534)).unwrap();
        }
        let data = server.dir.join("data");
        let made = server
            .command("initdb")
            .args(["-A", "trust", "-U", "topas", "--no-sync", "-E", "UTF8", "--locale=C", "-D"])
            .arg(data)
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(made.success());
        server
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(Path::new(Self::BIN).join(name));
        command.current_dir("/");
        if self.nobody {
            command.uid(65534).gid(65534);
        }
        command
    }

    fn start(&self) -> Server {
        let port = self.port.to_string();
        let child = self
            .command("postgres")
            .args(["-h", "127.0.0.1", "-k", "", "-c", "fsync=off", "-p", &port, "-D"])
            .arg(self.dir.join("data"))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Server(child);
        wait_for(self.port);
        let begun = Instant::now();
        let ready = |server: &PostgresServer| {
            let status =
                server.command("pg_isready").args(["-q", "-h", "127.0.0.1", "-p", &port]).status();
            status.unwrap().success()
        };
        while !ready(self) {
            assert!(begun.elapsed() < Duration::from_secs(60));
            thread::sleep(Duration::from_millis(100));
        }
        server
    }
}

/// Two servers of ClickHouse that know each other.
struct ClickHouseServers {
    configurations: Vec<PathBuf>,
    http: [u16; 2],
}

impl ClickHouseServers {
    fn new(dir: &Path) -> Self {
        let http = [free_port(), free_port()];
        let tcp = [free_port(), free_port()];
        let shards: String = tcp
            .iter()
            .map(|port| {
                format!(
                    "<shard><replica><host>127.0.0.1</host><port>{port}</port></replica></shard>"
                )
            })
            .collect();
        let mut configurations = Vec::new();
        for at in 0..2 {
            let own = dir.join(format!("clickhouse{at}"));
            fs::create_dir(&own).unwrap();
            let users = own.join("users.xml");
            fs::write(
                &users,
                "<yandex><profiles><default/></profiles><quotas><default/></quotas><users><default>\
                 <password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>\
                 <quota>default</quota></default></users></yandex>",
            )
            .unwrap();
            let path = own.display();
            let (http, tcp, between) = (http[at], tcp[at], free_port());
            let text = format!(
                "<yandex><logger><level>error</level><log>{path}/log</log><errorlog>{path}/errors</errorlog>\
                 </logger><http_port>{http}</http_port><tcp_port>{tcp}</tcp_port>\
                 <interserver_http_port>{between}</interserver_http_port><listen_host>127.0.0.1</listen_host>\
                 <path>{path}/data/</path><tmp_path>{path}/tmp/</tmp_path>\
                 <user_files_path>{path}/files/</user_files_path><users_config>{}</users_config>\
                 <default_profile>default</default_profile><default_database>default</default_database>\
                 <mark_cache_size>5368709</mark_cache_size>\
                 <remote_servers><center>{shards}</center></remote_servers></yandex>",
                users.display()
            );
            let configuration = own.join("config.xml");
            fs::write(&configuration, text).unwrap();
            configurations.push(configuration);
        }
        ClickHouseServers { configurations, http }
    }

    fn start(&self) -> Vec<Server> {
        let start = |configuration: &PathBuf| {
            let child = Command::new("clickhouse-server")
                .arg(format!("--config-file={}", configuration.display()))
                .current_dir(configuration.parent().unwrap())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            Server(child)
        };
        let servers = self.configurations.iter().map(start).collect();
        self.http.iter().for_each(|port| wait_for(*port));
        servers
    }
}

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
    let [one, other] = clickhouse.http;
    let urls = [
        format!("postgres://topas@127.0.0.1:{}/postgres", postgres.port),
        format!("clickhouse://127.0.0.1:{one},127.0.0.1:{other}/default?cluster=center"),
    ];
    // Small batches, so that runs are joined later and become others.
    let (runs, batch) = match std::env::var_os("TOPAS_TEST_FULL") {
        Some(_) => (250_000, 5000),
        None => (400, 97),
    };
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
