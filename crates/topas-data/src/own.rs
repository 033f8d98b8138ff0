//! Lines of one user.

use std::collections::HashMap;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::OnceLock;

use topas_format::escape::Name;
use topas_format::line::Extras;
use topas_format::shown::Shown;

use crate::account::Account;
use crate::clock;
use crate::first_extras::{Claim, claim};
use crate::pattern::Pattern;
use crate::source::{Inputs, Source};

/// Records of MPI profiles that are remembered.
const MOST_HEADS: usize = 4096;

/// Which records of MPI profiles are of a user.
#[derive(Default)]
pub struct OwnProfiles {
    heads: HashMap<Vec<u8>, bool>,
}

/// A user, by whom lines are chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnLines {
    /// Numeric user id
    pub uid: u32,
    /// Name of the system's user database, looked up when it is needed; None where it has none
    name: OnceLock<Option<Vec<u8>>>,
}

/// The system knows no user of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownUser {
    /// The name
    pub name: String,
}

impl UnknownUser {
    /// What to do
    pub const HINT: &str = "give the numeric user id, as uid= in the lines has it";
}

impl fmt::Display for UnknownUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this system knows no user '{}'", Shown(self.name.as_bytes()))
    }
}

impl std::error::Error for UnknownUser {}

impl OwnLines {
    /// The user who called this process: never what the environment says.
    pub fn of_caller() -> Self {
        OwnLines::new(nix::unistd::getuid().as_raw())
    }

    /// The user with this id.
    pub fn new(uid: u32) -> Self {
        OwnLines { uid, name: OnceLock::new() }
    }

    /// The user of a login name or a numeric id.
    ///
    /// # Errors
    ///
    /// [`UnknownUser`]: the system knows no such name.
    pub fn named(text: &str) -> Result<Self, UnknownUser> {
        let uid = Account::uid_of(text).ok_or_else(|| UnknownUser { name: text.to_owned() })?;
        Ok(OwnLines::new(uid))
    }

    /// The user's name, as the system knows it today.
    pub fn name(&self) -> Option<&[u8]> {
        let name = || Account::of_uid(self.uid).map(|account| account.name.into_vec());
        self.name.get_or_init(name).as_deref()
    }

    /// Whether a name in a line is this user's, as the system knows it today.
    #[cold]
    fn is_named(&self, user: &Name<'_>) -> bool {
        self.name().is_some_and(|name| *user == Name::new(name))
    }

    /// Whether a text that is no log line names this user, by name or by id.
    pub(crate) fn is_named_in(&self, text: &[u8]) -> bool {
        let uid = format!("uid={}", self.uid);
        let is = |word: &[u8]| word == uid.as_bytes() || self.is_named(&Name::from_token(word));
        text.split(u8::is_ascii_whitespace).any(|word| !word.is_empty() && is(word))
    }

    /// The files that can have lines of this user. Of a name with `%` forms, as `log =` has
    /// them, the user's files, found without listing directories; of another one what
    /// [`Inputs`] finds. Without a name those of `targets`, the words of `log =`; None if
    /// these name no files.
    pub fn sources(&self, names: &[PathBuf], targets: &[u8]) -> Option<Inputs> {
        let year = clock::now().date.year;
        let files =
            |pattern: &Pattern| pattern.files_of(self.uid, year).into_iter().map(Source::File);
        let mut inputs = Inputs::default();
        if names.is_empty() {
            let patterns = Pattern::of_targets(targets);
            inputs.sources.extend(patterns.iter().flat_map(files));
            return (!patterns.is_empty()).then_some(inputs);
        }
        for name in names {
            let has_forms = name.as_os_str().as_bytes().contains(&b'%');
            match has_forms.then(|| Pattern::new(name)).flatten() {
                Some(pattern) => inputs.sources.extend(files(&pattern)),
                None => inputs.add(name),
            }
        }
        Some(inputs)
    }

    /// Whether a line of an MPI profile is of this user. Only the first line of a record has
    /// `uid=`; `last` is what was found out about the lines before, by what they begin with.
    pub fn wrote_profile(&self, text: &[u8], last: &mut OwnProfiles) -> bool {
        let Ok(line) = topas_mpi_profile::parse::Line::parse(text) else { return false };
        // Date, time, user, executable, ranks and id, which all lines of a record share.
        let head = text.splitn(8, |byte| *byte == b' ').take(7).collect::<Vec<_>>().join(&b' ');
        if line.line == 1 {
            let own = match crate::profile_line::uid(text) {
                Some(uid) => uid == u64::from(self.uid),
                None => self.is_named(&line.user),
            };
            // Records that are under way at the same time are few.
            if last.heads.len() > MOST_HEADS {
                last.heads.clear();
            }
            last.heads.insert(head, own);
            return own;
        }
        last.heads.get(&head).copied().unwrap_or(false)
    }

    /// Whether a line is of this user: by `uid=`, and by the user's name only in a line that
    /// has none. One that names several users is nobody's.
    #[inline]
    pub fn wrote(&self, user: Name<'_>, extras: Extras<'_>) -> bool {
        match claim(extras) {
            Claim::Uid(uid) => uid == u64::from(self.uid),
            Claim::None => self.is_named(&user),
            Claim::Unclear => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topas_format::line::Line;

    #[test]
    fn the_uid_counts_and_the_name_where_there_is_none() {
        let own = OwnLines { uid: 7, name: Some(b"an na".to_vec()).into() };
        let wrote = |user: &str, extras: &str| {
            let text = format!(
                "1999/05/04 12:00:00 {user} heat 5 16 t450 B f90 mpi 1.0 0.1 2.0 f=1 10 4711{extras}"
            );
            let text = topas_testkit::with_lengths(&text);
            let (line, extras) = Line::parse(text.as_bytes()).unwrap();
            own.wrote(line.user, extras)
        };
        assert!(wrote("bert", " v=1 uid=7"));
        assert!(!wrote("an%20na", " v=1 uid=70"));
        assert!(!wrote("an%20na", " v=1 uid="));
        assert!(!wrote("an%20na", " v=1 uid=7 uid=8"));
        assert!(wrote("an%20na", " v=1"));
        assert!(wrote("an%20na", ""));
        assert!(!wrote("anna", ""));
        assert!(
            !OwnLines { uid: 7, name: None.into() }.wrote(
                Line::parse(b"1999/05/04 12:00:00 - h 5 16 t450 B c - 1.0 0.1 2.0 f=1 10 1")
                    .unwrap()
                    .0
                    .user,
                Extras::default()
            )
        );
    }
}
