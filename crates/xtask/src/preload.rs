//! The libraries that `topas-run` has loaded into programs without a module.
//!
//! Made of the module, compiled with a door of its own (`topas-module/src/preload.rs`). They
//! name no library they need, so that they load with whatever libc the program has.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use topas_config::Paths;
use topas_format::field::Lang;

use crate::object::{Machine, ObjectFacts, merge, root_symbol, specialize};
use crate::process::run;
use crate::symcheck;

/// Languages that are told from an executable: Fortran 77 is not told from later ones.
const LANGUAGES: [Lang; 3] = [Lang::C, Lang::Cxx, Lang::F90];

/// Which ranks a library measures, and how it is compiled.
const KINDS: [(bool, &[&str]); 2] =
    [(false, &["topas_run"]), (true, &["topas_run", "topas_extended"])];

/// What the linker makes them by: nothing is left for later; the first library to be
/// initialized, before those that start threads; hash tables for loaders old and new.
const LINK: [&str; 7] = [
    "-shared",
    "--build-id=none",
    "--hash-style=both",
    "-znow",
    "-znoexecstack",
    "-zinitfirst",
    "-zmax-page-size=4096",
];

/// Builds and checks all libraries; their paths, whose file names are those of an installation.
pub fn build(machine: &Machine<'_>, out: &Path, conf: &Path) -> Result<Vec<PathBuf>> {
    let mut libraries = Vec::new();
    for (all, cfgs) in KINDS {
        let merged = out.join("run.merged.o");
        merge(machine, cfgs, &merged)?;
        for lang in LANGUAGES {
            let library = Paths::run_library_name(lang.word(), all);
            let object = out.join(&library).with_extension("o");
            // Whether programs that run alone are measured the site says when they run.
            let group = root_symbol(cfgs);
            let facts = ObjectFacts { lang, serial: true, every_rank: false, conf, group };
            specialize(machine, &merged, &facts, &[], &object)?;
            let faults = symcheck::check(&std::fs::read(&object)?);
            if !faults.is_empty() {
                bail!("{library}: {}", faults.join("; "));
            }
            let path = out.join(&library);
            run(machine
                .tool("ld")
                .args(LINK)
                .args(["-soname", &library, "-e", "0", "-s", "-o"])
                .args([&path, &object]))?;
            std::fs::remove_file(&object)?;
            libraries.push(path);
        }
        std::fs::remove_file(&merged)?;
    }
    Ok(libraries)
}
