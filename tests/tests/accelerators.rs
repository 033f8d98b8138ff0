//! The extra `gpu`: libraries of accelerators' drivers that are loaded at the end of the program,
//! linked or opened; OpenCL for real, on the processor.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use topas_tests::build::{by_driver, source};
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::record::Record;
use topas_tests::running::{command, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

/// Makes an empty library of this file name.
fn library(scratch: &Scratch, name: &str) -> PathBuf {
    let path = scratch.path().join(name);
    let mut gcc = command("gcc");
    gcc.args(["-shared", "-fPIC", "-x", "c", "/dev/null", "-o"]).arg(&path);
    run(gcc.arg(format!("-Wl,-soname,{name}"))).good();
    path
}

/// What both lines of a launch say of accelerators.
#[track_caller]
fn told(lines: &[Record]) -> Option<String> {
    assert_eq!(lines.len(), 2, "{lines:#?}");
    let told = |line: &Record| line.extras.get("gpu").cloned();
    assert_eq!(told(&lines[0]), told(&lines[1]));
    told(&lines[0])
}

/// Launches a program of two ranks, which ends well.
#[track_caller]
fn launch(
    mpi: Mpi,
    scratch: &Scratch,
    program: &Path,
    set: impl FnOnce(&mut Command),
) -> Option<String> {
    let mut launch = mpi.launch(Site::shared(), scratch, 2);
    set(launch.arg(program));
    launched(scratch, &mut launch).good();
    told(&scratch.take_log())
}

/// Builds the program that opens libraries.
fn opens(mpi: Mpi, scratch: &Scratch, words: &[&str]) -> PathBuf {
    let program = scratch.path().join("opens");
    let name = "accelerator/opens.c";
    let mut link = by_driver(Site::shared(), scratch, mpi, "mpicc", name, &program);
    run(link.arg("-ldl").args(words)).good();
    program
}

/// Names of libraries in the order in which they are opened, and what the line then says.
const OPENED: &[(&[&str], Option<&str>)] = &[
    (&[], None),
    (&["libcuda.so.1"], Some("cuda")),
    (&["libamdhip64.so.6"], Some("hip")),
    (&["libhsa-runtime64.so.1"], Some("hip")),
    (&["libamdhip64.so.5", "libhsa-runtime64.so.1"], Some("hip")),
    (&["libze_loader.so.1"], Some("ze")),
    (&["libOpenCL.so.1"], Some("opencl")),
    (&["libOpenCL.so.1", "libze_loader.so.1", "libcuda.so.1"], Some("cuda+ze+opencl")),
    (
        &["libze_loader.so.1", "libhsa-runtime64.so.1", "libOpenCL.so.1", "libcuda.so.1"],
        Some("cuda+hip+ze+opencl"),
    ),
    // A name that only begins so, and libraries that are no drivers.
    (&["libcudart.so.12", "libcuda_stub.so.1", "libOpenCLother.so.1"], None),
    // Closed before the end.
    (&["-libcuda.so.1"], None),
    (&["-libcuda.so.1", "libze_loader.so.1"], Some("ze")),
];

#[test]
fn opened_while_running() {
    for mpi in Mpi::installed("opened_while_running") {
        let scratch = Scratch::new();
        let program = opens(mpi, &scratch, &[]);
        for (names, expected) in OPENED {
            let paths = names.iter().map(|name| {
                let (closed, file) = name.strip_prefix('-').map_or(("", *name), |file| ("-", file));
                format!("{closed}{}", library(&scratch, file).display())
            });
            let paths: Vec<String> = paths.collect();
            let told = launch(mpi, &scratch, &program, |launch| {
                launch.args(&paths);
            });
            assert_eq!(told.as_deref(), *expected, "{mpi:?} {names:?}");
        }
    }
}

/// The handler of a signal tells the same.
#[test]
fn ended_by_a_fault() {
    for mpi in Mpi::installed("ended_by_a_fault") {
        let scratch = Scratch::new();
        let program = opens(mpi, &scratch, &[]);
        let opened = library(&scratch, "libcuda.so.1");
        let mut launch = mpi.launch(Site::shared(), &scratch, 2);
        let run = launched(&scratch, launch.arg(&program).arg(&opened).arg("fault"));
        // The launcher may have ended the other rank first.
        let lines = scratch.take_log();
        let faults = lines.iter().filter(|line| line.extra("end") == "sig:11");
        let told: Vec<&str> = faults.map(|line| line.extra("gpu")).collect();
        assert!(
            !told.is_empty() && told.iter().all(|gpu| *gpu == "cuda"),
            "{lines:#?}\n{}",
            run.err()
        );
    }
}

#[test]
fn linked() {
    for mpi in Mpi::installed("linked") {
        let scratch = Scratch::new();
        let path = library(&scratch, "libamdhip64.so.6");
        let directory = format!("-Wl,--no-as-needed,-rpath,{}", scratch.path().display());
        let program = opens(mpi, &scratch, &[&directory, path.to_str().unwrap()]);
        assert_eq!(launch(mpi, &scratch, &program, |_| {}).as_deref(), Some("hip"));
    }
}

/// By the library that `topas-run` loads.
#[test]
fn measured_by_topas_run() {
    for mpi in Mpi::installed("measured_by_topas_run") {
        let scratch = Scratch::new();
        let program = scratch.path().join("opens");
        let real = mpi.real("mpicc").expect("a driver of this MPI");
        let mut link = command(real);
        run(link.arg(source("accelerator/opens.c")).arg("-o").arg(&program).arg("-ldl")).good();
        let opened = library(&scratch, "libze_loader.so.1");
        let told = launch(mpi, &scratch, &Site::shared().tool("topas-run"), |launch| {
            launch.env("TOPAS_LOG", scratch.log_target()).arg(&program).arg(&opened);
        });
        assert_eq!(told.as_deref(), Some("ze"), "{mpi:?}");
    }
}

/// On the processor, by pocl. The package that makes it known to every program on the machine would
/// bring signal handlers into every program of MPICH, by way of hwloc; so this test alone knows it.
#[test]
fn opencl_for_real() {
    let libraries = run(command("/sbin/ldconfig").arg("-p")).good().out();
    let mut names = libraries.split_whitespace();
    let Some(pocl) = names.find(|name| name.starts_with("libpocl.so.")) else {
        return skip("opencl_for_real", "no pocl");
    };
    for mpi in Mpi::installed("opencl_for_real") {
        let scratch = Scratch::new();
        let program = scratch.path().join("opencl");
        let name = "accelerator/opencl.c";
        let mut link = by_driver(Site::shared(), &scratch, mpi, "mpicc", name, &program);
        run(link.arg("-lOpenCL")).good();
        let vendors = scratch.sub("vendors");
        fs::write(vendors.join("pocl.icd"), pocl).unwrap();
        let told = launch(mpi, &scratch, &program, |launch| {
            launch.env("POCL_CACHE_DIR", scratch.path().join("kernels"));
            launch.env("OCL_ICD_VENDORS", &vendors);
        });
        assert_eq!(told.as_deref(), Some("opencl"), "{mpi:?}");
    }
}
