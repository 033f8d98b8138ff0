//! Any bytes as a segment that was closed before: it is read, or the lines that were to be added
//! to it stay where they are.
#![no_main]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use topas_data::{CloseError, CloseOptions, CloseReport, Closing, Listener, Month, close};

const LINE: &str =
    "1999/05/04 12:00:00 mohr a.out 5 16 t450 B f90 mpi 1.0 0.1 2.0 f=1000 10 4711\n";

/// What was done in the one directory.
#[derive(Default)]
struct Done(Option<CloseReport>);

impl Listener for Done {
    fn file(&mut self, _: &Closing<'_>) {}

    fn directory(&mut self, _: &Path, done: Result<CloseReport, CloseError>) {
        self.0 = Some(done.expect("a directory of our own"));
    }
}

fuzz_target!(|bytes: &[u8]| {
    let dir = PathBuf::from(format!("/dev/shm/topas-fuzz-segment.{}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    // What ends in a frame of an index, and what is anything.
    let json = bytes.strip_prefix(b"{").is_some();
    let mut segment = Vec::new();
    if json {
        segment.extend(0x184d_2a57_u32.to_le_bytes());
        segment.extend((bytes.len() as u32 + 12).to_le_bytes());
        segment.extend(bytes);
        segment.extend((bytes.len() as u32 + 20).to_le_bytes());
        segment.extend(b"TOPASIDX");
    } else {
        segment.extend(bytes);
    }
    fs::write(dir.join("1999-05.log.zst"), &segment).unwrap();
    let log = dir.join("1999-05.log");
    fs::write(&log, LINE).unwrap();
    let options = CloseOptions {
        before: "2000-01".parse::<Month>().unwrap(),
        to: None,
        join: false,
        idle: Duration::ZERO,
        settle: Duration::ZERO,
        dry_run: false,
    };
    let mut done = Done::default();
    close(&dir, false, options, &mut done);
    let report = done.0.expect("it was looked at");
    assert!(report.failed > 0 || report.files == 1 || log.exists());
    if report.files == 0 {
        assert_eq!(fs::read(dir.join("1999-05.log.zst")).unwrap(), segment);
    }
});
