//! Sums over runs by day, user and so on, as changes that are added to what is kept.

use rustc_hash::FxHashMap;
use topas_data::JoinedRun;
use topas_data::measure::{
    BucketSize, IntegerSums, MEASURES, Measure, MeasureBucket, Scale, ScaleKind,
};

use crate::schema::{BY_CLASS, BY_RATE, BY_USER, Cell, Table};
use crate::stored_run::{day_number, owner_of, stored_text};

/// The sums of a measure: of the runs that have a value, and of those whose lower term is 0.
const OF_MEASURE: usize = 2;

/// All sums of one group of runs: of all runs, then those of each measure.
type GroupSums = Vec<IntegerSums>;

/// What the runs of a batch change.
#[derive(Default)]
pub(crate) struct SumChanges {
    groups: FxHashMap<(usize, Vec<Cell>), GroupSums>,
}

/// Tables with sums.
pub(crate) const SUM_TABLES: [&Table; 3] = [&BY_USER, &BY_RATE, &BY_CLASS];

/// Name in the column `measure` of one of the sums of a group.
fn measure_name(at: usize) -> String {
    match at.checked_sub(1) {
        None => String::new(),
        Some(at) => {
            let name = MEASURES.get(at / OF_MEASURE).map_or("", |measure| measure.name);
            if at % OF_MEASURE == 0 { name.to_owned() } else { zero_name(name) }
        }
    }
}

/// Name in the column `measure` of the sums over runs whose lower term is 0.
pub(crate) fn zero_name(measure: &str) -> String {
    format!("{measure}:0")
}

/// Number of PEs, rounded down to a power of two.
fn size(npes: u32) -> i64 {
    1 << npes.max(1).ilog2()
}

/// Bin of the rate of a run: bins of 50 MFlop/s per PE, -1 without a rate.
fn bin(run: &JoinedRun<'_>) -> i64 {
    let Ok(mflops) = Measure::named("mflops") else { return -1 };
    let scale = Scale { kind: ScaleKind::Linear(BucketSize::default()), upper: None };
    match scale.bucket(&run.value(mflops)) {
        MeasureBucket::At(number) => number.try_into().unwrap_or(i64::MAX),
        MeasureBucket::Above | MeasureBucket::Missing => -1,
    }
}

impl SumChanges {
    /// A run is new.
    pub fn add(&mut self, run: &JoinedRun<'_>) {
        self.change(run, IntegerSums::add);
    }

    /// A run is no more.
    pub fn take(&mut self, run: &JoinedRun<'_>) {
        self.change(run, IntegerSums::take);
    }

    fn change(&mut self, run: &JoinedRun<'_>, by: fn(&mut IntegerSums, &IntegerSums)) {
        let record = &run.record;
        let day = day_number(run.date);
        let (day, month) = (Cell::Int(day), Cell::Int(day / 100));
        let owner = Cell::Text(owner_of(record));
        let text = |bytes: &[u8]| Cell::Text(stored_text(bytes));
        let (lang, lib) = (text(&record.lang), text(&record.lib));
        let keys = [
            vec![day.clone(), month.clone(), owner.clone(), text(&record.user)],
            vec![day, month.clone(), lang.clone(), lib.clone(), Cell::Int(bin(run))],
            vec![month, lang, lib, Cell::Int(size(record.booked)), owner],
        ];
        let pe_micros = record.pe_micros;
        let mut of_run = vec![(0, IntegerSums::of_run(pe_micros, None))];
        for (at, (_, terms)) in run.terms().enumerate() {
            if let Some(terms) = terms {
                let place = 1 + at * OF_MEASURE + usize::from(terms.lower == 0);
                of_run.push((place, IntegerSums::of_run(pe_micros, Some(&terms))));
            }
        }
        for (table, key) in keys.into_iter().enumerate() {
            let sums = self.groups.entry((table, key)).or_default();
            sums.resize(1 + MEASURES.len() * OF_MEASURE, IntegerSums::default());
            for (at, more) in &of_run {
                by(&mut sums[*at], more);
            }
        }
    }

    /// What changed, in the order of keys: a database then writes its pages one after the other.
    pub fn changes(self) -> Vec<GroupChange> {
        let mut groups: Vec<_> = self.groups.into_iter().collect();
        groups.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let change = |((table, key), sums)| GroupChange { table: SUM_TABLES[table], key, sums };
        groups.into_iter().map(change).collect()
    }
}

/// What is to be added to the sums of one group of runs.
pub(crate) struct GroupChange {
    /// Where its sums are
    pub table: &'static Table,
    /// Values of the columns of the key but the last, which is the measure
    pub key: Vec<Cell>,
    sums: GroupSums,
}

impl GroupChange {
    /// The value of the column `measure`, and what is to be added; nothing of sums that do not change.
    pub fn sums(&self) -> impl Iterator<Item = (String, &IntegerSums)> {
        let sums = self.sums.iter().enumerate().filter(|(_, sums)| !sums.is_zero());
        sums.map(|(at, sums)| (measure_name(at), sums))
    }
}
