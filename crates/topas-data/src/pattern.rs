//! Paths of log files as `log = file:...` in topas.conf writes them: found again later.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use topas_format::target::{self, TargetKind};

/// First year that is looked for; no log is older.
const FIRST_YEAR: u16 = 1990;

/// Ends of the names of compressed files.
const COMPRESSED: [&str; 3] = [".zst", ".gz", ".xz"];

/// The path of a `file:` target, with its `%` forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(Vec<u8>);

/// A part of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatternPart {
    Byte(u8),
    /// `Y`, `m`, `d`, `h` or `u`
    Form(u8),
}

impl Pattern {
    /// A path with `%` forms; None if it is not absolute or has forms that are not known.
    pub fn new(path: &Path) -> Option<Pattern> {
        let bytes = path.as_os_str().as_bytes();
        (bytes.starts_with(b"/") && pieces(bytes).is_some()).then(|| Pattern(bytes.to_vec()))
    }

    /// The patterns of the files in a list of targets, as `log =` has it.
    pub fn of_targets(targets: &[u8]) -> Vec<Pattern> {
        targets
            .split(u8::is_ascii_whitespace)
            .filter_map(|word| match target::kind(word) {
                (TargetKind::File, pattern) => {
                    Pattern::new(Path::new(std::ffi::OsStr::from_bytes(pattern)))
                }
                _ => None,
            })
            .collect()
    }

    /// Whether each user has files of their own.
    pub fn is_per_user(&self) -> bool {
        self.has(b'u')
    }

    fn has(&self, form: u8) -> bool {
        pieces(&self.0).is_some_and(|pieces| pieces.contains(&PatternPart::Form(form)))
    }

    /// The directories that exist and that files of this pattern can be in.
    pub fn directories(&self) -> Vec<PathBuf> {
        let end = self.0.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
        existing(&self.0[..end])
    }

    /// The files of a user that exist, plain and compressed, closed ones first: of a pattern
    /// without `%u` those of everybody. Directories are not listed where a name will do,
    /// because users may not list those of logs; `year` is the present one.
    pub fn files_of(&self, uid: u32, year: u16) -> Vec<PathBuf> {
        let years = if self.has(b'Y') { FIRST_YEAR..=year.saturating_add(1) } else { 0..=0 };
        let span = |form, last| if self.has(form) { 1..=last } else { 0u16..=0 };
        let mut files = Vec::new();
        for year in years {
            for month in span(b'm', 12) {
                for day in span(b'd', 31) {
                    self.add_files(year, month, day, uid, &mut files);
                }
            }
        }
        files
    }

    fn add_files(&self, year: u16, month: u16, day: u16, uid: u32, files: &mut Vec<PathBuf>) {
        let mut filled = Vec::new();
        for piece in pieces(&self.0).unwrap_or_default() {
            match piece {
                PatternPart::Form(b'Y') => filled.extend(format!("{year:04}").bytes()),
                PatternPart::Form(b'm') => filled.extend(format!("{month:02}").bytes()),
                PatternPart::Form(b'd') => filled.extend(format!("{day:02}").bytes()),
                PatternPart::Form(b'u') => filled.extend(uid.to_string().bytes()),
                // What is left for `existing`.
                PatternPart::Form(form) => filled.extend([b'%', form]),
                PatternPart::Byte(b'%') => filled.extend(b"%%"),
                PatternPart::Byte(byte) => filled.push(byte),
            }
        }
        for end in COMPRESSED {
            let mut closed = filled.clone();
            closed.extend(end.bytes());
            files.extend(existing(&closed));
        }
        // What `topas-log close` makes where the first name belongs to somebody else.
        for number in 2.. {
            let mut closed = filled.clone();
            closed.extend(format!(".{number}.zst").bytes());
            let found = existing(&closed);
            if found.is_empty() {
                break;
            }
            files.extend(found);
        }
        files.extend(existing(&filled));
    }
}

/// None if there are forms that are not known.
fn pieces(pattern: &[u8]) -> Option<Vec<PatternPart>> {
    let mut pieces = Vec::new();
    let mut bytes = pattern.iter();
    while let Some(&byte) = bytes.next() {
        pieces.push(match byte {
            b'%' => match bytes.next()? {
                b'%' => PatternPart::Byte(b'%'),
                form @ (b'Y' | b'm' | b'd' | b'h' | b'u') => PatternPart::Form(*form),
                _ => return None,
            },
            byte => PatternPart::Byte(byte),
        });
    }
    Some(pieces)
}

/// Paths that a pattern stands for. Only directories are listed that names with forms are
/// in; where that is not allowed `%h` is this host, and any other form nothing.
fn existing(pattern: &[u8]) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from("/")];
    for part in pattern.split(|&byte| byte == b'/').filter(|part| !part.is_empty()) {
        let Some(pieces) = pieces(part) else { return Vec::new() };
        let mut next = Vec::new();
        for dir in &found {
            match literal(&pieces, None) {
                Some(name) => next.push(dir.join(name)),
                None => match fs::read_dir(dir) {
                    Ok(entries) => {
                        let names = entries.flatten().map(|entry| entry.file_name());
                        let mut names: Vec<_> =
                            names.filter(|name| matches(&pieces, name.as_bytes())).collect();
                        names.sort();
                        next.extend(names.into_iter().map(|name| dir.join(name)));
                    }
                    Err(_) => {
                        let host = fs::read("/proc/sys/kernel/hostname").unwrap_or_default();
                        next.extend(literal(&pieces, Some(host.trim_ascii())).map(|n| dir.join(n)));
                    }
                },
            }
        }
        found = next;
    }
    // Also a link that leads nowhere, so that opening it says so.
    found.retain(|path| fs::symlink_metadata(path).is_ok());
    found
}

/// The name without forms but `%h`; None if there are others.
fn literal(pieces: &[PatternPart], host: Option<&[u8]>) -> Option<OsString> {
    let mut name = Vec::new();
    for piece in pieces {
        match piece {
            PatternPart::Byte(byte) => name.push(*byte),
            PatternPart::Form(b'h') => name.extend_from_slice(host?),
            PatternPart::Form(_) => return None,
        }
    }
    Some(OsString::from_vec(name))
}

/// Whether a name is of the form.
fn matches(pieces: &[PatternPart], name: &[u8]) -> bool {
    let digits = |at: usize| name.get(..at).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    let Some((first, rest)) = pieces.split_first() else { return name.is_empty() };
    match first {
        PatternPart::Byte(byte) => name.first() == Some(byte) && matches(rest, &name[1..]),
        PatternPart::Form(b'Y') => digits(4) && matches(rest, &name[4..]),
        PatternPart::Form(b'm' | b'd') => digits(2) && matches(rest, &name[2..]),
        PatternPart::Form(b'u') => (1..=name.len()).any(|n| digits(n) && matches(rest, &name[n..])),
        PatternPart::Form(_) => (1..=name.len()).any(|n| matches(rest, &name[n..])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(found: &[PathBuf], below: &Path) -> Vec<String> {
        let name = |path: &PathBuf| path.strip_prefix(below).unwrap().to_str().unwrap().to_owned();
        found.iter().map(name).collect()
    }

    #[test]
    fn files_of_a_user() {
        let dir = tempfile::tempdir().unwrap();
        for name in [
            "2026-09.7.log.zst",
            "2026-09.7.log.2.zst",
            "2026-10.7.log",
            "2026-10.7.log.gz",
            "2026-10.77.log",
            "2026-11.7.log",
            "1.7.log",
        ] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let pattern = Pattern::new(&dir.path().join("%Y-%m.%u.log")).unwrap();
        let expected = [
            "2026-09.7.log.zst",
            "2026-09.7.log.2.zst",
            "2026-10.7.log.gz",
            "2026-10.7.log",
            "2026-11.7.log",
        ];
        assert_eq!(names(&pattern.files_of(7, 2026), dir.path()), expected);
        assert_eq!(names(&pattern.files_of(77, 2026), dir.path()), ["2026-10.77.log"]);
        assert_eq!(pattern.directories(), [dir.path()]);
    }

    #[test]
    fn directories_of_hosts() {
        let dir = tempfile::tempdir().unwrap();
        for sub in ["n1/x", "n2/x", "other"] {
            fs::create_dir_all(dir.path().join(sub)).unwrap();
        }
        fs::write(dir.path().join("n2/x/5%.log"), "").unwrap();
        let pattern = Pattern::new(&dir.path().join("n%h/x/%u%%.log")).unwrap();
        assert!(pattern.is_per_user());
        assert_eq!(names(&pattern.directories(), dir.path()), ["n1/x", "n2/x"]);
        assert_eq!(names(&pattern.files_of(5, 2026), dir.path()), ["n2/x/5%.log"]);
    }

    #[test]
    fn targets_of_a_list() {
        let found = Pattern::of_targets(b"unix:/run/x  file:/a/%Y.log file:b file:/%q syslog");
        assert_eq!(found, [Pattern(b"/a/%Y.log".to_vec())]);
        assert!(!found[0].is_per_user());
    }
}
