//! Where documented commands run: with small programs in the place of a user's, two ranks in the
//! place of many, and stand-ins for commands that this machine need not have.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use topas_tests::mpi_installation::{Mpi, permit};
use topas_tests::running::{Run, run};
use topas_tests::site::{Scratch, Site, source_root};

/// Commands that this machine need not have, as scripts of the shell.
const STAND_INS: [(&str, &str); 4] = [
    (
        "srun",
        "while case $1 in -*N|--ntasks-per-node) shift;; -*) ;; *) false;; esac\ndo shift; done\nexec \"$@\"",
    ),
    ("numactl", "shift\nexec \"$@\""),
    ("jq", "exec cat"),
    ("sacct", "exec cat sacct.fixture"),
];

/// A directory with what the documents' commands name, and an installation.
pub struct Room {
    /// The directory
    scratch: Scratch,
    /// The installation, with logs of its own
    site: Site,
    /// `PATH` of the commands
    path: String,
}

impl Room {
    /// A new one; nothing where Open MPI is missing, which is told as a skip of `test`.
    pub fn new(test: &str) -> Option<Room> {
        if !Mpi::installed(test).contains(&Mpi::OpenMpi) {
            return None;
        }
        let (scratch, site) = (Scratch::new(), Site::lent());
        let dir = scratch.path();
        for (name, from) in [
            ("cg.c", "tests/programs/c/cg.c"),
            ("heat.c", "tests/programs/c/cg.c"),
            ("heat.f90", "tests/programs/f90/heat.f90"),
            ("sacct.fixture", "tests/fixtures/sacct/slurm-22.05.txt"),
            ("topas.log", "tests/fixtures/logs/v1/module.log"),
        ] {
            fs::copy(source_root().join(from), dir.join(name)).expect(name);
        }
        fs::write(dir.join("solve.py"), "print(sum(range(1000)))\n").unwrap();
        fs::write(dir.join("Makefile"), "all:\n\tmpicc cg.c -o made -lm\n").unwrap();
        script(dir, "configure", "echo \"$@\"");
        for place in ["stand-ins", "tmp", "pages", "spool"] {
            fs::create_dir(dir.join(place)).unwrap();
        }
        for (name, text) in STAND_INS {
            script(dir, &format!("stand-ins/{name}"), text);
        }
        for place in ["logs", "shared/one", "shared/two", "var/log/topas"] {
            fs::create_dir_all(dir.join(place)).unwrap();
            fs::copy(dir.join("topas.log"), dir.join(place).join("2026-10.log")).unwrap();
        }
        let path = site.path(&Mpi::OpenMpi.tools());
        let stat = site.tool("topas-stat");
        let bin = stat.parent().expect("a directory of tools").display();
        let path = format!("{}:{path}:{bin}", dir.join("stand-ins").display());
        Some(Room { scratch, site, path })
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        self.scratch.path()
    }

    /// Runs `script` by bash; what it leaves running ends with it.
    pub fn shell(&self, script: &str) -> Run {
        let mut shell = self.scratch.command("bash");
        permit(&mut shell, &self.scratch);
        let script = format!("trap 'jobs -p | xargs -r kill' EXIT\n{script}");
        shell
            .args(["-c", &script])
            .current_dir(self.dir())
            .env("PATH", &self.path)
            // What other launches left on this node is no part of the examples.
            .env("TOPAS_MPI_SPOOL", self.dir().join("spool"))
            .env("USER", "root");
        run(&mut shell)
    }

    /// A documented command as it is run here.
    pub fn here(&self, command: &str) -> String {
        let mpi = Mpi::OpenMpi.tools().parent().expect("bin in a prefix").display().to_string();
        let wrappers = self.site.wrappers();
        let prefix = wrappers.ancestors().nth(3).expect("prefix/libexec/topas/wrappers");
        let prefix = prefix.display().to_string();
        let mut command = command.to_owned();
        for ranks in ["-n 64", "-n 16", "-n 8", "-n 4"] {
            command = command.replace(ranks, "-n 2");
        }
        command
            // First of all: the other places may be below the real one.
            .replace("/tmp/", "tmp/")
            .replace("/opt/intel/oneapi/mpi/2021.14", &mpi)
            .replace("/opt/topas", &prefix)
            .replace("/var/log/topas", "logs")
            .replace("/var/lib/topas/pages", "pages")
            .replace("/shared/topas", "shared")
            .replace("input.dat", "100")
    }
}

/// Writes a script of the shell.
fn script(dir: &Path, name: &str, text: &str) {
    fs::write(dir.join(name), format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(dir.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}
