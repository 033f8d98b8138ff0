//! The same programs through the names of Fortran: what a compiler of Fortran would call is called
//! from C, by a function made from the table for each.

use std::collections::BTreeSet;
use std::fs;

use topas_mpi_table::{
    Binding, Direction, Function, Length, Mangling, Parameter, ParameterKind, functions,
};
use topas_tests::mpi_installation::Mpi;
use topas_tests::running::{command, run};
use topas_tests::site::Scratch;

use super::launch::Names;

/// Entries of lists whose length is not among the arguments.
const MOST: usize = 8;

/// All names that the libraries export that a program in Fortran is linked with.
fn exported(mpi: Mpi) -> BTreeSet<String> {
    let scratch = Scratch::new();
    let path = |name: &str| scratch.path().join(name);
    fs::write(path("empty.f90"), "end\n").expect("write a program");
    let mut link = command(mpi.real("mpifort").expect("mpifort"));
    link.arg(path("empty.f90")).args(["-Wl,--no-as-needed", "-o"]).arg(path("empty"));
    run(link.current_dir(scratch.path())).good();
    let needed = run(command("ldd").arg(path("empty"))).good().out();
    let paths = needed.lines().filter_map(|line| line.split_whitespace().nth(2));
    let mut all = BTreeSet::new();
    for path in paths.filter(|path| path.contains("/libmpi")) {
        let symbols = run(command("nm").args(["-D", "--defined-only"]).arg(path)).good().out();
        all.extend(
            symbols
                .lines()
                .filter_map(|line| line.split_whitespace().nth(2))
                .map(|name| name.split('@').next().unwrap_or(name).to_owned()),
        );
    }
    all
}

/// The word in `MPI_Comm_c2f`; None for what is no handle.
fn handle(kind: ParameterKind) -> Option<&'static str> {
    Some(match kind {
        ParameterKind::Comm => "Comm",
        ParameterKind::Datatype => "Type",
        ParameterKind::File => "File",
        ParameterKind::Group => "Group",
        ParameterKind::Info => "Info",
        ParameterKind::Message => "Message",
        ParameterKind::Op => "Op",
        ParameterKind::Request => "Request",
        ParameterKind::Win => "Win",
        _ => return None,
    })
}

/// What stands around a call for one argument.
#[derive(Default)]
struct Passed {
    before: String,
    word: String,
    after: String,
    /// Length of a text, behind all arguments
    length: Option<String>,
}

/// How an argument is passed in Fortran; None if that is not worth the while here.
fn passed(function: &Function, p: &Parameter, binding: Binding) -> Option<Passed> {
    let name = p.name;
    let f08 = !matches!(binding, Binding::Fortran(_));
    let mut it = Passed { word: format!("f_{name}"), ..Passed::default() };
    let length = match p.array {
        Some(Length::Parameter(length)) => length.to_owned(),
        _ => MOST.to_string(),
    };
    if let Some(word) = handle(p.kind) {
        let (c, c2f, f2c) =
            (p.kind.c().small, format!("MPI_{word}_c2f"), format!("MPI_{word}_f2c"));
        if p.array.is_some() {
            // Types are looked at until a collective is over.
            let kept = if p.kind == ParameterKind::Datatype { "static " } else { "" };
            it.before = format!(
                "{kept}MPI_Fint f_{name}[64]; int n_{name} = {length};\n\
                 for (int i = 0; {name} && i < n_{name}; i++) f_{name}[i] = {c2f}({name}[i]);\n"
            );
            if p.direction != Direction::In {
                it.after = format!(
                    "for (int i = 0; i < n_{name}; i++) (({c} *){name})[i] = {f2c}(f_{name}[i]);\n"
                );
            }
        } else if p.is_pointer() {
            // What comes out may be nonsense where it goes in.
            let first = if p.direction == Direction::Out {
                "0".to_owned()
            } else {
                format!("{c2f}(*{name})")
            };
            it.before = format!("MPI_Fint f_{name} = {first};\n");
            it.after = format!("*{name} = {f2c}(f_{name});\n");
            if p.direction == Direction::Out {
                // Untouched if nothing came out.
                it.after = format!("if (f_{name} || !FLAGGED) {}", it.after);
            }
            it.word = format!("&f_{name}");
        } else {
            it.before = format!("MPI_Fint f_{name} = {c2f}({name});\n");
            it.word = format!("&f_{name}");
        }
        return Some(it);
    }
    match p.kind {
        ParameterKind::Choice if binding.descriptor() => {
            it.before = format!(
                "CFI_CDESC_T(1) d_{name};\nvoid *f_{name} = described(&d_{name}, {name});\n"
            );
        }
        ParameterKind::Choice => it.before = format!("void *f_{name} = addressed({name});\n"),
        ParameterKind::BufferAddress if !f08 => it.word = name.to_owned(),
        ParameterKind::Status if p.direction == Direction::Out && p.array.is_some() => {
            it.before = format!(
                "MPI_Fint s_{name}[64 * STATUS]; int n_{name} = {length};\n\
                 void *f_{name} = {name} == MPI_STATUSES_IGNORE ? NO_STATUSES : s_{name};\n"
            );
            it.after = format!(
                "for (int i = 0; i < n_{name} && {name} != MPI_STATUSES_IGNORE; i++)\n\
                 MPI_Status_f2c(&s_{name}[i * STATUS], &{name}[i]);\n"
            );
        }
        ParameterKind::Status if p.direction == Direction::Out => {
            it.before = format!(
                "MPI_Fint s_{name}[STATUS] = {{0}};\n\
                 void *f_{name} = {name} == MPI_STATUS_IGNORE ? NO_STATUS : s_{name};\n"
            );
            it.after =
                format!("if ({name} != MPI_STATUS_IGNORE) MPI_Status_f2c(s_{name}, {name});\n");
        }
        ParameterKind::String if p.direction == Direction::In => {
            it.word = format!("(void *){name}");
            it.length = Some(format!("strlen({name})"));
        }
        ParameterKind::Count
        | ParameterKind::LargeCount
        | ParameterKind::Bytes
        | ParameterKind::Displacement
        | ParameterKind::Extent
        | ParameterKind::Aint
        | ParameterKind::Offset
        | ParameterKind::Position
        | ParameterKind::Rank
        | ParameterKind::Root
        | ParameterKind::Tag
        | ParameterKind::Length
        | ParameterKind::Int
        | ParameterKind::Logical
        | ParameterKind::Error => {
            // Numbers start at 1.
            if function.name.ends_with("some") && name == "array_of_indices" {
                it.after = format!("for (int i = 0; i < *outcount; i++) {name}[i]--;\n");
            }
            if name == "index" && p.array.is_none() {
                it.after = format!("if (*{name} != MPI_UNDEFINED) --*{name};\n");
            }
            if name == "partition"
                || name.starts_with("partition_")
                || name == "array_of_partitions"
            {
                return None;
            }
            let address = if p.is_pointer() { "" } else { "&" };
            it.word = format!("(void *){address}{name}");
        }
        _ => return None,
    }
    Some(it)
}

/// A function in C that calls the one of Fortran.
fn shim(function: &Function, binding: Binding, symbol: &str) -> Option<String> {
    let parameters: Vec<_> = function.parameters(false).collect();
    let init = ["MPI_Init", "MPI_Init_thread"].contains(&function.name);
    // Weights may be none at all, by an address of C.
    let weights = parameters.iter().any(|p| p.name.contains("weight"));
    let c = function.returns == topas_mpi_table::Returns::Error;
    if weights || !c || function.name == "MPI_Pcontrol" {
        return None;
    }
    let mut list = Vec::new();
    let (mut before, mut words, mut after, mut lengths) =
        (String::new(), Vec::new(), String::new(), Vec::new());
    for p in &parameters {
        list.push(format!("{} {}", p.c_type(false), p.name));
        if init && ["argc", "argv"].contains(&p.name) {
            continue;
        }
        let passed = passed(function, p, binding)?;
        before += &passed.before;
        after += &passed.after;
        words.push(passed.word);
        lengths.extend(passed.length);
    }
    words.push("&ierror".to_owned());
    words.extend(lengths);
    let flagged = i32::from(function.parameter("flag").is_some());
    Some(format!(
        "#define FLAGGED {flagged}\n\
         extern void {symbol}();\n\
         static inline int fortran_{}({}) {{\nMPI_Fint ierror = 0;\n{before}{symbol}({});\n\
         {after}return ierror;\n}}\n#undef FLAGGED\n",
        function.name,
        list.join(", "),
        words.join(", ")
    ))
}

/// Functions for `names` in front of the macros that count, and what they are called for.
pub fn shims(mpi: Mpi, names: Names) -> (String, BTreeSet<&'static str>) {
    let exported = exported(mpi);
    let mut text = include_str!("fortran.h").to_owned();
    let mut done = BTreeSet::new();
    for function in functions().filter(|f| f.in_c() && f.in_fortran()) {
        let bindings: &[Binding] = match names {
            Names::Fortran => &[Binding::Fortran(Mangling::Underscore)],
            // MPICH passes descriptors of buffers.
            Names::F08 => &[Binding::F08, Binding::F08Descriptor],
            Names::Plain | Names::Profiling => &[],
        };
        let found = bindings.iter().find_map(|binding| {
            let symbol = function.symbol(*binding).to_string();
            exported.contains(&symbol).then_some((*binding, symbol))
        });
        let shim = found.and_then(|(binding, symbol)| shim(function, binding, &symbol));
        if let Some(shim) = shim {
            text += &shim;
            done.insert(function.name);
        }
    }
    (text, done)
}
