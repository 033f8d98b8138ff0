//! The environment that a program is given: as it came, byte for byte, but for what has the
//! library loaded and the marker of a rank.

use std::ffi::{CString, OsStr};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use topas_config::Environment;
use topas_format::out::Out;
use topas_launch::preload::{self, GUARD, GUARD_SIZE, RUN, names, write_guard};
use topas_launch::{Rank, marker};

/// The variable by which the loader is told of libraries, with its equals sign.
const PRELOAD: &[u8] = preload::PRELOAD;

/// The marker's variable, with its equals sign.
const MARKER: &[u8] = b"TOPAS_RANK=";

/// Entries in their order. Some may be no variables, and some stand there twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entries(Vec<Vec<u8>>);

impl Entries {
    /// What this process was started with; where the kernel does not show it, the variables
    /// of `env`.
    pub fn of_process(env: &Environment) -> Self {
        match fs::read("/proc/self/environ") {
            Ok(text) => Entries::of(&text),
            Err(_) => Entries(
                env.iter()
                    .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
                    .collect(),
            ),
        }
    }

    /// Entries that end with a NUL each.
    fn of(text: &[u8]) -> Self {
        let Some(text) = text.strip_suffix(b"\0") else { return Entries(Vec::new()) };
        Entries(text.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect())
    }

    /// Has a library loaded, behind those the user has loaded. It takes itself out again when
    /// it begins, and where there was no such variable puts the marker of `rank` in its place.
    /// Programs that come `between` may change the variable: then the marker is there already.
    pub fn preload(&mut self, library: &Path, rank: &Rank, pid: u32, between: bool) {
        let library = library.as_os_str().as_bytes();
        // The loader takes the last of several.
        match self.0.iter_mut().rfind(|entry| entry.starts_with(PRELOAD)) {
            Some(users) => {
                users.push(b':');
                users.extend(library);
                self.mark(rank, pid);
            }
            None => {
                // An outer rank's.
                self.0.retain(|entry| !entry.starts_with(MARKER));
                self.0.push([PRELOAD, library].concat());
                if between {
                    self.mark(rank, pid);
                }
            }
        }
    }

    /// Has the library of MPI profiles loaded, behind all others. It takes itself out when it
    /// begins, and where there is no other puts its guard in its place. Programs that come
    /// `between` may change the variable: then the guard is there already.
    pub fn preload_profile(&mut self, library: &Path, pid: u32, between: bool) {
        let library = library.as_os_str().as_bytes();
        self.0.retain(|entry| !entry.starts_with(GUARD));
        // That of `topas-run` leaves before it, and nothing stays.
        let alone = |entry: &[u8]| !entry.contains(&b':') && names(entry, RUN);
        let mut guard = between;
        match self.0.iter_mut().rfind(|entry| entry.starts_with(PRELOAD)) {
            Some(others) => {
                guard |= !alone(others);
                others.push(b':');
                others.extend(library);
            }
            None => self.0.push([PRELOAD, library].concat()),
        }
        if guard {
            let mut buffer = [0; GUARD_SIZE];
            let mut out = Out::new(&mut buffer);
            write_guard(&mut out, pid);
            self.0.push(out.text().strip_suffix(b"\0").unwrap_or_default().to_vec());
        }
    }

    /// Sets a variable.
    pub fn set(&mut self, name: &str, value: &OsStr) {
        let entry = [name.as_bytes(), b"=", value.as_bytes()].concat();
        let named = [name.as_bytes(), b"="].concat();
        match self.0.iter_mut().find(|entry| entry.starts_with(&named)) {
            Some(old) => *old = entry,
            None => self.0.push(entry),
        }
    }

    /// Sets the marker by which children of process `pid` know that they are no ranks.
    pub fn mark(&mut self, rank: &Rank, pid: u32) {
        let mut buffer = [0; marker::SIZE];
        let mut out = Out::new(&mut buffer);
        marker::write(&mut out, rank, pid);
        let ours = out.text().strip_suffix(b"\0").unwrap_or_default().to_vec();
        match self.0.iter_mut().find(|entry| entry.starts_with(MARKER)) {
            Some(entry) => *entry = ours,
            None => self.0.push(ours),
        }
    }

    /// As a system call takes them.
    pub fn into_c_strings(self) -> Vec<CString> {
        // An entry has no NUL: it came without.
        self.0.into_iter().filter_map(|entry| CString::new(entry).ok()).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use topas_launch::Family;

    const RANK: Rank = Rank { family: Family::Pmi, rank: 3, size: 8, id: 7 };

    fn shown(entries: &Entries) -> Vec<String> {
        entries.0.iter().map(|entry| String::from_utf8_lossy(entry).into_owned()).collect()
    }

    fn preloaded(text: &[u8]) -> Vec<String> {
        let mut entries = Entries::of(text);
        entries.preload(Path::new("/l.so"), &RANK, 42, false);
        shown(&entries)
    }

    fn marker_of_42() -> String {
        let mut entries = Entries::of(b"");
        entries.mark(&RANK, 42);
        shown(&entries).remove(0)
    }

    #[test]
    fn entries_stay_as_they_are() {
        let text = b"A=1\0\0=\0none\0A=2\0";
        assert_eq!(shown(&Entries::of(text)), ["A=1", "", "=", "none", "A=2"]);
        let c: Vec<_> = Entries::of(text).into_c_strings();
        assert_eq!(c.iter().flat_map(|e| e.as_bytes_with_nul()).copied().collect::<Vec<_>>(), text);
        assert_eq!(shown(&Entries::of(b"")), [""; 0]);
        assert_eq!(shown(&Entries::of(b"\0")), [""]);
    }

    #[test]
    fn the_profile_stands_behind_all_others() {
        let with = |text: &[u8], library: Option<&str>, between| {
            let mut entries = Entries::of(text);
            if let Some(library) = library {
                entries.preload(Path::new(library), &RANK, 42, true);
            }
            entries.preload_profile(Path::new("/libtopas_mpi.so"), 42, between);
            shown(&entries)
        };
        let (marker, guard) = (marker_of_42(), "TOPAS_MPI_DOOR=42");
        let ours = "LD_PRELOAD=/libtopas_mpi.so";
        assert_eq!(with(b"A=1\0", None, false), ["A=1", ours]);
        assert_eq!(with(b"TOPAS_MPI_DOOR=7\0", None, false), [ours]);
        assert_eq!(with(b"", None, true), [ours, guard]);
        let run = Some("/libtopas-run.c.so");
        let both = "LD_PRELOAD=/libtopas-run.c.so:/libtopas_mpi.so";
        assert_eq!(with(b"", run, true), [both, &marker, guard]);
        let all = "LD_PRELOAD=/a:/libtopas_mpi.so";
        assert_eq!(with(b"LD_PRELOAD=/a\0", None, false), [all, guard]);
        // Of two libraries of ours the last to leave makes its guard of the variable.
        assert_eq!(with(b"", run, false), [both, &marker]);
        let all = "LD_PRELOAD=/a:/libtopas-run.c.so:/libtopas_mpi.so";
        assert_eq!(with(b"LD_PRELOAD=/a\0", run, false), [all, &marker, guard]);
    }

    #[test]
    fn the_library_stands_behind_the_users_own() {
        assert_eq!(preloaded(b"A=1\0"), ["A=1", "LD_PRELOAD=/l.so"]);
        assert_eq!(preloaded(b"TOPAS_RANK=9\0A=1\0"), ["A=1", "LD_PRELOAD=/l.so"]);
        let marker = marker_of_42();
        let mut between = Entries::of(b"");
        between.preload(Path::new("/l.so"), &RANK, 42, true);
        assert_eq!(shown(&between), ["LD_PRELOAD=/l.so", &marker]);
        assert!(marker.starts_with("TOPAS_RANK=") && marker.len() < marker::SIZE, "{marker}");
        assert_eq!(
            preloaded(b"LD_PRELOAD=/a:/b\0A=1\0"),
            ["LD_PRELOAD=/a:/b:/l.so", "A=1", &marker]
        );
        assert_eq!(preloaded(b"LD_PRELOAD=\0TOPAS_RANK=9\0"), ["LD_PRELOAD=:/l.so", &marker]);
        assert_eq!(
            preloaded(b"LD_PRELOAD=/a\0LD_PRELOAD=/b\0"),
            ["LD_PRELOAD=/a", "LD_PRELOAD=/b:/l.so", &marker]
        );
    }
}
