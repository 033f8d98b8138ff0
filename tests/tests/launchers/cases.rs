//! The table of launches.

use topas_tests::installation::{Installation, MpiKind};

/// What is launched, and the lines that must come of it.
pub struct LaunchCase {
    /// In a few words
    pub what: &'static str,
    /// Where it makes sense; elsewhere it is not a case
    pub of: fn(&Installation) -> bool,
    /// Command line: `{NAME}` is a program of the tests, `{other}` the launcher of another
    /// MPI, `{own}` the MPI's own launcher, by absolute paths, `{ssh}` one that goes nowhere
    pub words: &'static [&'static str],
    /// In any order
    pub launches: &'static [ExpectedLaunch],
}

impl LaunchCase {
    /// Whether its ranks start a launcher.
    pub fn is_nested(&self) -> bool {
        self.words.iter().any(|word| word.contains("{other}") || word.contains("{own}"))
    }
}

/// The lines of one launch: the number of ranks, 0 if the launcher does not tell it, and
/// the programs the lines are of, in order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExpectedLaunch(pub u32, pub &'static [&'static str]);

const ANY: fn(&Installation) -> bool = |_| true;
const HYDRA: fn(&Installation) -> bool = |mpi| mpi.kind != MpiKind::OpenMpi;

/// All of them.
pub const CASES: &[LaunchCase] = &[
    LaunchCase {
        what: "one program",
        of: ANY,
        words: &["mpiexec", "-n", "4", "{hello}"],
        launches: &[ExpectedLaunch(4, &["hello", "hello"])],
    },
    LaunchCase {
        what: "by its other name",
        of: ANY,
        words: &["mpirun", "-n", "3", "{hello}"],
        launches: &[ExpectedLaunch(3, &["hello", "hello"])],
    },
    LaunchCase {
        what: "one rank",
        of: ANY,
        words: &["mpiexec", "-n", "1", "{hello}"],
        launches: &[],
    },
    LaunchCase { what: "no launcher", of: ANY, words: &["{hello}"], launches: &[] },
    LaunchCase {
        what: "twenty ranks",
        of: ANY,
        words: &["mpiexec", "-n", "20", "{tiny}"],
        launches: &[ExpectedLaunch(20, &["tiny", "tiny"])],
    },
    LaunchCase {
        what: "a program without MPI",
        of: ANY,
        words: &["mpiexec", "-n", "4", "{tiny}"],
        launches: &[ExpectedLaunch(4, &["tiny", "tiny"])],
    },
    LaunchCase {
        what: "two programs",
        of: ANY,
        // The inner two of four ranks: the last of one and the first of the other.
        words: &["mpiexec", "-n", "2", "{hello}", ":", "-n", "2", "{again}"],
        launches: &[ExpectedLaunch(4, &["again", "hello"])],
    },
    LaunchCase {
        what: "a shell that stays",
        of: ANY,
        words: &["mpiexec", "-n", "4", "sh", "-c", "{hello}; exit"],
        launches: &[ExpectedLaunch(4, &["hello", "hello"])],
    },
    LaunchCase {
        what: "a shell that becomes the program",
        of: ANY,
        words: &["mpiexec", "-n", "4", "sh", "-c", "exec {hello}"],
        launches: &[ExpectedLaunch(4, &["hello", "hello"])],
    },
    LaunchCase {
        what: "two programs one after the other",
        of: ANY,
        words: &["mpiexec", "-n", "4", "sh", "-c", "{tiny} && {hello}"],
        launches: &[ExpectedLaunch(4, &["hello", "hello", "tiny", "tiny"])],
    },
    LaunchCase {
        what: "children of ranks",
        of: ANY,
        words: &["mpiexec", "-n", "4", "{system}", "{tiny}"],
        launches: &[ExpectedLaunch(4, &["system", "system"])],
    },
    LaunchCase {
        what: "children of ranks that inherit no open files",
        of: ANY,
        words: &[
            "mpiexec",
            "-n",
            "4",
            "{system}",
            "python3 -c 'import subprocess, sys; subprocess.run(sys.argv[1])' {tiny}",
        ],
        launches: &[ExpectedLaunch(4, &["system", "system"])],
    },
    LaunchCase {
        what: "spawned ranks",
        of: can_spawn,
        words: &["mpiexec", "-n", "2", "{spawn}"],
        launches: &[ExpectedLaunch(2, &["spawn", "spawn"]), ExpectedLaunch(2, &["spawn", "spawn"])],
    },
    LaunchCase {
        what: "ranks spawned twice",
        of: |mpi| can_spawn(mpi) && tells_spawns_apart(mpi),
        words: &["mpiexec", "-n", "2", "{spawn}", "2"],
        launches: &[
            ExpectedLaunch(2, &["spawn", "spawn"]),
            ExpectedLaunch(2, &["spawn", "spawn"]),
            ExpectedLaunch(2, &["spawn", "spawn"]),
        ],
    },
    LaunchCase {
        what: "another MPI's launcher in each rank",
        of: ANY,
        words: &["mpiexec", "-n", "2", "sh", "-c", "{other} -n 4 {tiny} && {tiny}"],
        launches: &[
            ExpectedLaunch(2, &["tiny", "tiny"]),
            ExpectedLaunch(4, &["tiny", "tiny"]),
            ExpectedLaunch(4, &["tiny", "tiny"]),
        ],
    },
    LaunchCase {
        what: "another MPI's launcher, as many ranks",
        of: ANY,
        words: &["mpiexec", "-n", "2", "sh", "-c", "{other} -n 2 {tiny} && {tiny}"],
        launches: &[
            ExpectedLaunch(2, &["tiny", "tiny"]),
            ExpectedLaunch(2, &["tiny", "tiny"]),
            ExpectedLaunch(2, &["tiny", "tiny"]),
        ],
    },
    LaunchCase {
        what: "its own launcher in each rank",
        of: HYDRA,
        words: &["mpiexec", "-n", "2", "sh", "-c", "{own} -n 2 {tiny} && {tiny}"],
        launches: &[
            ExpectedLaunch(2, &["tiny", "tiny"]),
            ExpectedLaunch(2, &["tiny", "tiny"]),
            ExpectedLaunch(2, &["tiny", "tiny"]),
        ],
    },
    LaunchCase {
        what: "variables left over from other launchers",
        of: ANY,
        words: &[
            "env",
            "SLURM_PROCID=0",
            "SLURM_NTASKS=8",
            "SLURM_JOB_ID=7",
            "MV2_COMM_WORLD_SIZE=9",
            "mpiexec",
            "-n",
            "4",
            "{hello}",
        ],
        launches: &[ExpectedLaunch(4, &["hello", "hello"])],
    },
    LaunchCase {
        what: "an id left over from another launch",
        of: ANY,
        words: &["env", "TOPAS_LAUNCH_ID=5f1c", "mpiexec", "-n", "4", "{tiny}"],
        launches: &[ExpectedLaunch(4, &["tiny", "tiny"])],
    },
    LaunchCase {
        what: "the same id left over",
        of: ANY,
        words: &["env", "TOPAS_LAUNCH_ID=5f1c", "mpiexec", "-n", "4", "{tiny}"],
        launches: &[ExpectedLaunch(4, &["tiny", "tiny"])],
    },
    LaunchCase {
        what: "a PMI server at a port",
        of: |mpi| mpi.kind == MpiKind::Mpich,
        words: &["mpiexec", "-pmi-port", "-n", "4", "{hello}"],
        launches: &[ExpectedLaunch(0, &["hello", "hello"])],
    },
    LaunchCase {
        what: "the launcher that forks",
        of: |mpi| mpi.tool("mpiexec.gforker").is_some(),
        words: &["mpiexec.gforker", "-n", "4", "{hello}"],
        launches: &[ExpectedLaunch(4, &["hello", "hello"])],
    },
    LaunchCase {
        what: "two proxies",
        of: HYDRA,
        words: &[
            "mpiexec",
            "-launcher",
            "ssh",
            "-launcher-exec",
            "{ssh}",
            "-hosts",
            "127.0.0.2,127.0.0.3",
            "-ppn",
            "2",
            "-n",
            "4",
            "{tiny}",
        ],
        launches: &[ExpectedLaunch(4, &["tiny", "tiny"])],
    },
];

/// Debian's MPICH 4.0 cannot: its ranks find no port to meet at.
fn can_spawn(mpi: &Installation) -> bool {
    mpi.name != "mpich-of-debian"
}

/// From 4.2 on all ranks that MPICH's launcher spawns have one proxy and one environment.
fn tells_spawns_apart(mpi: &Installation) -> bool {
    mpi.kind != MpiKind::Mpich
        || ["mpich-3", "mpich-4.0", "mpich-4.1"].iter().any(|old| mpi.name.starts_with(old))
}
