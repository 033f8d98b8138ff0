//! Lines by syslog: a real rsyslogd on the node, another at the center, with the files of
//! `etc/rsyslog`.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::Signal;
use nix::unistd::geteuid;
use topas_tests::alone::{self, NOBODY, as_nobody, is_root, quiet, rank, says};
use topas_tests::build::plain;
use topas_tests::mpi_installation::{Mpi, launched_after};
use topas_tests::record::Record;
use topas_tests::rsyslog::Chain;
use topas_tests::running::{command, run};
use topas_tests::site::Site;

/// A line of this process's user whose operations count is `n`, with more extras.
fn line(n: usize, extras: &[u8]) -> Vec<u8> {
    let uid = geteuid();
    let mut line = format!(
        "2026/11/20 08:01:02 mohr heat3d 5 16 t2596 B f90 mpi 12.340 0.120 12.460 f={n} 4567 \
         81f277aa03c4d9e1 v=1 t=1795161662 uid={uid} end=exit:0 "
    )
    .into_bytes();
    line.extend(extras);
    let length = format!(" len={:03}", line.len() + 8);
    line.extend(length.bytes());
    line
}

fn sender(to: &Path) -> UnixDatagram {
    let socket = UnixDatagram::unbound().expect("socket");
    socket.connect(to).expect("connect");
    socket
}

/// Sends a line as `syslog` does, and as `unix:` does.
fn send(chain: &Chain, line: &[u8]) {
    let by_syslog = [b"<14>topas: ", line].concat();
    sender(&chain.dev_log()).send(&by_syslog).expect("send by syslog");
    sender(&chain.socket()).send(line).expect("send to the socket");
}

#[test]
fn lines_arrive_byte_for_byte() {
    let Some(chain) = Chain::start("lines_arrive_byte_for_byte") else { return };
    // Every byte that may stand in a name, what rsyslog itself writes for others, forms of
    // its templates, and the longest line there is.
    let any: Vec<u8> = (0x21..=0xff).filter(|byte| *byte != 0x7f && *byte != b'%').collect();
    let longest = 1000 - 1 - line(0, b"host=").len();
    let hosts = [
        b"n0042".to_vec(),
        any,
        b"#011#012%20%0A%7F%25".to_vec(),
        b"%msg%:$!uid[0]\"\\".to_vec(),
        vec![b'x'; longest],
    ];
    let mut sent = Vec::new();
    for (n, host) in hosts.iter().enumerate() {
        let line = line(n, &[b"host=", host.as_slice()].concat());
        assert!(Record::parse(&line).is_ok() && line.len() < 1000, "{n}: {}", line.len());
        send(&chain, &line);
        sent.extend([line.clone(), line]);
    }
    assert!(sent.iter().any(|line| line.len() == 999), "the longest line");
    sender(&chain.dev_log()).send(b"<14>other: one of another program").expect("send");
    let mut arrived = chain.wait_for(sent.len());
    arrived.sort();
    sent.sort();
    assert_eq!(arrived, sent);
    // Nothing of TOPAS stays in the files of the node, which others may read.
    let others = String::from_utf8(chain.others()).expect("text");
    assert!(others.contains("one of another program") && !others.contains("heat3d"), "{others}");

    let mut stat = command(Site::shared().tool("topas-stat"));
    let report = run(stat.args(chain.files())).good();
    assert!(report.err().is_empty(), "{}", report.err());
    assert!(report.out().contains("2026/11/20 to 2026/11/20"), "{}", report.out());
    for file in chain.files() {
        let mode = fs::metadata(&file).expect("file at the center").permissions().mode();
        assert_eq!(mode & 0o7777, 0o640, "{}", file.display());
    }
}

/// Who sends a line is what the kernel says; a line that says otherwise goes nowhere.
#[test]
fn a_line_in_another_users_name_is_dropped() {
    let Some(chain) = Chain::start("a_line_in_another_users_name_is_dropped") else { return };
    let own = format!(" uid={} ", geteuid());
    let other = format!(" uid={} ", geteuid().as_raw() + 1);
    let replaced =
        |line: &[u8], to: &str| String::from_utf8_lossy(line).replace(&own, to).into_bytes();
    let good = line(1, b"host=good");
    send(&chain, &replaced(&line(2, b"host=forged"), &other));
    // Behind or before the own one, without any, and as a second line of one message.
    send(&chain, &line(3, format!("host=forged{other}x=y").as_bytes()));
    send(&chain, &replaced(&line(4, b"host=forged"), &format!("{}{}", other.trim_end(), own)));
    send(&chain, &replaced(&line(5, b"host=forged"), " "));
    let second = replaced(&line(6, b"host=forged"), &other);
    send(&chain, &[line(7, b"host=forged").as_slice(), b"\n", &second].concat());
    send(&chain, &good);
    assert_eq!(chain.wait_for(2), [good.clone(), good]);
}

/// Sends `count` lines by turns of both ways, and notes them.
fn send_some(chain: &Chain, host: &str, count: usize, sent: &mut BTreeSet<Vec<u8>>) {
    let ways = [(sender(&chain.socket()), ""), (sender(&chain.dev_log()), "<14>topas: ")];
    for n in 0..count {
        let line = line(n, format!("host={host}").as_bytes());
        let (socket, prefix) = &ways[n % 2];
        socket.send(&[prefix.as_bytes(), &line].concat()).expect("send");
        sent.insert(line);
    }
}

/// The center is stopped, or killed, in the middle of it: every line comes.
#[test]
fn nothing_is_lost_while_the_center_is_away() {
    const EACH: usize = 500;
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        let test = "nothing_is_lost_while_the_center_is_away";
        let Some(mut chain) = Chain::start(test) else { return };
        let mut sent = BTreeSet::new();
        send_some(&chain, "before", EACH, &mut sent);
        chain.end_center(signal);
        send_some(&chain, "away", EACH, &mut sent);
        chain.start_center();
        send_some(&chain, "after", EACH, &mut sent);
        let arrived = chain.wait_for_each(&sent);
        // RELP repeats what the center had written and not yet confirmed.
        let twice = arrived.len() - sent.len();
        assert!(twice <= 128, "{twice} lines came twice after {signal}");
    }
}

/// While lines come, and while the center is killed, the index of runs takes each line once: also what
/// RELP sent again, and a line of which the file had only the beginning when it was read.
#[test]
fn every_line_comes_into_the_index_once() {
    const EACH: usize = 400;
    let Some(mut chain) = Chain::start("every_line_comes_into_the_index_once") else { return };
    let site = Site::shared();
    let index = chain.scratch().path().join("index");
    let logs = chain.scratch().path().join("center");
    let ingest = || {
        let mut report = command(site.tool("topas-report"));
        report.args(["ingest", "--index"]).arg(&index).arg(&logs);
        let said = run(&mut report).good().err().to_owned();
        // `7 of 9 lines are new, in 1 files that changed; 7 runs are new or different`
        let numbers = said.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok());
        let numbers: Vec<usize> = numbers.collect();
        assert_eq!(numbers.len(), 4, "{said}");
        (numbers[0], numbers[3])
    };
    // A launch of its own for each line, so that each is a run.
    let mut sent = BTreeSet::new();
    let mut send_runs = |chain: &Chain, count: usize| {
        let socket = sender(&chain.socket());
        for _ in 0..count {
            let text = line(7, b"host=n1");
            let id = format!("{:016x}", sent.len());
            let line = String::from_utf8_lossy(&text).replace("81f277aa03c4d9e1", &id).into_bytes();
            socket.send(&line).expect("send");
            sent.insert(line);
        }
        sent.len()
    };
    send_runs(&chain, EACH);
    chain.wait_for(1);
    let mut taken = vec![ingest()];
    for signal in [Signal::SIGKILL, Signal::SIGTERM] {
        send_runs(&chain, EACH);
        taken.push(ingest());
        chain.end_center(signal);
        send_runs(&chain, EACH);
        taken.push(ingest());
        chain.start_center();
        taken.push(ingest());
    }
    let all = send_runs(&chain, EACH);
    chain.wait_for(all);
    taken.push(ingest());
    let sum = taken.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert_eq!(sum, (all, all), "new lines and runs of each call: {taken:?}");
    assert_eq!(ingest(), (0, 0));
    let mut again = command(site.tool("topas-report"));
    again.args(["ingest", "--rebuild", "--index"]).arg(&index).arg(&logs);
    let said = run(&mut again).good().err().to_owned();
    assert!(said.contains(&format!("; {all} runs are new or different")), "{said}");
}

/// More lines than memory takes wait on disk. The daemon may forget a few of those there when
/// the others have gone: its restart sends them.
#[test]
fn lines_beyond_those_in_memory_wait_on_disk() {
    const IN_MEMORY: usize = 2000;
    let Some(mut chain) = Chain::start("lines_beyond_those_in_memory_wait_on_disk") else { return };
    let mut sent = BTreeSet::new();
    send_some(&chain, "before", 100, &mut sent);
    chain.wait_for(sent.len());
    chain.end_center(Signal::SIGTERM);
    send_some(&chain, "memory", IN_MEMORY / 2, &mut sent);
    sleep(Duration::from_secs(1));
    assert!(!chain.waits_on_disk(), "half of what memory takes");
    send_some(&chain, "disk", IN_MEMORY, &mut sent);
    chain.wait_for_lines_on_disk();
    chain.start_center();
    chain.wait_for(sent.len() - IN_MEMORY);
    chain.wait_until_quiet();
    chain.stop_node();
    chain.start_node();
    chain.wait_for_each(&sent);
}

/// The node's daemon is restarted while the center is away: the queue went to disk. Only
/// lines on their way between the two when the connection broke are in neither.
#[test]
fn the_queue_outlives_the_nodes_daemon() {
    const EACH: usize = 500;
    // RELP's window.
    const UNDER_WAY: usize = 128;
    let Some(mut chain) = Chain::start("the_queue_outlives_the_nodes_daemon") else { return };
    let mut sent = BTreeSet::new();
    send_some(&chain, "before", EACH, &mut sent);
    chain.wait_for(EACH);
    chain.end_center(Signal::SIGTERM);
    send_some(&chain, "away", EACH, &mut sent);
    chain.stop_node();
    chain.start_node();
    send_some(&chain, "again", EACH, &mut sent);
    chain.start_center();
    let arrived: BTreeSet<_> = chain.wait_for(sent.len() - UNDER_WAY).into_iter().collect();
    assert!(arrived.is_subset(&sent), "lines that nobody sent");
    assert!(sent.len() - arrived.len() <= UNDER_WAY);
}

/// /dev/log of a private file system is the chain's.
fn with_dev_log(chain: &Chain, inner: &Command) -> Command {
    alone::with_dev(&chain.scratch().sub("dev"), Some(&chain.dev_log()), inner)
}

/// The module's own `syslog`: alone, and by the launchers.
#[test]
fn programs_log_by_dev_log() {
    let test = "programs_log_by_dev_log";
    let Some(chain) = Chain::start(test) else { return };
    if !alone::can_mount(test) {
        return;
    }
    let (scratch, program) = says();
    quiet(&run(&mut with_dev_log(&chain, &rank(&program, "syslog"))));
    let arrived = chain.wait_for(1);
    let record = Record::parse(&arrived[0]).expect("a line");
    assert_eq!((arrived.len(), record.pe, record.extra("end")), (1, 1, "exit:3"));
    assert_eq!(record.extra("len"), format!("{:03}", arrived[0].len()));

    let tiny = scratch.path().join("tiny");
    plain(Site::shared(), "c/no_mpi.c", false, &tiny);
    let known = Cell::new(1);
    for mpi in Mpi::installed(test) {
        let mut launch = mpi.launch(Site::shared(), &scratch, 4);
        launch.arg(&tiny).env("TOPAS_LOG", "syslog");
        let mut launch = with_dev_log(&chain, &launch);
        // Lines of a launch that is repeated may have arrived.
        let broken = || known.set(chain.wait_for(known.get()).len());
        let ended = launched_after(&scratch, &mut launch, &broken).good();
        assert_eq!(ended.err(), "", "{}", mpi.name());
        known.set(known.get() + 2);
        assert_eq!(chain.wait_for(known.get()).len(), known.get(), "{}", mpi.name());
    }
}

/// The socket of TOPAS, by two users; the kernel's word for who they are.
#[test]
fn programs_log_by_a_socket() {
    let test = "programs_log_by_a_socket";
    let Some(chain) = Chain::start(test) else { return };
    let (_scratch, program) = says();
    let target = format!("unix:{}", chain.socket().display());
    quiet(&run(&mut rank(&program, &target)));
    let mut uids = vec![geteuid().as_raw()];
    if is_root(test) {
        quiet(&run(&mut as_nobody(&rank(&program, &target))));
        uids.push(NOBODY);
    }
    let mut named: Vec<u32> = chain
        .wait_for(uids.len())
        .iter()
        .map(|line| Record::parse(line).expect("a line").extra("uid").parse().expect("uid"))
        .collect();
    named.sort_unstable();
    assert_eq!(named, uids);
    // Nobody but the daemon's user reads what others send.
    let mode = fs::metadata(chain.files().remove(0)).expect("log").permissions();
    assert_eq!(mode, Permissions::from_mode(0o100_640));
}

/// A daemon that hangs: its queue takes a few lines, then the next target has them, and no
/// program waits.
#[test]
fn a_daemon_that_hangs_holds_up_nobody() {
    const RUNS: usize = 24;
    let Some(chain) = Chain::start("a_daemon_that_hangs_holds_up_nobody") else { return };
    let (scratch, program) = says();
    let target = format!("unix:{} {}", chain.socket().display(), scratch.log_target());
    chain.hang_node(true);
    // The socket still stands, and the kernel still takes a few datagrams for it.
    let longest = fs::read_to_string("/proc/sys/net/unix/max_dgram_qlen").expect("queue length");
    let longest: usize = longest.trim().parse().expect("a number");
    let socket = sender(&chain.socket());
    socket.set_nonblocking(true).expect("non-blocking");
    let filled = (0..=longest + 1).take_while(|n| socket.send(&line(*n, b"host=x")).is_ok());
    let filled = filled.count();
    assert!(filled <= longest + 1, "the queue of {longest} is never full");
    for _ in 0..RUNS {
        quiet(&run(rank(&program, &target).env("TOPAS_VERBOSE", "0")));
    }
    assert_eq!(scratch.take_log().len(), RUNS, "lines of the next target");
    chain.hang_node(false);
    assert_eq!(chain.wait_for(filled).len(), filled);
    sleep(Duration::from_millis(50));
    quiet(&run(&mut rank(&program, &target)));
    assert_eq!(chain.wait_for(filled + 1).len(), filled + 1);
    assert_eq!(scratch.take_log().len(), 0);
}
