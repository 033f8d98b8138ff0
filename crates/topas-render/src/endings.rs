//! What tables of endings do not tell, and by which MPI.

use serde_json::{Value, json};
use topas_data::{EndingGap, EndingGaps};
use topas_format::shown::Shown;

use crate::wording::runs;

/// How many runs there are of each MPI, as `2 Open MPI, 1 of an unknown MPI`, the most first.
fn by_mpi(gaps: &EndingGaps, of: fn(&EndingGap) -> u64) -> String {
    let mut parts: Vec<(u64, String)> = gaps
        .iter()
        .filter(|(_, gap)| of(gap) > 0)
        .map(|(mpi, gap)| {
            let name = mpi.as_ref().map_or("of an unknown MPI".into(), |m| Shown(m).to_string());
            (of(gap), name)
        })
        .collect();
    parts.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    parts.iter().map(|(n, name)| format!("{n} {name}")).collect::<Vec<_>>().join(", ")
}

/// Sentences below the tables.
pub(crate) fn notes(gaps: &EndingGaps) -> Vec<String> {
    let sum = |of: fn(&EndingGap) -> u64| gaps.values().map(of).sum::<u64>();
    let mut notes = vec![
        "Endings: of lines that differ, the worse one. with-others: by SIGTERM or SIGKILL, by \
         which launchers end all ranks after one failed."
            .to_owned(),
    ];
    let unknown = sum(|gap| gap.unknown);
    if unknown > 0 {
        let by = by_mpi(gaps, |gap| gap.unknown);
        notes.push(format!("- : {} without a known ending ({by})", runs(unknown)));
    }
    let single = sum(|gap| gap.single);
    if single > 0 {
        let by = by_mpi(gaps, |gap| gap.single);
        notes.push(format!(
            "{} left one line of two ({by}): how the other rank ended is not known.",
            runs(single)
        ));
    }
    notes.push(
        "Not in the log: runs of which SIGKILL or _exit ended all measuring ranks. MPICH ends the \
         other ranks by SIGKILL after one failed, Open MPI by SIGTERM, which leaves a line only \
         with sigterm = yes in topas.conf."
            .to_owned(),
    );
    notes
}

/// The same for programs.
pub(crate) fn json(gaps: &EndingGaps) -> Value {
    let of = |of: fn(&EndingGap) -> u64| -> Vec<Value> {
        let gaps = gaps.iter().filter(|(_, gap)| of(gap) > 0);
        gaps.map(|(mpi, gap)| {
            json!({ "mpi": mpi.as_ref().map(|mpi| Shown(mpi).to_string()), "runs": of(gap) })
        })
        .collect()
    };
    json!({ "not_known": of(|gap| gap.unknown), "one_line_of_two": of(|gap| gap.single) })
}
