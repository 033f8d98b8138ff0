//! The pages of a center: what stands in them, and how a browser shows them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use topas_testkit::numbers_below;

use super::browser::assert_readable;
use super::{Center, Line, log, other, read, stderr};

/// A center with pages of a week, a month and a year.
fn written() -> Center {
    let mut text = log() + &other(5, 5_000_000_000);
    // A program that got slower: fast in four weeks, half as fast in the week.
    for number in 0..24u8 {
        let (day, rate) =
            if number < 12 { (2 + number, 2_000_000_000) } else { (16 + number % 6, 900_000_000) };
        let id = format!("s{number}");
        let ops = 3600 * (rate + u64::from(number) * 1_000_000);
        text += &Line { day, exe: "slowing", id: &id, ops, ..Line::default() }.text();
    }
    let center = Center::new(&text);
    let args = [
        "pages", "log", "--out", "www", "--period", "2026-W47", "--period", "2026-11", "--period",
        "2026",
    ];
    let output = center.report(&args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    center
}

/// Of 144 programs of users with noisy rates, those of one program became slower, and no other stands on
/// the page.
#[test]
fn only_slowed_programs_are_told_as_slower() {
    let mut below = numbers_below(5);
    let mut text = String::new();
    let mut number = 0u32;
    for of in 0..144u32 {
        let (user, exe) = (format!("u{}", of / 12), format!("program{}", of % 12));
        for day in (0..100).map(|run| if run < 20 { 16 + run % 7 } else { 2 + run % 14 }) {
            // About log-normal, as on processors of several types.
            let normal = (0..12).map(|_| below(1000) as f64 / 1000.0).sum::<f64>() - 6.0;
            let left = if day >= 16 && exe == "program7" { 0.4 } else { 1.0 };
            let rate = 1e9 * left * (0.65 * normal).exp();
            number += 1;
            let id = format!("r{number}");
            let seconds = 600 + below(6000) as u32;
            let ops = (rate * f64::from(seconds)) as u64;
            let line = Line {
                day,
                user: &user,
                uid: None,
                exe: &exe,
                seconds,
                ops,
                id: &id,
                ..Line::default()
            };
            text += &line.text();
        }
    }
    let center = Center::new(&text);
    let output = center.report(&["pages", "log", "--out", "www", "--period", "2026-W47"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let page = read(&center.path("www/2026-W47.html"));
    let part = page.split("<section aria-labelledby=\"slower\">").nth(1).unwrap();
    let part = part.split("</section>").next().unwrap();
    let rows = part.split("scope=\"row\">").skip(1);
    let told: Vec<&str> = rows.map(|row| row.split('<').next().unwrap()).collect();
    assert!(told.len() >= 8 && told.iter().all(|exe| *exe == "program7"), "{told:?}");
}

/// The cells of the row of a table that begins with a name.
fn cells(page: &str, id: &str, name: &str) -> Vec<String> {
    let part = page.split(&format!("<section aria-labelledby=\"{id}\">")).nth(1).expect(id);
    let part = part.split("</section>").next().unwrap();
    let start = format!("<th class=\"l\" scope=\"row\">{name}");
    let row = part.split(&start).nth(1).unwrap_or_else(|| panic!("{name} in {part}"));
    let row = row.split("</tr>").next().unwrap();
    let cell = |text: &str| text.split("</td>").next().unwrap().to_owned();
    row.split("<td").skip(1).map(|text| cell(text.split_once('>').unwrap().1)).collect()
}

#[test]
fn figures_are_those_of_the_log() {
    let center = written();
    let page = read(&center.path("www/2026-W47.html"));
    let awk = |script: &str| {
        let output = Command::new("awk").arg(script).arg(center.log()).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let week = "$1 >= \"2026/11/16\" && $1 <= \"2026/11/22\"";
    for user in ["root", "other3"] {
        let expected = awk(&format!(
            "{week} {{ all += $6 * $13 }} {week} && $3 == \"{user}\" {{ n++; h += $6 * $13 }} \
             END {{ printf \"%d %.2f %.2f%%\", n, h / 3600, 100 * h / all }}"
        ));
        let shown = cells(&page, "users", user);
        assert_eq!([&*shown[0], &*shown[2], &*shown[3]].join(" "), expected, "{user}");
    }
    let runs = awk(&format!("{week} {{ n++ }} END {{ print n }}"));
    assert_eq!(cells(&page, "summary", "analyzed runs"), [runs]);
    assert_eq!(cells(&page, "summary", "failed runs")[0].split(',').next(), Some("1 of 20"));
    let slower = cells(&page, "slower", "slowing");
    assert_eq!([&*slower[0], &*slower[5], &*slower[6]], ["root", "12", "12"], "{slower:?}");
    assert!(slower[4].starts_with("-5"), "by more than half: {slower:?}");
    let month = read(&center.path("www/2026-11.html"));
    assert!(month.contains("There are no runs before"), "{month}");
}

/// A file of the log moves to another directory and back all the time, as `olddir` of logrotate does. It is
/// always there once, so each page tells all runs.
#[test]
fn pages_are_whole_while_files_of_the_log_move() {
    let center = Center::new("");
    fs::create_dir_all(center.path("logs/old")).unwrap();
    for file in 0..4u8 {
        let line = |number: u8| {
            let id = format!("f{file}.{number}");
            Line { day: 16 + number, id: &id, ..Line::default() }.text()
        };
        let text: String = (0..6).map(line).collect();
        fs::write(center.path(&format!("logs/run.log.{file}")), text).unwrap();
    }
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let moving = scope.spawn(|| {
            let mut times = 0;
            let [here, there] = ["logs/run.log.3", "logs/old/run.log.9"].map(|of| center.path(of));
            while !ended.load(Ordering::Relaxed) {
                fs::rename(&here, &there).unwrap();
                thread::sleep(Duration::from_millis(2));
                fs::rename(&there, &here).unwrap();
                thread::sleep(Duration::from_millis(2));
                times += 1;
            }
            times
        });
        let made = |_| {
            let args = ["pages", "logs", "--out", "www", "--quiet", "--period", "2026-W47"];
            let output = center.report(&args);
            let page = read(&center.path("www/2026-W47.html"));
            (output.status.code(), cells(&page, "summary", "analyzed runs"), stderr(&output))
        };
        let all: Vec<_> = (0..20).map(made).collect();
        ended.store(true, Ordering::Relaxed);
        assert!(moving.join().unwrap() > 20);
        let whole = (Some(0), vec!["24".to_owned()], String::new());
        let wrong: Vec<_> = all.iter().filter(|of| **of != whole).collect();
        assert!(wrong.is_empty(), "{} of {}: {wrong:?}", wrong.len(), all.len());
    });
}

/// The memory is for the rows that are shown, not for all combinations of users, programs, sizes
/// and days, of which there are nearly as many as runs.
#[test]
fn a_year_of_runs_that_all_differ_fits_into_little_memory() {
    let names: Vec<[String; 3]> = (0..40_000u32)
        .map(|n| [format!("u{}", n % 53), format!("e{}", n % 71), format!("r{n}")])
        .collect();
    let line = |(n, [user, exe, id]): (usize, &[String; 3])| {
        let (day, npes) = ((n % 27 + 1) as u8, (n % 1103 + 2) as u32);
        Line { day, user, uid: None, exe, npes, id, ..Line::default() }.text()
    };
    let center = Center::new(&names.iter().enumerate().map(line).collect::<String>());
    let args = ["pages", "log", "--out", "www", "--period", "2026-11", "--memory", "16M"];
    let output = center.report(&args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let page = read(&center.path("www/2026-11.html"));
    // Pages set thousands apart.
    assert_eq!(cells(&page, "summary", "analyzed runs"), ["40\u{202f}000"]);
}

#[test]
fn pages_are_whole_and_for_the_staff() {
    let center = written();
    let index = read(&center.path("www/index.html"));
    for name in ["2026-W47", "2026-11", "2026"] {
        assert!(index.contains(&format!("<a href=\"{name}.html\">{name}</a>")), "{index}");
        let path = center.path(&format!("www/{name}.html"));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o640);
        let page = read(&path);
        for part in
            ["<html lang=\"en\">", "<header>", "<main id=\"main\"", "<footer>", "<h1>", "<nav "]
        {
            assert_eq!(page.matches(part).count(), 1, "{part}");
        }
        assert!(!page.contains("<script") && !page.contains("src="), "{name}");
        // Every part has a sentence that says what to see.
        let parts: Vec<&str> = page.split("<section aria-labelledby=\"").skip(1).collect();
        assert_eq!(parts.len(), 12, "{name}");
        for part in parts {
            let sentence = part.split("<p>").nth(1).unwrap().split("</p>").next().unwrap();
            assert!(sentence.len() > 20 && sentence.ends_with('.'), "{part:.200}");
        }
        for heading in page.split("<th").skip(1).filter(|text| !text.starts_with("ead")) {
            assert!(heading.split('>').next().unwrap().contains("scope="), "{heading:.60}");
        }
    }
    let mode = fs::metadata(center.path("www")).unwrap().permissions().mode();
    assert_eq!(mode & 0o007, 0, "others read nothing");
    // A second call keeps the pages of other times.
    let again = ["pages", "log", "--out", "www", "--period", "2026-W47"];
    assert_eq!(center.report(&again).status.code(), Some(0));
    assert!(read(&center.path("www/index.html")).contains("2026-11.html"));
    let none = ["pages", "log", "--out", "www", "--period", "2024"];
    assert_eq!(center.report(&none).status.code(), Some(3));
}

#[test]
fn names_are_text() {
    let line = Line { exe: "<b>x</b>&\"'", user: "<i>", uid: Some(9), ..Line::default() }.text();
    let center = Center::new(&line);
    let output = center.report(&["pages", "log", "--out", "www", "--period", "2026-W47"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let page = read(&center.path("www/2026-W47.html"));
    assert!(
        page.contains("&lt;b&gt;x&lt;/b&gt;&amp;")
            && !page.contains("<b>x")
            && !page.contains("<i>")
    );
}

/// As Chromium shows the page, in the widths of a telephone and of a screen, light and dark.
#[test]
#[ignore = "cargo xtask test --browser"]
fn a_browser_shows_the_pages_readably() {
    let center = written();
    for name in ["index", "2026-W47", "2026"] {
        let page = read(&center.path(&format!("www/{name}.html")));
        assert_readable(&center, name, &page);
    }
}
