//! Any bytes as a file with MPI profiles, and as a calibration.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topas_data::Source;
use topas_mpi_data::{Calibration, METRICS, read_profiles_of};

fuzz_target!(|text: &[u8]| {
    let (read, _) = read_profiles_of(&Source::Stdin, text);
    for profile in &read.profiles {
        assert!(profile.ranks.is_sorted_by(|a, b| a.rank < b.rank));
        assert!(profile.total.routines.is_sorted_by(|a, b| a.number < b.number));
        for routine in &profile.total.routines {
            assert!(!profile.routines.name(routine.number).contains(' '));
        }
        METRICS.iter().for_each(|metric| _ = metric.value(&profile.total));
    }
    if let Ok(text) = std::str::from_utf8(text)
        && let Ok(calibration) = Calibration::parse(text)
    {
        // What was understood is written so that it is understood the same, but for digits.
        let again = Calibration::parse(&calibration.text()).expect("our own file");
        assert_eq!(again.costs.len(), calibration.costs.len());
        // Very long names lose their ends.
        if text.len() < 300 {
            assert_eq!((again.mpi, again.hosts), (calibration.mpi, calibration.hosts));
        }
    }
});
