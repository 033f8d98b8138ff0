//! How the table is written: rows that read like the standard's, one per operation.
//!
//! ```text
//! 1.0 MPI_Gather(
//!     in sendbuf: Choice, in sendcount: Count, in sendtype: Datatype,
//!     out@root recvbuf: Choice, in@root recvcount: Count, in@root recvtype: Datatype,
//!     in root: Root, in comm: Comm
//! ) Collective(Blocking), large(4.0), in_place(sendbuf)
//!     + Nonblocking 3.0 MPI_Igather
//!     + Persistent 4.0 MPI_Gather_init
//! {
//!     sends sendbuf(sendcount * sendtype) by(group) to(root) in_place(nothing);
//!     receives recvbuf(ranks * recvcount * recvtype) by(root) in_place(others);
//! }
//! ```
//!
//! First comes the version, then name and parameters: direction, `@root` or `@large` where
//! they mean something only there, name, kind, and in brackets the length of an array. Then
//! class and what else there is to say; then functions that differ only in when they are
//! over; then the bytes. A row that misspells a word does not compile; that names of
//! parameters are right is a test.

/// The rows of a chapter. See the module.
macro_rules! mpi {
    ($(
        $since:literal $name:ident (
            $( $direction:ident $(@ $where:ident)? $parameter:ident : $kind:ident $([$($length:tt)+])? ),* $(,)?
        )
        $(-> $returns:ident $(($returned:ident))?)?
        $class:ident $(($($detail:ident),+))?
        $(, $clause:ident ($value:tt))*
        $(+ $progress:ident $also_since:literal $also:ident)*
        $({ $( $verb:ident $buffer:ident ($($amount:tt)+) $( $word:ident ($($argument:tt)+) )* ; )+ })?
        $(;)?
    )*) => {
        $(
            #[allow(non_upper_case_globals)]
            const $name: crate::Function = crate::Function::new(
                stringify!($name),
                crate::Version::written(stringify!($since)),
                $crate::row::class!($class $(($($detail),+))?),
                &[$(
                    crate::Parameter::new(
                        stringify!($parameter),
                        crate::ParameterKind::$kind,
                        $crate::row::direction!($direction),
                    )
                    $(.array($crate::row::length!($($length)+)))?
                    $(.significant($crate::row::significant!($where)))?
                ),*],
                &[$($(
                    crate::Flow::$verb(
                        stringify!($buffer),
                        $crate::row::amount!($($amount)+),
                    )
                    $(.$word($crate::row::argument!($word $($argument)+)))*
                ),+)?],
            )
            $(.returns(crate::Returns::$returns $((crate::ParameterKind::$returned))?))?
            $(.$clause($crate::row::clause!($clause $value)))*;
        )*

        /// The functions of this chapter.
        pub(crate) const FUNCTIONS: &[crate::Function] = &[$(
            $name,
            $( $name.also(
                crate::CallProgress::$progress,
                stringify!($also),
                crate::Version::written(stringify!($also_since)),
            ), )*
        )*];
    };
}

macro_rules! class {
    (Io($transfer:ident, $position:ident, $coordination:ident, $progress:ident)) => {
        crate::FunctionClass::Io(
            crate::Transfer::$transfer,
            crate::Position::$position,
            crate::Coordination::$coordination,
            crate::CallProgress::$progress,
        )
    };
    (Rma($rma:ident)) => {
        crate::FunctionClass::Rma(crate::Rma::$rma)
    };
    (RmaSynchronization($epoch:ident)) => {
        crate::FunctionClass::RmaSynchronization(crate::Epoch::$epoch)
    };
    ($class:ident($progress:ident)) => {
        crate::FunctionClass::$class(crate::CallProgress::$progress)
    };
    ($class:ident) => {
        crate::FunctionClass::$class
    };
}

macro_rules! direction {
    (in) => {
        crate::Direction::In
    };
    (out) => {
        crate::Direction::Out
    };
    (inout) => {
        crate::Direction::InOut
    };
}

macro_rules! significant {
    (root) => {
        crate::Significant::AtRoot
    };
    (large) => {
        crate::Significant::Large
    };
}

macro_rules! length {
    (ranks) => {
        crate::Length::Ranks
    };
    (local) => {
        crate::Length::Local
    };
    (sources) => {
        crate::Length::Sources
    };
    (destinations) => {
        crate::Length::Destinations
    };
    (dimensions) => {
        crate::Length::Dimensions
    };
    (const $name:ident) => {
        crate::Length::Constant(stringify!($name))
    };
    (sum $name:ident) => {
        crate::Length::Sum(stringify!($name))
    };
    (last $name:ident) => {
        crate::Length::Last(stringify!($name))
    };
    ($name:ident) => {
        crate::Length::Parameter(stringify!($name))
    };
}

macro_rules! span {
    (ranks) => {
        crate::Span::Ranks
    };
    (local) => {
        crate::Span::Local
    };
    (sources) => {
        crate::Span::Sources
    };
    (destinations) => {
        crate::Span::Destinations
    };
}

macro_rules! amount {
    (1 * $datatype:ident) => {
        crate::FlowAmount::Element { datatype: stringify!($datatype) }
    };
    (own $counts:ident * $datatype:ident) => {
        crate::FlowAmount::Own { counts: stringify!($counts), datatype: stringify!($datatype) }
    };
    (sum $span:ident $counts:ident * $datatype:ident) => {
        crate::FlowAmount::Sum {
            of: $crate::row::span!($span),
            counts: stringify!($counts),
            datatype: stringify!($datatype),
        }
    };
    (typed $span:ident $counts:ident * $datatypes:ident) => {
        crate::FlowAmount::TypedSum {
            of: $crate::row::span!($span),
            counts: stringify!($counts),
            datatypes: stringify!($datatypes),
        }
    };
    (partitions * $count:ident * $datatype:ident) => {
        crate::FlowAmount::Partitions {
            partitions: "partitions",
            count: stringify!($count),
            datatype: stringify!($datatype),
        }
    };
    ($span:ident * $count:ident * $datatype:ident) => {
        crate::FlowAmount::Each {
            of: $crate::row::span!($span),
            count: stringify!($count),
            datatype: stringify!($datatype),
        }
    };
    ($count:ident * $datatype:ident) => {
        crate::FlowAmount::Block { count: stringify!($count), datatype: stringify!($datatype) }
    };
}

macro_rules! argument {
    (by root) => {
        crate::Participants::Root
    };
    (by others) => {
        crate::Participants::Others
    };
    (by group) => {
        crate::Participants::Group
    };
    (by not_first) => {
        crate::Participants::NotFirst
    };
    (to $rank:ident) => {
        stringify!($rank)
    };
    (from $rank:ident) => {
        stringify!($rank)
    };
    (told_by completion) => {
        crate::ToldBy::Completion
    };
    (told_by end) => {
        crate::ToldBy::End
    };
    (told_by $status:ident) => {
        crate::ToldBy::Status(stringify!($status))
    };
    (in_place nothing) => {
        crate::InPlace::Nothing
    };
    (in_place others) => {
        crate::InPlace::OthersOnly
    };
    (in_place others $($amount:tt)+) => {
        crate::InPlace::OthersInstead($crate::row::amount!($($amount)+))
    };
    (in_place $($amount:tt)+) => {
        crate::InPlace::Instead($crate::row::amount!($($amount)+))
    };
    (unless no_op) => {
        true
    };
}

macro_rules! clause {
    (large $version:literal) => {
        crate::Version::written(stringify!($version))
    };
    (deprecated $version:literal) => {
        crate::Version::written(stringify!($version))
    };
    (removed $version:literal) => {
        crate::Version::written(stringify!($version))
    };
    (waits $what:ident) => {
        crate::Waits::$what
    };
    (languages $which:ident) => {
        crate::Languages::$which
    };
    (macros allowed) => {
        true
    };
    (in_place $parameter:ident) => {
        stringify!($parameter)
    };
}

pub(crate) use {amount, argument, class, clause, direction, length, mpi, significant, span};
