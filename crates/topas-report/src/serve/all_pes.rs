//! The lines of all PEs of a run, where the site has these files in one place.

use std::fs;
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use topas_data::pes::{PeTable, read};
use topas_data::{Inputs, RunRecord};
use topas_format::civil::Civil;
use topas_format::form::{Values, number, text};
use topas_format::out::Out;
use topas_format::target::expand_launch;
use topas_web::AllPes;

/// Largest file that is read for a page, in B: a million PEs have 300 MB.
const LARGEST: u64 = 400 << 20;

/// Memory that its lines may take, in B.
const MEMORY: u64 = 400 << 20;

/// Longest path, in B.
const LONGEST: usize = 4096;

/// Where the files are: a path in the form of `TOPAS_OUT`, with %i and whatever else the log tells.
#[derive(Clone, Debug)]
pub struct PesPattern(Vec<u8>);

impl PesPattern {
    /// None if it is not absolute, lacks `%i`, or has a form that the log cannot tell, as `%h`.
    pub fn new(path: &Path) -> Option<PesPattern> {
        let pattern = path.as_os_str().as_bytes();
        let has = |form: &[u8]| pattern.windows(2).any(|pair| pair == form);
        let is_known = path.is_absolute() && has(b"%i") && !has(b"%h");
        let pattern = PesPattern(pattern.to_vec());
        (is_known && pattern.of("a", 0, 0).is_some()).then_some(pattern)
    }

    /// The path of a launch: its id, user, and the local time of its end in s since 1970-01-01.
    fn of(&self, id: &str, uid: u64, ended: i64) -> Option<PathBuf> {
        let date = Civil::from_seconds(ended).date;
        let mut values = Values::new();
        values.numbers[number::YEAR] = date.year.into();
        values.numbers[number::MONTH] = date.month.into();
        values.numbers[number::DAY] = date.day.into();
        values.numbers[number::UID] = uid;
        values.texts[text::ID] = Some(id.as_bytes());
        let mut buffer = [0; LONGEST];
        let mut out = Out::new(&mut buffer);
        expand_launch(&self.0, &mut values, &mut out)?;
        Some(PathBuf::from(std::ffi::OsStr::from_bytes(out.text())))
    }

    /// The lines of all PEs of a run. A file counts as a log does: what a user wrote is believed of
    /// that user alone.
    pub fn read(&self, run: &RunRecord) -> AllPes {
        let id = str::from_utf8(&run.id).ok().filter(|id| is_name(id));
        let (Some(id), Some(uid)) = (id, run.uid) else { return AllPes::None };
        let ended = i64::try_from(run.ended / 1_000_000).unwrap_or_default();
        let Some(path) = self.of(id, uid, ended) else { return AllPes::None };
        match fs::symlink_metadata(&path) {
            Ok(about) if !about.is_file() => return AllPes::None,
            Ok(about) if about.len() > LARGEST => return AllPes::TooLarge,
            Ok(_) => {}
            Err(_) => return AllPes::None,
        }
        let sources = Inputs::new(&[path]).sources;
        match read(&sources, NonZero::<usize>::MIN, MEMORY, &|_| {}) {
            Ok((lines, _)) => {
                let is_of_run =
                    |table: &PeTable| table.launch.id == run.id && table.launch.uid == Some(uid);
                let launch = lines.launches().find(|launch| launch.id == run.id);
                launch
                    .map(|launch| lines.table(launch))
                    .filter(is_of_run)
                    .map_or(AllPes::None, |table| AllPes::Measured(Box::new(table)))
            }
            Err(_) => AllPes::TooLarge,
        }
    }
}

/// Whether an id can be the name of a file and leads to no other directory.
fn is_name(id: &str) -> bool {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"._:+-".contains(&byte);
    !id.is_empty() && !id.starts_with('.') && id.bytes().all(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_leads_to_one_file_of_a_launch() {
        let pattern = |text: &str| PesPattern::new(Path::new(text));
        for wrong in ["%i.out", "/r/topas.out", "/r/%i.%h.out", "/r/%i.%q"] {
            assert!(pattern(wrong).is_none(), "{wrong}");
        }
        let path = pattern("/r/%u/%Y-%m/%i.out").unwrap().of("j7", 1000, 1_793_534_400);
        assert_eq!(path.unwrap(), Path::new("/r/1000/2026-11/j7.out"));
        for (id, good) in
            [("j7.1", true), ("..", false), ("a/b", false), ("", false), ("a b", false)]
        {
            assert_eq!(is_name(id), good, "{id}");
        }
    }
}
