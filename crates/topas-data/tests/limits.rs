//! Files that are larger than they look, or look larger than they are.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use topas_data::check::{CheckFinding, check};
use topas_data::{Problem, Resources, Source, SourceError, Tally, scan};

const GOOD: &str =
    "1999/05/04 12:00:00 mohr a.out 5 16 t450 B f90 mpi 1.0 0.1 2.0 f=1000 10 4711\n";

/// 20 kB that hold 600 MB: the lines before them are counted, the rest is not waited for.
#[test]
fn a_bomb_is_left_where_it_is_told_from_a_log() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("2026-10.log.zst");
    let mut out = zstd::stream::write::Encoder::new(File::create(&path).unwrap(), 1).unwrap();
    out.write_all(GOOD.as_bytes()).unwrap();
    let zeros = vec![0; 1 << 20];
    (0..600).for_each(|_| out.write_all(&zeros).unwrap());
    out.finish().unwrap();
    let source = Source::File(path);
    let mut tally = Tally::default();
    let mut read = 0;
    let result = scan(&source, &mut tally, |_, _| read += 1, |_| ());
    let Err(SourceError::Broken { cause, .. }) = result else { panic!("{result:?}") };
    assert!(cause.to_string().contains("which no log does"), "{cause}");
    assert_eq!((tally.good, read), (1, 1));
}

/// A log with a hole of a terabyte in it: the lines on both sides are read, and what the hole is
/// in is one line that is too long.
#[test]
fn holes_are_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("2026-10.log");
    let mut file = File::create(&path).unwrap();
    file.write_all(GOOD.repeat(5000).as_bytes()).unwrap();
    let behind = format!("\n{}", GOOD.repeat(5000));
    if file.write_all_at(behind.as_bytes(), 1 << 40).is_err() {
        eprintln!("skipped: holes_are_passed_over: no file of a terabyte in this file system");
        return;
    }
    file.set_len((1 << 40) + (1 << 39)).unwrap();
    let source = Source::File(path);
    let since = Instant::now();
    let mut tally = Tally::default();
    scan(&source, &mut tally, |_, _| (), |_| ()).unwrap();
    let problems: Vec<_> = tally.problems().collect();
    assert_eq!((tally.good, problems), (10_000, vec![(Problem::TooLong, 2)]));
    let found = check(&[source], &Resources::default(), |_, _| ()).unwrap();
    assert_eq!((found.good, found.lines), (10_000, 10_002));
    assert_eq!(found.found[&CheckFinding::Bad(Problem::TooLong)].count, 2);
    assert!(since.elapsed() < Duration::from_secs(60), "{:?}", since.elapsed());
}
