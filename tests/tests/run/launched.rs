//! Under the launchers of real MPIs: the same two ranks, the same line.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use topas_format::field::{Lang, Lib};
use topas_tests::build::{by_driver, source, with_module};
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::record::{Record, read_log};
use topas_tests::running::{command, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

use crate::topas_run;

/// A program built by the real driver of an MPI.
fn built(mpi: Mpi, scratch: &Scratch, tool: &str, name: &str) -> PathBuf {
    let program = scratch.path().join(Path::new(name).with_extension("").file_name().unwrap());
    let real = mpi.real(tool).expect("a driver of this MPI");
    run(command(real).arg(source(name)).arg("-o").arg(&program)).good();
    program
}

/// The ranks of lines that all tell of one launch, by `topas-run`.
#[track_caller]
fn ranks(lines: &[Record], exe: &str, lang: Lang) -> Vec<u32> {
    let ids: BTreeSet<&str> = lines.iter().map(|line| line.id.as_str()).collect();
    assert_eq!(ids.len(), 1, "{lines:#?}");
    for line in lines {
        assert_eq!(line.exe, exe.as_bytes(), "{}", line.text);
        assert_eq!((line.lang, line.npes, line.extra("via")), (lang, 4, "run"), "{}", line.text);
        assert_eq!(line.extra("end"), "exit:0", "{}", line.text);
        // Debian's Python does not tell of its compiler.
        let cc = line.extras.get("cc").map(String::as_str).unwrap_or_default();
        let python = exe.starts_with("python");
        assert!(python || cc.starts_with("GCC:_("), "{}", line.text);
    }
    let mut ranks: Vec<u32> = lines.iter().map(|line| line.pe).collect();
    ranks.sort_unstable();
    ranks
}

#[test]
fn programs_of_every_language_by_both_launchers() {
    let test = "programs_of_every_language_by_both_launchers";
    for mpi in Mpi::installed(test) {
        for (tool, name, lang) in [
            ("mpicc", "c/hello.c", Lang::C),
            ("mpicxx", "cxx/hello.cc", Lang::Cxx),
            ("mpif90", "f90/hello.f90", Lang::F90),
        ] {
            let scratch = Scratch::new();
            let program = built(mpi, &scratch, tool, name);
            for dropped_in in [true, false] {
                let mut launch = match dropped_in {
                    true => mpi.launch(Site::shared(), &scratch, 4),
                    false => mpi.launch_bare(&scratch, 4),
                };
                launch.env("TOPAS_LOG", scratch.log_target()).arg(topas_run()).arg(&program);
                let ended = launched(&scratch, &mut launch).good();
                assert_eq!(ended.err(), "", "{mpi:?} {name}");
                let lines = scratch.take_log();
                assert_eq!(ranks(&lines, "hello", lang), [1, 2], "{mpi:?} {name}");
                for line in &lines {
                    assert_eq!(line.lib, Lib::Mpi, "{}", line.text);
                    let version = line.extra("mpi");
                    let maker = if mpi == Mpi::OpenMpi { "Open_MPI" } else { "MPICH" };
                    assert!(version.starts_with(maker), "{}", line.text);
                }
            }
        }
    }
}

#[test]
fn python_with_mpi() {
    const PYTHON: &str = "/usr/bin/python3";
    let test = "python_with_mpi";
    let works = run(command(PYTHON).args(["-c", "import mpi4py"])).code() == 0;
    if !works {
        return skip(test, "no mpi4py on this machine");
    }
    // Debian builds it for Open MPI.
    for mpi in Mpi::installed(test).into_iter().filter(|mpi| *mpi == Mpi::OpenMpi) {
        let scratch = Scratch::new();
        let script = scratch.path().join("script.py");
        fs::write(
            &script,
            "#!/usr/bin/python3\n\
             from mpi4py import MPI\n\
             import os, subprocess, sys\n\
             assert 'LD_PRELOAD' not in os.environ\n\
             assert subprocess.run(['env'], capture_output=True).stdout.find(b'LD_PRELOAD') < 0\n\
             sys.stdout.write('sum %d\\n' % MPI.COMM_WORLD.allreduce(1))\n",
        )
        .expect("write");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&script, mode).expect("mode");
        let script = script.to_str().expect("a path");
        for words in [&[PYTHON, script][..], &[script], &["env", PYTHON, script]] {
            let mut launch = mpi.launch_bare(&scratch, 4);
            launch.env("TOPAS_LOG", scratch.log_target()).arg(topas_run()).args(words);
            let ended = launched(&scratch, &mut launch).good();
            assert_eq!((ended.out().as_str(), ended.err().as_str()), (&*"sum 4\n".repeat(4), ""));
            let lines = scratch.take_log();
            let exe = fs::canonicalize(PYTHON).expect("python");
            let exe = exe.file_name().unwrap().to_str().unwrap();
            assert_eq!(ranks(&lines, exe, Lang::C), [1, 2]);
            assert!(lines.iter().all(|line| line.lib == Lib::Mpi), "{lines:#?}");
        }
    }
}

/// A program without MPI, static, under both: what launchers hand to a rank reaches it through
/// one more process.
#[test]
fn static_programs() {
    for mpi in Mpi::installed("static_programs") {
        let scratch = Scratch::new();
        let program = scratch.path().join("no_mpi");
        let mut gcc = command("gcc");
        run(gcc.args(["-static", "-O1"]).arg(source("c/no_mpi.c")).arg("-o").arg(&program)).good();
        let mut launch = mpi.launch_bare(&scratch, 4);
        launch.env("TOPAS_LOG", scratch.log_target()).arg(topas_run()).arg(&program);
        let ended = launched(&scratch, &mut launch).good();
        assert_eq!(ended.err(), "", "{mpi:?}");
        let lines = scratch.take_log();
        assert_eq!(ranks(&lines, "no_mpi", Lang::C), [1, 2], "{mpi:?}");
        assert!(lines.iter().all(|line| line.lib == Lib::None), "{lines:#?}");
    }
}

/// MPI inside a child: the sockets of its launcher are inherited.
#[test]
fn static_mpi_programs() {
    for mpi in Mpi::installed("static_mpi_programs") {
        let scratch = Scratch::new();
        let Some(words) = mpi.static_words(&scratch) else { continue };
        let program = scratch.path().join("hello");
        let mut build = command(mpi.real("mpicc").expect("mpicc"));
        build.arg(source("c/hello.c")).args(words).arg("-o").arg(&program);
        run(&mut build).good();
        let mut launch = mpi.launch_bare(&scratch, 4);
        launch.env("TOPAS_LOG", scratch.log_target()).arg(topas_run()).arg(&program);
        launched(&scratch, &mut launch).good();
        let lines = scratch.take_log();
        assert_eq!(ranks(&lines, "hello", Lang::C), [1, 2]);
        assert!(lines.iter().all(|line| line.lib == Lib::Mpi), "{lines:#?}");
    }
}

/// Every rank: its line in topas.out, and the two in the log.
#[test]
fn every_rank() {
    for mpi in Mpi::installed("every_rank") {
        let scratch = Scratch::new();
        let dynamic = built(mpi, &scratch, "mpicc", "c/hello.c");
        let linked = scratch.path().join("linked");
        let mut gcc = command("gcc");
        run(gcc.args(["-static", "-O1"]).arg(source("c/no_mpi.c")).arg("-o").arg(&linked)).good();
        for (program, exe) in [(&dynamic, "hello"), (&linked, "linked")] {
            let mut launch = mpi.launch_bare(&scratch, 4);
            launch.env("TOPAS_LOG", scratch.log_target()).current_dir(scratch.path());
            launch.arg(topas_run()).arg("--all-pe").arg(program);
            let ended = launched(&scratch, &mut launch).good();
            assert_eq!(ended.err(), "", "{mpi:?} {exe}");
            let lines = scratch.take_log();
            assert_eq!(ranks(&lines, exe, Lang::C), [1, 2], "{mpi:?}");
            let file = scratch.path().join("topas.out");
            let all = read_log(&file);
            assert_eq!(ranks(&all, exe, Lang::C), [0, 1, 2, 3], "{mpi:?}");
            assert_eq!(all[0].id, lines[0].id, "{mpi:?}");
            assert!(all.iter().all(|line| line.text.contains(" f=")), "{all:#?}");
            fs::remove_file(file).expect("remove");
        }
    }
}

/// Ranks of lines of a program.
#[track_caller]
fn measured(lines: &[Record], exe: &str) -> Vec<u32> {
    assert!(lines.iter().all(|line| line.exe == exe.as_bytes()), "{lines:#?}");
    let mut ranks: Vec<u32> = lines.iter().map(|line| line.pe).collect();
    ranks.sort_unstable();
    ranks
}

/// Of programs that were linked with the module, too: theirs gives way, or measures every rank
/// itself. One line for each rank that was chosen, whatever else is loaded.
#[test]
fn every_rank_of_programs_with_the_module() {
    let site = Site::shared();
    for mpi in Mpi::installed("every_rank_of_programs_with_the_module") {
        let scratch = Scratch::new();
        let program = |name: &str| scratch.path().join(name);
        run(&mut by_driver(site, &scratch, mpi, "mpicc", "c/hello.c", &program("linked"))).good();
        let mut extended =
            by_driver(site, &scratch, mpi, "mpicc", "c/hello.c", &program("extended"));
        run(extended.env("TOPAS_MEASURE_ALL_PE", "yes")).good();
        let mut gcc = command("gcc");
        gcc.args(["-static", "-O1"]).arg(source("c/no_mpi.c")).arg(with_module(site, "c"));
        run(gcc.arg("-o").arg(program("static"))).good();
        let libm = "/lib/x86_64-linux-gnu/libm.so.6";
        let file = scratch.path().join("topas.out");
        for (exe, via) in [("linked", true), ("extended", false), ("static", true)] {
            for (front, preload) in [(&[][..], ""), (&[], libm), (&["env", "A=b"], "")] {
                let case = format!("{exe} behind {front:?} with `{preload}` under {}", mpi.name());
                let mut launch = mpi.launch_bare(&scratch, 4);
                launch.env("TOPAS_LOG", scratch.log_target()).current_dir(scratch.path());
                if !preload.is_empty() && Path::new(preload).exists() {
                    launch.env("LD_PRELOAD", preload);
                }
                launch.arg(topas_run()).arg("--all-pe").args(front).arg(program(exe));
                let ended = launched(&scratch, &mut launch).good();
                assert_eq!(ended.err(), "", "{case}");
                let lines = scratch.take_log();
                assert_eq!(measured(&lines, exe), [1, 2], "{case}");
                let all = read_log(&file);
                assert_eq!(measured(&all, exe), [0, 1, 2, 3], "{case}");
                assert!(all.iter().all(|line| line.id == lines[0].id), "{case}");
                let outside = |line: &Record| line.extras.contains_key("via");
                assert!(lines.iter().chain(&all).all(|line| outside(line) == via), "{case}");
                fs::remove_file(&file).expect("remove");
            }
        }
        // Without a launcher there is one rank.
        for exe in ["linked", "extended", "static"] {
            let mut alone = scratch.command(topas_run());
            alone.current_dir(scratch.path()).arg("--all-pe").arg(program(exe));
            launched(&scratch, &mut alone).good();
            let all = read_log(&file);
            assert_eq!(measured(&all, exe), [0], "{exe} alone under {}", mpi.name());
            assert!(scratch.take_log().is_empty(), "{exe} alone");
            fs::remove_file(&file).expect("remove");
        }
    }
}
