//! Every example of the manual pages is run, with small programs in the place of a user's, two ranks
//! in the place of many, and stand-ins for commands that this machine need not have.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use topas_tests::mpi_installation::{Mpi, permit};
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site, source_root};

/// The pages, with examples whose commands are shown by a term of a list. Those of topas-stat have
/// a test in its crate.
const PAGES: [&str; 7] = [
    "topas.1",
    "topas-run.1",
    "topasview.1",
    "topas-log.1",
    "topas-mpi.1",
    "topas-report.1",
    "topas-doctor.8",
];

/// Commands that this machine need not have, as scripts of the shell.
const STAND_INS: [(&str, &str); 3] = [
    (
        "srun",
        "while case $1 in -*N|--ntasks-per-node) shift;; -*) ;; *) false;; esac\ndo shift; done\nexec \"$@\"",
    ),
    ("numactl", "shift\nexec \"$@\""),
    ("jq", "exec cat"),
];

/// The commands of the examples of a page.
fn examples(page: &str) -> Vec<String> {
    let text = fs::read_to_string(source_root().join("doc").join(page)).unwrap();
    let (before, rest) = text.split_once(".SH EXAMPLES\n").expect("a section of examples");
    let sections: Vec<&str> = before.lines().filter(|line| line.starts_with(".SH ")).collect();
    assert_eq!(sections, [".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION"], "{page}: examples first");
    let section = rest.split("\n.SH ").next().unwrap();
    let plain = |line: &str| {
        line.replace("\\(aq", "'").replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")
    };
    section.lines().filter_map(|line| line.strip_prefix(".B ")).map(plain).collect()
}

/// The example as it is run here.
fn here(example: &str) -> String {
    let mut command = example.to_owned();
    for ranks in ["-n 64", "-n 16", "-n 4"] {
        command = command.replace(ranks, "-n 2");
    }
    let mpi = Mpi::OpenMpi.tools().parent().expect("bin in a prefix").display().to_string();
    command
        .replace("/opt/intel/oneapi/mpi/2021.14", &mpi)
        .replace("/var/log/topas", "logs")
        .replace("/shared/topas", "shared")
        .replace("input.dat", "100")
}

#[test]
fn every_example_of_the_manual_runs() {
    if !Mpi::installed("every_example_of_the_manual_runs").contains(&Mpi::OpenMpi) {
        return;
    }
    let scratch = Scratch::new();
    let site = Site::lent();
    let dir = scratch.path();
    let program = fs::read(source_root().join("tests/programs/c/cg.c")).unwrap();
    for name in ["cg.c", "heat.c"] {
        fs::write(dir.join(name), &program).unwrap();
    }
    fs::write(dir.join("heat.f90"), "program heat\n  print *, 'heat'\nend program\n").unwrap();
    fs::write(dir.join("solve.py"), "print(sum(range(1000)))\n").unwrap();
    fs::write(dir.join("Makefile"), "all:\n\tmpicc cg.c -o made -lm\n").unwrap();
    let script = |name: &str, text: &str| {
        fs::write(dir.join(name), format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(dir.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    };
    script("configure", "echo \"$@\"");
    fs::create_dir(dir.join("stand-ins")).unwrap();
    STAND_INS.iter().for_each(|(name, text)| script(&format!("stand-ins/{name}"), text));
    let line = fs::read(source_root().join("tests/fixtures/logs/v1/module.log")).unwrap();
    for place in ["logs", "shared/one", "shared/two"] {
        fs::create_dir_all(dir.join(place)).unwrap();
        fs::write(dir.join(place).join("2026-10.log"), &line).unwrap();
    }
    let tools = site.tool("topasview");
    let bin = tools.parent().unwrap().display();
    let path = site.path(&Mpi::OpenMpi.tools());
    let path = format!("{}:{path}:{bin}", dir.join("stand-ins").display());
    let shell = |command: &str| {
        let mut shell = scratch.command("bash");
        permit(&mut shell, &scratch);
        shell.args(["-c", command]).current_dir(dir).env("PATH", &path);
        run(&mut shell)
    };
    shell("mpicc cg.c -o a.out -lm && mpirun -n 2 topas-run --all-pe --mpi=log ./a.out").good();
    let copies = "mkdir before && cat topas.out* > before/topas.out && cp before/topas.out topas.out && \
         cp topas-mpi.out before";
    shell(copies).good();
    let mut count = 0;
    for page in PAGES {
        for example in examples(page) {
            let done = shell(&here(&example));
            let (code, error) = (done.code(), done.err());
            // A node without counters, or one that does not measure, is no fault of the command.
            let is_doctor = example.contains("topas-doctor");
            // Last week has no runs here, which a code tells.
            let is_nothing = page == "topas-report.1" && code == 3;
            let is_good = code == 0 || is_doctor && code < 2 || is_nothing;
            assert!(is_good, "{page}: {example}: {code}: {error}");
            assert!(!error.contains("unexpected argument"), "{page}: {example}: {error}");
            count += 1;
        }
    }
    assert!(count > 25, "{count}");
}
