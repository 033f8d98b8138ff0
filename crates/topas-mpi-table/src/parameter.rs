//! Parameters of functions.

use core::fmt;

use crate::kind::ParameterKind;

/// What a function does with the memory behind a pointer: `const` in C or not. What is passed
/// by value is `In`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Reads it.
    In,
    /// Writes it.
    Out,
    /// Both, or keeps it.
    InOut,
}

/// How many elements an array has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Length {
    /// As this parameter says.
    Parameter(&'static str),
    /// The sum of this array.
    Sum(&'static str),
    /// The last element of this array.
    Last(&'static str),
    /// One per process of the group at the other end, of an intercommunicator the remote one.
    Ranks,
    /// One per process of the own group.
    Local,
    /// One per neighbour data come from.
    Sources,
    /// One per neighbour data go to.
    Destinations,
    /// One per dimension of the Cartesian topology.
    Dimensions,
    /// At most this constant of MPI.
    Constant(&'static str),
}

/// On which calls a parameter means anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Significant {
    /// On all.
    Always,
    /// At the root; elsewhere it may be anything, and must not be looked at.
    AtRoot,
    /// It exists in the variant for large counts only.
    Large,
}

/// A parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parameter {
    /// Its name in the standard.
    pub name: &'static str,
    /// What it is.
    pub kind: ParameterKind,
    /// What becomes of it.
    pub direction: Direction,
    /// Its length, if it is an array.
    pub array: Option<Length>,
    /// When it means anything.
    pub significant: Significant,
}

impl Parameter {
    /// A parameter that is passed by value or read.
    pub(crate) const fn new(
        name: &'static str,
        kind: ParameterKind,
        direction: Direction,
    ) -> Parameter {
        Parameter { name, kind, direction, array: None, significant: Significant::Always }
    }

    pub(crate) const fn array(self, length: Length) -> Parameter {
        Parameter { array: Some(length), ..self }
    }

    pub(crate) const fn significant(self, significant: Significant) -> Parameter {
        Parameter { significant, ..self }
    }

    /// Its declaration in C without the name, such as `const int *`.
    pub fn c_type(&self, large: bool) -> impl fmt::Display {
        CDeclaration { parameter: *self, large }
    }

    /// True if C passes a pointer.
    pub const fn is_pointer(&self) -> bool {
        self.array.is_some()
            || !matches!(self.direction, Direction::In)
            || self.kind.always_pointer()
            || matches!(self.kind, ParameterKind::Strings | ParameterKind::StringLists)
    }
}

impl ParameterKind {
    /// True if C passes a pointer even to what is only read.
    const fn always_pointer(self) -> bool {
        matches!(
            self,
            ParameterKind::Choice
                | ParameterKind::Status
                | ParameterKind::String
                | ParameterKind::BufferAddress
                | ParameterKind::AttributeValue
                | ParameterKind::IntegerAttribute
                | ParameterKind::ExtraState
                | ParameterKind::IntegerExtraState
                | ParameterKind::LogicalValue
                | ParameterKind::Object
                | ParameterKind::FStatus
                | ParameterKind::F08Status
        )
    }

    /// True if `const` is missing in C though the function only reads.
    const fn never_const(self) -> bool {
        matches!(
            self,
            ParameterKind::AttributeValue
                | ParameterKind::IntegerAttribute
                | ParameterKind::ExtraState
                | ParameterKind::IntegerExtraState
                | ParameterKind::LogicalValue
                | ParameterKind::Object
                | ParameterKind::RankRanges
                | ParameterKind::Strings
                | ParameterKind::StringLists
        )
    }
}

struct CDeclaration {
    parameter: Parameter,
    large: bool,
}

impl fmt::Display for CDeclaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parameter { kind, direction, .. } = self.parameter;
        let base = if self.large { kind.c().large } else { kind.c().small };
        match kind {
            ParameterKind::Variadic => return f.write_str(base),
            ParameterKind::RankRanges => return f.write_str("int (*)[3]"),
            // These point to their arrays already.
            ParameterKind::Strings | ParameterKind::StringLists => return write!(f, "{base}*"),
            _ => {}
        }
        if !self.parameter.is_pointer() {
            return f.write_str(base);
        }
        let read_only = direction == Direction::In && !kind.never_const();
        write!(f, "{}{base} *", if read_only { "const " } else { "" })
    }
}
