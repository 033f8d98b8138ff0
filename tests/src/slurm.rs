//! A Slurm of two nodes with eight processors each, in a scratch directory, for one test.
//!
//! Both nodes are this machine: each daemon has a host name of its own and a file of hosts
//! in which it stands, and a directory for what Slurm's parts put into `/tmp`.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};

use crate::running::{command, have, run};
use crate::site::Scratch;
use crate::slurm_accounting::{AccountingPorts, register};

/// How long the daemons may take to come up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Programs it needs, with the Debian packages they are in.
const NEEDED: [(&str, &str); 6] = [
    ("unshare", "util-linux"),
    ("munged", "munge"),
    ("slurmctld", "slurmctld"),
    ("slurmd", "slurmd"),
    ("srun", "slurm-client"),
    ("sbatch", "slurm-client"),
];

/// Its nodes.
pub const NODES: [&str; 2] = ["n1", "n2"];

/// The daemons, ended when dropped.
#[derive(Debug)]
pub struct Cluster {
    dir: PathBuf,
    /// In the order started.
    daemons: Vec<Child>,
}

impl Cluster {
    /// Starts one with its files in `scratch`.
    ///
    /// # Errors
    /// Why that cannot be done here.
    pub fn start(scratch: &Scratch) -> Result<Cluster, String> {
        Cluster::start_with(scratch, None)
    }

    /// The same, with accounting.
    ///
    /// # Errors
    /// Why that cannot be done here.
    pub fn with_accounting(scratch: &Scratch) -> Result<Cluster, String> {
        Cluster::start_with(scratch, Some(AccountingPorts::new()?))
    }

    fn start_with(
        scratch: &Scratch,
        accounting: Option<AccountingPorts>,
    ) -> Result<Cluster, String> {
        for (program, package) in NEEDED {
            if !have(program) {
                return Err(format!("no {program}: package {package} is missing"));
            }
        }
        if !geteuid().is_root() {
            return Err("needs root: its daemons start programs for users".to_owned());
        }
        let dir = scratch.sub("slurm");
        for part in ["munge", "state", "spool.n1", "spool.n2", "tmp.n1", "tmp.n2"] {
            scratch.sub(&format!("slurm/{part}"));
        }
        let mut cluster = Cluster { dir, daemons: Vec::new() };
        cluster.start_munge();
        let accounted = accounting.map_or_else(String::new, AccountingPorts::of_slurm_conf);
        fs::write(cluster.conf(), cluster.configuration() + &accounted).expect("write slurm.conf");
        let hosts = format!("127.0.0.1 localhost {} {}\n", host(), NODES.join(" "));
        fs::write(cluster.dir.join("hosts"), hosts).expect("write the file of hosts");
        if let Some(accounting) = accounting {
            let dir = cluster.dir.clone();
            accounting.start(&mut cluster, &dir)?;
            register(&cluster.conf())?;
        }
        cluster.on_host(&host(), "slurmctld", &[]);
        for node in NODES {
            cluster.on_host(node, "slurmd", &["-N", node]);
        }
        cluster.wait_until_idle()?;
        Ok(cluster)
    }

    /// A command of this cluster, such as `srun`.
    pub fn client(&self, scratch: &Scratch, name: &str) -> Command {
        let mut client = scratch.command(name);
        client.env("SLURM_CONF", self.conf());
        client
    }

    fn conf(&self) -> PathBuf {
        self.dir.join("slurm.conf")
    }

    pub(crate) fn daemon(&mut self, log: &str, daemon: &mut Command) {
        let log = fs::File::create(self.dir.join(format!("{log}.log"))).expect("log of a daemon");
        let errors = log.try_clone().expect("descriptor");
        daemon.stdin(Stdio::null()).stdout(log).stderr(errors);
        self.daemons.push(daemon.spawn().expect("start a daemon"));
    }

    /// A daemon of Slurm on a host of that name.
    fn on_host(&mut self, host: &str, name: &str, args: &[&str]) {
        const SCRIPT: &str =
            r#"mount --bind "$1/hosts" /etc/hosts && hostname "$2" && shift 2 && exec "$@""#;
        let mut daemon = command("unshare");
        daemon.args(["--uts", "--mount", "sh", "-c", SCRIPT, "sh"]).arg(&self.dir).arg(host);
        daemon.args([name, "-D", "-f"]).arg(self.conf()).args(args);
        self.daemon(&format!("{name}.{host}"), &mut daemon);
    }

    fn start_munge(&mut self) {
        let dir = self.dir.join("munge");
        let random = fs::read("/proc/sys/kernel/random/uuid").expect("randomness");
        let key = dir.join("key");
        fs::write(&key, random.repeat(4)).expect("write key");
        fs::set_permissions(&key, Permissions::from_mode(0o600)).expect("mode of key");
        let option = |name: &str, file: &str| format!("--{name}={}", dir.join(file).display());
        let words = [
            "--foreground".to_owned(),
            "--force".to_owned(),
            option("key-file", "key"),
            option("socket", "socket"),
            option("pid-file", "pid"),
            option("log-file", "log"),
            option("seed-file", "seed"),
        ];
        self.daemon("munged", command("munged").args(words));
        let start = Instant::now();
        while !dir.join("socket").exists() && start.elapsed() < PATIENCE {
            sleep(Duration::from_millis(20));
        }
    }

    fn configuration(&self) -> String {
        let (host, dir) = (host(), self.dir.display());
        // All held until all are known, so that they differ.
        let ports = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("free port"));
        let [control, ports @ ..] =
            ports.each_ref().map(|port| port.local_addr().expect("port").port());
        let nodes: String = NODES
            .iter()
            .zip(ports)
            .map(|(node, port)| {
                format!(
                    "NodeName={node} NodeHostname={node} NodeAddr=127.0.0.1 Port={port} CPUs=8 \
                     State=UNKNOWN\n"
                )
            })
            .collect();
        format!(
            "ClusterName=topas\n\
             SlurmctldHost={host}(127.0.0.1)\n\
             SlurmctldPort={control}\n\
             AuthType=auth/munge\n\
             AuthInfo=socket={dir}/munge/socket,cred_expire=5\n\
             CredType=cred/munge\n\
             SlurmUser=root\n\
             SlurmdUser=root\n\
             StateSaveLocation={dir}/state\n\
             SlurmdSpoolDir={dir}/spool.%n\n\
             TmpFS={dir}/tmp.%n\n\
             SlurmctldPidFile={dir}/slurmctld.pid\n\
             SlurmdPidFile={dir}/%n.pid\n\
             KillWait=3\n\
             SlurmdParameters=config_overrides\n\
             ProctrackType=proctrack/linuxproc\n\
             TaskPlugin=task/none\n\
             SelectType=select/cons_tres\n\
             SelectTypeParameters=CR_CPU\n\
             ReturnToService=2\n\
             MpiDefault=none\n\
             SwitchType=switch/none\n\
             JobAcctGatherType=jobacct_gather/none\n\
             {nodes}\
             PartitionName=test Nodes=ALL Default=YES MaxTime=10 State=UP\n"
        )
    }

    fn wait_until_idle(&self) -> Result<(), String> {
        let start = Instant::now();
        let mut last = String::new();
        while start.elapsed() < PATIENCE {
            let mut sinfo = command("sinfo");
            sinfo.args(["--noheader", "--Node", "--format=%t"]).env("SLURM_CONF", self.conf());
            let answer = run(&mut sinfo);
            last = format!("{}{}", answer.out(), answer.err());
            if answer.out().lines().filter(|state| *state == "idle").count() == NODES.len() {
                return Ok(());
            }
            sleep(Duration::from_millis(100));
        }
        Err(format!("the nodes did not come up: {last}; see {}", self.dir.display()))
    }
}

/// The name of this machine.
pub(crate) fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").expect("host name");
    name.trim().to_owned()
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().rev() {
            // One that has ended already needs no signal.
            let _ = kill(Pid::from_raw(daemon.id().cast_signed()), Signal::SIGTERM);
            let start = Instant::now();
            while matches!(daemon.try_wait(), Ok(None)) && start.elapsed() < PATIENCE {
                sleep(Duration::from_millis(20));
            }
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}
