//! The launcher table, and which of several launchers is the nearest.
//!
//! Variables leak: a rank of one launcher may start another launcher, and a batch job
//! sets variables that look like a rank's. So rank, size and id are always taken from
//! one family, and where two families are present a proof decides, never an order of
//! preference alone.

use crate::hash::{Fnv, spread};
use crate::vars::{Var, Vars};

macro_rules! families {
    ($($(#[$about:meta])* $family:ident $name:literal: $rank:ident of $size:tt, id $id:tt;)*) => {
        /// What started the process.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Family {
            $($(#[$about])* $family,)*
            /// No launcher: a task of a virtual machine, or a program alone
            Own,
        }

        impl Family {
            /// Every launcher, in the order in which they are looked for.
            pub const ALL: &'static [Family] = &[$(Family::$family),*];

            /// The launcher for people; not linked into user programs.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Family::$family => $name,)*
                    Family::Own => "none",
                }
            }
        }

        /// In the order in which they are looked for.
        const FAMILIES: &[Row] =
            &[$(Row {
                family: Family::$family,
                rank: Var::$rank,
                size: row!(size $size),
                id: row!(id $id),
            }),*];
    };
}

macro_rules! row {
    (size _) => { None };
    (size $size:ident) => { Some(Var::$size) };
    (id [$($id:ident)*]) => {{
        // A place left empty is one that no launch has.
        let mut row = [Var::None; IDS];
        let named: &[Var] = &[$(Var::$id),*];
        let (used, _) = row.split_at_mut(named.len());
        used.copy_from_slice(named);
        row
    }};
}

/// Most variables that make the id of a family.
const IDS: usize = 6;

/// A family's variables.
struct Row {
    family: Family,
    rank: Var,
    /// None where the launcher tells no size
    size: Option<Var>,
    /// Hashed into the id where set. None of them may differ between ranks of a launch.
    id: [Var; IDS],
}

families! {
    /// Open MPI's `mpirun`. Not the step: it differs between the head node and the others.
    OpenMpi "Open MPI (mpirun)": OmpiRank of OmpiSize,
        id [OmpiTransports PmixNamespace SlurmCluster SlurmJobId SlurmRestart];
    /// `mpirun_rsh` of MVAPICH2
    Mvapich2 "MVAPICH2 (mpirun_rsh)": Mv2Rank of Mv2Size, id [MpirunId SlurmJobId];
    /// `mpiexec` of HPE's PALS, and Slurm's plugin for it
    Pals "HPE PALS": PalsRank of PmiSize, id [PalsApid];
    /// Flux
    Flux "Flux": FluxRank of FluxSize, id [FluxPath];
    /// `jsrun`
    Jsm "IBM JSM (jsrun)": JsmRank of JsmSize, id [PmixNamespace LsbJobid];
    /// A process manager of PMI-1 or PMI-2: MPICH's and Intel's hydra, ParaStation
    Pmi "hydra (MPICH, Intel MPI)": PmiRank of PmiSize,
        id [TopasLaunchId IntelUuid SlurmJobId SlurmStepId SlurmRestart PmiSpawned];
    /// `srun`
    Slurm "Slurm (srun)": SlurmProcid of SlurmStepTasks,
        id [SlurmCluster SlurmJobId SlurmStepId SlurmRestart PmiSpawned];
    /// Fujitsu's MPI
    Fujitsu "Fujitsu MPI": PmixRank of PjmProcesses, id [PmixNamespace PjmJobid];
    /// Platform MPI
    Platform "Platform MPI": PlatformRank of PlatformSize, id [LsbJobid];
    /// IBM's Parallel Operating Environment
    Poe "IBM POE": PoeRank of PoeSize, id [PoePartition LoadlStep];
    /// `gaspi_run` of GPI-2
    Gaspi "GPI-2 (gaspi_run)": GaspiRank of GaspiSize, id [GaspiMaster GaspiMachines SlurmJobId];
    /// `torchrun`
    Torch "torchrun": TorchRank of TorchSize, id [TorchRun];
    /// A PMI server at a port, told by `mpiexec -pmi-port`
    PmiPort "a PMI server at a port": PmiId of _, id [PmiPort];
    /// A PMIx server alone, such as `prun`
    Pmix "a PMIx server": PmixRank of _, id [PmixNamespace];
    /// `aprun` of Cray ALPS
    Alps "Cray ALPS (aprun)": AlpsRank of _, id [AlpsId];
    /// `mpiexec_mpt` of HPE MPT
    Mpt "HPE MPT (mpiexec_mpt)": MptRank of _, id [PbsJobid SlurmJobId];
    /// LAM
    Lam "LAM": LamRank of _, id [PbsJobid];
}

/// A rank of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// What started it
    pub family: Family,
    /// Rank, below `size` if that is known
    pub rank: u32,
    /// Number of ranks, at least 1; 0 if the launcher does not tell
    pub size: u32,
    /// The same on all ranks, new for each launch; the seed of the choice
    pub id: u64,
}

/// Questions to the system that prove a launch; each is asked only where it decides.
pub trait Proof {
    /// Process id of this process.
    fn own_pid(&mut self) -> u32;

    /// Process id at the other end of the socket `fd`, 0 if that cannot be seen from here, as
    /// from a container. None if `fd` is no open socket.
    fn peer(&mut self, fd: u32) -> Option<u32>;

    /// Hash of the word after `--control-port` on the command line of process `pid`, 0 if
    /// there is none.
    fn control_port(&mut self, pid: u32) -> u64;
}

/// Step ids from here on are Slurm's own steps: batch script, interactive shell.
const FIRST_SPECIAL_STEP: u32 = 0xffff_fff0;

/// The rank this process is, by the nearest launcher. None if no launcher of the table
/// started it, which is the case for a program run alone.
pub fn nearest(vars: &Vars<'_>, proof: &mut impl Proof) -> Option<Rank> {
    let mut rank = Rank { family: Family::Own, rank: 0, size: 0, id: 0 };
    find(vars, proof, &mut rank).then_some(rank)
}

/// As [`nearest`], in place; false if no launcher started it, and `rank` says nothing then.
#[inline(never)]
pub fn find(vars: &Vars<'_>, proof: &mut impl Proof, rank: &mut Rank) -> bool {
    let mut found = None;
    for row in FAMILIES {
        let here = Found { row, place: row.place(vars) };
        if here.place != NOWHERE && nearer(&here, &found, vars, proof) {
            found = Some(here);
        }
    }
    let Some(Found { row, place }) = found else {
        return false;
    };
    rank.family = row.family;
    rank.rank = place as u32;
    rank.size = (place >> 32) as u32;
    // A launch inside another may inherit its id; the size tells most of these apart.
    let mut id = Fnv::new();
    for part in &row.id {
        // The blank keeps `1`, `23` apart from `12`, `3`.
        id = id.with(vars.text(*part)).with(b" ");
    }
    // ParaStation's name of the launch; elsewhere another name of the rank.
    let pmi = row.family == Family::Pmi;
    if pmi && vars.number(Var::PmiId) != Some(rank.rank) {
        id = id.with(vars.text(Var::PmiId));
    }
    let mut id = id.value() ^ u64::from(rank.size);
    if pmi && !is_step(vars) && vars.get(Var::PmiFd).is_some() {
        // A child of a rank inherits the variables; the socket only as long as it is open.
        let Some(proxy) = peer(vars, proof) else {
            return false;
        };
        let named = vars.get(Var::TopasLaunchId).or(vars.get(Var::IntelUuid)).is_some();
        let mut alone = vars.number(Var::LocalRanks) == Some(rank.size);
        if proxy != 0 && !named {
            // Hydra outside Slurm puts nothing into the environment that is new for each
            // launch; the port its proxies were told to call is. A launcher for one node
            // has none.
            let port = proof.control_port(proxy);
            id ^= port;
            alone |= port == 0;
        }
        // Ports come back soon, and a launch within a rank may inherit the name of the outer.
        // On one node all ranks have one proxy.
        if alone {
            id ^= u64::from(proxy) << 32;
        }
    }
    rank.id = spread(id);
    true
}

/// What a family says of this process.
struct Found {
    row: &'static Row,
    /// By [`Row::place`]
    place: u64,
}

/// Whether the launcher that was looked for now is nearer than the one found before.
#[inline(never)]
fn nearer(here: &Found, before: &Option<Found>, vars: &Vars<'_>, proof: &mut impl Proof) -> bool {
    let family = here.row.family;
    if family == Family::Slurm && !is_step(vars) {
        return false;
    }
    let Some(before) = before else {
        // Its other names are anybody's.
        return family != Family::Torch || vars.get(Var::TorchRun).is_some();
    };
    let same = here.place == before.place;
    match family {
        // Other launchers speak PMI, too, and then agree. The socket of an outer hydra
        // is closed in ranks of an inner Open MPI.
        Family::Pmi => {
            (before.row.family == Family::OpenMpi || !same) && peer(vars, proof).is_some()
        }
        // With a view by PMI-2 that agrees, or proven.
        Family::Slurm => {
            (before.row.family == Family::Pmi && same)
                || vars.number(Var::SlurmTaskPid) == Some(proof.own_pid())
        }
        _ => false,
    }
}

/// Whether the process is of a Slurm step. Without one Slurm's variables are those of the
/// batch script, not of a task.
#[inline(never)]
fn is_step(vars: &Vars<'_>) -> bool {
    vars.number(Var::SlurmStepId).is_some_and(|id| id < FIRST_SPECIAL_STEP)
}

/// The place of a process that a family did not start.
const NOWHERE: u64 = u64::MAX;

impl Row {
    /// What the family's variables say: the size in the high half, 0 if not told, the rank in
    /// the low.
    fn place(&self, vars: &Vars<'_>) -> u64 {
        let Some(rank) = vars.number(self.rank) else {
            return NOWHERE;
        };
        let size = match self.size {
            None => 0,
            Some(size) => match vars.number(size) {
                Some(size) if rank < size => size,
                _ => return NOWHERE,
            },
        };
        u64::from(size) << 32 | u64::from(rank)
    }
}

/// The process at the other end of the PMI socket, as [`Proof::peer`] has it.
#[inline(never)]
fn peer(vars: &Vars<'_>, proof: &mut impl Proof) -> Option<u32> {
    proof.peer(vars.number(Var::PmiFd)?)
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
        fn peer(&mut self, _: u32) -> Option<u32> {
            self.asked.push("peer".into());
            self.peer
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
        let mut told = Told { peer: Some(5), ..Told::default() };
        ask(&named, &mut told).unwrap();
        assert_eq!(told.asked, ["peer"]);
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

    #[test]
    fn launchers_that_agree_are_one() {
        let flux = "FLUX_TASK_RANK=1 FLUX_JOB_SIZE=4 FLUX_JOB_ID_PATH=/a/b ";
        let mut told = Told { peer: Some(5), ..Told::default() };
        let env = [flux, "PMI_RANK=1 PMI_SIZE=4 PMI_FD=9"].concat();
        assert_eq!(ask(&env, &mut told).unwrap().family, Family::Flux);
        assert!(told.asked.is_empty());
        let inside = [flux, HYDRA].concat().replace("PMI_SIZE=4", "PMI_SIZE=2");
        assert_eq!(ask(&inside, &mut told).unwrap().family, Family::Pmi);
    }

    #[test]
    fn a_launcher_that_tells_no_size_still_names_a_rank() {
        for (env, family) in [
            ("PMI_ID=3 PMI_PORT=n1:4711", Family::PmiPort),
            ("ALPS_APP_PE=3 ALPS_APP_ID=9", Family::Alps),
            ("MPT_MPI_RANK=3", Family::Mpt),
            ("PMIX_RANK=3 PMIX_NAMESPACE=prun-n1-9@2", Family::Pmix),
        ] {
            let rank = ask(env, &mut Told::default()).unwrap();
            assert_eq!((rank.family, rank.rank, rank.size), (family, 3, 0));
        }
        assert_eq!(ask("RANK=1 WORLD_SIZE=4", &mut Told::default()), None);
    }

    /// All that `prterun` of PRRTE 3 without a personality tells of a launch; those of one, two and
    /// three ranks differ in the rank alone, so nothing tells the size.
    const PRTERUN: &str = "PMIX_BFROP_BUFFER_TYPE=PMIX_BFROP_BUFFER_NON_DESC \
        PMIX_GDS_MODULE=shmem2,hash PMIX_HOSTNAME=n1 PMIX_NAMESPACE=prterun-n1-20305@1 \
        PMIX_PARAM_FILE_PASSED=1 PMIX_SECURITY_MODE=native PMIX_SYSTEM_TMPDIR=/tmp \
        PMIX_SERVER_TMPDIR=/tmp/prtrn.20305 PMIX_VERSION=5.0.11rc1 PRTE_LAUNCHED=1 \
        PMIX_SERVER_URI2=prterun-n1-20305@0.0;tcp4://127.0.0.1:44015 ";

    #[test]
    fn prterun_without_a_personality_tells_no_size() {
        let ask = |rank: &str| {
            let mut told = Told::default();
            let found = ask(&[PRTERUN, "PMIX_RANK=", rank].concat(), &mut told).unwrap();
            assert!(told.asked.is_empty(), "{:?}", told.asked);
            found
        };
        let ranks = ["0", "1", "2", "3"].map(ask);
        for (number, rank) in (0..).zip(ranks) {
            assert_eq!((rank.family, rank.rank, rank.size), (Family::Pmix, number, 0));
            assert_eq!(rank.id, ranks[0].id);
        }
        let places = ranks.map(|rank| crate::choice::place(rank.id, rank.size, rank.rank));
        assert_eq!(places, [None, Some(0), Some(1), None]);
    }

    #[test]
    fn without_its_socket_a_child_of_a_rank_is_no_rank() {
        for env in [HYDRA, &[HYDRA, "TOPAS_LAUNCH_ID=5f"].concat()] {
            assert_eq!(ask(env, &mut Told::default()), None);
            // In a container the other end may be out of sight.
            assert!(ask(env, &mut Told { peer: Some(0), ..Told::default() }).is_some());
        }
    }

    #[test]
    fn a_launch_within_a_rank_may_inherit_the_name_of_the_outer() {
        let env = [HYDRA, "MPI_LOCALNRANKS=4 TOPAS_LAUNCH_ID=5f"].concat();
        let of = |proxy| ask(&env, &mut Told { peer: Some(proxy), ..Told::default() }).unwrap().id;
        assert_ne!(of(5), of(6));
    }

    #[test]
    fn a_launcher_for_one_node_is_told_by_its_process() {
        let of = |proxy| {
            let mut told = Told { peer: Some(proxy), ..Told::default() };
            ask("PMI_RANK=1 PMI_SIZE=4 PMI_FD=6", &mut told).unwrap().id
        };
        assert_ne!(of(5), of(6));
    }
}
