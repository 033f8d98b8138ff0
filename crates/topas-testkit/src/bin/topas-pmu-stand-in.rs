//! Runs a program with a PMU that answers by a plan: see `topas_testkit::pmu`.

use std::error::Error;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Parser;
use topas_testkit::pmu::{self, EXIT_FAILED, PmuError, PmuOutcome, PmuPlan};

/// Run PROGRAM with a stand-in for the hardware counters.
///
/// Every perf_event_open of PROGRAM and its descendants is answered by PLAN and recorded
/// in the report. Exit code: that of PROGRAM, 128 + N if signal N ended it; 125 if the
/// stand-in failed, 126 if PROGRAM cannot be executed, 127 if there is no PROGRAM.
#[derive(Parser)]
#[command(name = "topas-pmu-stand-in")]
struct Arguments {
    /// File with the plan, or the plan itself if it contains '='; rules are TYPE:CONFIG =
    /// VALUE[/RUNNING_PER_MILLE] | never | unreadable | ERRNO | kernel | page-faults | task-clock |
    /// stores ADDRESS | executions ADDRESS, * = ..., group = N, fresh = N, delay = MS, paranoid =
    /// N.
    #[arg(long)]
    plan: OsString,
    /// File that gets one line per perf_event_open.
    #[arg(long, value_name = "FILE")]
    report: PathBuf,
    /// Program with its arguments.
    #[arg(required = true, last = true, value_names = ["PROGRAM", "ARGS"])]
    command: Vec<OsString>,
}

/// What ends the command early: message, cause, hint and exit code.
struct StandInFailure {
    message: String,
    cause: Option<String>,
    hint: &'static str,
    code: u8,
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            eprint!("topas-pmu-stand-in: {}", error.render());
            return EXIT_FAILED.into();
        }
        Err(help) => {
            // A reader that closed the pipe has seen enough.
            let _ = help.print();
            return ExitCode::SUCCESS;
        }
    };
    match run(&arguments) {
        Ok(outcome) => {
            if outcome.left_behind {
                eprintln!(
                    "topas-pmu-stand-in: warning: processes of the program are still running"
                );
            }
            outcome.exit_code().into()
        }
        Err(failure) => {
            eprintln!("topas-pmu-stand-in: error: {}", failure.message);
            if let Some(cause) = failure.cause {
                eprintln!("  caused by: {cause}");
            }
            eprintln!("hint: {}", failure.hint);
            failure.code.into()
        }
    }
}

fn run(arguments: &Arguments) -> Result<PmuOutcome, StandInFailure> {
    let plan = read_plan(&arguments.plan)?;
    let mut report = File::create(&arguments.report)
        .map_err(|error| file_failure("report", &arguments.report.display().to_string(), &error))?;
    let (program, rest) = arguments.command.split_first().ok_or_else(|| StandInFailure {
        message: "no program given".to_owned(),
        cause: None,
        hint: "give a program after --",
        code: EXIT_FAILED,
    })?;
    let mut command = Command::new(program);
    command.args(rest);
    pmu::run_reporting(&plan, command, &mut report).map_err(|error: PmuError| StandInFailure {
        message: error.to_string(),
        cause: error.source().map(ToString::to_string),
        hint: error.hint(),
        code: error.exit_code(),
    })
}

fn read_plan(given: &OsString) -> Result<PmuPlan, StandInFailure> {
    let inline = given.to_str().filter(|text| text.contains('='));
    let text = match inline {
        Some(text) => text.to_owned(),
        None => fs::read_to_string(given)
            .map_err(|error| file_failure("plan", &given.to_string_lossy(), &error))?,
    };
    text.parse().map_err(|error: pmu::PlanError| StandInFailure {
        message: error.to_string(),
        cause: None,
        hint: "a rule is TYPE:CONFIG = ANSWER; see --help",
        code: EXIT_FAILED,
    })
}

fn file_failure(what: &str, name: &str, error: &io::Error) -> StandInFailure {
    StandInFailure {
        message: format!("cannot open the {what} '{name}'"),
        cause: Some(error.to_string()),
        hint: "check the path and its permissions",
        code: EXIT_FAILED,
    }
}
