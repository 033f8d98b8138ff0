//! How a program ends, with the module and without: the program of `programs/endings` in
//! three languages, what both of it show, and what a core dump says.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::{source, with_module};
use crate::mpi_installation::{Mpi, emulate_rank};
use crate::record::{Record, read_log};
use crate::running::{Run, command, run};
use crate::site::{Scratch, Site};

/// Launch key of ranks that run without a launcher.
const KEY: &str = "0123456789abcdef-0123456789abcdef";

/// Whether a signal, where its disposition is the default, is caught on a rank that measures at
/// a site that says `sigterm = yes`: those of the classic ones that end a process by default and
/// can be caught (signal(7)), but for INT.
pub fn is_caught(signal: i32) -> bool {
    /// INT KILL CHLD CONT STOP TSTP TTIN TTOU URG WINCH
    const LEFT_ALONE: [i32; 10] = [2, 9, 17, 18, 19, 20, 21, 22, 23, 28];
    (1..=31).contains(&signal) && !LEFT_ALONE.contains(&signal)
}

/// What every program consists of, beside its main program.
const PARTS: [&str; 4] = ["ways", "signals", "handlers", "children"];

/// A language, and how its main program is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C
    C,
    /// C++
    Cxx,
    /// Fortran, with gfortran's own handlers of errors
    Fortran,
    /// Fortran by `-fno-backtrace`: gfortran leaves signals alone
    FortranWithoutBacktrace,
}

impl Language {
    /// The word for it in tables of cases.
    pub fn name(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cxx => "c++",
            Language::Fortran => "fortran",
            Language::FortranWithoutBacktrace => "-fno-backtrace",
        }
    }

    /// Main program, compiler, driver of MPI, module, options.
    fn tools(
        self,
    ) -> (&'static str, &'static str, &'static str, &'static str, &'static [&'static str]) {
        const FORTRAN: [&str; 3] = ["-Wall", "-Wextra", "-fcheck=bounds"];
        const WITHOUT: [&str; 2] = ["-fcheck=bounds", "-fno-backtrace"];
        match self {
            Language::C => ("main.c", "gcc", "mpicc", "c", &["-Wall", "-Wextra", "-Werror"]),
            Language::Cxx => ("main.cc", "g++", "mpicxx", "cxx", &["-Wall", "-Werror"]),
            Language::Fortran => ("main.F90", "gfortran", "mpifort", "f90", &FORTRAN),
            Language::FortranWithoutBacktrace => {
                ("main.F90", "gfortran", "mpifort", "f90", &WITHOUT)
            }
        }
    }
}

/// The same program without the module and with it, as `./program` in two directories.
#[derive(Debug)]
pub struct Twins {
    /// Directory of both.
    pub scratch: Scratch,
    /// Without the module.
    pub bare: PathBuf,
    /// With it.
    pub linked: PathBuf,
}

/// A run of each of the twins.
#[derive(Debug)]
pub struct TwinPair {
    /// Without the module.
    pub bare: Run,
    /// With it.
    pub linked: Run,
    /// The lines of the second.
    pub lines: Vec<Record>,
}

impl Twins {
    /// Builds them, without MPI.
    pub fn plain(language: Language) -> Twins {
        let twins = Twins::empty();
        let (main, compiler, _, module, options) = language.tools();
        let parts = twins.parts();
        for (dir, module) in
            [(&twins.bare, None), (&twins.linked, Some(with_module(Site::shared(), module)))]
        {
            let mut build = command(compiler);
            build.args(["-O1", "-g"]).args(options).arg(ending(main)).args(&parts).args(module);
            run(build.arg("-o").arg(dir.join("program"))).good();
        }
        twins
    }

    /// Both without the module, for what measures a program that has none. By `options` too,
    /// such as `-static`.
    pub fn without_module(language: Language, options: &[&str]) -> Twins {
        let twins = Twins::empty();
        let (main, compiler, _, _, own) = language.tools();
        let parts = twins.parts();
        for dir in [&twins.bare, &twins.linked] {
            let mut build = command(compiler);
            build.args(["-O1", "-g"]).args(own).args(options).arg(ending(main)).args(&parts);
            run(build.arg("-o").arg(dir.join("program"))).good();
        }
        twins
    }

    /// Builds them by the drivers in front of an MPI.
    pub fn with_mpi(language: Language, mpi: Mpi) -> Twins {
        let twins = Twins::empty();
        let (main, _, tool, _, options) = language.tools();
        let mut parts = twins.parts();
        parts.push(twins.scratch.sub("parts").join("launched.o"));
        let driver = |tool, switch| {
            let mut driver = mpi.driver(Site::shared(), &twins.scratch, tool);
            driver.env("TOPAS", switch).args(["-O1", "-g"]);
            driver
        };
        run(driver("mpicc", "off").arg("-c").arg(ending("launched.c")).arg("-o").arg(&parts[4]))
            .good();
        for (dir, switch) in [(&twins.bare, "off"), (&twins.linked, "on")] {
            let mut build = driver(tool, switch);
            build.arg("-DWITH_MPI").args(options).arg(ending(main)).args(&parts);
            run(build.arg("-o").arg(dir.join("program"))).good();
        }
        twins
    }

    fn empty() -> Twins {
        let scratch = Scratch::new();
        let (bare, linked) = (scratch.sub("bare"), scratch.sub("linked"));
        Twins { scratch, bare, linked }
    }

    fn parts(&self) -> Vec<PathBuf> {
        let dir = self.scratch.sub("parts");
        let part = |name| {
            let object = dir.join(format!("{name}.o"));
            let mut gcc = command("gcc");
            gcc.args(["-Wall", "-Wextra", "-Werror", "-O1", "-g", "-c"]);
            run(gcc.arg(ending(&format!("{name}.c"))).arg("-o").arg(&object)).good();
            object
        };
        PARTS.iter().map(part).collect()
    }

    /// Runs both as rank 1 of 8, which measures, with no limit on core dumps: `./program`
    /// WORDS after a shell's `before`, such as `trap '' HUP;`.
    pub fn alone(&self, before: &str, words: &[&str]) -> TwinPair {
        self.alone_by("", before, words)
    }

    /// The same, the second of them by words in front of its name, such as those of
    /// `topas-run`.
    pub fn alone_by(&self, runner: &str, before: &str, words: &[&str]) -> TwinPair {
        let run_in = |dir: &Path, log: &Path| {
            let runner = if dir == self.linked { runner } else { "" };
            let script =
                format!("ulimit -c unlimited 2>/dev/null; {before} exec {runner} ./program \"$@\"");
            let mut shell = command("sh");
            shell.env("TOPAS_LOG", log_target(log));
            shell.args(["-c", &script, "sh"]).args(words).current_dir(dir).env("TOPAS_PE", "1,2");
            emulate_rank(&mut shell, 1, 8, KEY);
            for core in cores(dir) {
                fs::remove_file(core).expect("remove a core file");
            }
            run(&mut shell)
        };
        self.pair(run_in)
    }

    /// Runs both by what runs the program of a directory with its lines in a file.
    pub fn pair(&self, run_in: impl Fn(&Path, &Path) -> Run) -> TwinPair {
        // Its own for each pair: pairs may run at the same time.
        let logs = tempfile::tempdir_in(self.scratch.path()).expect("directory for logs");
        let log = logs.path().join("topas.log");
        let bare = self.without(&run_in);
        let linked = run_in(&self.linked, &log);
        TwinPair { bare, linked, lines: read_log(&log) }
    }

    /// Runs the one without the module in the same way.
    pub fn without(&self, run_in: impl Fn(&Path, &Path) -> Run) -> Run {
        let log = self.scratch.path().join("none.log");
        let bare = run_in(&self.bare, &log);
        assert!(!log.exists(), "a line without the module");
        bare
    }
}

/// A log as `TOPAS_LOG` names it.
pub fn log_target(log: &Path) -> String {
    format!("file:{}", log.display())
}

impl TwinPair {
    /// Panics unless both ended alike and said the same, whatever their addresses and pids.
    #[track_caller]
    pub fn alike(&self, case: &str) {
        let (bare, linked) = (&self.bare, &self.linked);
        let shown =
            || format!("{case}: without the module:\n{}with:\n{}", bare.err(), linked.err());
        assert_eq!(status(linked), status(bare), "{}", shown());
        assert_eq!(masked(&linked.out()), masked(&bare.out()), "{}", shown());
        assert_eq!(masked(&linked.err()), masked(&bare.err()), "{}", shown());
    }

    /// As [`TwinPair::alike`]; the second may say of its core file nothing, which a process that
    /// waited for another cannot.
    #[track_caller]
    pub fn alike_but_for_core(&self, case: &str) {
        let (bare, linked) = (&self.bare, &self.linked);
        let shown = || format!("{case}: without:\n{}with:\n{}", bare.err(), linked.err());
        let short = |run| status(run).trim_end_matches(" core").to_owned();
        assert_eq!(short(linked), short(bare), "{}", shown());
        assert_eq!(masked(&linked.out()), masked(&bare.out()), "{}", shown());
        assert_eq!(masked(&linked.err()), masked(&bare.err()), "{}", shown());
    }

    /// The value of `end` on each line of a rank.
    pub fn ends_of(&self, rank: u32) -> Vec<&str> {
        let lines = self.lines.iter().filter(|line| line.pe == rank);
        lines.map(|line| line.extra("end")).collect()
    }
}

/// A file of `programs/endings`.
pub fn ending(name: &str) -> PathBuf {
    source(&format!("endings/{name}"))
}

/// How a process ended: `exit 3`, `signal 11`, `signal 11 core`.
pub fn status(run: &Run) -> String {
    match (run.status.code(), run.status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, signal) => {
            let core = if run.status.core_dumped() { " core" } else { "" };
            format!("signal {}{core}", signal.unwrap_or_default())
        }
    }
}

/// The lines of a text with `#` in place of every number that may differ between two runs:
/// hexadecimal ones, and others of three digits or more.
pub fn masked(text: &str) -> Vec<String> {
    text.lines().map(masked_line).collect()
}

fn masked_line(line: &str) -> String {
    let mut masked = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).count();
        let hex = rest.strip_prefix("0x");
        if let Some(hex) = hex {
            let count = hex.chars().take_while(char::is_ascii_hexdigit).count();
            masked.push_str("0x#");
            rest = &hex[count..];
        } else if first.is_ascii_digit() {
            let count = digits(rest);
            masked.push_str(if count < 3 { &rest[..count] } else { "#" });
            rest = &rest[count..];
        } else {
            masked.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    masked
}

/// Core files in a directory.
fn cores(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("directory of a program").flatten();
    let named = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("core"))
    };
    entries.map(|entry| entry.path()).filter(named).collect()
}

/// What a debugger reads from the core file in a directory: the signal, its origin and value,
/// and the top of the stack, addresses masked. None where the kernel puts core files elsewhere.
pub fn core_dump(dir: &Path) -> Option<Vec<String>> {
    let core = cores(dir).pop()?;
    let mut gdb: Command = command("gdb");
    gdb.args(["-batch", "-nx", "-q", "-iex", "set debuginfod enabled off"]);
    for question in [
        // Whatever the program is written in.
        "set language c",
        "print $_siginfo.si_signo",
        "print $_siginfo.si_code",
        "print/x $_siginfo._sifields._rt.si_sigval.sival_int",
        "backtrace 3",
    ] {
        gdb.args(["-ex", question]);
    }
    let said = run(gdb.arg("program").arg(core).current_dir(dir)).good().out();
    let kept = said.lines().skip_while(|line| !line.starts_with("$1"));
    // The answers to the first three questions stand as they are.
    let keep = |line: &str| if line.starts_with('$') { line.to_owned() } else { masked_line(line) };
    Some(kept.map(keep).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_what_differs_between_runs() {
        let frame = "[vm:15988] [ 3] ./ho(+0x135f)[0x563e66e2e35f] code 11";
        assert_eq!(masked(frame), ["[vm:#] [ 3] ./ho(+0x#)[0x#] code 11"]);
        assert_eq!(masked("a\u{17f} 0x 12"), ["a\u{17f} 0x# 12"]);
    }
}
