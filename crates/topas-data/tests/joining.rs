//! Which lines make a run, whatever their order.

#[path = "../examples/generate-log/synthetic.rs"]
mod synthetic;

use std::num::NonZero;

use proptest::prelude::*;
use topas_data::{
    AskAnswer, CpuTime, Detail, Fold, Period, Question, Resources, Run, Source, Tally, ask_reader,
    parse_date, scan_reader,
};
use topas_format::line::{Extras, Line};
use topas_format::number::{Count, Micros};
use topas_testkit::with_lengths;

/// What a test says about a line; the rest is the same for all.
#[derive(Clone, Debug)]
struct Spec {
    id: u32,
    pe: u32,
    npes: u32,
    /// Seconds since 1970-01-01
    end: u64,
    /// Milliseconds
    wall: u64,
    ops: &'static str,
    epoch: bool,
}

const LINE: Spec =
    Spec { id: 1, pe: 3, npes: 8, end: 1_000_000, wall: 100_000, ops: "f=100000000", epoch: true };

impl Spec {
    fn text(&self) -> String {
        let Spec { id, pe, npes, end, wall, ops, epoch } = self;
        let civil = topas_format::civil::Civil::from_seconds(*end as i64);
        let (d, t) = (civil.date, civil.time);
        let wall = format!("{}.{:03}", wall / 1000, wall % 1000);
        let t_extra = if *epoch { format!(" v=1 t={end}") } else { String::new() };
        with_lengths(&format!(
            "{:04}/{:02}/{:02} {:02}:{:02}:{:02} u x {pe} {npes} - B c mpi 0.0 0.0 {wall} {ops} - {id}{t_extra}\n",
            d.year, d.month, d.day, t.hour, t.minute, t.second
        ))
    }
}

/// What is compared of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct JoinedRuns {
    lines: u32,
    npes: u32,
    start: i64,
    end: i64,
    wall: u64,
    operations: Option<u128>,
    duplicates: u32,
}

/// Groups by executable.
struct ByExe(Detail);

impl Question for ByExe {
    fn detail(&self) -> Detail {
        self.0
    }

    fn key(&self, line: &Line<'_>, _: Extras<'_>, key: &mut Vec<u8>) {
        key.extend(line.exe.bytes());
    }
}

/// Something of each run.
struct Each<T> {
    of: fn(&Run<'_>) -> T,
    seen: Vec<T>,
}

impl<T: Send> Fold for Each<T> {
    fn add(&mut self, run: &Run<'_>) {
        self.seen.push((self.of)(run));
    }

    fn merge(&mut self, other: Self) {
        self.seen.extend(other.seen);
    }
}

/// Something of each run of a log, in one thread.
fn each<T: Send>(text: &[u8], detail: Detail, of: fn(&Run<'_>) -> T) -> AskAnswer<Each<T>> {
    let resources = Resources { threads: NonZero::<usize>::MIN, ..Resources::default() };
    let fold = || Each { of, seen: Vec::new() };
    ask_reader(&Source::Stdin, text, &ByExe(detail), fold, &resources, |_| ()).unwrap()
}

fn runs(text: &str) -> Vec<JoinedRuns> {
    let answer = each(text.as_bytes(), Detail::Rates, |run| JoinedRuns {
        lines: run.lines(),
        npes: run.npes,
        start: run.start,
        end: run.end,
        wall: run.wall.0,
        operations: run.fp().map(|fp| fp.operations),
        duplicates: run.odd.duplicates,
    });
    assert_eq!(answer.tally.skipped(), 0, "{:?}", answer.tally.examples());
    let mut seen = answer.fold.seen;
    seen.sort();
    seen
}

fn joined(lines: &[Spec]) -> Vec<u32> {
    let text: String = lines.iter().map(Spec::text).collect();
    runs(&text).iter().map(|run| run.lines).collect()
}

#[test]
fn id_npes_pe_and_time_decide() {
    let other = |change: fn(&mut Spec)| {
        let mut line = Spec { pe: 5, ops: "i=7", ..LINE };
        change(&mut line);
        line
    };
    assert_eq!(joined(&[LINE]), [1]);
    assert_eq!(joined(&[LINE, other(|_| ())]), [2]);
    assert_eq!(joined(&[LINE, other(|line| line.id = 2)]), [1, 1]);
    assert_eq!(joined(&[LINE, other(|line| line.npes = 16)]), [1, 1]);
    assert_eq!(joined(&[LINE, other(|line| line.pe = 3)]), [1, 1], "the same PE");
    assert_eq!(joined(&[LINE, other(|line| line.end += 3600)]), [1, 1], "an id that came again");
    // One rank ended an hour before the other.
    assert_eq!(joined(&[LINE, other(|line| (line.end, line.wall) = (1_003_600, 3_700_000))]), [2]);
    assert_eq!(joined(&[LINE, other(|line| line.epoch = false)]), [2], "date and time as UTC");
}

#[test]
fn clocks_may_be_off_by_two_seconds() {
    let short = Spec { wall: 10, ..LINE };
    let later = |seconds, wall| Spec { pe: 5, end: LINE.end + seconds, wall, ..LINE };
    assert_eq!(joined(&[short.clone(), later(2, 10)]), [2]);
    assert_eq!(joined(&[short, later(3, 10)]), [1, 1]);
    // A launch right after another in the same batch job has the same process group.
    assert_eq!(joined(&[LINE, later(100, 100_000)]), [1, 1]);
    assert_eq!(joined(&[LINE, later(99, 100_000)]), [1, 1]);
    assert_eq!(joined(&[LINE, later(97, 100_000)]), [2]);
}

#[test]
fn up_to_sixteen_pes_and_launches_that_repeat() {
    let run = |end| (0..16).map(move |pe| Spec { pe, npes: 64, end, ..LINE });
    let lines: Vec<Spec> = run(1_000_000).chain(run(1_000_500)).chain(run(2_000_000)).collect();
    assert_eq!(joined(&lines), [16, 16, 16]);
    // The files of two nodes, one after the other, far more lines than are remembered.
    let node = |pe| (0..20_000).map(move |id| Spec { id, pe, ..LINE });
    let lines: Vec<Spec> = node(1).chain(node(2)).collect();
    assert_eq!(joined(&lines), vec![2; 20_000]);
}

#[test]
fn a_forged_log_takes_no_longer_than_others() {
    // All of one id and time: with the same PE each is a run, with different PEs all are one.
    let lines: Vec<Spec> = (0..100_000).map(|wall| Spec { wall, ..LINE }).collect();
    assert_eq!(joined(&lines), vec![1; 100_000]);
    assert_eq!(runs(&LINE.text().repeat(100_000))[0].duplicates, 99_999);
    let lines: Vec<Spec> = (0..100_000).map(|pe| Spec { pe, ..LINE }).collect();
    assert_eq!(joined(&lines), [100_000]);
}

#[test]
fn an_unknown_id_is_joined_by_program() {
    let line = |user: &str, pe| {
        let text = LINE.text().replace(" u x 3 ", &format!(" {user} x {pe} "));
        with_lengths(&text.replace(" 1 v=1", " - v=1"))
    };
    let text = [line("u", 3), line("w", 3), line("u", 5)].concat();
    let lines: Vec<u32> = runs(&text).iter().map(|run| run.lines).collect();
    assert_eq!(lines, [1, 2]);
}

#[test]
fn escaped_and_plain_ids_are_the_same() {
    let text = LINE.text().replace(" 1 v=1", " a%41 v=1")
        + &Spec { pe: 5, ..LINE }.text().replace(" 1 v=1", " aA v=1");
    let text = with_lengths(&text);
    assert_eq!(runs(&text).len(), 1);
}

#[test]
fn facts_of_a_run() {
    let early = Spec { wall: 90_000, end: 999_990, ..LINE };
    let late = Spec { pe: 5, ops: "f~300000000", wall: 110_000, end: 1_000_010, ..LINE };
    let other = Spec { pe: 6, ops: "i=5", ..LINE };
    let text = [early.text(), late.text(), other.text()].concat();
    let answer = each(text.as_bytes(), Detail::Rates, |run| {
        assert_eq!((run.lines(), run.npes, run.wall.0), (3, 8, 110_000_000));
        assert_eq!((run.start, run.end), (999_900_000_000, 1_000_010_000_000));
        assert_eq!(run.pe_micros(), 880_000_000);
        let fp = run.fp().unwrap();
        assert!(fp.estimate && run.counted());
        // 400 million operations in 200 s of two PEs.
        assert_eq!((fp.mflops(), fp.operations_per_pe(), fp.pes), (2.0, 2e8, 2));
        assert_eq!(run.key, b"x");
    });
    assert_eq!(answer.fold.seen.len(), 1);
}

#[test]
fn a_period_includes_both_its_days() {
    let text: String =
        (0..5).map(|d| Spec { id: d, end: 86_400 * u64::from(d), ..LINE }.text()).collect();
    let inside = each(text.as_bytes(), Detail::Rates, |run| {
        let day = |text| Some(parse_date(text).unwrap());
        Period { since: day("1970-01-02"), until: day("1970/01/04") }.contains(run)
    });
    let inside = inside.fold.seen.iter().filter(|inside| **inside).count();
    assert_eq!(inside, 3);
}

fn any_line() -> impl Strategy<Value = Spec> {
    // Few ids, PEs and times, so that everything collides.
    (0..3u32, 0..4u32, 1..3u32, 0..30u64, 0..20_000u64, 0..3usize, any::<bool>()).prop_map(
        |(id, pe, npes, end, wall, ops, epoch)| Spec {
            id,
            pe,
            npes,
            end: 1_000_000 + end,
            wall,
            ops: ["f=1000", "i=7", "f=-"][ops],
            epoch,
        },
    )
}

proptest! {
    #[test]
    fn the_order_of_lines_does_not_matter(
        (lines, shuffled) in proptest::collection::vec(any_line(), 0..40)
            .prop_flat_map(|lines| (Just(lines.clone()), Just(lines).prop_shuffle()))
    ) {
        let text = |lines: &[Spec]| lines.iter().map(Spec::text).collect::<String>();
        let seen = runs(&text(&lines));
        prop_assert_eq!(&seen, &runs(&text(&shuffled)));
        let of_runs: u32 = seen.iter().map(|run| run.lines + run.duplicates).sum();
        prop_assert_eq!(of_runs as usize, lines.len());
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
        let mut tally = Tally::default();
        let _ = scan_reader(&Source::Stdin, bytes.as_slice(), &mut tally, |_, _| (), |_| ());
    }
}

#[test]
fn ten_thousand_mutations_of_a_log() {
    let mut log = synthetic::Log::new(3);
    let original: Vec<u8> = (0..40).flat_map(|_| log.line().to_vec()).collect();
    let mut seed = 1u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let (mut good, mut bad) = (0, 0);
    for _ in 0..10_000 {
        let mut bytes = original.clone();
        for _ in 0..1 + random(8) {
            let at = random(bytes.len().max(1));
            match random(6) {
                _ if bytes.is_empty() => {}
                0 => bytes[at] = random(256) as u8,
                1 => bytes[at] ^= 1 << random(8),
                2 => drop(bytes.remove(at)),
                3 => bytes.insert(at, b" \n=-9%"[random(6)]),
                // Seldom, or little would be left of most logs.
                4 if random(10) == 0 => bytes.truncate(at),
                _ => {
                    let end = (at + random(300)).min(bytes.len());
                    bytes.extend_from_within(at..end);
                }
            }
        }
        let newlines = bytes.iter().filter(|&&b| b == b'\n').count() as u64;
        let answer = each(&bytes, Detail::Rates, |run| run.lines() + run.odd.duplicates);
        let tally = &answer.tally;
        if !answer.failed.is_empty() {
            // The first bytes became those of a compressed file.
            continue;
        }
        let last = u64::from(bytes.last() != Some(&b'\n'));
        // A line behind a torn one is counted besides it.
        let behind = tally.lines().checked_sub(newlines + last).expect("no line is lost");
        assert!(behind <= tally.skipped());
        let lines: u32 = answer.fold.seen.iter().sum();
        assert_eq!(u64::from(lines), tally.good);
        good += tally.good;
        bad += tally.skipped();
    }
    assert!(good > 100_000 && bad > 5_000, "{good} good and {bad} bad lines");
}

/// What is kept of a line is what was asked for, and what a line does not say is missing.
#[test]
fn records_hold_what_was_asked_for() {
    let text = "2026/11/20 08:01:02 u x 5 16 - B c mpi 12.5 0.25 13.0 i~77 ~9 1 v=1 t=1795161662 cyc=123 ins=~456\n\
                2026/11/20 08:01:02 u x 2 16 - B c mpi 1.0 0.0 13.0 f=- - 1 v=1 t=1795161662 cyc=x ins=-\n";
    let text = with_lengths(text);
    let records = |detail| each(text.as_bytes(), detail, |run| run.pes.to_vec()).fold.seen.concat();
    let all = records(Detail::Counters);
    assert_eq!(all.iter().map(|pe| pe.pe).collect::<Vec<_>>(), [2, 5], "in order of PEs");
    let cpu = CpuTime { user: Micros(12_500_000), sys: Micros(250_000) };
    assert_eq!((all[1].cpu, all[1].l1_miss), (Some(cpu), Count::Estimate(9)));
    assert_eq!((all[1].cycles, all[1].instructions), (Count::Exact(123), Count::Estimate(456)));
    assert_eq!((all[0].cycles, all[0].instructions), (Count::Missing, Count::Missing));
    for pe in records(Detail::Times) {
        assert!(pe.cpu.is_some() && pe.cycles == Count::Missing);
    }
    for pe in records(Detail::Rates) {
        assert_eq!((pe.cpu, pe.l1_miss, pe.cycles), (None, Count::Missing, Count::Missing));
    }
}
