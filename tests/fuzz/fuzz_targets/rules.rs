//! Any text as the rules of a center: what is faulty is told with its line, rules that are built in
//! are never lost, and what is read is asked of facts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topas_findings::{FactValues, Rules};

fuzz_target!(|text: &str| {
    let lines = text.lines().count() as u32;
    let (rules, faults) = Rules::with(&[("center".to_owned(), text.to_owned())]);
    for fault in &faults {
        assert!(fault.line >= 1 && fault.line <= lines.max(1), "{fault}");
    }
    let mut facts = FactValues::default();
    for (name, value) in [("npes", 64.0), ("wall", 120.5), ("earlier_runs", 0.0), ("ipc", -1.0)] {
        facts.number(name, value);
    }
    facts.text("ending", "exit:0");
    facts.quantity("imbalance_share", f64::MAX, "%");
    for rule in &rules.rules {
        let _ = rule.look(&facts);
    }
    let _ = (rules.of_run(&facts), rules.of_part(&facts));
});
