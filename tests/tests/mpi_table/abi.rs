//! Constants and layouts of MPIs in binary, against headers as the C compiler understands them.

use std::fmt::Write as _;
use std::fs;

use topas_mpi_table::abi::{Abi, Handles, Length, MPICH, OPEN_MPI, Predefined, STANDARD};
use topas_tests::running::{Run, command, run};
use topas_tests::site::Scratch;

use super::judge::{Judge, judges};

/// The family that a header is of.
fn family(judge: &Judge) -> &'static Abi {
    match judge.header {
        "mpi_abi.h" => &STANDARD,
        _ if judge.name.starts_with("open") => &OPEN_MPI,
        _ => &MPICH,
    }
}

/// Objects, by their names.
fn objects(abi: &Abi) -> [(&'static str, Predefined); 7] {
    [
        ("MPI_COMM_WORLD", abi.comm_world),
        ("MPI_COMM_SELF", abi.comm_self),
        ("MPI_COMM_NULL", abi.comm_null),
        ("MPI_REQUEST_NULL", abi.request_null),
        ("MPI_MESSAGE_NO_PROC", abi.message_no_proc),
        ("MPI_NO_OP", abi.no_op),
        ("MPI_BYTE", abi.byte),
    ]
}

/// A program that compiles if all numbers are right.
fn program(judge: &Judge, abi: &Abi) -> String {
    let mut text = format!("#include <{}>\n#include <stdint.h>\n", judge.header);
    text.push_str("#include <stddef.h>\n#define SAME(a, b) _Static_assert((a) == (b), #a)\n");
    let numbers = [
        ("MPI_PROC_NULL", abi.proc_null),
        ("MPI_ANY_SOURCE", abi.any_source),
        ("MPI_ROOT", abi.root),
        ("MPI_UNDEFINED", abi.undefined),
        ("MPI_IDENT", abi.identical),
        ("MPI_CART", abi.cartesian),
        ("MPI_GRAPH", abi.graph),
        ("MPI_DIST_GRAPH", abi.distributed_graph),
        ("MPI_THREAD_SINGLE", abi.thread_levels[0]),
        ("MPI_THREAD_FUNNELED", abi.thread_levels[1]),
        ("MPI_THREAD_SERIALIZED", abi.thread_levels[2]),
        ("MPI_THREAD_MULTIPLE", abi.thread_levels[3]),
    ];
    let lock = abi.lock_shared.map(|shared| ("MPI_LOCK_SHARED", shared));
    for (name, number) in numbers.into_iter().chain(lock) {
        writeln!(text, "SAME({name}, {number});").unwrap();
    }
    let pointers = [
        ("MPI_IN_PLACE", abi.in_place),
        ("MPI_STATUS_IGNORE", abi.status_ignore),
        ("MPI_STATUSES_IGNORE", abi.status_ignore),
    ];
    let values = objects(abi).into_iter().filter_map(|(name, object)| match object {
        Predefined::Value(value) => Some((name, value)),
        Predefined::Symbol(_) => None,
    });
    for (name, value) in pointers.into_iter().chain(values) {
        writeln!(text, "SAME((uintptr_t){name}, {value}u + UINT64_C(0));").unwrap();
    }
    let handle = if abi.handles == Handles::Pointers { 8 } else { 4 };
    for kind in ["Comm", "Datatype", "Request", "Message", "Op", "Win", "Group"] {
        writeln!(text, "SAME(sizeof(MPI_{kind}), {handle});").unwrap();
    }
    writeln!(text, "SAME(sizeof(MPI_Status), {});", abi.status.size).unwrap();
    writeln!(text, "SAME(offsetof(MPI_Status, MPI_SOURCE), {});", abi.status.source).unwrap();
    writeln!(text, "SAME(offsetof(MPI_Status, MPI_ERROR), {});", abi.status.error).unwrap();
    // The standard leaves the rest open, and the MPI is asked.
    match abi.status.length {
        [Length::Word { at, cancelled }] => {
            writeln!(text, "SAME(offsetof(MPI_Status, _ucount), {at});").unwrap();
            writeln!(text, "SAME(offsetof(MPI_Status, _cancelled), {cancelled});").unwrap();
        }
        [Length::Halves { at }] => {
            writeln!(text, "SAME(offsetof(MPI_Status, count_lo), {at});").unwrap();
            let next = at + 4;
            writeln!(text, "SAME(offsetof(MPI_Status, count_hi_and_cancelled), {next});").unwrap();
        }
        _ => {}
    }
    text
}

/// What the compiler says to a program.
fn compile(judge: &Judge, text: &str) -> Run {
    let scratch = Scratch::new();
    let source = scratch.path().join("abi.c");
    fs::write(&source, text).expect("write a program");
    let mut compiler = command(&judge.compiler[0]);
    run(compiler.args(&judge.compiler[1..]).args(["-fsyntax-only", "-std=c11"]).arg(&source))
}

#[test]
fn constants_and_layouts_are_those_of_the_headers() {
    for judge in judges("constants_and_layouts_are_those_of_the_headers", &["gcc"]) {
        let abi = family(&judge);
        let text = program(&judge, abi);
        let said = compile(&judge, &text);
        assert_eq!(said.code(), 0, "{}: {}", judge.name, said.err());
        let other = text.replace("SAME(MPI_PROC_NULL, ", "SAME(MPI_PROC_NULL, 1 + ");
        assert_ne!(compile(&judge, &other).code(), 0, "{}: anything passes", judge.name);
        let (_, macros) = judge.header(&Scratch::new());
        for (name, object) in objects(abi) {
            if let Predefined::Symbol(symbol) = object {
                assert!(macros[name].contains(symbol), "{}: {name}", judge.name);
            }
        }
    }
}

/// Sizes in handles are those of the types of C.
#[test]
fn handles_of_datatypes_tell_their_size() {
    let types = [
        ("CHAR", "char"),
        ("SHORT", "short"),
        ("INT", "int"),
        ("LONG", "long"),
        ("LONG_LONG_INT", "long long"),
        ("FLOAT", "float"),
        ("DOUBLE", "double"),
        ("LONG_DOUBLE", "long double"),
        ("BYTE", "char"),
        ("WCHAR", "wchar_t"),
        ("INT64_T", "int64_t"),
        ("AINT", "MPI_Aint"),
        ("COUNT", "MPI_Count"),
        ("C_DOUBLE_COMPLEX", "double _Complex"),
        ("C_BOOL", "_Bool"),
    ];
    for judge in judges("handles_of_datatypes_tell_their_size", &["gcc"]) {
        if !family(&judge).sizes_in_handles {
            continue;
        }
        let (_, macros) = judge.header(&Scratch::new());
        let mut text = format!("#include <{}>\n#include <stdint.h>\n", judge.header);
        text.push_str("#include <stddef.h>\n");
        for (name, c) in types {
            let handle = macros[&format!("MPI_{name}")].as_str();
            let number = handle.rsplit("MPI_Datatype)").next().expect("a number");
            let number = number.trim_end_matches(')');
            let handle = match number.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16),
                None => number.parse(),
            };
            let handle = handle.unwrap_or_else(|e| panic!("{number}: {e}"));
            let size = family(&judge).size_in_handle(handle).expect(name);
            writeln!(text, "_Static_assert(sizeof({c}) == {size}, \"{name}\");").unwrap();
        }
        let said = compile(&judge, &text);
        assert_eq!(said.code(), 0, "{}: {}", judge.name, said.err());
    }
}
