//! Programs and test suites of others with the library of the MPI profile loaded into them: they
//! end, say and compute what they do without it. `quick` runs what Debian has as packages, `own`
//! the programs of `tests/programs`, whose calls a second counter counts, too; `suites`, ignored
//! unless asked for, real projects and the MPIs' own test suites.

mod counter;
mod own;
mod quick;
mod suites;

use std::path::{Path, PathBuf};
use std::process::Command;

use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, library};
use topas_tests::site::{Scratch, Site};

/// With everything counted that can be without hardware counters.
const EVERYTHING: [(&str, &str); 2] = [("TOPAS_MPI_PEERS", "yes"), ("TOPAS_MPI_COMMS", "yes")];

/// One side of a comparison: the same launches, without the library or with it.
struct Side {
    mpi: Mpi,
    scratch: Scratch,
    /// Loaded into the ranks, in this order
    preloaded: Vec<PathBuf>,
    /// Where the profile goes; None without the library
    places: Option<Places>,
}

impl Side {
    fn without(mpi: Mpi) -> Side {
        Side { mpi, scratch: Scratch::new(), preloaded: Vec::new(), places: None }
    }

    fn with(mpi: Mpi) -> Side {
        let scratch = Scratch::new();
        let places = Some(Places::new(&scratch));
        Side { mpi, scratch, preloaded: vec![library(Site::shared())], places }
    }

    /// The same with another library below.
    fn above(mut self, library: &Path) -> Side {
        self.preloaded.push(library.to_owned());
        self
    }

    /// A launch; program and arguments follow.
    fn launch(&self, ranks: u32) -> Command {
        let mut launch = self.mpi.launch_bare(&self.scratch, ranks);
        self.variables(&mut launch);
        // Ranks that wait leave the processor to others, of which there may be more than enough.
        launch.env("OMPI_MCA_mpi_yield_when_idle", "1");
        let preload: Vec<_> = self.preloaded.iter().map(|path| path.to_str().unwrap()).collect();
        launch
            .arg("env")
            .args((!preload.is_empty()).then(|| format!("LD_PRELOAD={}", preload.join(":"))));
        launch.current_dir(self.scratch.path());
        launch
    }

    fn variables(&self, command: &mut Command) {
        let Some(places) = &self.places else { return };
        command.envs(places.variables()).envs(EVERYTHING);
        command.env("TOPAS_LOG", format!("file:{}", self.scratch.log().display()));
    }
}

/// Lines in an order of their own, because that of ranks is chance.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines
}
