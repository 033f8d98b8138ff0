//! Which world started which, by their lines: as Open MPI tells it, by the time of the call under other
//! MPIs, and not at all where several calls may have done it.

use std::fs;

use topas_data::Source;
use topas_mpi_data::{MpiProfile, read_profiles, world_links};

/// A line of a record of rank `rank` of a launch of two ranks.
fn record(id: &str, exe: &str, rank: u32, more: &str) -> String {
    let text = format!(
        "2026/11/20 18:00:00 topas-mpi mohr {exe} 2 {id} v=1 of=rank line=1/1 t=1795197600 uid=1000 \
         end=finalize host=n1 rank={rank} pid={} ranks=1 wall=10 wallmax=10 mpisum=2 mpimax=2 mpimin=2 \
         usemax=8 over=0 thr=1 {more}",
        100 + rank
    );
    format!("{text} len={:03}\n", text.len() + 8)
}

fn profiles(lines: &[String]) -> Vec<MpiProfile> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    fs::write(&path, lines.concat()).unwrap();
    let (read, failed) = read_profiles(&[Source::File(path)], &mut |_| {});
    assert!(failed.is_empty());
    assert_eq!(read.tally.skipped(), 0, "{:?}", read.tally.examples());
    read.profiles
}

/// `PARENT:RANK->CHILD` of all links.
fn links(lines: &[String]) -> Vec<String> {
    let profiles = profiles(lines);
    let id = |profile: &MpiProfile| String::from_utf8(profile.facts.id.to_vec()).unwrap();
    let word = |link: &topas_mpi_data::WorldLink<'_>| {
        let ranks: Vec<String> = link.calls.iter().map(|(rank, _)| rank.to_string()).collect();
        format!("{}:{}->{}", id(link.parent), ranks.join("|"), id(link.child))
    };
    world_links(&profiles).iter().map(word).collect()
}

#[test]
fn a_world_is_linked_to_the_call_during_which_it_began() {
    let master = record(
        "aa",
        "master",
        1,
        "s=work%3Aer:2:100.5:0.25:Comm_spawn:7:0 s=worker:2:101:0.25:Comm_spawn:0:0",
    );
    let early = record("bb", "worker", 0, "spawned=100.7");
    let late = record("cc", "worker", 0, "spawned=101.249999999");
    let other = record("dd", "other", 0, "");
    let all = [master, early, late, other];
    assert_eq!(links(&all), ["aa:1->bb", "aa:1->cc"]);
    let read = profiles(&all);
    let of = |exe: &[u8]| read.iter().find(|one| *one.facts.exe == *exe).unwrap();
    let started = &of(b"master").ranks[0].started;
    assert_eq!((&*started[0].command, started[0].ranks), (&b"work:er"[..], 2));
    assert_eq!((started[0].began, started[0].nanoseconds), (100_500_000_000, 250_000_000));
    assert_eq!([started[0].path, started[1].path], [Some(7), None]);
    let routine = started[0].routine.unwrap();
    assert_eq!(of(b"master").routines.name(routine), "Comm_spawn");
    assert_eq!(of(b"worker").facts.spawned.map(|of| of.parent), Some(None));
    assert_eq!(of(b"other").facts.spawned, None);
}

#[test]
fn clocks_of_two_nodes_may_differ_a_little() {
    let master = record("aa", "master", 0, "s=worker:2:100.5:0.25:Comm_spawn:0:0");
    let near = |began: &str| record("bb", "worker", 0, &format!("spawned={began}"));
    assert_eq!(links(&[master.clone(), near("100.45")]), ["aa:0->bb"]);
    assert_eq!(links(&[master.clone(), near("100.8")]), ["aa:0->bb"]);
    assert!(links(&[master.clone(), near("100.3")]).is_empty());
    assert!(links(&[master, near("101")]).is_empty());
}

#[test]
fn of_two_calls_at_once_the_launcher_tells_which() {
    let call = "s=worker:2:100.5:0.25:Comm_spawn:0";
    let masters = ["5", "6"]
        .map(|world| record(&format!("a{world}"), "master", 1, &format!("{call}:{world}")));
    let child = |parent: &str| record("bb", "worker", 0, &format!("spawned=100.6{parent}"));
    let with = |child: String| links(&[&masters[..], &[child]].concat());
    assert_eq!(with(child(":6:1")), ["a6:1->bb"]);
    assert_eq!(with(child(":5:1")), ["a5:1->bb"]);
    // Another rank, another world, and nothing that tells which.
    assert!(with(child(":5:0")).is_empty());
    assert!(with(child(":7:1")).is_empty());
    assert!(with(child("")).is_empty());
}

#[test]
fn of_two_launchers_at_once_the_name_tells_which() {
    let call = "s=worker:2:100.5:0.25:Comm_spawn:0:0";
    let master = |id: &str, launcher: &str| record(id, "master", 1, &format!("{call}{launcher}"));
    let child = |launcher: &str| record("bb", "worker", 0, &format!("spawned=100.6:0:0{launcher}"));
    // Odd names are sure.
    for [first, second, other] in [[":b5", ":b7", ":b9"], [":b4", ":b6", ":b9"]] {
        let masters = [master("a5", first), master("a6", second)];
        let with = |child: String| links(&[&masters[..], &[child]].concat());
        assert_eq!(with(child(first)), ["a5:1->bb"]);
        assert_eq!(with(child(second)), ["a6:1->bb"]);
        assert!(with(child(other)).is_empty());
    }
    // A launcher that has several names is told from none by them.
    assert_eq!(links(&[master("a5", ":b4"), child(":b6")]), ["a5:1->bb"]);
    assert_eq!(links(&[master("a5", ":b4"), child(":b5")]), ["a5:1->bb"]);
    assert!(links(&[master("a5", ":b5"), child(":b7")]).is_empty());
    // Records of older libraries have no name.
    assert_eq!(links(&[master("a5", ""), child(":b7")]), ["a5:1->bb"]);
}

#[test]
fn a_call_whose_world_is_known_started_no_other() {
    let calls = "s=worker:2:100:1:Comm_spawn:0:0 s=worker:2:100.5:1:Comm_spawn:0:0";
    let master = record("aa", "master", 0, calls);
    let child = |id: &str, exe: &str, began: &str| record(id, exe, 0, &format!("spawned={began}"));
    // The second may be of both calls, if the first one were not of the first.
    let both = [master.clone(), child("bb", "worker", "100.7"), child("cc", "worker", "100.2")];
    assert_eq!(links(&both), ["aa:0->cc", "aa:0->bb"]);
    assert_eq!(links(&both[..2]), ["aa:0|0->bb"]);
    // What the call names is a sign where nothing else is.
    let calls = "s=ocean:2:100:1:Comm_spawn:0:0 s=air:2:100:1:Comm_spawn:0:0";
    let master = record("aa", "master", 0, calls);
    let named = [master, child("bb", "air", "100.7"), child("cc", "ocean", "100.7")];
    let read = profiles(&named);
    let links = world_links(&read);
    let commands =
        links.iter().map(|link| (&*link.call().unwrap().1.command, &*link.child.facts.exe));
    assert!(commands.clone().count() == 2 && commands.clone().all(|(call, exe)| call == exe));
}

#[test]
fn a_world_of_which_the_call_is_not_known_has_the_world_that_started_it() {
    let call = "s=worker:2:100.5:0.25:Comm_spawn:0:0";
    let masters = [0, 1].map(|rank| record("aa", "master", rank, call));
    let child = |id: &str| record(id, "worker", 0, "spawned=100.6");
    let with = |children: &[String]| links(&[&masters[..], children].concat());
    assert_eq!(with(&[child("bb")]), ["aa:0|1->bb"]);
    assert_eq!(with(&[child("bb"), child("cc")]).len(), 2);
    // Two worlds may have started it.
    let other = record("dd", "master", 0, call);
    assert!(with(&[child("bb"), other]).is_empty());
}

#[test]
fn what_is_no_world_makes_the_line_bad() {
    for token in [
        "spawned=",
        "spawned=1:5",
        "spawned=1:5:x",
        "spawned=1:5:1:x",
        "s=a:2:1:1:Comm_spawn:0",
        "s=a:2",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        fs::write(&path, record("aa", "master", 0, token)).unwrap();
        let (read, _) = read_profiles(&[Source::File(path)], &mut |_| {});
        assert_eq!(read.tally.skipped(), 1, "{token}");
    }
}
