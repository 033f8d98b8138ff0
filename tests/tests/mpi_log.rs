//! The event log of real programs: every call that the program made, in order, with what it was about,
//! and the newest part of ranks that were killed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, build, event_log, event_logs, profiled};
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;
use topas_tests::small_disk::SmallDisk;

const RANKS: u32 = 3;

/// The events of each rank: routine, peer, source, tag, bytes sent and received; -1 is none. Times are
/// looked at here.
fn events(scratch: &Scratch, log: &Path) -> BTreeMap<u32, Vec<String>> {
    let mut tool = scratch.command(Site::shared().tool("topas-mpi"));
    events_in(&run(tool.arg("trace").arg("--events").arg(log)).good().out())
}

/// The same out of what the tool prints.
fn events_in(told: &str) -> BTreeMap<u32, Vec<String>> {
    let mut ranks: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    let mut ended: BTreeMap<&str, u64> = BTreeMap::new();
    for line in told.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let time = |cell: usize| cells[cell].parse::<u64>().expect("ns");
        let before = ended.insert(cells[0], time(3) + time(4)).unwrap_or(0);
        // Rounded to ns.
        assert!(time(3) + 1 >= before, "calls of a thread do not overlap: {line}");
        let number = |cell: usize| if cells[cell].is_empty() { "-1" } else { cells[cell] };
        let event = format!(
            "{} {} {} {} {} {}",
            cells[2],
            number(5),
            number(6),
            number(7),
            number(8),
            number(9)
        );
        ranks.entry(cells[0].parse().expect("a rank")).or_default().push(event);
    }
    ranks
}

/// How many messages the numbers of the export join: of each that was sent, the call that received it has
/// the same key and the same number.
fn joined(scratch: &Scratch, log: &Path) -> usize {
    let mut tool = scratch.command(Site::shared().tool("topas-mpi"));
    let told = run(tool.arg("trace").arg("--events").arg(log)).good().out();
    let mut lines = told.lines();
    let titles = lines.next().expect("titles");
    assert!(titles.ends_with(",path,sent_message,received_message,received_tag"), "{titles}");
    // Communicator, source, destination, tag, number: bytes.
    let (mut sent, mut received) = (BTreeMap::new(), BTreeMap::new());
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let [rank, peer, source, tag, communicator] = [0, 5, 6, 7, 10].map(|cell| cells[cell]);
        if !cells[13].is_empty() {
            let key = (communicator, rank, peer, tag, cells[13]);
            assert!(sent.insert(key, cells[8]).is_none(), "a number twice: {line}");
        }
        if !cells[14].is_empty() {
            let from = if source.is_empty() { peer } else { source };
            let tag = if cells[15].is_empty() { tag } else { cells[15] };
            let key = (communicator, from, rank, tag, cells[14]);
            assert!(received.insert(key, (cells[2], cells[9])).is_none(), "a number twice: {line}");
        }
    }
    assert_eq!(sent.keys().collect::<Vec<_>>(), received.keys().collect::<Vec<_>>());
    for (key, (routine, bytes)) in &received {
        // Of a receive that was posted, the call that completes it has the bytes.
        assert!(*routine == "MPI_Irecv" || sent[key] == *bytes, "{key:?} {routine} {bytes} B");
    }
    sent.len()
}

/// The program's own list.
fn own_list(scratch: &Scratch, rank: u32) -> Vec<String> {
    let list = fs::read_to_string(scratch.path().join(format!("calls.{rank}"))).expect("a list");
    list.lines().map(str::to_owned).collect()
}

/// Lists are long: the first difference is told.
fn same(told: &[String], own: &[String], whose: &str) {
    let differs = told.iter().zip(own).position(|(told, own)| told != own);
    if let Some(place) = differs {
        panic!("{whose}: event {place} is {}, the program called {}", told[place], own[place]);
    }
    assert_eq!(told.len(), own.len(), "{whose}");
}

/// The line of all ranks in the table of `topas-mpi trace`: events, bytes, overwritten events.
fn sums(scratch: &Scratch, log: &Path) -> [u64; 3] {
    let mut tool = scratch.command(Site::shared().tool("topas-mpi"));
    let told = run(tool.arg("trace").arg(log)).good();
    let last = told.out().lines().last().expect("a line").to_owned();
    let cells: Vec<&str> = last.split_whitespace().collect();
    assert_eq!(cells[0], "all", "{last}");
    [cells[4], cells[5], cells[7]].map(|cell| cell.parse().expect("a number"))
}

#[test]
fn the_log_has_every_call_of_the_program() {
    for mpi in Mpi::installed("the_log_has_every_call_of_the_program") {
        for more in [&[][..], &["TOPAS_MPI_WAITS=yes", "TOPAS_MPI_PATHS=yes"]] {
            let scratch = Scratch::new();
            let places = Places::new(&scratch);
            let exe = scratch.path().join("calls");
            build(mpi, "mpicc", &["log/calls.c"], &["-O2"], &exe);
            let directory = scratch.path().to_str().expect("a path").to_owned();
            let mut words = vec!["TOPAS_MPI_LOG=yes"];
            words.extend(more);
            words.extend([exe.to_str().expect("a path"), &directory, "200"]);
            profiled(mpi, &scratch, RANKS, &words, &places).good();
            let log = event_log(places.out.parent().expect("a directory"));
            let told = events(&scratch, &log);
            assert_eq!(told.keys().copied().collect::<Vec<_>>(), [0, 1, 2], "{}", mpi.name());
            for (rank, told) in &told {
                same(
                    told,
                    &own_list(&scratch, *rank),
                    &format!("rank {rank} under {}", mpi.name()),
                );
            }
            // Eleven messages of a round are in the world, one in a communicator that only waits number.
            let messages = 200 * if more.is_empty() { 11 } else { 12 };
            assert_eq!(joined(&scratch, &log), messages, "{}", mpi.name());
            // The profile counts the same calls.
            let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
            for event in told.values().flatten() {
                *counts.entry(event.split(' ').next().expect("a name")).or_default() += 1;
            }
            // It counts none that pauses measuring.
            let pauses = counts.remove("pause").unwrap_or(0);
            assert_eq!(pauses, u64::from(RANKS), "{}", mpi.name());
            let mut view = scratch.command(Site::shared().tool("topasview"));
            let rows_of =
                run(view.args(["--mpi", "--csv", "--routines"]).arg(&places.out)).good().out();
            let mut rows = rows_of.lines();
            let titles: Vec<&str> = rows.next().expect("titles").split(',').collect();
            let place = titles.iter().position(|title| *title == "calls").expect("calls");
            let profile: BTreeMap<String, u64> = rows
                .map(|row| row.split(',').collect::<Vec<_>>())
                .map(|cells| (format!("MPI_{}", cells[0]), cells[place].parse().expect("calls")))
                .collect();
            for (routine, calls) in &counts {
                assert_eq!(profile.get(*routine), Some(calls), "{routine} under {}", mpi.name());
            }
            assert_eq!(profile.values().sum::<u64>(), counts.values().sum::<u64>());
            let [events, bytes, overwritten] = sums(&scratch, &log);
            assert_eq!(events, counts.values().sum::<u64>() + pauses);
            assert!(bytes <= 13 * events, "{bytes} B of {events} events under {}", mpi.name());
            assert_eq!(overwritten, 0);
        }
    }
}

#[test]
fn killed_ranks_leave_their_newest_events() {
    for mpi in Mpi::installed("killed_ranks_leave_their_newest_events") {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let exe = scratch.path().join("calls");
        build(mpi, "mpicc", &["log/calls.c"], &["-O2"], &exe);
        let directory = scratch.path().to_str().expect("a path").to_owned();
        // More events than the smallest ring has room for.
        let words =
            ["TOPAS_MPI_LOG=1M", exe.to_str().expect("a path"), &directory, "30000", "killed"];
        let ended = profiled(mpi, &scratch, RANKS, &words, &places);
        assert!(!ended.status.success(), "the launcher tells that ranks were killed");
        let collect = || {
            let mut tool = scratch.command(Site::shared().tool("topas-mpi"));
            tool.args(["collect", "--no-log", "--spool"]).arg(&places.spool);
            run(tool.arg("--out").arg(&places.out)).good()
        };
        collect();
        let log = event_log(places.out.parent().expect("a directory"));
        let told = events(&scratch, &log);
        let mut kept = 0;
        for rank in 0..RANKS {
            let own = own_list(&scratch, rank);
            let told = &told[&rank];
            kept += told.len() as u64;
            assert!(
                told.len() > 50_000 && told.len() < own.len(),
                "{} of {}",
                told.len(),
                own.len()
            );
            let newest = &own[own.len() - told.len()..];
            same(told, newest, &format!("rank {rank} under {}", mpi.name()));
        }
        let [events, bytes, overwritten] = sums(&scratch, &log);
        assert_eq!(events, kept);
        assert!(bytes <= 13 * events, "{bytes} B of {events} events");
        let calls: usize = (0..RANKS).map(|rank| own_list(&scratch, rank).len()).sum();
        assert_eq!(overwritten, calls as u64 - kept, "what was overwritten is told");
    }
}

/// Where the room ends under the ring of the log, or under the log itself, the program goes on as if there
/// were none, and no event is told that was not.
#[test]
fn a_full_disk_takes_events_and_nothing_else() {
    let test = "a_full_disk_takes_events_and_nothing_else";
    for mpi in Mpi::installed(test) {
        let scratch = Scratch::new();
        let exe = scratch.path().join("calls");
        build(mpi, "mpicc", &["log/calls.c"], &["-O2"], &exe);
        let directory = scratch.path().to_str().expect("a path").to_owned();
        let words = ["TOPAS_MPI_LOG=yes", exe.to_str().expect("a path"), &directory, "200"];
        for (name, under_ring, size, left) in [
            ("no room for the ring", true, "64k", 0),
            ("room for a part of the rings", true, "2m", 1_000_000),
            ("no room for the log", false, "64k", 0),
            ("room for a part of the log", false, "64k", 20_000),
        ] {
            let small = scratch.sub("small");
            let Some(disk) = SmallDisk::mount(&small, &format!("size={size},mode=1777")) else {
                return skip(test, "no file system can be mounted");
            };
            disk.leave(left);
            let mut places = Places::new(&scratch);
            if under_ring {
                places.spool.clone_from(&small);
            } else {
                places.out = small.join("profile.out");
            }
            let said = profiled(mpi, &scratch, RANKS, &words, &places).good().err();
            assert_eq!(said.contains("event log not written to "), !under_ring, "{name}: {said}");
            let from = places.out.parent().expect("a directory");
            for log in event_logs(from) {
                let mut tool = scratch.command(Site::shared().tool("topas-mpi"));
                let told = run(tool.arg("trace").arg("--events").arg(&log));
                assert!(told.code() < 2, "{name} under {}: {}", mpi.name(), told.err());
                // What is there is whole, also where other ranks found no room.
                let lacks_ranks_alone = told.err().lines().all(|line| {
                    line.contains(" not in these logs") || line.starts_with("  hint: ")
                });
                if told.code() == 0 || lacks_ranks_alone {
                    for (rank, told) in events_in(&told.out()) {
                        let own = own_list(&scratch, rank);
                        let newest = &own[own.len() - told.len().min(own.len())..];
                        same(&told, newest, &format!("{name}: rank {rank} under {}", mpi.name()));
                    }
                }
                fs::remove_file(&log).expect("a log");
            }
            assert!((0..RANKS).all(|rank| own_list(&scratch, rank).len() > 1000), "{name}");
            drop(disk);
        }
    }
}

/// States that programs name, in C and Fortran; without the library the same programs do nothing else.
#[test]
fn states_have_the_names_that_programs_give_them() {
    let include = topas_tests::build::source("").join("../../etc/include");
    let header = format!("-I{}", include.display());
    for mpi in Mpi::installed("states_have_the_names_that_programs_give_them") {
        let module = include.join("topas.f90");
        let module = module.to_str().expect("a path");
        for (tool, sources, expected) in [
            (
                "mpicc",
                &["log/states.c"][..],
                &[
                    "begin:outer",
                    "begin:a name that is longer th",
                    "MPI_Barrier",
                    "end:a name that is longer th",
                    "begin:a name that is longer th",
                    "MPI_Barrier",
                    "end:a name that is longer th",
                    "begin:a name that is longer th",
                    "MPI_Barrier",
                    "end:a name that is longer th",
                    "end:outer",
                    "MPI_Pcontrol",
                    "MPI_Pcontrol",
                ][..],
            ),
            ("mpif90", &[module, "log/states.f90"], &["begin:solve", "MPI_Barrier", "end:solve"]),
        ] {
            let scratch = Scratch::new();
            let places = Places::new(&scratch);
            let exe = scratch.path().join("states");
            build(mpi, tool, sources, &["-O2", &header], &exe);
            let exe = exe.to_str().expect("a path");
            topas_tests::profile::bare(mpi, &scratch, 2, &[exe]).good();
            profiled(mpi, &scratch, 2, &["TOPAS_MPI_LOG=yes", exe], &places).good();
            let log = event_log(places.out.parent().expect("a directory"));
            let mut events = scratch.command(Site::shared().tool("topas-mpi"));
            let told =
                run(events.args(["trace", "--events", "--rank", "1"]).arg(&log)).good().out();
            let names: Vec<&str> =
                told.lines().skip(1).filter_map(|line| line.split(',').nth(2)).collect();
            let inner = &names[1..names.len() - 1];
            assert_eq!(inner, expected, "{tool} under {}: {told}", mpi.name());
            let mut chrome = scratch.command(Site::shared().tool("topas-mpi"));
            let json = run(chrome.args(["trace", "--chrome"]).arg(&log)).good().out();
            let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
            let of = |ph: &str| {
                let events = json["traceEvents"].as_array().expect("events");
                events.iter().filter(|event| event["ph"] == ph).count()
            };
            assert!(of("B") > 0 && of("B") == of("E"), "{json}");
            let begun: Vec<&str> =
                expected.iter().filter_map(|name| name.strip_prefix("begin:")).collect();
            states_are_shown(&scratch, &log, &begun);
        }
    }
}

/// The states of two ranks in the page, and in the exports for Perfetto and Paraver: `begun` has the
/// name of each state of a rank.
fn states_are_shown(scratch: &Scratch, log: &Path, begun: &[&str]) {
    let tool = |name: &str, args: &[&str]| {
        run(scratch.command(Site::shared().tool(name)).args(args).arg(log)).good()
    };
    let page = tool("topasview", &["--timeline"]).out();
    let perfetto = tool("topas-mpi", &["trace", "--perfetto"]).stdout;
    let base = scratch.path().join("states-of-paraver");
    let base = base.to_str().expect("a path");
    tool("topas-mpi", &["trace", "--paraver", base]);
    let read = |end: &str| fs::read_to_string(format!("{base}.{end}")).expect("a file");
    let (records, meanings) = (read("prv"), read("pcf"));
    let meanings =
        meanings.split_once("States of the program\nVALUES\n0      End\n").expect("states").1;
    let mut names: Vec<&str> = begun.to_vec();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let count = 2 * begun.iter().filter(|begun| **begun == name).count();
        let row = format!("<th class=\"l\" scope=\"row\">{name}</th><td>{count}</td>");
        assert!(page.contains(&row), "{row}: {page:.6000}");
        let is_begin = |bytes: &[u8]| bytes == name.as_bytes();
        assert_eq!(perfetto.windows(name.len()).filter(|bytes| is_begin(bytes)).count(), count);
        let number = meanings.lines().find_map(|line| line.strip_suffix(name)).expect(name);
        let event = format!(":60000019:{}", number.trim());
        // A state is told again where one within it ends, unless both end at once.
        assert!(
            records.lines().filter(|line| line.ends_with(&event)).count() >= count,
            "{records}"
        );
    }
    let ends = records.lines().filter(|line| line.ends_with(":60000019:0")).count();
    assert_eq!(ends, 2, "one outermost state of each rank: {records}");
}

#[test]
fn an_export_of_the_log_is_what_chrome_reads() {
    let name = "an_export_of_the_log_is_what_chrome_reads";
    let Some(mpi) = Mpi::installed(name).into_iter().next() else { return };
    let scratch = Scratch::new();
    let places = Places::new(&scratch);
    let exe = scratch.path().join("calls");
    build(mpi, "mpicc", &["log/calls.c"], &["-O2"], &exe);
    let directory = scratch.path().to_str().expect("a path").to_owned();
    let words = ["TOPAS_MPI_LOG=yes", exe.to_str().expect("a path"), &directory, "10"];
    profiled(mpi, &scratch, RANKS, &words, &places).good();
    let log = event_log(places.out.parent().expect("a directory"));
    let tool = || scratch.command(Site::shared().tool("topas-mpi"));
    let told = run(tool().args(["trace", "--chrome", "--rank", "1"]).arg(&log)).good();
    let json: serde_json::Value = serde_json::from_str(&told.out()).expect("JSON");
    let events = json["traceEvents"].as_array().expect("events");
    let calls: Vec<&serde_json::Value> = events.iter().filter(|event| event["ph"] == "X").collect();
    assert_eq!(calls.len(), own_list(&scratch, 1).len());
    let sends = calls.iter().filter(|event| event["name"] == "MPI_Isend");
    assert!(sends.clone().all(|event| event["args"]["peer"] == 2 && event["pid"] == 1));
    assert_eq!(sends.clone().count(), 20);
    // Tags are 0 to 4 in turn, and 33 each time.
    let (in_turn, same): (Vec<_>, Vec<_>) = sends.partition(|event| event["args"]["tag"] != 33);
    let numbers = |sends: Vec<&serde_json::Value>| -> Vec<u64> {
        sends.iter().filter_map(|event| event["args"]["sent_message"].as_u64()).collect()
    };
    assert_eq!(numbers(in_turn), [1, 1, 1, 1, 1, 2, 2, 2, 2, 2]);
    assert_eq!(numbers(same), (1..=10).collect::<Vec<u64>>());
    // A file that is none, and one that is not there.
    let none = run(tool().arg("trace").arg(&exe));
    assert_eq!(none.code(), 1);
    assert!(none.err().contains("holds no event log"), "{}", none.err());
    let missing = run(tool().arg("trace").arg("/no/such/file"));
    assert_eq!(missing.code(), 1);
    assert!(missing.err().contains("cannot read /no/such/file"), "{}", missing.err());
}
