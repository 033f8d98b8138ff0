//! OpenSHMEM, that of Debian's Open MPI: its PEs are ranks of Open MPI's launcher, its
//! library is another.

use std::collections::BTreeSet;
use std::path::Path;

use topas_format::field::{Lang, Lib};
use topas_tests::build::by_driver;
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::running::{have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

/// Driver, program, language and library of its lines, and what a PE prints.
const PROGRAMS: [(&str, &str, Lang, Lib, &str); 4] = [
    ("oshcc", "c/shmem.c", Lang::C, Lib::Sma, "PE 3 of 4: right"),
    ("shmemcc", "c/shmem.c", Lang::C, Lib::Sma, "PE 3 of 4: right"),
    ("oshfort", "f90/shmem.f90", Lang::F90, Lib::Sma, "PE 3 of 4: right"),
    // MPI comes first where a program uses both.
    ("oshcc", "c/shmem_and_mpi.c", Lang::C, Lib::Mpi, "rank 3: right"),
];

#[test]
fn pes_of_openshmem() {
    if !have("oshcc") || !have("oshrun") {
        return skip("pes_of_openshmem", "no OpenSHMEM: package libopenmpi-dev is missing");
    }
    let (site, scratch) = (Site::shared(), Scratch::new());
    let mut ids = BTreeSet::new();
    for (tool, name, lang, lib, said) in PROGRAMS {
        let program = scratch.path().join(Path::new(name).file_stem().unwrap());
        run(&mut by_driver(site, &scratch, Mpi::OpenMpi, tool, name, &program)).good();
        for launcher in ["oshrun", "mpiexec"] {
            let mut launch = Mpi::OpenMpi.driver(site, &scratch, launcher);
            // Open MPI 4.1 frees what it has unloaded if one-sided MPI takes RDMA, too.
            launch.args(["--mca", "osc", "^rdma", "-n", "4"]).arg(&program);
            let ended = launched(&scratch, &mut launch).good();
            assert!(ended.out().contains(said), "{name}: {}{}", ended.out(), ended.err());
            let lines = scratch.take_log();
            let shown: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
            let case = format!("{name} by {tool} and {launcher}:\n{}", shown.join("\n"));
            let ranks: BTreeSet<u32> = lines.iter().map(|line| line.pe).collect();
            assert_eq!((lines.len(), ranks), (2, BTreeSet::from([1, 2])), "{case}");
            for line in &lines {
                assert_eq!((line.npes, line.lang, line.lib), (4, lang, lib), "{case}");
                assert_eq!((&line.id, line.extra("end")), (&lines[0].id, "exit:0"), "{case}");
                let names_mpi = line.extra("mpi").starts_with("Open_MPI_");
                assert_eq!(names_mpi, lib == Lib::Mpi, "{case}");
            }
            assert!(ids.insert(lines[0].id.clone()), "an id repeats: {case}");
        }
    }
}
