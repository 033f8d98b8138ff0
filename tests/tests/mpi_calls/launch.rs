//! Programs under an MPI, with the library in front of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use topas_mpi_profile::layout::language;
use topas_mpi_table::{FunctionClass, find};
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::profile::library;
use topas_tests::running::{Run, command, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::note;

use super::counted::{Counted, counted, has_count, header};
use super::fortran::shims;
use super::profile::{Profile, profile};

/// The names by which a program calls MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// `MPI_Send`
    Plain,
    /// `PMPI_Send`
    Profiling,
    /// `mpi_send_`, of `mpif.h` and `use mpi`
    Fortran,
    /// `mpi_send_f08_`, `mpi_send_f08ts_`
    F08,
}

/// A program that counts its own calls.
pub struct Program {
    mpi: Mpi,
    scratch: Scratch,
}

impl Names {
    /// All.
    pub const ALL: [Names; 4] = [Names::Plain, Names::Profiling, Names::Fortran, Names::F08];
}

/// What a rank did, by itself and by the library.
pub struct ProfiledRank {
    /// By name of the function, what the program counted
    pub counted: BTreeMap<String, Counted>,
    /// What the library counted
    pub profile: Profile,
}

impl Program {
    /// Compiles a program in C.
    pub fn new(mpi: Mpi, names: Names, text: &str, words: &[&str]) -> Program {
        let scratch = Scratch::new();
        let path = |name: &str| scratch.path().join(name);
        let (shims, fortran) = match names {
            Names::Plain | Names::Profiling => (String::new(), BTreeSet::new()),
            Names::Fortran | Names::F08 => shims(mpi, names),
        };
        fs::write(path("counted.h"), shims + &header(&fortran)).expect("write a header");
        fs::write(path("program.c"), text).expect("write a program");
        let mut compiler = command(mpi.real("mpicc").expect("mpicc"));
        compiler.args(["-std=gnu11", "-w", "-include"]).arg(path("counted.h"));
        compiler.args(match names {
            Names::Plain => &[][..],
            Names::Profiling => &["-DPROFILING"],
            Names::Fortran => &["-DFORTRAN"],
            Names::F08 => &["-DF08"],
        });
        compiler.arg("-c").arg(path("program.c")).args(words).arg("-o").arg(path("program.o"));
        run(&mut compiler).good();
        if [Names::Fortran, Names::F08].contains(&names) {
            assert!(fortran.len() > 150, "{}", fortran.len());
            println!("{} {names:?}: {} functions by way of Fortran", mpi.name(), fortran.len());
        }
        let linker = if fortran.is_empty() { "mpicc" } else { "mpifort" };
        let mut linker = command(mpi.real(linker).expect(linker));
        linker.arg(path("program.o")).args(words).arg("-o").arg(path("program"));
        run(&mut linker).good();
        Program { mpi, scratch }
    }

    /// A path in the directory of the program.
    pub fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// Runs it with the library.
    #[track_caller]
    pub fn profiled(&self, ranks: u32, arguments: &[&str]) -> Vec<ProfiledRank> {
        self.profiled_with(ranks, &[], arguments)
    }

    /// The same, with further variables of the library.
    #[track_caller]
    pub fn profiled_with(
        &self,
        ranks: u32,
        variables: &[&str],
        arguments: &[&str],
    ) -> Vec<ProfiledRank> {
        self.launch(ranks, variables, arguments).good();
        self.counted(ranks)
    }

    /// What the ranks of the last launch did.
    pub fn counted(&self, ranks: u32) -> Vec<ProfiledRank> {
        let dir = self.path("with");
        let rank =
            |rank| ProfiledRank { counted: counted(&dir, rank), profile: profile(&dir, rank) };
        (0..ranks).map(rank).collect()
    }

    /// Runs it with the library and these variables, however it ends.
    pub fn launch(&self, ranks: u32, variables: &[&str], arguments: &[&str]) -> Run {
        let (dir, spool) = (self.path("with"), self.path("spool"));
        let launch = || {
            for dir in [&dir, &spool] {
                let _ = fs::remove_dir_all(dir);
                fs::create_dir(dir).expect("make a directory");
            }
            let mut launch = self.mpi.launch_bare(&self.scratch, ranks);
            launch.env("COUNTED", &dir).env("TOPAS_MPI_SPOOL", &spool);
            launch.env("TOPAS_MPI", "yes").env("TOPAS_MPI_OUT", self.path("topas-mpi.out"));
            launch.env("TOPAS_MPI_PEERS", "yes").env("TOPAS_MPI_COMMS", "yes");
            // 4.1.4: its other component for windows crashes over shared memory.
            launch.env("OMPI_MCA_osc", "^rdma");
            // The launcher is left alone.
            launch.arg("env").arg(format!("LD_PRELOAD={}", library(Site::shared()).display()));
            launch.args(variables).arg(self.path("program")).args(arguments);
            launched(&self.scratch, launch.current_dir(self.scratch.path()))
        };
        let ended = launch();
        if !met_badly(&ended) {
            return ended;
        }
        note("one launch", "a rank crashed in MPI_Comm_spawn of Open MPI; launched again");
        launch()
    }

    /// Whether it fails without the library.
    pub fn fails_without(&self, ranks: u32, arguments: &[&str]) -> bool {
        let dir = self.path("without");
        let _ = fs::create_dir(&dir);
        let mut launch = self.mpi.launch_bare(&self.scratch, ranks);
        launch.env("COUNTED", &dir).env("OMPI_MCA_osc", "^rdma");
        launch.arg(self.path("program")).args(arguments).current_dir(self.scratch.path());
        launched(&self.scratch, &mut launch).code() != 0
    }
}

/// Whether a rank crashed where Open MPI lets ranks meet what they have started. Version 4.1.4 is
/// unsteady there on a busy machine: of 8 launches with six spawns each, without TOPAS, 2 hung.
fn met_badly(ended: &Run) -> bool {
    ended.code() != 0 && ended.err().contains("(ompi_dpm_connect_accept+")
}

/// Calls and count arguments of `rank` that the library counted otherwise than the program itself.
pub fn other_calls(rank: &ProfiledRank, names: Names) -> Vec<String> {
    // What stands in front of Fortran converts handles.
    let fortran = [Names::Fortran, Names::F08].contains(&names);
    let leave_out = |name: &str| {
        let (function, _) = find(name).expect("a function of the table");
        fortran && function.class == FunctionClass::Conversion
    };
    // Conversions by their profiling names are what bindings of Fortran are made of.
    let passes_by = |name: &str| {
        let (function, _) = find(name).expect("a function of the table");
        names == Names::Profiling && function.class == FunctionClass::Conversion
    };
    let mut complaints = Vec::new();
    let language = match names {
        Names::Plain | Names::Profiling => language::C,
        Names::Fortran => language::FORTRAN,
        Names::F08 => language::F08,
    };
    if rank.profile.languages & language == 0 {
        complaints.push(format!("languages {}, not {language}", rank.profile.languages));
    }
    let mut all: Vec<&str> = rank.counted.keys().map(String::as_str).collect();
    all.extend(rank.profile.functions.keys().copied());
    all.sort_unstable();
    all.dedup();
    for name in all.into_iter().filter(|name| !leave_out(name)) {
        // Counted at its beginning; the copy is made before that.
        let own = rank.counted.get(name).copied().unwrap_or_default();
        let own_calls = if name == "MPI_Finalize" || passes_by(name) { 0 } else { own.calls };
        let library = rank.profile.functions.get(name).copied().unwrap_or_default();
        if own_calls != library.calls {
            complaints.push(format!("{name}: {own_calls} calls, counted {}", library.calls));
        }
        if has_count(name) && own.count != library.count {
            complaints
                .push(format!("{name}: {} in its calls, counted {}", own.count, library.count));
        }
    }
    complaints
}
