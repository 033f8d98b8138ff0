//! What the search for bottlenecks found, in words: the same for people and for programs.

use serde_json::{Value, json as object};
use topas_data::field::{FieldKind, FieldUnit};
use topas_findings::{
    BottleneckSearch, FactSource, FactValues, FindingLead, RuleFinding, ScantFinding,
};

use crate::finding::{json, saving, sentence, sentences, words};
use crate::mpi_views::{ChargedRank, WaitKind, starter};
use crate::number::{duration, percent};
use crate::wording::{count, hanging, named, paragraph, programs};

/// Schema of the JSON.
pub const SCHEMA: &str = "topas.why/1";

/// Columns by which lines under a number are indented.
const INDENT: usize = 3;

/// The run that was searched.
#[derive(Clone, Debug, Default)]
pub struct SearchedRun {
    /// Id of the launch
    pub id: Box<[u8]>,
    /// Program
    pub exe: Box<[u8]>,
    /// Those of further ranks that run other programs
    pub other_exes: Vec<Box<[u8]>>,
    /// Scripts that it ran, if it is an interpreter and they are known
    pub scripts: Vec<String>,
    /// Ranks or PEs
    pub pes: u64,
    /// Wall clock time in s
    pub wall: f64,
    /// Lines of PEs were read
    pub has_pes: bool,
    /// A profile of MPI calls was read
    pub has_profile: bool,
    /// An event log was read
    pub has_log: bool,
    /// Its event log cannot be read in full, and nothing of it was used
    pub is_log_damaged: bool,
    /// A replay of its event log takes much of the time in MPI as it was measured
    pub is_replay_partial: bool,
    /// Its profile is what its ranks left when they ended without a word
    pub is_left: bool,
    /// That measuring was paused for a part of the run: a sentence
    pub paused: Option<String>,
    /// What started the world of the run, if ranks of another world did: a sentence
    pub origin: Option<String>,
    /// What is to be said before all findings; None of a run that went to its end
    pub standing: Option<StandingRun>,
    /// Worlds that its ranks started, and those that they started, in the order of the calls
    pub worlds: Vec<SearchedWorld>,
}

/// A run that goes on, or of which ranks were lost.
#[derive(Clone, Debug, Default)]
pub struct StandingRun {
    /// It runs: figures are of until now
    pub runs: bool,
    /// Some rank has gone on lately, or before the end. If none has, nothing is told of what costs time
    pub goes_on: bool,
    /// In which calls ranks have been for long, and which were lost: sentences
    pub words: Option<String>,
    /// That ranks share processors: a sentence
    pub shares_processors: Option<String>,
}

impl StandingRun {
    /// In paragraphs.
    fn text(&self, columns: usize) -> String {
        let mut said: Vec<&str> = Vec::new();
        if self.runs {
            said.push("The program still runs: figures are of until now.");
        }
        said.extend(self.words.as_deref());
        said.extend(self.shares_processors.as_deref());
        if !self.goes_on {
            said.push(match self.runs {
                true => "What costs time is not searched for while calls do not end.",
                false => "What costs time is not searched for where no call has ended for so long.",
            });
        }
        said.iter().map(|one| paragraph(one, columns) + "\n").collect()
    }

    fn value(&self) -> Value {
        object!({ "running": self.runs, "goes_on": self.goes_on, "sentence": self.words })
    }
}

/// A world of spawned processes.
#[derive(Clone, Debug, Default)]
pub struct SearchedWorld {
    /// The world itself
    pub run: SearchedRun,
    /// Its number: the run has 1
    pub number: usize,
    /// The world whose rank started it
    pub parent: usize,
    /// That rank, or those of which one did, in words
    pub starter: String,
    /// That rank; None if several may have started it
    pub rank: Option<u32>,
    /// The routine, and from where it was called; None if several calls are possible that differ
    pub call: Option<String>,
    /// What was found in it
    pub search: BottleneckSearch,
}

/// Worlds that are told to people.
const WORLDS: usize = 5;

/// What has to be run to know more.
fn ask(source: FactSource) -> &'static str {
    match source {
        FactSource::Pes => "topas-run --all-pe, or link by topas",
        FactSource::Mpi => "topas-run --mpi",
        FactSource::Waits => "topas-run --mpi=waits",
        FactSource::CallPaths => "topas-run --mpi=waits,paths",
        FactSource::EventLog => "topas-run --mpi=log,waits",
        FactSource::Log => "topas-stat --job",
    }
}

/// What is said first of the findings about the rank that is charged with the waits of a run of these facts.
pub fn lead(charged: &ChargedRank, facts: &FactValues) -> FindingLead {
    FindingLead {
        place: format!("rank {}", charged.rank),
        rules: match charged.kind {
            WaitKind::LateSender => &["late-senders"],
            WaitKind::LateReceiver => &["late-receivers", "busy-receivers"],
            WaitKind::Collective => &["late-to-collectives"],
        },
        words: charged
            .lead(tells_computing(facts, charged.rank), facts.get("origin_who").is_some()),
    }
}

/// Whether findings about waits say themselves how long a rank computes.
fn tells_computing(facts: &FactValues, rank: u32) -> bool {
    let names = |fact: String| named_rank(facts, &fact) == Some(rank);
    let has = |fact: String| facts.get(&fact).is_some();
    ["late", "latercv", "coll", "waits", "finalize"].into_iter().any(|kind| {
        names(format!("{kind}_who")) && has(format!("{kind}_who_computes"))
            || names(format!("{kind}_first")) && has(format!("{kind}_first_computes"))
            || names(format!("{kind}_origin"))
    })
}

/// Adds to facts of waits where in the source ranks wait for the rank in which these begin: `place` says that of a rank
/// and a kind of wait, in a sentence. What is said of the charged rank is not said again, and if it causes most of all
/// waits, those of its kind begin in it, too, unless they begin in another.
pub fn add_wait_places(
    facts: &mut FactValues,
    charged: Option<&ChargedRank>,
    mut place: impl FnMut(u32, Option<WaitKind>) -> Option<String>,
) {
    for (who, turns, to, kind) in [
        ("late_first", "late_turns", "late_where", Some(WaitKind::LateSender)),
        ("latercv_first", "latercv_turns", "latercv_where", Some(WaitKind::LateReceiver)),
        ("coll_first", "coll_turns", "coll_where", Some(WaitKind::Collective)),
        ("waits_first", "waits_turns", "waits_where", None),
    ] {
        if let Some(most) = charged.filter(|charged| charged.is_most)
            && kind.is_none_or(|kind| kind == most.kind)
            && facts.get(who).is_none()
        {
            facts.text(who, format!("rank {}", most.rank));
            facts.forget(turns);
        }
        // Of ranks that compute alike, and for which others wait alike, one is named.
        if let Some(most) = charged
            && kind.is_none_or(|kind| kind == most.kind)
            && named_rank(facts, who).is_some_and(|rank| most.as_long.contains(&rank))
        {
            facts.text(who, format!("rank {}", most.rank));
        }
        let Some(rank) = named_rank(facts, who) else { continue };
        if charged.is_some_and(|charged| charged.rank == rank && charged.is_probable) {
            continue;
        }
        let charged = charged.filter(|charged| charged.rank == rank && charged.place.is_some());
        if kind.is_none() && charged.is_some() {
            continue;
        }
        let said = charged.and_then(|charged| charged.place.as_ref());
        if let Some(words) = place(rank, kind).filter(|words| Some(words) != said) {
            facts.text(to, words);
        }
    }
}

/// The rank that a fact names.
pub fn named_rank(facts: &FactValues, fact: &str) -> Option<u32> {
    facts.get_text(fact)?.strip_prefix("rank ")?.parse().ok()
}

/// The words behind the number of a finding: what, where, what it costs, how sure.
pub fn title(finding: &RuleFinding) -> String {
    let mut text = finding.what.clone();
    if let Some(place) = &finding.place {
        text += &format!(", {}", words(place));
    }
    if let (Some(seconds), Some(share)) = (finding.seconds, finding.share) {
        text +=
            &format!(": it costs {} of the wall clock time, {}", percent(share), duration(seconds));
    }
    text + &format!(" ({})", finding.confidence.word())
}

/// What was seen too seldom to be sure of it.
fn seldom(one: &ScantFinding, columns: usize) -> String {
    let (title, sentence) = (title(&one.finding), sentence(&one.finding));
    paragraph(&format!("May be, {} only: {title}. {sentence}", seen_words(one)), columns)
}

/// What there was too little of to judge.
fn little(one: &ScantFinding) -> String {
    format!("{} ({})", one.finding.what, seen_words(one))
}

/// How little of it there was.
fn seen_words(ScantFinding { basis, seen, .. }: &ScantFinding) -> String {
    match basis.kind {
        FieldKind::Number(FieldUnit::Seconds) => {
            format!("{} of all ranks together", duration(*seen))
        }
        _ => format!("seen {}", count(*seen as u64, "time")),
    }
}

/// What was found, in few words: a paragraph for each finding, in lines of `columns`. These are the words of
/// [`text`], without the next step.
pub fn found(search: &BottleneckSearch, columns: usize) -> String {
    let told = |finding: &RuleFinding| {
        let told = sentences(&finding.sentence) + &saving(finding);
        paragraph(&format!("{}. {told}", title(finding)), columns)
    };
    search.findings.iter().map(told).collect()
}

/// The search as text in lines of `columns`.
pub fn text(run: &SearchedRun, search: &BottleneckSearch, columns: usize) -> String {
    let mut out = format!(
        "{}, {} PEs, {} of wall clock time, launch {}\n\n",
        programs(&run.exe, &run.other_exes, run.scripts.iter().map(String::as_str)),
        run.pes,
        duration(run.wall),
        named(&run.id)
    );
    for note in [&run.origin, &run.paused].into_iter().flatten() {
        out += &paragraph(note, columns);
        out.push('\n');
    }
    // How a PE ended is known by its line, also where its profile ends without a word.
    for urgent in search.beside.iter().filter(|beside| beside.urgent) {
        out += &(paragraph(&sentence(urgent), columns) + "\n");
    }
    out.extend(run.standing.as_ref().map(|standing| standing.text(columns)));
    for (number, finding) in (1..).zip(&search.findings) {
        let line = format!("{number}. {}", title(finding));
        out += &(hanging(&line, columns, INDENT).trim_end().to_owned() + "\n");
        let text = hanging(&sentence(finding), columns.saturating_sub(INDENT), 0);
        for line in text.lines() {
            out += &format!("{:INDENT$}{line}\n", "");
        }
        out.push('\n');
    }
    if let Some(nothing) = &search.nothing {
        out += &paragraph(&sentence(nothing), columns);
        out.push('\n');
    } else if search.findings.is_empty() && search.unsure.len() + search.seldom.len() > 0 {
        out += &paragraph("Nothing is sure to cost time, but something may:", columns);
        out.push('\n');
    }
    for unsure in &search.unsure {
        let line = format!("May be: {}. {}", title(unsure), sentence(unsure));
        out += &paragraph(&line, columns);
    }
    out.extend(search.seldom.iter().map(|one| seldom(one, columns)));
    for beside in search.beside.iter().filter(|beside| !beside.urgent) {
        out += &paragraph(&format!("Also: {}", sentence(beside)), columns);
    }
    if !search.ruled_out.is_empty() {
        out += &paragraph(&format!("Ruled out: {}.", search.ruled_out.join("; ")), columns);
    }
    // Of each kind of wait another share may be unknown; shares that read alike are told once.
    let reads_alike = |a: &f64, b: &f64| percent(a / 100.0) == percent(b / 100.0);
    for open in search.not_ruled_out.chunk_by(|(_, a), (_, b)| reads_alike(a, b)) {
        let Some((_, share)) = open.first() else { continue };
        let all: Vec<&str> = open.iter().map(|(what, _)| what.as_str()).collect();
        let line = format!(
            "Not ruled out, because it is not known for whom the ranks waited in {} of their time: {}.",
            percent(share / 100.0),
            all.join("; ")
        );
        out += &paragraph(&line, columns);
    }
    if !search.little.is_empty() {
        let all: Vec<String> = search.little.iter().map(little).collect();
        out += &paragraph(&format!("Too little to judge: {}.", all.join("; ")), columns);
    }
    for source in [
        FactSource::Pes,
        FactSource::Mpi,
        FactSource::Waits,
        FactSource::CallPaths,
        FactSource::EventLog,
        FactSource::Log,
    ] {
        let of = search.unknown.iter().filter(|(_, fact)| fact.source() == source);
        let of: Vec<&str> = of.map(|(what, _)| what.as_str()).collect();
        if !of.is_empty() {
            let kept = match source {
                FactSource::EventLog if run.is_log_damaged => {
                    "; the event log of this run is damaged"
                }
                FactSource::EventLog if run.is_replay_partial => {
                    "; of this run too much can only be replayed as it was measured"
                }
                FactSource::EventLog if run.is_left => {
                    "; if this run kept an event log, topas-mpi collect writes it"
                }
                _ => "",
            };
            let line = format!("Not known: {} ({} tells{kept}).", of.join("; "), ask(source));
            out += &paragraph(&line, columns);
        }
    }
    out + &worlds(run, columns)
}

/// The worlds that a run started, with what was found in each.
fn worlds(run: &SearchedRun, columns: usize) -> String {
    let mut out = String::new();
    for world in run.worlds.iter().take(WORLDS) {
        let SearchedRun { exe, other_exes, pes, wall, id, .. } = &world.run;
        let line = format!(
            "World {}: {}, {pes} PEs, {} of wall clock time, launch {}, started by {}{}.",
            world.number,
            programs(exe, other_exes, []),
            duration(*wall),
            named(id),
            starter(&world.starter, world.parent),
            world.call.as_ref().map_or_else(String::new, |call| format!(" by {call}")),
        );
        out += &format!("\n{}", hanging(&line, columns, INDENT).trim_end());
        out.push('\n');
        let columns = columns.saturating_sub(INDENT);
        let mut text = found(&world.search, columns);
        for unsure in &world.search.unsure {
            let line = format!("May be: {}. {}", title(unsure), sentences(&unsure.sentence));
            text += &paragraph(&line, columns);
        }
        text.extend(world.search.seldom.iter().map(|one| seldom(one, columns)));
        if text.is_empty() {
            text = paragraph("Nothing was found that costs it time.", columns);
        }
        for line in text.lines() {
            out += &format!("{:INDENT$}{line}\n", "");
        }
    }
    if run.worlds.len() > WORLDS {
        let line = format!(
            "{} more worlds were started: --json tells all of them, --launch ID searches one.",
            run.worlds.len() - WORLDS
        );
        out += &format!("\n{}", paragraph(&line, columns));
    }
    out
}

/// The same as an object of JSON.
pub fn value(run: &SearchedRun, search: &BottleneckSearch) -> Value {
    let name = |bytes: &[u8]| match bytes {
        [] => Value::Null,
        bytes => String::from_utf8_lossy(bytes).into(),
    };
    let unknown: Vec<Value> = search
        .unknown
        .iter()
        .map(|(what, fact)| object!({ "what": what, "fact": fact.name, "ask": ask(fact.source()) }))
        .collect();
    object!({
        "schema": SCHEMA,
        "launch": { "id": name(&run.id), "exe": name(&run.exe), "pes": run.pes, "wall_s": run.wall },
        "read": { "pes": run.has_pes, "mpi": run.has_profile, "log": run.has_log },
        "standing": run.standing.as_ref().map(StandingRun::value),
        "findings": search.findings.iter().map(json).collect::<Vec<_>>(),
        "unsure": search.unsure.iter().map(json).collect::<Vec<_>>(),
        "beside": search.beside.iter().map(json).collect::<Vec<_>>(),
        "nothing": search.nothing.as_ref().map(json),
        "ruled_out": search.ruled_out,
        "not_ruled_out": search.not_ruled_out.iter().map(|(what, _)| what).collect::<Vec<_>>(),
        "seldom": search.seldom.iter().map(seen_value).collect::<Vec<_>>(),
        "little": search.little.iter().map(seen_value).collect::<Vec<_>>(),
        "unknown": unknown,
        "worlds": run.worlds.iter().map(world).collect::<Vec<_>>(),
    })
}

fn seen_value(ScantFinding { finding, basis, seen }: &ScantFinding) -> Value {
    object!({ "finding": json(finding), "fact": basis.name, "seen": seen })
}

fn world(world: &SearchedWorld) -> Value {
    let mut one = value(&world.run, &world.search);
    one["number"] = world.number.into();
    one["started"] = object!({ "world": world.parent, "rank": world.rank, "call": world.call });
    one
}
