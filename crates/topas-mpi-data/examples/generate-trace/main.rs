//! Writes the event log of a run that was made up, of any size, for tests and measurements:
//! `generate-trace RANKS STEPS LATE_RANK > made-up.trace`. A step is three to four calls of each rank.

#[allow(dead_code)]
mod synthetic;

use std::io::{BufWriter, Write, stdout};

use synthetic::SyntheticTrace;

fn main() -> std::io::Result<()> {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [ranks, steps, late] = numbers[..] else {
        eprintln!("generate-trace: three numbers are needed: ranks, steps, and the late rank");
        std::process::exit(2);
    };
    let run = SyntheticTrace {
        ranks: ranks as u32,
        steps,
        late: late as u32,
        ..SyntheticTrace::default()
    };
    let mut out = BufWriter::with_capacity(1 << 20, stdout().lock());
    let truth = run.write(&mut out)?;
    out.flush()?;
    eprintln!("{} calls, {} messages", truth.calls, truth.messages);
    Ok(())
}
