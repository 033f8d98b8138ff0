//! What the page says in words and numbers: for whom the ranks waited, what to know, and the table of
//! the ranks.

use maud::{Markup, html};
use topas_format::shown::Shown;
use topas_mpi_data::{HostClocks, MpiProfile, SECOND_RANK, TimeClass, Timeline, TimelineRow};

use super::{PageWorld, damage, lacks};
use crate::html::wide;
use crate::mpi_views::{
    PathViews, as_long, call_places, ending_words, late_to_init, measured, places_waited, sentence,
};
use crate::number::{duration, grouped};
use crate::wording::count;

/// Most rows of the table.
const MOST_ROWS: usize = 1000;

/// A share of waiting below which nobody is named: of the time of all rows.
const LITTLE: f64 = 0.01;

/// What a class is called.
pub fn class_words(class: TimeClass) -> &'static str {
    match class {
        TimeClass::Outside => "computing",
        TimeClass::PointToPoint => "point to point",
        TimeClass::LateSender => "wait for late sender",
        TimeClass::LateReceiver => "wait for late receiver",
        TimeClass::Collective => "collective",
        TimeClass::CollectiveWait => "wait in collective",
        TimeClass::OneSided => "one-sided",
        TimeClass::File => "file",
        TimeClass::Other => "other MPI",
        TimeClass::NotInLog => "not in the log",
        TimeClass::Paused => "measuring paused",
    }
}

/// The number of a world of a run, as topasview --why counts the worlds.
pub(super) fn world_number(timeline: &Timeline<'_>, world: usize) -> usize {
    timeline.worlds.get(world).map_or(world, |world| world.asked) + 1
}

/// The name of a process: its rank, and its world if there are several.
pub(super) fn rank_name(timeline: &Timeline<'_>, process: usize) -> String {
    let rank = timeline.processes.get(process).map_or(0, |(_, process)| process.rank);
    if timeline.worlds.len() > 1 {
        format!("{rank} of world {}", world_number(timeline, timeline.world_of(process)))
    } else {
        rank.to_string()
    }
}

/// The name of a row: that of its process, and the thread if there are several.
pub(super) fn name(timeline: &Timeline<'_>, row: &TimelineRow) -> String {
    let rank = rank_name(timeline, row.process);
    if timeline.threads_of(row.process) > 1 {
        format!("{rank}, thread {}", row.thread)
    } else {
        rank
    }
}

fn waited(row: &TimelineRow) -> u64 {
    let waits = TimeClass::ALL.iter().filter(|class| class.is_wait());
    sum(waits.map(|class| row.times[*class as usize]))
}

/// The name of the row at a place.
pub(super) fn rank_of(timeline: &Timeline<'_>, place: usize) -> String {
    timeline.rows.get(place).map_or_else(String::new, |row| name(timeline, row))
}

/// Nanoseconds in s. Of a run of less than a second, microseconds can be seen.
pub(super) fn seconds(timeline: &Timeline<'_>, nanoseconds: u64) -> String {
    const SECOND: u64 = 1_000_000_000;
    let digits = if timeline.ended < SECOND && nanoseconds < SECOND { 6 } else { 3 };
    format!("{:.digits$}", nanoseconds as f64 / 1e9)
}

/// Of all rows together: numbers that a damaged log tells may add up to anything.
pub(super) fn sum(times: impl Iterator<Item = u64>) -> u64 {
    times.fold(0, u64::saturating_add)
}

pub(super) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1}", part as f64 / whole as f64 * 100.0) }
}

/// The row that is late for most of what the others waited, if that is more than a little, and more than the waits that
/// did not end, for which any row may be the reason.
fn late(timeline: &Timeline<'_>) -> Option<usize> {
    let place = timeline.late_row()?;
    let delayed = timeline.rows.get(place)?.delayed;
    (is_enough(timeline, delayed) && delayed > unended(timeline)).then_some(place)
}

/// Whether waits for a row are more than a little.
fn is_enough(timeline: &Timeline<'_>, delayed: u64) -> bool {
    let (known, _) = lacks::known_and_all(timeline);
    delayed as f64 > LITTLE * known as f64
}

/// What all rows waited in calls that did not end, in ns.
fn unended(timeline: &Timeline<'_>) -> u64 {
    sum(timeline.rows.iter().map(TimelineRow::unended_wait))
}

/// The rank that is late, as a row, and for whom the ranks waited, in some sentences.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// The row of the rank that is late for most of what the others waited
    pub(super) late: Option<usize>,
    /// The sentences, if ranks waited
    pub(super) words: Option<String>,
}

/// A log tells less than this share of the waits of which it lacks much.
const MUCH: f64 = 0.9;

impl Verdict {
    /// By the log alone, or by the profile where the log lacks much of what that has measured: which requests a call
    /// has completed, say, or for whom ranks wait that flush a window. Of several worlds, no profile tells of all.
    pub(super) fn of(timeline: &Timeline<'_>, worlds: &[PageWorld<'_>]) -> Verdict {
        let told = sum(timeline.rows.iter().map(waited)).saturating_sub(unended(timeline));
        let is_damaged = damage::is_damaged(timeline);
        let profile_of = |world: usize| worlds.get(world).and_then(|world| world.profile);
        let measured = profile_of(0)
            .filter(|_| timeline.worlds.len() <= 1)
            .filter(|_| timeline.missing_ranks == 0 || is_damaged)
            .and_then(|(of, paths)| Some((of, paths, measured(of)?)));
        let row_of = |rank: Option<u32>| {
            let rank_of = |row: &TimelineRow| Some(timeline.processes.get(row.process)?.1.rank);
            rank.and_then(|rank| timeline.rows.iter().position(|row| rank_of(row) == Some(rank)))
        };
        let lacks = |time: u128| is_damaged || (told as f64) < MUCH * time as f64;
        let is_in_turn = measured.as_ref().is_some_and(|(_, _, waits)| waits.is_in_turn);
        if let Some((of, paths, waits)) =
            measured.filter(|(_, _, waits)| lacks(waits.time) || waits.is_probable)
        {
            let words = format!(
                "The log tells {} s of waiting for others, of {} s that the profile beside the log has measured. By the \
                 profile: {}",
                seconds(timeline, told),
                seconds(timeline, u64::try_from(waits.time).unwrap_or(u64::MAX)),
                sentence(of, paths).unwrap_or_default()
            );
            return Verdict { late: row_of(waits.rank), words: Some(words) };
        }
        if is_damaged {
            return Verdict { late: None, words: Some(damage::unknown_waits(timeline)) };
        }
        // In a circle that each rank holds up in turn, most delays may seem to arise in any of them.
        let late = late(timeline).filter(|_| !is_in_turn);
        let place = late.and_then(|row| {
            let process = timeline.rows.get(row)?.process;
            let (of, paths) = profile_of(timeline.world_of(process))?;
            let (_, process) = timeline.processes.get(process)?;
            let place = paths.and_then(|paths| places_waited(paths, of, process.rank));
            [place, as_long(of, process.rank)]
                .into_iter()
                .flatten()
                .reduce(|all, more| all + " " + &more)
        });
        Verdict { late, words: finding(timeline, late, is_in_turn, place) }
    }
}

/// What is said before all else, by the profiles of the worlds: which ranks ended their launch or were lost first, and which
/// came late to `MPI_Init`, of which no log knows.
pub(super) fn before(worlds: &[PageWorld<'_>]) -> Vec<String> {
    let of = |(profile, paths): (&MpiProfile, Option<&PathViews>)| {
        let places = paths.map(|paths| call_places(profile, paths)).unwrap_or_default();
        [ending_words(profile, &places), late_to_init(profile)]
    };
    worlds.iter().filter_map(|world| world.profile).flat_map(of).flatten().collect()
}

/// How long the ranks waited for each other, without a full stop; None if they did not.
fn waiting(timeline: &Timeline<'_>) -> Option<String> {
    let (known, all) = lacks::known_and_all(timeline);
    let waits = sum(timeline.rows.iter().map(waited));
    let unended = match unended(timeline) {
        0 => String::new(),
        unended => format!(
            "; {} s of this, {} %, are in calls that did not end, and the log does not tell for whom these waited",
            seconds(timeline, unended),
            percent(unended, waits)
        ),
    };
    let told =
        if timeline.untold > 0 || known < all { "As far as the log tells, the" } else { "The" };
    // What worlds wait for each other may be much more.
    let whose = if timeline.worlds.len() > 1 { "others of their own world" } else { "each other" };
    let of = if timeline.rows.len() > timeline.processes.len() { "threads" } else { "ranks" };
    (waits > 0).then(|| {
        format!(
            "{told} ranks waited for {whose} for {} s, {} % of the time of all {of}{unended}",
            seconds(timeline, waits),
            percent(waits, all)
        )
    })
}

/// That no rank is late for most of so much that the ranks waited, in ns, and in which most of it arose, without a full
/// stop; None if it is not known of any of it.
fn largest_delays(timeline: &Timeline<'_>, waits: u64, is_in_turn: bool) -> Option<String> {
    let mut order: Vec<&TimelineRow> = timeline.rows.iter().filter(|row| row.delayed > 0).collect();
    order.sort_by_key(|row| std::cmp::Reverse(row.delayed));
    let all = sum(order.iter().map(|row| row.delayed));
    order.truncate(2);
    let first = order.first()?;
    let both = sum(order.iter().map(|row| row.delayed));
    let one = |row: &&TimelineRow| {
        let (rank, share) = (name(timeline, row), percent(row.delayed, waits));
        format!("rank {rank} ({} s, {share} %)", seconds(timeline, row.delayed))
    };
    let most = if both >= all / 2 { "most" } else { "the largest" };
    let all_is_little = !is_enough(timeline, all);
    let is_little =
        all_is_little || timeline.late_row().is_some() && !is_enough(timeline, first.delayed);
    let (nobody, known) = match unended(timeline) {
        _ if is_in_turn => ("By the profile, they wait for each other in turn", ""),
        0 if is_little => ("That is little", ""),
        0 => ("No rank is late for most of it", ""),
        _ => ("No rank is known to be late for most of it", " that are known"),
    };
    if all_is_little {
        return Some(nobody.to_owned());
    }
    let named: Vec<String> = order.iter().map(one).collect();
    Some(format!("{nobody}; {most} delays{known} arose in {}", named.join(" and ")))
}

/// For whom the ranks waited, in some sentences: `late` for one rank, or by the profile for each other in turn. `place` is the
/// sentence that says where in the source, if that is known.
fn finding(
    timeline: &Timeline<'_>,
    late: Option<usize>,
    is_in_turn: bool,
    place: Option<String>,
) -> Option<String> {
    let waiting = waiting(timeline)?;
    let waits = sum(timeline.rows.iter().map(waited));
    let Some(row) = late.and_then(|place| timeline.rows.get(place)) else {
        return Some(match largest_delays(timeline, waits, is_in_turn) {
            Some(words) => format!("{waiting}. {words}."),
            None => format!("{waiting}."),
        });
    };
    let rank = name(timeline, row);
    let (life, of_life) = lacks::of_row(row);
    let place = place.map_or_else(String::new, |place| place + " ");
    let others = timeline.rows.iter().enumerate().filter(|(other, _)| Some(*other) != late);
    let second = others.map(|(_, other)| other).max_by_key(|other| other.delayed);
    let also = second.filter(|other| other.delayed as f64 >= SECOND_RANK * waits as f64);
    let also = also.map_or_else(String::new, |other| {
        let (time, share) = (seconds(timeline, other.delayed), percent(other.delayed, waits));
        format!(", and {time} s, {share} %, in rank {}", name(timeline, other))
    });
    Some(format!(
        "{waiting}. Rank {rank} is late: {} s of this, {} %, are delays that arose there{also}. {place}Rank {rank} itself \
         computed for {} % of {of_life}, and waited for others for {} %.",
        seconds(timeline, row.delayed),
        percent(row.delayed, waits),
        percent(row.times[TimeClass::Outside as usize], life),
        percent(waited(row), life),
    ))
}

/// What has to be known to read the picture; a paragraph each.
pub(super) fn notes(timeline: &Timeline<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(damage::notes(timeline));
    if timeline.missing_ranks > 0 && !timeline.is_cut {
        let ranks = count(timeline.missing_ranks, "rank");
        let are = if timeline.missing_ranks == 1 { "is" } else { "are" };
        notes.push(format!(
            "{ranks} of the launch {are} not in these logs. A run on several hosts leaves a log on each; waits \
             for ranks that are missing are not known."
        ));
    }
    notes.extend(lacks::ended_early(timeline));
    if timeline.worlds.len() > 1 {
        notes.push(
            "The rows stand by worlds: that of the launcher, and those that its ranks started. All have one time. \
             Each world is read by itself: messages and waits between worlds are not told."
                .to_owned(),
        );
    }
    if timeline.other_launches > 0 {
        let launches = match timeline.other_launches {
            1 => "another launch".to_owned(),
            many => format!("{many} other launches"),
        };
        notes.push(format!("The logs hold {launches}; this is the newest, or that of --launch."));
    }
    // Calls that are missing because blocks are damaged are told of above.
    notes.extend(lacks::overwritten(timeline));
    if !timeline.skips.is_empty() {
        notes.push(format!("Passed over: {}.", timeline.skips));
    }
    if timeline.unnamed > 0 {
        notes.push(format!(
            "{} on communicators or windows that the log does not tell apart: waits in them are not known. topas-run \
             --mpi=log,waits numbers these.",
            count(timeline.unnamed, "call")
        ));
    }
    if timeline.untold > 0 {
        notes.push(format!(
            "Of {} the other side could not be told: these waits are not known, and their time stands as point to \
             point, collective or one-sided.",
            count(timeline.untold, "call")
        ));
    }
    if timeline.least_wait > 0 {
        notes.push(format!(
            "There are more messages and waits than the page has room for. Sums are exact. Of single calls, waits \
             below {} us are estimated from the sum of {} calls, and messages that waited less have no arrows.",
            timeline.least_wait / 1000,
            timeline.slice_calls,
        ));
    }
    match timeline.host_clocks {
        HostClocks::One => {}
        HostClocks::TimeOfDay => notes.push(
            "The hosts are put beside each other by their time of day. What is shorter than the difference of \
             their clocks means nothing between ranks of different hosts."
                .to_owned(),
        ),
        HostClocks::Compared { error } => notes.push(format!(
            "The clocks of the hosts were compared at the end of the run, to {}. What is shorter means nothing \
             between ranks of different hosts.",
            duration(error as f64 / 1e9)
        )),
    }
    notes
}

/// The numbers of the states that the program names.
pub(super) fn states(timeline: &Timeline<'_>) -> Markup {
    let all = sum(timeline.rows.iter().flat_map(|row| row.times));
    let mut sums: Vec<_> = timeline.state_sums.iter().collect();
    sums.sort_by_key(|sum| std::cmp::Reverse(sum.time));
    html! {
        p.note {
            "By topas_begin(name) and topas_end(). Times of all ranks in seconds (s), and as a share of the time \
             of all ranks. A state may lie in another one, so shares do not add up to 100 %."
            @if timeline.least_state > 0 {
                " The picture leaves out states that are shorter than " (timeline.least_state / 1000) " us."
            }
        }
        (wide("States that the program names", &html! {
            table {
                thead { tr {
                    th.l scope="col" { "state" } th scope="col" { "how often" }
                    th scope="col" { "time s" } th scope="col" { "share %" }
                } }
                tbody {
                    @for sum in sums.iter().take(MOST_ROWS) {
                        tr {
                            th.l scope="row" { (Shown(&sum.name)) }
                            td { (grouped(&sum.count.to_string())) }
                            td { (seconds(timeline, sum.time)) }
                            td { (percent(sum.time, all)) }
                        }
                    }
                }
            }
        }))
    }
}

/// The numbers of the ranks.
pub(super) fn table(timeline: &Timeline<'_>) -> Markup {
    let used: Vec<TimeClass> = TimeClass::ALL
        .into_iter()
        .filter(|class| timeline.rows.iter().any(|row| row.times[*class as usize] > 0))
        .collect();
    let is_unknown =
        |class: TimeClass, time: u64| time == 0 && damage::is_damaged(timeline) && class.is_wait();
    let cell = |class: TimeClass, row: &TimelineRow| match row.times[class as usize] {
        time if is_unknown(class, time) => "not known".to_owned(),
        time => format!("{} ({} %)", seconds(timeline, time), percent(time, timeline.ended)),
    };
    let mut rows: Vec<&TimelineRow> = timeline.rows.iter().collect();
    if rows.len() > MOST_ROWS {
        rows.sort_by_key(|row| std::cmp::Reverse(row.delayed));
    }
    html! {
        (wide("Time of each rank by class", &html! {
            table {
                thead {
                    tr {
                        th scope="col" { "rank" }
                        th.l scope="col" { "host" }
                        @for class in &used { th scope="col" { (class_words(*class)) " s" } }
                        th scope="col" { "delays of others s" }
                        th scope="col" { "calls" }
                    }
                }
                tbody {
                    @for row in rows.iter().copied().take(MOST_ROWS) {
                        tr {
                            th scope="row" { (name(timeline, row)) (damage::mark(timeline, row)) }
                            td.l { (host(timeline, row)) }
                            @if row.calls == 0 && !damage::mark(timeline, row).is_empty() {
                                td.l colspan=(used.len() + 1) { "not known" }
                            } @else {
                                @for class in &used { td { (cell(*class, row)) } }
                                @if row.delayed == 0 && damage::is_damaged(timeline) {
                                    td { "not known" }
                                } @else {
                                    td { (seconds(timeline, row.delayed)) }
                                }
                            }
                            td { (grouped(&row.counted_calls().to_string())) }
                        }
                    }
                }
            }
        }))
        @if timeline.rows.len() > MOST_ROWS {
            p.note {
                "The table has the " (MOST_ROWS) " of " (timeline.rows.len()) " rows for which others waited longest."
            }
        }
    }
}

fn host(timeline: &Timeline<'_>, row: &TimelineRow) -> String {
    let host = timeline.processes.get(row.process).map(|(_, process)| process.facts.value("host"));
    match host {
        None | Some("") => "-".to_owned(),
        Some(host) => Shown(host.as_bytes()).to_string(),
    }
}
