//! What a mail says.

use std::fs;
use std::process::Command;

use topas_testkit::with_lengths;

use super::{Center, Line, log, other, stderr};

/// The words of a line that begins with some.
fn row<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let line = text
        .lines()
        .find(|line| line.starts_with(name))
        .unwrap_or_else(|| panic!("{name}: {text}"));
    line[name.len()..].split_whitespace().collect()
}

#[test]
fn figures_are_those_of_the_log() {
    let center = Center::new(&log());
    let text = center.shown(&["--show", "--user", "root"]);
    // As awk adds up the raw log: PE-hours of the week, and operations by time.
    let awk = |script: &str| {
        let output = Command::new("awk").arg(script).arg(center.log()).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let week = "$3 == \"root\" && $1 >= \"2026/11/16\" && $1 <= \"2026/11/22\"";
    let hours = awk(&format!("{week} {{ h += $6 * $13 / 3600 }} END {{ printf \"%.2f\", h }}"));
    // The log knows 13 days before, from the third on.
    let before = awk("$3 == \"root\" && $1 < \"2026/11/16\" { h += $6 * $13 / 3600 } \
                      END { printf \"%.2f\", h * 7 / 13 }");
    assert!(text.contains("before: mean of 7 days of the 13 that the log knows)"), "{text}");
    assert_eq!(row(&text, "PE-hours")[..2], [hours.as_str(), before.as_str()], "{text}");
    let all = awk("$1 >= \"2026/11/16\" { h += $6 * $13 / 3600 } END { printf \"%.2f\", h }");
    assert!(text.contains(&format!("(of {all} PE-h of all runs in the log)")), "{text}");
    let rate = awk(&format!(
        "{week} {{ sub(\"f=\", \"\", $14); o += $14 * $6; t += $13 * $6 }} END {{ printf \"%.1f\", o / t / 1e6 }}"
    ));
    let shown: f64 = row(&text, "floating point rate")[0].parse().unwrap();
    assert!((shown - rate.parse::<f64>().unwrap()).abs() < 0.06, "{rate}: {text}");
    assert_eq!(row(&text, "failed runs")[..3], ["1", "of", "3"], "{text}");
    assert_eq!(row(&text, "heat ")[..3], ["2", "8", "12.00"], "{text}");
    assert!(text.contains("died first: sig:11 (SIGSEGV)"), "{text}");
    assert!(text.contains("Next:") && text.contains("(confidence: sure)"), "{text}");
}

/// What ran before a log begins is not known, and not 0.
#[test]
fn the_time_before_the_log_is_not_told_as_nothing() {
    let first = Line { day: 17, user: "root", ..Line::default() }.text();
    let text = Center::new(&first).shown(&["--show", "--user", "root"]);
    assert_eq!(row(&text, "PE-hours")[..2], ["8.00", "-"], "{text}");
    assert!(text.contains("(1 run; before: the log has no runs)"), "{text}");
    assert_eq!(row(&text, "share of the machine")[..2], ["100.00%", "-"], "{text}");
    // Another user ran in all the time, so that root did not is known.
    let older = |day| Line { day, user: "other", uid: Some(7), ..Line::default() }.text();
    let text = Center::new(&(older(2) + &first)).shown(&["--show", "--user", "root"]);
    assert_eq!(row(&text, "PE-hours")[..2], ["8.00", "0.00"], "{text}");
}

#[test]
fn others_are_told_only_if_there_are_five() {
    let center = Center::new(&log());
    let text = center.shown(&["--show", "--user", "root"]);
    assert!(text.contains("fewer than 5 other users"), "{text}");
    let five = log() + &other(5, 5_000_000_000);
    let center = Center::new(&five);
    let text = center.shown(&["--show", "--user", "root"]);
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // Type 7 of 1 to 5 thousand.
    assert!(
        folded.contains(
            "that of 5 runs of 5 other users is 3000, and a quarter of them reaches 4000."
        ),
        "{text}"
    );
    assert!(!text.contains("other1") && !text.contains("70001"), "{text}");
}

/// Time in MPI is compared with the profiled runs of five others or more, also where no rate was
/// measured.
#[test]
fn time_in_mpi_is_compared_with_others() {
    let without_rate = |line: &Line<'_>| with_lengths(&line.text().replace("f=3600000000", "f=-"));
    let profiled = |user: u32, share: u32| {
        let profile = profile(&format!("mpisum={} f=Barrier:8:400:1::::::8", share * 288));
        let (name, id) = (format!("other{user}"), format!("b{user}"));
        let line = Line { user: &name, uid: Some(70_000 + user), id: &id, ..Line::default() };
        let profile =
            profile.replace("topas-mpi root heat 8 a1", &format!("topas-mpi {name} heat 8 {id}"));
        let profile = profile.replace("uid=0", &format!("uid={}", 70_000 + user));
        with_lengths(&(without_rate(&line) + &profile))
    };
    let own = without_rate(&Line::default()) + &profile("mpisum=14400 f=Barrier:8:400:1::::::8");
    let folded = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let others: String = (1..5).map(|user| profiled(user, 10 * user)).collect();
    let few = folded(Center::new(&(own.clone() + &others)).shown(&["--show", "--user", "root"]));
    let rates = "No comparison of rates with others: none of your runs (f90, 5-8 PEs) has a rate.";
    let mine = "Time in MPI: the median of your 1 profiled run is 50.00%";
    assert!(few.contains(&format!("{rates} {mine}; fewer than 5 other users")), "{few}");
    let center = Center::new(&(own + &others + &profiled(5, 70)));
    for form in ["--show", "--show=html"] {
        let text = folded(center.shown(&[form, "--user", "root"])).replace("</p> <p>", " ");
        // Type 7 of 10, 20, 30, 40 and 70 percent.
        let of_others = ", that of 5 profiled runs of 5 other users is 30.00%, and a quarter of \
                         them has 20.00% or less.";
        assert!(text.contains(&format!("{rates} {mine}{of_others}")), "{text}");
        assert!(!text.contains("other1") && !text.contains("70001"), "{text}");
    }
}

/// A reader of mails with 80 columns breaks no line, whatever names and numbers are in it.
#[test]
fn lines_of_the_text_are_short() {
    let long = "a-program-whose-name-is-as-long-as-a-file-system-allows-".repeat(4);
    let user = "a-user-with-a-name-that-no-system-gives-but-a-line-may-have-it-".repeat(2);
    let mut text = log();
    for (number, exe) in [long.as_str(), "x", &long[1..]].into_iter().enumerate() {
        let id = format!("c{number}");
        let end = ["exit:0", "sig:11", "exit:1"][number];
        let line = Line { npes: 4_000_000, seconds: 4_000_000, end, ..Line::default() };
        text += &Line { exe, id: &id, user: &user, uid: Some(0), ..line }.text();
    }
    let routines = ["Neighbor_alltoallw_init", "Allreduce", "File_iwrite_at_all"]
        .map(|name| format!("f={name}:99999999999:99999999:1:99999999999:9:99999999999999:9:9:8"));
    let waits = "late=99999999 latercv=99999999 coll=99999999";
    text += &profile(&format!(
        "mpisum=299999997 mpimax=99999999 mpimin=9 usemax=1800 over=9999999 thr=1 lang=c {waits} {}",
        routines.join(" ")
    ));
    let center = Center::new(&(text + &other(5, 5_000_000_000)));
    let text = center.shown(&["--show", "--user", "0"]);
    // The subject is a header, which mail systems fold.
    let longer_than = |text: &str, most: usize| -> Vec<String> {
        let lines = text.lines().skip(1).filter(|line| line.chars().count() > most);
        lines.map(str::to_owned).collect()
    };
    assert_eq!(longer_than(&text, 78), [""; 0]);
    let usual =
        profile("mpisum=14400 f=Allreduce:80:14000:1:80:80:640:80:640:8 late=1 latercv=1 coll=1");
    let usual = Center::new(&(log() + &usual + &other(5, 5_000_000_000)));
    assert_eq!(longer_than(&usual.shown(&["--show", "--user", "0"]), 72), [""; 0]);
    for part in ["WHY RANKS WAITED", "Neighbor_alltoallw_init", "a-program", "WHAT STANDS OUT"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.lines().all(|line| line.trim_end() == line), "{text:?}");
}

#[test]
fn html_has_the_same_numbers_and_bars_of_cells() {
    let center = Center::new(&(log() + &other(5, 5_000_000_000)));
    let html = center.shown(&["--show=html", "--user", "0"]);
    for part in [
        "<html lang=\"en\">",
        "<b>12.02</b>",
        "bgcolor=\"#2f6db3\"",
        "top quarter of others",
        "4000 MFlop/s per PE",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    for never in ["<img", "<script", "<svg", "http"] {
        assert!(!html.contains(never), "{never}");
    }
}

#[test]
fn hostile_names_are_text() {
    let exe = "<script>alert(1)</script>%0a%1b[2J{{user}}";
    let line = Line { exe, id: "x<b>", ..Line::default() }.text();
    let center = Center::new(&line);
    let html = center.shown(&["--show=html"]);
    assert!(!html.contains("<script>") && html.contains("&lt;script&gt;"), "{html}");
    assert!(html.contains("{{user}}"), "what is in a name is no template: {html}");
    let text = center.shown(&["--show"]);
    assert!(!text.contains('\u{1b}') && !text.contains("\n\u{1b}"), "{text:?}");
    assert!(text.lines().next().unwrap().starts_with("Subject: Your programs in 2026-W47"));
}

#[test]
fn a_user_without_an_id_is_known_by_name() {
    let text = log() + &Line { uid: None, id: "n1", exe: "old", ..Line::default() }.text();
    let center = Center::new(&text);
    // The name leads to the same user: the runs of both kinds of lines are in one mail.
    assert_eq!(row(&center.shown(&["--show", "--user", "root"]), "old ")[0], "1");
    let unknown = Line { user: "nobody-knows", uid: None, ..Line::default() }.text();
    let center = Center::new(&unknown);
    assert!(center.shown(&["--show", "--user", "nobody-knows"]).contains("8.00 PE-h"));
    let missing = Line { user: "-", uid: Some(4_000_000), ..Line::default() }.text();
    assert!(Center::new(&missing).shown(&["--show", "--user", "4000000"]).contains("8.00 PE-h"));
}

#[test]
fn a_dirty_log_is_counted_and_told() {
    let center = Center::new(&(log() + "no line\n2026/11/17 12:00:00 torn\n"));
    let output =
        center.report(&["mail", "log", "--period", "2026-W47", "--show", "--user", "root"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("warning: 2 of 10 lines skipped"), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("12.02 PE-h"));
}

/// A line of an MPI profile.
pub(crate) fn profile(rest: &str) -> String {
    let text = format!(
        "2026/11/17 12:00:00 topas-mpi root heat 8 a1 v=1 of=run line=1/1 t=1794916800 uid=0 \
         end=finalize host=n1 mpi=Open_MPI ranks=8 wall=28800 wallmax=3600 {rest}"
    );
    format!("{text} len={:03}\n", text.len() + 8)
}

#[test]
fn mpi_profiles_are_told_with_marks_and_waits() {
    let waits = profile(
        "mpisum=14400 mpimax=1800 mpimin=1800 usemax=1800 over=1 thr=1 lang=c \
         f=Allreduce:80:14000:1:80:80:640:80:640:8 f=Barrier:8:400:1::::::8",
    );
    let center = Center::new(&(log() + &waits));
    let text = center.shown(&["--show", "--user", "root"]);
    assert!(text.contains("50.00% in MPI"), "{text}");
    assert!(text.contains("(2) sum of MPI time / sum of application time = 50.00%"), "{text}");
    let line = text.lines().find(|line| line.contains("Allreduce")).unwrap();
    assert!(line.trim_start().starts_with("(3)") && line.contains("14000"), "{line}");
    assert!(
        text.contains("Marked: a tenth of the time in MPI and more: (3) Allreduce 97.22%."),
        "{text}"
    );
    assert!(!text.contains("WHY RANKS WAITED"), "waits were not told apart: {text}");
    let measured = profile(
        "mpisum=14400 mpimax=1800 mpimin=1800 usemax=1800 over=1 thr=1 late=0 latercv=0 coll=4000 \
         f=Allreduce:80:14000:1:80:80:640:80:640:8 l=Allreduce:0:0:0:0:80:4000:0:0:0:0:0:0",
    );
    let with_waits = Center::new(&(log() + &measured)).shown(&["--show", "--user", "root"]);
    let waited = row(&with_waits, "for the last of a collective");
    assert_eq!(waited[..3], ["4000.000", "s", "27.78%"], "{with_waits}");
    let html = center.shown(&["--show=html", "--user", "root"]);
    assert!(html.contains("font-weight:bold") && html.contains("Allreduce"), "{html}");
}

#[test]
fn a_broken_template_names_its_line() {
    let center = Center::new(&log());
    fs::create_dir(center.path("etc/mail")).unwrap();
    let own = center.path("etc/mail/weekly.txt");
    fs::write(&own, "Hello {{ user }}\n{{ week }}: {{ headline }}\n").unwrap();
    let text = center.shown(&["--show", "--user", "root"]);
    assert!(text.contains("Hello root\n2026-W47: 12.02 PE-h, "), "{text}");
    for (template, fault) in [
        ("a\nb {% for %}\n", ":2: syntax error"),
        ("a\nb\n{{ no_such_value }}\n", ":3: "),
        ("{{ user | no_such_filter }}", ":1: "),
        ("{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}", ":1: "),
    ] {
        fs::write(&own, template).unwrap();
        let output =
            center.report(&["mail", "log", "--period", "2026-W47", "--show", "--user", "root"]);
        let err = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{template}");
        assert!(err.contains(&format!("weekly.txt{fault}")), "{template}: {err}");
        assert!(err.contains("hint: "), "{err}");
    }
}

#[test]
fn nobody_and_nothing_have_exit_codes() {
    let center = Center::new(&log());
    let code = |args: &[&str]| center.report(args).status.code();
    assert_eq!(code(&["mail", "log", "--period", "2026-W47", "--show", "-u", "none"]), Some(3));
    assert_eq!(code(&["mail", "log", "--period", "2025-W01", "--show"]), Some(3));
    assert_eq!(code(&["mail", "log", "--period", "2026-W47"]), Some(2), "no way to send");
    assert_eq!(code(&["mail", "nolog", "--period", "2026-W47", "--show"]), Some(1));
    assert_eq!(code(&["mail", "log", "--period", "someday"]), Some(2));
    assert_eq!(code(&[]), Some(2));
    assert_eq!(
        (code(&["--help"]), code(&["mail", "--help"]), code(&["--version"])),
        (Some(0), Some(0), Some(0))
    );
}
