//! Batch system: job id, and whether the program runs in batch.

use topas_format::field::Mode;
use topas_format::hash::{place, word};
use topas_format::out::Out;

use crate::launcher::Family;
use crate::vars::{Var, Vars};

/// Job id variables in the order tried. That of SGE is any program's name; it is believed
/// in a batch job only.
const JOBS: &[Var] = &[
    Var::SlurmJobId,
    Var::PbsJobid,
    Var::LsbJobid,
    Var::FluxJobid,
    Var::PjmJobid,
    Var::CobaltJobid,
    Var::LoadlStep,
    Var::OarJobid,
    Var::MoabJobid,
    Var::JobId,
];

/// Partition or queue in the order tried, the last one as in [`JOBS`].
const PARTITIONS: &[Var] =
    &[Var::SlurmPartition, Var::PbsQueue, Var::LsbQueue, Var::LoadlClass, Var::Queue];

/// Variables that say `BATCH` or `PBS_BATCH`: of Slurm and SGE, which ranks inherit from the
/// batch script; of PBS; of Fujitsu. Then such as are set in batch jobs only.
const SIGNS: &[Var] = &[
    Var::Environment,
    Var::PbsEnvironment,
    Var::PjmEnvironment,
    Var::FluxEnclosing,
    Var::CobaltJobid,
    Var::LoadlStep,
    Var::OarJobid,
];

/// How many of them say it.
const SAYING: usize = 3;

/// Whether a batch job runs the program. Not by terminal: ranks have none, or a
/// pseudo-terminal of the launcher.
#[inline(never)]
pub fn mode(vars: &Vars<'_>) -> Mode {
    const Y: u32 = word(b"Y");
    const BATCH: [u32; 2] = [word(b"BATCH"), word(b"PBS_BATCH")];
    let mut batch = vars.get(Var::LsbJobid).is_some() && word(vars.text(Var::LsbInteractive)) != Y;
    for (at, var) in SIGNS.iter().enumerate() {
        let sign = vars.get(*var);
        batch |= if at < SAYING {
            place(&BATCH, sign.unwrap_or_default()).is_some()
        } else {
            sign.is_some()
        };
    }
    if batch { Mode::Batch } else { Mode::Interactive }
}

/// Appends the job id, `15_3` for an element of a Slurm array. Nothing without a job.
pub fn write_id(vars: &Vars<'_>, out: &mut Out<'_>) {
    if vars.get(Var::SlurmArrayTask).is_some() {
        out.put(vars.text(Var::SlurmArrayJob)).byte(b'_').put(vars.text(Var::SlurmArrayTask));
    }
    first(vars, JOBS, out);
}

/// Appends the partition or queue of the job. Nothing without a job.
pub fn write_partition(vars: &Vars<'_>, out: &mut Out<'_>) {
    first(vars, PARTITIONS, out);
}

/// Appends the first of some variables that is set, unless there is something already; the last
/// of them, whose name is anybody's, in a batch job only.
#[inline(never)]
fn first(vars: &Vars<'_>, named: &[Var], out: &mut Out<'_>) {
    for (at, var) in named.iter().enumerate() {
        if out.is_empty() && (at + 1 < named.len() || mode(vars) == Mode::Batch) {
            out.put(vars.text(*var));
        }
    }
}

/// The step, where the launcher is a Slurm step or was started as one. Under Open MPI's
/// mpirun the variable belongs to its daemons and differs from node to node.
pub fn step<'a>(vars: &Vars<'a>, family: Family) -> Option<&'a [u8]> {
    match family {
        Family::OpenMpi => None,
        _ => vars.get(Var::SlurmStepId),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn id(env: &str) -> String {
        let mut buf = [0; 60];
        let mut out = Out::new(&mut buf);
        write_id(&Vars::of(env), &mut out);
        String::from_utf8(out.text().to_vec()).unwrap()
    }

    #[test]
    fn ids() {
        assert_eq!(id("SLURM_JOB_ID=16 SLURM_ARRAY_JOB_ID=15 SLURM_ARRAY_TASK_ID=3"), "15_3");
        assert_eq!(id("SLURM_JOB_ID=16"), "16");
        assert_eq!(id("PBS_JOBID=8.server"), "8.server");
        assert_eq!(id("USER=a"), "");
        assert_eq!(id("JOB_ID=7"), "");
        assert_eq!(id("JOB_ID=7 ENVIRONMENT=BATCH"), "7");
    }

    #[test]
    fn modes() {
        for (env, expected) in [
            ("ENVIRONMENT=BATCH SLURM_JOB_ID=1", Mode::Batch),
            ("SLURM_JOB_ID=1 SLURM_JOB_NAME=interactive", Mode::Interactive),
            ("PBS_JOBID=1 PBS_ENVIRONMENT=PBS_BATCH", Mode::Batch),
            ("PBS_JOBID=1 PBS_ENVIRONMENT=PBS_INTERACTIVE", Mode::Interactive),
            ("LSB_JOBID=1", Mode::Batch),
            ("LSB_JOBID=1 LSB_INTERACTIVE=Y", Mode::Interactive),
            ("PJM_JOBID=1 PJM_ENVIRONMENT=BATCH", Mode::Batch),
            ("FLUX_JOB_ID=1", Mode::Interactive),
            ("FLUX_JOB_ID=1 FLUX_ENCLOSING_ID=2", Mode::Batch),
            ("COBALT_JOBID=1", Mode::Batch),
            ("", Mode::Interactive),
        ] {
            assert_eq!(mode(&Vars::of(env)), expected, "{env}");
        }
    }
}
