//! What strace saw of one process: its system calls by name.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::process::output;

/// System calls by name, with their number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    names: BTreeMap<String, i64>,
    /// Events that were opened as events of software, see `bench/as_software.c`
    pub events: i64,
}

impl Calls {
    /// Those of the program in a report of strace: a shell in front of it does not count.
    pub fn read(report: &Path) -> Result<Calls> {
        let text = fs::read_to_string(report)
            .with_context(|| format!("no report of strace: {}", report.display()))?;
        Calls::parse(&text).with_context(|| format!("no execve in {}", report.display()))
    }

    fn parse(text: &str) -> Option<Calls> {
        let begin = text.rfind("execve(")?;
        let mut calls = Calls::default();
        for line in text[begin..].lines() {
            if line.starts_with("--- SIGSYS") {
                calls.events += 1;
            } else if let Some((name, _)) = line.split_once('(') {
                *calls.names.entry(name.to_owned()).or_default() += 1;
            }
        }
        // The call that the trap refused, and the return from its handler, are not the
        // program's.
        for name in ["perf_event_open", "rt_sigreturn"] {
            if let Some(number) = calls.names.get_mut(name) {
                *number -= calls.events;
            }
        }
        Some(calls)
    }

    /// Runs a command under strace.
    pub fn of(command: &Command, report: &Path) -> Result<Calls> {
        let mut strace = Command::new("strace");
        strace.env_clear().arg("-qq").arg("-o").arg(report);
        strace.arg("--").arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                strace.env(name, value);
            }
        }
        output(&mut strace)?;
        Calls::read(report)
    }

    /// Number of all calls.
    pub fn number(&self) -> i64 {
        self.names.values().sum()
    }

    /// `openat 3, read 3`: what there is more of than in another trace; with a minus what
    /// there is less of.
    pub fn beyond(&self, base: &Calls) -> String {
        let mut more = self.names.clone();
        for (name, number) in &base.names {
            *more.entry(name.clone()).or_default() -= number;
        }
        more.retain(|_, number| *number != 0);
        let mut more: Vec<_> = more.into_iter().collect();
        more.sort_by_key(|(name, number)| (-number, name.clone()));
        if more.is_empty() {
            return "none".to_owned();
        }
        more.iter().map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: &str = "execve(\"/bin/sh\", [\"sh\"], 0x7ffe /* 4 vars */) = 0\n\
        getppid()                               = 11\n\
        execve(\"./program\", [\"./program\"], 0x55d0 /* 5 vars */) = 0\n\
        brk(NULL)                               = 0x55e1\n\
        exit_group(0)                           = ?\n";

    #[test]
    fn only_the_program_itself_counts() {
        let calls = Calls::parse(BARE).unwrap();
        assert_eq!(calls.number(), 3);
        assert_eq!(calls.beyond(&Calls::default()), "brk 1, execve 1, exit_group 1");
        assert_eq!(Calls::parse("brk(NULL) = 0\n"), None);
    }

    #[test]
    fn a_trapped_open_is_one_call() {
        let opens = "perf_event_open({type=PERF_TYPE_RAW, ...}, 0, -1, -1, 0) = 298\n\
            --- SIGSYS {si_signo=SIGSYS, si_code=SYS_SECCOMP, ...} ---\n\
            perf_event_open({type=PERF_TYPE_SOFTWARE, ...}, 0, -1, -1, 0) = 3\n\
            rt_sigreturn({mask=[]})                 = 3\n\
            read(3, \"\", 24)                       = 24\n\
            read(3, \"\", 24)                       = 24\n";
        let (before, after) = BARE.split_at(BARE.find("exit_group").unwrap());
        let linked = Calls::parse(&[before, opens, after].concat()).unwrap();
        let bare = Calls::parse(BARE).unwrap();
        assert_eq!(linked.events, 1);
        assert_eq!(linked.beyond(&bare), "read 2, perf_event_open 1");
        assert_eq!(bare.beyond(&linked), "perf_event_open -1, read -2");
        assert_eq!(linked.beyond(&linked), "none");
    }
}
