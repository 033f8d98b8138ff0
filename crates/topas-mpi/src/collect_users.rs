//! `topas-mpi collect --all-users`: a process for each user, with the rights of this user.
//!
//! A user may send signals to a process with the rights of this user, and could trace it or read
//! its environment if it had been executed with these rights. So each process is executed as root,
//! in a session of its own, and gives its rights up before it looks at any file: the kernel then
//! lets only root trace it. A user who stops it holds up the others for a limited time.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::str::FromStr;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::prctl::set_dumpable;
use nix::unistd::{Gid, Uid, setgid, setgroups, setsid, setuid};
use topas_mpi_data::spool_owners;

use crate::args::Collect;
use crate::{TOOL, exit};

/// After this time the process of a user is killed: an epilog has 30 s for all users.
const PATIENCE: Duration = Duration::from_secs(8);

/// The user that a collector becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectedUser {
    /// User id
    pub uid: u32,
    /// Group id
    pub gid: u32,
}

impl FromStr for CollectedUser {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let ids = text.split_once(':').and_then(|(uid, gid)| {
            Some(CollectedUser { uid: uid.parse().ok()?, gid: gid.parse().ok()? })
        });
        ids.ok_or_else(|| "expected UID:GID".to_owned())
    }
}

/// Gives up the rights of root for those of a user, for good.
///
/// # Errors
///
/// What the system says; the caller must end then.
pub fn become_user(user: CollectedUser) -> Result<(), Errno> {
    // Without a controlling terminal nothing can be typed into the terminal of root. A process
    // that leads a group already has been started by hand.
    let _ = setsid();
    setgroups(&[])?;
    setgid(Gid::from_raw(user.gid))?;
    setuid(Uid::from_raw(user.uid))?;
    // The kernel has done so, unless fs.suid_dumpable says otherwise.
    set_dumpable(false)
}

/// As each user of whom there are files, by this program with that user's rights and no more.
pub fn of_all_users(options: &Collect, directories: &[PathBuf]) -> u8 {
    let mut worst = exit::OK;
    let mut owners: Vec<(u32, u32)> = Vec::new();
    for directory in directories {
        match spool_owners(directory) {
            Ok(more) => owners.extend(more),
            Err(cause) => {
                let what = format!("cannot list {}", directory.display());
                TOOL.error(&what, Some(&cause), "check the directory");
                worst = exit::FAILED;
            }
        }
    }
    owners.sort_unstable();
    owners.dedup_by_key(|(uid, _)| *uid);
    for (uid, gid) in owners {
        let mut arguments: Vec<OsString> = vec!["collect".into(), "--as-user".into()];
        arguments.push(format!("{uid}:{gid}").into());
        for directory in directories {
            arguments.push("--spool".into());
            arguments.push(directory.into());
        }
        if options.dry_run {
            arguments.push("--dry-run".into());
        }
        if options.quiet {
            arguments.push("--quiet".into());
        }
        let started = Command::new("/proc/self/exe").args(arguments).stdin(Stdio::null()).spawn();
        let ended = match started.map(|child| ended_in_time(child, PATIENCE)) {
            Ok(Ok(ended)) => ended,
            Ok(Err(cause)) | Err(cause) => {
                TOOL.error(&format!("cannot collect of uid {uid}"), Some(&cause), "");
                worst = exit::FAILED;
                continue;
            }
        };
        // What fails is told by the process itself, unless it was killed.
        let killed = match ended {
            Some(status) if status.success() => continue,
            Some(status) => status.code().is_none().then(|| status.to_string()),
            None => Some(format!("it did not end within {} s", PATIENCE.as_secs())),
        };
        if let Some(cause) = killed {
            let what = format!("not everything of uid {uid} was collected");
            TOOL.error(&what, Some(&cause), "the next topas-mpi collect takes what is left");
        }
        worst = exit::FAILED;
    }
    worst
}

/// How a process ended; None if it had to be killed because it did not.
fn ended_in_time(mut child: Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    let since = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if since.elapsed() >= patience {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_two_numbers() {
        assert_eq!("4:5".parse(), Ok(CollectedUser { uid: 4, gid: 5 }));
        for text in ["", "4", "4:", ":5", "-1:5", "root:root", "4:5:6"] {
            assert!(text.parse::<CollectedUser>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_process_that_does_not_end_is_killed() {
        let start = |seconds: &str| Command::new("sleep").arg(seconds).spawn().unwrap();
        let ended = ended_in_time(start("0"), Duration::from_secs(60)).unwrap();
        assert!(ended.is_some_and(|status| status.success()));
        let ended = ended_in_time(start("600"), Duration::from_millis(50)).unwrap();
        assert_eq!(ended, None);
    }
}
