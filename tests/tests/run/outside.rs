//! Measured from outside: signals come through, counters count the program and nothing else.

use std::io::{BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use topas_format::event::Metric;
use topas_format::number::Count;
use topas_testkit::pmu;
use topas_tests::processor::Processor;
use topas_tests::running::{command, run};
use topas_tests::site::Scratch;
use topas_tests::skip::skip;

use crate::{built, measuring, one_line};

/// A running program, and the lines it has not said yet.
struct Running {
    child: Child,
    said: BufReader<ChildStdout>,
}

impl Running {
    fn start(command: &mut Command) -> Running {
        let mut child = command.stdout(Stdio::piped()).process_group(0).spawn().expect("start");
        let said = BufReader::new(child.stdout.take().expect("standard output"));
        Running { child, said }
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// The next line it says.
    fn says(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }

    /// Waits for a state of the process `pid`, the letter in /proc/PID/stat.
    #[track_caller]
    fn wait_for(pid: Pid, states: &str) {
        let begun = Instant::now();
        let state = || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next())
        };
        while !state().is_some_and(|state| states.contains(state)) {
            assert!(begun.elapsed() < Duration::from_secs(20), "{pid} is {:?}", state());
            sleep(Duration::from_millis(2));
        }
    }
}

#[test]
fn every_signal_comes_through_once() {
    let scratch = Scratch::new();
    let program = built(&scratch, "run/signals.c", "signals");
    let mut running = Running::start(measuring(&scratch).arg("--outside").arg(&program));
    assert!(running.says().starts_with("ready "));
    // All but those that cannot be caught, the one that ends the program, and one that tells of
    // children; those that stop stop here, too, and have a test of their own.
    let stops = [Signal::SIGSTOP, Signal::SIGTSTP, Signal::SIGTTIN, Signal::SIGTTOU];
    let others = [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGCHLD];
    for signal in Signal::iterator().filter(|s| !stops.contains(s) && !others.contains(s)) {
        kill(running.pid(), signal).expect("kill");
        assert_eq!(running.says(), format!("signal {} 0", signal as i32));
        // What is sent to the group comes once, too.
        killpg(running.pid(), signal).expect("kill");
        assert_eq!(running.says(), format!("signal {} 0", signal as i32));
    }
    // A value goes along, real-time signals in their order.
    for value in [3, 4] {
        let script = format!(
            "import ctypes, signal; v = ctypes.c_void_p({value}); \
             ctypes.CDLL(None).sigqueue({}, 40, v)",
            running.pid()
        );
        run(command("/usr/bin/python3").args(["-c", &script])).good();
    }
    assert_eq!([running.says(), running.says()], ["signal 40 3", "signal 40 4"]);
    kill(running.pid(), Signal::SIGTERM).expect("kill");
    assert_eq!(running.says(), "signal 15 0");
    assert_eq!(running.child.wait().expect("wait").code(), Some(7));
    assert_eq!(one_line(&scratch).extra("end"), "exit:7");
}

#[test]
fn it_stops_and_goes_on_with_the_program() {
    let scratch = Scratch::new();
    let mut running = Running::start(measuring(&scratch).args([
        "--outside",
        "sh",
        "-c",
        "echo $$; while :; do sleep 0.01; done",
    ]));
    let program = Pid::from_raw(running.says().parse().expect("a process id"));
    assert_ne!(program, running.pid());
    kill(running.pid(), Signal::SIGTSTP).expect("kill");
    Running::wait_for(program, "T");
    Running::wait_for(running.pid(), "T");
    kill(running.pid(), Signal::SIGCONT).expect("kill");
    Running::wait_for(program, "SR");
    Running::wait_for(running.pid(), "SR");
    // Stopped by somebody who does not know of topas-run, and continued by the same.
    kill(program, Signal::SIGSTOP).expect("kill");
    Running::wait_for(program, "T");
    sleep(Duration::from_millis(50));
    Running::wait_for(running.pid(), "SR");
    kill(program, Signal::SIGCONT).expect("kill");
    kill(running.pid(), Signal::SIGUSR1).expect("kill");
    assert_eq!(running.child.wait().expect("wait").signal(), Some(Signal::SIGUSR1 as i32));
    assert_eq!(one_line(&scratch).extra("end"), "sig:10");
}

/// Killed without a chance to say so, it takes the program along.
#[test]
fn killed_with_its_program() {
    let scratch = Scratch::new();
    let mut running = Running::start(measuring(&scratch).args([
        "--outside",
        "sh",
        "-c",
        "echo $$; exec sleep 60",
    ]));
    let program = Pid::from_raw(running.says().parse().expect("a process id"));
    kill(running.pid(), Signal::SIGKILL).expect("kill");
    assert_eq!(running.child.wait().expect("wait").signal(), Some(Signal::SIGKILL as i32));
    let begun = Instant::now();
    while kill(program, None).is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{program} lives on");
        sleep(Duration::from_millis(2));
    }
    assert!(scratch.take_log().is_empty());
}

/// A caller that ignores the end of its children, and others.
#[test]
fn ignored_signals_stay_ignored() {
    let scratch = Scratch::new();
    for signals in ["CHLD", "HUP INT USR1 PIPE", ""] {
        let tool = crate::topas_run().display().to_string();
        let mut shell = command("/usr/bin/python3");
        shell.envs(measuring(&scratch).get_envs().filter_map(|(n, v)| Some((n, v?))));
        let script = "import os, signal, sys\n\
                      for name in sys.argv[1].split(): signal.signal(getattr(signal, 'SIG' + name), signal.SIG_IGN)\n\
                      os.execv(sys.argv[2], sys.argv[2:])";
        shell.args(["-c", script, signals]);
        let status = |runner: &[&str]| {
            let mut again = command("/usr/bin/python3");
            again.envs(shell.get_envs().filter_map(|(n, v)| Some((n, v?))));
            again.args(shell.get_args()).args(runner);
            again.args(["/bin/grep", "-E", "^(Sig(Blk|Ign|Cgt)|Threads)", "/proc/self/status"]);
            run(&mut again).good().out()
        };
        let bare = status(&[]);
        assert_eq!(status(&[&tool, "--outside"]), bare, "{signals}");
        assert_eq!(one_line(&scratch).extra("end"), "exit:0");
    }
}

#[test]
fn counts_come_from_the_program_alone() {
    let test = "counts_come_from_the_program_alone";
    let Some(row) = Processor::here() else {
        return skip(test, "this machine's processor is not in the event table");
    };
    let scratch = Scratch::new();
    let program = built(&scratch, "c/empty.c", "empty");
    for (word, metric) in [
        ("fpops", Metric::FpOps),
        ("intops", Metric::IntOps),
        ("loads", Metric::Loads),
        ("stores", Metric::Stores),
    ] {
        let mut command = measuring(&scratch);
        command.env("TOPAS_OPS", word).arg("--outside").arg(&program);
        let outcome = pmu::run(&row.plan(1000), command).expect("the stand-in");
        assert_eq!(outcome.exit_code(), 0, "{}", String::from_utf8_lossy(&outcome.stderr));
        // Those that count, opened last, wait for the exec and are inherited.
        let wanted = row.all(metric);
        let counting = &outcome.calls[outcome.calls.len() - wanted.len()..];
        let asked: Vec<_> =
            counting.iter().map(|call| (call.attr.kind, call.attr.config)).collect();
        assert_eq!(asked, wanted, "{word}");
        for call in counting {
            let attr = &call.attr;
            assert!(attr.disabled() && attr.enable_on_exec() && attr.inherit(), "{call}");
            assert!(attr.exclude_kernel() && attr.exclude_hv(), "{call}");
        }
        let line = one_line(&scratch);
        assert_eq!(line.metric, metric, "{}", line.text);
        assert_eq!((line.ops, line.l1_miss), (row.total(metric), row.total(Metric::L1Miss)));
        assert!(!line.extras.contains_key("run"), "{}", line.text);
        if line.ops == Count::Missing {
            assert!(line.extra("why").contains(row.why_missing()), "{}", line.text);
        }
    }
}
