//! Running programs: a clean environment, a time limit, output in files.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

/// How long a program may take before it counts as hanging.
pub const LIMIT: Duration = Duration::from_secs(120);

/// How long Cargo may take that compiles a part of TOPAS for a test: on a busy machine that is
/// longer than a program may take.
const BUILD_LIMIT: Duration = Duration::from_secs(1200);

/// How long a launcher has to take its ranks down before it is killed itself.
const GRACE: Duration = Duration::from_secs(5);

/// User name in the environment of programs.
pub const USER: &str = "tester";

/// How a program ended and what it wrote.
#[derive(Debug)]
pub struct Run {
    /// How it ended.
    pub status: ExitStatus,
    /// What it wrote on standard output.
    pub stdout: Vec<u8>,
    /// What it wrote on standard error.
    pub stderr: Vec<u8>,
}

impl Run {
    /// Exit code, 128 + the signal's number if a signal ended it.
    pub fn code(&self) -> i32 {
        let signal = self.status.signal().map(|signal| 128 + signal);
        self.status.code().or(signal).expect("a program that has ended")
    }

    /// Standard output as text.
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text.
    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Panics with the output unless the exit code is 0.
    #[track_caller]
    pub fn good(self) -> Self {
        self.ends(0)
    }

    /// Panics with the output unless the exit code is `code`.
    #[track_caller]
    pub fn ends(self, code: i32) -> Self {
        assert_eq!(self.code(), code, "output:\n{}{}", self.out(), self.err());
        self
    }
}

/// A command with a small fixed environment: nothing of the tester's shell, batch job or
/// TOPAS settings reaches it.
pub fn command(program: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program.as_ref());
    command.env_clear().env("PATH", system_path()).env("HOME", "/tmp").env("LOGNAME", USER);
    command.env("LANG", "C.UTF-8").stdin(Stdio::null());
    command
}

/// The directories of the system's own programs.
pub fn system_path() -> &'static str {
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
}

/// Runs to the end. Panics if that takes longer than [`LIMIT`].
#[track_caller]
pub fn run(command: &mut Command) -> Run {
    run_within(command, LIMIT)
}

/// Runs Cargo, which may take longer than a program.
#[track_caller]
pub fn run_cargo(command: &mut Command) -> Run {
    run_within(command, BUILD_LIMIT)
}

/// Runs to the end. Panics if the program cannot be started, or, with its output, if it
/// takes longer than `limit`; it is killed then, with its process group.
#[track_caller]
pub fn run_within(command: &mut Command, limit: Duration) -> Run {
    // Files, because a descendant that stays behind would keep a pipe open for ever.
    let mut outputs = [(); 2].map(|()| tempfile::tempfile().expect("temporary file"));
    let [stdout, stderr] = outputs.each_ref().map(|file| file.try_clone().expect("descriptor"));
    command.stdout(stdout).stderr(stderr).process_group(0);
    let mut child =
        command.spawn().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    let status = wait(&mut child, limit);
    let [stdout, stderr] = outputs.each_mut().map(content);
    match status {
        Some(status) => Run { status, stdout, stderr },
        None => panic!(
            "hangs: {command:?} was killed after {} s; output:\n{}{}",
            limit.as_secs(),
            String::from_utf8_lossy(&stdout),
            String::from_utf8_lossy(&stderr)
        ),
    }
}

/// Waits for the end; `None` if it had to be killed.
fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(200);
    let mut ended_by = |limit: Duration, child: &mut Child| {
        loop {
            if let Some(status) = child.try_wait().expect("wait for a child") {
                return Some(status);
            }
            if start.elapsed() >= limit {
                return None;
            }
            sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    };
    let ended = ended_by(limit, child);
    if ended.is_none() {
        let pid = Pid::from_raw(child.id().cast_signed());
        // Ranks may be in other process groups: their launcher takes them down. Both may
        // have ended by themselves meanwhile.
        let _ = kill(pid, Signal::SIGTERM);
        ended_by(limit + GRACE, child);
        let _ = killpg(pid, Signal::SIGKILL);
        child.wait().expect("wait for a child");
    }
    ended
}

fn content(file: &mut File) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).expect("read a temporary file");
    bytes
}

/// Whether a program of this name is on the system's path.
pub fn have(name: &str) -> bool {
    system_path().split(':').any(|dir| Path::new(dir).join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_and_exit_code_come_back() {
        let mut shell = command("sh");
        let run = run(shell.args(["-c", "echo a; echo b >&2; exit 7"])).ends(7);
        assert_eq!((run.out().as_str(), run.err().as_str()), ("a\n", "b\n"));
        assert_eq!(super::run(command("sh").args(["-c", "kill -KILL $$"])).code(), 137);
    }

    #[test]
    fn the_environment_is_ours() {
        let listed = run(&mut command("env")).good().out();
        let mut names: Vec<_> = listed.lines().filter_map(|l| l.split('=').next()).collect();
        names.sort_unstable();
        assert_eq!(names, ["HOME", "LANG", "LOGNAME", "PATH"]);
    }

    #[test]
    #[should_panic(expected = "hangs: ")]
    fn a_program_that_hangs_is_killed() {
        run_within(command("sleep").arg("30"), Duration::from_millis(100));
    }
}
