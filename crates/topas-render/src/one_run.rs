//! One run in words, on one screen, and as JSON.

mod ending;
mod json;
mod not_found;
mod overview;
mod rates;
mod unknown;

use topas_data::{LineFacts, PeTime, RunHistory, RunRecord};
use topas_findings::RuleFinding;
use topas_mpi_data::{CallersTime, MpiProfile};

use crate::mpi_views::worlds_in_words;
use crate::number::{NONE, hours, percent_of, seconds, short, si};
use crate::runs::{day, length, moment};
use crate::text::{columns, cut, right};
use crate::wording::{PROSE_WIDTH, TEXT_WIDTH, clean, count, hanging};

pub use json::ONE_RUN_SCHEMA;
pub use not_found::not_found;

/// Columns of the labels on the left.
const LABEL: usize = 16;

/// What is known of a run: from its lines, and from others.
pub struct KnownRun<'r> {
    /// What its lines say
    pub facts: &'r RunRecord,
    /// Its MPI profile, if there is one
    pub profile: Option<&'r MpiProfile>,
    /// Its earlier runs; None if its lines do not tell of which program
    pub earlier: Option<&'r RunHistory>,
    /// What the rules find in all that
    pub findings: &'r [RuleFinding],
}

/// What is shown: the runs of a name.
pub struct RunReport<'r> {
    /// What they were looked for by, as people say it: `job 4711`
    pub name: &'r str,
    /// All of them, the latest first
    pub all: &'r [RunRecord],
    /// Those that are told in words
    pub told: &'r [KnownRun<'r>],
}

impl RunReport<'_> {
    /// An overview if there are several runs, and each run that is told in words: in lines of so
    /// many columns, of which sentences take [`PROSE_WIDTH`] at most. None: 80 columns, and nothing
    /// is shortened.
    pub fn text(&self, width: Option<usize>) -> String {
        let mut parts: Vec<String> = Vec::new();
        if self.all.len() > 1 {
            parts.push(overview::text(self, width));
        }
        parts.extend(self.told.iter().map(|run| one(run, width)));
        parts.join(&format!("\n{}\n\n", "-".repeat(prose(width))))
    }

    /// One JSON object of all.
    pub fn json(&self) -> String {
        json::json(self)
    }
}

/// Columns of sentences.
fn prose(width: Option<usize>) -> usize {
    width.unwrap_or(TEXT_WIDTH).min(PROSE_WIDTH)
}

/// A run in words.
fn one(run: &KnownRun<'_>, width: Option<usize>) -> String {
    let facts = run.facts;
    let prose = prose(width);
    let mut out = hanging(&ending::sentence(facts), prose, 0);
    out.push('\n');
    write(&mut out, &about(facts), prose);
    out.push('\n');
    out += &lines(facts, width.unwrap_or(usize::MAX));
    out.push('\n');
    let mut items = rates::items(facts);
    items.extend(mpi(run));
    items.extend(waits(run));
    items.extend(worlds(run));
    items.push(("Earlier", earlier(run)));
    write(&mut out, &items, prose);
    // Between the figures that they judge and what is not known.
    if !run.findings.is_empty() {
        out += "\nFindings\n";
        for found in run.findings {
            out += &hanging(&format!("* {}", crate::finding::sentence(found)), prose, 2);
        }
    }
    out.push('\n');
    out += "Not known, and remarks\n";
    for text in unknown::sentences(run) {
        out += &hanging(&format!("* {text}"), prose, 2);
    }
    out
}

/// Which run it is, and its time.
fn about(facts: &RunRecord) -> Vec<(&'static str, String)> {
    vec![
        ("When", format!("{} to {}, local time", moment(facts.started), moment(facts.ended))),
        ("Launch", named(&facts.id)),
        ("Job", job(facts)),
        ("Program", program(facts)),
        ("Time", time(facts)),
    ]
}

/// A run in parts, for those who lay them out themselves: the same words as in a text.
#[derive(Clone, Debug)]
pub struct RunParts {
    /// Program, PEs, time, and how it ended
    pub sentence: String,
    /// Which run it is, with labels
    pub about: Vec<(&'static str, String)>,
    /// What was measured, with labels
    pub rates: Vec<(&'static str, String)>,
    /// Headings of the rows
    pub header: [&'static str; 8],
    /// A row for each PE that has a line
    pub lines: Vec<[String; 8]>,
    /// The same program before
    pub earlier: String,
    /// What the rules found, with advice
    pub findings: Vec<String>,
    /// What is not known, and remarks
    pub unknown: Vec<String>,
}

impl KnownRun<'_> {
    /// Its parts.
    pub fn parts(&self) -> RunParts {
        let mut rates = rates::items(self.facts);
        rates.extend(mpi(self));
        let mut about = about(self.facts);
        about.extend(worlds(self));
        RunParts {
            sentence: ending::sentence(self.facts),
            about,
            rates,
            header: LINE_HEADER,
            lines: self.facts.lines.iter().map(cells).collect(),
            earlier: earlier(self),
            findings: self.findings.iter().map(crate::finding::sentence).collect(),
            unknown: unknown::sentences(self),
        }
    }
}

/// Headings of the rows of PEs.
const LINE_HEADER: [&str; 8] =
    ["PE", "Host", "End", "Wall", "User CPU", "System CPU", "Memory", "Threads"];

/// Labels on the left, texts on the right.
fn write(out: &mut String, items: &[(&str, String)], width: usize) {
    for (label, text) in items {
        *out += &hanging(&format!("{label:<LABEL$}{text}"), width, LABEL);
    }
}

/// Text of a line, or `-`.
fn named(text: &[u8]) -> String {
    crate::wording::named(text)
}

fn job(facts: &RunRecord) -> String {
    let mut words = vec![named(&facts.job)];
    let more = [
        ("step", &facts.step),
        ("partition", &facts.part),
        ("account", &facts.account),
        ("QOS", &facts.qos),
        ("state by sacct", &facts.state),
    ];
    let told = more.into_iter().filter(|(_, text)| !text.is_empty());
    words.extend(told.map(|(what, text)| format!("{what} {}", clean(text))));
    words.push(match &*facts.mode {
        b"B" => "batch".to_owned(),
        _ => "interactive".to_owned(),
    });
    words.join(", ")
}

fn program(facts: &RunRecord) -> String {
    let mut words = Vec::new();
    let lang = match &*facts.lang {
        b"c" | b"cc" => "C",
        b"cxx" | b"kxx" => "C++",
        b"f77" => "Fortran 77",
        b"f90" => "Fortran 90",
        _ => "",
    };
    words.extend((!lang.is_empty()).then(|| lang.to_owned()));
    words.extend((!facts.compiler.is_empty()).then(|| clean(&facts.compiler)));
    words.push(match &*facts.lib {
        b"mpi" if facts.mpi.is_empty() => "MPI".to_owned(),
        b"mpi" => clean(&facts.mpi),
        b"sma" => "OpenSHMEM".to_owned(),
        b"pvm" => "PVM".to_owned(),
        _ => "no message passing library".to_owned(),
    });
    words.extend(facts.mhz.map(|mhz| format!("processor of {mhz} MHz nominal")));
    words.extend((!facts.gpu.is_empty()).then(|| format!("accelerators ({})", clean(&facts.gpu))));
    words.extend((&*facts.via == b"run").then(|| "measured through topas-run".to_owned()));
    words.join(", ")
}

fn time(facts: &RunRecord) -> String {
    let booked = count(facts.booked.into(), "PE");
    let hours_of = facts.value("pe_hours").map_or_else(|| NONE.to_owned(), short);
    format!(
        "{} wall clock x {booked} = {hours_of} PE-h ({})",
        length(facts.wall.into()),
        hours(PeTime(facts.pe_micros))
    )
}

/// A row for each line, or a paragraph where rows are too wide.
fn lines(facts: &RunRecord, most: usize) -> String {
    let of = facts.npes.map_or_else(|| "an unknown number of".to_owned(), |n| n.to_string());
    let mut out = format!("Measured: {} of {of} PEs\n", facts.lines.len());
    let header = LINE_HEADER;
    let mut rows = vec![header.map(str::to_owned)];
    rows.extend(facts.lines.iter().map(cells));
    let width = |at: usize| rows.iter().map(|row| columns(&row[at])).max().unwrap_or(0).min(24);
    let widths: [usize; 8] = std::array::from_fn(width);
    if widths.iter().map(|width| width + 2).sum::<usize>() > most {
        let told = |row: &[String; 8]| {
            let named = header.iter().zip(row).skip(1).filter(|(_, cell)| *cell != NONE);
            let words: Vec<String> = named.map(|(name, cell)| format!("{name} {cell}")).collect();
            hanging(&format!("  PE {}: {}", row[0], words.join(", ")), most, 4)
        };
        return out + &rows.iter().skip(1).map(told).collect::<String>();
    }
    for row in &rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(widths).enumerate() {
            line += "  ";
            let cell = cut(cell, width);
            if matches!(at, 1 | 2) {
                let blanks = width.saturating_sub(columns(&cell));
                line += &cell;
                line.extend(std::iter::repeat_n(' ', blanks));
            } else {
                line += &right(&cell, width);
            }
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}

fn cells(line: &LineFacts) -> [String; 8] {
    let record = &line.record;
    let cpu = |micros: Option<u64>| {
        micros.map_or_else(|| NONE.to_owned(), |micros| length(micros.into()))
    };
    [
        record.pe.to_string(),
        named(&line.host),
        named(&line.end),
        length(record.wall.0.into()),
        cpu(record.cpu.map(|cpu| cpu.user.0)),
        cpu(record.cpu.map(|cpu| cpu.sys.0)),
        line.rss.map_or_else(|| NONE.to_owned(), |rss| si(rss as f64, "B")),
        line.threads.map_or_else(|| NONE.to_owned(), |threads| threads.to_string()),
    ]
}

/// The share of MPI, of a run that has a profile.
fn mpi(run: &KnownRun<'_>) -> Option<(&'static str, String)> {
    let profile = run.profile?;
    let (sums, callers) = (&profile.total, CallersTime::of(profile));
    let text = format!(
        "{} of the time of {} was spent in MPI: {} of {} s, by the MPI profile (topasview --mpi)",
        percent_of(sums.mpi, callers.time),
        count(callers.count, if callers.threads { "thread" } else { "rank" }),
        seconds(sums.mpi, 3),
        seconds(callers.time, 3)
    );
    Some(("MPI", text))
}

/// Why its ranks waited, if the profile tells that.
fn waits(run: &KnownRun<'_>) -> Option<(&'static str, String)> {
    let sums = &run.profile?.total;
    let callers = CallersTime::of(run.profile?);
    if !sums.waits.measured {
        return None;
    }
    let all = sums.waits.all();
    let kinds = [
        ("for late senders", all.late.nanoseconds),
        ("for late receivers", all.late_receiver.nanoseconds),
        ("for others in collectives", all.collective.nanoseconds),
    ];
    let told = kinds.map(|(what, time)| {
        format!("{} s {what} ({})", seconds(time, 3), percent_of(time, callers.time))
    });
    let unknown = match all.unknown() {
        0 => String::new(),
        time => format!(
            "; of another {} s ({}) it is not known",
            seconds(time, 3),
            percent_of(time, callers.time)
        ),
    };
    let of = callers.whose();
    let text =
        format!("the ranks waited {}{unknown}; shares of the time of all {of}", told.join(", "));
    Some(("Waits", text))
}

/// Worlds of spawned processes, if its ranks are of one or started any.
fn worlds(run: &KnownRun<'_>) -> Option<(&'static str, String)> {
    let words = worlds_in_words(run.profile?)?;
    Some(("Worlds", format!("{words} (topasview --mpi names each)")))
}

/// The same program before, and the place of this run.
fn earlier(run: &KnownRun<'_>) -> String {
    let facts = run.facts;
    let Some(earlier) = run.earlier else {
        return "not compared, because the lines do not tell the program or the number of PEs"
            .to_owned();
    };
    let what = format!(
        "of {} by {} with {}",
        named(&facts.exe),
        named(&facts.user),
        count(facts.booked.into(), "PE")
    );
    let badly = match earlier.failed {
        0 => String::new(),
        n => format!(", without {n} that ended badly"),
    };
    let (Some(median), Some(since)) = (earlier.median_wall(), earlier.since) else {
        return format!("no earlier run {what} is in what was read{badly}");
    };
    let runs = earlier.walls.len();
    let few = match earlier.runs > runs as u64 {
        true => format!(" (of {})", earlier.runs),
        false => String::new(),
    };
    let all = count(runs as u64, "earlier run");
    let (faster, slower) = (earlier.faster_than(facts.wall), earlier.slower_than(facts.wall));
    let place = match (faster, slower) {
        // A run that broke off is not fast.
        _ if facts.worst_ending().is_some_and(|ending| ending > 0) => " and ended badly".to_owned(),
        (0, 0) => ", as fast as all of them".to_owned(),
        (faster, slower) if faster >= slower => format!(", slower than {faster} of {runs}"),
        (_, slower) => format!(", faster than {slower} of {runs}"),
    };
    let mut text = format!(
        "{all}{few} {what} since {}{badly}: median wall clock time {}; this run took {}{place}.",
        day(since),
        length(median.round() as u128),
        length(facts.wall.into()),
    );
    if let Some(median) = earlier.median_rate() {
        let rated = earlier.rates.len();
        let own = match facts.comparable("mflops") {
            Some(rate) => format!("this run had {}", short(rate)),
            None if facts.accelerated => "the rate of this run is not comparable".to_owned(),
            None => "this run has no rate".to_owned(),
        };
        text +=
            &format!(" Median rate of {rated} of them: {} MFlop/s per PE; {own}.", short(median));
    }
    if earlier.accelerated > 0 {
        text += &format!(
            " {} used an accelerator and {} in no median rate; --with-accelerators adds {}.",
            count(earlier.accelerated, "run"),
            if earlier.accelerated == 1 { "is" } else { "are" },
            if earlier.accelerated == 1 { "it" } else { "them" }
        );
    }
    text
}
