//! `topas-report purge`: what goes is gone from every file that it keeps, and from no more.

use std::fs;
use std::process::Output;
use std::thread;
use std::time::Duration;

use topas_testkit::{numbers_below, with_lengths};

use super::{Center, read, stderr};

/// A run in a month of 2026.
fn run(month: u32, user: u32, number: u32) -> String {
    // 12:00 UTC on the 10th.
    let days = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334][month as usize - 1] + 9;
    let t = 1_767_225_600 + days * 86_400 + 43_200 + u64::from(number);
    with_lengths(&format!(
        "2026/{month:02}/10 12:{:02}:{:02} user{user} heat{user} 1 8 t2400 B f90 mpi 3600.0 0.1 3600.0 \
         f=3600000000 1000 r{month}.{user}.{number} v=1 t={t} uid={} end=exit:0\n",
        number / 60,
        number % 60,
        50_000 + user
    ))
}

/// A center with runs of three users in May and October, its index, pages and notes of sent mails.
fn center() -> Center {
    let mut log = String::new();
    for month in [5, 10] {
        for user in 1..=3 {
            (0..40).for_each(|number| log += &run(month, user, number));
        }
    }
    // In October only.
    log += &run(10, 4, 0);
    let center = Center::new(&log);
    let made = |output: Output| assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    made(center.report(&["ingest", "log", "--index", "index", "-q"]));
    made(center.report(&[
        "pages", "log", "-q", "--out", "pages", "--period", "2026-05", "--period", "2026-10",
        "--period", "2026",
    ]));
    let notes = "begin 2026-W19 uid:50001\nsent 2026-W19 uid:50001\nsent 2026-W41 uid:50001\n\
                 sent 2026-W41 uid:50004\n";
    fs::write(center.path("mails"), notes).unwrap();
    center
}

const PURGE: [&str; 7] = ["purge", "--index", "index", "--pages", "pages", "--state", "mails"];

fn purge(center: &Center, options: &[&str]) -> String {
    let output = center.report(&[&PURGE, options].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stderr(&output)
}

fn pages(center: &Center) -> Vec<String> {
    let names = fs::read_dir(center.path("pages")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

/// Whether any file of the center but the log has this text.
fn has(center: &Center, text: &str) -> bool {
    let has = |path| {
        let bytes: Vec<u8> = fs::read(path).unwrap_or_default();
        bytes.windows(text.len()).any(|found| found == text.as_bytes())
    };
    let in_pages = pages(center).into_iter().map(|name| center.path("pages").join(name));
    let beside = ["index", "index-wal", "index-shm", "mails"].map(|name| center.path(name));
    in_pages.chain(beside).any(has)
}

#[test]
fn what_is_old_is_gone_from_index_pages_and_notes() {
    let center = center();
    assert!(has(&center, "2026/05/10 12:") && has(&center, "r5.1.1 ") && has(&center, "2026-W19"));
    let wrong = center.report(&PURGE);
    assert_eq!(wrong.status.code(), Some(2), "{}", stderr(&wrong));
    assert!(stderr(&wrong).contains("nothing says how long runs are kept"), "{}", stderr(&wrong));

    let told = purge(&center, &["--before", "2026-06", "--dry-run"]);
    assert!(told.contains("index: 120 runs and 0 lines of MPI profiles from before 2026-06 would"));
    assert!(told.contains("pages: 1 pages from before 2026-06 would be removed\n"), "{told}");
    assert!(told.contains("  2026-05\n") && told.contains("mails: 2 notes"), "{told}");
    assert_eq!(pages(&center).len(), 5);
    assert!(has(&center, "r5.1.1 ") && has(&center, "2026-W19"));

    // The limit of the site, in whole months before the present one.
    let conf = center.path("etc/topas.conf");
    let present = topas_data::clock::now().date;
    let months = u32::from(present.year) * 12 + u32::from(present.month) - (2026 * 12 + 6);
    fs::write(conf, format!("keep = {}\n", months.max(1))).unwrap();
    let told = purge(&center, &[]);
    assert!(told.contains("index: 120 runs"), "{told}");
    for gone in ["2026/05/10 12:", "r5.1.1 ", "r5.3.39 ", "2026-W19", "2026-05.html"] {
        assert!(!has(&center, gone), "{gone}: {told}");
    }
    assert_eq!(pages(&center), [".topas-pages", "2026-10.html", "2026.html", "index.html"]);
    assert_eq!(read(&center.path("mails")), "sent 2026-W41 uid:50001\nsent 2026-W41 uid:50004\n");
    assert!(has(&center, "r10.1.1 "));
    // The log still has them; a file that is new to the index brings nothing back.
    fs::rename(center.log(), center.path("again")).unwrap();
    fs::copy(center.path("again"), center.log()).unwrap();
    let again = center.report(&["ingest", "log", "--index", "index"]);
    assert!(stderr(&again).contains("120 lines are older than what"), "{}", stderr(&again));
    assert!(!has(&center, "r5.1.1 "));
    assert!(purge(&center, &["-q"]).is_empty());
}

#[test]
fn a_user_is_gone_from_index_pages_and_notes() {
    let center = center();
    let told = purge(&center, &["--user", "50004"]);
    assert!(told.contains("index: 1 runs and 0 lines of MPI profiles of the user 50004"), "{told}");
    // The page of May does not name the user.
    assert!(told.contains("pages: 2 pages of the user 50004 were removed"), "{told}");
    assert_eq!(pages(&center), [".topas-pages", "2026-05.html", "index.html"]);
    for gone in ["user4", "heat4", "50004"] {
        assert!(!has(&center, gone), "{gone}");
    }
    assert!(has(&center, "user1") && has(&center, "2026-W41 uid:50001"));
    let told = purge(&center, &["--user", "50004"]);
    assert!(told.contains("index: 0 runs"), "{told}");
    let wrong = center.report(&[&PURGE[..], &["--user", "nobody-of-this-name"]].concat());
    assert_eq!(wrong.status.code(), Some(2), "{}", stderr(&wrong));
}

/// As the unit of systemd calls it at a center that sends no mails and makes no pages.
#[test]
fn what_a_center_does_not_have_is_no_error() {
    let center = center();
    fs::remove_file(center.path("mails")).unwrap();
    fs::remove_dir_all(center.path("pages")).unwrap();
    let told = purge(&center, &["--before", "2026-06"]);
    assert!(told.contains("pages: there are no pages\n"), "{told}");
    assert!(told.contains("mails: there are no notes of mails\n"), "{told}");
    assert!(told.contains("index: 120 runs"), "{told}");
    assert!(!center.path("pages").exists() && !center.path("mails").exists());
    assert!(purge(&center, &["--before", "2026-07", "--quiet"]).is_empty());
}

/// Of a page that cannot be read nobody knows whether it names the user: that is said, and no page goes.
#[test]
fn a_page_that_cannot_be_read_is_told() {
    let center = center();
    let page = center.path("pages/2026-10.html");
    fs::remove_file(&page).unwrap();
    fs::create_dir(&page).unwrap();
    let output = center.report(&[&PURGE[..], &["--user", "50004"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot read pages/2026-10.html"), "{}", stderr(&output));
    assert_eq!(pages(&center).len(), 5);
    fs::remove_dir(&page).unwrap();
    assert!(
        purge(&center, &["--user", "50004"]).contains("1 pages of the user 50004 were removed")
    );
}

/// A purge that is killed anywhere is finished by the next one.
#[test]
fn a_purge_that_is_killed_is_finished_by_the_next_one() {
    let kills = if std::env::var_os("TOPAS_TEST_FULL").is_some() { 50 } else { 5 };
    let (mut below, mut killed) = (numbers_below(11), 0);
    for number in 0..kills {
        let center = center();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_topas-report"));
        command.args([&PURGE[..], &["-q", "--before", "2026-06"]].concat());
        command.current_dir(center.path(".")).env("TOPAS_CONF", center.path("etc/topas.conf"));
        let mut child = command.spawn().unwrap();
        thread::sleep(Duration::from_micros(500 + below(30_000)));
        child.kill().unwrap();
        killed += u64::from(!child.wait().unwrap().success());
        purge(&center, &["--before", "2026-06"]);
        for gone in ["2026/05/10 12:", "r5.1.1 ", "2026-W19", "2026-05.html"] {
            assert!(!has(&center, gone), "kill {number}: {gone}");
        }
        let listed = [".topas-pages", "2026-10.html", "2026.html", "index.html"];
        let mut names = pages(&center);
        // A page that was being written has another name until it is whole.
        names.retain(|name| !(name.starts_with('.') && name != ".topas-pages"));
        assert_eq!(names, listed, "kill {number}");
        assert!(has(&center, "r10.1.1 "));
    }
    assert!(killed > 0, "none of {kills} was killed at work");
}
