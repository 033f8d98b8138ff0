//! What a program asked and was answered: one record per `perf_event_open`.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use super::attr::Attr;
use super::errno;

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// With this descriptor.
    Descriptor(i32),
    /// With this error number, and why.
    Refused(i32, String),
    /// The real kernel carried it out.
    Kernel,
    /// The caller died before the answer.
    Gone,
}

/// One `perf_event_open` of the program or of a descendant.
///
/// Its text, a line of the report, is `key=value` words in a fixed order; `why=`, where
/// there is one, comes last and runs to the end of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PmuCall {
    /// Process that called.
    pub pid: u32,
    /// Thread that called.
    pub tid: u32,
    /// What it asked for.
    pub attr: Attr,
    /// Argument `pid`: whom to count; 0 is the caller, -1 everybody.
    pub task: i32,
    /// Argument `cpu`; -1 is any.
    pub cpu: i32,
    /// Argument `group_fd`; -1 for a leader.
    pub group_fd: i32,
    /// Argument `flags`; 8 is `PERF_FLAG_FD_CLOEXEC`.
    pub flags: u64,
    /// Number of the event that `group_fd` is, if it is one.
    pub leader: Option<u64>,
    /// Number of the event now open, the id its `PERF_EVENT_IOC_ID` gives. From 1, no
    /// two in one run.
    pub event: Option<u64>,
    /// How it ended.
    pub reply: Reply,
}

impl PmuCall {
    /// Whether the program got a descriptor the stand-in plays.
    pub fn is_open(&self) -> bool {
        matches!(self.reply, Reply::Descriptor(_))
    }
}

/// A number, or `-` for none.
struct OrDash(Option<u64>);

impl fmt::Display for OrDash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(n) => write!(f, "{n}"),
            None => f.write_str("-"),
        }
    }
}

impl fmt::Display for PmuCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let a = &self.attr;
        write!(
            f,
            "pid={} tid={} type={} config={:#x} config1={:#x} config2={:#x} size={} bits={:#x} \
             inherit={} inherit_thread={} exclude_kernel={} exclude_hv={} disabled={} pinned={} \
             read_format={:#x} sample_period={} task={} cpu={} group_fd={} flags={:#x} leader={} \
             event={} ",
            self.pid,
            self.tid,
            a.kind,
            a.config,
            a.config1,
            a.config2,
            a.size,
            a.bits,
            u8::from(a.inherit()),
            u8::from(a.inherit_thread()),
            u8::from(a.exclude_kernel()),
            u8::from(a.exclude_hv()),
            u8::from(a.disabled()),
            u8::from(a.pinned()),
            a.read_format,
            a.sample_period,
            self.task,
            self.cpu,
            self.group_fd,
            self.flags,
            OrDash(self.leader),
            OrDash(self.event),
        )?;
        match &self.reply {
            Reply::Descriptor(fd) => write!(f, "answer=fd:{fd}"),
            Reply::Refused(number, why) => {
                write!(f, "answer={} why={why}", errno::name(*number))
            }
            Reply::Kernel => f.write_str("answer=kernel"),
            Reply::Gone => f.write_str("answer=gone"),
        }
    }
}

/// A report line that is none; holds the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotACall(pub String);

impl fmt::Display for NotACall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a line of a PMU report: '{}'", self.0)
    }
}

impl std::error::Error for NotACall {}

impl FromStr for PmuCall {
    type Err = NotACall;

    fn from_str(line: &str) -> Result<PmuCall, NotACall> {
        parse(line).ok_or_else(|| NotACall(line.to_owned()))
    }
}

fn parse(line: &str) -> Option<PmuCall> {
    let (words, why) = match line.split_once(" why=") {
        Some((words, why)) => (words, Some(why)),
        None => (line, None),
    };
    let of: HashMap<&str, &str> =
        words.split(' ').map(|word| word.split_once('=')).collect::<Option<_>>()?;
    let decimal = |key| of.get(key)?.parse::<u64>().ok();
    let signed = |key| of.get(key)?.parse::<i32>().ok();
    let hex = |key| u64::from_str_radix(of.get(key)?.strip_prefix("0x")?, 16).ok();
    let event = |key| match *of.get(key)? {
        "-" => Some(None),
        number => number.parse().ok().map(Some),
    };
    let reply = match (*of.get("answer")?, why) {
        ("kernel", None) => Reply::Kernel,
        ("gone", None) => Reply::Gone,
        (name, Some(why)) => Reply::Refused(errno::number(name)?, why.to_owned()),
        (fd, None) => Reply::Descriptor(fd.strip_prefix("fd:")?.parse().ok()?),
    };
    Some(PmuCall {
        pid: decimal("pid")?.try_into().ok()?,
        tid: decimal("tid")?.try_into().ok()?,
        attr: Attr {
            kind: decimal("type")?.try_into().ok()?,
            size: decimal("size")?.try_into().ok()?,
            config: hex("config")?,
            config1: hex("config1")?,
            config2: hex("config2")?,
            sample_period: decimal("sample_period")?,
            read_format: hex("read_format")?,
            bits: hex("bits")?,
        },
        task: signed("task")?,
        cpu: signed("cpu")?,
        group_fd: signed("group_fd")?,
        flags: hex("flags")?,
        leader: event("leader")?,
        event: event("event")?,
        reply,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_back_as_the_same_call() {
        let attr = Attr {
            kind: 4,
            size: 64,
            config: 0x60c7,
            config1: u64::MAX,
            config2: 3,
            sample_period: 9,
            read_format: 3,
            bits: 0x8_0000_0062,
        };
        let call = PmuCall {
            pid: 10,
            tid: 11,
            attr,
            task: -1,
            cpu: 2,
            group_fd: 5,
            flags: 8,
            leader: Some(1),
            event: None,
            reply: Reply::Refused(libc::EINVAL, "group = 2 is full".to_owned()),
        };
        let line = call.to_string();
        assert!(
            line.contains(" inherit=1 inherit_thread=1 exclude_kernel=1 exclude_hv=1 "),
            "{line}"
        );
        for reply in [call.reply.clone(), Reply::Kernel, Reply::Gone, Reply::Descriptor(1000)] {
            let call = PmuCall { reply, ..call.clone() };
            assert_eq!(call.to_string().parse(), Ok(call));
        }
        assert!("pid=1".parse::<PmuCall>().is_err());
        assert!(line.replace("cpu=2", "cpu=x").parse::<PmuCall>().is_err());
    }
}
