//! Any environment: a rank below its size or none, and a place in any TOPAS_PE.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topas_format::out::Out;
use topas_launch::{Proof, Var, Vars, choice, job, marker, named, nearest};

/// A system that knows nothing.
struct Nothing;

impl Proof for Nothing {
    fn own_pid(&mut self) -> u32 {
        77
    }
    fn peer(&mut self, fd: u32) -> Option<u32> {
        fd.is_multiple_of(2).then_some(fd)
    }
    fn control_port(&mut self, pid: u32) -> u64 {
        pid.into()
    }
}

fuzz_target!(|text: &[u8]| {
    let mut vars = Vars::default();
    for entry in text.split(|b| *b == 0) {
        vars.offer(entry);
    }
    let mut id = [0; 40];
    job::write_id(&vars, &mut Out::new(&mut id));
    let _ = job::mode(&vars);
    let Some(rank) = nearest(&vars, &mut Nothing) else {
        return;
    };
    assert!(rank.size == 0 || rank.rank < rank.size);
    if let Some((low, high)) = choice::two(rank.id, rank.size) {
        assert!(low < high && (rank.size == 0 || high < rank.size));
    }
    let _ = named::place(vars.get(Var::TopasPe).unwrap_or_default(), rank.size, rank.rank);
    let _ = marker::is_of_another(vars.get(Var::TopasRank).unwrap_or_default(), &rank, 1);
});
