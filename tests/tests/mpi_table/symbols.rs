//! What libraries export.

use std::collections::{BTreeMap, BTreeSet};

use topas_mpi_table::{
    Binding, Function, Mangling, PREDEFINED_CALLBACKS, Version, find, functions,
};
use topas_tests::site::Scratch;

use super::judge::{NamePlace, exported, judges};

/// Functions for C that no version of the standard has, though they begin with `MPI_`.
const FOREIGN: &[&str] = &[
    // Open MPI: for its Fortran
    "MPI_AINT_ADD_F90",
    "MPI_AINT_DIFF_F90",
    "MPI_WTICK_F90",
    "MPI_WTIME_F90",
    // Open MPI 5
    "MPI_Session_set_info",
];

/// Beginnings of symbols in Fortran that are no functions of the standard.
const FOREIGN_FORTRAN: &[&str] = &[
    // MPI_Sizeof is generic: a procedure for each type and rank.
    "mpi_sizeof_",
    // Open MPI's constants
    "mpi_fortran_",
    // MPICH 4.0, for what MPI 4.1 calls MPI_Remove_error_class and so on
    "mpi_delete_error_",
];

/// Functions of Fortran that are procedures of a module, under a name that the compiler makes,
/// or bound to C's. Nothing can stand between them and the program.
const IN_MODULES: &[&str] =
    &["MPI_Sizeof", "MPI_Status_f082f", "MPI_Status_f2f08", "MPI_Wtick", "MPI_Wtime"];

#[test]
fn libraries_export_what_the_table_says() {
    let mut complaints = Vec::new();
    for judge in judges("libraries_export_what_the_table_says", &["nm", "ldd"]) {
        let version = judge.version(&Scratch::new());
        let symbols = exported(&judge.libraries);
        let unknown = symbols
            .iter()
            .filter(|name| name.starts_with("MPI_") && find(name).is_none())
            .filter(|name| !FOREIGN.contains(&name.as_str()))
            .filter(|name| !PREDEFINED_CALLBACKS.contains(&name.as_str()))
            .map(|name| format!("{}: {name} is not in the table", judge.name));
        complaints.extend(unknown);
        for (name, function) in judge.c_functions(version) {
            let both = [symbols.contains(&name), symbols.contains(&format!("P{name}"))];
            let missing = judge.lacks(&name, NamePlace::Library);
            let wrong = match both {
                [true, true] if missing => "is exported after all",
                [true, true] => continue,
                [false, false] if missing || function.may_be_macro => continue,
                [false, false] => "is not exported",
                [true, false] | [false, true] => "has one of two symbols",
            };
            complaints.push(format!("{}, MPI {version}: {name} {wrong}", judge.name));
        }
        println!("{}: {} symbols", judge.name, symbols.len());
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Every symbol the table gives to a function in Fortran.
fn known() -> BTreeMap<String, &'static Function> {
    let underscore = Mangling::Underscore;
    let mut all = BTreeMap::new();
    for function in functions().filter(|f| f.in_fortran()) {
        let bindings = [Binding::Fortran(underscore), Binding::CPointer(underscore)];
        let plain = bindings[..1 + usize::from(function.has_c_pointer())].iter();
        let f08 = Binding::ALL_F08.iter().filter(|b| {
            function.in_f08()
                && (!b.large() || function.large.is_some())
                && (!b.descriptor() || function.has_choice())
        });
        for binding in plain.chain(f08) {
            all.insert(function.symbol(*binding).to_string(), function);
            all.insert(function.profiling_symbol(*binding).to_string(), function);
        }
    }
    all
}

#[test]
fn fortran_libraries_export_what_the_table_says() {
    let known = known();
    let callbacks: BTreeSet<String> =
        PREDEFINED_CALLBACKS.iter().map(|name| format!("{}_", name.to_lowercase())).collect();
    let mut complaints = Vec::new();
    let judges = judges("fortran_libraries_export_what_the_table_says", &["nm", "ldd"]);
    for judge in judges.iter().filter(|judge| !judge.fortran_libraries.is_empty()) {
        let version = judge.version(&Scratch::new());
        let symbols = exported(&judge.fortran_libraries);
        let foreign = |name: &&String| {
            let name = name.trim_start_matches('p');
            callbacks.contains(name) || FOREIGN_FORTRAN.iter().any(|start| name.starts_with(start))
        };
        let unknown = symbols
            .iter()
            .filter(|name| name.starts_with("mpi_") || name.starts_with("pmpi_"))
            .filter(|name| name.ends_with('_') && !name.ends_with("__"))
            // Intel's compiler: what belongs to a module.
            .filter(|name| !name.contains('.') && !name.contains("_mp_"))
            .filter(|name| !known.contains_key(*name) && !foreign(name))
            .map(|name| format!("{}: {name} is not in the table", judge.name));
        complaints.extend(unknown);
        let missing = missing_in_fortran(&symbols, version);
        let missing = missing
            .iter()
            .filter(|what| !is_absent(&judge.name, what))
            .map(|what| format!("{}, MPI {version}: no {what}", judge.name));
        complaints.extend(missing);
        println!("{}: {} symbols for Fortran", judge.name, symbols.len());
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// What Fortran libraries do not have though their version of the standard does.
fn is_absent(judge: &str, what: &str) -> bool {
    judge.starts_with("intel-mpi-2021.") && what == "MPI_F_sync_reg in Fortran"
}

/// Functions of `version` that `symbols` lack, by language.
fn missing_in_fortran(symbols: &BTreeSet<String>, version: Version) -> Vec<String> {
    let mut missing = Vec::new();
    for function in functions().filter(|f| f.in_fortran() && f.is_in(version)) {
        let has = |binding| symbols.contains(&function.symbol(binding).to_string());
        let in_module_only = IN_MODULES.contains(&function.name);
        if !has(Binding::Fortran(Mangling::Underscore)) && !in_module_only {
            missing.push(format!("{} in Fortran", function.name));
        }
        let f08 = has(Binding::F08) || has(Binding::F08Descriptor);
        if function.in_f08() && !f08 && !in_module_only {
            missing.push(format!("{} in mpi_f08", function.name));
        }
    }
    missing
}
