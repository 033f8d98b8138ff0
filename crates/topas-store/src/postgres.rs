//! PostgreSQL as a store: the tables of the index, for many readers at once.

use postgres::types::{ToSql, Type};
use postgres::{Client, Config, NoTls};

use crate::error::StoreError;
use crate::remote::{RemoteStore, Safe};
use crate::schema::{Cell, CellKind, RUNS, TABLES, Table};
use crate::store::{Dialect, Store};

/// A database of PostgreSQL. The connection is made when it is needed, and again after it broke.
pub struct Postgres {
    name: String,
    config: Config,
    client: Option<Client>,
}

impl Postgres {
    /// Of a URL such as `postgres://topas@host/topas`; None if it is none. Nothing is connected.
    pub fn new(url: &str) -> Option<Self> {
        let mut config: Config = url.parse().ok()?;
        config.connect_timeout(std::time::Duration::from_secs(10));
        config.application_name("topas-report");
        let name = format!("the database {}", config.get_dbname().unwrap_or("of PostgreSQL"));
        Some(Postgres { name, config, client: None })
    }

    /// Does something; after an error the next one begins with a new connection.
    fn tried<T>(
        &mut self,
        what: &'static str,
        each: impl FnOnce(&mut Client) -> Result<T, postgres::Error>,
    ) -> Result<T, StoreError> {
        let go = || {
            let client = match self.client.take().filter(|client| !client.is_closed()) {
                Some(client) => client,
                None => self.config.connect(NoTls)?,
            };
            let mut client = client;
            let done = each(&mut client)?;
            self.client = Some(client);
            Ok(done)
        };
        go().map_err(|cause: postgres::Error| StoreError::Remote {
            store: self.name.clone(),
            what,
            cause: Box::new(cause),
        })
    }
}

/// The statement that makes a table.
fn made(table: &Table) -> String {
    let columns = table.columns().map(|column| {
        let kind = match column.kind {
            CellKind::Int => "BIGINT",
            // Ordered byte by byte, as everywhere else.
            CellKind::Text => "TEXT COLLATE \"C\"",
            CellKind::Bytes => "BYTEA",
        };
        format!("{} {kind} NOT NULL", column.name)
    });
    let columns = columns.collect::<Vec<_>>().join(", ");
    let name = table.name;
    // Each index costs a tenth of the time of a row. A run is also found by its launch and id alone, so
    // these stand first, and need no index of their own.
    let key = if *name == *RUNS.name { "launch, id, owner".to_owned() } else { names(table.key) };
    format!("CREATE TABLE IF NOT EXISTS {name} ({columns}, PRIMARY KEY ({key}));")
}

fn names(columns: &[crate::schema::Column]) -> String {
    columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ")
}

/// With `$1`, `$2` in place of each `?`.
fn numbered(sql: &str) -> String {
    let mut parts = sql.split('?');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for (at, part) in parts.enumerate() {
        text += &format!("${}{part}", at + 1);
    }
    text
}

impl Store for Postgres {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn select(
        &mut self,
        sql: &str,
        values: &[Cell],
        kinds: &[CellKind],
    ) -> Result<Vec<Vec<Cell>>, StoreError> {
        let sql = numbered(sql);
        let values: Vec<(&(dyn ToSql + Sync), Type)> = values.iter().map(typed).collect();
        let rows = self.tried("ask", |client| client.query_typed(&sql, &values))?;
        let cell = |row: &postgres::Row, at: usize, kind: CellKind| {
            let column = "answer";
            let wrong = |_| StoreError::Value { column };
            Ok(match kind {
                // A sum over no rows is nothing.
                CellKind::Int => {
                    Cell::Int(row.try_get::<_, Option<i64>>(at).map_err(wrong)?.unwrap_or(0))
                }
                CellKind::Text => Cell::Text(row.try_get(at).map_err(wrong)?),
                CellKind::Bytes => Cell::Bytes(row.try_get(at).map_err(wrong)?),
            })
        };
        rows.iter()
            .map(|row| kinds.iter().enumerate().map(|(at, kind)| cell(row, at, *kind)).collect())
            .collect()
    }
}

fn typed(cell: &Cell) -> (&(dyn ToSql + Sync), Type) {
    match cell {
        Cell::Int(number) => (number, Type::INT8),
        Cell::Text(text) => (text, Type::TEXT),
        Cell::Bytes(bytes) => (bytes, Type::BYTEA),
    }
}

/// A column of many rows.
enum CellColumn<'c> {
    Int(Vec<i64>),
    Text(Vec<&'c str>),
    Bytes(Vec<&'c [u8]>),
}

impl RemoteStore for Postgres {
    fn name(&self) -> &str {
        &self.name
    }

    /// A session of the server is one process, and waits for its files: two of them are busy while one
    /// waits or another processor is free.
    fn another(&self) -> Option<Box<dyn RemoteStore>> {
        let (name, config) = (self.name.clone(), self.config.clone());
        Some(Box::new(Postgres { name, config, client: None }))
    }

    fn prepare(&mut self) -> Result<(), StoreError> {
        let mut sql: String = TABLES.iter().map(|table| made(table)).collect();
        sql += "CREATE INDEX IF NOT EXISTS runs_owner ON runs (owner, last_us, id);
                CREATE INDEX IF NOT EXISTS runs_program ON runs (owner, exe, last_us, id);
                CREATE INDEX IF NOT EXISTS runs_job ON runs (job, owner, last_us, id);
                CREATE INDEX IF NOT EXISTS runs_last ON runs (last_us, id);
                CREATE INDEX IF NOT EXISTS by_user_name ON by_user (user_name, owner)
                    WHERE measure = '';
                CREATE INDEX IF NOT EXISTS by_class_class
                    ON by_class (lang, lib, size, measure, month);";
        self.tried("make tables in", |client| client.batch_execute(&sql))
    }

    fn clear(&mut self) -> Result<(), StoreError> {
        let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
        let sql = format!("TRUNCATE {}", names.join(", "));
        self.tried("clear", |client| client.batch_execute(&sql))
    }

    fn remove_before(&mut self, day: i64) -> Result<(), StoreError> {
        for table in TABLES {
            let (condition, limit) = table.before(day);
            let sql = numbered(&format!("DELETE FROM {} WHERE {condition}", table.name));
            self.tried("remove old rows of", |client| client.query_typed(&sql, &[typed(&limit)]))?;
            // Rows that are deleted stay in the files until their room is given back.
            let sql = format!("VACUUM {}", table.name);
            self.tried("remove old rows of", |client| client.batch_execute(&sql))?;
        }
        Ok(())
    }

    fn put(&mut self, table: &Table, rows: &[Vec<Cell>], safe: Safe) -> Result<(), StoreError> {
        let mut columns = Vec::new();
        for (at, column) in table.columns().enumerate() {
            let wrong = || StoreError::Value { column: column.name };
            let cells = rows.iter().map(|row| row.get(at).ok_or_else(wrong));
            columns.push(match column.kind {
                CellKind::Int => CellColumn::Int(
                    cells
                        .map(|cell| match cell? {
                            Cell::Int(number) => Ok(*number),
                            _ => Err(wrong()),
                        })
                        .collect::<Result<_, _>>()?,
                ),
                CellKind::Text => CellColumn::Text(
                    cells
                        .map(|cell| match cell? {
                            Cell::Text(text) => Ok(text.as_str()),
                            _ => Err(wrong()),
                        })
                        .collect::<Result<_, _>>()?,
                ),
                CellKind::Bytes => CellColumn::Bytes(
                    cells
                        .map(|cell| match cell? {
                            Cell::Bytes(bytes) => Ok(bytes.as_slice()),
                            _ => Err(wrong()),
                        })
                        .collect::<Result<_, _>>()?,
                ),
            });
        }
        let values: Vec<(&(dyn ToSql + Sync), Type)> = columns
            .iter()
            .map(|column| -> (&(dyn ToSql + Sync), Type) {
                match column {
                    CellColumn::Int(numbers) => (numbers, Type::INT8_ARRAY),
                    CellColumn::Text(texts) => (texts, Type::TEXT_ARRAY),
                    CellColumn::Bytes(bytes) => (bytes, Type::BYTEA_ARRAY),
                }
            })
            .collect();
        // In the list of what is selected, so that the server makes row after row: functions behind FROM
        // are each written to a store of their own first.
        let marks: Vec<String> = (1..=values.len()).map(|at| format!("UNNEST(${at})")).collect();
        let set: Vec<String> =
            table.rest.iter().map(|column| format!("{0} = EXCLUDED.{0}", column.name)).collect();
        let (name, key) = (table.name, names(table.key));
        let sql = format!(
            "INSERT INTO {name} ({}) SELECT {} ON CONFLICT ({key}) DO UPDATE SET {} \
             WHERE {name}.version <= EXCLUDED.version",
            table.column_names(),
            marks.join(", "),
            set.join(", ")
        );
        self.tried("write to", |client| {
            let mut change = client.transaction()?;
            if safe == Safe::Later {
                // Of this change alone: the session may be one that a pool lends to others as well. The
                // log of changes is written in order, so the next change that waits for it makes this one
                // safe, too.
                change.batch_execute("SET LOCAL synchronous_commit = off")?;
            }
            change.query_typed(&sql, &values)?;
            change.commit()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::numbered;

    #[test]
    fn marks_are_numbered() {
        assert_eq!(numbered("a = ? AND b < ?"), "a = $1 AND b < $2");
        assert_eq!(numbered("a"), "a");
    }
}
