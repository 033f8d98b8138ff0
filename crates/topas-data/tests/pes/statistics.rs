//! The statistical summary and the clusters of the 1999 paper's Listing 5.

use topas_data::pes::{Cluster, Column, PeRange, summary, unit_clusters, values};

use super::{rate_line, table};

/// Sixteen values that the listing fits, in thousandths of a MFlop/s, by PE.
pub const LISTING_5: [u64; 16] = [
    97_218, 96_100, 96_342, 96_104, 96_125, 95_922, 96_141, 96_168, 96_174, 95_783, 96_211, 96_243,
    96_271, 95_994, 96_303, 96_340,
];

pub fn listing_5() -> String {
    (0..).zip(LISTING_5).map(|(pe, rate)| rate_line(pe, 16, rate)).collect()
}

#[test]
fn listing_5_comes_back() {
    let table = table(listing_5().as_bytes());
    let rates = values(&table, Column::Rate);
    let summary = summary(&rates).unwrap();
    assert_eq!(summary.low, [(95.783, 9)]);
    assert_eq!(summary.min, (95.922, 5));
    assert_eq!(summary.quartiles.map(|q| format!("{q:.3}")), ["96.103", "96.171", "96.279"]);
    assert_eq!(summary.max, (96.342, 2));
    assert_eq!(summary.high, [(97.218, 0)]);
    assert_eq!(format!("{:.3}", summary.mean), "96.215");
    assert_eq!(format!("{:.3}", summary.deviation.unwrap()), "0.307");

    let range = |first, last| PeRange { first, last };
    let expected = [
        (95.0, 3, vec![range(5, 5), range(9, 9), range(13, 13)]),
        (96.0, 12, vec![range(1, 4), range(6, 8), range(10, 12), range(14, 15)]),
        (97.0, 1, vec![range(0, 0)]),
    ]
    .map(|(from, count, pes)| Cluster { from, to: from + 1.0, count, pes });
    assert_eq!(unit_clusters(&table, &rates, 1.0), expected);
}

#[test]
fn one_value_and_equal_values() {
    let one = summary(&values(&table(rate_line(3, 4, 5000).as_bytes()), Column::Rate)).unwrap();
    assert_eq!((one.min, one.max, one.mean, one.deviation), ((5.0, 0), (5.0, 0), 5.0, None));
    assert_eq!(one.quartiles, [5.0; 3]);
    let text: String = (0..8).map(|pe| rate_line(pe, 8, 7000)).collect();
    let equal = summary(&values(&table(text.as_bytes()), Column::Rate)).unwrap();
    assert_eq!((equal.min, equal.max, equal.deviation), ((7.0, 0), (7.0, 0), Some(0.0)));
    assert!(equal.low.is_empty() && equal.high.is_empty());
}

#[test]
fn what_was_not_counted_is_no_value() {
    let text = rate_line(0, 3, 1000)
        + &rate_line(1, 3, 1000).replace("f=1000000000", "f=-")
        + &rate_line(2, 3, 1000).replace("1000.000 f", "0.000 f");
    let rates = values(&table(text.as_bytes()), Column::Rate);
    assert_eq!((rates.values, rates.missing), (vec![(1.0, 0)], 2));
    let table = table(text.replace("f=1000000000", "f=-").as_bytes());
    assert!(summary(&values(&table, Column::Rate)).is_none());
}

#[test]
fn most_pes_tell_what_was_counted() {
    let text = rate_line(0, 3, 1000)
        + &rate_line(1, 3, 1000).replace("f=", "i=")
        + &rate_line(2, 3, 2000).replace("f=", "i=");
    let table = table(text.as_bytes());
    assert_eq!((table.metric.letter(), table.others), (b'i', 1));
    assert_eq!(values(&table, Column::Counter).missing, 1);
    assert_eq!(values(&table, Column::MissesPerOperation).missing, 1);
    assert_eq!(values(&table, Column::Misses).missing, 0);
}
