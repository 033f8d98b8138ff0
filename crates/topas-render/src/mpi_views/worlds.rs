//! Worlds of spawned processes in words: what a run started, and what started it.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use topas_mpi_data::{
    Blame, MpiProfile, Routines, StartedWorld, WorldLink, computed, computes_unseen,
    waited_for_others,
};

use super::culprit::WORTH_A_CHARGE;
use super::json::text;
use super::paths::PathViews;
use super::waits::blamed_outside;
use crate::number::seconds;
use crate::wording::capital;
use crate::wording::{count, named};

/// Launches that are named in a sentence.
const NAMED: usize = 3;

/// What ranks of a profile have to do with other worlds.
#[derive(Clone, Debug, Default)]
pub struct WorldViews {
    /// A sentence each
    pub sentences: Vec<String>,
    /// What started the world, and what it started, for programs
    pub spawned: Value,
    /// The same of each world that it started
    pub started: Vec<Value>,
}

/// The call that started a world: `MPI_Comm_spawn, from main (master.c:40)`, the latter if call paths of
/// the rank are known.
pub fn started_by(paths: Option<&PathViews>, rank: u32, start: &StartedWorld) -> String {
    let routine = routine(start);
    match place(paths, rank, start) {
        Some(place) => format!("{routine}, from {place}"),
        None => routine,
    }
}

/// The same of a link, whose call is not always known; None if several are possible that differ.
pub fn link_started_by(paths: Option<&PathViews>, link: &WorldLink<'_>) -> Option<String> {
    let mut calls = link.calls.iter().map(|(rank, start)| started_by(paths, *rank, start));
    let first = calls.next()?;
    calls.all(|other| other == first).then_some(first)
}

/// The ranks of which one started a world: `rank 1`, `rank 0 or 3`, `one of 5 ranks`.
pub fn starters_in_words(link: &WorldLink<'_>) -> String {
    let mut ranks: Vec<u32> = link.calls.iter().map(|(rank, _)| *rank).collect();
    ranks.dedup();
    match *ranks {
        [one] => format!("rank {one}"),
        [first, second] => format!("rank {first} or {second}"),
        _ => format!("one of {}", count(ranks.len() as u64, "rank")),
    }
}

/// Who started a world, as [`starters_in_words`] tells it, with the number of their own world: `rank 1`, or `rank 0 of
/// world 2`.
pub fn starter(ranks: &str, world: usize) -> String {
    match world {
        1 => ranks.to_owned(),
        world => format!("{ranks} of world {world}"),
    }
}

/// What a profile alone tells of other worlds, for places that read no more; None if nothing.
pub fn worlds_in_words(profile: &MpiProfile) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(spawned) = &profile.facts.spawned {
        parts.push(match spawned.parent {
            Some((_, rank)) => format!("started by rank {rank} of another world"),
            None => "started by a rank of another world".to_owned(),
        });
    }
    let (mut worlds, mut ranks) = (0, 0);
    for start in profile.ranks.iter().flat_map(|rank| &rank.started) {
        worlds += 1;
        ranks += u64::from(start.ranks);
    }
    if worlds > 0 {
        parts.push(format!("started {} of {}", count(worlds, "world"), count(ranks, "rank")));
    }
    (!parts.is_empty()).then(|| parts.join(", and "))
}

/// The function that started a world, with file and line; None if its call path is not known.
fn place(paths: Option<&PathViews>, rank: u32, start: &StartedWorld) -> Option<String> {
    let paths = paths?;
    Some(paths.innermost(paths.paths.numbered(rank, start.path?)?))
}

fn routine(start: &StartedWorld) -> String {
    match start.routine {
        Some(number) => format!("MPI_{}", Routines::default().name(number)),
        None => "MPI".to_owned(),
    }
}

impl WorldViews {
    /// Of a profile, by what is known of all worlds; `paths` tells the call paths of a profile.
    pub fn of(
        profile: &MpiProfile,
        links: &[WorldLink<'_>],
        paths: impl Fn(&MpiProfile) -> Option<PathViews>,
    ) -> WorldViews {
        let mut views = WorldViews::default();
        let own = |one: &MpiProfile| std::ptr::eq(one, profile);
        if let Some(spawned) = &profile.facts.spawned {
            let link = links.iter().find(|link| own(link.child));
            views.sentences.push(match link {
                Some(link) => {
                    let by = link_started_by(paths(link.parent).as_ref(), link);
                    let by = by.map_or_else(String::new, |by| format!(" by {by}"));
                    let (exe, id) = (named(&link.parent.facts.exe), named(&link.parent.facts.id));
                    let who = capital(&starters_in_words(link));
                    format!("{who} of {exe}, launch {id}, started this world{by}.")
                }
                None => {
                    let rank =
                        spawned.parent.map(|(_, rank)| format!("Rank {rank} of another world"));
                    let who = rank.unwrap_or_else(|| "A rank of another world".to_owned());
                    format!(
                        "{who} started this one. Its profile is not among those that were read."
                    )
                }
            });
            let of = link.map(|link| value(link, &paths));
            views.spawned = of.unwrap_or_else(|| json!({ "rank": spawned.parent.map(|of| of.1) }));
        }
        let calls = || {
            let ranks = profile.ranks.iter();
            ranks.flat_map(|rank| rank.started.iter().map(move |start| (rank.rank, start)))
        };
        if calls().next().is_none() {
            views.sentences.extend(awaited(profile, links));
            return views;
        }
        let known = paths(profile);
        // Calls at one place are told in one sentence.
        let mut alike = BTreeMap::<_, Vec<&StartedWorld>>::new();
        for (rank, start) in calls() {
            let by = started_by(known.as_ref(), rank, start);
            alike.entry((rank, &start.command, start.ranks, by)).or_default().push(start);
        }
        for ((rank, command, ranks, by), starts) in alike {
            let launches: Vec<String> = starts
                .iter()
                .filter_map(|start| links.iter().find(|link| is_call_of(link, start)))
                .map(|link| named(&link.child.facts.id))
                .collect();
            let times = match starts.len() {
                1 => String::new(),
                n => format!(" {n} times"),
            };
            let took: u128 = starts.iter().map(|start| u128::from(start.nanoseconds)).sum();
            views.sentences.push(format!(
                "Rank {rank} started {} of {}{times} by {by}, in {} s{}.",
                count(ranks.into(), "rank"),
                named(command),
                seconds(took, 3),
                launches_in_words(&launches),
            ));
        }
        views.sentences.extend(awaited(profile, links));
        views.started = calls()
            .map(|(rank, start)| {
                let link = links.iter().find(|link| is_call_of(link, start));
                let mut one = call(known.as_ref(), rank, start);
                one["launch"] = link.map_or(Value::Null, |link| text(&link.child.facts.id));
                one
            })
            .collect();
        views
    }
}

/// What the rank of another world does for which ranks of this one wait longest: nobody follows delays from world to world.
fn awaited(profile: &MpiProfile, links: &[WorldLink<'_>]) -> Option<String> {
    let (rank, blame) = blamed_outside(profile).into_iter().next()?;
    (blame.time() * WORTH_A_CHARGE >= profile.total.wall).then_some(())?;
    let worlds = links.iter().flat_map(|link| [link.parent, link.child]);
    let world = worlds.into_iter().find(|world| world.facts.id == rank.launch)?;
    let known = world.ranks.iter().find(|known| known.rank == rank.rank)?;
    (!computes_unseen(&known.sums)).then_some(())?;
    let of_others = waited_for_others(known).map(|(_, blame)| blame);
    let of_worlds = known.sums.waits.outside.iter().map(|(_, blame)| *blame);
    let waits: u128 = of_others.chain(of_worlds).map(|blame: Blame| blame.time()).sum();
    Some(format!(
        "{} computes {} s outside of MPI, and waits {} s for others itself.",
        capital(&rank.name(profile)),
        seconds(computed(&known.sums), 3),
        seconds(waits, 3)
    ))
}

/// `: launches 1, 2, 3 and 4 more`
fn launches_in_words(launches: &[String]) -> String {
    let (first, more) = launches.split_at(NAMED.min(launches.len()));
    match (first, more.len()) {
        ([], _) => String::new(),
        ([one], 0) => format!(": launch {one}"),
        (some, 0) => format!(": launches {}", some.join(", ")),
        (some, more) => format!(": launches {} and {more} more", some.join(", ")),
    }
}

/// Whether this call, and no other, started the world of a link.
fn is_call_of(link: &WorldLink<'_>, start: &StartedWorld) -> bool {
    link.call().is_some_and(|(_, call)| std::ptr::eq(call, start))
}

/// The call of a rank of a parent, for programs; of several possible calls their world alone.
fn value(link: &WorldLink<'_>, paths: impl Fn(&MpiProfile) -> Option<PathViews>) -> Value {
    let mut value = match link.call() {
        Some((rank, start)) => call(paths(link.parent).as_ref(), rank, start),
        None => json!({ "rank": null }),
    };
    value["launch"] = text(&link.parent.facts.id);
    value
}

fn call(paths: Option<&PathViews>, rank: u32, start: &StartedWorld) -> Value {
    json!({
        "rank": rank,
        "routine": routine(start),
        "place": place(paths, rank, start),
        "command": text(&start.command),
        "npes": start.ranks,
        "began_s": start.began as f64 / 1e9,
        "seconds": start.nanoseconds as f64 / 1e9,
    })
}
