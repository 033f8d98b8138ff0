//! Of the MPI profile: stubs of all symbols, numbers and descriptors of all functions.

use std::fmt::Write as _;

use topas_mpi_table::{
    Binding, Function, FunctionClass, Mangling, ParameterKind, Returns, functions,
};

/// Names of a function, in the order of `StubBinding` of `topas-mpi-library`.
const BINDINGS: [(Binding, bool); 12] = [
    (Binding::C, false),
    (Binding::C, true),
    (Binding::LargeC, false),
    (Binding::LargeC, true),
    (Binding::Fortran(Mangling::Underscore), false),
    (Binding::CPointer(Mangling::Underscore), false),
    (Binding::F08, false),
    (Binding::F08Descriptor, false),
    (Binding::LargeF08, false),
    (Binding::LargeF08Descriptor, false),
    (Binding::MpichF08, false),
    (Binding::MpichF08Descriptor, false),
];

/// Bits of a symbol's number that tell the function.
pub const FUNCTION_BITS: u32 = 10;

/// Number of the names of the profiling interface, `PMPI_Send`.
pub const PROFILING: usize = 1;

/// Words behind the arguments of which the frame of a call has room.
const WORDS: usize = 16;

/// Whether a function may be called by this name. Conversions of handles by their profiling names
/// are what bindings of Fortran are made of: each call would come here several times.
fn exists(function: &Function, binding: Binding, profiling: bool) -> bool {
    let large = function.large.is_some();
    if profiling && function.class == FunctionClass::Conversion {
        return false;
    }
    match binding {
        Binding::C => function.in_c(),
        Binding::LargeC => function.in_c() && large,
        Binding::Fortran(_) => function.in_fortran(),
        Binding::CPointer(_) => function.in_fortran() && function.has_c_pointer(),
        Binding::F08 => function.in_f08(),
        Binding::F08Descriptor => function.in_f08() && function.has_choice(),
        Binding::LargeF08 => function.in_f08() && large,
        Binding::LargeF08Descriptor => function.in_f08() && large && function.has_choice(),
        Binding::MpichF08 => function.in_f08() && large,
        Binding::MpichF08Descriptor => function.in_f08() && large && function.has_choice(),
    }
}

/// A name by which a function may be called.
pub struct Name {
    /// The symbol
    pub symbol: String,
    /// Its number: that of the function, and 1024 times that of the binding
    pub number: u32,
    /// Its way into the library
    pub entry: StubEntry,
}

/// The ways into the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StubEntry {
    /// Of words, to a word
    Common,
    /// To a floating point number
    Floating,
    /// Further arguments of any kind may follow, in registers of any kind
    Variadic,
}

/// All names of all functions.
pub fn names() -> Vec<Name> {
    let mut all = Vec::new();
    for (i, function) in functions().enumerate() {
        let variadic = function.parameters(true).any(|p| p.kind == ParameterKind::Variadic);
        for (number, (binding, profiling)) in BINDINGS.iter().enumerate() {
            if !exists(function, *binding, *profiling) {
                continue;
            }
            let symbol = if *profiling {
                function.profiling_symbol(*binding)
            } else {
                function.symbol(*binding)
            };
            let is_c = matches!(binding, Binding::C | Binding::LargeC);
            all.push(Name {
                symbol: symbol.to_string(),
                number: (i + (number << FUNCTION_BITS)) as u32,
                entry: match function.returns {
                    _ if variadic && is_c => StubEntry::Variadic,
                    Returns::Double => StubEntry::Floating,
                    _ => StubEntry::Common,
                },
            });
        }
    }
    all
}

/// Stubs of all symbols, for the assembler.
pub fn symbols() -> String {
    let mut text =
        "# Made by `cargo xtask codegen` from topas-mpi-table: a stub for each symbol.\n\
                    # Its number is that of the function, and 1024 times that of its name.\n"
            .to_owned();
    for name in names() {
        let stub = match name.entry {
            StubEntry::Common => "stub",
            StubEntry::Floating => "floating",
            StubEntry::Variadic => "variadic",
        };
        writeln!(text, "{stub} {} {}", name.symbol, name.number).expect("text");
    }
    text
}

/// The name of a function without `MPI_`.
fn short(function: &Function) -> &'static str {
    function.name.strip_prefix("MPI_").unwrap_or(function.name)
}

/// Numbers of all functions.
pub fn numbers() -> String {
    let mut text =
        "//! Numbers of all functions: their places in the table.\n\n#![allow(dead_code)]\n\n"
            .to_owned();
    for (i, function) in functions().enumerate() {
        let name = short(function).to_ascii_uppercase();
        writeln!(text, "pub const {name}: usize = {i};").expect("text");
    }
    text
}

/// Words that a function gets in C and in Fortran.
fn words(function: &Function) -> (usize, usize) {
    let c = function.parameters(true).filter(|p| p.kind != ParameterKind::Variadic).count();
    let in_fortran = |k: ParameterKind| {
        !matches!(k, ParameterKind::ArgCount | ParameterKind::ArgVector | ParameterKind::Variadic)
    };
    let arguments = function.parameters(true).filter(|p| in_fortran(p.kind)).count();
    // The error code, and the lengths of texts.
    let texts = function
        .parameters(true)
        .filter(|p| {
            matches!(
                p.kind,
                ParameterKind::String | ParameterKind::Strings | ParameterKind::StringLists
            )
        })
        .count();
    (c, arguments + 1 + texts)
}

/// Functions that begin, end or steer the measurement.
const SPECIAL: [&str; 7] = [
    "MPI_Init",
    "MPI_Init_thread",
    "MPI_Finalize",
    "MPI_Abort",
    "MPI_Pcontrol",
    "MPI_Session_init",
    "MPI_Session_finalize",
];

/// Descriptors of all functions.
pub fn table() -> String {
    let mut text = "//! Descriptors of all functions, by number.\n\n\
                    use crate::descriptor::Descriptor;\n\
                    use crate::symbol::FUNCTION_ROOM;\n\n\
                    /// By number.\n\
                    pub static DESCRIPTORS: [Descriptor; FUNCTION_ROOM] = Descriptor::table(&[\n"
        .to_owned();
    for function in functions() {
        let (c, fortran) = words(function);
        assert!(c.max(fortran) <= WORDS, "{}: more words than a frame has", function.name);
        let steers = if SPECIAL.contains(&function.name) { ".steers()" } else { "" };
        let transfers = if function.flows.is_empty() { "" } else { ".transfers()" };
        let made = format!("Descriptor::of_words({c}, {fortran}){steers}{transfers}");
        writeln!(text, "    {made}, // {}", function.name).expect("text");
    }
    text + "]);\n"
}

/// Names of all functions.
pub fn names_by_number() -> String {
    let mut text = "//! Names of all functions, by number.\n\n".to_owned();
    let mut names = String::new();
    let mut ends = Vec::new();
    for function in functions() {
        names += short(function);
        ends.push(names.len());
    }
    writeln!(text, "static NAMES: &[u8; {}] = b\"\\", names.len()).expect("text");
    for chunk in names.as_bytes().chunks(92) {
        writeln!(text, "    {}\\", std::str::from_utf8(chunk).expect("ASCII")).expect("text");
    }
    text += "\";\n\n";
    writeln!(text, "static ENDS: [u16; {}] = [", ends.len()).expect("text");
    for chunk in ends.chunks(16) {
        let line: Vec<_> = chunk.iter().map(ToString::to_string).collect();
        writeln!(text, "    {},", line.join(", ")).expect("text");
    }
    text += "];\n\n\
             /// The name of a function, without `MPI_`.\n\
             pub fn name(function: usize) -> &'static [u8] {\n    \
             let begin = function.checked_sub(1).and_then(|i| ENDS.get(i)).copied().unwrap_or(0);\n    \
             let end = ENDS.get(function).copied().unwrap_or(begin);\n    \
             NAMES.get(usize::from(begin)..usize::from(end)).unwrap_or_default()\n\
             }\n";
    text
}
