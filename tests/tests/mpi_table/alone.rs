//! Bytes of point-to-point, one-sided and file functions, as the table tells them, against real
//! ones.

use std::fs;

use topas_mpi_table::{Flow, Function, FunctionClass, ToldBy, Way, find};
use topas_tests::mpi_installation::Mpi;
use topas_tests::mpi_program::alone::{NO_OP, bytes, chosen, program};
use topas_tests::running::{command, run};
use topas_tests::site::Scratch;

use super::judge::of_debian;

/// What is wrong with a call of which the program says `said`: bytes that went out, came in,
/// and were told by a status.
fn judge(mpi: Mpi, function: &Function, no_op: bool, said: &[i64]) -> Option<String> {
    let out = |flow: &&Flow| {
        // Of a comparison only the origin gets into the window.
        let seen = flow.buffer != "compare_addr" && !(no_op && flow.unless_no_op);
        flow.way == Way::Sent && seen
    };
    let sent: i64 = function.flows.iter().filter(out).map(|f| bytes(function, f)).sum();
    let into = function.flows.iter().filter(|f| f.way == Way::Received);
    let received: i64 = into.map(|f| bytes(function, f)).sum();
    let told = function.flows.iter().filter(|f| f.told_by != ToldBy::Arguments);
    let told: i64 = told.map(|f| bytes(function, f)).sum();
    // Partitioned requests tell nothing in this program. Open MPI 4.1.4 tells of this read
    // what was asked for.
    let silent = function.class == FunctionClass::PartitionedReceive
        || (mpi == Mpi::OpenMpi && function.name == "MPI_File_read_all");
    let tells = told != 0 && !silent;
    let good = sent == said[0] && received == said[1] && (!tells || told == said[2]);
    (!good).then(|| format!("{said:?}, the table says {sent}, {received}, {told}"))
}

#[test]
fn a_process_alone_moves_the_bytes_that_the_table_says() {
    let mut complaints = Vec::new();
    for mpi in Mpi::installed("a_process_alone_moves_the_bytes_that_the_table_says") {
        let chosen = chosen(mpi, of_debian(mpi).version(&Scratch::new()));
        let scratch = Scratch::new();
        let path = |name: &str| scratch.path().join(name);
        fs::write(path("alone.c"), program(&chosen)).expect("write a program");
        let mut compiler = command(mpi.real("mpicc").expect("mpicc"));
        compiler.args(["-std=c11", "-g"]).arg(path("alone.c")).arg("-o").arg(path("alone"));
        run(&mut compiler).good();
        let mut launch = mpi.launch_bare(&scratch, 1);
        run(launch.arg(path("alone")).arg(path("file")).arg(path("said"))).good();
        let said = fs::read_to_string(path("said")).expect("what the program says");
        assert!(said.lines().count() > 50, "{said}");
        for line in said.lines() {
            let (name, numbers) = line.split_once(' ').expect(line);
            let numbers: Vec<i64> = numbers.split(' ').map(|n| n.parse().expect(line)).collect();
            let plain = name.trim_end_matches(NO_OP);
            let (function, _) = find(plain).expect("a function of the table");
            let wrong = judge(mpi, function, plain != name, &numbers);
            complaints.extend(wrong.map(|what| format!("{}: {name}: {what}", mpi.name())));
        }
        println!("{}: {} functions", mpi.name(), said.lines().count());
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
