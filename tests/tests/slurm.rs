//! A real Slurm of two nodes: tasks of srun, launchers of MPIs inside a job, batch and
//! interactive, array, heterogeneous and other jobs. Ignored unless asked for; runs as
//! root, with Slurm's and MUNGE's packages.

use std::collections::BTreeSet;
use std::fs;

use topas_format::field::{Lib, Mode};
use topas_tests::installation::{Installation, MpiKind, Through};
use topas_tests::mpi_installation::Mpi;
use topas_tests::record::Record;
use topas_tests::running::run;
use topas_tests::skip::skip;
use topas_tests::slurm::NODES;
use topas_tests::slurm_jobs::{SlurmBench, SlurmLine, job_in};

/// A step of the tests, which is good.
const STEP: SlurmLine<'static> =
    SlurmLine { mode: Mode::Interactive, job: "", step: "0", lib: Lib::None, end: "exit:0" };

#[test]
#[ignore = "cargo xtask test --slurm"]
fn under_slurm() {
    let bench = match SlurmBench::start() {
        Ok(bench) => bench,
        Err(reason) => return skip("under_slurm", &reason),
    };
    let mut ids = Ids::default();
    tasks_of_srun(&bench, &mut ids);
    one_program_after_another(&bench, &mut ids);
    several_programs(&bench, &mut ids);
    without_the_environment(&bench, &mut ids);
    in_an_allocation(&bench, &mut ids);
    steps_of_a_batch_job(&bench, &mut ids);
    array_jobs(&bench, &mut ids);
    chosen_by_name(&bench);
    let mut mpis: Vec<_> = Mpi::ALL.into_iter().filter_map(Installation::of_debian).collect();
    mpis.extend(Installation::all().unwrap_or_default());
    for mpi in &mpis {
        launchers_in_a_job(&bench, mpi, &mut ids);
    }
    mpi_by_srun(&bench, &mpis, &mut ids);
    assert_eq!(ids.nodes, BTreeSet::from(NODES.map(str::to_owned)), "nodes with a line");
}

/// Launch ids and nodes so far.
#[derive(Default)]
struct Ids {
    seen: BTreeSet<String>,
    nodes: BTreeSet<String>,
}

impl Ids {
    /// Two lines of one launch, as expected, with an id that is new.
    #[track_caller]
    fn take(&mut self, lines: &[Record], expected: SlurmLine<'_>) {
        let id = expected.of(lines);
        assert!(self.seen.insert(id), "an id repeats: {}", lines[0].text);
        self.nodes.extend(lines.iter().map(|line| line.extra("host").to_owned()));
    }
}

/// The lines for which something holds.
fn those(lines: &[Record], holds: impl Fn(&Record) -> bool) -> Vec<Record> {
    lines.iter().filter(|line| holds(line)).cloned().collect()
}

/// srun alone makes a job of its own; programs run by a shell are tasks as well.
fn tasks_of_srun(bench: &SlurmBench, ids: &mut Ids) {
    let tiny = bench.program("tiny");
    for kind in ["none", "pmi2", "pmix"] {
        for script in [format!("exec {tiny}"), format!("{tiny}; exit")] {
            let (job, lines) = bench.tasks(&[&format!("--mpi={kind}")], &script);
            ids.take(&lines, SlurmLine { job: &job, ..STEP });
        }
    }
}

/// Both have the id of the step.
fn one_program_after_another(bench: &SlurmBench, ids: &mut Ids) {
    let script = format!("{} && {}", bench.program("tiny"), bench.program("other"));
    let (job, lines) = bench.tasks(&["--mpi=none"], &script);
    let expected = SlurmLine { job: &job, ..STEP };
    let [tiny, other] = ["tiny", "other"].map(|exe| those(&lines, |l| l.exe == exe.as_bytes()));
    assert_eq!(lines.len(), 4);
    assert_eq!(expected.of(&tiny), expected.of(&other));
    ids.take(&tiny, expected);
}

/// Programs of one step, by a file and by a heterogeneous job.
fn several_programs(bench: &SlurmBench, ids: &mut Ids) {
    let (tiny, other) = (bench.program("tiny"), bench.program("other"));
    let file = bench.program("programs");
    fs::write(&file, format!("0-3 {tiny}\n4-7 {other}\n")).expect("write a file");
    let ended = run(&mut bench.srun(&["--mpi=none", "--multi-prog", &file])).good();
    let lines = bench.scratch.take_log();
    let job = lines.first().map(|line| line.extra("job").to_owned()).unwrap_or_default();
    assert!(job.parse::<u32>().is_ok(), "{job} {}", ended.err());
    ids.take(&lines, SlurmLine { job: &job, ..STEP });

    let words = ["-N1", "-n4", "--mpi=none", &tiny, ":", "-N1", "-n4", "--mpi=none", &other];
    let (ended, lines) = bench.client("srun", &words);
    assert_eq!(ended.code(), 0, "{}", ended.err());
    let job = lines.first().map(|line| line.extra("job").to_owned()).unwrap_or_default();
    ids.take(&lines, SlurmLine { job: &job, ..STEP });
}

/// The user comes from the system then.
fn without_the_environment(bench: &SlurmBench, ids: &mut Ids) {
    let export = format!("--export=TOPAS_LOG={}", bench.scratch.log_target());
    let script = format!("[ -z \"$USER$LOGNAME\" ] && {}", bench.program("tiny"));
    let (job, lines) = bench.tasks(&["--mpi=none", &export], &script);
    assert!(lines.iter().all(|line| line.user == b"#0"), "{}", lines[0].text);
    ids.take(&lines, SlurmLine { job: &job, ..STEP });
}

/// A shell in an allocation is no task, its steps are.
fn in_an_allocation(bench: &SlurmBench, ids: &mut Ids) {
    let tiny = bench.program("tiny");
    let script = format!("echo job $SLURM_JOB_ID; {tiny}; srun --mpi=none {tiny}");
    let (ended, lines) = bench.client("salloc", &["-N2", "-n8", "sh", "-c", &script]);
    assert_eq!(ended.code(), 0, "{}", ended.err());
    ids.take(&lines, SlurmLine { job: &job_in(&ended.out()), ..STEP });
}

/// In a batch job: two steps with ids of their own, and nothing for the script itself.
fn steps_of_a_batch_job(bench: &SlurmBench, ids: &mut Ids) {
    let tiny = bench.program("tiny");
    let step = format!("srun --mpi=none {tiny}");
    let ended = bench.sbatch(&[], &format!("{tiny}\n{step}\n{step}"));
    assert_eq!(ended.lines.len(), 4, "the script's own process, or a step, was miscounted");
    for step in ["0", "1"] {
        let lines = those(&ended.lines, |line| line.extra("step") == step);
        ids.take(&lines, SlurmLine { mode: Mode::Batch, job: &ended.jobs[0], step, ..STEP });
    }
}

fn array_jobs(bench: &SlurmBench, ids: &mut Ids) {
    let ended =
        bench.sbatch(&["--array=3,5"], &format!("srun --mpi=none {}", bench.program("tiny")));
    assert_eq!((ended.jobs.len(), ended.lines.len()), (2, 4));
    // The last element of an array has the id of the array as its job id.
    let array = ended.jobs.iter().min_by_key(|job| job.parse::<u32>().expect("job id")).unwrap();
    for element in ["3", "5"] {
        let job = format!("{array}_{element}");
        let lines = those(&ended.lines, |line| line.extra("job") == job);
        ids.take(&lines, SlurmLine { mode: Mode::Batch, job: &job, ..STEP });
    }
}

/// The drop-in launcher and the real one in a batch job over both nodes, each twice.
fn launchers_in_a_job(bench: &SlurmBench, mpi: &Installation, ids: &mut Ids) {
    let hello = bench.program(&format!("hello-{}", mpi.name));
    mpi.build(bench.site, &bench.scratch, "c/hello.c", hello.as_ref());
    for through in [Through::DropIn, Through::Bare] {
        // Of the batch script and what it starts.
        let like = mpi.command(bench.site, &bench.scratch, through, "env");
        let launch = format!("mpiexec -n 8 {hello}");
        let mut batch = bench.batch(&[], &format!("{launch}\n{launch}"));
        batch.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ended = bench.ended(&mut batch);
        let seen: BTreeSet<&str> = ended.lines.iter().map(|line| line.id.as_str()).collect();
        let case = format!("{} {through:?}:\n{}", mpi.name, ended.said);
        assert_eq!((ended.lines.len(), seen.len()), (4, 2), "{case}");
        for id in seen {
            let lines = those(&ended.lines, |line| line.id == id);
            // Hydra starts its proxies as a step; under Open MPI the head node has none.
            let step = lines[0].extra("step").to_owned();
            assert_eq!(step.is_empty(), mpi.kind == MpiKind::OpenMpi, "{case}: {}", lines[0].text);
            let (job, lib) = (ended.jobs[0].as_str(), Lib::Mpi);
            ids.take(&lines, SlurmLine { mode: Mode::Batch, job, step: &step, lib, ..STEP });
        }
    }
}

/// MPI programs that are tasks of srun, by the plugin that their MPI speaks to.
fn mpi_by_srun(bench: &SlurmBench, mpis: &[Installation], ids: &mut Ids) {
    for (mpi, plugin) in [("openmpi-of-debian", "pmix"), ("mpich-of-debian", "pmi2")] {
        let case = format!("srun --mpi={plugin}");
        if !mpis.iter().any(|there| there.name == mpi) {
            skip(&case, &format!("no {mpi} on this machine"));
            continue;
        }
        let hello = bench.program(&format!("hello-{mpi}"));
        let (job, lines) = bench.tasks(&[&format!("--mpi={plugin}")], &format!("exec {hello}"));
        ids.take(&lines, SlurmLine { job: &job, lib: Lib::Mpi, ..STEP });
    }
}

fn chosen_by_name(bench: &SlurmBench) {
    let script = format!("TOPAS_PE=0,7 exec {}", bench.program("tiny"));
    let (_, lines) = bench.tasks(&["--mpi=none"], &script);
    let ranks: BTreeSet<u32> = lines.iter().map(|line| line.pe).collect();
    assert_eq!(ranks, BTreeSet::from([0, 7]));
}
