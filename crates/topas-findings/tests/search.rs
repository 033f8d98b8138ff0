//! The search for bottlenecks: what varies is not told as sure, what was told before stays while it is about as
//! much, one cause is told once, and what other programs may have caused is no finding.

use topas_findings::{
    BottleneckSearch, Confidence, FactSpread, FactValue, FactValues, FindingWord, Rules,
    ScantFinding,
};

/// A run of 4 ranks and 100 s whose ranks wait for late senders for this share.
fn late(share: f64) -> FactValues {
    let mut facts = FactValues::from([
        ("npes", 4.0),
        ("wall", 100.0),
        ("late_share", share),
        ("late_cost", share),
        ("late_sum", 4.0 * share),
        ("late_calls", 1000.0),
        ("late_longest", 0.01),
        ("late_gain", share),
        ("latercv_share", 0.0),
        ("coll_share", 0.0),
    ]);
    facts.text("late_who", "rank 3");
    facts.text("late_first", "rank 3");
    facts
}

fn names(search: &BottleneckSearch) -> Vec<&str> {
    search.findings.iter().map(|found| &*found.rule).collect()
}

#[test]
fn what_was_told_before_stays_while_it_is_about_as_much() {
    let rules = Rules::builtin();
    let found = |share: f64, before: Option<f64>| {
        let before = before.map(|share| rules.search(&late(share), None));
        !rules.search(&late(share), before.as_ref()).findings.is_empty()
    };
    // The limit is 5 %.
    for (share, alone, told, not_told) in [
        (4.7, false, false, false),
        (4.8, false, true, false),
        (4.99, false, true, false),
        (5.0, true, true, false),
        (5.2, true, true, false),
        (5.3, true, true, true),
    ] {
        let all = [None, Some(9.0), Some(1.0)].map(|before| found(share, before));
        assert_eq!(all, [alone, told, not_told], "{share} %");
    }
}

/// The limit of `uneven-computing` is one from above.
#[test]
fn limits_from_above_have_the_same_margin() {
    let rules = Rules::builtin();
    let facts = |balance: f64| {
        let mut facts = FactValues::from([
            ("npes", 4.0),
            ("wall", 100.0),
            ("outside_balance", balance),
            ("outside_sum", 80.0),
            ("outside_cost", 20.0),
            ("outside_max", 100.0),
            ("outside_mean", 80.0),
        ]);
        facts.text("outside_who", "rank 1");
        facts
    };
    let told = rules.search(&facts(50.0), None);
    let other = rules.search(&facts(100.0), None);
    assert_eq!((names(&told), names(&other)), (vec!["uneven-computing"], vec![]));
    let found = |balance, before| !rules.search(&facts(balance), Some(before)).findings.is_empty();
    assert!(found(87.0, &told) && !found(90.0, &told));
    assert!(!found(83.0, &other) && found(80.0, &other));
}

#[test]
fn what_varies_too_much_may_be() {
    let rules = Rules::builtin();
    let mut facts = late(10.0);
    facts.number("slices", 18.0);
    facts.vary("late_share", FactSpread { mean: 10.0, error: 2.4 });
    let search = rules.search(&facts, None);
    assert_eq!((names(&search), search.unsure.len()), (vec!["late-senders"], 0));
    facts.vary("late_share", FactSpread { mean: 10.0, error: 2.6 });
    let search = rules.search(&facts, None);
    assert_eq!(names(&search), [""; 0]);
    let [unsure] = &search.unsure[..] else { panic!("{search:?}") };
    assert_eq!((&*unsure.rule, unsure.confidence), ("late-senders", Confidence::Hint));
    assert!(search.nothing.is_none(), "something may cost time");
    // It is not ruled out either.
    assert!(!search.ruled_out.iter().any(|what| what.contains("late senders")), "{search:?}");
}

#[test]
fn what_was_seen_too_seldom_is_not_ruled_out() {
    let rules = Rules::builtin();
    let late_senders = "ranks that wait for late senders";
    let told = |calls: f64, share: f64| {
        let mut facts = late(share);
        facts.number("late_calls", calls);
        let search = rules.search(&facts, None);
        let seldom = search.seldom.iter().any(|seldom| {
            let ScantFinding { finding, basis, seen } = seldom;
            let is_hint = finding.confidence == Confidence::Hint && finding.seconds > Some(0.0);
            is_hint && (&*finding.what, basis.name, *seen) == (late_senders, "late_calls", calls)
        });
        let ruled_out = search.ruled_out.iter().any(|what| what == late_senders);
        assert!(!(seldom && search.nothing.is_some()), "something may cost time");
        (names(&search).len(), seldom, ruled_out)
    };
    assert_eq!(told(100.0, 10.0), (1, false, false));
    assert_eq!(told(99.0, 10.0), (0, true, false));
    assert_eq!(told(99.0, 1.0), (0, false, true), "too little however often");
}

/// Waits of one kind that were seen too seldom are not added to all waits, which were, too.
#[test]
fn what_was_seen_too_seldom_is_counted_once() {
    let mut facts = late(20.0);
    for (name, value) in [
        ("late_calls", 80.0),
        ("latercv_cost", 0.0),
        ("coll_cost", 0.0),
        ("waits_share", 20.0),
        ("waits_cost", 20.0),
        ("waits_sum", 80.0),
        ("waits_calls", 80.0),
    ] {
        facts.number(name, value);
    }
    facts.text("waits_first", "rank 3");
    let seldom = Rules::builtin().search(&facts, None).seldom;
    let told: Vec<_> =
        seldom.iter().map(|one| (one.finding.rule.as_str(), one.finding.seconds)).collect();
    assert_eq!(told, [("late-senders", Some(20.0))]);
}

/// A run of half a second is too short to judge: a wait of a fifth of it is not ruled out.
#[test]
fn what_has_its_share_of_a_short_run_is_not_ruled_out() {
    let mut facts = late(20.0);
    for (name, value) in [("wall", 0.5), ("late_cost", 0.1), ("late_sum", 0.4)] {
        facts.number(name, value);
    }
    for calls in [1000.0, 10.0] {
        facts.number("late_calls", calls);
        let search = Rules::builtin().search(&facts, None);
        assert_eq!(names(&search), [""; 0]);
        let little = search.little.iter().map(|one| (&*one.finding.rule, one.basis.name, one.seen));
        assert_eq!(little.collect::<Vec<_>>(), [("late-senders", "late_sum", 0.4)]);
        assert!(search.seldom.is_empty(), "{search:?}");
        assert!(!search.ruled_out.iter().any(|what| what.contains("late senders")), "{search:?}");
    }
}

/// Without slices the course of the run is not known, and that is told.
#[test]
fn without_an_event_log_the_course_is_not_known() {
    let unknown = |facts: &FactValues| {
        let search = Rules::builtin().search(facts, None);
        search.unknown.iter().any(|(_, fact)| fact.name == "slices")
    };
    assert!(unknown(&late(10.0)));
    let mut facts = late(10.0);
    facts.number("slices", 18.0);
    assert!(!unknown(&facts));
    assert!(!unknown(&late(1.0)), "nothing was found");
}

#[test]
fn one_cause_is_told_once() {
    let mut facts = late(10.0);
    for (name, value) in
        [("coll_share", 20.0), ("coll_cost", 20.0), ("coll_sum", 80.0), ("coll_calls", 1000.0)]
    {
        facts.number(name, value);
    }
    let rules = Rules::builtin();
    facts.text("coll_first", "rank 2");
    assert_eq!(names(&rules.search(&facts, None)), ["late-to-collectives", "late-senders"]);
    facts.text("coll_first", "rank 3");
    let search = rules.search(&facts, None);
    assert_eq!(names(&search), ["late-to-collectives"]);
    let found = &search.findings[0];
    assert_eq!(found.seconds, Some(30.0));
    assert_eq!(found.evidence.len(), 1, "{found:?}");
    assert!(found.ruled_out.is_empty(), "{found:?}");
    // What both would say is said once, too.
    facts.text("origin_who", "rank 3");
    facts.number("origin_share", 90.0);
    facts.text("origin_second", "rank 2");
    facts.number("origin_second_share", 10.0);
    let search = rules.search(&facts, None);
    let said = |words: &[FindingWord]| format!("{words:?}");
    let found = &search.findings[0];
    for once in ["all waits arise in", "Another "] {
        assert!(said(&found.sentence).contains(once), "{found:?}");
        assert!(!said(&found.evidence.concat()).contains(once), "{found:?}");
    }
    assert!(said(&found.evidence[0]).contains("The ranks waited for late senders"), "{found:?}");
}

/// The waits for a rank of which the larger part is in few calls, and the smaller one is enough by itself.
fn late_in_two_ways(coll_longest: f64) -> FactValues {
    let mut facts = late(6.0);
    for (name, value) in [
        ("coll_share", 20.0),
        ("coll_cost", 20.0),
        ("coll_sum", 80.0),
        ("coll_calls", 93.0),
        ("coll_longest", coll_longest),
        ("coll_gain", 31.0),
    ] {
        facts.number(name, value);
    }
    facts.text("coll_first", "rank 3");
    facts
}

#[test]
fn waits_for_a_rank_in_few_calls_are_told_with_the_others() {
    let gain = |search: &BottleneckSearch| {
        let words = search.findings[0].saving.as_ref().expect("a saving");
        words.iter().find_map(|word| match word {
            FindingWord::Value(_, FactValue::Number(gain)) => Some(*gain),
            _ => None,
        })
    };
    for (longest, rule) in [(0.1, "late-senders"), (2.0, "late-to-collectives")] {
        let search = Rules::builtin().search(&late_in_two_ways(longest), None);
        assert_eq!((names(&search), search.seldom.len()), (vec![rule], 0), "{longest} s");
        assert_eq!(search.findings[0].seconds, Some(26.0));
        // The rank computes 31 s longer than the next: that is more than both waits together.
        assert_eq!(gain(&search), Some(31.0));
    }
    let mut facts = late_in_two_ways(0.1);
    facts.number("coll_gain", 20.0);
    assert_eq!(gain(&Rules::builtin().search(&facts, None)), Some(26.0));
    // Of another rank it is told by itself.
    facts.text("coll_first", "rank 2");
    let search = Rules::builtin().search(&facts, None);
    assert_eq!((names(&search), search.seldom.len()), (vec!["late-senders"], 1));
}

/// What was seen seldom is told, whatever little nobody knows the reason of.
#[test]
fn what_nobody_knows_hides_nothing_that_was_seen() {
    let mut facts = late(15.0);
    facts.number("late_calls", 96.0);
    for untold in [0.0, 0.003, 30.0] {
        facts.number("lateunk_share", untold);
        let search = Rules::builtin().search(&facts, None);
        let seldom: Vec<&str> = search.seldom.iter().map(|one| &*one.finding.rule).collect();
        assert_eq!(seldom, ["late-senders"], "{untold} %");
    }
    // It is decisive where what is known is too little.
    facts.number("late_share", 3.0);
    let search = Rules::builtin().search(&facts, None);
    assert!(
        search.seldom.is_empty() && search.not_ruled_out.iter().any(|(_, share)| *share == 30.0)
    );
}

/// A finding that is put together of two may cost more than one that was the largest.
#[test]
fn the_largest_loss_is_first_when_causes_were_put_together() {
    let mut facts = late(10.0);
    for (name, value) in
        [("coll_share", 9.0), ("coll_cost", 9.0), ("coll_sum", 36.0), ("coll_calls", 1000.0)]
    {
        facts.number(name, value);
    }
    facts.text("coll_first", "rank 3");
    for (name, value) in [
        ("file_share", 12.0),
        ("file_cost", 12.0),
        ("file_sum", 48.0),
        ("file_calls", 1000.0),
        ("file_size", 1.0),
    ] {
        facts.number(name, value);
    }
    assert_eq!(names(&Rules::builtin().search(&facts, None)), ["late-senders", "files-in-mpi"]);
}

/// All waits together have those of each kind in them.
#[test]
fn a_kind_of_wait_is_not_added_to_all_of_them() {
    let mut facts = late(4.0);
    for (name, value) in [
        ("latercv_cost", 0.0),
        ("coll_share", 20.0),
        ("coll_cost", 20.0),
        ("coll_sum", 80.0),
        ("coll_calls", 93.0),
        ("coll_longest", 0.1),
        ("waits_share", 24.0),
        ("waits_cost", 24.0),
        ("waits_sum", 96.0),
        ("waits_calls", 1093.0),
        ("waits_longest", 0.1),
    ] {
        facts.number(name, value);
    }
    facts.text("coll_first", "rank 3");
    facts.text("waits_first", "rank 3");
    let search = Rules::builtin().search(&facts, None);
    assert_eq!((names(&search), search.seldom.len()), (vec!["mixed-waits"], 0));
    assert_eq!(search.findings[0].seconds, Some(24.0));
}

/// Ranks that are more than the processors are in MPI for long, whatever the program does.
#[test]
fn time_in_mpi_without_a_cause_may_be_that_of_processors() {
    let told = |crowd: f64, waits_known: f64| {
        let facts = FactValues::from([
            ("npes", 4.0),
            ("wall", 10.0),
            ("crowd", crowd),
            ("waits_known", waits_known),
            ("lateunk_share", 0.0),
            ("outside_surplus", 0.0),
            ("mpi_share", 60.0),
            ("mpi_cost", 6.0),
            ("mpi_work_share", 50.0),
            ("mpi_untold_share", 50.0),
            ("mpi_even_share", 50.0),
            ("mpi_work_cost", 5.0),
            ("mpi_work_sum", 20.0),
            ("mpi_calls", 1000.0),
        ]);
        let search = Rules::builtin().search(&facts, None);
        (search.findings.len(), search.unsure.len())
    };
    assert_eq!([told(0.0, 1.0), told(1.0, 1.0), told(1.0, 0.0)], [(1, 0), (0, 1), (1, 0)]);
}

/// Two rules about many small messages: what one of them tells the other does not rule out.
#[test]
fn what_is_told_by_one_rule_is_not_ruled_out_by_another() {
    let mut facts = late(40.0);
    for (name, value) in [
        ("exchange_share", 80.0),
        ("exchange_cost", 80.0),
        ("exchange_sum", 320.0),
        ("exchange_each", 1e6),
        ("exchange_rate", 1e6),
        ("exchange_least", 50.0),
        ("exchange_time", 1e-4),
        ("message_median", 8.0),
        ("message_mean", 4.0),
        ("message_count", 4e6),
        ("message_rate", 5000.0),
        ("transfer_share", 40.0),
        ("transfer_cost", 40.0),
        ("transfer_sum", 160.0),
        ("waits_own", 90.0),
        ("outside_surplus", 1.0),
    ] {
        facts.number(name, value);
    }
    let is_ruled_out = |search: &BottleneckSearch| {
        search.ruled_out.iter().filter(|what| what.contains("small messages")).count()
    };
    let search = Rules::builtin().search(&facts, None);
    assert_eq!((names(&search), is_ruled_out(&search)), (vec!["short-messages"], 0));
    // A rank that computes longer is late, whatever there is beside.
    facts.number("outside_surplus", 6.0);
    let search = Rules::builtin().search(&facts, None);
    assert_eq!((names(&search), is_ruled_out(&search)), (vec!["late-senders"], 1));
}

/// Waits at the end may be in those for a rank that is late to collectives, and time in MPI whose cause is known is not
/// looked for one.
#[test]
fn what_a_finding_may_have_in_it_is_not_ruled_out() {
    let ruled_out = |coll_share: f64| {
        let mut facts = late(0.0);
        for (name, value) in [
            ("coll_share", coll_share),
            ("coll_cost", coll_share),
            ("coll_sum", 4.0 * coll_share),
            ("coll_calls", 1000.0),
            ("finalize_share", 0.0),
            ("finalize_sum", 0.0),
            ("mpi_share", 30.0),
            ("mpi_work_share", 10.0),
            ("mpi_untold_share", 10.0),
            ("mpi_work_sum", 40.0),
            ("mpi_calls", 1000.0),
            ("mpi_even_share", 10.0),
            ("outside_balance", 80.0),
        ] {
            facts.number(name, value);
        }
        let search = Rules::builtin().search(&facts, None);
        let is_ruled_out = |what: &str| search.ruled_out.iter().any(|one| one.starts_with(what));
        (
            search.findings.len(),
            ["ranks that wait at the end", "much time in MPI"].map(is_ruled_out),
        )
    };
    assert_eq!(ruled_out(20.0), (1, [false, false]));
    assert_eq!(ruled_out(1.0), (0, [true, true]));
}

/// A master that waits for its workers is no loss, unless these wait, too.
#[test]
fn a_rank_that_waits_for_work_makes_nobody_late() {
    let mut facts = late(20.0);
    for (name, value) in [
        ("workless_share", 20.0),
        ("workless_sum", 80.0),
        ("workless_waits", 80.0),
        ("workless_computes", 10.0),
        ("workers_compute", 90.0),
        ("workers_share", 3.0),
        ("workers_sum", 9.0),
        ("workers_cost", 3.0),
        ("outside_balance", 77.0),
        ("outside_sum", 80.0),
        ("outside_cost", 20.0),
        ("outside_max", 90.0),
        ("outside_mean", 70.0),
    ] {
        facts.number(name, value);
    }
    facts.text("workless_who", "rank 0");
    facts.text("outside_who", "rank 3");
    let search = Rules::builtin().search(&facts, None);
    assert_eq!((names(&search), search.unsure.len()), (vec![], 0));
    assert_eq!(search.beside[0].rule, "ranks-without-work");
    assert!(search.nothing.is_some());
    let listed = ["ranks that wait for late senders", "ranks that compute longer than others"];
    assert!(!search.ruled_out.iter().any(|one| listed.contains(&&**one)), "{search:?}");
    facts.number("workers_share", 6.0);
    let search = Rules::builtin().search(&facts, None);
    assert_eq!((names(&search), search.beside.len()), (vec!["late-senders"], 0));
}

#[test]
fn what_other_programs_may_have_caused_is_no_finding() {
    let rules = Rules::builtin();
    let mut facts = late(10.0);
    facts.number("preempted_rate", 100.0);
    facts.number("processor_share", 80.0);
    // The ranks are more than the processors: it is found, and a hint.
    let search = rules.search(&facts, None);
    assert_eq!(names(&search), ["late-senders"]);
    assert_eq!(search.findings[0].confidence, Confidence::Hint);
    assert_eq!(search.beside[0].rule, "taken-processors");
    // Others took the processors, for less than what the ranks waited, and for more.
    facts.number("taken_sum", 20.0);
    assert_eq!(names(&rules.search(&facts, None)), ["late-senders"]);
    facts.number("taken_sum", 60.0);
    let search = rules.search(&facts, None);
    assert_eq!((names(&search), search.unsure.len()), (vec![], 1));
    facts.number("preempted_rate", 1.0);
    let search = rules.search(&facts, None);
    assert_eq!((names(&search), search.unsure.len()), (vec!["late-senders"], 0));
    assert_eq!(search.findings[0].confidence, Confidence::Sure);
}

/// Waits of which no kind is enough by itself are told together, before what is only their effect.
#[test]
fn waits_of_several_kinds_are_told_together() {
    let told = |late: f64| {
        let mut facts = FactValues::from([
            ("npes", 4.0),
            ("wall", 1.6),
            ("waits_known", 1.0),
            ("crowd", 0.0),
            ("late_share", 100.0 * late / 6.4),
            ("late_cost", late / 4.0),
            ("late_sum", late),
            ("late_calls", 200.0),
            ("latercv_share", 12.0),
            ("latercv_cost", 0.2),
            ("latercv_sum", 0.8),
            ("latercv_calls", 200.0),
            ("latercv_queued", 0.0),
            ("coll_share", 4.0),
            ("coll_cost", 0.05),
            ("coll_sum", 0.2),
            ("coll_calls", 50.0),
            ("waits_share", 100.0 * (late + 1.0) / 6.4),
            ("waits_cost", (late + 1.0) / 4.0),
            ("waits_sum", late + 1.0),
            ("waits_calls", 450.0),
            ("mpi_share", 60.0),
            ("mpi_cost", 1.0),
            ("mpi_work_share", 60.0),
            ("mpi_untold_share", 60.0),
            ("mpi_even_share", 40.0),
            ("mpi_work_cost", 1.0),
            ("mpi_work_sum", 4.0),
            ("mpi_calls", 1000.0),
            ("outside_balance", 60.0),
            ("outside_sum", 2.0),
            ("outside_cost", 0.5),
            ("outside_max", 1.2),
            ("outside_mean", 0.7),
        ]);
        facts.text("outside_who", "rank 1");
        facts.text("waits_first", "rank 1");
        Rules::builtin().search(&facts, None)
    };
    let search = told(0.9);
    assert_eq!(names(&search), ["mixed-waits"]);
    let found = &search.findings[0];
    assert!(format!("{:?}", found.place).contains("rank 1"), "{found:?}");
    assert!((found.seconds, found.confidence) == (Some(0.475), Confidence::Sure), "{found:?}");
    assert_eq!(found.what, "ranks that wait for others in several ways");
    // One kind is enough: it is told, and the sum of all is not.
    assert_eq!(names(&told(1.0)), ["late-senders"]);
    // All together are not.
    assert_eq!(names(&told(-0.1)), ["mpi-share", "uneven-computing"]);
}

/// Waits of which nearly all are of one kind are named after it, also where it was seen too seldom to be told alone.
#[test]
fn waits_of_nearly_one_kind_are_named_after_it() {
    let told = |coll: f64| {
        let mut facts = FactValues::from([
            ("npes", 4.0),
            ("wall", 10.0),
            ("late_share", 1.1),
            ("late_cost", 0.11),
            ("late_sum", 0.44),
            ("late_calls", 200.0),
            ("latercv_share", 0.0),
            ("latercv_cost", 0.0),
            ("coll_share", 10.0 * coll),
            ("coll_cost", coll),
            ("coll_sum", 4.0 * coll),
            ("coll_calls", 50.0),
            ("waits_share", 10.0 * coll + 1.1),
            ("waits_cost", coll + 0.11),
            ("waits_sum", 4.0 * coll + 0.44),
            ("waits_calls", 250.0),
        ]);
        facts.text("waits_first", "rank 1");
        let search = Rules::builtin().search(&facts, None);
        assert_eq!(names(&search), ["mixed-waits"]);
        let next = format!("{:?}", search.findings[0].next);
        (search.findings[0].what.clone(), next.contains("how the work is divided"))
    };
    assert_eq!(told(1.2), ("ranks that wait in collectives".to_owned(), true));
    assert_eq!(told(1.0), ("ranks that wait in collectives".to_owned(), true));
    assert_eq!(told(0.95), ("ranks that wait for others in several ways".to_owned(), false));
}

/// Of a run that did not go to its end nothing is sure, and of one that stands still nothing is told.
#[test]
fn what_was_found_of_a_run_without_an_end_is_in_doubt() {
    let mut search = Rules::builtin().search(&late(40.0), None);
    let [found] = &mut search.findings[..] else { panic!("{search:?}") };
    found.confidence = Confidence::Sure;
    search.doubt();
    assert_eq!(search.findings[0].confidence, Confidence::Likely);
    assert!(!search.ruled_out.is_empty());
    search.withhold();
    assert!(search.findings.is_empty() && search.ruled_out.is_empty() && search.nothing.is_none());
}
