//! The PMU stand-in against a C program that uses counters, and against the kernel.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use topas_testkit::pmu::{self, PmuAnswer, PmuCall, PmuOutcome, PmuPlan, Reply, TIME_ENABLED};

const EINVAL: i32 = 22;

/// Says why a test did not run, past the capture of output of tests that pass.
fn skip(reason: &str) {
    writeln!(std::io::stderr(), "skipped: {reason}").expect("standard error");
}

/// Compiles `pmu/counters.c`.
///
/// # Errors
/// Why that cannot be done here.
fn compile(name: &str, flags: &[&str]) -> Result<PathBuf, String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pmu/counters.c");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-Wall", "-Werror", "-pthread"]).args(flags);
    let output = cc
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .output()
        .map_err(|error| format!("no C compiler: {error}"))?;
    let message = format!("cc {flags:?}: {}", String::from_utf8_lossy(&output.stderr));
    match output.status.success() {
        true => Ok(program),
        // Not every system has the static C library.
        false if flags.contains(&"-static") => Err(message),
        false => panic!("{message}"),
    }
}

/// The program, or `None` with the reason printed.
fn counters() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| compile("counters", &[]));
    program.as_deref().map_err(|reason| skip(reason)).ok()
}

/// A static one under its own name, or `None` with the reason printed.
fn static_counters(name: &str) -> Option<PathBuf> {
    compile(name, &["-static"]).map_err(|reason| skip(&reason)).ok()
}

fn command(program: &Path, arguments: &str) -> Command {
    let mut command = Command::new(program);
    command.args(arguments.split_whitespace()).stdin(Stdio::null());
    command
}

fn run(plan: &str, program: &Path, arguments: &str) -> PmuOutcome {
    let plan: PmuPlan = plan.parse().expect("the plan of a test");
    pmu::run(&plan, command(program, arguments)).expect("the stand-in")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("output of the test program")
}

/// Version of the running kernel.
fn kernel_release() -> (u32, u32) {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("/proc");
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor),
        _ => panic!("kernel release '{release}'"),
    }
}

/// A line of the program about one event.
#[derive(Debug, PartialEq)]
struct ShownEvents {
    config: String,
    first: [u64; 3],
    second: [u64; 3],
    bytes: [u64; 2],
    id: u64,
}

/// Reads the program's lines; an event that did not open is its config and `errno`.
fn shown(output: &[u8]) -> Vec<Result<ShownEvents, (String, i32)>> {
    text(output)
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |at: usize| words[at].parse::<u64>().expect(line);
            if words[1] == "error" {
                return Err((words[0].to_owned(), number(2) as i32));
            }
            assert!(line.ends_with(" same high 1 cloexec 1"), "{line}");
            Ok(ShownEvents {
                config: words[0].to_owned(),
                first: [number(1), number(2), number(3)],
                second: [number(5), number(6), number(7)],
                bytes: [number(9), number(10)],
                id: number(12),
            })
        })
        .collect()
}

const FULL: u64 = TIME_ENABLED;

#[test]
fn a_group_shows_the_planned_counts_and_is_recorded() {
    let Some(program) = counters() else { return };
    let outcome = run(
        "raw:0x3c7 = 123456789; 4:0x60c7 = 0x1000; 4:337 = 18446744073709551615",
        program,
        "events group 0x3c7 0x60c7 0x151",
    );
    assert!(outcome.status.success());
    let lines: Vec<ShownEvents> = shown(&outcome.stdout).into_iter().map(Result::unwrap).collect();
    let values = [123_456_789, 0x1000, u64::MAX];
    for ((line, call), value) in lines.iter().zip(&outcome.calls).zip(values) {
        assert_eq!(line.first, [value, FULL, FULL]);
        assert_eq!(line.second, line.first);
        assert_eq!(line.bytes, [24, 24]);
        assert_eq!(Some(line.id), call.event);
        assert!(call.is_open());
        assert_eq!(line.config, format!("{:#x}", call.attr.config));
        let attr = &call.attr;
        assert_eq!((attr.kind, attr.size, attr.read_format, attr.sample_period), (4, 64, 3, 0));
        assert!(attr.inherit() && attr.exclude_kernel() && attr.exclude_hv());
        assert!(!attr.disabled() && !attr.pinned() && !attr.inherit_thread());
        assert_eq!((call.task, call.cpu, call.flags), (0, -1, 8));
        assert_eq!(call.pid, call.tid);
    }
    assert_eq!(lines.len(), 3);
    let leader = outcome.calls[0].event;
    let leaders: Vec<_> = outcome.calls.iter().map(|call| call.leader).collect();
    assert_eq!(leaders, [None, leader, leader]);
    assert_eq!(outcome.id_queries, 6);
    assert!(!outcome.left_behind);
}

#[test]
fn multiplexed_never_scheduled_fresh_and_unreadable_events() {
    let Some(program) = counters() else { return };
    let outcome = run(
        "4:1 = 1000000/500; 4:2 = 7/333; 4:3 = never; 4:4 = unreadable; fresh = 1",
        program,
        "events single 1 2 3 4",
    );
    let lines: Vec<ShownEvents> = shown(&outcome.stdout).into_iter().map(Result::unwrap).collect();
    assert_eq!(lines[0].first, [0, 1000, 500]);
    assert_eq!(lines[0].second, [500_000, FULL, FULL / 2]);
    assert_eq!(lines[1].second, [2, FULL, 666_000_000]);
    assert_eq!(lines[2].first, [0, 1000, 0]);
    assert_eq!(lines[2].second, [0, FULL, 0]);
    assert_eq!(lines[3].bytes, [0, 0]);
    assert!(outcome.calls.iter().all(|call| call.leader.is_none()));
}

#[test]
fn an_event_that_is_never_enabled_counts_nothing() {
    let Some(program) = counters() else { return };
    let outcome = run("4:1 = 5", program, "disabled 1");
    assert_eq!(text(&outcome.stdout), "24 0 0 0\n24 0 0 0\n24 5 2000000000 2000000000\n");
    assert!(outcome.calls[0].attr.disabled());
}

#[test]
fn a_sibling_beyond_the_counters_gets_einval_and_singles_open() {
    let Some(program) = counters() else { return };
    let plan = "raw:* = 5; group = 2";
    let grouped = run(plan, program, "events group 1 2 3");
    let lines = shown(&grouped.stdout);
    assert!(lines[0].is_ok() && lines[1].is_ok());
    assert_eq!(lines[2], Err(("0x3".to_owned(), EINVAL)));
    assert_eq!(grouped.calls[2].reply, Reply::Refused(EINVAL, "group is full".to_owned()));
    let singles = run(plan, program, "events single 1 2 3");
    assert_eq!(shown(&singles.stdout).iter().filter(|line| line.is_ok()).count(), 3);
}

/// The kernel counts what is put in an event's place; such events form groups of their own.
#[test]
fn real_events_take_the_place_of_others() {
    let Some(program) = counters() else { return };
    let plan = "raw:1 = task-clock; raw:2 = page-faults; raw:3 = 5";
    let outcome = run(plan, program, "events group 1 2 3");
    let leaders: Vec<_> = outcome.calls.iter().map(|call| call.leader).collect();
    assert_eq!(leaders, [None, Some(1), Some(1)], "{:#?}", outcome.calls);
    let shown = text(&outcome.stdout);
    let clock: Vec<u64> = shown.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert!(clock[0] > 0 && clock[3] > clock[0] && shown.contains("0x3 error 9"), "{shown}");
    let outcome = run(plan, program, "events group 3 1");
    assert!(text(&outcome.stdout).contains("0x1 error 22"), "a real one in a played group");
}

#[test]
fn errors_come_as_planned() {
    let Some(program) = counters() else { return };
    for (plan, errno) in [
        ("* = EPERM", 1),
        ("4:* = EACCES", 13),
        ("4:1 = EMFILE", 24),
        ("4:2 = 5", 2),
        ("* = 5; paranoid = 3", 13),
        ("* = ENOSYS", 38),
    ] {
        let outcome = run(plan, program, "events single 1");
        assert_eq!(shown(&outcome.stdout), [Err(("0x1".to_owned(), errno))], "{plan}");
        assert!(!outcome.calls[0].is_open() && outcome.calls[0].event.is_none());
    }
    assert_eq!(run("4:1 = 5", program, "user 1").stdout, b"user 0\n");
    assert_eq!(run("4:1 = 5", program, "all 1").stdout, b"all 13\n");
    assert_eq!(run("4:1 = 5; paranoid = 1", program, "all 1").stdout, b"all 0\n");
}

#[test]
fn a_static_program_is_served_alike() {
    let Some(program) = static_counters("counters-static") else { return };
    let outcome = run("4:1 = 11; 4:2 = 22/500", &program, "events group 1 2 3");
    let lines = shown(&outcome.stdout);
    assert_eq!(lines[0].as_ref().map(|line| line.first), Ok([11, FULL, FULL]));
    assert_eq!(lines[1].as_ref().map(|line| line.first), Ok([11, FULL, FULL / 2]));
    assert_eq!(lines[2], Err(("0x3".to_owned(), 2)));
}

#[test]
fn a_static_program_without_a_free_descriptor_gets_emfile() {
    let Some(program) = static_counters("counters-full") else { return };
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -n 3; exec \"$0\" user 1"]).arg(program).stdin(Stdio::null());
    let outcome = pmu::run(&PmuPlan::new().others(PmuAnswer::count(1)), shell).expect("sh");
    assert_eq!(text(&outcome.stdout), "user 24\n");
    assert_eq!(outcome.calls[0].reply, Reply::Refused(24, "no free descriptor".to_owned()));
    assert_eq!(outcome.calls[0].event, None);
}

#[test]
fn processes_and_threads_at_once_each_have_their_own_events() {
    let Some(program) = counters() else { return };
    for (mode, processes) in [("processes", 8), ("threads", 1)] {
        let outcome =
            run("4:* = 9; group = 3; delay = 5", program, &format!("{mode} 8 group 1 2 3 4"));
        assert!(outcome.status.success());
        let lines = shown(&outcome.stdout);
        let open: Vec<&ShownEvents> = lines.iter().filter_map(|line| line.as_ref().ok()).collect();
        assert_eq!((lines.len(), open.len(), outcome.calls.len()), (32, 24, 32));
        assert!(open.iter().all(|line| line.second == [9, FULL, FULL]));
        assert_eq!(open.iter().map(|line| line.id).collect::<HashSet<_>>().len(), 24);
        let distinct =
            |of: fn(&PmuCall) -> u32| outcome.calls.iter().map(of).collect::<HashSet<_>>();
        assert_eq!(distinct(|call| call.pid).len(), processes, "{mode}");
        assert_eq!(distinct(|call| call.tid).len(), 8, "{mode}");
        // A group stays within its thread.
        for call in outcome.calls.iter().filter(|call| call.leader.is_some()) {
            let leader = outcome.calls.iter().find(|other| other.event == call.leader);
            assert_eq!(leader.map(|leader| leader.tid), Some(call.tid));
        }
    }
}

#[test]
fn a_program_without_events_is_unaffected() {
    let Some(program) = counters() else { return };
    let bare = command(program, "plain").output().unwrap();
    let played = run("* = 1", program, "plain");
    assert_eq!(bare.status.code(), Some(3));
    assert_eq!(played.exit_code(), 3);
    assert_eq!(text(&played.stdout), text(&bare.stdout));
    assert_eq!(text(&played.stderr), text(&bare.stderr));
    assert!(played.calls.is_empty());
    assert_eq!(played.id_queries, 0);
}

#[test]
fn exit_status_and_large_output_pass_through() {
    let plan = PmuPlan::new();
    let shell = |script: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null());
        pmu::run(&plan, command).expect("sh")
    };
    assert_eq!(shell("exit 42").exit_code(), 42);
    assert_eq!(shell("kill -KILL $$").exit_code(), 137);
    let large = shell("head -c 3000000 /dev/zero; head -c 2000000 /dev/zero >&2");
    assert_eq!((large.stdout.len(), large.stderr.len()), (3_000_000, 2_000_000));
    if let Some(program) = counters() {
        let flood = run("* = 1", program, "flood 1048576");
        assert_eq!((flood.exit_code(), flood.stdout.len()), (0, 1 << 20));
    }
}

#[test]
fn a_caller_that_dies_while_it_opens_is_recorded() {
    let Some(program) = counters() else { return };
    let outcome = run("4:* = 1; delay = 2000", program, "killed 1");
    assert_eq!(text(&outcome.stdout), "child 9\n");
    assert_eq!(outcome.calls.len(), 1);
    assert_eq!(outcome.calls[0].reply, Reply::Gone);
}

#[test]
fn a_signal_while_it_opens_is_delivered_and_the_event_opens() {
    let Some(program) = counters() else { return };
    let outcome = run("4:* = 1; delay = 500", program, "alarmed 1");
    assert_eq!(text(&outcome.stdout), "open 0\nalarms 1\n");
    assert_eq!(outcome.calls.iter().filter(|call| call.is_open()).count(), 1);
    // Before Linux 5.19 the signal repeats the call, and the first one has gone.
    if kernel_release() >= (5, 19) {
        assert_eq!(outcome.calls.len(), 1);
    }
}

#[test]
fn opening_takes_the_planned_time() {
    let Some(program) = counters() else { return };
    let start = Instant::now();
    let plan = PmuPlan::new().others(PmuAnswer::count(1)).delay(Duration::from_millis(150));
    let outcome = pmu::run(&plan, command(program, "events single 1 2")).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(300));
    assert_eq!(shown(&outcome.stdout).iter().filter(|line| line.is_ok()).count(), 2);
}

#[test]
fn a_process_left_behind_does_not_hold_the_stand_in() {
    let mut shell = Command::new("sh");
    shell.args(["-c", "sleep 30 & echo $!"]).stdin(Stdio::null());
    let start = Instant::now();
    let outcome = pmu::run(&PmuPlan::new(), shell).expect("sh");
    assert!(outcome.left_behind);
    assert!(start.elapsed() >= pmu::LINGER && start.elapsed() < Duration::from_secs(25));
    let sleeper = text(&outcome.stdout).trim();
    assert!(Command::new("kill").arg(sleeper).status().expect("kill").success());
}

/// The kernel itself is the reference for everything that is not counting.
#[test]
fn odd_opens_fail_as_the_kernel_fails_them() {
    let Some(program) = counters() else { return };
    let bare = command(program, "rules").output().unwrap();
    let by_kernel = text(&bare.stdout);
    if !by_kernel.starts_with("good 0\n") {
        skip(&format!("this kernel opens no software event: {by_kernel}"));
        return;
    }
    let played = run("1:9 = 5; group = 1", program, "rules");
    assert_eq!(text(&played.stdout), by_kernel);
    let passed = run("1:9 = kernel; 1:* = kernel; * = kernel", program, "rules");
    assert_eq!(text(&passed.stdout), by_kernel);
    assert!(passed.calls.iter().any(|call| call.reply == Reply::Kernel));
}

#[test]
fn eight_ranks_under_mpiexec() {
    let Some(program) = counters() else { return };
    let mut ran = 0;
    // The first two are the names where both are installed side by side.
    for launcher in ["mpiexec.openmpi", "mpiexec.mpich", "mpiexec"] {
        if launcher == "mpiexec" && ran > 0 {
            continue;
        }
        let mut mpiexec = Command::new(launcher);
        mpiexec
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
            .args(["-n", "8"])
            .arg(program)
            .args(["events", "group", "0x3c7", "0x60c7"])
            .stdin(Stdio::null());
        let plan = PmuPlan::new().event(4, 0x3c7, PmuAnswer::count(77)).event(
            4,
            0x60c7,
            PmuAnswer::count(8),
        );
        match pmu::run(&plan, mpiexec) {
            Ok(outcome) => {
                assert!(outcome.status.success(), "{launcher}: {}", text(&outcome.stderr));
                let open = outcome.calls.iter().filter(|call| call.attr.kind == 4);
                let pids: HashSet<u32> = open.clone().map(|call| call.pid).collect();
                assert_eq!((pids.len(), open.count()), (8, 16), "{launcher}");
                let lines = shown(&outcome.stdout);
                assert_eq!(lines.iter().filter(|line| line.is_ok()).count(), 16, "{launcher}");
                assert!(!outcome.left_behind);
                ran += 1;
            }
            Err(error) => skip(&format!("{launcher}: {error}")),
        }
    }
}

#[test]
fn the_command_reports_and_passes_the_exit_code_on() {
    let Some(program) = counters() else { return };
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (plan, report) = (scratch.join("plan"), scratch.join("report"));
    std::fs::write(&plan, "raw:1 = 7/250\n# all else: ENOENT\n").unwrap();
    let stand_in = |plan: &Path, report: &Path, program: &Path, arguments: &str| {
        Command::new(env!("CARGO_BIN_EXE_topas-pmu-stand-in"))
            .arg("--plan")
            .arg(plan)
            .arg("--report")
            .arg(report)
            .arg("--")
            .arg(program)
            .args(arguments.split_whitespace())
            .output()
            .unwrap()
    };
    let output = stand_in(&plan, &report, program, "events group 1 2");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(shown(&output.stdout)[0].as_ref().unwrap().first, [1, FULL, FULL / 4]);
    let lines = std::fs::read_to_string(&report).unwrap();
    let calls: Vec<PmuCall> = lines.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(calls.len(), 2);
    assert!(calls[0].is_open());
    assert_eq!(calls[1].reply, Reply::Refused(2, "plan".to_owned()));
    assert_eq!(calls[1].leader, calls[0].event);

    let inline = Path::new("* = EPERM");
    assert_eq!(stand_in(inline, &report, program, "plain").status.code(), Some(3));
    assert_eq!(std::fs::read_to_string(&report).unwrap(), "");
    for (plan, program, code, part) in [
        ("* = EPERM", "/nonexistent/program", 127, "cannot start '/nonexistent/program'"),
        ("* = EPERM", "/dev/null", 126, "cannot start '/dev/null'"),
        ("* = nothing", "true", 125, "neither a count nor the name of an error"),
        ("/nonexistent/plan", "true", 125, "cannot open the plan '/nonexistent/plan'"),
    ] {
        let output = stand_in(Path::new(plan), &report, Path::new(program), "");
        assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
        let message = text(&output.stderr);
        assert!(message.contains(part) && message.contains("\nhint: "), "{message}");
    }
    let within = pmu::run(
        &PmuPlan::new(),
        command(
            Path::new(env!("CARGO_BIN_EXE_topas-pmu-stand-in")),
            "--plan *=EPERM --report /dev/null -- true",
        ),
    );
    let within = within.expect("the outer stand-in");
    assert_eq!(within.exit_code(), 125);
    assert!(text(&within.stderr).contains("a stand-in cannot run inside a stand-in"));
    if Path::new("/dev/full").exists() {
        let full = stand_in(&plan, Path::new("/dev/full"), program, "events single 1");
        assert_eq!(full.status.code(), Some(125));
        assert!(text(&full.stderr).contains("cannot write the report"));
        assert_eq!(shown(&full.stdout).len(), 1);
    }
}
