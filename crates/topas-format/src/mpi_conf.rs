//! Keys of `topas.conf` that the library of MPI profiles reads. They stand in the file of the
//! other keys and have its syntax; the module knows none of them, so they cost it no byte.

use crate::conf::{Key, SettingValue, entries, in_force};
use crate::env::switch;
use crate::text::whole;

/// Where the files of running programs are, if that directory is there and nobody names another.
pub const SPOOL: &str = "/run/topas/mpi";

/// Where they are if it is not.
pub const FALLBACK_SPOOL: &str = "/dev/shm";

/// How the names of these files begin.
pub const SPOOL_PREFIX: &str = "topas-mpi.";

/// Where the user's data go if `TOPAS_MPI_OUT` names no other file.
pub const OUT: &str = "topas-mpi.out";

/// Every key. [`Settings::read`] knows the same names; a test compares the two.
pub const KEYS: &[Key] = &[
    Key {
        name: "mpi",
        form: "yes|no",
        default: "yes",
        about: "Whether programs that have the library of MPI profiles are profiled, unless \
                TOPAS_MPI says otherwise.",
    },
    Key {
        name: "mpi_paths",
        form: "yes|no|number",
        default: "no",
        about: "Whether profiles of MPI calls tell call paths, and of how many frames at most \
                (1 to 16; yes: 8), unless TOPAS_MPI_PATHS says otherwise.",
    },
    Key {
        name: "mpi_waits",
        form: "yes|no",
        default: "no",
        about: "Whether profiles tell why ranks wait for each other, unless TOPAS_MPI_WAITS says \
                otherwise.",
    },
    Key {
        name: "mpi_spool",
        form: "directory",
        default: "(/run/topas/mpi or /dev/shm)",
        about: "Where running programs keep the counters of their MPI calls.",
    },
];

/// The values in force; what a file does not say has its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings<'a> {
    /// `mpi`
    pub on: bool,
    /// `mpi_paths`: most frames of a path; 0 if paths are not counted
    pub paths: u32,
    /// `mpi_waits`
    pub waits: bool,
    /// `mpi_spool`; empty if no directory is named
    pub spool: &'a [u8],
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Settings { on: true, paths: 0, waits: false, spool: b"" }
    }
}

impl<'a> Settings<'a> {
    /// Reads a file's text: whole lines of its first [`crate::conf::MAX_READ`] bytes. Other keys,
    /// and values of another form, change nothing.
    pub fn read(text: &'a [u8]) -> Self {
        let mut settings = Settings::default();
        for entry in entries(in_force(text)).flatten() {
            settings.set(entry.key, entry.value);
        }
        settings
    }

    /// Sets one key. False if it is none of [`KEYS`] or the value is not of its form.
    pub fn set(&mut self, key: &[u8], value: &'a [u8]) -> bool {
        match key {
            b"mpi" => switch(value).map(|on| self.on = on).is_some(),
            b"mpi_paths" => path_depth(value).map(|depth| self.paths = depth).is_some(),
            b"mpi_waits" => switch(value).map(|on| self.waits = on).is_some(),
            // A relative path would be another directory for each program.
            b"mpi_spool" if value.first() == Some(&b'/') => {
                self.spool = value;
                true
            }
            _ => false,
        }
    }

    /// The value of one key, which [`Settings::set`] reads back; None if the key is none of
    /// [`KEYS`], or if no directory is named.
    pub fn value(&self, key: &[u8]) -> Option<SettingValue<'a>> {
        match key {
            b"mpi" => Some(SettingValue::Switch(self.on)),
            b"mpi_paths" if self.paths == 0 => Some(SettingValue::Switch(false)),
            b"mpi_paths" => Some(SettingValue::Number(self.paths)),
            b"mpi_waits" => Some(SettingValue::Switch(self.waits)),
            b"mpi_spool" if !self.spool.is_empty() => Some(SettingValue::Text(self.spool)),
            _ => None,
        }
    }
}

/// Most frames of a call path.
pub const MOST_FRAMES: u32 = 16;

/// Frames of a call path if nobody says how many.
const DEPTH: u32 = 8;

/// How many frames a call path is to have at most: a number, or a switch; 0 for no paths. None if
/// it is neither.
pub fn path_depth(value: &[u8]) -> Option<u32> {
    match whole(value) {
        Some(depth) => Some(depth).filter(|depth| *depth <= MOST_FRAMES),
        None => switch(value).map(|on| if on { DEPTH } else { 0 }),
    }
}

/// Bytes of the event log that a thread keeps if nobody says how many.
const LOG: u64 = 64 << 20;

/// Fewest and most bytes of the event log of a thread.
pub const LOG_SIZES: [u64; 2] = [1 << 20, 256 << 20];

/// How many bytes of the event log a thread is to keep: a number of bytes, with `K`, `M` or `G` behind
/// it of as many KiB, MiB or GiB, or a switch; 0 for no log. None if it is neither, or outside of
/// [`LOG_SIZES`].
pub fn log_size(value: &[u8]) -> Option<u64> {
    let (number, shift) = match value {
        [number @ .., b'K' | b'k'] => (number, 10),
        [number @ .., b'M' | b'm'] => (number, 20),
        [number @ .., b'G' | b'g'] => (number, 30),
        number => (number, 0),
    };
    if let Some(on) = switch(value) {
        return Some(if on { LOG } else { 0 });
    }
    let [least, most] = LOG_SIZES;
    let size = u64::from(whole(number)?) << shift;
    (least..=most).contains(&size).then_some(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_depth_is_a_number_or_a_switch() {
        for (value, depth) in [("yes", 8), ("no", 0), ("0", 0), ("1", 1), ("16", 16), ("on", 8)] {
            assert_eq!(path_depth(value.as_bytes()), Some(depth), "{value}");
        }
        for value in ["", "17", "-1", "4x", "deep", "99999999999999999999"] {
            assert_eq!(path_depth(value.as_bytes()), None, "{value}");
        }
    }

    #[test]
    fn the_size_of_a_log_is_a_number_of_bytes_or_a_switch() {
        for (value, size) in [
            ("yes", 64 << 20),
            ("no", 0),
            ("0", 0),
            ("1M", 1 << 20),
            ("4096k", 4 << 20),
            ("2000000", 2_000_000),
            ("256m", 256 << 20),
        ] {
            assert_eq!(log_size(value.as_bytes()), Some(size), "{value}");
        }
        for value in ["", "M", "257M", "1023K", "1G", "-1M", "1MB", "99999999999999999999G"] {
            assert_eq!(log_size(value.as_bytes()), None, "{value}");
        }
    }

    #[test]
    fn every_key_of_the_table_can_be_set() {
        for (key, value) in KEYS.iter().zip(["no", "12", "yes", "/scratch"]) {
            let mut settings = Settings::default();
            assert!(settings.set(key.name.as_bytes(), value.as_bytes()), "{}", key.name);
            assert_ne!(settings, Settings::default(), "{}", key.name);
            assert!(!settings.set(key.name.as_bytes(), b""), "{}", key.name);
        }
        assert!(!Settings::default().set(b"log", b"/a"));
    }

    #[test]
    fn the_last_line_of_its_form_counts() {
        let text = b"mpi = no\nmpi_spool = /a\nmpi = perhaps\nmpi_spool = b\n# mpi = yes\n";
        let read = Settings { on: false, spool: b"/a", ..Settings::default() };
        assert_eq!(Settings::read(text), read);
        assert_eq!(Settings::read(b"measure = no\n"), Settings::default());
    }
}
