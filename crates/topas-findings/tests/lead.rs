//! What is known of the rank for which the others wait is said first of what was found about it.

use topas_findings::{BottleneckSearch, FactValues, FindingLead, FindingWord, Rules};

/// A run of 4 ranks and 100 s whose ranks wait for late senders and in collectives for these shares, and for these ranks.
fn waiting(late: (f64, &str), coll: (f64, &str)) -> FactValues {
    let mut facts = FactValues::from([
        ("npes", 4.0),
        ("wall", 100.0),
        ("late_share", late.0),
        ("late_cost", late.0),
        ("late_sum", 4.0 * late.0),
        ("late_calls", 1000.0),
        ("latercv_share", 0.0),
        ("coll_share", coll.0),
        ("coll_cost", coll.0),
        ("coll_sum", 4.0 * coll.0),
        ("coll_calls", 1000.0),
        ("lateunk_share", 3.0),
    ]);
    facts.text("late_first", late.1);
    facts.text("coll_first", coll.1);
    facts
}

fn led(facts: &FactValues, place: &str) -> BottleneckSearch {
    let rules = Rules::builtin();
    let mut search = rules.search(facts, None);
    let words = "That rank is late.".to_owned();
    let lead = FindingLead { place: place.to_owned(), rules: &["late-senders"], words };
    rules.lead(&mut search, &lead);
    search
}

/// The findings by their few words, and whether each begins with what is known of the rank.
fn told(search: &BottleneckSearch) -> Vec<(&str, bool)> {
    let leads = FindingWord::Text("That rank is late. ".to_owned());
    let findings = search.findings.iter();
    findings.map(|found| (&*found.what, found.sentence.first() == Some(&leads))).collect()
}

const SENDERS: &str = "ranks that wait for late senders";
const COLLECTIVES: &str = "ranks that wait in collectives";
const SEVERAL: &str = "ranks that wait for others in several ways";

#[test]
fn a_finding_about_the_rank_begins_with_what_is_known_of_it() {
    let two = waiting((10.0, "rank 3"), (20.0, "rank 2"));
    assert_eq!(told(&led(&two, "rank 3")), [(COLLECTIVES, false), (SENDERS, true)]);
    assert_eq!(told(&led(&two, "rank 1")), [(COLLECTIVES, false), (SENDERS, false)]);
    // Of a kind that is not that of its waits the few words name none.
    let search = led(&two, "rank 2");
    assert_eq!(told(&search), [(SEVERAL, true), (SENDERS, false)]);
    let next = format!("{:?}", search.findings[0].next);
    assert!(next.contains("Look at which rank is late"), "{next}");
    assert_eq!(search.findings[0].rule, "late-to-collectives");
    // One cause, told once.
    let one = waiting((10.0, "rank 3"), (20.0, "rank 3"));
    assert_eq!(told(&led(&one, "rank 3")), [(SEVERAL, true)]);
}

/// What is in doubt or was seen seldom begins so, too, if nothing surer does.
#[test]
fn what_may_be_begins_so_too() {
    let mut facts = waiting((10.0, "rank 3"), (1.0, "rank 3"));
    facts.number("late_calls", 10.0);
    facts.number("late_longest", 0.01);
    facts.number("lateunk_share", 0.0);
    let search = led(&facts, "rank 3");
    let [seldom] = &search.seldom[..] else { panic!("{search:?}") };
    let first = seldom.finding.sentence.first();
    assert_eq!(first, Some(&FindingWord::Text("That rank is late. ".to_owned())), "{search:?}");
}

/// That a rank came late to the start of MPI is no matter of the waits behind it.
#[test]
fn what_is_late_to_the_start_is_told_by_itself() {
    let mut facts = waiting((1.0, "rank 3"), (1.0, "rank 3"));
    for (name, value) in [
        ("init_share", 5.0),
        ("init_cost", 5.0),
        ("init_sum", 20.0),
        ("init_later", 1.5),
        ("init_before", 1.7),
        ("init_others_before", 0.1),
    ] {
        facts.number(name, value);
    }
    facts.text("init_who", "rank 3");
    assert_eq!(told(&led(&facts, "rank 3")), [("ranks that wait at the beginning", false)]);
}

/// Where it is not known what ranks wait for others, no such wait is ruled out.
#[test]
fn what_ranks_without_a_profile_may_cause_is_not_ruled_out() {
    let rules = Rules::builtin();
    let facts = waiting((1.0, "rank 3"), (1.0, "rank 3"));
    let mut search = rules.search(&facts, None);
    let is_ruled_out =
        |search: &BottleneckSearch, what| search.ruled_out.iter().any(|of| of == what);
    assert!(is_ruled_out(&search, SENDERS) && is_ruled_out(&search, COLLECTIVES));
    let before = search.ruled_out.len();
    rules.reopen(&mut search, &facts);
    assert!(!is_ruled_out(&search, SENDERS) && !is_ruled_out(&search, COLLECTIVES));
    assert_eq!(search.ruled_out.len() + search.not_ruled_out.len(), before);
    let open = |what: &str| (what.to_owned(), 3.0);
    for what in [SENDERS, COLLECTIVES] {
        assert!(search.not_ruled_out.contains(&open(what)), "{search:?}");
    }
}
