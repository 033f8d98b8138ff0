//! Every key of the JSON that topasview writes stands in topas-json(5), and no other does.

use std::fs;

use tempfile::TempDir;
use topas_testkit::{WrittenJson, with_lengths};

use super::synthetic::{Imbalance, Launch};
use super::view;

/// The MPI profile of two ranks that wait for each other, with all that a profile can hold.
fn mpi_profile() -> String {
    with_lengths(&mpi_lines("5c3a-7", ""))
}

/// The same with another id and more facts, without lengths.
fn mpi_lines(id: &str, more: &str) -> String {
    let head = format!("2026/11/20 08:01:02 topas-mpi mohr heat2d 2 {id} v=1");
    let facts = format!(
        "line=1/1 t=1795161662 uid=1004 end=abort:3 host=n1 job=12 step=0 part=batch \
         mpi=Open_MPI-5.0.8 lang=c level=single{more}"
    );
    let mut text = format!(
        "{head} of=run {facts} miss=counters ranks=2 wall=20 wallmax=10 mpisum=8 mpimax=5 mpimin=3 \
         usemax=7 over=0.1 pause=0.5 thr=1 late=1 latercv=1 coll=1 lateunk=0.5 ci.L1=10 co.L1=90 \
         f=Send:4:3:2:400:4:3200:0:0:2 f=Recv:4:4:2:-:0:0:4+:3200+:2 w=receive:4:4 \
         h=p2p:s:10=4 e=OMPI_MCA_btl=self l=Send:1:0.5:1:1:1:1:1:0.2:0:0:0:0\n"
    );
    for (rank, other) in [(0, 1), (1, 0)] {
        text += &format!(
            "{head} of=rank {facts} rank={rank} pid=3{rank} ranks=1 wall=10 wallmax=10 mpisum=4 \
             mpimax=4 mpimin=4 usemax=6 over=0.05 thr=1 late=0.5 latercv=0.5 coll=0.5 lateunk=0.25 \
             ci.L1=5 co.L1=45 f=Send:2:1.5:1:200:2:1600 f=Recv:2:2:1:200:::2:1600 w=receive:2:2 \
             h=Send:s:10=2 c=plane:2:2:1:2:1600:2:1600 p={other}:2:1600:2:1600 \
             l=Send:1:0.5:1:0.5:0:0:1:0.25:0:0:0:0 b={other}:1:0.5:1:0.5:1:0.5 \
             a={other}:1:0.5:0.25 bx=5c3a-9:p:0:1:0.5:0:0:0:0 \
             m=0:s1234:/opt/heat2d k=Send:2:1.5:1600:0:0.5:0.5:0:o:0+1a0,0+2b0:1:0.25 \
             q=1:{other}:1:1:0.5:1:0.5:1:0.5:1:3=2\n"
        );
    }
    text
}

/// The MPI profile of two ranks that were killed, the first of them in a call.
fn lost() -> String {
    let lines = mpi_lines("5c3a-b", "").replace("end=abort:3", "end=lost");
    let of_rank = |(rank, line): (u32, &str)| {
        let died = 1_795_161_660 + 2 * rank;
        format!("{line} n=Recv:1.5:1:{}:w z=1795161650:1795161655:{died}:Recv:1\n", 1 - rank)
    };
    let all = lines.lines().next().unwrap_or_default().to_owned() + "\n";
    with_lengths(&(all + &(0..).zip(lines.lines().skip(1)).map(of_rank).collect::<String>()))
}

/// A world of spawned processes, and the rank that started it.
fn worlds() -> String {
    let master = "2026/11/20 08:01:01 topas-mpi mohr master 1 5c3a-9 v=1 of=rank line=1/1 t=1795161661 \
                  uid=1004 end=finalize job=12 rank=0 pid=7 ranks=1 wall=10 wallmax=10 mpisum=4 mpimax=4 \
                  mpimin=4 usemax=6 over=0 thr=1 f=Comm_spawn:1:1:1 \
                  s=heat2d:2:1795161651:1:Comm_spawn:1:0 m=0:s1234:/opt/master \
                  k=Comm_spawn:1:1:0:0:0:0:0:o:0+1a0:1:0\n";
    // Few waits, none of them long.
    let spawned =
        mpi_lines("5c3a-a", " spawned=1795161651.5").replace("=Send:4:3:2:", "=Send:4:3:0.4:");
    with_lengths(&(master.to_owned() + &spawned))
}

/// The MPI profile of two ranks that wait, while other programs have their processors.
fn taken() -> String {
    with_lengths(
        "2026/11/20 08:01:02 topas-mpi mohr heat2d 2 5c3a-8 v=1 of=run line=1/1 t=1795161662 uid=1004 \
         end=finalize host=n1 ranks=2 wall=200 wallmax=100 mpisum=80 mpimax=50 mpimin=30 usemax=70 over=0.1 \
         cpu=60 preempted=9000 cpus=2 thr=1 late=30 latercv=0 coll=0 f=Recv:1000:60:2:1000:0:0:1000:8000:2 \
         l=Recv:900:30:0:0:0:0:0:0:0:0:0:0\n",
    )
}

/// The MPI profile of a run that is too short to judge.
fn short() -> String {
    with_lengths(
        "2026/11/20 08:01:02 topas-mpi mohr heat2d 2 5c3a-8 v=1 of=run line=1/1 t=1795161662 uid=1004 \
         end=finalize host=n1 ranks=2 wall=2 wallmax=1 mpisum=0.8 mpimax=0.5 mpimin=0.3 usemax=0.7 over=0 \
         thr=1 late=0.3 latercv=0 coll=0 f=Recv:1000:0.6:2:1000:0:0:1000:8000:2 \
         l=Recv:900:0.3:0:0:0:0:0:0:0:0:0:0\n",
    )
}

/// Two PEs of which nothing is to be said.
fn even() -> String {
    let line = |pe: u32| {
        format!(
            "2026/11/20 12:00:00 ann heat {pe} 2 t2596 B c mpi 10 0 10 f=4000000000 1000 e1 v=1 \
             t=1795176000 uid=7 end=exit:0 host=n1 cpu={pe}\n"
        )
    };
    with_lengths(&(line(0) + &line(1)))
}

/// The costs of the routines of that profile.
const CALIBRATION: &str = "topas-calibration 1\nmpi Open_MPI-5.0.8\nhosts n1\n\
                           date 2026/11/20 18:00:00\nlongest 4194304\nSend 2 0.4 6210.5 0.03\n";

/// The PEs of a launch, one of whose nodes has more cache misses and more time in the kernel. If it
/// failed, one PE failed first and the others ended with it.
fn pes(id: &str, day: u32, wall: u32, failed: bool) -> String {
    let mut text = String::new();
    for pe in 0..16 {
        let host = pe / 4;
        let slow = host == 2;
        let (system, operations) = if slow { (30, 9e9) } else { (1, 3e9 + 3e8 * f64::from(pe)) };
        let misses = if slow { 99_999 } else { 4_711 } + pe;
        let end = match (failed, pe) {
            (false, _) => "exit:0",
            (true, 3) => "exit:1",
            (true, _) => "sig:15",
        };
        text += &format!(
            "2026/11/{day} 12:00:00 ann heat {pe} 16 t2596 B c mpi {system} {} {wall} \
             f={operations} {misses} {id} v=1 t={} uid=7 end={end} job=9{day} part=batch \
             host=n{host} numa={} cpu={pe} rss={}\n",
            wall * 9 / 10,
            1_794_916_800 + (day - 17) * 86_400,
            pe % 2,
            1000 * (pe + 1)
        );
    }
    with_lengths(&text)
}

fn site() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let old = pes("r17", 17, 102, false) + &pes("r18", 18, 100, false);
    let new = pes("r19", 19, 130, true) + &pes("r20", 20, 135, false);
    let spread = Launch { imbalance: Imbalance::SlowPe(2), pes: 1000, ..Launch::default() };
    for (name, text) in [
        ("mpi.log", mpi_profile()),
        ("worlds.log", worlds()),
        ("lost.log", lost()),
        // Ranks whose times say nothing of that of their threads.
        ("threads.log", mpi_profile().lines().next().unwrap().replace("thr=1", "thr=2") + "\n"),
        ("calibration", CALIBRATION.to_owned()),
        ("old.log", old),
        ("new.log", new),
        ("even.log", even()),
        ("taken.log", taken()),
        ("short.log", short()),
        ("spread.log", String::from_utf8(spread.text()).unwrap()),
    ] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

#[test]
fn the_manual_has_every_key_and_no_other() {
    let site = site();
    let mut written = WrittenJson::default();
    for words in [
        "--json --launch r19 --raw --stat --cluster --groups --report new.log",
        "--json --stat rate --report spread.log",
        "--json --compare old.log new.log",
        "--jsonl --launch r20 new.log",
        "--mpi --json mpi.log",
        "--mpi --json threads.log",
        "--mpi --json --matrix all --routines --calibration calibration --efficiency --peers --sizes \
         --comms --waits --metrics --counters --switches --paths mpi.log",
        "--mpi --json --compare mpi.log mpi.log",
        "--why --json mpi.log",
        "--why --json worlds.log",
        "--why --json --launch 5c3a-a worlds.log",
        "--why --json lost.log",
        "--mpi --json lost.log",
        "--mpi --json --launch 5c3a-9 worlds.log",
        "--mpi --json --launch 5c3a-a worlds.log",
        "--why --json --launch r19 new.log",
        "--why --json spread.log",
        "--why --json even.log",
        "--why --json taken.log",
        "--why --json short.log",
    ] {
        let shown = view(site.path(), &words.split_whitespace().collect::<Vec<_>>());
        assert!(shown.code < 2 && !shown.out.is_empty(), "{words}: {}", shown.err);
        written.add(&shown.out);
    }
    // These are of ranks whose files are still on the node.
    written.hold_against_manual("topasview", &["awaited[]", "untaken[]", "unreceived[]"]);
}
