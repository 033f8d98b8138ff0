//! The plan: what the stand-in answers to which event.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::errno;
use super::kernel::KernelEvent;

/// Time a played event has been enabled, in ns.
pub const TIME_ENABLED: u64 = 2_000_000_000;
/// Time a just opened event has been enabled, in ns.
pub const TIME_FRESH: u64 = 1_000;

/// Names a plan may use for the `type` of an event.
const KINDS: &[(&str, u32)] = &[
    ("hardware", 0),
    ("software", 1),
    ("tracepoint", 2),
    ("cache", 3),
    ("raw", 4),
    ("breakpoint", 5),
];

/// What a process gets that opens an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PmuAnswer {
    /// A descriptor whose reads show a count.
    Count {
        /// The count as if the event had always been on a counter. What a read shows is
        /// `value * running_per_mille / 1000`, rounded down.
        value: u64,
        /// Share of the enabled time the event was on a counter, 0 to 1000 per mille.
        /// With 0 it was never scheduled: value and time running are 0.
        running_per_mille: u16,
    },
    /// A descriptor whose reads return 0 bytes, as a pinned event in error state.
    Unreadable,
    /// The call fails with this error number.
    Refuse(i32),
    /// The kernel carries out the call.
    Kernel,
    /// A real event of the kernel with the same flags in place of this one.
    Other(KernelEvent),
}

impl PmuAnswer {
    /// A count of an event that was on a counter all the time.
    pub const fn count(value: u64) -> PmuAnswer {
        PmuAnswer::Count { value, running_per_mille: 1000 }
    }
}

impl fmt::Display for PmuAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            PmuAnswer::Count { value, running_per_mille: 1000 } => write!(f, "{value}"),
            PmuAnswer::Count { value, running_per_mille } => {
                write!(f, "{value}/{running_per_mille}")
            }
            PmuAnswer::Unreadable => f.write_str("unreadable"),
            PmuAnswer::Refuse(number) => f.write_str(&errno::name(number)),
            PmuAnswer::Kernel => f.write_str("kernel"),
            PmuAnswer::Other(event) => event.fmt(f),
        }
    }
}

/// Which events a rule is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pattern {
    /// This event.
    PmuEvent(u32, u64),
    /// Every event of a type that has no rule of its own.
    Kind(u32),
    /// Every other event.
    Any,
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::PmuEvent(kind, config) => write!(f, "{kind}:{config:#x}"),
            Pattern::Kind(kind) => write!(f, "{kind}:*"),
            Pattern::Any => f.write_str("*"),
        }
    }
}

/// A PMU and a kernel as a test wants them.
///
/// Its text has one rule per line or between semicolons; `#` starts a comment, numbers
/// are decimal or hexadecimal (`0x`), and `_` may stand between digits:
///
/// | rule | meaning | without it |
/// |---|---|---|
/// | `TYPE:CONFIG = ANSWER` | for this event | |
/// | `TYPE:* = ANSWER` | for the other events of a type | |
/// | `* = ANSWER` | for every other event | `ENOENT` |
/// | `group = N` | counters: a group holds at most N events that are not software events | no limit |
/// | `fresh = N` | the first N reads of an event show it as just opened: value 0, 1000 ns enabled, of these the planned share running | 0 |
/// | `delay = MS` | each `perf_event_open` takes that many milliseconds | 0 |
/// | `paranoid = N` | `perf_event_paranoid`: from 2 on `EACCES` unless `exclude_kernel`, from 3 on `EACCES` always | 2 |
///
/// TYPE is a number or one of `hardware software tracepoint cache raw breakpoint`.
/// ANSWER is a count `VALUE` or `VALUE/RUNNING_PER_MILLE`, `never` (opened, never
/// scheduled), `unreadable` (reads return 0 bytes), the name of an error such as
/// `EACCES`, `kernel` (the real kernel answers), or a real event that takes the other's
/// place: `page-faults`, `task-clock`, `stores ADDRESS`, `executions ADDRESS`.
///
/// A read shows 2,000,000,000 ns enabled, of these the planned share running, and
/// `VALUE * RUNNING_PER_MILLE / 1000`, rounded down. So a scaled count is exactly VALUE if
/// that product is a multiple of 1000, else less by under 1000/RUNNING_PER_MILLE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PmuPlan {
    rules: Vec<(Pattern, PmuAnswer)>,
    group: Option<u32>,
    fresh: u32,
    delay: Duration,
    paranoid: i32,
}

impl Default for PmuPlan {
    fn default() -> Self {
        PmuPlan { rules: Vec::new(), group: None, fresh: 0, delay: Duration::ZERO, paranoid: 2 }
    }
}

impl PmuPlan {
    /// A plan without rules: no event exists, each is refused with `ENOENT`.
    pub fn new() -> Self {
        PmuPlan::default()
    }

    /// Adds the rule for one event; of two for the same event the later holds.
    #[must_use]
    pub fn event(self, kind: u32, config: u64, answer: PmuAnswer) -> Self {
        self.rule(Pattern::PmuEvent(kind, config), answer)
    }

    /// Adds the rule for the other events of a type.
    #[must_use]
    pub fn kind(self, kind: u32, answer: PmuAnswer) -> Self {
        self.rule(Pattern::Kind(kind), answer)
    }

    /// Sets the answer for every other event.
    #[must_use]
    pub fn others(self, answer: PmuAnswer) -> Self {
        self.rule(Pattern::Any, answer)
    }

    fn rule(mut self, pattern: Pattern, answer: PmuAnswer) -> Self {
        self.rules.retain(|(known, _)| *known != pattern);
        self.rules.push((pattern, answer));
        self
    }

    /// Limits a group to `counters` events, software events not counted.
    #[must_use]
    pub fn group(mut self, counters: u32) -> Self {
        self.group = Some(counters);
        self
    }

    /// Lets the first `reads` of an event show it as just opened.
    #[must_use]
    pub fn fresh(mut self, reads: u32) -> Self {
        self.fresh = reads;
        self
    }

    /// Makes each call of `perf_event_open` take this long, to the millisecond.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Sets `perf_event_paranoid` as the program meets it.
    #[must_use]
    pub fn paranoid(mut self, level: i32) -> Self {
        self.paranoid = level;
        self
    }

    /// The answer to an event.
    pub(super) fn answer(&self, kind: u32, config: u64) -> PmuAnswer {
        [Pattern::PmuEvent(kind, config), Pattern::Kind(kind), Pattern::Any]
            .iter()
            .find_map(|wanted| self.rules.iter().find(|(known, _)| known == wanted))
            .map_or(PmuAnswer::Refuse(libc::ENOENT), |&(_, answer)| answer)
    }

    pub(super) fn counters(&self) -> Option<u32> {
        self.group
    }

    pub(super) fn fresh_reads(&self) -> u32 {
        self.fresh
    }

    pub(super) fn time_to_open(&self) -> Duration {
        self.delay
    }

    pub(super) fn paranoid_level(&self) -> i32 {
        self.paranoid
    }

    fn add(&mut self, key: &str, value: &str) -> Result<(), String> {
        let number = |max: u64| match parse_number(value) {
            Some(n) if n <= max => Ok(n),
            _ => Err(format!("'{value}' is not a number from 0 to {max}")),
        };
        match key {
            "group" => match number(u32::MAX.into())? {
                0 => return Err("a group of 0 events cannot be opened".to_owned()),
                n => self.group = Some(n as u32),
            },
            "fresh" => self.fresh = number(super::READS.into())? as u32,
            "delay" => self.delay = Duration::from_millis(number(60_000)?),
            "paranoid" => {
                self.paranoid =
                    value.parse().map_err(|_| format!("'{value}' is not a whole number"))?;
            }
            _ => {
                let pattern = parse_pattern(key)?;
                if self.rules.iter().any(|(known, _)| *known == pattern) {
                    return Err(format!("second rule for {pattern}"));
                }
                self.rules.push((pattern, parse_answer(value)?));
            }
        }
        Ok(())
    }
}

impl fmt::Display for PmuPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (pattern, answer) in &self.rules {
            writeln!(f, "{pattern} = {answer}")?;
        }
        if let Some(n) = self.group {
            writeln!(f, "group = {n}")?;
        }
        writeln!(f, "fresh = {}", self.fresh)?;
        writeln!(f, "delay = {}", self.delay.as_millis())?;
        writeln!(f, "paranoid = {}", self.paranoid)
    }
}

/// A rule that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// Number of the line in the text, from 1.
    pub line: usize,
    /// The rule.
    pub rule: String,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "plan, line {}: '{}': {}", self.line, self.rule, self.reason)
    }
}

impl std::error::Error for PlanError {}

impl FromStr for PmuPlan {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<PmuPlan, PlanError> {
        let mut plan = PmuPlan::default();
        for (line, whole) in (1..).zip(text.lines()) {
            let code = whole.split('#').next().unwrap_or_default();
            for rule in code.split(';').map(str::trim).filter(|rule| !rule.is_empty()) {
                rule.split_once('=')
                    .ok_or_else(|| "no '='".to_owned())
                    .and_then(|(key, value)| plan.add(key.trim(), value.trim()))
                    .map_err(|reason| PlanError { line, rule: rule.to_owned(), reason })?;
            }
        }
        Ok(plan)
    }
}

fn parse_number(text: &str) -> Option<u64> {
    let digits: String = text.chars().filter(|&c| c != '_').collect();
    // from_str_radix takes a sign, a plan does not.
    if digits.starts_with(['+', '-']) {
        return None;
    }
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) if !hex.starts_with(['+', '-']) => u64::from_str_radix(hex, 16).ok(),
        Some(_) => None,
        None => digits.parse().ok(),
    }
}

fn parse_pattern(text: &str) -> Result<Pattern, String> {
    if text == "*" {
        return Ok(Pattern::Any);
    }
    let (kind, config) = text.split_once(':').ok_or_else(|| {
        format!("'{text}' is neither TYPE:CONFIG nor *, group, fresh, delay, paranoid")
    })?;
    let (kind, config) = (kind.trim(), config.trim());
    let kind = match KINDS.iter().find(|(name, _)| *name == kind) {
        Some(&(_, number)) => number,
        None => parse_number(kind)
            .and_then(|n| u32::try_from(n).ok())
            .ok_or_else(|| format!("'{kind}' is no type of event"))?,
    };
    if config == "*" {
        return Ok(Pattern::Kind(kind));
    }
    parse_number(config)
        .map(|config| Pattern::PmuEvent(kind, config))
        .ok_or_else(|| format!("'{config}' is no event number"))
}

fn parse_answer(text: &str) -> Result<PmuAnswer, String> {
    match text {
        "never" => return Ok(PmuAnswer::Count { value: 0, running_per_mille: 0 }),
        "unreadable" => return Ok(PmuAnswer::Unreadable),
        "kernel" => return Ok(PmuAnswer::Kernel),
        _ => {}
    }
    if let Some(number) = errno::number(text) {
        return Ok(PmuAnswer::Refuse(number));
    }
    if let Some(event) = KernelEvent::parse(text, parse_number) {
        return Ok(PmuAnswer::Other(event));
    }
    let (value, share) = text.split_once('/').map_or((text, "1000"), |(v, s)| (v.trim(), s.trim()));
    let value = parse_number(value)
        .ok_or_else(|| format!("'{value}' is neither a count nor the name of an error"))?;
    match parse_number(share) {
        Some(n @ 0..=1000) => Ok(PmuAnswer::Count { value, running_per_mille: n as u16 }),
        _ => Err(format!("'{share}' is not a share from 0 to 1000 per mille")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_rule_answers() {
        let plan: PmuPlan = "* = EACCES; raw:* = 7\n4:0x3c7 = 1_000/500 # half\n".parse().unwrap();
        assert_eq!(plan.answer(4, 0x3c7), PmuAnswer::Count { value: 1000, running_per_mille: 500 });
        assert_eq!(plan.answer(4, 1), PmuAnswer::count(7));
        assert_eq!(plan.answer(3, 0x3c7), PmuAnswer::Refuse(libc::EACCES));
        assert_eq!(PmuPlan::new().answer(4, 1), PmuAnswer::Refuse(libc::ENOENT));
    }

    #[test]
    fn text_and_code_make_the_same_plan() {
        let text = "4:0x60c7=18446744073709551615/1\n0:5=never\n1:*=kernel\n3:1=unreadable\n\
                    4:1=page-faults\n4:2=stores 0x40_10\n4:3=executions 64\n4:4=task-clock\n\
                    *=EMFILE\ngroup=4\nfresh=1\ndelay=20\nparanoid=-1";
        let built = PmuPlan::new()
            .event(4, 0x60c7, PmuAnswer::Count { value: u64::MAX, running_per_mille: 1 })
            .event(0, 5, PmuAnswer::Count { value: 0, running_per_mille: 0 })
            .kind(1, PmuAnswer::Kernel)
            .event(3, 1, PmuAnswer::Unreadable)
            .event(4, 1, PmuAnswer::Other(KernelEvent::PAGE_FAULTS))
            .event(4, 2, PmuAnswer::Other(KernelEvent::stores(0x4010)))
            .event(4, 3, PmuAnswer::Other(KernelEvent::executions(64)))
            .event(4, 4, PmuAnswer::Other(KernelEvent::TASK_CLOCK))
            .others(PmuAnswer::Refuse(libc::EMFILE))
            .group(4)
            .fresh(1)
            .delay(Duration::from_millis(20))
            .paranoid(-1);
        assert_eq!(text.parse(), Ok(built.clone()));
        assert_eq!(built.to_string().parse(), Ok(built));
    }

    #[test]
    fn says_which_rule_is_wrong() {
        for (text, line, part) in [
            ("4:1 = 2\nnonsense", 2, "no '='"),
            ("4:1 = 2; 4:0x1 = 3", 1, "second rule"),
            ("4:x = 2", 1, "no event number"),
            ("raws:1 = 2", 1, "no type"),
            ("colour = 2", 1, "neither TYPE"),
            ("4:1 = ENONE", 1, "name of an error"),
            ("4:1 = -2", 1, "neither a count"),
            ("4:1 = stores here", 1, "neither a count"),
            ("4:1 = 2/1001", 1, "per mille"),
            ("group = 0", 1, "cannot be opened"),
            ("fresh = 65", 1, "0 to 64"),
            ("4:0x+1 = 2", 1, "no event number"),
        ] {
            let error = text.parse::<PmuPlan>().unwrap_err();
            assert_eq!(error.line, line, "{text}");
            assert!(error.reason.contains(part), "{text}: {error}");
        }
    }
}
