//! Names of the rows for people; never linked into a user program.

/// Per row of [`super::ROWS`]: processors, and what to know of their counts.
pub const ROW_NAMES: &[(&str, &str)] = &[
    (
        "Intel Broadwell, Skylake client",
        "4 counters of a thread hold FP operations alone: shared in turns",
    ),
    ("Intel Skylake-SP to Granite Rapids", "no x87, MMX or AMX operations; FP16 not counted"),
    ("Intel Sierra Forest, Grand Ridge", "L1 misses of loads only"),
    ("AMD Zen 1", "loads and stores are dispatched, not retired"),
    ("AMD Zen 2, Zen 3", "loads and stores are dispatched, not retired"),
    ("AMD Zen 4", "loads and stores are dispatched, not retired"),
    ("AMD Zen 5", "loads and stores are dispatched, not retired"),
    ("Arm Neoverse N1", "has no event for FP operations; others are speculative"),
    ("Arm Neoverse V1, N2, V2", "speculative: over-counts; SVE by the vector length in force"),
    ("Fujitsu A64FX", "speculative: over-counts; SVE by the vector length in force"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::table::TERMS;
    use crate::event::{FORMULAS, MODELS, ROWS};

    #[test]
    fn every_row_has_a_name_and_every_index_exists() {
        assert_eq!(ROW_NAMES.len(), ROWS.len());
        for model in MODELS {
            assert!(usize::from(model.row) < ROWS.len());
        }
        for row in ROWS {
            assert!(row.iter().all(|&f| usize::from(f) < FORMULAS.len()));
        }
        let used: usize = FORMULAS.iter().map(|f| f.terms().count()).sum();
        assert_eq!(used, TERMS.len());
        for index in 1..FORMULAS.len() as u8 {
            assert!(ROWS.iter().any(|r| r.contains(&index)), "formula {index} unused");
        }
    }
}
