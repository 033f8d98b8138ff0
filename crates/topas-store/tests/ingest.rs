//! Ingest: every line once, whatever happens, and answers as a report of the log has them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use topas_data::measure::{MEASURES, Measure, Sample};
use topas_data::{
    Inputs, Label, LogReport, Period, ReportPlan, Resources, Selection, TableOrder, TableSide, ask,
};
use topas_store::{
    Cell, Index, Ingest, IngestReport, RunFilter, RunPosition, StoredRun, SumsBy, SumsRow,
    latest_runs, sums_by, sums_of_all,
};
use topas_testkit::numbers_below;

#[path = "ingest/generated.rs"]
mod generated;

use generated::{append, runs};

/// Days in which runs end, as numbers.
const ALL: (i64, i64) = (0, 99_999_999);

/// The directory in which a process of its own ingests, see [`killed_at_any_point`].
const DIRECTORY: &str = "TOPAS_TEST_INGEST";

fn ingest(index: &Path, log: &Path, batch: usize) -> IngestReport {
    let inputs = Inputs::new(&[log.to_path_buf()]);
    let mut index = Index::open(index).unwrap();
    Ingest::new(&mut index, batch, false).run(&inputs.sources, |_| {}).unwrap()
}

/// What an index holds, without the numbers of batches.
#[derive(PartialEq)]
struct Held {
    runs: Vec<StoredRun>,
    all: Option<SumsRow>,
    sums: Vec<(SumsBy, Vec<String>)>,
}

fn held(index: &Path) -> Held {
    let mut index = Index::read(index).unwrap();
    let mut runs = latest_runs(&mut index, &RunFilter::default(), None, 1_000_000).unwrap();
    runs.iter_mut().for_each(|run| run.version = 0);
    let by =
        [SumsBy::User, SumsBy::Owner, SumsBy::Language, SumsBy::Library, SumsBy::Day, SumsBy::Rate];
    let sums = by.map(|by| {
        let rows = sums_by(&mut index, by, ALL, &[]).unwrap();
        (by, rows.iter().map(|row| format!("{row:?}")).collect())
    });
    Held { runs, all: sums_of_all(&mut index).unwrap(), sums: sums.into() }
}

/// Sums of a report of the log: runs, PE x µs, and what samples tell.
fn report(log: &Path, by: &str) -> BTreeMap<String, (u64, u128, Vec<String>)> {
    let mut plan = ReportPlan::new(Selection::default(), Period::default());
    let measures: Vec<&'static Measure> = MEASURES.iter().collect();
    plan.table(&[TableSide::named(by).unwrap()], &measures).unwrap();
    let inputs = Inputs::new(&[log.to_path_buf()]);
    let answer =
        ask(&inputs.sources, &plan, || LogReport::new(&plan), &Resources::default(), |_| {})
            .unwrap();
    assert_eq!(answer.tally.skipped(), 0, "{:?}", answer.tally.examples());
    let tables = answer.fold.tables(&TableOrder::default());
    let rows = tables[0].rows.iter().filter(|row| row.share.runs > 0);
    rows.map(|row| {
        let Label::Value(key) = &row.labels[0] else { panic!("{:?}", row.labels) };
        let told = |sample: &Sample, of: &'static Measure| told(sample, of);
        let samples = row.samples.iter().zip(&measures).filter(|(_, of)| of.name != "pe_hours");
        let samples = samples.map(|(sample, of)| told(sample, of)).collect();
        (key.clone(), (row.share.runs, row.share.time.0, samples))
    })
    .collect()
}

/// What a sample tells of whole numbers: mean and sum.
fn told(sample: &Sample, of: &Measure) -> String {
    let sum = sample.sum(of).map(|sum| (sum.value, sum.runs, sum.pes, sum.all_pes));
    let (without, estimated) = (sample.without(), sample.estimated.runs);
    format!("{} {:?} {sum:?} {without:?} {estimated} {:?}", of.name, sample.mean(of), sample.valued)
}

fn of_store(index: &Path, by: SumsBy) -> BTreeMap<String, (u64, u128, Vec<String>)> {
    let mut index = Index::read(index).unwrap();
    let rows = sums_by(&mut index, by, ALL, &[]).unwrap();
    rows.iter()
        .map(|row| {
            let key = match &row.key {
                Cell::Text(text) => text.clone(),
                Cell::Int(month) => format!("{}-{:02}", month / 100, month % 100),
                other => panic!("{other:?}"),
            };
            let share = row.all().share();
            let measures = MEASURES.iter().filter(|of| of.name != "pe_hours");
            let samples = measures.map(|of| told(&row.sample(of.name).unwrap(), of)).collect();
            (key, (share.runs, share.time.0, samples))
        })
        .collect()
}

#[test]
fn sums_are_those_of_a_report_of_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let (log, index) = (dir.path().join("log"), dir.path().join("index"));
    fs::create_dir(&log).unwrap();
    append(&log, &runs(7, 1000));
    // Small batches: lines of a run come in several of them.
    let done = ingest(&index, &log, 197);
    assert!(done.failed.is_empty() && done.new_lines < done.lines, "{done:?}");
    for (name, by) in [
        ("user", SumsBy::User),
        ("lang", SumsBy::Language),
        ("lib", SumsBy::Library),
        ("month", SumsBy::Month),
    ] {
        let expected = report(&log, name);
        assert!(!expected.is_empty());
        let mut found = of_store(&index, by);
        if name == "lib" {
            // A program without a library has none in a report.
            found.remove("");
        }
        for (key, row) in &expected {
            assert_eq!(found.get(key), Some(row), "{name} {key}");
        }
    }
    let again = ingest(&index, &log, 97);
    assert_eq!((again.sources, again.lines), (0, 0));
}

#[test]
fn what_comes_later_is_joined_and_nothing_is_there_twice() {
    let dir = tempfile::tempdir().unwrap();
    let (log, index, clean) =
        (dir.path().join("log"), dir.path().join("index"), dir.path().join("clean"));
    fs::create_dir(&log).unwrap();
    let lines = runs(8, 500);
    let mut below = numbers_below(1);
    let mut rest = &lines[..];
    let mut number = 0;
    while !rest.is_empty() {
        let (now, later) = rest.split_at((1 + below(400) as usize).min(rest.len()));
        rest = later;
        append(&log, now);
        ingest(&index, &log, 1 + below(200) as usize);
        number += 1;
        match number % 4 {
            // A name of its own, as logrotate gives it.
            1 => fs::rename(log.join("2026-1.log"), log.join(format!("2026-1.log.{number}")))
                .unwrap_or(()),
            // Compressed, as logrotate does.
            2 => {
                let path = log.join("2026-2.log");
                if path.exists() {
                    let status = Command::new("gzip").arg(&path).status().unwrap();
                    assert!(status.success());
                    fs::rename(log.join("2026-2.log.gz"), log.join(format!("2026-2-{number}.gz")))
                        .unwrap();
                }
            }
            // All in one file.
            3 => {
                let inputs = Inputs::new(std::slice::from_ref(&log));
                let mut all = Vec::new();
                for source in &inputs.sources {
                    let mut out = topas_data::LeftOut::default();
                    topas_data::each_line(source, &mut out, |_, text| {
                        all.extend_from_slice(text);
                        all.push(b'\n');
                        std::ops::ControlFlow::Continue(())
                    })
                    .unwrap();
                }
                fs::remove_dir_all(&log).unwrap();
                fs::create_dir(&log).unwrap();
                fs::write(log.join("merged.log"), all).unwrap();
            }
            _ => {}
        }
    }
    ingest(&index, &log, 5000);
    let done = ingest(&clean, &log, 100_000);
    assert!(held(&index) == held(&clean), "different from what one pass makes");
    assert_eq!(report(&log, "user"), of_store(&index, SumsBy::User));
    let rows = held(&clean).runs.len() as u64;
    assert!(rows > 250 && done.new_lines > rows, "{rows} runs");
}

#[test]
fn a_line_that_is_not_whole_waits() {
    let dir = tempfile::tempdir().unwrap();
    let (log, index) = (dir.path().join("a.log"), dir.path().join("index"));
    let lines = runs(9, 3);
    let (first, second) = (&lines[0].1, &lines[1].1);
    let mut file = File::create(&log).unwrap();
    file.write_all(first.as_bytes()).unwrap();
    let (begin, end) = second.split_at(second.len() / 2);
    file.write_all(begin.as_bytes()).unwrap();
    let one = ingest(&index, &log, 10);
    assert_eq!((one.new_lines, one.left_out.bad), (1, 0));
    assert_eq!(ingest(&index, &log, 10).lines, 0);
    file.write_all(end.strip_suffix('\n').unwrap().as_bytes()).unwrap();
    // It tells its length, so it is whole without its newline.
    assert_eq!(ingest(&index, &log, 10).new_lines, 1);
    file.write_all(b"\n").unwrap();
    assert_eq!(ingest(&index, &log, 10).new_lines, 0);
    assert_eq!(ingest(&index, &log, 10).sources, 0);
    // Lines behind a header of syslog count, too.
    file.write_all(format!("Nov 22 10:00:00 node7 topas: {}", lines[2].1).as_bytes()).unwrap();
    assert_eq!(ingest(&index, &log, 10).new_lines, 1);
}

#[test]
fn pages_hold_every_run_once() {
    let dir = tempfile::tempdir().unwrap();
    let (log, index) = (dir.path().join("log"), dir.path().join("index"));
    fs::create_dir(&log).unwrap();
    append(&log, &runs(10, 300));
    ingest(&index, &log, 1000);
    let mut index = Index::read(&index).unwrap();
    let filter = RunFilter { owner: Some("1003".to_owned()), ..RunFilter::default() };
    let all = latest_runs(&mut index, &filter, None, 10_000).unwrap();
    assert!(all.len() > 20 && all.iter().all(|run| run.user == "user3"));
    let mut pages = Vec::new();
    let mut behind = None;
    loop {
        let page = latest_runs(&mut index, &filter, behind, 7).unwrap();
        let Some(last) = page.last() else { break };
        behind = Some(RunPosition { last: last.last, id: last.id });
        pages.extend(page);
    }
    assert!(pages == all);
    let bad = RunFilter { exe: Some("x' OR '1'='1".to_owned()), ..RunFilter::default() };
    assert!(latest_runs(&mut index, &bad, None, 10).unwrap().is_empty());
    let quoted = RunFilter { text: Some("x'y".to_owned()), ..RunFilter::default() };
    assert!(!latest_runs(&mut index, &quoted, None, 10).unwrap().is_empty());
}

/// What [`killed_at_any_point`] starts and kills.
#[test]
#[ignore = "a process of another test"]
fn ingests_what_it_is_told() {
    let Some(dir) = std::env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    ingest(&dir.join("index"), &dir.join("log"), 211);
}

#[test]
fn killed_at_any_point() {
    let kills = if std::env::var_os("TOPAS_TEST_FULL").is_some() { 50 } else { 6 };
    let dir = tempfile::tempdir().unwrap();
    let (log, index, clean) =
        (dir.path().join("log"), dir.path().join("index"), dir.path().join("clean"));
    fs::create_dir(&log).unwrap();
    append(&log, &runs(11, 600));
    let mut below = numbers_below(2);
    let mut killed = 0;
    for number in 0..kills {
        // Every time there is something new.
        append(&log, &runs(100 + number, 150));
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "ingests_what_it_is_told"])
            .env(DIRECTORY, dir.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_micros(1 + below(80_000)));
        child.kill().unwrap();
        killed += u64::from(!child.wait().unwrap().success());
    }
    assert!(killed > kills / 4, "{killed} of {kills} were killed at work");
    ingest(&index, &log, 5000);
    ingest(&clean, &log, 100_000);
    assert!(held(&index) == held(&clean), "different from what one pass makes");
    assert_eq!(report(&log, "user"), of_store(&index, SumsBy::User));
}
