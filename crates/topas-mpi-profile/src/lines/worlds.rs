//! Worlds of spawned processes in the lines of a record.

use topas_format::out::Out;

use super::{Lines, hex, text};
use crate::digits::{part, seconds};
use crate::layout::{Header, Moment, WorldStart, Worlds};
use crate::routine::name;
use crate::sums::TickLength;

/// That a world was started by ranks of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpawnedWorld {
    /// When its first call of MPI began, in ns since 1970
    pub began: u64,
    /// Hash of the launcher's name of the world that started it, and the rank there that was the root
    /// of the call; None if the launcher does not tell
    pub parent: Option<(u64, u32)>,
    /// [`Worlds::launcher`]
    pub launcher: u64,
}

impl SpawnedWorld {
    /// Of the world of a rank; None if a launcher started it.
    pub fn of(header: &Header) -> Option<SpawnedWorld> {
        let worlds = &header.worlds;
        (worlds.spawned != 0).then(|| SpawnedWorld {
            began: header.began.realtime,
            parent: (worlds.parent != 0).then_some((worlds.parent, worlds.parent_rank)),
            launcher: worlds.launcher,
        })
    }
}

impl Lines<'_> {
    /// `spawned=BEGAN[:PARENT:RANK[:LAUNCHER]]`, with a 0 for the parent if only the launcher is known
    pub(super) fn spawned(&mut self, world: &SpawnedWorld) {
        self.token(&mut |out| {
            seconds(out.put(b"spawned="), world.began.into());
            if world.parent.is_some() || world.launcher != 0 {
                let (parent, rank) = world.parent.unwrap_or_default();
                hex(out.byte(b':'), parent);
                out.byte(b':').dec(rank.into());
                launcher(out, world.launcher);
            }
        });
    }

    /// The worlds that a rank started whose first moment is `first`:
    /// `s=PROGRAM:RANKS:BEGAN:SECONDS:ROUTINE:PATH:WORLD[:LAUNCHER]` each, with the hash of the name of the rank's own
    /// world.
    pub fn started(&mut self, worlds: &Worlds, first: &Moment, tick: &TickLength) {
        for start in worlds.started.iter().take(worlds.count as usize) {
            let WorldStart { command, ranks, function, path, began, ended } = start;
            let since = tick.nanoseconds(began.wrapping_sub(first.ticks));
            self.token(&mut |out| {
                part(out.put(b"s="), text(command)).byte(b':').dec((*ranks).into());
                seconds(out.byte(b':'), first.realtime.saturating_add(since).into());
                seconds(out.byte(b':'), tick.nanoseconds(ended.wrapping_sub(*began)).into());
                out.byte(b':').put(name(usize::from(*function).wrapping_sub(1)));
                hex(out.byte(b':').dec((*path).into()).byte(b':'), worlds.name);
                launcher(out, worlds.launcher);
            });
        }
    }
}

fn launcher(out: &mut Out<'_>, name: u64) {
    if name != 0 {
        hex(out.byte(b':'), name);
    }
}
