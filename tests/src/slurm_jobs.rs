//! Steps and jobs in a Slurm of the tests' own, and the lines they leave.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use topas_format::field::{Lib, Mode};

use crate::build::plain;
use crate::record::Record;
use crate::running::{Run, run};
use crate::site::{Scratch, Site};
use crate::slurm::Cluster;

/// Tasks of a job, half of them on each node.
pub const TASKS: u32 = 8;

/// How long a job may take to begin.
const PATIENCE: Duration = Duration::from_secs(60);

/// A cluster and the programs that run there: `tiny`, which has no MPI, a copy of it by the
/// name `other`, and `waits`, which does not end.
#[derive(Debug)]
pub struct SlurmBench {
    /// The installation.
    pub site: &'static Site,
    /// Its directory and log.
    pub scratch: Scratch,
    /// The cluster.
    pub cluster: Cluster,
}

/// How a job ended and what it left.
#[derive(Debug)]
pub struct Ended {
    /// Ids of the job, or of the elements of an array, as they said it.
    pub jobs: Vec<String>,
    /// What all of them printed.
    pub said: String,
    /// Lines of the log.
    pub lines: Vec<Record>,
}

impl SlurmBench {
    /// Starts a cluster and builds the programs.
    ///
    /// # Errors
    /// Why that cannot be done here.
    pub fn start() -> Result<SlurmBench, String> {
        SlurmBench::start_with(Cluster::start)
    }

    /// The same, of a cluster with accounting.
    ///
    /// # Errors
    /// Why that cannot be done here.
    pub fn with_accounting() -> Result<SlurmBench, String> {
        SlurmBench::start_with(Cluster::with_accounting)
    }

    fn start_with(
        start: impl FnOnce(&Scratch) -> Result<Cluster, String>,
    ) -> Result<SlurmBench, String> {
        let (site, scratch) = (Site::shared(), Scratch::new());
        let cluster = start(&scratch)?;
        let bench = SlurmBench { site, scratch, cluster };
        plain(site, "c/no_mpi.c", false, &bench.path("tiny"));
        plain(site, "c/waits.c", false, &bench.path("waits"));
        fs::copy(bench.path("tiny"), bench.path("other")).expect("copy a program");
        Ok(bench)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// The path of a program as a word of a script.
    pub fn program(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// `srun` over both nodes with these words behind it.
    pub fn srun(&self, words: &[&str]) -> Command {
        let mut srun = self.cluster.client(&self.scratch, "srun");
        srun.args(["-N2", "--ntasks-per-node=4"]).args(words);
        srun
    }

    /// Runs a script in every task; the job id that the first one says, and the lines.
    #[track_caller]
    pub fn tasks(&self, words: &[&str], script: &str) -> (String, Vec<Record>) {
        let script = format!("[ $SLURM_PROCID = 0 ] && echo job $SLURM_JOB_ID; {script}");
        let ended = run(self.srun(words).args(["/bin/sh", "-c", &script])).good();
        assert!(!ended.err().contains("topas:"), "{}", ended.err());
        (job_in(&ended.out()), self.scratch.take_log())
    }

    /// Runs a command to its end; what it says, and the lines.
    #[track_caller]
    pub fn client(&self, name: &str, words: &[&str]) -> (Run, Vec<Record>) {
        let mut client = self.cluster.client(&self.scratch, name);
        (run(client.args(words)), self.scratch.take_log())
    }

    /// A batch script over both nodes; its output is in `output/ID.out`.
    pub fn batch(&self, words: &[&str], script: &str) -> Command {
        let output = self.scratch.sub("output");
        let file = self.path("job.sh");
        fs::write(&file, format!("#!/bin/sh\necho job $SLURM_JOB_ID\nset -e\n{script}\n"))
            .expect("write the job");
        let mut sbatch = self.cluster.client(&self.scratch, "sbatch");
        sbatch
            .args(["--wait", "-N2", "--ntasks-per-node=4", "--output"])
            .arg(output.join("%j.out"));
        sbatch.args(words).arg(file).current_dir(self.scratch.path());
        sbatch
    }

    /// Runs a batch script to its end, which must be good.
    #[track_caller]
    pub fn sbatch(&self, words: &[&str], script: &str) -> Ended {
        self.ended(&mut self.batch(words, script))
    }

    /// Runs what [`SlurmBench::batch`] made to its end, which must be good.
    #[track_caller]
    pub fn ended(&self, sbatch: &mut Command) -> Ended {
        let ended = run(sbatch);
        let (jobs, said) = self.output();
        assert_eq!(ended.code(), 0, "{sbatch:?}:\n{said}{}", ended.err());
        assert!(!said.contains("topas:"), "{said}");
        Ended { jobs, said, lines: self.scratch.take_log() }
    }

    /// Ids and output of the batch jobs so far, which are removed.
    fn output(&self) -> (Vec<String>, String) {
        let output = self.scratch.sub("output");
        let (mut jobs, mut said) = (Vec::new(), String::new());
        for entry in fs::read_dir(&output).expect("output").flatten() {
            let text = fs::read_to_string(entry.path()).expect("output of the job");
            jobs.push(job_in(&text));
            said.push_str(&text);
        }
        fs::remove_dir_all(output).expect("remove");
        (jobs, said)
    }

    /// Waits until a file holds a line for each task that has begun.
    #[track_caller]
    pub fn wait_for_tasks(&self, file: &str) {
        let start = Instant::now();
        let begun = || fs::read_to_string(self.path(file)).unwrap_or_default().lines().count();
        while begun() < TASKS as usize {
            assert!(start.elapsed() < PATIENCE, "only {} tasks have begun", begun());
            sleep(Duration::from_millis(50));
        }
    }
}

/// The id that a job said.
#[track_caller]
pub fn job_in(output: &str) -> String {
    let line = output.lines().find_map(|line| line.strip_prefix("job "));
    line.unwrap_or_else(|| panic!("no job id in\n{output}")).to_owned()
}

/// What the two lines of a launch of eight tasks must say.
#[derive(Clone, Copy, Debug)]
pub struct SlurmLine<'a> {
    /// Batch or interactive.
    pub mode: Mode,
    /// Job id.
    pub job: &'a str,
    /// Step; empty where there is none.
    pub step: &'a str,
    /// Library.
    pub lib: Lib,
    /// How the tasks ended.
    pub end: &'a str,
}

impl<'a> SlurmLine<'a> {
    /// The same of another job.
    pub fn with<'b>(self, job: &'b str) -> SlurmLine<'b>
    where
        'a: 'b,
    {
        SlurmLine { job, ..self }
    }

    /// Panics if the lines are others. The launch id they share.
    #[track_caller]
    pub fn of(&self, lines: &[Record]) -> String {
        let shown: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        let shown = format!("expected {self:?}:\n{}", shown.join("\n"));
        assert_eq!(lines.len(), 2, "{shown}");
        assert_eq!(lines[0].id, lines[1].id, "{shown}");
        assert_ne!(lines[0].pe, lines[1].pe, "{shown}");
        for line in lines {
            assert!((1..TASKS - 1).contains(&line.pe) && line.npes == TASKS, "{shown}");
            assert_eq!((line.mode, line.lib), (self.mode, self.lib), "{shown}");
            assert_eq!((line.extra("job"), line.extra("step")), (self.job, self.step), "{shown}");
            assert_eq!(line.extra("end"), self.end, "{shown}");
        }
        lines[0].id.clone()
    }
}
