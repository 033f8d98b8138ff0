//! System calls of `topas-run`: a child that is waited for with its usage, signals passed on to
//! it, an end like its own.

use std::ffi::{CString, c_int};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

/// Whether a file gives its process some of root's rights.
pub fn has_capabilities(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: both names end with a NUL; of no buffer nothing is written.
    unsafe {
        libc::getxattr(path.as_ptr(), c"security.capability".as_ptr(), ptr::null_mut(), 0) > 0
    }
}

/// Whether this process runs with other rights than its user's.
pub fn is_privileged() -> bool {
    // SAFETY: no memory is passed.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// How a child ended, and what it used.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Exit code
    pub code: Option<u8>,
    /// Number of the signal that ended it
    pub signal: Option<c_int>,
    /// User and system CPU time in us, of all its threads and the children it waited for
    pub cpu: [u64; 2],
    /// Largest resident set in B
    pub resident: u64,
}

/// A child that runs a program. While it is there this process holds all its own signals back.
#[derive(Debug)]
pub struct Child {
    pid: libc::pid_t,
    own_group: bool,
}

/// Program, words and environment as the kernel takes them.
pub struct Image<'i> {
    /// Path of the program
    pub path: &'i CString,
    /// Its words, the first its name
    pub words: &'i [CString],
    /// Its environment
    pub environment: &'i [CString],
}

impl Child {
    /// Runs a program in a child that is killed when this process ends, with the signals as they
    /// are here. In a process group of its own, so that what is sent to this group comes to it
    /// once; unless standard input is a terminal, where a group decides who may read.
    ///
    /// # Errors
    /// The system's, that of a failed exec too.
    pub fn start(image: &Image<'_>) -> io::Result<Child> {
        let pointers = |strings: &[CString]| -> Vec<*const libc::c_char> {
            strings.iter().map(|s| s.as_ptr()).chain([ptr::null()]).collect()
        };
        let (words, environment) = (pointers(image.words), pointers(image.environment));
        let shell = c"/bin/sh";
        let by_shell: Vec<_> = [shell.as_ptr(), image.path.as_ptr()]
            .into_iter()
            .chain(words.iter().copied().skip(1))
            .collect();
        let (said, say) = pipe()?;
        // SAFETY: standard input, open or not, is only asked.
        let own_group = unsafe { libc::isatty(0) } == 0;
        let held = Held::all();
        // SAFETY: the child calls nothing but functions that are safe in a copy of a process with
        // one thread.
        let pid = unsafe {
            let parent = libc::getpid();
            let pid = libc::fork();
            if pid == 0 {
                if own_group {
                    libc::setpgid(0, 0);
                }
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                if libc::getppid() != parent {
                    libc::_exit(127);
                }
                held.put_back();
                libc::execve(image.path.as_ptr(), words.as_ptr(), environment.as_ptr());
                let mut error = *libc::__errno_location();
                if error == libc::ENOEXEC {
                    libc::execve(shell.as_ptr(), by_shell.as_ptr(), environment.as_ptr());
                    error = *libc::__errno_location();
                }
                let bytes = error.to_ne_bytes();
                libc::write(say.as_raw_fd(), bytes.as_ptr().cast(), bytes.len());
                libc::_exit(127);
            }
            pid
        };
        if pid < 0 {
            let error = io::Error::last_os_error();
            held.put_back();
            return Err(error);
        }
        drop(say);
        let mut bytes = [0; 4];
        let error = loop {
            // SAFETY: the kernel writes at most four bytes.
            let n = unsafe { libc::read(said.as_raw_fd(), bytes.as_mut_ptr().cast(), 4) };
            match n {
                0 => break None,
                4 => break Some(i32::from_ne_bytes(bytes)),
                _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                _ => break Some(libc::EIO),
            }
        };
        let child = Child { pid, own_group };
        match error {
            None => Ok(child),
            Some(error) => {
                child.reap(0);
                held.put_back();
                Err(io::Error::from_raw_os_error(error))
            }
        }
    }

    /// Waits for the end, and meanwhile passes on every signal that comes here. Stops with the
    /// child where a signal that came here stopped it, so that whoever sent that sees it; not
    /// where the child stopped otherwise: who continues it then does not know of this process.
    pub fn wait(&self) -> Ended {
        let (mut stopping, mut stopped) = (false, false);
        loop {
            if stopping && stopped {
                (stopping, stopped) = (false, false);
                // SAFETY: no memory is passed.
                unsafe { libc::kill(libc::getpid(), libc::SIGSTOP) };
            }
            let mut about: MaybeUninit<libc::siginfo_t> = MaybeUninit::zeroed();
            // SAFETY: all signals are held back, the set is filled, the kernel writes to `about`.
            let (signal, about) = unsafe {
                let mut all = MaybeUninit::uninit();
                libc::sigfillset(all.as_mut_ptr());
                let signal = libc::sigwaitinfo(all.as_ptr(), about.as_mut_ptr());
                (signal, about.assume_init())
            };
            match signal {
                libc::SIGCHLD => {
                    const EVENTS: c_int = libc::WNOHANG | libc::WUNTRACED | libc::WCONTINUED;
                    while let Some(status) = self.reap(EVENTS) {
                        match status {
                            Status::Ended(ended) => return ended,
                            Status::Stopped => stopped = true,
                            Status::Continued => stopped = false,
                        }
                    }
                }
                // Interrupted by a debugger, say.
                ..=0 => {}
                signal => {
                    stopping = match signal {
                        libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU => true,
                        libc::SIGCONT => false,
                        _ => stopping,
                    };
                    self.pass_on(signal, &about);
                }
            }
        }
    }

    /// Passes a signal on. What the kernel sent to the foreground of a terminal has come to the
    /// child already, if that is in the same group.
    fn pass_on(&self, signal: c_int, about: &libc::siginfo_t) {
        if !self.own_group && about.si_code == libc::SI_KERNEL {
            return;
        }
        // SAFETY: `about` is what the kernel gave; a code below zero may be sent again.
        unsafe {
            let queued = about.si_code < 0
                && about.si_code != libc::SI_TKILL
                && libc::syscall(
                    libc::SYS_rt_sigqueueinfo,
                    self.pid,
                    signal,
                    std::ptr::from_ref(about),
                ) == 0;
            if !queued {
                libc::kill(self.pid, signal);
            }
        }
    }

    /// What became of the child, if anything new.
    fn reap(&self, options: c_int) -> Option<Status> {
        let mut status = 0;
        // SAFETY: all-zero is a valid rusage.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        loop {
            // SAFETY: the kernel writes one status and one rusage.
            let pid = unsafe { libc::wait4(self.pid, &raw mut status, options, &raw mut usage) };
            if pid == self.pid {
                break;
            }
            if pid == 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return None;
            }
        }
        if libc::WIFSTOPPED(status) {
            return Some(Status::Stopped);
        }
        if libc::WIFCONTINUED(status) {
            return Some(Status::Continued);
        }
        let micros = |time: libc::timeval| {
            time.tv_sec.cast_unsigned() * 1_000_000 + time.tv_usec.cast_unsigned()
        };
        Some(Status::Ended(Ended {
            code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status) as u8),
            signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
            cpu: [micros(usage.ru_utime), micros(usage.ru_stime)],
            resident: usage.ru_maxrss.cast_unsigned() * 1024,
        }))
    }
}

/// The signals of this process as they were before all of them were held back.
struct Held {
    mask: libc::sigset_t,
    of_children: libc::sigaction,
}

impl Held {
    /// Holds all signals back. That of children is at its default meanwhile: ignored, it would
    /// let a child vanish with what it used.
    fn all() -> Held {
        // SAFETY: all-zero is a valid set and a valid action, the default; the kernel writes those
        // that were.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let default: libc::sigaction = std::mem::zeroed();
            let mut held = Held { mask: std::mem::zeroed(), of_children: std::mem::zeroed() };
            libc::sigfillset(&raw mut all);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const all, &raw mut held.mask);
            libc::sigaction(libc::SIGCHLD, &raw const default, &raw mut held.of_children);
            held
        }
    }

    fn put_back(&self) {
        // SAFETY: both are as the kernel gave them.
        unsafe {
            libc::sigaction(libc::SIGCHLD, &raw const self.of_children, ptr::null_mut());
            libc::sigprocmask(libc::SIG_SETMASK, &raw const self.mask, ptr::null_mut());
        }
    }
}

enum Status {
    Stopped,
    Continued,
    Ended(Ended),
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the kernel writes two descriptors, which are ours.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(io::Error::last_os_error());
        }
        let [read, write] = ends;
        Ok((OwnedFd::from_raw_fd(read), OwnedFd::from_raw_fd(write)))
    }
}

/// Ends this process by a signal, as a child ended; without a second core file.
pub fn end_by(signal: c_int) -> i32 {
    // SAFETY: sets and actions are written before they are read.
    unsafe {
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        let mut default: libc::sigaction = std::mem::zeroed();
        default.sa_sigaction = libc::SIG_DFL;
        libc::sigaction(signal, &raw const default, ptr::null_mut());
        libc::kill(libc::getpid(), signal);
        let mut one = MaybeUninit::uninit();
        libc::sigemptyset(one.as_mut_ptr());
        libc::sigaddset(one.as_mut_ptr(), signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, one.as_ptr(), ptr::null_mut());
    }
    128 + signal
}

/// Whether programs and libraries of the file system that holds an open file may be run.
pub fn may_execute(file: BorrowedFd<'_>) -> bool {
    // SAFETY: all-zero is a valid statvfs, and the kernel writes one.
    unsafe {
        let mut about: libc::statvfs = std::mem::zeroed();
        libc::fstatvfs(file.as_raw_fd(), &raw mut about) != 0 || about.f_flag & libc::ST_NOEXEC == 0
    }
}
