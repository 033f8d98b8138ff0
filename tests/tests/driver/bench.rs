//! Running a row of a table by the real driver and by ours.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use topas_format::field::Lang;
use topas_testkit::command_table::CommandRow;
use topas_tests::mpi_installation::{Mpi, emulate_rank, launched};
use topas_tests::running::{command, run, system_path};
use topas_tests::site::{Scratch, Site, source_root};

use crate::compare::{self, ComparedTexts};

const KEY: &str = "0123456789abcdef-0123456789abcdef";

/// The content of files by their path in the directory.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Who runs a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriverChoice {
    /// The MPI's own driver.
    Real,
    /// Ours in front of it.
    Ours,
}

/// What came of a command.
pub struct BuildOutcome {
    /// Exit code, 128 + the number of a signal.
    pub code: i32,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// Files that were made or changed.
    pub made: Files,
    /// Those of them that are executables.
    pub programs: Vec<PathBuf>,
}

/// A directory of its own with the inputs of all rows.
pub struct DriverBench {
    mpi: Mpi,
    site: &'static Site,
    scratch: Scratch,
    inputs: Files,
}

impl DriverBench {
    /// Makes the inputs. Panics if one cannot be made.
    pub fn new(mpi: Mpi, first: &[CommandRow]) -> DriverBench {
        let scratch = Scratch::new();
        let mut bench = DriverBench { mpi, site: Site::shared(), scratch, inputs: Files::new() };
        let sources = source_root().join("tests/driver/sources");
        bench.inputs = files_below(&sources);
        let work = bench.fresh();
        for row in first {
            let mut command = bench.command(row, DriverChoice::Real);
            let made = run(&mut command);
            assert_eq!(made.code(), 0, "{}\n{}", row.shown(), made.err());
        }
        bench.inputs = files_below(&work);
        bench
    }

    /// The directory commands run in, with the inputs and nothing else.
    fn fresh(&self) -> PathBuf {
        let work = self.scratch.path().join("work");
        if work.exists() {
            fs::remove_dir_all(&work).expect("remove directory");
        }
        for dir in ["work/dir", "work/mod", "tmp"] {
            self.scratch.sub(dir);
        }
        for (path, content) in &self.inputs {
            fs::write(work.join(path), content).expect("write input");
        }
        work
    }

    fn command(&self, row: &CommandRow, by: DriverChoice) -> std::process::Command {
        let path = match by {
            DriverChoice::Real => format!("{}:{}", self.mpi.tools().display(), system_path()),
            DriverChoice::Ours => self.site.path(&self.mpi.tools()),
        };
        // Looked up here: the standard library would look on our own PATH.
        let found = path.split(':').map(|dir| Path::new(dir).join(&row.tool)).find(|p| p.exists());
        let found = found.unwrap_or_else(|| panic!("{}: no such program", row.shown()));
        let mut command = command(found);
        command.env("PATH", path).args(&row.words).current_dir(self.scratch.path().join("work"));
        command.env("TMPDIR", self.scratch.path().join("tmp"));
        command.env("CCACHE_DIR", self.scratch.path().join("ccache"));
        command.envs(row.env.iter().map(|(name, value)| (name, value)));
        command
    }

    fn outcome(&self, row: &CommandRow, by: DriverChoice) -> BuildOutcome {
        let work = self.fresh();
        let ended = run(&mut self.command(row, by));
        let mut made = files_below(&work);
        made.retain(|path, content| self.inputs.get(path) != Some(content));
        let programs = made.iter().filter(|(path, content)| {
            let mode = fs::metadata(work.join(path)).expect("file").permissions().mode();
            mode & 0o100 != 0 && content.starts_with(b"\x7fELF")
        });
        BuildOutcome {
            code: ended.code(),
            programs: programs.map(|(path, _)| path.clone()).collect(),
            stdout: ended.stdout,
            stderr: ended.stderr,
            made,
        }
    }

    /// Runs a row; what is wrong, if something is.
    pub fn fault(&self, row: &CommandRow) -> Option<String> {
        let real = self.outcome(row, DriverChoice::Real);
        let ours = self.outcome(row, DriverChoice::Ours);
        let fault = self.difference(row, &real, &ours).or_else(|| match row.expect.as_str() {
            "fails" => (ours.code == 0).then(|| "succeeds".to_owned()),
            _ if ours.code != 0 => {
                let said = String::from_utf8_lossy(&ours.stderr);
                Some(format!("exit code {}, as that of the real driver\n{said}", ours.code))
            }
            "same" | "answers" => None,
            "unmeasured" => self.run_by_itself(&ours, None),
            "measured" => {
                self.run_by_itself(&ours, Some(&row.detail)).or_else(|| self.again(row, &ours))
            }
            "launched" => self.launch(&ours, &row.detail).or_else(|| self.again(row, &ours)),
            other => Some(format!("unknown expectation {other}")),
        });
        fault.map(|fault| format!("{}\n    {fault}", row.shown()))
    }

    /// What differs between the real driver's work and ours.
    fn difference(
        &self,
        row: &CommandRow,
        real: &BuildOutcome,
        ours: &BuildOutcome,
    ) -> Option<String> {
        let linked = ["measured", "launched"].contains(&row.expect.as_str());
        let texts = ComparedTexts {
            temporary: self.scratch.path().join("tmp").into_os_string(),
            modules: ["c", "cxx", "f77", "f90"]
                .iter()
                .flat_map(|l| [self.site.module(l), self.site.module(&format!("{l}.init"))])
                .collect(),
        };
        if real.code != ours.code {
            let said = String::from_utf8_lossy(&ours.stderr).into_owned();
            return Some(format!("exit code {}, the real one {}\n{said}", ours.code, real.code));
        }
        if row.expect == "answers" {
            let module = self.site.module(&format!("{}.init", row.detail));
            return compare::answer_fault(&real.stdout, &ours.stdout, &module);
        }
        let streams =
            [("stdout", &real.stdout, &ours.stdout), ("stderr", &real.stderr, &ours.stderr)];
        for (name, real, ours) in streams {
            if let Some(what) = texts.difference(real, ours) {
                return Some(format!("{name} {what}"));
            }
        }
        if real.made.keys().ne(ours.made.keys()) {
            return Some(format!(
                "files {:?}, the real driver makes {:?}",
                ours.made.keys(),
                real.made.keys()
            ));
        }
        for ((path, real_content), content) in real.made.iter().zip(ours.made.values()) {
            let is = |extension: &str| path.extension() == Some(OsStr::new(extension));
            let what = if linked && ours.programs.contains(path) {
                (real_content == content).then(|| "holds no module".to_owned())
            } else if is("map") {
                texts.difference(real_content, content)
            } else if is("gch") {
                // GCC writes addresses of its own into precompiled headers.
                None
            } else {
                (real_content != content).then(|| compare::first_difference(real_content, content))
            };
            if let Some(what) = what {
                return Some(format!("{}: {what}", path.display()));
            }
        }
        None
    }

    /// Whether a second link makes the same, to the byte.
    fn again(&self, row: &CommandRow, ours: &BuildOutcome) -> Option<String> {
        let again = self.outcome(row, DriverChoice::Ours);
        (again.made != ours.made).then(|| "a second link makes something else".to_owned())
    }

    fn program(&self, outcome: &BuildOutcome) -> Result<PathBuf, String> {
        match outcome.programs.as_slice() {
            [one] => Ok(self.scratch.path().join("work").join(one)),
            several => Err(format!("executables: {several:?}")),
        }
    }

    /// Runs the program as one rank without a launcher; it leaves a line if a language is
    /// given, and none if not.
    fn run_by_itself(&self, outcome: &BuildOutcome, language: Option<&str>) -> Option<String> {
        let program = match self.program(outcome) {
            Ok(program) => program,
            Err(fault) => return Some(fault),
        };
        let mut rank = self.scratch.command(program);
        rank.env("TOPAS_PE", "1,2").current_dir(self.scratch.path().join("work"));
        emulate_rank(&mut rank, 1, 4, KEY);
        let ended = run(&mut rank);
        if (ended.code(), ended.out().as_str()) != (0, "answer 42\n") {
            return Some(format!("runs badly: {}{}", ended.out(), ended.err()));
        }
        self.lines(language, 1)
    }

    /// Runs the program on four ranks.
    fn launch(&self, outcome: &BuildOutcome, language: &str) -> Option<String> {
        let program = match self.program(outcome) {
            Ok(program) => program,
            Err(fault) => return Some(fault),
        };
        let ended =
            launched(&self.scratch, self.mpi.launch(self.site, &self.scratch, 4).arg(program));
        if ended.code() != 0 {
            return Some(format!("runs badly: {}{}", ended.out(), ended.err()));
        }
        self.lines(Some(language), 2)
    }

    /// Whether the log holds as many lines as it should, of the language; it is removed.
    fn lines(&self, language: Option<&str>, count: usize) -> Option<String> {
        let lines = self.scratch.take_log();
        let expected = language.map_or(0, |_| count);
        let language = language.and_then(|word| match word {
            "c" => Some(Lang::C),
            "cxx" => Some(Lang::Cxx),
            "f77" => Some(Lang::F77),
            "f90" => Some(Lang::F90),
            _ => None,
        });
        let fits = lines.len() == expected && lines.iter().all(|line| Some(line.lang) == language);
        (!fits).then(|| format!("{} lines, {expected} expected: {lines:?}", lines.len()))
    }
}

/// All regular files below a directory.
fn files_below(dir: &Path) -> Files {
    let mut files = Files::new();
    let mut open = vec![dir.to_owned()];
    while let Some(current) = open.pop() {
        for entry in fs::read_dir(&current).expect("directory") {
            let path = entry.expect("directory").path();
            if path.is_dir() {
                open.push(path);
            } else if path.is_file() {
                let name = path.strip_prefix(dir).expect("a file below").to_owned();
                files.insert(name, fs::read(&path).expect("read a file"));
            }
        }
    }
    files
}
