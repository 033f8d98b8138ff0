//! A real Slurm: tasks of srun, launchers of MPIs inside a job, batch and interactive, array
//! jobs. Runs with `TOPAS_TEST_SLURM=1` only, as root, with Slurm's and MUNGE's packages.

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

use topas_format::field::{Lib, Mode};
use topas_tests::build::{by_driver, plain};
use topas_tests::mpi::Mpi;
use topas_tests::record::Record;
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::{left_out, skip};
use topas_tests::slurm::Cluster;

const TASKS: u32 = 8;

/// What every case needs.
struct Bench {
    site: &'static Site,
    scratch: Scratch,
    cluster: Cluster,
}

impl Bench {
    fn start() -> Result<Bench, String> {
        let scratch = Scratch::new();
        let cluster = Cluster::start(&scratch)?;
        plain(Site::shared(), "c/no_mpi.c", false, &scratch.path().join("tiny"));
        Ok(Bench { site: Site::shared(), scratch, cluster })
    }

    fn tiny(&self) -> String {
        self.scratch.path().join("tiny").display().to_string()
    }

    /// Runs a script with srun's `words`; the job id it printed, and the lines.
    fn srun(&self, words: &[&str], script: &str) -> (String, Vec<Record>) {
        let mut srun = self.cluster.client(&self.scratch, "srun");
        srun.args(["-n", &TASKS.to_string()]).args(words).args(["sh", "-c"]);
        let script = format!("[ $SLURM_PROCID = 0 ] && echo job $SLURM_JOB_ID; {script}");
        let ended = run(srun.arg(script)).good();
        assert!(!ended.err().contains("topas:"), "{}", ended.err());
        (job_in(&ended.out()), self.scratch.take_log())
    }

    /// Runs a batch script to its end; the job id it printed, and the lines.
    fn sbatch(&self, words: &[&str], path: &str, script: &str) -> (Vec<String>, Vec<Record>) {
        let output = self.scratch.sub("output");
        let file = self.scratch.path().join("job.sh");
        fs::write(&file, format!("#!/bin/sh\necho job $SLURM_JOB_ID\nset -e\n{script}\n"))
            .expect("write the job");
        let mut sbatch = self.cluster.client(&self.scratch, "sbatch");
        sbatch.env("PATH", path).args(["--wait", "-n", &TASKS.to_string(), "--output"]);
        sbatch.arg(output.join("%j.out")).args(words).arg(file).current_dir(self.scratch.path());
        for (name, value) in [
            ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
            ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ] {
            sbatch.env(name, value);
        }
        let ended = run(&mut sbatch);
        let mut jobs = Vec::new();
        let mut said = String::new();
        for entry in fs::read_dir(&output).expect("output").flatten() {
            let text = fs::read_to_string(entry.path()).expect("output of the job");
            jobs.push(job_in(&text));
            said.push_str(&text);
        }
        fs::remove_dir_all(output).expect("remove");
        assert_eq!(ended.code(), 0, "{script}:\n{said}{}", ended.err());
        assert!(!said.contains("topas:"), "{said}");
        (jobs, self.scratch.take_log())
    }
}

fn job_in(output: &str) -> String {
    let line = output.lines().find_map(|line| line.strip_prefix("job "));
    line.unwrap_or_else(|| panic!("no job id in\n{output}")).to_owned()
}

/// Two lines of one launch of eight, with job, step and mode.
#[track_caller]
fn two_of(lines: &[Record], mode: Mode, job: &str, step: &str, lib: Lib) {
    let shown: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    let shown = shown.join("\n");
    assert_eq!(lines.len(), 2, "{shown}");
    assert_eq!(lines[0].id, lines[1].id, "{shown}");
    assert_ne!(lines[0].pe, lines[1].pe, "{shown}");
    for line in lines {
        assert!((1..=6).contains(&line.pe) && line.npes == TASKS, "{shown}");
        assert_eq!((line.mode, line.lib), (mode, lib), "{shown}");
        assert_eq!((line.extra("job"), line.extra("step")), (job, step), "{shown}");
    }
}

#[test]
fn under_slurm() {
    if env::var("TOPAS_TEST_SLURM").as_deref() != Ok("1") {
        return left_out("under_slurm", "cargo xtask test --slurm");
    }
    let bench = match Bench::start() {
        Ok(bench) => bench,
        Err(reason) => return skip("under_slurm", &reason),
    };
    let mut ids = BTreeSet::new();
    tasks_of_srun(&bench, &mut ids);
    steps_of_a_batch_job(&bench, &mut ids);
    array_jobs(&bench, &mut ids);
    for mpi in Mpi::installed("under_slurm") {
        launchers_in_a_job(&bench, mpi, &mut ids);
    }
    mpich_by_pmi2(&bench, &mut ids);
    chosen_by_name(&bench);
}

#[track_caller]
fn fresh(ids: &mut BTreeSet<String>, lines: &[Record]) {
    assert!(ids.insert(lines[0].id.clone()), "an id repeats: {}", lines[0].text);
}

/// srun alone makes a job of its own; programs run by a shell are tasks as well.
fn tasks_of_srun(bench: &Bench, ids: &mut BTreeSet<String>) {
    for script in [format!("exec {}", bench.tiny()), bench.tiny()] {
        let (job, lines) = bench.srun(&["--mpi=none"], &script);
        two_of(&lines, Mode::Interactive, &job, "0", Lib::None);
        fresh(ids, &lines);
    }
}

/// In a batch job: two steps with ids of their own, and nothing for the script itself.
fn steps_of_a_batch_job(bench: &Bench, ids: &mut BTreeSet<String>) {
    let tiny = bench.tiny();
    let script = format!("{tiny}\nsrun --mpi=none {tiny}\nsrun --mpi=none {tiny}");
    let (jobs, lines) = bench.sbatch(&[], "/usr/bin:/bin", &script);
    assert_eq!(lines.len(), 4, "the script's own process, or a step, was miscounted");
    for step in ["0", "1"] {
        let of: Vec<_> = lines.iter().filter(|l| l.extra("step") == step).cloned().collect();
        two_of(&of, Mode::Batch, &jobs[0], step, Lib::None);
        fresh(ids, &of);
    }
}

fn array_jobs(bench: &Bench, ids: &mut BTreeSet<String>) {
    let script = format!("echo array $SLURM_ARRAY_JOB_ID\nsrun --mpi=none {}", bench.tiny());
    let (jobs, lines) = bench.sbatch(&["--array=3,5"], "/usr/bin:/bin", &script);
    assert_eq!((jobs.len(), lines.len()), (2, 4));
    // The last element of an array has the id of the array as its job id.
    let array = jobs.iter().min_by_key(|job| job.parse::<u32>().expect("job id")).unwrap();
    for element in ["3", "5"] {
        let name = format!("{array}_{element}");
        let of: Vec<_> = lines.iter().filter(|l| l.extra("job") == name).cloned().collect();
        two_of(&of, Mode::Batch, &name, "0", Lib::None);
        fresh(ids, &of);
    }
}

/// The drop-in launcher and the real one in a batch job, and in one of eight ranks twice.
fn launchers_in_a_job(bench: &Bench, mpi: Mpi, ids: &mut BTreeSet<String>) {
    let hello = bench.scratch.path().join(format!("hello-{}", mpi.name()));
    let mut link = by_driver(bench.site, &bench.scratch, mpi, "mpicc", "c/hello.c", &hello);
    run(&mut link).good();
    let bare = format!("{}:/usr/bin:/bin", mpi.tools().display());
    for path in [bench.site.path(&mpi.tools()), bare] {
        let launch = format!("mpiexec -n 8 {}", hello.display());
        let (jobs, lines) = bench.sbatch(&[], &path, &format!("{launch}\n{launch}"));
        let seen: BTreeSet<&str> = lines.iter().map(|line| line.id.as_str()).collect();
        let case = format!("{} by {path}", mpi.name());
        assert_eq!((lines.len(), seen.len()), (4, 2), "{case}");
        for id in seen {
            let of: Vec<_> = lines.iter().filter(|line| line.id == id).cloned().collect();
            // Hydra starts its proxies as a step; under Open MPI the head node has none.
            let step =
                if mpi == Mpi::Mpich { of[0].extra("step").to_owned() } else { String::new() };
            assert_eq!(step.is_empty(), mpi == Mpi::OpenMpi, "{case}: {}", of[0].text);
            two_of(&of, Mode::Batch, &jobs[0], &step, Lib::Mpi);
            fresh(ids, &of);
        }
    }
}

fn mpich_by_pmi2(bench: &Bench, ids: &mut BTreeSet<String>) {
    let case = "srun --mpi=pmi2";
    let hello = bench.scratch.path().join("hello-mpich");
    if !Path::new(&hello).exists() {
        return skip(case, "no MPICH on this machine");
    }
    let (job, lines) = bench.srun(&["--mpi=pmi2"], &format!("exec {}", hello.display()));
    two_of(&lines, Mode::Interactive, &job, "0", Lib::Mpi);
    fresh(ids, &lines);
}

fn chosen_by_name(bench: &Bench) {
    let (_, lines) = bench.srun(&["--mpi=none"], &format!("TOPAS_PE=0,7 exec {}", bench.tiny()));
    let ranks: BTreeSet<u32> = lines.iter().map(|line| line.pe).collect();
    assert_eq!(ranks, BTreeSet::from([0, 7]));
}
