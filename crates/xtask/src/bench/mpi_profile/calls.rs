//! What a call of MPI costs more with something in front of the MPI.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::{BenchedMpi, Front, MPIS};
use crate::bench::{Bench, lines};
use crate::process::{output, run};

/// Bindings of Fortran, by module; the lines of the program begin with the function's name.
const BINDINGS: [(&str, &str, &[&str]); 2] =
    [("mpi", "mpif_block", &[]), ("mpi_f08", "f08_block", &["-DF08"])];

/// The routine of which the profile's own work is the most.
const CHEAPEST: &str = "Comm_rank";

/// What a call may cost, in ns.
const GOAL: f64 = 20.0;

/// Nanoseconds per call of a routine.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallCost {
    /// Median of the paired differences to the bare call
    pub(super) more: f64,
    /// The bare call
    pub(super) bare: f64,
}

/// Routines in order, and the costs of each in the runs so far.
#[derive(Default)]
pub(super) struct Costs {
    pub(super) order: Vec<String>,
    runs: BTreeMap<String, Vec<CallCost>>,
}

impl Costs {
    fn add(&mut self, said: &str) -> Result<()> {
        for line in said.lines() {
            let mut words = line.split(' ');
            let name = words.next().unwrap_or_default();
            let numbers: Vec<f64> = words.map(str::parse).collect::<Result<_, _>>()?;
            let &[more, _, _, bare] = numbers.as_slice() else {
                bail!("not a name and four numbers: {line}");
            };
            if !self.runs.contains_key(name) {
                self.order.push(name.to_owned());
            }
            self.runs.entry(name.to_owned()).or_default().push(CallCost { more, bare });
        }
        Ok(())
    }

    /// Medians over the runs.
    pub(super) fn of(&self, name: &str) -> Result<CallCost> {
        let runs = self.runs.get(name).with_context(|| format!("{name} was not timed"))?;
        let middle = |of: fn(&CallCost) -> f64| {
            let mut values: Vec<f64> = runs.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
        };
        Ok(CallCost { more: middle(|cost| cost.more), bare: middle(|cost| cost.bare) })
    }
}

/// The tables.
pub fn calls(bench: &Bench) -> Result<String> {
    let mut text = String::from(
        "## MPI profile: cost of a call\n\n\
         Nanoseconds that a call takes longer than the same call of the MPI's own library, whose \
         address the program looks up: blocks of both, some 20 µs long, alternate in one process; \
         median of the paired differences, and of runs that alternate, too. \"nothing\" shows how \
         exact that is. \"minimal\" is `bench/mpi_minimal.c`: wrappers in C that read the time \
         stamp counter twice and count calls, time, bytes and sizes, with no switch, no nesting, no \
         requests, no peers. `mpi:` and `f08:` are the bindings of Fortran, which call C inside: \
         what the binding itself costs is in the column \"nothing\", and taken off in the others. So it \
         is with files, because a bare call may meet wrappers inside of the MPI. \
         \"paused\" is after `MPI_Pcontrol(0)`; `nested:` calls are made inside of another by \
         functions of the user's.\n",
    );
    for mpi in MPIS {
        let dir = bench.sub(mpi.name)?;
        let program = CallProgram::build(mpi, &dir)?;
        let paused = Front { arguments: &["paused"], ..Front::peers(bench, "paused") };
        let threads = Front { arguments: &["threads"], ..Front::peers(bench, "thread multiple") };
        let nothing = Front::none("nothing");
        let minimal = Front::minimal(bench, mpi)?;
        let one = [
            vec![
                nothing.clone(),
                minimal.clone(),
                Front::profile(bench, "bytes, sizes"),
                Front::peers(bench, "bytes, sizes, peers"),
                threads,
                Front::everything(bench, "and communicators"),
                paused,
                Front::off(bench, "off"),
            ],
            Front::beside(bench, mpi),
        ]
        .concat();
        let two = [
            vec![
                nothing,
                minimal,
                Front::peers(bench, "bytes, sizes, peers"),
                Front::everything(bench, "and communicators"),
            ],
            Front::beside(bench, mpi),
        ]
        .concat();
        for (ranks, fronts) in [(1, one), (2, two)] {
            table(bench, &mut text, mpi, &program, ranks, &fronts)?;
        }
    }
    Ok(text)
}

/// The program, and where it runs.
pub(super) struct CallProgram {
    dir: PathBuf,
    exe: PathBuf,
}

impl CallProgram {
    pub(super) fn build(mpi: BenchedMpi, dir: &Path) -> Result<CallProgram> {
        let mut objects = vec![dir.join("calls.o")];
        run(mpi.compiler("mpicc").args(["-Wextra", "-c", "mpi_calls.c", "-o"]).arg(&objects[0]))?;
        for (module, entry, options) in BINDINGS {
            let object = dir.join(format!("{module}.o"));
            let mut fortran = mpi.compiler("mpifort");
            fortran.args(["-cpp", "-fallow-argument-mismatch", "-c", "mpi_calls.F90", "-o"]);
            fortran.arg(&object).args(options).arg(format!("-DMODULE={module}"));
            run(fortran.arg(format!("-DENTRY='{entry}'")).arg("-J").arg(dir))?;
            objects.push(object);
        }
        let exe = dir.join("calls");
        run(mpi.compiler("mpifort").args(&objects).arg("-o").arg(&exe))?;
        Ok(CallProgram { dir: dir.to_owned(), exe })
    }
}

/// Times all routines with each front: costs in the order of the fronts.
pub(super) fn timed(
    bench: &Bench,
    mpi: BenchedMpi,
    program: &CallProgram,
    ranks: u32,
    fronts: &[Front],
) -> Result<Vec<Costs>> {
    let pairs = if bench.quick { "101" } else { "401" };
    // The log has no lines of a rank alone.
    let out = program.dir.join("topas-mpi.out");
    let mut costs: Vec<Costs> = fronts.iter().map(|_| Costs::default()).collect();
    bench.progress(&format!("{}, ranks: {ranks}", mpi.title));
    // Four tables in less than three minutes.
    for _ in bench.rounds_within(10, Duration::from_secs(40)) {
        for (front, costs) in fronts.iter().zip(&mut costs) {
            let _ = fs::remove_file(&out);
            let mut launch = mpi.launch(ranks, front, &program.dir);
            let said = output(launch.arg(&program.exe).arg(pairs).args(front.arguments))?;
            // Figures of a profile that did not count would be worth nothing.
            if front.counts() != (lines(&out)? > 0) {
                bail!("{}: lines in {}: {}", front.title, out.display(), lines(&out)?);
            }
            costs.add(&said)?;
        }
    }
    for (front, costs) in fronts.iter().zip(&costs) {
        // Two readings of the clock take longer than that, so the reference met the library, too.
        let least = costs.of(CHEAPEST).ok().filter(|_| front.counts() && ranks == 1);
        if let Some(CallCost { more, .. }) = least.filter(|cost| cost.more < 2.0) {
            bail!("{}: {CHEAPEST} takes {more:.1} ns more: the bare call is not bare", front.title);
        }
    }
    Ok(costs)
}

/// How many ranks, in words.
pub(super) fn ranks_text(ranks: u32) -> String {
    if ranks == 1 { "one rank".to_owned() } else { format!("{ranks} ranks") }
}

fn table(
    bench: &Bench,
    text: &mut String,
    mpi: BenchedMpi,
    program: &CallProgram,
    ranks: u32,
    fronts: &[Front],
) -> Result<()> {
    let costs = timed(bench, mpi, program, ranks, fronts)?;
    let ranks = ranks_text(ranks);
    let titles: Vec<&str> = fronts.iter().map(|front| front.title.as_str()).collect();
    writeln!(
        text,
        "\n{}, {ranks}:\n\n| routine | bare call, ns | {} | goal |\n| --- |{} --- | --- |",
        mpi.version()?,
        titles.join(" | "),
        " --- |".repeat(titles.len())
    )?;
    let nothing = costs.first().context("nothing is the first")?;
    for name in &nothing.order {
        let base = nothing.of(name)?;
        let fortran = name.starts_with("mpi:") || name.starts_with("f08:");
        write!(text, "| {} | {:.1} |", name.replace('_', " "), base.bare)?;
        for (at, costs) in costs.iter().enumerate() {
            let cost = costs.of(name)?;
            let more = match at {
                0 => cost.more,
                _ if fortran => cost.more - base.more,
                // The MPI's own may call functions that are wrapped.
                _ if name.starts_with("File") => cost.more + cost.bare - base.more - base.bare,
                _ => cost.more,
            };
            write!(text, " {more:+.1} |")?;
        }
        let goal =
            if name.ends_with("1_MB") { "nothing measurable".into() } else { format!("{GOAL:+}") };
        writeln!(text, " {goal} |")?;
    }
    Ok(())
}
