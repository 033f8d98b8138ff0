//! `topasview --why`: what costs time in a run, by all that was measured of it.

use std::io::stdout;
use std::path::{Path, PathBuf};

use topas_config::Environment;
use topas_data::pes::{PeTable, add, here, read};
use topas_data::{Inputs, Source};
use topas_findings::{
    BottleneckSearch, FactValues, Rules, add_mpi_facts, add_replay_facts, add_timeline_facts,
    mpi_facts,
};
use topas_format::mpi_conf::OUT;
use topas_mpi_data::{
    LostRanks, MpiProfile, Network, NumberedWorld, Origin, Standstill, Timeline, TraceLog,
    WorldLink, first_world, is_event_log, is_spool, processors_of, read_profiles, read_spool_files,
    replay, spool_files, trace_files, world_links, worlds_started_by,
};
use topas_render::PROSE_WIDTH;
use topas_render::mpi_views::{
    ChargedRank, PathViews, Views, WorldViews, absent_ranks, call_places, charged_rank, paused,
    shared_processors, standing_words, starters_in_words, where_waited,
};
use topas_render::view::ViewSections;
use topas_render::why::{
    SearchedRun, SearchedWorld, StandingRun, add_wait_places, lead, named_rank, text, value,
};
use topas_terminal::{Look, Printed};

use crate::args::{Args, TOOL};
use crate::exit;
use crate::input::{passed_over, skipped, threads};
use crate::mpi_profile::{
    ELSEWHERE, LOG_ALONE, called_at, files_of_logs, kept, paths, read_timeline, started_at,
    world_started,
};
use crate::timeline::{lacks_ranks, warn};

/// Messages or collectives of a rank of which it is of interest where they are called.
const MANY: f64 = 1000.0;

/// What was read of a run.
#[derive(Default)]
struct KnownRun {
    table: Option<PeTable>,
    profile: Option<MpiProfile>,
    /// That of an earlier run of the same program with as many ranks
    earlier: Option<MpiProfile>,
    /// Event logs, of any launches
    logs: Vec<PathBuf>,
    /// All profiles, if some of them are of worlds that ranks of others started
    all: Vec<MpiProfile>,
    failed: bool,
    /// The event log of the run cannot be read in full
    is_log_damaged: bool,
    /// A replay of it takes much of the time in MPI as it was measured
    is_replay_partial: bool,
}

/// Searches: the exit code.
pub fn show(args: &Args, rules: &Rules) -> u8 {
    let mut run = match known(args) {
        Ok(run) => run,
        Err(code) => return code,
    };
    let mut elsewhere = 0;
    if run.table.is_none() && run.profile.is_none() && args.inputs.is_empty() {
        let wanted = args.launch.as_deref().unwrap_or_default().as_bytes();
        let (kept, passed_over) = kept(args);
        run.profile = kept.into_iter().find(|profile| profile.facts.id.starts_with(wanted));
        elsewhere = passed_over;
    }
    if run.table.is_none() && run.profile.is_none() {
        if run.failed {
            return exit::INPUT;
        }
        if elsewhere > 0 {
            let what = format!(
                "nothing was measured here that could be searched; launches of other directories: {elsewhere}"
            );
            TOOL.error(&what, None, ELSEWHERE);
            return exit::NO_PES;
        }
        let hint = if run.logs.is_empty() {
            "topas-run --all-pe --mpi=waits measures a run; or name its topas.out and topas-mpi.out (topas-mpi collect \
             writes the latter of killed runs)"
        } else {
            LOG_ALONE
        };
        TOOL.error(&"nothing was measured here that could be searched", None, hint);
        return exit::NO_PES;
    }
    let logs = open_logs(args, &mut run);
    let timeline = timeline(args, &mut run, &logs);
    if let (Some(profile), Some(timeline)) = (&mut run.profile, &timeline) {
        profile.follow(timeline);
    }
    let known = run.profile.as_ref().map(|profile| ChargedProfile::of(args, profile));
    let charged = known.as_ref().and_then(|known| known.charged.clone());
    let mut facts = facts(args, run.table.as_ref(), known.as_ref());
    drop(known);
    let has_log = timeline.is_some();
    if let Some(timeline) = &timeline {
        add_log(&mut run, timeline, &logs, &mut facts);
    }
    let mut search = rules.search(&facts, before(rules, &run).as_ref());
    charged.iter().for_each(|charged| rules.lead(&mut search, &lead(charged, &facts)));
    let standing = run.profile.as_ref().and_then(|profile| standing(args, profile));
    match &standing {
        Some(StandingRun { goes_on: false, .. }) => search.withhold(),
        Some(
            StandingRun { words: Some(_), .. } | StandingRun { shares_processors: Some(_), .. },
        ) => search.doubt(),
        _ => {}
    }
    if run.profile.as_ref().and_then(absent_ranks).is_some() {
        rules.reopen(&mut search, &facts);
    }
    let links = world_links(&run.all);
    let of = SearchedRun {
        has_log,
        origin: origin(args, &run, &links),
        worlds: worlds(args, rules, &run, &links),
        standing,
        is_log_damaged: run.is_log_damaged,
        is_replay_partial: run.is_replay_partial,
        is_left: run.profile.as_ref().is_some_and(|profile| profile.origin == Origin::Left),
        ..searched(run.table.as_ref(), run.profile.as_ref(), &facts)
    };
    let look = Look::of(&Environment::of_process(), args.color, &stdout());
    let out = if args.json {
        format!("{:#}\n", value(&of, &search))
    } else {
        text(&of, &search, look.width.min(PROSE_WIDTH))
    };
    match TOOL.print(out.as_bytes()) {
        Printed::Done if !run.failed => exit::OK,
        _ => exit::INPUT,
    }
}

/// What is to be said first of a profile: that the program runs, which ranks stand still, which were lost.
fn standing(args: &Args, profile: &MpiProfile) -> Option<StandingRun> {
    let places = paths(args, profile).map(|paths| call_places(profile, &paths));
    let all = [standing_words(profile, &places.unwrap_or_default()), absent_ranks(profile)];
    let words = all.into_iter().flatten().reduce(|all, more| all + " " + &more);
    let runs = profile.origin == Origin::Live;
    let hides_costs = Standstill::of(profile).is_some_and(|standstill| standstill.hides_costs)
        || LostRanks::of(profile)
            .is_some_and(|lost| lost.hang(profile).is_some_and(|hang| hang.hides_costs()));
    let processors = Views::host(profile).and_then(processors_of);
    (runs || words.is_some()).then(|| StandingRun {
        runs,
        goes_on: !hides_costs,
        shares_processors: shared_processors(profile, processors),
        words,
    })
}

/// Reads lines of PEs and profiles of MPI, out of the same files.
fn known(args: &Args) -> Result<KnownRun, u8> {
    let mut run = KnownRun::default();
    let mut inputs = Inputs::default();
    if args.inputs.is_empty() {
        let here = here(Path::new(".")).map_err(|error| {
            TOOL.error(&error, None, "check the directory and its permissions");
            exit::INPUT
        })?;
        inputs.sources.extend(here);
        if Path::new(OUT).exists() {
            inputs.sources.push(Source::File(PathBuf::from(OUT)));
        }
    } else {
        for path in &args.inputs {
            let own = path.join(OUT);
            add(path, &mut inputs);
            let is_there = |source: &Source| source.path().is_some_and(|path| path == *own);
            if own.is_file() && !inputs.sources.iter().any(is_there) {
                inputs.sources.push(Source::File(own));
            }
        }
    }
    let mut mapped = Vec::new();
    inputs.sources.retain(|source| match source.path() {
        Some(path) if is_spool(&path) => {
            mapped.push(path.into_owned());
            false
        }
        Some(path) if is_event_log(&path) => {
            run.logs.push(path.into_owned());
            false
        }
        _ => true,
    });
    if inputs.sources.is_empty() && mapped.is_empty() {
        inputs.sources.extend(files_of_logs(&run.logs));
    }
    let here = [PathBuf::from(".")];
    let named = if args.inputs.is_empty() { &here[..] } else { &args.inputs };
    for directory in named.iter().filter(|path| path.is_dir()) {
        let files = spool_files(directory, None).unwrap_or_default();
        mapped.extend(files.into_iter().filter(|file| is_spool(file)));
        // A directory that cannot be listed was told above.
        run.logs.extend(trace_files(directory).unwrap_or_default());
    }
    for error in &inputs.failed {
        run.failed = true;
        TOOL.error(error, None, "check its name and its permissions");
    }
    if !args.quiet {
        passed_over(&inputs);
    }
    let wanted = args.launch.as_deref().map(str::as_bytes);
    let (read_profiles, errors) = read_profiles(&inputs.sources, &mut |_| {});
    let mut profiles = read_profiles.profiles;
    if !mapped.is_empty() {
        mapped.sort_unstable();
        mapped.dedup();
        profiles.extend(read_spool_files(mapped).profiles);
    }
    if profiles.iter().any(|profile| profile.facts.spawned.is_some()) {
        run.all = profiles.clone();
    }
    // A run is that of the world which a launcher started, with all that it started.
    let root = wanted.is_none().then(|| root_of(&profiles)).flatten();
    let wanted = wanted.or(root.as_deref());
    for error in &errors {
        run.failed = true;
        TOOL.error(error, None, "check its name and its permissions");
    }
    if errors.is_empty() && !inputs.sources.is_empty() {
        let lines = read(&inputs.sources, threads(), args.memory, &|_| {});
        let (lines, _) = lines.map_err(|error| {
            TOOL.error(&error, None, "allow more --memory, or name fewer files");
            exit::INPUT
        })?;
        if !args.quiet && lines.launches().next().is_none() && profiles.is_empty() {
            skipped(&lines.tally);
        }
        let mut launches = lines.launches();
        let launch = launches.find(|launch| wanted.is_none_or(|id| launch.id.starts_with(id)));
        run.table = launch.map(|launch| lines.table(launch));
    }
    // The profile is that of the same launch; of the newer one if there are two.
    let of_table = run.table.as_ref().map(|table| table.launch.id.clone());
    let mut wanted_profiles = profiles
        .into_iter()
        .filter(|profile| wanted.is_none_or(|id| profile.facts.id.starts_with(id)));
    let newest = wanted_profiles.next();
    let mut older = Vec::new();
    run.profile = match (newest, &of_table) {
        (Some(newest), Some(id)) if !id.is_empty() && *newest.facts.id != **id => {
            let end = run.table.as_ref().map_or(0, |table| table.launch.end);
            let is_newer = newest.facts.epoch.is_some_and(|epoch| epoch as i64 > end);
            older.extend(wanted_profiles);
            let place = older.iter().position(|profile| *profile.facts.id == **id);
            let same = place.map(|place| older.drain(..=place).next_back()).unwrap_or_default();
            if is_newer && same.is_none() {
                run.table = None;
                Some(newest)
            } else {
                same
            }
        }
        (newest, _) => {
            older.extend(wanted_profiles);
            newest
        }
    };
    run.earlier = run.profile.as_ref().and_then(|profile| {
        let same = |other: &&MpiProfile| {
            other.facts.exe == profile.facts.exe
                && other.facts.npes == profile.facts.npes
                && other.facts.spawned.is_some() == profile.facts.spawned.is_some()
        };
        older.iter().find(same).cloned()
    });
    Ok(run)
}

/// What was found in the earlier run.
fn before(rules: &Rules, run: &KnownRun) -> Option<BottleneckSearch> {
    run.earlier.as_ref().map(|profile| rules.search(&mpi_facts(profile), None))
}

/// Says that a log cannot be read.
fn unreadable(path: &Path, cause: &std::io::Error) {
    let what = format!("cannot read {}", path.display());
    TOOL.error(&what, Some(cause), "without it nothing is told of the course of the run");
}

/// The id of the launch of the run, if it has a profile.
fn id_of(run: &KnownRun) -> Option<String> {
    let profile = run.profile.as_ref()?;
    Some(String::from_utf8_lossy(&profile.facts.id).into_owned())
}

/// The event logs of a run with a profile. What cannot be read has been said.
fn open_logs(args: &Args, run: &mut KnownRun) -> Vec<TraceLog> {
    let mut logs = Vec::new();
    for path in run.logs.iter().filter(|_| run.profile.is_some()) {
        match TraceLog::open(path) {
            Ok(log) => {
                warn(path, &log, args.quiet);
                run.failed |= log.is_damaged();
                logs.push(log);
            }
            Err(cause) => {
                run.failed = true;
                unreadable(path, &cause);
            }
        }
    }
    logs
}

/// What the event logs tell of the run; None if they tell nothing.
fn timeline<'l>(args: &Args, run: &mut KnownRun, logs: &'l [TraceLog]) -> Option<Timeline<'l>> {
    let id = id_of(run)?;
    match read_timeline(args, logs, &id) {
        // Waits for ranks of which something is missing would be those of others.
        Ok(Some(timeline)) if is_damaged(&timeline) || timeline.missing_ranks > 0 => {
            run.failed |= lacks_ranks(&timeline, logs, args.quiet);
            if !args.quiet {
                let what =
                    "the event log of the run is not whole, and nothing that it tells is used";
                TOOL.warning(&what, None, "");
            }
            run.is_log_damaged = true;
            None
        }
        Ok(timeline) => timeline,
        Err(cause) => {
            run.failed = true;
            unreadable(Path::new("the event log"), &cause);
            None
        }
    }
}

/// Adds what the event logs tell of the course of the run, and of its time on a perfect network.
fn add_log(run: &mut KnownRun, timeline: &Timeline<'_>, logs: &[TraceLog], facts: &mut FactValues) {
    add_timeline_facts(timeline, run.profile.as_ref(), facts);
    let Some(id) = id_of(run) else { return };
    match replay(logs, &id, &Network::default()) {
        Ok(replay) => {
            run.is_replay_partial = replay.is_much_as_measured();
            add_replay_facts(&replay, facts);
        }
        Err(cause) => {
            run.failed = true;
            unreadable(Path::new("the event log"), &cause);
        }
    }
}

/// Whether something of what the logs have of a launch cannot be read.
fn is_damaged(timeline: &Timeline<'_>) -> bool {
    timeline.is_cut || !timeline.damage.is_empty()
}

/// The id of the world from which the newest profile came, if that was another.
fn root_of(profiles: &[MpiProfile]) -> Option<Box<[u8]>> {
    let first = profiles.first()?;
    let root = first_world(first, &world_links(profiles));
    (!std::ptr::eq(first, root)).then(|| root.facts.id.clone())
}

/// The profile among all that were read that is that of the run.
fn own(run: &KnownRun) -> Option<&MpiProfile> {
    let profile = run.profile.as_ref()?;
    let same = |one: &&MpiProfile| one.facts.id == profile.facts.id && one.facts == profile.facts;
    run.all.iter().find(same)
}

/// What started the world of the run, in a sentence; None if a launcher did.
fn origin(args: &Args, run: &KnownRun, links: &[WorldLink<'_>]) -> Option<String> {
    let own = own(run)?;
    own.facts.spawned?;
    WorldViews::of(own, links, |of| paths(args, of)).sentences.into_iter().next()
}

/// The worlds that the run started, each searched by itself.
fn worlds(
    args: &Args,
    rules: &Rules,
    run: &KnownRun,
    links: &[WorldLink<'_>],
) -> Vec<SearchedWorld> {
    let Some(own) = own(run) else { return Vec::new() };
    let searched_world = |world: NumberedWorld<'_, '_>| {
        let NumberedWorld { number, parent, link } = world;
        let known = ChargedProfile::of(args, link.child);
        let facts = facts(args, None, Some(&known));
        let mut search = rules.search(&facts, None);
        known.charged.iter().for_each(|charged| rules.lead(&mut search, &lead(charged, &facts)));
        SearchedWorld {
            run: searched(None, Some(link.child), &facts),
            number,
            parent,
            starter: starters_in_words(link),
            rank: link.call().map(|(rank, _)| rank),
            call: world_started(args, link),
            search,
        }
    };
    worlds_started_by(own, links).into_iter().map(searched_world).collect()
}

/// A profile with what its call paths tell.
struct ChargedProfile<'p> {
    profile: &'p MpiProfile,
    /// Its call paths with their places in the source, if they were counted
    paths: Option<PathViews>,
    /// The rank that is charged with the waits
    charged: Option<ChargedRank>,
}

impl ChargedProfile<'_> {
    fn of<'p>(args: &Args, profile: &'p MpiProfile) -> ChargedProfile<'p> {
        let paths = paths(args, profile);
        let charged = charged_rank(profile, paths.as_ref());
        ChargedProfile { profile, paths, charged }
    }
}

/// All facts of a run.
fn facts(args: &Args, table: Option<&PeTable>, known: Option<&ChargedProfile<'_>>) -> FactValues {
    let mut facts = match table {
        Some(table) => ViewSections::new(table, None).facts(),
        None => FactValues::default(),
    };
    let Some(ChargedProfile { profile, paths, charged }) = known else { return facts };
    match facts.get_number("wall") {
        Some(wall) => add_mpi_facts(profile, wall, &mut facts),
        None => facts = mpi_facts(profile),
    }
    facts.number("paths_known", if paths.is_some() { 1.0 } else { 0.0 });
    add_wait_places(&mut facts, charged.as_ref(), |rank, kind| {
        where_waited(paths.as_ref()?, profile, rank, kind)
    });
    for (routine, place, amount, least) in [
        ("file_routine", "file_where", "file_share", 0.0),
        ("window_routine", "window_where", "window_share", 0.0),
        ("exchange_routine", "exchange_where", "exchange_each", MANY),
        ("gathering_routine", "gathering_where", "gathering_each", MANY),
    ] {
        let routine = facts.get_text(routine).map(|routine| routine.trim_start_matches("MPI_"));
        let is_asked = facts.get_number(amount).is_some_and(|amount| amount >= least);
        let words =
            routine.filter(|_| is_asked).and_then(|name| called_at(paths.as_ref()?, profile, name));
        facts.text(place, words.unwrap_or_default());
    }
    let who = named_rank(&facts, "spawn_who");
    if let Some(words) = who.and_then(|who| started_at(args, profile, who)) {
        facts.text("spawn_where", words);
    }
    facts
}

fn searched(
    table: Option<&PeTable>,
    profile: Option<&MpiProfile>,
    facts: &FactValues,
) -> SearchedRun {
    let of_table = table.map(|table| (&table.launch.id, &table.launch.exe));
    let of_profile = profile.map(|profile| (&profile.facts.id, &profile.facts.exe));
    let (id, exe) = of_table.or(of_profile).unzip();
    SearchedRun {
        id: id.cloned().unwrap_or_default(),
        exe: exe.cloned().unwrap_or_default(),
        other_exes: profile.map_or(Vec::new(), |profile| profile.facts.other_exes.clone()),
        scripts: profile.map_or(Vec::new(), |profile| {
            profile.scripts().into_iter().map(str::to_owned).collect()
        }),
        pes: facts.get_number("npes").unwrap_or(0.0) as u64,
        wall: facts.get_number("wall").unwrap_or(0.0),
        has_pes: table.is_some(),
        has_profile: profile.is_some(),
        paused: profile.and_then(|profile| paused(&profile.total)),
        ..SearchedRun::default()
    }
}
