//! Which jobs of sacct left a line: for people, as CSV, as JSON.

use serde_json::{Map, Value, json};
use topas_data::{
    CpuHours, JobShare, NoLine, PeTime, SacctCoverage, SacctFault, SacctGroup, SacctTally, Share,
};
use topas_format::shown::Shown;

use crate::csv;
use crate::number::{NONE, pe_hours, percent_of, percentage};
use crate::text::{columns, cut};
use crate::wording::{PROSE_WIDTH, TEXT_WIDTH, count, hanging, runs};

/// Value of the key `schema` of the object.
pub const COVERAGE_SCHEMA: &str = "topas.coverage/1";

/// The same in each line of [`json_lines`].
pub const COVERAGE_ROW_SCHEMA: &str = "topas.coverage.row/1";

/// Columns of the names of rows.
const NAME: usize = 37;

/// Why a job may have left no line, for people.
fn words(reason: NoLine) -> &'static str {
    match reason {
        NoLine::Running => "had not ended",
        NoLine::BeforeLog => "ended before the log begins",
        NoLine::AfterLog => "began after the log ends",
        NoLine::OneCpu => "one CPU",
        NoLine::Short => "shorter than a minute",
        NoLine::Killed => "cancelled, time limit or other kill",
        NoLine::NoStep => "no step of srun or the like",
        NoLine::Partition => "partition of which no job left a line",
        NoLine::User => "user of whom no job left a line",
        NoLine::Other => "other: perhaps without the module",
    }
}

/// Rows that were skipped, with the first of them.
pub fn skipped(tally: &SacctTally) -> Option<String> {
    let faults = SacctFault::ALL.iter().zip(&tally.skipped).filter(|(_, rows)| **rows > 0);
    let faults: Vec<String> = faults.map(|(fault, rows)| format!("{rows} {fault}")).collect();
    (!faults.is_empty()).then(|| {
        let (skipped, rows) = (tally.skipped(), tally.rows);
        let mut text =
            format!("--sacct: {skipped} of {rows} rows skipped: {}\n", faults.join(", "));
        for example in &tally.examples {
            text += &format!("  {example}\n");
        }
        text
    })
}

/// How much of the jobs any report can be of, in one sentence without its end.
fn measured(coverage: &SacctCoverage) -> String {
    let without = coverage.unmeasured();
    let most: Vec<String> =
        coverage.states.iter().take(4).map(|s| format!("{} {}", name(s), s.without.jobs)).collect();
    let mut text = format!(
        "--sacct: measured {} of the CPU-hours of jobs that ran ({} of {} CPU-h); {} of {} left no \
         line",
        share(coverage.measured.time, coverage.ran.time),
        cpu_hours(coverage.measured.time),
        cpu_hours(coverage.ran.time),
        without.jobs,
        count(coverage.ran.jobs, "job"),
    );
    if !most.is_empty() {
        text += &format!(", by state: {}", most.join(", "));
        text += if coverage.states.len() > 4 { " and others" } else { "" };
    }
    text
}

/// The note below a text.
pub fn note(coverage: &SacctCoverage, width: Option<usize>) -> String {
    let text = measured(coverage) + ". --coverage tells more.";
    hanging(&text, width.unwrap_or(TEXT_WIDTH), 4)
}

/// The same beside forms that are rows alone, such as CSV: one line, with the command that gives it
/// as rows.
pub fn note_beside_rows(coverage: &SacctCoverage) -> String {
    measured(coverage) + ". --coverage --csv gives this and the likely reasons as rows.\n"
}

/// The same as JSON.
pub(crate) fn note_json(coverage: &SacctCoverage) -> Value {
    let part = |share: JobShare| Value::Object(object(share, coverage.ran));
    let reason = |(reason, share): &(NoLine, JobShare)| (reason.name().to_owned(), part(*share));
    let reasons: Map<String, Value> = coverage.reasons.iter().map(reason).collect();
    json!({
        "measured": part(coverage.measured),
        "not_measured": part(coverage.unmeasured()),
        "reasons": reasons,
    })
}

fn share(part: CpuHours, of: CpuHours) -> String {
    percent_of(part.0, of.0)
}

/// CPU-hours with two places. What is little is not nothing.
fn cpu_hours(time: CpuHours) -> String {
    match pe_hours(PeTime(time.0.saturating_mul(1_000_000))) {
        text if text == "0.00" && time.0 > 0 => "<0.01".to_owned(),
        text => text,
    }
}

fn name(group: &SacctGroup) -> String {
    if group.name.is_empty() { NONE.to_owned() } else { Shown(&group.name).to_string() }
}

/// The tables of [`text`] in the making.
struct CoverageTables {
    out: String,
    /// Columns of names
    name: usize,
    /// Columns of jobs, CPU-hours and shares
    figures: [usize; 3],
}

impl CoverageTables {
    /// In lines of so many columns.
    fn new(width: usize) -> Self {
        let roomy = [17, 15, 8];
        let figures = if width >= TEXT_WIDTH { roomy } else { [9, 10, 7] };
        // A name keeps some columns in the narrowest terminal, too.
        let left = width.saturating_sub(figures.iter().map(|figure| figure + 1).sum());
        CoverageTables { out: String::new(), name: left.clamp(10, NAME), figures }
    }

    /// A row; a name that is too long has a line of its own above the figures.
    fn line(&mut self, name: &str, jobs: &str, hours: &str, share: &str) {
        let [wide_jobs, wide_hours, wide_share] = self.figures;
        let most = self.name + 1 + wide_jobs - columns(jobs).min(wide_jobs);
        let mut name = cut(name, NAME);
        if columns(&name) >= most {
            self.out += &name;
            self.out.push('\n');
            name.clear();
        }
        // A name may reach into the room that a short number of jobs leaves.
        let before = self.name + 1 + wide_jobs - columns(&name);
        let row = format!("{name}{jobs:>before$} {hours:>wide_hours$} {share:>wide_share$}");
        self.out += row.trim_end();
        self.out.push('\n');
    }

    fn row(&mut self, name: &str, part: JobShare, of: JobShare) {
        let percent = share(part.time, of.time);
        self.line(name, &part.jobs.to_string(), &cpu_hours(part.time), &percent);
    }
}

/// The report for people, in lines of so many columns (None: 80); at most `most` users, accounts
/// and partitions are shown.
pub fn text(
    coverage: &SacctCoverage,
    tally: &SacctTally,
    most: usize,
    width: Option<usize>,
) -> String {
    let width = width.unwrap_or(TEXT_WIDTH);
    let prose = width.min(PROSE_WIDTH);
    let mut out = CoverageTables::new(width);
    out.out = hanging(
        &format!(
            "Measured {} of the CPU-hours of jobs ({} of {} CPU-h)",
            share(coverage.measured.time, coverage.ran.time),
            cpu_hours(coverage.measured.time),
            cpu_hours(coverage.ran.time)
        ),
        prose,
        4,
    );
    out.out.push('\n');
    out.line("Jobs", "Jobs", "CPU-h", "CPU-h%");
    out.row("ran", coverage.ran, coverage.ran);
    out.row("left a line", coverage.measured, coverage.ran);
    out.row("left no line", coverage.unmeasured(), coverage.ran);
    if !coverage.reasons.is_empty() {
        out.out.push('\n');
        out.line("No line, likely because", "Jobs", "CPU-h", "CPU-h%");
        for (reason, share) in &coverage.reasons {
            out.row(words(*reason), *share, coverage.ran);
        }
    }
    for (heading, groups) in [
        ("User", &coverage.users),
        ("Account", &coverage.accounts),
        ("Partition", &coverage.partitions),
        ("State", &coverage.states),
    ] {
        if groups.iter().all(|group| group.name.is_empty()) {
            continue;
        }
        out.out.push('\n');
        out.line(&format!("{heading}, no line"), "Jobs (of)", "CPU-h", "of own");
        for group in groups.iter().take(most) {
            let jobs = format!("{} ({})", group.without.jobs, group.of.jobs);
            let percent = share(group.without.time, group.of.time);
            out.line(&name(group), &jobs, &cpu_hours(group.without.time), &percent);
        }
        if groups.len() > most {
            out.out += &format!("... and {} more, see --top\n", groups.len() - most);
        }
    }
    out.out.push('\n');
    for note in notes(coverage, tally) {
        out.out += &hanging(&note, prose, 4);
    }
    out.out
}

fn notes(coverage: &SacctCoverage, tally: &SacctTally) -> Vec<String> {
    let mut notes = vec![
        "CPU-h: allocated CPUs x elapsed time of a job, as sacct tells. CPU-h% of all jobs that \
         ran; `of own`: of those of the same user, account, partition or state."
            .to_owned(),
    ];
    if tally.no_cpu_time {
        let what = "! A file of sacct tells no CPU time of jobs: add CPUTimeRAW to its columns.";
        notes.push(what.to_owned());
    }
    let of_runs = |share: Share| format!("{} PE-h of {}", pe_hours(share.time), runs(share.runs));
    let log = &coverage.log;
    notes.push(format!(
        "In the log: {} of jobs that sacct tells; {} of {} that it does not tell; {} of no job.",
        of_runs(log.runs.told),
        of_runs(log.runs.not_told),
        count(log.unknown, "job"),
        of_runs(log.runs.without)
    ));
    if coverage.measured.time.0 > 0 {
        let told = CpuHours(log.runs.told.time.0 / 1_000_000);
        notes.push(format!(
            "The runs of measured jobs used {} of the CPU-h of these jobs (PEs x wall clock time).",
            share(told, coverage.measured.time)
        ));
    }
    if coverage.never_ran > 0 || tally.waiting > 0 {
        notes.push(format!(
            "Not in the tables: {} that never ran.",
            count(coverage.never_ran + tally.waiting, "job")
        ));
    }
    for (rows, what) in [
        (tally.skipped(), "could not be read"),
        (tally.repeated, "were there before"),
        (tally.attempts, "are further attempts of a job; their CPU-h were added"),
        (tally.lone_steps, "are of steps without their job"),
    ] {
        if rows > 0 {
            notes.push(format!("Rows of sacct: {rows} of {} {what}.", tally.rows));
        }
    }
    notes
}

/// What each row is of: table, name, jobs, and the jobs that it is a share of.
fn rows(coverage: &SacctCoverage) -> Vec<(&'static str, String, JobShare, JobShare)> {
    let ran = coverage.ran;
    let mut rows = vec![
        ("total", "ran".to_owned(), ran, ran),
        ("total", "measured".to_owned(), coverage.measured, ran),
        ("total", "not_measured".to_owned(), coverage.unmeasured(), ran),
    ];
    rows.extend(
        coverage.reasons.iter().map(|(r, share)| ("reason", r.name().to_owned(), *share, ran)),
    );
    for (table, groups) in [
        ("user", &coverage.users),
        ("account", &coverage.accounts),
        ("partition", &coverage.partitions),
        ("state", &coverage.states),
    ] {
        let row =
            |group: &SacctGroup| (table, Shown(&group.name).to_string(), group.without, group.of);
        rows.extend(groups.iter().map(row));
    }
    rows
}

/// A line for each row of each table.
pub fn csv(coverage: &SacctCoverage) -> String {
    let mut out = "table,name,jobs,cpu_seconds,cpu_percent,of_jobs,of_cpu_seconds\n".to_owned();
    for (table, name, part, of) in rows(coverage) {
        let percent = percentage(part.time.0, of.time.0, 4).unwrap_or_default();
        let name = csv::field(&name);
        let (jobs, time) = (part.jobs, part.time.0);
        out += &format!("{table},{name},{jobs},{time},{percent},{},{}\n", of.jobs, of.time.0);
    }
    out
}

fn object(part: JobShare, of: JobShare) -> Map<String, Value> {
    let percent = percentage(part.time.0, of.time.0, 4);
    let percent: Option<f64> = percent.and_then(|text| text.parse().ok());
    let seconds = |time: CpuHours| u64::try_from(time.0).map_or(json!(time.0 as f64), Value::from);
    let mut object = Map::new();
    object.insert("jobs".to_owned(), part.jobs.into());
    object.insert("cpu_seconds".to_owned(), seconds(part.time));
    object.insert("cpu_percent".to_owned(), json!(percent));
    object.insert("of_jobs".to_owned(), of.jobs.into());
    object.insert("of_cpu_seconds".to_owned(), seconds(of.time));
    object
}

/// One object, schema `topas.coverage/1`.
pub fn json(coverage: &SacctCoverage, tally: &SacctTally) -> String {
    let mut tables: Map<String, Value> = Map::new();
    for (table, name, part, of) in rows(coverage) {
        let mut row = Map::new();
        row.insert("name".to_owned(), name.into());
        row.extend(object(part, of));
        let rows = tables.entry(table).or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(rows) = rows {
            rows.push(Value::Object(row));
        }
    }
    let plain = |share: Share| json!({ "runs": share.runs, "pe_seconds": share.time.seconds() });
    let faults: Map<String, Value> = SacctFault::ALL
        .iter()
        .zip(&tally.skipped)
        .map(|(fault, rows)| (fault.to_string(), (*rows).into()))
        .collect();
    let object = json!({
        "schema": COVERAGE_SCHEMA,
        "tables": tables,
        "never_ran": coverage.never_ran + tally.waiting,
        "log": {
            "jobs_not_in_sacct": coverage.log.unknown,
            "of_jobs": plain(coverage.log.runs.told),
            "of_jobs_not_in_sacct": plain(coverage.log.runs.not_told),
            "without_job": plain(coverage.log.runs.without),
        },
        "rows": {
            "all": tally.rows,
            "skipped": tally.skipped(),
            "problems": faults,
            "repeated": tally.repeated,
            "attempts": tally.attempts,
            "lone_steps": tally.lone_steps,
        },
    });
    format!("{object:#}\n")
}

/// An object for each row of each table, one a line.
pub fn json_lines(coverage: &SacctCoverage) -> String {
    let mut out = String::new();
    for (table, name, part, of) in rows(coverage) {
        let mut row = Map::new();
        row.insert("schema".to_owned(), COVERAGE_ROW_SCHEMA.into());
        row.insert("table".to_owned(), table.into());
        row.insert("name".to_owned(), name.into());
        row.extend(object(part, of));
        out += &Value::Object(row).to_string();
        out.push('\n');
    }
    out
}
