//! Files of every kind: plain, compressed, joined, cut, with bad lines.

#[path = "../examples/generate-log/synthetic.rs"]
mod synthetic;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use topas_data::{
    CloseError, CloseOptions, CloseReport, Closing, Inputs, Listener, MAX_LINE_READ, Month,
    Problem, Source, SourceError, Tally, close, scan, scan_reader,
};
use topas_format::line::Fault;

const GOOD: &str =
    "1999/05/04 12:00:00 mohr a.out 5 16 t450 B f90 mpi 1.0 0.1 2.0 f=1000 10 4711\n";

fn log(lines: usize) -> Vec<u8> {
    let mut log = synthetic::Log::new(7);
    (0..lines).flat_map(|_| log.line().to_vec()).collect()
}

/// Number of log lines, and the rest of what is known.
fn read(bytes: &[u8]) -> (u64, Tally, Result<(), SourceError>) {
    let mut tally = Tally::default();
    let mut lines = 0;
    let result = scan_reader(&Source::Stdin, bytes, &mut tally, |_, _| lines += 1, |_| ());
    assert_eq!(lines, tally.good);
    (lines, tally, result)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut out = liblzma::write::XzEncoder::new(Vec::new(), 1);
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

type Compress = fn(&[u8]) -> Vec<u8>;
const FORMS: [(&str, Compress); 3] = [("gzip", gzip), ("zstd", zstd), ("xz", xz)];

#[test]
fn every_encoding_gives_the_same_lines() {
    let plain = log(20_000);
    assert!(plain.len() > 8 * topas_data::BLOCK, "many blocks");
    assert_eq!(read(&plain).0, 20_000);
    for (name, compress) in FORMS {
        let (lines, tally, result) = read(&compress(&plain));
        assert!(result.is_ok(), "{name}: {result:?}");
        assert_eq!((lines, tally.skipped()), (20_000, 0), "{name}");
    }
}

#[test]
fn members_and_frames_that_follow_each_other_are_one_text() {
    let plain = log(100);
    // The seam is within a line.
    let (first, second) = plain.split_at(plain.len() / 2 + 3);
    for (name, compress) in FORMS {
        let both = [compress(first), compress(second)].concat();
        let (lines, tally, result) = read(&both);
        assert!(result.is_ok(), "{name}: {result:?}");
        assert_eq!((lines, tally.skipped()), (100, 0), "{name}");
    }
}

#[test]
fn a_truncated_file_gives_what_is_before_the_break_and_an_error() {
    let plain = log(40_000);
    for (name, compress) in FORMS {
        let whole = compress(&plain);
        let (lines, tally, result) = read(&whole[..whole.len() / 2]);
        let Err(SourceError::Broken { lines: before, .. }) = result else {
            panic!("{name}: {result:?}");
        };
        assert!(lines > 5_000 && lines < 35_000, "{name}: {lines}");
        assert_eq!(before, tally.lines(), "{name}");
        assert!(tally.skipped() <= 1, "{name}: at most the cut line");
        for (problem, _) in tally.problems() {
            assert_eq!(problem, Problem::Unfinished, "{name}");
        }
    }
}

#[test]
fn a_damaged_file_is_an_error_and_no_crash() {
    let plain = log(1000);
    for (name, compress) in FORMS {
        let mut bytes = compress(&plain);
        let middle = bytes.len() / 2;
        bytes[middle..middle + 16].fill(0xaa);
        let (_, _, result) = read(&bytes);
        assert!(matches!(result, Err(SourceError::Broken { .. })), "{name}: {result:?}");
    }
}

#[test]
fn every_line_is_counted_once() {
    let text = format!(
        "{GOOD}\n# a comment\n   \r\n{GOOD}no log line\n{}{}x{}",
        GOOD.replace("t450", "450"),
        GOOD.replace('\n', " v=1 len=999\n"),
        GOOD
    );
    let (lines, tally, result) = read(text.as_bytes());
    assert!(result.is_ok());
    assert_eq!((lines, tally.blank, tally.comments), (2, 2, 1));
    let problems: Vec<_> = tally.problems().collect();
    assert_eq!(
        problems,
        [
            (Problem::Fault(Fault::date), 2),
            (Problem::Fault(Fault::mhz), 1),
            (Problem::Fault(Fault::length), 1),
        ]
    );
    assert_eq!(tally.lines(), 9);
    let examples: Vec<_> = tally.examples().iter().map(|e| (e.line, e.problem.words())).collect();
    assert_eq!(
        examples,
        [(6, "bad date".to_owned()), (7, "bad mhz".to_owned()), (8, "wrong length".to_owned()),]
    );
    assert_eq!(tally.examples()[0].text, "no log line");
}

#[test]
fn long_lines_are_counted_and_passed_over() {
    for length in [MAX_LINE_READ - 1, MAX_LINE_READ, MAX_LINE_READ + 1, 300_000, 3_000_000] {
        let text = format!("{GOOD}{}\n{GOOD}", "x".repeat(length));
        let (lines, tally, _) = read(text.as_bytes());
        let expected =
            if length > MAX_LINE_READ { Problem::TooLong } else { Problem::Fault(Fault::date) };
        assert_eq!(tally.problems().collect::<Vec<_>>(), [(expected, 1)], "{length}");
        assert_eq!((lines, tally.lines()), (2, 3), "{length}");
        assert!(tally.examples()[0].text.len() < 100);
    }
    // A long line that would be a log line, and one at the end of the file.
    let long = GOOD.replace("a.out", &"x".repeat(MAX_LINE_READ));
    assert_eq!(read(long.as_bytes()).1.problems().collect::<Vec<_>>(), [(Problem::TooLong, 1)]);
    let end = "x".repeat(1_000_000);
    let (lines, tally, _) = read(format!("{GOOD}{end}").as_bytes());
    assert_eq!((lines, tally.problems().collect::<Vec<_>>()), (1, vec![(Problem::TooLong, 1)]));
}

#[test]
fn a_last_line_without_newline_counts_if_it_is_whole() {
    // Nothing tells where a line of 1999 ends.
    assert_eq!(read(GOOD.trim_end().as_bytes()).0, 1);
    let line = log(1);
    let whole = &line[..line.len() - 1];
    assert_eq!(read(whole).0, 1);
    for cut in 1..whole.len() {
        let (lines, tally, _) = read(&whole[..whole.len() - cut]);
        assert_eq!((tally.skipped(), lines), (1, 0), "{cut} bytes cut");
    }
}

/// Paths of what was found, below a directory.
fn names(found: &Inputs, below: &Path) -> Vec<String> {
    let name = |source: &Source| {
        let path = source.path().unwrap().into_owned();
        path.strip_prefix(below).unwrap().to_str().unwrap().to_owned()
    };
    found.sources.iter().map(name).collect()
}

#[test]
fn directories_give_their_files_in_order_of_names() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["b.log", "a.log", "c.log.gz"] {
        fs::write(dir.path().join(name), GOOD).unwrap();
    }
    fs::create_dir(dir.path().join("deeper")).unwrap();
    fs::write(dir.path().join("deeper/d.log"), GOOD).unwrap();
    fs::create_dir(dir.path().join(".hidden")).unwrap();
    fs::write(dir.path().join(".hidden/e.log"), GOOD).unwrap();
    let found = Inputs::new(&[dir.path().to_owned()]);
    assert_eq!(names(&found, dir.path()), ["a.log", "b.log", "c.log.gz", "deeper/d.log"]);
    assert_eq!((found.directories, found.failed.len(), found.passed.len()), (2, 0, 0));
    assert_eq!(Inputs::new(&["-".into()]).sources, [Source::Stdin]);

    let mut tally = Tally::default();
    for source in &found.sources {
        scan(source, &mut tally, |_, _| (), |_| ()).unwrap();
    }
    assert_eq!(tally.good, 4, "the name says nothing about the encoding");
}

#[test]
fn patterns_that_no_shell_has_expanded() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["2026-10.log", "2026-11.log.gz", "2025-12.log", ".2026-x.log", "a[1].log"] {
        fs::write(dir.path().join(name), GOOD).unwrap();
    }
    fs::create_dir(dir.path().join("2026-d")).unwrap();
    fs::write(dir.path().join("2026-d/x.log"), GOOD).unwrap();
    let inputs = |pattern| Inputs::new(&[dir.path().join(pattern)]);
    let found = |pattern| names(&inputs(pattern), dir.path());
    assert_eq!(found("2026-*"), ["2026-10.log", "2026-11.log.gz", "2026-d/x.log"]);
    assert_eq!(found("*/x.log"), ["2026-d/x.log"]);
    assert_eq!(found("202?-1[02].log"), ["2025-12.log", "2026-10.log"]);
    assert_eq!(found("a[1].log"), ["a[1].log"], "a file of this very name");
    for (pattern, words) in [("1999-*", "no file matches"), ("[", "Pattern syntax error")] {
        let failed = inputs(pattern).failed;
        let Some(SourceError::Open { cause, .. }) = failed.first() else { panic!("{pattern}") };
        assert!(cause.to_string().contains(words), "{cause}");
    }
}

#[test]
fn what_cannot_be_opened_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let none = Inputs::new(&[dir.path().join("none")]);
    assert!(matches!(none.failed[..], [SourceError::Open { .. }]));
    let mut tally = Tally::default();
    let directory = Source::File(dir.path().to_owned());
    let result = scan(&directory, &mut tally, |_, _| (), |_| ());
    assert!(matches!(result, Err(SourceError::Open { .. })), "{result:?}");
}

/// A full disk takes a part of a line; whoever repairs the file ends it with a newline. No part is a
/// run of 1999, wherever it was cut.
#[test]
fn a_part_with_a_newline_is_torn_wherever_it_was_cut() {
    let text = log(2);
    let first = text.iter().position(|b| *b == b'\n').unwrap();
    for cut in 1..first {
        let (lines, tally, _) = read(&[&text[..cut], &text[first..]].concat());
        assert_eq!((lines, tally.good, tally.skipped()), (1, 1, 1), "cut after {cut} bytes");
        let id_ends =
            text.split(|b| *b == b' ').take(16).map(|token| token.len() + 1).sum::<usize>();
        if cut >= id_ends - 1 {
            let problems: Vec<_> = tally.problems().collect();
            assert_eq!(problems, [(Problem::Fault(Fault::length), 1)], "cut after {cut} bytes");
        }
    }
}

/// A full disk takes a part of a line, without its newline: the next line is not lost.
#[test]
fn a_line_behind_a_torn_one_is_read() {
    let text = log(2);
    let first = text.iter().position(|b| *b == b'\n').unwrap();
    for cut in 1..first {
        let glued = [&text[..cut], &text[first + 1..]].concat();
        let (lines, tally, result) = read(&glued);
        assert!(result.is_ok());
        assert_eq!((lines, tally.good, tally.skipped()), (1, 1, 1), "cut after {cut} bytes");
    }
}

/// The bytes that a close tells of while it works, by reading, and the files that it closed.
#[derive(Default)]
struct HeardClose {
    first: Vec<u64>,
    second: Vec<u64>,
    closed: usize,
}

impl Listener for HeardClose {
    fn file(&mut self, event: &Closing<'_>) {
        match event {
            Closing::Working { name, bytes, again } => {
                assert_eq!(*name, "2025-01.log");
                if *again { &mut self.second } else { &mut self.first }.push(*bytes);
            }
            Closing::Closed { .. } => self.closed += 1,
            other => panic!("{other:?}"),
        }
    }

    fn directory(&mut self, _: &Path, done: Result<CloseReport, CloseError>) {
        assert_eq!(done.unwrap().lines, 20_000);
    }
}

/// Compressing a year's log takes minutes: whoever waits hears of it.
#[test]
fn a_close_tells_how_far_it_is() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("2025-01.log"), log(20_000)).unwrap();
    let options = CloseOptions {
        before: Month::present(),
        to: None,
        join: false,
        idle: Duration::ZERO,
        settle: Duration::ZERO,
        dry_run: false,
    };
    let mut heard = HeardClose::default();
    close(dir.path(), false, options, &mut heard);
    assert_eq!(heard.closed, 1);
    for bytes in [&heard.first, &heard.second] {
        assert!(bytes.len() > 3 && bytes.is_sorted(), "{bytes:?}");
    }
}

/// A directory with a log of so many lines in each file, as a rotation has it: the newest has no number.
fn rotated(files: usize, lines: usize) -> (tempfile::TempDir, u64) {
    let dir = tempfile::tempdir().unwrap();
    let mut log = synthetic::Log::new(11);
    for number in 0..files {
        let text: Vec<u8> = (0..lines).flat_map(|_| log.line().to_vec()).collect();
        fs::write(dir.path().join(rotated_name(number)), text).unwrap();
    }
    (dir, (files * lines) as u64)
}

fn rotated_name(number: usize) -> String {
    if number == 0 { "run.log".to_owned() } else { format!("run.log.{number}") }
}

/// Renames all files to the next number, as `logrotate` does, and makes an empty one.
fn rotate(dir: &Path, files: usize) {
    for number in (0..files).rev() {
        let _ = fs::rename(dir.join(rotated_name(number)), dir.join(rotated_name(number + 1)));
    }
    fs::write(dir.join("run.log"), "").unwrap();
}

/// The log lines of sources, and those that could not be read.
fn lines_of(inputs: &Inputs) -> (u64, Vec<SourceError>) {
    let (mut tally, mut lines, mut failed) = (Tally::default(), 0, Vec::new());
    for source in &inputs.sources {
        failed.extend(scan(source, &mut tally, |_, _| lines += 1, |_| ()).err());
    }
    (lines, failed)
}

/// As many files without lines, which are listed first: those behind them are not held until they are opened.
fn fill(dir: &Path) {
    (0..250).for_each(|number| fs::write(dir.join(format!("first.{number:03}")), "").unwrap());
}

#[test]
fn a_file_that_is_renamed_before_it_is_opened_is_read_once() {
    for many in [false, true] {
        let (dir, lines) = rotated(5, 40);
        if many {
            fill(dir.path());
        }
        let inputs = Inputs::new(&[dir.path().to_owned()]);
        // The names of all are now those of others.
        rotate(dir.path(), 5);
        fs::write(dir.path().join("run.log"), GOOD).unwrap();
        let (read, failed) = lines_of(&inputs);
        assert!(failed.is_empty(), "{failed:?}");
        assert_eq!(read, lines, "what was listed, and not what came later");
    }
}

/// A log is what was there when its directory was listed, wherever its files are when they are opened.
#[test]
fn a_file_that_is_moved_or_removed_before_it_is_opened_is_read() {
    let (dir, lines) = rotated(4, 40);
    let inputs = Inputs::new(&[dir.path().to_owned()]);
    let elsewhere = tempfile::tempdir_in(dir.path().parent().unwrap()).unwrap();
    fs::rename(dir.path().join("run.log.1"), elsewhere.path().join("run.log.9")).unwrap();
    fs::remove_file(dir.path().join("run.log.2")).unwrap();
    fs::write(dir.path().join("run.log.2"), GOOD).unwrap();
    let (read, failed) = lines_of(&inputs);
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!(read, lines);
}

/// Not all files of a large directory can be held.
#[test]
fn a_file_that_is_gone_is_told_and_its_successor_is_read_instead() {
    let (dir, lines) = rotated(3, 40);
    fill(dir.path());
    let inputs = Inputs::new(&[dir.path().to_owned()]);
    let packed = zstd(&fs::read(dir.path().join("run.log.2")).unwrap());
    fs::write(dir.path().join("run.log.2.zst"), packed).unwrap();
    fs::remove_file(dir.path().join("run.log.2")).unwrap();
    // A file of that name, perhaps with the number of the one that is gone.
    fs::write(dir.path().join("run.log.2"), GOOD).unwrap();
    let (read, failed) = lines_of(&inputs);
    assert_eq!(read, lines - 40);
    let [gone] = &failed[..] else { panic!("{failed:?}") };
    assert!(gone.is_gone() && gone.to_string().ends_with("run.log.2"), "{gone:?}");
    let mut times = 0;
    let read = |inputs: &Inputs| {
        times += 1;
        lines_of(inputs)
    };
    let (read, failed) = inputs.read(read, |(_, failed)| failed);
    assert_eq!((read, failed.len(), times), (lines + 1, 0, 2));
}

/// While files are renamed without a pause, no line is missed and none is read from two places.
#[test]
fn a_log_that_rotates_all_the_time_is_read_as_a_whole() {
    const FILES: usize = 6;
    let (dir, lines) = rotated(FILES, 20);
    let end = std::sync::atomic::AtomicBool::new(false);
    let is_ended = || end.load(std::sync::atomic::Ordering::Relaxed);
    let rounds = std::thread::scope(|scope| {
        let rotating = scope.spawn(|| {
            let mut rounds = 0;
            while !is_ended() {
                rotate(dir.path(), FILES + 3);
                // Empty ones go, and the names begin anew.
                for number in 0..FILES + 4 {
                    let path = dir.path().join(rotated_name(number));
                    if fs::metadata(&path).is_ok_and(|about| about.len() == 0) {
                        fs::remove_file(path).unwrap();
                    }
                }
                let names = (0..FILES + 4).map(rotated_name);
                let there = names.filter(|name| dir.path().join(name).exists());
                for (number, name) in there.enumerate() {
                    fs::rename(dir.path().join(name), dir.path().join(rotated_name(number)))
                        .unwrap();
                }
                rounds += 1;
                std::thread::sleep(Duration::from_millis(3));
            }
            rounds
        });
        let mut wrong = Vec::new();
        for _ in 0..300 {
            let inputs = Inputs::new(&[dir.path().to_owned()]);
            let (read, failed) = inputs.read(lines_of, |(_, failed)| failed);
            if read != lines || !failed.is_empty() {
                wrong.push((read, failed));
            }
        }
        end.store(true, std::sync::atomic::Ordering::Relaxed);
        let rounds = rotating.join().unwrap();
        assert!(wrong.is_empty(), "{} of 300 of {lines} lines: {wrong:?}", wrong.len());
        rounds
    });
    assert!(rounds > 5, "renamed {rounds} times");
}
