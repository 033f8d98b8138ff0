//! Programs linked with the MPI profile: each is profiled exactly as one that was loaded with the
//! library, a user's own tools report, builds are answered as without, and a program outlives the
//! installation.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use topas_tests::build::source;
use topas_tests::expected::Expected;
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::profile::{Places, alike, compiler};
use topas_tests::running::{Run, command, have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::{note, skip};

/// Traffic that is known, in C.
const TRAFFIC: &str = "faults/traffic.c";

/// A link by the driver, with the profile.
fn driver(mpi: Mpi, scratch: &Scratch, tool: &str, output: &Path) -> Command {
    let mut driver = mpi.driver(Site::shared(), scratch, tool);
    driver.env("TOPAS_MPI", "yes").arg("-o").arg(output);
    driver
}

/// Builds a program of `tests/programs` with the profile.
#[track_caller]
fn linked(mpi: Mpi, scratch: &Scratch, tool: &str, words: &[&str]) -> PathBuf {
    let program = scratch.path().join("program");
    run(driver(mpi, scratch, tool, &program).args(words)).good();
    program
}

fn path_of(name: &str) -> String {
    source(name).display().to_string()
}

/// Runs a program whose first lines tell what it does, and compares.
#[track_caller]
fn counts(mpi: Mpi, scratch: &Scratch, name: &str, program: &Path, case: &str) -> Run {
    let text = fs::read_to_string(source(name)).unwrap();
    let expected = Expected::read(&text).unwrap();
    let places = Places::new(scratch);
    places.clear();
    let mut launch = mpi.launch(Site::shared(), scratch, expected.ranks);
    launch.envs(places.variables()).arg(program).args(&expected.args).current_dir(scratch.path());
    let ended = launched(scratch, &mut launch).good();
    let counted = places.counted();
    assert_eq!(counted.len(), expected.ranks as usize, "{case}: ranks that were profiled");
    let faults = expected.faults(&counted, &ended.out());
    assert_eq!(faults, "", "{case} under {}", mpi.name());
    ended
}

#[test]
fn every_language_is_profiled_and_measured() {
    for mpi in Mpi::installed("linked profile") {
        let scratch = Scratch::new();
        for (tool, name, words) in [
            ("mpicc", TRAFFIC, &[][..]),
            ("mpicxx", TRAFFIC, &["-x", "c++", "-fpermissive", "-w"]),
            ("mpif90", "faults/calls.F90", &["-DF08", "-w"]),
            ("mpif90", "faults/calls.F90", &["-DMODULE", "-w"]),
            ("mpifort", "faults/calls.F90", &["-fallow-argument-mismatch", "-w"]),
        ] {
            let source = path_of(name);
            let words = [words, &[source.as_str()]].concat();
            let program = linked(mpi, &scratch, tool, &words);
            counts(mpi, &scratch, name, &program, tool);
            // The base measurement is as without.
            let lines = scratch.take_log();
            assert_eq!(lines.len(), 2, "{tool} {words:?}: lines of the log");
        }
    }
}

/// Linkers by the word the compiler knows them by, with their programs.
const LINKERS: [(&str, &str); 4] =
    [("bfd", "ld.bfd"), ("gold", "ld.gold"), ("lld", "ld.lld"), ("mold", "ld.mold")];

#[test]
fn every_way_to_link_is_profiled() {
    for mpi in Mpi::installed("ways to link the profile") {
        let scratch = Scratch::new();
        let source = path_of(TRAFFIC);
        let mut ways: Vec<String> = [
            "-O2 -flto",
            "-s",
            "-no-pie",
            "-Wl,--as-needed",
            "-Wl,-Bsymbolic",
            "-Wl,-Bsymbolic-functions -rdynamic",
            "-Wl,--gc-sections -ffunction-sections",
            "-Wl,-z,now -Wl,-z,relro",
            "-Wl,--fatal-warnings",
        ]
        .map(str::to_owned)
        .to_vec();
        for (word, program) in LINKERS {
            if have(program) {
                ways.push(format!("-fuse-ld={word}"));
            } else {
                skip("linkers of the profile", &format!("no {program} on this machine"));
            }
        }
        for way in &ways {
            let mut words: Vec<&str> = way.split(' ').collect();
            words.push(&source);
            let program = linked(mpi, &scratch, "mpicc", &words);
            counts(mpi, &scratch, TRAFFIC, &program, way);
        }
    }
}

#[test]
fn a_users_own_tool_reports_wherever_it_is() {
    const SAID: &str = "tool: Send 200, 2000 B, Recv 200, Barrier 14, Allreduce 40";
    for mpi in Mpi::installed("tools beside the linked profile") {
        let scratch = Scratch::new();
        let tool = path_of("faults/tool.c");
        let built = |options: &[&str], name: &str| {
            let path = scratch.path().join(name);
            let mut build = compiler(mpi, "mpicc");
            run(build.args(["-w", &tool]).args(options).arg("-o").arg(&path)).good();
            path.display().to_string()
        };
        let object = built(&["-c"], "tool.o");
        let archive = scratch.path().join("libtool.a").display().to_string();
        run(command("ar").args(["rcs", &archive, &object])).good();
        let shared = built(&["-fPIC", "-shared"], "libtool_shared.so");
        for tool in [&object, &archive, &shared] {
            let program = linked(mpi, &scratch, "mpicc", &[&path_of(TRAFFIC), tool]);
            let ended = counts(mpi, &scratch, TRAFFIC, &program, tool);
            let said = ended.out().lines().filter(|line| *line == SAID).count();
            assert_eq!(said, 1, "{tool}:\n{}", ended.out());
        }
    }
}

/// Configure scripts ask by a link whether an MPI has a function.
#[test]
fn a_function_that_the_mpi_lacks_stays_missing() {
    for mpi in Mpi::installed("functions an MPI lacks") {
        let scratch = Scratch::new();
        let file = scratch.path().join("asks.c");
        fs::write(
            &file,
            "int MPI_Abi_get_version(int *, int *); int MPI_Nothing(void);\n\
                          int main(void) { int a, b; return CALL; }\n",
        )
        .unwrap();
        let asks = |call: &str, more: &[&str]| {
            let output = scratch.path().join("asks");
            let mut link = driver(mpi, &scratch, "mpicc", &output);
            link.arg(format!("-DCALL={call}")).arg(&file).args(more);
            run(&mut link).code()
        };
        assert_ne!(asks("MPI_Abi_get_version(&a, &b)", &[]), 0, "{}", mpi.name());
        assert_ne!(asks("MPI_Nothing()", &[]), 0, "{}", mpi.name());
        assert_eq!(asks("0", &[]), 0, "{}", mpi.name());
    }
}

/// Build systems ask how to link, and put the answer on shared libraries, too.
#[test]
fn a_link_by_an_answer_is_profiled() {
    for mpi in Mpi::installed("answers with the profile") {
        let scratch = Scratch::new();
        let mut asked = mpi.driver(Site::shared(), &scratch, "mpicc");
        let answer = run(asked.env("TOPAS_MPI", "yes").arg("-show")).good().out();
        let words: Vec<&str> = answer.split_whitespace().skip(1).collect();
        assert!(answer.contains("topas-mpi.init.o"), "{answer}");
        let library = scratch.path().join("libpart.so");
        let part = scratch.path().join("part.c");
        fs::write(&part, "#include <mpi.h>\nint part(void) { int n; MPI_Comm_size(MPI_COMM_WORLD, &n); return n; }\n").unwrap();
        let mut gcc = command("gcc");
        gcc.args(["-shared", "-fPIC", "-o"]).args([&library, &part]).args(&words);
        run(&mut gcc).good();
        let program = scratch.path().join("program");
        let mut gcc = command("gcc");
        gcc.args(["-Wl,--no-as-needed", "-o"]).arg(&program).arg(source(TRAFFIC)).arg(&library);
        gcc.arg(format!("-Wl,-rpath,{}", scratch.path().display()));
        run(gcc.args(&words)).good();
        counts(mpi, &scratch, TRAFFIC, &program, "answer");
    }
}

/// A program that holds its MPI: the linker leads its calls into the archive.
#[test]
fn a_static_program_is_profiled() {
    let scratch = Scratch::new();
    for mpi in Mpi::installed("static profile") {
        let Some(words) = mpi.static_words(&scratch) else {
            note("static profile", &format!("no archives of {}", mpi.name()));
            continue;
        };
        for (tool, name, options) in [
            ("mpicc", TRAFFIC, &[][..]),
            ("mpicc", TRAFFIC, &["-Wl,--gc-sections", "-ffunction-sections"]),
            ("mpif90", "faults/calls.F90", &["-DF08", "-w"]),
            ("mpif90", "faults/calls.F90", &["-fallow-argument-mismatch", "-w"]),
        ] {
            let program = scratch.path().join("program");
            let mut link = driver(mpi, &scratch, tool, &program);
            run(link.args(options).arg(source(name)).args(&words)).good();
            counts(mpi, &scratch, name, &program, &format!("{tool} -static {options:?}"));
            let lines = scratch.take_log();
            assert_eq!(lines.len(), 2, "{tool}: lines of the log");
            for line in lines {
                assert!(line.extra("mpi").starts_with("MPICH"), "{tool}: {}", line.text);
            }
        }
        // What it has of its MPI is what it would have had: no function comes with the profile.
        let program = scratch.path().join("program");
        let mut link = driver(mpi, &scratch, "mpicc", &program);
        let file = scratch.path().join("asks.c");
        fs::write(
            &file,
            "int MPI_Abi_get_version(int *, int *);\n\
                          int main(void) { int a, b; return MPI_Abi_get_version(&a, &b); }\n",
        )
        .unwrap();
        assert_ne!(run(link.arg(&file).args(&words)).code(), 0);
    }
}

/// A static program of MPICH 4.0.2 sends by TCP, and does not stand every message just before its
/// `MPI_Finalize`: ranks that were sent one that is answered wait there for ever.
#[test]
fn a_static_program_ends_after_its_sums_were_sent() {
    const PROGRAM: &str = "#include <mpi.h>\nint main(int argc, char **argv)\n\
                           { MPI_Init(&argc, &argv); return MPI_Finalize(); }\n";
    let scratch = Scratch::new();
    let mpi = Mpi::Mpich;
    let Some(words) = mpi.static_words(&scratch).filter(|_| have("mpiexec.mpich")) else {
        return skip("end of a static program", "no archives of MPICH");
    };
    let (source, program) = (scratch.path().join("ends.c"), scratch.path().join("ends"));
    fs::write(&source, PROGRAM).unwrap();
    run(driver(mpi, &scratch, "mpicc", &program).arg(&source).args(&words)).good();
    let launches = env::var("TOPAS_TEST_LAUNCHES").map_or(12, |n| n.parse().unwrap());
    let places = Places::new(&scratch);
    for i in 0..launches {
        // The center wants its line in any case; what a user asks for is sent besides.
        let mut launch = mpi.launch(Site::shared(), &scratch, 4);
        if i % 4 == 3 {
            launch.envs(places.variables());
        }
        let ended = launched(&scratch, launch.arg(&program).current_dir(scratch.path()));
        assert_eq!(ended.code(), 0, "launch {i} of {launches}: {}", ended.err());
    }
    assert!(!scratch.take_log().is_empty(), "nothing was measured");
}

/// What a program of one rank says and how it ends, with these variables more.
fn alone(scratch: &Scratch, program: &Path, places: &Places, more: &[(&str, &str)]) -> Run {
    let mut command = scratch.command(program);
    command.envs(places.variables()).envs(more.iter().copied()).current_dir(scratch.path());
    run(command.args(["true", "7"]))
}

#[test]
fn nothing_changes_where_it_is_off_or_gone() {
    for mpi in Mpi::installed("profile that is off") {
        let scratch = Scratch::new();
        let program = linked(mpi, &scratch, "mpicc", &[&path_of("c/sees_profile.c")]);
        let places = Places::new(&scratch);
        let launch = |program: &Path, more: &[(&str, &str)]| {
            places.clear();
            let mut launch = mpi.launch(Site::shared(), &scratch, 2);
            launch.envs(places.variables()).envs(more.iter().copied());
            launched(&scratch, launch.arg(program).current_dir(scratch.path())).good().out()
        };
        let on = launch(&program, &[]);
        assert_eq!(on.matches("loaded=1 preload=- guards=1").count(), 2, "{on}");
        assert_eq!(places.counted().len(), 2);
        for off in [("TOPAS_MPI", "no"), ("TOPAS", "off")] {
            let said = launch(&program, &[off]);
            assert_eq!(said.matches("loaded=0 preload=- guards=0").count(), 2, "{said}");
            assert!(places.counted().is_empty());
        }
        // The installation has gone: the path of the library leads nowhere.
        let object = scratch.path().join("moved.o");
        let path = scratch.path().join("path");
        let mut section = b"/nonexistent/lib/topas/libtopas_mpi.so".to_vec();
        section.resize(512, 0);
        fs::write(&path, section).unwrap();
        let installed = Site::shared().module("c").with_file_name("topas-mpi.o");
        let mut objcopy = command("objcopy");
        objcopy.arg(format!("--update-section=.topas_mpi={}", path.display()));
        run(objcopy.args([&installed, &object])).good();
        let moved = scratch.path().join("moved");
        let mut link = compiler(mpi, "mpicc");
        link.arg(source("c/sees_profile.c")).arg(format!("-Wl,{}", object.display()));
        run(link.arg("-o").arg(&moved)).good();
        let said = launch(&moved, &[]);
        assert_eq!(said.matches("loaded=0 preload=- guards=0").count(), 2, "{said}");
    }
}

/// What has the process replaced must not be done where the kernel would not start it the same way
/// again.
#[test]
fn strange_ways_to_start_end_as_without() {
    const LOADER: &str = "/lib64/ld-linux-x86-64.so.2";
    for mpi in Mpi::installed("strange ways to start") {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let name = path_of("c/sees_profile.c");
        let with = linked(mpi, &scratch, "mpicc", &[&name]);
        let without = scratch.path().join("without");
        run(compiler(mpi, "mpicc").arg(&name).arg("-o").arg(&without)).good();
        if Path::new(LOADER).exists() {
            let by_loader = |program: &Path| {
                let mut launch = mpi.launch(Site::shared(), &scratch, 1);
                launch.envs(places.variables()).args([Path::new(LOADER), program]);
                launched(&scratch, launch.current_dir(scratch.path()))
            };
            let (with, without) = (by_loader(&with).good(), by_loader(&without).good());
            assert_eq!(
                with.out().replace("program", "without"),
                without.out(),
                "started by {LOADER}"
            );
        } else {
            note("strange ways to start", &format!("no {LOADER}"));
        }
        // A memory checker that insists on being first.
        let checked = scratch.path().join("checked");
        let mut link = driver(mpi, &scratch, "mpicc", &checked);
        run(link.args(["-fsanitize=address", "-g"]).arg(&name)).good();
        let ended = alone(&scratch, &checked, &places, &[("ASAN_OPTIONS", "detect_leaks=0")]);
        assert!(ended.out().contains("loaded=0"), "{}{}", ended.out(), ended.err());
        assert!(!ended.err().contains("ASan runtime"), "{}", ended.err());
        // Preloaded by the user, too: once.
        let library = topas_tests::profile::library(Site::shared()).display().to_string();
        places.clear();
        let ended = alone(&scratch, &with, &places, &[("LD_PRELOAD", &library)]);
        assert!(ended.out().contains("loaded=1 preload=- guards=1"), "{}", ended.out());
    }
}

/// A child that is no rank is not loaded with the library; the child's own output is the same.
#[test]
fn children_are_as_without() {
    for mpi in Mpi::installed("children of profiled programs") {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let name = path_of("c/sees_profile.c");
        let program = linked(mpi, &scratch, "mpicc", &[&name]);
        let bare = scratch.path().join("bare");
        run(compiler(mpi, "mpicc").arg(&name).arg("-o").arg(&bare)).good();
        let child = "env -i HOME=/ sh -c 'cat /proc/self/maps' | grep -c libtopas; \
                     tr '\\0' '\\n' </proc/self/environ | grep ^LD_PRELOAD; true";
        let runs = [&program, &bare].map(|program| {
            let mut command = scratch.command(program);
            command.envs(places.variables()).env("OMPI_ALLOW_RUN_AS_ROOT", "1");
            command.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1").current_dir(scratch.path());
            let ended = run(command.arg(child));
            Run { stdout: ended.out().lines().skip(1).collect::<String>().into_bytes(), ..ended }
        });
        alike(&runs[1], &runs[0]);
    }
}
