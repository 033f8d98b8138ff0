//! The event log of a launch as a page of HTML in which its reader can move: time lines of all threads,
//! messages, and how long what took how often.
//!
//! This is the only page with a script. It is one file, works without a server and without a network,
//! and runs no script but its own.

mod damage;
mod index;
mod lacks;
mod words;

use data_encoding::BASE64;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use topas_format::shown::Shown;
use topas_mpi_data::{MpiProfile, TimeClass, Timeline, TimelineRow};

use crate::html::{self, section, wide};
use crate::mpi_views::PathViews;
use crate::number::grouped;
use words::Verdict;
pub use words::class_words;

/// The parts of the script, in the order in which they stand in the page.
const SCRIPTS: [&str; 10] = [
    include_str!("timeline/decode.js"),
    include_str!("timeline/data.js"),
    include_str!("timeline/picture.js"),
    include_str!("timeline/rows.js"),
    include_str!("timeline/histogram.js"),
    include_str!("timeline/drawing.js"),
    include_str!("timeline/ahead.js"),
    include_str!("timeline/details.js"),
    include_str!("timeline/steps.js"),
    include_str!("timeline/viewer.js"),
];

/// How the page looks, beside what all pages have.
const TIMELINE_STYLE: &str = include_str!("timeline/style.css");

/// Longer tables of ranks are closed at first.
const MOST_ROWS_SHOWN: usize = 128;

/// A log from which the page is made.
#[derive(Clone, Debug)]
pub struct LogFile {
    /// Its name, without directories
    pub name: String,
    /// Its length in B
    pub bytes: u64,
}

/// What the page is made of.
pub struct TimelinePage<'p> {
    /// The launch
    pub timeline: &'p Timeline<'p>,
    /// The logs, in the order in which they were read
    pub logs: &'p [LogFile],
    /// The blocks of all rows, row by row; None if the page is to open the logs itself
    pub blocks: Option<&'p [Vec<u8>]>,
    /// What is known of each world of the timeline beside its log
    pub worlds: &'p [PageWorld<'p>],
    /// That ranks shared processors, in a sentence; None if they did not, or nobody knows
    pub shares_processors: Option<String>,
}

/// What a page says of a world beside what the log tells.
#[derive(Clone, Default)]
pub struct PageWorld<'p> {
    /// A profile of the launch and its call paths, as far as these are known
    pub profile: Option<(&'p MpiProfile, Option<&'p PathViews>)>,
    /// The rank that started the world, as `rank 1` or `rank 0 of world 2`; None if a launcher did, or nobody knows
    pub started_by: Option<String>,
}

/// What is only allowed in the page: its own script and its own style.
fn policy(script: &str, style: &str) -> String {
    let hash = |text: &str| BASE64.encode(&Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; \
         form-action 'none'",
        hash(script),
        hash(style)
    )
}

impl TimelinePage<'_> {
    /// The page.
    pub fn html(&self) -> String {
        let timeline = self.timeline;
        let first = timeline.processes.first().map(|(_, process)| *process);
        let fact = |key: &str| {
            let text = first.map_or("", |process| process.facts.value(key));
            Shown(text.as_bytes()).to_string()
        };
        let all = timeline.ranks_of_launch();
        let ranks = crate::wording::count_of(timeline.processes.len() as u64, all, "rank");
        let worlds = match timeline.worlds.len() {
            0 | 1 => String::new(),
            worlds => format!(" in {worlds} worlds"),
        };
        let title = format!("{}: time line of {ranks}{worlds}", self.program(0));
        // In a block of its own, so that nothing else in the page has its names.
        let script = format!("\"use strict\";{{\n{}}}\n", SCRIPTS.concat());
        let style = html::style() + TIMELINE_STYLE;
        let verdict = Verdict::of(timeline, self.worlds);
        // A text in a script ends where `</` stands.
        let facts = index::facts(self, verdict.late).to_string().replace('<', "\\u003c");
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy(&script, &style));
                    meta name="viewport" content="width=device-width,initial-scale=1";
                    title { (title) " - TOPAS" }
                    style { (PreEscaped(&style)) }
                }
                body {
                    header {
                        h1 { (title) }
                        p.soft { (about(timeline, &fact("mpi"), &fact("id"))) }
                        @for words in words::before(self.worlds) {
                            p.finding { (words) }
                        }
                        @if let Some(words) = &verdict.words {
                            p.finding { (words) }
                        }
                        @if let Some(words) = lacks::coverage(timeline) {
                            p.finding { (words) }
                        }
                        @if let Some(words) = &self.shares_processors {
                            p { (words) }
                        }
                    }
                    main id="main" {
                        (section("lines-title", "Time lines", &html! { div.timeline { (self.lines(&verdict)) } }))
                        (section("durations-title", "How long a state took", &durations()))
                        script id="facts" type="application/json" { (PreEscaped(facts)) }
                        script id="index" type="text/plain" { (index::index(timeline)) }
                        @if let Some(blocks) = self.blocks {
                            script id="blocks" type="text/plain" {
                                @for block in blocks { (BASE64.encode(block)) "\n" }
                            }
                        }
                        script { (PreEscaped(&script)) }
                        (section("ranks-title", "The ranks in numbers", &ranks_in_numbers(timeline)))
                        @if !timeline.state_sums.is_empty() {
                            (section("states-title", "States that the program names", &words::states(timeline)))
                        }
                        (section("keys-title", "Mouse and keys", &keys()))
                    }
                    footer {
                        p.note {
                            "Made by topasview --timeline, a tool of TOPAS. This page is one file; its script \
                             opens no network."
                        }
                    }
                }
            }
        }
        .into_string()
    }

    /// The program of a world.
    fn program(&self, world: usize) -> String {
        let first = self.timeline.worlds.get(world).map(|world| world.first);
        let first = first.and_then(|first| self.timeline.processes.get(first));
        let exe = first.map_or("", |(_, process)| process.facts.value("exe"));
        let exe = match exe.rsplit('/').next() {
            Some(name) if !name.is_empty() => Shown(name.as_bytes()).to_string(),
            _ => "a program".to_owned(),
        };
        let profile = self.worlds.get(world).and_then(|world| world.profile);
        let scripts = profile.map(|(profile, _)| profile.scripts()).unwrap_or_default();
        crate::wording::with_scripts(exe.as_bytes(), scripts)
    }

    /// A world in words: its number, as topasview --why counts the worlds, its program, and who started it.
    fn world_words(&self, world: usize) -> String {
        let by = self.worlds.get(world).and_then(|world| world.started_by.as_ref());
        let by = by.map_or_else(String::new, |rank| format!(" (started by {rank})"));
        format!("World {}: {}{by}", self.world_number(world), self.program(world))
    }

    /// The number of a world, from 1 on.
    fn world_number(&self, world: usize) -> usize {
        words::world_number(self.timeline, world)
    }

    /// The picture and what is around it.
    fn lines(&self, verdict: &Verdict) -> Markup {
        let used =
            |class: &TimeClass| self.timeline.rows.iter().any(|row| row.times[*class as usize] > 0);
        html! {
            noscript { p { "The picture needs a browser with scripts. The table below has the numbers." } }
            @if self.blocks.is_none() {
                div #opener {
                    p {
                        "The page has the sums of the whole run. To see single calls, open "
                        @for (place, log) in self.logs.iter().enumerate() {
                            @if place > 0 { ", " }
                            b { (Shown(log.name.as_bytes())) } " (" (megabytes(log.bytes)) ")"
                        }
                        " here, or drop the file on the page. Only the parts that are in view are read, and \
                         nothing leaves this computer."
                    }
                    label { "Event log " input #file type="file" multiple; }
                }
            }
            (self.tools(verdict))
            div.legend role="group" aria-label="States: a button shows one alone, and how long it took" {
                @for class in TimeClass::ALL.into_iter().filter(used) {
                    button type="button" data-kind=(class as u8) aria-pressed="false" {
                        i class={ "k" (class as u8) } {}
                        (class_words(class)) " "
                        span {}
                    }
                }
            }
            p.note.shares {
                "The shares are of the time of the rows in view, each from its first call of MPI to its end."
            }
            div.picture {
                canvas #overview role="img" aria-label="The whole run, all ranks together; a frame shows what is in view" {}
                canvas #lines tabindex="0" role="application"
                    aria-label="Time lines of the ranks. Keys are told below; the table of the ranks has the numbers." {}
            }
            p.note #span {}
            output #status aria-live="polite" {}
            div #call hidden {
                button #close type="button" { "Close" }
                dl {}
            }
            @for note in words::notes(self.timeline) { p.note { (note) } }
        }
    }

    /// What moves in the picture, and what it shows.
    fn tools(&self, verdict: &Verdict) -> Markup {
        html! {
            div.tools #tools hidden {
                button #in type="button" title="Zoom in (+)" { "Zoom in" }
                button #out type="button" title="Zoom out (-)" { "Zoom out" }
                button #whole type="button" title="Whole run (Home)" { "Whole run" }
                @if let Some(row) = verdict.late {
                    button #late type="button" { "Go to rank " (words::rank_of(self.timeline, row)) }
                }
                button #taller type="button" title="Higher rows (>)" { "Higher rows" }
                button #lower type="button" title="Lower rows (<)" { "Lower rows" }
                label {
                    "Sort by "
                    select #sort {
                        option value="rank" { "rank" }
                        option value="caused" { "delays of others" }
                        option value="wait" { "time waited" }
                        option value="mpi" { "time in MPI" }
                        option value="outside" { "time computing" }
                    }
                }
                label { input #group type="checkbox"; " by host" }
                label { input #messages type="checkbox" checked; " messages" }
                @if !self.timeline.states.is_empty() {
                    label { input #named type="checkbox" checked; " states of the program" }
                }
            }
        }
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// The table of the ranks. A browser needs long to lay out a thousand rows, and does so when they are asked for.
fn ranks_in_numbers(timeline: &Timeline<'_>) -> Markup {
    html! {
        p.note {
            "Times in seconds (s), and as a share of the time of the launch. Of a rank, the classes add up to \
             the time from its first call of MPI to its end."
        }
        @if timeline.rows.len() <= MOST_ROWS_SHOWN { (words::table(timeline)) } @else {
            details {
                summary { "The numbers of all " (crate::wording::count(timeline.rows.len() as u64, "row")) }
                (words::table(timeline))
            }
        }
    }
}

/// The launch in a line.
fn about(timeline: &Timeline<'_>, mpi: &str, id: &str) -> String {
    let calls: u64 = timeline.rows.iter().map(TimelineRow::counted_calls).sum();
    let mut hosts: Vec<&str> =
        timeline.processes.iter().map(|(_, process)| process.facts.value("host")).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let mut parts = vec![
        crate::wording::count(hosts.len() as u64, "host"),
        format!("{:.3} s from the first call of MPI to the last", timeline.ended as f64 / 1e9),
    ];
    let plural = if calls == 1 { "" } else { "s" };
    parts.push(format!("{} call{plural}", grouped(&calls.to_string())));
    parts.extend((!mpi.is_empty()).then(|| mpi.to_owned()));
    parts.extend((!id.is_empty()).then(|| format!("launch {id}")));
    parts.join(", ")
}

/// The histogram and its controls.
fn durations() -> Markup {
    html! {
        div.tools {
            label {
                "State "
                select #state {
                    option value="" { "none" }
                    optgroup label="Classes of time" {
                        @for class in TimeClass::ALL {
                            option value={ "class " (class as u8) } { (class_words(class)) }
                        }
                    }
                    optgroup #routines label="Routines" {}
                }
            }
            label { "Bins " input #bins type="range" min="5" max="120" value="40"; " " output #bincount { "40" } }
            label {
                "Scale "
                select #scale {
                    option value="log" { "logarithmic" }
                    option value="linear" { "linear" }
                }
            }
            label {
                "Bars "
                select #amount {
                    option value="count" { "how often" }
                    option value="time" { "time together" }
                }
            }
            button #readall type="button" hidden { "Read them" }
        }
        p #summary aria-live="polite" {}
        div #durations hidden {
            canvas #histogram role="img" aria-label="Histogram of durations; the table below has its numbers" {}
            p { "The longest:" }
            ol.longest #longest {}
            details {
                summary { "The histogram in numbers" }
                (wide("The histogram in numbers", &html! {
                    table {
                        thead { tr {
                            th scope="col" { "from" } th scope="col" { "to" }
                            th scope="col" { "how often" } th scope="col" { "time together" }
                        } }
                        tbody #bintable {}
                    }
                }))
            }
        }
    }
}

fn keys() -> Markup {
    let rows = [
        ("wheel, + and -", "zoom in time, around the pointer or the middle"),
        ("drag, left and right", "move in time; dragging moves rows, too"),
        ("Shift and wheel, > and <", "higher and lower rows"),
        ("double click", "zoom in at a place"),
        ("click", "details of a call: routine, partner, tag, bytes, path"),
        ("n and p", "next and previous call of the row; the view follows"),
        ("up and down", "next row; the line below the picture tells its numbers"),
        ("m", "messages as arrows, or not; they are drawn while they are few"),
        ("Home", "the whole run"),
        ("click in the strip above", "go there"),
    ];
    html! {
        p.note {
            "In each column of a row, states stand above one another by their shares of the time of the column: \
             the longer the part of the picture, the longer the state."
        }
        (wide("Mouse and keys", &html! {
            table {
                thead { tr { th.l scope="col" { "Do" } th.l scope="col" { "What happens" } } }
                tbody { @for (key, what) in rows { tr { td.l { (key) } td.list { (what) } } } }
            }
        }))
    }
}
