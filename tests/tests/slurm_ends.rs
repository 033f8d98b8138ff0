//! How Slurm ends jobs: scancel, the time limit, a task that fails, requeue. Ignored
//! unless asked for.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use topas_format::field::{Lib, Mode};
use topas_tests::record::Record;
use topas_tests::running::run;
use topas_tests::skip::skip;
use topas_tests::slurm_jobs::{Bench, Expected};

/// A limit of one minute, and the half minute until Slurm looks.
const PATIENCE: Duration = Duration::from_secs(150);

#[test]
#[ignore = "cargo xtask test --slurm"]
fn ends_under_slurm() {
    let bench = match Bench::start() {
        Ok(bench) => bench,
        Err(reason) => return skip("ends_under_slurm", &reason),
    };
    let limited = Limited::start(&bench);
    cancelled_step(&bench);
    cancelled_batch_job(&bench);
    one_task_fails(&bench);
    requeued(&bench);
    limited.wait(&bench);
}

const STEP: Expected<'static> =
    Expected { mode: Mode::Interactive, job: "", step: "0", lib: Lib::None, end: "sig:15" };

/// The file in which tasks say that they are there, as a word of a script.
fn tasks_file(bench: &Bench, name: &str) -> String {
    bench.program(name)
}

/// The lines of other programs than the one whose job is limited.
fn lines_of(bench: &Bench, job: &str) -> Vec<Record> {
    let all = topas_tests::record::read_log(&bench.scratch.log());
    all.into_iter().filter(|line| line.extra("job") == job).collect()
}

/// The job that a list of those running names first, by its name.
#[track_caller]
fn job_named(bench: &Bench, name: &str) -> String {
    let mut squeue = bench.cluster.client(&bench.scratch, "squeue");
    let listed = run(squeue.args(["--noheader", "--format=%A", "--name", name])).good().out();
    let job = listed.split_whitespace().next();
    job.unwrap_or_else(|| panic!("no job {name}")).to_owned()
}

#[track_caller]
fn cancel(bench: &Bench, words: &[&str]) {
    run(bench.cluster.client(&bench.scratch, "scancel").args(words)).good();
}

/// scancel sends SIGTERM to the tasks.
fn cancelled_step(bench: &Bench) {
    let file = tasks_file(bench, "step");
    let mut srun = bench.srun(&["--mpi=none", "--job-name=step", &bench.program("waits"), &file]);
    let mut srun = srun.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("srun");
    bench.wait_for_tasks("step");
    let job = job_named(bench, "step");
    cancel(bench, &[&job]);
    assert!(!srun.wait().expect("srun").success());
    STEP.with(&job).of(&lines_of(bench, &job));
}

fn cancelled_batch_job(bench: &Bench) {
    let file = tasks_file(bench, "batch");
    let script = format!("srun --mpi=none {} {file}", bench.program("waits"));
    let mut sbatch = bench.batch(&["--job-name=batch"], &script);
    let mut sbatch = sbatch.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("sbatch");
    bench.wait_for_tasks("batch");
    let job = job_named(bench, "batch");
    cancel(bench, &[&job]);
    assert!(!sbatch.wait().expect("sbatch").success());
    Expected { mode: Mode::Batch, ..STEP.with(&job) }.of(&lines_of(bench, &job));
}

/// With --kill-on-bad-exit, the others get SIGTERM.
fn one_task_fails(bench: &Bench) {
    let file = tasks_file(bench, "fails");
    let script = format!(
        "case $SLURM_PROCID in 0) while [ $(wc -l < {file}) -lt 7 ]; do sleep 0.1; done; \
         exit 5;; esac; exec {} {file}",
        bench.program("waits")
    );
    std::fs::write(&file, "").expect("write a file");
    let words = ["--mpi=none", "--kill-on-bad-exit=1", "--job-name=fails", "/bin/sh", "-c"];
    let ended = run(bench.srun(&words).arg(&script));
    assert_ne!(ended.code(), 0, "{}", ended.err());
    let all = topas_tests::record::read_log(&bench.scratch.log());
    let job = all.last().expect("a line").extra("job").to_owned();
    STEP.with(&job).of(&lines_of(bench, &job));
}

/// The second run has the job id and the step of the first, and is another launch.
fn requeued(bench: &Bench) {
    let script = format!(
        "srun --mpi=none {}\n\
         if [ -z \"$SLURM_RESTART_COUNT\" ]; then scontrol requeue $SLURM_JOB_ID; sleep 60; fi",
        bench.program("tiny")
    );
    let ended = run(&mut bench.batch(&["--requeue", "--job-name=requeued"], &script));
    assert_eq!(ended.code(), 0, "{}", ended.err());
    let all = topas_tests::record::read_log(&bench.scratch.log());
    let job = all.last().expect("a line").extra("job").to_owned();
    let lines = lines_of(bench, &job);
    let ids: BTreeSet<&str> = lines.iter().map(|line| line.id.as_str()).collect();
    let shown: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    assert_eq!((lines.len(), ids.len()), (4, 2), "{}", shown.join("\n"));
    for id in ids {
        let of: Vec<Record> = lines.iter().filter(|line| line.id == id).cloned().collect();
        Expected { mode: Mode::Batch, end: "exit:0", ..STEP.with(&job) }.of(&of);
    }
}

/// A job that runs into its time limit while others are tested.
struct Limited {
    job: String,
    since: Instant,
}

impl Limited {
    #[track_caller]
    fn start(bench: &Bench) -> Limited {
        let file = tasks_file(bench, "limited");
        let script = format!("srun --mpi=none {} {file}", bench.program("waits"));
        let mut sbatch = bench.batch(&["--time=1", "--job-name=limited"], &script);
        // Its end comes much later than the end of this command.
        let mut child = sbatch.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("sbatch");
        bench.wait_for_tasks("limited");
        let job = job_named(bench, "limited");
        std::thread::spawn(move || child.wait());
        Limited { job, since: Instant::now() }
    }

    #[track_caller]
    fn wait(&self, bench: &Bench) {
        while lines_of(bench, &self.job).len() < 2 && self.since.elapsed() < PATIENCE {
            sleep(Duration::from_millis(200));
        }
        let lines = lines_of(bench, &self.job);
        Expected { mode: Mode::Batch, ..STEP.with(&self.job) }.of(&lines);
        for line in lines {
            assert!(line.wall >= 59.0, "ended before the limit: {}", line.text);
        }
    }
}
