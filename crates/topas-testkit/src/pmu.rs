//! A PMU for machines that have none.
//!
//! [`run`] starts a program under a seccomp filter that hands each `perf_event_open`,
//! and each `ioctl` that asks an event for its id, to this process. It answers by a
//! [`PmuPlan`] and records what was asked, for the program and all its descendants, static
//! ones too, without privileges. Everything else the program does goes to the kernel.
//!
//! An open event is a sealed file in memory with the answers to [`READS`] reads one
//! after the other, so a program's `read` is the kernel's own. What a plan does not
//! say is judged as Linux does for a user without privileges: fields of the structure,
//! `perf_event_paranoid`, rules for groups.
//!
//! Where a test wants real counts, of threads and children as well, a plan puts a real
//! event of the kernel in the place of another: page faults, or stores to an address.
//!
//! What it does not play: group reads (`PERF_FORMAT_GROUP`, answered with `EINVAL`),
//! sampling (`EOPNOTSUPP`), control groups, `mmap`, and the other `ioctl`s of an event,
//! so an event opened `disabled` shows zeros for ever. `read` must ask for exactly the size
//! of its `read_format`; `pread` and `lseek` work, as they would not on an event, and a
//! forked child goes on in the file where its parent is. A closed sibling still takes its
//! place in the group. Without root, the
//! program runs in a user namespace, so set-user-id programs have no effect under it.

mod attr;
mod call;
mod errno;
mod event;
mod kernel;
mod plan;
mod supervisor;

use std::error::Error;
use std::fmt;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

pub use attr::{Attr, read_format};
pub use call::{NotACall, PmuCall, Reply};
pub use kernel::KernelEvent;
pub use plan::{PlanError, PmuAnswer, PmuPlan, TIME_ENABLED, TIME_FRESH};

use crate::sys::{self, Listener};

/// How many reads of an event succeed; later ones return 0 bytes.
pub const READS: u32 = 64;

/// How long descendants may outlive the program before the stand-in leaves them; a
/// `perf_event_open` of theirs then fails with `ENOSYS`.
pub const LINGER: Duration = Duration::from_secs(10);

/// Exit code of the command: it could not do its part, or was called wrongly.
pub const EXIT_FAILED: u8 = 125;
/// Exit code of the command: the program exists and cannot be executed.
pub const EXIT_NOT_EXECUTABLE: u8 = 126;
/// Exit code of the command: there is no such program.
pub const EXIT_NOT_FOUND: u8 = 127;

/// What became of a program.
#[derive(Debug)]
pub struct PmuOutcome {
    /// How the program itself ended.
    pub status: ExitStatus,
    /// What it and its descendants wrote on standard output, unless attached.
    pub stdout: Vec<u8>,
    /// The same for standard error.
    pub stderr: Vec<u8>,
    /// Every `perf_event_open`, in the order of the answers.
    pub calls: Vec<PmuCall>,
    /// How often an event was asked for its id.
    pub id_queries: u64,
    /// Descendants were still there [`LINGER`] after the program.
    pub left_behind: bool,
}

impl PmuOutcome {
    /// The program's exit code, 128 + the signal's number if a signal ended it.
    pub fn exit_code(&self) -> u8 {
        let code = self.status.code().or_else(|| self.status.signal().map(|signal| 128 + signal));
        code.and_then(|code| u8::try_from(code).ok()).unwrap_or(EXIT_FAILED)
    }
}

/// Why there is no [`PmuOutcome`].
#[derive(Debug)]
pub enum PmuError {
    /// The program could not be started under the filter.
    Start {
        /// Its name.
        program: String,
        /// The system's reason.
        cause: io::Error,
    },
    /// The protocol with the kernel failed; the program was killed.
    Supervise(io::Error),
    /// The program ended, and the report lacks calls.
    Report(io::Error),
}

impl PmuError {
    /// What the user can do.
    pub fn hint(&self) -> &'static str {
        match self {
            PmuError::Start { cause, .. } => match cause.raw_os_error() {
                Some(libc::ENOENT) => "give the path of an existing program after --",
                Some(libc::EACCES) => "check the permissions of the program",
                Some(libc::EBUSY) => "a stand-in cannot run inside a stand-in",
                Some(libc::EMFILE | libc::ENFILE) => "raise the limit of open files",
                _ => "seccomp user notification needs Linux 5.9 or later, on x86-64 or AArch64",
            },
            PmuError::Supervise(_) => {
                "Linux 5.9 or later is needed, and the right to trace \
                                       one's own processes"
            }
            PmuError::Report(_) => "check the space and the permissions where the report goes",
        }
    }

    /// The exit code the command ends with.
    pub fn exit_code(&self) -> u8 {
        match self {
            PmuError::Start { cause, .. } => match cause.raw_os_error() {
                Some(libc::ENOENT) => EXIT_NOT_FOUND,
                Some(libc::EACCES | libc::ENOEXEC) => EXIT_NOT_EXECUTABLE,
                _ => EXIT_FAILED,
            },
            _ => EXIT_FAILED,
        }
    }
}

impl fmt::Display for PmuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PmuError::Start { program, .. } => write!(f, "cannot start '{program}'"),
            PmuError::Supervise(_) => f.write_str("lost the connection to the program's calls"),
            PmuError::Report(_) => f.write_str("cannot write the report"),
        }
    }
}

impl Error for PmuError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            PmuError::Start { cause, .. } => Some(cause),
            PmuError::Supervise(cause) | PmuError::Report(cause) => Some(cause),
        }
    }
}

/// Runs `command` by `plan` and captures its output.
///
/// Blocks until the program and its descendants have ended, at most [`LINGER`] after
/// the program.
///
/// # Errors
/// See [`PmuError`]. A program that fails is no error: see [`PmuOutcome::status`].
pub fn run(plan: &PmuPlan, mut command: Command) -> Result<PmuOutcome, PmuError> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    supervise(plan, command, &mut |_| ())
}

/// Runs `command` by `plan` with its streams as `command` has them, and writes a line
/// per call to `report` as soon as it is answered.
///
/// # Errors
/// As [`run`], and [`PmuError::Report`] after the program's end if a line was lost.
pub fn run_reporting(
    plan: &PmuPlan,
    command: Command,
    report: &mut dyn Write,
) -> Result<PmuOutcome, PmuError> {
    let mut lost = None;
    let outcome = supervise(plan, command, &mut |call| {
        if let Err(error) = report.write_all(format!("{call}\n").as_bytes()) {
            lost.get_or_insert(error);
        }
    })?;
    match lost.or_else(|| report.flush().err()) {
        Some(error) => Err(PmuError::Report(error)),
        None => Ok(outcome),
    }
}

fn supervise(
    plan: &PmuPlan,
    mut command: Command,
    on_call: &mut dyn FnMut(&PmuCall),
) -> Result<PmuOutcome, PmuError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let start_error = |cause| PmuError::Start { program: program.clone(), cause };
    let (ours, theirs) = UnixStream::pair().map_err(start_error)?;
    sys::filter_at_exec(&mut command, theirs).map_err(start_error)?;
    let mut child = command.spawn().map_err(start_error)?;
    // Holds our copies of the write ends of the pipes, if any, and of `theirs`.
    drop(command);
    let outcome = sys::receive_descriptor(&ours).and_then(Listener::new).and_then(|listener| {
        supervisor::Supervisor::new(plan, listener, on_call).serve(&mut child)
    });
    outcome.map_err(|cause| {
        // Without its supervisor the program would run on with calls that fail. It may
        // have ended already; then there is nothing to kill.
        let _ = child.kill();
        let _ = child.wait();
        PmuError::Supervise(cause)
    })
}
