//! What stands above every view, and what must be known to read it.

use std::collections::BTreeSet;

use topas_data::pes::PeRange;
use topas_format::civil::{Civil, Date, Time};
use topas_mpi_data::{Ending, MpiProfile, MpiRank, MpiRecordFacts, MpiSums, Origin, RoutineAmount};

use super::Views;
use super::amount::routine_name;
use crate::number::{percent_of, seconds};
use crate::wording::{clean, count, count_of, paragraph, some_pes};

/// Ranges of ranks that are named in a note.
const NAMED: usize = 8;

/// From this share of the time on the measurement is worth a note: 1 in so many.
const HEAVY: u128 = 100;

/// The measurement takes less of a call, in ns; what is more is of its beginning and end.
const MOST_OF_A_CALL: u128 = 2_000;

/// Day and time.
pub(super) fn when(date: Date, time: Time) -> String {
    Civil { date, time }.to_string()
}

/// Program, user, ranks, hosts, when, id.
pub(super) fn first_line(profile: &MpiProfile) -> String {
    let facts = &profile.facts;
    let name = |bytes: &[u8]| crate::wording::named(bytes);
    let present = profile.total.ranks;
    let ranks = match facts.npes {
        Some(npes) if u64::from(npes) != present => {
            format!("{present} of {}", count(npes.into(), "rank"))
        }
        _ => count(present, "rank"),
    };
    let hosts = match (&Vec::from_iter(hosts(profile))[..], &facts.hosts[..]) {
        // A sum over ranks tells where the first of them was.
        ([], [one]) if !one.is_empty() && present > 1 => format!(", the first on {}", clean(one)),
        ([], [one]) if !one.is_empty() => format!(" on {}", clean(one)),
        ([], []) | ([], [_]) => String::new(),
        ([one], _) => format!(" on {}", clean(one)),
        ([], many) => format!(" on {}", count(many.len() as u64, "host")),
        (many, _) => format!(" on {}", count(many.len() as u64, "host")),
    };
    format!(
        "{} of {}, {ranks}{hosts}, {}, launch {}",
        crate::wording::programs(&facts.exe, &facts.other_exes, profile.scripts()),
        name(&facts.user),
        when(facts.date, facts.time),
        name(&facts.id)
    )
}

/// Hosts of all ranks; empty unless all are told.
pub(super) fn hosts(profile: &MpiProfile) -> BTreeSet<&[u8]> {
    let told = profile.ranks.iter().filter(|rank| !rank.host.is_empty());
    if told.clone().count() as u64 != profile.total.ranks {
        return BTreeSet::new();
    }
    told.map(|rank| &*rank.host).collect()
}

/// The launch in two lines.
pub(super) fn heading(profile: &MpiProfile) -> String {
    let facts = &profile.facts;
    let mut words = Vec::new();
    if !facts.mpi.is_empty() {
        words.push(clean(&facts.mpi));
    }
    if !facts.languages.is_empty() {
        let names: Vec<&str> = facts.languages.iter().map(|name| language(name)).collect();
        words.push(clean(names.join(", ").as_bytes()));
    }
    words.extend(facts.level.map(|level| format!("MPI_THREAD_{}", level.name().to_uppercase())));
    if facts.profiling_interface {
        words.push("calls the profiling interface".to_owned());
    }
    if !facts.job.is_empty() {
        words.push(format!("job {}", clean(&facts.job)));
    }
    words.extend(ending(facts, profile.origin));
    let mut out = first_line(profile) + "\n";
    if !words.is_empty() {
        out += &words.join("; ");
        out.push('\n');
    }
    out
}

/// A language binding as people call it.
fn language(name: &str) -> &str {
    match name {
        "c" => "C",
        "cxx" => "C++",
        "mpifh" => "mpif.h or use mpi",
        "f08" => "use mpi_f08",
        "python" => "Python",
        "rust" => "Rust",
        other => other,
    }
}

fn ending(facts: &MpiRecordFacts, origin: Origin) -> Option<String> {
    let text = match facts.ending {
        Some(Ending::Finalize) => "ended by MPI_Finalize".to_owned(),
        Some(Ending::Abort(code)) => format!("ended by MPI_Abort, code {code}"),
        Some(Ending::Exit) => "ended without MPI_Finalize".to_owned(),
        Some(Ending::Lost) => "ended without a word".to_owned(),
        Some(Ending::Running) => "running".to_owned(),
        None if origin == Origin::Live => "running".to_owned(),
        None => return None,
    };
    Some(text)
}

/// Notes, a paragraph each.
pub(super) fn notes(views: &Views<'_>) -> String {
    note_list(views).iter().map(|note| paragraph(note, views.columns())).collect()
}

/// The same, not broken into lines.
pub(super) fn note_list(views: &Views<'_>) -> Vec<String> {
    let profile = views.profile;
    let sums = &profile.total;
    let mut notes = Vec::new();
    match profile.origin {
        Origin::Live => notes.push(
            "Seen while it runs: figures are of until now. Of a call that goes on the time is \
             told, and not yet what it moves."
                .to_owned(),
        ),
        Origin::Left => {
            notes.push("Left by ranks that are gone: what they had counted by then.".to_owned());
        }
        Origin::Lines => {}
    }
    notes.extend(views.worlds.sentences.iter().cloned());
    notes.extend(missing(profile));
    if let [first, others @ ..] = &profile.subtotal_numbers()[..] {
        let numbers = match others.last() {
            None => format!("subtotal {first}"),
            Some(last) => format!("subtotals {first} to {last}"),
        };
        notes.push(format!("The program wrote {numbers} by MPI_Pcontrol: --at N shows one."));
    }
    if profile.lost_lines > 0 {
        notes.push(format!(
            "{} of the profile missing: what they told is in no figure.",
            if profile.lost_lines == 1 {
                "1 line is".to_owned()
            } else {
                format!("{} lines are", profile.lost_lines)
            }
        ));
    }
    notes.extend(unended(profile));
    notes.extend(shared_processors(profile, views.processors));
    if !profile.facts.missed.is_empty() {
        let words: Vec<String> =
            profile.facts.missed.iter().map(|word| clean(word.as_bytes())).collect();
        notes.push(format!("Not counted: {}.", words.join(", ")));
    }
    let uncounted: Vec<String> = sums
        .routines
        .iter()
        .filter(|of| {
            let amounts = [of.count, of.sends, of.sent, of.receives, of.received];
            amounts
                .iter()
                .any(|of| matches!(of, RoutineAmount::NotCounted | RoutineAmount::AtLeast(_)))
        })
        .map(|routine| routine_name(profile, routine.number))
        .collect();
    if !uncounted.is_empty() {
        notes
            .push(format!("Calls of which bytes or counts are missing: {}.", uncounted.join(", ")));
    }
    if sums.overhead.saturating_mul(HEAVY) > sums.wall {
        let why = if sums.overhead > sums.calls().saturating_mul(MOST_OF_A_CALL) {
            "the run is short, and its beginning and end are measured, too"
        } else {
            "calls are short and many"
        };
        notes.push(format!(
            "The measurement itself took {} s, {} of the time: {why}.",
            seconds(sums.overhead, 6),
            percent_of(sums.overhead, sums.wall)
        ));
    }
    notes.extend(paused(sums));
    if sums.threads > 1 {
        notes.push(format!(
            "Up to {} threads of a rank called MPI: times in MPI are sums over threads; time \
             outside MPI is that of the thread that was in MPI longest.",
            sums.threads
        ));
    }
    notes
}

/// That measuring was paused, if it was.
pub fn paused(sums: &MpiSums) -> Option<String> {
    (sums.paused > 0).then(|| {
        format!(
            "Measuring was paused for {} s, {} of the time: nothing is known of that.",
            seconds(sums.paused, 6),
            percent_of(sums.paused, sums.wall)
        )
    })
}

/// That a node has fewer processors than ranks: a sentence; None if it has enough, or that is not known.
pub fn shared_processors(profile: &MpiProfile, processors: Option<u64>) -> Option<String> {
    crowded_node(profile.facts.npes.map(u64::from)?, None, processors?)
}

/// The same of so many ranks and processors. `launch` is how many ranks the launch has, if nobody knows where some of them
/// were: these may have been there, too.
pub fn crowded_node(ranks: u64, launch: Option<u64>, processors: u64) -> Option<String> {
    (ranks > processors).then(|| {
        let ranks = count_of(ranks, launch.unwrap_or(ranks), "rank");
        let processors = count(processors, "processor");
        format!("{ranks} on a node of {processors}: they waited for processors, too.")
    })
}

/// Calls that had not ended when their ranks did; None if there are none.
pub(super) fn unended(profile: &MpiProfile) -> Option<String> {
    let calls: Vec<String> = profile
        .total
        .routines
        .iter()
        .filter(|routine| routine.unended > 0)
        .map(|routine| {
            let calls = count(u64::try_from(routine.unended).unwrap_or(u64::MAX), "call");
            let name = routine_name(profile, routine.number);
            match routine.unended_time {
                0 => format!("{name} {calls}, for a time that nobody noted"),
                time => format!("{name} {calls}, {} s", seconds(time, 3)),
            }
        })
        .collect();
    (!calls.is_empty()).then(|| {
        format!(
            "Had not ended when their ranks did: {}. The time of these calls is up to the last sign \
             of life of each rank.",
            calls.join("; ")
        )
    })
}

/// Ranks that are not in it, and ranks that ended otherwise than the launch.
fn missing(profile: &MpiProfile) -> Vec<String> {
    let mut notes = Vec::new();
    let present = profile.total.ranks;
    let Some(npes) = profile.facts.npes.map(u64::from) else { return notes };
    let all_told = profile.ranks.len() as u64 == present;
    if present < npes {
        let which = if all_told && present > 0 {
            format!(": {}", some_pes(&absent(&profile.ranks, npes), NAMED))
        } else {
            String::new()
        };
        notes.push(format!(
            "{} of {} left no profile{which}. All figures are of the others.",
            npes - present,
            count(npes, "rank")
        ));
    }
    for (ending, words) in
        [(Ending::Lost, "ended without a word"), (Ending::Exit, "ended without MPI_Finalize")]
    {
        let these: Vec<&MpiRank> =
            profile.ranks.iter().filter(|rank| rank.ending == Some(ending)).collect();
        if !these.is_empty() && (these.len() as u64) < present {
            let ranges = ranges(these.iter().map(|rank| u64::from(rank.rank)));
            notes.push(format!(
                "{} {words}: {}.",
                count(these.len() as u64, "rank"),
                some_pes(&ranges, NAMED)
            ));
        }
    }
    notes
}

/// Ranks from 0 to `npes` that are not among those that are known, which ascend.
pub(super) fn absent(known: &[MpiRank], npes: u64) -> Vec<PeRange> {
    let mut known = known.iter().map(|rank| u64::from(rank.rank)).peekable();
    ranges((0..npes).filter(move |rank| {
        while known.next_if(|known| known < rank).is_some() {}
        known.peek() != Some(rank)
    }))
}

/// Ranks, which ascend, as ranges.
pub(super) fn ranges(ranks: impl Iterator<Item = u64>) -> Vec<PeRange> {
    let mut ranges: Vec<PeRange> = Vec::new();
    for rank in ranks.filter_map(|rank| u32::try_from(rank).ok()) {
        match ranges.last_mut() {
            Some(range) if range.last.checked_add(1) == Some(rank) => range.last = rank,
            _ => ranges.push(PeRange { first: rank, last: rank }),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_ranks_that_are_missing_it_is_not_said_that_they_were_elsewhere() {
        let all = Some("4 ranks on a node of 2 processors: they waited for processors, too.");
        assert_eq!(crowded_node(4, None, 2).as_deref(), all);
        let some = Some("3 of 4 ranks on a node of 2 processors: they waited for processors, too.");
        assert_eq!(crowded_node(3, Some(4), 2).as_deref(), some);
        assert_eq!(crowded_node(2, Some(4), 2), None);
    }
}
