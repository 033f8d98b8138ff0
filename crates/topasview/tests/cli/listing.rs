//! Listing 5 of the 1999 paper, digit for digit.

use super::{directory, rate_line, shown};

/// Sixteen values that the listing fits, in thousandths of a MFlop/s, by PE.
const RATES: [u64; 16] = [
    97_218, 96_100, 96_342, 96_104, 96_125, 95_922, 96_141, 96_168, 96_174, 95_783, 96_211, 96_243,
    96_271, 95_994, 96_303, 96_340,
];

const SUMMARY: &str = "\
***    95.783 on pe 9
min    95.922 on pe 5
q25    96.103
q50    96.171
q75    96.279
max    96.342 on pe 2
***    97.218 on pe 0

mean   96.215
rho     0.307
";

const CLUSTERS: &str = "\
95-96:  5, 9, 13
96-97:  1-4, 6-8, 10-12, 14-15
97-98:  0
";

fn text() -> String {
    (0..).zip(RATES).map(|(pe, rate)| rate_line(pe, 16, rate)).collect()
}

#[test]
fn listing_5_comes_back() {
    let dir = directory(text());
    assert_eq!(shown(dir.path(), &["--stat", "--no-heading"]), SUMMARY);
    assert_eq!(shown(dir.path(), &["--cluster", "--no-heading"]), CLUSTERS);
    let both = shown(dir.path(), &["--stat", "--cluster"]);
    assert_eq!(
        both,
        format!(
            "cpmd of mohr, 16 PEs, 1999/08/23 12:00:00, launch 4711\n\nMFlop/s per PE\n\n\
             {SUMMARY}\n{CLUSTERS}"
        )
    );
}

#[test]
fn words_behind_stat_are_columns_or_files() {
    let dir = directory(text());
    let file = shown(dir.path(), &["--no-heading", "--stat", "topas.out"]);
    assert_eq!(file, SUMMARY);
    let wall = shown(dir.path(), &["--no-heading", "--stat", "wall", "topas.out"]);
    assert!(wall.starts_with("min    1000.000 on pe 0\n"), "{wall}");
    let file = shown(dir.path(), &["--no-heading", "--cluster", "topas.out"]);
    assert_eq!(file, CLUSTERS);
    let half = shown(dir.path(), &["--no-heading", "--cluster", "0.5"]);
    assert!(half.starts_with("95.5-96:  5, 9, 13\n96-96.5:  1-4,"), "{half}");
    assert!(half.ends_with("97-97.5:  0\n"), "{half}");
}

/// Of many extremes the farthest are shown, and how many more there are.
#[test]
fn extremes_beyond_ten_are_counted() {
    let mut text: String = (0..100).map(|pe| rate_line(pe, 115, 96_000 + u64::from(pe))).collect();
    text.extend((100..112).map(|pe| rate_line(pe, 115, 200_000 + u64::from(pe))));
    text.extend((112..115).map(|pe| rate_line(pe, 115, u64::from(pe))));
    let dir = directory(text);
    let short = shown(dir.path(), &["--stat", "--no-heading"]);
    assert_eq!(short.matches("***").count(), 3 + 10 + 1);
    assert!(short.contains("\n*** 2 more above max\n***    200.102 on pe 102\n"), "{short}");
    let long = shown(dir.path(), &["--stat", "--no-heading", "--all"]);
    assert_eq!(long.matches("***").count(), 15);
    assert!(!long.contains("more"));
}
