//! What comes out of the MPI profile at the end: the record in the center's log, the user's files,
//! subtotals, and what is said if they cannot be.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use topas_tests::build::by_driver;
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::profile::{Counted, Places, bare, build, library, profiled, spool_files};
use topas_tests::running::{Run, have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

const RANKS: u32 = 5;

struct OutputCase {
    mpi: Mpi,
    scratch: Scratch,
    places: Places,
    ring: PathBuf,
}

/// The program with known calls under each MPI.
fn cases(test: &str) -> Vec<OutputCase> {
    let each = Mpi::installed(test).into_iter();
    each.map(|mpi| {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let ring = scratch.path().join("ring");
        build(mpi, "mpicc", &["output/ring.c"], &[], &ring);
        OutputCase { mpi, scratch, places, ring }
    })
    .collect()
}

impl OutputCase {
    /// Runs it with assignments, then words of the program, and arguments.
    #[track_caller]
    fn run(&self, assignments: &[&str], arguments: &[&str]) -> Run {
        let log = format!("TOPAS_LOG={}", self.scratch.log_target());
        let mut words = vec![log.as_str()];
        words.extend(assignments);
        words.push(self.ring.to_str().expect("path"));
        words.extend(arguments);
        profiled(self.mpi, &self.scratch, RANKS, &words, &self.places)
    }

    fn data(&self) -> String {
        fs::read_to_string(&self.places.out).unwrap_or_default()
    }

    fn table(&self) -> String {
        fs::read_to_string(self.places.out.with_extension("txt")).unwrap_or_default()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.scratch.log()).unwrap_or_default()
    }

    fn ranks(&self) -> Vec<Counted> {
        self.places.counted()
    }
}

/// Lines that are `of` something, subtotals or not.
fn lines<'a>(text: &'a str, of: &str, subtotal: Option<u32>) -> Vec<&'a str> {
    let of = format!(" of={of} ");
    let at = subtotal.map(|at| format!(" at={at} "));
    let wanted = |line: &&str| {
        line.contains(&of)
            && at.as_ref().map_or(!line.contains(" at="), |at| line.contains(at.as_str()))
    };
    text.lines().filter(wanted).collect()
}

/// The value of a key in a line.
fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let key = format!("{key}=");
    line.split(' ').find_map(|word| word.strip_prefix(key.as_str()))
}

/// What awk says of a file.
#[track_caller]
fn awk(program: &str, file: &Path) -> String {
    run(Command::new("awk").arg(program).arg(file)).good().out()
}

/// For each routine the sums of calls, sends, bytes sent, receives, bytes received in lines of a
/// kind.
fn sums(file: &Path, of: &str) -> String {
    let program = r#"
        index($0, " of=KIND ") && !index($0, " at=") {
            for (i = 1; i <= NF; i++)
                if ($i ~ /^f=/) {
                    split(substr($i, 3), field, ":")
                    name[field[1]]
                    calls[field[1]] += field[2]; count[field[1]] += field[5]
                    sends[field[1]] += field[6]; sent[field[1]] += field[7]
                    receives[field[1]] += field[8]; received[field[1]] += field[9]
                }
        }
        END {
            for (n in name)
                print n, calls[n], count[n], sends[n], sent[n], receives[n], received[n] | "sort"
        }"#;
    awk(&program.replace("KIND", of), file)
}

#[test]
fn one_record_of_all_ranks_and_one_of_each() {
    for case in cases("mpi_output") {
        let ended = case.run(&[], &[]).good();
        assert_eq!((ended.out().as_str(), ended.err().as_str()), ("sum 5\n", ""), "{:?}", case.mpi);
        assert_eq!(spool_files(&case.places.spool), Vec::<PathBuf>::new(), "mapped files are left");

        // The center gets the sums alone, and they are those that the user has.
        let (log, data) = (case.log(), case.data());
        let [sum] = &lines(&data, "run", None)[..] else { panic!("one record: {data}") };
        assert_eq!(log.lines().collect::<Vec<_>>(), [*sum]);
        assert_eq!(lines(&data, "rank", None).len(), RANKS as usize);
        assert_eq!(sums(&case.places.out, "run"), sums(&case.places.out, "rank"));
        for told in ["f=Sendrecv:35:", "f=Allreduce:15:", "h=p2p:s:7=35", "h=coll:r:5=15"] {
            assert!(sum.contains(&format!(" {told}")), "no {told}: {sum}");
        }
        assert_eq!(value(sum, "ranks"), Some("5"));
        assert_eq!(value(sum, "end"), Some("finalize"));
        assert_eq!(value(sum, "lang"), Some("c"));
        for counted in case.ranks() {
            let (ring, all) = (counted.routine("Sendrecv"), counted.routine("Allreduce"));
            assert_eq!((ring.calls, ring.sends, ring.sent, ring.received), (7, 7, 700, 700));
            assert_eq!((all.calls, all.count, all.sent, all.received), (3, 6, 48, 48));
            assert_eq!((counted.ranks, counted.end.as_str()), (RANKS, "finalize"));
        }

        // Any reader of lines can check that a line is whole.
        let whole =
            "{ split($NF, len, \"=\"); if (length($0) != len[2] + 0 || length($0) > 999) print }";
        assert_eq!(awk(whole, &case.places.out), "");

        // In the form of the paper's Figure 3, averages over the ranks.
        let table = case.table();
        for line in ["size = n = 5 uid=", "/ avg. on each PE:", "profiling overhead= "] {
            assert_eq!(table.matches(line).count(), 1, "{line}: {table}");
        }
        assert!(table.contains("\nsendrecv  7 calls "), "{table}");
        assert!(table.contains(" sec cnt= 7.0e+02 lng= 7.00e+02 rcv= 7.00e+02 "), "{table}");
        assert!(table.contains(&format!("argv[0] = {}\n", case.ring.display())), "{table}");

        // A second launch is appended, and is another.
        case.run(&[], &[]).good();
        let data = case.data();
        let ids: BTreeSet<_> =
            lines(&data, "run", None).iter().map(|l| l.split(' ').nth(6)).collect();
        assert_eq!((ids.len(), lines(&data, "rank", None).len()), (2, 2 * RANKS as usize));
        assert_eq!(case.log().lines().count(), 2);
    }
}

#[test]
fn the_launch_is_that_of_the_log_line() {
    let site = Site::shared();
    for case in cases("mpi_output") {
        let program = case.scratch.path().join("measured");
        let name = "output/ring.c";
        run(&mut by_driver(site, &case.scratch, case.mpi, "mpicc", name, &program)).good();
        let log = format!("TOPAS_LOG={}", case.scratch.log_target());
        let words = [log.as_str(), program.to_str().expect("path")];
        profiled(case.mpi, &case.scratch, RANKS, &words, &case.places).good();
        let log = case.log();
        let (profile, measured): (Vec<_>, Vec<_>) =
            log.lines().partition(|line| line.split(' ').nth(2) == Some("topas-mpi"));
        let [profile] = &profile[..] else { panic!("one record: {log}") };
        assert_eq!(measured.len(), 2, "measuring ranks: {log}");
        let word = |line: &str, place: usize| line.split(' ').nth(place).map(str::to_owned);
        for line in measured {
            // Id; executable; ranks.
            for (ours, theirs) in [(6, 15), (4, 3), (5, 5)] {
                assert_eq!(word(profile, ours), word(line, theirs), "{profile}\n{line}");
            }
            for key in ["host", "uid", "mpi"] {
                assert_eq!(value(profile, key), value(line, key), "{key}");
            }
        }
    }
}

#[test]
fn pcontrol_pauses_and_writes_subtotals() {
    for case in cases("mpi_output") {
        // Paused from the fifth message on; then resumed.
        case.run(&[], &["0", "1"]).good();
        for counted in case.ranks() {
            let calls = ["Sendrecv", "Allreduce"].map(|name| counted.routine(name).calls);
            assert_eq!(calls, [4, 3], "{counted:?}");
        }
        let data = case.data();
        let pause = lines(&data, "run", None).first().and_then(|line| value(line, "pause"));
        let pause: f64 = pause.expect("pause").parse().expect("seconds");
        assert!(pause > 0.0);

        case.places.clear();
        let _ = fs::remove_file(case.places.out.with_extension("txt"));
        // Of this process, then of all together.
        case.run(&[], &["2", "3"]).good();
        let data = case.data();
        let first = lines(&data, "rank", Some(1));
        assert_eq!(first.len(), RANKS as usize, "{data}");
        assert!(first.iter().all(|line| line.contains(" f=Sendrecv:4:")), "{data}");
        let [second] = &lines(&data, "run", Some(2))[..] else { panic!("one subtotal: {data}") };
        assert!(second.contains(" f=Sendrecv:35:") && !second.contains(" f=Allreduce"), "{second}");
        assert_eq!(value(second, "end"), Some("running"));
        assert_eq!(case.table().matches(" subtotal 1\n").count(), RANKS as usize);
        let [sum] = &lines(&data, "run", None)[..] else { panic!("one record: {data}") };
        assert!(sum.contains(" f=Pcontrol:10:"), "{sum}");

        case.places.clear();
        // Other tools have levels of their own.
        case.run(&[], &["-1", "4711"]).good();
        assert_eq!(case.data().matches(" at=").count(), 0);
        assert_eq!(case.ranks()[0].routine("Sendrecv").calls, 7);
    }
}

#[test]
fn switches_are_those_of_the_user() {
    for case in cases("mpi_output") {
        let (mine, others): (&[&str], &str) = match case.mpi {
            Mpi::OpenMpi => {
                (&["OMPI_MCA_btl_tcp_if_exclude=lo", "UCX_LOG_LEVEL=fatal"], "OMPI_MCA_")
            }
            Mpi::Mpich => (&["MPIR_CVAR_ENABLE_GPU=0", "FI_LOG_LEVEL=warn"], "MPIR_"),
        };
        case.run(mine, &[]).good();
        let data = case.data();
        let [sum] = &lines(&data, "run", None)[..] else { panic!("one record: {data}") };
        let told: BTreeSet<_> = sum.split(' ').filter_map(|word| word.strip_prefix("e=")).collect();
        for switch in mine {
            assert!(told.contains(switch), "no {switch}: {told:?}");
        }
        // What the tests themselves set for the launcher is the user's, too.
        let known = ["rmaps_base_oversubscribe", "orte_tmpdir_base"];
        let strange: Vec<_> = told
            .iter()
            .filter(|word| !mine.contains(word) && word.starts_with(others))
            .filter(|word| !known.iter().any(|name| word.contains(name)))
            .collect();
        assert!(strange.is_empty(), "set by the launcher: {strange:?}");
    }
}

/// A record goes to the center: what may be a path, a host or the name of somebody stays.
#[test]
fn values_that_may_be_paths_or_names_are_not_recorded() {
    for case in cases("mpi_output") {
        let secrets = ["/home/anna/tuning", "anna.lab.example", "phoenix"];
        let mine = [
            format!("I_MPI_TUNING_BIN={}", secrets[0]),
            format!("PSM2_TOPAS_TEST={}", secrets[1]),
            format!("OMPI_MCA_topas_test_project={}", secrets[2]),
            "MXM_TLS=self,ud".to_owned(),
        ];
        let mine: Vec<&str> = mine.iter().map(String::as_str).collect();
        case.run(&mine, &[]).good();
        let records = case.data() + &case.log() + &case.table();
        for secret in secrets {
            assert!(!records.contains(secret), "{secret} under {}:\n{records}", case.mpi.name());
        }
        let data = case.data();
        let [sum] = &lines(&data, "run", None)[..] else { panic!("one record: {data}") };
        let told: BTreeSet<_> = sum.split(' ').filter_map(|word| word.strip_prefix("e=")).collect();
        for name in ["I_MPI_TUNING_BIN", "PSM2_TOPAS_TEST", "MXM_TLS=self%2Cud"] {
            assert!(told.contains(name), "{name} under {}: {told:?}", case.mpi.name());
        }
        assert!(case.log().contains("MXM_TLS=self%2Cud"), "{}", case.log());
        let mut view = case.scratch.command(Site::shared().tool("topasview"));
        let view = run(view.args(["--mpi", "--switches"]).arg(&case.places.out)).good();
        let line = "I_MPI_TUNING_BIN (not recorded: it may be a path or a name)";
        assert!(view.out().lines().any(|found| found == line), "{}", view.out());
    }
}

#[test]
fn what_cannot_be_written_is_said_once_and_changes_nothing() {
    for case in cases("mpi_output") {
        let nowhere = case.scratch.path().join("missing/profile.out");
        let without = bare(case.mpi, &case.scratch, RANKS, &[case.ring.to_str().expect("path")]);
        let out = format!("TOPAS_MPI_OUT={}", nowhere.display());
        let with = case.run(&[&out], &[]);
        assert_eq!((with.code(), with.out()), (without.code(), without.out()));
        let said = with.err();
        let ours = said.lines().filter(|line| line.starts_with("topas-mpi: error: "));
        assert_eq!(ours.count(), 2, "one for each file: {said}");
        assert!(said.contains(&nowhere.display().to_string()), "{said}");
        assert_eq!(case.log().lines().count(), 1, "the center has its record");

        // Who asked for nothing hears nothing; of a log of their own that is wrong, once.
        let quiet = |log: &str| case.run(&["TOPAS_MPI=", "TOPAS_MPI_OUT=", log], &[]).good().err();
        assert_eq!(quiet("TOPAS_LOG=file:/dev/null"), without.err());
        let said = quiet("TOPAS_LOG=file:/dev/null/x");
        assert_eq!(said.matches("not written to file:/dev/null/x").count(), 1, "{said}");
        assert_eq!(spool_files(&case.places.spool).len(), 0);
    }
}

#[test]
fn off_is_off() {
    for case in cases("mpi_output") {
        for off in ["TOPAS_MPI=no", "TOPAS=off"] {
            case.run(&[off], &[]).good();
            assert_eq!((case.data(), case.log()), (String::new(), String::new()), "{off}");
            assert_eq!(spool_files(&case.places.spool).len(), 0, "{off}");
        }
    }
}

/// What a data file tells of each peer, and of each communicator.
fn detail(data: &str) -> (usize, usize) {
    let of_ranks = lines(data, "rank", None);
    let count = |key| of_ranks.iter().map(|line| line.matches(key).count()).sum();
    (count(" p="), count(" c="))
}

/// A variable of the profile is switched by the words of every other variable of TOPAS.
#[test]
fn detail_is_switched_by_the_words_of_every_switch() {
    for case in cases("detail_is_switched_by_the_words_of_every_switch") {
        let told = |peers: &str, communicators: &str| {
            let variables = [("PEERS", peers), ("COMMS", communicators)];
            let words = variables.map(|(name, word)| format!("TOPAS_MPI_{name}={word}"));
            case.places.clear();
            case.run(&[&words[0], &words[1]], &[]).good();
            detail(&case.data())
        };
        let (peers, communicators) = (told("YES", "NO"), told("FALSE", "TRUE"));
        let mpi = case.mpi.name();
        assert!(peers.0 >= RANKS as usize && peers.1 == 0, "{peers:?} under {mpi}");
        assert!(communicators.0 == 0 && communicators.1 > 0, "{communicators:?} under {mpi}");
    }
}

/// The library is loaded into all ranks but the second, which nobody waits for.
#[test]
fn ranks_without_the_library_are_not_waited_for() {
    std::thread::scope(|scope| {
        for case in cases("mpi_output") {
            scope.spawn(move || {
                let words = case.places.words(&[&library(Site::shared())]).join(" ");
                let rank = match case.mpi {
                    Mpi::OpenMpi => "$OMPI_COMM_WORLD_RANK",
                    Mpi::Mpich => "$PMI_RANK",
                };
                let ring = case.ring.display();
                let script =
                    format!("if [ {rank} = 1 ]; then exec {ring}; fi; exec {words} {ring}");
                let mut launch = case.mpi.launch_bare(&case.scratch, 3);
                launch.args(["/bin/sh", "-c", &script]);
                let begun = Instant::now();
                let ended = launched(&case.scratch, &mut launch).good();
                assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
                // Nor do libraries below complain of what nobody received.
                assert_eq!(ended.out().lines().collect::<Vec<_>>(), ["sum 3"]);
                assert!(
                    ended.err().contains("topas-mpi: error: no common profile"),
                    "{}",
                    ended.err()
                );
                // The others have what they counted, and leave it to be collected.
                let ranks: Vec<_> = case.ranks().iter().map(|counted| counted.rank).collect();
                assert_eq!(ranks, [0, 2]);
                assert_eq!(spool_files(&case.places.spool).len(), 2);
            });
        }
    });
}

#[test]
fn languages_are_told() {
    for mpi in Mpi::installed("mpi_output") {
        for (tool, source, told) in [
            ("mpicxx", "cxx/hello.cc", "c,cxx"),
            ("mpifort", "f90/hello.f90", "mpifh"),
            ("mpifort", "f90/hello_f08.f90", "f08"),
        ] {
            let scratch = Scratch::new();
            let places = Places::new(&scratch);
            let path = scratch.path().join("hello");
            build(mpi, tool, &[source], &[], &path);
            profiled(mpi, &scratch, 2, &[path.to_str().expect("path")], &places).good();
            for counted in places.counted() {
                assert_eq!(counted.languages, told, "{source} {mpi:?}");
            }
        }
    }
    let python = Path::new("/usr/bin/python3");
    let has = python.exists()
        && run(Command::new(python).args(["-c", "import mpi4py"])).code() == 0
        && have("mpirun.openmpi");
    if !has {
        return skip("mpi_output::languages_are_told", "no mpi4py");
    }
    let (scratch, line) = (Scratch::new(), "from mpi4py import MPI; MPI.COMM_WORLD.barrier()");
    let places = Places::new(&scratch);
    let words = [python.to_str().expect("path"), "-c", line];
    profiled(Mpi::OpenMpi, &scratch, 2, &words, &places).good();
    for counted in places.counted() {
        assert_eq!((counted.languages.as_str(), counted.routine("Barrier").calls), ("c,python", 1));
    }
}
