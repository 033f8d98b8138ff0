//! Files that are made from tables and committed: `doc/mpi-functions.md`, and what the MPI
//! profile knows of all functions.

pub mod mpi_stubs;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use topas_mpi_table::{CHAPTERS, Function, VERSIONS, functions};

/// A file that is made.
struct Made {
    /// Its path below the root of the sources.
    path: &'static str,
    /// Its text.
    text: fn() -> String,
}

const MADE: [Made; 5] = [
    Made { path: "doc/mpi-functions.md", text: mpi_functions },
    Made { path: "crates/topas-mpi-library/src/generated/symbols.s", text: mpi_stubs::symbols },
    Made { path: "crates/topas-mpi-library/src/generated/number.rs", text: mpi_stubs::numbers },
    Made {
        path: "crates/topas-mpi-library/src/generated/name.rs",
        text: mpi_stubs::names_by_number,
    },
    Made { path: "crates/topas-mpi-library/src/generated/table.rs", text: mpi_stubs::table },
];

/// Writes all files below `root`, or with `check` says which one is not as it would be written.
pub fn codegen(root: &Path, check: bool) -> Result<()> {
    for Made { path: name, text } in MADE {
        let path = root.join(name);
        let text = text();
        if check {
            let found = fs::read_to_string(&path).with_context(|| format!("cannot read {name}"))?;
            if found != text {
                bail!("{name} is not what its table makes\nhint: cargo xtask codegen");
            }
        } else {
            fs::write(&path, text).with_context(|| format!("cannot write {name}"))?;
        }
    }
    Ok(())
}

/// The table of MPI for people.
fn mpi_functions() -> String {
    let last = VERSIONS[VERSIONS.len() - 1];
    let mut text = format!(
        "# Functions of MPI\n\n\
         Made from `crates/topas-mpi-table` by `cargo xtask codegen`: {} functions of MPI {} to \
         {last}.\n\n\
         In the column of bytes, a count is multiplied with the size of its datatype. The bytes are what \
         one process passes to one call or receives from it, according to the arguments of the call. They \
         are not the traffic of an algorithm: the root of a broadcast sends its buffer once. Nothing is sent \
         to or received from `MPI_PROC_NULL`. On an intercommunicator, `ranks` is the number of ranks of the \
         other group. The column `_c` gives the version of MPI that introduced the variant of the function \
         for large counts.\n",
        functions().count(),
        VERSIONS[0],
    );
    for chapter in &CHAPTERS {
        let n = chapter.functions.len();
        write!(text, "\n## {}: {n} functions\n\n", chapter.title).expect("text");
        text += "| function | version | `_c` | class | waits for | bytes |\n";
        text += "| --- | --- | --- | --- | --- | --- |\n";
        chapter.functions.iter().for_each(|function| text += &row(function));
    }
    text
}

fn row(function: &Function) -> String {
    let mut version = function.since.to_string();
    let marks = [("deprecated", function.deprecated), ("removed", function.removed)];
    for (what, when) in marks {
        version += &when.map_or_else(String::new, |when| format!(", {what} {when}"));
    }
    let large = function.large.map_or_else(String::new, |since| since.to_string());
    let flows: Vec<_> = function.flows.iter().map(ToString::to_string).collect();
    let (class, waits) = (function.class, function.waits);
    format!(
        "| `{}` | {version} | {large} | {class} | {waits} | {} |\n",
        function.name,
        flows.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn committed_files_are_what_their_tables_make() {
        codegen(&crate::process::root(), true).unwrap();
    }

    #[test]
    fn a_row_says_what_a_call_moves() {
        let (gather, _) = topas_mpi_table::find("MPI_Igather").unwrap();
        assert_eq!(
            row(gather),
            "| `MPI_Igather` | 3.0 | 4.0 | collective, non-blocking | nothing | \
             all sends sendcount x sendtype to root, nothing in place; \
             root receives ranks x recvcount x recvtype, without the own block in place |\n"
        );
    }
}
