//! What is to be computed, before any line is read.

use std::fmt;

use topas_format::line::{Extras, Line};

use super::figure::Figure;
use super::gaps::GapPlaces;
use crate::field::{FIELDS, Field};
use crate::key_parts;
use crate::measure::{BucketSize, MEASURES, Measure, Scale, ScaleKind};
use crate::period::Period;
use crate::query::Selection;
use crate::question::Question;
use crate::run::{Detail, Run};

/// What a table is by.
#[derive(Clone, Debug, PartialEq)]
pub enum TableSide {
    /// The value of a field
    Field(Field),
    /// The bucket of a measure's value
    Measure(&'static Measure),
}

impl TableSide {
    /// The measure or field of this name.
    ///
    /// # Errors
    ///
    /// [`PlanError::Unknown`] if there is neither.
    pub fn named(name: &str) -> Result<TableSide, PlanError> {
        let near = match Measure::named(name) {
            Ok(measure) => return Ok(TableSide::Measure(measure)),
            Err(near) => near,
        };
        Field::named(name).map(TableSide::Field).map_err(|unknown| {
            let name = name.to_owned();
            if unknown.needs_sacct {
                return PlanError::NeedsSacct(name);
            }
            PlanError::Unknown { name, similar: unknown.similar.or(near) }
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            TableSide::Field(field) => field.name(),
            TableSide::Measure(measure) => measure.name,
        }
    }
}

/// Why a plan cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// Neither a field nor a measure
    Unknown {
        /// The name as it was given
        name: String,
        /// One of a similar name
        similar: Option<&'static str>,
    },
    /// A field of jobs, and no jobs were joined
    NeedsSacct(String),
    /// A table by more than two, or by none
    Dimensions(usize),
    /// A table by the same twice
    Twice(String),
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::Unknown { name, similar: None } => {
                write!(f, "no field and no measure is called '{name}'")
            }
            PlanError::Unknown { name, similar: Some(similar) } => {
                write!(f, "no field and no measure is called '{name}'; did you mean '{similar}'?")
            }
            PlanError::NeedsSacct(name) => write!(f, "'{name}' needs --sacct FILE"),
            PlanError::Dimensions(n) => write!(f, "a table is by one or two, not by {n}"),
            PlanError::Twice(name) => write!(f, "a table cannot be by '{name}' twice"),
        }
    }
}

impl std::error::Error for PlanError {}

/// A dimension of a table, as a place in the lists of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DimensionPlace {
    Field(usize),
    Measure(usize),
}

/// A table to be made.
#[derive(Clone, Debug)]
pub(super) struct TablePlan {
    pub(super) by: Vec<DimensionPlace>,
    /// Measures whose samples are wanted of each row
    pub(super) columns: Vec<usize>,
}

/// What is to be computed: the tables, the lines and runs that count.
#[derive(Clone, Debug)]
pub struct ReportPlan {
    selection: Selection,
    pub(super) period: Period,
    pub(super) fields: Vec<Field>,
    pub(super) measures: Vec<(&'static Measure, Scale)>,
    pub(super) tables: Vec<TablePlan>,
    /// For tables by the ending
    pub(super) gap_places: Option<GapPlaces>,
    /// Place of the field by which runs are kept out of rates of the processor
    pub(super) accelerator: Option<usize>,
    /// Figures of each row, with the places of the fields that they are made from
    pub(super) figures: Vec<(Figure, Option<usize>)>,
    /// Whether rows tell the noise of their measures
    pub(super) noise: bool,
    /// Whether runs outside the period are counted
    counts_outside: bool,
}

impl ReportPlan {
    /// No tables yet, of the lines that are selected and the runs of a period.
    pub fn new(selection: Selection, period: Period) -> Self {
        ReportPlan {
            selection,
            period,
            fields: Vec::new(),
            measures: Vec::new(),
            tables: Vec::new(),
            gap_places: None,
            accelerator: None,
            figures: Vec::new(),
            noise: false,
            counts_outside: true,
        }
    }

    /// Passes over lines that are far from the period. Runs outside it are not counted then, and a short
    /// period of a long log takes less time.
    pub fn only_near(&mut self) {
        self.counts_outside = false;
    }

    /// Whether runs outside the period are counted.
    pub(super) fn counts_outside(&self) -> bool {
        self.counts_outside
    }

    /// A table by one or two, with samples of some measures in each row.
    ///
    /// # Errors
    ///
    /// [`PlanError`] if it is by none, by more, or by the same twice.
    pub fn table(
        &mut self,
        by: &[TableSide],
        columns: &[&'static Measure],
    ) -> Result<(), PlanError> {
        match by {
            [_] => {}
            [one, other] if one != other => {}
            [one, _] => return Err(PlanError::Twice(one.name().to_owned())),
            _ => return Err(PlanError::Dimensions(by.len())),
        }
        let place = |by: &TableSide| match by {
            TableSide::Measure(measure) => DimensionPlace::Measure(self.measure(measure)),
            TableSide::Field(field) => DimensionPlace::Field(self.field(field)),
        };
        let by: Vec<_> = by.iter().map(place).collect();
        let columns = columns.iter().map(|measure| self.measure(measure)).collect();
        let ending = self.fields.iter().position(|field| field.name() == "ending");
        if let (Some(ending), Ok(mpi)) = (ending, Field::named("mpi_name"))
            && by.contains(&DimensionPlace::Field(ending))
        {
            self.gap_places = Some(GapPlaces { ending, mpi: self.field(&mpi) });
        }
        self.tables.push(TablePlan { by, columns });
        Ok(())
    }

    /// The place of a field, which is added if it is new.
    fn field(&mut self, field: &Field) -> usize {
        self.fields.iter().position(|known| known == field).unwrap_or_else(|| {
            self.fields.push(field.clone());
            self.fields.len() - 1
        })
    }

    /// A figure in each row of all tables; one that is there already stays.
    pub fn figure(&mut self, figure: Figure) {
        if !self.figures.iter().any(|(known, _)| *known == figure) {
            let field = figure.field().map(|field| self.field(&field));
            self.figures.push((figure, field));
        }
    }

    /// The figures of each row.
    pub fn figures(&self) -> impl Iterator<Item = Figure> + '_ {
        self.figures.iter().map(|(figure, _)| *figure)
    }

    /// The place of a measure, which is added with its usual scale if it is new.
    fn measure(&mut self, measure: &'static Measure) -> usize {
        if let Some(known) = self.measures.iter().position(|(known, _)| *known == measure) {
            return known;
        }
        if measure.is_of_processor()
            && !self.selection.has_accelerators()
            && let Ok(field) = Field::named("gpu")
        {
            self.accelerator = Some(self.field(&field));
        }
        let size = measure.bucket.and_then(|size| size.parse::<BucketSize>().ok());
        let kind = size.map_or(ScaleKind::Logarithmic, ScaleKind::FromData);
        self.measures.push((measure, Scale { kind, upper: None }));
        self.measures.len() - 1
    }

    /// The measures that tables are by, each with its scale.
    pub fn scales(&mut self) -> impl Iterator<Item = (&'static Measure, &mut Scale)> {
        let places = self.tables.iter().flat_map(|table| &table.by);
        let used: Vec<usize> = places
            .filter_map(|place| match place {
                DimensionPlace::Measure(at) => Some(*at),
                DimensionPlace::Field(_) => None,
            })
            .collect();
        let measures = self.measures.iter_mut().enumerate();
        measures
            .filter(move |(at, _)| used.contains(at))
            .map(|(_, (measure, scale))| (*measure, scale))
    }

    /// The days that runs are of.
    pub fn period(&self) -> Period {
        self.period
    }

    /// Whether a table is by two.
    pub fn has_crossed_table(&self) -> bool {
        self.tables.iter().any(|table| table.by.len() > 1)
    }

    /// What counts.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Names of everything a table can be by: measures, then fields.
    pub fn names() -> impl Iterator<Item = &'static str> {
        MEASURES.iter().map(|measure| measure.name).chain(FIELDS.iter().map(|row| row.name))
    }
}

impl Question for ReportPlan {
    fn detail(&self) -> Detail {
        let details = self.measures.iter().map(|(measure, _)| measure.detail);
        details.max().unwrap_or_default().max(self.selection.detail())
    }

    fn reads_profiles(&self) -> bool {
        self.selection.reads_profiles()
            || self.measures.iter().any(|(measure, _)| measure.is_of_profile())
    }

    #[inline]
    fn wants(&self, line: &Line<'_>, extras: Extras<'_>) -> bool {
        (self.counts_outside || self.period.is_near(line.date))
            && self.selection.wants(line, extras)
    }

    #[inline]
    fn wants_run(&self, run: &Run<'_>) -> bool {
        // The report counts those outside its period.
        !self.period.contains(run) || self.selection.wants_run(run)
    }

    fn sets_aside(&self, run: &Run<'_>) -> bool {
        self.selection.sets_aside(run)
    }

    fn fields_of_key(&self) -> Option<Vec<Field>> {
        let every_line = self.counts_outside && self.selection.asks_no_line();
        every_line.then(|| self.fields.clone())
    }

    /// What the selection knows of the line, then the values of all fields of the plan, each
    /// behind its length.
    #[inline]
    fn key(&self, line: &Line<'_>, extras: Extras<'_>, key: &mut Vec<u8>) {
        self.selection.write_key(line, extras, key);
        for field in &self.fields {
            key_parts::write(&field.value(line, extras), key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_parts::KeyParts;

    #[test]
    fn parts_of_a_key_are_those_of_the_fields() {
        let mut plan = ReportPlan::new(Selection::default(), Period::default());
        for name in ["exe", "lang", "host", "npes"] {
            plan.table(&[TableSide::named(name).unwrap()], &[]).unwrap();
        }
        for exe in ["x".to_owned(), "y".repeat(253), "z".repeat(254), "w".repeat(60_000)] {
            let text = format!("1999/05/04 12:00:00 u {exe} 1 7 - B c - 0 0 1 f=- - 1");
            let (line, extras) = Line::parse(text.as_bytes()).unwrap();
            let mut key = Vec::new();
            plan.key(&line, extras, &mut key);
            let parts: Vec<_> = KeyParts(&key).collect();
            assert_eq!(parts.len(), 4);
            assert_eq!(parts[..3], [Some(exe.as_bytes()), Some(&b"c"[..]), None]);
        }
    }

    #[test]
    fn tables_are_by_one_or_two() {
        let mut plan = ReportPlan::new(Selection::default(), Period::default());
        let by = |name: &str| TableSide::named(name).unwrap();
        assert_eq!(plan.table(&[], &[]), Err(PlanError::Dimensions(0)));
        assert_eq!(
            plan.table(&[by("user"), by("user")], &[]),
            Err(PlanError::Twice("user".into()))
        );
        assert_eq!(
            plan.table(&[by("user"), by("exe"), by("lang")], &[]),
            Err(PlanError::Dimensions(3))
        );
        assert_eq!(plan.detail(), Detail::Rates);
        plan.table(&[by("ipc"), by("user")], &[]).unwrap();
        assert_eq!(plan.detail(), Detail::Counters);
        assert!(
            TableSide::named("mflps").unwrap_err().to_string().ends_with("did you mean 'mflops'?")
        );
    }
}
