//! Any bytes as what sacct printed.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use topas_data::{RunsByJob, SacctJobs, SacctSeen};

fuzz_target!(|bytes: &[u8]| {
    let path = Path::new("sacct");
    let mut jobs = SacctJobs::default();
    if jobs.read(bytes, path).is_err() {
        return;
    }
    let tally = jobs.tally.clone();
    assert!(tally.skipped() <= tally.rows && tally.skipped() + jobs.len() as u64 <= tally.rows);
    let coverage = SacctSeen::new(&jobs).coverage(RunsByJob::default());
    assert_eq!(coverage.ran.jobs + coverage.never_ran, jobs.len() as u64);
    assert_eq!(coverage.measured.jobs, 0, "there are no lines");
    let by_reason: u64 = coverage.reasons.iter().map(|(_, share)| share.jobs).sum();
    assert_eq!(by_reason, coverage.ran.jobs);
    // The same once more changes nothing, whatever it was compressed by.
    if jobs.read(bytes, path).is_ok() {
        let again = SacctSeen::new(&jobs).coverage(RunsByJob::default());
        assert_eq!(again.ran.jobs + again.never_ran, coverage.ran.jobs + coverage.never_ran);
    }
});
