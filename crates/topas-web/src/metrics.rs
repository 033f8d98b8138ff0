//! Sums of the center in OpenMetrics form.

use std::fmt::Write;

use topas_data::measure::MEASURES;
use topas_store::{Store, StoreError, sums_of_all};

/// All sums: totals that only grow, so that a monitor computes rates itself.
pub fn text(store: &mut dyn Store) -> Result<String, StoreError> {
    let sums = sums_of_all(store)?;
    let mut text = String::new();
    let all = sums.as_ref().map(|sums| sums.all().share()).unwrap_or_default();
    let _ = writeln!(
        text,
        "# TYPE topas_runs counter\n# HELP topas_runs Runs that were measured.\ntopas_runs_total {}\n\
         # TYPE topas_pe_seconds counter\n# UNIT topas_pe_seconds seconds\n\
         # HELP topas_pe_seconds Number of PEs times wall clock time of these runs.\n\
         topas_pe_seconds_total {}",
        all.runs,
        all.time.0 as f64 / 1e6
    );
    for measure in MEASURES {
        let sample = sums.as_ref().and_then(|sums| sums.sample(measure.name));
        let Some(sum) = sample.and_then(|sample| sample.sum(measure)) else { continue };
        let (name, about) = (measure.name, measure.sum.0);
        if about.is_empty() || name == "pe_hours" {
            continue;
        }
        let unit = measure.sum.1;
        let _ = writeln!(
            text,
            "# TYPE topas_{name}_upper gauge\n# HELP topas_{name}_upper Sum of {about} in {unit}, \
             extrapolated from {} to {} PEs of {} runs.\ntopas_{name}_upper {}",
            sum.pes, sum.all_pes, sum.runs, sum.value
        );
    }
    text += "# EOF\n";
    Ok(text)
}
