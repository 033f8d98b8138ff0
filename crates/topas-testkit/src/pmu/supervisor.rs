//! The loop that answers a program's calls until its last process has ended.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use super::attr::{Attr, Refusal};
use super::call::{PmuCall, Reply};
use super::event::Events;
use super::plan::{PmuAnswer, PmuPlan};
use super::{LINGER, PmuOutcome};
use crate::sys::{self, Listener, Notification, PERF_EVENT_IOC_ID};

/// `PERF_FLAG_FD_NO_GROUP`: `group_fd` is not for grouping.
const NO_GROUP: u64 = 1;
/// `PERF_FLAG_PID_CGROUP`: argument `pid` is a control group.
const PID_CGROUP: u64 = 4;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOEXEC: u64 = 8;
/// All flags a kernel knows.
const ALL_FLAGS: u64 = 15;

/// Answers the calls of one program and all its descendants.
pub(super) struct Supervisor<'a> {
    plan: &'a PmuPlan,
    listener: Listener,
    events: Events,
    /// Calls that wait for the time the plan says opening takes.
    opening: VecDeque<(Instant, Notification)>,
    calls: Vec<PmuCall>,
    id_queries: u64,
    on_call: &'a mut dyn FnMut(&PmuCall),
}

impl<'a> Supervisor<'a> {
    pub(super) fn new(
        plan: &'a PmuPlan,
        listener: Listener,
        on_call: &'a mut dyn FnMut(&PmuCall),
    ) -> Self {
        Supervisor {
            plan,
            listener,
            events: Events::default(),
            opening: VecDeque::new(),
            calls: Vec::new(),
            id_queries: 0,
            on_call,
        }
    }

    /// Serves until the program and all its descendants have ended, or [`LINGER`] after
    /// the program itself.
    pub(super) fn serve(mut self, child: &mut Child) -> io::Result<PmuOutcome> {
        let process = sys::process_descriptor(child.id())?;
        let mut stdout = Stream::new(child.stdout.take());
        let mut stderr = Stream::new(child.stderr.take());
        let mut ended: Option<(ExitStatus, Instant)> = None;
        let mut alone = false;
        let (status, left_behind) = loop {
            if let Some((status, at)) = ended
                && (alone || at.elapsed() >= LINGER)
            {
                break (status, !alone);
            }
            let now = Instant::now();
            let next_open = self.opening.front().map(|(due, _)| due.saturating_duration_since(now));
            let end = ended.map(|(_, at)| (at + LINGER).saturating_duration_since(now));
            let ready = sys::wait_ready(
                [
                    if alone { -1 } else { self.listener.as_raw_fd() },
                    if ended.is_some() { -1 } else { process.as_raw_fd() },
                    stdout.descriptor(),
                    stderr.descriptor(),
                ],
                [next_open, end].into_iter().flatten().min(),
            )?;
            if ready[0].input {
                self.receive()?;
            } else if ready[0].hangup {
                alone = true;
            }
            if ready[1].input {
                ended = Some((child.wait()?, Instant::now()));
            }
            stdout.take_if(ready[2])?;
            stderr.take_if(ready[3])?;
            self.open_due()?;
        };
        // Callers that died while opening took its time.
        while let Some((_, asked)) = self.opening.pop_front() {
            self.record(&asked)?;
        }
        drain([&mut stdout, &mut stderr])?;
        Ok(PmuOutcome {
            status,
            stdout: stdout.bytes,
            stderr: stderr.bytes,
            calls: self.calls,
            id_queries: self.id_queries,
            left_behind,
        })
    }

    fn receive(&mut self) -> io::Result<()> {
        let Some(asked) = self.listener.receive()? else {
            return Ok(());
        };
        if asked.number == libc::SYS_perf_event_open {
            let due = Instant::now() + self.plan.time_to_open();
            self.opening.push_back((due, asked));
            Ok(())
        } else {
            self.identify(&asked)
        }
    }

    fn open_due(&mut self) -> io::Result<()> {
        while let Some(&(due, asked)) = self.opening.front()
            && due <= Instant::now()
        {
            self.opening.pop_front();
            self.record(&asked)?;
        }
        Ok(())
    }

    fn record(&mut self, asked: &Notification) -> io::Result<()> {
        let call = self.open(asked)?;
        (self.on_call)(&call);
        self.calls.push(call);
        Ok(())
    }

    /// Answers an `ioctl` with [`PERF_EVENT_IOC_ID`].
    fn identify(&mut self, asked: &Notification) -> io::Result<()> {
        debug_assert_eq!(asked.args[1] as u32, PERF_EVENT_IOC_ID);
        let id = self.events.id(asked.tid, asked.args[0] as i32);
        // The thread id may meanwhile name another thread.
        if !self.listener.is_waiting(asked.id) {
            return Ok(());
        }
        let Some(id) = id else {
            return died(self.listener.pass(asked.id)).map(|_| ());
        };
        let written = sys::write_memory(asked.tid, asked.args[2], &id.to_ne_bytes());
        let result = if matches!(written, Ok(8)) { Ok(()) } else { Err(libc::EFAULT) };
        self.id_queries += 1;
        died(self.listener.answer(asked.id, result)).map(|_| ())
    }

    /// Answers a `perf_event_open`.
    fn open(&mut self, asked: &Notification) -> io::Result<PmuCall> {
        let [attr_at, task, cpu, group_fd, flags, _] = asked.args;
        let mut copy_error = None;
        let attr = Attr::read(|buffer| match sys::read_memory(asked.tid, attr_at, buffer) {
            Ok(n) if n == buffer.len() => Ok(()),
            Ok(_) => Err(io::Error::from_raw_os_error(libc::EFAULT)),
            Err(error) => Err(error),
        })
        .unwrap_or_else(|error| {
            copy_error = Some(error);
            Ok(Attr::default())
        });
        let (attr, first_refusal) = match attr {
            Ok(attr) => (attr, None),
            Err((attr, refusal)) => (attr, Some(refusal)),
        };
        let pid = process_of(asked.tid);
        let mut call = PmuCall {
            pid,
            tid: asked.tid,
            attr,
            task: task as i32,
            cpu: cpu as i32,
            group_fd: group_fd as i32,
            flags,
            leader: self.events.number(pid, asked.tid, group_fd as i32),
            event: None,
            reply: Reply::Gone,
        };
        if !self.listener.is_waiting(asked.id) {
            return Ok(call);
        }
        let answer = self.plan.answer(attr.kind, attr.config);
        if let Some(error) = copy_error {
            return self.refuse(asked, call, libc::EFAULT, format!("attr cannot be read: {error}"));
        }
        if answer == PmuAnswer::Kernel {
            if died(self.listener.pass(asked.id))?.is_some() {
                call.reply = Reply::Kernel;
            }
            return Ok(call);
        }
        if let Some((errno, why)) = first_refusal.or_else(|| self.kernel_refusal(&call)) {
            return self.refuse(asked, call, errno, why.to_owned());
        }
        if let PmuAnswer::Refuse(errno) = answer {
            return self.refuse(asked, call, errno, "plan".to_owned());
        }
        let played = !matches!(answer, PmuAnswer::Other(_));
        if let Some((errno, why)) = call.attr.not_played().filter(|_| played) {
            return self.refuse(asked, call, errno, why.to_owned());
        }
        let grouped = call.group_fd != -1 && call.flags & NO_GROUP == 0;
        let opened = match answer {
            PmuAnswer::Other(event) => match self.events.open_other(&call, event, grouped) {
                Ok(opened) => Ok(opened),
                Err(error) => {
                    let errno = error.raw_os_error().unwrap_or(libc::EINVAL);
                    return self.refuse(asked, call, errno, format!("kernel event: {error}"));
                }
            },
            _ => match self.events.open(self.plan, &call, answer, grouped) {
                Ok(opened) => opened,
                Err(error) => {
                    let why = format!("no file for the event: {error}");
                    return self.refuse(asked, call, libc::ENOMEM, why);
                }
            },
        };
        let (id, file) = match opened {
            Ok(opened) => opened,
            Err((errno, why)) => return self.refuse(asked, call, errno, why.to_owned()),
        };
        match self.listener.inject(asked.id, &file, call.flags & CLOEXEC != 0) {
            Ok(fd) => {
                call.event = Some(id);
                call.reply = Reply::Descriptor(fd);
                Ok(call)
            }
            Err(error) => match error.raw_os_error() {
                Some(libc::ENOENT) => Ok(call),
                Some(errno @ libc::EMFILE) => {
                    self.refuse(asked, call, errno, "no free descriptor".to_owned())
                }
                _ => Err(error),
            },
        }
    }

    /// What the kernel says before it looks at the event itself, in the kernel's order.
    fn kernel_refusal(&self, call: &PmuCall) -> Option<Refusal> {
        if call.flags & !ALL_FLAGS != 0 {
            return Some((libc::EINVAL, "unknown flags"));
        }
        if let Some(refusal) = call.attr.refusal() {
            return Some(refusal);
        }
        let level = self.plan.paranoid_level();
        if level >= 3 || (level >= 2 && !call.attr.exclude_kernel()) {
            return Some((libc::EACCES, "perf_event_paranoid"));
        }
        if call.flags & PID_CGROUP != 0 {
            return Some((libc::EINVAL, "control groups are not played"));
        }
        match (call.task, call.cpu) {
            (-1, -1) => Some((libc::EINVAL, "neither task nor CPU")),
            (-1, _) if level >= 1 => Some((libc::EACCES, "perf_event_paranoid")),
            (task, _) if task > 0 && fs::metadata(format!("/proc/{task}")).is_err() => {
                Some((libc::ESRCH, "no such task"))
            }
            _ => None,
        }
    }

    fn refuse(
        &self,
        asked: &Notification,
        mut call: PmuCall,
        errno: i32,
        why: String,
    ) -> io::Result<PmuCall> {
        if died(self.listener.answer(asked.id, Err(errno)))?.is_some() {
            call.reply = Reply::Refused(errno, why);
        }
        Ok(call)
    }
}

/// `None` in place of the error that says the caller died while it waited.
fn died<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The process a thread belongs to; the thread's own id if it has just gone.
fn process_of(tid: u32) -> u32 {
    fs::read_to_string(format!("/proc/{tid}/status"))
        .ok()
        .and_then(|status| {
            status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok())
        })
        .unwrap_or(tid)
}

/// One captured output of the program.
struct Stream {
    source: Option<std::fs::File>,
    bytes: Vec<u8>,
}

impl Stream {
    fn new(pipe: Option<impl Into<OwnedFd>>) -> Self {
        Stream { source: pipe.map(|pipe| std::fs::File::from(pipe.into())), bytes: Vec::new() }
    }

    /// For [`sys::wait_ready`]: -1 at the end of the stream.
    fn descriptor(&self) -> RawFd {
        self.source.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// Takes what is there; never waits for more.
    fn take_if(&mut self, ready: sys::Ready) -> io::Result<()> {
        if !(ready.input || ready.hangup) {
            return Ok(());
        }
        let Some(source) = &mut self.source else {
            return Ok(());
        };
        let mut buffer = [0; 64 * 1024];
        match source.read(&mut buffer) {
            Ok(0) => self.source = None,
            Ok(n) => self.bytes.extend_from_slice(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Takes what the program wrote last; does not wait for a process left behind.
fn drain(mut streams: [&mut Stream; 2]) -> io::Result<()> {
    loop {
        let fds = [streams[0].descriptor(), streams[1].descriptor()];
        let ready = sys::wait_ready(fds, Some(Duration::ZERO))?;
        if !ready.iter().any(|one| one.input || one.hangup) {
            return Ok(());
        }
        for (stream, one) in streams.iter_mut().zip(ready) {
            stream.take_if(one)?;
        }
    }
}
