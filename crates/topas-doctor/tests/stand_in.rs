//! The doctor's counting against a stand-in for the counters: every row of the event
//! table, right and wrong counts, refusals, groups that do not fit, events in turns.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use topas_doctor::json as report;
use topas_doctor::metric::Quantity;
use topas_doctor::report::Counting;
use topas_doctor::selftest;
use topas_format::event::{Cpu, Family, Metric, TABLES};
use topas_testkit::pmu::{self, PmuAnswer, PmuOutcome, PmuPlan};

/// Set in the child under the stand-in: which processor it takes itself for.
const CPU: &str = "TOPAS_DOCTOR_TEST_CPU";

/// What stands before the child's answer, among the words of the test harness.
const MARK: &str = "counting: ";

const SKYLAKE: Cpu = Cpu { family: Family::Intel, number: 6, model: 0x55 };
const ZEN5: Cpu = Cpu { family: Family::Amd, number: 26, model: 2 };

/// A processor of each row of the event tables but the row of unknown ones.
fn of_every_row() -> Vec<Cpu> {
    let rows = TABLES.iter().flat_map(|table| {
        (1..table.rows.len()).map(|row| {
            let models = table.models.iter().find(|models| usize::from(models.row) == row);
            models.expect("a model of every row").first
        })
    });
    rows.collect()
}

fn encode(cpu: Cpu) -> String {
    format!("{}:{}:{}", cpu.family as u8, cpu.number, cpu.model)
}

fn decode(text: &str) -> Cpu {
    let numbers: Vec<u16> = text.split(':').map(|n| n.parse().expect(text)).collect();
    let families = [Family::Intel, Family::Amd, Family::Arm, Family::Power, Family::RiscV];
    let family = families[usize::from(numbers[0])];
    Cpu { family, number: numbers[1] as u8, model: numbers[2] }
}

/// What runs under the stand-in: counts and prints what came out.
fn count_as(cpu: Cpu) {
    let counting = Counting::on(Some(cpu), true);
    let answer = json!({
        "complete": counting.is_complete(),
        "none": counting.is_none(),
        "quantities": counting.findings.iter().map(report::finding).collect::<Vec<_>>(),
        "together": counting.combinations.iter().map(report::combination).collect::<Vec<_>>(),
    });
    println!("\n{MARK}{answer}");
}

fn under(plan: &PmuPlan, cpu: Cpu) -> (Value, PmuOutcome) {
    let mut command = Command::new(std::env::current_exe().expect("path of the test"));
    command.args([
        "--exact",
        "a_processor_of_every_row_is_tried",
        "--nocapture",
        "--test-threads=1",
    ]);
    command.env(CPU, encode(cpu)).stdin(Stdio::null());
    let outcome = pmu::run(plan, command).expect("the stand-in");
    let text = String::from_utf8(outcome.stdout.clone()).unwrap();
    let answer = text.lines().find_map(|line| line.strip_prefix(MARK));
    let answer = answer.unwrap_or_else(|| {
        panic!("no answer: {text}\n{}", String::from_utf8_lossy(&outcome.stderr))
    });
    (serde_json::from_str(answer).unwrap(), outcome)
}

/// A PMU whose counts are right: the first event of a formula has all of it.
fn right(cpu: Cpu) -> PmuPlan {
    let mut plan = PmuPlan::new();
    for quantity in Quantity::ALL {
        let expected = selftest::plan(quantity).map(|(_, _, expected)| expected).next();
        // A loop for cycles has a lower bound only.
        let factor = if quantity == Quantity::Cycles { 3 } else { 1 };
        for (place, event) in quantity.events(Some(cpu)).0.into_iter().enumerate() {
            let value = if place == 0 { expected.unwrap_or(1) * factor / event.weight } else { 0 };
            plan = plan.event(event.kind, event.config, PmuAnswer::count(value));
        }
    }
    plan
}

fn quantity<'a>(answer: &'a Value, key: &str) -> &'a Value {
    let all = answer["quantities"].as_array().unwrap();
    all.iter().find(|q| q["quantity"] == key).unwrap_or_else(|| panic!("no {key}"))
}

fn verdicts<'a>(answer: &'a Value, key: &str) -> Vec<&'a str> {
    let checks = quantity(answer, key)["self_test"].as_array().unwrap();
    checks.iter().map(|check| check["verdict"].as_str().unwrap()).collect()
}

#[test]
fn right_counts_of_every_row_are_found_right() {
    for cpu in of_every_row() {
        let (answer, outcome) = under(&right(cpu), cpu);
        assert_eq!(answer["complete"], true, "{cpu:?}: {answer:#}");
        for key in ["loads", "stores", "l1miss", "cycles", "instructions"] {
            assert_eq!(verdicts(&answer, key), ["ok"], "{cpu:?} {key}");
        }
        let float = verdicts(&answer, "fpops");
        let has_event = !Quantity::Metric(Metric::FpOps).events(Some(cpu)).0.is_empty();
        assert_eq!(float.contains(&"ok"), has_event, "{cpu:?} {float:?}");
        assert!(float.iter().all(|v| ["ok", "not-run"].contains(v)), "{cpu:?} {float:?}");
        // As the module opens them: user mode only, inherited, closed on exec.
        for call in outcome.calls.iter() {
            let attr = &call.attr;
            assert!(attr.inherit() && attr.exclude_kernel() && attr.exclude_hv(), "{call}");
            assert!(!attr.disabled() && call.flags & 8 != 0 && call.is_open(), "{call}");
        }
        assert!(outcome.calls.iter().any(|call| call.leader.is_some()), "no group was tried");
    }
}

#[test]
fn integer_operations_have_no_event_on_x86_and_that_is_no_fault() {
    let (answer, _) = under(&right(ZEN5), ZEN5);
    let integer = quantity(&answer, "intops");
    assert_eq!((&integer["counted"], &integer["why"]), (&json!(false), &json!("event")));
    assert_eq!((&integer["expected_here"], &answer["complete"]), (&json!(false), &json!(true)));
}

#[test]
fn half_the_count_is_off_by_half() {
    let plan = right(SKYLAKE).event(4, 0x03c7, PmuAnswer::count(selftest::AMOUNT / 2));
    let (answer, _) = under(&plan, SKYLAKE);
    assert_eq!(answer["complete"], false);
    for check in quantity(&answer, "fpops")["self_test"].as_array().unwrap() {
        if check["verdict"] != "not-run" {
            assert_eq!(check["verdict"], "off");
            assert_eq!(check["off_by_percent"], -50.0);
            assert_eq!(check["measured"], selftest::AMOUNT / 2);
        }
    }
    assert_eq!(verdicts(&answer, "loads"), ["ok"]);
}

/// Weights and masks of the formula reach the sum: 16 operations for each 512-bit count.
#[test]
fn every_event_of_a_formula_has_its_weight_in_the_sum() {
    let terms = [(0x03c7, 1), (0x04c7, 2), (0x18c7, 4), (0x60c7, 8), (0x80c7, 16)];
    for (config, weight) in terms {
        let mut plan = right(SKYLAKE).event(4, 0x03c7, PmuAnswer::count(0));
        plan = plan.event(4, config, PmuAnswer::count(selftest::AMOUNT / weight));
        let (answer, _) = under(&plan, SKYLAKE);
        assert!(verdicts(&answer, "fpops").contains(&"ok"), "{config:#x}");
        assert_eq!(answer["complete"], true, "{config:#x}");
    }
}

#[test]
fn an_event_that_opens_and_counts_nothing_is_told() {
    let (answer, _) = under(&right(ZEN5).event(4, 0x0529, PmuAnswer::count(0)), ZEN5);
    assert_eq!(verdicts(&answer, "loads"), ["silent"]);
    assert_eq!(answer["complete"], false);
}

#[test]
fn refusals_have_the_reason_of_the_error_number() {
    for (errno, name, why) in [
        (libc::EACCES, "EACCES", "paranoid"),
        (libc::EPERM, "EPERM", "seccomp"),
        (libc::ENOENT, "ENOENT", "pmu"),
        (libc::ENOSYS, "ENOSYS", "kernel"),
        (libc::EBUSY, "EBUSY", "shared"),
    ] {
        let (answer, _) = under(&PmuPlan::new().others(PmuAnswer::Refuse(errno)), ZEN5);
        assert_eq!((&answer["complete"], &answer["none"]), (&json!(false), &json!(true)));
        let loads = quantity(&answer, "loads");
        assert_eq!((&loads["why"], &loads["events"][0]["errno"]), (&json!(why), &json!(name)));
        assert_eq!(loads["self_test"], json!([]));
        assert_eq!(answer["together"], json!([]));
    }
    // One event of five refused: the sum would be wrong, so there is none.
    let plan = right(SKYLAKE).event(4, 0x60c7, PmuAnswer::Refuse(libc::EINVAL));
    let (answer, _) = under(&plan, SKYLAKE);
    assert_eq!(quantity(&answer, "fpops")["why"], "refused");
    assert_eq!(verdicts(&answer, "loads"), ["ok"]);
    assert_eq!((&answer["complete"], &answer["none"]), (&json!(false), &json!(false)));
}

#[test]
fn paranoid_kernels_refuse_and_say_so() {
    let (answer, _) = under(&right(ZEN5).paranoid(3), ZEN5);
    assert_eq!(quantity(&answer, "cycles")["why"], "paranoid");
    assert_eq!(answer["none"], true);
}

#[test]
fn events_that_do_not_fit_together_are_opened_alone() {
    let (answer, outcome) = under(&right(SKYLAKE).group(4), SKYLAKE);
    let float = &answer["together"][0];
    assert_eq!((&float["quantity"], &float["events"]), (&json!("fpops"), &json!(8)));
    // The stand-in gives events opened alone all the time they want.
    assert_eq!((&float["state"], &answer["complete"]), (&json!("all-the-time"), &json!(true)));
    assert!(outcome.calls.iter().any(|call| call.leader.is_some() && !call.is_open()));
}

#[test]
fn counts_of_events_in_turns_are_scaled_with_their_share() {
    let half = |value| PmuAnswer::Count { value, running_per_mille: 500 };
    let plan = right(ZEN5).event(4, 0x0529, half(selftest::AMOUNT));
    let (answer, _) = under(&plan, ZEN5);
    let check = &quantity(&answer, "loads")["self_test"][0];
    assert_eq!((&check["verdict"], &check["share_per_mille"]), (&json!("ok"), &json!(500)));
    let together = answer["together"].as_array().unwrap();
    let loads = together.iter().find(|c| c["quantity"] == "loads").unwrap();
    assert_eq!((&loads["state"], &loads["share_per_mille"]), (&json!("in-turns"), &json!(500)));
    assert_eq!(answer["complete"], true);
}

#[test]
fn a_counter_that_others_hold_is_shared() {
    for held in ["never", "unreadable"] {
        let text = format!("{}\n", right(ZEN5).event(4, 0xe060, PmuAnswer::Unreadable));
        let plan: PmuPlan = text.replace("unreadable", held).parse().unwrap();
        let (answer, _) = under(&plan, ZEN5);
        let check = &quantity(&answer, "l1miss")["self_test"][0];
        assert_eq!((&check["verdict"], &check["why"]), (&json!("not-counted"), &json!("shared")));
        assert_eq!(answer["together"][0]["state"], "never", "{held}");
        assert_eq!(answer["complete"], false);
    }
}

/// Names of processors survive the way to the child, which this is under the stand-in.
#[test]
fn a_processor_of_every_row_is_tried() {
    if let Ok(cpu) = std::env::var(CPU) {
        return count_as(decode(&cpu));
    }
    for cpu in of_every_row() {
        assert_eq!(decode(&encode(cpu)), cpu);
    }
}
