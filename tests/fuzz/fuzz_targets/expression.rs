//! Any text as an expression: read or refused at a place in it; what is read has a value
//! for any line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topas_data::Expression;
use topas_format::line::Line;

const LINE: &[u8] = b"2026/11/20 08:01:02 mohr heat3d 5 16 t2596 B f90 mpi 12.340 0.120 12.460 \
    f=123456789 - 81f277aa v=1 t=1795161662 end=exit:0 host=n42 mpi=Open_MPI_v4.1.4 len=160";

fuzz_target!(|text: &str| {
    match Expression::parse(text) {
        Ok(expression) => {
            let (line, extras) = Line::parse(LINE).unwrap();
            let _ = expression.is_true(&line, extras);
        }
        Err(error) => {
            assert!(error.at <= error.end && text.get(error.at..error.end).is_some());
            let _ = error.marked(text);
        }
    }
});
