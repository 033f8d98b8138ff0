//! The MPI installations of this machine.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::source;
use crate::running::{Run, command, have, run, system_path};
use crate::site::{Scratch, Site, work_dir};
use crate::skip::{note, skip};
use crate::yielding::yielding;

/// An MPI implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mpi {
    /// Open MPI
    OpenMpi,
    /// MPICH
    Mpich,
}

/// Names a user types.
const TOOLS: [&str; 9] =
    ["mpicc", "mpicxx", "mpic++", "mpiCC", "mpif77", "mpif90", "mpifort", "mpiexec", "mpirun"];

const HYDRA_PROXY: &str = "hydra_pmi_proxy";

impl Mpi {
    /// All that are tested.
    pub const ALL: [Mpi; 2] = [Mpi::OpenMpi, Mpi::Mpich];

    /// Whether a case of a long list, by its place there, runs under this MPI. The cases of such a
    /// list are about linkers, compilers or counters rather than MPIs: each MPI takes its share of
    /// them, and all of them with `TOPAS_TEST_FULL`.
    pub fn takes(self, place: usize) -> bool {
        let share = Mpi::ALL.iter().position(|mpi| *mpi == self);
        Some(place % Mpi::ALL.len()) == share || env::var_os("TOPAS_TEST_FULL").is_some()
    }

    /// The word in directives, and the ending of its programs where both are installed.
    pub fn name(self) -> &'static str {
        match self {
            Mpi::OpenMpi => "openmpi",
            Mpi::Mpich => "mpich",
        }
    }

    /// Those that are installed; says which are not.
    pub fn installed(test: &str) -> Vec<Mpi> {
        let (here, missing): (Vec<_>, Vec<_>) =
            Mpi::ALL.into_iter().partition(|mpi| mpi.real("mpiexec").is_some());
        for mpi in missing {
            skip(test, &format!("no mpiexec.{} on this machine", mpi.name()));
        }
        here
    }

    /// The same, if the programs a test needs beside them are there; says which is not.
    pub fn installed_with(test: &str, programs: &[&str]) -> Vec<Mpi> {
        match programs.iter().find(|program| !have(program)) {
            None => Mpi::installed(test),
            Some(program) => {
                skip(test, &format!("no {program} on this machine"));
                Vec::new()
            }
        }
    }

    /// The real program behind a name such as `mpicc`.
    pub fn real(self, tool: &str) -> Option<PathBuf> {
        let name = format!("{tool}.{}", self.name());
        system_path().split(':').map(|dir| Path::new(dir).join(&name)).find(|path| path.exists())
    }

    /// A directory with the plain names of its programs, as an environment module would put
    /// in front of PATH.
    pub fn tools(self) -> PathBuf {
        let dir = work_dir().join(self.name()).join("bin");
        fs::create_dir_all(&dir).expect("make directory");
        let tools = TOOLS.into_iter().filter_map(|tool| Some((tool, self.real(tool)?)));
        // Hydra looks for its proxy where it was found itself.
        let proxy = Path::new("/usr/bin").join(HYDRA_PROXY);
        let proxy = (self == Mpi::Mpich && proxy.exists()).then_some((HYDRA_PROXY, proxy));
        for (tool, real) in tools.chain(proxy) {
            // Another test may have made it already.
            if !dir.join(tool).exists() {
                let _ = symlink(real, dir.join(tool));
            }
        }
        dir
    }

    /// A command of the drop-in drivers in front of this MPI, with its log in `scratch`. By
    /// its plain name, as a user types it: Open MPI's launcher behaves otherwise by a path.
    pub fn driver(self, site: &Site, scratch: &Scratch, tool: &str) -> Command {
        let mut driver = scratch.command(tool);
        driver.env("PATH", site.path(&self.tools()));
        if self == Mpi::OpenMpi {
            permit(&mut driver, scratch);
        }
        driver
    }

    /// `mpiexec -n RANKS` by the drop-in launcher; the program and its arguments follow.
    pub fn launch(self, site: &Site, scratch: &Scratch, ranks: u32) -> Command {
        let mut launcher = self.driver(site, scratch, "mpiexec");
        launcher.args(["-n", &ranks.to_string()]);
        self.considerate(&mut launcher);
        launcher
    }

    /// `mpiexec -n RANKS` by the real launcher, as if TOPAS were not on PATH.
    pub fn launch_bare(self, scratch: &Scratch, ranks: u32) -> Command {
        let mut launcher = command("mpiexec");
        launcher.env("PATH", format!("{}:{}", self.tools().display(), system_path()));
        launcher.args(["-n", &ranks.to_string()]);
        if self == Mpi::OpenMpi {
            permit(&mut launcher, scratch);
        }
        self.considerate(&mut launcher);
        launcher
    }

    /// Makes the ranks of this launcher leave the processor to others while they wait, if they do
    /// not of themselves.
    pub fn considerate(self, launcher: &mut Command) {
        if self == Mpi::Mpich {
            yielding(launcher);
        }
    }

    /// What links a program statically, behind its source. None where that cannot be.
    ///
    /// Debian's MPICH stands on UCX, whose archives work only as a whole: their parts find
    /// each other by constructors.
    pub fn static_words(self, scratch: &Scratch) -> Option<Vec<String>> {
        const WORDS: &str = "-static -Wl,--start-group -lmpichfort -lmpichcxx -lmpich \
            -Wl,--whole-archive -lucp -luct -lucs -lucm -Wl,--no-whole-archive -lnuma -lm \
            -Wl,--end-group";
        // Debian's Open MPI has no archives.
        if self != Mpi::Mpich {
            return None;
        }
        let stand_in = scratch.path().join("no_udev.o");
        let mut gcc = command("gcc");
        run(gcc.arg("-c").arg(source("static/no_udev.c")).arg("-o").arg(&stand_in)).good();
        let words = WORDS.split_whitespace().map(str::to_owned);
        Some([stand_in.display().to_string()].into_iter().chain(words).collect())
    }
}

/// What tests of Open MPI need that run as root, on a small machine, and several at a time:
/// its launchers trip over each other where they share a directory.
pub fn permit(command: &mut Command, scratch: &Scratch) {
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    command.env("OMPI_MCA_orte_tmpdir_base", scratch.path());
    // From version 5 on, the launcher is PRRTE's.
    command.env("PRTE_ALLOW_RUN_AS_ROOT", "1").env("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
    command.env("PRTE_MCA_prte_tmpdir_base", scratch.path());
}

/// Runs a launcher to its end.
///
/// Launchers sometimes break down by themselves, with or without TOPAS, on a busy machine with
/// two processors. Such a launch is said and repeated, and lines it left in the log of `scratch`
/// are removed.
#[track_caller]
pub fn launched(scratch: &Scratch, launch: &mut Command) -> Run {
    launched_after(scratch, launch, &|| ())
}

/// The same, where `clear` removes what else a launch that is repeated has left.
#[track_caller]
pub fn launched_after(scratch: &Scratch, launch: &mut Command, clear: &dyn Fn()) -> Run {
    repeated(scratch, launch, |_| true, clear)
}

/// The same of programs that may end without `MPI_Finalize`: what the launcher says of that is
/// taken as the truth.
#[track_caller]
pub fn launched_to_any_end(scratch: &Scratch, launch: &mut Command) -> Run {
    repeated(scratch, launch, |broke| broke != Broke::Goodbye, &|| ())
}

#[track_caller]
fn repeated(
    scratch: &Scratch,
    launch: &mut Command,
    by_itself: impl Fn(Broke) -> bool,
    clear: &dyn Fn(),
) -> Run {
    for _ in 0..3 {
        let ended = run(launch);
        let Some(broke) = Broke::of(&ended).filter(|broke| by_itself(*broke)) else {
            return ended;
        };
        note("one launch", &format!("its launcher {}; launched again", broke.how()));
        // The ranks of that launch have run, and have left what every run leaves.
        let own = launch.get_current_dir().map(|dir| dir.join("topas.out"));
        for left in [Some(scratch.log()), own].into_iter().flatten() {
            let removed = fs::remove_file(&left);
            assert!(removed.is_ok() || !left.exists(), "{}: {removed:?}", left.display());
        }
        clear();
    }
    run(launch)
}

/// The exit code of a launcher that died of SIGPIPE, as that of MPICH 4.0 does when ranks end at once.
pub const BROKEN_PIPE: i32 = 128 + 13;

/// How a launcher broke down by itself.
#[derive(Clone, Copy, PartialEq)]
enum Broke {
    /// Hydra of MPICH 4.0, of SIGPIPE, when ranks end at once: 1 of 600 launches of eight ranks.
    Pipe,
    /// Hydra says that it cannot write to a socket.
    Socket,
    /// The launcher of Open MPI 4 says of a rank that has ended well that the rank said no
    /// goodbye: seen twice.
    Goodbye,
}

impl Broke {
    /// None of a launcher that did not break down.
    fn of(ended: &Run) -> Option<Self> {
        let silent = ended.stdout.is_empty() && ended.stderr.is_empty();
        let said = ended.err();
        let says =
            |words: [&str; 2]| ended.code() != 0 && words.iter().all(|part| said.contains(part));
        if ended.code() == BROKEN_PIPE && silent {
            return Some(Self::Pipe);
        }
        if says(["HYDU_sock_write", "write error"]) {
            return Some(Self::Socket);
        }
        says(["with PID 0 on", "exiting improperly"]).then_some(Self::Goodbye)
    }

    fn how(self) -> &'static str {
        match self {
            Self::Pipe => "died of SIGPIPE",
            Self::Socket => "could not write to a socket",
            Self::Goodbye => "missed the goodbye of a rank",
        }
    }
}

/// Sets the variables by which Open MPI's launcher tells a process that it is a rank, so
/// that one process can be tested alone. `launch` stands for the launcher's random key.
pub fn emulate_rank(command: &mut Command, rank: u32, size: u32, launch: &str) {
    command.env("OMPI_COMM_WORLD_RANK", rank.to_string());
    command.env("OMPI_COMM_WORLD_SIZE", size.to_string());
    command.env("OMPI_MCA_orte_precondition_transports", launch);
}
