//! Slurm's accounting for one test: slurmdbd, and a MariaDB of its own behind it.

use std::fs::{self, Permissions};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread::sleep;
use std::time::Instant;

use crate::running::{command, have, run};
use crate::slurm::{Cluster, PATIENCE, host};

/// Programs it needs beside Slurm's others, with the Debian packages they are in.
const NEEDED: [(&str, &str); 5] = [
    ("mariadbd", "mariadb-server-core"),
    ("mariadb-install-db", "mariadb-server-core"),
    ("slurmdbd", "slurmdbd"),
    ("sacctmgr", "slurm-client"),
    ("sacct", "slurm-client"),
];

/// The account of all jobs.
pub const ACCOUNT: &str = "chem";

/// Ports of both daemons.
#[derive(Clone, Copy, Debug)]
pub struct AccountingPorts {
    database: u16,
    daemon: u16,
}

impl AccountingPorts {
    /// Free ones, if all programs are here.
    ///
    /// # Errors
    /// Which program is missing.
    pub(crate) fn new() -> Result<Self, String> {
        for (program, package) in NEEDED {
            if !have(program) {
                return Err(format!("no {program}: package {package} is missing"));
            }
        }
        let ports = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("free port"));
        let [database, daemon] =
            ports.each_ref().map(|port| port.local_addr().expect("port").port());
        Ok(AccountingPorts { database, daemon })
    }

    /// What slurm.conf says of it.
    pub(crate) fn of_slurm_conf(self) -> String {
        format!(
            "AccountingStorageType=accounting_storage/slurmdbd\n\
             AccountingStorageHost=127.0.0.1\n\
             AccountingStoragePort={}\n",
            self.daemon
        )
    }

    /// Starts both daemons in a directory, before the cluster's others.
    ///
    /// # Errors
    /// What did not come up.
    pub(crate) fn start(self, cluster: &mut Cluster, dir: &Path) -> Result<(), String> {
        let data = dir.join("database");
        fs::create_dir_all(&data).expect("make directory");
        let option = |name: &str, file: &Path| format!("--{name}={}", file.display());
        let of_data = option("datadir", &data);
        let mut install = command("mariadb-install-db");
        install.args(["--no-defaults", "--user=root", "--skip-test-db", &of_data]);
        run(install.arg("--auth-root-authentication-method=normal")).good();
        let mut database = command("mariadbd");
        database.args(["--no-defaults", "--user=root", "--bind-address=127.0.0.1", &of_data]);
        // The cluster is of this test alone, and so is the database.
        database.args(["--skip-grant-tables", "--skip-name-resolve"]);
        database.arg(format!("--port={}", self.database));
        database.arg(option("socket", &dir.join("database.socket")));
        database.arg(option("pid-file", &dir.join("database.pid")));
        cluster.daemon("mariadbd", &mut database);
        answers(self.database, "MariaDB")?;
        let conf = dir.join("slurmdbd.conf");
        fs::write(&conf, self.of_daemon(dir)).expect("write slurmdbd.conf");
        // Else it does not read it.
        fs::set_permissions(&conf, Permissions::from_mode(0o600)).expect("mode of slurmdbd.conf");
        let mut daemon = command("slurmdbd");
        cluster.daemon("slurmdbd", daemon.arg("-D").env("SLURM_CONF", dir.join("slurm.conf")));
        answers(self.daemon, "slurmdbd")
    }

    /// slurmdbd.conf.
    fn of_daemon(self, dir: &Path) -> String {
        let (host, dir, database, daemon) = (host(), dir.display(), self.database, self.daemon);
        format!(
            "AuthType=auth/munge\n\
             AuthInfo=socket={dir}/munge/socket\n\
             DbdHost={host}\n\
             DbdAddr=127.0.0.1\n\
             DbdPort={daemon}\n\
             SlurmUser=root\n\
             PidFile={dir}/slurmdbd.pid\n\
             StorageType=accounting_storage/mysql\n\
             StorageHost=127.0.0.1\n\
             StoragePort={database}\n\
             StorageUser=root\n\
             StoragePass=none\n"
        )
    }
}

/// Makes the cluster and an account of root known.
///
/// # Errors
/// What sacctmgr said last.
pub(crate) fn register(conf: &Path) -> Result<(), String> {
    let account = format!("name={ACCOUNT}");
    let of_account = format!("account={ACCOUNT}");
    let words: [&[&str]; 3] = [
        &["add", "cluster", "topas"],
        &["add", "account", &account],
        // Root is there from the start, and only gets another account.
        &["add", "user", "root", &of_account],
    ];
    for words in words {
        let start = Instant::now();
        loop {
            let mut sacctmgr = command("sacctmgr");
            let said = run(sacctmgr.arg("--immediate").args(words).env("SLURM_CONF", conf));
            if said.code() == 0 || said.out().contains("already exist") {
                break;
            }
            if start.elapsed() > PATIENCE {
                return Err(format!("sacctmgr {words:?}: {}{}", said.out(), said.err()));
            }
            sleep(std::time::Duration::from_millis(200));
        }
    }
    Ok(())
}

/// Waits until somebody listens at a port.
fn answers(port: u16, who: &str) -> Result<(), String> {
    let start = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if start.elapsed() > PATIENCE {
            return Err(format!("{who} did not come up"));
        }
        sleep(std::time::Duration::from_millis(100));
    }
    Ok(())
}
