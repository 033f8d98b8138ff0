//! A log that is made of numbers.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use topas_testkit::{numbers_below, with_lengths};

/// Lines of so many runs by six users: two lines, one, the second late or in another file, equal
/// lines, ids that come again, programs without a launch id, and accelerators.
#[allow(dead_code, reason = "each test uses a part")]
pub fn runs(seed: u64, runs: u64) -> Vec<(usize, String)> {
    runs_from(seed, 0, runs)
}

/// The same of runs from a number on, which are later ones.
pub fn runs_from(seed: u64, first: u64, runs: u64) -> Vec<(usize, String)> {
    let mut below = numbers_below(seed);
    let mut lines = Vec::new();
    for run in first..first + runs {
        let at = 1_780_000_000 + run * 37 + below(30);
        let (user, lang) = (below(6), ["c", "cxx", "f77", "f90"][below(4) as usize]);
        let lib = ["mpi", "-", "sma"][below(3) as usize];
        let npes = [1, 2, 4, 16, 300][below(5) as usize];
        let id = match below(9) {
            0 => "-".to_owned(),
            1 => format!("{}", below(5)),
            _ => format!("j{run}"),
        };
        let exe = ["heat", "solve%20it", "a<b>", "x'y"][below(4) as usize];
        let wall = 1 + below(50);
        let rate = 1 + below(900);
        for (line, pe) in [0, npes / 2].into_iter().enumerate() {
            if line == 1 && (npes == 1 || below(8) == 0) {
                continue;
            }
            let end = at + below(2);
            let date = civil(end);
            let ops = match below(7) {
                0 => "f=-".to_owned(),
                1 => format!("f~{}", rate * wall * 1_000_000),
                _ => format!("f={}", rate * wall * 1_000_000 + below(1000)),
            };
            let gpu = if below(20) == 0 { " gpu=cuda" } else { "" };
            let text = format!(
                "{date} user{user} {exe} {pe} {npes} t2596 B {lang} {lib} {wall}.25 0.{} {wall}.5 {ops} {} \
                 {id} v=1 t={end} uid={} host=n{pe} job={run} end=exit:{} cyc={} ins={}{gpu}\n",
                1 + below(8),
                below(100_000),
                1000 + user,
                below(15) / 14,
                1 + below(1 << 40),
                below(1 << 41),
            );
            let copies = if below(50) == 0 { 2 } else { 1 };
            for _ in 0..copies {
                lines.push((below(4) as usize, with_lengths(&text)));
            }
        }
    }
    lines
}

/// Local time of a site in UTC.
fn civil(epoch: u64) -> String {
    let civil = topas_format::civil::Civil::from_seconds(epoch as i64);
    let (date, second) = (civil.date, epoch % 86_400);
    format!(
        "{:04}/{:02}/{:02} {:02}:{:02}:{:02}",
        date.year,
        date.month,
        date.day,
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// Appends lines to files of a directory.
pub fn append(dir: &Path, lines: &[(usize, String)]) {
    let mut texts = std::collections::BTreeMap::<usize, String>::new();
    for (file, line) in lines {
        *texts.entry(*file).or_default() += line;
    }
    for (file, text) in texts {
        let path = dir.join(format!("2026-{file}.log"));
        let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }
}
