//! One run: what is known of it, what is said of it, and what it is compared with.

use maud::{Markup, html};
use topas_chart::Screen;
use topas_data::field::FieldUnit;
use topas_data::measure::Measure;
use topas_data::pes::quantile;
use topas_data::{Resources, RunHistory, RunRecord, Source, earlier_runs_in};
use topas_findings::{Rules, run_facts};
use topas_mpi_data::{MpiProfile, read_profiles_of};
use topas_render::mpi_views::{MpiOrder, Views};
use topas_render::one_run::{KnownRun, RunReport};
use topas_render::{csv_field, duration, grouped, si_bare};
use topas_store::{
    RunClass, RunFilter, RunPosition, Store, StoreError, StoredRun, class_samples, latest_runs,
    profile_lines, shown_text,
};

use crate::access::Viewer;
use crate::all_pes::{self, AllPes};
use crate::answer::{Answer, Web};
use crate::asked::run_name;
use crate::layout;
use crate::worlds::{self, OtherWorld};

/// Earlier runs that a run is compared with: the latest.
const EARLIER: usize = 1000;

/// Other users that a group must have before their values are told.
const LEAST_USERS: usize = 5;

/// Months that reference values are of.
const MONTHS: i64 = 12;

/// Measures with reference values.
const COMPARED: [&str; 4] = ["mflops", "l1_per_op", "cpu_use", "sys_share"];

/// Routines of MPI that are shown, those with most time.
const ROUTINES: usize = 10;

/// What is in the box of MPI.
const OF_MPI: [&str; 2] = ["MPI", "Waits"];

/// Which rates are in which box; what is in none is with the processor.
const MEMORY: [&str; 3] = ["L1 misses", "L1/op", "Memory"];

/// The run as a page, JSON or CSV; None if its lines cannot be read.
pub fn answer(
    web: &Web,
    store: &mut dyn Store,
    viewer: &Viewer,
    run: &StoredRun,
    form: &str,
) -> Result<Option<Answer>, StoreError> {
    let Some(record) = run.record() else { return Ok(None) };
    let earlier = history(store, run, &record)?;
    let profile = profile(store, run, &record)?;
    let findings = web.rules.of_run(&run_facts(&record, earlier.as_ref(), profile.as_ref()));
    let known = KnownRun {
        facts: &record,
        profile: profile.as_ref(),
        earlier: earlier.as_ref(),
        findings: &findings,
    };
    let name = run_name(run.launch, run.id);
    Ok(Some(match form {
        "json" => {
            let report = RunReport {
                name: &name,
                all: std::slice::from_ref(&record),
                told: std::slice::from_ref(&known),
            };
            // A run is told in words if it is the one that is listed.
            Answer::data("application/json", report.json(), &format!("{name}.json"))
        }
        "csv" => Answer::data("text/csv; charset=utf-8", csv(&known), &format!("{name}.csv")),
        _ => {
            let reference = references(store, run, &record)?;
            let title = format!("Run of {}", shown_text(&run.exe));
            let pes = (web.all_pes)(&record);
            let others = worlds::others(store, run, profile.as_ref())?;
            let body = page(&name, &known, (&reference, &others), &pes, &web.rules);
            Answer::page(200, layout::page(&title, Some(viewer), body))
        }
    }))
}

/// The earlier runs of the same program of the same user.
fn history(
    store: &mut dyn Store,
    run: &StoredRun,
    record: &RunRecord,
) -> Result<Option<RunHistory>, StoreError> {
    let filter = RunFilter {
        owner: Some(run.owner.clone()),
        exe: Some(run.exe.clone()),
        npes: Some(run.npes),
        ..RunFilter::default()
    };
    let behind = RunPosition { last: run.last, id: run.id };
    let runs = latest_runs(store, &filter, Some(behind), EARLIER)?;
    let lines: Vec<u8> = runs.into_iter().flat_map(|run| run.lines).collect();
    let resources = Resources { threads: std::num::NonZero::<usize>::MIN, ..Resources::default() };
    Ok(earlier_runs_in(&lines, record, &resources).ok().flatten())
}

/// The MPI profile of the run, if there is one.
pub fn profile(
    store: &mut dyn Store,
    run: &StoredRun,
    record: &RunRecord,
) -> Result<Option<MpiProfile>, StoreError> {
    if record.id.is_empty() {
        return Ok(None);
    }
    let lines = profile_lines(store, &record.id, &run.owner)?;
    let (read, _) = read_profiles_of(&Source::Stdin, &lines[..]);
    Ok(read.profiles.into_iter().find(|profile| profile.is_of(record)))
}

/// The routines that took longest.
fn routines(profile: &MpiProfile) -> Markup {
    let views = Views {
        profile,
        calibration: None,
        processors: None,
        replay: None,
        paths: None,
        worlds: Default::default(),
        order: MpiOrder::default(),
        screen: Screen { width: 80, unicode: true, color: false },
    };
    let table = views.routines();
    // The last row has the sums of all.
    let shown = table.times.len().min(ROUTINES);
    html! {
        h2 { "MPI routines" }
        p { (shown) " of " (table.times.len()) " routines, those with most time, of " (profile.total.ranks)
            " ranks with a profile; times are summed over these ranks." }
        div class="wide" tabindex="0" role="region" aria-label="MPI routines" { table {
            thead { tr { th scope="col" { "Routine" } th scope="col" class="n" { "Calls" }
                th scope="col" class="n" { "Calls per PE" } th scope="col" class="n" { "Time (s)" }
                th scope="col" class="n" { "Time per call (\u{b5}s)" }
                th scope="col" class="n" { "Transferred (B)" } } }
            tbody { @for [_, name, calls, per_pe, time, per_call, _, bytes, ..] in &table.rows[..shown] { tr {
                th scope="row" { (name) }
                @for cell in [calls, per_pe, time, per_call, bytes] { td class="n" { (grouped(cell)) } }
            } } }
        } }
    }
}

/// What others have with comparable programs.
struct Reference {
    measure: &'static Measure,
    own: f64,
    /// Number of other users
    users: usize,
    /// Their median and the third quartile
    others: Option<(f64, f64)>,
}

fn references(
    store: &mut dyn Store,
    run: &StoredRun,
    record: &RunRecord,
) -> Result<Vec<Reference>, StoreError> {
    let size = 1 << record.booked.max(1).ilog2();
    let class = RunClass { lang: run.lang.clone(), lib: run.lib.clone(), size };
    let month = run.day / 100;
    let from = match month % 100 - MONTHS {
        first if first > 0 => month / 100 * 100 + first,
        first => (month / 100 - 1) * 100 + 12 + first,
    };
    let mut references = Vec::new();
    for name in COMPARED {
        let (Ok(measure), Some(own)) = (Measure::named(name), record.comparable(name)) else {
            continue;
        };
        let samples = class_samples(store, &class, from, name)?;
        let others = samples.iter().filter(|(owner, _)| *owner != run.owner);
        let mut means: Vec<f64> =
            others.filter_map(|(_, sample)| Some(sample.mean(measure)?.value)).collect();
        means.sort_unstable_by(f64::total_cmp);
        let enough = means.len() >= LEAST_USERS;
        let others = enough.then(|| (quantile(&means, 0.5), quantile(&means, 0.75)));
        references.push(Reference { measure, own, users: means.len(), others });
    }
    Ok(references)
}

/// A number with enough digits to compare.
fn short(value: f64) -> String {
    match value != 0.0 && value.abs() < 0.1 {
        true => format!("{value:.2e}"),
        false => grouped(&format!("{value:.2}")),
    }
}

fn page(
    name: &str,
    known: &KnownRun<'_>,
    (references, others): (&[Reference], &[OtherWorld]),
    pes: &AllPes,
    rules: &Rules,
) -> Markup {
    let parts = known.parts();
    let verdict = match known.findings {
        [] => match pes {
            AllPes::None => "No rule found anything that stands out.".to_owned(),
            _ => "No rule found anything in its log lines; what all PEs say is below.".to_owned(),
        },
        [first, ..] => format!("What stands out: {}; see the findings.", first.what),
    };
    let is_memory = |label: &str| MEMORY.contains(&label);
    let is_mpi = |label: &str| OF_MPI.contains(&label);
    let items = |of: &dyn Fn(&str) -> bool| {
        let chosen = parts.rates.iter().filter(|(label, _)| of(label) && !is_mpi(label));
        html! { dl { @for (label, text) in chosen { dt { (label) } dd { (text) } } } }
    };
    let mpi: Vec<&str> =
        parts.rates.iter().filter(|(label, _)| is_mpi(label)).map(|(_, text)| &**text).collect();
    html! {
        p class="verdict" { (parts.sentence) " " (verdict) }
        div class="boxes" {
            section class="box" aria-label="Run" { h2 { "Run" }
                dl { @for (label, text) in &parts.about { dt { (label) } dd { (text) } } } }
            section class="box" aria-label="Processor" { h2 { "CPU" } (items(&|label| !is_memory(label))) }
            section class="box" aria-label="Memory" { h2 { "Memory" } (items(&is_memory)) }
            section class="box" aria-label="MPI" { h2 { "MPI" }
                @for text in &mpi { p { (text) } }
                @if mpi.is_empty() { p { "Not measured: no MPI profile of this run came into the log. A run with TOPAS_MPI=yes has one." } } }
            section class="box" aria-label="Input and output" { h2 { "I/O" }
                p { "Not measured: a log line counts no input and output." } }
        }
        h2 { "Findings" }
        @if parts.findings.is_empty() { p { "None." } } @else {
            ul { @for text in &parts.findings { li { (text) } } }
        }
        (all_pes::part(pes, rules))
        @if let Some(profile) = known.profile { (routines(profile)) }
        (worlds::part(others))
        h2 { "Against earlier runs" }
        p { (parts.earlier) }
        h2 { "Against runs of others" }
        p { "Others: users whose programs have the same language, library and about the same number of PEs, \
             in the last " (MONTHS) " months; each user counts once, by the mean of the user's runs. Values are \
             told of " (LEAST_USERS) " or more other users only." }
        @if !references.is_empty() {
            div class="wide" tabindex="0" role="region" aria-label="Reference values" { table {
                thead { tr { th scope="col" { "Measure" } th scope="col" class="n" { "This run" }
                    th scope="col" class="n" { "Median of others" } th scope="col" class="n" { "Third quartile" }
                    th scope="col" class="n" { "Other users" } th scope="col" { "Unit" } } }
                tbody { @for of in references { tr {
                    th scope="row" { (of.measure.heading) }
                    td class="n" { (short(of.own)) }
                    @match of.others {
                        Some((median, quarter)) => { td class="n" { (short(median)) } td class="n" { (short(quarter)) } }
                        None => { td class="n" { "too few" } td class="n" { "too few" } }
                    }
                    td class="n" { (of.users) }
                    td { (of.measure.unit) }
                } } }
            } }
        }
        h2 { "Measured PEs" }
        div class="wide" tabindex="0" role="region" aria-label="Measured PEs" { table {
            thead { tr { @for head in parts.header { th scope="col" { (head) } } } }
            tbody { @for line in &parts.lines { tr { @for cell in line { td { (cell) } } } } }
        } }
        h2 { "Not known, and remarks" }
        ul { @for text in &parts.unknown { li { (text) } } }
        p { a href={ "/run/" (name) ".json" } { "JSON" } " " a href={ "/run/" (name) ".csv" } { "CSV" } }
    }
}

/// Two runs side by side; None if the lines of one cannot be read.
pub fn compared(viewer: &Viewer, one: &StoredRun, other: &StoredRun) -> Option<Answer> {
    let both = [one, other];
    let records = [one.record()?, other.record()?];
    let known = records.each_ref().map(|facts| KnownRun {
        facts,
        profile: None,
        earlier: None,
        findings: &[],
    });
    let parts = known.each_ref().map(KnownRun::parts);
    let value = |of: &RunRecord, measure: &Measure| match of.comparable(measure.name) {
        Some(value) if measure.unit.starts_with("B ") => si_bare(value),
        Some(value) if measure.written == FieldUnit::Seconds => duration(value),
        Some(value) => short(value),
        None => "not measured".to_owned(),
    };
    let body = html! {
        div class="boxes" { @for ((run, parts), letter) in both.iter().zip(&parts).zip(["A", "B"]) {
            section class="box" aria-label={ "Run " (letter) } {
                h2 { (letter) ": " a href={ "/run/" (run_name(run.launch, run.id)) } { (shown_text(&run.exe)) } }
                p { (parts.sentence) }
                dl { @for (label, text) in &parts.about { dt { (label) } dd { (text) } } }
            }
        } }
        h2 { "Measures" }
        div class="wide" tabindex="0" role="region" aria-label="Measures" { table {
            thead { tr { th scope="col" { "Measure" } th scope="col" class="n" { "A" } th scope="col" class="n" { "B" }
                th scope="col" class="n" { "B / A" } th scope="col" { "Unit" } } }
            tbody { @for of in &records[0].measures {
                @let values = records.each_ref().map(|record| record.comparable(of.measure.name));
                @if values.iter().any(Option::is_some) { tr {
                    th scope="row" { (of.measure.heading) }
                    @for record in &records { td class="n" { (value(record, of.measure)) } }
                    td class="n" { @match values {
                        [Some(a), Some(b)] if a != 0.0 => (format!("{:.3}", b / a)),
                        _ => "-",
                    } }
                    // A time has its units in itself.
                    td { (of.measure.unit.strip_prefix("s ").unwrap_or(of.measure.unit)) }
                } }
            } }
        } }
    };
    Some(Answer::page(200, layout::page("Two runs", Some(viewer), body)))
}

/// Measures of the run, a line each.
fn csv(known: &KnownRun<'_>) -> String {
    let mut text = String::from("measure,value,unit,pes,estimate\r\n");
    for of in &known.facts.measures {
        let fields = [
            of.measure.name.to_owned(),
            of.value.map_or_else(String::new, |value| value.to_string()),
            of.measure.unit.to_owned(),
            of.pes.len().to_string(),
            of.estimate.to_string(),
        ];
        text += &fields.map(|field| csv_field(&field)).join(",");
        text += "\r\n";
    }
    text
}
