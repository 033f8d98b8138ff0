//! The environment variables that matter, gathered in one pass over the environment.

use topas_format::hash::{place, word};
use topas_format::text::{Cursor, whole};

macro_rules! vars {
    ($($var:ident = $name:literal,)*) => {
        /// A variable that a decision reads.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        #[repr(u8)]
        pub enum Var {
            $($var,)*
            /// Never set
            None,
        }

        /// Number of variables.
        pub const COUNT: usize = [$(Var::$var),*].len();

        /// Their names; not linked into user programs, which compare hashes.
        pub const NAMES: [&str; COUNT] = [$($name),*];

        const HASHES: [u32; COUNT] = [$(word($name.as_bytes())),*];

        const FIRST: u32 = 0 $(| first_letter($name))*;
    };
}

/// A bit for the capital letter a name begins with. Only at compile time.
#[allow(clippy::panic)]
const fn first_letter(name: &str) -> u32 {
    match name.as_bytes() {
        [letter @ b'A'..=b'Z', ..] => 1 << (*letter - b'A'),
        _ => panic!("names of variables begin with a capital letter"),
    }
}

vars! {
    Topas = "TOPAS",
    TopasPe = "TOPAS_PE",
    TopasOps = "TOPAS_OPS",
    TopasPrint = "TOPAS_PRINT",
    TopasVerbose = "TOPAS_VERBOSE",
    TopasLog = "TOPAS_LOG",
    TopasLaunchId = "TOPAS_LAUNCH_ID",
    TopasRank = "TOPAS_RANK",
    TopasMeasureAllPe = "TOPAS_MEASURE_ALL_PE",
    TopasMpi = "TOPAS_MPI",
    Logname = "LOGNAME",
    User = "USER",
    OmpiRank = "OMPI_COMM_WORLD_RANK",
    OmpiSize = "OMPI_COMM_WORLD_SIZE",
    OmpiTransports = "OMPI_MCA_orte_precondition_transports",
    PmixNamespace = "PMIX_NAMESPACE",
    PmixRank = "PMIX_RANK",
    Mv2Rank = "MV2_COMM_WORLD_RANK",
    Mv2Size = "MV2_COMM_WORLD_SIZE",
    MpirunId = "MPIRUN_ID",
    PalsRank = "PALS_RANKID",
    PalsApid = "PALS_APID",
    FluxRank = "FLUX_TASK_RANK",
    FluxSize = "FLUX_JOB_SIZE",
    FluxPath = "FLUX_JOB_ID_PATH",
    JsmRank = "JSM_NAMESPACE_RANK",
    JsmSize = "JSM_NAMESPACE_SIZE",
    PmiRank = "PMI_RANK",
    PmiSize = "PMI_SIZE",
    PmiFd = "PMI_FD",
    LocalRanks = "MPI_LOCALNRANKS",
    PmiSpawned = "PMI_SPAWNED",
    IntelUuid = "I_MPI_HYDRA_UUID",
    SlurmProcid = "SLURM_PROCID",
    SlurmStepTasks = "SLURM_STEP_NUM_TASKS",
    SlurmStepId = "SLURM_STEP_ID",
    SlurmJobId = "SLURM_JOB_ID",
    SlurmTaskPid = "SLURM_TASK_PID",
    SlurmRestart = "SLURM_RESTART_COUNT",
    SlurmCluster = "SLURM_CLUSTER_NAME",
    SlurmArrayJob = "SLURM_ARRAY_JOB_ID",
    SlurmArrayTask = "SLURM_ARRAY_TASK_ID",
    PjmProcesses = "PJM_MPI_PROC",
    PjmJobid = "PJM_JOBID",
    PlatformRank = "MPI_RANKID",
    PlatformSize = "MPI_NRANKS",
    PoeRank = "MP_CHILD",
    PoeSize = "MP_PROCS",
    PoePartition = "MP_PARTITION",
    GaspiRank = "GASPI_RANK",
    GaspiSize = "GASPI_NRANKS",
    GaspiMaster = "GASPI_MASTER",
    GaspiMachines = "GASPI_MFILE",
    TorchRank = "RANK",
    TorchSize = "WORLD_SIZE",
    TorchRun = "TORCHELASTIC_RUN_ID",
    PmiId = "PMI_ID",
    PmiPort = "PMI_PORT",
    AlpsRank = "ALPS_APP_PE",
    AlpsId = "ALPS_APP_ID",
    MptRank = "MPT_MPI_RANK",
    LamRank = "LAMRANK",
    Environment = "ENVIRONMENT",
    PbsEnvironment = "PBS_ENVIRONMENT",
    PbsJobid = "PBS_JOBID",
    PjmEnvironment = "PJM_ENVIRONMENT",
    LsbJobid = "LSB_JOBID",
    LsbInteractive = "LSB_INTERACTIVE",
    FluxJobid = "FLUX_JOB_ID",
    FluxEnclosing = "FLUX_ENCLOSING_ID",
    CobaltJobid = "COBALT_JOBID",
    LoadlStep = "LOADL_STEP_ID",
    OarJobid = "OAR_JOB_ID",
    MoabJobid = "MOAB_JOBID",
    JobId = "JOB_ID",
    SlurmPartition = "SLURM_JOB_PARTITION",
    PbsQueue = "PBS_QUEUE",
    LsbQueue = "LSB_QUEUE",
    LoadlClass = "LOADL_STEP_CLASS",
    Queue = "QUEUE",
}

/// The values of the variables that are set.
#[derive(Clone, Debug)]
pub struct Vars<'a> {
    values: [Option<&'a [u8]>; COUNT],
}

impl Default for Vars<'_> {
    fn default() -> Self {
        Vars::new()
    }
}

impl<'a> Vars<'a> {
    /// None of them.
    pub const fn new() -> Self {
        Vars { values: [None; COUNT] }
    }

    /// Whether an entry that begins with this byte can be one of ours, so that the
    /// caller need not measure the length of all others.
    pub fn may_begin(first: u8) -> bool {
        let letter = first.wrapping_sub(b'A');
        letter < 26 && FIRST >> letter & 1 == 1
    }

    /// Takes an entry `NAME=value` if it is one of ours. As with `getenv`, the first
    /// of several wins.
    pub fn offer(&mut self, entry: &'a [u8]) {
        let mut text = Cursor::new(entry);
        let place = place(&HASHES, text.until(b'='));
        if let Some(value) = place.and_then(|at| self.values.get_mut(at))
            && value.is_none()
        {
            *value = Some(text.rest);
        }
    }

    /// The value of a variable, None if it is not set.
    #[inline(never)]
    pub fn get(&self, var: Var) -> Option<&'a [u8]> {
        self.values.get(var as usize).copied().flatten()
    }

    /// The value of a variable, empty if it is not set.
    #[inline(never)]
    pub fn text(&self, var: Var) -> &'a [u8] {
        self.get(var).unwrap_or_default()
    }

    /// Whether a variable asks for something.
    #[inline(never)]
    pub fn is_yes(&self, var: Var) -> bool {
        topas_format::env::is_yes(self.text(var))
    }

    /// The value as a number.
    #[inline(never)]
    pub fn number(&self, var: Var) -> Option<u32> {
        self.get(var).and_then(whole)
    }
}

#[cfg(test)]
impl<'a> Vars<'a> {
    /// From text as `env` prints it.
    pub(crate) fn of(text: &'a str) -> Self {
        let mut vars = Vars::default();
        for entry in text.split_whitespace() {
            assert!(
                Vars::may_begin(entry.as_bytes()[0]) || !NAMES.iter().any(|n| entry.starts_with(n))
            );
            vars.offer(entry.as_bytes());
        }
        vars
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_names_have_one_hash() {
        for (i, a) in HASHES.iter().enumerate() {
            assert!(!HASHES[i + 1..].contains(a), "{}", NAMES[i]);
        }
    }

    #[test]
    fn our_own_names_are_those_of_the_format() {
        use topas_format::env;
        let extended = crate::extended::NAMES.iter();
        let ours = NAMES.iter().chain(extended).filter(|n| n.starts_with("TOPAS"));
        for name in ours {
            assert!(env::ALL.iter().any(|(known, _)| known == name), "{name}");
        }
    }

    #[test]
    fn takes_ours_once_and_leaves_the_rest() {
        let vars = Vars::of("USERS=x USER=mohr USER=other PMI_RANK=3 PMI_RANKS=9 TOPAS=");
        assert_eq!(vars.get(Var::User), Some(&b"mohr"[..]));
        assert_eq!(vars.number(Var::PmiRank), Some(3));
        assert_eq!(vars.get(Var::Topas), Some(&b""[..]));
        assert_eq!(vars.get(Var::Logname), None);
        assert!(!Vars::may_begin(b'_') && !Vars::may_begin(b'a') && !Vars::may_begin(b'H'));
    }
}
