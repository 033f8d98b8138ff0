//! Real servers of databases, started for a test on this machine.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A server that ends with the test.
pub struct Server(pub Child);

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
pub struct PostgresServer {
    dir: PathBuf,
    port: u16,
    nobody: bool,
}

impl PostgresServer {
    const BIN: &str = "/usr/lib/postgresql/15/bin";

    /// Makes a database in a directory; nothing runs yet.
    pub fn new(dir: &Path) -> Self {
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

    /// What `store =` in topas.conf says.
    pub fn url(&self) -> String {
        format!("postgres://topas@127.0.0.1:{}/postgres", self.port)
    }

    /// Starts the server. What is left of one that was killed may still hold the memory that they
    /// share; then the server ends at once, and is started again.
    pub fn start(&self) -> Server {
        let port = self.port.to_string();
        let begun = Instant::now();
        let spawn = || {
            let child = self
                .command("postgres")
                .args(["-h", "127.0.0.1", "-k", "", "-c", "fsync=off", "-p", &port, "-D"])
                .arg(self.dir.join("data"))
                .stderr(Stdio::null())
                .spawn();
            Server(child.unwrap())
        };
        let is_ready = || {
            let mut ready = self.command("pg_isready");
            ready.args(["-q", "-h", "127.0.0.1", "-p", &port]).status().unwrap().success()
        };
        let mut server = spawn();
        while !is_ready() {
            assert!(begun.elapsed() < Duration::from_secs(60), "PostgreSQL does not start");
            thread::sleep(Duration::from_millis(100));
            if server.0.try_wait().unwrap().is_some() {
                server = spawn();
            }
        }
        server
    }
}

/// Two servers of ClickHouse that know each other.
pub struct ClickHouseServers {
    configurations: Vec<PathBuf>,
    http: [u16; 2],
}

impl ClickHouseServers {
    /// Writes the configurations into a directory; nothing runs yet.
    pub fn new(dir: &Path) -> Self {
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

    /// What `store =` in topas.conf says.
    pub fn url(&self) -> String {
        let [one, other] = self.http;
        format!("clickhouse://127.0.0.1:{one},127.0.0.1:{other}/default?cluster=center")
    }

    /// Starts both servers.
    pub fn start(&self) -> Vec<Server> {
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
