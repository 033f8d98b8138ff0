//! Call paths as the mapped file of a rank has them.

use topas_mpi_profile::layout::now::NowLine;
use topas_mpi_profile::layout::{
    FUNCTIONS, OFFSET_BITS, PATH_FRAMES, PATH_MODULES, PATHS, PathTable,
};
use topas_mpi_profile::sums::TickLength;

use super::paths::{CallPathSums, PathAmounts, PathEnding, PathFrame, PathModule, RankPaths};
use super::routine::RoutineNumber;
use super::spool::{ThreadPaths, text};

/// Adds the ticks that the call has taken that the thread is in.
pub(super) fn goes_on(table: &mut PathTable, inside: u64) {
    let place = (table.inside as usize).checked_sub(1);
    if let Some(path) = place.and_then(|place| table.path.get_mut(place)) {
        path.ticks = path.ticks.saturating_add(inside);
    }
}

/// The path by which the latest call of a thread came: its number in the rank and its routine; None if it is not
/// known.
pub(super) fn now(table: &PathTable, line: &NowLine) -> Option<(u32, Option<RoutineNumber>)> {
    let path = table.path.get(line.path as usize).filter(|path| line.path > 0 && path.calls > 0)?;
    let routine = path.function.checked_sub(1).filter(|n| usize::from(*n) < FUNCTIONS);
    let number = (table.number as usize * PATHS + line.path as usize).try_into().ok()?;
    Some((number, routine.map(RoutineNumber)))
}

/// Adds the paths of a thread.
pub(super) fn add(to: &mut RankPaths, thread: &ThreadPaths, tick: &TickLength) {
    let ThreadPaths { table, functions } = thread;
    let first = to.modules.len() as u32;
    let modules = (table.modules as usize).min(PATH_MODULES);
    to.modules.extend(table.module.iter().take(modules).map(|module| {
        let bytes = module.build_id.iter().take(module.build_id_length as usize);
        let id: String = match module.build_id_length {
            0 => format!("s{:x}", module.print),
            _ => std::iter::once("b".to_owned()).chain(bytes.map(|b| format!("{b:02x}"))).collect(),
        };
        PathModule { id: id.into(), file: in_words(&module.name), function: None }
    }));
    to.modules.extend(functions.iter().map(|function| PathModule {
        id: format!("p{:x}", function.print).into(),
        file: in_words(&function.file),
        function: Some(in_words(&function.name)),
    }));
    let place = |number: usize| match number.checked_sub(PATH_MODULES) {
        None => Some(number).filter(|number| *number < modules),
        Some(function) => Some(modules + function).filter(|_| function < functions.len()),
    };
    let count = (table.count as usize).min(PATHS);
    for (number, path) in table.path.iter().enumerate().take(count) {
        if path.calls == 0 {
            continue;
        }
        let routine = path.function.checked_sub(1).filter(|n| usize::from(*n) < FUNCTIONS);
        let frames = path.frames.iter().take(usize::from(path.count).min(PATH_FRAMES));
        let frame = |frame: &u64| PathFrame {
            module: (frame >> OFFSET_BITS)
                .checked_sub(1)
                .and_then(|number| place(number as usize))
                .map(|module| first + module as u32),
            offset: frame & ((1 << OFFSET_BITS) - 1),
        };
        to.paths.push(CallPathSums {
            routine: routine.map(RoutineNumber),
            frames: frames.map(frame).collect(),
            ending: PathEnding::of(path.end.into()),
            amounts: PathAmounts {
                calls: path.calls.into(),
                time: tick.nanoseconds(path.ticks).into(),
                sent: path.sent.into(),
                received: path.received.into(),
                waits: path.waits.map(|ticks| tick.nanoseconds(ticks).into()),
                unknown: tick.nanoseconds(path.unknown).into(),
            },
            number: (table.number as usize * PATHS + number).try_into().ok(),
        });
    }
}

fn in_words(name: &[u8]) -> Box<str> {
    String::from_utf8_lossy(text(name)).into()
}
