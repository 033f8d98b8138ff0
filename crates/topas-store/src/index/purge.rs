//! Removes runs from the index, so that nothing of them is left in its file.
//!
//! What is removed is gone in one transaction, which also notes what is still to be done: the file has
//! to be written anew, because SQLite leaves the bytes of rows that are gone in it, and other stores have
//! to be told. A purge that is killed is finished by the next one.

use std::collections::BTreeSet;

use rusqlite::{Row, Transaction, params};
use topas_data::{Month, OwnLines, OwnProfiles, RunDetails, join_lines};

use super::{Index, cells, set_state};
use crate::error::StoreError;
use crate::schema::{CellKind, PROFILES, RUNS, TABLES};
use crate::stored_run::{StoredRun, stored_text};
use crate::sums::SumChanges;

/// The first day that is kept, a number such as 20241101.
pub(crate) const KEPT_FROM: &str = "kept_from";

/// The same as other stores were told.
pub(crate) const KEPT_FROM_TOLD: &str = "kept_from_told";

/// Whether the file has to be written anew.
const TO_COMPACT: &str = "to_compact";

/// What is removed from an index.
#[derive(Clone, Copy, Debug)]
pub enum ToPurge<'u> {
    /// Runs that ended in months before this one
    Before(Month),
    /// Runs of this user
    User(&'u OwnLines),
}

/// What was removed from an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// Runs
    pub runs: u64,
    /// Lines of MPI profiles
    pub profiles: u64,
}

impl Index {
    /// Removes runs, their part of all sums, and their MPI profiles. A limit of age also holds for what
    /// an ingest reads later. `keep_gone`: another store gets what the index has, and learns of it by the
    /// next [`deliver`](crate::deliver). With `dry_run` nothing is removed.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; then nothing is removed.
    pub fn purge(
        &mut self,
        what: ToPurge<'_>,
        keep_gone: bool,
        dry_run: bool,
    ) -> Result<Purged, StoreError> {
        let taken = match what {
            ToPurge::User(user) if !dry_run => self.taken(&owners(user))?,
            _ => SumChanges::default(),
        };
        let change = self.change()?;
        let taken = taken.changes();
        if !taken.is_empty() {
            // Rows of this user alone go below.
            change.add_sums(&taken, change.version()?)?;
        }
        let purged = change.tried(match what {
            ToPurge::Before(month) => before(&change.transaction, month),
            ToPurge::User(user) => of_user(&change.transaction, user),
        })?;
        if dry_run {
            // A change that is not committed is none.
            return Ok(purged);
        }
        if purged != Purged::default() {
            change.tried(set_state(&change.transaction, TO_COMPACT, 1))?;
            if keep_gone && matches!(what, ToPurge::User(_)) {
                // A database leaves bytes of rows that it deletes in its files. It gets all anew.
                change.tried(set_state(&change.transaction, "cleared", 1))?;
            }
        }
        change.commit()?;
        Ok(purged)
    }

    /// The names that a user has in the index and in the system, as they are stored.
    ///
    /// # Errors
    ///
    /// [`StoreError::Index`].
    pub fn names_of(&self, user: &OwnLines) -> Result<BTreeSet<String>, StoreError> {
        let mut names: BTreeSet<String> = user.name().map(stored_text).into_iter().collect();
        let read = || {
            let sql = "SELECT DISTINCT user_name FROM by_user WHERE owner = ?";
            let mut statement = self.connection.prepare(sql)?;
            let rows = statement.query_map([user.uid.to_string()], |row| row.get(0))?;
            rows.collect::<rusqlite::Result<Vec<String>>>()
        };
        names.extend(self.tried(read())?);
        Ok(names)
    }

    /// The part of these owners in all sums.
    fn taken(&self, owners: &[String]) -> Result<SumChanges, StoreError> {
        let kinds: Vec<CellKind> = RUNS.columns().map(|column| column.kind).collect();
        let sql = format!("SELECT {} FROM runs WHERE owner = ? AND gone = 0", RUNS.column_names());
        let mut sums = SumChanges::default();
        for owner in owners {
            let mut faulty = None;
            let mut read = || {
                let mut statement = self.connection.prepare_cached(&sql)?;
                let mut rows = statement.query([owner])?;
                while let Some(row) = rows.next()? {
                    match StoredRun::of_cells(cells(row, 0, &kinds)?) {
                        Ok(run) => {
                            let texts: Vec<&[u8]> = run.texts().collect();
                            join_lines(&texts, RunDetails::Listed, |run| sums.take(&run));
                        }
                        Err(error) => faulty = Some(error),
                    }
                }
                Ok(())
            };
            self.tried(read())?;
            if let Some(error) = faulty {
                return Err(error);
            }
        }
        Ok(sums)
    }

    /// Writes the file of the index anew if something was removed since that was done, so that it has no
    /// byte of it. Gives whether there was something to do.
    ///
    /// # Errors
    ///
    /// [`StoreError::Index`], as without room for a second file of this size, or if readers do not end;
    /// then the next call tries again.
    pub fn compact(&mut self) -> Result<bool, StoreError> {
        if self.state(TO_COMPACT)? == 0 {
            return Ok(false);
        }
        // In memory there may be no room for all of it.
        self.tried(self.connection.execute_batch("PRAGMA temp_store = FILE; VACUUM;"))?;
        self.tried(self.connection.execute_batch("PRAGMA temp_store = MEMORY;"))?;
        self.empty_log()?;
        self.set_state(TO_COMPACT, 0)?;
        Ok(true)
    }

    /// Brings all changes into the file itself, and makes the log of changes empty.
    fn empty_log(&self) -> Result<(), StoreError> {
        let busy = |row: &Row<'_>| row.get::<_, i64>(0);
        let busy = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], busy);
        if self.tried(busy)? == 0 {
            return Ok(());
        }
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
        let what = "readers of the index do not end".to_owned();
        self.tried(Err(rusqlite::Error::SqliteFailure(code, Some(what))))
    }
}

/// The owners of a user's runs: by the numeric id, and by name of lines that tell none.
fn owners(user: &OwnLines) -> Vec<String> {
    let name = user.name().map(|name| format!("@{}", stored_text(name)));
    [user.uid.to_string()].into_iter().chain(name).collect()
}

/// Removes what is of before a month.
fn before(transaction: &Transaction<'_>, month: Month) -> rusqlite::Result<Purged> {
    let day = (i64::from(month.year) * 100 + i64::from(month.month)) * 100 + 1;
    set_state(transaction, KEPT_FROM, day)?;
    let mut purged = Purged::default();
    for table in TABLES {
        let (condition, limit) = table.before(day);
        let sql = format!("DELETE FROM {} WHERE {condition}", table.name);
        let rows = transaction.execute(&sql, [super::value(limit)])? as u64;
        match table.name {
            name if name == RUNS.name => purged.runs = rows,
            name if name == PROFILES.name => purged.profiles = rows,
            _ => {}
        }
    }
    Ok(purged)
}

/// Removes what is of a user, but for the part in sums over several users.
fn of_user(transaction: &Transaction<'_>, user: &OwnLines) -> rusqlite::Result<Purged> {
    let mut purged = Purged::default();
    for owner in owners(user) {
        purged.runs += transaction.execute("DELETE FROM runs WHERE owner = ?", [&owner])? as u64;
        transaction.execute("DELETE FROM by_user WHERE owner = ?", [&owner])?;
        transaction.execute("DELETE FROM by_class WHERE owner = ?", [&owner])?;
    }
    let uid = user.uid.to_string();
    let sql = "DELETE FROM profiles WHERE owner = ?";
    purged.profiles += transaction.execute(sql, [&uid])? as u64;
    // In files that are believed, the first line of a record says whose it is.
    let mut own = Vec::new();
    let sql = "SELECT id, hash, line FROM profiles WHERE owner = '' ORDER BY version, place";
    let mut statement = transaction.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut before = OwnProfiles::default();
    while let Some(row) = rows.next()? {
        let line: Vec<u8> = row.get(2)?;
        if user.wrote_profile(&line, &mut before) {
            own.push((row.get::<_, String>(0)?, row.get::<_, i64>(1)?));
        }
    }
    let sql = "DELETE FROM profiles WHERE id = ? AND owner = '' AND hash = ?";
    for (id, hash) in own {
        purged.profiles += transaction.execute(sql, params![id, hash])? as u64;
    }
    Ok(purged)
}
