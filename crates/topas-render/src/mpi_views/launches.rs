//! The launches in files.

use topas_mpi_data::{Ending, MpiRecordFacts};

use super::cells::CellTable;
use super::heading::when;
use crate::wording::{named, programs};

fn end(facts: &MpiRecordFacts) -> String {
    match facts.ending {
        Some(Ending::Finalize) => "finalize".to_owned(),
        Some(Ending::Abort(code)) => format!("abort:{code}"),
        Some(Ending::Exit) => "exit".to_owned(),
        Some(Ending::Lost) => "lost".to_owned(),
        Some(Ending::Running) => "running".to_owned(),
        None => String::new(),
    }
}

/// The directory in which a launch was begun; empty if that is not known.
fn directory(facts: &MpiRecordFacts) -> String {
    let directory = facts.directory().map(|directory| directory.as_os_str().as_encoded_bytes());
    directory.map_or_else(String::new, crate::wording::clean)
}

/// What stands in a column where nothing is known.
fn or_dash(text: String) -> String {
    if text.is_empty() { "-".to_owned() } else { text }
}

/// A table: facts of each launch and the ranks in its profile; of those that ranks keep the directory, too.
pub fn launches(known: &[(&MpiRecordFacts, u64)]) -> String {
    let has_directory = known.iter().any(|(facts, _)| facts.directory().is_some());
    let header = ["launch", "when", "user", "ranks", "profiles", "end", "program"];
    let header = header.into_iter().chain(has_directory.then_some("directory"));
    let mut cells = CellTable::new(header).left(3).words();
    for (facts, ranks) in known {
        let row = [
            named(&facts.id),
            when(facts.date, facts.time),
            named(&facts.user),
            or_dash(facts.npes.map(|npes| npes.to_string()).unwrap_or_default()),
            ranks.to_string(),
            or_dash(end(facts)),
            programs(&facts.exe, &facts.other_exes, []),
        ];
        let directory = has_directory.then(|| or_dash(directory(facts)));
        cells.row(row.into_iter().chain(directory));
    }
    cells.aligned(2)
}

/// The same as data.
pub fn launches_csv(known: &[(&MpiRecordFacts, u64)]) -> String {
    let mut cells =
        CellTable::new(["id", "when", "user", "npes", "profiles", "end", "exe", "directory"]);
    for (facts, ranks) in known {
        cells.row([
            crate::wording::clean(&facts.id),
            when(facts.date, facts.time),
            crate::wording::clean(&facts.user),
            facts.npes.map(|npes| npes.to_string()).unwrap_or_default(),
            ranks.to_string(),
            end(facts),
            crate::wording::clean(&facts.exe),
            directory(facts),
        ]);
    }
    cells.csv()
}
