//! The values along one side of a table, each with a number.

use rustc_hash::FxHashMap;

use crate::field::FieldScope;
use crate::key_parts::KeyParts;
use crate::measure::{MeasureBucket, Of, Scale};
use crate::run::{PeRecord, Run};

/// A number that stands for none.
const NONE: u32 = u32::MAX;

/// Buckets of so low numbers are found without hashing.
const DENSE: usize = 1024;

/// The values of a field, in the form of their keys.
#[derive(Clone, Debug)]
pub(super) struct FieldValues {
    /// Place of the field in the plan
    field: usize,
    /// Whether the last value of all lines of a run counts, see [`FieldScope::Last`]
    last: bool,
    numbers: FxHashMap<Option<Box<[u8]>>, u32>,
    pub(super) values: Vec<Option<Box<[u8]>>>,
    /// Numbers by group of runs
    by_group: Vec<u32>,
}

impl FieldValues {
    pub(super) fn new(field: usize) -> Self {
        FieldValues {
            field,
            last: false,
            numbers: FxHashMap::default(),
            values: Vec::new(),
            by_group: Vec::new(),
        }
    }

    /// Those of a field of this scope.
    pub(super) fn of_scope(self, scope: FieldScope) -> Self {
        FieldValues { last: scope == FieldScope::Last, ..self }
    }

    /// The number of a run's value; the fields begin at `skip` in its keys.
    #[inline]
    pub(super) fn number_of_run(&mut self, run: &Run<'_>, skip: usize) -> u32 {
        let key = |pe: &PeRecord| run.key_of(pe).get(skip..).unwrap_or_default();
        if self.last && run.pes.iter().any(|pe| pe.group != run.group) {
            // Keys of numbers are in their order, before which is the missing one. A value that
            // no run has gets no number.
            let value = |pe: &&PeRecord| KeyParts(key(pe)).nth(self.field).flatten();
            if let Some(last) = run.pes.iter().max_by_key(value) {
                return self.number(key(last), last.group);
            }
        }
        self.number(run.key.get(skip..).unwrap_or_default(), run.group)
    }

    /// The number of the value in a key.
    #[inline]
    pub(super) fn number(&mut self, key: &[u8], group: u32) -> u32 {
        match self.by_group.get(group as usize) {
            Some(&number) if number != NONE => number,
            _ => self.first(key, group),
        }
    }

    /// Whether a line has a value.
    #[inline]
    pub(super) fn is_some(&mut self, key: &[u8], group: u32) -> bool {
        let number = self.number(key, group);
        self.values[number as usize].is_some()
    }

    #[cold]
    fn first(&mut self, key: &[u8], group: u32) -> u32 {
        let value = KeyParts(key).nth(self.field).flatten();
        let number = self.of_value(value.map(Box::from));
        let at = group as usize;
        if self.by_group.len() <= at {
            self.by_group.resize(at + 1, NONE);
        }
        self.by_group[at] = number;
        number
    }

    /// Takes the values of another one: their new numbers.
    pub(super) fn merge(&mut self, other: FieldValues) -> Vec<u32> {
        other.values.into_iter().map(|value| self.of_value(value)).collect()
    }

    pub(super) fn of_value(&mut self, value: Option<Box<[u8]>>) -> u32 {
        if let Some(number) = self.numbers.get(&value) {
            return *number;
        }
        // There are less values than groups, whose numbers are of 32 bits.
        let number = self.values.len() as u32;
        self.numbers.insert(value.clone(), number);
        self.values.push(value);
        number
    }
}

/// The buckets of a measure.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    /// Place of the measure in the plan
    pub(super) measure: usize,
    dense: Vec<u32>,
    sparse: FxHashMap<MeasureBucket, u32>,
    pub(super) buckets: Vec<MeasureBucket>,
}

impl Buckets {
    pub(super) fn new(measure: usize) -> Self {
        Buckets {
            measure,
            dense: vec![NONE; DENSE],
            sparse: FxHashMap::default(),
            buckets: Vec::new(),
        }
    }

    /// The number of the bucket of a run's value.
    #[inline]
    pub(super) fn number(&mut self, of: &Of, scale: &Scale) -> u32 {
        let bucket = scale.bucket(of);
        match bucket {
            MeasureBucket::At(n) if n < DENSE as u128 && self.dense[n as usize] != NONE => {
                self.dense[n as usize]
            }
            _ => self.of_bucket(bucket),
        }
    }

    pub(super) fn of_bucket(&mut self, bucket: MeasureBucket) -> u32 {
        if let Some(number) = self.sparse.get(&bucket) {
            return *number;
        }
        // There are less buckets than runs, of which 2^32 can be joined.
        let number = self.buckets.len() as u32;
        self.sparse.insert(bucket, number);
        self.buckets.push(bucket);
        if let MeasureBucket::At(n) = bucket
            && n < DENSE as u128
        {
            self.dense[n as usize] = number;
        }
        number
    }
}

/// One side of a table.
#[derive(Clone, Debug)]
pub(super) enum Dimension {
    Field(FieldValues),
    Measure(Buckets),
}

impl Dimension {
    /// Number of values so far.
    pub(super) fn len(&self) -> usize {
        match self {
            Dimension::Field(values) => values.values.len(),
            Dimension::Measure(buckets) => buckets.buckets.len(),
        }
    }

    /// Takes the values of another one: their new numbers.
    pub(super) fn merge(&mut self, other: Dimension) -> Vec<u32> {
        match (self, other) {
            (Dimension::Field(own), Dimension::Field(other)) => own.merge(other),
            (Dimension::Measure(own), Dimension::Measure(other)) => {
                other.buckets.into_iter().map(|bucket| own.of_bucket(bucket)).collect()
            }
            _ => unreachable!("reports of one plan have the same tables"),
        }
    }
}
