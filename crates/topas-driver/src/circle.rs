//! Drivers that call each other.
//!
//! A program behind this driver may look for the next of its name on PATH itself: a compiler
//! cache, a script. It finds this driver, and each would call the other for ever. Nothing may
//! be left in the environment to know it by, least of all while TOPAS is off. So: a program
//! that is our parent is not called again. And a process that becomes one program after the
//! other without end shows by the time it has used; only then, or behind a program that is
//! known to look, the way is written down in `TOPAS_PASSED`.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use nix::unistd::getppid;
use topas_config::Environment;

/// Processor time after which a process is suspected, in milliseconds. A driver that was
/// just started has used one or two.
const SUSPECT: i64 = 50;

/// Device and inode of a file.
type Identity = (u64, u64);

/// What is known of the way here.
#[derive(Debug, Default)]
pub struct Circle {
    passed: Vec<Identity>,
    suspected: bool,
    /// Launchers start launchers: for them only a script is a circle.
    launcher: bool,
}

impl Circle {
    /// Looks at this process.
    pub fn of_process(env: &Environment, launcher: bool) -> Self {
        let text = env.passed().unwrap_or_default().as_bytes();
        let passed: Vec<_> = text.split(|&b| b == b' ').filter_map(identity).collect();
        let used = getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| {
            let sum: TimeVal = usage.user_time() + usage.system_time();
            sum.num_milliseconds()
        });
        let suspected = !launcher && (!passed.is_empty() || used > SUSPECT);
        Circle { passed, suspected, launcher }
    }

    /// Whether calling this program would close a circle.
    pub fn closes_with(&self, path: &Path, file: &Metadata) -> bool {
        let identity = (file.dev(), file.ino());
        self.suspected && self.passed.contains(&identity) || self.is_parent(path, identity)
    }

    fn is_parent(&self, path: &Path, identity: Identity) -> bool {
        let parent = getppid().as_raw();
        if is_script(path) {
            // Perhaps through a subshell that stayed a process of its own.
            return runs(parent, path) || grandparent(parent).is_some_and(|pid| runs(pid, path));
        }
        let exe = fs::metadata(format!("/proc/{parent}/exe"));
        !self.launcher && exe.is_ok_and(|exe| (exe.dev(), exe.ino()) == identity)
    }

    /// What `TOPAS_PASSED` is to say to the program, if anything; `looks` if it is known to
    /// look for the next of its name.
    pub fn way_through(&self, file: &Metadata, looks: bool) -> Option<OsString> {
        if !self.suspected && !looks {
            return None;
        }
        let own = [(file.dev(), file.ino())];
        let all = self.passed.iter().chain(&own).map(|(dev, inode)| format!("{dev}.{inode}"));
        Some(all.collect::<Vec<_>>().join(" ").into())
    }
}

fn identity(word: &[u8]) -> Option<Identity> {
    let (dev, inode) = std::str::from_utf8(word).ok()?.split_once('.')?;
    Some((dev.parse().ok()?, inode.parse().ok()?))
}

fn is_script(path: &Path) -> bool {
    let mut head = [0; 2];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == *b"#!"
}

/// Whether a process is the interpreter of this script: the kernel puts its path behind the
/// interpreter's, and perhaps one option.
fn runs(pid: i32, script: &Path) -> bool {
    let Ok(line) = fs::read(format!("/proc/{pid}/cmdline")) else { return false };
    line.split(|&b| b == 0).skip(1).take(2).any(|word| OsStr::from_bytes(word) == script)
}

fn grandparent(parent: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{parent}/stat")).ok()?;
    // Behind the name, which may hold anything: state, then parent.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_was_passed_is_known_and_told() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let about = fs::metadata(file.path()).unwrap();
        let none = Circle::of_process(&Environment::default(), false);
        assert!(!none.closes_with(file.path(), &about));
        let told =
            Circle { suspected: true, ..Circle::default() }.way_through(&about, false).unwrap();
        let mut list = OsString::from("x 1.y 7.8 ");
        list.push(&told);
        let env: Environment = [("TOPAS_PASSED", &list)].into_iter().collect();
        let circle = Circle::of_process(&env, false);
        assert_eq!(circle.passed, [(7, 8), (about.dev(), about.ino())]);
        assert!(circle.closes_with(file.path(), &about));
        // A launcher starts programs that may launch: no word for them.
        let launcher = Circle::of_process(&env, true);
        assert!(!launcher.closes_with(file.path(), &about));
        assert_eq!(launcher.way_through(&about, false), None);
    }

    #[test]
    fn the_parent_of_a_process_is_found() {
        let me = std::process::id().try_into().unwrap();
        assert_eq!(grandparent(me), Some(getppid().as_raw()));
        let exe = fs::read_link("/proc/self/exe").unwrap();
        // The test's own words hold no script.
        assert!(!runs(me, &exe));
    }
}
