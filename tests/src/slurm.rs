//! A Slurm of one node with eight processors, in a scratch directory, for one test.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};

use crate::running::{command, have, run};
use crate::site::Scratch;

/// How long the daemons may take to come up.
const PATIENCE: Duration = Duration::from_secs(30);

/// Programs it needs, with the Debian packages they are in.
const NEEDED: [(&str, &str); 5] = [
    ("munged", "munge"),
    ("slurmctld", "slurmctld"),
    ("slurmd", "slurmd"),
    ("srun", "slurm-client"),
    ("sbatch", "slurm-client"),
];

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
        for (program, package) in NEEDED {
            if !have(program) {
                return Err(format!("no {program}: package {package} is missing"));
            }
        }
        if !geteuid().is_root() {
            return Err("needs root: its daemons start programs for users".to_owned());
        }
        let dir = scratch.sub("slurm");
        for part in ["munge", "state", "spool"] {
            scratch.sub(&format!("slurm/{part}"));
        }
        let mut cluster = Cluster { dir, daemons: Vec::new() };
        cluster.start_munge();
        fs::write(cluster.conf(), cluster.configuration()).expect("write slurm.conf");
        let conf = cluster.conf();
        for daemon in ["slurmctld", "slurmd"] {
            cluster.daemon(daemon, &[Path::new("-D"), Path::new("-f"), &conf]);
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

    fn daemon(&mut self, name: &str, args: &[&Path]) {
        let log = fs::File::create(self.dir.join(format!("{name}.log"))).expect("log of a daemon");
        let errors = log.try_clone().expect("descriptor");
        let mut daemon = command(name);
        daemon.args(args).stdin(Stdio::null()).stdout(log).stderr(errors);
        self.daemons.push(daemon.spawn().expect("start a daemon"));
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
        let words: Vec<&Path> = words.iter().map(Path::new).collect();
        self.daemon("munged", &words);
        let start = Instant::now();
        while !dir.join("socket").exists() && start.elapsed() < PATIENCE {
            sleep(Duration::from_millis(20));
        }
    }

    fn configuration(&self) -> String {
        let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("host name");
        let (host, dir) = (host.trim(), self.dir.display());
        // Both held until both are known, so that they differ.
        let ports = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("free port"));
        let [control, node] = ports.each_ref().map(|port| port.local_addr().expect("port").port());
        format!(
            "ClusterName=topas\n\
             SlurmctldHost={host}(127.0.0.1)\n\
             SlurmctldPort={control}\n\
             SlurmdPort={node}\n\
             AuthType=auth/munge\n\
             AuthInfo=socket={dir}/munge/socket\n\
             CredType=cred/munge\n\
             SlurmUser=root\n\
             SlurmdUser=root\n\
             StateSaveLocation={dir}/state\n\
             SlurmdSpoolDir={dir}/spool\n\
             SlurmctldPidFile={dir}/slurmctld.pid\n\
             SlurmdPidFile={dir}/slurmd.pid\n\
             SlurmdParameters=config_overrides\n\
             ProctrackType=proctrack/linuxproc\n\
             TaskPlugin=task/none\n\
             SelectType=select/cons_tres\n\
             SelectTypeParameters=CR_CPU\n\
             ReturnToService=2\n\
             MpiDefault=none\n\
             SwitchType=switch/none\n\
             JobAcctGatherType=jobacct_gather/none\n\
             NodeName={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN\n\
             PartitionName=test Nodes=ALL Default=YES MaxTime=10 State=UP\n"
        )
    }

    fn wait_until_idle(&self) -> Result<(), String> {
        let start = Instant::now();
        let mut last = String::new();
        while start.elapsed() < PATIENCE {
            let mut sinfo = command("sinfo");
            sinfo.args(["--noheader", "--format=%t"]).env("SLURM_CONF", self.conf());
            let answer = run(&mut sinfo);
            last = format!("{}{}", answer.out(), answer.err());
            if answer.out().trim() == "idle" {
                return Ok(());
            }
            sleep(Duration::from_millis(100));
        }
        Err(format!("the node did not come up: {last}; see {}", self.dir.display()))
    }
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
