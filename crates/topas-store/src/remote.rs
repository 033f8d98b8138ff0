//! Brings what the index has into a shared database.
//!
//! The index is where lines become runs, whatever other stores there are: it knows what each file
//! has given, and does so in one transaction, which not every database can. Each row tells the batch
//! that changed it last. A shared database gets the rows of one batch after the other, and the index
//! notes a batch when all of it has arrived. Rows replace those of the same key, so a batch that was
//! interrupted is sent again. A database that is away gets all that it missed when it is back.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::clickhouse::ClickHouse;
use crate::error::StoreError;
use crate::index::Index;
use crate::index::purge::{KEPT_FROM, KEPT_FROM_TOLD};
use crate::postgres::Postgres;
use crate::schema::{Cell, TABLES, Table};
use crate::store::Store;

/// When rows that are put survive the death of the database's machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Safe {
    /// With the next rows that are put with [`Safe::Now`], by whichever connection
    Later,
    /// When the call returns, as are all rows that were put before
    Now,
}

/// A shared database.
pub trait RemoteStore: Store + Send {
    /// What it is called in messages, without a password.
    fn name(&self) -> &str;

    /// Most rows that are put at once.
    fn portion(&self) -> usize {
        5000
    }

    /// The same database over a connection of its own, if it takes rows faster over several.
    fn another(&self) -> Option<Box<dyn RemoteStore>> {
        None
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
    fn put(&mut self, table: &Table, rows: &[Vec<Cell>], safe: Safe) -> Result<(), StoreError>;
}

/// The store that `store =` in topas.conf names: None if it is none that is known.
pub fn remote_store(url: &str) -> Option<Box<dyn RemoteStore>> {
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
    let mut second = store.another();
    let mut done = index.state("delivered")?;
    while let Some(version) = index.next_version(done)? {
        delivered.rows += deliver_batch(index, version, store, &mut second)?;
        index.set_state("delivered", version)?;
        done = version;
        delivered.batches += 1;
    }
    Ok(delivered)
}

/// Rows of a table that are put at once.
type Portion = (&'static Table, Vec<Vec<Cell>>);

/// Brings what a batch changed: the number of rows, all of which are safe then.
///
/// The index is read while the database writes. Portions may arrive in any order, because no two rows
/// of a batch have the same key. The last portion waits for the others, and makes all of them safe.
fn deliver_batch(
    index: &Index,
    version: i64,
    store: &mut dyn RemoteStore,
    second: &mut Option<Box<dyn RemoteStore>>,
) -> Result<u64, StoreError> {
    let size = store.portion();
    let (mut rows, mut last): (u64, Option<Portion>) = (0, None);
    let mut stores: Vec<&mut dyn RemoteStore> = vec![&mut *store];
    if let Some(second) = second {
        stores.push(&mut **second);
    }
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel::<Portion>(0);
        let receiver = Arc::new(Mutex::new(receiver));
        let writers: Vec<_> = stores
            .into_iter()
            .map(|store| {
                let receiver = Arc::clone(&receiver);
                scope.spawn(move || put_portions(&receiver, store))
            })
            .collect();
        // It ends with the last writer, so that nothing is sent to nobody.
        drop(receiver);
        let read = TABLES.iter().try_for_each(|table| {
            rows += index.changed_rows(table, version, size, |rows| {
                match last.replace((table, rows)) {
                    Some(before) => sender.send(before).is_ok(),
                    None => true,
                }
            })?;
            Ok(())
        });
        drop(sender);
        let written = writers
            .into_iter()
            .map(|writer| writer.join().unwrap_or_else(|panic| resume_unwind(panic)));
        // Each is waited for, whatever became of the others.
        let written: Vec<_> = written.collect();
        written.into_iter().collect::<Result<(), _>>().and(read)
    })?;
    if let Some((table, rows)) = last {
        store.put(table, &rows, Safe::Now)?;
    }
    Ok(rows)
}

/// Puts portions until there are no more, or one cannot be put.
fn put_portions(
    portions: &Mutex<Receiver<Portion>>,
    store: &mut dyn RemoteStore,
) -> Result<(), StoreError> {
    loop {
        // The lock is not held while the portion is put.
        let next = portions.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((table, rows)) = next else { return Ok(()) };
        store.put(table, &rows, Safe::Later)?;
    }
}
