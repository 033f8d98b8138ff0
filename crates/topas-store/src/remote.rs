//! Brings what the index has into a shared database.
//!
//! The index is where lines become runs, whatever other stores there are: it knows what each file
//! has given, and does so in one transaction, which not every database can. Each row tells the batch
//! that changed it last. A shared database gets the rows of one batch after the other, and the index
//! notes a batch when all of it has arrived. Rows replace those of the same key, so a batch that was
//! interrupted is sent again. A database that is away gets all that it missed when it is back.

use crate::clickhouse::ClickHouse;
use crate::error::StoreError;
use crate::index::Index;
use crate::index::purge::{KEPT_FROM, KEPT_FROM_TOLD};
use crate::postgres::Postgres;
use crate::schema::{Cell, TABLES, Table};
use crate::store::Store;

/// A shared database.
pub trait RemoteStore: Store {
    /// What it is called in messages, without a password.
    fn name(&self) -> &str;

    /// Most rows that are put at once.
    fn portion(&self) -> usize {
        5000
    }

    /// Makes the tables that are not there.
    ///
    /// # Errors
    ///
    /// [`StoreError::Remote`].
    fn prepare(&mut self) -> Result<(), StoreError>;

    /// Removes all rows.
    ///
    /// # Errors
    ///
    /// [`StoreError::Remote`].
    fn clear(&mut self) -> Result<(), StoreError>;

    /// Removes all rows of before the first day of a month, a number such as 20241101.
    ///
    /// # Errors
    ///
    /// [`StoreError::Remote`]; then any of the rows may be there.
    fn remove_before(&mut self, day: i64) -> Result<(), StoreError>;

    /// Adds rows, of which no two have the same key; a row of the same key is replaced unless it
    /// is of a later version.
    ///
    /// # Errors
    ///
    /// [`StoreError::Remote`]; then any of the rows may be there.
    fn put(&mut self, table: &Table, rows: &[Vec<Cell>]) -> Result<(), StoreError>;
}

/// The store that `store =` in topas.conf names: None if it is none that is known.
pub fn remote_store(url: &str) -> Option<Box<dyn RemoteStore + Send>> {
    match url.split_once("://")?.0 {
        "postgres" | "postgresql" => Some(Box::new(Postgres::new(url)?)),
        "clickhouse" => Some(Box::new(ClickHouse::new(url)?)),
        _ => None,
    }
}

/// What was brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Batches
    pub batches: u64,
    /// Rows of all tables
    pub rows: u64,
}

/// Brings what `store` does not have yet.
///
/// # Errors
///
/// [`StoreError`] if the database cannot be used; the next call goes on there.
pub fn deliver(index: &mut Index, store: &mut dyn RemoteStore) -> Result<Delivered, StoreError> {
    index.number_by_version()?;
    let mut delivered = Delivered::default();
    if index.state("prepared")? == 0 {
        store.prepare()?;
        index.set_state("prepared", 1)?;
    }
    if index.state("cleared")? != 0 {
        store.prepare()?;
        store.clear()?;
        index.set_state("delivered", 0)?;
        index.set_state("cleared", 0)?;
    }
    let kept = index.state(KEPT_FROM)?;
    if kept > index.state(KEPT_FROM_TOLD)? {
        store.remove_before(kept)?;
        index.set_state(KEPT_FROM_TOLD, kept)?;
    }
    let mut done = index.state("delivered")?;
    while let Some(version) = index.next_version(done)? {
        for table in TABLES {
            delivered.rows += index
                .changed_rows(table, version, store.portion(), |rows| store.put(table, rows))?;
        }
        index.set_state("delivered", version)?;
        done = version;
        delivered.batches += 1;
    }
    Ok(delivered)
}
