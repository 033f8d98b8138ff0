//! A function of MPI.

use crate::class::{CallProgress, FunctionClass, Waits};
use crate::flow::Flow;
use crate::kind::ParameterKind;
use crate::parameter::{Direction, Parameter};
use crate::version::{NEVER, Version};

/// What a function returns in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Returns {
    /// An error code, `int`. Fortran has it as the last argument, `ierror`.
    Error,
    /// `double`, in Fortran `DOUBLE PRECISION`.
    Double,
    /// `MPI_Aint`, in Fortran `INTEGER(KIND=MPI_ADDRESS_KIND)`.
    Aint,
    /// A number, `int`.
    Int,
    /// `MPI_Fint`
    Fint,
    /// A handle of this kind.
    Handle(ParameterKind),
    /// Nothing; it has no `ierror` either.
    Nothing,
}

/// The languages that have a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Languages {
    /// C, `mpif.h` and `use mpi`, `use mpi_f08`
    All,
    /// C
    C,
    /// C, `mpif.h` and `use mpi`
    NoF08,
    /// C, `use mpi`, `use mpi_f08`: types of `mpi_f08` do not fit `mpif.h`.
    NoMpif,
    /// Fortran only
    Fortran,
}

/// A function of MPI.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Its name in C, such as `MPI_Send`.
    pub name: &'static str,
    /// The first version that has it.
    pub since: Version,
    /// The version that advised against it.
    pub deprecated: Option<Version>,
    /// The first version that does not have it.
    pub removed: Option<Version>,
    /// The version that brought its variant for large counts: in C `MPI_Send_c`.
    pub large: Option<Version>,
    /// What it is for.
    pub class: FunctionClass,
    /// For what it may wait.
    pub waits: Waits,
    /// What it returns in C.
    pub returns: Returns,
    /// The languages that have it.
    pub languages: Languages,
    /// The standard lets `mpi.h` make it a macro, so a wrapper may never see it.
    pub may_be_macro: bool,
    /// The parameter that may be `MPI_IN_PLACE`: in functions with a root at the root only, and
    /// never on an intercommunicator.
    pub in_place: Option<&'static str>,
    /// Bytes it moves.
    pub flows: &'static [Flow],
    own: &'static [Parameter],
    last: &'static [Parameter],
}

const REQUEST: Parameter = Parameter::new("request", ParameterKind::Request, Direction::Out);
const INFO: Parameter = Parameter::new("info", ParameterKind::Info, Direction::In);

impl Function {
    /// Whether its name is one of these.
    pub const fn is_one_of(&self, names: &[&str]) -> bool {
        let mut i = 0;
        while i < names.len() {
            if same(self.name, names[i]) {
                return true;
            }
            i += 1;
        }
        false
    }

    /// A row of the table.
    pub(crate) const fn new(
        name: &'static str,
        since: Version,
        class: FunctionClass,
        parameters: &'static [Parameter],
        flows: &'static [Flow],
    ) -> Function {
        Function {
            name,
            since,
            deprecated: None,
            removed: None,
            large: None,
            class,
            waits: class.waits(),
            returns: Returns::Error,
            languages: Languages::All,
            may_be_macro: false,
            in_place: None,
            flows,
            own: parameters,
            last: &[],
        }
    }

    /// The same operation, over at another time: requests of the non-blocking functions, info
    /// and requests of the persistent ones come last.
    pub(crate) const fn also(
        self,
        progress: CallProgress,
        name: &'static str,
        since: Version,
    ) -> Function {
        let class = self.class.with(progress);
        let last: &[Parameter] = match (progress, class) {
            (
                CallProgress::Persistent,
                FunctionClass::Collective(_) | FunctionClass::Neighborhood(_),
            ) => &[INFO, REQUEST],
            _ => &[REQUEST],
        };
        let large = match self.large {
            Some(large) => Some(large.later(since)),
            None => None,
        };
        // Nothing that gives back a request waits.
        Function { name, since, large, class, waits: Waits::Nothing, last, ..self }
    }

    pub(crate) const fn large(self, since: Version) -> Function {
        Function { large: Some(since), ..self }
    }

    pub(crate) const fn deprecated(self, version: Version) -> Function {
        Function { deprecated: Some(version), ..self }
    }

    pub(crate) const fn removed(self, version: Version) -> Function {
        Function { removed: Some(version), ..self }
    }

    pub(crate) const fn waits(self, waits: Waits) -> Function {
        Function { waits, ..self }
    }

    pub(crate) const fn returns(self, returns: Returns) -> Function {
        Function { returns, ..self }
    }

    pub(crate) const fn languages(self, languages: Languages) -> Function {
        Function { languages, ..self }
    }

    pub(crate) const fn macros(self, may_be_macro: bool) -> Function {
        Function { may_be_macro, ..self }
    }

    pub(crate) const fn in_place(self, parameter: &'static str) -> Function {
        Function { in_place: Some(parameter), ..self }
    }

    /// Its parameters in C, in order; those of the `_c` variant if `large`.
    pub fn parameters(&self, large: bool) -> impl Iterator<Item = &'static Parameter> + Clone {
        let all = self.own.iter().chain(self.last);
        all.filter(move |p| large || p.significant != crate::parameter::Significant::Large)
    }

    /// All its parameters, in two lists: those it has alike with its blocking or other sister, then
    /// what it has beside them. For tables that are made at compile time.
    pub const fn parameter_lists(&self) -> [&'static [Parameter]; 2] {
        [self.own, self.last]
    }

    /// The parameter of this name.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters(true).find(|p| p.name == name)
    }

    /// The place of the parameter of this name among the words of a call in C, from 0. It is the
    /// same in the variant for large counts unless that has parameters of its own.
    pub const fn position(&self, name: &str) -> Option<usize> {
        let mut place = 0;
        while let Some(parameter) = self.at(place) {
            if same(parameter.name, name) {
                return Some(place);
            }
            place += 1;
        }
        None
    }

    /// The parameter at this place, those of the variant for large counts included.
    pub const fn at(&self, place: usize) -> Option<&'static Parameter> {
        if place < self.own.len() {
            Some(&self.own[place])
        } else if place - self.own.len() < self.last.len() {
            Some(&self.last[place - self.own.len()])
        } else {
            None
        }
    }

    /// What a call is about: the communicator, window, file, session or message it is given, the
    /// first of them. Sizes that a flow needs are those of this communicator.
    pub fn object(&self) -> Option<&'static Parameter> {
        let kinds = [
            ParameterKind::Comm,
            ParameterKind::Win,
            ParameterKind::File,
            ParameterKind::Session,
            ParameterKind::Message,
        ];
        self.parameters(true).find(|p| kinds.contains(&p.kind) && p.direction != Direction::Out)
    }

    /// True if `version` of the standard has it.
    pub fn is_in(&self, version: Version) -> bool {
        self.since <= version && version < self.removed.unwrap_or(NEVER)
    }

    /// True if C has it.
    pub const fn in_c(&self) -> bool {
        !matches!(self.languages, Languages::Fortran)
    }

    /// True if `use mpi` has it.
    pub const fn in_fortran(&self) -> bool {
        !matches!(self.languages, Languages::C)
    }

    /// True if `use mpi_f08` has it.
    pub const fn in_f08(&self) -> bool {
        !matches!(self.languages, Languages::C | Languages::NoF08)
    }

    /// True if it takes a buffer, so that `mpi_f08` may pass a descriptor.
    pub fn has_choice(&self) -> bool {
        self.parameters(true).any(|p| p.kind == ParameterKind::Choice)
    }

    /// True if `mpi_f08` calls its variant for large counts by the name with `_c`, too. Others
    /// are told apart by their arguments; those of callbacks would not do.
    pub fn is_c_in_f08(&self) -> bool {
        self.parameters(true).any(|p| {
            matches!(p.kind, ParameterKind::UserFunction | ParameterKind::DatarepConversionFunction)
        })
    }

    /// The parameter that gets a request to be completed by others, or started.
    pub fn gives_request(&self) -> Option<&'static Parameter> {
        self.parameters(true)
            .find(|p| p.kind == ParameterKind::Request && p.direction == Direction::Out)
    }
}

/// True if two names are the same, where there is no `==` yet: in constants.
pub const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut i = 0;
    while i < one.len() && i < other.len() && one[i] == other[i] {
        i += 1;
    }
    i == one.len() && i == other.len()
}
