//! The last that is known of a rank: when its last call began, which call that was, and when the
//! kernel saw its process end.

use topas_mpi_profile::parse::LastSignToken;

use super::routine::{RoutineNumber, Routines};

/// The last sign of life of a rank, from its mapped file; times in ns since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastSign {
    /// When its first call of MPI began
    pub began: u64,
    /// When the latest call of its threads began
    pub last_call: u64,
    /// For how long no thread has begun a call, in ns; None of a rank that is gone
    pub quiet: Option<u64>,
    /// The routine of the latest call; None if the call is over and call paths were not counted
    pub routine: Option<RoutineNumber>,
    /// Number of the call path of this call in its rank; None if it is not known
    pub path: Option<u32>,
    /// The second in which the kernel saw the process end, in s; None if nobody noted it
    pub died: Option<u64>,
    /// How many ranks ended after it on its node; None if nobody noted it
    pub ended_after: Option<u32>,
}

impl LastSign {
    /// Of a line.
    pub(super) fn of_token(token: &LastSignToken<'_>, routines: &mut Routines) -> LastSign {
        LastSign {
            began: token.began,
            last_call: token.last_call,
            quiet: None,
            routine: match token.routine {
                b"" => None,
                name => routines.number(&String::from_utf8_lossy(name)),
            },
            path: (token.path > 0).then_some(token.path),
            died: token.died,
            ended_after: token.ended_after,
        }
    }
}
