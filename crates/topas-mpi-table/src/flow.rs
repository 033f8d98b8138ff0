//! Where the bytes of a function come from.
//!
//! A flow is what one process hands over or gets by one call, as its arguments tell. It is
//! not the traffic of an algorithm: the root of a broadcast sends its buffer once. Rules for
//! all flows:
//!
//! * A flow whose peer is `MPI_PROC_NULL` moves nothing, and neither do neighbours that are.
//! * Only arguments of a flow that takes place may be looked at: the others are not
//!   significant and may be anything. See [`Flow::by`](field@Flow::by),
//!   [`Flow::in_place`](field@Flow::in_place), [`Flow::unless_no_op`].
//! * A count is multiplied with the *size* of its datatype (`MPI_Type_size_x`), not its extent.
//! * What arrives may be less than the arguments allow; [`Flow::told_by`](field@Flow::told_by)
//!   names who knows.
//!
//! Here arguments are named. What else names them may say so in the same types: a
//! [`Flow<u8>`](Flow) can hold their places in a call.

use crate::class::CallProgress;
use crate::function::Function;

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// To other processes, or into a file.
    Sent,
    /// From other processes, or from a file.
    Received,
}

/// Over which processes blocks are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Span {
    /// The group at the other end: of an intercommunicator the remote one.
    Ranks,
    /// The own group, even of an intercommunicator.
    Local,
    /// Neighbours data come from.
    Sources,
    /// Neighbours data go to.
    Destinations,
}

/// How much, by the arguments that tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlowAmount<Argument = &'static str> {
    /// `count` elements of `datatype`.
    Block {
        /// Elements.
        count: Argument,
        /// Of this type.
        datatype: Argument,
    },
    /// One element of `datatype`.
    Element {
        /// Of this type.
        datatype: Argument,
    },
    /// `count` elements for each of many processes.
    Each {
        /// Which processes.
        of: Span,
        /// Elements per process.
        count: Argument,
        /// Of this type.
        datatype: Argument,
    },
    /// `count` elements in each of `partitions`.
    Partitions {
        /// How many partitions.
        partitions: Argument,
        /// Elements per partition.
        count: Argument,
        /// Of this type.
        datatype: Argument,
    },
    /// `counts[i]` elements for each process i.
    Sum {
        /// Which processes.
        of: Span,
        /// Elements per process, an array.
        counts: Argument,
        /// Of this type.
        datatype: Argument,
    },
    /// `counts[i]` elements of `datatypes[i]` for each process i.
    TypedSum {
        /// Which processes.
        of: Span,
        /// Elements per process, an array.
        counts: Argument,
        /// Types per process, an array.
        datatypes: Argument,
    },
    /// `counts[i]` elements, where i is the own rank.
    Own {
        /// Elements per process, an array.
        counts: Argument,
        /// Of this type.
        datatype: Argument,
    },
}

/// Who takes part in a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Participants {
    /// Every process.
    All,
    /// The root. On an intercommunicator: who passes `MPI_ROOT`.
    Root,
    /// All but the root. On an intercommunicator: who names a rank as the root.
    Others,
    /// All, the root included. On an intercommunicator: who names a rank as the root.
    Group,
    /// All but rank 0.
    NotFirst,
}

/// What becomes of a flow if [`Function::in_place`](field@Function::in_place) is
/// `MPI_IN_PLACE`. The rule behind it: a block that stays where it is does not move, an operand
/// counts wherever it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InPlace<Argument = &'static str> {
    /// The same: the data are in the other buffer, and the arguments count as always.
    Same,
    /// Nothing moves.
    Nothing,
    /// All but the own block moves.
    OthersOnly,
    /// The data are in the other buffer, and these arguments tell how many.
    Instead(FlowAmount<Argument>),
    /// The same, but the own block does not move.
    OthersInstead(FlowAmount<Argument>),
}

/// Who knows how much of the amount there was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToldBy<Argument = &'static str> {
    /// The arguments.
    Arguments,
    /// This status. Where the user gives `MPI_STATUS_IGNORE`, ask with another.
    /// It tells the peer, too, if the source is any or the message was matched before.
    Status(Argument),
    /// The status of the call that completes the request.
    Completion,
    /// The status of the `_end` function.
    End,
}

/// Bytes that a call moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flow<Argument = &'static str> {
    /// Which way.
    pub way: Way,
    /// The other end is a file.
    pub file: bool,
    /// The buffer.
    pub buffer: Argument,
    /// How much at most.
    pub amount: FlowAmount<Argument>,
    /// Who knows how much it was.
    pub told_by: ToldBy<Argument>,
    /// Who takes part.
    pub by: Participants,
    /// The rank at the other end; None if there are many.
    pub peer: Option<Argument>,
    /// What `MPI_IN_PLACE` makes of it.
    pub in_place: InPlace<Argument>,
    /// Nothing moves, and its arguments mean nothing, if `op` is `MPI_NO_OP`.
    pub unless_no_op: bool,
}

/// The moment at which a flow is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Moment {
    /// In the call.
    Call,
    /// Whenever the persistent request is started.
    Start,
    /// When the request, or split access, is completed.
    Completion,
}

impl Flow {
    /// To other processes: with these arguments, the same on every process.
    pub(crate) const fn sends(buffer: &'static str, amount: FlowAmount) -> Flow {
        Flow::new(Way::Sent, false, buffer, amount)
    }

    /// From other processes.
    pub(crate) const fn receives(buffer: &'static str, amount: FlowAmount) -> Flow {
        Flow::new(Way::Received, false, buffer, amount)
    }

    /// Into a file.
    pub(crate) const fn writes(buffer: &'static str, amount: FlowAmount) -> Flow {
        Flow::new(Way::Sent, true, buffer, amount)
    }

    /// From a file.
    pub(crate) const fn reads(buffer: &'static str, amount: FlowAmount) -> Flow {
        Flow::new(Way::Received, true, buffer, amount)
    }

    const fn new(way: Way, file: bool, buffer: &'static str, amount: FlowAmount) -> Flow {
        Flow {
            way,
            file,
            buffer,
            amount,
            told_by: ToldBy::Arguments,
            by: Participants::All,
            peer: None,
            in_place: InPlace::Same,
            unless_no_op: false,
        }
    }

    pub(crate) const fn by(self, by: Participants) -> Flow {
        Flow { by, ..self }
    }

    pub(crate) const fn to(self, peer: &'static str) -> Flow {
        Flow { peer: Some(peer), ..self }
    }

    pub(crate) const fn from(self, peer: &'static str) -> Flow {
        Flow { peer: Some(peer), ..self }
    }

    pub(crate) const fn told_by(self, told_by: ToldBy) -> Flow {
        Flow { told_by, ..self }
    }

    pub(crate) const fn in_place(self, in_place: InPlace) -> Flow {
        Flow { in_place, ..self }
    }

    pub(crate) const fn unless(self, unless_no_op: bool) -> Flow {
        Flow { unless_no_op, ..self }
    }

    /// When this flow of `function` is known.
    pub const fn moment(&self, function: &Function) -> Moment {
        match (self.told_by, function.class.progress()) {
            (ToldBy::Completion | ToldBy::End, _) => Moment::Completion,
            (_, Some(CallProgress::Persistent)) => Moment::Start,
            _ => Moment::Call,
        }
    }
}

impl<Argument: Copy> FlowAmount<Argument> {
    /// The arguments that count and type it; a partitioned one has a third, the first.
    pub const fn parameters(&self) -> (Option<Argument>, Argument) {
        match *self {
            FlowAmount::Block { count, datatype }
            | FlowAmount::Each { count, datatype, .. }
            | FlowAmount::Partitions { count, datatype, .. }
            | FlowAmount::Sum { counts: count, datatype, .. }
            | FlowAmount::TypedSum { counts: count, datatypes: datatype, .. }
            | FlowAmount::Own { counts: count, datatype } => (Some(count), datatype),
            FlowAmount::Element { datatype } => (None, datatype),
        }
    }
}
