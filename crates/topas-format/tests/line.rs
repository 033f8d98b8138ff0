//! The line as a whole: what is written is read, and what was once written stays readable.

use proptest::prelude::*;
use topas_format::MAX_LINE;
use topas_format::civil::{Date, Time};
use topas_format::escape::Name;
use topas_format::event::Metric;
use topas_format::extra::{EXTRAS, ExportRule, Extra, ExtraValue};
use topas_format::field::{Lang, Lib, Mhz, Mode, Npes, Operations};
use topas_format::form::{
    LINE, PLACED_LINE, PLACED_RUN_LINE, RUN_LINE, UNKNOWN, Values, mark, number, text,
};
use topas_format::line::{FIELDS, Fault, IndexedLine, Line, VERSIONED_SINCE, Writer};
use topas_format::number::{Count, Micros};
use topas_format::out::Out;

fn count() -> impl Strategy<Value = Count> {
    prop_oneof![
        Just(Count::Missing),
        any::<u64>().prop_map(Count::Exact),
        any::<u64>().prop_map(Count::Estimate),
    ]
}

fn micros() -> impl Strategy<Value = Micros> {
    // Up to 30 years, whole milliseconds as often as not.
    prop_oneof![
        (0u64..1_000_000_000_000_000).prop_map(Micros),
        (0u64..1_000_000_000_000).prop_map(|ms| Micros(ms * 1000)),
    ]
}

fn name(longest: usize) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..=longest)
}

/// Everything of a line but its names.
fn fields() -> impl Strategy<Value = Line<'static>> {
    let metric =
        prop::sample::select(vec![Metric::FpOps, Metric::IntOps, Metric::Loads, Metric::Stores]);
    (
        (1u16..=9999, 1u8..=12, 1u8..=31, 0u8..24, 0u8..60, 0u8..=60),
        (any::<u32>(), any::<Option<u32>>(), any::<Option<u32>>()),
        prop::sample::select(Mode::ALL),
        prop::sample::select(Lang::ALL),
        prop::sample::select(Lib::ALL),
        (micros(), micros(), micros()),
        (metric, count(), count()),
    )
        .prop_map(|(when, (pe, npes, mhz), mode, lang, lib, times, counts)| {
            let (year, month, day, hour, minute, second) = when;
            Line {
                date: Date { year, month, day },
                time: Time { hour, minute, second },
                user: Name::new(b""),
                exe: Name::new(b""),
                pe,
                npes: Npes(npes),
                mhz: Mhz(mhz),
                mode,
                lang,
                lib,
                user_time: times.0,
                sys_time: times.1,
                wall_time: times.2,
                ops: Operations { metric: counts.0, count: counts.1 },
                l1_miss: counts.2,
                id: Name::new(b""),
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_written_line_is_read_as_it_was(
        fields in fields(), user in name(60), exe in name(120), id in name(30), job in name(40),
        number: u64,
    ) {
        let line =
            Line { user: Name::new(&user), exe: Name::new(&exe), id: Name::new(&id), ..fields };
        let mut buf = [0; MAX_LINE];
        let mut writer = Writer::new(&mut buf, &line);
        writer.number(b"rss", number);
        writer.name(b"job", &job);
        let out = writer.finish();
        let text = out.text().strip_suffix(b"\n").unwrap();
        prop_assert!(!text.contains(&b'\n'));
        let (read, extras) = Line::parse(text).unwrap();
        prop_assert_eq!(read, line);
        prop_assert_eq!(extras.get(b"v"), Some(&b"1"[..]));
        prop_assert_eq!(extras.number(b"rss"), Some(number));
        let read_job = extras.name(b"job").map(|n| n.bytes().collect::<Vec<_>>());
        prop_assert_eq!(read_job.unwrap_or_default(), job);
        prop_assert_eq!(extras.get(b"cut"), None);
    }

    #[test]
    fn a_line_of_any_names_keeps_its_numbers_and_its_length(
        fields in fields(), user in name(400), exe in name(400), id in "[0-9a-f]{1,16}",
    ) {
        let line = Line {
            user: Name::new(&user), exe: Name::new(&exe), id: Name::new(id.as_bytes()), ..fields
        };
        let mut buf = [0; MAX_LINE];
        let mut writer = Writer::new(&mut buf, &line);
        writer.number(b"t", 1_795_161_662);
        let out = writer.finish();
        prop_assert!(!out.is_cut());
        let text = out.text().strip_suffix(b"\n").unwrap();
        let (read, extras) = Line::parse(text).unwrap();
        let whole = extras.get(b"cut").is_none();
        // Beside numbers of ages, and two long names, the id may lose its end as well.
        let same = (read.user, read.exe, read.id) == (line.user, line.exe, line.id);
        prop_assert_eq!(whole, same);
        prop_assert_eq!(Line { user: line.user, exe: line.exe, id: line.id, ..read }, line);
        prop_assert!(extras.number(b"len").is_some());
    }

    /// Lines as they are, and with some bytes changed, so that each token is met in many forms.
    #[test]
    fn a_line_whose_blanks_are_known_is_read_as_any_other(
        fields in fields(), user in name(9), exe in name(20), id in "[0-9a-f]{0,16}",
        changes in proptest::collection::vec(
            (any::<prop::sample::Index>(), prop::sample::select(b" -=.~%/:0129tfv\0\x7f\xff".as_slice())),
            0..3,
        ),
        before in name(20), in_token: bool,
    ) {
        let line = Line {
            user: Name::new(&user), exe: Name::new(&exe), id: Name::new(id.as_bytes()), ..fields
        };
        let mut buf = [0; MAX_LINE];
        let mut writer = Writer::new(&mut buf, &line);
        writer.number(b"t", 1_795_161_662);
        writer.name(b"host", b"n0042");
        let out = writer.finish();
        let mut changed = out.text().strip_suffix(b"\n").unwrap().to_vec();
        for (at, byte) in changes {
            // Changes of extras alone leave a line good more often.
            let from = if in_token { 0 } else { changed.len() / 2 };
            let at = from + at.index(changed.len() - from);
            changed[at] = byte;
        }
        let text = [&before, changed.as_slice(), b"\nnext line"].concat();
        let (begin, end) = (before.len(), before.len() + changed.len());
        let blanks: Vec<u32> =
            (begin..end).filter(|at| text[*at] == b' ').map(|at| at as u32).collect();
        for plain in [false, !changed.contains(&b'%')] {
            let of = IndexedLine { text: &text, begin, end, blanks: &blanks, plain, first: None };
            prop_assert_eq!(of.bytes(), changed.as_slice());
            if let Some(ends) = blanks.first_chunk() {
                let (known, found) = (Line::parse_indexed(&of, ends), Line::parse(&changed));
                prop_assert_eq!(known, found);
                if let (Ok((_, known)), Ok((_, found))) = (known, found) {
                    prop_assert_eq!(known.collect::<Vec<_>>(), found.collect::<Vec<_>>());
                    prop_assert_eq!(known.get(b"host"), found.get(b"host"));
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(text: Vec<u8>) {
        let _ = Line::parse(&text).map(|(_, extras)| extras.count());
    }

    #[test]
    fn a_line_that_lost_or_gained_bytes_is_refused(fields in fields(), at: prop::sample::Index) {
        let mut buf = [0; MAX_LINE];
        let mut writer = Writer::new(&mut buf, &fields);
        writer.name(b"host", b"n0042");
        let out = writer.finish();
        let mut text = out.text().strip_suffix(b"\n").unwrap().to_vec();
        let at = at.index(text.len());
        // The end of a line is where a full disk cuts it. What is left is refused, unless it
        // could be a line of the T3E.
        if let Ok((_, extras)) = Line::parse(&text[..at]) {
            prop_assert!(extras.text().trim_ascii().is_empty());
        }
        // The middle is where another writer would come between.
        if at < text.len() - 8 {
            text.insert(at, b'7');
            prop_assert!(Line::parse(&text).is_err());
        }
    }
}

/// Fills in a count and its mark: that of operations has one when it is exact, too.
fn fill_count(values: &mut Values<'_>, quantity: usize, count: Count, exact: u8) {
    let (number, mark) = match count {
        Count::Missing => (UNKNOWN, exact),
        Count::Exact(n) => (n, exact),
        Count::Estimate(n) => (n, b'~'),
    };
    values.numbers[number::COUNTS + quantity] = number;
    values.marks[mark::COUNTS + quantity] = mark;
}

/// The values by which the module would write a line.
fn values<'a>(line: &Line<'a>) -> Values<'a> {
    let mut values = Values::new();
    let name = |name: Name<'a>| Some(name.plain().expect("made from bytes"));
    let Date { year, month, day } = line.date;
    let Time { hour, minute, second } = line.time;
    values.numbers[number::YEAR] = year.into();
    values.numbers[number::MONTH] = month.into();
    values.numbers[number::DAY] = day.into();
    values.numbers[number::HOUR] = hour.into();
    values.numbers[number::MINUTE] = minute.into();
    values.numbers[number::SECOND] = second.into();
    values.texts[text::USER] = name(line.user);
    values.texts[text::EXE] = name(line.exe);
    values.texts[text::ID] = name(line.id);
    values.texts[text::LANG] = Some(line.lang.token());
    values.texts[text::LIB] = Some(line.lib.token());
    values.marks[mark::MODE] = line.mode.letter();
    values.marks[mark::METRIC] = line.ops.metric.letter();
    values.numbers[number::PE] = line.pe.into();
    values.numbers[number::NPES] = line.npes.0.map_or(UNKNOWN, u64::from);
    values.numbers[number::MHZ] = line.mhz.0.map_or(UNKNOWN, u64::from);
    values.marks[mark::MHZ] = if line.mhz.0.is_some() { b't' } else { 0 };
    for (clock, time) in [line.user_time, line.sys_time, line.wall_time].into_iter().enumerate() {
        values.numbers[number::SECONDS + clock] = time.0 / 1_000_000;
        values.numbers[number::MILLIS + clock] = time.0 / 1000 % 1000;
    }
    fill_count(&mut values, 0, line.ops.count, b'=');
    fill_count(&mut values, 1, line.l1_miss, 0);
    values
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The module's small writer against the one made from the field table.
    #[test]
    fn both_writers_agree(
        fields in fields(), user in name(400), exe in name(400), id in "[0-9a-f]{16}",
        job in name(300), host in name(60), why in "(f:pmu)?", extra: u32, part in name(20),
        cc in "[A-Za-z_.:()0-9]{0,60}", gpu in "(cuda|hip\\+ze|opencl)?",
        ending in "((exit|sig):[0-9]{1,3}|abort)?", mpi in "[A-Za-z_.0-9]{0,40}",
        run in proptest::option::of(0u64..1000),
        counts in (count(), count()),
    ) {
        let whole = |time: Micros| Micros(time.0 / 1000 * 1000);
        let line = Line {
            user: Name::new(&user), exe: Name::new(&exe), id: Name::new(id.as_bytes()),
            user_time: whole(fields.user_time), sys_time: whole(fields.sys_time),
            wall_time: whole(fields.wall_time), ..fields
        };
        // A count that is the mark of an unknown one is none that a machine can reach.
        let reachable = |count: Count| count.value() != Some(UNKNOWN);
        prop_assume!([line.ops.count, line.l1_miss, counts.0, counts.1].into_iter().all(reachable));
        let extra = u64::from(extra);

        let mut buf = [0; MAX_LINE];
        let mut writer = Writer::new(&mut buf, &line);
        writer.number(b"t", extra);
        writer.number(b"uid", 7);
        writer.name(b"end", ending.as_bytes());
        writer.name(b"why", why.as_bytes());
        if let Some(run) = run {
            let mark = writer.begin(b"run");
            writer.out().put(b"0.").dec_wide(run, 3);
            writer.end(mark);
        }
        writer.name(b"job", &job);
        writer.name(b"step", b"");
        writer.name(b"part", &part);
        writer.name(b"mpi", mpi.as_bytes());
        writer.name(b"cc", cc.as_bytes());
        writer.name(b"gpu", gpu.as_bytes());
        writer.name(b"host", &host);
        for (key, count) in [(b"cyc", counts.0), (b"ins", counts.1)] {
            let mark = writer.begin(key);
            match count {
                Count::Missing => writer.out(),
                Count::Exact(n) => writer.out().dec(n),
                Count::Estimate(n) => writer.out().byte(b'~').dec(n),
            };
            writer.end(mark);
        }
        writer.number(b"rss", extra);
        let expected = writer.finish();

        let mut values = values(&line);
        values.numbers[number::EPOCH] = extra;
        values.numbers[number::RESIDENT] = extra;
        values.numbers[number::UID] = 7;
        values.texts[text::ENDING] = Some(ending.as_bytes());
        values.texts[text::MPI] = Some(mpi.as_bytes());
        values.texts[text::PART] = Some(&part);
        values.texts[text::CC] = Some(cc.as_bytes());
        values.texts[text::GPU] = Some(gpu.as_bytes());
        values.numbers[number::RUN] = run.unwrap_or(UNKNOWN);
        values.texts[text::WHY] = Some(why.as_bytes());
        values.texts[text::JOB] = Some(&job);
        values.texts[text::HOST] = Some(&host);
        fill_count(&mut values, 2, counts.0, 0);
        fill_count(&mut values, 3, counts.1, 0);
        let mut buf = [0; MAX_LINE];
        let mut out = Out::new(&mut buf);
        values.fill_line(&mut out, 0, LINE);
        prop_assert_eq!(
            String::from_utf8_lossy(out.text()), String::from_utf8_lossy(expected.text())
        );
        let text = out.text().strip_suffix(b"\n").unwrap();
        let (read, extras) = Line::parse(text).unwrap();
        prop_assert_eq!(extras.get(b"cut").is_none(), read == line);
        // The same line in topas.out differs by the two extras in front of its length.
        values.numbers[number::CPU] = 127;
        values.numbers[number::NUMA] = 3;
        let mut longer = [0; MAX_LINE];
        let mut placed = Out::new(&mut longer);
        values.fill_line(&mut placed, 0, PLACED_LINE);
        let placed = placed.text().strip_suffix(b"\n").unwrap();
        let (again, more) = Line::parse(placed).unwrap();
        prop_assert_eq!(again, read);
        if placed.len() > text.len() + 14 {
            prop_assert_eq!((more.number(b"cpu"), more.number(b"numa")), (Some(127), Some(3)));
            prop_assert_eq!(placed.len(), text.len() + " cpu=127 numa=3".len());
        }
        prop_assert_eq!(
            Line { user: line.user, exe: line.exe, ..read },
            line
        );
    }
}

fn golden(name: &str) -> Vec<u8> {
    let path = format!("{}/../../tests/fixtures/logs/v1/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).unwrap()
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|b| *b == b'\n').filter(|line| !line.is_empty())
}

/// What the module wrote is written again to the letter: no field changed its form.
#[test]
fn golden_lines_of_the_module_are_stable() {
    let text = [golden("module.log"), golden("demo.log"), golden("every-rank.out")].concat();
    for text in lines(&text) {
        let (line, extras) = Line::parse(text).unwrap();
        let mut buf = [0; MAX_LINE];
        let mut writer = Writer::new(&mut buf, &line);
        for (key, value) in extras.filter(|(key, _)| !matches!(*key, b"v" | b"len")) {
            let mark = writer.begin(key);
            writer.out().put(value);
            writer.end(mark);
        }
        let out = writer.finish();
        assert_eq!(out.text().strip_suffix(b"\n").unwrap(), text);
    }
    assert_eq!(lines(&text).count(), 6 + 8 + 4);
}

#[test]
fn golden_lines_mean_what_they_meant() {
    let text = golden("module.log");
    let (first, extras) = Line::parse(lines(&text).next().unwrap()).unwrap();
    assert_eq!(first.exe, Name::new(b"heat3d"));
    assert_eq!((first.pe, first.npes, first.mhz), (5, Npes(Some(16)), Mhz(Some(2596))));
    assert_eq!((first.mode, first.lang, first.lib), (Mode::Batch, Lang::F90, Lib::Mpi));
    assert_eq!(first.wall_time, Micros(12_460_000));
    let ops = Operations { metric: Metric::FpOps, count: Count::Exact(123_456_789) };
    assert_eq!((first.ops, first.l1_miss), (ops, Count::Exact(4567)));
    assert_eq!(extras.number(b"cyc"), Some(31_990_000_000));
    let (odd, _) = Line::parse(lines(&text).nth(4).unwrap()).unwrap();
    assert_eq!(odd.user, Name::new(b"w b"));
    assert_eq!(odd.exe, Name::new(b"my prog%\n"));
    assert_eq!(odd.l1_miss, Count::Estimate(7));
    let (last, _) = Line::parse(lines(&text).last().unwrap()).unwrap();
    assert!(last.exe.is_empty());
    assert_eq!(last.id, Name::new(b"-"));
}

#[test]
fn a_golden_file_of_every_rank() {
    let text = golden("every-rank.out");
    for (text, pe) in lines(&text).zip([2, 3, 1, 0]) {
        let (line, extras) = Line::parse(text).unwrap();
        assert_eq!((line.pe, line.npes), (pe, Npes(Some(4))));
        assert_eq!((extras.number(b"cpu"), extras.number(b"numa")), (Some(0), Some(0)));
        assert_eq!(extras.get(b"part"), Some(&b"batch"[..]));
        assert_eq!(extras.get(b"cc"), Some(&b"GCC:_(Debian_12.2.0-14+deb12u1)_12.2.0"[..]));
    }
}

#[test]
fn old_readers_read_new_lines_and_new_readers_old_ones() {
    let future = golden("future.log");
    let odd = golden("odd-extras.log");
    let whole = lines(&future).next().unwrap();
    for text in [whole, lines(&odd).next().unwrap()] {
        let (line, extras) = Line::parse(text).unwrap();
        assert_eq!(line.user, Name::new(b"ada"));
        assert_eq!(extras.number(b"t"), Some(1_924_992_245));
    }
    assert_eq!(Line::parse(lines(&future).nth(1).unwrap()), Err(Fault::length));
    let (_, extras) = Line::parse(lines(&odd).next().unwrap()).unwrap();
    assert_eq!(extras.get(b"a"), Some(&b"b=c"[..]));
    assert_eq!(extras.get(b"novalue"), Some(&b""[..]));
    let old = golden("t3e.log");
    for text in lines(&old) {
        let (line, mut extras) = Line::parse(text).unwrap();
        assert_eq!(line.date.year, 1999);
        assert_eq!(extras.next(), None);
    }
}

#[test]
fn broken_lines_are_refused_for_their_fault() {
    let text = golden("broken.log");
    let mut all = lines(&text);
    let mut refused = 0;
    while let (Some(fault), Some(line)) = (all.next(), all.next()) {
        let fault = std::str::from_utf8(fault).unwrap().strip_prefix("# ").unwrap();
        let shown = String::from_utf8_lossy(line);
        assert_eq!(Line::parse(line).map_err(|f| f.name()).err(), Some(fault), "{shown}");
        refused += 1;
    }
    assert_eq!(refused, 15);
}

/// A full disk, or who copies a log while it grows, leaves any part of a line. None is a line, not
/// even all sixteen tokens, which alone would be a line of 1999.
#[test]
fn no_part_of_a_golden_line_is_taken_for_a_line() {
    let mut cut_before_version = 0;
    for name in ["module.log", "demo.log", "every-rank.out", "odd-extras.log"] {
        let text = golden(name);
        for text in lines(&text) {
            for cut in 0..text.len() {
                let part = &text[..cut];
                let refused = Line::parse(part);
                assert!(refused.is_err(), "{}", String::from_utf8_lossy(part));
                let tokens = part.split(|byte| *byte == b' ').filter(|token| !token.is_empty());
                cut_before_version +=
                    u32::from(tokens.count() == 16 && refused == Err(Fault::length));
            }
        }
    }
    assert!(cut_before_version > 100, "{cut_before_version}");
}

/// The year decides whether sixteen tokens are a line.
#[test]
fn lines_without_a_version_are_older_than_the_first_release() {
    let line = |year: u16| {
        format!("{year}/05/04 12:00:00 mohr cg 5 16 t450 B f90 mpi 1.0 0.1 2.0 f=1 10 4711")
    };
    assert!(Line::parse(line(VERSIONED_SINCE - 1).as_bytes()).is_ok());
    for extras in ["", " ", " t=1", " uid=7 host=n1"] {
        let text = line(VERSIONED_SINCE) + extras;
        assert_eq!(Line::parse(text.as_bytes()), Err(Fault::length), "{extras}");
    }
}

/// What the module writes is in the table: an export would leave out any other extra.
#[test]
fn every_extra_that_is_written_is_known() {
    for form in [LINE, PLACED_LINE, RUN_LINE, PLACED_RUN_LINE] {
        let parts = form.split(|code| *code == b' ').filter(|part| part.contains(&b'='));
        let keys = parts.map(|part| part.split(|code| *code == b'=').next().unwrap());
        let mut written = 0;
        for key in keys {
            let name = String::from_utf8_lossy(key);
            assert!(Extra::known(key).is_some(), "{name} is not in EXTRAS");
            written += 1;
        }
        assert!(written >= 16, "{written}");
    }
}

/// A name of any kind is text, and a text that is kept as it stands can hold only what
/// the module itself made up.
#[test]
fn texts_that_an_export_keeps_hold_words_of_the_module() {
    let kept = EXTRAS
        .iter()
        .filter(|extra| (extra.value, extra.export) == (ExtraValue::Text, ExportRule::Kept));
    let kept: Vec<_> = kept.map(|extra| extra.name).collect();
    assert_eq!(kept, ["end", "why", "gpu", "via"]);
}

/// `doc/format.md` describes every field and every extra under its name.
#[test]
fn the_format_document_names_every_field_and_extra() {
    let path = format!("{}/../../doc/format.md", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    for (number, field) in (1..).zip(FIELDS) {
        let row = format!("| {number} | `{}` |", field.name);
        assert!(text.contains(&row), "doc/format.md lacks the row {row}");
    }
    for extra in EXTRAS {
        let row = format!("| `{}` |", extra.name);
        assert!(text.contains(&row), "doc/format.md lacks the row {row}");
    }
}

/// Every log line that the documents show is whole: none was made up or edited.
#[test]
fn lines_in_the_documents_are_whole() {
    for (document, expected) in [("README.md", 1), ("doc/format.md", 1)] {
        let path = format!("{}/../../{document}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read(path).unwrap();
        let shown =
            lines(&text).filter(|line| line.starts_with(b"20") && line.get(4) == Some(&b'/'));
        let mut found = 0;
        for line in shown {
            let text = String::from_utf8_lossy(line);
            let (_, extras) = Line::parse(line).unwrap_or_else(|f| panic!("{}: {text}", f.name()));
            assert!(extras.get(b"len").is_some(), "{document}: {text}");
            found += 1;
        }
        assert_eq!(found, expected, "{document}");
    }
}
