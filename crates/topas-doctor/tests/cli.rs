//! The command: every exit code, both outputs, under the stand-in and without.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use topas_doctor::cpu::Processor;
use topas_doctor::metric::Quantity;
use topas_doctor::selftest;
use topas_format::conf::KEYS;
use topas_testkit::WrittenJson;
use topas_testkit::pmu::{self, PmuAnswer, PmuPlan};
use topas_testkit::scratch::place_program;

const DOCTOR: &str = env!("CARGO_BIN_EXE_topas-doctor");

/// Says why a test did not run, past the capture of output of tests that pass.
fn skip(reason: &str) {
    writeln!(std::io::stderr(), "skipped: {reason}").expect("standard error");
}

/// A directory with a topas.conf.
struct Site {
    dir: tempfile::TempDir,
}

impl Site {
    /// Its `topas.conf` has `text`, in which `@` is the directory.
    fn new(text: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let text = text.replace('@', dir.path().to_str().unwrap());
        fs::write(dir.path().join("topas.conf"), text).unwrap();
        fs::create_dir_all(dir.path().join("topas/log")).unwrap();
        let mode = |path: &Path, bits| {
            fs::set_permissions(path, fs::Permissions::from_mode(bits)).unwrap();
        };
        mode(dir.path(), 0o755);
        mode(&dir.path().join("topas/log"), 0o1733);
        Site { dir }
    }

    /// With a log that takes lines.
    fn logging() -> Self {
        Site::new("log = file:@/topas/log/%Y-%m.%u.log\n")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The command in an environment without launchers and without other TOPAS variables.
    fn command(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).env_clear().stdin(Stdio::null()).current_dir("/");
        command.env("TOPAS_CONF", self.path("topas.conf"));
        command
    }

    fn run(&self, args: &[&str], env: &[(&str, &str)]) -> (i32, String, String) {
        let mut command = self.command(Path::new(DOCTOR), args);
        texts(command.envs(env.iter().copied()).output().unwrap())
    }

    fn under(&self, plan: &PmuPlan, args: &[&str]) -> (i32, String) {
        let command = self.command(Path::new(DOCTOR), args);
        let outcome = pmu::run(plan, command).expect("the stand-in");
        assert_eq!(String::from_utf8_lossy(&outcome.stderr), "");
        (i32::from(outcome.exit_code()), String::from_utf8(outcome.stdout).unwrap())
    }
}

fn texts(output: Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// A PMU of this very processor that counts right; None, and a skip, if the event table
/// does not know it.
fn right() -> Option<PmuPlan> {
    let cpu = Processor::of_this_node(Path::new("/")).cpu;
    let mut plan = PmuPlan::new();
    for quantity in Quantity::ALL {
        let expected = selftest::plan(quantity).map(|(_, _, expected)| expected).next();
        let factor = if quantity == Quantity::Cycles { 3 } else { 1 };
        for (place, event) in quantity.events(cpu).0.into_iter().enumerate() {
            let value = if place == 0 { expected.unwrap_or(1) * factor / event.weight } else { 0 };
            plan = plan.event(event.kind, event.config, PmuAnswer::count(value));
        }
    }
    let known = Processor::of_this_node(Path::new("/")).row().is_some();
    if !known {
        skip("the event table has no row for the processor the tests run on");
    }
    known.then_some(plan)
}

#[test]
fn exit_0_all_is_measured() {
    let Some(plan) = right() else { return };
    let site = Site::logging();
    let (code, text) = site.under(&plan, &[]);
    assert_eq!(code, 0, "{text}");
    let first = text.lines().next().unwrap();
    assert_eq!(first, "topas-doctor: all is measured: every event of this processor counts right");
    assert!(text.contains("self-test ok: ") && !text.contains("WRONG"), "{text}");
    assert!(text.contains("on counters together, all the time"), "{text}");
    assert!(text.contains("takes a line: the file would be made"), "{text}");
    assert!(text.contains("who can read it: the user and root"), "{text}");
    // Nothing was written, and nothing was made.
    assert_eq!(fs::read_dir(site.path("topas/log")).unwrap().count(), 0);
    let (code, text) = site.under(&plan, &["--no-self-test", "--quiet"]);
    assert_eq!((code, text.lines().count()), (0, 1), "{text}");
    assert!(text.contains("no self-test made"), "{text}");
}

#[test]
fn exit_1_counts_are_missing_or_wrong() {
    let site = Site::logging();
    for (errno, words) in [
        (libc::EACCES, "perf_event_paranoid=2"),
        (libc::EPERM, "seccomp profile"),
        (libc::ENOENT, "pmu=on"),
    ] {
        let Some(known) = right() else { return };
        let all = PmuPlan::new().others(PmuAnswer::Refuse(errno));
        let (code, text) = site.under(&all, &[]);
        assert_eq!(code, 1, "{text}");
        assert!(text.starts_with("topas-doctor: times only: "), "{text}");
        assert!(text.contains("hint: ") && text.contains(words), "{text}");
        let one = known.event(0, 1, PmuAnswer::Refuse(errno));
        let (code, text) = site.under(&one, &["--no-self-test"]);
        assert_eq!(code, 1, "{text}");
        assert!(text.starts_with("topas-doctor: counts fall short: instructions not"), "{text}");
    }
    let Some(known) = right() else { return };
    let (code, text) = site.under(&known.event(0, 1, PmuAnswer::count(7)), &[]);
    assert_eq!(code, 1, "{text}");
    assert!(text.starts_with("topas-doctor: counts fall short: instructions wrong in 1 of 1"));
    assert!(text.contains("- chain of multiplications: 7 counted, 4194300 expected"), "{text}");
}

#[test]
fn exit_2_usage() {
    for args in [&["--colour"][..], &["--json", "--quiet"], &["log"]] {
        let (code, out, err) = Site::logging().run(args, &[]);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}");
        assert!(err.starts_with("topas-doctor: error: ") && err.contains("hint: "), "{err}");
    }
}

#[test]
fn exit_3_nothing_would_be_written() {
    let log = "log = file:@/topas/log/a.log\n";
    for (conf, env, verdict, hint) in [
        ("", &[][..], "no log target is configured", "log = file:"),
        (
            "log = file:@/none/a.log file:@/topas/log\n",
            &[],
            "none of 2 log targets",
            "install -d -m 1733",
        ),
        ("log = syslogd\n", &[], "none of 1 log targets", "absolute path"),
        ("log = unix:@/none\n", &[], "none of 1 log targets", "start the daemon"),
        (&format!("{log}measure = no\n"), &[], "topas.conf:2)", "measure = yes"),
        (log, &[("TOPAS", "off")], "switched off (TOPAS)", "TOPAS not set to off"),
        (log, &[("TOPAS_LOG", "file:/proc/none/a")], "none of 1 log targets", "hint"),
    ] {
        let (code, out, err) = Site::new(conf).run(&["--no-self-test"], env);
        assert_eq!((code, err.as_str()), (3, ""), "{conf:?}");
        let first = out.lines().next().unwrap();
        assert!(first.starts_with("topas-doctor: nothing would be written: "), "{first}");
        assert!(first.contains(verdict), "{first}");
        assert!(out.contains(hint), "{out}");
    }
}

#[test]
fn exit_4_the_report_did_not_get_out() {
    let site = Site::logging();
    let mut command = site.command(Path::new(DOCTOR), &["--no-self-test"]);
    command.stdout(File::options().write(true).open("/dev/full").unwrap());
    let (code, _, err) = texts(command.stderr(Stdio::piped()).output().unwrap());
    assert_eq!(code, 4);
    assert!(err.contains("cannot write to standard output") && err.contains("hint: "), "{err}");
}

/// As nobody where the tests run as root, to whom nothing is forbidden.
#[test]
fn a_directory_without_permission_takes_no_line() {
    let site = Site::logging();
    let doctor = site.path("topas-doctor");
    place_program(Path::new(DOCTOR), &doctor);
    fs::set_permissions(site.path("topas/log"), fs::Permissions::from_mode(0o555)).unwrap();
    let mut command = site.command(&doctor, &["--no-self-test"]);
    if nix::unistd::geteuid().is_root() {
        command.uid(65534).gid(65534);
    }
    let (code, out, _) = texts(command.output().unwrap());
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("no permission to add a file to "), "{out}");
    assert!(
        out.contains(&format!("install -d -m 1733 {}", site.path("topas/log").display())),
        "{out}"
    );
}

#[test]
fn the_object_has_every_part() {
    let Some(plan) = right() else { return };
    let site = Site::new("log = file:@/none/a file:@/topas/log/%u.log\ncolour = red\n");
    let (code, text) = site.under(&plan, &["--json"]);
    let object: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(code, 0, "{text}");
    assert_eq!(object["schema"], "topas.doctor/1");
    assert_eq!((&object["status"], &object["exit_code"]), (&"all".into(), &0.into()));
    let quantities = object["quantities"].as_array().unwrap();
    assert_eq!(quantities.len(), 7);
    assert!(quantities.iter().any(|q| q["self_test"][0]["off_by_percent"] == 0.0));
    assert_eq!(object["log"][0]["takes_a_line"], false);
    assert!(object["log"][0]["hint"].is_string() && object["log"][1]["hint"].is_null());
    let keys = KEYS.len() + topas_format::mpi_conf::KEYS.len();
    assert_eq!(object["configuration"]["settings"].as_array().unwrap().len(), keys);
    assert!(object["configuration"]["warnings"][0].as_str().unwrap().contains("colour"));
    assert_eq!(object["launch"]["launcher"], Value::Null);
    assert_eq!(object["system"]["seccomp"], "filter");
    assert_eq!(object["variables"][0]["name"], "TOPAS_CONF");
    let mut written = WrittenJson::default();
    written.add(&text);
    // Of an installation with drivers and the MPI library, which this site is not.
    written.hold_against_manual("topas-doctor", &["installation.", "mpi_profile.", "names."]);
}

#[test]
fn launcher_and_variables_are_explained() {
    let env = [
        ("OMPI_COMM_WORLD_RANK", "3"),
        ("OMPI_COMM_WORLD_SIZE", "8"),
        ("TOPAS_PE", "3,9"),
        ("TOPAS_OPS", "loads"),
        ("TOPAS_PES", "1"),
        ("PBS_ENVIRONMENT", "PBS_BATCH"),
        ("PBS_JOBID", "8.server"),
    ];
    let (_, out, _) = Site::logging().run(&["--no-self-test"], &env);
    for part in [
        "Open MPI (mpirun)",
        "3 of 8 (0 to 7)",
        "TOPAS_PE=3,9         not valid: no effect: it names a rank that this run does not have",
        "TOPAS_OPS=loads      every measuring rank counts them",
        "TOPAS_PES=1          not valid: no effect: no variable of that name is known",
        "mode                 batch",
        "job                  8.server",
        "ops                  loads (TOPAS_OPS)",
    ] {
        assert!(out.contains(part), "no `{part}` in\n{out}");
    }
}

/// No control character but newlines: nothing depends on colour.
#[test]
fn the_report_is_plain_text() {
    let escape = ("TOPAS_PE", "\u{1b}[31m\n\u{7f}3");
    for env in [&[][..], &[("NO_COLOR", "1")], &[("CLICOLOR_FORCE", "1")], &[escape]] {
        let (_, out, _) = Site::logging().run(&["--no-self-test"], env);
        assert!(out.chars().all(|c| c == '\n' || !c.is_control()), "{out:?}");
        let (code, help, _) = Site::logging().run(&["--help"], env);
        assert!(code == 0 && !help.contains('\u{1b}'), "{help:?}");
    }
}

/// The transcript in `golden/`; `TOPAS_UPDATE_GOLDEN=1` writes it anew.
#[test]
fn help_is_as_documented() {
    let (code, out, err) = Site::logging().run(&["--help"], &[("COLUMNS", "100")]);
    assert_eq!((code, err.as_str()), (0, ""));
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/help.txt");
    if std::env::var_os("TOPAS_UPDATE_GOLDEN").is_some() {
        fs::write(&golden, &out).unwrap();
    }
    assert_eq!(out, fs::read_to_string(golden).unwrap());
    let (code, version, _) = Site::logging().run(&["--version"], &[]);
    assert_eq!(
        (code, version.as_str()),
        (0, concat!("topas-doctor ", env!("CARGO_PKG_VERSION"), "\n"))
    );
}
