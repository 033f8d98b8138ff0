//! What the lack of processors explains is no finding.

use topas_findings::{FactValues, Rules};

/// A rank may come to the end last because others took its processor.
#[test]
fn the_last_rank_may_have_lacked_a_processor() {
    let mut facts = FactValues::from([
        ("npes", 2.0),
        ("wall", 5.0),
        ("waits_known", 1.0),
        ("finalize_share", 10.8),
        ("finalize_sum", 1.1),
        ("finalize_cost", 0.55),
        ("finalize_gain", 1.1),
        ("preempted_rate", 200.0),
        ("processor_share", 60.0),
        ("taken_sum", 4.0),
    ]);
    facts.text("finalize_who", "rank 1");
    let search = Rules::builtin().search(&facts, None);
    assert!(search.findings.is_empty() && search.unsure.len() == 1, "{search:?}");
    assert_eq!(search.unsure[0].rule, "late-to-finalize");
    facts.number("taken_sum", 0.01);
    let search = Rules::builtin().search(&facts, None);
    assert_eq!(search.findings[0].rule, "late-to-finalize");
    assert_eq!(search.findings.len(), 1);
}
