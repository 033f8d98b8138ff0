//! Call paths of programs in Python: `topasview` names functions and lines of Python, of every version whose
//! frames are known; others are left as they are.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use topas_tests::build::source;
use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, build, profiled};
use topas_tests::running::{command, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

/// Debian's, for which there is mpi4py on Open MPI.
const PYTHON: &str = "/usr/bin/python3";

/// The number of the line with this text.
fn line(text: &str, with: &str) -> usize {
    let found = text.lines().position(|line| line.contains(with));
    found.unwrap_or_else(|| panic!("no line with {with}")) + 1
}

fn view(scratch: &Scratch, args: &[&str], places: &Places) -> String {
    let mut view = scratch.command(Site::shared().tool("topasview"));
    view.env("COLUMNS", "200").env("LC_ALL", "C.UTF-8").args(args).arg(&places.out);
    run(&mut view).good().out()
}

/// Calls by path, of one routine; of how many ranks the path is.
fn rows(csv: &str, routine: &str) -> BTreeMap<String, (u64, u64)> {
    let mut found = BTreeMap::new();
    for row in csv.lines().skip(1) {
        let cells: Vec<&str> = row.splitn(9, ',').collect();
        if cells[1] == routine {
            // Columns of waits stand behind the callers.
            let callers = cells[8].split(',').next().expect("callers").trim_matches('"');
            let number = |cell: &str| cell.parse::<u64>().expect("a number");
            let row = found.insert(callers.to_owned(), (number(cells[4]), number(cells[3])));
            assert_eq!(row, None, "two rows of one path: {csv}");
        }
    }
    found
}

fn has_mpi4py(python: &Path) -> bool {
    Mpi::OpenMpi.real("mpiexec").is_some()
        && run(command(python).args(["-c", "import mpi4py"])).code() == 0
}

#[test]
fn the_late_rank_is_named_with_its_function_and_line() {
    const ROUNDS: u64 = 15;
    const RANKS: u32 = 4;
    if !has_mpi4py(Path::new(PYTHON)) {
        return skip("call paths of Python", "no mpi4py for Open MPI on this machine");
    }
    let scratch = Scratch::new();
    let places = Places::new(&scratch);
    let program = source("paths/halo.py");
    let text = fs::read_to_string(&program).expect("a source");
    let rounds = ROUNDS.to_string();
    let words = [
        "TOPAS_MPI_WAITS=yes",
        "TOPAS_MPI_PATHS=yes",
        PYTHON,
        program.to_str().expect("path"),
        &rounds,
    ];
    profiled(Mpi::OpenMpi, &scratch, RANKS, &words, &places).good();

    let at = |function: &str, with: &str| format!("{function} (halo.py:{})", line(&text, with));
    let (send, receive) = (at("exchange", "world.Send("), at("exchange", "world.Recv("));
    let first = view(&scratch, &["--mpi"], &places);
    let first = first.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(first.to_lowercase().contains("rank 1"), "{first}");
    let heading = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    let exe = fs::canonicalize(PYTHON).expect("an executable");
    let exe = exe.file_name().expect("a name").to_string_lossy().into_owned();
    assert!(first.starts_with(&format!("{exe} (halo.py) of ")), "{first}");
    let sentence =
        format!("They wait for it in Recv, from {receive}; it sends in Send, from {send}.");
    assert!(first.contains(&sentence), "{sentence}: {first}");
    let why = view(&scratch, &["--why"], &places);
    assert!(heading(&why).starts_with(&format!("{exe} (halo.py), 4 PEs, ")), "{why}");
    let page = view(&scratch, &["--mpi", "--html", "-"], &places);
    assert!(page.contains(&format!("<h1>{exe} (halo.py): MPI calls of ")), "{page:.2000}");
    let records = fs::read_to_string(&places.out).expect("records");
    // What stands in the log of the center is the record of all ranks.
    let mut of_run = records.lines().filter(|line| line.contains(" of=run "));
    assert!(of_run.all(|line| !line.contains("halo.py")), "{records}");
    let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(why.contains("ranks that wait for late senders, rank 1: "), "{why}");
    assert!(why.contains(&sentence), "{sentence}: {why}");

    // A path is one row, for all ranks that came by it.
    let csv = view(&scratch, &["--mpi", "--paths", "--csv"], &places);
    let total = at("Grid.total", "world.Allreduce(");
    let end = format!("<module> (halo.py:{})", text.lines().count());
    let by = |call: &str| format!("{total} < {} < {end}", at("main", call));
    let expected = BTreeMap::from([
        (by("grid.total(0.001)"), (ROUNDS * u64::from(RANKS), u64::from(RANKS))),
        (by("grid.total(0.01)"), (u64::from(RANKS), u64::from(RANKS))),
    ]);
    assert_eq!(rows(&csv, "Allreduce"), expected);
    let call = at("main", "exchange(bytearray");
    let expected = BTreeMap::from([(format!("{receive} < {call} < {end}"), (3 * ROUNDS, 3))]);
    assert_eq!(rows(&csv, "Recv"), expected);
}

/// Every Python 3 that can be found.
fn pythons() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let runs = |python: &PathBuf| python.exists() && run(command(python).arg("-V")).code() == 0;
    let of_version = |minor: u32| {
        let name = format!("python3.{minor}");
        std::env::split_paths(&path).map(|directory| directory.join(&name)).find(runs)
    };
    let mut all: Vec<PathBuf> = (6..14).filter_map(of_version).collect();
    all.push(PYTHON.into());
    all
}

#[test]
fn functions_of_every_shape_are_those_that_python_tells() {
    for mpi in Mpi::installed("functions_of_every_shape_are_those_that_python_tells") {
        let library = if mpi == Mpi::OpenMpi { "libmpi.so.40" } else { "libmpich.so.12" };
        for python in pythons() {
            let scratch = Scratch::new();
            let places = Places::new(&scratch);
            let program = source("paths/shapes.py");
            let (python, program) =
                (python.to_str().expect("path"), program.to_str().expect("path"));
            let words = ["LC_ALL=C.UTF-8", "TOPAS_MPI_PATHS=yes", python, program, library];
            let told = profiled(mpi, &scratch, 1, &words, &places).good().out();
            let mut truth = BTreeMap::new();
            for line in told.lines().filter_map(|line| line.strip_prefix("truth ")) {
                let (calls, path) = line.split_once(' ').expect("a path");
                truth.insert(path.to_owned(), (calls.parse().expect("calls"), 1));
            }
            assert!(truth.len() > 50, "{told}");
            let csv = view(&scratch, &["--mpi", "--paths", "--csv"], &places);
            assert_eq!(rows(&csv, "Initialized"), truth, "{python} under {}", mpi.name());
        }
    }
}

/// An interpreter that says that it is of a version which nobody knows: its functions have no names, and
/// the page says why.
#[test]
fn a_python_of_an_unknown_version_is_left_as_it_is() {
    let python = fs::canonicalize(PYTHON).expect("Python");
    let mut bytes = fs::read(&python).expect("Python");
    let version =
        run(command(&python).args(["-c", "import platform; print(platform.python_version())"]));
    let version = version.good().out().trim().to_owned();
    let (front, patch) = version.rsplit_once('.').expect("a version");
    let (known, other) =
        (format!("\0{version}\0"), format!("\0{front}.{patch}\0").replace("3.1", "3.9"));
    let places_of = bytes.windows(known.len()).enumerate();
    let found: Vec<usize> =
        places_of.filter(|(_, text)| *text == known.as_bytes()).map(|(at, _)| at).collect();
    if found.is_empty() || !has_mpi4py(&python) {
        return skip(
            "a Python of an unknown version",
            "the version is not in the executable, or no mpi4py",
        );
    }
    for at in found {
        bytes[at..at + other.len()].copy_from_slice(other.as_bytes());
    }
    let scratch = Scratch::new();
    let places = Places::new(&scratch);
    let copy = scratch.path().join("python3");
    fs::write(&copy, bytes).expect("a copy");
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o700)).expect("mode");
    let program = source("paths/halo.py");
    let words =
        ["TOPAS_MPI_PATHS=yes", copy.to_str().expect("path"), program.to_str().expect("path"), "2"];
    profiled(Mpi::OpenMpi, &scratch, 4, &words, &places).good();
    let csv = view(&scratch, &["--mpi", "--paths", "--csv"], &places);
    let found = rows(&csv, "Allreduce");
    assert!(found.keys().all(|path| path.contains("_PyEval_EvalFrameDefault")), "{csv}");
    assert!(!csv.contains("halo.py"), "{csv}");
    let shown = view(&scratch, &["--mpi", "--paths"], &places);
    assert!(shown.contains("Functions of Python are not named: "), "{shown}");
}

/// Memory that is not laid out as that of the version is not believed, and reading it ends nothing.
#[test]
fn what_only_looks_like_python_is_left_as_it_is() {
    // One of each way to come to a frame, and one that is not known.
    let versions = ["3.10.1", "3.11.2 (main)", "3.13.0 (x)", "3.14.0"];
    let kinds = ["gone", "low", "odd", "kernel", "edge", "circle", "code", "zero"];
    let mpi = Mpi::installed("what_only_looks_like_python_is_left_as_it_is");
    // The last begins fastest.
    let mpi = *mpi.last().expect("an MPI");
    let scratch = Scratch::new();
    let program = scratch.path().join("not_python");
    build(mpi, "mpicc", &["paths/not_python.c"], &["-g", "-O1", "-rdynamic"], &program);
    let text = fs::read_to_string(source("paths/not_python.c")).expect("a source");
    let at =
        |function: &str, with: &str| format!("{function} (not_python.c:{})", line(&text, with));
    let path = format!("{} < {}", at("exchange", "MPI_Barrier("), at("main", "exchange();"));
    for version in versions {
        for kind in kinds {
            let places = Places::new(&scratch);
            let words = ["TOPAS_MPI_PATHS=yes", program.to_str().expect("path"), version, kind];
            profiled(mpi, &scratch, 1, &words, &places).good();
            let csv = view(&scratch, &["--mpi", "--paths", "--csv"], &places);
            let expected = BTreeMap::from([(path.clone(), (5, 1))]);
            assert_eq!(rows(&csv, "Barrier"), expected, "{version} {kind}");
            places.clear();
        }
    }
}
