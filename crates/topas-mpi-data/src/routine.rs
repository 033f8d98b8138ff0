//! What is counted of one routine, and routines by number.

use topas_mpi_profile::layout::FUNCTIONS;
use topas_mpi_table::{CallProgress, Epoch, Function, FunctionClass, functions};

/// Something that is counted, or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RoutineAmount {
    /// The routine has none, as `MPI_Barrier` has no bytes
    #[default]
    Nothing,
    /// There may be some, and none was counted
    NotCounted,
    /// So much was counted, and there may be more
    AtLeast(u128),
    /// So much
    Exact(u128),
}

impl RoutineAmount {
    /// The number, if all was counted.
    pub const fn exact(self) -> Option<u128> {
        match self {
            RoutineAmount::Exact(amount) => Some(amount),
            RoutineAmount::Nothing | RoutineAmount::NotCounted | RoutineAmount::AtLeast(_) => None,
        }
    }

    /// What was counted, all of it or not.
    pub const fn counted(self) -> Option<u128> {
        match self {
            RoutineAmount::Exact(amount) | RoutineAmount::AtLeast(amount) => Some(amount),
            RoutineAmount::Nothing | RoutineAmount::NotCounted => None,
        }
    }

    /// Of both together: where something was not counted, the sum is a lower bound.
    pub const fn plus(self, other: RoutineAmount) -> RoutineAmount {
        use RoutineAmount::{AtLeast, Exact, NotCounted, Nothing};
        match (self, other) {
            (Nothing, amount) | (amount, Nothing) => amount,
            (Exact(a), Exact(b)) => Exact(a.saturating_add(b)),
            (NotCounted, NotCounted) => NotCounted,
            (NotCounted, AtLeast(a) | Exact(a)) | (AtLeast(a) | Exact(a), NotCounted) => AtLeast(a),
            (AtLeast(a), AtLeast(b) | Exact(b)) | (Exact(a), AtLeast(b)) => {
                AtLeast(a.saturating_add(b))
            }
        }
    }
}

impl From<topas_mpi_profile::lines::Amount> for RoutineAmount {
    fn from(told: topas_mpi_profile::lines::Amount) -> RoutineAmount {
        use topas_mpi_profile::lines::Amount as Told;
        match told {
            Told::None => RoutineAmount::Nothing,
            Told::Missing => RoutineAmount::NotCounted,
            Told::AtLeast(amount) => RoutineAmount::AtLeast(amount),
            Told::Exact(amount) => RoutineAmount::Exact(amount),
        }
    }
}

impl std::iter::Sum for RoutineAmount {
    fn sum<I: Iterator<Item = RoutineAmount>>(amounts: I) -> RoutineAmount {
        amounts.fold(RoutineAmount::Nothing, RoutineAmount::plus)
    }
}

/// A routine by its place in the table of MPI, or behind it for one that the table does not
/// have: see [`Routines`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoutineNumber(pub u16);

impl RoutineNumber {
    /// Whether calls may wait for other processes, or ask again and again whether these have come, in a way of
    /// which the profile does not tell for whom; of those that ask, for a part of their time.
    pub fn waits_for_untold(self) -> bool {
        self.asks()
            || self.function().is_some_and(|function| {
                matches!(function.class, FunctionClass::RmaSynchronization(Epoch::Passive))
            })
    }

    /// Whether calls ask whether something has come or is over, and do not wait for that.
    pub fn asks(self) -> bool {
        self.function().is_some_and(|function| {
            matches!(
                function.class,
                FunctionClass::Test | FunctionClass::Probe(CallProgress::Nonblocking)
            ) || function.is_one_of(&["MPI_Win_test"])
        })
    }

    /// Whether the routine begins or ends MPI: that takes as long whatever the program does between.
    pub fn is_edge(self) -> bool {
        self.function()
            .is_some_and(|of| of.is_one_of(&["MPI_Init", "MPI_Init_thread", "MPI_Finalize"]))
    }

    /// Whether the routine ends MPI, to which all ranks come.
    pub fn ends_mpi(self) -> bool {
        self.function().is_some_and(|of| of.is_one_of(&["MPI_Finalize"]))
    }

    /// Whether all ranks of a communicator call it together, and calls wait for these.
    pub fn is_of_all_ranks(self) -> bool {
        self.function().is_some_and(|function| {
            matches!(function.class, FunctionClass::Collective(CallProgress::Blocking))
        })
    }

    /// Whether the routine makes communicators of some of the ranks.
    pub fn makes_parts(self) -> bool {
        const OF_SOME: [&str; 7] = [
            "MPI_Comm_create",
            "MPI_Comm_create_from_group",
            "MPI_Comm_create_group",
            "MPI_Comm_split",
            "MPI_Comm_split_type",
            "MPI_Cart_sub",
            "MPI_Intercomm_create",
        ];
        self.function().is_some_and(|of| of.is_one_of(&OF_SOME))
    }

    /// The row of the table; None of a routine it does not have.
    pub fn function(self) -> Option<&'static Function> {
        table().get(usize::from(self.0)).copied()
    }
}

/// The functions of MPI by number.
pub(super) fn table() -> &'static [&'static Function; FUNCTIONS] {
    static TABLE: std::sync::OnceLock<[&Function; FUNCTIONS]> = std::sync::OnceLock::new();
    TABLE.get_or_init(|| {
        let mut all = functions();
        // The table of the layout and that of the functions have the same length.
        std::array::from_fn(|_| all.next().unwrap_or(&topas_mpi_table::CHAPTERS[0].functions[0]))
    })
}

/// Names of routines by number, those of the table and what else lines name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routines {
    others: Vec<Box<str>>,
}

impl Routines {
    /// Name without `MPI_`, such as `Send`; empty if there is no such routine.
    pub fn name(&self, number: RoutineNumber) -> &str {
        match number.function() {
            Some(function) => function.name.strip_prefix("MPI_").unwrap_or(function.name),
            None => {
                let place = usize::from(number.0) - FUNCTIONS;
                self.others.get(place).map_or("", |name| name)
            }
        }
    }

    /// The number of a name without `MPI_`; one that is not known gets one, None if there
    /// are too many.
    pub fn number(&mut self, name: &str) -> Option<RoutineNumber> {
        if let Some(&number) = names().get(name) {
            return Some(RoutineNumber(number));
        }
        let place = match self.others.iter().position(|other| **other == *name) {
            Some(place) => place,
            None => {
                self.others.push(name.into());
                self.others.len() - 1
            }
        };
        u16::try_from(FUNCTIONS + place).ok().map(RoutineNumber)
    }
}

/// Numbers of the functions by name without `MPI_`.
fn names() -> &'static rustc_hash::FxHashMap<&'static str, u16> {
    static NAMES: std::sync::OnceLock<rustc_hash::FxHashMap<&str, u16>> =
        std::sync::OnceLock::new();
    NAMES.get_or_init(|| {
        let bare = |f: &'static Function| f.name.strip_prefix("MPI_").unwrap_or(f.name);
        (0..).zip(table()).map(|(number, function)| (bare(function), number)).collect()
    })
}

/// Calls of one routine, by one rank or the sum of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutineCalls {
    /// Which
    pub number: RoutineNumber,
    /// Calls
    pub calls: u128,
    /// Wall clock time in them in ns, all threads
    pub time: u128,
    /// Time of the longest call in ns
    pub longest: u64,
    /// Sum of the count arguments
    pub count: RoutineAmount,
    /// Messages sent, blocks put or written
    pub sends: RoutineAmount,
    /// Bytes in them
    pub sent: RoutineAmount,
    /// Messages received, blocks got or read
    pub receives: RoutineAmount,
    /// Bytes in them
    pub received: RoutineAmount,
    /// Ranks that called it; None if that is not told
    pub ranks: Option<u64>,
    /// Calls that had not ended when their ranks did
    pub unended: u128,
    /// Time in them up to the last sign of life of their ranks, in ns; it is in `time`, too. 0 if
    /// that is not known
    pub unended_time: u128,
}

impl RoutineCalls {
    /// Nothing, of this routine.
    pub const fn new(number: RoutineNumber) -> Self {
        RoutineCalls {
            number,
            calls: 0,
            time: 0,
            longest: 0,
            count: RoutineAmount::Nothing,
            sends: RoutineAmount::Nothing,
            sent: RoutineAmount::Nothing,
            receives: RoutineAmount::Nothing,
            received: RoutineAmount::Nothing,
            ranks: None,
            unended: 0,
            unended_time: 0,
        }
    }

    /// Adds calls of the same routine by other ranks.
    pub(super) fn add(&mut self, other: &RoutineCalls) {
        self.calls += other.calls;
        self.time += other.time;
        self.longest = self.longest.max(other.longest);
        self.unended += other.unended;
        self.unended_time += other.unended_time;
        self.count = self.count.plus(other.count);
        self.sends = self.sends.plus(other.sends);
        self.sent = self.sent.plus(other.sent);
        self.receives = self.receives.plus(other.receives);
        self.received = self.received.plus(other.received);
        self.ranks = match (self.ranks, other.ranks) {
            (None, ranks) | (ranks, None) => ranks,
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
        };
    }

    /// Bytes that the routine moved: sent and received.
    pub fn bytes(&self) -> RoutineAmount {
        self.sent.plus(self.received)
    }

    /// Bytes that were transferred, once where a routine both sends and receives: the larger of
    /// what was sent and what was received.
    pub fn transferred(&self) -> RoutineAmount {
        use RoutineAmount::{AtLeast, Exact, Nothing};
        match (self.sent, self.received) {
            (Exact(a), Exact(b)) => Exact(a.max(b)),
            (Nothing, amount) | (amount, Nothing) => amount,
            (a, b) => match a.counted().max(b.counted()) {
                Some(largest) => AtLeast(largest),
                None => RoutineAmount::NotCounted,
            },
        }
    }
}
