//! Lines without names: what identifies people is replaced by keyed hashes.
//!
//! A name becomes the first 16 characters in base32 of HMAC-SHA256 over the field's name, a
//! zero byte and the name, so that equal names of one field stay equal, and nobody without the
//! key can try names. Times, sizes and counts stay: they can identify a run for who knows when
//! it was.

mod profile;

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use data_encoding::{BASE32, HEXLOWER};
use hmac::{Hmac, KeyInit, Mac};
use nix::fcntl::OFlag;
use sha2::Sha256;
use topas_format::MAX_LINE;
use topas_format::escape::Name;
use topas_format::extra::ExportRule;
use topas_format::line::{Extras, Line, Writer};

use crate::field::FIELDS;

/// Characters of a hash: 80 bits.
const CHARACTERS: usize = 16;

/// Bits of a hashed user id: a number that every reader of JSON takes exactly.
const UID_BITS: u32 = 52;

/// Bytes of a key that is made.
const KEY: usize = 32;

/// Fewest bytes of a key that is taken.
const SHORTEST: usize = 32;

/// Longest key file in bytes.
const LONGEST: u64 = 4096;

/// Why there is no key.
#[derive(Debug)]
pub enum KeyError {
    /// It could not be read or made
    File(io::Error),
    /// It has fewer than 32 bytes
    Short(usize),
    /// Others can read or change it; its mode
    Open(u32),
    /// It belongs to this user, who is neither the caller nor root
    Owner(u32),
    /// It is no regular file
    NoFile,
    /// It is longer than a key
    Long,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyError::File(cause) => cause.fmt(f),
            KeyError::Short(len) => write!(f, "it has {len} bytes, and {SHORTEST} are the least"),
            KeyError::Open(mode) => {
                write!(f, "its mode is {mode:04o}: others can read or change it")
            }
            KeyError::Owner(uid) => write!(f, "it belongs to uid {uid}"),
            KeyError::NoFile => f.write_str("it is no regular file"),
            KeyError::Long => write!(f, "it has more than {LONGEST} bytes"),
        }
    }
}

impl std::error::Error for KeyError {}

impl From<io::Error> for KeyError {
    fn from(cause: io::Error) -> Self {
        KeyError::File(cause)
    }
}

/// A secret that names are hashed with.
pub struct ExportKey(Hmac<Sha256>);

impl ExportKey {
    /// Makes a key file with 256 random bits as hexadecimal digits, mode 0600.
    ///
    /// # Errors
    ///
    /// If it cannot be made, as when it exists.
    pub fn make(path: &Path) -> Result<(), KeyError> {
        let mut bits = [0; KEY];
        getrandom::fill(&mut bits).map_err(io::Error::from)?;
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(path)?;
        let written = file
            .write_all(format!("{}\n", HEXLOWER.encode(&bits)).as_bytes())
            .and_then(|()| file.sync_all());
        // A key that is not whole would be refused, or worse, taken.
        written.inspect_err(|_| drop(fs::remove_file(path)))?;
        Ok(())
    }

    /// Reads a key: the bytes of the file without white space at its ends.
    ///
    /// # Errors
    ///
    /// [`KeyError`] also for a key that others know or that could be guessed.
    pub fn read(path: &Path) -> Result<ExportKey, KeyError> {
        // Not to wait for the writer of a pipe.
        let file =
            OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path)?;
        let about = file.metadata()?;
        if !about.is_file() {
            return Err(KeyError::NoFile);
        }
        let mode = about.mode() & 0o7777;
        if mode & 0o077 != 0 {
            return Err(KeyError::Open(mode));
        }
        let caller = nix::unistd::geteuid().as_raw();
        if ![0, caller].contains(&about.uid()) {
            return Err(KeyError::Owner(about.uid()));
        }
        let mut text = Vec::new();
        file.take(LONGEST + 1).read_to_end(&mut text)?;
        if text.len() as u64 > LONGEST {
            return Err(KeyError::Long);
        }
        ExportKey::of(text.trim_ascii()).ok_or(KeyError::Short(text.trim_ascii().len()))
    }

    /// A key from its bytes; None of fewer than 32.
    pub fn of(bytes: &[u8]) -> Option<ExportKey> {
        let long = bytes.len() >= SHORTEST;
        long.then(|| Hmac::new_from_slice(bytes).ok().map(ExportKey)).flatten()
    }

    /// A signature of a text for one purpose, which only a holder of the key can make.
    pub fn sign(&self, purpose: &str, text: &[u8]) -> [u8; 32] {
        self.signed(purpose, text).finalize().into_bytes().into()
    }

    /// Whether a signature is that of a text, in a time that does not tell where it differs.
    pub fn is_signature(&self, purpose: &str, text: &[u8], signature: &[u8]) -> bool {
        self.signed(purpose, text).verify_slice(signature).is_ok()
    }

    fn signed(&self, purpose: &str, text: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        // No field of a line is called so: a signature is never the name of an export.
        mac.update(b"signature/");
        mac.update(purpose.as_bytes());
        mac.update(&[0]);
        mac.update(text);
        mac
    }

    fn hash(&self, field: &str, name: Name<'_>) -> [u8; 32] {
        let mut mac = self.0.clone();
        mac.update(field.as_bytes());
        mac.update(&[0]);
        match name.plain() {
            Some(bytes) => mac.update(bytes),
            None => mac.update(&name.bytes().collect::<Vec<u8>>()),
        }
        mac.finalize().into_bytes().into()
    }

    /// The word in place of a name of `field`.
    fn word(&self, field: &str, name: Name<'_>) -> HashWord {
        let mut word = [0; CHARACTERS];
        // Ten bytes are sixteen characters, without padding.
        BASE32.encode_mut(&self.hash(field, name)[..CHARACTERS * 5 / 8], &mut word);
        word.make_ascii_lowercase();
        word
    }

    fn uid(&self, name: Name<'_>) -> u64 {
        let hash = self.hash("uid", name);
        let first = hash.first_chunk().copied().unwrap_or_default();
        u64::from_be_bytes(first) >> (64 - UID_BITS)
    }
}

type HashWord = [u8; CHARACTERS];

/// What becomes of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stays
    Keep,
    /// Its keyed hash takes its place
    Hash,
    /// It is left out, as are extras of unknown meaning
    Drop,
}

/// A field that does not have that fate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchFate {
    /// The field as it was written
    pub field: String,
    /// What was wanted
    pub fate: Fate,
}

/// Makes lines without names.
pub struct Anonymizer {
    key: ExportKey,
    /// By field of the line, in the order of [`FIELDS`]
    fates: Vec<(&'static str, ExportRule, Fate)>,
    /// Extras that did not fit into their lines any more
    pub lost: u64,
}

impl Anonymizer {
    /// Does with each field what the table of fields says, and drops extras that it does not have.
    pub fn new(key: ExportKey) -> Self {
        let fates = FIELDS.iter().filter_map(|field| {
            let fate = match field.export? {
                ExportRule::Hashed => Fate::Hash,
                ExportRule::Fixed | ExportRule::Kept | ExportRule::KeptName => Fate::Keep,
            };
            Some((field.name, field.export?, fate))
        });
        Anonymizer { key, fates: fates.collect(), lost: 0 }
    }

    /// Changes what becomes of a field: `user`, `exe`, `id`, or an extra.
    ///
    /// # Errors
    ///
    /// If there is no such field, or it cannot be hashed or dropped.
    pub fn set(&mut self, field: &str, fate: Fate) -> Result<(), NoSuchFate> {
        let known = self.fates.iter_mut().find(|(name, ..)| *name == field);
        match known {
            Some((_, ExportRule::KeptName | ExportRule::Hashed, slot)) => *slot = fate,
            Some((_, ExportRule::Kept, slot)) if fate != Fate::Hash => *slot = fate,
            _ => return Err(NoSuchFate { field: field.to_owned(), fate }),
        }
        Ok(())
    }

    /// A field of the line by its name, and what becomes of it. None of what nobody knows, which
    /// may name somebody.
    fn fate(&self, name: &[u8]) -> Option<(&'static str, Fate)> {
        let known = self.fates.iter().find(|(known, ..)| known.as_bytes() == name);
        known.map(|(name, _, fate)| (*name, *fate))
    }

    /// Writes the line without names, with its newline.
    pub fn write(&mut self, line: &Line<'_>, extras: Extras<'_>, out: &mut Vec<u8>) {
        let [mut user, mut exe, mut id] = [[0; CHARACTERS]; 3];
        let replaced = Line {
            user: self.replace("user", line.user, &mut user),
            exe: self.replace("exe", line.exe, &mut exe),
            id: self.replace("id", line.id, &mut id),
            ..*line
        };
        let mut buffer = [0; MAX_LINE];
        let mut writer = Writer::new(&mut buffer, &replaced);
        for (key, value) in extras {
            // Version and length are written anew.
            let known = self.fate(key).filter(|(field, _)| !matches!(*field, "v" | "len"));
            let Some((field, fate)) = known else { continue };
            if fate == Fate::Drop || value.is_empty() {
                continue;
            }
            let mark = writer.begin(key);
            if fate == Fate::Keep {
                writer.out().put(value);
            } else if field == "uid" {
                writer.out().dec(self.key.uid(Name::from_token(value)));
            } else {
                writer.out().put(&self.key.word(field, Name::from_token(value)));
            }
            let cut = writer.out().is_cut();
            let before = writer.out().len();
            writer.end(mark);
            self.lost += u64::from(cut || writer.out().len() < before);
        }
        out.extend_from_slice(writer.finish().text());
    }

    fn replace<'n>(&self, field: &str, name: Name<'n>, word: &'n mut HashWord) -> Name<'n> {
        match self.fate(field.as_bytes()).map_or(Fate::Drop, |(_, fate)| fate) {
            Fate::Keep => name,
            Fate::Drop => Name::new(b""),
            // What is not known stays not known.
            Fate::Hash if name.is_empty() => name,
            Fate::Hash => {
                *word = self.key.word(field, name);
                Name::new(word)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topas_format::extra::EXTRAS;

    /// The line after its export, of a line with this text in three tokens and in each extra.
    fn exported(anonymizer: &mut Anonymizer, secret: &str) -> Vec<String> {
        let tokens = format!("2026/11/20 18:00:00 {secret} {secret} 0 1 - B c mpi 0 0 1 f=- -");
        let extras = EXTRAS.iter().filter(|extra| !["v", "cut", "len"].contains(&extra.name));
        let extras: String = extras.map(|extra| format!(" {}={secret}", extra.name)).collect();
        let text = format!("{tokens} {secret} v=1{extras} later={secret}");
        let text = topas_testkit::with_lengths(&text);
        let (line, extras) = Line::parse(text.trim_ascii_end().as_bytes()).unwrap();
        let mut out = Vec::new();
        anonymizer.write(&line, extras, &mut out);
        String::from_utf8(out).unwrap().split_ascii_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_field_is_hashed_if_its_table_says_so() {
        let mut anonymizer = Anonymizer::new(ExportKey::of(&[7; 32]).unwrap());
        let words = exported(&mut anonymizer, "4711mohr");
        assert!([2, 3, 15].iter().all(|&name| words[name] != "4711mohr"), "{words:?}");
        let kept: Vec<&str> =
            words.iter().filter_map(|word| word.strip_suffix("=4711mohr")).collect();
        let plain = EXTRAS
            .iter()
            .filter(|extra| matches!(extra.export, ExportRule::Kept | ExportRule::KeptName));
        let plain: Vec<&str> = plain.map(|extra| extra.name).collect();
        assert_eq!(kept, plain);
        // Each extra that is left is known, and none that is known was lost.
        assert_eq!(words.len(), 16 + EXTRAS.len() - 1, "{words:?}");
    }

    #[test]
    fn what_can_be_asked_for_a_field_is_what_its_table_allows() {
        let mut anonymizer = Anonymizer::new(ExportKey::of(&[7; 32]).unwrap());
        for field in FIELDS.iter() {
            let mut can = |fate| anonymizer.set(field.name, fate).is_ok();
            let allowed = [can(Fate::Keep), can(Fate::Drop), can(Fate::Hash)];
            assert_eq!(
                allowed,
                match field.export {
                    None | Some(ExportRule::Fixed) => [false; 3],
                    Some(ExportRule::Kept) => [true, true, false],
                    Some(ExportRule::KeptName | ExportRule::Hashed) => [true; 3],
                },
                "{}",
                field.name
            );
        }
        let words = exported(&mut anonymizer, "4711mohr");
        let left: Vec<&String> = words.iter().filter(|word| word.contains("4711mohr")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
