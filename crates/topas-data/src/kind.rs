//! What the lines of one program by one user have in common, stored once.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use topas_format::escape::Name;
use topas_format::field::{Lang, Lib, Mhz, Mode};
use topas_format::line::Line;

/// User, executable and how it was built and run: few of these, many lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// User; empty if not known
    pub user: Box<[u8]>,
    /// File name of the executable
    pub exe: Box<[u8]>,
    /// Nominal frequency in MHz
    pub mhz: Mhz,
    /// Batch or interactive
    pub mode: Mode,
    /// Language
    pub lang: Lang,
    /// Message passing library
    pub lib: Lib,
}

/// The kinds seen so far, each with a number.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    kinds: Vec<Kind>,
    table: HashTable<(u64, u32)>,
}

/// Adds the bytes a name means. Without escapes, which is nearly always, at no cost.
pub(crate) fn hash_name(name: &Name<'_>, hasher: &mut FxHasher) {
    match name.plain() {
        Some(bytes) => hasher.write(bytes),
        None => hasher.write(&name.bytes().collect::<Vec<u8>>()),
    }
}

impl Kind {
    fn is_of(&self, line: &Line<'_>) -> bool {
        self.mhz == line.mhz
            && (self.mode, self.lang, self.lib) == (line.mode, line.lang, line.lib)
            && Name::new(&self.user) == line.user
            && Name::new(&self.exe) == line.exe
    }
}

impl Kinds {
    /// The number of a line's kind; `likely` is tried first.
    pub(crate) fn number(&mut self, line: &Line<'_>, likely: Option<u32>) -> u32 {
        if let Some(number) = likely
            && self.get(number).is_of(line)
        {
            return number;
        }
        let mut hasher = FxHasher::default();
        hash_name(&line.user, &mut hasher);
        hash_name(&line.exe, &mut hasher);
        let words = [line.mode as u8, line.lang as u8, line.lib as u8];
        hasher.write_u64(
            u64::from(line.mhz.0.unwrap_or(0)) << 24
                | words.iter().fold(0, |n, &word| n << 8 | u64::from(word)),
        );
        let hash = hasher.finish();
        let found =
            self.table.find(hash, |&(other, number)| other == hash && self.get(number).is_of(line));
        if let Some(&(_, number)) = found {
            return number;
        }
        self.add(hash, line)
    }

    #[cold]
    fn add(&mut self, hash: u64, line: &Line<'_>) -> u32 {
        // Numbers fit: there is at most one kind a line, and Joiner bounds the lines.
        let number = self.kinds.len() as u32;
        self.kinds.push(Kind {
            user: line.user.bytes().collect(),
            exe: line.exe.bytes().collect(),
            mhz: line.mhz,
            mode: line.mode,
            lang: line.lang,
            lib: line.lib,
        });
        self.table.insert_unique(hash, (hash, number), |&(hash, _)| hash);
        number
    }

    pub(crate) fn get(&self, number: u32) -> &Kind {
        &self.kinds[number as usize]
    }
}
