//! A compiler that compiles nothing: it records how it was called.
//!
//! One file, std only: `topas_testkit::fake_compiler` builds it with plain `rustc` as
//! well. Told what to do by the environment:
//!
//! * `FAKE_COMPILER_LOG`: file a record is appended to, in one write;
//! * `FAKE_COMPILER_ENV`: names of variables to record, separated by blanks;
//! * `FAKE_COMPILER_EXIT`: exit code, 0 if unset;
//! * `FAKE_COMPILER_SIGNAL`: signal to die by, such as `TERM`, in place of an exit;
//! * `FAKE_COMPILER_STDOUT`, `FAKE_COMPILER_STDERR`: text to print;
//! * `FAKE_COMPILER_CAT`: if set, standard input is copied to standard output.
//!
//! A record is a sequence of strings, each ended by a NUL: the number of arguments,
//! the arguments, the number of variables, the variables as NAME=VALUE.

use std::env;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::process::{Command, exit};

fn main() {
    if let Some(log) = env::var_os("FAKE_COMPILER_LOG") {
        let mut log = OpenOptions::new().append(true).create(true).open(log).expect("open record");
        log.write_all(&record()).expect("write record");
    }
    if env::var_os("FAKE_COMPILER_CAT").is_some() {
        io::copy(&mut io::stdin(), &mut io::stdout()).expect("copy standard input");
    }
    if let Some(text) = env::var_os("FAKE_COMPILER_STDOUT") {
        io::stdout().write_all(text.as_bytes()).expect("write on standard output");
    }
    if let Some(text) = env::var_os("FAKE_COMPILER_STDERR") {
        io::stderr().write_all(text.as_bytes()).expect("write on standard error");
    }
    if let Some(signal) = env::var_os("FAKE_COMPILER_SIGNAL") {
        // The shell takes over this process, so it is this process that dies.
        let error = Command::new("/bin/sh").args(["-c", "kill -s \"$0\" $$"]).arg(signal).exec();
        panic!("cannot run /bin/sh: {error}");
    }
    let code = env::var("FAKE_COMPILER_EXIT").ok();
    exit(code.map_or(0, |code| code.parse().expect("FAKE_COMPILER_EXIT is a number")));
}

fn record() -> Vec<u8> {
    let wanted = env::var("FAKE_COMPILER_ENV").unwrap_or_default();
    let variables: Vec<_> = wanted
        .split_whitespace()
        .filter_map(|name| {
            let mut entry = OsString::from(name);
            entry.push("=");
            entry.push(env::var_os(name)?);
            Some(entry)
        })
        .collect();
    let arguments: Vec<_> = env::args_os().collect();
    let mut record = Vec::new();
    for list in [arguments, variables] {
        record.extend_from_slice(list.len().to_string().as_bytes());
        record.push(0);
        for word in list {
            record.extend_from_slice(&word.into_vec());
            record.push(0);
        }
    }
    record
}
