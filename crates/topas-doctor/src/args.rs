//! The command line.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

/// What TOPAS would measure on this node, and why not
///
/// topas-doctor says which processor this node has, which counters the kernel opens and whether
/// the counters count known loops right, where log lines would go, and what the launcher and the
/// environment would do. Nothing is changed, and nothing is written to the log.
#[derive(Debug, Parser)]
#[command(
    name = "topas-doctor",
    version,
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 all quantities are measured; 1 counts are missing or wrong, and only times\n\
                  are right; 2 the command line is wrong; 3 no log line would be written; 4 the report could\n\
                  not be written.\n\
                  An example under the launcher of a job:\n  mpiexec -n 4 sh -c 'topas-doctor --quiet; true'"
)]
pub struct Options {
    /// Print a JSON object of the schema topas.doctor/1
    #[arg(long, conflicts_with = "quiet")]
    pub json: bool,

    /// Only try to open the counters, and do not count known loops, which takes less than a second
    #[arg(long)]
    pub no_self_test: bool,

    /// Build and run a small program with the drivers on PATH, and say what the drivers did
    ///
    /// The report says which mpicc is found and which mpicc stands behind that one, whether the
    /// module was linked, and whether a run on two ranks was measured. The program is built in a
    /// directory of its own below TMPDIR.
    #[arg(long, conflicts_with_all = ["json", "quiet", "no_self_test"])]
    pub build: bool,

    /// Print only the first line of the report
    #[arg(short, long)]
    pub quiet: bool,
}

/// A command line that asks for no report.
#[derive(Debug, PartialEq, Eq)]
pub enum Early {
    /// Help or version, for standard output
    Print(String),
    /// It is wrong; the message for standard error
    Wrong(String),
}

impl Options {
    /// Reads a command line, the name of the program first.
    ///
    /// # Errors
    /// [`Early`] where there is nothing to examine.
    pub fn read(line: impl IntoIterator<Item = OsString>) -> Result<Options, Early> {
        Options::try_parse_from(line).map_err(|error| {
            let text = error.render().to_string();
            match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Early::Print(text),
                _ => {
                    let text = text.trim_end().replace("For more information, try", "  hint: try");
                    Early::Wrong(format!("topas-doctor: {text}\n"))
                }
            }
        })
    }

    /// The definition, for whoever makes completions or manual pages from it.
    pub fn definition() -> clap::Command {
        Options::command()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &[&str]) -> Result<Options, Early> {
        let name = std::iter::once("topas-doctor");
        Options::read(name.chain(line.iter().copied()).map(OsString::from))
    }

    #[test]
    fn options_and_faults() {
        assert!(read(&["--json", "--no-self-test"]).is_ok_and(|o| o.json && o.no_self_test));
        assert!(read(&["-q"]).is_ok_and(|o| o.quiet && !o.json));
        assert!(
            matches!(read(&["--help"]), Err(Early::Print(text)) if text.contains("Exit codes"))
        );
        for wrong in [&["--json", "-q"][..], &["--colour"], &["file"]] {
            match read(wrong) {
                Err(Early::Wrong(text)) => {
                    assert!(text.starts_with("topas-doctor: error: "), "{text}");
                    assert!(text.contains("hint: try"), "{text}");
                }
                other => panic!("{wrong:?}: {other:?}"),
            }
        }
        Options::definition().debug_assert();
    }
}
