//! The words of `topas-run`: its own options, then the command.

use std::ffi::OsString;

use topas_format::mpi_conf::{LOG_SIZES, MOST_FRAMES, log_size, path_depth};

use super::profile::Wanted;

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
    /// MPI calls are profiled
    pub profile: Option<Wanted>,
    /// The command; never empty
    pub command: Vec<OsString>,
}

/// Reads the words behind the name.
///
/// # Errors
/// What is wrong, for people.
pub fn parse(words: &[OsString]) -> Result<Request, String> {
    let mut wish = Wish::default();
    let (mut wanted, mut mpi, mut first) = (Wanted::default(), false, None);
    let mut rest = words;
    while let [word, behind @ ..] = rest {
        if !word.as_encoded_bytes().starts_with(b"-") {
            break;
        }
        rest = behind;
        let mut of_profile = |slot: &mut bool| {
            *slot = true;
            first.get_or_insert_with(|| word.to_string_lossy().into_owned());
        };
        match word.to_str().unwrap_or_default() {
            "--mpi" => mpi = true,
            more if more.starts_with("--mpi=") => {
                mpi = true;
                for word in more["--mpi=".len()..].split(',') {
                    add(&mut wanted, word)?;
                }
            }
            "--peers" => of_profile(&mut wanted.peers),
            "--waits" => of_profile(&mut wanted.waits),
            "--comms" => of_profile(&mut wanted.comms),
            "--counters" => of_profile(&mut wanted.counters),
            "--out" => {
                let [file, behind @ ..] = rest else {
                    return Err("`--out` wants a file".to_owned());
                };
                rest = behind;
                of_profile(&mut false);
                wanted.out = Some(file.clone());
            }
            "--all-pe" => wish.all = true,
            "--outside" => wish.outside = true,
            "--explain" => wish.explain = true,
            "--help" => return Ok(Request::Help),
            "--version" => return Ok(Request::Version),
            "--" => break,
            _ => return Err(format!("unknown option `{}`", word.to_string_lossy())),
        }
    }
    if let Some(option) = first.filter(|_| !mpi) {
        return Err(format!("`{option}` is about the profile that `--mpi` asks for"));
    }
    wish.profile = mpi.then_some(wanted);
    if rest.is_empty() {
        return Err("no program given".to_owned());
    }
    wish.command = rest.to_vec();
    Ok(Request::Run(wish))
}

/// Adds what a word of `--mpi=WORD,WORD` asks for.
fn add(wanted: &mut Wanted, word: &str) -> Result<(), String> {
    let (name, value) = word.split_once(':').map_or((word, None), |(name, v)| (name, Some(v)));
    match (name, value) {
        ("paths", depth) => {
            let depth = path_depth(depth.unwrap_or("yes").as_bytes()).filter(|depth| *depth > 0);
            let Some(depth) = depth else {
                return Err(format!(
                    "`--mpi={word}` wants a number of frames from 1 to {MOST_FRAMES}"
                ));
            };
            wanted.paths = Some(depth);
            Ok(())
        }
        ("log", size) => {
            let size = log_size(size.unwrap_or("yes").as_bytes()).filter(|size| *size > 0);
            let Some(size) = size else {
                let [least, most] = LOG_SIZES.map(|size| size >> 20);
                return Err(format!("`--mpi={word}` wants a size from {least}M to {most}M"));
            };
            wanted.log = Some(size);
            Ok(())
        }
        ("waits", None) => {
            wanted.waits = true;
            Ok(())
        }
        _ => Err(format!(
            "`--mpi={word}`: `waits`, `paths`, `paths:FRAMES`, `log` and `log:SIZE` are known"
        )),
    }
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
        Ok(Request::Run(Wish { all, outside, explain, profile: None, command }))
    }

    #[test]
    fn options_end_where_the_command_begins() {
        assert_eq!(of("a.out -x --all-pe"), run(false, false, false, "a.out -x --all-pe"));
        assert_eq!(of("--all-pe a.out"), run(true, false, false, "a.out"));
        assert_eq!(of("--explain --outside -- -odd -- b"), run(false, true, true, "-odd -- b"));
        assert_eq!(of("a.out -- b"), run(false, false, false, "a.out -- b"));
        assert_eq!(of("--help a"), Ok(Request::Help));
        assert_eq!(of("--version"), Ok(Request::Version));
        for (text, wanted) in [
            ("--mpi a.out", Wanted::default()),
            ("--mpi=waits a.out", Wanted { waits: true, ..Wanted::default() }),
            ("--mpi --waits a.out", Wanted { waits: true, ..Wanted::default() }),
            ("--peers --mpi a.out", Wanted { peers: true, ..Wanted::default() }),
            (
                "--mpi --comms --counters a.out",
                Wanted { comms: true, counters: true, ..Wanted::default() },
            ),
            ("--mpi=paths a.out", Wanted { paths: Some(8), ..Wanted::default() }),
            (
                "--mpi=paths:12 --peers a.out",
                Wanted { paths: Some(12), peers: true, ..Wanted::default() },
            ),
            (
                "--mpi=waits,paths:4 a.out",
                Wanted { waits: true, paths: Some(4), ..Wanted::default() },
            ),
            ("--mpi=log a.out", Wanted { log: Some(64 << 20), ..Wanted::default() }),
            (
                "--mpi=log:8M,waits a.out",
                Wanted { log: Some(8 << 20), waits: true, ..Wanted::default() },
            ),
            ("--mpi --out f a.out", Wanted { out: Some("f".into()), ..Wanted::default() }),
        ] {
            let command = vec!["a.out".into()];
            let wish = Wish { profile: Some(wanted), command, ..Wish::default() };
            assert_eq!(of(text), Ok(Request::Run(wish)), "{text}");
        }
        for wrong in [
            "--peers a.out",
            "--waits a.out",
            "--mpi=late a.out",
            "--out f a.out",
            "--mpi --out",
            "--mpi",
            "--mpi=paths:0 a",
            "--mpi=path a",
            "--mpi=log:0 a",
            "--mpi=log:1G a",
            "--mpi=log:big a",
        ] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "--", "--all-pe", "-n 4 a.out", "-"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
