//! What the mails of a week are made from: the runs of each user in that week, the weeks before it,
//! and the runs of others that they can be compared with.
//!
//! One reading of the log serves all users. A second one fetches the few runs of which something
//! is to be said ([`week_runs`]).

mod runs;
mod user;

pub use runs::week_runs;
pub use user::{Reference, WeekProgram, WeekRunName, WeekSums, WeekUser, WeekUserId};

use rustc_hash::FxHashMap;
use topas_format::civil::Date;
use topas_format::line::{Extras, Line};

use crate::field::{ENDED_WELL, Field, FieldKind, MILLION, Value, label};
use crate::key_parts::{self, KeyParts};
use crate::measure::{Measure, Of};
use crate::period::{Period, both_days};
use crate::question::{Fold, Question};
use crate::run::{Detail, Run};
use crate::share::Share;

/// Weeks before the one that is told, as its own history.
pub const WEEKS_BEFORE: i64 = 4;

/// A figure of a group of users is told only if it has so many of others: fewer could be known by
/// what they ran.
pub const LEAST_OTHERS: usize = 5;

/// The place of the share of time in MPI behind the measures of the plan.
pub const MPI_SHARE: usize = 2;

/// The fields that are kept of each line, in the order of its key.
const FIELDS: [&str; 7] = ["user", "uid", "exe", "lang", "npes_class", "gpu", "ending"];

/// The week that is told, and the time before it.
#[derive(Clone, Debug)]
pub struct WeekPlan {
    /// The week, or another time with both ends
    pub week: Period,
    /// [`WEEKS_BEFORE`] times as long, and directly before it
    pub before: Period,
    fields: Vec<Field>,
    measures: [&'static Measure; 2],
    mpi_share: &'static Measure,
}

impl WeekPlan {
    /// Of a time that has both ends; None if it does not.
    pub fn new(week: Period) -> Option<Self> {
        let (since, until) = (week.since?, week.until?);
        let length = until.days() - since.days() + 1;
        let first = since.days() - WEEKS_BEFORE * length;
        let before = Period {
            since: Some(Date::from_days(first)),
            until: Some(Date::from_days(since.days() - 1)),
        };
        let measures = [Measure::named("mflops").ok()?, Measure::named("l1_per_op").ok()?];
        let mpi_share = Measure::named("mpi_share").ok()?;
        let fields = FIELDS.iter().filter_map(|name| Field::named(name).ok()).collect();
        Some(WeekPlan { week, before, fields, measures, mpi_share })
    }

    /// The measures that sums have: the rate of floating point operations, and the cache misses by
    /// these.
    pub fn measures(&self) -> [&'static Measure; 2] {
        self.measures
    }

    /// What runs are compared by: the measures, and behind them the share of time in MPI. Sums of
    /// that come from whole profiles.
    fn compared(&self) -> [&'static Measure; 3] {
        let [rate, misses] = self.measures;
        [rate, misses, self.mpi_share]
    }

    /// How long the told time is, in days.
    pub fn days(&self) -> u64 {
        let ends = self.week.since.zip(self.week.until);
        ends.map_or(0, |(since, until)| (until.days() - since.days() + 1).max(0) as u64)
    }

    fn both(&self) -> Period {
        Period { since: self.before.since, until: self.week.until }
    }

    fn part<'k>(&self, run: &Run<'k>, name: &str) -> Option<&'k [u8]> {
        let at = FIELDS.iter().position(|known| *known == name)?;
        KeyParts(run.key).nth(at).flatten()
    }
}

impl Question for WeekPlan {
    fn detail(&self) -> Detail {
        self.compared().iter().map(|measure| measure.detail).max().unwrap_or_default()
    }

    fn reads_profiles(&self) -> bool {
        true
    }

    fn wants(&self, line: &Line<'_>, _extras: Extras<'_>) -> bool {
        self.both().is_near(line.date)
    }

    fn key(&self, line: &Line<'_>, extras: Extras<'_>, key: &mut Vec<u8>) {
        for field in &self.fields {
            key_parts::write(&field.value(line, extras), key);
        }
    }
}

/// The runs of a week by user.
#[derive(Clone, Debug)]
pub struct WeekReport<'p> {
    plan: &'p WeekPlan,
    /// All runs of the week
    pub total: Share,
    /// All runs of the time before
    pub total_before: Share,
    /// Days of the first and the last run of the week
    pub days: Option<(Date, Date)>,
    /// The same of the time before, of the runs of all users
    pub days_before: Option<(Date, Date)>,
    /// Users with runs in the week or before, by who they are
    pub users: FxHashMap<WeekUserId, WeekUser>,
}

impl<'p> WeekReport<'p> {
    /// No runs yet.
    pub fn new(plan: &'p WeekPlan) -> Self {
        let users = FxHashMap::default();
        WeekReport {
            plan,
            total: Share::default(),
            total_before: Share::default(),
            days: None,
            days_before: None,
            users,
        }
    }

    /// What is told.
    pub fn plan(&self) -> &'p WeekPlan {
        self.plan
    }

    /// The days before the week that the log knows: from the first with a run of anybody. 0 if the
    /// log begins with the week.
    pub fn known_before(&self) -> u64 {
        let days = self.days_before.zip(self.plan.before.until);
        days.map_or(0, |((first, _), until)| (until.days() - first.days() + 1).max(0) as u64)
    }

    /// Joins users that the lines name in two ways: `uid_of` knows the id of a name.
    pub fn join(&mut self, uid_of: impl Fn(&[u8]) -> Option<u64>) {
        let named: Vec<WeekUserId> =
            self.users.keys().filter(|id| matches!(id, WeekUserId::Name(_))).cloned().collect();
        for id in named {
            let WeekUserId::Name(name) = &id else { continue };
            let Some(uid) = uid_of(name) else { continue };
            if let Some(user) = self.users.remove(&id) {
                self.users.entry(WeekUserId::Uid(uid)).or_default().merge(user);
            }
        }
    }

    /// What others reach in the same class in the week, by the place of a measure of the plan, or
    /// [`MPI_SHARE`]; None if fewer than [`LEAST_OTHERS`] other users have a value.
    pub fn reference(&self, user: &WeekUserId, class: &[u8], place: usize) -> Option<Reference> {
        let others = self.users.iter().filter(|(id, _)| *id != user);
        let values: Vec<&Vec<f64>> = others
            .filter_map(|(_, other)| other.classes.get(class)?.values.get(place))
            .filter(|values| !values.is_empty())
            .collect();
        (values.len() >= LEAST_OTHERS).then(|| Reference::of(&values))
    }
}

impl Fold for WeekReport<'_> {
    fn add(&mut self, run: &Run<'_>) {
        let in_week = self.plan.week.contains(run);
        if !in_week && !self.plan.before.contains(run) {
            return;
        }
        let share = run.pe_micros();
        match in_week {
            true => {
                self.total.add(share);
                self.days = both_days(self.days, Some((run.date, run.date)));
            }
            false => {
                self.total_before.add(share);
                self.days_before = both_days(self.days_before, Some((run.date, run.date)));
            }
        }
        let plan = self.plan;
        let text = |name: &str| plan.part(run, name).unwrap_or_default();
        let uid =
            plan.part(run, "uid").and_then(|key| match Value::of_key(FieldKind::Day, true, key) {
                Value::Number(n) => u64::try_from(n / MILLION).ok(),
                _ => None,
            });
        let id = match uid {
            Some(uid) => WeekUserId::Uid(uid),
            None => WeekUserId::Name(text("user").into()),
        };
        let user = self.users.entry(id).or_default();
        user.see_name(text("user"));
        let ended = ended(plan, run);
        let accelerated = plan.part(run, "gpu").is_some();
        // What an accelerator computes is in no count of the processor, but MPI is timed there, too.
        let values =
            plan.compared().map(|measure| match accelerated && measure != plan.mpi_share {
                true => Of::Uncounted,
                false => measure.of(run),
            });
        let sums = WeekRunValues { plan, run, values: &values, accelerated, ended };
        user.add(&sums, in_week, text("exe"), &class(plan, run));
    }

    fn merge(&mut self, other: Self) {
        self.total = self.total.plus(other.total);
        self.total_before = self.total_before.plus(other.total_before);
        self.days = both_days(self.days, other.days);
        self.days_before = both_days(self.days_before, other.days_before);
        for (id, user) in other.users {
            self.users.entry(id).or_default().merge(user);
        }
    }
}

/// What sums need of a run.
struct WeekRunValues<'r, 'k> {
    plan: &'r WeekPlan,
    run: &'r Run<'k>,
    /// By [`WeekPlan::compared`]
    values: &'r [Of; 3],
    accelerated: bool,
    /// Whether it ended well; None if it does not tell
    ended: Option<bool>,
}

/// Whether a run ended well: every line that tells its end does.
fn ended(plan: &WeekPlan, run: &Run<'_>) -> Option<bool> {
    let at = FIELDS.iter().position(|known| *known == "ending")?;
    debug_assert_eq!(plan.fields.len(), FIELDS.len());
    let told = run.pes.iter().filter_map(|pe| {
        let part = KeyParts(run.key_of(pe)).nth(at).flatten()?;
        match Value::of_key(FieldKind::Class(&[]), true, part) {
            Value::Number(n) => Some(n == i128::from(ENDED_WELL) * MILLION),
            _ => None,
        }
    });
    told.reduce(|one, other| one && other)
}

/// What runs are comparable by, as people read it: language and number of PEs.
fn class(plan: &WeekPlan, run: &Run<'_>) -> Vec<u8> {
    let lang = plan.part(run, "lang").map_or("-".into(), String::from_utf8_lossy);
    let npes = plan.part(run, "npes_class");
    let npes = Value::of_key(FieldKind::PowerOfTwo, npes.is_some(), npes.unwrap_or_default());
    format!("{lang}, {} PEs", label(FieldKind::PowerOfTwo, &npes)).into_bytes()
}
