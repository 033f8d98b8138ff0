//! A virtual machine of PVM on this host, for one test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getuid};

use crate::running::have;
use crate::site::Scratch;

const PATIENCE: Duration = Duration::from_secs(10);

/// Where Debian keeps PVM's own parts.
const ROOT: &str = "/usr/lib/pvm3";

/// The daemon, ended when dropped. Its tasks log where the scratch directory is.
#[derive(Debug)]
pub struct VirtualMachine {
    daemon: Child,
    /// Apart from other virtual machines of this user by name and directory.
    variables: Vec<(&'static str, String)>,
}

impl VirtualMachine {
    /// Starts one with its files in `scratch`.
    ///
    /// # Errors
    /// Why that cannot be done here.
    pub fn start(scratch: &Scratch) -> Result<VirtualMachine, String> {
        if !have("pvmd") || !Path::new("/usr/include/pvm3.h").exists() {
            return Err("no PVM: packages pvm and pvm-dev are missing".to_owned());
        }
        let dir = scratch.sub("pvm");
        let name = "topas".to_owned();
        let variables = vec![
            ("PVM_ROOT", ROOT.to_owned()),
            ("PVM_TMP", dir.display().to_string()),
            ("PVM_VMID", name.clone()),
            ("PVM_ALLOW_ROOT", "1".to_owned()),
        ];
        let mut pvmd = scratch.command("pvmd");
        pvmd.envs(variables.iter().cloned()).stdout(Stdio::null()).stderr(Stdio::null());
        let daemon = pvmd.spawn().map_err(|error| format!("cannot start pvmd: {error}"))?;
        let machine = VirtualMachine { daemon, variables };
        machine.wait(&dir.join(format!("pvmd.{}.{name}", getuid())))?;
        Ok(machine)
    }

    /// A program that is started by hand on a host of this virtual machine.
    pub fn command(&self, scratch: &Scratch, program: &Path) -> Command {
        let mut command = scratch.command(program);
        command.envs(self.variables.iter().cloned());
        command
    }

    fn wait(&self, address: &PathBuf) -> Result<(), String> {
        let start = Instant::now();
        // Programs read the daemon's address there.
        while !fs::metadata(address).is_ok_and(|file| file.len() > 0) {
            if start.elapsed() > PATIENCE {
                return Err(format!("pvmd has not written {}", address.display()));
            }
            sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

impl Drop for VirtualMachine {
    fn drop(&mut self) {
        // It ends its tasks and removes its files.
        let _ = kill(Pid::from_raw(self.daemon.id().cast_signed()), Signal::SIGTERM);
        let start = Instant::now();
        while matches!(self.daemon.try_wait(), Ok(None)) && start.elapsed() < PATIENCE {
            sleep(Duration::from_millis(10));
        }
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}
