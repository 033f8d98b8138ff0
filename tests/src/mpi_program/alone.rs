//! A program that calls point-to-point, one-sided and file functions alone: it sends less than
//! it is willing to receive, works on a window of its own memory, and reads a file that ends
//! too early.

use topas_mpi_table::{
    CallProgress, Flow, FlowAmount, Function, FunctionClass, Parameter, ParameterKind, Transfer,
    Version, Way, functions,
};

use crate::mpi_installation::Mpi;

use super::variants;

/// As in `alone.h`: elements that a call allows, and those that are there.
const COUNT: i64 = 5;
const THERE: i64 = 3;

/// C that makes an argument, by the parameter's name.
fn argument(function: &Function, parameter: &Parameter) -> &'static str {
    let single =
        function.flows.iter().any(|flow| matches!(flow.amount, FlowAmount::Element { .. }));
    match (parameter.kind, parameter.name) {
        (ParameterKind::Choice, "recvbuf" | "result_addr") => "other",
        (ParameterKind::Choice, "compare_addr") => "third",
        (ParameterKind::Choice, _) => "buf",
        (ParameterKind::Count | ParameterKind::LargeCount, _) => "COUNT",
        // What is compared or fetched one at a time has to be a predefined type.
        (ParameterKind::Datatype, _) if single => "MPI_INT",
        (ParameterKind::Datatype, _) => "datatype",
        (ParameterKind::Int, "partitions") => "2",
        (
            ParameterKind::Rank | ParameterKind::Aint | ParameterKind::Offset | ParameterKind::Tag,
            _,
        ) => "0",
        (ParameterKind::Comm, _) => "comm",
        (ParameterKind::Info, _) => "info",
        (ParameterKind::Status, _) => "&status",
        (ParameterKind::Request, _) => "&request",
        (ParameterKind::Message, _) => "&message",
        (ParameterKind::Op, _) => "op",
        (ParameterKind::Win, _) => "win",
        (ParameterKind::File, _) => "fh",
        other => panic!("{}: no argument for {other:?}", function.name),
    }
}

/// C for a call, and what has to stand around it.
fn block(function: &Function, large: bool) -> String {
    let name = if large { format!("{}_c", function.name) } else { function.name.to_owned() };
    let arguments: Vec<_> = function.parameters(large).map(|p| argument(function, p)).collect();
    let call = format!("{name}({});", arguments.join(", "));
    let persistent = function.class.progress() == Some(CallProgress::Persistent);
    let finish = match function.gives_request() {
        Some(_) => format!("finish({});", i32::from(persistent)),
        None => String::new(),
    };
    let all = "COUNT, datatype, 0, 0, comm";
    let (before, after, sent, received) = match function.class {
        FunctionClass::Send(_) => (
            format!("fill(1); MPI_Irecv(other, {all}, &partner);"),
            format!("{finish} MPI_Wait(&partner, MPI_STATUS_IGNORE);"),
            "changed(other, NOBODY)",
            "0",
        ),
        FunctionClass::Receive(_) => (
            "fill(0); MPI_Isend(third, THERE, datatype, 0, 0, comm, &partner);".to_owned()
                + if function.object().is_some_and(|p| p.kind == ParameterKind::Message) {
                    "MPI_Mprobe(0, 0, comm, &message, MPI_STATUS_IGNORE);"
                } else {
                    ""
                },
            format!("{finish} MPI_Wait(&partner, MPI_STATUS_IGNORE);"),
            "0",
            "changed(buf, NOBODY)",
        ),
        // What replaces itself changes nothing; its status tells.
        FunctionClass::SendReceive(_) if function.parameter("recvbuf").is_none() => {
            ("fill(1);".to_owned(), finish, "told()", "told()")
        }
        FunctionClass::SendReceive(_) => {
            let changed = "changed(other, NOBODY)";
            ("fill(1);".to_owned(), finish, changed, changed)
        }
        FunctionClass::PartitionedSend => (
            format!("fill(1); MPI_Precv_init(other, 2, {all}, info, &partner);"),
            "give_partitions(&request, &partner);".to_owned(),
            "changed(other, NOBODY)",
            "0",
        ),
        FunctionClass::PartitionedReceive => (
            format!("fill(0); MPI_Psend_init(third, 2, {all}, info, &partner);"),
            "give_partitions(&partner, &request);".to_owned(),
            "0",
            "changed(buf, NOBODY)",
        ),
        FunctionClass::Rma(_) => {
            let writes = function.flows.iter().any(|flow| flow.way == Way::Sent);
            let received = match (function.parameter("result_addr"), writes) {
                (Some(_), _) => "changed(other, NOBODY)",
                (None, true) => "0",
                (None, false) => "changed(buf, NOBODY)",
            };
            (
                format!("fill({}); expose();", i32::from(writes)),
                format!("{finish} MPI_Win_unlock(0, win);"),
                "changed(memory, EXPOSED)",
                received,
            )
        }
        FunctionClass::Io(transfer, _, _, progress) => {
            let end = if progress == CallProgress::Begin {
                format!("{}(fh, buf, &status);", function.name.replace("_begin", "_end"))
            } else {
                finish
            };
            match transfer {
                Transfer::Read => {
                    let there = if ends_early(progress) { "THERE" } else { "COUNT" };
                    (format!("fill(0); refill({there});"), end, "0", "changed(buf, NOBODY)")
                }
                Transfer::Write => ("fill(1); refill(0);".to_owned(), end, "size_of_file()", "0"),
            }
        }
        other => panic!("{}: {other:?}", function.name),
    };
    let mut text = format!("{before}\n{call}\n{after}\nsay(\"{name}\", {sent}, {received});\n");
    if function.flows.iter().any(|flow| flow.unless_no_op) {
        let arguments: Vec<_> = function.parameters(large).map(|p| no_op(function, p)).collect();
        let call = format!("{name}({});", arguments.join(", "));
        let said = format!("say(\"{name}{NO_OP}\", {sent}, {received});");
        text += &format!("{before}\n{call}\n{after}\n{said}\n");
    }
    text
}

/// Behind the name of a function: it was called with `MPI_NO_OP`.
pub const NO_OP: &str = ":no_op";

/// The same as [`argument`] with `MPI_NO_OP`: nothing of the origin is looked at.
fn no_op(function: &Function, parameter: &Parameter) -> &'static str {
    match (parameter.name, parameter.kind) {
        ("op", _) => "MPI_NO_OP",
        ("origin_addr", _) => "NULL",
        // Open MPI refuses worse, though it is not significant.
        ("origin_count", _) => "0",
        _ => argument(function, parameter),
    }
}

/// Does the file end before a read does? Open MPI 4.1.4 waits for ever for the rest of a
/// one that is not blocking.
fn ends_early(progress: CallProgress) -> bool {
    progress == CallProgress::Blocking
}

/// Functions with bytes that one process can call alone.
pub fn chosen(mpi: Mpi, version: Version) -> Vec<(&'static Function, bool)> {
    let alone = |f: &&'static Function| {
        // 4.0.2, to itself: reads what is not there, not always at the first call.
        let broken =
            mpi == Mpi::Mpich && f.class == FunctionClass::SendReceive(CallProgress::Nonblocking);
        let together =
            matches!(f.class, FunctionClass::Collective(_) | FunctionClass::Neighborhood(_));
        !f.flows.is_empty() && !together && !broken
    };
    variants(functions().filter(alone), version)
}

/// Bytes of a flow of one call: less than allowed where somebody else tells how many.
pub fn bytes(function: &Function, flow: &Flow) -> i64 {
    let short = match function.class {
        FunctionClass::Receive(_) => true,
        FunctionClass::Io(transfer, _, _, progress) => {
            transfer == Transfer::Read && ends_early(progress)
        }
        _ => false,
    };
    let elements = if short { THERE } else { COUNT };
    match flow.amount {
        FlowAmount::Element { .. } => 4,
        FlowAmount::Partitions { .. } => 2 * 8 * elements,
        _ => 8 * elements,
    }
}

/// The program that calls `chosen` functions. Its arguments are the path of a file to work on
/// and of the one that says what moved.
pub fn program(chosen: &[(&'static Function, bool)]) -> String {
    let mut text = include_str!("alone.h").to_owned();
    text += "int main(int argc, char **argv) {\nstart(&argc, &argv);\n";
    let blocks = chosen.iter().filter(|(f, _)| f.class.progress() != Some(CallProgress::End));
    blocks.for_each(|(function, large)| text += &block(function, *large));
    text + "return finalize();\n}\n"
}
