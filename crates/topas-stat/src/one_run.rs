//! `topas-stat --job` and `--run`.

use topas_config::{Conf, Environment};
use topas_data::{
    FoundRuns, Inputs, OwnLines, Resources, RunHistory, RunName, RunRecord, RunSearch,
    earlier_runs, find_runs,
};
use topas_findings::{RuleFinding, Rules, run_facts};
use topas_format::shown::Shown;
use topas_mpi_data::{MpiProfile, read_launch_profiles};
use topas_render::one_run::{KnownRun, RunReport, not_found};
use topas_terminal::{Printed, Progress};

use crate::args::StatOptions;
use crate::form::Format;
use crate::message::{self, TOOL};
use crate::output::text_width;
use crate::reading::{self, failed, inputs, resources};
use crate::{asked, exit};

/// Runs that are told in words, the latest; of more than that only the overview is shown.
const MOST_TOLD: usize = 3;

/// Tells the runs of a name: the exit code. The Err is one, too, and the reason has been said.
pub fn run(line: &StatOptions, name: RunName, env: &Environment) -> Result<u8, u8> {
    let as_json = match line.output.form.chosen() {
        _ if line.output.svg.is_some() || line.output.png.is_some() => {
            return Err(asked::wrong("one run has no picture", "leave out --svg and --png"));
        }
        Format::Json => true,
        Format::Text => false,
        _ => {
            let what = "one run is told as text or json";
            return Err(asked::wrong(what, "--runs lists runs in more forms"));
        }
    };
    let search = RunSearch {
        name,
        selection: asked::selection(&line.selection)?,
        own: line.selection.mine.then(OwnLines::of_caller),
        period: asked::period(&line.selection)?,
    };
    let resources = resources(line, env)?;
    let mut inputs = inputs(line, search.own.as_ref(), env)?;
    reading::keep_stdin(&mut inputs, &resources, line.quiet)?;
    inputs.failed.iter().for_each(failed);
    let mut progress = Progress::new(TOOL, line.quiet);
    let looking = Looking { search: &search, inputs: &inputs, resources: &resources };
    let found = looking.find(&mut progress)?;
    found.failed.iter().for_each(failed);
    if !line.quiet {
        message::passed_over(&inputs);
        message::skipped(&found.tally);
    }
    let unreadable = inputs.failed.len() + found.failed.len();
    let (what, id) = match &search.name {
        RunName::Job(id) => ("job", id),
        RunName::Id(id) => ("launch", id),
    };
    let name = format!("{what} {}", Shown(id));
    if found.runs.is_empty() {
        let (what, hint) = not_found(&name, &search.name, &found, &inputs);
        TOOL.error(&what, None, &hint);
        return Ok(if unreadable > 0 { exit::INPUT } else { exit::NO_RUNS });
    }
    let told = if found.runs.len() <= MOST_TOLD { &found.runs[..] } else { &[] };
    let earlier = looking.earlier(told, &mut progress)?;
    let profiles: Vec<Option<MpiProfile>> = match found.tally.profile {
        0 => told.iter().map(|_| None).collect(),
        _ => told.iter().map(|run| looking.profile(run, &mut progress)).collect(),
    };
    progress.clear();
    let rules = rules(line.quiet, env);
    let both = || earlier.iter().zip(&profiles);
    let found_in =
        |(facts, (earlier, profile)): (&RunRecord, (&Option<RunHistory>, &Option<_>))| {
            rules.of_run(&run_facts(facts, earlier.as_ref(), profile.as_ref()))
        };
    let findings: Vec<Vec<RuleFinding>> = told.iter().zip(both()).map(found_in).collect();
    let known: Vec<KnownRun<'_>> = told
        .iter()
        .zip(both().zip(&findings))
        .map(|(facts, ((earlier, profile), findings))| KnownRun {
            facts,
            earlier: earlier.as_ref(),
            profile: profile.as_ref(),
            findings,
        })
        .collect();
    let report = RunReport { name: &name, all: &found.runs, told: &known };
    let text = if as_json { report.json() } else { report.text(text_width(&line.output, env)) };
    let printed = TOOL.print(text.as_bytes());
    Ok(if printed == Printed::Failed || unreadable > 0 { exit::INPUT } else { exit::OK })
}

/// The rules with those of the site; what is wrong with these is said, unless errors alone are
/// wanted.
fn rules(quiet: bool, env: &Environment) -> Rules {
    let site = Conf::of_this_program(env).site_rules();
    let (rules, faults) = Rules::with(&site.texts);
    if !quiet {
        TOOL.faulty_rules(&site, &faults);
    }
    rules
}

/// What is read, more than once.
struct Looking<'l> {
    search: &'l RunSearch,
    inputs: &'l Inputs,
    resources: &'l Resources,
}

impl Looking<'_> {
    fn find(&self, progress: &mut Progress) -> Result<FoundRuns, u8> {
        let sources = &self.inputs.sources;
        let found = find_runs(sources, self.search, self.resources, |place| {
            progress.at(|| reading::words(place, sources.len()));
        });
        progress.clear();
        found.map_err(|error| reading::no_answer(&error))
    }

    fn earlier(
        &self,
        told: &[RunRecord],
        progress: &mut Progress,
    ) -> Result<Vec<Option<RunHistory>>, u8> {
        let sources = &self.inputs.sources;
        let of = |run: &RunRecord| {
            let earlier = earlier_runs(sources, self.search, run, self.resources, |place| {
                progress.at(|| reading::words(place, sources.len()));
            });
            earlier.map_err(|error| reading::no_answer(&error))
        };
        told.iter().map(of).collect()
    }

    /// The MPI profile of a run: of its launch id and user, and of the time of the run.
    fn profile(&self, run: &RunRecord, progress: &mut Progress) -> Option<MpiProfile> {
        let (read, _) = read_launch_profiles(&self.inputs.sources, &run.id, &mut |bytes| {
            progress.at(|| format!("{} MB read for the MPI profile", bytes / 1_000_000));
        });
        read.profiles.into_iter().find(|profile| profile.is_of(run))
    }
}
