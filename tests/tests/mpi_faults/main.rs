//! What other profilers of MPI get wrong, and programs that do what is allowed and seldom done:
//! each runs with the library as it does without, and is counted exactly.

mod absent;
mod languages;
mod mpip;
mod odd;
mod room;
mod shares;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};

use topas_tests::build::source;
use topas_tests::expected::Expected;
use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Counted, Places, alike, bare, build, profiled};
use topas_tests::running::Run;
use topas_tests::site::Scratch;

/// A program of `programs/faults`, built by the MPI's own driver.
struct FaultProgram {
    scratch: Scratch,
    mpi: Mpi,
    path: PathBuf,
    expected: Expected,
}

impl FaultProgram {
    #[track_caller]
    fn new(mpi: Mpi, tool: &str, file: &str, options: &[&str]) -> FaultProgram {
        FaultProgram::as_expected_of(mpi, tool, file, options, file)
    }

    /// One of which another program tells what to expect.
    #[track_caller]
    fn as_expected_of(
        mpi: Mpi,
        tool: &str,
        file: &str,
        options: &[&str],
        expected_of: &str,
    ) -> FaultProgram {
        let scratch = Scratch::new();
        let path = scratch.path().join("program");
        let name = format!("faults/{file}");
        build(mpi, tool, &[&name], options, &path);
        let expected = expected(&format!("faults/{expected_of}"));
        FaultProgram { scratch, mpi, path, expected }
    }

    /// Runs it without the library and with it. Panics unless both say the same and end with
    /// `code`, and the profile is as its text expects.
    #[track_caller]
    fn exact(&self, args: &[&str], code: i32) -> Vec<Counted> {
        let path = self.path.to_str().expect("path");
        self.exact_by(&[&[path], args].concat(), code)
    }

    /// The same by the words of a command.
    #[track_caller]
    fn exact_by(&self, words: &[&str], code: i32) -> Vec<Counted> {
        let (_, counted) = self.run(words, code);
        let name = self.mpi.name();
        assert_eq!(self.expected.faults(&counted, ""), "", "{words:?} under {name}");
        counted
    }

    #[track_caller]
    fn run(&self, words: &[&str], code: i32) -> (Run, Vec<Counted>) {
        let ranks = self.expected.ranks;
        let places = Places::new(&self.scratch);
        let without = bare(self.mpi, &self.scratch, ranks, words).ends(code);
        let with = profiled(self.mpi, &self.scratch, ranks, words, &places).ends(code);
        alike(&without, &with);
        let counted = places.counted();
        places.clear();
        (with, counted)
    }
}

/// Expectations of a program.
fn expected(name: &str) -> Expected {
    let text = fs::read_to_string(source(name)).expect("program");
    Expected::read(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A path as text.
fn text(path: &Path) -> &str {
    path.to_str().expect("path")
}
