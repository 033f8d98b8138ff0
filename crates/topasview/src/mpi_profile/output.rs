//! Puts together what was asked for, and writes it.

use std::ffi::OsString;
use std::io::stdout;

use topas_chart::{Screen, Size};
use topas_config::Environment;
use topas_mpi_data::{
    LaunchPaths, MpiProfile, MpiRecordFacts, WorldLink, processors_of, world_links,
};
use topas_render::PROSE_WIDTH;
use topas_render::mpi_views::{
    MpiOrder, PathViews, View, Views, WorldViews, compare_csv, compare_json, compare_text,
    launches, launches_csv, link_started_by, started_by,
};
use topas_symbols::{NoSymbols, Symbols};
use topas_terminal::{Look, Printed};

use super::args::PathsOf;
use super::input::MpiInput;
use crate::args::{Args, TOOL};
use crate::exit;
use crate::output::{PNG_SCALE, both, save};

/// Shows everything; the Err is the exit code, all has then been said.
pub fn show(args: &Args, input: &mut MpiInput<'_>, profiles: &[MpiProfile]) -> Result<Printed, u8> {
    if args.list {
        let known: Vec<(&MpiRecordFacts, u64)> =
            profiles.iter().map(|profile| (&profile.facts, profile.total.ranks)).collect();
        let text = if args.csv { launches_csv(&known) } else { launches(&known) };
        return Ok(TOOL.print(text.as_bytes()));
    }
    if let Some(names) = &args.compare {
        return compare(args, input, profiles, names);
    }
    let picked = input.pick(profiles)?;
    let subtotal = match args.mpi.at {
        None => None,
        Some(at) => Some(picked.at(at).ok_or_else(|| no_subtotal(picked, at))?),
    };
    let asked = args.mpi.views();
    let followed = match &subtotal {
        None if asks_for_culprit(&asked) => input.followed(picked),
        _ => None,
    };
    let profile = subtotal.as_ref().or(followed.as_ref()).unwrap_or(picked);
    // A page without views that are asked for has all of them.
    let is_of_all = args.html.is_some() && asked.is_empty();
    let has_costs = args.mpi.calibration.is_some() || is_of_all || asked.contains(&View::Routines);
    let calibration = if has_costs { input.calibration()? } else { None };
    let look = Look::of(&Environment::of_process(), args.color, &stdout());
    let asks_for_replay = is_of_all || asked.contains(&View::Efficiency);
    let links = world_links(profiles);
    let views = Views {
        profile,
        calibration: calibration.as_ref(),
        processors: Views::host(profile).and_then(processors_of),
        replay: asks_for_replay.then(|| input.replay(profile)).flatten(),
        order: order(args),
        paths: if is_of_all || needs_paths(&asked, profile) { paths(args, profile) } else { None },
        worlds: WorldViews::of(picked, &links, |of| paths(args, of)),
        screen: screen(look),
    };
    let mut done = Printed::Done;
    if args.svg.is_some() || args.png.is_some() {
        done = pictures(args, &views, &asked)?;
        // The picture of a view stands for its text, where nothing else is asked for.
        if asked.len() <= 1 && args.html.is_none() && !args.csv && !args.json {
            return Ok(done);
        }
    }
    if let Some(path) = &args.html {
        done = both(done, save(path, views.page(&asked).as_bytes()));
        // The page stands for the text, too.
        if !args.csv && !args.json {
            return Ok(done);
        }
    }
    let asked = if asked.is_empty() { vec![View::Overview] } else { asked };
    let text = if args.csv {
        views.csv(&asked)
    } else if args.json {
        views.json(&asked)
    } else {
        text(args, &views, &asked)
    };
    Ok(both(done, TOOL.print(text.as_bytes())))
}

/// What the views may take: where no terminal limits them, as much as text has.
fn screen(look: Look) -> Screen {
    let width = if look.has_width { look.width } else { PROSE_WIDTH };
    Screen { width, unicode: look.unicode, color: look.color }
}

/// The order of rows, and how many are shown.
fn order(args: &Args) -> MpiOrder {
    let sort = args.sort.and_then(|sort| sort.mpi);
    MpiOrder { sort, ascending: args.ascending, top: args.top }
}

/// Two profiles side by side.
fn compare(
    args: &Args,
    input: &mut MpiInput<'_>,
    profiles: &[MpiProfile],
    names: &[OsString],
) -> Result<Printed, u8> {
    let [before, after] = names else { return Err(exit::USAGE) };
    let (before, after) =
        (input.named_launch(profiles, before)?, input.named_launch(profiles, after)?);
    let look = Look::of(&Environment::of_process(), args.color, &stdout());
    let screen = screen(look);
    let views = |profile| Views {
        profile,
        calibration: None,
        processors: None,
        replay: None,
        paths: paths(args, profile),
        worlds: WorldViews::default(),
        order: order(args),
        screen,
    };
    let (before, after) = (views(&before), views(&after));
    let text = if args.csv {
        compare_csv(&before, &after)
    } else if args.json {
        compare_json(&before, &after)
    } else {
        compare_text(&before, &after)
    };
    Ok(TOOL.print(text.as_bytes()))
}

/// Whether a view names the rank for which the others wait.
fn asks_for_culprit(asked: &[View]) -> bool {
    asked.is_empty() || asked.contains(&View::Overview) || asked.contains(&View::Waits)
}

/// Whether a view shows call paths. The first sentence names the source where waits were told apart.
fn needs_paths(asked: &[View], profile: &MpiProfile) -> bool {
    let shown = [View::Paths, View::Partners];
    let named = asked.is_empty() || asked.contains(&View::Waits);
    let stands = profile.ranks.iter().any(|rank| rank.last.is_some());
    asked.iter().any(|view| shown.contains(view))
        || named && (profile.total.waits.measured || stands)
}

/// The call paths of a profile, with what their frames are in the source; None if they were not
/// counted.
pub fn paths(args: &Args, profile: &MpiProfile) -> Option<PathViews> {
    let paths = LaunchPaths::of(profile)?;
    let (source, failed) = Symbols::default().of(&paths);
    let why = |why: &NoSymbols| match why {
        NoSymbols::Gone => "its file is not here",
        NoSymbols::Changed => "its file is not the one that ran",
    };
    let nameless = failed.iter().map(|(module, cause)| (module.file.clone(), why(cause)));
    let nameless = nameless.collect();
    Some(PathViews { paths, source, by_rank: args.mpi.paths == Some(PathsOf::Ranks), nameless })
}

/// The call that started a world, in words; None if several are possible that differ.
pub fn world_started(args: &Args, link: &WorldLink<'_>) -> Option<String> {
    link_started_by(paths(args, link.parent).as_ref(), link)
}

/// From where a routine was called for most of its time, by its name without `MPI_`; None if it was not called by a path
/// that is known.
pub fn called_at(paths: &PathViews, profile: &MpiProfile, routine: &str) -> Option<String> {
    let mut known = profile.total.routines.iter().map(|of| of.number);
    let number = known.find(|number| profile.routines.name(*number) == routine)?;
    paths.longest_of(number)
}

/// Where in the source a rank started processes last, in a sentence; None if call paths were not counted.
pub fn started_at(args: &Args, profile: &MpiProfile, rank: u32) -> Option<String> {
    let start = profile.ranks.iter().find(|known| known.rank == rank)?.started.last()?;
    let call = started_by(Some(&paths(args, profile)?), rank, start);
    Some(format!("It starts them by {call}."))
}

/// Says which subtotals there are; the exit code.
fn no_subtotal(profile: &MpiProfile, at: u32) -> u8 {
    let numbers = profile.subtotal_numbers();
    let hint = match (numbers.first(), numbers.last()) {
        (Some(first), Some(last)) => format!("there are {first} to {last}"),
        _ => "the program writes one where it calls MPI_Pcontrol(2) or MPI_Pcontrol(3)".to_owned(),
    };
    TOOL.error(&format!("no subtotal {at} in the profile"), None, &hint);
    exit::NO_PES
}

/// The views, one blank line between them.
fn text(args: &Args, views: &Views<'_>, asked: &[View]) -> String {
    if !args.no_heading {
        return views.text_with_heading(asked);
    }
    let parts: Vec<String> = asked.iter().map(|view| views.text(*view)).collect();
    parts.join("\n")
}

fn pictures(args: &Args, views: &Views<'_>, asked: &[View]) -> Result<Printed, u8> {
    let view = asked.first().copied().unwrap_or(View::Overview);
    let Some(chart) = views.picture(view) else {
        let hint = "--peers, --sizes and --efficiency have one";
        TOOL.error(&"this view has no picture", None, hint);
        return Err(exit::USAGE);
    };
    let mut done = Printed::Done;
    if let Some(path) = &args.svg {
        done = both(done, save(path, chart.picture(Size::default()).svg().as_bytes()));
    }
    if let Some(path) = &args.png {
        done = both(done, save(path, &chart.picture(Size::default()).png(PNG_SCALE)));
    }
    Ok(done)
}
