//! `topas-doctor`: what TOPAS would measure on this node, and why not.
#![forbid(unsafe_code)]

use std::io::{ErrorKind, Write, stderr, stdout};
use std::process::ExitCode;

use topas_config::{Environment, Paths, command_line};
use topas_doctor::args::{Early, Options};
use topas_doctor::names::Names;
use topas_doctor::report::Report;
use topas_doctor::{build, exit, json, text};

fn main() -> ExitCode {
    let line = command_line();
    let argv0 = line.first().cloned().unwrap_or_default();
    let options = match Options::read(line) {
        Ok(options) => options,
        Err(Early::Print(text)) => return print(&text, exit::ALL),
        Err(Early::Wrong(text)) => {
            complain(&text);
            return exit::USAGE.into();
        }
    };
    let env = Environment::of_process();
    let paths = Paths::of_this_program(&argv0, &env);
    if options.build {
        let report = build::probe(&env, paths.as_ref());
        return print(&report.text, report.exit_code());
    }
    let mut report = Report::of_this_node(&env, paths.as_ref(), !options.no_self_test);
    if !options.quiet {
        report.names = paths.as_ref().map(|paths| Names::of(&env, paths));
    }
    let output = match options {
        Options { json: true, .. } => json::object(&report),
        Options { quiet: true, .. } => text::first_line(&report),
        _ => text::page(&report),
    };
    print(&output, report.status().exit_code())
}

/// Prints the report; the exit code is that of the report if it got out.
fn print(text: &str, code: u8) -> ExitCode {
    match stdout().write_all(text.as_bytes()).and_then(|()| stdout().flush()) {
        Ok(()) => code.into(),
        // A reader that has seen enough (`| head`) is no error.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => code.into(),
        Err(error) => {
            complain(&format!(
                "topas-doctor: error: cannot write to standard output\n  cause: {error}\n  \
                 hint: is the disk full?\n"
            ));
            exit::OUTPUT.into()
        }
    }
}

/// Standard error may be closed; that must not end the program.
fn complain(text: &str) {
    let _ = stderr().lock().write_all(text.as_bytes());
}
