//! Calls of a program, counted by the program itself: the preprocessor puts a counter in front
//! of every call.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::mem::offset_of;
use std::path::Path;

use topas_mpi_profile::layout::Header;
use topas_mpi_table::{Function, ParameterKind, functions};

/// Whose count argument is in the sixth column of Rabenseifner's table, and which argument.
const COUNT_ARGUMENTS: &[(&str, &[&str])] = &[
    (
        "count",
        &[
            "MPI_Send",
            "MPI_Recv",
            "MPI_Bsend",
            "MPI_Ssend",
            "MPI_Rsend",
            "MPI_Isend",
            "MPI_Ibsend",
            "MPI_Issend",
            "MPI_Irecv",
            "MPI_Waitany",
            "MPI_Testany",
            "MPI_Waitall",
            "MPI_Testall",
            "MPI_Send_init",
            "MPI_Bsend_init",
            "MPI_Ssend_init",
            "MPI_Rsend_init",
            "MPI_Recv_init",
            "MPI_Startall",
            "MPI_Sendrecv_replace",
            "MPI_Type_contiguous",
            "MPI_Type_vector",
            "MPI_Type_hvector",
            "MPI_Type_indexed",
            "MPI_Type_hindexed",
            "MPI_Type_struct",
            "MPI_Bcast",
            "MPI_Allreduce",
            "MPI_Scan",
        ],
    ),
    ("incount", &["MPI_Waitsome", "MPI_Testsome", "MPI_Pack"]),
    ("outcount", &["MPI_Unpack"]),
    (
        "sendcount",
        &[
            "MPI_Sendrecv",
            "MPI_Gather",
            "MPI_Gatherv",
            "MPI_Allgather",
            "MPI_Allgatherv",
            "MPI_Alltoall",
        ],
    ),
    ("recvcount", &["MPI_Scatter", "MPI_Scatterv"]),
];

/// The position of the argument that is summed up.
fn count_argument(function: &Function) -> Option<usize> {
    let (name, _) = COUNT_ARGUMENTS.iter().find(|(_, all)| all.contains(&function.name))?;
    let place = function.parameters(false).position(|p| p.name == *name);
    Some(place.unwrap_or_else(|| panic!("{}: no {name}", function.name)))
}

/// True if the paper sums up an argument of this function.
pub fn has_count(name: &str) -> bool {
    COUNT_ARGUMENTS.iter().any(|(_, all)| all.contains(&name))
}

/// A macro in front of a name of C.
fn counter(
    text: &mut String,
    index: usize,
    function: &Function,
    name: &str,
    fortran: &BTreeSet<&'static str>,
) {
    let n = function.parameters(false).count();
    let names: Vec<_> = (0..n).map(|i| format!("a{i}")).collect();
    // Only what has to be looked at is told apart: a literal of an array has commas.
    let (list, passed, count) = match count_argument(function) {
        Some(place) => (names.join(", "), names.join(", "), format!("(a{place})")),
        None if function.parameters(false).any(|p| p.kind == ParameterKind::Variadic) || n > 0 => {
            ("...".to_owned(), "__VA_ARGS__".to_owned(), "0".to_owned())
        }
        None => (String::new(), String::new(), "0".to_owned()),
    };
    // The copy is made while nothing of the end is counted yet.
    let before = if name == "MPI_Finalize" { "counted_end(), " } else { "" };
    let called =
        if fortran.contains(name) { format!("fortran_{name}") } else { format!("BY({name})") };
    writeln!(text, "#ifndef {name}").unwrap();
    writeln!(
        text,
        "#define {name}({list}) ({before}counted({index}, {count}), {called}({passed}))\n#endif"
    )
    .unwrap();
}

/// A header to be included in front of a program, which calls some functions by way of Fortran.
pub fn header(fortran: &BTreeSet<&'static str>) -> String {
    let all: Vec<_> = functions().filter(|f| f.in_c()).collect();
    let (pid, used) = (offset_of!(Header, pid), offset_of!(Header, used));
    let mut text = format!("#define COUNTED {}\n", all.len());
    write!(text, "#define PID_AT {pid}\n#define USED_AT {used}\n").unwrap();
    text += include_str!("counted.h");
    text += "static const char *const counted_names[COUNTED] = {\n";
    all.iter().for_each(|f| writeln!(text, "\"{}\",", f.name).unwrap());
    text += "};\nenum {\n";
    all.iter().for_each(|f| writeln!(text, "F_{},", f.name).unwrap());
    text += "};\n";
    for (index, function) in all.into_iter().enumerate() {
        counter(&mut text, index, function, function.name, fortran);
        if function.large.is_some() {
            counter(&mut text, index, function, &format!("{}_c", function.name), fortran);
        }
    }
    text
}

/// Calls, and the sum of the count arguments where they mean something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Calls
    pub calls: u64,
    /// Sum of the count arguments
    pub count: u64,
}

/// What a rank counted itself, by the name of the function without `_c`.
pub fn counted(dir: &Path, rank: u32) -> BTreeMap<String, Counted> {
    let path = dir.join(format!("counted.{rank}"));
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let line = |line: &str| {
        let mut words = line.split(' ');
        let name = words.next().expect("a name").to_owned();
        let mut number = || words.next().and_then(|word| word.parse().ok()).expect(line);
        (name, Counted { calls: number(), count: number() })
    };
    text.lines().map(line).collect()
}
