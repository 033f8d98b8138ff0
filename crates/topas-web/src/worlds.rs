//! Runs whose processes ranks of another run have started: a world of spawned processes is a run of its own, with lines of
//! its own. The page of each names the others that come from the same launch.

use maud::{Markup, html};
use topas_mpi_data::MpiProfile;
use topas_render::duration;
use topas_store::{RunFilter, RunPosition, Store, StoreError, StoredRun, latest_runs, shown_text};

use crate::asked::run_name;
use crate::run_page::profile;

/// Runs that are looked at, the latest of those that ended before a week after this one.
const LOOKED_AT: usize = 1000;

/// A week, in \u{b5}s.
const WEEK: i64 = 7 * 86_400 * 1_000_000;

/// How far clocks of nodes and whole seconds may be off, in \u{b5}s.
const APART: i64 = 2_000_000;

/// Runs whose profiles are read: those at the same time.
const READ: usize = 100;

/// Runs that are named.
const NAMED: usize = 50;

/// Another run of a launch.
pub struct OtherWorld {
    name: String,
    exe: String,
    npes: i64,
    wall: i64,
    /// Ranks of another run have started it
    is_spawned: bool,
}

/// The other runs of the launch of a run, the first first; none of a run that has to do with no other.
pub fn others(
    store: &mut dyn Store,
    run: &StoredRun,
    own: Option<&MpiProfile>,
) -> Result<Vec<OtherWorld>, StoreError> {
    let Some(own) = own.filter(|own| own.facts.launcher != 0) else { return Ok(Vec::new()) };
    let filter = RunFilter {
        owner: Some(run.owner.clone()),
        job: Some(run.job.clone()).filter(|job| !job.is_empty()),
        ..RunFilter::default()
    };
    let behind = RunPosition { last: run.last.saturating_add(WEEK), id: 0 };
    let is_beside = |other: &StoredRun| {
        (other.launch, other.id) != (run.launch, run.id)
            && other.first <= run.last.saturating_add(APART)
            && other.last >= run.first.saturating_sub(APART)
    };
    let mut found = Vec::new();
    let beside = latest_runs(store, &filter, Some(behind), LOOKED_AT)?;
    for other in beside.into_iter().filter(is_beside).take(READ) {
        let Some(record) = other.record() else { continue };
        let Some(profile) = profile(store, &other, &record)? else { continue };
        if profile.facts.is_of_launch_of(&own.facts) {
            found.push((
                other.first,
                OtherWorld {
                    name: run_name(other.launch, other.id),
                    exe: shown_text(&other.exe),
                    npes: other.npes,
                    wall: other.wall,
                    is_spawned: profile.facts.spawned.is_some(),
                },
            ));
        }
    }
    found.sort_by_key(|(first, _)| *first);
    Ok(found.into_iter().map(|(_, other)| other).collect())
}

/// As a part of the page of a run.
pub fn part(others: &[OtherWorld]) -> Markup {
    html! {
        @if !others.is_empty() {
            h2 { "Runs of the same launch" }
            p { "Ranks started further processes (MPI_Comm_spawn). Each world of such processes is a run of its own, \
                 with PEs and findings of its own." }
            ul { @for other in others.iter().take(NAMED) { li {
                a href={ "/run/" (other.name) } { (other.exe) } ", " (other.npes) " PEs, "
                (duration(other.wall as f64 / 1e6)) " of wall clock time, started by "
                @if other.is_spawned { "ranks of another run" } @else { "the launcher" }
            } } }
            @if others.len() > NAMED { p { (others.len() - NAMED) " more are not named." } }
        }
    }
}
