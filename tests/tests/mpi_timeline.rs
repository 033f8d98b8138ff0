//! Time lines of real programs: the waits found in the log are those that the profile measured, the late
//! rank is named, and the page has the events that `topas-mpi trace` prints.

use std::fs;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use serde_json::Value;
use topas_tests::build::source;
use topas_tests::launched_again::launched_again;
use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, build, event_log, profiled};
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};

const RANKS: u32 = 3;

/// One launch runs at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs the program: a place for what is made, and the log.
fn logged(mpi: Mpi) -> (Scratch, Places, PathBuf) {
    logged_of(mpi, "mpicc", "timeline/late.c", RANKS, "40")
}

/// The same with the page of the log, which names the late rank. Where other programs take the processors, all ranks are late:
/// such a launch is repeated.
fn told(mpi: Mpi) -> (Scratch, Places, PathBuf, String) {
    launched_again(|| {
        let (scratch, places, log) = logged(mpi);
        let page = tool(&scratch, "topasview", &["--timeline"], &log);
        match page.contains("Rank 1 is late") {
            true => Ok((scratch, places, log, page)),
            false => Err(format!("rank 1 was not the late one under {}", mpi.name())),
        }
    })
}

/// The log of another program, which is told how many rounds it has.
fn logged_of(
    mpi: Mpi,
    tool: &str,
    source: &str,
    ranks: u32,
    rounds: &str,
) -> (Scratch, Places, PathBuf) {
    let scratch = Scratch::new();
    let places = Places::new(&scratch);
    let exe = scratch.path().join("late");
    build(mpi, tool, &[source], &["-O2", "-g"], &exe);
    let words = [
        "TOPAS_MPI_LOG=yes",
        "TOPAS_MPI_WAITS=yes",
        "TOPAS_MPI_PATHS=yes",
        exe.to_str().expect("a path"),
        rounds,
    ];
    // Ranks that wait for processors beside those of another test are late, too.
    let alone = ALONE.lock();
    profiled(mpi, &scratch, ranks, &words, &places).good();
    drop(alone);
    let log = event_log(places.out.parent().expect("a directory"));
    (scratch, places, log)
}

fn tool(scratch: &Scratch, name: &str, args: &[&str], file: &Path) -> String {
    run(scratch.command(Site::shared().tool(name)).args(args).arg(file)).good().out()
}

/// The seconds of a class in the table of the page, of all ranks.
fn class(page: &str, name: &str) -> f64 {
    let table = page.split_once("Time of each rank by class").expect("a table").1;
    let (head, body) = table.split_once("</thead>").expect("a head");
    let titles: Vec<&str> = head.split("<th").skip(2).collect();
    let place = titles.iter().position(|title| title.contains(&format!(">{name} s<")));
    let Some(place) = place else { return 0.0 };
    let rows = body.split("</tbody>").next().expect("rows").split("<tr>").skip(1);
    let seconds = |row: &str| -> f64 {
        let cell = row.split("<t").nth(place + 1).expect("a cell").split('>').nth(1).expect("text");
        cell.split([' ', '<']).next().expect("a number").parse().expect("seconds")
    };
    rows.map(seconds).sum()
}

/// What the script of a page has to know.
fn facts(page: &str) -> Value {
    let text = page.split_once("id=\"facts\" type=\"application/json\">").expect("facts").1;
    serde_json::from_str(text.split_once("</script>").expect("an end").0).expect("JSON")
}

/// The sum of a column of the routines with their waits.
fn measured(csv: &str, name: &str) -> f64 {
    let mut lines = csv.lines();
    let place = lines.next().expect("titles").split(',').position(|title| title == name);
    let cell = |line: &str| line.split(',').nth(place.expect("a column")).map(str::to_owned);
    lines.filter_map(cell).filter_map(|cell| cell.parse::<f64>().ok()).sum()
}

/// The page of a log has the waits of the profile of the same run.
fn tells_what_was_measured(mpi: Mpi, scratch: &Scratch, page: &str, places: &Places) {
    let waits = tool(scratch, "topasview", &["--mpi", "--waits", "--csv"], &places.out);
    let unknown = measured(&waits, "not_measured_seconds");
    for (name, column) in [
        ("wait for late sender", "late_sender_seconds"),
        ("wait for late receiver", "late_receiver_seconds"),
        ("wait in collective", "collective_seconds"),
    ] {
        let (told, own) = (class(page, name), measured(&waits, column));
        // The profile does not look at short calls.
        let near = (told - own).abs() <= 0.05 * own + unknown + 0.03;
        assert!(near, "{} under {}: {told} s in the log, {own} s measured", name, mpi.name());
    }
}

#[test]
fn the_log_tells_the_waits_that_were_measured() {
    for mpi in Mpi::installed("the_log_tells_the_waits_that_were_measured") {
        let (scratch, places, _, page) = told(mpi);
        tells_what_was_measured(mpi, &scratch, &page, &places);
        assert!(class(&page, "wait for late receiver") > 0.1, "{}", mpi.name());
        assert!(!page.contains("does not tell apart"), "{}", mpi.name());
    }
}

/// A call that sends and receives waits for a receiver that is late, too: the log says so as the profile does, and
/// does not turn the finding into a guess.
#[test]
fn a_late_receiver_inside_an_exchange_is_told() {
    for mpi in Mpi::installed("a_late_receiver_inside_an_exchange_is_told") {
        for (compiler, source) in
            [("mpicc", "timeline/exchange.c"), ("mpif90", "timeline/exchange.f90")]
        {
            let (scratch, places, log) = logged_of(mpi, compiler, source, 4, "160");
            let page = tool(&scratch, "topasview", &["--timeline"], &log);
            tells_what_was_measured(mpi, &scratch, &page, &places);
            assert!(!page.contains("could not be told"), "{source}, {}: {page:.4000}", mpi.name());
            let late = class(&page, "wait for late receiver");
            assert!(late > 0.5, "{late} s in {source} under {}", mpi.name());
            // One rank waits there for the sender, and another one for the receiver.
            let named = page.split("wait for it in ").skip(1);
            let mut named: Vec<&str> = named.filter_map(|place| place.split(')').next()).collect();
            named.sort_unstable();
            assert!(named.windows(2).all(|two| two[0] != two[1]), "{source}: {named:?}");
            let out = places.out.to_str().expect("a path");
            let told = tool(&scratch, "topasview", &["--why", "--json", out], &log);
            let told: Value = serde_json::from_str(&told).expect("JSON");
            // One cause is told once: either kind of wait may be the smaller one.
            let sentence = "The ranks waited in sends for receivers that were late for";
            let mut findings = told["findings"].as_array().expect("findings").iter();
            let is_told =
                |found: &Value| found["where"] == "rank 1" && found.to_string().contains(sentence);
            assert!(findings.any(is_told), "{source}, {}: {told:#}", mpi.name());
        }
    }
}

/// Where the log lacks most waits, those of persistent requests, the page says what the profile has measured, and
/// names its rank.
#[test]
fn what_the_log_lacks_is_told_by_the_profile() {
    for mpi in Mpi::installed("what_the_log_lacks_is_told_by_the_profile") {
        let (scratch, _, log) = logged_of(mpi, "mpicc", "timeline/persistent.c", 3, "60");
        let page = tool(&scratch, "topasview", &["--timeline"], &log);
        let words = page.split_once("<p class=\"finding\">").expect("a finding").1;
        let words = words.split("</p>").next().expect("its end");
        assert!(words.starts_with("The log tells "), "{}: {words}", mpi.name());
        assert!(words.contains(" By the profile: "), "{}: {words}", mpi.name());
        // All pass the delay of rank 1 on.
        let is_named =
            words.contains("Rank 1 makes the others wait") || words.contains(" s for rank 1, ");
        assert!(is_named, "{}: {words}", mpi.name());
        assert_eq!(facts(&page)["late"], 1, "{}: {words}", mpi.name());
        assert!(page.contains("Go to rank 1"), "{}: {words}", mpi.name());
    }
}

/// A call that completes what was sent waits for a receiver that is late: the log says so as the profile does, in
/// whatever language and with whatever call the program waits.
#[test]
fn a_late_receiver_of_a_send_that_was_started_is_told() {
    for mpi in Mpi::installed("a_late_receiver_of_a_send_that_was_started_is_told") {
        for (compiler, source) in
            [("mpicc", "timeline/started.c"), ("mpif90", "timeline/started.f90")]
        {
            let (scratch, places, log) = logged_of(mpi, compiler, source, 3, "60");
            let page = tool(&scratch, "topasview", &["--timeline"], &log);
            tells_what_was_measured(mpi, &scratch, &page, &places);
            let late = class(&page, "wait for late receiver");
            assert!(late > 0.3, "{late} s in {source} under {}", mpi.name());
            assert!(page.contains("Rank 1 is late"), "{source}, {}", mpi.name());
        }
    }
}

#[test]
fn the_decoder_of_the_page_reads_what_the_tool_reads() {
    let name = "the_decoder_of_the_page_reads_what_the_tool_reads";
    if Command::new("node").arg("--version").output().is_err() {
        eprintln!("skipped: {name}: there is no node");
        return;
    }
    let crates =
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").join("crates");
    for mpi in Mpi::installed(name) {
        let (scratch, _, log) = logged(mpi);
        // The page does not number messages.
        let own = tool(&scratch, "topas-mpi", &["trace", "--events"], &log);
        let without = |line: &str| {
            let cells: Vec<&str> = line.rsplitn(4, ',').collect();
            format!("{},{}\n", cells[3], cells[0])
        };
        let own: String = own.lines().map(without).collect();
        let mut node = Command::new("node");
        node.arg(crates.join("topasview/tests/cli/timeline_oracle.js"));
        node.arg(crates.join("topas-render/src/timeline/decode.js"));
        let told = run(node.arg(&log)).good().out();
        for (told, own) in told.lines().zip(own.lines()) {
            assert_eq!(told, own, "{}", mpi.name());
        }
        assert!(told == own && told.lines().count() > 500, "{}", mpi.name());
        // The exports of the same log.
        let base = scratch.path().join("run");
        let base = base.to_str().expect("a path");
        tool(&scratch, "topas-mpi", &["trace", "--paraver", base], &log);
        let prv = fs::read_to_string(format!("{base}.prv")).expect("a file");
        let messages = prv.lines().filter(|line| line.starts_with("3:")).count();
        assert_eq!(messages, 40 * (3 + 1 + 3), "{}", mpi.name());
    }
}

/// The event log numbers call paths; the profile beside it names them.
#[test]
fn call_paths_have_their_names_from_the_profile_beside_the_log() {
    let program = fs::read_to_string(source("timeline/late.c")).expect("the program");
    let line = |call: &str| {
        let place = program.lines().position(|line| line.contains(&format!("MPI_{call}(")));
        format!("main (late.c:{})", place.expect("the call") + 1)
    };
    for mpi in Mpi::installed("call_paths_have_their_names_from_the_profile_beside_the_log") {
        let (scratch, places, log, page) = told(mpi);
        let events = tool(&scratch, "topas-mpi", &["trace", "--events"], &log);
        let place = page.split_once("They wait for it in ").expect("a place").1;
        let place = place.split(". ").next().expect("a sentence");
        assert!(place.contains("from main (late.c:"), "{}: {place:.200}", mpi.name());
        let told = facts(&page);
        for call in ["Send", "Recv", "Irecv", "Waitall", "Sendrecv", "Allreduce"] {
            let mut seen = 0;
            for event in events.lines().filter(|event| event.contains(&format!(",MPI_{call},"))) {
                let cells: Vec<&str> = event.split(',').collect();
                let processes = told["processes"].as_array().expect("processes");
                let rank: u64 = cells[0].parse().expect("a rank");
                let of_rank = |process: &&Value| process["rank"] == rank;
                let process = processes.iter().find(of_rank).expect("the rank");
                let table = process["paths"].as_u64().expect("a table") as usize;
                let place = told["paths"][table][cells[12]].as_u64().expect("a path") as usize;
                assert_eq!(told["pathWords"][place], line(call), "{call} under {}", mpi.name());
                seen += 1;
            }
            assert!(seen >= 40, "{call}: {seen}");
        }
        fs::remove_file(&places.out).expect("the profile");
        let told = facts(&tool(&scratch, "topasview", &["--timeline"], &log));
        assert_eq!(told["pathWords"].as_array().map(Vec::len), Some(0), "{}", mpi.name());
    }
}

/// Names stand in the log where they were given, and are taken for nothing else.
#[test]
fn communicators_have_the_names_that_the_program_gave_them() {
    let in_c =
        [Some("first"), Some("rows, <columns> and what is behind"), Some("third and last"), None];
    let in_fortran = [Some("of Fortran"), None];
    for mpi in Mpi::installed("communicators_have_the_names_that_the_program_gave_them") {
        for (compiler, program, names) in [
            ("mpicc", "timeline/named.c", &in_c[..]),
            ("mpif90", "timeline/named.f90", &in_fortran[..]),
        ] {
            let scratch = Scratch::new();
            let places = Places::new(&scratch);
            let exe = scratch.path().join("named");
            build(mpi, compiler, &[program], &["-O1"], &exe);
            let exe = exe.to_str().expect("a path");
            let words = ["TOPAS_MPI_LOG=yes", "TOPAS_MPI_WAITS=yes", exe];
            profiled(mpi, &scratch, RANKS, &words, &places).good();
            let log = event_log(places.out.parent().expect("a directory"));
            let events = tool(&scratch, "topas-mpi", &["trace", "--events"], &log);
            let events: Vec<Vec<&str>> =
                events.lines().map(|event| event.split(',').collect()).collect();
            let told = facts(&tool(&scratch, "topasview", &["--timeline"], &log));
            let what = format!("{program} under {}", mpi.name());
            for (place, name) in names.iter().enumerate() {
                let bytes = (8 * (place + 1)).to_string();
                let is_own = |event: &&Vec<&str>| event[2] == "MPI_Allreduce" && event[8] == bytes;
                let own: Vec<_> = events.iter().filter(is_own).collect();
                assert_eq!(own.len(), RANKS as usize, "{what}");
                for event in own {
                    assert_eq!(told["worlds"][0]["names"][event[10]].as_str(), *name, "{what}");
                }
            }
            let named: Vec<_> = events.iter().filter(|e| e[2] == "MPI_Comm_set_name").collect();
            let calls = if compiler == "mpicc" { 4 } else { 1 };
            assert_eq!(named.len(), calls * RANKS as usize, "{what}");
            for event in named {
                assert_eq!((event[8], event[9], event[11]), ("0", "0", "0"), "{what}: {event:?}");
            }
        }
    }
}

/// The page of a real run as Chromium draws it, with the policy of the page in force.
#[test]
#[ignore = "cargo xtask test --browser"]
fn a_browser_draws_real_runs() {
    for mpi in Mpi::installed("a_browser_draws_real_runs") {
        let (scratch, _, log) = logged(mpi);
        let page = scratch.path().join("run.html");
        let page = page.to_str().expect("a path");
        tool(&scratch, "topasview", &["--timeline", "--html", page], &log);
        let mut node = Command::new("node");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/page.js");
        let told = run(node.arg(script).arg(page).arg(&log).arg("1280")).good().out();
        let told: Value = serde_json::from_str(&told).expect("JSON");
        assert_eq!(told["faults"], Value::Array(Vec::new()), "{}: {told}", mpi.name());
        let whole = told["steps"].as_array().expect("steps").last().expect("the whole run");
        let view = whole["view"].as_str().expect("a sentence");
        assert!(view.contains(" calls"), "{}: {told}", mpi.name());
        let legend = told["legend"].as_str().expect("a text");
        let share = legend.split("wait for late sender").nth(1).expect("late senders");
        let number = share.trim_start().split(" %").next().and_then(|text| text.parse().ok());
        let number: f64 = number.unwrap_or_else(|| panic!("{}: {legend}", mpi.name()));
        assert!(number > 0.0, "{}: {legend}", mpi.name());
    }
}

/// The blocks of a rank are taken out of a real log, as if the log of its host were not there: all say so, and `--why` uses
/// nothing of the rest.
#[test]
fn a_log_that_lacks_a_rank_is_told_by_all() {
    for mpi in Mpi::installed("a_log_that_lacks_a_rank_is_told_by_all") {
        let (scratch, places, log) = logged(mpi);
        let bytes = fs::read(&log).expect("the log");
        let is_other = |block: &&[u8]| block[12..16] != [2, 0, 0, 0];
        let others: Vec<&[u8]> = bytes.chunks(65_536).filter(is_other).collect();
        fs::write(&log, others.concat()).expect("written");
        let out = places.out.to_str().expect("a path");
        for (name, args) in [
            ("topas-mpi", &["trace"][..]),
            ("topas-mpi", &["replay"]),
            ("topasview", &["--timeline"]),
            ("topasview", &["--why", out]),
        ] {
            let mut command = scratch.command(Site::shared().tool(name));
            let told = command.args(args).arg(&log).output().expect("a tool");
            let err = String::from_utf8_lossy(&told.stderr);
            assert_eq!(told.status.code(), Some(1), "{args:?} under {}: {err}", mpi.name());
            assert!(err.contains("rank 2 of "), "{args:?}, {}: {err}", mpi.name());
            assert!(err.contains(" is not in these logs"), "{args:?}, {}: {err}", mpi.name());
            let text = String::from_utf8_lossy(&told.stdout);
            if args.contains(&"--why") {
                assert!(!text.contains("slices of the run"), "{}: {text}", mpi.name());
                assert!(err.contains("nothing that it tells is used"), "{}: {err}", mpi.name());
            }
        }
    }
}

/// A byte of a real log is changed after the run: all say which rank it is, and no finding is made of the rest.
#[test]
fn a_damaged_log_accuses_nobody() {
    for mpi in Mpi::installed("a_damaged_log_accuses_nobody") {
        let (scratch, places, log) = logged(mpi);
        let mut bytes = fs::read(&log).expect("the log");
        let of_rank = |block: &[u8]| block[10] == 1 && block[12] == 2;
        let place = bytes.chunks(65_536).position(of_rank).expect("events of rank 2");
        bytes[place * 65_536 + 300] ^= 1;
        fs::write(&log, &bytes).expect("written");
        let out = places.out.to_str().expect("a path");
        for (name, args) in [
            ("topas-mpi", &["trace"][..]),
            ("topas-mpi", &["replay"]),
            ("topasview", &["--timeline"]),
            ("topasview", &["--why", out]),
        ] {
            let mut command = scratch.command(Site::shared().tool(name));
            let told = command.args(args).arg(&log).output().expect("a tool");
            let err = String::from_utf8_lossy(&told.stderr);
            assert_eq!(told.status.code(), Some(1), "{args:?} under {}: {err}", mpi.name());
            assert!(
                err.contains("1 block of rank 2 is damaged"),
                "{args:?}, {}: {err}",
                mpi.name()
            );
            let text = String::from_utf8_lossy(&told.stdout);
            if args == ["--timeline"] {
                assert!(text.contains(" By the profile: "), "{}: {text:.3000}", mpi.name());
            }
            if args.contains(&"--why") {
                let unknown = text.split_whitespace().collect::<Vec<_>>().join(" ");
                let words = "tells; the event log of this run is damaged)";
                assert!(unknown.contains(words), "{}: {text}", mpi.name());
            }
            // The data of the page are in base64, in which any word of letters may stand.
            let mut parts = text.split("type=\"text/plain\">");
            let before = parts.next().unwrap_or_default();
            let behind = parts.map(|part| part.split_once("</script>").expect("an end").1);
            let words: String = iter::once(before).chain(behind).collect();
            for word in ["NaN", "inf ", "parallel efficiency"] {
                assert!(
                    !words.contains(word),
                    "{word}: {args:?} under {}: {text:.3000}",
                    mpi.name()
                );
            }
        }
    }
}
