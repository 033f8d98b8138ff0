//! The table in words, for documentation and for comments in generated code.

use core::fmt::{self, Display, Formatter};

use crate::class::{
    CallProgress, Coordination, Epoch, FunctionClass, Position, Rma, Transfer, Waits,
};
use crate::flow::{Flow, FlowAmount, InPlace, Participants, Span, ToldBy, Way};
use crate::function::Languages;

impl Display for CallProgress {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CallProgress::Blocking => "blocking",
            CallProgress::Nonblocking => "non-blocking",
            CallProgress::Persistent => "persistent",
            CallProgress::Begin => "split, begin",
            CallProgress::End => "split, end",
        })
    }
}

impl FunctionClass {
    /// Its name, without when it is over.
    pub const fn name(self) -> &'static str {
        match self {
            FunctionClass::Send(_) => "send",
            FunctionClass::Receive(_) => "receive",
            FunctionClass::SendReceive(_) => "send and receive",
            FunctionClass::PartitionedSend => "partitioned send",
            FunctionClass::PartitionedReceive => "partitioned receive",
            FunctionClass::Partition => "partition",
            FunctionClass::Probe(_) => "probe",
            FunctionClass::MatchedProbe(_) => "matched probe",
            FunctionClass::SendBuffer => "send buffer",
            FunctionClass::Start => "start",
            FunctionClass::Wait => "wait",
            FunctionClass::Test => "test",
            FunctionClass::Request => "request",
            FunctionClass::GeneralizedRequest => "generalized request",
            FunctionClass::Status => "status",
            FunctionClass::Collective(_) => "collective",
            FunctionClass::Neighborhood(_) => "neighborhood collective",
            FunctionClass::Operator => "operator",
            FunctionClass::Rma(Rma::Put) => "RMA put",
            FunctionClass::Rma(Rma::Get) => "RMA get",
            FunctionClass::Rma(Rma::Accumulate) => "RMA accumulate",
            FunctionClass::Rma(Rma::Fetch) => "RMA fetch",
            FunctionClass::RmaSynchronization(Epoch::Fence) => "RMA active target, fence",
            FunctionClass::RmaSynchronization(Epoch::General) => "RMA active target, general",
            FunctionClass::RmaSynchronization(Epoch::Passive) => "RMA passive target",
            FunctionClass::Window => "window",
            FunctionClass::Io(transfer, position, coordination, _) => {
                io(transfer, position, coordination)
            }
            FunctionClass::File => "file",
            FunctionClass::Spawn => "spawn",
            FunctionClass::Connect => "connect",
            FunctionClass::World => "world",
            FunctionClass::Session => "session",
            FunctionClass::Group => "group",
            FunctionClass::Communicator => "communicator",
            FunctionClass::Topology => "topology",
            FunctionClass::Datatype => "datatype",
            FunctionClass::Pack => "pack",
            FunctionClass::Attribute => "attribute",
            FunctionClass::Error => "error",
            FunctionClass::Info => "info",
            FunctionClass::Environment => "environment",
            FunctionClass::Timer => "timer",
            FunctionClass::Conversion => "conversion",
            FunctionClass::Profiling => "profiling",
            FunctionClass::Tool => "tool interface",
        }
    }
}

const fn io(transfer: Transfer, position: Position, coordination: Coordination) -> &'static str {
    use Coordination::{Alone, Together};
    use Position::{Explicit, Individual, Shared};
    match (transfer, position, coordination) {
        (Transfer::Read, Explicit, Alone) => "read at an offset",
        (Transfer::Read, Explicit, Together) => "collective read at an offset",
        (Transfer::Read, Individual, Alone) => "read",
        (Transfer::Read, Individual, Together) => "collective read",
        (Transfer::Read, Shared, Alone) => "read at the shared pointer",
        (Transfer::Read, Shared, Together) => "ordered read",
        (Transfer::Write, Explicit, Alone) => "write at an offset",
        (Transfer::Write, Explicit, Together) => "collective write at an offset",
        (Transfer::Write, Individual, Alone) => "write",
        (Transfer::Write, Individual, Together) => "collective write",
        (Transfer::Write, Shared, Alone) => "write at the shared pointer",
        (Transfer::Write, Shared, Together) => "ordered write",
    }
}

impl Display for FunctionClass {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match (self, self.progress()) {
            (FunctionClass::PartitionedSend | FunctionClass::PartitionedReceive, _) | (_, None) => {
                Ok(())
            }
            (_, Some(progress)) => write!(f, ", {progress}"),
        }
    }
}

impl Display for Waits {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Waits::Nothing => "nothing",
            Waits::Partner => "other processes",
            Waits::Group => "all of its group",
            Waits::Storage => "the file",
            Waits::Runtime => "the runtime",
        })
    }
}

impl Display for Languages {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Languages::All => "C, mpif.h, mpi, mpi_f08",
            Languages::C => "C",
            Languages::NoF08 => "C, mpif.h, mpi",
            Languages::NoMpif => "C, mpi, mpi_f08",
            Languages::Fortran => "mpif.h, mpi, mpi_f08",
        })
    }
}

impl Display for Span {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Span::Ranks => "ranks",
            Span::Local => "local ranks",
            Span::Sources => "sources",
            Span::Destinations => "destinations",
        })
    }
}

impl Display for FlowAmount {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            FlowAmount::Block { count, datatype } => write!(f, "{count} x {datatype}"),
            FlowAmount::Element { datatype } => write!(f, "1 x {datatype}"),
            FlowAmount::Each { of, count, datatype } => write!(f, "{of} x {count} x {datatype}"),
            FlowAmount::Partitions { partitions, count, datatype } => {
                write!(f, "{partitions} x {count} x {datatype}")
            }
            FlowAmount::Sum { of, counts, datatype } => {
                write!(f, "sum over {of} of {counts}[i] x {datatype}")
            }
            FlowAmount::TypedSum { of, counts, datatypes } => {
                write!(f, "sum over {of} of {counts}[i] x {datatypes}[i]")
            }
            FlowAmount::Own { counts, datatype } => write!(f, "{counts}[rank] x {datatype}"),
        }
    }
}

impl Display for Flow {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let verb = match (self.way, self.file) {
            (Way::Sent, false) => "sends",
            (Way::Received, false) => "receives",
            (Way::Received, true) => "reads",
            (Way::Sent, true) => "writes",
        };
        match self.by {
            Participants::All => {}
            Participants::Root => f.write_str("root ")?,
            Participants::Others => f.write_str("all but the root ")?,
            Participants::Group => f.write_str("all ")?,
            Participants::NotFirst => f.write_str("all but rank 0 ")?,
        }
        write!(f, "{verb} {}", self.amount)?;
        match (self.peer, self.way) {
            (Some(peer), Way::Sent) => write!(f, " to {peer}")?,
            (Some(peer), _) => write!(f, " from {peer}")?,
            (None, _) => {}
        }
        match self.told_by {
            ToldBy::Arguments => {}
            ToldBy::Status(status) => write!(f, ", as {status} says")?,
            ToldBy::Completion => f.write_str(", as its completion says")?,
            ToldBy::End => f.write_str(", as its end says")?,
        }
        match self.in_place {
            InPlace::Same => {}
            InPlace::Nothing => f.write_str(", nothing in place")?,
            InPlace::OthersOnly => f.write_str(", without the own block in place")?,
            InPlace::Instead(amount) => write!(f, ", in place {amount}")?,
            InPlace::OthersInstead(amount) => {
                write!(f, ", in place {amount} without the own block")?;
            }
        }
        if self.unless_no_op { f.write_str(", nothing with MPI_NO_OP") } else { Ok(()) }
    }
}
