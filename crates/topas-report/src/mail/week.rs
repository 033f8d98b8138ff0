//! The week of all users: one reading for their runs, one for the runs of which something is to be
//! said, one for their MPI profiles.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use topas_config::{Conf, Environment, Paths};
use topas_data::{
    Account, Capacity, PeTime, Period, RunHistory, RunRecord, WeekPlan, WeekReport, WeekRunName,
    WeekUser, WeekUserId, week_runs,
};
use topas_findings::{Rules, run_facts};
use topas_format::civil::Date;
use topas_mpi_data::{Calibration, LaunchTimes, MpiProfile, ProfileSum};
use topas_render::asking::progress_words;
use topas_render::week::{WeekFinding, WeekMail, period_name};
use topas_terminal::Progress;

use super::MailArgs;
use super::recipient::Recipients;
use crate::reading::{ReportLog, no_answer};
use crate::{TOOL, exit};

/// Programs of a user that are looked at for findings, those with most PE-time.
const LOOKED_AT: usize = 5;

/// All that mails are made of.
pub struct MailWeek {
    /// Such as `2026-W47`
    pub name: String,
    /// Inputs that could not be read, or not to their end
    pub unreadable: usize,
    report: WeekReport<'static>,
    runs: HashMap<WeekUserId, Vec<(RunRecord, RunHistory, Option<usize>)>>,
    profiles: HashMap<WeekUserId, ProfileSum>,
    times_before: HashMap<WeekUserId, LaunchTimes>,
    launches: Vec<MpiProfile>,
    rules: Rules,
    calibration: Option<Calibration>,
    available: Option<PeTime>,
    available_before: Option<PeTime>,
    nothing: ProfileSum,
}

impl MailWeek {
    /// Reads the log. What is wrong is said; the Err is an exit code.
    pub fn read(
        args: &MailArgs,
        log: &ReportLog,
        env: &Environment,
        conf: &Conf,
    ) -> Result<Self, u8> {
        let Some(plan) = WeekPlan::new(args.period) else {
            TOOL.error(
                &"--period has no end",
                None,
                "name a week or a month: `last week`, 2026-10",
            );
            return Err(exit::USAGE);
        };
        // One plan for as long as the program runs.
        let plan: &'static WeekPlan = Box::leak(Box::new(plan));
        let answer = log.ask(plan, || WeekReport::new(plan))?;
        log.remark(&answer);
        let unreadable = log.inputs.failed.len() + answer.failed.len();
        let mut report = answer.fold;
        report.join(uid_of);
        let quiet = args.reading.quiet;
        let mut times_before: HashMap<WeekUserId, LaunchTimes> = HashMap::new();
        let mut launches = Vec::new();
        if answer.tally.profile > 0 {
            for profile in log.profiles(plan.before).profiles {
                times_before.entry(user_of(&profile)).or_default().add(&profile.total);
            }
            launches = log.profiles(args.period).profiles;
        }
        let capacity = Capacity::new(conf.capacity());
        let known_before = Period {
            since: plan.before.until.and_then(|until| match report.known_before() {
                0 => None,
                days => Some(Date::from_days(until.days() + 1 - days as i64)),
            }),
            until: plan.before.until,
        };
        let mut week = MailWeek {
            name: period_name(args.period),
            unreadable,
            report,
            runs: HashMap::new(),
            profiles: HashMap::new(),
            times_before,
            launches,
            rules: rules(quiet, conf),
            calibration: calibration(env),
            available: available(&capacity, args.period),
            available_before: available(&capacity, known_before),
            nothing: ProfileSum::default(),
        };
        week.sum_profiles();
        week.find_runs(args, log)?;
        Ok(week)
    }

    /// Users with runs in the week that were asked for, in order.
    pub fn chosen(&self, asked: &[String]) -> Vec<WeekUserId> {
        let mut ids: Vec<WeekUserId> = self
            .report
            .users
            .iter()
            .filter(|(_, user)| user.now.share.runs > 0)
            .map(|(id, _)| id.clone())
            .filter(|id| asked.is_empty() || asked.iter().any(|name| self.is_called(id, name)))
            .collect();
        ids.sort();
        ids
    }

    fn is_called(&self, id: &WeekUserId, name: &str) -> bool {
        match id {
            WeekUserId::Uid(uid) => {
                name.parse() == Ok(*uid)
                    || uid_of(name.as_bytes()) == Some(*uid)
                    || *self.name_of(id) == *name.as_bytes()
            }
            WeekUserId::Name(known) => **known == *name.as_bytes(),
        }
    }

    /// The name in the lines of a user.
    pub fn name_of(&self, id: &WeekUserId) -> &[u8] {
        self.report.users.get(id).map_or(b"", |user| &user.name)
    }

    /// A user in a message.
    pub fn described(&self, id: &WeekUserId) -> String {
        let name = topas_format::shown::Shown(self.name_of(id)).to_string();
        match id {
            WeekUserId::Uid(uid) => format!("user {name} (uid {uid})"),
            WeekUserId::Name(_) => format!("user {name} (no uid)"),
        }
    }

    /// PE-hours of a user in the week.
    pub fn pe_hours(&self, id: &WeekUserId) -> f64 {
        self.report.users.get(id).map_or(0.0, |user| user.now.share.time.hours())
    }

    /// What the mail of a user tells.
    pub fn values(&self, id: &WeekUserId, recipients: &Recipients) -> Value {
        let nobody = WeekUser::default();
        let user = self.report.users.get(id).unwrap_or(&nobody);
        let findings = self.findings(id);
        WeekMail {
            report: &self.report,
            id,
            user,
            name: &recipients.called(id, &user.name),
            week: &self.name,
            available: self.available,
            available_before: self.available_before,
            profiles: self.profiles.get(id).unwrap_or(&self.nothing),
            times_before: self.times_before.get(id).copied().unwrap_or_default(),
            calibration: self.calibration.as_ref(),
            findings: &findings,
            opt_out: &recipients.opt_out(),
        }
        .values()
    }

    /// What is to be said of the runs of a user, the urgent first, then what costs most. Of several
    /// runs with the same finding that with the highest cost is named.
    fn findings(&self, id: &WeekUserId) -> Vec<WeekFinding<'_>> {
        let mut by_rule: BTreeMap<String, WeekFinding<'_>> = BTreeMap::new();
        for (run, history, profile) in self.runs.get(id).into_iter().flatten() {
            let profile = profile.and_then(|at| self.launches.get(at));
            let facts = run_facts(run, Some(history), profile);
            for finding in self.rules.of_run(&facts) {
                let rule = finding.rule.clone();
                let found = WeekFinding { run, finding };
                let is_more = by_rule.get(&rule).is_none_or(|known| {
                    (found.cost(), found.run.pe_micros) > (known.cost(), known.run.pe_micros)
                });
                if is_more {
                    by_rule.insert(rule, found);
                }
            }
        }
        let mut all: Vec<WeekFinding<'_>> = by_rule.into_values().collect();
        all.sort_by(|a, b| {
            b.finding.urgent.cmp(&a.finding.urgent).then(b.cost().total_cmp(&a.cost()))
        });
        all
    }

    fn sum_profiles(&mut self) {
        for profile in &self.launches {
            self.profiles.entry(user_of(profile)).or_default().add(profile);
        }
    }

    /// The runs of each user of which something may be said.
    fn find_runs(&mut self, args: &MailArgs, log: &ReportLog) -> Result<(), u8> {
        let mut wanted: HashMap<WeekRunName, (WeekUserId, Box<[u8]>)> = HashMap::new();
        for id in self.chosen(&args.user) {
            let Some(user) = self.report.users.get(&id) else { continue };
            let mut programs: Vec<_> = user.programs.iter().collect();
            programs.sort_by_key(|(exe, of)| (std::cmp::Reverse(of.now.share.time), *exe));
            for (exe, program) in programs.into_iter().take(LOOKED_AT) {
                for name in program.notable() {
                    wanted.insert(name, (id.clone(), exe.clone()));
                }
            }
        }
        let names: Vec<WeekRunName> = wanted.keys().copied().collect();
        let sources = log.inputs.sources.len();
        let mut progress = Progress::new(TOOL, args.reading.quiet);
        let found = week_runs(&log.inputs, &names, &log.resources, |place| {
            progress.at(|| progress_words(place, sources));
        });
        progress.clear();
        for (name, run) in found.map_err(|error| no_answer(&error))? {
            let Some((id, exe)) = wanted.get(&name) else { continue };
            let program = self.report.users.get(id).and_then(|user| user.programs.get(exe));
            let history = program.map(|program| program.history(name, run.booked));
            let same = |profile: &MpiProfile| profile.facts.id == run.id && profile.is_of(&run);
            let profile = self.launches.iter().position(same);
            let runs = self.runs.entry(id.clone()).or_default();
            runs.push((run, history.unwrap_or_default(), profile));
        }
        for runs in self.runs.values_mut() {
            runs.sort_by_key(|(run, ..)| (std::cmp::Reverse(run.end), run.id.clone()));
        }
        Ok(())
    }
}

/// Whose launch a profile is of.
fn user_of(profile: &MpiProfile) -> WeekUserId {
    let facts = &profile.facts;
    match facts.uid.or_else(|| uid_of(&facts.user)) {
        Some(uid) => WeekUserId::Uid(uid),
        None => WeekUserId::Name(facts.user.clone()),
    }
}

/// The numeric id of a name, as the system knows it.
fn uid_of(name: &[u8]) -> Option<u64> {
    use std::os::unix::ffi::OsStrExt;
    let account = Account::of_name(std::ffi::OsStr::from_bytes(name))?;
    Some(account.uid.into())
}

/// The rules with those of the site; what is wrong with these is said.
fn rules(quiet: bool, conf: &Conf) -> Rules {
    let site = conf.site_rules();
    let (rules, faults) = Rules::with(&site.texts);
    if !quiet {
        TOOL.faulty_rules(&site, &faults);
    }
    rules
}

/// What routines of MPI cost on this machine, if that was measured.
pub fn calibration(env: &Environment) -> Option<Calibration> {
    let argv0 = topas_config::command_line().into_iter().next().unwrap_or_default();
    let path = Paths::of_this_program(&argv0, env)?.mpi_calibration();
    Calibration::read(&path).ok()
}

/// PE-time that the machine had in a period, by `capacity` of topas.conf.
pub fn available(capacity: &Capacity, period: Period) -> Option<PeTime> {
    capacity.of_days(period.since?, period.until?)
}
