//! The launches in files.

use topas_mpi_data::{Ending, MpiRecordFacts};

use super::cells::CellTable;
use super::heading::when;
use crate::wording::named;

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

/// A table: facts of each launch and the ranks in its profile.
pub fn launches(known: &[(&MpiRecordFacts, u64)]) -> String {
    let mut cells =
        CellTable::new(["launch", "when", "user", "ranks", "profiles", "end", "program"])
            .left(3)
            .words();
    for (facts, ranks) in known {
        let end = end(facts);
        cells.row([
            named(&facts.id),
            when(facts.date, facts.time),
            named(&facts.user),
            facts.npes.map_or_else(|| "-".to_owned(), |npes| npes.to_string()),
            ranks.to_string(),
            if end.is_empty() { "-".to_owned() } else { end },
            named(&facts.exe),
        ]);
    }
    cells.aligned(2)
}

/// The same as data.
pub fn launches_csv(known: &[(&MpiRecordFacts, u64)]) -> String {
    let mut cells = CellTable::new(["id", "when", "user", "npes", "profiles", "end", "exe"]);
    for (facts, ranks) in known {
        cells.row([
            crate::wording::clean(&facts.id),
            when(facts.date, facts.time),
            crate::wording::clean(&facts.user),
            facts.npes.map(|npes| npes.to_string()).unwrap_or_default(),
            ranks.to_string(),
            end(facts),
            crate::wording::clean(&facts.exe),
        ]);
    }
    cells.csv()
}
