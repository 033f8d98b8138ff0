//! Whether this process is a rank that measures: by the rules that programs with the module
//! follow, asked before the program is there.

use std::fmt;

use topas_config::Environment;
use topas_format::field::Mode;
use topas_format::out::Out;
use topas_format::policy::SiteRefusal;
use topas_launch::hash::spread;
use topas_launch::named::NamedRanksFault;
use topas_launch::proxy::COMMAND_LINE;
use topas_launch::{Family, Proof, Rank, Var, Vars, choice, job, marker, named, nearest};
use topas_node::proof::{KernelProof, OnStack};

/// A rank of a launch, and what else its environment says.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Launcher, rank, size and id
    pub rank: Rank,
    /// Measuring ranks below this one, if it measures
    pub place: Option<u32>,
    /// Why TOPAS_PE was not followed
    pub fault: Option<NamedRanksFault>,
    /// Whether it is a descendant of a measuring rank
    pub is_child: bool,
    /// Batch or interactive
    pub mode: Mode,
    /// Job id of the batch system, may be empty
    pub job: Vec<u8>,
    /// Step of the job, may be empty
    pub step: Vec<u8>,
    /// Partition or queue of the batch system, may be empty
    pub partition: Vec<u8>,
}

impl Launch {
    /// What the variables of this process say. A program that no launcher started is rank 0 of
    /// 1, of the family [`Family::Own`].
    pub fn of(env: &Environment) -> Self {
        Launch::with_proof(env, &mut KernelProof { room: &mut [0; COMMAND_LINE], path: OnStack })
    }

    fn with_proof(env: &Environment, proof: &mut impl Proof) -> Self {
        let entries = env.entries();
        let mut vars = Vars::new();
        entries.iter().for_each(|entry| vars.offer(entry));
        let started = nearest(&vars, proof).filter(|rank| rank.size != 1);
        let alone = || Rank { family: Family::Own, rank: 0, size: 1, id: fresh() };
        let rank = started.unwrap_or_else(alone);
        let (mut place, mut fault) = (choice::place(rank.id, rank.size, rank.rank), None);
        if rank.family != Family::Own
            && let Some(list) = vars.get(Var::TopasPe)
        {
            match named::place(list, rank.size, rank.rank) {
                Ok(named) => place = named,
                Err(why) => fault = Some(why),
            }
        }
        let mut buffer = [0; 4096];
        let mut id = Out::new(&mut buffer);
        job::write_id(&vars, &mut id);
        let mut buffer = [0; 4096];
        let mut partition = Out::new(&mut buffer);
        job::write_partition(&vars, &mut partition);
        let found = vars.text(Var::TopasRank);
        Launch {
            place,
            fault,
            is_child: !found.is_empty() && marker::is_of_another(found, &rank, proof.own_pid()),
            mode: job::mode(&vars),
            job: id.text().to_vec(),
            partition: partition.text().to_vec(),
            step: job::step(&vars, rank.family).unwrap_or_default().to_vec(),
            rank,
        }
    }

    /// Whether a launcher started it.
    pub fn is_parallel(&self) -> bool {
        self.rank.family != Family::Own
    }
}

/// The id of a run without a launcher.
fn fresh() -> u64 {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    spread((since.as_micros() as u64) << 22 ^ u64::from(std::process::id()))
}

/// Why a rank is not measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotMeasured {
    /// `TOPAS=off`
    Off,
    /// No launcher, and the site does not measure programs that run alone
    Alone,
    /// Two others measure
    NotChosen,
    /// A descendant of a measuring rank
    Child,
    /// This process, or the program, runs with other rights than its user's
    Privileged,
    /// The program was linked with the module, which measures
    HasModule,
    /// The program was linked with the extended module, by which every rank measures itself
    HasExtended,
    /// The program cannot be read, so that what it does with counters is not known
    Unreadable(String),
    /// By the site's topas.conf or kill switch
    Site(SiteRefusal),
    /// There is no such program, or it does not start
    NoProgram,
}

impl NotMeasured {
    /// Whether a wish for a measurement was refused, not fulfilled in another way.
    pub fn refuses(&self) -> bool {
        matches!(
            self,
            NotMeasured::Child
                | NotMeasured::Privileged
                | NotMeasured::Unreadable(_)
                | NotMeasured::Site(_)
        )
    }
}

impl fmt::Display for NotMeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotMeasured::Off => write!(f, "TOPAS is off"),
            NotMeasured::Alone => {
                write!(f, "no parallel run (put a launcher in front: mpirun -n 4 topas-run ...)")
            }
            NotMeasured::NotChosen => write!(f, "other ranks of this run measure"),
            NotMeasured::Child => write!(f, "child of a measuring rank"),
            NotMeasured::Privileged => write!(f, "runs with the rights of another"),
            NotMeasured::HasModule => write!(f, "the program has the module and measures itself"),
            NotMeasured::HasExtended => {
                write!(f, "every rank of the program measures itself, as it was linked")
            }
            NotMeasured::Unreadable(why) => write!(f, "the program cannot be read: {why}"),
            NotMeasured::Site(rule) => write!(f, "by topas.conf ({})", rule.key()),
            NotMeasured::NoProgram => write!(f, "no such program"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use topas_testkit::ProcessAlone;

    use super::*;

    fn of(text: &str) -> Launch {
        let env: Environment = text.split(' ').map(|v| v.split_once('=').unwrap()).collect();
        Launch::with_proof(&env, &mut ProcessAlone)
    }

    const OMPI: &str = "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=8 PMIX_NAMESPACE=7";

    #[test]
    fn a_program_alone_is_rank_0_of_1() {
        for env in ["A=b", "A=b TOPAS_PE=0", "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1"] {
            let launch = of(env);
            assert_eq!((launch.rank.rank, launch.rank.size, launch.place), (0, 1, None), "{env}");
            assert!(!launch.is_parallel() && launch.fault.is_none());
        }
        assert_ne!(of("A=b").rank.id, 0);
    }

    #[test]
    fn named_ranks_measure_and_bad_lists_do_not_count() {
        assert_eq!(of(&format!("{OMPI} TOPAS_PE=1,3")).place, Some(1));
        assert_eq!(of(&format!("{OMPI} TOPAS_PE=1,2")).place, None);
        let launch = of(&format!("{OMPI} TOPAS_PE=1,9"));
        assert_eq!(
            (launch.place, launch.fault),
            (of(OMPI).place, Some(NamedRanksFault::NoSuchRank))
        );
    }

    #[test]
    fn jobs_and_children() {
        let env = format!("{OMPI} SLURM_JOB_ID=12 SLURM_STEP_ID=3 ENVIRONMENT=BATCH");
        let env = format!("{env} SLURM_JOB_PARTITION=long");
        let launch = of(&env);
        assert_eq!((launch.mode, &launch.job[..]), (Mode::Batch, &b"12"[..]));
        assert_eq!(launch.partition, b"long");
        let mut buffer = [0; marker::SIZE];
        let mut out = Out::new(&mut buffer);
        marker::write(&mut out, &launch.rank, 99);
        let text = String::from_utf8(out.text().to_vec()).unwrap();
        assert!(of(&format!("{env} {}", text.trim_end_matches('\0'))).is_child);
        assert!(!launch.is_child);
    }
}
