//! Everything that was found, and what it comes to.

use std::path::{Path, PathBuf};

use topas_config::{Conf, Environment, Paths};
use topas_format::conf::{List, Switch};
use topas_format::event::{Cpu, Metric, Why};

use crate::cpu::Processor;
use crate::exit;
use crate::installation::Installation;
use crate::launch::Launch;
use crate::metric::{Finding, Quantity};
use crate::names::Names;
use crate::place::{Place, places};
use crate::policy::{kill_switch, would_measure};
use crate::profile::Profile;
use crate::selftest::Verdict;
use crate::settings::Configuration;
use crate::sys::Memory;
use crate::system::System;
use crate::together::{Combination, Together, combine};
use crate::variables::{Variable, variables};

/// What counting comes to on this node.
#[derive(Debug)]
pub struct Counting {
    /// Each quantity
    pub findings: Vec<Finding>,
    /// The events of a rank together, for each operation that can be counted
    pub combinations: Vec<Combination>,
    /// Whether loops were counted
    pub self_tested: bool,
}

impl Counting {
    /// Tries everything there is to count on a processor.
    pub fn on(cpu: Option<Cpu>, self_test: bool) -> Self {
        let mut memory = Memory::new();
        let findings: Vec<Finding> = Quantity::ALL
            .into_iter()
            .map(|quantity| Finding::of(quantity, cpu, self_test.then_some(&mut memory)))
            .collect();
        let opens = |quantity| findings.iter().any(|f| f.quantity == quantity && f.why.is_none());
        let combinations = [Metric::FpOps, Metric::IntOps, Metric::Loads, Metric::Stores]
            .into_iter()
            .filter_map(|metric| combine(metric, cpu, opens, &mut memory))
            .collect();
        Counting { findings, combinations, self_tested: self_test }
    }

    /// Whether all is counted that the processor has events for, and counted right.
    pub fn is_complete(&self) -> bool {
        self.findings.iter().filter(|f| f.is_expected()).all(Finding::is_good)
            && self.combinations.iter().all(|c| c.together != Together::Never)
    }

    /// Whether nothing is counted.
    pub fn is_none(&self) -> bool {
        self.findings.iter().all(|finding| finding.why.is_some())
    }

    /// Why quantities that should be counted are not, each reason once.
    pub fn reasons(&self) -> Vec<Why> {
        let mut reasons = Vec::new();
        let missing = self.findings.iter().filter(|f| f.is_expected()).filter_map(|f| f.why);
        let held = self.combinations.iter().filter(|c| c.together == Together::Never);
        for why in missing.chain(held.map(|_| Why::Shared)) {
            if !reasons.contains(&why) {
                reasons.push(why);
            }
        }
        reasons
    }

    /// What falls short, one phrase per quantity.
    fn shortcomings(&self) -> Vec<String> {
        let mut all = Vec::new();
        for finding in self.findings.iter().filter(|f| f.is_expected()) {
            let name = finding.quantity.name();
            let wrong = finding.checks.iter().filter(|check| !check.is_ok()).count();
            if let Some(why) = finding.why {
                all.push(format!("{name} not counted: {}", in_words(why)));
            } else if wrong > 0 {
                let ran = finding.checks.iter().filter(|c| c.verdict() != Verdict::NotRun).count();
                all.push(format!("{name} wrong in {wrong} of {ran} self-tests"));
            }
        }
        if self.combinations.iter().any(|c| c.together == Together::Never) {
            all.push("counters held by another user of them".to_owned());
        }
        all
    }
}

/// A reason in the words of the module.
pub fn in_words(why: Why) -> String {
    String::from_utf8_lossy(why.says()).into_owned()
}

/// What it comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// All that the processor has events for is counted, and lines are written
    All,
    /// Lines are written; counts are missing or wrong
    TimesOnly,
    /// No line would be written
    Nothing,
}

impl Status {
    /// The exit code.
    pub fn exit_code(self) -> u8 {
        match self {
            Status::All => exit::ALL,
            Status::TimesOnly => exit::TIMES_ONLY,
            Status::Nothing => exit::NOTHING,
        }
    }

    /// For programs.
    pub fn word(self) -> &'static str {
        match self {
            Status::All => "all",
            Status::TimesOnly => "times-only",
            Status::Nothing => "nothing",
        }
    }
}

/// Everything that was found on this node.
#[derive(Debug)]
pub struct Report {
    /// The processor
    pub processor: Processor,
    /// What it can count
    pub counting: Counting,
    /// Kernel, container, limits
    pub system: System,
    /// topas.conf
    pub configuration: Configuration,
    /// Whether programs measure by topas.conf and `TOPAS`
    pub measures: bool,
    /// The file that switches every program off, if there is one
    pub kill_switch: Option<PathBuf>,
    /// Whether a program in this place would measure, or why not
    pub here: Result<(), String>,
    /// Log targets in the order tried
    pub places: Vec<Place>,
    /// The launcher around this process
    pub launch: Launch,
    /// The installation this program belongs to
    pub installation: Option<Installation>,
    /// The MPI profile of the installation this program belongs to
    pub profile: Option<Profile>,
    /// The names in front of compilers and launchers, and the MPIs of this system; for the
    /// whole report only, as many directories are read for it
    pub names: Option<Names>,
    /// `TOPAS` variables
    pub variables: Vec<Variable>,
}

impl Report {
    /// Looks at this node, in the environment of this process.
    pub fn of_this_node(env: &Environment, paths: Option<&Paths>, self_test: bool) -> Self {
        let root = Path::new("/");
        let processor = Processor::of_this_node(root);
        let conf = Conf::load(paths, env);
        let settings = conf.settings();
        let launch = Launch::of(env);
        Report {
            counting: Counting::on(processor.cpu, self_test),
            processor,
            system: System::read(root, env),
            configuration: Configuration::of(&conf),
            measures: settings.is(Switch::Measure),
            installation: paths.map(Installation::of),
            profile: paths.map(Profile::of),
            names: None,
            kill_switch: kill_switch(paths),
            here: would_measure(&settings, &launch, env),
            places: places(settings.list(List::Log)),
            variables: variables(env, launch.rank.as_ref(), settings.is(Switch::UserLog)),
            launch,
        }
    }

    /// The first target that takes a line.
    pub fn place(&self) -> Option<&Place> {
        self.places.iter().find(|place| place.answer.takes())
    }

    /// What it comes to.
    pub fn status(&self) -> Status {
        if !self.measures || self.kill_switch.is_some() || self.place().is_none() {
            Status::Nothing
        } else if self.counting.is_complete() {
            Status::All
        } else {
            Status::TimesOnly
        }
    }

    /// The same in one sentence.
    pub fn verdict(&self) -> String {
        match self.status() {
            Status::Nothing if self.kill_switch.is_some() => {
                let switch = self.kill_switch.as_deref().unwrap_or(Path::new("")).display();
                format!("nothing would be written: every program is switched off ({switch})")
            }
            Status::Nothing if !self.measures => {
                let origin = self.configuration.origin("measure");
                format!("nothing would be written: measuring is switched off ({origin})")
            }
            Status::Nothing if self.places.is_empty() => {
                "nothing would be written: no log target is configured".to_owned()
            }
            Status::Nothing => format!(
                "nothing would be written: none of {} log targets takes a line",
                self.places.len()
            ),
            Status::TimesOnly if self.counting.is_none() => {
                let reasons: Vec<String> =
                    self.counting.reasons().into_iter().map(in_words).collect();
                format!("times only: {}", reasons.join("; "))
            }
            Status::TimesOnly => {
                format!("counts fall short: {}", self.counting.shortcomings().join("; "))
            }
            Status::All if self.counting.self_tested => {
                "all is measured: every event of this processor counts right".to_owned()
            }
            Status::All => {
                "all is measured: every event of this processor opens (no self-test made)"
                    .to_owned()
            }
        }
    }
}
