//! The index: one file of SQLite, which needs no server and can be made again.

pub(crate) mod purge;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{
    Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params,
};
use topas_data::measure::IntegerSums;
use topas_data::{FileIdentity, FilePlace};

use crate::error::StoreError;
use crate::ingest::ProfileLine;
use crate::schema::{Cell, CellKind, RUNS, TABLES, Table};
use crate::store::{Dialect, Store};
use crate::stored_run::StoredRun;
use crate::sums::{GroupChange, SUM_TABLES};

/// Version of the tables. An index of another one is made again.
const VERSION: i64 = 4;

/// How long a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(120);

/// Memory for pages in KiB.
const CACHE: i64 = 256 << 10;

/// An index that is open.
pub struct Index {
    path: PathBuf,
    connection: Connection,
}

/// Tables that only the index has, and in which order rows are found. Lists of runs are in the order of
/// their ends; what a list is filtered by stands behind, so that only rows that it shows are read: a row
/// has the lines of its run.
const OWN_TABLES: &str = "
CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS files (
    device INTEGER NOT NULL, inode INTEGER NOT NULL, place INTEGER NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (device, inode)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS runs_launch ON runs (launch, last_us);
CREATE INDEX IF NOT EXISTS runs_owner ON runs (owner, last_us, id, gone, day, ending, exe, job);
CREATE INDEX IF NOT EXISTS runs_program ON runs (owner, exe, last_us, id, gone, day, ending, npes);
CREATE INDEX IF NOT EXISTS runs_job ON runs (job, owner, last_us, id);
CREATE INDEX IF NOT EXISTS runs_last ON runs (last_us, id, gone, day, ending, exe, job);
CREATE INDEX IF NOT EXISTS by_user_name ON by_user (user_name, owner) WHERE measure = '';
CREATE INDEX IF NOT EXISTS by_class_class ON by_class (lang, lib, size, measure, month);
";

/// The statement that makes a table. Runs are in the order in which they came; sums are found by
/// their key.
fn made(table: &Table) -> String {
    let columns: Vec<String> = table
        .columns()
        .map(|column| {
            let kind = match column.kind {
                CellKind::Int => "INTEGER",
                CellKind::Text => "TEXT",
                CellKind::Bytes => "BLOB",
            };
            format!("{} {kind} NOT NULL", column.name)
        })
        .collect();
    let (name, columns) = (table.name, columns.join(", "));
    if *name == *RUNS.name {
        return format!("CREATE TABLE IF NOT EXISTS {name} ({columns});");
    }
    let key: Vec<&str> = table.key.iter().map(|column| column.name).collect();
    let key = key.join(", ");
    format!("CREATE TABLE IF NOT EXISTS {name} ({columns}, PRIMARY KEY ({key})) WITHOUT ROWID;")
}

impl Index {
    /// Opens an index to write to it; makes it if there is none.
    ///
    /// # Errors
    ///
    /// [`StoreError::Index`] if that is not possible, [`StoreError::Version`] if it was made by
    /// another version of TOPAS.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let index = Index::connect(
            path,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        )?;
        let setup = format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -{CACHE};
             PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 10000;"
        );
        index.tried(index.connection.execute_batch(&setup))?;
        index.check_version()?;
        let tables: String = TABLES.iter().map(|table| made(table)).collect();
        let version = format!("PRAGMA user_version = {VERSION};");
        let all = format!("BEGIN IMMEDIATE; {tables} {OWN_TABLES} {version} COMMIT;");
        index.tried(index.connection.execute_batch(&all))?;
        Ok(index)
    }

    /// Opens an index to read it.
    ///
    /// # Errors
    ///
    /// As [`Index::open`]; also if there is no index.
    pub fn read(path: &Path) -> Result<Self, StoreError> {
        // A reader of a file with a log of changes has to write beside it. What it may not change
        // are the tables.
        let index = Index::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        index.tried(index.connection.execute_batch("PRAGMA query_only = 1;"))?;
        index.check_version()?;
        Ok(index)
    }

    fn connect(path: &Path, flags: OpenFlags) -> Result<Self, StoreError> {
        // Never as a URI: the name of a file is a name.
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = || {
            let connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(PATIENCE)?;
            Ok(connection)
        };
        match open() {
            Ok(connection) => Ok(Index { path: path.to_owned(), connection }),
            Err(cause) => Err(StoreError::Index { path: path.display().to_string(), cause }),
        }
    }

    fn check_version(&self) -> Result<(), StoreError> {
        let found: i64 =
            self.tried(self.connection.query_row("PRAGMA user_version", [], |row| row.get(0)))?;
        if found == 0 || found == VERSION {
            return Ok(());
        }
        Err(StoreError::Version { path: self.path.display().to_string(), found })
    }

    fn tried<T>(&self, result: rusqlite::Result<T>) -> Result<T, StoreError> {
        let path = || self.path.display().to_string();
        result.map_err(|cause| StoreError::Index { path: path(), cause })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How far a file was read.
    ///
    /// # Errors
    ///
    /// [`StoreError::Index`].
    pub fn place_of(&self, file: FileIdentity) -> Result<Option<FilePlace>, StoreError> {
        let sql = "SELECT place, checksum FROM files WHERE device = ? AND inode = ?";
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            let place = |row: &rusqlite::Row<'_>| {
                let (offset, check): (i64, i64) = (row.get(0)?, row.get(1)?);
                Ok(FilePlace { offset: offset as u64, check: check as u64 })
            };
            statement.query_row(params![file.device as i64, file.inode as i64], place).optional()
        };
        self.tried(read())
    }

    /// A number that is kept; 0 if it never was.
    ///
    /// # Errors
    ///
    /// [`StoreError::Index`].
    pub fn state(&self, name: &str) -> Result<i64, StoreError> {
        self.tried(state(&self.connection, name))
    }

    /// Keeps a number.
    ///
    /// # Errors
    ///
    /// [`StoreError::Index`].
    pub fn set_state(&self, name: &str, value: i64) -> Result<(), StoreError> {
        self.tried(set_state(&self.connection, name, value))
    }

    /// Makes the rows that a batch changed quick to find: only needed where another store gets them.
    pub(crate) fn number_by_version(&self) -> Result<(), StoreError> {
        let sql: String = TABLES
            .iter()
            .map(|table| {
                let name = table.name;
                format!("CREATE INDEX IF NOT EXISTS {name}_version ON {name} (version);")
            })
            .collect();
        self.tried(self.connection.execute_batch(&sql))
    }

    /// The first batch behind another one that changed something which was not changed again.
    pub(crate) fn next_version(&self, done: i64) -> Result<Option<i64>, StoreError> {
        let parts: Vec<String> = TABLES
            .iter()
            .map(|table| format!("SELECT min(version) AS v FROM {} WHERE version > ?1", table.name))
            .collect();
        let sql = format!("SELECT min(v) FROM ({})", parts.join(" UNION ALL "));
        self.tried(self.connection.query_row(&sql, [done], |row| row.get(0)))
    }

    /// The rows of a table that a batch changed, so many at once; how many they are. They are read in one
    /// pass, in the order in which the index has them, until `each` wants no more.
    pub(crate) fn changed_rows(
        &self,
        table: &Table,
        version: i64,
        portion: usize,
        mut each: impl FnMut(Vec<Vec<Cell>>) -> bool,
    ) -> Result<u64, StoreError> {
        let (columns, name) = (table.column_names(), table.name);
        let sql = format!("SELECT {columns} FROM {name} WHERE version = ?");
        let kinds: Vec<CellKind> = table.columns().map(|column| column.kind).collect();
        let mut statement = self.tried(self.connection.prepare_cached(&sql))?;
        let mut found = self.tried(statement.query([version]))?;
        let (mut rows, mut number) = (Vec::new(), 0);
        while let Some(row) = self.tried(found.next())? {
            rows.push(self.tried(cells(row, 0, &kinds))?);
            number += 1;
            if rows.len() == portion && !each(std::mem::take(&mut rows)) {
                return Ok(number);
            }
        }
        if !rows.is_empty() {
            each(rows);
        }
        Ok(number)
    }

    /// Forgets everything that is made of the log. Numbers of batches go on.
    ///
    /// # Errors
    ///
    /// [`StoreError::Index`]; then nothing is forgotten.
    pub fn clear(&mut self) -> Result<(), StoreError> {
        let mut sql = String::from("BEGIN IMMEDIATE; DELETE FROM files;");
        for table in TABLES {
            // A DELETE without a condition drops all pages at once.
            sql += &format!("DELETE FROM {};", table.name);
        }
        sql += "INSERT INTO state VALUES ('cleared', 1) ON CONFLICT (name) DO UPDATE SET value = 1;
                COMMIT;";
        self.tried(self.connection.execute_batch(&sql))
    }

    /// Begins to change it. What was done is there as a whole or not at all.
    ///
    /// # Errors
    ///
    /// [`StoreError::Index`] if another one has changed it for two minutes.
    pub(crate) fn change(&mut self) -> Result<IndexChange<'_>, StoreError> {
        let path = self.path.display().to_string();
        let begun = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        match begun {
            Ok(transaction) => {
                let columns = RUNS.column_names();
                let marks = vec!["?"; RUNS.columns().count()].join(", ");
                Ok(IndexChange {
                    path,
                    transaction,
                    find_runs: format!(
                        "SELECT rowid, {columns} FROM runs
                         WHERE launch = ? AND last_us >= ? AND first_us <= ? AND gone = 0"
                    ),
                    add_run: format!("INSERT INTO runs ({columns}) VALUES ({marks})"),
                    add_sums: SUM_TABLES.map(added).into(),
                    kinds: RUNS.columns().map(|column| column.kind).collect(),
                })
            }
            Err(cause) => Err(StoreError::Index { path, cause }),
        }
    }
}

fn state(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    let sql = "SELECT value FROM state WHERE name = ?";
    let read = connection.query_row(sql, [name], |row| row.get(0)).optional();
    Ok(read?.unwrap_or(0))
}

fn set_state(connection: &Connection, name: &str, value: i64) -> rusqlite::Result<()> {
    let sql =
        "INSERT INTO state VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    connection.execute(sql, params![name, value]).map(drop)
}

/// A change of the index.
pub(crate) struct IndexChange<'c> {
    path: String,
    transaction: Transaction<'c>,
    find_runs: String,
    add_run: String,
    /// For each table of sums
    add_sums: Vec<(&'static str, String)>,
    kinds: Vec<CellKind>,
}

/// The name of a table of sums, and the statement that adds to a row.
fn added(table: &'static Table) -> (&'static str, String) {
    let marks = vec!["?"; table.columns().count()].join(", ");
    let names: Vec<&str> = table.key.iter().map(|column| column.name).collect();
    let added: Vec<String> = IntegerSums::COLUMNS
        .iter()
        .map(|name| format!("{name} = {name} + excluded.{name}"))
        .collect();
    let sql = format!(
        "INSERT INTO {} ({}) VALUES ({marks}) ON CONFLICT ({}) DO UPDATE SET {}, \
         version = excluded.version",
        table.name,
        table.column_names(),
        names.join(", "),
        added.join(", ")
    );
    (table.name, sql)
}

impl IndexChange<'_> {
    fn tried<T>(&self, result: rusqlite::Result<T>) -> Result<T, StoreError> {
        result.map_err(|cause| StoreError::Index { path: self.path.clone(), cause })
    }

    /// The number of this change: one more than that of the last.
    pub fn version(&self) -> Result<i64, StoreError> {
        let sql = "INSERT INTO state VALUES ('version', 1)
                   ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value";
        self.tried(self.transaction.query_row(sql, [], |row| row.get(0)))
    }

    /// A number that is kept; 0 if it never was.
    pub fn state(&self, name: &str) -> Result<i64, StoreError> {
        self.tried(state(&self.transaction, name))
    }

    /// The runs of a launch that end at `from` or later and start at `to` or earlier, in µs, each
    /// with its place.
    pub fn runs_of(
        &self,
        launch: i64,
        from: i64,
        to: i64,
    ) -> Result<Vec<(i64, StoredRun)>, StoreError> {
        let read = || {
            let mut statement = self.transaction.prepare_cached(&self.find_runs)?;
            let mut rows = statement.query(params![launch, from, to])?;
            let mut runs = Vec::new();
            while let Some(row) = rows.next()? {
                runs.push((row.get(0)?, cells(row, 1, &self.kinds)?));
            }
            Ok(runs)
        };
        let runs = self.tried(read())?;
        runs.into_iter().map(|(place, cells)| Ok((place, StoredRun::of_cells(cells)?))).collect()
    }

    /// Adds a run; one of the same name that was gone is back.
    pub fn add_run(&self, run: StoredRun, keep_gone: bool) -> Result<(), StoreError> {
        let add = || {
            if keep_gone {
                let sql = "DELETE FROM runs WHERE launch = ? AND id = ? AND gone = 1";
                self.transaction.prepare_cached(sql)?.execute([run.launch, run.id])?;
            }
            let values = run.into_cells().into_iter().map(value);
            let mut statement = self.transaction.prepare_cached(&self.add_run)?;
            statement.execute(rusqlite::params_from_iter(values))
        };
        self.tried(add()).map(drop)
    }

    /// A run became part of another one. If it is to be told to other stores, a row without lines
    /// stays.
    pub fn remove_run(&self, place: i64, keep: bool, version: i64) -> Result<(), StoreError> {
        let done = if keep {
            let sql = "UPDATE runs SET gone = 1, lines = x'', version = ? WHERE rowid = ?";
            self.transaction.prepare_cached(sql).and_then(|mut s| s.execute([version, place]))
        } else {
            let sql = "DELETE FROM runs WHERE rowid = ?";
            self.transaction.prepare_cached(sql).and_then(|mut s| s.execute([place]))
        };
        self.tried(done).map(drop)
    }

    /// Adds to sums.
    pub fn add_sums(&self, changes: &[GroupChange], version: i64) -> Result<(), StoreError> {
        changes.chunk_by(|a, b| a.table.name == b.table.name).try_for_each(|of_table| {
            let name = of_table[0].table.name;
            let known = self.add_sums.iter().find(|(known, _)| *known == name);
            let Some((_, sql)) = known else { return Err(StoreError::Value { column: "measure" }) };
            self.tried(self.add_to_table(sql, of_table, version))
        })
    }

    fn add_to_table(
        &self,
        sql: &str,
        changes: &[GroupChange],
        version: i64,
    ) -> rusqlite::Result<()> {
        let mut statement = self.transaction.prepare_cached(sql)?;
        for change in changes {
            // The values of a key stay bound for all sums of its group.
            for (at, cell) in (1..).zip(&change.key) {
                statement.raw_bind_parameter(at, bound(cell))?;
            }
            let behind = change.key.len() + 1;
            for (measure, sums) in change.sums() {
                statement.raw_bind_parameter(behind, measure)?;
                for (at, number) in (behind + 1..).zip(sums.0.iter().chain([&version])) {
                    statement.raw_bind_parameter(at, number)?;
                }
                statement.raw_execute()?;
            }
        }
        Ok(())
    }

    /// Adds lines of MPI profiles; what is there stays.
    pub fn add_profiles(&self, lines: &[ProfileLine], version: i64) -> Result<(), StoreError> {
        let add = || {
            let sql = "INSERT INTO profiles (id, owner, hash, place, line, version)
                       VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
            let mut statement = self.transaction.prepare_cached(sql)?;
            for (place, line) in (0_i64..).zip(lines) {
                let ProfileLine { id, owner, hash, text } = line;
                statement.execute(params![id, owner, hash, place, text, version])?;
            }
            Ok(())
        };
        self.tried(add())
    }

    /// Notes how far a file was read.
    pub fn set_place(&self, file: FileIdentity, place: FilePlace) -> Result<(), StoreError> {
        let sql = "INSERT INTO files VALUES (?, ?, ?, ?) ON CONFLICT (device, inode)
                   DO UPDATE SET place = excluded.place, checksum = excluded.checksum";
        let numbers = [file.device, file.inode, place.offset, place.check].map(|n| n as i64);
        let set = self.transaction.prepare_cached(sql).and_then(|mut s| s.execute(numbers));
        self.tried(set).map(drop)
    }

    /// Makes the change.
    pub fn commit(self) -> Result<(), StoreError> {
        let IndexChange { path, transaction, .. } = self;
        transaction.commit().map_err(|cause| StoreError::Index { path, cause })
    }
}

/// A value for a statement, as it is in memory.
fn bound(cell: &Cell) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(match cell {
        Cell::Int(number) => ValueRef::Integer(*number),
        Cell::Text(text) => ValueRef::Text(text.as_bytes()),
        Cell::Bytes(bytes) => ValueRef::Blob(bytes),
    })
}

fn value(cell: Cell) -> Value {
    match cell {
        Cell::Int(number) => Value::Integer(number),
        Cell::Text(text) => Value::Text(text),
        Cell::Bytes(bytes) => Value::Blob(bytes),
    }
}

/// The values of a row from a column on.
fn cells(row: &rusqlite::Row<'_>, from: usize, kinds: &[CellKind]) -> rusqlite::Result<Vec<Cell>> {
    let cell = |(at, kind): (usize, &CellKind)| {
        let at = from + at;
        Ok(match (kind, row.get_ref(at)?) {
            (CellKind::Int, ValueRef::Integer(number)) => Cell::Int(number),
            // A sum over no rows.
            (CellKind::Int, ValueRef::Null) => Cell::Int(0),
            (CellKind::Bytes, ValueRef::Blob(bytes)) => Cell::Bytes(bytes.to_vec()),
            (CellKind::Text, value) => Cell::Text(value.as_str()?.to_owned()),
            (_, other) => {
                let found = other.data_type();
                return Err(rusqlite::Error::InvalidColumnType(at, format!("{kind:?}"), found));
            }
        })
    };
    kinds.iter().enumerate().map(cell).collect()
}

impl Store for Index {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn select(
        &mut self,
        sql: &str,
        values: &[Cell],
        kinds: &[CellKind],
    ) -> Result<Vec<Vec<Cell>>, StoreError> {
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            let values = values.iter().cloned().map(value);
            let mut rows = statement.query(rusqlite::params_from_iter(values))?;
            let mut all = Vec::new();
            while let Some(row) = rows.next()? {
                all.push(cells(row, 0, kinds)?);
            }
            Ok(all)
        };
        self.tried(read())
    }
}
