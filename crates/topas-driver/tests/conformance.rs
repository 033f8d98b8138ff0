//! The tables of `tests/driver/commands` through the driver executable, in front of a
//! compiler that records how it was called.

mod site;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use site::{Site, text};
use topas_testkit::command_table::{CommandRow, read};
use topas_testkit::fake_compiler::FakeCompiler;

/// What a reason of the tables reads like in the answer to `--topas-explain`.
const REASONS: &[(&str, &str)] = &[
    ("StopsBeforeLink", "stops before the link"),
    ("Asks", "asks a question"),
    ("Relocatable", "makes a relocatable object"),
    ("SharedLibrary", "makes a shared library"),
    ("NoInput", "no source, object or archive"),
    ("OnlyHeaders", "headers are precompiled"),
    ("Off", "switched off by"),
    ("HasModule", "is linked already"),
    ("UsesCounters", "uses the counters itself"),
    ("NoStartFiles", "no start files"),
    ("NoLibc", "no C library"),
    ("OtherWidth", "code of another width"),
    ("OtherTarget", "code for another machine"),
    ("RawOutput", "the output is no ELF"),
    ("Compiler", "does not know -Wl,"),
    ("Dangling", "lacks its argument"),
    ("EndOfOptions", "`--` ends the options"),
    ("ResponseFile", "response file"),
];

/// Threads that run commands: most of the time is the start of processes.
const THREADS: usize = 4;

fn tables() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/driver")
}

/// A site with every name, and the response files in the directory of the commands.
fn prepared(rows: &[CommandRow]) -> Site {
    let site = Site::new();
    let mut tools: Vec<_> = rows.iter().map(|row| row.tool.as_str()).collect();
    tools.sort_unstable();
    tools.dedup();
    tools.retain(|tool| !site::NAMES.contains(tool));
    FakeCompiler::install(site.fake.dir(), &tools);
    for entry in fs::read_dir(tables().join("response")).unwrap() {
        let file = entry.unwrap().path();
        fs::copy(&file, site.work().join(file.file_name().unwrap())).unwrap();
    }
    let objects: Vec<_> = (0..4000).map(|i| format!("dir/object-{i:05}.o\n")).collect();
    fs::write(site.work().join("big.rsp"), objects.concat()).unwrap();
    let pipe = site.work().join("pipe");
    assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    site
}

/// The module by its name in the tables: `c`, or `c.init` for a variant.
fn module(site: &Site, name: &str) -> PathBuf {
    match name.split_once('.') {
        Some((language, variant)) => site.scratch.variant(language, variant),
        None => site.scratch.module(name),
    }
}

/// The arguments the real program must get.
fn expected(site: &Site, row: &CommandRow) -> Vec<OsString> {
    let mut words = row.passed.as_ref().unwrap_or(&row.words).clone();
    for word in &mut words {
        let name = word.to_str().and_then(|w| w.strip_prefix('%')?.strip_suffix('%'));
        *word = match name.map(|name| (name, name.strip_prefix("ld:"))) {
            Some((_, Some(name))) => module(site, name).into(),
            Some((name, None)) => site.word(&module(site, name)),
            None => continue,
        };
    }
    let added = match row.expect.strip_prefix('+') {
        _ if row.passed.is_some() => None,
        Some(language) => Some(module(site, language)),
        None if row.expect == "answer" => Some(site.scratch.variant(&row.detail, "init")),
        None => None,
    };
    words.extend(added.map(|object| site.word(&object)));
    words
}

fn command(site: &Site, row: &CommandRow, words: &[OsString]) -> Command {
    let mut command = site.command_of_any_set(&row.tool);
    command.envs(row.env.iter().map(|(name, value)| (name, value))).args(words);
    command
}

/// What is wrong with the arguments behind the driver.
fn passed_wrongly(site: &Site, row: &CommandRow) -> Option<String> {
    let output = command(site, row, &row.words).output().unwrap();
    let calls = site.fake.take_calls();
    let [call] = calls.as_slice() else { return Some(format!("{} calls", calls.len())) };
    if !output.status.success() || !output.stderr.is_empty() || !output.stdout.is_empty() {
        return Some(format!("{output:?}"));
    }
    let (told, words) = call.args.split_first()?;
    let expected = expected(site, row);
    if *told != site.fake.dir().join(&row.tool) {
        return Some(format!("the real program is told the name {told:?}"));
    }
    if words == expected {
        return None;
    }
    let differ = words.iter().zip(&expected).position(|(a, b)| a != b);
    let at = differ.unwrap_or(words.len().min(expected.len()));
    Some(format!(
        "{} words, {} expected; word {} is {:?}, not {:?}",
        words.len(),
        expected.len(),
        at + 1,
        words.get(at),
        expected.get(at)
    ))
}

/// What is wrong with the decision and its reason.
fn decided_wrongly(site: &Site, row: &CommandRow) -> Option<String> {
    let begin = match row.expect.as_str() {
        "alone" => "link without the module: ",
        "no" => "no link of an executable: ",
        _ => return None,
    };
    let mut words = vec![OsString::from("--topas-explain")];
    words.extend(row.words.iter().cloned());
    let output = command(site, row, &words).output().unwrap();
    // The command is shown as it is, so only the line before it is text.
    let decision = output.stdout.split(|&b| b == b'\n').find(|l| l.starts_with(b"decision:"));
    let shown = text(decision.unwrap_or(&output.stderr));
    let reason = match REASONS.iter().find(|(name, _)| *name == row.detail) {
        Some((_, reason)) => reason,
        None if row.detail.is_empty() => "",
        None => return Some(format!("no reason is called {}", row.detail)),
    };
    let as_expected = shown.contains(begin) && shown.contains(reason);
    (!as_expected).then_some(shown)
}

/// What is wrong with these rows, in front of a site of their own.
fn wrong_rows(rows: &[CommandRow]) -> Vec<String> {
    let site = prepared(rows);
    let mut wrong = Vec::new();
    for row in rows {
        let known = row.expect.starts_with('+')
            || ["alone", "answer", "no", "pass"].contains(&row.expect.as_str());
        assert!(known, "{}: unknown expectation {}", row.place, row.expect);
        let faults = [passed_wrongly(&site, row), decided_wrongly(&site, row)];
        wrong.extend(faults.into_iter().flatten().map(|why| format!("{}\n    {why}", row.shown())));
    }
    wrong
}

#[test]
fn every_command_line_of_the_tables() {
    let rows = read(&tables().join("commands"));
    let parts: Vec<&[CommandRow]> = rows.chunks(rows.len().div_ceil(THREADS)).collect();
    let wrong: Vec<String> = thread::scope(|scope| {
        let threads: Vec<_> =
            parts.into_iter().map(|rows| scope.spawn(|| wrong_rows(rows))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a thread")).collect()
    });
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert!(rows.len() >= 800, "only {} command lines", rows.len());
}

/// Names that the data has and the tables have not.
#[test]
fn every_name_has_a_command_line() {
    let rows = read(&tables().join("commands"));
    let list = Command::new(site::DRIVER).arg("--list").output().unwrap();
    let list = text(&list.stdout);
    let names: Vec<_> = list
        .lines()
        .filter(|line| !line.contains(" launcher"))
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(names.contains(&"mpicc"), "{list}");
    for name in names {
        let found = rows
            .iter()
            .any(|row| row.tool == name && (row.expect.starts_with('+') || row.expect == "pass"));
        assert!(found, "no command line of {name}: add one to tests/driver/commands/names.txt");
    }
}

/// More than the usual limit of 2 MB: a quarter of the stack, which is made larger here.
#[test]
fn a_command_of_four_megabytes() {
    let site = Site::new();
    let (soft, hard) = getrlimit(Resource::RLIMIT_STACK).unwrap();
    let wanted = hard.min(64 << 20);
    setrlimit(Resource::RLIMIT_STACK, wanted, hard).unwrap();
    let words = vec![OsString::from("-D".to_owned() + &"X".repeat(100_000)); 40];
    let mut command = site.command("mpicc");
    let output = command.args(&words).arg("a.c").output();
    setrlimit(Resource::RLIMIT_STACK, soft, hard).unwrap();
    let call = site.checked(&output.unwrap());
    assert_eq!(call.args.len(), 1 + words.len() + 1 + 1);
    assert_eq!(call.args[1..=words.len()], words);
    assert_eq!(call.args.last(), site.module_words("c").last());
}
