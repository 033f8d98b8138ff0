//! What the mapped file of a rank says of its launch.

use topas_format::civil::Civil;
use topas_mpi_profile::layout::{Header, RankState, Worlds, flag};
use topas_mpi_profile::lines::{LANGUAGE_WORDS, MISSED_WORDS, SpawnedWorld};

use super::profile::{Ending, LEVELS, MpiRecordFacts};
use super::routine::{RoutineNumber, Routines};
use super::spool::{Spool, text};
use topas_data::clock;

/// Facts of the launch, as one of its ranks has them that ended then, in ns since 1970.
pub(super) fn facts(spool: &Spool, running: bool, ended: u64) -> MpiRecordFacts {
    let header = &spool.header;
    let epoch = (ended / 1_000_000_000).cast_signed();
    let Civil { date, time } = clock::local(epoch);
    let words = LANGUAGE_WORDS.iter().filter(|(bit, _)| header.languages & bit != 0);
    MpiRecordFacts {
        id: text(&header.id).into(),
        npes: (header.ranks > 0).then_some(header.ranks),
        user: text(&header.user).into(),
        uid: Some(spool.owner.into()),
        exe: text(&header.exe).into(),
        other_exes: Vec::new(),
        date,
        time,
        epoch: u64::try_from(epoch).ok(),
        hosts: vec![text(&header.host).into()],
        job: text(&header.job).into(),
        step: text(&header.step).into(),
        part: text(&header.part).into(),
        mpi: text(&header.mpi).into(),
        ending: Some(ending(spool, running)),
        languages: words.map(|(_, word)| (*word).into()).collect(),
        profiling_interface: header.flags & flag::PROFILING != 0,
        level: LEVELS.get(header.level as usize).copied(),
        missed: missed(header, header.flags),
        switches: switches(&header.switches),
        spawned: SpawnedWorld::of(header),
        launcher: match header.worlds {
            Worlds { count: 0, spawned: 0, .. } => 0,
            Worlds { launcher, .. } => launcher,
        },
        data_file: spool.user_file().ok().flatten(),
    }
}

/// How the rank ended, or that it did not.
pub(super) fn ending(spool: &Spool, running: bool) -> Ending {
    match spool.state() {
        _ if running => Ending::Running,
        Some(RankState::Written) => Ending::Finalize,
        Some(RankState::Aborted) => Ending::Abort(spool.header.code),
        Some(RankState::Exited) => Ending::Exit,
        Some(RankState::Running | RankState::Finalizing) | None => Ending::Lost,
    }
}

/// What was not counted, in words, and the functions of which bytes were not.
pub(super) fn missed(header: &Header, flags: u64) -> Vec<Box<str>> {
    let words = MISSED_WORDS.iter().filter(|(bit, _)| flags & bit != 0);
    let mut missed: Vec<Box<str>> = words.map(|(_, word)| (*word).into()).collect();
    let names = Routines::default();
    let functions = header.missed.iter().filter_map(|number| number.checked_sub(1));
    let functions = functions.map(RoutineNumber).filter(|number| number.function().is_some());
    missed.extend(functions.map(|number| Box::from(names.name(number))));
    missed
}

/// `NAME=VALUE` or `NAME`, each ended by a NUL.
fn switches(all: &[u8]) -> Vec<(Box<str>, Option<Box<str>>)> {
    let texts = all.split(|byte| *byte == 0).take_while(|text| !text.is_empty());
    let halves = texts.filter_map(|text| {
        let mut halves = text.splitn(2, |byte| *byte == b'=');
        let text = |bytes: &[u8]| -> Box<str> { String::from_utf8_lossy(bytes).into() };
        Some((text(halves.next()?), halves.next().map(text)))
    });
    halves.collect()
}
