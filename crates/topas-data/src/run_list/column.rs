//! What can be told of a run: what lines say, measures, and what only a run has.

use topas_format::event::Metric;
use topas_format::number::Count;

use crate::field::{Field, FieldKind, FieldScope, FieldUnit, MILLION, Value};
use crate::key_parts::KeyParts;
use crate::measure::Measure;
use crate::report::{PlanError, TableSide};
use crate::run::{Detail, PeRecord, Run};

/// A column of a list of runs.
#[derive(Clone, Debug, PartialEq)]
pub enum RunColumn {
    /// When its last line was written, local time of the site: seconds since 1970-01-01
    Ended,
    /// When its first rank began, likewise
    Started,
    /// Longest wall clock time of its lines, in s
    Wall,
    /// Number of its lines
    Lines,
    /// What its lines say. Of texts those of all lines, each once, with `|` between them; else that
    /// of the lowest PE that has a value
    Field(Field),
    /// A measure of the run
    Measure(&'static Measure),
}

/// The value of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum RunValue {
    /// Not measured, or not told
    Missing,
    /// Text without escapes
    Text(Box<[u8]>),
    /// As [`Value::Number`]
    Number(i128),
    /// The value of a measure in its unit
    Ratio(f64),
}

/// Names of the columns that only runs have, and what they are.
const OF_RUNS: &[(&str, &str, RunColumn)] = &[
    ("ended", "When the run ended, local time of the site.", RunColumn::Ended),
    ("started", "When the run started, local time of the site.", RunColumn::Started),
    ("wall", "Longest wall clock time of its measuring ranks.", RunColumn::Wall),
    ("lines", "Number of its lines.", RunColumn::Lines),
];

impl RunColumn {
    /// The column of this name: of the run, a measure, or a field.
    ///
    /// # Errors
    ///
    /// [`PlanError::Unknown`] if there is none.
    pub fn named(name: &str) -> Result<RunColumn, PlanError> {
        if let Some((_, _, column)) = OF_RUNS.iter().find(|(known, ..)| *known == name) {
            return Ok(column.clone());
        }
        Ok(match TableSide::named(name)? {
            TableSide::Field(field) => RunColumn::Field(field),
            TableSide::Measure(measure) => RunColumn::Measure(measure),
        })
    }

    /// The columns that only runs have: name and meaning.
    pub fn of_runs() -> impl Iterator<Item = (&'static str, &'static str)> {
        OF_RUNS.iter().map(|(name, about, _)| (*name, *about))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            RunColumn::Field(field) => field.name(),
            RunColumn::Measure(measure) => measure.name,
            own => OF_RUNS.iter().find(|(.., known)| known == own).map_or("", |(name, ..)| name),
        }
    }

    /// What its values are, but those of measures.
    pub fn kind(&self) -> Option<FieldKind> {
        match self {
            RunColumn::Field(field) => Some(field.kind()),
            RunColumn::Ended | RunColumn::Started | RunColumn::Wall => {
                Some(FieldKind::Number(FieldUnit::Seconds))
            }
            RunColumn::Lines => Some(FieldKind::Number(FieldUnit::None)),
            RunColumn::Measure(_) => None,
        }
    }

    /// Whether it is a rate of the processor, see [`Measure::is_of_processor`].
    pub fn is_of_processor(&self) -> bool {
        matches!(self, RunColumn::Measure(measure) if measure.is_of_processor())
    }

    /// Whether it is of the MPI profile of a run.
    pub(super) fn reads_profiles(&self) -> bool {
        matches!(self, RunColumn::Measure(measure) if measure.is_of_profile())
    }

    /// How much of a line it needs besides its field.
    pub(super) fn detail(&self) -> Detail {
        match self {
            RunColumn::Measure(measure) => measure.detail,
            _ => Detail::Rates,
        }
    }

    /// The same for the order alone.
    pub(super) fn detail_to_sort(&self) -> Detail {
        match self {
            RunColumn::Field(field) if of_record(field).is_some() => Detail::Counters,
            own => own.detail(),
        }
    }

    /// The field that it needs of each line.
    pub(super) fn field_of_line(&self) -> Option<Field> {
        match self {
            RunColumn::Ended | RunColumn::Started => Field::named("time").ok(),
            RunColumn::Field(field) => Some(field.clone()),
            _ => None,
        }
    }

    /// The field that it needs of each line for the order alone: none for what is known of a run
    /// without it, because values that differ from line to line take memory.
    pub(super) fn field_to_sort(&self) -> Option<&Field> {
        match self {
            RunColumn::Field(field) if of_record(field).is_none() => Some(field),
            _ => None,
        }
    }

    /// The value that a run is sorted by.
    pub(super) fn to_sort(&self, run: &Run<'_>, keys: FieldKeys<'_>) -> RunValue {
        match self {
            RunColumn::Ended => RunValue::Number(run.end.into()),
            RunColumn::Started => RunValue::Number(run.start.into()),
            RunColumn::Field(field) => match of_record(field) {
                Some(read) => {
                    run.pes.iter().find_map(read).map_or(RunValue::Missing, RunValue::Number)
                }
                None => self.value(run, keys),
            },
            _ => self.value(run, keys),
        }
    }

    /// The value of a run.
    pub(super) fn value(&self, run: &Run<'_>, keys: FieldKeys<'_>) -> RunValue {
        match self {
            RunColumn::Ended => keys.ended(run).map_or(RunValue::Missing, RunValue::Number),
            RunColumn::Started => {
                let length = i128::from(run.end) - i128::from(run.start);
                keys.ended(run).map_or(RunValue::Missing, |end| RunValue::Number(end - length))
            }
            RunColumn::Wall => RunValue::Number(run.wall.0.into()),
            RunColumn::Lines => RunValue::Number(i128::from(run.lines()) * MILLION),
            RunColumn::Measure(measure) => measure_of(measure, run),
            RunColumn::Field(field) => keys.of_lines(run, field),
        }
    }
}

/// The value of a measure; missing if there is none.
fn measure_of(measure: &Measure, run: &Run<'_>) -> RunValue {
    measure.of(run).ratio().map_or(RunValue::Missing, RunValue::Ratio)
}

/// The fields that the keys of lines hold.
#[derive(Clone, Copy)]
pub(crate) struct FieldKeys<'f> {
    /// Bytes before them, of the selection
    pub(crate) skip: usize,
    pub(crate) fields: &'f [Field],
}

impl FieldKeys<'_> {
    /// The values in the key of a line, in the order of the fields.
    pub(crate) fn parts<'k>(&self, run: &Run<'k>, pe: &PeRecord) -> KeyParts<'k> {
        KeyParts(run.key_of(pe).get(self.skip..).unwrap_or_default())
    }

    /// Whether a line of a run has a value of a field.
    pub(super) fn tell(&self, run: &Run<'_>, field: &Field) -> bool {
        self.of_lines(run, field) != RunValue::Missing
    }

    /// What the lines of a run say of a field.
    fn of_lines(&self, run: &Run<'_>, field: &Field) -> RunValue {
        let Some(at) = self.fields.iter().position(|known| known == field) else {
            return RunValue::Missing;
        };
        let kind = field.kind();
        let mut values = run.pes.iter().filter_map(|pe| self.parts(run, pe).nth(at).flatten());
        if kind != FieldKind::Text {
            // Keys of numbers are in their order.
            let of_run = match field.scope() {
                FieldScope::Last => values.max(),
                _ => values.next(),
            };
            let Some(of_run) = of_run else { return RunValue::Missing };
            return match Value::of_key(kind, true, of_run) {
                Value::Number(n) => RunValue::Number(n),
                Value::Missing | Value::Text(_) => RunValue::Missing,
            };
        }
        let mut texts: Vec<&[u8]> = Vec::new();
        for text in values {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        if texts.is_empty() { RunValue::Missing } else { RunValue::Text(texts.join(&b'|').into()) }
    }

    /// When the last line of a run was written, local time in µs since 1970-01-01.
    pub(crate) fn ended(&self, run: &Run<'_>) -> Option<i128> {
        let at = self.fields.iter().position(|field| field.name() == "time")?;
        let last = run.pes.iter().max_by_key(|pe| (pe.end, pe.date))?;
        let part = self.parts(run, last).nth(at).flatten();
        match Value::of_key(FieldKind::Time, part.is_some(), part.unwrap_or_default()) {
            Value::Number(time) => Some(i128::from(last.date.days()) * 86_400_000_000 + time),
            Value::Missing | Value::Text(_) => None,
        }
    }
}

/// How to read from a record what a field of this name says, in millionths.
fn of_record(field: &Field) -> Option<fn(&PeRecord) -> Option<i128>> {
    fn whole(count: Count) -> Option<i128> {
        count.value().map(|n| i128::from(n) * MILLION)
    }
    Some(match field.name() {
        "wall_time" => |pe| Some(pe.wall.0.into()),
        "user_time" => |pe| Some(pe.cpu?.user.0.into()),
        "sys_time" => |pe| Some(pe.cpu?.sys.0.into()),
        "cpu_time" => |pe| i128::try_from(pe.cpu?.micros()).ok(),
        "ops" => |pe| whole(pe.ops.count),
        "fpops" => |pe| whole(pe.count(Metric::FpOps)),
        "intops" => |pe| whole(pe.count(Metric::IntOps)),
        "loads" => |pe| whole(pe.count(Metric::Loads)),
        "stores" => |pe| whole(pe.count(Metric::Stores)),
        "l1_miss" => |pe| whole(pe.l1_miss),
        "cyc" => |pe| whole(pe.cycles),
        "ins" => |pe| whole(pe.instructions),
        _ => return None,
    })
}
