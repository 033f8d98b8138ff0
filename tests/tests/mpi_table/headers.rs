//! What `mpi.h` declares.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use topas_mpi_table::{Function, Returns, find};
use topas_tests::running::{Run, command, run};
use topas_tests::site::Scratch;

use super::judge::{Judge, NamePlace, judges};

/// Functions in `mpi.h` that no version of the standard has.
const FOREIGN: &[&str] = &[
    // Open MPI 5
    "MPI_Session_set_info",
];

/// Functions that a header declares without a `const` of the standard, or had before the
/// standard had them. One that no longer differs has to leave this list.
const DIFFERENT: &[(&[&str], &[&str])] = &[
    (&["mpich-of-debian", "open-mpi-5.0"], &["MPI_Pready_list"]),
    (
        &["intel-mpi-2021.14", "intel-mpi-2021.16"],
        &[
            "MPI_Request_get_status_all",
            "MPI_Request_get_status_any",
            "MPI_Request_get_status_some",
            "MPI_Status_get_error",
            "MPI_Status_get_source",
            "MPI_Status_get_tag",
        ],
    ),
];

/// Functions that `text` declares: what stands before a parenthesis, but for types.
fn declared(text: &str) -> BTreeSet<String> {
    let unquoted: String = text.split('"').step_by(2).collect::<Vec<_>>().join("\"\"");
    let statements = unquoted.split([';', '{', '}']);
    let declarations = statements.filter(|text| !text.trim_start().starts_with("typedef"));
    let before_parenthesis =
        declarations.flat_map(|text| text.match_indices('(').map(|(at, _)| &text[..at]));
    let words = before_parenthesis.filter_map(|text| {
        text.trim_end().rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()
    });
    words.filter(|word| word.starts_with("MPI_")).map(str::to_owned).collect()
}

/// A type of C: what the function returns.
fn result(function: &Function) -> &'static str {
    match function.returns {
        Returns::Error | Returns::Int => "int",
        Returns::Double => "double",
        Returns::Aint => "MPI_Aint",
        Returns::Fint => "MPI_Fint",
        Returns::Handle(kind) => kind.c().small,
        Returns::Nothing => "void",
    }
}

fn compile(judge: &Judge, source: &Path) -> Run {
    let mut compiler = command(&judge.compiler[0]);
    compiler.args(&judge.compiler[1..]).args(["-fsyntax-only", "-std=c11"]);
    compiler.args(["-Werror=incompatible-pointer-types", "-Wno-deprecated-declarations"]);
    run(compiler.arg(source))
}

/// A program that takes the address of each function as the table has its type.
fn program<'a>(judge: &Judge, functions: impl Iterator<Item = &'a str>) -> String {
    let mut text = format!("#include <{}>\n", judge.header);
    for name in functions {
        let Some((function, large)) = find(name) else { continue };
        let types: Vec<_> =
            function.parameters(large).map(|p| p.c_type(large).to_string()).collect();
        let types = if types.is_empty() { "void".to_owned() } else { types.join(", ") };
        writeln!(text, "{} (*check_{name})({types}) = {name};", result(function)).unwrap();
    }
    text
}

/// What is wrong with the types of declared functions.
fn types(judge: &Judge, scratch: &Scratch, declared: &BTreeSet<String>) -> Vec<String> {
    let lists = DIFFERENT.iter().filter(|(judges, _)| judges.contains(&judge.name.as_str()));
    let different: Vec<&str> = lists.flat_map(|(_, names)| names.iter().copied()).collect();
    let source = scratch.path().join("types.c");
    let check = |text: String| {
        fs::write(&source, text).expect("write a program");
        compile(judge, &source)
    };
    let names = declared.iter().map(String::as_str).filter(|name| !different.contains(name));
    let said = check(program(judge, names));
    let mut wrong = Vec::new();
    if said.code() != 0 {
        wrong.push(said.err());
    }
    for name in different {
        if check(program(judge, [name].into_iter())).code() == 0 {
            wrong.push(format!("{name} no longer differs"));
        }
    }
    let lost = "int (*check)(void *, int, MPI_Datatype, int, int, MPI_Comm) = MPI_Send;";
    let said = check(format!("#include <{}>\n{lost}\n", judge.header));
    assert_ne!(said.code(), 0, "{}: a lost const passes", judge.name);
    wrong
}

/// What is wrong with the names that a header declares.
fn names(judge: &Judge, scratch: &Scratch, declared: &BTreeSet<String>) -> Vec<String> {
    let (_, macros) = judge.header(scratch);
    let version = judge.version(scratch);
    let unknown = declared
        .iter()
        .filter(|name| find(name).is_none() && !FOREIGN.contains(&name.as_str()))
        .map(|name| format!("{name} is not in the table"));
    let mut wrong: Vec<String> = unknown.collect();
    // Others have functions of later versions already.
    if judge.name.starts_with("mpich") {
        let later = declared.iter().filter(|name| {
            let since =
                find(name).and_then(|(f, large)| if large { f.large } else { Some(f.since) });
            since.is_some_and(|since| since > version)
        });
        wrong.extend(later.map(|name| format!("{name} is older than the table says")));
    }
    for (name, function) in judge.c_functions(version) {
        let replaced = function.may_be_macro && macros.contains_key(&name);
        let here = declared.contains(&name) || replaced;
        match (here, judge.lacks(&name, NamePlace::Header)) {
            (false, false) => wrong.push(format!("{name} is not declared")),
            (true, true) => wrong.push(format!("{name} is declared after all")),
            _ => {}
        }
    }
    wrong
}

/// Open MPI's header says of each function when it was deprecated.
#[test]
fn deprecated_functions_are_those_of_the_headers() {
    let judges = judges("deprecated_functions_are_those_of_the_headers", &["gcc"]);
    let mut told = 0;
    for judge in judges {
        let (text, _) = judge.header(&Scratch::new());
        for (at, middle) in text.match_indices(" was deprecated in MPI-") {
            let name = text[..at].rsplit('"').next().expect("a name");
            let version = text[at + middle.len()..].get(..3).expect("a version");
            let Some((function, false)) = find(name) else { continue };
            let known = function.deprecated.map(|version| version.to_string());
            assert_eq!(known.as_deref(), Some(version), "{}: {name}", judge.name);
            told += 1;
        }
        assert!(told > 0 || !judge.name.starts_with("open"), "{} says nothing", judge.name);
    }
}

#[test]
fn headers_declare_what_the_table_says() {
    let mut complaints = Vec::new();
    for judge in judges("headers_declare_what_the_table_says", &["gcc"]) {
        let scratch = Scratch::new();
        let (text, _) = judge.header(&scratch);
        let declared = declared(&text);
        assert!(declared.len() > 390, "{}: {} functions", judge.name, declared.len());
        let mut wrong = names(&judge, &scratch, &declared);
        wrong.extend(types(&judge, &scratch, &declared));
        complaints.extend(wrong.into_iter().map(|what| format!("{}: {what}", judge.name)));
        println!("{}: {} functions of C", judge.name, declared.len());
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
