//! How a real project is built and tested: `tests/projects/NAME.sh`.
//!
//! Its first lines say what it is, `# KEY: VALUE`; the rest is two shell functions. `build`
//! builds in the unpacked sources with nothing said of TOPAS; `check` runs the project's own
//! tests and prints one line per result on standard output, without times and paths.
//!
//! | key | meaning |
//! |---|---|
//! | `name` | the project |
//! | `source` | `apt:PACKAGE` or `pip:NAME==VERSION` |
//! | `system` | its build system and languages, for the table |
//! | `needs` | Debian packages |
//! | `results` | how many lines `check` prints at least |
//! | `measured` | how many executables leave lines |
//! | `built` | `once`: the sides share one build with TOPAS, as far as `check` builds itself |
//! | `mpi` | the MPIs it is built and checked with where the MPI profile is loaded into it; without it Open MPI |
//! | `profiles` | how many launches leave a profile then, at least |
//!
//! `$MPI` is the name of the MPI.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::running::{Run, command, run, run_within};
use crate::site::{Scratch, source_root};
use crate::sources::Archive;

/// How long one step may take.
const LIMIT: Duration = Duration::from_secs(5400);

/// A recipe.
#[derive(Debug)]
pub struct Recipe {
    /// Its file.
    pub path: PathBuf,
    text: String,
}

impl Recipe {
    /// Reads `tests/projects/NAME.sh`. Panics if a key is missing.
    #[track_caller]
    pub fn read(name: &str) -> Recipe {
        let path = source_root().join("tests/projects").join(format!("{name}.sh"));
        let text =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Recipe { path, text }
    }

    /// The value of a key; empty if it has none.
    pub fn value(&self, key: &str) -> &str {
        let lines = self.text.lines().map_while(|line| line.strip_prefix("# "));
        let mut values = lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
        values.next().unwrap_or_default()
    }

    /// The number a key has. Panics if there is none.
    #[track_caller]
    pub fn number(&self, key: &str) -> usize {
        let value = self.value(key);
        value.parse().unwrap_or_else(|_| panic!("{}: {key} '{value}'", self.path.display()))
    }
}

/// What is linked below a directory: dynamically linked executables that use MPI themselves or
/// hold a module.
#[derive(Debug, Default)]
pub struct Linked {
    /// With a module.
    pub with: Vec<PathBuf>,
    /// With MPI and without.
    pub without: Vec<PathBuf>,
}

impl Linked {
    /// Looks at every file below `dir`.
    pub fn below(dir: &Path) -> Linked {
        let mut linked = Linked::default();
        linked.look(dir);
        linked
    }

    fn look(&mut self, dir: &Path) {
        for path in fs::read_dir(dir).expect("directory").flatten().map(|entry| entry.path()) {
            let Ok(data) = path.symlink_metadata() else { continue };
            if data.is_dir() {
                self.look(&path);
            } else if data.is_file() && data.len() > 64 {
                let bytes = fs::read(&path).unwrap_or_default();
                let has = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
                // Executables name their loader; objects and libraries do not.
                if !bytes.starts_with(b"\x7fELF") || !has(b"/ld-linux") {
                    continue;
                }
                if has(crate::project::MARK) {
                    self.with.push(path);
                } else if has(b"\0libmpi") {
                    self.without.push(path);
                }
            }
        }
    }
}

/// A copy of the sources, for one side of a comparison.
#[derive(Debug)]
pub struct Tree<'a> {
    /// How it is built.
    pub recipe: &'a Recipe,
    /// Where.
    pub scratch: Scratch,
    /// Which side, for names of files.
    pub side: &'a str,
}

impl Tree<'_> {
    /// Unpacks the sources.
    #[track_caller]
    pub fn unpack(&self, archive: &Archive) {
        let mut tar = command("tar");
        tar.args(["--strip-components=1", "-xf"]).arg(&archive.path);
        run(tar.arg("-C").arg(self.scratch.sub("source"))).good();
    }

    /// Runs `build` or `check` in the sources by a shell, which must end well.
    #[track_caller]
    pub fn step(&self, mut shell: Command, step: &str) -> Run {
        // Ranks that wait leave the processor to others, of which there are more than enough.
        shell.env("OMPI_MCA_mpi_yield_when_idle", "1").env("TMPDIR", self.scratch.sub("tmp"));
        let script = format!(". '{}' && {step}", self.recipe.path.display());
        shell.current_dir(self.scratch.sub("source")).args(["-e", "-c", &script]);
        let ended = run_within(&mut shell, LIMIT);
        self.keep(step, &ended);
        let said = ended.err();
        let last: Vec<_> = said.lines().rev().take(20).collect();
        let last = last.into_iter().rev().collect::<Vec<_>>().join("\n");
        assert_eq!(ended.code(), 0, "{} of {}:\n{last}", step, self.recipe.value("name"));
        ended
    }

    /// Keeps the output for whoever wants to see why, beside the sources.
    fn keep(&self, step: &str, ended: &Run) {
        let side = self.side;
        let dir = env::temp_dir().join("topas-projects");
        let name = self.recipe.path.file_stem().unwrap_or_default().to_string_lossy();
        let _ = fs::create_dir_all(&dir);
        for (kind, text) in [("out", &ended.stdout), ("err", &ended.stderr)] {
            let _ = fs::write(dir.join(format!("{name}.{step}.{side}.{kind}")), text);
        }
        let log = fs::read(self.scratch.log()).unwrap_or_default();
        let _ = fs::write(dir.join(format!("{name}.{step}.{side}.log")), log);
    }
}

/// Those of some Debian packages that are not installed.
pub fn missing(packages: &str) -> Vec<&str> {
    let installed = |package: &&str| {
        let query =
            Command::new("dpkg-query").args(["-W", "-f", "${db:Status-Abbrev}", package]).output();
        query.is_ok_and(|output| output.stdout.starts_with(b"ii"))
    };
    packages.split_whitespace().filter(|package| !installed(package)).collect()
}

/// Panics with the lines that only one side has.
#[track_caller]
pub fn same_lines(with: &str, without: &str) {
    let [a, b] = [with, without].map(|text| text.lines().collect::<BTreeSet<_>>());
    assert!(with == without || a != b, "the same lines in another order or number");
    let only = |x: &BTreeSet<_>, y: &BTreeSet<&str>| {
        x.difference(y).map(|line: &&str| (*line).to_owned()).collect::<Vec<_>>().join("\n")
    };
    assert!(a == b, "only with TOPAS:\n{}\nonly without:\n{}", only(&a, &b), only(&b, &a));
}
