//! System calls that the module adds, by name: under each kind of launch, on ranks that
//! measure and on those that do not.

use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use super::trace::Calls;
use super::{Bench, Linked, MEASURES, OTHER, RANKS, alone, as_software, lines, open_mpi_rank};
use crate::process::shown;

/// A program in two forms, and where its lines go.
struct CallPair {
    dir: PathBuf,
    bare: PathBuf,
    linked: PathBuf,
    log: PathBuf,
}

/// What the module added.
struct CallRow {
    more: i64,
    names: String,
    /// Lines left in the log
    lines: usize,
}

impl CallPair {
    fn new(bench: &Bench, name: &str, inputs: &[&str]) -> Result<CallPair> {
        let dir = bench.sub("calls")?.join(name);
        // Under one name, because a launcher may use it.
        let (bare, linked) = (dir.join("bare/program"), dir.join("linked/program"));
        for (exe, form) in [(&bare, Linked::Bare), (&linked, Linked::Module)] {
            fs::create_dir_all(exe.parent().context("a program has a directory")?)?;
            bench.compile(exe, inputs, form)?;
        }
        Ok(CallPair { log: dir.join("log"), dir, bare, linked })
    }

    /// Traces both forms as `start` starts them.
    fn row(&self, start: impl Fn(&Path) -> Command) -> Result<CallRow> {
        let report = self.dir.join("report");
        let bare = Calls::of(&start(&self.bare), &report)?;
        let before = lines(&self.log)?;
        let linked = Calls::of(&start(&self.linked), &report)?;
        Ok(CallRow {
            more: linked.number() - bare.number(),
            names: linked.beyond(&bare),
            lines: lines(&self.log)? - before,
        })
    }

    /// Traces both forms, each rank by itself, under MPICH's launcher. The row of the rank
    /// that measures, and that of the other with most calls.
    fn hydra(&self, id: Option<&str>) -> Result<[CallRow; 2]> {
        let ranks = |program: &Path| -> Result<Vec<Calls>> {
            let mut launch = alone(Path::new("mpiexec.mpich"), &self.log);
            launch.args(["-n", &RANKS.to_string(), "sh", "-c"]);
            launch.arg("exec strace -qq -o $REPORTS/rank.$PMI_RANK -- $PROGRAM");
            launch.env("REPORTS", &self.dir).env("PROGRAM", program);
            launch.env("TOPAS_PE", MEASURES.to_string());
            if let Some(id) = id {
                launch.env("TOPAS_LAUNCH_ID", id);
            }
            // Hydra of MPICH 4.0 sometimes dies when ranks end at once.
            let succeeds = |_| {
                let _ = fs::remove_file(&self.log);
                launch.status().is_ok_and(|status| status.success())
            };
            if !(0..3).any(succeeds) {
                bail!("failed three times: {}", shown(&launch));
            }
            (0..RANKS).map(|rank| Calls::read(&self.dir.join(format!("rank.{rank}")))).collect()
        };
        let bare = ranks(&self.bare)?;
        let linked = ranks(&self.linked)?;
        let mut rows: Vec<_> = linked.iter().zip(&bare).collect();
        let measuring = rows.remove(MEASURES as usize);
        let most = rows.into_iter().max_by_key(|(linked, bare)| linked.number() - bare.number());
        let row = |(linked, bare): (&Calls, &Calls), lines| CallRow {
            more: linked.number() - bare.number(),
            names: linked.beyond(bare),
            lines,
        };
        // Of the last launch: one line is the measuring rank's, by TOPAS_PE.
        let left = lines(&self.log)?;
        let others = left.checked_sub(1).context("a launch under MPICH left no line")?;
        Ok([row(most.context("a launch has ranks")?, others), row(measuring, left - others)])
    }
}

/// The table.
pub fn calls(bench: &Bench) -> Result<String> {
    let mut text = String::from(
        "## System calls of a rank\n\n\
         What strace sees more than in the same program without the module. The environment of \
         Open MPI's and Slurm's ranks is emulated; MPICH's launcher is the real one, with the \
         busiest of seven ranks that do not measure.\n\n\
         | process | measures | lines | calls more | goal | which |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    let mut add = |process: &str, measures: &str, row: &CallRow, goal: &str| {
        let CallRow { more, names, lines } = row;
        writeln!(text, "| {process} | {measures} | {lines} | {more:+} | {goal} | {names} |")
    };
    let empty = CallPair::new(bench, "empty", &["empty.c"])?;
    let open = CallPair::new(bench, "open", &["as_software.c", "empty.c"])?;
    add("alone", "no", &empty.row(|program| alone(program, &empty.log))?, "+0")?;

    let rank = |rank| move |program: &Path, log: &Path| open_mpi_rank(program, rank, log);
    let row = empty.row(|program| rank(OTHER)(program, &empty.log))?;
    add("Open MPI", "no", &row, "+0")?;
    let row = empty.row(|program| rank(MEASURES)(program, &empty.log))?;
    add("Open MPI", "yes", &row, "")?;
    let row = open.row(|program| as_software(rank(MEASURES)(program, &open.log)))?;
    add("Open MPI, events open (of software)", "yes", &row, "")?;

    for (name, nested, other_goal) in
        [("srun", false, "+0"), ("srun in a rank of Open MPI", true, "+1")]
    {
        for (measures, number, goal) in [("no", OTHER, other_goal), ("yes", MEASURES, "")] {
            let row = empty.row(|program| srun_rank(program, number, &empty.log, nested))?;
            add(name, measures, &row, goal)?;
        }
    }
    for (name, id, goal) in
        [("MPICH, with an id", Some("5f"), "+0"), ("MPICH, without", None, "+4")]
    {
        let [other, measuring] = empty.hydra(id)?;
        add(name, "no", &other, goal)?;
        add(name, "yes", &measuring, "")?;
    }

    let pvm = CallPair::new(bench, "pvm", &["pvm.c"])?;
    // Two processes hold the places of the host.
    let holders = [Holder::start(&pvm)?, Holder::start(&pvm)?];
    let row = pvm.row(|program| alone(program, &pvm.log))?;
    add("PVM, third of a host", "no", &row, "+4")?;
    for holder in holders {
        holder.end()?;
    }
    let row = pvm.row(|program| alone(program, &pvm.log))?;
    let measures = if row.lines > 0 { "yes" } else { "no (not by this module)" };
    add("PVM, first of a host", measures, &row, "")?;
    Ok(text)
}

/// A program in the environment of a task of `srun`, with or without an outer rank of Open
/// MPI around. A shell tells its process id, which the program keeps, as Slurm does.
fn srun_rank(program: &Path, rank: u32, log: &Path, nested: bool) -> Command {
    let mut command = alone(Path::new("sh"), log);
    if nested {
        command = open_mpi_rank(Path::new("sh"), MEASURES, log);
    }
    command.args(["-c", "SLURM_TASK_PID=$$ exec \"$0\""]).arg(program);
    command
        .env("SLURM_PROCID", rank.to_string())
        .env("SLURM_STEP_NUM_TASKS", RANKS.to_string())
        .env("SLURM_NTASKS", RANKS.to_string())
        .env("SLURM_JOB_ID", "12")
        .env("SLURM_STEP_ID", "0")
        .env("SLURM_CLUSTER_NAME", "cluster")
        .env("TOPAS_PE", MEASURES.to_string());
    command
}

/// A process that has begun and waits.
struct Holder(Child);

impl Holder {
    fn start(pvm: &CallPair) -> Result<Holder> {
        let mut command = alone(&pvm.linked, &pvm.log);
        let mut child = command.arg("wait").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        // Its byte tells that the module has begun.
        let mut byte = [0];
        child.stdout.as_mut().context("standard output is a pipe")?.read_exact(&mut byte)?;
        Ok(Holder(child))
    }

    /// Ends it, so that it writes its line.
    fn end(mut self) -> Result<()> {
        drop(self.0.stdin.take());
        let status = self.0.wait()?;
        if !status.success() {
            bail!("a waiting program failed with {status}");
        }
        Ok(())
    }
}
