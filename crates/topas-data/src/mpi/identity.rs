//! What the mapped file of a rank says of its launch.

use std::mem::offset_of;

use topas_format::civil::Civil;
use topas_mpi_profile::layout::{Header, Moment, State, flag, language};

use super::profile::{Ending, Facts, LEVELS};
use super::routine::{RoutineNumber, Routines};
use super::spool::{Part, Spool};
use crate::clock;

/// Facts of the launch, as one of its ranks has them.
pub(super) fn facts(spool: &Spool, running: bool) -> Facts {
    let header = spool.header();
    macro_rules! text {
        ($field:ident, $next:ident) => {
            header.text(
                offset_of!(Header, $field),
                offset_of!(Header, $next) - offset_of!(Header, $field),
            )
        };
    }
    let latest = header.u64(offset_of!(Header, latest) + offset_of!(Moment, realtime));
    let epoch = if running { clock::epoch() } else { (latest / 1_000_000_000).cast_signed() };
    let Civil { date, time } = clock::local(epoch);
    let ranks = header.u32(offset_of!(Header, ranks));
    let flags = header.u64(offset_of!(Header, flags));
    let languages = header.u32(offset_of!(Header, languages));
    let level = header.u32(offset_of!(Header, level)) as usize;
    let spoken = [(language::C, "c"), (language::FORTRAN, "mpifh"), (language::F08, "f08")];
    Facts {
        id: text!(id, host).into(),
        npes: (ranks > 0).then_some(ranks),
        user: text!(user, exe).into(),
        uid: Some(spool.owner.into()),
        exe: text!(exe, job).into(),
        date,
        time,
        epoch: u64::try_from(epoch).ok(),
        hosts: vec![text!(host, user).into()],
        job: text!(job, step).into(),
        step: text!(step, part).into(),
        part: text!(part, mpi).into(),
        mpi: text!(mpi, switches).into(),
        ending: Some(ending(spool, running)),
        languages: spoken
            .into_iter()
            .filter(|(bit, _)| languages & bit != 0)
            .map(|(_, name)| name.into())
            .collect(),
        profiling_interface: flags & flag::PROFILING != 0,
        level: LEVELS.get(level).copied(),
        missed: missed(header),
        switches: switches(header),
    }
}

/// Node of the rank.
pub(super) fn host(header: Part<'_>) -> Box<[u8]> {
    let room = offset_of!(Header, user) - offset_of!(Header, host);
    header.text(offset_of!(Header, host), room).into()
}

/// How the rank ended, or that it did not.
pub(super) fn ending(spool: &Spool, running: bool) -> Ending {
    match spool.state() {
        _ if running => Ending::Running,
        Some(State::Written) => Ending::Finalize,
        Some(State::Aborted) => {
            Ending::Abort(spool.header().u32(offset_of!(Header, code)).cast_signed())
        }
        Some(State::Exited) => Ending::Exit,
        Some(State::Running | State::Finalizing) | None => Ending::Lost,
    }
}

/// What was not counted, in words.
pub(super) fn missed(header: Part<'_>) -> Vec<Box<str>> {
    let flags = header.u64(offset_of!(Header, flags));
    let words = [
        (flag::UNKNOWN_MPI, "mpi"),
        (flag::THREADS_LOST, "threads"),
        (flag::REQUESTS_LOST, "requests"),
    ];
    let mut missed: Vec<Box<str>> = words
        .into_iter()
        .filter(|(bit, _)| flags & bit != 0)
        .map(|(_, word)| word.into())
        .collect();
    let names = Routines::default();
    for place in 0..(size_of::<Header>() - offset_of!(Header, missed)) / 2 {
        let number = header.u16(offset_of!(Header, missed) + place * 2);
        if let Some(number) = number.checked_sub(1).map(RoutineNumber)
            && number.function().is_some()
        {
            missed.push(names.name(number).into());
        }
    }
    missed
}

fn switches(header: Part<'_>) -> Vec<(Box<str>, Box<str>)> {
    let room = offset_of!(Header, subtotals) - offset_of!(Header, switches);
    let all = header.at(offset_of!(Header, switches), room).0;
    let texts = all.split(|byte| *byte == 0).take_while(|text| !text.is_empty());
    let halves = texts.filter_map(|text| {
        let mut halves = text.splitn(2, |byte| *byte == b'=');
        let text = |bytes: &[u8]| -> Box<str> { String::from_utf8_lossy(bytes).into() };
        Some((text(halves.next()?), text(halves.next()?)))
    });
    halves.collect()
}
