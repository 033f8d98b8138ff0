//! Any bytes as a topas.out: every launch in it is listed, and shown as a table with all that is
//! computed of it.
#![no_main]

use std::fs;
use std::num::NonZero;
use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use topas_data::Source;
use topas_data::pes::{Column, all_groups, balance, best_clusters, findings, read, summary, values};

fuzz_target!(|text: &[u8]| {
    let path = PathBuf::from(format!("/dev/shm/topas-fuzz-pes.{}", std::process::id()));
    fs::write(&path, text).unwrap();
    let (lines, _) =
        read(&[Source::File(path)], NonZero::<usize>::MIN, u64::MAX, &|_| ()).expect("room");
    let listed = lines.list();
    assert!(listed.iter().map(|(launch, ..)| launch.lines).sum::<u64>() <= lines.tally.good);
    // Tables take a look at all lines each.
    for (launch, pes, hosts) in listed.into_iter().take(20) {
        let table = lines.table(launch);
        assert_eq!((table.rows.len(), table.hosts.len()), (pes, hosts));
        assert!(table.rows.is_sorted_by(|a, b| a.pe < b.pe));
        for column in [Column::Rate, Column::CpuTime, Column::Wall] {
            let of = values(&table, column);
            let _ = summary(&of);
            let _ = best_clusters(&table, &of);
            let _ = balance(&table, column, &of);
            let _ = all_groups(&table, &of);
        }
        let _ = findings(&table);
    }
});
