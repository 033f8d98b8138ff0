//! `--build`, with scripts in place of driver, compiler and launcher.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use topas_testkit::scratch::place_script;

const DOCTOR: &str = env!("CARGO_BIN_EXE_topas-doctor");

/// Writes a program with the module's mark in it.
const LINKS: &str = "printf 'TOPAS\\0\\0\\001' > probe";
/// Writes a line for each of two ranks.
const MEASURES: &str = "printf 'one\\ntwo\\n' > \"${TOPAS_LOG#file:}\"";

/// Whether this machine's own switch keeps the tests from running; says so past the capture
/// of output.
fn switched_off() -> bool {
    let off = Path::new("/etc/topas/off").exists();
    if off {
        let why = "skipped: build: /etc/topas/off switches TOPAS off on this machine";
        writeln!(std::io::stderr(), "{why}").expect("standard error");
    }
    off
}

struct Site {
    dir: tempfile::TempDir,
}

impl Site {
    /// With a driver of ours that builds as told, and a launcher that does as told.
    fn new(builds: &str, runs: &str) -> Self {
        let site = Site { dir: tempfile::tempdir().unwrap() };
        for dir in ["bin", "libexec", "tmp"] {
            fs::create_dir(site.path(dir)).unwrap();
        }
        let explain = "echo 'decision:      as told'; exit 0";
        let text =
            format!("#!/bin/sh\n[ \"$1\" = --topas-explain ] && {{ {explain}; }}\n{builds}\n");
        place_script(&site.path("libexec/topas-driver"), &text);
        symlink("../libexec/topas-driver", site.path("bin/mpicc")).unwrap();
        place_script(&site.path("bin/mpiexec"), &format!("#!/bin/sh\n{runs}\n"));
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Exit code and report. Nothing may be left behind.
    fn build(&self, conf: &str) -> (i32, String) {
        fs::write(self.path("topas.conf"), conf).unwrap();
        let output: Output = Command::new(DOCTOR)
            .arg("--build")
            .env_clear()
            .env("PATH", self.path("bin"))
            .env("TMPDIR", self.path("tmp"))
            .env("TOPAS_CONF", self.path("topas.conf"))
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(fs::read_dir(self.path("tmp")).unwrap().count(), 0);
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    }
}

#[test]
fn what_is_measured_is_shown_with_its_line() {
    if switched_off() {
        return;
    }
    let (code, text) = Site::new(LINKS, MEASURES).build("");
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("(a TOPAS driver)"), "{text}");
    assert!(text.contains("decision        as told\n"), "{text}");
    assert!(text.contains("done, the module is in it\n"), "{text}");
    assert!(text.contains("measured        2 lines, the first:\n    one\n"), "{text}");
    assert!(text.contains("mpif90\n  on PATH         no\n"), "{text}");
    assert!(!text.contains("hint:"), "{text}");
}

#[test]
fn each_failure_has_its_hint() {
    if switched_off() {
        return;
    }
    for (builds, runs, conf, said, hint) in [
        ("echo broken >&2; exit 1", "", "", "    broken\n", "TOPAS=off mpicc probe.c"),
        ("printf x > probe", "", "", "without the module", "decision above"),
        (LINKS, "echo not today >&2; exit 3", "", "    not today\n", "in a job"),
        (LINKS, "echo 'topas: no' >&2", "", "    topas: no\n", "topas-doctor without --build"),
    ] {
        let (code, text) = Site::new(builds, runs).build(conf);
        assert_eq!(code, 3, "{text}");
        assert!(text.contains(said), "{said}: {text}");
        let hints: Vec<_> = text.lines().filter(|line| line.contains("hint: ")).collect();
        assert!(hints.len() == 1 && hints[0].contains(hint), "{hint}: {text}");
    }
    let (code, text) = Site::new(LINKS, "true").build("user_log = no\n");
    assert!(code == 0 && text.contains("perhaps: user_log = no"), "{text}");
}

#[test]
fn a_driver_that_is_not_ours_is_not_run() {
    if switched_off() {
        return;
    }
    let site = Site::new("exit 9", "");
    fs::remove_file(site.path("bin/mpicc")).unwrap();
    let (code, text) = site.build("");
    assert!(code == 3 && text.contains("hint: load an MPI module"), "{text}");
    place_script(&site.path("bin/mpicc"), "#!/bin/sh\ntouch ../tmp/ran\n");
    let (code, text) = site.build("");
    assert!(code == 3 && text.contains("(no TOPAS driver)"), "{text}");
    assert!(text.contains("hint: put PREFIX/libexec/topas/wrappers in front"), "{text}");
}
