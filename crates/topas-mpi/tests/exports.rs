//! Exports of an event log, read back: what stands in them is what the run did.

#[allow(dead_code)]
#[path = "../../topas-mpi-data/examples/generate-trace/synthetic.rs"]
mod synthetic;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use synthetic::{SyntheticTrace, SyntheticTruth};
use tempfile::TempDir;
use topas_trace::{
    BlockContent, BlockHead, CallArguments, CallEvent, HEAD, LENGTH, TraceBlock, Writer, checksum,
};

/// A directory with the log of a run that was made up, and what is true of the run.
fn made_up(run: &SyntheticTrace) -> (TempDir, SyntheticTruth) {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes = Vec::new();
    let truth = run.write(&mut bytes).unwrap();
    fs::write(dir.path().join("log"), bytes).unwrap();
    (dir, truth)
}

fn trace(dir: &Path, args: &[&str]) -> Output {
    let mut tool = Command::new(env!("CARGO_BIN_EXE_topas-mpi"));
    tool.arg("trace").args(args).arg("log").current_dir(dir).output().unwrap()
}

/// The same with exit code 0 and nothing on standard error; standard output.
fn told(dir: &Path, args: &[&str]) -> Vec<u8> {
    let output = trace(dir, args);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && err.is_empty(), "{args:?}: {err}");
    output.stdout
}

/// Fields of a message of protobuf: number, and an integer or bytes.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut number = 0;
        for shift in (0..).step_by(7) {
            let (byte, rest) = bytes.split_first().expect("a byte");
            *bytes = rest;
            number |= u64::from(byte & 127) << shift;
            if *byte < 128 {
                break;
            }
        }
        number
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let (field, kind) = (tag >> 3, tag & 7);
        let entry = match kind {
            0 => (field, varint(&mut bytes), &[][..]),
            1 => {
                let (number, rest) = bytes.split_first_chunk::<8>().unwrap();
                bytes = rest;
                (field, u64::from_le_bytes(*number), &[][..])
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (own, rest) = bytes.split_at(length);
                bytes = rest;
                (field, 0, own)
            }
            kind => panic!("a field of kind {kind}"),
        };
        found.push(entry);
    }
    found
}

fn number(fields: &[(u64, u64, &[u8])], wanted: u64) -> Option<u64> {
    fields.iter().find(|(field, _, _)| *field == wanted).map(|(_, number, _)| *number)
}

/// What a trace of Perfetto has, counted without Perfetto.
#[derive(Debug, Default)]
struct PerfettoCounts {
    /// Slices by name: how many, and their ns
    slices: BTreeMap<String, (u64, u64)>,
    /// Processes by name
    processes: Vec<String>,
    /// How often each flow begins and ends
    flows: BTreeMap<u64, [u64; 2]>,
}

fn perfetto(bytes: &[u8]) -> PerfettoCounts {
    let mut counts = PerfettoCounts::default();
    let mut names: BTreeMap<(u64, u64), String> = BTreeMap::new();
    let mut open: BTreeMap<u64, Vec<(String, u64)>> = BTreeMap::new();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut last: BTreeMap<u64, u64> = BTreeMap::new();
    for (field, _, packet) in fields(bytes) {
        assert_eq!(field, 1, "a packet");
        let packet = fields(packet);
        let sequence = number(&packet, 10).expect("a sequence");
        for (field, _, part) in &packet {
            let part_fields = if [11, 12, 60].contains(field) { fields(part) } else { Vec::new() };
            match field {
                60 => {
                    let process = part_fields.iter().find(|(field, _, _)| *field == 3);
                    counts.processes.extend(process.map(|(_, _, process)| {
                        let name = fields(process).into_iter().find(|(field, _, _)| *field == 6);
                        text(name.unwrap().2)
                    }));
                }
                12 => {
                    for (_, _, name) in part_fields.iter().filter(|(field, _, _)| *field == 2) {
                        let name = fields(name);
                        let words = text(name.iter().find(|(field, _, _)| *field == 2).unwrap().2);
                        names.insert((sequence, number(&name, 1).unwrap()), words);
                    }
                }
                11 => {
                    let time = number(&packet, 8).expect("a time");
                    let before = last.insert(sequence, time).unwrap_or(0);
                    assert!(time >= before, "times of a row go on");
                    let stack = open.entry(sequence).or_default();
                    if number(&part_fields, 9) == Some(1) {
                        let own = part_fields.iter().find(|(field, _, _)| *field == 23);
                        let interned =
                            || names[&(sequence, number(&part_fields, 10).unwrap())].clone();
                        let name = own.map_or_else(interned, |(_, _, name)| text(name));
                        stack.push((name, time));
                    } else {
                        let (name, began) = stack.pop().expect("an open slice");
                        let slice = counts.slices.entry(name).or_default();
                        *slice = (slice.0 + 1, slice.1 + time - began);
                    }
                    for (field, number, _) in &part_fields {
                        if let Some(end) = [47, 48].iter().position(|flow| flow == field) {
                            counts.flows.entry(*number).or_default()[end] += 1;
                        }
                    }
                }
                _ => {}
            }
        }
    }
    assert!(open.values().all(Vec::is_empty), "all slices end");
    counts
}

#[test]
fn a_trace_of_perfetto_has_calls_waits_and_messages() {
    let (dir, truth) = made_up(&SyntheticTrace::default());
    let counts = perfetto(&told(dir.path(), &["--perfetto"]));
    let names: Vec<String> = (0..8).map(|rank| format!("rank {rank} on n001")).collect();
    assert_eq!(counts.processes, names);
    let calls = counts.slices.iter().filter(|(name, _)| name.starts_with("MPI_"));
    assert_eq!(calls.map(|(_, (count, _))| count).sum::<u64>(), truth.calls);
    assert_eq!(counts.slices["MPI_Waitall"].0, truth.messages);
    let near = |name: &str, truth: &[u64]| {
        counts.slices[name].1.abs_diff(truth.iter().sum()) <= counts.slices[name].0
    };
    assert!(near("wait for late sender", &truth.late_sender), "{:?}", counts.slices);
    assert!(near("wait in collective", &truth.collective), "{:?}", counts.slices);
    assert_eq!(counts.flows.len() as u64, truth.messages);
    assert!(counts.flows.values().all(|ends| *ends == [1, 1]), "a flow begins and ends");
}

#[test]
fn a_window_has_its_calls_alone() {
    let (dir, _) = made_up(&SyntheticTrace::default());
    let csv = String::from_utf8(told(dir.path(), &["--events"])).unwrap();
    // 2 ms to 3 ms, of two ranks.
    let inside = |line: &&str| {
        let cells: Vec<&str> = line.split(',').collect();
        let [began, length] = [3, 4].map(|cell| cells[cell].parse::<u64>().unwrap());
        began + length >= 2_000_000 && began <= 3_000_000 && ["4", "5"].contains(&cells[0])
    };
    let expected: Vec<&str> = csv.lines().skip(1).filter(inside).collect();
    assert!(expected.len() > 50, "{}", expected.len());
    let window = ["--from", "0.002", "--to", "0.003", "--rank", "4", "--rank", "5"];
    let with = |form: &'static str| [&window[..], &[form]].concat();
    let own = String::from_utf8(told(dir.path(), &with("--events"))).unwrap();
    assert_eq!(own.lines().skip(1).collect::<Vec<_>>(), expected);
    let json: serde_json::Value =
        serde_json::from_slice(&told(dir.path(), &with("--chrome"))).unwrap();
    let slices = json["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X");
    assert_eq!(slices.count(), expected.len());
    let counts = perfetto(&told(dir.path(), &with("--perfetto")));
    let calls = counts.slices.iter().filter(|(name, _)| name.starts_with("MPI_"));
    assert_eq!(calls.map(|(_, (count, _))| *count).sum::<u64>(), expected.len() as u64);
    assert_eq!(counts.processes, ["rank 4 on n001", "rank 5 on n001"]);
    told(dir.path(), &[&window[..], &["--paraver", "part"]].concat());
    let prv = Prv::read(&dir.path().join("part.prv"));
    assert_eq!((prv.length, prv.tasks), (1_000_000, 2));
    // Each call begins in the window, or is there from its beginning on.
    let begins = prv.events.iter().filter(|(_, _, value)| *value > 0).count();
    assert!(begins.abs_diff(expected.len()) <= 4, "{begins} of {}", expected.len());
}

/// Lines of a `.prv`, by the definition of the format.
#[derive(Debug, Default)]
struct Prv {
    length: u64,
    tasks: usize,
    /// Task, from, to, state
    states: Vec<(usize, u64, u64, u32)>,
    /// Task, type, value
    events: Vec<(usize, u64, u64)>,
    /// Tasks that sent and received, bytes, tag
    messages: Vec<(usize, usize, u64, u64)>,
}

impl Prv {
    fn read(path: &Path) -> Prv {
        let text = fs::read_to_string(path).unwrap();
        let mut lines = text.lines();
        let header = lines.next().unwrap();
        let (date, rest) = header.split_once("):").expect(header);
        let digits: String = date.chars().filter(|c| !c.is_ascii_digit()).collect();
        assert_eq!((digits.as_str(), date.len()), ("#Paraver (// at :", 27), "{header}");
        let parts: Vec<&str> = rest.splitn(5, ':').collect();
        let mut prv = Prv {
            length: parts[0].strip_suffix("_ns").unwrap().parse().unwrap(),
            tasks: parts[3]
                .parse()
                .unwrap_or_else(|_| parts[3].split('(').next().unwrap().parse().unwrap()),
            ..Prv::default()
        };
        let mut last = 0;
        for line in lines {
            let n: Vec<u64> = line.split(':').map(|number| number.parse().unwrap()).collect();
            assert!(n[5] >= last, "in the order of time: {line}");
            assert!((1..=prv.tasks as u64).contains(&n[3]) && n[2] == 1 && n[4] == 1, "{line}");
            last = n[5];
            match (n[0], n.len()) {
                (1, 8) => prv.states.push((n[3] as usize, n[5], n[6], n[7] as u32)),
                (2, 8) => prv.events.push((n[3] as usize, n[6], n[7])),
                (3, 15) => {
                    assert!(n[5] <= n[6] && n[11] <= n[12] && n[6] <= n[12], "{line}");
                    prv.messages.push((n[3] as usize, n[9] as usize, n[13], n[14]));
                }
                other => panic!("{other:?}: {line}"),
            }
        }
        prv
    }
}

#[test]
fn paraver_gets_states_events_and_messages() {
    let (dir, truth) = made_up(&SyntheticTrace::default());
    assert_eq!(told(dir.path(), &["--paraver", "run"]), b"");
    let prv = Prv::read(&dir.path().join("run.prv"));
    assert_eq!(prv.tasks, 8);
    let begins = prv.events.iter().filter(|(_, _, value)| *value > 0).count() as u64;
    assert_eq!((begins, prv.events.len() as u64), (truth.calls, 2 * truth.calls));
    assert_eq!(prv.messages.len() as u64, truth.messages);
    assert!(
        prv.messages
            .iter()
            .all(|(from, to, bytes, tag)| *to == from % 8 + 1 && *bytes == 8000 && *tag < 3)
    );
    for task in 1..=8 {
        let own: Vec<_> = prv.states.iter().filter(|(of, ..)| *of == task).collect();
        assert!(own.windows(2).all(|pair| pair[0].2 == pair[1].1), "states follow one another");
        let sum = |state: u32| -> u64 {
            own.iter().filter(|of| of.3 == state).map(|(_, from, to, _)| to - from).sum()
        };
        assert!(sum(3).abs_diff(truth.late_sender[task - 1]) < 1000, "{task}");
        assert!(sum(5).abs_diff(truth.collective[task - 1]) < 1000, "{task}");
    }
    // Each number of a line has a name.
    let pcf = fs::read_to_string(dir.path().join("run.pcf")).unwrap();
    for (kind, value, name) in [
        (50_000_001, 6, "MPI_Waitall"),
        (50_000_002, 1, "MPI_Allreduce"),
        (50_000_003, 3, "MPI_Init"),
    ] {
        assert!(prv.events.iter().any(|event| (event.1, event.2) == (kind, value)), "{name}");
        let of_kind =
            pcf.split("EVENT_TYPE").find(|part| part.contains(&kind.to_string())).unwrap();
        assert!(of_kind.lines().any(|line| line == format!("{value:<7}{name}")), "{of_kind}");
    }
    for (_, _, _, state) in &prv.states {
        assert!(
            pcf.lines().any(|line| line.split(' ').next() == Some(&state.to_string())),
            "{state}"
        );
    }
    let row = fs::read_to_string(dir.path().join("run.row")).unwrap();
    assert!(row.contains("LEVEL NODE SIZE 1\nn001\n") && row.contains("THREAD 1.8.1\n"), "{row}");
}

#[test]
fn files_are_not_replaced_unless_that_is_wanted() {
    let (dir, _) = made_up(&SyntheticTrace { steps: 3, ..SyntheticTrace::default() });
    let log = fs::read(dir.path().join("log")).unwrap();
    fs::copy(dir.path().join("log"), dir.path().join("kept.prv")).unwrap();
    fs::write(dir.path().join("kept.prv"), "2001/01/01 00:00:00 u e 1 2 t450 B f90 mpi\n").unwrap();
    fs::rename(dir.path().join("log"), dir.path().join("x.row")).unwrap();
    let mut tool = Command::new(env!("CARGO_BIN_EXE_topas-mpi"));
    let output =
        tool.args(["trace", "--paraver", "x", "x.row"]).current_dir(dir.path()).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && err.contains("is not replaced"), "{err}");
    assert_eq!(fs::read(dir.path().join("x.row")).unwrap(), log);
    for (args, text) in [
        (&["--from", "x", "--events"][..], "no number of seconds"),
        (&["--from", "1"], "required"),
        (&["--perfetto", "--chrome"], "cannot be used with"),
        (&["--to", "-1", "--events"], "error"),
    ] {
        let output = trace(dir.path(), args);
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && err.contains(text), "{args:?}: {err}");
    }
}

/// Reads a trace with Perfetto's own definitions of its messages, and counts slices and flows.
const PERFETTO: &str = r#"
import sys
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
trace = Trace()
trace.ParseFromString(open(sys.argv[1], "rb").read())
names, stacks, calls, waits, begun, ended = {}, {}, 0, 0, set(), set()
for packet in trace.packet:
    sequence = packet.trusted_packet_sequence_id
    for name in packet.interned_data.event_names:
        names[sequence, name.iid] = name.name
    if not packet.HasField("track_event"):
        continue
    event = packet.track_event
    begun.update(event.flow_ids)
    ended.update(event.terminating_flow_ids)
    stack = stacks.setdefault(event.track_uuid, [])
    if event.type == TrackEvent.TYPE_SLICE_BEGIN:
        stack.append((names[sequence, event.name_iid], packet.timestamp))
    else:
        assert event.type == TrackEvent.TYPE_SLICE_END
        name, time = stack.pop()
        calls += name.startswith("MPI_")
        waits += (packet.timestamp - time) * name.startswith("wait ")
assert not any(stacks.values()) and begun == ended
print(calls, waits, len(begun), len(trace.SerializeToString()))
"#;

#[test]
#[ignore = "cargo xtask test --perfetto"]
fn perfetto_reads_the_same() {
    let (dir, truth) = made_up(&SyntheticTrace::default());
    let bytes = told(dir.path(), &["--perfetto"]);
    fs::write(dir.path().join("trace"), &bytes).unwrap();
    let python = std::env::var_os("TOPAS_TEST_PERFETTO").unwrap_or_else(|| "python3".into());
    let mut python = Command::new(python)
        .args(["-", "trace"])
        .current_dir(dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    python.stdin.take().unwrap().write_all(PERFETTO.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let numbers: Vec<u64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let waits: u64 = truth.late_sender.iter().chain(&truth.collective).sum();
    assert_eq!((numbers[0], numbers[2]), (truth.calls, truth.messages));
    assert!(numbers[1].abs_diff(waits) < truth.calls, "{} of {waits} ns", numbers[1]);
    // What Perfetto knows of the trace is all of it.
    assert_eq!(numbers[3], bytes.len() as u64);
}

/// The log of a rank: routine 0 is MPI_Pcontrol, and 1 is MPI_Barrier. A tick is a nanosecond.
fn log_of(calls: &[(u16, u64, u64, CallArguments)], state: &str) -> Vec<u8> {
    let head = |content| BlockHead { process: 7, ..BlockHead::new(content) };
    let mut block = Box::new(TraceBlock {
        head: BlockHead { first: 1000, ..head(BlockContent::Events) },
        body: [0; LENGTH - HEAD],
    });
    let mut writer = Box::new(Writer::new());
    writer.begin(&mut block);
    for (routine, began, ended, arguments) in calls.iter().copied() {
        assert!(writer.put(&mut block, &CallEvent { routine, began, ended, arguments }));
    }
    block.close(0, writer.last());
    let text = format!(
        "rank 0\nranks 1\nhost n1\nid a\nbegan 0 0 5\nlatest 10000 10000 10005\n\
         routine 0 MPI_Pcontrol\nroutine 1 MPI_Barrier\n{state}"
    );
    let mut told = BlockHead { filled: text.len() as u64, ..head(BlockContent::Facts) };
    told.check = checksum(&told, text.as_bytes());
    let mut facts = [&told.encode()[..], text.as_bytes()].concat();
    facts.resize(LENGTH, 0);
    [&block.head.encode()[..], &block.body, &facts].concat()
}

/// That of a rank that pauses measuring once.
fn paused() -> Vec<u8> {
    let none = CallArguments::NONE;
    let calls = [
        (1, 1000, 2000, none),
        (0, 5000, 5000, CallArguments::PAUSING),
        (0, 9000, 9010, none),
        (1, 9500, 9900, none),
    ];
    log_of(&calls, "state 1\n")
}

#[test]
fn a_call_that_did_not_end_is_in_all_exports() {
    let dir = tempfile::tempdir().unwrap();
    let calls = [(1, 1000, 2000, CallArguments::NONE)];
    let killed = log_of(&calls, "state 0\ninside 1 6000\nended 9000\n");
    fs::write(dir.path().join("log"), killed).unwrap();
    let unended = |args: &[&str]| -> Vec<serde_json::Value> {
        let args = [&["--chrome"][..], args].concat();
        let json: serde_json::Value = serde_json::from_slice(&told(dir.path(), &args)).unwrap();
        let events = json["traceEvents"].as_array().unwrap().iter();
        events.filter(|event| event["args"]["did_not_end"] == true).cloned().collect()
    };
    let [call] = &unended(&[])[..] else { panic!("one call: {:?}", unended(&[])) };
    assert_eq!(
        (&call["ph"], &call["name"], &call["tid"]),
        (&"X".into(), &"MPI_Barrier".into(), &0.into())
    );
    assert_eq!((&call["ts"], &call["dur"]), (&6.0.into(), &3.0.into()), "{call}");
    assert_eq!((unended(&["--to", "0.000005"]).len(), unended(&["--rank", "1"]).len()), (0, 0));
    let bytes = told(dir.path(), &["--perfetto"]);
    let counts = perfetto(&bytes);
    let slices = ["MPI_Barrier", "wait in collective"].map(|name| counts.slices[name]);
    assert_eq!(slices, [(2, 4000), (1, 3000)]);
    assert!(bytes.windows(11).any(|word| word == b"did_not_end"), "its annotation has a name");
    told(dir.path(), &["--paraver", "run"]);
    let prv = Prv::read(&dir.path().join("run.prv"));
    assert!(prv.states.contains(&(1, 6000, 9000, 5)), "{:?}", prv.states);
    assert_eq!(prv.events.iter().filter(|(_, _, value)| *value > 0).count(), 2);
    assert_eq!(prv.events.iter().filter(|(_, _, value)| *value == 0).count(), 2);
}

#[test]
fn a_pause_is_one_interval_and_no_call_in_all_exports() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("log"), paused()).unwrap();
    let csv = String::from_utf8(told(dir.path(), &["--events"])).unwrap();
    let count =
        |name: &str| csv.lines().filter(|line| line.split(',').nth(2) == Some(name)).count();
    assert_eq!((count("pause"), count("MPI_Pcontrol"), count("MPI_Barrier")), (1, 1, 2), "{csv}");
    let json: serde_json::Value = serde_json::from_slice(&told(dir.path(), &["--chrome"])).unwrap();
    let count = |name: &str| {
        json["traceEvents"].as_array().unwrap().iter().filter(|event| event["name"] == name).count()
    };
    assert_eq!((count("measuring paused"), count("MPI_Pcontrol")), (1, 1), "{json}");
    let counts = perfetto(&told(dir.path(), &["--perfetto"]));
    let slices =
        ["measuring paused", "MPI_Pcontrol", "MPI_Barrier"].map(|name| counts.slices[name]);
    assert_eq!(slices, [(1, 4000), (1, 10), (2, 1400)]);
    told(dir.path(), &["--paraver", "run"]);
    let prv = Prv::read(&dir.path().join("run.prv"));
    let paused: Vec<_> = prv.states.iter().filter(|(.., state)| *state == 18).collect();
    assert_eq!(paused, [&(1, 5000, 9000, 18)]);
    assert_eq!(prv.events.iter().filter(|(_, _, value)| *value > 0).count(), 3);
}
