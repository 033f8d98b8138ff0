//! Tables of command lines: `tests/driver/`, whose README is the description of the format.
//!
//! The words are split by rules of their own, so that a table is no test of the driver's
//! rules by themselves.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::{fs, iter};

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRow {
    /// The file and the number of the line, for messages: `links.txt:12`.
    pub place: String,
    /// What is expected, before the first colon: `+c`, `alone`, `no`, ...
    pub expect: String,
    /// What stands behind the colon; empty if there is none.
    pub detail: String,
    /// Variables for the command, as `NAME=VALUE` before its name.
    pub env: Vec<(OsString, OsString)>,
    /// The command's name.
    pub tool: String,
    /// Its arguments.
    pub words: Vec<OsString>,
    /// From the line `=>` below: the arguments behind the driver, where they are others.
    pub passed: Option<Vec<OsString>>,
}

impl CommandRow {
    /// The row for a message, long words cut.
    pub fn shown(&self) -> String {
        let mut text = format!("{}: {}", self.place, self.tool);
        for word in &self.words {
            text.push(' ');
            text.extend(word.to_string_lossy().chars().take(100));
            if text.len() > 400 {
                text.push_str(" ...");
                break;
            }
        }
        text
    }

    /// The value of a variable of the command.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.env.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_os_str())
    }
}

/// The rows of all files `*.txt` of a directory, by file name. Panics, with the place, if a
/// line makes no sense.
pub fn read(dir: &Path) -> Vec<CommandRow> {
    let entries = fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("directory").path()).collect();
    files.retain(|file| file.extension() == Some(OsStr::new("txt")));
    files.sort();
    files.iter().flat_map(|file| rows_of_file(file)).collect()
}

fn rows_of_file(file: &Path) -> Vec<CommandRow> {
    let text = fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    parse(&text, &file.file_name().unwrap_or_default().to_string_lossy())
}

/// The rows of a text. Panics, with `name` and line, if one makes no sense.
pub fn parse(text: &[u8], name: &str) -> Vec<CommandRow> {
    let mut rows: Vec<CommandRow> = Vec::new();
    for (line, number) in text.split(|&b| b == b'\n').zip(1..) {
        let place = format!("{name}:{number}");
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let mut words = split(line).unwrap_or_else(|fault| panic!("{place}: {fault}"));
        let first = words.remove(0).into_string().unwrap_or_else(|_| panic!("{place}: not UTF-8"));
        if first == "=>" {
            let row = rows.last_mut().unwrap_or_else(|| panic!("{place}: => without a command"));
            assert!(row.passed.replace(words).is_none(), "{place}: => twice");
            continue;
        }
        let (expect, detail) = first.split_once(':').unwrap_or((&first, ""));
        let count = words.iter().take_while(|word| variable(word).is_some()).count();
        let env = words.drain(..count).filter_map(|word| variable(&word)).collect();
        assert!(!words.is_empty(), "{place}: no command");
        let tool = words.remove(0).into_string();
        rows.push(CommandRow {
            expect: expect.to_owned(),
            detail: detail.to_owned(),
            env,
            tool: tool.unwrap_or_else(|_| panic!("{place}: the command's name is not UTF-8")),
            words,
            passed: None,
            place,
        });
    }
    rows
}

/// `NAME=VALUE` with a name in capital letters.
fn variable(word: &OsStr) -> Option<(OsString, OsString)> {
    let bytes = word.as_bytes();
    let end = bytes.iter().position(|&b| b == b'=')?;
    let (name, value) = (bytes.get(..end)?, bytes.get(end + 1..)?);
    let fits = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_';
    (!name.is_empty() && name.iter().all(fits))
        .then(|| (OsStr::from_bytes(name).to_owned(), OsStr::from_bytes(value).to_owned()))
}

/// The words of a line that is not empty.
fn split(line: &[u8]) -> Result<Vec<OsString>, String> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut count = 1;
    let mut rest = line.iter().copied();
    let mut finish = |word: &mut Option<Vec<u8>>, count: &mut usize| {
        let word = word.take().map(OsString::from_vec);
        words.extend(word.into_iter().flat_map(|word| iter::repeat_n(word, *count)));
        *count = 1;
    };
    while let Some(byte) = rest.next() {
        match byte {
            b' ' => finish(&mut word, &mut count),
            b'{' if word.is_none() => {
                let digits: Vec<u8> = rest.by_ref().take_while(|&b| b != b'}').collect();
                let number = String::from_utf8_lossy(&digits).parse();
                count = number.map_err(|_| "a count such as {20} is expected behind {")?;
            }
            b'\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next().ok_or("' without its end")? {
                        b'\'' => break,
                        byte => word.push(byte),
                    }
                }
            }
            b'"' => quoted(&mut rest, word.get_or_insert_default())?,
            byte => word.get_or_insert_default().push(byte),
        }
    }
    finish(&mut word, &mut count);
    Ok(words)
}

/// Takes what stands up to the closing `"`.
fn quoted(rest: &mut impl Iterator<Item = u8>, word: &mut Vec<u8>) -> Result<(), String> {
    loop {
        let byte = match rest.next().ok_or("\" without its end")? {
            b'"' => return Ok(()),
            b'\\' => match rest.next().ok_or("\\ at the end")? {
                b'n' => b'\n',
                b't' => b'\t',
                b'x' => {
                    let digits: Vec<u8> = rest.by_ref().take(2).collect();
                    let digits = String::from_utf8_lossy(&digits);
                    let byte = u8::from_str_radix(&digits, 16);
                    byte.map_err(|_| format!("\\x{digits} is no byte"))?
                }
                byte @ (b'"' | b'\\') => byte,
                byte => return Err(format!("\\{} is not known", char::from(byte))),
            },
            byte => byte,
        };
        word.push(byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_its_parts() {
        let text = b"# comment\n\n+c:x A_1=b mpicc a.c -DX=Y\nno  mpicc\n=> -o 'a b'\n";
        let rows = parse(text, "t");
        assert_eq!(rows.len(), 2);
        let row = &rows[0];
        assert_eq!(
            (row.place.as_str(), row.expect.as_str(), row.detail.as_str()),
            ("t:3", "+c", "x")
        );
        assert_eq!(row.variable("A_1"), Some(OsStr::new("b")));
        assert_eq!((row.tool.as_str(), row.passed.as_ref()), ("mpicc", None));
        assert_eq!(row.words, ["a.c", "-DX=Y"]);
        assert_eq!(rows[1].words, [""; 0]);
        assert_eq!(rows[1].passed.as_deref(), Some(&["-o".into(), OsString::from("a b")][..]));
        assert_eq!(row.shown(), "t:3: mpicc a.c -DX=Y");
    }

    #[test]
    fn words_are_split_by_the_rules_of_the_readme() {
        for (line, expected) in [
            (&br"a  b"[..], &[&b"a"[..], b"b"][..]),
            (br"'a\b' 'c d'", &[br"a\b", b"c d"]),
            (br#""\x00\xff\n\t\"\\" """#, &[b"\0\xff\n\t\"\\", b""]),
            (br"x'y'z", &[b"xyz"]),
            (br"{3}a b{2}", &[b"a", b"a", b"a", b"b{2}"]),
            (br"a\b", &[br"a\b"]),
            (br"{2}'a b'", &[b"a b", b"a b"]),
        ] {
            let words: Vec<_> = split(line).unwrap().into_iter().map(OsString::into_vec).collect();
            assert_eq!(words, expected, "{}", String::from_utf8_lossy(line));
        }
        for wrong in [&br"'a"[..], br#""a"#, br#""\q""#, br#""\xg0""#, br"{x}a"] {
            assert!(split(wrong).is_err(), "{}", String::from_utf8_lossy(wrong));
        }
    }
}
