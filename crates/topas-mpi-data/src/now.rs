//! What the threads of a rank do at this moment, from its mapped file: a few lines are read, not
//! what was counted.

use topas_mpi_profile::layout::FUNCTIONS;
use topas_mpi_profile::layout::now::{NowLine, names_group, names_rank, peer_place};
use topas_mpi_table::ParameterKind;

use super::rank::{now, tick_length};
use super::routine::RoutineNumber;
use super::spool::{Spool, SpoolError};

/// The rank that a call names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NowPeer {
    /// As the call names it; less than 0 for a constant such as `MPI_ANY_SOURCE`
    pub rank: i32,
    /// It is a rank of `MPI_COMM_WORLD`; else one of another communicator, or of a window
    pub of_world: bool,
}

impl NowPeer {
    /// Of a call of this routine; `world` is the handle of `MPI_COMM_WORLD`, 0 if it is not known.
    pub(super) fn of(number: usize, line: &NowLine, world: u64) -> Option<NowPeer> {
        names_rank(number).then(|| {
            // Where handles are integers the upper half of a word may hold anything.
            let comm = if world <= u32::MAX.into() { line.comm as u32 as u64 } else { line.comm };
            NowPeer { rank: line.peer, of_world: world != 0 && comm == world }
        })
    }
}

/// What the rank is to a call that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerSide {
    /// It gets what is sent
    To,
    /// What is received comes from it
    From,
    /// It is the root of a collective
    Root,
    /// It is named for something else, as by `MPI_Win_lock`
    Other,
}

impl RoutineNumber {
    /// Whether calls of the routine wait for ranks that they name by a group.
    pub fn names_group(self) -> bool {
        names_group(self.0.into())
    }

    /// Whether a rank that calls of the routine name is one of a window.
    pub fn names_window(self) -> bool {
        let is = |kind: ParameterKind| {
            self.function().is_some_and(|function| {
                (0..).map_while(|place| function.at(place)).any(|of| of.kind == kind)
            })
        };
        is(ParameterKind::Win) && !is(ParameterKind::Comm)
    }

    /// What the rank is that calls of the routine name; None if they name none.
    pub fn peer_side(self) -> Option<PeerSide> {
        let function = self.function()?;
        let parameter = function.at(peer_place(function)?)?;
        Some(match (parameter.kind, parameter.name) {
            (ParameterKind::Root, _) => PeerSide::Root,
            (_, "dest") => PeerSide::To,
            (_, "source") => PeerSide::From,
            _ => PeerSide::Other,
        })
    }
}

/// A call that a thread is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallNow {
    /// Which routine
    pub routine: RoutineNumber,
    /// The rank it names, or its root; None of routines that name none
    pub peer: Option<NowPeer>,
    /// Number of the call path; 0 if none is known
    pub path: u32,
    /// For how long, in ns; None if that is not known
    pub time: Option<u64>,
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadNow {
    /// Its number
    pub tid: u32,
    /// The call it is in; None outside of MPI
    pub call: Option<CallNow>,
}

/// What the threads of a rank do, by the file that [`Spool::open`] has opened: it may be kept open
/// and asked again. The latest thread comes first.
///
/// # Errors
///
/// [`SpoolError`] for what cannot be read or be true.
pub fn threads_now(spool: &Spool) -> Result<Vec<ThreadNow>, SpoolError> {
    let header = spool.header_now()?;
    let (tick, until) = (tick_length(&header), now(&header));
    let world = header.comm_world;
    let mut threads = Vec::new();
    spool.now_lines(|tid, line| {
        let number = (line.inside as usize).checked_sub(1).filter(|number| *number < FUNCTIONS);
        let call = number.map(|number| CallNow {
            routine: RoutineNumber(number as u16),
            peer: NowPeer::of(number, &line, world),
            path: line.path,
            time: until.map(|until| tick.nanoseconds(until.saturating_sub(line.since))),
        });
        threads.push(ThreadNow { tid, call });
    })?;
    Ok(threads)
}
