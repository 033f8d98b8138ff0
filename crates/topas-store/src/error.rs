//! What can go wrong with a store.

use std::fmt;

use topas_data::SourceError;

/// A store could not be used.
#[derive(Debug)]
pub enum StoreError {
    /// The index could not be opened, read or written
    Index {
        /// The file of the index
        path: String,
        /// What SQLite says
        cause: rusqlite::Error,
    },
    /// The index was made by another version of TOPAS
    Version {
        /// The file of the index
        path: String,
        /// The version that it has
        found: i64,
    },
    /// Another store could not be used
    Remote {
        /// What it is called, without a password
        store: String,
        /// What was tried
        what: &'static str,
        /// What it or the system says
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A value in a store is not what it should be
    Value {
        /// The column
        column: &'static str,
    },
    /// A source could not be read at all
    Source(SourceError),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Index { path, .. } => write!(f, "cannot use the index {path}"),
            StoreError::Version { path, found } => {
                write!(
                    f,
                    "the index {path} is of version {found}, which this program does not know"
                )
            }
            StoreError::Remote { store, what, .. } => write!(f, "cannot {what} {store}"),
            StoreError::Value { column } => {
                write!(f, "the store has a value in the column {column} that is none")
            }
            StoreError::Source(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StoreError::Index { cause, .. } => Some(cause),
            StoreError::Remote { cause, .. } => Some(&**cause),
            StoreError::Source(error) => error.source(),
            StoreError::Version { .. } | StoreError::Value { .. } => None,
        }
    }
}
