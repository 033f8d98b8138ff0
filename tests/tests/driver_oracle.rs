//! The compilers themselves as judges of `tests/driver/commands`: by `-###` they say what they
//! would run, and with that whether a command links an executable.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use topas_testkit::command_table::{CommandRow, read};
use topas_tests::running::{command, have, run};
use topas_tests::site::{Scratch, source_root};
use topas_tests::skip::skip;

/// Longer commands are judged by the tables alone.
const MAX_WORDS: usize = 1000;

/// Where the driver decides otherwise on purpose, or knows that it may: a measurement is lost,
/// no build is. A row that no longer differs must leave this list.
const DIFFER: &[(&str, &[&str])] = &[
    (
        "a link of libraries alone, which the driver takes for a question or a test",
        &[
            "mpicc -lm",
            "mpicc -l m -L /opt/lib",
            "mpicc -lm -lc -L.",
            "mpicc -Wl,-lm",
            "mpicc -Xlinker -lm",
            "mpicc -framework Accelerate",
            "mpicc -v -Wl,-v",
            "mpicc -Xlinker -rpath -Xlinker a.o",
            "mpicc -Wl,-rpath,/opt/lib",
            "mpicc -Wl,-rpath=/opt/lib",
        ],
    ),
    (
        "headers of which the user says that they are sources",
        &["mpicc -x c a.h", "mpicc -xc a.h -o a", "mpicxx -x c++ a.h"],
    ),
    (
        "options of one compiler that another one ignores, or reads as `-e mit-ast`",
        &[
            "mpicc -dynamiclib a.o",
            "mpicc -bundle a.o",
            "mpicc -emit-ast a.c",
            "mpifort -fmodule-only a.f90",
        ],
    ),
];

/// What a compiler says of a command.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Executable,
    Other,
}

/// The compilers of a driver name, the usual one first.
fn compilers(tool: &str) -> [&'static str; 2] {
    match tool {
        "mpicc" | "oshcc" | "shmemcc" | "gcc" | "cc" => ["gcc", "clang"],
        "mpicxx" | "mpic++" | "mpiCC" | "g++" | "c++" => ["g++", "clang++"],
        "mpif77" | "mpif90" | "mpifort" | "gfortran" => ["gfortran", "gfortran"],
        _ => ["", ""],
    }
}

/// Makes the files a command names, as far as they are not there: compilers look for them.
fn make_inputs(dir: &Path, row: &CommandRow) {
    for word in &row.words {
        let path = Path::new(word);
        let named = !word.is_empty() && !word.as_bytes().starts_with(b"-") && path.is_relative();
        if named && !word.as_bytes().starts_with(b"@") && !path.starts_with("..") {
            let path = dir.join(path);
            let parent = path.parent().unwrap_or(dir);
            let made = fs::create_dir_all(parent).is_ok() && !path.exists();
            // A name that no file can have is the compiler's affair.
            if made {
                let _ = fs::write(&path, "");
            }
        }
    }
}

/// The verdict of a compiler; `None` if it does not take the command.
fn verdict(compiler: &str, dir: &Path, row: &CommandRow) -> Option<Verdict> {
    let mut asked = command(compiler);
    let asked = run(asked.arg("-###").args(&row.words).current_dir(dir));
    if asked.code() != 0 {
        return None;
    }
    let said = asked.err();
    let link = said.lines().map(str::trim_start).find(|line| {
        let program = line.split(' ').next().unwrap_or_default().trim_matches('"');
        let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
        name == "collect2"
            || name == "ld"
            || name.ends_with("-ld")
            || name.starts_with("wasm-ld")
            || name.starts_with("ld.")
    });
    let Some(link) = link else { return Some(Verdict::Other) };
    let words: Vec<_> = link.split(' ').map(|word| word.trim_matches('"')).collect();
    let other =
        ["-shared", "--shared", "-Bshareable", "-r", "-i", "-Ur", "--relocatable", "-relocatable"];
    // The word behind these is a name, whatever it looks like.
    let named = [
        "-o",
        "-rpath",
        "-soname",
        "--defsym",
        "-Map",
        "-u",
        "-z",
        "-e",
        "-L",
        "-plugin-opt",
        "--version-script",
        "--wrap",
        "-T",
        "-dynamic-linker",
        "-mllvm",
        "-l",
        "-h",
    ];
    let kinds =
        words.windows(2).filter(|pair| other.contains(&pair[1]) && !named.contains(&pair[0]));
    Some(if kinds.count() > 0 { Verdict::Other } else { Verdict::Executable })
}

#[test]
fn compilers_agree_with_the_tables() {
    if !["gcc", "g++", "gfortran", "clang"].into_iter().all(have) {
        return skip("compilers_agree_with_the_tables", "gcc, g++, gfortran or clang is missing");
    }
    let rows = read(&source_root().join("tests/driver/commands"));
    let scratch = Scratch::new();
    let response = source_root().join("tests/driver/response");
    let (mut judged, mut wrong) = (0, Vec::new());
    for (number, row) in rows.iter().enumerate() {
        // A compiler cannot tell what the MPI's driver answers by itself, what a variable
        // chooses, what a question makes of -###, and what is in a response file of the linker.
        let has = |part: &str| row.words.iter().any(|word| word.to_string_lossy().contains(part));
        let unsuited = !row.env.is_empty()
            || row.expect == "answer"
            || ["Asks", "EndOfOptions", "ResponseFile"].contains(&row.detail.as_str())
            || row.passed.is_some()
            || row.words.len() > MAX_WORDS
            || ["-show", "-wrapper", "-Wl,@"].into_iter().any(has)
            || row
                .words
                .windows(2)
                .any(|pair| pair[0] == "-Xlinker" && pair[1].as_bytes().starts_with(b"@"));
        if unsuited {
            continue;
        }
        let dir = scratch.sub(&format!("work-{number}"));
        if row.words.iter().any(|word| word.as_bytes().starts_with(b"@")) {
            for entry in fs::read_dir(&response).expect("directory") {
                let file = entry.expect("directory").path();
                fs::copy(&file, dir.join(file.file_name().expect("name"))).expect("copy");
            }
        }
        make_inputs(&dir, row);
        let found = compilers(row.tool.split('.').next().unwrap_or_default());
        let found = found.into_iter().filter(|compiler| !compiler.is_empty());
        let Some(verdict) = found.filter_map(|compiler| verdict(compiler, &dir, row)).next() else {
            continue;
        };
        judged += 1;
        let expected = if row.expect == "no" { Verdict::Other } else { Verdict::Executable };
        let shown = row.shown();
        let known =
            DIFFER.iter().flat_map(|(_, rows)| *rows).any(|r| shown.ends_with(&format!(": {r}")));
        if (verdict != expected) != known {
            wrong.push(format!("{shown}\n    the compiler says {verdict:?}"));
        }
        fs::remove_dir_all(&dir).expect("remove directory");
    }
    assert!(wrong.is_empty(), "{} wrong of {judged}\n{}", wrong.len(), wrong.join("\n"));
    assert!(judged >= 650, "only {judged} command lines were judged");
}
