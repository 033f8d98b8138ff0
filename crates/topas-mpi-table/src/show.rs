//! The table in words, for documentation and for comments in generated code.

use core::fmt::{self, Display, Formatter};

use crate::class::{Class, Coordination, Epoch, Position, Progress, Rma, Transfer, Waits};
use crate::flow::{Amount, By, Flow, InPlace, Span, ToldBy, Way};
use crate::function::Languages;

impl Display for Progress {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Progress::Blocking => "blocking",
            Progress::Nonblocking => "non-blocking",
            Progress::Persistent => "persistent",
            Progress::Begin => "split, begin",
            Progress::End => "split, end",
        })
    }
}

impl Class {
    /// Its name, without when it is over.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Send(_) => "send",
            Class::Receive(_) => "receive",
            Class::SendReceive(_) => "send and receive",
            Class::PartitionedSend => "partitioned send",
            Class::PartitionedReceive => "partitioned receive",
            Class::Partition => "partition",
            Class::Probe(_) => "probe",
            Class::MatchedProbe(_) => "matched probe",
            Class::SendBuffer => "send buffer",
            Class::Start => "start",
            Class::Wait => "wait",
            Class::Test => "test",
            Class::Request => "request",
            Class::GeneralizedRequest => "generalized request",
            Class::Status => "status",
            Class::Collective(_) => "collective",
            Class::Neighborhood(_) => "neighborhood collective",
            Class::Operator => "operator",
            Class::Rma(Rma::Put) => "RMA put",
            Class::Rma(Rma::Get) => "RMA get",
            Class::Rma(Rma::Accumulate) => "RMA accumulate",
            Class::Rma(Rma::Fetch) => "RMA fetch",
            Class::RmaSynchronization(Epoch::Fence) => "RMA active target, fence",
            Class::RmaSynchronization(Epoch::General) => "RMA active target, general",
            Class::RmaSynchronization(Epoch::Passive) => "RMA passive target",
            Class::Window => "window",
            Class::Io(transfer, position, coordination, _) => io(transfer, position, coordination),
            Class::File => "file",
            Class::Spawn => "spawn",
            Class::Connect => "connect",
            Class::World => "world",
            Class::Session => "session",
            Class::Group => "group",
            Class::Communicator => "communicator",
            Class::Topology => "topology",
            Class::Datatype => "datatype",
            Class::Pack => "pack",
            Class::Attribute => "attribute",
            Class::Error => "error",
            Class::Info => "info",
            Class::Environment => "environment",
            Class::Timer => "timer",
            Class::Conversion => "conversion",
            Class::Profiling => "profiling",
            Class::Tool => "tool interface",
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

impl Display for Class {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match (self, self.progress()) {
            (Class::PartitionedSend | Class::PartitionedReceive, _) | (_, None) => Ok(()),
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

impl Display for Amount {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Block { count, datatype } => write!(f, "{count} x {datatype}"),
            Amount::Element { datatype } => write!(f, "1 x {datatype}"),
            Amount::Each { of, count, datatype } => write!(f, "{of} x {count} x {datatype}"),
            Amount::Partitions { partitions, count, datatype } => {
                write!(f, "{partitions} x {count} x {datatype}")
            }
            Amount::Sum { of, counts, datatype } => {
                write!(f, "sum over {of} of {counts}[i] x {datatype}")
            }
            Amount::TypedSum { of, counts, datatypes } => {
                write!(f, "sum over {of} of {counts}[i] x {datatypes}[i]")
            }
            Amount::Own { counts, datatype } => write!(f, "{counts}[rank] x {datatype}"),
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
            By::All => {}
            By::Root => f.write_str("root ")?,
            By::Others => f.write_str("all but the root ")?,
            By::Group => f.write_str("all ")?,
            By::NotFirst => f.write_str("all but rank 0 ")?,
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
