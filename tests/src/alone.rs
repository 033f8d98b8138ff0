//! One measuring rank by itself: without a launcher, with the variables of one; as another
//! user, or in a mount namespace of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use nix::unistd::geteuid;

use crate::build::plain;
use crate::mpi_installation::emulate_rank;
use crate::running::{Run, command, have, run};
use crate::site::{Scratch, Site};
use crate::skip::skip;

/// A user without rights.
pub const NOBODY: u32 = 65534;

/// The program `c/says.c`, linked with the shared installation.
pub fn says() -> (Scratch, PathBuf) {
    let scratch = Scratch::new();
    let program = scratch.path().join("says");
    plain(Site::shared(), "c/says.c", false, &program);
    (scratch, program)
}

/// Rank 1 of 4, which measures, logs to `log` and says why it does not.
pub fn rank(program: &Path, log: &str) -> Command {
    let mut rank = command(program);
    emulate_rank(&mut rank, 1, 4, "0123456789abcdef-0123456789abcdef");
    rank.env("TOPAS_PE", "1,2").env("TOPAS_LOG", log).env("TOPAS_VERBOSE", "1");
    rank
}

/// Panics if `c/says.c` did not do what it does without TOPAS. What it said besides.
#[track_caller]
pub fn unharmed(run: &Run) -> String {
    const OWN: &str = "a warning of the program\n";
    assert_eq!((run.code(), run.out().as_str()), (3, "result 42\n"), "{}", run.err());
    assert!(run.err().contains(OWN), "{}", run.err());
    run.err().replacen(OWN, "", 1)
}

/// Panics if `c/says.c` was harmed, or TOPAS said a word.
#[track_caller]
pub fn quiet(run: &Run) {
    assert_eq!(unharmed(run), "");
}

/// A command by another program that runs it: its program and arguments follow.
pub fn through(words: &[&str], inner: &Command) -> Command {
    let mut outer = command(words[0]);
    outer.args(&words[1..]).arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    if let Some(dir) = inner.get_current_dir() {
        outer.current_dir(dir);
    }
    outer
}

/// A command as another user, in no group but `group`.
pub fn as_user(uid: u32, group: u32, inner: &Command) -> Command {
    let [uid, group] = [uid, group].map(|id| id.to_string());
    through(&["setpriv", "--reuid", &uid, "--regid", &group, "--clear-groups", "--"], inner)
}

/// A command as a user without rights.
pub fn as_nobody(inner: &Command) -> Command {
    as_user(NOBODY, NOBODY, inner)
}

/// Whether tests may act for other users.
pub fn is_root(test: &str) -> bool {
    let root = geteuid().is_root() && have("setpriv");
    if !root {
        skip(test, "needs root, to act for two users");
    }
    root
}

/// A command in a mount namespace of its own, after a shell script that prepares it; the
/// script's `$1`, `$2` are `arguments`.
pub fn in_namespace(script: &str, arguments: [&Path; 2], inner: &Command) -> Command {
    let script = format!("{{ {script}\n}} && shift 2 && exec \"$@\"");
    let [first, second] = arguments.map(|path| path.display().to_string());
    through(&["unshare", "-m", "sh", "-c", &script, "sh", &first, &second], inner)
}

/// A command with a /dev of its own, mounted at `dir`, in which /dev/log leads to `log` or
/// is missing.
pub fn with_dev(dir: &Path, log: Option<&Path>, inner: &Command) -> Command {
    const SCRIPT: &str = "mount -t tmpfs tmpfs \"$1\" && mkdir \"$1/shm\" \"$1/pts\" && \
        mount --bind /dev/shm \"$1/shm\" && ln -s /proc/self/fd \"$1/fd\" && \
        for name in null zero full random urandom tty; do \
          : > \"$1/$name\" && mount --bind /dev/$name \"$1/$name\" || exit 9; done && \
        { test \"$2\" = / || ln -s \"$2\" \"$1/log\"; } && mount --bind \"$1\" /dev";
    in_namespace(SCRIPT, [dir, log.unwrap_or(Path::new("/"))], inner)
}

/// Whether namespaces with mounts can be made here.
pub fn can_mount(test: &str) -> bool {
    let scratch = Scratch::new();
    let tried = have("unshare")
        && run(&mut with_dev(scratch.path(), None, command("test").args(["!", "-e", "/dev/log"])))
            .code()
            == 0;
    if !tried {
        skip(test, "no right to mount, which it takes to change /dev or /etc for one program");
    }
    tried
}
