//! What the MPI profile adds to `MPI_Init` and `MPI_Finalize`, to the memory of a rank and to
//! what is on disk, by ranks and by routines called.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::{BenchedMpi, Front, MPIS};
use crate::bench::{Bench, lines};
use crate::process::{output, run};

/// Ranks, routines that each rank calls, rounds at most, and seconds for them: under three minutes
/// for both MPIs.
const CASES: [(u32, u32, usize, u64); 5] =
    [(4, 0, 41, 12), (4, 8, 41, 12), (4, 65, 41, 12), (16, 8, 21, 20), (64, 8, 11, 25)];

/// Figures of a rank, in the order of the program's lines.
const INIT: usize = 0;
const FINALIZE: usize = 1;
const CPU: usize = 2;
const ANONYMOUS: usize = 3;
const FILES: usize = 4;
const SHARED: usize = 5;
const MOST: usize = 6;
const FIGURES: usize = 7;

/// One launch: the mean of each figure over its ranks.
type LaunchFigures = [f64; FIGURES];

/// The tables.
pub fn start(bench: &Bench) -> Result<String> {
    let mut text = String::from(
        "## MPI profile: start, end, memory\n\n\
         A program that begins, calls a number of routines once each, and ends. Times are of \
         `MPI_Init` and `MPI_Finalize` in the ranks, and the processor time of a rank from its \
         first instruction to after `MPI_Finalize`: means over the ranks, medians over launches \
         that alternate, as many as there is time for. \"more\" is the median of the differences to the launch without of the same \
         round. On two processors ranks wait for each other, and MPICH's waiting takes processor \
         time: \"again\" shows what differs by itself. Memory is what a rank has before \
         `MPI_Finalize`; the most it ever had is the kernel's `VmHWM`. What stands in files is \
         shared by all ranks of a node.\n",
    );
    let mut disk = String::new();
    let mut instructions = Vec::new();
    for mpi in MPIS {
        let dir = bench.sub(&format!("{}-start", mpi.name))?;
        let exe = dir.join("start");
        let linked = dir.join("start-linked");
        for (exe, object) in [(&exe, None), (&linked, Some(bench.paths.mpi_object()))] {
            let mut compiler = mpi.compiler("mpicc");
            run(compiler.args(["-Wextra", "mpi_start.c", "-o"]).arg(exe).args(object))?;
        }
        writeln!(
            text,
            "\n{}:\n\n\
             | ranks | routines | in front | Init, ms more | Finalize, ms more | both, ms more | \
             goal | CPU of a rank, ms | more | anonymous, kB more | files, kB more | shared, kB more | \
             most, kB | more | goal |\n| --- |{}",
            mpi.version()?,
            " --- |".repeat(14)
        )?;
        for (ranks, routines, rounds, seconds) in CASES {
            bench.progress(&format!("{}, {ranks} ranks, {routines} routines", mpi.title));
            let fronts = [
                vec![
                    Front::none("nothing"),
                    Front::none("nothing again"),
                    Front::minimal(bench, mpi)?,
                    Front::profile(bench, "profile"),
                    Front::everything(bench, "all"),
                    Front::object("all, linked"),
                    Front::off(bench, "off"),
                ],
                Front::beside(bench, mpi),
            ]
            .concat();
            let mut launches: Vec<Vec<LaunchFigures>> = fronts.iter().map(|_| Vec::new()).collect();
            for round in bench.rounds_within(rounds, Duration::from_secs(seconds)) {
                for (front, launches) in fronts.iter().zip(&mut launches) {
                    let exe = if front.linked { &linked } else { &exe };
                    let launch = launch(mpi, front, &dir, exe, (ranks, routines))?;
                    if round > 0 {
                        launches.push(launch);
                    } else if front.title == "all" {
                        written(&mut disk, mpi, (ranks, routines), &dir)?;
                    }
                }
            }
            rows(&mut text, (ranks, routines), &fronts, &launches)?;
        }
        bench.progress(&format!("{}, instructions", mpi.title));
        let millions = instructions_of_rank(bench, mpi, &dir, &exe)? / 1e6;
        instructions.push(format!("{millions:.1} million under {}", mpi.title));
    }
    writeln!(
        text,
        "\nInstructions of the library itself in a rank, from when the loader has it until the end, by callgrind: \
         {} (2 ranks, 8 routines, the mean of both). These do not hang on the load of the machine.",
        instructions.join(", ")
    )?;
    let library = bench.paths.mpi_library();
    let sizes = output(Command::new("size").arg(&library))?;
    let sizes = sizes.lines().nth(1).unwrap_or_default().split_whitespace().collect::<Vec<_>>();
    let &[code, data, bss, ..] = sizes.as_slice() else {
        bail!("size says nothing of {}", library.display());
    };
    writeln!(
        text,
        "\n`libtopas_mpi.so`: {} B, of which text {code}, data {data}, bss {bss}; `topas-mpi.o`: {} \
         B.\n\n\
         Written with peers and communicators (\"all\"), in bytes:\n\n\
         | MPI | ranks | routines | lines of the log | log | user's data | user's text |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n{disk}",
        fs::metadata(&library)?.len(),
        fs::metadata(bench.paths.mpi_object())?.len(),
    )?;
    Ok(text)
}

/// Starts all ranks once.
fn launch(
    mpi: BenchedMpi,
    front: &Front,
    dir: &Path,
    exe: &Path,
    (ranks, routines): (u32, u32),
) -> Result<LaunchFigures> {
    let figures = dir.join("figures");
    for file in ["figures", "log", "topas-mpi.out", "topas-mpi.txt"] {
        let _ = fs::remove_file(dir.join(file));
    }
    let mut launch = mpi.launch(ranks, front, dir);
    output(launch.arg(exe).arg(&figures).arg(routines.to_string()))?;
    let log = dir.join("log");
    if front.counts() != (lines(&log)? > 0) {
        bail!("{}: lines in {}: {}", front.title, log.display(), lines(&log)?);
    }
    let text = fs::read_to_string(&figures)
        .with_context(|| format!("no figures in {}", figures.display()))?;
    if text.lines().count() != ranks as usize {
        bail!("not {ranks} lines in {}", figures.display());
    }
    let mut sums = [0.0; FIGURES];
    for line in text.lines() {
        let mut words = line.split(' ');
        for sum in &mut sums {
            let word = words.next().with_context(|| format!("too few figures: {line}"))?;
            *sum += word.parse::<f64>().with_context(|| format!("not a number: {word}"))?;
        }
    }
    Ok(sums.map(|sum| sum / f64::from(ranks)))
}

/// Instructions of the library in a rank: the mean of two ranks.
fn instructions_of_rank(bench: &Bench, mpi: BenchedMpi, dir: &Path, exe: &Path) -> Result<f64> {
    let counts = bench.sub(&format!("{}-start-counts", mpi.name))?;
    for file in fs::read_dir(&counts)? {
        fs::remove_file(file?.path())?;
    }
    let mut launch = mpi.launch(2, &Front::profile(bench, "profile"), dir);
    launch.args(["valgrind", "--tool=callgrind", "--quiet"]);
    launch.arg(format!("--callgrind-out-file={}", counts.join("rank.%p").display()));
    output(launch.arg(exe).arg(dir.join("figures")).arg("8"))?;
    let library = bench.paths.mpi_library();
    let name = library.file_name().context("the library has no name")?.to_string_lossy();
    let (mut ranks, mut all) = (0, 0.0);
    for file in fs::read_dir(&counts)? {
        let mut annotate = Command::new("callgrind_annotate");
        let table = output(annotate.arg("--threshold=100").arg(file?.path()))?;
        // `1,234 ( 0.1%)  file:function [object]`
        for line in table.lines().filter(|line| line.ends_with(&format!("/{name}]"))) {
            let number = line.split_whitespace().next().unwrap_or_default().replace(',', "");
            all += number.parse::<f64>().with_context(|| format!("not a number: {line}"))?;
        }
        ranks += 1;
    }
    if ranks != 2 || all == 0.0 {
        bail!("callgrind counted {all} instructions of {ranks} ranks");
    }
    Ok(all / f64::from(ranks))
}

/// A row for each front.
fn rows(
    text: &mut String,
    (ranks, routines): (u32, u32),
    fronts: &[Front],
    launches: &[Vec<LaunchFigures>],
) -> Result<()> {
    let without = launches.first().context("nothing is the first")?;
    for (front, launches) in fronts.iter().zip(launches) {
        let value = |of: &dyn Fn(&LaunchFigures) -> f64| middle(launches.iter().map(of).collect());
        let more = |of: &dyn Fn(&LaunchFigures) -> f64| {
            middle(launches.iter().zip(without).map(|(with, bare)| of(with) - of(bare)).collect())
        };
        let ours = front.counts();
        let goal = if ours && ranks == 4 { "+2.000" } else { "" };
        let goal_kb = if ours { "+300" } else { "" };
        writeln!(
            text,
            "| {ranks} | {routines} | {} | {:+.3} | {:+.3} | {:+.3} | {goal} | {:.1} | {:+.1} | {:+.0} | \
             {:+.0} | {:+.0} | {:.0} | {:+.0} | {goal_kb} |",
            front.title,
            more(&|launch| launch[INIT]) / 1e3,
            more(&|launch| launch[FINALIZE]) / 1e3,
            more(&|launch| launch[INIT] + launch[FINALIZE]) / 1e3,
            value(&|launch| launch[CPU]) / 1e3,
            more(&|launch| launch[CPU]) / 1e3,
            more(&|launch| launch[ANONYMOUS]),
            more(&|launch| launch[FILES]),
            more(&|launch| launch[SHARED]),
            value(&|launch| launch[MOST]),
            more(&|launch| launch[MOST]),
        )?;
    }
    Ok(())
}

/// What a launch has written.
fn written(
    disk: &mut String,
    mpi: BenchedMpi,
    (ranks, routines): (u32, u32),
    dir: &Path,
) -> Result<()> {
    let size = |file: &str| fs::metadata(dir.join(file)).map_or(0, |data| data.len());
    writeln!(
        disk,
        "| {} | {ranks} | {routines} | {} | {} | {} | {} |",
        mpi.title,
        lines(&dir.join("log"))?,
        size("log"),
        size("topas-mpi.out"),
        size("topas-mpi.txt"),
    )?;
    Ok(())
}

/// The median.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
