//! The year 2026 of a center, a file a month: programs that lose speed in summer, and MPI profiles
//! of some runs, half of which tell waits apart.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use topas_format::civil::{Civil, Date};

use crate::center::{Run, Span, unit};
use crate::synthetic::Random;

/// Of so many runs one has an MPI profile.
const PROFILED: u64 = 50;

/// Programs that a new compiler made slow on 1 July, and what is left of their rate.
const SLOWER: [(&str, f64); 2] = [("cfd_les", 0.6), ("fem_solve", 0.7)];

/// Writes `2026-01.log` to `2026-12.log` into a directory: so many runs in all.
pub fn write(runs: u64, dir: &Path, seed: u64) -> io::Result<()> {
    for month in 1..=12u8 {
        let first = |month: u8| match month {
            13 => Date { year: 2027, month: 1, day: 1 },
            month => Date { year: 2026, month, day: 1 },
        };
        let begin = first(month).days() as u64 * 86_400;
        let length = first(month + 1).days() as u64 * 86_400 - begin;
        let from = runs * u64::from(month - 1) / 12;
        let to = runs * u64::from(month) / 12;
        let mut out = BufWriter::with_capacity(
            1 << 20,
            File::create(dir.join(format!("2026-{month:02}.log")))?,
        );
        for line in lines(from..to, Span { begin, length }, seed + u64::from(month), month >= 7) {
            out.write_all(&line)?;
        }
        out.flush()?;
    }
    Ok(())
}

/// Lines of runs in order of time.
fn lines(runs: std::ops::Range<u64>, span: Span, seed: u64, late: bool) -> Vec<Vec<u8>> {
    let mut random = Random::new(seed);
    let mut lines = Vec::new();
    for number in runs {
        let mut run = Run::new(&mut random, number, span);
        let slower = SLOWER.iter().find(|(exe, _)| late && *exe == run.code.exe);
        run.rate *= slower.map_or(1.0, |(_, left)| *left);
        // Ranks end within some tenths of a second.
        for (upper, later) in [(false, 0), (true, random.below(300_000))] {
            lines.push((run.end + later, run.line(&mut random, upper, later)));
        }
        if random.below(PROFILED) == 0 && run.code.mpi != "-" && run.how == "exit:0" {
            lines.push((run.end, profile(&run, &mut random)));
        }
    }
    lines.sort_by_key(|(end, _)| *end);
    lines.into_iter().map(|(_, line)| line).collect()
}

/// What programs spend their time in MPI on: routine, share, calls by second and rank, bytes of a
/// call, and whether these are sent and received.
const ROUTINES: [(&str, f64, f64, u64, [bool; 2]); 9] = [
    ("Allreduce", 0.31, 12.0, 64, [true, true]),
    ("Waitall", 0.27, 20.0, 0, [false, false]),
    ("Bcast", 0.12, 0.6, 65_536, [true, true]),
    ("Recv", 0.09, 6.0, 8_192, [false, true]),
    ("Barrier", 0.07, 0.5, 0, [false, false]),
    ("Send", 0.05, 6.0, 8_192, [true, false]),
    ("Isend", 0.05, 40.0, 16_384, [true, false]),
    ("Irecv", 0.03, 40.0, 16_384, [false, true]),
    ("Init", 0.01, 0.0, 0, [false, false]),
];

/// The record of a run's MPI profile.
fn profile(run: &Run, random: &mut Random) -> Vec<u8> {
    let ranks = f64::from(run.npes);
    let wall = run.wall as f64 / 1e6;
    let share = (0.04 + 0.05 * ranks.log2()) * (0.5 + unit(random));
    let sum = share * wall * ranks;
    let when = Civil::from_seconds((run.end / 1_000_000) as i64);
    let (Date { year, month, day }, time) = (when.date, when.time);
    let mut text = format!(
        "{year:04}/{month:02}/{day:02} {:02}:{:02}:{:02} topas-mpi u{:04} {} {} {:x} v=1 of=run \
         line=1/1 t={} uid={} end=finalize host=n1 mpi={} ranks={} wall={:.3} wallmax={wall:.3} \
         mpisum={sum:.3} mpimax={:.3} mpimin={:.3} usemax={:.3} over={:.3} thr=1 lang={}",
        time.hour,
        time.minute,
        time.second,
        run.user,
        run.code.exe,
        run.npes,
        run.id,
        run.end / 1_000_000,
        20_000 + run.user,
        run.code.mpi,
        run.npes,
        wall * ranks,
        1.2 * sum / ranks,
        0.8 * sum / ranks,
        wall - 0.8 * sum / ranks,
        2e-4 * wall * ranks,
        if run.code.lang.word().starts_with('f') { "mpifh" } else { "c" },
    );
    let waits = random.below(2) == 0;
    if waits {
        text += &format!(" late={:.3} latercv={:.3} coll={:.3}", 0.2 * sum, 0.02 * sum, 0.3 * sum);
    }
    for (name, part, rate, bytes, [sends, receives]) in ROUTINES {
        let calls = ((rate * wall * ranks) as u64).max(u64::from(run.npes));
        let amount = |does: bool| match does {
            true => format!("{calls}:{}", calls * bytes),
            false => ":".to_owned(),
        };
        let count = if bytes > 0 { (calls * bytes / 8).to_string() } else { String::new() };
        text += &format!(
            " f={name}:{calls}:{:.0}:1:{count}:{}:{}:{}",
            part * sum,
            amount(sends),
            amount(receives),
            run.npes
        );
    }
    if waits {
        let zero = "0:0";
        text += &format!(
            " l=Allreduce:{zero}:{zero}:100:{:.3}:{zero}:{zero}:{zero} l=Waitall:100:{:.3}:50:{:.3}:{zero}:{zero}:{zero}:{zero}",
            0.3 * sum,
            0.2 * sum,
            0.02 * sum
        );
    }
    let len = text.len() + 8;
    text += &format!(" len={:03}\n", if len > 999 { len + 1 } else { len });
    text.into_bytes()
}
