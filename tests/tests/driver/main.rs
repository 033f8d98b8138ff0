//! The tables of `tests/driver/real`: command lines with real compilers, by the real driver
//! and by ours, side by side.

mod bench;
mod compare;
mod failures;

use std::thread;

use topas_testkit::command_table::{CommandRow, read};
use topas_tests::mpi_installation::Mpi;
use topas_tests::running::have;
use topas_tests::site::source_root;
use topas_tests::skip::skip;

use bench::DriverBench;

/// Threads for each MPI.
const THREADS: usize = 2;

fn tables() -> Vec<CommandRow> {
    read(&source_root().join("tests/driver/real"))
}

/// Whether the row at this place of the tables runs with this MPI: those of its own file and those
/// that make inputs, and its share of the others.
fn is_for(place: usize, row: &CommandRow, mpi: Mpi) -> bool {
    let file = row.place.split('.').next().unwrap_or_default();
    match Mpi::ALL.into_iter().find(|other| other.name() == file) {
        Some(owner) => owner == mpi,
        None => row.expect == "first" || mpi.takes(place),
    }
}

/// A program the row needs that is not on this machine.
fn missing(row: &CommandRow) -> Option<&'static str> {
    let chosen = |word: &str| {
        let mut words = row.words.iter().chain(row.env.iter().map(|(_, value)| value));
        row.tool == word
            || words.any(|w| w.to_string_lossy().split([' ', '=', '(']).any(|w| w == word))
    };
    let needs = [
        ("clang", "clang"),
        ("clang++", "clang++"),
        ("ccache", "ccache"),
        ("pkg-config", "pkg-config"),
    ];
    let linkers = [("gold", "ld.gold"), ("lld", "ld.lld"), ("mold", "mold")];
    let needed = needs.into_iter().chain(linkers).filter(|(word, _)| chosen(word));
    needed.map(|(_, program)| program).find(|program| !have(program))
}

fn conforms(mpi: Mpi) {
    if !Mpi::installed("driver").contains(&mpi) {
        return;
    }
    let rows = tables().into_iter().enumerate().filter(|(place, row)| is_for(*place, row, mpi));
    let rows = rows.map(|(_, row)| row);
    let (first, rows): (Vec<_>, Vec<_>) = rows.partition(|row| row.expect == "first");
    let wrong_of = |part: usize| {
        let bench = DriverBench::new(mpi, &first);
        let mut wrong = Vec::new();
        for row in rows.iter().skip(part).step_by(THREADS) {
            match missing(row) {
                Some(program) => {
                    skip(&row.shown(), &format!("no {program} on this machine"));
                }
                None => wrong.extend(bench.fault(row)),
            }
        }
        wrong
    };
    let wrong: Vec<String> = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..THREADS).map(|part| scope.spawn(move || wrong_of(part))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a thread")).collect()
    });
    assert!(wrong.is_empty(), "{}: {} wrong\n{}", mpi.name(), wrong.len(), wrong.join("\n"));
    assert!(rows.len() >= 100, "only {} command lines", rows.len());
}

#[test]
fn the_tables_with_open_mpi() {
    conforms(Mpi::OpenMpi);
}

#[test]
fn the_tables_with_mpich() {
    conforms(Mpi::Mpich);
}
