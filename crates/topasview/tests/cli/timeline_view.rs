//! What a reader sees of time lines first: colours that stand out, rows that are in view, and the run behind a long
//! `MPI_Init`.

use serde_json::Value;

use super::page::measured_as_read;
use super::synthetic_trace::SyntheticTrace;
use super::timeline::page;

/// The luminance of a colour `#rrggbb` or `#rgb`, by WCAG 2.2.
fn luminance(color: &str) -> f64 {
    let digits = color.trim_start_matches('#');
    let width = digits.len() / 3;
    let part = |place: usize| {
        let own = &digits[place * width..(place + 1) * width];
        let own = u8::from_str_radix(&own.repeat(3 - width), 16).expect("digits");
        let own = f64::from(own) / 255.0;
        if own <= 0.04045 { own / 12.92 } else { ((own + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(0) + 0.7152 * part(1) + 0.0722 * part(2)
}

#[test]
fn computing_stands_out_from_the_ground_light_and_dark() {
    let page = page(&SyntheticTrace::default(), &[]);
    let style = page.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    let values = |name: &str| -> Vec<f64> {
        let color = |rest: &str| rest.split([';', '}']).next().map(luminance);
        style.split(&format!("{name}:")).skip(1).filter_map(color).collect()
    };
    let (computing, ground) = (values("--class-0"), values("--ground"));
    assert_eq!((computing.len(), ground.len()), (2, 2), "light and dark");
    for (computing, ground) in computing.into_iter().zip(ground) {
        let contrast = (computing.max(ground) + 0.05) / (computing.min(ground) + 0.05);
        assert!(contrast >= 3.0, "{contrast}");
    }
}

#[test]
fn what_is_not_in_the_log_is_no_empty_ground_light_and_dark() {
    let page = page(&SyntheticTrace::default(), &[]);
    let style = page.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    let values = |name: &str| -> Vec<f64> {
        let color = |rest: &str| rest.split([';', '}']).next().map(luminance);
        style.split(&format!("{name}:")).skip(1).filter_map(color).collect()
    };
    let (hatch, between, ground) = (values("--hatch"), values("--class-9"), values("--ground"));
    assert_eq!((hatch.len(), between.len(), ground.len()), (2, 2, 2), "light and dark");
    for place in 0..2 {
        for other in [between[place], ground[place]] {
            let contrast = (hatch[place].max(other) + 0.05) / (hatch[place].min(other) + 0.05);
            assert!(contrast >= 3.0, "{contrast}");
        }
    }
}

#[test]
fn ranks_that_share_processors_are_told() {
    let told = |command: &str, arg: &str| {
        let output = std::process::Command::new(command).arg(arg).output().unwrap().stdout;
        String::from_utf8(output).unwrap().trim().to_owned()
    };
    let processors: u32 = told("getconf", "_NPROCESSORS_ONLN").parse().unwrap();
    let host: &'static str = told("uname", "-n").leak();
    let run = |ranks, host| SyntheticTrace { ranks, steps: 4, host, ..SyntheticTrace::default() };
    let words = format!("<p>{} ranks on a node of {processors} processor", processors + 6);
    let crowded = page(&run(processors + 6, host), &[]);
    assert!(crowded.contains(&words), "{crowded:.3000}");
    let elsewhere = page(&run(processors + 6, "n001"), &[]);
    assert!(!elsewhere.contains(" ranks on a node of "), "nobody knows the processors of n001");
}

/// Looks at what stands where, and at what is in view before and after a key.
const LOOK: &str = r#"
  const seen = {};
  const span = () => $("span").textContent;
  const place = element => element.getBoundingClientRect().top + scrollY;
  const run = async () => {
    await drawn();
    seen.width = innerWidth;
    seen.scroll = document.documentElement.scrollWidth;
    seen.rows = place($("lines"));
    seen.tools = place($("tools"));
    seen.legend = place(document.querySelector(".legend"));
    seen.first = span();
    key("Home");
    await drawn();
    seen.whole = span();
    const channels = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).map(part => part / 255);
    Object.assign(seen, { contrast: { contrast: 21 }, size: { size: 12 }, unreachable: 0, ground: Math.min(...channels) ** 2.2 });
  };
  leave(run, seen);
"#;

/// A height of a telephone whose width is 390, in pixels.
const TELEPHONE: f64 = 844.0;

#[test]
#[ignore = "cargo xtask test --browser"]
fn a_browser_shows_rows_at_first_and_the_run_behind_a_long_init() {
    let written = page(&SyntheticTrace::default(), &[]);
    assert_eq!(written.matches("\"initialized\":0,").count(), 1);
    let ended = written.split_once("\"ended\":").unwrap().1.split_once(',').unwrap().0;
    let ended: u64 = ended.parse().unwrap();
    let said = |seen: &Value, key: &str| seen[key].as_str().unwrap_or_default().to_owned();
    for (share, is_long) in [(0.3, true), (0.05, false)] {
        let through = (ended as f64 * share) as u64;
        let page = written.replace("\"initialized\":0,", &format!("\"initialized\":{through},"));
        measured_as_read(&page, LOOK, |seen, what| {
            assert_eq!(seen["errors"], Value::Array(Vec::new()), "{what}");
            let number = |key: &str| seen[key].as_f64().unwrap();
            // Above all rows, the strip of the whole run and colours; on a telephone no tools.
            assert!(number("legend") < number("rows"), "{what}");
            if number("width") < 640.0 {
                assert!(number("rows") < 0.7 * TELEPHONE, "rows are out of view: {what}");
                assert!(number("rows") < number("tools"), "{what}");
            }
            let words = "The picture begins where MPI_Init ends (";
            assert_eq!(said(seen, "first").contains(words), is_long, "{what}");
            let from_begin =
                |text: &str| text.starts_with("In view: 0.0") && text.contains("0 s to ");
            assert!(from_begin(&said(seen, "whole")), "{what}");
            assert!(!said(seen, "whole").contains(words), "{what}");
            let begin = said(seen, "first")["In view: ".len()..].to_owned();
            let begin: f64 = begin.split(' ').next().unwrap().parse().unwrap();
            let expected =
                if is_long { through as f64 - (ended - through) as f64 * 0.02 } else { 0.0 };
            assert!(
                (begin - expected / 1e9).abs() < 0.01 * ended as f64 / 1e9,
                "{begin} {expected}: {what}"
            );
        });
    }
}
