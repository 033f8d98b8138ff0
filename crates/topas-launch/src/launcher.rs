//! The launcher table, and which of several launchers is the nearest.
//!
//! Variables leak: a rank of one launcher may start another launcher, and a batch job
//! sets variables that look like a rank's. So rank, size and id are always taken from
//! one family, and where two families are present a proof decides, never an order of
//! preference alone.

use crate::hash::{Fnv, spread};
use crate::vars::{Var, Vars};

/// What started the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Family {
    /// Open MPI's `mpirun`
    OpenMpi,
    /// A process manager of PMI-1 or PMI-2: MPICH's and Intel's hydra
    Pmi,
    /// `srun`
    Slurm,
}

/// A rank of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// What started it
    pub family: Family,
    /// Rank, below `size`
    pub rank: u32,
    /// Number of ranks, at least 1
    pub size: u32,
    /// The same on all ranks, new for each launch; the seed of the choice
    pub id: u64,
}

/// A family's variables.
struct Row {
    rank: Var,
    size: Var,
    /// Hashed into the id where set. None of them may differ between ranks of a launch.
    id: [Var; 5],
}

/// In the order of [`Family`].
const FAMILIES: [Row; 3] = [
    Row {
        rank: Var::OmpiRank,
        size: Var::OmpiSize,
        // SLURM_STEP_ID differs between the head node and the others under mpirun.
        id: [
            Var::OmpiTransports,
            Var::PmixNamespace,
            Var::SlurmCluster,
            Var::SlurmJobId,
            Var::SlurmRestart,
        ],
    },
    Row {
        rank: Var::PmiRank,
        size: Var::PmiSize,
        id: [
            Var::TopasLaunchId,
            Var::IntelUuid,
            Var::SlurmJobId,
            Var::SlurmStepId,
            Var::PmiSpawned,
        ],
    },
    Row {
        rank: Var::SlurmProcid,
        size: Var::SlurmStepTasks,
        id: [
            Var::SlurmCluster,
            Var::SlurmJobId,
            Var::SlurmStepId,
            Var::SlurmRestart,
            Var::PmiSpawned,
        ],
    },
];

/// Questions to the system that prove a launch; each is asked only where it decides.
pub trait Proof {
    /// Process id of this process.
    fn own_pid(&mut self) -> u32;

    /// Process id at the other end of the socket `fd`, 0 if that is no open socket.
    fn peer(&mut self, fd: u32) -> u32;

    /// Hash of the word after `--control-port` on the command line of process `pid`, 0 if
    /// there is none.
    fn control_port(&mut self, pid: u32) -> u64;
}

/// Step ids from here on are Slurm's own steps: batch script, interactive shell.
const FIRST_SPECIAL_STEP: u32 = 0xffff_fff0;

/// The rank this process is, by the nearest launcher. None if no launcher of the table
/// started it, which is the case for a program run alone.
#[inline(never)]
pub fn nearest(vars: &Vars<'_>, proof: &mut impl Proof) -> Option<Rank> {
    // Without a step Slurm's variables are those of the batch script, not of a task.
    let step = vars.number(Var::SlurmStepId).is_some_and(|id| id < FIRST_SPECIAL_STEP);
    let open_mpi = place(Family::OpenMpi, vars);
    let pmi = place(Family::Pmi, vars);
    let slurm = if step { place(Family::Slurm, vars) } else { 0 };

    let mut place = open_mpi;
    let mut family = Family::OpenMpi;
    // The socket of an outer hydra is closed in ranks of an inner Open MPI.
    if pmi != 0 && (open_mpi == 0 || peer(vars, proof) != 0) {
        place = pmi;
        family = Family::Pmi;
    }
    // Alone, or with a view by PMI-2 that agrees, or proven: nothing is nearer.
    if slurm != 0
        && (place == 0
            || (open_mpi == 0 && pmi == slurm)
            || vars.number(Var::SlurmTaskPid) == Some(proof.own_pid()))
    {
        place = slurm;
        family = Family::Slurm;
    }
    if place == 0 {
        return None;
    }
    let mut id = Fnv::new();
    for part in &FAMILIES.get(family as usize)?.id {
        // The blank keeps `1`, `23` apart from `12`, `3`.
        id = id.with(vars.text(*part)).with(b" ");
    }
    let mut id = id.value();
    let named = vars.get(Var::TopasLaunchId).or(vars.get(Var::IntelUuid)).is_some();
    if family == Family::Pmi && !step && !named {
        // Hydra outside Slurm puts nothing into the environment that is new for each
        // launch; the port its proxies were told to call is.
        let proxy = peer(vars, proof);
        if proxy != 0 {
            id ^= proof.control_port(proxy);
            // Ports come back soon. On one node all ranks have one proxy.
            if vars.number(Var::LocalRanks) == Some((place >> 32) as u32) {
                id ^= u64::from(proxy) << 32;
            }
        }
    }
    Some(Rank { family, rank: place as u32, size: (place >> 32) as u32, id: spread(id) })
}

/// What one family's variables say: the size in the high half, the rank in the low; 0 if
/// they name no rank of a launch.
#[inline(never)]
fn place(family: Family, vars: &Vars<'_>) -> u64 {
    let Some(row) = FAMILIES.get(family as usize) else {
        return 0;
    };
    match (vars.number(row.rank), vars.number(row.size)) {
        (Some(rank), Some(size)) if rank < size => u64::from(size) << 32 | u64::from(rank),
        _ => 0,
    }
}

/// The process at the other end of the PMI socket, 0 if there is none.
#[inline(never)]
fn peer(vars: &Vars<'_>, proof: &mut impl Proof) -> u32 {
    vars.number(Var::PmiFd).map_or(0, |fd| proof.peer(fd))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;
    use std::vec::Vec;

    /// Answers from a test's own data; notes what was asked.
    #[derive(Default)]
    struct Told {
        pid: u32,
        peer: Option<u32>,
        port: Option<u64>,
        asked: Vec<String>,
    }

    impl Proof for Told {
        fn own_pid(&mut self) -> u32 {
            self.asked.push("pid".into());
            self.pid
        }
        fn peer(&mut self, _: u32) -> u32 {
            self.asked.push("peer".into());
            self.peer.unwrap_or(0)
        }
        fn control_port(&mut self, _: u32) -> u64 {
            self.asked.push("port".into());
            self.port.unwrap_or(0)
        }
    }

    fn ask(env: &str, told: &mut Told) -> Option<Rank> {
        nearest(&Vars::of(env), told)
    }

    const OMPI: &str = "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=8 PMIX_NAMESPACE=3745579009 \
                        PMIX_RANK=3 OMPI_MCA_orte_precondition_transports=81f2-77aa ";
    const HYDRA: &str = "PMI_RANK=1 PMI_SIZE=4 PMI_FD=6 MPI_LOCALRANKID=1 ";
    const SRUN: &str = "SLURM_PROCID=2 SLURM_STEP_NUM_TASKS=4 SLURM_NTASKS=4 SLURM_JOB_ID=12 \
                        SLURM_STEP_ID=0 SLURM_TASK_PID=77 SLURM_CLUSTER_NAME=c ";
    const SCRIPT: &str = "SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_JOB_ID=12 SLURM_TASK_PID=77 \
                          SLURM_CLUSTER_NAME=c ENVIRONMENT=BATCH ";

    #[test]
    fn one_family_needs_no_proof() {
        for (env, family, rank, size) in
            [(OMPI, Family::OpenMpi, 3, 8), (SRUN, Family::Slurm, 2, 4)]
        {
            let mut told = Told::default();
            let r = ask(env, &mut told).unwrap();
            assert_eq!((r.family, r.rank, r.size), (family, rank, size));
            assert!(told.asked.is_empty(), "{:?}", told.asked);
        }
    }

    #[test]
    fn no_launcher_is_no_rank() {
        assert_eq!(ask("USER=mohr LOGNAME=mohr", &mut Told::default()), None);
    }

    #[test]
    fn a_batch_script_is_no_rank() {
        assert_eq!(ask(SCRIPT, &mut Told::default()), None);
        let shell = SRUN.replace("STEP_ID=0", "STEP_ID=4294967290");
        assert_eq!(ask(&shell, &mut Told::default()), None);
    }

    #[test]
    fn mpirun_in_a_job_is_open_mpi_on_the_head_node_and_on_others() {
        let head = ask(&[OMPI, SCRIPT].concat(), &mut Told::default()).unwrap();
        let orted = "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 SLURM_JOB_ID=12 SLURM_STEP_ID=4 \
                     SLURM_TASK_PID=77 SLURM_CLUSTER_NAME=c";
        let other = ask(&[OMPI, orted].concat(), &mut Told { pid: 99, ..Told::default() }).unwrap();
        assert_eq!(head.family, Family::OpenMpi);
        assert_eq!(head.id, other.id);
    }

    #[test]
    fn srun_with_pmi2_is_srun_without_a_question() {
        let mut told = Told::default();
        let env = [SRUN, "PMI_RANK=2 PMI_SIZE=4 PMI_FD=5 PMI_JOBID=12.0"].concat();
        assert_eq!(ask(&env, &mut told).unwrap().family, Family::Slurm);
        assert!(told.asked.is_empty());
    }

    #[test]
    fn hydra_in_a_job_takes_the_step_as_id() {
        let mut told = Told { pid: 99, ..Told::default() };
        let of = |step: &str, told: &mut Told| {
            let env =
                [HYDRA, "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2 SLURM_JOB_ID=12 SLURM_STEP_ID="];
            ask(&[&env.concat(), step].concat(), told).unwrap()
        };
        let (a, b) = (of("0", &mut told), of("1", &mut told));
        assert_eq!((a.family, a.rank, a.size), (Family::Pmi, 1, 4));
        assert_ne!(a.id, b.id);
        assert!(!told.asked.contains(&"port".into()));
    }

    #[test]
    fn nested_launchers_are_told_apart_by_the_socket() {
        let outer_ompi = [OMPI, HYDRA].concat();
        let mut open = Told { peer: Some(5), port: Some(1), ..Told::default() };
        assert_eq!(ask(&outer_ompi, &mut open).unwrap().family, Family::Pmi);
        let mut closed = Told::default();
        assert_eq!(ask(&outer_ompi, &mut closed).unwrap().family, Family::OpenMpi);
    }

    #[test]
    fn srun_inside_a_rank_is_proven_by_the_pid() {
        let env = [OMPI, SRUN].concat();
        assert_eq!(
            ask(&env, &mut Told { pid: 77, ..Told::default() }).unwrap().family,
            Family::Slurm
        );
        assert_eq!(
            ask(&env, &mut Told { pid: 78, ..Told::default() }).unwrap().family,
            Family::OpenMpi
        );
    }

    #[test]
    fn hydra_alone_asks_its_proxy_for_the_port() {
        let of = |port| {
            let mut told = Told { peer: Some(5), port: Some(port), ..Told::default() };
            (ask(HYDRA, &mut told).unwrap().id, told.asked)
        };
        assert_ne!(of(1).0, of(2).0);
        assert_eq!(of(1).1, ["peer", "port"]);
        let on_one_node = |proxy| {
            let mut told = Told { peer: Some(proxy), port: Some(1), ..Told::default() };
            ask(&HYDRA.replace("LOCALRANKID=1", "LOCALNRANKS=4"), &mut told).unwrap().id
        };
        assert_ne!(on_one_node(5), on_one_node(6));
        let named = [HYDRA, "TOPAS_LAUNCH_ID=5f"].concat();
        let mut told = Told::default();
        ask(&named, &mut told).unwrap();
        assert!(told.asked.is_empty());
    }

    #[test]
    fn a_rank_beyond_the_size_is_none() {
        assert_eq!(ask("PMI_RANK=4 PMI_SIZE=4", &mut Told::default()), None);
        assert_eq!(
            ask("OMPI_COMM_WORLD_RANK=-1 OMPI_COMM_WORLD_SIZE=4", &mut Told::default()),
            None
        );
        assert_eq!(ask("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=", &mut Told::default()), None);
    }
}
