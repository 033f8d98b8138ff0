//! What is put in is what is found; noise is not.

use topas_data::pes::{Column, Grouping, PeFinding, PeRange, Subject, findings};

use super::synthetic::{Imbalance, Launch};
use super::{rate_line, table};

fn found(launch: &Launch) -> Vec<PeFinding> {
    findings(&table(&launch.text())).findings
}

fn pes(finding: &PeFinding) -> Vec<(u32, u32)> {
    finding.subject.pes().iter().map(|range| (range.first, range.last)).collect()
}

fn evidence(finding: &PeFinding, column: Column) -> f64 {
    let of = finding.evidence.iter().find(|evidence| evidence.column == column);
    of.unwrap_or_else(|| panic!("no evidence of {column:?} in {finding:?}")).difference()
}

/// Effects of 10 and 30 %, noise of 1 and 2 %, many seeds: found each time, and alone.
fn each_time(imbalance: Imbalance, check: impl Fn(&PeFinding, f64)) {
    for (effect, noise) in [(0.3, 0.01), (0.3, 0.02), (0.12, 0.01)] {
        for seed in 0..40 {
            let launch = Launch { imbalance, effect, noise, seed, ..Launch::default() };
            let all = found(&launch);
            assert_eq!(all.len(), 1, "{launch:?}: {all:#?}");
            check(&all[0], effect);
        }
    }
}

#[test]
fn one_slow_pe_of_64() {
    each_time(Imbalance::SlowPe(9), |finding, effect| {
        let pes = vec![PeRange { first: 9, last: 9 }];
        assert_eq!(finding.subject, Subject::Pes { pes, host: Some(1) });
        assert_eq!((finding.count, finding.classes), (1, 1));
        assert!((evidence(finding, Column::CpuTime) - effect).abs() < 0.1, "{finding:?}");
    });
}

#[test]
fn one_pe_with_more_work() {
    each_time(Imbalance::MoreWork(40), |finding, effect| {
        assert_eq!(pes(finding), [(40, 40)]);
        assert!((evidence(finding, Column::Counter) - effect).abs() < 0.05, "{finding:?}");
        assert!((evidence(finding, Column::CpuTime) - effect).abs() < 0.1, "{finding:?}");
    });
}

#[test]
fn two_speed_classes() {
    each_time(Imbalance::TwoSpeeds, |finding, _| {
        assert_eq!((finding.count, finding.classes), (32, 2), "{finding:?}");
        assert!(pes(finding).iter().all(|(first, last)| first == last && first % 2 == 1));
    });
}

#[test]
fn a_slow_host() {
    each_time(Imbalance::SlowHost(3), |finding, effect| {
        let Subject::Groups { by: Grouping::Host, groups, pes } = &finding.subject else {
            panic!("{finding:?}");
        };
        assert_eq!(
            (&groups[..], &pes[..]),
            (&[(3, None)][..], &[PeRange { first: 24, last: 31 }][..])
        );
        assert!((evidence(finding, Column::CpuTime) - effect).abs() < 0.1, "{finding:?}");
    });
}

#[test]
fn a_slow_numa_node() {
    each_time(Imbalance::SlowNuma(1), |finding, _| {
        let Subject::Groups { by: Grouping::Numa, groups, .. } = &finding.subject else {
            panic!("{finding:?}");
        };
        assert_eq!(groups[..], [(0, Some(1))]);
    });
}

/// In a program that does not synchronise it is the rate that tells.
#[test]
fn a_slow_host_without_synchronisation() {
    let imbalance = Imbalance::SlowHost(3);
    let launch = Launch { imbalance, synchronised: false, ..Launch::default() };
    let all = found(&launch);
    assert_eq!(all.len(), 1, "{all:#?}");
    assert!(evidence(&all[0], Column::Rate) < -0.2 && evidence(&all[0], Column::Wall) > 0.25);
}

/// A slow PE on top of two speeds.
#[test]
fn two_causes_are_two_findings() {
    let fast = Launch { imbalance: Imbalance::TwoSpeeds, ..Launch::default() };
    let slow =
        Launch { imbalance: Imbalance::SlowPe(9), effect: 1.0, seed: 5, ..Launch::default() };
    let (fast, slow) = (fast.text(), slow.text());
    let lines = |text: &[u8]| -> Vec<Vec<u8>> {
        text.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect()
    };
    let mut mixed = lines(&fast);
    mixed[9] = lines(&slow)[9].clone();
    let all = findings(&table(&mixed.concat())).findings;
    let of_nine: Vec<_> = all.iter().filter(|finding| pes(finding) == [(9, 9)]).collect();
    assert_eq!(of_nine.len(), 1, "{all:#?}");
    assert!(all.iter().any(|finding| finding.classes == 2), "{all:#?}");
}

/// As few PEs as a laptop runs, with the noise of a busy one.
#[test]
fn twice_the_time_stands_out_among_eight() {
    let rates = [1000, 930, 1070, 960, 1110, 500, 940, 1050];
    let text: String = rates.iter().zip(0..).map(|(rate, pe)| rate_line(pe, 8, *rate)).collect();
    let all = findings(&table(text.as_bytes())).findings;
    assert!(all.iter().any(|finding| pes(finding) == [(5, 5)]), "{all:#?}");
    let even: String =
        rates.iter().zip(0..).map(|(rate, pe)| rate_line(pe, 8, (*rate).max(900))).collect();
    assert_eq!(findings(&table(even.as_bytes())).findings, []);
}

#[test]
fn few_pes_and_short_runs_are_not_judged() {
    let text: String =
        [1000, 2000, 9000].iter().zip(0..).map(|(r, pe)| rate_line(pe, 3, *r)).collect();
    let few = findings(&table(text.as_bytes()));
    assert!(few.looked_at.is_empty() && few.findings.is_empty());
    let short = Launch {
        imbalance: Imbalance::SlowPe(9),
        busy: 50_000,
        counted: false,
        ..Launch::default()
    };
    assert!(found(&short).is_empty(), "a slow start of 15 ms");
}

/// Distributions of noise: mean 1, standard deviation about that given.
#[derive(Clone, Copy, Debug)]
enum Noise {
    Normal,
    Uniform,
    LogNormal,
    /// A share of 1, and an exponential one on top: as disturbed by an operating system
    Exponential,
}

/// How many of `runs` runs of 64 PEs have a finding, in noise alone of `share`.
fn false_findings(noise: Noise, share: f64, runs: usize) -> usize {
    let mut state = 88_172_645_463_325_252u64;
    let mut unit = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut value = || -> f64 {
        let (a, b) = (1.0 - unit(), unit());
        let normal = (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos();
        match noise {
            Noise::Normal => 1.0 + share * normal,
            Noise::Uniform => 1.0 + share * 12f64.sqrt() * (b - 0.5),
            Noise::LogNormal => (share * normal).exp(),
            Noise::Exponential => 1.0 - share * a.ln(),
        }
        .max(0.01)
    };
    let mut false_ones = 0;
    for _ in 0..runs {
        let mut text = String::new();
        for pe in 0..64 {
            let (user, wall) = (40.0 * value(), 50.0 * value());
            let operations = 4e9 * value();
            let (host, node) = (pe / 8, pe % 8 / 4);
            text += &topas_testkit::with_lengths(&format!(
                "2026/11/20 08:01:02 mohr cpmd {pe} 64 t2596 B f90 mpi {user:.6} 0.100 {wall:.6} \
                 f={operations:.0} 4711 x v=1 host=n{host} numa={node} cyc={:.0}\n",
                user * 2.6e9 * value()
            ));
        }
        false_ones += usize::from(!findings(&table(text.as_bytes())).findings.is_empty());
    }
    false_ones
}

/// Five measures with noise of their own: 1 % of the runs at most have a finding.
#[test]
fn noise_is_no_finding() {
    for (noise, share, runs) in [
        (Noise::Normal, 0.1, 1000),
        (Noise::Normal, 0.01, 300),
        (Noise::Uniform, 0.1, 300),
        (Noise::LogNormal, 0.05, 300),
        (Noise::Exponential, 0.002, 300),
    ] {
        let count = false_findings(noise, share, runs);
        assert!(count * 100 <= runs, "{noise:?} of {share}: {count} of {runs} runs have a finding");
    }
}

/// One-sided noise of 5 % in every measure is mistaken more often; how often is known.
#[test]
fn one_sided_noise_is_mistaken_sometimes() {
    let count = false_findings(Noise::Exponential, 0.05, 500);
    assert!(count <= 50, "{count} of 500 runs have a finding");
}
