//! Lists of runs, a page at a time.

use std::cmp::Reverse;

use maud::{Markup, html};
use topas_data::{PeTime, RunRecord};
use topas_render::runs::{length, moment};
use topas_render::{csv_field, grouped, pe_hours};
use topas_store::{
    RunFilter, RunPosition, Store, StoreError, StoredRun, day_number, latest_runs, owners_of,
    shown_text, stored_text,
};

use crate::access::{Viewer, ViewerRole};
use crate::answer::{Answer, Web};
use crate::asked::{Asked, encoded, run_name};
use crate::layout;

/// Runs of a page.
const PAGE: usize = 50;

/// Runs of a download.
const DOWNLOAD: usize = 10_000;

/// Names in a query that choose runs.
const CHOICES: [&str; 8] = ["user", "all", "text", "exe", "job", "from", "to", "failed"];

/// A run of a list, as a row shows it.
struct ListedRun {
    stored: StoredRun,
    record: RunRecord,
}

/// A date such as 2026-11-22 as a number.
fn day(text: Option<&str>) -> Option<i64> {
    topas_data::parse_date(text?).ok().map(day_number)
}

/// What is asked for; None if it is not for this viewer.
struct Choice {
    /// Whose: None is everybody's
    owners: Option<Vec<String>>,
    filter: RunFilter,
    title: String,
}

fn choice(
    store: &mut dyn Store,
    viewer: &Viewer,
    asked: &Asked,
) -> Result<Option<Choice>, StoreError> {
    let stored = |name| asked.value(name).map(|text| stored_text(text.as_bytes()));
    let filter = RunFilter {
        owner: None,
        exe: stored("exe"),
        text: stored("text"),
        job: stored("job"),
        npes: None,
        from: day(asked.value("from")),
        to: day(asked.value("to")),
        failed: asked.value("failed").is_some(),
    };
    let (owners, title) = match (asked.value("all"), asked.value("user")) {
        (Some(_), _) if viewer.role >= ViewerRole::Support => (None, "All runs".to_owned()),
        (Some(_), _) => return Ok(None),
        (None, Some(user)) if user != viewer.name => {
            let user = stored_text(user.as_bytes());
            let mut owners = owners_of(store, &user)?;
            owners.retain(|owner| viewer.may_see(owner, &user));
            if owners.is_empty() {
                return Ok(None);
            }
            (Some(owners), format!("Runs of {}", shown_text(&user)))
        }
        (None, _) => {
            let mut owners = viewer.own.clone();
            if viewer.is_by_name() {
                owners.extend(owners_of(store, &stored_text(viewer.name.as_bytes()))?);
                owners.sort_unstable();
                owners.dedup();
            }
            (Some(owners), "My runs".to_owned())
        }
    };
    Ok(Some(Choice { owners, filter, title }))
}

impl Choice {
    /// The latest runs behind a position.
    fn runs(
        &self,
        store: &mut dyn Store,
        behind: Option<RunPosition>,
        most: usize,
    ) -> Result<Vec<StoredRun>, StoreError> {
        let Some(owners) = &self.owners else {
            return latest_runs(store, &self.filter, behind, most);
        };
        let mut runs = Vec::new();
        for owner in owners {
            // Each by itself, so that the store finds them in their order.
            let filter = RunFilter { owner: Some(owner.clone()), ..self.filter.clone() };
            runs.extend(latest_runs(store, &filter, behind, most)?);
        }
        runs.sort_by_key(|run| Reverse((run.last, run.id)));
        runs.truncate(most);
        Ok(runs)
    }
}

/// A list as a page or as data; None if it is not for this viewer.
pub fn answer(
    web: &Web,
    store: &mut dyn Store,
    viewer: &Viewer,
    asked: &Asked,
) -> Result<Option<Answer>, StoreError> {
    let Some(choice) = choice(store, viewer, asked)? else { return Ok(None) };
    let is_page = asked.path == "/runs";
    let most = if is_page { PAGE + 1 } else { DOWNLOAD };
    let behind = asked.value("behind").and_then(|text| {
        let (last, id) = text.split_once('.')?;
        Some(RunPosition { last: last.parse().ok()?, id: id.parse().ok()? })
    });
    let stored = choice.runs(store, behind, most)?;
    // What the store may not tell of another user is not told, whatever was asked for.
    let mut runs: Vec<ListedRun> = stored
        .into_iter()
        .filter(|run| viewer.may_see(&run.owner, &run.user))
        .filter_map(|stored| Some(ListedRun { record: stored.record()?, stored }))
        .collect();
    if runs.iter().any(|run| viewer.is_of_other(&run.stored.owner, &run.stored.user)) {
        web.note_view(viewer, &format!("list, {}", choice.title));
    }
    Ok(Some(match asked.path.as_str() {
        "/runs.csv" => Answer::data("text/csv; charset=utf-8", csv(&runs), "runs.csv"),
        "/runs.json" => Answer::data("application/json", json(&runs), "runs.json"),
        _ => {
            let more = runs.len() > PAGE;
            runs.truncate(PAGE);
            let body = page(&choice, viewer, asked, &runs, more);
            Answer::page(200, layout::page(&choice.title, Some(viewer), body))
        }
    }))
}

/// The query of the same choice, with something behind it.
fn query(asked: &Asked, more: &str) -> String {
    let mut parts: Vec<String> = CHOICES
        .iter()
        .filter_map(|name| Some(format!("{name}={}", encoded(asked.value(name)?))))
        .collect();
    parts.extend((!more.is_empty()).then(|| more.to_owned()));
    parts.join("&")
}

fn rate(record: &RunRecord) -> String {
    match record.comparable("mflops") {
        Some(rate) => format!("{rate:.1}"),
        None if record.accelerated => "not comparable".to_owned(),
        None => "not measured".to_owned(),
    }
}

fn page(choice: &Choice, viewer: &Viewer, asked: &Asked, runs: &[ListedRun], more: bool) -> Markup {
    let value = |name: &str| asked.value(name).unwrap_or_default();
    let data = |form: &str| format!("/runs.{form}?{}", query(asked, ""));
    let next = runs.last().filter(|_| more).map(|run| {
        let behind = format!("behind={}.{}", run.stored.last, run.stored.id);
        format!("/runs?{}", query(asked, &behind))
    });
    let others = choice.owners.is_none();
    html! {
        form method="get" action="/runs" role="search" aria-label="Choose runs" {
            @for name in ["user", "all"] {
                @if let Some(value) = asked.value(name) { input type="hidden" name=(name) value=(value); }
            }
            label { "Program or job" input name="text" value=(value("text")); }
            label { "From day" input name="from" type="date" value=(value("from")); }
            label { "To day" input name="to" type="date" value=(value("to")); }
            label class="row" {
                input name="failed" type="checkbox" value="1" checked[asked.value("failed").is_some()];
                "Ended badly only"
            }
            button { "Show" }
        }
        @if viewer.role == ViewerRole::Lead || viewer.role >= ViewerRole::Support {
            form method="get" action="/runs" aria-label="Runs of another user" {
                label { "Runs of user" input name="user" value=(value("user")); }
                button { "Show" }
            }
        }
        @if runs.is_empty() {
            p { "No runs match. A run is here some minutes after its end, when the log was read." }
        } @else {
            form method="get" action="/compare" aria-label="Runs" {
                div class="wide" tabindex="0" role="region" aria-label="Table of runs" {
                    table {
                        thead { tr {
                            th scope="col" { "Ended" }
                            @if others { th scope="col" { "User" } }
                            th scope="col" { "Program" }
                            th scope="col" { "Job" }
                            th scope="col" class="n" { "PEs" }
                            th scope="col" class="n" { "Wall" }
                            th scope="col" class="n" { "PE-h" }
                            th scope="col" class="n" { "MFlop/s per PE" }
                            th scope="col" { "End" }
                            th scope="col" { "Compare" }
                        } }
                        tbody { @for (at, run) in runs.iter().enumerate() { (row(run, others, at)) } }
                    }
                }
                button { "Compare two" }
            }
            p { a href=(data("csv")) { "CSV" } " " a href=(data("json")) { "JSON" }
                @if let Some(next) = next { " " a href=(next) rel="next" { "Older runs" } }
            }
        }
    }
}

fn row(run: &ListedRun, others: bool, at: usize) -> Markup {
    let (stored, record) = (&run.stored, &run.record);
    let name = run_name(stored.launch, stored.id);
    let job = if stored.job.is_empty() { "-".to_owned() } else { shown_text(&stored.job) };
    // What a screen reader calls the choices of this row.
    let called = format!(
        "run {} of the table, {}, {}",
        at + 1,
        shown_text(&stored.exe),
        moment(record.ended)
    );
    html! { tr {
        td { a href={ "/run/" (name) } { (moment(record.ended)) } }
        @if others { td class="t" { (shown_text(&stored.user)) } }
        td class="t" { (shown_text(&stored.exe)) }
        td class="t" { (job) }
        td class="n" { @match record.npes { Some(npes) => (npes), None => "not told" } }
        td class="n" { (length(record.wall.into())) }
        td class="n" { (grouped(&pe_hours(PeTime(record.pe_micros)))) }
        td class="n" { (rate(record)) }
        td { @match stored.ending {
            -1 => "not known",
            0 => "normal",
            _ => span class="bad" { "bad" },
        } }
        td {
            @for (letter, first) in [("A", 0), ("B", 1)] {
                label class="row" {
                    input type="radio" name=(letter.to_ascii_lowercase()) value=(name) checked[at == first]
                        aria-label={ (letter) ": " (called) };
                    (letter)
                }
            }
        }
    } }
}

fn csv(runs: &[ListedRun]) -> String {
    let mut text =
        String::from("ended,user,exe,job,pes,wall_s,pe_hours,mflops_per_pe,ending,run\r\n");
    for run in runs {
        let (stored, record) = (&run.stored, &run.record);
        let fields = [
            moment(record.ended),
            shown_text(&stored.user),
            shown_text(&stored.exe),
            shown_text(&stored.job),
            record.npes.map_or_else(String::new, |npes| npes.to_string()),
            (record.wall as f64 / 1e6).to_string(),
            PeTime(record.pe_micros).hours().to_string(),
            record.comparable("mflops").map_or_else(String::new, |rate| rate.to_string()),
            if stored.ending < 0 { String::new() } else { stored.ending.to_string() },
            run_name(stored.launch, stored.id),
        ];
        text += &fields.map(|field| csv_field(&field)).join(",");
        text += "\r\n";
    }
    text
}

fn json(runs: &[ListedRun]) -> String {
    let mut all = Vec::new();
    for run in runs {
        let (stored, record) = (&run.stored, &run.record);
        all.push(serde_json::json!({
            "ended": moment(record.ended),
            "user": shown_text(&stored.user),
            "exe": shown_text(&stored.exe),
            "job": (!stored.job.is_empty()).then(|| shown_text(&stored.job)),
            "pes": record.npes,
            "wall_s": record.wall as f64 / 1e6,
            "pe_hours": PeTime(record.pe_micros).hours(),
            "mflops_per_pe": record.comparable("mflops"),
            "ending": (stored.ending >= 0).then_some(stored.ending),
            "run": run_name(stored.launch, stored.id),
        }));
    }
    format!("{}\n", serde_json::json!({ "schema": "topas.web.runs/1", "runs": all }))
}
