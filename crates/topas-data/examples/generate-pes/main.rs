//! Writes the lines of all PEs of a launch: `generate-pes PES [IMBALANCE [EFFECT [SEED]]]`,
//! to standard output. IMBALANCE: none, pe, host, numa, speeds, work, or shuffled: none, and
//! the lines in any order. EFFECT is a share, such as 0.3.

mod synthetic;

use std::io::{Write, stdout};
use std::process::ExitCode;

use synthetic::{Imbalance, Launch};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((launch, shuffled)) = launch(&args) else {
        eprintln!("generate-pes: error: usage: generate-pes PES [IMBALANCE [EFFECT [SEED]]]");
        return ExitCode::from(2);
    };
    let mut text = launch.text();
    if shuffled {
        let mut lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        // An order without a pattern, the same each time.
        lines.sort_by_cached_key(|line| {
            line.iter().fold(7u64, |hash, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
            })
        });
        text = lines.concat();
    }
    match stdout().lock().write_all(&text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generate-pes: error: cannot write\n  cause: {error}");
            ExitCode::FAILURE
        }
    }
}

fn launch(args: &[String]) -> Option<(Launch, bool)> {
    let pes = args.first()?.parse().ok()?;
    let number = |at: usize, default: f64| args.get(at).map_or(Some(default), |n| n.parse().ok());
    let word = args.get(1).map_or("none", |word| word);
    let imbalance = match word {
        "none" | "shuffled" => Imbalance::None,
        "pe" => Imbalance::SlowPe(pes * 9 / 64),
        "host" => Imbalance::SlowHost(pes / 8 / 2),
        "numa" => Imbalance::SlowNuma(1),
        "speeds" => Imbalance::TwoSpeeds,
        "work" => Imbalance::MoreWork(pes * 9 / 64),
        _ => return None,
    };
    let (effect, seed) = (number(2, 0.3)?, number(3, 1.0)? as u64);
    Some((Launch { pes, imbalance, effect, seed, ..Launch::default() }, word == "shuffled"))
}
