//! Every function that moves no bytes, by name, in C: what no other test here calls.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use topas_mpi_table::{Version, find, functions};
use topas_tests::mpi_installation::Mpi;
use topas_tests::mpi_program::{alone, amounts, version};
use topas_tests::running::{command, run};

use super::launch::{Names, Program, other_calls};

/// What is not called in C, in which MPIs, and why. What is newer than an MPI says it is needs
/// no line.
const LEFT_OUT: &[(&[Mpi], Why, &[&str])] = &[
    (
        &[Mpi::OpenMpi, Mpi::Mpich],
        Why::Missing("no function of C"),
        &["MPI_F_sync_reg", "MPI_Sizeof", "MPI_Status_f082f", "MPI_Status_f2f08"],
    ),
    (
        &[Mpi::OpenMpi, Mpi::Mpich],
        Why::Missing("is in no library of C"),
        &["MPI_Status_c2f08", "MPI_Status_f082c"],
    ),
    (&[Mpi::OpenMpi, Mpi::Mpich], Why::Missing("removed by MPI 1.1"), &["MPI_Type_count"]),
    (&[Mpi::OpenMpi, Mpi::Mpich], Why::Elsewhere("does not return: mpi_ends"), &["MPI_Abort"]),
    (
        &[Mpi::OpenMpi, Mpi::Mpich],
        Why::Elsewhere("the copy of the counters is made before it: mpi_ends"),
        &["MPI_Finalize"],
    ),
    (&[Mpi::OpenMpi], Why::Missing("is a macro"), &["MPI_Aint_add", "MPI_Aint_diff"]),
    (
        &[Mpi::Mpich],
        Why::Missing("is a macro"),
        &[
            "MPI_Comm_c2f",
            "MPI_Comm_f2c",
            "MPI_Errhandler_c2f",
            "MPI_Errhandler_f2c",
            "MPI_Group_c2f",
            "MPI_Group_f2c",
            "MPI_Info_c2f",
            "MPI_Info_f2c",
            "MPI_Message_c2f",
            "MPI_Message_f2c",
            "MPI_Op_c2f",
            "MPI_Op_f2c",
            "MPI_Request_c2f",
            "MPI_Request_f2c",
            "MPI_Session_c2f",
            "MPI_Session_f2c",
            "MPI_Type_c2f",
            "MPI_Type_f2c",
            "MPI_Win_c2f",
            "MPI_Win_f2c",
        ],
    ),
    (&[Mpi::Mpich], Why::Missing("forgotten by 4.0"), &["MPI_Status_set_elements_c"]),
    (&[Mpi::Mpich], Why::Hopeless("cannot open a port"), &["MPI_Close_port"]),
    (
        &[Mpi::Mpich],
        Why::Hopeless("has no variable of an enumeration"),
        &["MPI_T_enum_get_info", "MPI_T_enum_get_item"],
    ),
    (
        &[Mpi::Mpich],
        Why::Hopeless("has no performance variable, and crashes over one that is not"),
        &[
            "MPI_T_pvar_get_info",
            "MPI_T_pvar_handle_alloc",
            "MPI_T_pvar_handle_free",
            "MPI_T_pvar_read",
            "MPI_T_pvar_readreset",
            "MPI_T_pvar_write",
        ],
    ),
    (
        &[Mpi::Mpich],
        Why::Hopeless("has no event, and crashes over one that is not"),
        &[
            "MPI_T_event_callback_get_info",
            "MPI_T_event_callback_set_info",
            "MPI_T_event_copy",
            "MPI_T_event_get_source",
            "MPI_T_event_get_timestamp",
            "MPI_T_event_handle_free",
            "MPI_T_event_handle_get_info",
            "MPI_T_event_handle_set_info",
            "MPI_T_event_read",
            "MPI_T_event_register_callback",
            "MPI_T_event_set_dropped_handler",
        ],
    ),
];

/// Why a function is not called here.
#[derive(Clone, Copy, Debug)]
enum Why {
    /// No library exports it.
    Missing(&'static str),
    /// It is there, but there is nothing to call it with.
    Hopeless(&'static str),
    /// Another test calls it.
    Elsewhere(&'static str),
}

/// The headers that the program is made of.
const HEADERS: [&str; 8] = [
    include_str!("rest/rest.c"),
    include_str!("rest/groups.h"),
    include_str!("rest/types.h"),
    include_str!("rest/environment.h"),
    include_str!("rest/messages.h"),
    include_str!("rest/objects.h"),
    include_str!("rest/processes.h"),
    include_str!("rest/tools.h"),
];

/// Functions of MPI that the libraries behind a program export.
fn exported(program: &Path) -> BTreeSet<String> {
    let libraries = run(command("ldd").arg(program)).good().out();
    let mut all = BTreeSet::new();
    for line in libraries.lines().filter(|line| line.contains("libmp")) {
        let path = line.split_whitespace().nth(2).expect(line);
        let symbols = run(command("nm").args(["-D", "--defined-only"]).arg(path)).good().out();
        let names = symbols.lines().filter_map(|line| line.split(' ').nth(2));
        all.extend(names.filter(|name| name.starts_with("MPI_")).map(str::to_owned));
    }
    assert!(all.len() > 300, "{} functions in {libraries}", all.len());
    all
}

/// Names of functions that the other programs call; those that end a read or a write with it.
fn elsewhere(mpi: Mpi, version: Version) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for (function, large) in amounts::chosen(version).into_iter().chain(alone::chosen(mpi, version))
    {
        all.insert(format!("{}{}", function.name, if large { "_c" } else { "" }));
        if let Some(name) = function.name.strip_suffix("_begin") {
            all.insert(format!("{name}_end"));
        }
    }
    all
}

/// True if the text calls this function; a name may be the end of another.
fn calls(name: &str) -> bool {
    HEADERS.iter().any(|text| {
        text.match_indices(&format!("{name}("))
            .any(|(at, _)| !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    })
}

/// What is wrong with a name: that nobody calls it, or that the list is.
fn wrong(
    mpi: Mpi,
    name: &str,
    since: Version,
    there: bool,
    called: bool,
    version: Version,
) -> Option<String> {
    let listed = LEFT_OUT.iter().find(|(mpis, _, all)| mpis.contains(&mpi) && all.contains(&name));
    match (listed, there, called) {
        (Some((_, Why::Missing(why), _)), true, _) => Some(format!("exported, though {why}")),
        (Some((_, Why::Hopeless(why) | Why::Elsewhere(why), _)), false, _) => {
            Some(format!("not exported, though {why}"))
        }
        (Some((_, why, _)), _, true) => Some(format!("called, though {why:?}")),
        (Some(_), _, false) | (None, true, true) => None,
        (None, true, false) => Some("nobody calls it".to_owned()),
        (None, false, _) if since > version => None,
        (None, false, _) => Some(format!("not exported, though of MPI {since}")),
    }
    .map(|what| format!("{}: {name}: {what}", mpi.name()))
}

#[test]
fn what_moves_nothing_is_counted() {
    let mut complaints = Vec::new();
    let directory = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/tests/mpi_calls/rest");
    // What was removed is declared no more.
    let words = [directory, "-DOMPI_OMIT_MPI1_COMPAT_DECLS=0"];
    for mpi in Mpi::installed_with("what_moves_nothing_is_counted", &["nm", "ldd"]) {
        let version = version(mpi);
        let others = elsewhere(mpi, version);
        for names in [Names::Plain, Names::Profiling] {
            let program = Program::new(mpi, names, "#include \"rest.c\"\n", &words);
            let path = program.path("said");
            let mut counted: BTreeMap<String, u64> = BTreeMap::new();
            for begin in ["init", "thread"] {
                let ranks = program.profiled(2, &[begin, path.to_str().expect("a path")]);
                for (i, rank) in ranks.iter().enumerate() {
                    let other = other_calls(rank, names).into_iter();
                    let say = |what| format!("{} {names:?} {begin} rank {i}: {what}", mpi.name());
                    complaints.extend(other.map(say));
                    for (name, own) in &rank.counted {
                        *counted.entry(name.clone()).or_default() += own.calls;
                    }
                }
            }
            let exported = exported(&program.path("program"));
            let (mut here, mut there, mut newer) = (0, 0, Vec::new());
            for function in functions() {
                let small = (function.name.to_owned(), function.since);
                let large = function.large.map(|since| (format!("{}_c", function.name), since));
                for (name, since) in [Some(small), large].into_iter().flatten() {
                    let exists = exported.contains(&name);
                    // A macro counts for both, and the text tells which.
                    let own = counted.contains_key(function.name) && exists && calls(&name);
                    let called = own || (exists && others.contains(&name));
                    let what = wrong(mpi, &name, since, exists, called, version);
                    complaints.extend(what);
                    here += usize::from(own);
                    there += usize::from(called);
                    if !exists && since > version {
                        newer.push(name);
                    }
                }
            }
            println!(
                "{} {names:?}, MPI {version}: {here} names called here, {there} in all; newer: {}",
                mpi.name(),
                newer.join(" ")
            );
            assert!(here > 250, "{here} names");
        }
    }
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn the_list_of_what_is_left_out_knows_its_names() {
    for (_, why, names) in LEFT_OUT {
        assert!(names.is_sorted(), "{why:?}");
        for name in *names {
            assert!(find(name).is_some(), "{name}");
        }
    }
}
