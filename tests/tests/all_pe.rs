//! The extended module, in which every rank measures: all three ways to link it, under real
//! MPIs; each rank has its line in topas.out, and the log what it would have got anyway.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use topas_format::event::Metric;
use topas_tests::build::{source, with_module};
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::record::{Record, read_log};
use topas_tests::running::{command, run};
use topas_tests::site::{Scratch, Site};

const RANKS: u32 = 16;

/// Lines of a file of all ranks, which is removed.
#[track_caller]
fn take(path: &Path) -> Vec<Record> {
    let lines = read_log(path);
    assert!(!lines.is_empty(), "no lines in {}", path.display());
    fs::remove_file(path).expect("remove");
    lines
}

/// Panics unless the lines are one of each of `ranks`, of one launch, with all that this file
/// adds.
#[track_caller]
fn every_rank(lines: &[Record], ranks: u32) {
    let text: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    let text = text.join("\n");
    assert_eq!(lines.len(), ranks as usize, "{text}");
    let seen: BTreeSet<u32> = lines.iter().map(|line| line.pe).collect();
    assert_eq!(seen, (0..ranks).collect(), "{text}");
    let launches: BTreeSet<&str> = lines.iter().map(|line| line.id.as_str()).collect();
    assert_eq!(launches.len(), 1, "{text}");
    let processors = std::thread::available_parallelism().expect("processors").get();
    for line in lines {
        assert_eq!(line.npes, ranks, "{text}");
        let cpu: usize = line.extra("cpu").parse().expect("cpu=");
        assert!(cpu < processors, "{text}");
        let node = format!("/sys/devices/system/cpu/cpu{cpu}/node{}", line.extra("numa"));
        assert!(!Path::new("/sys/devices/system/node").exists() || Path::new(&node).exists());
    }
}

/// The lines of the log: those of two of the inner ranks, without what only topas.out has.
#[track_caller]
fn two_in_the_log(log: &[Record], lines: &[Record]) {
    let ranks: BTreeSet<u32> = log.iter().map(|line| line.pe).collect();
    assert_eq!((log.len(), ranks.len()), (2, 2));
    for line in log {
        assert!((1..=line.npes - 2).contains(&line.pe), "{}", line.text);
        assert!(line.extra("cpu").is_empty() && line.extra("numa").is_empty(), "{}", line.text);
        let own = lines.iter().find(|own| own.pe == line.pe).expect("the rank in topas.out");
        let shorter = own.text.split(" cpu=").next().unwrap();
        assert_eq!(line.text.split(" len=").next().unwrap(), shorter);
    }
}

/// The command that builds a program in one of the ways that ask for every rank.
fn build(way: usize, mpi: Mpi, scratch: &Scratch, tool: &str, name: &str, out: &Path) -> Command {
    let site = Site::shared();
    let mut driver = match way {
        0 => mpi.driver(site, scratch, tool),
        1 => {
            let mut topas = mpi.driver(site, scratch, site.tool("topas").to_str().unwrap());
            // It puts the drivers in front itself.
            let tools = mpi.tools();
            topas.env("PATH", format!("{}:/usr/bin:/bin", tools.display())).arg(tool);
            topas
        }
        _ => {
            let mut driver = mpi.driver(site, scratch, tool);
            driver.arg("topas.cld");
            driver
        }
    };
    if way == 0 {
        driver.env("TOPAS_MEASURE_ALL_PE", "1");
    }
    driver.arg(source(name)).arg("-o").arg(out);
    driver
}

#[test]
fn three_ways_to_link_and_three_languages() {
    let programs =
        [("mpicc", "c/hello.c"), ("mpicxx", "cxx/hello.cc"), ("mpif90", "f90/hello.f90")];
    for mpi in Mpi::installed("three_ways_to_link_and_three_languages") {
        for (way, (tool, name)) in programs.into_iter().enumerate() {
            let scratch = Scratch::new();
            let program = scratch.path().join("hello");
            let built = run(&mut build(way, mpi, &scratch, tool, name, &program)).good();
            assert_eq!(built.err(), "", "{tool}");
            let start = scratch.sub("start");
            let mut launch = mpi.launch(Site::shared(), &scratch, RANKS);
            let ended = launched(&scratch, launch.arg(&program).current_dir(&start)).good();
            assert!(!ended.err().contains("topas"), "{}", ended.err());
            let lines = take(&start.join("topas.out"));
            every_rank(&lines, RANKS);
            let lang = name.split('/').next().unwrap();
            assert!(lines.iter().all(|line| line.lang.word() == lang && line.exe == b"hello"));
            assert!(lines.iter().all(|line| line.metric == Metric::FpOps));
            two_in_the_log(&scratch.take_log(), &lines);
            let left: Vec<_> = fs::read_dir(&start).expect("directory").flatten().collect();
            assert!(left.is_empty(), "left behind: {left:?}");
        }
    }
}

/// A program linked by hand with the extended module of C.
fn plain(scratch: &Scratch, name: &str, more: &[&str]) -> PathBuf {
    let program = scratch.path().join(Path::new(name).file_stem().unwrap());
    let mut gcc = command("gcc");
    gcc.args(["-Wall", "-Werror", "-O1"]).arg(source(name)).arg("-o").arg(&program);
    run(gcc.arg(with_module(Site::shared(), "c.all")).args(more)).good();
    program
}

#[test]
fn a_program_without_mpi_and_a_static_one() {
    for more in [&[][..], &["-static"]] {
        let scratch = Scratch::new();
        let program = plain(&scratch, "c/gate.c", more);
        let mut alone = scratch.command(&program);
        alone.arg("3").current_dir(scratch.path());
        run(&mut alone).ends(3);
        let out = scratch.path().join("topas.out");
        let first = read_log(&out);
        every_rank(&first, 1);
        assert_eq!(first[0].extra("end"), "exit:3");
        // The site does not ask for programs alone.
        assert!(scratch.take_log().is_empty());
        // The next run appends, under another id.
        run(&mut alone).ends(3);
        let both = take(&out);
        assert_eq!(both.len(), 2);
        assert_ne!(both[0].id, both[1].id);
    }
}

#[test]
fn a_static_mpi_program() {
    for mpi in Mpi::installed("a_static_mpi_program") {
        let scratch = Scratch::new();
        let program = scratch.path().join("hello");
        // Only where there are archives.
        let Some(words) = mpi.static_words(&scratch) else {
            continue;
        };
        run(build(0, mpi, &scratch, "mpicc", "c/hello.c", &program).args(&words)).good();
        let mut launch = mpi.launch(Site::shared(), &scratch, 5);
        launched(&scratch, launch.arg(&program).current_dir(scratch.path())).good();
        every_rank(&take(&scratch.path().join("topas.out")), 5);
    }
}

#[test]
fn every_kind_of_operations() {
    let scratch = Scratch::new();
    let program = plain(&scratch, "c/no_mpi.c", &[]);
    for mpi in Mpi::installed("every_kind_of_operations") {
        for (word, metric) in [
            ("fpops", Metric::FpOps),
            ("intops", Metric::IntOps),
            ("loads", Metric::Loads),
            ("stores", Metric::Stores),
            ("both", Metric::FpOps),
        ] {
            let mut launch = mpi.launch(Site::shared(), &scratch, 6);
            launch.arg(&program).env("TOPAS_OPS", word).current_dir(scratch.path());
            assert_eq!(launched(&scratch, &mut launch).good().err(), "", "{word}");
            let lines = take(&scratch.path().join("topas.out"));
            every_rank(&lines, 6);
            assert!(lines.iter().all(|line| line.metric == metric), "{word}");
            two_in_the_log(&scratch.take_log(), &lines);
        }
        let mut launch = mpi.launch(Site::shared(), &scratch, 6);
        launch.arg(&program).env("TOPAS_OPS", "flops").current_dir(scratch.path());
        let said = launched(&scratch, &mut launch).good().err();
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.starts_with("topas: TOPAS_OPS=flops names no operations"), "{said}");
        every_rank(&take(&scratch.path().join("topas.out")), 6);
        scratch.take_log();
    }
}

/// What the site wants is about its log; the switches are for all.
#[test]
fn off_is_off_and_named_ranks_log() {
    let scratch = Scratch::new();
    let program = plain(&scratch, "c/no_mpi.c", &[]);
    let out = scratch.path().join("topas.out");
    for mpi in Mpi::installed("off_is_off_and_named_ranks_log") {
        let launch = |name: &str, value: &str| {
            let mut launch = mpi.launch(Site::shared(), &scratch, 4);
            launch.arg(&program).env(name, value).current_dir(scratch.path());
            launched(&scratch, &mut launch).good();
        };
        launch("TOPAS", "off");
        assert!(!out.exists() && scratch.take_log().is_empty());
        launch("TOPAS_PE", "0,3");
        every_rank(&take(&out), 4);
        let mut ranks: Vec<u32> = scratch.take_log().iter().map(|line| line.pe).collect();
        ranks.sort_unstable();
        assert_eq!(ranks, [0, 3]);
        launch("TOPAS_LOG", "file:/dev/null");
        every_rank(&take(&out), 4);
    }
}

/// A build system asks the driver how to link and calls the compiler itself, for a library as for
/// the program; each rank still measures once.
#[test]
fn by_the_answer_of_a_driver() {
    for mpi in Mpi::installed("by_the_answer_of_a_driver") {
        let scratch = Scratch::new();
        let mut driver = mpi.driver(Site::shared(), &scratch, "mpicc");
        let question = if mpi == Mpi::OpenMpi { "-showme" } else { "-show" };
        let answer = run(driver.arg(question).env("TOPAS_MEASURE_ALL_PE", "yes")).good().out();
        assert!(answer.contains("topas.c.all.init.o"), "{answer}");
        let words: Vec<&str> = answer.split_whitespace().skip(1).collect();
        let (library, program) = (scratch.path().join("libpart.so"), scratch.path().join("hello"));
        let gcc = |more: &[&str], name: &str, out: &Path| {
            let mut gcc = command("gcc");
            gcc.args(more).arg(source(name)).args(&words).arg("-o").arg(out);
            run(&mut gcc).good();
        };
        gcc(&["-shared", "-fPIC"], "library/part_with_mpi.c", &library);
        let path = library.display().to_string();
        gcc(&["-Wl,--no-as-needed", &path], "c/hello.c", &program);
        let mut launch = mpi.launch(Site::shared(), &scratch, 4);
        launched(&scratch, launch.arg(&program).current_dir(scratch.path())).good();
        let lines = take(&scratch.path().join("topas.out"));
        every_rank(&lines, 4);
        two_in_the_log(&scratch.take_log(), &lines);
    }
}
