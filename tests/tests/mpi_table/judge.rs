//! An MPI that knows better: where its headers and libraries are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use topas_mpi_table::{Binding, Function, FunctionClass, Version, functions};
use topas_tests::installation::Installation;
use topas_tests::mpi_installation::Mpi;
use topas_tests::mpi_program::variants;
use topas_tests::running::{command, have, run};
use topas_tests::site::Scratch;
use topas_tests::skip::{note, skip};

/// An MPI.
pub struct Judge {
    /// Such as `mpich-5.0`.
    pub name: String,
    /// Its C compiler with all it needs to find the header.
    pub compiler: Vec<String>,
    /// `mpi.h`, or that of the standard binary interface.
    pub header: &'static str,
    /// Its Fortran driver, if it has modules.
    pub fortran: Option<PathBuf>,
    /// Libraries for C.
    pub libraries: Vec<PathBuf>,
    /// Libraries for Fortran.
    pub fortran_libraries: Vec<PathBuf>,
}

/// Where a function may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamePlace {
    /// Not declared, nor exported
    Header,
    /// Declared, and not exported
    Library,
}

const STATUSES: &[&str] =
    &["MPI_Status_f082c", "MPI_Status_c2f08", "MPI_Status_f2f08", "MPI_Status_f082f"];

/// What an MPI does not have though its version of the standard does. A name that is there
/// after all has to leave this list.
const LACKING: &[(&str, NamePlace, &[&str])] = &[
    ("openmpi-of-debian", NamePlace::Header, STATUSES),
    ("open-mpi-4.1", NamePlace::Header, STATUSES),
    ("mpich-of-debian", NamePlace::Library, STATUSES),
    // An erratum added it to 4.0.
    ("mpich-of-debian", NamePlace::Header, &["MPI_Status_set_elements_c"]),
    ("mpich-3.4", NamePlace::Header, STATUSES),
    ("mpich-4.1", NamePlace::Library, STATUSES),
    ("intel-mpi-2021.10", NamePlace::Header, STATUSES),
];

/// All MPIs at hand, for `test`, which needs `programs`.
pub fn judges(test: &str, programs: &[&str]) -> Vec<Judge> {
    if let Some(missing) = programs.iter().find(|program| !have(program)) {
        skip(test, &format!("no {missing} on this machine"));
        return Vec::new();
    }
    let mut all: Vec<Judge> = Mpi::installed(test).into_iter().map(of_debian).collect();
    match Installation::all() {
        None => note(test, "MPIs of many versions: cargo xtask test --all-mpi"),
        Some(wheels) => all.extend(wheels.iter().flat_map(of_wheels)),
    }
    all
}

/// Debian's package of an MPI.
pub fn of_debian(mpi: Mpi) -> Judge {
    let driver = |tool| mpi.real(tool).unwrap_or_else(|| panic!("no {tool}.{}", mpi.name()));
    let compiler = driver("mpicc").display().to_string();
    // Whatever its Fortran driver links, modules of 2008 included.
    let scratch = Scratch::new();
    let source = scratch.path().join("empty.f90");
    fs::write(&source, "end\n").expect("write a program");
    let program = scratch.path().join("empty");
    let mut link = command(driver("mpifort"));
    run(link.arg(&source).arg("-Wl,--no-as-needed").arg("-o").arg(&program)).good();
    let needed = run(command("ldd").arg(&program)).good().out();
    let libraries: Vec<PathBuf> = needed
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .map(PathBuf::from)
        .filter(|path| file_name(path).starts_with("libmpi"))
        .collect();
    let c = |path: &PathBuf| {
        ["libmpi.so", "libmpich.so"].iter().any(|stem| file_name(path).starts_with(stem))
    };
    let (libraries, fortran_libraries) = libraries.into_iter().partition(c);
    Judge {
        name: format!("{}-of-debian", mpi.name()),
        compiler: vec![compiler],
        header: "mpi.h",
        fortran: Some(driver("mpifort")),
        libraries,
        fortran_libraries,
    }
}

/// An MPI of Python packages, and the standard binary interface if it has it.
fn of_wheels(mpi: &Installation) -> Vec<Judge> {
    let home = mpi.tool("mpiexec").and_then(|tool| Some(tool.parent()?.parent()?.to_owned()));
    let home = home.expect("directory of an MPI");
    let (include, lib) = (home.join("include"), home.join("lib"));
    let libraries = |stem: &str| {
        let entries = fs::read_dir(&lib).unwrap_or_else(|e| panic!("{}: {e}", lib.display()));
        let mut found: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        found.retain(|path| file_name(path).starts_with(stem));
        // The longest name, the real file if there are links.
        found.sort();
        found.into_iter().next_back().into_iter().collect::<Vec<_>>()
    };
    let compiler = vec!["gcc".to_owned(), format!("-I{}", include.display())];
    let judge = |name: &str, header, stem: &str| Judge {
        name: name.to_owned(),
        compiler: compiler.clone(),
        header,
        fortran: None,
        libraries: libraries(stem),
        fortran_libraries: if header == "mpi.h" { libraries("libmpifort.so.") } else { Vec::new() },
    };
    let mut all = vec![judge(&mpi.name, "mpi.h", "libmpi.so.")];
    if include.join("mpi_abi.h").exists() {
        all.push(judge(&format!("{}-abi", mpi.name), "mpi_abi.h", "libmpi_abi.so."));
    }
    all
}

fn file_name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("name of a library")
}

impl Judge {
    /// What the preprocessor makes of the header: its text, and the macros it defines.
    pub fn header(&self, scratch: &Scratch) -> (String, BTreeMap<String, String>) {
        let source = scratch.path().join("header.c");
        fs::write(&source, format!("#include <{}>\n", self.header)).expect("write a program");
        let preprocess = |words: &[&str]| {
            let mut compiler = command(&self.compiler[0]);
            run(compiler.args(&self.compiler[1..]).args(words).arg(&source)).good().out()
        };
        let macros = preprocess(&["-E", "-dM"]);
        let macros = macros.lines().filter_map(|line| {
            let (name, value) = line.strip_prefix("#define ")?.split_once(' ')?;
            Some((name.split('(').next()?.to_owned(), value.to_owned()))
        });
        (preprocess(&["-E", "-P"]), macros.collect())
    }

    /// Functions of C in `version`, with the names they have there.
    pub fn c_functions(&self, version: Version) -> Vec<(String, &'static Function)> {
        // The binary interface leaves out what depends on the size of Fortran's INTEGER.
        let abi = self.header == "mpi_abi.h";
        let fortran = |f: &Function| f.class == FunctionClass::Conversion && f.since.major < 5;
        let here = functions().filter(|f| f.in_c() && !(abi && fortran(f)));
        let named = |(function, large): (&'static Function, bool)| {
            let binding = if large { Binding::LargeC } else { Binding::C };
            (function.symbol(binding).to_string(), function)
        };
        variants(here, version).into_iter().map(named).collect()
    }

    /// True if this MPI is known not to have a function of C there.
    pub fn lacks(&self, name: &str, place: NamePlace) -> bool {
        let mut lists = LACKING.iter().filter(|(judge, missing, _)| {
            *judge == self.name && (*missing == place || *missing == NamePlace::Header)
        });
        lists.any(|(_, _, names)| names.contains(&name))
    }

    /// The version of the standard that its header claims.
    pub fn version(&self, scratch: &Scratch) -> Version {
        let (_, macros) = self.header(scratch);
        let number = |name: &str| macros[name].trim().parse().expect(name);
        Version::new(number("MPI_VERSION"), number("MPI_SUBVERSION"))
    }
}

/// Functions that libraries export.
pub fn exported(libraries: &[PathBuf]) -> BTreeSet<String> {
    assert!(!libraries.is_empty(), "no libraries");
    let mut all = BTreeSet::new();
    for library in libraries {
        let symbols = run(command("nm").args(["-D", "--defined-only"]).arg(library)).good().out();
        for line in symbols.lines() {
            let mut words = line.split_whitespace().skip(1);
            if let (Some("T" | "W" | "i"), Some(name)) = (words.next(), words.next()) {
                all.insert(name.split('@').next().unwrap_or(name).to_owned());
            }
        }
    }
    all
}
