//! What a test program says about itself in its first lines.
//!
//! A line that holds `topas:` after the comment sign is a list of words, `key=value` with
//! quotes around a value that holds blanks. Words before `expect:` say how to build and run,
//! those behind it what is expected:
//!
//! | word | meaning | without it |
//! |---|---|---|
//! | `ranks=N` | ranks | 4 |
//! | `compiler=NAME` | driver, or `gcc` with the module added by hand | that of the directory |
//! | `flags="..."` | compiler options | none |
//! | `args="..."` | arguments of the program | none |
//! | `env="A=1 B=2"` | environment of the launch | none |
//! | `mpi=NAME` | `openmpi` or `mpich` only | both |
//! | `static=NAME` | link statically too, under this MPI | never |
//! | `launch=alone` | each measuring rank by itself, with a rank's environment, no launcher | `mpiexec` |
//! | `expect: lines=N` | log lines | 2 |
//! | `expect: exit=N` | exit code of the launcher, or of each rank alone | 0 |
//! | `expect: stdout="..."` | part of standard output; may stand several times | |
//! | `expect: lang= lib= ...` | that field or extra of every line; `KEY@PE=` of that rank's line | |

/// The directives of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directives {
    /// Ranks.
    pub ranks: u32,
    /// Driver name, where it is not that of the directory.
    pub compiler: Option<String>,
    /// Compiler options.
    pub flags: Vec<String>,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Environment of the launch.
    pub env: Vec<(String, String)>,
    /// The only MPI it is for.
    pub mpi: Option<String>,
    /// The MPI under which it is linked statically, too.
    pub linked_statically: Option<String>,
    /// Whether each measuring rank runs by itself.
    pub alone: bool,
    /// Log lines.
    pub lines: usize,
    /// Exit code.
    pub exit: i32,
    /// Parts of standard output.
    pub stdout: Vec<String>,
    /// Fields of the lines: name, rank if not all, value.
    pub fields: Vec<(String, Option<u32>, String)>,
}

impl Default for Directives {
    fn default() -> Self {
        Directives {
            ranks: 4,
            compiler: None,
            flags: Vec::new(),
            args: Vec::new(),
            env: Vec::new(),
            mpi: None,
            linked_statically: None,
            alone: false,
            lines: 2,
            exit: 0,
            stdout: Vec::new(),
            fields: Vec::new(),
        }
    }
}

impl Directives {
    /// Reads a program's text.
    ///
    /// # Errors
    /// What is wrong with which word, or that there is no directive.
    pub fn read(text: &str) -> Result<Directives, String> {
        let mut directives = Directives::default();
        let mut any = false;
        for line in text.lines() {
            let comment = line.trim_start_matches(['/', '!', '*', 'c', ' ']);
            let Some(rest) = comment.strip_prefix("topas:") else { continue };
            any = true;
            let mut expected = false;
            for word in words(rest)? {
                if word == "expect:" {
                    expected = true;
                    continue;
                }
                let (key, value) =
                    word.split_once('=').ok_or_else(|| format!("no '=' in '{word}'"))?;
                let set = if expected {
                    directives.expect(key, value)
                } else {
                    directives.build(key, value)
                };
                set.ok_or_else(|| format!("'{word}' is no directive"))?;
            }
        }
        if any { Ok(directives) } else { Err("no line with 'topas:'".to_owned()) }
    }

    fn build(&mut self, key: &str, value: &str) -> Option<()> {
        let list = || value.split_whitespace().map(str::to_owned).collect();
        match key {
            "ranks" => self.ranks = value.parse().ok()?,
            "compiler" => self.compiler = Some(value.to_owned()),
            "flags" => self.flags = list(),
            "args" => self.args = list(),
            "env" => {
                for entry in value.split_whitespace() {
                    let (name, value) = entry.split_once('=')?;
                    self.env.push((name.to_owned(), value.to_owned()));
                }
            }
            "mpi" => self.mpi = Some(value.to_owned()),
            "static" => self.linked_statically = Some(value.to_owned()),
            "launch" if value == "alone" => self.alone = true,
            _ => return None,
        }
        Some(())
    }

    fn expect(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "lines" => self.lines = value.parse().ok()?,
            "exit" => self.exit = value.parse().ok()?,
            "stdout" => self.stdout.push(value.to_owned()),
            _ => {
                let (name, rank) = match key.split_once('@') {
                    Some((name, rank)) => (name, Some(rank.parse().ok()?)),
                    None => (key, None),
                };
                self.fields.push((name.to_owned(), rank, value.to_owned()));
            }
        }
        Some(())
    }
}

/// Splits at blanks that are not between quotes; drops the quotes.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for c in text.chars().chain([' ']) {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            _ => word.push(c),
        }
    }
    if quoted { Err(format!("a quote is not closed: {text}")) } else { Ok(words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_table_lists() {
        let text = "// topas: ranks=8 flags=\"-O2 -g\" static=mpich expect: lang=c end@1=exit:3\n\
                    ! topas: env=\"A=1 B=x\" launch=alone expect: exit=3 lines=1 stdout=\"a b\"\n";
        let read = Directives::read(text).unwrap();
        assert_eq!((read.ranks, read.lines, read.exit, read.alone), (8, 1, 3, true));
        assert_eq!(read.flags, ["-O2", "-g"]);
        assert_eq!(read.env[1], ("B".to_owned(), "x".to_owned()));
        assert_eq!(read.linked_statically.as_deref(), Some("mpich"));
        assert_eq!(read.stdout, ["a b"]);
        assert_eq!(read.fields[1], ("end".to_owned(), Some(1), "exit:3".to_owned()));
    }

    #[test]
    fn says_what_is_wrong() {
        for (text, part) in [
            ("int main;", "no line"),
            ("// topas: rank=8", "'rank=8'"),
            ("// topas: ranks=x", "'ranks=x'"),
            ("// topas: fast", "no '='"),
            ("// topas: flags=\"-O2", "not closed"),
            ("// topas: expect: end@x=1", "'end@x=1'"),
        ] {
            assert!(Directives::read(text).unwrap_err().contains(part), "{text}");
        }
    }
}
