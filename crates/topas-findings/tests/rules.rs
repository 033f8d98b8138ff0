//! Each rule that is built in fires where it should, and not just beside; rules of a center change
//! them; what is faulty is told with its place.

use std::collections::BTreeSet;
use std::path::Path;

use topas_findings::{FactValues, FindingWord, RuleOutcome, Rules, Scope};

/// A number or a text.
#[derive(Clone, Copy)]
enum Put {
    N(f64),
    T(&'static str),
}
use Put::{N, T};

type RuleCase = (&'static str, &'static [(&'static str, Put)], (&'static str, Put));

/// A rule, facts with which it fires, and the one that keeps it from firing.
const CASES: &[RuleCase] = &[
    (
        "failed",
        &[("ending", T("sig:11")), ("ending_who", T("PE 5")), ("ending_after", N(11.0))],
        ("ending", T("")),
    ),
    ("ended-from-outside", &[("ending_others", T("No PE failed."))], ("ending", T("exit:1"))),
    (
        "short-runs",
        &[("earlier_runs", N(100.0)), ("earlier_wall", N(2.0)), ("npes", N(4.0))],
        ("earlier_wall", N(11.0)),
    ),
    (
        "slower-than-before",
        &[
            ("earlier_runs", N(5.0)),
            ("earlier_wall", N(100.0)),
            ("slower", N(20.0)),
            ("slower_by", N(20.0)),
            ("wall", N(120.0)),
            ("npes", N(4.0)),
        ],
        ("slower", N(19.9)),
    ),
    (
        "idle-pes",
        &[("idle_pes", N(4.0)), ("idle_share", N(6.25)), ("pes", N(64.0))],
        ("idle_pes", N(1.0)),
    ),
    (
        "memory-near-limit",
        &[("memory_of_host", N(2e15)), ("memory_host", T("node7"))],
        ("memory_of_host", N(9e14)),
    ),
    (
        "shared-processors",
        &[("shared_pes", N(4.0)), ("pes", N(8.0)), ("cpu_use", N(50.0))],
        ("cpu_use", N(99.0)),
    ),
    (
        "threads-without-processors",
        &[("shared_pes", N(4.0)), ("pes", N(8.0)), ("processors", N(3.0))],
        ("processors", N(1.0)),
    ),
    (
        "load-imbalance",
        &[
            ("imbalance_share", N(5.0)),
            ("imbalance_cost", N(1.0)),
            ("imbalance_who", T("PE 1")),
            ("imbalance_pes", N(64.0)),
            ("imbalance_of", T("CPU time")),
            ("imbalance_max", T("20 s")),
            ("imbalance_mean", T("19 s")),
            ("imbalance_lost", N(1.0)),
            ("imbalance_all", N(20.0)),
            ("pes", N(64.0)),
            ("wall", N(20.0)),
        ],
        ("imbalance_share", N(4.9)),
    ),
    (
        "system-time",
        &[
            ("kernel_cpu", N(20.0)),
            ("kernel_share", N(5.0)),
            ("system_share", N(20.0)),
            ("system_time", N(2.0)),
            ("wall", N(40.0)),
        ],
        ("kernel_share", N(4.9)),
    ),
    ("low-cpu-use", &[("cpu_use", N(49.0)), ("wall", N(10.0))], ("cpu_use", N(50.0))),
    ("cache-misses", &[("mflops", N(99.0)), ("l1_per_op", N(0.1))], ("l1_per_op", N(0.09))),
    ("low-ipc", &[("ipc", N(0.4)), ("wall", N(10.0))], ("ipc", N(0.5))),
    (
        "low-frequency",
        &[("ghz_share", N(79.0)), ("ghz", N(2000.0)), ("ghz_nominal", N(2600.0))],
        ("ghz_share", N(80.0)),
    ),
    (
        "mpi-share",
        &[
            ("mpi_share", N(30.0)),
            ("mpi_work_share", N(30.0)),
            ("mpi_untold_share", N(20.0)),
            ("mpi_even_share", N(30.0)),
            ("outside_balance", N(84.0)),
            ("mpi_work_sum", N(1.0)),
            ("mpi_calls", N(100.0)),
            ("mpi_cost", N(12.0)),
        ],
        ("mpi_even_share", N(29.0)),
    ),
    (
        "late-senders",
        &[
            ("late_share", N(5.0)),
            ("late_cost", N(1.0)),
            ("late_sum", N(1.0)),
            ("late_calls", N(100.0)),
        ],
        ("late_share", N(4.9)),
    ),
    (
        "late-receivers",
        &[
            ("latercv_share", N(5.0)),
            ("latercv_cost", N(1.0)),
            ("latercv_sum", N(1.0)),
            ("latercv_calls", N(100.0)),
            ("latercv_queued", N(49.0)),
        ],
        ("latercv_share", N(4.9)),
    ),
    (
        "busy-receivers",
        &[
            ("latercv_share", N(5.0)),
            ("latercv_cost", N(1.0)),
            ("latercv_sum", N(1.0)),
            ("latercv_calls", N(100.0)),
            ("latercv_queued", N(50.0)),
            ("latercv_who", T("rank 0")),
        ],
        ("latercv_queued", N(49.0)),
    ),
    (
        "late-to-collectives",
        &[
            ("coll_share", N(5.0)),
            ("coll_cost", N(1.0)),
            ("coll_sum", N(1.0)),
            ("coll_calls", N(100.0)),
        ],
        ("coll_share", N(4.9)),
    ),
    (
        "mixed-waits",
        &[
            ("waits_share", N(10.0)),
            ("waits_cost", N(0.25)),
            ("waits_sum", N(1.0)),
            ("waits_calls", N(100.0)),
            ("late_cost", N(0.2)),
            ("latercv_cost", N(0.05)),
            ("coll_cost", N(0.0)),
        ],
        ("waits_share", N(9.9)),
    ),
    (
        "ranks-without-work",
        &[
            ("workless_share", N(5.0)),
            ("workless_sum", N(0.5)),
            ("workless_waits", N(0.5)),
            ("workless_computes", N(0.1)),
            ("workless_who", T("rank 0")),
            ("workers_compute", N(2.0)),
            ("workers_share", N(4.9)),
            ("workers_sum", N(2.0)),
            ("workers_cost", N(0.5)),
        ],
        ("workers_share", N(5.0)),
    ),
    (
        "late-to-finalize",
        &[
            ("finalize_share", N(5.0)),
            ("finalize_cost", N(1.0)),
            ("finalize_sum", N(1.0)),
            ("finalize_who", T("rank 0")),
            ("finalize_who_computes", N(2.0)),
            ("finalize_others_compute", N(1.0)),
        ],
        ("finalize_share", N(4.9)),
    ),
    (
        "late-to-init",
        &[
            ("init_share", N(5.0)),
            ("init_cost", N(1.0)),
            ("init_sum", N(1.0)),
            ("init_who", T("rank 3")),
            ("init_later", N(1.5)),
            ("init_before", N(1.7)),
            ("init_others_before", N(0.1)),
        ],
        ("init_sum", N(0.9)),
    ),
    (
        "small-messages",
        &[
            ("transfer_share", N(5.0)),
            ("transfer_sum", N(1.0)),
            ("transfer_cost", N(1.0)),
            ("message_median", N(1024.0)),
            ("message_mean", N(1000.0)),
            ("message_count", N(1e6)),
            ("message_rate", N(1e4)),
        ],
        ("message_median", N(2048.0)),
    ),
    (
        "short-messages",
        &[
            ("exchange_share", N(5.0)),
            ("exchange_sum", N(1.0)),
            ("exchange_cost", N(1.0)),
            ("exchange_each", N(5000.0)),
            ("exchange_rate", N(1e4)),
            ("exchange_least", N(10.0)),
            ("exchange_time", N(1e-4)),
            ("message_median", N(1024.0)),
            ("message_mean", N(1000.0)),
            ("message_count", N(1e6)),
            ("waits_own", N(50.0)),
            ("outside_surplus", N(4.9)),
        ],
        ("outside_surplus", N(5.0)),
    ),
    (
        "short-collectives",
        &[
            ("gathering_share", N(5.0)),
            ("gathering_sum", N(1.0)),
            ("gathering_cost", N(1.0)),
            ("gathering_each", N(1000.0)),
            ("gathering_rate", N(5000.0)),
            ("gathering_time", N(1e-4)),
            ("gathering_size", N(1024.0)),
            ("waits_own", N(50.0)),
            ("outside_surplus", N(4.9)),
        ],
        ("waits_own", N(49.0)),
    ),
    (
        "large-messages",
        &[
            ("waits_known", N(1.0)),
            ("transfer_share", N(10.0)),
            ("transfer_sum", N(1.0)),
            ("transfer_cost", N(1.0)),
            ("message_mean", N(65536.0)),
            ("message_count", N(1e3)),
        ],
        ("message_mean", N(65535.0)),
    ),
    (
        "files-in-mpi",
        &[
            ("file_share", N(10.0)),
            ("file_sum", N(1.0)),
            ("file_cost", N(1.0)),
            ("file_calls", N(100.0)),
        ],
        ("file_share", N(9.0)),
    ),
    (
        "window-waits",
        &[
            ("window_share", N(5.0)),
            ("window_sum", N(1.0)),
            ("window_cost", N(1.0)),
            ("window_calls", N(100.0)),
        ],
        ("window_sum", N(0.9)),
    ),
    (
        "spawning",
        &[("spawn_share", N(2.0)), ("spawn_sum", N(1.0)), ("spawn_cost", N(1.0))],
        ("spawn_share", N(1.9)),
    ),
    (
        "polling",
        &[("poll_share", N(5.0)), ("poll_sum", N(1.0)), ("poll_rate", N(1000.0))],
        ("poll_rate", N(999.0)),
    ),
    ("time-between-questions", &[("asking_share", N(10.0))], ("asking_share", N(9.0))),
    (
        "serialisation",
        &[
            ("serialisation", N(79.0)),
            ("serialisation_cost", N(1.0)),
            ("serialisation_sum", N(4.0)),
            ("mpi_calls", N(100.0)),
        ],
        ("serialisation", N(80.0)),
    ),
    (
        "taken-processors",
        &[("preempted_rate", N(10.0)), ("processor_share", N(89.0))],
        ("preempted_rate", N(9.0)),
    ),
    (
        "uneven-computing",
        &[
            ("outside_balance", N(84.0)),
            ("outside_sum", N(1.0)),
            ("outside_who", T("rank 3")),
            ("outside_max", N(4.0)),
            ("outside_mean", N(3.0)),
            ("outside_cost", N(1.0)),
        ],
        ("outside_balance", N(85.0)),
    ),
    ("nothing-found", &[("wall", N(1.0))], ("wall", N(0.0))),
    (
        "nothing-but-questions",
        &[("asking_share", N(10.0)), ("outside_share", N(90.0))],
        ("asking_share", N(9.0)),
    ),
    ("nothing-but-start", &[("edge_share", N(30.0))], ("edge_share", N(29.0))),
    ("slow-clock", &[("frequency_less", N(5.0))], ("frequency_less", N(0.0))),
    ("kernel-time", &[("system_more", N(5.0))], ("system_more", N(0.0))),
    ("more-misses", &[("l1_more", N(50.0)), ("cpu_more", N(5.0))], ("cpu_more", N(0.0))),
    (
        "more-work",
        &[("operations_more", N(30.0)), ("cpu_more", N(30.0))],
        ("operations_more", N(0.0)),
    ),
    ("slow-host", &[("part", T("host")), ("cpu_more", N(30.0))], ("cpu_more", N(0.0))),
    ("slow-pe", &[("part", T("pe")), ("cpu_more", N(30.0))], ("part", T("host"))),
    ("fast-pe", &[("cpu_less", N(30.0))], ("operations_less", N(3.0))),
    ("less-work", &[("operations_less", N(9.0)), ("cpu_less", N(9.0))], ("cpu_less", N(0.0))),
    ("waiting", &[("operations_less", N(9.0))], ("operations_less", N(0.0))),
    ("uneven-memory", &[("memory_more", N(100.0))], ("memory_more", N(0.0))),
];

/// FactValues of a part in which nothing differs, for rules of parts.
fn facts(put: &[(&'static str, Put)]) -> FactValues {
    let mut facts = FactValues::default();
    for measure in ["cpu", "operations", "rate", "wall", "frequency", "l1", "memory", "system"] {
        for way in ["more", "less"] {
            let name = topas_findings::Fact::named(&format!("{measure}_{way}")).unwrap().name;
            facts.number(name, 0.0);
        }
    }
    facts.text("part", "pe");
    facts.text("counted", "floating point operations");
    for (name, value) in put {
        match value {
            N(number) => facts.number(name, *number),
            T(text) => facts.text(name, *text),
        }
    }
    facts
}

#[test]
fn each_rule_fires_and_does_not_just_beside() {
    let rules = Rules::builtin();
    let names: BTreeSet<&str> = rules.rules.iter().map(|rule| &*rule.name).collect();
    let tested: BTreeSet<&str> = CASES.iter().map(|case| case.0).collect();
    assert_eq!(names, tested, "each rule has a case");
    for (name, put, (changed, to)) in CASES {
        let rule = rules.rules.iter().find(|rule| rule.name == *name).unwrap();
        let outcome = rule.look(&facts(put));
        let RuleOutcome::Found(found) = outcome else { panic!("{name}: {outcome:?}") };
        assert!(!found.sentence.is_empty() && !found.next.is_empty(), "{name}");
        let mut other: Vec<(&'static str, Put)> = put.to_vec();
        other.retain(|(name, _)| name != changed);
        other.push((*changed, *to));
        let outcome = rule.look(&facts(&other));
        assert!(!matches!(outcome, RuleOutcome::Found(_)), "{name}: {outcome:?}");
        // Of a run about which nothing is known it tells nothing.
        let unknown = rule.look(&FactValues::default());
        assert!(!matches!(unknown, RuleOutcome::Found(_)), "{name}: {unknown:?}");
    }
}

/// Where ranks take turns in receiving late there is none to be named, and none is needed to rule out that
/// one of them cannot keep up.
#[test]
fn a_rule_that_does_not_fire_needs_no_words() {
    let rules = Rules::builtin();
    let rule = rules.rules.iter().find(|rule| rule.name == "busy-receivers").unwrap();
    let put = CASES.iter().find(|case| case.0 == "late-receivers").unwrap().1;
    assert_eq!(rule.look(&facts(put)), RuleOutcome::Not);
    let mut queued = put.to_vec();
    queued.push(("latercv_queued", N(50.0)));
    let outcome = rule.look(&facts(&queued));
    let RuleOutcome::Unknown(missing) = outcome else { panic!("{outcome:?}") };
    assert_eq!(missing[0].name, "latercv_who");
    assert_eq!(rule.look(&facts(&put[1..])), RuleOutcome::Not, "whatever the share is");
}

/// What costs most comes first, and what is urgent before.
#[test]
fn findings_have_an_order() {
    let mut all = facts(&[]);
    for (name, put, _) in CASES.iter().take(15) {
        for (fact, value) in put.iter().filter(|_| *name != "low-cpu-use") {
            match value {
                N(number) => all.number(fact, *number),
                T(text) => all.text(fact, *text),
            }
        }
    }
    let found = Rules::builtin().of_run(&all);
    assert_eq!(found[0].rule, "failed");
    let costs: Vec<f64> = found[1..].iter().map(|found| found.seconds.unwrap_or(0.0)).collect();
    assert!(costs.is_sorted_by(|a, b| a >= b) && costs[0] > 0.0, "{costs:?}");
    assert!(found.iter().all(|found| found.seconds.is_none() || found.share.is_some()));
}

fn with(text: &str) -> (Rules, Vec<String>) {
    let (rules, faults) = Rules::with(&[("site.conf".to_owned(), text.to_owned())]);
    (rules, faults.iter().map(ToString::to_string).collect())
}

#[test]
fn a_center_changes_a_threshold_and_nothing_else() {
    let (rules, faults) = with("# ours\n[low-ipc]\nipc = 0.3\n\n[mpi-share]\noff = yes\n");
    assert_eq!(faults, [""; 0]);
    let builtin = Rules::builtin();
    assert_eq!(rules.rules.len() + 1, builtin.rules.len());
    assert_eq!(rules.parameter("low-ipc", "ipc"), Some("0.3"));
    assert_eq!(rules.parameter("low-ipc", "seconds"), Some("1s"));
    let low = facts(&[("ipc", N(0.4)), ("wall", N(10.0))]);
    let fires = |rules: &Rules| rules.of_run(&low).iter().any(|found| found.rule == "low-ipc");
    assert!(fires(&builtin) && !fires(&rules));
    assert!(rules.rules.iter().all(|rule| rule.name != "mpi-share"));
}

#[test]
fn a_center_adds_a_rule_in_its_own_words() {
    let (rules, faults) = with(
        "[large-serial]\nwhat = alone for long\nhours = 24h\nwhen = npes = 1 and wall > $hours\n\
         sentence = One PE for {wall}; the limit is {$hours}.\nnext = Ask us.\nlink = https://c.example/1\n\
         confidence = hint\n",
    );
    assert_eq!(faults, [""; 0]);
    let found = rules.of_run(&facts(&[("npes", N(1.0)), ("wall", N(90_000.0))]));
    let ours = found.iter().find(|found| found.rule == "large-serial").unwrap();
    assert_eq!(ours.sentence[0], FindingWord::Text("One PE for ".to_owned()));
    assert_eq!(ours.sentence[2], FindingWord::Text("; the limit is 24 h.".to_owned()));
    assert_eq!(ours.link.as_deref(), Some("https://c.example/1"));
}

#[test]
fn a_fault_is_told_with_its_line_and_the_rest_is_used() {
    let count = Rules::builtin().rules.len();
    for (text, fault) in [
        ("ipc = 3\n", "site.conf:1: a line in front of the first [rule]"),
        ("[low-ipc]\n\nnonsense\n", "site.conf:3: `nonsense` is not of the form `key = value`"),
        ("[low-ipc]\nipcc = 3\n", "site.conf:2: `ipcc` is no key, and nothing uses $ipcc"),
        ("[low-ipc]\nipc = much\n", "site.conf:1: [low-ipc] as changed here: ipc cannot be 'much'"),
        ("[low-ipc]\nwhen = ipc < $most\n", "site.conf:2: there is no parameter $most"),
        ("[low-ipc]\nwhen = icp < $ipc\n", "site.conf:2: there is no fact icp"),
        ("[low-ipc]\nsentence = {icp}\n", "site.conf:2: there is no fact {icp}"),
        ("[low-ipc]\nsentence = {ipc\n", "site.conf:2: a { without its }"),
        ("[low-ipc]\nurgent = maybe\n", "site.conf:2: `urgent` takes yes or no, not `maybe`"),
        ("[low-ipc]\nscope = all\n", "site.conf:2: `scope` takes run, part or nothing, not `all`"),
        ("[low-ipc]\nconfidence = 1\n", "site.conf:2: `confidence` takes sure, likely or hint"),
        ("[low-ipc]\nruled out = many\n", "site.conf:2: `ruled out` is of the form"),
        ("\n[ours]\nwhen = wall > 3\n", "site.conf:2: the rule ours has no `what`"),
    ] {
        let text = format!("{text}[mpi-share]\nshare = 40\n");
        let (rules, faults) = with(&text);
        assert_eq!(faults.len(), 1, "{text}: {faults:?}");
        assert!(faults[0].starts_with(fault), "{text}: {faults:?}");
        assert_eq!(rules.rules.len(), count, "{text}");
        assert_eq!(rules.parameter("low-ipc", "ipc"), Some("0.5"), "{text}");
        assert_eq!(rules.parameter("mpi-share", "share"), Some("40"), "the rest is used");
    }
}

/// What stands in the directory is what is built in, and in the manual.
#[test]
fn all_files_are_built_in_and_all_facts_and_rules_are_documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let mut sections = BTreeSet::new();
    for entry in std::fs::read_dir(root.join("etc/topas/rules.d")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "conf") {
            let text = std::fs::read_to_string(path).unwrap();
            sections.extend(text.lines().filter(|l| l.starts_with('[')).map(str::to_owned));
        }
    }
    let rules = Rules::builtin().rules;
    assert_eq!(sections, rules.iter().map(|rule| format!("[{}]", rule.name)).collect());
    assert!(rules.iter().filter(|rule| rule.scope == Scope::Run).count() >= 12);
    let manual = std::fs::read_to_string(root.join("doc/topas-rules.5")).unwrap();
    for fact in topas_findings::facts() {
        let entry = format!("\n.B {}\n{}", fact.name, fact.about);
        assert!(manual.contains(&entry), "topas-rules(5) lacks: {entry}");
    }
    for rule in &rules {
        assert!(manual.contains(&format!("\n.B {}\n", rule.name)), "{}", rule.name);
    }
}
