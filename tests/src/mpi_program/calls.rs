//! A program in C that calls every collective in all its roles, and says of each call what it
//! passed and how many bytes changed in its buffers. Arguments follow from the table: what it
//! calls not significant is nonsense.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::mpi_installation::Mpi;
use crate::running::{LIMIT, command, run, run_within};
use crate::site::Scratch;
use topas_mpi_table::{
    CallProgress, Function, FunctionClass, InPlace, Parameter, ParameterKind, Significant,
};

/// Processes of the program; on an intercommunicator three and two.
pub const RANKS: u32 = 5;

/// What fails on a kind of communicator, whatever calls it.
const BROKEN: &[(Mpi, &str, &str)] = &[
    // 4.1.4: truncated if the two sides have different types
    (Mpi::OpenMpi, "MPI_Scatterv", "inter"),
    // 4.0.2: an assertion
    (Mpi::Mpich, "MPI_Ibcast", "inter"),
    (Mpi::Mpich, "MPI_Bcast_init", "inter"),
    // 4.0.2, neither before nor after: loses half a message if the two sides have different types
    (Mpi::Mpich, "MPI_Neighbor_alltoallw", "graph"),
    (Mpi::Mpich, "MPI_Ineighbor_alltoallw", "graph"),
    (Mpi::Mpich, "MPI_Neighbor_alltoallw_init", "graph"),
];

/// What a process passed in a call, and saw of it.
#[derive(Debug)]
pub struct Call {
    /// Name of the function.
    pub function: String,
    /// Its arguments that mean something, and what else there is to know.
    facts: BTreeMap<String, Vec<i64>>,
}

impl Call {
    fn parse(line: &str) -> Call {
        let mut words = line.split(' ').map(str::to_owned);
        let function = words.next().expect("name");
        let facts = words.map(|word| {
            let (name, values) = word.split_once('=').expect(line);
            let numbers = values.split(',').filter(|value| !value.is_empty());
            (name.to_owned(), numbers.map(|value| value.parse().expect(line)).collect())
        });
        let facts = facts.collect();
        Call { function, facts }
    }

    /// Values of an array. Panics if it means nothing in this call.
    pub fn many(&self, name: &str) -> &[i64] {
        self.facts.get(name).unwrap_or_else(|| panic!("{name} means nothing: {self:?}"))
    }

    /// A value. Panics if it means nothing in this call.
    pub fn one(&self, name: &str) -> i64 {
        self.many(name)[0]
    }

    /// A fact.
    pub fn is(&self, name: &str) -> bool {
        self.one(name) != 0
    }
}

/// The program that calls `chosen` functions, or their variants for large counts, but none that is
/// `broken` on a kind of communicator. It runs on [`RANKS`] processes; its argument is the path
/// for [`said`].
pub fn program(mpi: Mpi, chosen: &[(&'static Function, bool)], broken: &[(&str, &str)]) -> String {
    let mut text = include_str!("calls.h").to_owned();
    for (i, (function, large)) in chosen.iter().enumerate() {
        write!(text, "static void f{i}(void) {{\n{}}}\n", roles(mpi, function, *large, broken))
            .unwrap();
    }
    text += "int main(int argc, char **argv) {\nstart(&argc, &argv);\n";
    (0..chosen.len()).for_each(|i| writeln!(text, "f{i}();").unwrap());
    text + "return finalize();\n}\n"
}

/// What all processes said, call by call.
pub fn said(path: &Path) -> Vec<Vec<Call>> {
    let each = (0..RANKS).map(|rank| {
        let path = format!("{}.{rank}", path.display());
        let text = fs::read_to_string(path).expect("what a process says");
        text.lines().map(Call::parse).collect::<Vec<_>>()
    });
    let each: Vec<Vec<Call>> = each.collect();
    let n = each[0].len();
    assert!(each.iter().all(|calls| calls.len() == n), "a process did not finish");
    let mut each: Vec<_> = each.into_iter().map(Vec::into_iter).collect();
    (0..n).map(|_| each.iter_mut().filter_map(Iterator::next).collect()).collect()
}

/// What all processes say, call by call, of `chosen` functions and their large variants.
pub fn results(mpi: Mpi, chosen: &[(&'static Function, bool)]) -> Vec<Vec<Call>> {
    let scratch = Scratch::new();
    let (source, executable) = (scratch.path().join("calls.c"), scratch.path().join("calls"));
    fs::write(&source, program(mpi, chosen, &[])).expect("write a program");
    let mut compiler = command(mpi.real("mpicc").expect("mpicc"));
    run(compiler.args(["-std=c11", "-g"]).arg(&source).arg("-o").arg(&executable)).good();
    let path = scratch.path().join("said");
    // Ranks of MPICH spin where they wait, more of them than there may be processors.
    let mut launch = mpi.launch_bare(&scratch, RANKS);
    run_within(launch.arg(&executable).arg(&path), 5 * LIMIT).good();
    said(&path)
}

/// Kinds of communicators that a function is called with.
fn communicators(mpi: Mpi, function: &Function) -> Vec<&'static str> {
    let mut kinds = match function.class {
        FunctionClass::Neighborhood(_) => vec!["graph", "line"],
        // The standard has none between groups.
        _ if function.name.to_lowercase().contains("scan") => vec!["intra"],
        _ => vec!["intra", "inter"],
    };
    kinds.retain(|kind| !BROKEN.contains(&(mpi, function.name, kind)));
    kinds
}

/// C that calls a function in all its roles.
fn roles(mpi: Mpi, function: &Function, large: bool, broken: &[(&str, &str)]) -> String {
    let rooted = function.parameters(large).any(|p| p.kind == ParameterKind::Root);
    let mut text = String::new();
    let kinds = communicators(mpi, function);
    for kind in kinds.into_iter().filter(|kind| !broken.contains(&(function.name, kind))) {
        // The first and the third; between groups one of the first three is the root.
        let roots = if rooted { 3 } else { 1 };
        let places = if kind == "intra" && function.in_place.is_some() { 2 } else { 1 };
        writeln!(text, "begin(\"{kind}\");").unwrap();
        writeln!(
            text,
            "for (int r = 0; r < {roots}; r += 2) for (int p = 0; p < {places}; p++) {{"
        )
        .unwrap();
        writeln!(text, "be({}, r, p);", i32::from(rooted)).unwrap();
        text += &call(function, large);
        text += "}\n";
    }
    text
}

/// C for one call in the role that `calls.h` has set.
fn call(function: &Function, large: bool) -> String {
    let name = if large { format!("{}_c", function.name) } else { function.name.to_owned() };
    let own_at_first = match function.in_place {
        // The buffer of a broadcast is for both ways.
        None => i32::from(function.parameter("buffer").is_some()).to_string(),
        Some("sendbuf") => "in_place".to_owned(),
        Some(_) => "0".to_owned(),
    };
    let mut text = format!("fill({own_at_first});\n{}", arrays(function, large));
    let idle = idle_in_place(function);
    let (mut arguments, mut shown) = (Vec::new(), String::new());
    for p in function.parameters(large) {
        let value = value(function, p);
        let mut means = vec!["1"];
        if p.significant == Significant::AtRoot {
            means.push("at_root");
        }
        if idle.contains(&p.name) {
            means.push("!in_place");
        }
        let means = means.join(" && ");
        if p.kind == ParameterKind::Count {
            let (values, n) = match p.array {
                Some(_) => (format!("v_{}", p.name), "MOST"),
                None => (format!("(int[]){{{value}}}"), "1"),
            };
            writeln!(shown, "if ({means}) list(\"{}\", {values}, {n});", p.name).unwrap();
        }
        let value = if Some(p.name) == function.in_place {
            format!("(in_place ? MPI_IN_PLACE : (void *){value})")
        } else {
            value
        };
        arguments.push(match (p.kind, means.as_str()) {
            (ParameterKind::Request, _) => "&request".to_owned(),
            (_, "1") => value,
            _ => format!("({means} ? {value} : {})", nonsense(p)),
        });
    }
    let persistent = function.class.progress() == Some(CallProgress::Persistent);
    writeln!(text, "{name}({});", arguments.join(", ")).unwrap();
    if function.gives_request().is_some() {
        writeln!(text, "finish({});", i32::from(persistent)).unwrap();
    }
    writeln!(text, "fprintf(out, \"{name}\");\nfacts({own_at_first});").unwrap();
    text + &shown + "fprintf(out, \"\\n\");\n"
}

/// The value of a parameter that means something, by its name.
fn value(function: &Function, parameter: &Parameter) -> String {
    let many = function.parameters(false).any(|p| p.array.is_some());
    let block = function.name.to_lowercase().contains("scatter_block");
    let value = match parameter.name {
        "sendbuf" => "send",
        "recvbuf" | "buffer" => "recv",
        // Beside arrays the one block that has another length on each process.
        "sendcount" if many => "2 * (1 + rank)",
        "recvcount" if many => "1 + rank",
        "sendcount" => "6",
        "recvcount" if block => "TOTAL / local",
        "recvcount" => "3",
        "count" => "5",
        // The variable of this name.
        name if parameter.array.is_none() || parameter.kind == ParameterKind::Datatype => name,
        name => return format!("a_{name}"),
    };
    value.to_owned()
}

/// C that fills the arrays of a call.
fn arrays(function: &Function, large: bool) -> String {
    let lower = function.name.to_lowercase();
    let neighbors = matches!(function.class, FunctionClass::Neighborhood(_));
    let mut text = String::new();
    for p in function.parameters(large).filter(|p| p.array.is_some()) {
        let each = match p.name {
            "recvcounts" if lower.contains("neighbor_allgatherv") => "1 + some(from[i])",
            "sendcounts" if neighbors => "2 * pairs(rank, some(to[i]))",
            "recvcounts" if neighbors => "pairs(some(from[i]), rank)",
            "recvcounts" if lower.contains("reduce_scatter") => {
                "i < local - 1 ? i + 1 : TOTAL - local * (local - 1) / 2"
            }
            "sendcounts" if lower.contains("scatterv") => "2 * (1 + i)",
            "recvcounts" if lower.contains("gatherv") => "1 + i",
            "sendcounts" => "2 * pairs(rank, i)",
            "recvcounts" => "pairs(i, rank)",
            // In elements, of w-functions in bytes.
            "sdispls" | "rdispls" if lower.contains("alltoallw") => "4 * INTS * i",
            "displs" if lower.contains("scatterv") => "INTS * i",
            "sdispls" => "INTS * i",
            "displs" | "rdispls" => "INTS / 2 * i",
            _ => continue,
        };
        let of = if large { p.kind.c().large } else { p.kind.c().small };
        let name = p.name;
        writeln!(text, "{of} a_{name}[MOST]; int v_{name}[MOST]; (void)v_{name};").unwrap();
        writeln!(text, "for (int i = 0; i < MOST; i++) a_{name}[i] = v_{name}[i] = {each};")
            .unwrap();
    }
    text
}

/// The parameters that mean nothing if a buffer is in place.
fn idle_in_place(function: &Function) -> Vec<&'static str> {
    let Some(buffer) = function.in_place else { return Vec::new() };
    let flow = function.flows.iter().find(|flow| flow.buffer == buffer).expect("its flow");
    if flow.in_place == InPlace::Same {
        return Vec::new();
    }
    let (count, datatype) = flow.amount.parameters();
    count.into_iter().chain([datatype, "sdispls"]).collect()
}

/// What may stand for a parameter that means nothing.
fn nonsense(parameter: &Parameter) -> &'static str {
    match parameter.kind {
        _ if parameter.is_pointer() => "NULL",
        ParameterKind::Datatype => "MPI_DATATYPE_NULL",
        _ => "-1",
    }
}
