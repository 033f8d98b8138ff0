//! The worlds of the run of which the page is: those that its ranks started, as the profiles beside the logs tell.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use topas_data::Source;
use topas_mpi_data::{
    MpiProfile, NumberedWorld, Timeline, data_file_beside, first_world, processors_of,
    read_launch_profiles, read_profiles, world_links, worlds_started_by,
};
use topas_render::mpi_views::{PathViews, crowded_node, starter, starters_in_words};
use topas_render::timeline::PageWorld;

use crate::args::{Args, TOOL};
use crate::mpi_profile;

/// A world of a run.
struct RunWorld {
    id: String,
    /// Its profile by place
    profile: usize,
    /// The rank that started it
    started_by: Option<String>,
}

/// The worlds of a run, and the profiles of them all.
pub(super) struct RunWorlds {
    profiles: Vec<MpiProfile>,
    worlds: Vec<RunWorld>,
}

impl RunWorlds {
    /// Of the launch with this id: alone if it is asked for, or the only one of these in the logs; else with what it was
    /// started by and what it has started.
    pub(super) fn of(
        args: &Args,
        launches: &[(String, usize)],
        id: &str,
        named: &[&Path],
    ) -> RunWorlds {
        let data: BTreeSet<PathBuf> =
            named.iter().filter_map(|log| data_file_beside(log)).collect();
        let sources: Vec<Source> = data.into_iter().map(Source::File).collect();
        let is_alone = args.launch.is_some() || launches.len() == 1;
        let (found, errors) = if is_alone {
            read_launch_profiles(&sources, id.as_bytes(), &mut |_| {})
        } else {
            read_profiles(&sources, &mut |_| {})
        };
        for error in errors.iter().filter(|_| !args.quiet) {
            TOOL.warning(error, None, "call paths have no names without it");
        }
        let profiles = found.profiles;
        let worlds = worlds(&profiles, id);
        RunWorlds { profiles, worlds }
    }

    /// The ids of the launches, in the order of their numbers.
    pub(super) fn ids(&self) -> Vec<&str> {
        self.worlds.iter().map(|world| world.id.as_str()).collect()
    }

    /// Tells the profile of the only world of a time line in which ranks waits begin.
    pub(super) fn follow(&mut self, timeline: &Timeline<'_>) {
        if let [world] = &self.worlds[..]
            && let Some(profile) = self.profiles.get_mut(world.profile)
        {
            profile.follow(timeline);
        }
    }

    /// The call paths of all worlds, as far as they were counted.
    pub(super) fn paths(&self, args: &Args) -> Vec<Option<PathViews>> {
        let paths = |world: &RunWorld| mpi_profile::paths(args, &self.profiles[world.profile]);
        self.worlds.iter().map(paths).collect()
    }

    /// What the page gets of the worlds that are in the logs.
    pub(super) fn on_page<'p>(
        &'p self,
        timeline: &Timeline<'_>,
        paths: &'p [Option<PathViews>],
    ) -> Vec<PageWorld<'p>> {
        let one = |asked: usize| {
            let Some(world) = self.worlds.get(asked) else { return PageWorld::default() };
            let paths = paths.get(asked).and_then(Option::as_ref);
            PageWorld {
                profile: Some((&self.profiles[world.profile], paths)),
                started_by: world.started_by.clone(),
            }
        };
        timeline.worlds.iter().map(|world| one(world.asked)).collect()
    }
}

/// That ranks in the log shared the processors of a host, of any worlds, as far as these are known here.
pub(super) fn shared_processors(timeline: &Timeline<'_>) -> Option<String> {
    let mut hosts: BTreeMap<&str, u64> = BTreeMap::new();
    for (_, process) in &timeline.processes {
        *hosts.entry(process.facts.value("host")).or_default() += 1;
    }
    let launch = (timeline.missing_ranks > 0).then(|| timeline.ranks_of_launch());
    let mut known = hosts
        .into_iter()
        .filter_map(|(host, ranks)| crowded_node(ranks, launch, processors_of(host.as_bytes())?));
    known.next()
}

/// The worlds of the run to which the launch with this id belongs.
fn worlds(profiles: &[MpiProfile], id: &str) -> Vec<RunWorld> {
    let Some(own) = profiles.iter().find(|profile| *profile.facts.id == *id.as_bytes()) else {
        return Vec::new();
    };
    let links = world_links(profiles);
    let first = first_world(own, &links);
    let place = |of: &MpiProfile| profiles.iter().position(|one| std::ptr::eq(one, of));
    let world = |of: &MpiProfile, started_by| {
        let id = String::from_utf8_lossy(&of.facts.id).into_owned();
        Some(RunWorld { id, profile: place(of)?, started_by })
    };
    let started = worlds_started_by(first, &links).into_iter();
    let by = |one: &NumberedWorld<'_, '_>| starter(&starters_in_words(one.link), one.parent);
    let started = started.map(|one| (one.link.child, Some(by(&one))));
    [(first, None)].into_iter().chain(started).filter_map(|(of, by)| world(of, by)).collect()
}
