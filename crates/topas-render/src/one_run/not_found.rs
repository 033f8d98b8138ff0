//! That there is no run of a name, and what may help.

use topas_data::{FoundRuns, Inputs, RunName};

use crate::runs::day;
use crate::skipped::looked_at;
use crate::wording::{clean, count};

/// What happened, and what to do about it: names that are similar, days that were read, names
/// that no line has.
pub fn not_found(
    name: &str,
    kind: &RunName,
    found: &FoundRuns,
    inputs: &Inputs,
) -> (String, String) {
    let seen = &found.seen;
    if found.outside > 0 {
        let runs = count(found.outside, "run");
        let what = format!("{runs} of {name} ended outside the period, and none within");
        return (what, "leave out --since, --until and --period".to_owned());
    }
    let Some((first, last)) = seen.days else {
        let what = format!("no run of {name}: no line counts");
        let hint = match found.tally.good {
            0 => format!("looked at {}", looked_at(inputs, found.tally.lines(), &[])),
            n => format!("the selections leave none of {}", count(n, "line")),
        };
        return (what, hint);
    };
    let lines = count(seen.lines, "line");
    let what = format!("no run of {name} in {lines} from {} to {}", day(first), day(last));
    let (what_is_it, option) = match kind {
        RunName::Job(_) => ("a job id", "--job"),
        RunName::Id(_) => ("a launch id", "--run"),
    };
    let similar: Vec<String> = seen.similar.iter().map(|name| clean(name)).collect();
    let hint = if seen.named == 0 {
        format!("none of these lines has {what_is_it}; --runs lists runs")
    } else if similar.is_empty() {
        "a run has its line when it has ended; --runs lists runs".to_owned()
    } else {
        format!(
            "similar: {}",
            similar.iter().map(|name| format!("{option} {name}")).collect::<Vec<_>>().join(", ")
        )
    };
    (what, hint)
}
