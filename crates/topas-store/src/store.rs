//! What is asked of any database.

use crate::error::StoreError;
use crate::schema::{Cell, CellKind};

/// How a database writes what databases write in different ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite
    Sqlite,
    /// PostgreSQL
    Postgres,
    /// ClickHouse
    ClickHouse,
}

impl Dialect {
    /// A table whose rows are each there once.
    pub fn table(self, name: &str) -> String {
        match self {
            // Rows that replace others are merged at some time; until then both are there.
            Dialect::ClickHouse => format!("{name} FINAL"),
            Dialect::Sqlite | Dialect::Postgres => name.to_owned(),
        }
    }

    /// Whether a question reads its columns of all rows that the key does not rule out, so that a few
    /// rows are better asked for by their keys.
    pub fn reads_columns(self) -> bool {
        self == Dialect::ClickHouse
    }

    /// The sum of a column, as a number of 64 bits.
    pub fn sum(self, column: &str) -> String {
        match self {
            Dialect::Postgres => format!("CAST(sum({column}) AS BIGINT)"),
            Dialect::Sqlite | Dialect::ClickHouse => format!("sum({column})"),
        }
    }

    /// Whether a text holds what stands for `?`.
    pub fn contains(self, column: &str) -> String {
        match self {
            Dialect::Sqlite => format!("instr({column}, ?) > 0"),
            Dialect::Postgres => format!("strpos({column}, ?) > 0"),
            Dialect::ClickHouse => format!("position({column}, ?) > 0"),
        }
    }
}

/// A database with the tables of [`TABLES`](crate::TABLES).
pub trait Store {
    /// How it writes questions.
    fn dialect(&self) -> Dialect;

    /// The rows that a question gives. Each `?` in `sql` stands for the next of `values`, and
    /// `kinds` tells what the columns of the answer hold. Values never become part of the text
    /// in a way that they could be read as more than values.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the database does not answer, or not in this form.
    fn select(
        &mut self,
        sql: &str,
        values: &[Cell],
        kinds: &[CellKind],
    ) -> Result<Vec<Vec<Cell>>, StoreError>;
}
