//! One `touch` stops every program of the machine: those linked before, static ones, those
//! whose installation has been moved aside.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use topas_tests::alone::{can_mount, in_namespace, unharmed};
use topas_tests::build::{by_driver, plain, source, with_module};
use topas_tests::mpi_installation::{Mpi, emulate_rank, launched};
use topas_tests::running::{command, run};
use topas_tests::site::{Scratch, Site};

const BY_SITE: &str = "topas: not measured: by topas.conf\n";

struct SwitchedSite {
    scratch: Scratch,
    site: Site,
    /// Dynamic and static.
    programs: Vec<PathBuf>,
}

impl SwitchedSite {
    fn new() -> SwitchedSite {
        SwitchedSite::with(Scratch::new(), Site::lent())
    }

    fn with(scratch: Scratch, site: Site) -> SwitchedSite {
        fs::write(site.conf(), format!("log = {}\n", scratch.log_target())).expect("conf");
        let [dynamic, fixed] = ["says", "static"].map(|name| scratch.path().join(name));
        plain(&site, "c/says.c", false, &dynamic);
        let mut gcc = command("gcc");
        gcc.arg("-static").arg(source("c/says.c")).arg("-o").arg(&fixed);
        run(gcc.arg(with_module(&site, "c"))).good();
        SwitchedSite { scratch, site, programs: vec![dynamic, fixed] }
    }

    fn off(&self) -> PathBuf {
        self.site.conf().with_file_name("off")
    }

    /// Runs both as a rank that measures: what was said, and lines in the log.
    #[track_caller]
    fn run(&self, by: impl Fn(&Command) -> Command) -> Vec<(String, usize)> {
        let mut results = Vec::new();
        for program in &self.programs {
            let mut rank = command(program);
            emulate_rank(&mut rank, 1, 4, "0123456789abcdef-0123456789abcdef");
            rank.env("TOPAS_PE", "1,2").env("TOPAS_VERBOSE", "1");
            let said = unharmed(&run(&mut by(&rank)));
            results.push((said, self.scratch.take_log().len()));
        }
        results
    }
}

fn as_it_is(command: &Command) -> Command {
    let mut same = Command::new(command.get_program());
    same.args(command.get_args()).env_clear();
    same.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    same
}

fn on() -> Vec<(String, usize)> {
    vec![(String::new(), 1); 2]
}

fn stopped() -> Vec<(String, usize)> {
    vec![(BY_SITE.to_owned(), 0); 2]
}

#[test]
fn off_beside_topas_conf() {
    let own = SwitchedSite::new();
    assert_eq!(own.run(as_it_is), on());
    fs::write(own.off(), "").expect("touch");
    assert_eq!(own.run(as_it_is), stopped());
    let doctor = run(command(own.site.tool("topas-doctor")).arg("--quiet")).ends(3).out();
    let why = format!("every program is switched off ({})", own.off().display());
    assert!(doctor.contains(&why), "{doctor}");
    // Whatever it is, and whatever topas.conf says or does not say.
    fs::write(own.site.conf(), "measure = yes\n").expect("conf");
    assert_eq!(own.run(as_it_is), stopped());
    fs::remove_file(own.site.conf()).expect("remove");
    assert_eq!(own.run(as_it_is), stopped());
    fs::remove_file(own.off()).and_then(|()| fs::create_dir(own.off())).expect("directory");
    assert_eq!(own.run(as_it_is), stopped());
    fs::remove_dir(own.off()).expect("remove");
    fs::write(own.site.conf(), format!("log = {}\n", own.scratch.log_target())).expect("conf");
    assert_eq!(own.run(as_it_is), on());
}

/// Through the launchers, in each language; without a word.
#[test]
fn programs_of_the_launchers() {
    let own = SwitchedSite::new();
    for mpi in Mpi::installed("programs_of_the_launchers") {
        for (tool, source) in
            [("mpicc", "c/hello.c"), ("mpicxx", "cxx/hello.cc"), ("mpif90", "f90/hello.f90")]
        {
            let program = own.scratch.path().join(tool);
            run(&mut by_driver(&own.site, &own.scratch, mpi, tool, source, &program)).good();
            let lines = || {
                let mut launch = mpi.launch(&own.site, &own.scratch, 4);
                launch.arg(&program).env_remove("TOPAS_LOG");
                let ended = launched(&own.scratch, &mut launch).good();
                assert_eq!(ended.err(), "", "{} {tool}", mpi.name());
                own.scratch.take_log().len()
            };
            let before = lines();
            fs::write(own.off(), "").expect("touch");
            let during = lines();
            fs::remove_file(own.off()).expect("remove");
            assert_eq!((before, during, lines()), (2, 0, 2), "{} {tool}", mpi.name());
        }
    }
}

/// A program that runs already has begun to measure, and writes no line.
#[test]
fn what_runs_already_writes_no_line() {
    let own = SwitchedSite::new();
    // The switch is turned by the program's own child.
    let source = own.scratch.path().join("touch.c");
    let text = "#include <stdlib.h>\nint main(void) { return system(getenv(\"TURN\")); }\n";
    fs::write(&source, text).expect("write");
    let program = own.scratch.path().join("touch");
    run(command("gcc").arg(&source).arg("-o").arg(&program).arg(with_module(&own.site, "c")))
        .good();
    for (turn, expected) in [("touch", 0), ("rm", 0), ("true", 1)] {
        let mut rank = command(&program);
        emulate_rank(&mut rank, 1, 4, "0123456789abcdef-0123456789abcdef");
        rank.env("TOPAS_PE", "1,2").env("TURN", format!("{turn} {}", own.off().display()));
        run(&mut rank).good();
        assert_eq!(own.scratch.take_log().len(), expected, "{turn}");
    }
}

/// /etc/topas of a private file system, which holds what `script` makes in it.
fn with_etc<'a>(own: &'a SwitchedSite, script: &'a str) -> impl Fn(&Command) -> Command + 'a {
    let script = format!("mount -t tmpfs tmpfs /etc && mkdir /etc/topas && {script}");
    move |inner| in_namespace(&script, [own.scratch.path(), Path::new("/")], inner)
}

#[test]
fn off_in_etc_topas() {
    if !can_mount("off_in_etc_topas") {
        return;
    }
    let scratch = Scratch::new();
    let prefix = scratch.path().join("prefix");
    let own = SwitchedSite::with(scratch, Site::installed_at(&prefix));
    let conf = "echo \"log = file:$1/topas.log\" > /etc/topas/topas.conf";
    let conf_and_off = format!("{conf} && : > /etc/topas/off");
    // Of an installation that is in its place.
    assert_eq!(own.run(with_etc(&own, ":")), on());
    assert_eq!(own.run(with_etc(&own, ": > /etc/topas/off")), stopped());
    // Moved aside: the system's file takes its place, and its switch.
    fs::rename(&prefix, own.scratch.path().join("aside")).expect("move aside");
    assert_eq!(own.run(with_etc(&own, conf)), on());
    assert_eq!(own.run(with_etc(&own, &conf_and_off)), stopped());
    assert_eq!(own.run(with_etc(&own, ": > /etc/topas/off")), stopped());
    // Neither: measured, and no place for the line.
    let nothing = own.run(with_etc(&own, ":"));
    assert!(nothing.iter().all(|(said, lines)| said.contains("no log") && *lines == 0));
    // A new installation at the old place has the switch again.
    fs::create_dir_all(own.off().parent().expect("directory")).expect("make");
    fs::write(own.off(), "").expect("touch");
    assert_eq!(own.run(with_etc(&own, conf)), stopped());
}
