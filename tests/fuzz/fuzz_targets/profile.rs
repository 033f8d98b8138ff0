//! Any bytes as a line of an MPI profile, as a token of one, and as a message of sums.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topas_mpi_profile::parse::Line;
use topas_mpi_profile::sums::Sums;
use topas_mpi_profile::wire::{MAX_MESSAGE, read, write};

fuzz_target!(|bytes: &[u8]| {
    let mut whole = b"2026/11/20 08:01:02 topas-mpi u e 1 id v=1 of=run line=1/1 ".to_vec();
    whole.extend(bytes.iter().filter(|byte| **byte != b'\n'));
    let len = whole.len() + 8;
    whole.extend(format!(" len={len:03}").bytes());
    for line in [bytes, &whole] {
        if let Ok(line) = Line::parse(line) {
            assert!((1..=line.lines).contains(&line.line));
            line.tokens().for_each(drop);
        }
    }
    let mut sums = Box::new(Sums::new());
    if read(bytes, &mut sums).is_ok() {
        // What was understood is written so that it is understood the same.
        let mut room = vec![0; MAX_MESSAGE];
        let length = write(&sums, &mut room).expect("any sums fit");
        let mut again = Box::new(Sums::new());
        read(&room[..length], &mut again).expect("our own message");
        assert_eq!(sums, again);
    }
});
