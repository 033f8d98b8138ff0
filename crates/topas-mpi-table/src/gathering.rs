//! Functions that all of a communicator, window or file call together, and who of them waits for whom.

use crate::class::{CallProgress, FunctionClass, Waits};
use crate::function::Function;
use crate::kind::ParameterKind;
use crate::parameter::Direction;

/// Who depends on whom when all of a communicator, window or file come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gathering {
    /// All wait for the last
    All,
    /// All wait for the root
    FromRoot,
    /// The root waits for the last of the others
    ToRoot,
    /// Each waits for the last of those of lower rank
    FromLower,
}

/// Functions for which only those of a group come together, or that free what names them.
const APART: &[&str] = &[
    "MPI_Comm_create_group",
    "MPI_Comm_create_from_group",
    "MPI_Intercomm_create",
    "MPI_Intercomm_create_from_groups",
    "MPI_Comm_free",
    "MPI_Comm_disconnect",
    "MPI_Win_free",
    "MPI_File_close",
];

impl Function {
    /// Who waits for whom; None if the function is none that all of a communicator, window or file
    /// call.
    pub const fn gathering(&self) -> Option<Gathering> {
        if !self.names_members() {
            return None;
        }
        match self.class {
            FunctionClass::Collective(CallProgress::Blocking | CallProgress::Nonblocking) => {
                Some(self.shape())
            }
            FunctionClass::Neighborhood(_) => None,
            FunctionClass::Spawn
                if self.position("maxprocs").is_some()
                    || self.position("array_of_maxprocs").is_some() =>
            {
                Some(Gathering::All)
            }
            _ if matches!(self.waits, Waits::Group) && !self.is_one_of(APART) => {
                Some(Gathering::All)
            }
            _ => None,
        }
    }

    /// Who waits for whom when a persistent collective is started that the function prepares; None if it prepares
    /// none on a whole communicator.
    pub const fn prepared_gathering(&self) -> Option<Gathering> {
        match self.class {
            FunctionClass::Collective(CallProgress::Persistent) => Some(self.shape()),
            _ => None,
        }
    }

    /// Whether an argument names those who come together.
    const fn names_members(&self) -> bool {
        let mut place = 0;
        while let Some(parameter) = self.at(place) {
            let (kind, direction) = (parameter.kind as u8, parameter.direction as u8);
            let goes_in = direction == Direction::In as u8;
            let changes = direction == Direction::InOut as u8;
            let names = kind == ParameterKind::Comm as u8 || kind == ParameterKind::Win as u8;
            let file = kind == ParameterKind::File as u8;
            if names && goes_in || file && (goes_in || changes) {
                return true;
            }
            place += 1;
        }
        false
    }

    const fn shape(&self) -> Gathering {
        const FROM: &[&str] = &[
            "MPI_Bcast",
            "MPI_Scatter",
            "MPI_Scatterv",
            "MPI_Ibcast",
            "MPI_Iscatter",
            "MPI_Iscatterv",
            "MPI_Bcast_init",
            "MPI_Scatter_init",
            "MPI_Scatterv_init",
        ];
        const TO: &[&str] = &[
            "MPI_Gather",
            "MPI_Gatherv",
            "MPI_Reduce",
            "MPI_Igather",
            "MPI_Igatherv",
            "MPI_Ireduce",
            "MPI_Gather_init",
            "MPI_Gatherv_init",
            "MPI_Reduce_init",
        ];
        const LOWER: &[&str] = &[
            "MPI_Scan",
            "MPI_Exscan",
            "MPI_Iscan",
            "MPI_Iexscan",
            "MPI_Scan_init",
            "MPI_Exscan_init",
        ];
        if self.is_one_of(FROM) {
            Gathering::FromRoot
        } else if self.is_one_of(TO) {
            Gathering::ToRoot
        } else if self.is_one_of(LOWER) {
            Gathering::FromLower
        } else {
            Gathering::All
        }
    }
}
