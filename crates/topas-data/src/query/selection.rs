//! Which lines and runs count.
//!
//! A condition is taken apart at its outermost `and`. Each part that names a measure is of the
//! run; one that names a field of a rank, and no measure, is of each line for itself; all others
//! are of the run. A field is for a run what it is for a row of a table: that of the line with
//! the lowest PE or, of [`FieldScope::Last`], the last class that one of its lines is in.
//!
//! What all lines of a run agree on is asked of each line, so that those of other runs need not
//! be kept. What else a run is asked of its fields is answered at each line, too, and the answers
//! stand at the beginning of its key: one byte each, however many values the fields have.

use std::cmp::Ordering;

use topas_format::line::{Extras, Line};

use super::expression::{Expression, Node, Operand, UnknownOperand, Valuation};
use super::lexer::Operator;
use super::parser::ExpressionError;
use crate::field::{Field, FieldKind, FieldScope, MILLION, Value};
use crate::measure::{Measure, Of};
use crate::report::TableSide;
use crate::run::{Detail, Run};

impl Operand for TableSide {
    fn name(&self) -> &str {
        self.name()
    }

    fn kind(&self) -> FieldKind {
        match self {
            TableSide::Field(field) => field.kind(),
            TableSide::Measure(measure) => FieldKind::Number(measure.written),
        }
    }

    fn dash_is_value(&self) -> bool {
        matches!(self, TableSide::Field(field) if field.dash_is_value())
    }

    fn is_beside(&self, other: &Self) -> bool {
        matches!(self, TableSide::Field(_)) == matches!(other, TableSide::Field(_))
    }
}

impl From<Expression> for Expression<TableSide> {
    fn from(expression: Expression) -> Self {
        let side = |field: &Field| Some(TableSide::Field(field.clone()));
        Expression(expression.0.map(&side).expect("every field has a side"))
    }
}

impl Expression<TableSide> {
    /// The expression over fields and measures that a text says.
    ///
    /// # Errors
    ///
    /// [`ExpressionError`], with the place in the text.
    pub fn of_runs(text: &str) -> Result<Self, ExpressionError> {
        Self::parse_with(text, |name| {
            TableSide::named(name).map_err(|unknown| UnknownOperand {
                what: unknown.to_string(),
                hint: "--list-fields and --list-measures show all names".to_owned(),
            })
        })
    }
}

/// What the conditions on a run are made of.
#[derive(Clone, Debug)]
enum RunOperand {
    /// The answer in this byte of the key: 0 or 1, missing if it is neither
    Answer(usize),
    /// The last of the places that lines have in this byte of their keys
    Last(usize),
    Measure(&'static Measure),
}

/// What a line says for its run, in a byte of its key.
#[derive(Clone, Debug)]
enum LineAnswer {
    /// Whether this is true of it
    Truth(Node<Field>),
    /// In which class it is: 1 for the first, 0 if the value is missing
    Place(Field),
}

/// Answers in a key.
const NO: u8 = 0;
const YES: u8 = 1;
const NEITHER: u8 = 2;

/// Conditions that must all be met, by each line for itself or by the runs that are made of
/// those lines.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    lines: Vec<Node<Field>>,
    runs: Vec<Node<RunOperand>>,
    /// What lines answer for their runs
    answers: Vec<LineAnswer>,
    of_ranks: bool,
    detail: Detail,
    /// A measure of an MPI profile is asked for
    reads_profiles: bool,
    with_accelerators: bool,
    /// The answer that tells whether a line names an accelerator
    accelerator: Option<usize>,
}

impl Selection {
    /// No condition yet; in those to come, runs that used an accelerator have rates of the
    /// processor, which they have not by [`Selection::default`].
    pub fn with_accelerators() -> Self {
        Selection { with_accelerators: true, ..Selection::default() }
    }

    /// Whether runs that used an accelerator have rates of the processor.
    pub fn has_accelerators(&self) -> bool {
        self.with_accelerators
    }

    /// One more condition.
    pub fn and(&mut self, condition: impl Into<Expression<TableSide>>) {
        let mut parts = vec![condition.into().0];
        while let Some(part) = parts.pop() {
            match part {
                Node::And(nodes) => parts.extend(nodes.into_iter().rev()),
                part => self.and_part(&part),
            }
        }
    }

    fn and_part(&mut self, part: &Node<TableSide>) {
        if let Some(of_fields) = part.map(&field) {
            let scope = of_fields.operands().iter().map(|field| field.scope()).max();
            match scope.unwrap_or(FieldScope::Launch) {
                FieldScope::Launch => return self.lines.push(of_fields),
                FieldScope::Rank => {
                    self.of_ranks = true;
                    return self.lines.push(of_fields);
                }
                FieldScope::Run | FieldScope::Last => {}
            }
        }
        let of_run = self.of_run(part);
        self.runs.push(of_run);
    }

    /// A condition on runs, in which lines answer what is of their fields alone.
    fn of_run(&mut self, node: &Node<TableSide>) -> Node<RunOperand> {
        let alone = |side: &TableSide| field(side).filter(|f| f.scope() != FieldScope::Last);
        if let Some(of_fields) = node.map(&alone) {
            self.answers.push(LineAnswer::Truth(of_fields));
            let answer = RunOperand::Answer(self.answers.len() - 1);
            return Node::Compare(answer, Operator::Equal, Value::whole(1));
        }
        match node {
            Node::Not(node) => Node::Not(Box::new(self.of_run(node))),
            Node::And(nodes) => Node::And(nodes.iter().map(|node| self.of_run(node)).collect()),
            Node::Or(nodes) => Node::Or(nodes.iter().map(|node| self.of_run(node)).collect()),
            Node::Compare(side, operator, with) => {
                Node::Compare(self.operand(side), *operator, with.clone())
            }
            Node::CompareBoth(side, operator, other) => {
                Node::CompareBoth(self.operand(side), *operator, self.operand(other))
            }
            Node::Matches(side, regex, wanted) => {
                Node::Matches(self.operand(side), regex.clone(), *wanted)
            }
            Node::Missing(side, wanted) => Node::Missing(self.operand(side), *wanted),
        }
    }

    fn operand(&mut self, side: &TableSide) -> RunOperand {
        match side {
            TableSide::Field(field) => {
                self.answers.push(LineAnswer::Place(field.clone()));
                RunOperand::Last(self.answers.len() - 1)
            }
            TableSide::Measure(measure) => {
                self.detail = self.detail.max(measure.detail);
                self.reads_profiles |= measure.is_of_profile();
                if measure.is_of_processor()
                    && !self.with_accelerators
                    && self.accelerator.is_none()
                    && let Ok(field) = Field::named("gpu")
                {
                    self.answers.push(LineAnswer::Truth(Node::Missing(field, false)));
                    self.accelerator = Some(self.answers.len() - 1);
                }
                RunOperand::Measure(measure)
            }
        }
    }

    /// Whether every line and every run is wanted.
    pub fn is_all(&self) -> bool {
        self.lines.is_empty() && self.runs.is_empty()
    }

    /// Whether single lines are selected, so that a run may be without some of its lines.
    pub fn is_of_ranks(&self) -> bool {
        self.of_ranks
    }

    /// How much of a line the conditions on runs look at.
    pub fn detail(&self) -> Detail {
        self.detail
    }

    /// Whether the conditions on runs look at their MPI profiles.
    pub fn reads_profiles(&self) -> bool {
        self.reads_profiles
    }

    /// Whether a line meets every condition on lines.
    #[inline]
    pub fn wants(&self, line: &Line<'_>, extras: Extras<'_>) -> bool {
        self.lines.iter().all(|condition| condition.of_line(line, extras) == Some(true))
    }

    /// Appends what the line says for its run: [`Selection::key_len`] bytes, with which a key of
    /// [`Question::key`](crate::Question::key) must begin.
    #[inline]
    pub fn write_key(&self, line: &Line<'_>, extras: Extras<'_>, key: &mut Vec<u8>) {
        key.extend(self.answers.iter().map(|asked| match asked {
            LineAnswer::Truth(asked) => match asked.of_line(line, extras) {
                Some(false) => NO,
                Some(true) => YES,
                None => NEITHER,
            },
            LineAnswer::Place(field) => match field.value(line, extras) {
                Value::Number(n) => u8::try_from(n / MILLION + 1).unwrap_or(0),
                Value::Missing | Value::Text(_) => 0,
            },
        }));
    }

    /// Whether lines are asked nothing: every line is wanted, and [`Selection::write_key`] appends
    /// nothing.
    pub fn asks_no_line(&self) -> bool {
        self.lines.is_empty() && self.answers.is_empty()
    }

    /// Number of bytes that [`Selection::write_key`] appends.
    pub fn key_len(&self) -> usize {
        self.answers.len()
    }

    /// Whether a run meets every condition on runs.
    #[inline]
    pub fn wants_run(&self, run: &Run<'_>) -> bool {
        let values = RunValues { run, accelerated: self.is_accelerated(run) };
        self.meets(&values)
    }

    /// Whether a run that is not wanted would be if runs with an accelerator had rates of the
    /// processor.
    pub fn sets_aside(&self, run: &Run<'_>) -> bool {
        self.is_accelerated(run) && self.meets(&RunValues { run, accelerated: false })
    }

    fn meets(&self, values: &RunValues<'_, '_>) -> bool {
        self.runs.iter().all(|condition| condition.truth(values) == Some(true))
    }

    /// Whether a line of the run names an accelerator, if that matters.
    fn is_accelerated(&self, run: &Run<'_>) -> bool {
        let names = |at: usize| move |pe| run.key_of(pe).get(at) == Some(&YES);
        self.accelerator.is_some_and(|at| run.pes.iter().any(names(at)))
    }
}

fn field(side: &TableSide) -> Option<Field> {
    match side {
        TableSide::Field(field) => Some(field.clone()),
        TableSide::Measure(_) => None,
    }
}

struct RunValues<'r, 'k> {
    run: &'r Run<'k>,
    /// The run has no rates of the processor
    accelerated: bool,
}

impl RunValues<'_, '_> {
    fn measured(&self, measure: &Measure) -> Of {
        if self.accelerated && measure.is_of_processor() {
            return Of::Uncounted;
        }
        measure.of(self.run)
    }
}

impl Valuation<RunOperand> for RunValues<'_, '_> {
    fn value(&self, operand: &RunOperand) -> Value<'_> {
        match operand {
            RunOperand::Answer(at) => match self.run.key.get(*at) {
                Some(&NO) => Value::whole(0),
                Some(&YES) => Value::whole(1),
                _ => Value::Missing,
            },
            RunOperand::Last(at) => {
                let places = self.run.pes.iter().filter_map(|pe| self.run.key_of(pe).get(*at));
                match places.max() {
                    None | Some(0) => Value::Missing,
                    Some(place) => Value::whole(place - 1),
                }
            }
            RunOperand::Measure(measure) => {
                self.measured(measure).millionths().map_or(Value::Missing, Value::Number)
            }
        }
    }

    fn order(&self, operand: &RunOperand, with: &Value<'static>) -> Option<Ordering> {
        match (operand, with) {
            (RunOperand::Measure(measure), Value::Number(n)) => self.measured(measure).order(*n),
            _ => self.value(operand).order(with),
        }
    }
}
