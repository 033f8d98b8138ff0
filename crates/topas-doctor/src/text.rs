//! The report for people. No colour, so that none is needed to read it.

use std::fmt::Write;

use nix::errno::Errno;
use topas_driver::explain::RELOCATE;
use topas_format::shown::Shown;

use crate::hint::remedy;
use crate::metric::{Finding, Quantity};
use crate::report::{Report, in_words};
use crate::selftest::{Check, Outcome, Verdict};
use crate::system::{Seccomp, System};
use crate::together::{Combination, Together};

/// Checks of a quantity that are listed one by one when they go wrong; the rest is counted.
const LISTED: usize = 4;

/// Sections with their lines; writing into a string cannot fail.
#[derive(Default)]
struct Page(String);

impl Page {
    fn section(&mut self, name: &str) {
        let _ = writeln!(self.0, "\n{name}");
    }

    fn item(&mut self, name: &str, text: &str) {
        let _ = writeln!(self.0, "  {:<20} {}", shown(name), shown(text));
    }

    fn more(&mut self, text: &str) {
        self.item("", text);
    }

    fn hint(&mut self, text: &str) {
        let _ = writeln!(self.0, "  hint: {}", shown(text));
    }
}

/// A text of which nothing acts on a terminal: values of variables are anybody's.
fn shown(text: &str) -> String {
    // A string, because `Shown` itself is not filled up to a width.
    Shown(text.as_bytes()).to_string()
}

/// The first line.
pub fn first_line(report: &Report) -> String {
    format!("topas-doctor: {}\n", report.verdict())
}

/// The whole report.
pub fn page(report: &Report) -> String {
    let mut page = Page(first_line(report));
    processor(&mut page, report);
    counters(&mut page, report);
    kernel(&mut page, &report.system);
    configuration(&mut page, report);
    installation(&mut page, report);
    names(&mut page, report);
    profile(&mut page, report);
    log(&mut page, report);
    launch(&mut page, report);
    page.0
}

fn processor(page: &mut Page, report: &Report) {
    let processor = &report.processor;
    page.section("Processor");
    page.item("name", processor.name.as_deref().unwrap_or("not known"));
    page.item("model", &processor.signature());
    match processor.row() {
        Some(row) => {
            page.item("row of event table", row.processors);
            page.item("caveat", row.caveat);
            page.item("formulas", row.status.says());
        }
        None => page.item("row of event table", "none: the kernel's generic events"),
    }
}

fn counters(page: &mut Page, report: &Report) {
    page.section("Counters (user mode, threads and children included)");
    for finding in &report.counting.findings {
        quantity(page, finding);
    }
    for combination in &report.counting.combinations {
        together(page, combination);
    }
    if !report.counting.self_tested {
        page.item("self-test", "not made (--no-self-test)");
    }
    if report.counting.findings.iter().any(|f| f.checks.iter().any(|check| !check.is_ok())) {
        page.hint("do not trust these counts; perf stat -e EVENT is another reader, --json has all of them");
    }
    for why in report.counting.reasons() {
        if let Some(remedy) = remedy(why) {
            page.hint(remedy);
        }
    }
}

/// The events of a quantity with their weights, such as `r03c7 + 2 r04c7`.
fn formula(finding: &Finding) -> String {
    let term = |event: topas_driver::kernel_event::KernelEvent| match event.weight {
        1 => event.encoding(),
        n => format!("{n} {}", event.encoding()),
    };
    let terms: Vec<String> = finding.events.iter().map(|(event, _)| term(*event)).collect();
    terms.join(" + ")
}

fn quantity(page: &mut Page, finding: &Finding) {
    let name = finding.quantity.name();
    let formula = formula(finding);
    let estimate = if finding.estimate { ", an estimate (~)" } else { "" };
    match finding.why {
        Some(why) => {
            let mut text = format!("not counted: {}", in_words(why));
            if let Some((event, refusal)) = finding.refusal() {
                let answer = match refusal.errno {
                    Some(errno) => format!("{:?}", Errno::from_raw(errno)),
                    None => refusal.text.clone(),
                };
                let _ = write!(text, " ({} answered with {answer})", event.encoding());
            }
            page.item(name, &text);
        }
        None => page.item(name, &format!("counted by {formula}{estimate}")),
    }
    let ran: Vec<&Check> =
        finding.checks.iter().filter(|c| c.verdict() != Verdict::NotRun).collect();
    let not_run = finding.checks.len() - ran.len();
    let Some(first) = ran.first() else {
        if finding.why.is_none() && not_run > 0 {
            page.more("self-test: the processor has not the instructions");
        }
        return;
    };
    let wrong: Vec<&&Check> = ran.iter().filter(|check| !check.is_ok()).collect();
    let mut text = if wrong.is_empty() {
        format!("self-test ok: {} of {} loops", ran.len(), ran.len())
    } else {
        format!("self-test WRONG: {} of {} loops", wrong.len(), ran.len())
    };
    let _ = write!(text, " ({})", first.tolerance.in_words());
    if not_run > 0 {
        let _ = write!(text, "; {not_run} more need instructions this processor has not");
    }
    page.more(&text);
    for check in wrong.iter().take(LISTED) {
        page.more(&format!("- {}: {}", check.name, measured(finding.quantity, check)));
    }
    if wrong.len() > LISTED {
        page.more(&format!("- and {} more (--json lists all)", wrong.len() - LISTED));
    }
    let shared = ran.iter().filter_map(|check| match check.outcome {
        Outcome::Count { share, .. } if share < 1000 => Some(share),
        _ => None,
    });
    if let Some(share) = shared.min() {
        page.more(&format!("on a counter {} % of the time: scaled", share as f64 / 10.0));
    }
}

/// What came out of a loop, against what should.
fn measured(quantity: Quantity, check: &Check) -> String {
    match check.outcome {
        Outcome::NotCounted(why) => format!("not countable here: {}", in_words(why)),
        Outcome::NoInstructions => "not run".to_owned(),
        Outcome::Count { measured: 0, .. } => {
            format!("counts nothing of {}: the processor does not have this event", check.expected)
        }
        Outcome::Count { measured, .. } if quantity == Quantity::Cycles => {
            format!("{measured} cycles for {} multiplications", check.expected)
        }
        Outcome::Count { measured, .. } => {
            let off = check.off_by().unwrap_or_default();
            format!("{measured} counted, {} expected, off by {off:+.1} %", check.expected)
        }
    }
}

fn together(page: &mut Page, combination: &Combination) {
    let name = Quantity::Metric(combination.metric).name();
    let what = match combination.together {
        Together::AllTheTime => "on counters together, all the time".to_owned(),
        Together::InTurns(share) => format!(
            "take turns, on a counter {} % of the time: counts are scaled, marked ~",
            share as f64 / 10.0
        ),
        Together::Never => "never all on counters: others hold them".to_owned(),
    };
    let events = combination.events;
    page.item("events of a rank", &format!("{name} and the rest, {events} events: {what}"));
}

fn kernel(page: &mut Page, system: &System) {
    const UNKNOWN: &str = "not known";
    page.section("Kernel and process");
    page.item("kernel", system.kernel.as_deref().unwrap_or(UNKNOWN));
    let level = system.paranoid.map_or(UNKNOWN.to_owned(), |level| level.to_string());
    page.item("perf_event_paranoid", &format!("{level}: {}", system.paranoid_means()));
    let seccomp = match system.seccomp {
        None => UNKNOWN.to_owned(),
        Some(Seccomp::Filter) => "filter: may refuse perf_event_open".to_owned(),
        Some(mode) => mode.word().to_owned(),
    };
    page.item("seccomp", &seccomp);
    let watchdog = match system.nmi_watchdog {
        None => UNKNOWN,
        Some(false) => "off",
        Some(true) => "on: the kernel holds one counter of each core",
    };
    page.item("nmi_watchdog", watchdog);
    let container = match system.container.as_slice() {
        [] => "no sign of one".to_owned(),
        signs => signs.join(", "),
    };
    page.item("container", &container);
    let files = system.open_files.map_or(UNKNOWN.to_owned(), |n| format!("{n} files"));
    page.item("limit of open files", &files);
    let user = if system.privileged { ", may count whatever perf_event_paranoid says" } else { "" };
    page.item("user", &format!("uid {}{user}", system.uid));
    if system.users_may_be_refused() {
        page.hint(
            "users may be refused what this user is allowed: run topas-doctor as one of them",
        );
    }
    if !system.has_descriptors() {
        page.hint("few files may be open: a program may leave none for counters; ulimit -n 1024");
    }
}

fn configuration(page: &mut Page, report: &Report) {
    let conf = &report.configuration;
    page.section("Configuration");
    let file = conf
        .file
        .as_ref()
        .map_or("none; defaults hold".to_owned(), |file| file.display().to_string());
    page.item("file", &file);
    if let Some(problem) = &conf.problem {
        page.item("cannot be read", problem);
        page.hint("defaults hold: correct the path in TOPAS_CONF, or the file's permissions");
    }
    if let Some(switch) = &report.kill_switch {
        page.item("kill switch", &format!("{} exists: no program is measured", switch.display()));
        page.hint(&format!("rm {}", switch.display()));
    }
    for setting in &conf.settings {
        page.item(setting.key, &format!("{} ({})", setting.value, setting.origin));
    }
    for warning in &conf.warnings {
        page.item("warning", warning);
    }
    if !report.measures {
        page.hint("measure = yes in topas.conf, and TOPAS not set to off, let programs measure");
    }
}

fn names(page: &mut Page, report: &Report) {
    let Some(names) = &report.names else { return };
    let topas = names.command.display();
    page.section("Drivers");
    for directory in &names.directories {
        page.item("names", &format!("{} in {}", directory.names, directory.path.display()));
        if let Some(without) = &directory.without {
            page.item("no program behind", without);
            page.hint(&format!(
                "{} --link-names, with the PATH that everybody has",
                names.driver.display()
            ));
        }
    }
    for shadow in &names.shadows {
        let state = shadow.wrong.as_deref().unwrap_or("ok");
        page.item("shadow", &format!("{} of {}: {state}", shadow.name, shadow.mpi.display()));
        if shadow.wrong.is_some() {
            let verb = if shadow.gone { "remove" } else { "refresh" };
            page.hint(&format!("{topas} mpi {verb} {}", shadow.name));
        }
    }
    for prefix in &names.offered {
        page.item("MPI without shadow", &prefix.display().to_string());
        page.hint(&format!("{topas} mpi add {}", prefix.display()));
    }
}

fn installation(page: &mut Page, report: &Report) {
    let Some(installation) = &report.installation else { return };
    page.section("Installation");
    page.item("prefix", &installation.prefix.to_string_lossy());
    let read = installation.programs_read.as_ref().map(|conf| conf.to_string_lossy());
    page.item("programs read", read.as_deref().unwrap_or("not known: the object names no file"));
    for (file, conf) in &installation.elsewhere {
        page.item("warning", &format!("{} reads {}", file.display(), conf.display()));
    }
    if !installation.elsewhere.is_empty() {
        page.more("which is none of this installation");
        page.hint(RELOCATE);
    }
}

fn profile(page: &mut Page, report: &Report) {
    let Some(profile) = &report.profile else { return };
    page.section("MPI profile");
    let loads = if profile.faults.is_empty() { "loads" } else { "see below" };
    page.item("library", &format!("{} ({loads})", profile.library.display()));
    for fault in &profile.faults {
        page.item("fault", fault);
    }
    if !profile.faults.is_empty() {
        page.hint("install TOPAS anew; until then links and topas-run go without the profile");
    }
}

fn log(page: &mut Page, report: &Report) {
    page.section("Log (the first target that takes a line gets it)");
    if report.places.is_empty() {
        page.item("targets", "none");
        page.hint("log = file:/var/log/topas/%Y-%m.%u.log in topas.conf");
    }
    for (number, place) in (1..).zip(&report.places) {
        page.item(&format!("target {number}"), &place.target);
        if let Some(path) = &place.path {
            page.more(&format!("is {}", path.display()));
        }
        page.more(&place.answer.says());
        if let Some(readers) = place.readers {
            page.more(&format!("who can read it: {readers}"));
        }
        if let crate::place::Answer::Refuses { hint, .. } = &place.answer {
            page.hint(hint);
        }
        for advice in &place.advice {
            page.hint(advice);
        }
    }
}

fn launch(page: &mut Page, report: &Report) {
    let launch = &report.launch;
    page.section("Launch");
    page.item("launcher", launch.family().unwrap_or("none"));
    if let Some(rank) = launch.rank {
        let of = match rank.size.checked_sub(1) {
            None => format!("{}; the launcher does not tell of how many", rank.rank),
            Some(last) => format!("{} of {} (0 to {last})", rank.rank, rank.size),
        };
        page.item("rank", &of);
        page.item("launch id", &format!("{:016x}", rank.id));
        let ranks: Vec<String> = launch.measuring.iter().map(ToString::to_string).collect();
        let ranks = if ranks.is_empty() { "none".to_owned() } else { ranks.join(", ") };
        page.item("ranks that measure", &ranks);
    }
    page.item("a program here", report.here.as_ref().err().map_or("would measure", |why| why));
    page.item("mode", if launch.batch { "batch" } else { "interactive" });
    page.item("job", if launch.job.is_empty() { "none" } else { &launch.job });
    if let Some(step) = &launch.step {
        page.item("step", step);
    }
    page.section("Variables");
    if report.variables.is_empty() {
        page.item("TOPAS...", "none is set");
    }
    for variable in &report.variables {
        let mark = if variable.valid { "" } else { "not valid: " };
        let text = format!("{mark}{}", variable.effect);
        page.item(&format!("{}={}", variable.name, variable.value), &text);
    }
}
