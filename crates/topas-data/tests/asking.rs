//! The answer is the same whatever the order of lines, their files, threads and memory.

mod naive;
#[path = "../examples/generate-log/synthetic.rs"]
mod synthetic;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::num::NonZero;
use std::path::Path;

use proptest::prelude::*;
use topas_data::{
    AskAnswer, AskError, BLOCK, Detail, Fold, MAX_LINE_READ, PeRecord, Problem, Question, Remarks,
    Resources, Run, Source, SourceError, ask, ask_reader,
};
use topas_format::line::{Extras, Fault, Line};

/// Groups by user and executable.
struct ByProgram(Detail);

impl Question for ByProgram {
    fn detail(&self) -> Detail {
        self.0
    }

    fn key(&self, line: &Line<'_>, _: Extras<'_>, key: &mut Vec<u8>) {
        key.extend(line.user.bytes().chain(*b"/").chain(line.exe.bytes()));
    }
}

/// All that a run says, but for what is odd.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct AskedRuns {
    key: Vec<u8>,
    npes: u32,
    wall: u64,
    times: (i64, i64),
    date: String,
    pes: Vec<String>,
}

/// What a line says, and the key of this line.
fn said(pe: &PeRecord, key: &[u8]) -> String {
    format!("{:?} {}", PeRecord { group: 0, ..*pe }, key.escape_ascii())
}

#[derive(Default)]
struct Runs {
    seen: Vec<AskedRuns>,
    remarks: Remarks,
    /// Key of each group's number
    groups: BTreeMap<u32, Vec<u8>>,
}

impl Fold for Runs {
    fn add(&mut self, run: &Run<'_>) {
        self.remarks.add(run, false);
        let known = self.groups.entry(run.group).or_insert_with(|| run.key.to_vec());
        assert_eq!(known, run.key);
        let date = format!("{:?}", run.date);
        self.seen.push(AskedRuns {
            key: run.key.to_vec(),
            npes: run.npes,
            wall: run.wall.0,
            times: (run.start, run.end),
            date,
            pes: run.pes.iter().map(|pe| said(pe, run.key_of(pe))).collect(),
        });
    }

    fn merge(&mut self, other: Self) {
        self.seen.extend(other.seen);
        self.remarks.merge(other.remarks);
        for (group, key) in other.groups {
            let known = self.groups.entry(group).or_insert_with(|| key.clone());
            assert_eq!(*known, key);
        }
    }
}

fn resources(threads: usize, memory: u64) -> Resources {
    Resources { threads: NonZero::new(threads).unwrap(), memory, ..Resources::default() }
}

fn answer(
    sources: &[Source],
    detail: Detail,
    resources: &Resources,
) -> (Vec<AskedRuns>, AskAnswer<Runs>) {
    let mut answer = ask(sources, &ByProgram(detail), Runs::default, resources, |_| ()).unwrap();
    let mut seen = std::mem::take(&mut answer.fold.seen);
    seen.sort();
    (seen, answer)
}

/// The runs by another way.
fn joined<'t>(lines: impl Iterator<Item = &'t str>, detail: Detail) -> Vec<AskedRuns> {
    let question = ByProgram(detail);
    let mut all = naive::NaiveLines::default();
    for text in lines {
        let (line, extras) = Line::parse(text.trim_end().as_bytes()).unwrap();
        let mut key = Vec::new();
        question.key(&line, extras, &mut key);
        all.add(&line, extras, &key, detail);
    }
    let mut runs: Vec<AskedRuns> = all
        .runs()
        .into_iter()
        .map(|(npes, members)| {
            let pes = || members.iter().map(|(pe, _)| pe);
            let last = pes().max_by_key(|pe| (pe.end, pe.date)).unwrap();
            AskedRuns {
                key: members[0].1.clone(),
                npes: npes.unwrap_or(members.len() as u32),
                wall: pes().map(|pe| pe.wall.0).max().unwrap(),
                times: (pes().map(PeRecord::start).min().unwrap(), last.end),
                date: format!("{:?}", last.date),
                pes: members.iter().map(|(pe, key)| said(pe, key)).collect(),
            }
        })
        .collect();
    runs.sort();
    runs
}

/// Writes texts into files of different forms.
fn files(dir: &Path, texts: &[String]) -> Vec<Source> {
    let write = |(number, text): (usize, &String)| {
        let path = dir.join(format!("{number}.log"));
        let bytes = match number % 3 {
            0 => text.as_bytes().to_vec(),
            1 => zstd::encode_all(text.as_bytes(), 1).unwrap(),
            _ => {
                let mut out =
                    flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                out.write_all(text.as_bytes()).unwrap();
                out.finish().unwrap()
            }
        };
        fs::write(&path, bytes).unwrap();
        Source::File(path)
    };
    texts.iter().enumerate().map(write).collect()
}

prop_compose! {
    /// Few values of each, so that lines meet.
    fn any_line()(
        id in 0..4u32, user in 0..2u32, pe in 0..4u32, npes in 0..4u32, end in 0..30u64,
        wall in 0..20_000u64, ops in 0..5usize, epoch in 0..4u32, cyc in 0..3u64,
    ) -> String {
        let at = 1_000_000 + end;
        let civil = topas_format::civil::Civil::from_seconds(at as i64);
        let (d, t) = (civil.date, civil.time);
        let id = if id == 0 { "-".to_owned() } else { id.to_string() };
        let npes = if npes == 0 { "-".to_owned() } else { npes.to_string() };
        let ops = ["f=1000", "f~3000", "i=7", "f=-", "l=5"][ops];
        let extras = match epoch {
            0 => String::new(),
            1 => format!(" cyc={cyc} t={at} ins=9"),
            _ => format!(" v=1 t={at} cyc={cyc}"),
        };
        topas_testkit::with_lengths(&format!(
            "{:04}/{:02}/{:02} {:02}:{:02}:{:02} u{user} x {pe} {npes} - B c mpi 0.0 0.{cyc} {}.{:03} {ops} ~{cyc} {id}{extras}\n",
            d.year, d.month, d.day, t.hour, t.minute, t.second, wall / 1000, wall % 1000,
        ))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn threads_files_and_memory_do_not_matter(
        (lines, shuffled) in proptest::collection::vec((any_line(), 1..3usize), 0..60)
            .prop_map(|lines| -> Vec<String> {
                lines.into_iter().flat_map(|(line, times)| vec![line; times]).collect()
            })
            .prop_flat_map(|lines| (Just(lines.clone()), Just(lines).prop_shuffle())),
        cuts in proptest::collection::vec(0..60usize, 3),
        threads in 1..4usize,
        memory in proptest::sample::select([0, 1 << 14, 256 << 20].as_slice()),
        detail in proptest::sample::select(
            [Detail::Rates, Detail::Times, Detail::Counters].as_slice()),
    ) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(shuffled.len())).collect();
        cuts.sort_unstable();
        let mut texts = Vec::new();
        let mut begin = 0;
        for end in cuts.into_iter().chain([shuffled.len()]) {
            texts.push(shuffled[begin..end].concat());
            begin = end;
        }
        let dir = tempfile::tempdir().unwrap();
        let sources = files(dir.path(), &texts);
        let (seen, answer) = answer(&sources, detail, &resources(threads, memory));
        prop_assert!(answer.failed.is_empty(), "{:?}", answer.failed);
        prop_assert_eq!(answer.tally.good, lines.len() as u64);

        let different: BTreeSet<&str> = lines.iter().map(String::as_str).collect();
        prop_assert_eq!(&seen, &joined(different.iter().copied(), detail));
        let remarks = answer.fold.remarks;
        prop_assert_eq!(remarks.duplicates, (lines.len() - different.len()) as u64);
        let single = seen.iter().filter(|run| run.pes.len() == 1 && run.npes > 1).count();
        prop_assert_eq!(remarks.single, single as u64);
        prop_assert_eq!((remarks.zone, remarks.span), (0, 0));
    }
}

/// Far more lines than a block, and than fit into the memory.
#[test]
fn a_large_log_in_one_piece_and_in_many() {
    let mut log = synthetic::Log::new(5);
    let lines: Vec<String> =
        (0..12_000).map(|_| String::from_utf8(log.line().to_vec()).unwrap()).collect();
    let expected = joined(lines.iter().map(String::as_str), Detail::Times);
    let dir = tempfile::tempdir().unwrap();
    let whole = files(dir.path(), &[lines.concat()]);
    assert!(fs::metadata(dir.path().join("0.log")).unwrap().len() > 10 * BLOCK as u64);
    let pieces: Vec<String> = lines.chunks(2_500).map(<[String]>::concat).collect();
    let dir = tempfile::tempdir().unwrap();
    let pieces = files(dir.path(), &pieces);
    for sources in [whole, pieces] {
        for (threads, memory) in [(2, 256 << 20), (3, 1 << 20), (1, 0)] {
            let (seen, answer) = answer(&sources, Detail::Times, &resources(threads, memory));
            assert!(seen == expected, "{threads} threads, {memory} B");
            assert_eq!(answer.tally.lines(), 12_000);
        }
    }
}

const GOOD: &str =
    "1999/05/04 12:00:00 mohr a.out 5 16 t450 B f90 mpi 1.0 0.1 2.0 f=1000 10 4711\n";

/// Lines that end before, at and behind the seam of two blocks are read once, and bad ones
/// have their numbers.
#[test]
fn lines_at_the_seam_of_blocks() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("seam.log");
    for shift in (0..=GOOD.len() + 1).chain([BLOCK - 1, BLOCK, BLOCK + 1]) {
        let comment = format!("#{}\n", "-".repeat(shift));
        let lines = 5 * BLOCK / 4 / GOOD.len();
        let mut text = comment + &GOOD.repeat(lines);
        text += "bad at the end\n";
        fs::write(&path, &text).unwrap();
        let sources = [Source::File(path.clone())];
        let (seen, answer) = answer(&sources, Detail::Rates, &resources(2, 1 << 20));
        let tally = &answer.tally;
        let first = if shift > MAX_LINE_READ { (0, 2) } else { (1, 1) };
        assert_eq!((tally.comments, tally.skipped()), first, "shift {shift}");
        assert_eq!((tally.good, seen.len()), (lines as u64, 1), "shift {shift}");
        assert_eq!(answer.fold.remarks.duplicates, lines as u64 - 1);
        let last = tally.examples().last().unwrap();
        assert_eq!((last.line, last.text.as_str()), (lines as u64 + 2, "bad at the end"));
    }
}

#[test]
fn a_line_over_many_blocks_is_one_bad_line() {
    let dir = tempfile::tempdir().unwrap();
    for (name, newline) in [("inside.log", "\n"), ("end.log", "")] {
        let path = dir.path().join(name);
        let behind = if newline.is_empty() { "" } else { GOOD };
        let text = format!("{GOOD}{}{newline}{behind}", "x".repeat(10_000_000));
        fs::write(&path, text).unwrap();
        let sources = [Source::File(path)];
        for threads in [1, 3] {
            let (seen, answer) = answer(&sources, Detail::Rates, &resources(threads, 1 << 20));
            let problems: Vec<_> = answer.tally.problems().collect();
            assert_eq!(problems, [(Problem::TooLong, 1)], "{name}");
            assert_eq!(answer.tally.good, 1 + u64::from(!behind.is_empty()), "{name}");
            assert_eq!(seen.len(), 1, "{name}");
        }
    }
}

/// The first bad lines of the first sources, whoever read them first.
#[test]
fn examples_do_not_depend_on_threads() {
    let dir = tempfile::tempdir().unwrap();
    let text = |bad: &[usize]| -> String {
        let lines = (1..20_000)
            .map(|n| if bad.contains(&n) { format!("bad in line {n}\n") } else { GOOD.to_owned() });
        lines.collect()
    };
    let sources =
        files(dir.path(), &[text(&[]), text(&[5_000]), text(&[9, 5_500, 7_999]), text(&[1])]);
    for threads in [1, 2, 4] {
        for _ in 0..3 {
            let (_, answer) = answer(&sources, Detail::Rates, &resources(threads, 1 << 20));
            let examples: Vec<_> = answer
                .tally
                .examples()
                .iter()
                .map(|e| (e.source.to_string(), e.line, e.text.clone()))
                .collect();
            let at = |file: usize, line: u64| {
                (sources[file].to_string(), line, format!("bad in line {line}"))
            };
            assert_eq!(examples, [at(1, 5_000), at(2, 9), at(2, 5_500)], "{threads} threads");
            assert_eq!(
                answer.tally.problems().collect::<Vec<_>>(),
                [(Problem::Fault(Fault::date), 5)]
            );
        }
    }
}

#[test]
fn sources_that_cannot_be_read_are_told_and_the_others_read() {
    let dir = tempfile::tempdir().unwrap();
    let good = dir.path().join("good.log");
    fs::write(&good, GOOD).unwrap();
    let cut = dir.path().join("cut.zst");
    let whole = zstd::encode_all(GOOD.repeat(10_000).as_bytes(), 1).unwrap();
    fs::write(&cut, &whole[..whole.len() - 1]).unwrap();
    let empty = dir.path().join("empty.log");
    fs::write(&empty, "").unwrap();
    let file = |path: &Path| Source::File(path.to_owned());
    let sources =
        [file(dir.path()), file(&good), file(&dir.path().join("none")), file(&cut), file(&empty)];
    for threads in [1, 3] {
        let (seen, answer) = answer(&sources, Detail::Rates, &resources(threads, 1 << 20));
        assert_eq!(seen.len(), 1);
        let [
            SourceError::Open { source: first, .. },
            SourceError::Open { source: second, .. },
            SourceError::Broken { source: third, lines, .. },
        ] = answer.failed.as_slice()
        else {
            panic!("{:?}", answer.failed);
        };
        assert_eq!([first, second, third], [&sources[0], &sources[2], &sources[3]]);
        assert_eq!(answer.tally.lines(), lines + 1);
    }
}

#[test]
fn no_place_for_a_temporary_file_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let sources = files(dir.path(), &[GOOD.repeat(10)]);
    let temporary = dir.path().join("none");
    let resources = Resources { temporary: temporary.clone(), ..resources(2, 0) };
    let error = ask(&sources, &ByProgram(Detail::Rates), Runs::default, &resources, |_| ())
        .err()
        .expect("there is no such directory");
    let AskError::Temporary(error) = error else { panic!("{error}") };
    assert_eq!(error.directory, temporary);
    // It is not needed where all fits into memory.
    let resources = Resources { memory: 1 << 20, ..resources };
    ask(&sources, &ByProgram(Detail::Rates), Runs::default, &resources, |_| ()).unwrap();
}

/// Every group has its place in memory: more of them than it can hold are said, not half counted.
#[test]
fn more_groups_than_memory_are_an_error() {
    struct ById;
    impl Question for ById {
        fn key(&self, line: &Line<'_>, _: Extras<'_>, key: &mut Vec<u8>) {
            key.extend(line.id.bytes());
        }
    }
    #[derive(Debug, Default)]
    struct CountedRuns(u64);
    impl Fold for CountedRuns {
        fn add(&mut self, _: &Run<'_>) {
            self.0 += 1;
        }
        fn merge(&mut self, other: Self) {
            self.0 += other.0;
        }
    }
    let text: String = (0..100_000)
        .map(|id| format!("1999/05/04 12:00:00 u x 0 1 - B c - 0.0 0.0 1.0 f=- - {id}\n"))
        .collect();
    for threads in [1, 3] {
        let ask = |memory| {
            let threads = NonZero::new(threads).unwrap();
            let resources = Resources { threads, memory, ..Resources::default() };
            let text = text.as_bytes();
            ask_reader(&Source::Stdin, text, &ById, CountedRuns::default, &resources, |_| ())
        };
        assert_eq!(ask(64 << 20).unwrap().fold.0, 100_000);
        let error = ask(1 << 20).unwrap_err();
        assert!(matches!(error, AskError::Groups { memory } if memory == 16 << 20), "{error}");
    }
}
