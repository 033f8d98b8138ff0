//! Who vouches for the lines of a file: its owner, whom the kernel names.
//!
//! Users write their files themselves, and can write any line into them. So a line of a user's
//! file counts only if it says that it is of that user. Files of root, of the user who runs the
//! tool and of the accounts that `log_owner` in topas.conf names are believed as they are, and
//! so is what comes through a pipe: whoever runs the tool chose it. All other lines are foreign:
//! counted apart and never mixed in.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::sync::OnceLock;

use topas_format::escape::Name;
use topas_format::line::{Extras, Line};
use topas_format::number::leading;

use crate::account::Account;
use crate::first_extras::{Claim, claim};
use crate::own::{OwnLines, OwnProfiles};

/// Accounts, besides root and the caller, whose files are believed.
static BELIEVED: OnceLock<Vec<u32>> = OnceLock::new();

/// Sets the accounts whose log files are believed, besides those of root and of the caller: words
/// of `log_owner`, names or numeric ids. A name that the system does not know is passed over.
/// For the start of a tool: only the first call counts, because who is believed is, like the user
/// id, one for the whole process.
pub fn believe(accounts: &[u8]) {
    let words =
        accounts.split(u8::is_ascii_whitespace).filter_map(|word| str::from_utf8(word).ok());
    let _ = BELIEVED.set(words.filter_map(Account::uid_of).collect());
}

/// Whether what belongs to this user is believed, whatever it says.
pub(crate) fn is_believed(uid: u32) -> bool {
    uid == 0
        || uid == nix::unistd::geteuid().as_raw()
        || BELIEVED.get().is_some_and(|believed| believed.contains(&uid))
}

/// Who vouches for lines.
#[derive(Clone, Debug)]
pub(crate) enum Vouch {
    /// The file says it for all users
    All,
    /// This user, for lines of this user
    Owner(OwnLines),
}

impl Vouch {
    /// Of an open file.
    pub(crate) fn of(about: &Metadata) -> Self {
        match about.uid() {
            uid if is_believed(uid) => Vouch::All,
            uid => Vouch::Owner(OwnLines::new(uid)),
        }
    }

    /// The owner, if only the owner's lines count.
    pub(crate) fn owner(&self) -> Option<u32> {
        match self {
            Vouch::All => None,
            Vouch::Owner(own) => Some(own.uid),
        }
    }

    /// Whether a log line counts; else who it says that it is of. The name comes as a value: a line
    /// whose address was given away would have to be in memory with all its fields.
    #[inline(always)]
    pub(crate) fn line(&self, user: Name<'_>, extras: Extras<'_>) -> Result<(), Stranger> {
        match self {
            Vouch::All => Ok(()),
            Vouch::Owner(own) => by_owner(own, user, extras),
        }
    }

    /// The same of a line of an MPI profile, if lines come in the order of the file; `before` is
    /// what was found out about the lines before.
    pub(crate) fn profile(&self, text: &[u8], before: &mut OwnProfiles) -> Result<(), Stranger> {
        match self {
            Vouch::Owner(own) if !own.wrote_profile(text, before) => {
                Err(Stranger { owner: own.uid, claims: crate::profile_line::uid(text) })
            }
            _ => Ok(()),
        }
    }

    /// The same of a line by itself: only the first of a record says whose it is.
    pub(crate) fn lone_profile(&self, text: &[u8]) -> Result<(), Stranger> {
        match (self, crate::profile_line::uid(text)) {
            (Vouch::Owner(own), Some(uid)) if uid != u64::from(own.uid) => {
                Err(Stranger { owner: own.uid, claims: Some(uid) })
            }
            _ => Ok(()),
        }
    }

    /// Whether a comment is a foreign line that was set apart by [`mark`], and by whom it was
    /// written. In a file that only its owner vouches for it is a comment like any other.
    pub(crate) fn marked(&self, comment: &[u8]) -> Option<Stranger> {
        match self {
            Vouch::All => unmark(comment),
            Vouch::Owner(_) => None,
        }
    }
}

/// [`Vouch::line`] of a file whose owner's lines alone count.
#[inline(never)]
fn by_owner(own: &OwnLines, user: Name<'_>, extras: Extras<'_>) -> Result<(), Stranger> {
    if own.wrote(user, extras) {
        return Ok(());
    }
    Err(Stranger { owner: own.uid, claims: claimed(extras) })
}

/// The user that a line says it is of; None if it says none, or several.
fn claimed(extras: Extras<'_>) -> Option<u64> {
    match claim(extras) {
        Claim::Uid(uid) => Some(uid),
        Claim::None | Claim::Unclear => None,
    }
}

/// A line that its file's owner does not vouch for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stranger {
    /// Owner of the file
    pub owner: u32,
    /// The user the line says it is of; None if it says none, or several
    pub claims: Option<u64>,
}

/// What begins a foreign line that is kept in a file of somebody who is believed: a comment for
/// everybody who reads it.
const MARK: &[u8] = b"#foreign owner=";

/// What stands before a foreign line where it is kept.
pub(crate) fn mark(owner: u32) -> Vec<u8> {
    [MARK, owner.to_string().as_bytes(), b" "].concat()
}

/// Whether a text begins as [`mark`] does: its writer may have made that up.
pub(crate) fn is_marked(text: &[u8]) -> bool {
    text.starts_with(MARK)
}

#[cold]
fn unmark(comment: &[u8]) -> Option<Stranger> {
    let (owner, rest) = leading(comment.strip_prefix(MARK)?)?;
    let line = rest.strip_prefix(b" ")?;
    let claims = match Line::parse(line) {
        Ok((_, extras)) => claimed(extras),
        Err(_) => crate::profile_line::uid(line),
    };
    Some(Stranger { owner: u32::try_from(owner).ok()?, claims })
}

/// Users that are named of those that an owner's lines claim.
const CLAIMS: usize = 4;

/// Foreign lines: how many, in whose files, and of whom they say that they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Foreign(BTreeMap<u32, Claims>);

/// What the foreign lines in one owner's files claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// Lines
    pub lines: u64,
    /// Lines by the user they name, the lowest ids alone; None is no user, or several. What is
    /// missing to `lines` names others
    pub by_uid: BTreeMap<Option<u64>, u64>,
}

impl Claims {
    fn add(&mut self, claims: Option<u64>, lines: u64) {
        *self.by_uid.entry(claims).or_default() += lines;
        // The lowest of all are kept whatever the order they come in.
        if self.by_uid.len() > CLAIMS {
            self.by_uid.pop_last();
        }
    }
}

impl Foreign {
    /// Counts a line.
    pub(crate) fn add(&mut self, stranger: Stranger) {
        let claims = self.0.entry(stranger.owner).or_default();
        claims.lines += 1;
        claims.add(stranger.claims, 1);
    }

    /// Adds the counts of other lines.
    pub(crate) fn merge(&mut self, other: &Foreign) {
        for (owner, theirs) in &other.0 {
            let ours = self.0.entry(*owner).or_default();
            ours.lines += theirs.lines;
            theirs.by_uid.iter().for_each(|(claims, lines)| ours.add(*claims, *lines));
        }
    }

    /// Number of lines.
    pub fn lines(&self) -> u64 {
        self.0.values().map(|claims| claims.lines).sum()
    }

    /// Lines by the owner of the file they stand in.
    pub fn owners(&self) -> impl Iterator<Item = (u32, &Claims)> + '_ {
        self.0.iter().map(|(owner, claims)| (*owner, claims))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(extras: &str) -> String {
        topas_testkit::with_lengths(&format!(
            "1999/10/04 12:00:00 anna heat 5 16 t450 B f90 mpi 1.0 0.1 2.0 f=1 10 4711{extras}"
        ))
    }

    #[test]
    fn one_user_is_claimed_or_none() {
        for (extras, claims) in [
            (" v=1 t=1 uid=7 host=a", Claim::Uid(7)),
            (" v=1 t=1 uid=7", Claim::Uid(7)),
            (" v=1 host=a uid=7", Claim::Uid(7)),
            (" v=1 t=1 uid=7 uid=8", Claim::Unclear),
            (" v=1 t=1 uid=7 host=a uid", Claim::Unclear),
            (" v=1 uid=7 uid=7", Claim::Unclear),
            (" v=1 t=1 uid=x", Claim::Unclear),
            (" v=1 t=1 uid=7x", Claim::Unclear),
            (" v=1 t=1 host=uid=7", Claim::None),
            ("", Claim::None),
        ] {
            let text = line(extras);
            let (_, parsed) = Line::parse(text.as_bytes()).unwrap();
            assert_eq!(claim(parsed), claims, "{extras}");
        }
    }

    #[test]
    fn what_is_set_apart_is_foreign_again_and_only_where_that_is_believed() {
        let marked = [mark(70), line(" v=1 t=1 uid=7").into_bytes()].concat();
        let stranger = Some(Stranger { owner: 70, claims: Some(7) });
        assert_eq!(Vouch::All.marked(&marked), stranger);
        assert_eq!(Vouch::Owner(OwnLines::new(70)).marked(&marked), None);
        assert_eq!(Vouch::All.marked(b"#foreign things"), None);
    }

    #[test]
    fn sums_of_foreign_lines_do_not_know_the_order() {
        let lines: Vec<Stranger> = (0..40u64)
            .map(|n| Stranger { owner: 70 + (n % 2) as u32, claims: Some(n * 7 % 11) })
            .collect();
        let sum = |lines: &mut dyn Iterator<Item = &Stranger>| {
            let mut sum = Foreign::default();
            lines.for_each(|stranger| sum.add(*stranger));
            sum
        };
        let all = sum(&mut lines.iter());
        assert_eq!(all, sum(&mut lines.iter().rev()));
        let mut parts = sum(&mut lines[..13].iter());
        parts.merge(&sum(&mut lines[13..].iter()));
        assert_eq!((all.lines(), &all), (40, &parts));
        assert!(all.owners().all(|(_, claims)| claims.by_uid.len() == CLAIMS));
    }
}
