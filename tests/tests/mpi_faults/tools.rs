//! Tools of the profiling interface beside the library, whatever way they came into the program:
//! both report, and both the same.

use std::path::{Path, PathBuf};

use topas_tests::build::source;
use topas_tests::ending::masked;
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::profile::{Places, alike, compiler, library};
use topas_tests::running::{command, run};
use topas_tests::site::{Scratch, Site};

use super::{expected, text};

/// What the tool says of the program: sums over both ranks.
const SAID: &str = "Send 200, 2000 B, Recv 200, Barrier 14, Allreduce 40";

fn compiled(mpi: Mpi, scratch: &Scratch, file: &str, options: &[&str], to: &str) -> PathBuf {
    let path = scratch.path().join(to);
    let mut build = compiler(mpi, "mpicc");
    build.args(["-O1", "-w"]).arg(source(&format!("faults/{file}"))).args(options);
    run(build.arg("-o").arg(&path)).good();
    path
}

/// Launches the program with these libraries loaded, in this order.
fn launch(
    mpi: Mpi,
    scratch: &Scratch,
    loaded: &[&Path],
    program: &Path,
) -> topas_tests::running::Run {
    let places = Places::new(scratch);
    let mut launch = mpi.launch_bare(scratch, 2);
    launch.args(places.words(loaded)).arg(program).current_dir(scratch.path());
    launched(scratch, &mut launch).good()
}

/// Runs the program with the library in front of, behind or without other libraries; every tool
/// named says its sums as often as it is there.
#[track_caller]
fn both_report(mpi: Mpi, scratch: &Scratch, loaded: &[&Path], program: &Path, tools: &[&str]) {
    let ours = library(Site::shared());
    let without: Vec<_> = loaded.iter().copied().filter(|path| *path != ours).collect();
    let places = Places::new(scratch);
    let without = launch(mpi, scratch, &without, program);
    places.clear();
    let with = launch(mpi, scratch, loaded, program);
    alike(&without, &with);
    for tool in tools {
        let line = format!("{tool}: {SAID}");
        let said = with.out().lines().filter(|said| **said == line).count();
        assert_eq!(said, 1, "{line} under {}:\n{}", mpi.name(), with.out());
    }
    let faults = expected("faults/traffic.c").faults(&places.counted(), "");
    assert_eq!(faults, "", "{tools:?}, {loaded:?} under {}", mpi.name());
    places.clear();
}

#[test]
fn a_tool_that_is_preloaded() {
    for mpi in Mpi::installed("preloaded tool") {
        let scratch = Scratch::new();
        let program = compiled(mpi, &scratch, "traffic.c", &[], "traffic");
        let tool = compiled(mpi, &scratch, "tool.c", &["-fPIC", "-shared"], "tool.so");
        let ours = library(Site::shared());
        both_report(mpi, &scratch, &[&tool, &ours], &program, &["tool"]);
        both_report(mpi, &scratch, &[&ours, &tool], &program, &["tool"]);
    }
}

#[test]
fn a_tool_in_the_program() {
    for mpi in Mpi::installed("linked tool") {
        let scratch = Scratch::new();
        let ours = library(Site::shared());
        let object = compiled(mpi, &scratch, "tool.c", &["-c"], "tool.o");
        let archive = scratch.path().join("libtool.a");
        run(command("ar").arg("rcs").args([&archive, &object])).good();
        let shared = compiled(mpi, &scratch, "tool.c", &["-fPIC", "-shared"], "libtool_shared.so");
        for tool in [&object, &archive, &shared] {
            let program = compiled(mpi, &scratch, "traffic.c", &[text(tool)], "traffic");
            both_report(mpi, &scratch, &[&ours], &program, &["tool"]);
        }
    }
}

/// The profiling interface has room for one; who comes second is not seen, but by us.
#[test]
fn two_tools_at_once() {
    for mpi in Mpi::installed("two tools") {
        let scratch = Scratch::new();
        let ours = library(Site::shared());
        let program = compiled(mpi, &scratch, "traffic.c", &[], "traffic");
        let tool = |name: &str| {
            let define = format!("-DNAME=\"{name}\"");
            compiled(mpi, &scratch, "tool.c", &["-fPIC", "-shared", &define], &format!("{name}.so"))
        };
        let (first, second) = (tool("first"), tool("second"));
        both_report(mpi, &scratch, &[&first, &ours, &second], &program, &["first"]);
        both_report(mpi, &scratch, &[&ours, &first, &second], &program, &["first"]);
        both_report(mpi, &scratch, &[&first, &second, &ours], &program, &["first"]);
    }
}

#[test]
fn a_tool_says_the_same_of_what_is_loaded_before_it_and_behind() {
    for mpi in Mpi::installed("order of tools") {
        let scratch = Scratch::new();
        let ours = library(Site::shared());
        let program = compiled(mpi, &scratch, "traffic.c", &[], "traffic");
        let tool = compiled(mpi, &scratch, "tool.c", &["-fPIC", "-shared"], "tool.so");
        let orders: [&[&Path]; 3] = [&[&tool], &[&tool, &ours], &[&ours, &tool]];
        let said = orders.map(|order| {
            let mut lines = masked(&launch(mpi, &scratch, order, &program).out());
            lines.sort();
            lines
        });
        assert_eq!(said[0], said[1]);
        assert_eq!(said[0], said[2]);
        assert!(said[0].iter().any(|line| line.starts_with("tool: Send")), "{:?}", said[0]);
    }
}
