//! Files of several launches, in pieces, with lines that are missing, double or bad.

use std::num::NonZero;

use proptest::prelude::*;
use topas_data::Source;
use topas_data::pes::{Column, LinesTooMany, PeRange, read, values};

use super::synthetic::Launch;
use super::{file, rate_line, read_all, table};

/// 20 MB in pieces give the same table as one piece each line.
#[test]
fn pieces_give_every_line_once() {
    let launch = Launch { pes: 80_000, ..Launch::default() };
    let text = launch.text();
    assert!(text.len() > 16 << 20, "several pieces");
    let (_dir, source) = file(&text);
    for threads in [1, 2, 5] {
        let sources = std::slice::from_ref(&source);
        let threads = NonZero::new(threads).unwrap();
        let (lines, errors) = read(sources, threads, 80 << 20, &|_| ()).unwrap();
        // 160 B a line.
        assert_eq!(
            read(sources, threads, 8 << 20, &|_| ()).err(),
            Some(LinesTooMany { memory: 8 << 20 })
        );
        assert!(errors.is_empty());
        assert_eq!((lines.tally.good, lines.tally.skipped()), (80_000, 0));
        let launch = lines.launches().next().unwrap().clone();
        let table = lines.table(&launch);
        assert!(table.rows.iter().map(|pe| pe.pe).eq(0..80_000));
        assert_eq!(table.hosts.len(), 10_000);
        assert_eq!(table.host(&table.rows[79_999]), b"node9999");
        assert_eq!(table.without.missing, Some(0));
        let row = table.row(8).unwrap();
        assert_eq!((row.cpu, row.numa, table.ending(row)), (Some(0), Some(0), &b"exit:0"[..]));
    }
}

#[test]
fn bad_lines_have_their_numbers_in_the_whole_file() {
    let good = Launch { pes: 80_000, ..Launch::default() }.text();
    let lines: Vec<&[u8]> = good.split_inclusive(|b| *b == b'\n').collect();
    let mut text = lines[..70_000].concat();
    text.extend_from_slice(b"here is something else\n");
    text.extend_from_slice(&lines[70_000..].concat());
    text.extend_from_slice(b"and at the end\n");
    let (_dir, source) = file(&text);
    let (lines, _) = read_all(&[source]);
    let examples: Vec<_> = lines.tally.examples().iter().map(|e| (e.line, &*e.text)).collect();
    assert_eq!(examples, [(70_001, "here is something else"), (80_002, "and at the end")]);
}

#[test]
fn launches_are_told_apart_and_the_newest_is_first() {
    let launch = |id: &str, end, pes| Launch { id: id.to_owned(), end, pes, ..Launch::default() };
    let old = launch("a", 1_795_000_000, 8).text();
    let new = launch("b", 1_795_000_500, 4).text();
    let middle = launch("c", 1_795_000_100, 2).text();
    let (_dir, one) = file(&[new, old].concat());
    let (_other, two) = file(&middle);
    let (lines, _) = read_all(&[one, two]);
    let ids: Vec<_> = lines.launches().map(|l| (&*l.id, l.lines)).collect();
    assert_eq!(ids, [(&b"b"[..], 4), (b"c", 2), (b"a", 8)]);
    for launch in lines.launches().cloned().collect::<Vec<_>>() {
        assert_eq!(lines.table(&launch).rows.len() as u64, launch.lines);
    }
}

#[test]
fn missing_double_and_surplus_pes_are_told() {
    let mut text = String::new();
    for pe in [0, 1, 5, 6, 7, 9] {
        text += &rate_line(pe, 8, 1000);
    }
    // A later line of a PE is the one that counts, wherever it stands.
    text += &rate_line(5, 8, 3000).replace("12:00:00", "12:00:09");
    text += &rate_line(5, 8, 2000).replace("12:00:00", "12:00:08");
    let table = table(text.as_bytes());
    let without = &table.without;
    assert_eq!((without.missing, without.repeated, without.beyond), (Some(3), 2, 1));
    assert_eq!(without.ranges, [PeRange { first: 2, last: 4 }]);
    let rates = values(&table, Column::Rate).values;
    assert_eq!(rates, [(1.0, 0), (1.0, 1), (3.0, 2), (1.0, 3), (1.0, 4), (1.0, 5)]);
}

/// Ids made of a port come again after weeks.
#[test]
fn an_earlier_run_with_the_same_id_is_another() {
    let run = |day: u32, rate: u64| -> String {
        let line = |pe| rate_line(pe, 4, rate).replace("08/23", &format!("08/{day}"));
        (0..4).map(line).collect()
    };
    let table = table((run(21, 1000) + &run(23, 3000)[..run(23, 3000).len() / 2]).as_bytes());
    assert_eq!((table.without.earlier, table.without.missing), (4, Some(2)));
    assert!(values(&table, Column::Rate).values.iter().all(|value| value.0 == 3.0));
}

#[test]
fn a_launcher_that_tells_no_number_of_pes() {
    let text = rate_line(0, 8, 1000).replace(" 0 8 ", " 0 - ");
    let table = table(text.as_bytes());
    assert_eq!((table.without.missing, table.launch.npes), (None, None));
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_is_read() {
    let (dir, source) = file(rate_line(0, 1, 1000).as_bytes());
    let none = Source::File(dir.path().join("none"));
    let (lines, errors) = read_all(&[none, source, Source::File(dir.path().to_owned())]);
    assert_eq!((lines.tally.good, errors.len()), (1, 2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// The order of the lines does not matter, nor what stands between them.
    #[test]
    fn any_order_gives_the_same_table(seed: u64, cut in 0usize..1000) {
        let text = Launch { pes: 40, seed, ..Launch::default() }.text();
        let straight = table(&text);
        let mut lines: Vec<&[u8]> = text.split_inclusive(|b| *b == b'\n').collect();
        lines.sort_by_key(|line| line.iter().fold(seed, |n, b| n.rotate_left(5) ^ u64::from(*b)));
        let torn = &lines[0][..cut.min(lines[0].len() - 1)];
        let shuffled = table(&[&lines.concat()[..], torn].concat());
        let rates = |table| values(table, Column::Rate).values;
        prop_assert_eq!(rates(&straight), rates(&shuffled));
        let hosts = |table: &topas_data::pes::PeTable| -> Vec<Vec<u8>> {
            table.rows.iter().map(|pe| table.host(pe).to_vec()).collect()
        };
        prop_assert_eq!(hosts(&straight), hosts(&shuffled));
    }
}
