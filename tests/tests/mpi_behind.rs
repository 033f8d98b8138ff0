//! MPI profile of programs behind what starts them: scripts, `sh -c`, `timeout`, `env`, nested
//! launchers. What is started beside them sees and costs nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use topas_tests::build::{plain, source};
use topas_tests::expected::Expected;
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::profile::{Places, build, library, spool_files};
use topas_tests::running::{Run, command, have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::note;

const TRAFFIC: &str = "faults/traffic.c";

/// A directory with a program of known calls.
struct ScriptBench {
    mpi: Mpi,
    scratch: Scratch,
    expected: Expected,
}

impl ScriptBench {
    fn new(mpi: Mpi) -> ScriptBench {
        let scratch = Scratch::new();
        build(mpi, "mpicc", &[TRAFFIC], &["-w"], &scratch.path().join("traffic"));
        let expected = Expected::read(&fs::read_to_string(source(TRAFFIC)).unwrap()).unwrap();
        ScriptBench { mpi, scratch, expected }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn script(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// `mpiexec -n RANKS`; the program follows.
    fn launch(&self) -> Command {
        let mut launch = self.mpi.launch(Site::shared(), &self.scratch, self.expected.ranks);
        launch.env("TOPAS_MPI_SPOOL", self.scratch.sub("spool")).current_dir(self.scratch.path());
        launch
    }

    fn profiled(&self, words: &[&str]) -> Run {
        let mut launch = self.launch();
        launch.arg(Site::shared().tool("topas-run")).arg("--mpi").args(words);
        launched(&self.scratch, &mut launch).good()
    }

    /// What was counted is what the program says of itself.
    #[track_caller]
    fn exact(&self, ended: &Run, case: &str) {
        let case = format!("{case} under {}", self.mpi.name());
        let places = Places { spool: self.scratch.sub("spool"), out: self.path("topas-mpi.out") };
        let counted = places.counted();
        assert_eq!(counted.len(), self.expected.ranks as usize, "{case}: {}", ended.err());
        assert_eq!(self.expected.faults(&counted, &ended.out()), "", "{case}");
        assert_eq!(spool_files(&places.spool), Vec::<PathBuf>::new(), "{case}");
        fs::remove_file(&places.out).unwrap();
    }
}

#[test]
fn what_stands_between_launcher_and_program() {
    for mpi in Mpi::installed("behind what starts it") {
        let bench = ScriptBench::new(mpi);
        bench.script("bind.sh", "#!/bin/bash\nls / >/dev/null\nhostname >/dev/null\n./traffic\n");
        bench.script("no_first_line", "./traffic\n");
        bench.script("exec.sh", "#!/bin/sh\nexport OMP_NUM_THREADS=1\nexec \"$@\"\n");
        bench.script(
            "start.py",
            "#!/usr/bin/python3\nimport subprocess\nsubprocess.check_call(['./traffic'], close_fds=False)\n",
        );
        for words in [
            &["./bind.sh"][..],
            &["sh", "bind.sh"],
            &["./no_first_line"],
            &["./exec.sh", "./traffic"],
            &["sh", "-c", "./traffic; true"],
            &["timeout", "60", "./traffic"],
            &["env", "A=b", "./bind.sh"],
            &["taskset", "-c", "0-63", "./exec.sh", "timeout", "60", "./traffic"],
            &["setsid", "-w", "./traffic"],
            &["./start.py"],
        ] {
            let program = words.iter().find(|word| !word.contains('/')).unwrap_or(&"sh");
            if words[0] == *program && !have(program) {
                note("behind what starts it", &format!("no {program} on this machine"));
                continue;
            }
            let ended = bench.profiled(words);
            assert_eq!(ended.err(), "", "{words:?} under {}", mpi.name());
            bench.exact(&ended, &words.join(" "));
        }
    }
}

/// The library alone, by the variable of the loader: it waits, too.
#[test]
fn a_library_that_is_preloaded_waits_for_the_program() {
    for mpi in Mpi::installed("preloaded into a script") {
        let bench = ScriptBench::new(mpi);
        bench.script("bind.sh", "#!/bin/sh\nhostname >/dev/null\n./traffic\n");
        let places = Places { spool: bench.scratch.sub("spool"), out: bench.path("topas-mpi.out") };
        let mut launch = bench.launch();
        launch.args(places.words(&[&library(Site::shared())])).arg("./bind.sh");
        let ended = launched(&bench.scratch, &mut launch).good();
        assert_eq!(ended.err(), "");
        bench.exact(&ended, "LD_PRELOAD");
    }
}

/// Programs after each other, and a launch inside of a rank: each has a profile of its own.
#[test]
fn several_programs_of_a_script() {
    for mpi in Mpi::installed("several programs of a script") {
        let bench = ScriptBench::new(mpi);
        let mpiexec = bench.launch();
        let mpiexec: Vec<String> = std::iter::once(mpiexec.get_program())
            .chain(mpiexec.get_args())
            .map(|word| format!("'{}'", word.to_str().unwrap()))
            .collect();
        bench.script(
            "twice.sh",
            &format!("#!/bin/sh\n{0} ./traffic\n{0} ./traffic\n", mpiexec.join(" ")),
        );
        let mut alone = bench.scratch.command(Site::shared().tool("topas-run"));
        let variables = bench.launch();
        alone.envs(variables.get_envs().filter_map(|(name, value)| Some((name, value?))));
        alone.current_dir(bench.scratch.path()).args(["--mpi", "./twice.sh"]);
        let ended = launched(&bench.scratch, &mut alone).good();
        let text = fs::read_to_string(bench.path("topas-mpi.out")).unwrap_or_default();
        let runs =
            text.lines().filter(|line| line.contains(" of=run ") && line.contains(" line=1/"));
        assert_eq!(runs.count(), 2, "under {}: {text}{}", mpi.name(), ended.err());
    }
}

/// What a script starts beside the program: as without, whatever it is.
#[test]
fn what_has_no_mpi_is_as_without() {
    let scratch = Scratch::new();
    let path = |name: &str| scratch.path().join(name);
    fs::write(path("hello.c"), "#include <stdio.h>\nint main(void) { puts(\"hello\"); }\n")
        .unwrap();
    let mut lines = vec!["ls -a".to_owned(), "env | grep -c TOPAS_MPI=yes; true".to_owned()];
    for (name, compiler) in
        [("static", &["gcc", "-static"][..]), ("musl", &["musl-gcc"]), ("dynamic", &["gcc"])]
    {
        if !have(compiler[0]) {
            note("programs beside the program", &format!("no {} on this machine", compiler[0]));
            continue;
        }
        let mut build = command(compiler[0]);
        run(build.args(&compiler[1..]).arg(path("hello.c")).arg("-o").arg(path(name))).good();
        lines.push(format!("./{name}"));
    }
    let site = Site::shared();
    plain(site, "c/says.c", true, &path("says"));
    lines.push("./says; echo $?".to_owned());
    let script = path("job.sh");
    fs::write(&script, format!("#!/bin/sh\n{}\n", lines.join("\n"))).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let ended = |words: &[&Path]| {
        let mut job = scratch.command(words[0]);
        job.env("TOPAS_MPI", "yes").args(&words[1..]).current_dir(scratch.path());
        let ended = run(&mut job);
        (ended.code(), ended.out(), ended.err())
    };
    let without = ended(&[&script]);
    assert_eq!(without.0, 0, "{}", without.2);
    assert_eq!(ended(&[&site.tool("topas-run"), Path::new("--mpi"), &script]), without);
}

/// Behind a container the library is not seen, and the loader there would say so of every program:
/// it leaves before, and one rank tells it.
#[test]
fn a_container_is_told_of_once() {
    for mpi in Mpi::installed("behind a container") {
        let bench = ScriptBench::new(mpi);
        fs::create_dir(bench.path("bin")).unwrap();
        let container = bench.path("bin/apptainer");
        let program = bench.path("container.c");
        fs::write(
            &program,
            "#include <stdlib.h>\nint main(void) { return getenv(\"LD_PRELOAD\") != NULL; }\n",
        )
        .unwrap();
        run(command("gcc").arg(&program).arg("-o").arg(&container)).good();
        bench.script("bind.sh", "#!/bin/sh\n./bin/apptainer\n");
        let ended = bench.profiled(&["./bind.sh"]);
        let told = "topas-mpi: warning: no MPI profile of what apptainer runs";
        assert_eq!(ended.err().matches(told).count(), 1, "under {}: {}", mpi.name(), ended.err());
        let ended = bench.profiled(&["./bin/apptainer"]);
        let told = "no MPI profile: it runs a container";
        assert_eq!(ended.err().matches(told).count(), 1, "under {}: {}", mpi.name(), ended.err());
    }
}
