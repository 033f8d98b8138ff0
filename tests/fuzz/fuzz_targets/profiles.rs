//! Any bytes as a file with MPI profiles, and as a calibration.
#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use topas_data::Source;
use topas_data::mpi::{Calibration, METRICS, read_profiles};

fuzz_target!(|text: &[u8]| {
    let mut file = tempfile::NamedTempFile::new().expect("file");
    file.write_all(text).expect("write");
    let (read, _) = read_profiles(&[Source::File(file.path().to_owned())], &mut |_| {});
    for profile in &read.profiles {
        assert!(profile.ranks.is_sorted_by(|a, b| a.rank < b.rank));
        assert!(profile.total.routines.is_sorted_by(|a, b| a.number < b.number));
        for routine in &profile.total.routines {
            assert!(!profile.routines.name(routine.number).contains(' '));
        }
        METRICS.iter().for_each(|metric| drop(metric.value(&profile.total)));
    }
    if let Ok(text) = std::str::from_utf8(text)
        && let Ok(calibration) = Calibration::parse(text)
    {
        // What was understood is written so that it is understood the same, but for digits.
        let again = Calibration::parse(&calibration.text()).expect("our own file");
        assert_eq!(again.costs.len(), calibration.costs.len());
        assert_eq!((again.mpi, again.hosts), (calibration.mpi, calibration.hosts));
    }
});
