//! The command line.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

/// What TOPAS would measure on this node, and why not
///
/// Says which processor this is, which counters the kernel opens and whether they count
/// known loops right, where log lines would go, and what launcher and environment would do.
/// Nothing is changed, and nothing is written to the log.
#[derive(Debug, Parser)]
#[command(
    name = "topas-doctor",
    version,
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 all is measured, 1 counts are missing or wrong (times only), 2 usage,\n\
                  3 nothing would be written, 4 the report could not be written.\n\
                  Example, under the launcher of a job:\n  mpiexec -n 4 sh -c 'topas-doctor --quiet; true'"
)]
pub struct Options {
    /// Print a JSON object, schema topas.doctor/1
    #[arg(long, conflicts_with = "quiet")]
    pub json: bool,

    /// Only look whether counters open; do not count known loops (less than a second)
    #[arg(long)]
    pub no_self_test: bool,

    /// Build and run a small program with the drivers on PATH, and tell what they did
    ///
    /// Says which mpicc is found and which stands behind it, whether the module was linked, and
    /// whether a run on two ranks was measured. Writes into a directory of its own below TMPDIR.
    #[arg(long, conflicts_with_all = ["json", "quiet", "no_self_test"])]
    pub build: bool,

    /// Print the first line only
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
