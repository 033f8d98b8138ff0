//! The PEs of a launch: reading, statistics, clusters, findings.

#[path = "../../examples/generate-pes/synthetic.rs"]
mod synthetic;

mod findings;
mod numpy;
mod reading;
mod statistics;

use std::num::NonZero;

use tempfile::TempDir;
use topas_data::pes::{PeLines, PeTable, read};
use topas_data::{Source, SourceError};

/// A file of lines, and its directory.
fn file(text: &[u8]) -> (TempDir, Source) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("topas.out");
    std::fs::write(&path, text).unwrap();
    (dir, Source::File(path))
}

fn read_all(sources: &[Source]) -> (PeLines, Vec<SourceError>) {
    read(sources, NonZero::new(2).unwrap(), u64::MAX, &|_| ()).unwrap()
}

/// The newest launch in a text.
fn table(text: &[u8]) -> PeTable {
    let (_dir, source) = file(text);
    let (lines, errors) = read_all(&[source]);
    assert!(errors.is_empty(), "{errors:?}");
    let launch = lines.launches().next().expect("a launch").clone();
    lines.table(&launch)
}

/// A line of 16 PEs whose rate is exactly `thousandths` of a MFlop/s.
fn rate_line(pe: u32, npes: u32, thousandths: u64) -> String {
    // In 1000 s.
    let operations = thousandths * 1_000_000;
    format!(
        "1999/08/23 12:00:00 mohr cpmd {pe} {npes} t450 B f90 mpi 999.0 1.0 1000.000 \
         f={operations} {operations} 4711\n"
    )
}
