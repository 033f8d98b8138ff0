//! Joins lines that are in memory: for those who keep lines, and learn of more lines of a launch
//! later.

use std::sync::Arc;

use rapidhash::v3::rapidhash_v3;
use topas_format::civil::Date;
use topas_format::line::Line;

use super::launch_lines::Launches;
use super::reading::facts_of;
use super::record::{Full, RecordForm, key};
use crate::field::{Field, Value};
use crate::key_parts;
use crate::measure::{MEASURES, Measure, Of, RunTerms};
use crate::one_run::{RunDetails, RunRecord, record_fields};
use crate::run::Run;
use crate::run_list::FieldKeys;
use crate::when::Clock;

/// A run and the lines that it was joined from.
pub struct JoinedRun<'j> {
    /// What its lines say
    pub record: RunRecord,
    /// Hash of what the lines of its launch have in common
    pub launch: u64,
    /// Day of its end, local time of the site
    pub date: Date,
    /// Numbers of its lines among those that were given, in order of their PEs
    pub lines: Vec<u32>,
    /// Hash of one of its lines, the lowest: the same whatever the order of lines
    pub id: u64,
    run: &'j Run<'j>,
}

impl JoinedRun<'_> {
    /// What it adds to the sums of each measure; None of those for which it does not count.
    pub fn terms(&self) -> impl Iterator<Item = (&'static Measure, Option<RunTerms>)> + '_ {
        MEASURES.iter().map(|measure| {
            let counts = !(self.record.accelerated && measure.is_of_processor());
            (measure, measure.terms_of(self.run).filter(|_| counts))
        })
    }

    /// Its value of a measure; of none if it does not count.
    pub fn value(&self, measure: &Measure) -> Of {
        match self.record.accelerated && measure.is_of_processor() {
            true => Of::Uncounted,
            false => measure.of(self.run),
        }
    }
}

/// Joins log lines, no two of which are the same; what is none is passed over. All lines of a
/// launch that are near each other in time have to be among them. Which lines are of one run does not
/// depend on `details`.
pub fn join_lines(texts: &[&[u8]], details: RunDetails, mut each: impl FnMut(JoinedRun<'_>)) {
    const SIZE: usize = Full::<true>::SIZE;
    let fields = record_fields();
    let told: Vec<Option<&Field>> =
        fields.iter().map(|field| Some(field).filter(|field| details.tells(field))).collect();
    let measures = match details {
        RunDetails::All => MEASURES,
        RunDetails::Listed => &[],
    };
    let mut clock = Clock::default();
    let mut keys: Vec<Arc<[u8]>> = Vec::with_capacity(texts.len());
    let mut numbers: Vec<u32> = Vec::with_capacity(texts.len());
    let mut records: Vec<[u8; SIZE]> = Vec::with_capacity(texts.len());
    let mut bytes = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        let (Ok((line, extras)), Ok(number), Ok(group)) =
            (Line::parse(text), u32::try_from(number), u32::try_from(keys.len()))
        else {
            continue;
        };
        bytes.clear();
        for field in &told {
            let value = field.map_or(Value::Missing, |field| field.value(&line, extras));
            key_parts::write(&value, &mut bytes);
        }
        let facts = facts_of(&line, extras, text, &mut clock, group);
        records.push(Full::<true>::encode(&line, extras, &facts));
        keys.push(bytes.as_slice().into());
        numbers.push(number);
    }
    records.sort_unstable_by_key(|record| key(record));
    let mut launches = Launches::new(&keys);
    let keys_of = FieldKeys { skip: 0, fields: &fields };
    let mut all: Vec<&[u8]> = records.iter().map(|record| record.as_slice()).collect();
    for launch in all.chunk_by_mut(|a, b| key(a) == key(b)) {
        launches.separate::<Full<true>>(launch, &mut |run| {
            let lines: Vec<u32> = run.pes.iter().map(|pe| numbers[pe.group as usize]).collect();
            let hashes = lines.iter().map(|number| rapidhash_v3(texts[*number as usize]));
            each(JoinedRun {
                record: RunRecord::with_measures(run, keys_of, false, measures),
                launch: run.launch,
                date: run.date,
                id: hashes.min().unwrap_or_default(),
                lines,
                run,
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_those_of_a_question() {
        let line = |time: &str, pe: u32, id: &str| {
            topas_testkit::with_lengths(&format!(
                "2026/10/04 12:00:{time} anna heat {pe} 16 t450 B f90 mpi 1.0 0.1 2.0 f=2000000 10 {id} v=1"
            ))
        };
        let texts = [
            line("10", 3, "a"),
            line("50", 4, "a"),
            line("11", 7, "a"),
            line("10", 1, "b"),
            "no line".to_owned(),
        ];
        let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        let mut runs = Vec::new();
        join_lines(&texts, RunDetails::Listed, |run| {
            let mflops = Measure::named("mflops").unwrap();
            let terms = run.terms().find(|(of, _)| *of == mflops).and_then(|(_, terms)| terms);
            assert_eq!(terms.unwrap().all_pes, 16);
            assert_eq!(run.value(mflops).ratio(), Some(1.0));
            assert_eq!(&*run.record.user, b"anna");
            runs.push((run.lines, run.id));
        });
        runs.sort();
        let lines: Vec<&[u32]> = runs.iter().map(|(lines, _)| lines.as_slice()).collect();
        assert_eq!(lines, [&[0, 2][..], &[1], &[3]]);
    }
}
