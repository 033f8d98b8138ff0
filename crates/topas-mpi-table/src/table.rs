//! The table.

mod collective;
mod communicator;
mod datatype;
mod environment;
mod file;
mod file_access;
mod language;
mod one_sided;
mod outdated;
mod partitioned;
mod point_to_point;
mod process;
mod request;
mod tool;
mod topology;

use crate::function::Function;

/// A chapter of the standard, or part of one.
#[derive(Clone, Copy, Debug)]
pub struct Chapter {
    /// Its subject.
    pub title: &'static str,
    /// Its functions.
    pub functions: &'static [Function],
}

/// All chapters, in the order of the standard.
pub const CHAPTERS: [Chapter; 15] = [
    Chapter { title: "Point-to-point communication", functions: point_to_point::FUNCTIONS },
    Chapter { title: "Requests and statuses", functions: request::FUNCTIONS },
    Chapter { title: "Partitioned communication", functions: partitioned::FUNCTIONS },
    Chapter { title: "Datatypes", functions: datatype::FUNCTIONS },
    Chapter { title: "Collective communication", functions: collective::FUNCTIONS },
    Chapter { title: "Groups, communicators, attributes", functions: communicator::FUNCTIONS },
    Chapter { title: "Virtual topologies", functions: topology::FUNCTIONS },
    Chapter { title: "Environment, errors, info", functions: environment::FUNCTIONS },
    Chapter { title: "Process creation and management", functions: process::FUNCTIONS },
    Chapter { title: "One-sided communication", functions: one_sided::FUNCTIONS },
    Chapter { title: "Files", functions: file::FUNCTIONS },
    Chapter { title: "Data of files", functions: file_access::FUNCTIONS },
    Chapter { title: "Tool support", functions: tool::FUNCTIONS },
    Chapter { title: "Language bindings", functions: language::FUNCTIONS },
    Chapter { title: "Deprecated and removed", functions: outdated::FUNCTIONS },
];

/// Callbacks that MPI brings along. Libraries may export them, in Fortran above all; they are
/// passed to functions, not called, and there is nothing to wrap.
pub const PREDEFINED_CALLBACKS: [&str; 13] = [
    "MPI_COMM_DUP_FN",
    "MPI_COMM_NULL_COPY_FN",
    "MPI_COMM_NULL_DELETE_FN",
    "MPI_CONVERSION_FN_NULL",
    "MPI_DUP_FN",
    "MPI_NULL_COPY_FN",
    "MPI_NULL_DELETE_FN",
    "MPI_TYPE_DUP_FN",
    "MPI_TYPE_NULL_COPY_FN",
    "MPI_TYPE_NULL_DELETE_FN",
    "MPI_WIN_DUP_FN",
    "MPI_WIN_NULL_COPY_FN",
    "MPI_WIN_NULL_DELETE_FN",
];
