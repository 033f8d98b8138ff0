//! The rank that is charged with the waits: `--mpi` and `--why` name the same one, for the same reason, also where it has no
//! profile.

use std::fmt::Write as _;

use super::{command, directory};

/// A rank of a made profile, 10 s long, times in s.
#[derive(Clone, Copy)]
struct Made {
    exe: &'static str,
    computes: f64,
    /// Waits for late senders in `Recv`: for whom, and how long
    late: &'static [(u32, f64)],
    /// Waits for late receivers in `Wait`
    receiver: &'static [(u32, f64)],
    /// Waits in `Finalize`
    end: &'static [(u32, f64)],
    /// Time in `Allreduce` of which it is not known for whom it waits
    unknown: f64,
}

const QUICK: Made =
    Made { exe: "made", computes: 1.0, late: &[], receiver: &[], end: &[], unknown: 0.0 };

/// The lines of these ranks of a launch of so many.
fn lines(npes: usize, ranks: &[(u32, Made)]) -> String {
    let sum = |waits: &[(u32, f64)]| waits.iter().fold(0.0, |sum, (_, time)| sum + time);
    let mut text = String::new();
    for (rank, made) in ranks {
        let Made { exe, computes, unknown, .. } = made;
        let (mpi, late) = (10.0 - computes, sum(made.late));
        let (receiver, end) = (sum(made.receiver), sum(made.end));
        let _ = write!(
            text,
            "2026/11/24 10:50:41 topas-mpi #0 {exe} {npes} 9eb2e2e308beb768 v=1 of=rank line=1/1 \
             t=1795517441 uid=0 end=finalize host=n1 rank={rank} pid={} ranks=1 wall=10 wallmax=10 \
             mpisum={mpi} mpimax={mpi} mpimin={mpi} usemax={computes} over=0.001 thr=1 lang=c \
             late={late} latercv={receiver} coll={end} f=Recv:1000:{late}:1:10:::10:80 \
             f=Wait:1000:{receiver}:1:::: f=Finalize:1:{end}:{end}:::: f=Allreduce:1000:{unknown}:1:10:10:80:10:80 \
             l=Recv:1000:{late}:0:0:0:0:0:0:0:0:0:0 l=Wait:0:0:1000:{receiver}:0:0:0:0:0:0:0:0 \
             l=Finalize:0:0:0:0:1:{end}:0:0:0:0:0:0 l=Allreduce:0:0:0:0:0:0:1000:{unknown}:0:0:0:0",
            100 + rank
        );
        for (peer, time) in made.late {
            let _ = write!(text, " b={peer}:1000:{time}:0:0:0:0");
        }
        for (peer, time) in made.receiver {
            let _ = write!(text, " b={peer}:0:0:1000:{time}:0:0");
        }
        for (peer, time) in made.end {
            let _ = write!(text, " b={peer}:0:0:0:0:1:{time}");
        }
        text += "\n";
    }
    text
}

/// What `--mpi` and `--why` say of such a launch.
fn said(lines: &str) -> [String; 2] {
    ["--mpi", "--why"].map(|option| {
        let dir = directory(topas_testkit::with_lengths(lines));
        let file = dir.path().join("topas.out");
        let args = [option, file.to_str().unwrap()];
        let output = command(dir.path(), &args).env("COLUMNS", "80").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    })
}

/// All of these words are in both.
fn assert_both(said: &[String; 2], words: &str) {
    for text in said {
        assert!(text.contains(words), "{words}: {text}");
    }
}

/// A rank waits in `Recv`, and all others at the end, because of the same delay.
#[test]
fn a_delay_that_reaches_the_end_has_its_place_before() {
    let late = Made { computes: 8.0, ..QUICK };
    let waits = |time: &'static [(u32, f64)], end| Made { late: time, end, ..QUICK };
    let program =
        |end| [(0, waits(&[(2, 6.0)], &[])), (1, waits(&[], end)), (2, late), (3, waits(&[], end))];
    let mut ranks = program(&[(2, 6.0)]);
    // The rank that waits before comes to the end a little sooner than the last.
    ranks[0].1.end = &[(2, 0.001)];
    let words = "The others wait 18.001 s for rank 2, 45.00% of the time of all ranks, 12.001 s of it in Finalize, to \
                 which it comes last, and before that mostly in Recv because it sends late.";
    assert_both(&said(&lines(4, &ranks)), words);
    // Where none waits before for at least half as long as at the end, the delay is one of the end.
    let mut ranks = program(&[(2, 6.0)]);
    ranks[0].1 = waits(&[(2, 2.0)], &[(2, 4.0)]);
    let words = "The others wait 18.000 s for rank 2, 45.00% of the time of all ranks, mostly in Finalize because it \
                 comes there last.";
    assert_both(&said(&lines(4, &ranks)), words);
}

/// The others wait for messages of rank 0, which waits for rank 1 to receive: neither is rank 1 a late sender, nor is what
/// waits for it all that costs.
#[test]
fn a_finding_about_a_rank_says_how_this_is_late() {
    let ranks = [
        (0, Made { receiver: &[(1, 7.0)], ..QUICK }),
        (1, Made { computes: 9.0, ..QUICK }),
        (2, Made { late: &[(0, 7.0)], ..QUICK }),
        (3, Made { late: &[(0, 7.0)], ..QUICK }),
    ];
    let told = said(&lines(4, &ranks));
    let words = "Rank 1 makes the others wait: rank 0 waits 7.000 s for it, mostly in Wait because it receives late; \
                 the others wait 14.000 s for rank 0, 35.00% of the time of all ranks.";
    assert_both(&told, words);
    let [_, why] = told;
    let first = "1. ranks that wait for others in several ways, rank 1: it costs 52.5% of the wall clock time, 5.250 s \
                 (sure) Rank 1 makes the others wait: ";
    assert!(why.contains(first), "{why}");
    assert_eq!(why.matches("makes the others wait").count(), 1, "{why}");
    // What is told of one kind alone keeps its name.
    let ranks = [(0, Made { late: &[(1, 7.0)], ..QUICK }), (1, Made { computes: 9.0, ..QUICK })];
    let told = said(&lines(2, &ranks));
    assert_both(
        &told,
        "The others wait 7.000 s for rank 1, 35.00% of the time of all ranks, mostly in Recv because",
    );
    assert!(
        told[1].contains("1. ranks that wait for late senders, rank 1: it costs"),
        "{}",
        told[1]
    );
}

/// A rank that causes a half of all waits, but no half of any kind, is the place of the kind that most of them are.
#[test]
fn the_rank_that_causes_most_is_named_where_no_kind_has_one() {
    let waits = |late, receiver| Made { late, receiver, ..QUICK };
    let ranks = [
        (0, waits(&[(1, 2.0), (2, 2.2)], &[(1, 2.4)])),
        (1, Made { computes: 7.0, ..QUICK }),
        (2, waits(&[(0, 1.4), (1, 1.0)], &[(1, 2.4), (0, 1.0)])),
        (3, waits(&[(0, 1.0), (2, 1.0), (1, 0.6)], &[(1, 1.8), (2, 1.0)])),
    ];
    let told = said(&lines(4, &ranks));
    assert_both(
        &told,
        "The others wait 10.200 s for rank 1, 25.50% of the time of all ranks, mostly in Wait",
    );
    assert!(told[1].contains("rank 1: it costs"), "{}", told[1]);
}

/// What the others wait for a rank without a profile is said first, and nothing that they may wait for is ruled out.
#[test]
fn a_rank_without_a_profile_is_named_first() {
    let waits = Made { unknown: 2.0, ..QUICK };
    let told = said(&lines(4, &[(0, waits), (2, waits), (3, waits)]));
    let words = "Of rank 1 there is no profile (it ran without the library, or its profile was lost), and what the others \
                 wait for it is not known: of 6.000 s that they are in MPI between its start and its end, 6.000 s are in \
                 calls of which it is not known for whom they wait, most of that in Allreduce.";
    assert_both(&told, words);
    let [mpi, why] = told;
    let hardly =
        "in Allreduce. The others hardly wait for each other: 0.00% of the time of all ranks.";
    assert!(mpi.contains(hardly), "{mpi}");
    let ruled_out = why.split("Ruled out: ").nth(1).and_then(|rest| rest.split('.').next());
    let ruled_out = ruled_out.expect("something is ruled out");
    for what in ["late senders", "late receivers", "in collectives"] {
        assert!(!ruled_out.contains(what), "{what}: {why}");
        let open = why.split("Not ruled out, because ").nth(1).expect("what is open");
        assert!(open.contains(what), "{what}: {why}");
    }
    // Two of them, beside waits that are known.
    let late = Made { late: &[(3, 1.5)], ..waits };
    let told = said(&lines(5, &[(0, late), (3, Made { computes: 5.0, ..waits }), (4, waits)]));
    let words = "Of ranks 1-2 there is no profile (they ran without the library, or their profiles were lost), and what \
                 the others wait for them is not known: of 7.500 s";
    assert_both(&told, words);
    assert!(told[0].contains("in Allreduce. Rank 0 waits 1.500 s for rank 3"), "{}", told[0]);
    // Where all are there, the sentence is about all.
    let told = said(&lines(3, &[(0, waits), (1, waits), (2, waits)]));
    assert!(told[0].contains("As far as that is told, ranks hardly wait"), "{}", told[0]);
}

#[test]
fn the_heading_names_all_programs_of_a_launch() {
    let rank = |exe| Made { exe, ..QUICK };
    let told = said(&lines(3, &[(0, rank("ocean")), (1, rank("air")), (2, rank("air"))]));
    assert!(told[0].starts_with("ocean and air of #0, 3 ranks on n1, "), "{}", told[0]);
    assert!(told[1].starts_with("ocean and air, 3 PEs, "), "{}", told[1]);
    let names = ["a", "b", "c", "d", "e"];
    let ranks: Vec<(u32, Made)> = (0..).zip(names.map(rank)).collect();
    let told = said(&lines(5, &ranks));
    assert!(told[0].starts_with("a, b, c and 2 more programs of #0, "), "{}", told[0]);
}

/// mpi4py calls `MPI_Abort` behind the last statement of a script: no function of Python is on the stack.
#[test]
fn a_call_by_a_module_of_python_names_the_script() {
    let record = "2026/11/27 11:37:30 topas-mpi #0 python3.11 1 9f9471964f633801 v=1 of=rank line=1/1 t=1795779450 \
        uid=0 end=abort:1 host=vm rank=0 pid=541 ranks=1 wall=1.6 wallmax=1.6 mpisum=0.4 mpimax=0.4 mpimin=0.4 usemax=1.2 \
        over=0.01 thr=1 lang=c f=Bcast:8:0.4:0.1:8:8:8:0:0 f=Abort:1:0:0 \
        m=0:b2c0d3ecc3f94c3cf0470f3583e6b3ab5306e8db4:/usr/lib/python3/dist-packages/mpi4py/MPI.cpython-311-x86_64-linux-gnu.so m=1:b571d98e01096d5c1c32420d229a6731a0a50d2a0:/usr/bin/python3.11 \
        m=2:pfc92718ceca57d22:/home/u/heat.py:<module> m=3:pec35d4cad1e636da:<frozen%20runpy>:_run_code \
        k=Bcast:8:0.4:0:0:0:0:0:d:2+3,3+58:5:0 k=Abort:1:0:0:0:0:0:0:o:0+4afdc,1+458f30:23:0 \
        u=Abort:1:0 n=Abort::23 z=1795779449.107823945:1795779450.726214196::Abort:23\n";
    let told = said(record);
    assert!(told[0].starts_with("python3.11 (heat.py) of #0, 1 rank on vm"), "{}", told[0]);
    assert!(told[1].starts_with("python3.11 (heat.py), 1 PEs"), "{}", told[1]);
    let words = "Rank 0 called MPI_Abort with code 1 at MPI.cpython-311-x86_64-linux-gnu.so, a module of Python, outside \
                 of the functions of heat.py, which ended the launch.";
    assert_both(&told, words);
}

/// A rank that was lost leaves no word in the profile. Its line, if all PEs have one, names the signal, and is told first.
#[test]
fn the_line_of_a_lost_rank_names_the_signal() {
    let line = "2026/11/24 10:50:41 #0 made 3 4 t450 I c mpi 0.1 0.1 10.000 f=- - 9eb2e2e308beb768 v=1 t=1795517441 uid=0 \
                end=sig:11 host=n1\n";
    let lost = lines(4, &[(0, QUICK), (1, QUICK), (2, QUICK), (3, QUICK)]);
    let lost = lost.replace("end=finalize", "end=lost");
    let [_, why] = said(&(lost + line));
    let first = why.split("launch 9eb2e2e308beb768 ").nth(1).expect("a heading");
    assert!(first.starts_with("PE 3 on n1 died first: sig:11 (SIGSEGV) after 10.00 s."), "{why}");
    assert!(!why.contains("Also: PE 3"), "{why}");
}

/// Another rank computes longer than the one that is named by as much as it, or by more than that.
#[test]
fn a_rank_that_computes_longer_is_not_told_to_compute_as_long() {
    let late = |computes| Made { computes, ..QUICK };
    let waits = |time| Made { late: time, ..QUICK };
    let program = |others: [f64; 2]| {
        let [first, second] = others.map(late);
        let waiting = waits(&[(3, 4.0)]);
        [(0, first), (1, waiting), (2, waiting), (3, late(7.0)), (4, second), (5, waiting)]
    };
    for (others, told) in [
        ([7.25, 1.0], "Rank 0 computes as long."),
        ([7.5, 1.0], "Rank 0 computes longer."),
        ([7.25, 7.0], "Ranks 0 and 4 compute as long."),
        ([7.5, 7.0], "Ranks 0 and 4 compute as long or longer."),
        ([7.5, 9.0], "Ranks 0 and 4 compute longer."),
    ] {
        let said = said(&lines(6, &program(others)));
        assert!(said[0].contains("The others wait 12.000 s for rank 3"), "{}", said[0]);
        assert_both(&said, told);
    }
}
