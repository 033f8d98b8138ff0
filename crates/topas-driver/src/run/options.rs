//! The words of `topas-run`: its own options, then the command.

use std::ffi::OsString;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Run a command
    Run(Wish),
    /// Print the usage
    Help,
    /// Print the version
    Version,
}

/// A command, and how it is to be measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// Every rank is measured
    pub all: bool,
    /// Nothing is loaded into the program
    pub outside: bool,
    /// Say what would be done in place of doing it
    pub explain: bool,
    /// The command; never empty
    pub command: Vec<OsString>,
}

/// Reads the words behind the name.
///
/// # Errors
/// What is wrong, for people.
pub fn parse(words: &[OsString]) -> Result<Request, String> {
    let mut wish = Wish::default();
    let mut rest = words;
    while let [word, behind @ ..] = rest {
        if !word.as_encoded_bytes().starts_with(b"-") {
            break;
        }
        rest = behind;
        match word.to_str().unwrap_or_default() {
            "--all-pe" => wish.all = true,
            "--outside" => wish.outside = true,
            "--explain" => wish.explain = true,
            "--help" => return Ok(Request::Help),
            "--version" => return Ok(Request::Version),
            "--" => break,
            _ => return Err(format!("unknown option `{}`", word.to_string_lossy())),
        }
    }
    if rest.is_empty() {
        return Err("no program given".to_owned());
    }
    wish.command = rest.to_vec();
    Ok(Request::Run(wish))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Request, String> {
        let words: Vec<OsString> = text.split_whitespace().map(OsString::from).collect();
        parse(&words)
    }

    fn run(all: bool, outside: bool, explain: bool, command: &str) -> Result<Request, String> {
        let command = command.split_whitespace().map(OsString::from).collect();
        Ok(Request::Run(Wish { all, outside, explain, command }))
    }

    #[test]
    fn options_end_where_the_command_begins() {
        assert_eq!(of("a.out -x --all-pe"), run(false, false, false, "a.out -x --all-pe"));
        assert_eq!(of("--all-pe a.out"), run(true, false, false, "a.out"));
        assert_eq!(of("--explain --outside -- -odd -- b"), run(false, true, true, "-odd -- b"));
        assert_eq!(of("a.out -- b"), run(false, false, false, "a.out -- b"));
        assert_eq!(of("--help a"), Ok(Request::Help));
        assert_eq!(of("--version"), Ok(Request::Version));
        for wrong in ["", "--", "--all-pe", "-n 4 a.out", "-"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
