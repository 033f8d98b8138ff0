//! The page of time lines of 1,024 ranks in Chromium: how long until all is drawn.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::Bench;
use crate::packages::{self, ensure};
use crate::process::{cargo, output, root, run};

/// Widths of a screen and of a telephone, in pixels.
const WIDTHS: [u32; 2] = [1280, 390];
const RANKS: u64 = 1024;
/// The rank of the made up run that is late.
const LATE: u64 = 517;

/// What the reader of the page does, as `bench/page.js` calls it, in words, and how long that may take in ms.
const STEPS: [(&str, &str, u32); 7] = [
    ("open", "open the page", 1000),
    ("zoom-half", "the whole run, to 41 % of it: sums", 300),
    ("zoom-100", "to 0.7 %: calls are read and drawn", 300),
    ("zoom-1000", "to 0.08 %: calls that were read", 300),
    ("zoom-100000", "to 0.0008 %", 300),
    ("move", "to the right", 300),
    ("whole", "back to the whole run", 300),
];

pub fn page(bench: &Bench) -> Result<String> {
    ensure(packages::BROWSER)?;
    let dir = bench.sub("page")?;
    // 3.25 calls of each rank in a step.
    let steps = if bench.quick { 600 } else { 30_048 };
    let (log, page, took) = made(bench, &dir, "thousand", RANKS, steps)?;
    let (small_log, small, _) = made(bench, &dir, "few", 8, 1000)?;
    let mut text = format!(
        "## Time lines in a browser\n\nThe page of a made up run of {RANKS} ranks, {} calls ({:.1} MB, and a log of \
         {:.0} MB beside the page, made by `topasview` in {:.1} s), from `file://` in Chromium without a screen, by `bench/page.js`: from the \
         beginning of what the reader does until the browser has drawn all of the answer. Before calls that have \
         to be read, sums are drawn. Computed: by the process of the page. Of the page of 8 ranks most is the \
         browser's own.\n\n\
         | pixels | what the reader does | sums drawn (ms) | all drawn (ms) | computed (ms) | longest without an \
         answer (ms) | goal (ms) |\n| --- | --- | --- | --- | --- | --- | --- |\n",
        RANKS * (steps * 13 / 4 + 2),
        fs::metadata(&page)?.len() as f64 / 1e6,
        fs::metadata(&log)?.len() as f64 / 1e6,
        took.as_secs_f64(),
    );
    for width in WIDTHS {
        let few = measured(bench, &small, &small_log, width)?;
        text += &row(width, "open the page of 8 ranks", few.get("open"), "");
        let found = measured(bench, &page, &log, width)?;
        for (name, words, goal) in STEPS {
            text += &row(width, words, found.get(name), &goal.to_string());
        }
    }
    let load = fs::read_to_string("/proc/loadavg")?;
    text += &format!(
        "\nLoad while this was measured: {}.\n",
        load.split(' ').next().unwrap_or_default()
    );
    fs::remove_dir_all(&dir)?;
    Ok(text)
}

/// A made up log, its page, and how long it took to make the page.
fn made(
    bench: &Bench,
    dir: &Path,
    name: &str,
    ranks: u64,
    steps: u64,
) -> Result<(PathBuf, PathBuf, Duration)> {
    let (log, page) = (dir.join(format!("{name}.trace")), dir.join(format!("{name}.html")));
    let late = LATE.min(ranks / 2);
    let status = cargo()
        .args(["run", "--quiet", "--release", "--package", "topas-mpi-data"])
        .args(["--example", "generate-trace", "--"])
        .args([ranks, steps, late].map(|number| number.to_string()))
        .stdout(File::create(&log)?)
        .status()?;
    if !status.success() {
        bail!("generate-trace failed with {status}");
    }
    let mut view = Command::new(bench.paths.bin().join("topasview"));
    view.args(["--timeline", "--log-beside", "--quiet", "--html"]).arg(&page).arg(&log);
    let began = Instant::now();
    run(&mut view)?;
    Ok((log, page, began.elapsed()))
}

/// The medians of each step: first drawing, all, computed, longest without an answer.
fn measured(
    bench: &Bench,
    page: &Path,
    log: &Path,
    width: u32,
) -> Result<BTreeMap<String, [f64; 4]>> {
    let mut found: BTreeMap<String, [Vec<f64>; 4]> = BTreeMap::new();
    for _ in 0..bench.rounds(5) {
        let mut node = Command::new("node");
        node.arg(root().join("bench/page.js")).arg(page).arg(log).arg(width.to_string());
        let told: Value = serde_json::from_str(&output(&mut node)?)?;
        let steps = told["steps"].as_array().context("no steps")?;
        for step in steps {
            let name = step["name"].as_str().context("a step without a name")?;
            let figures = found.entry(name.to_owned()).or_default();
            for (key, all) in ["first", "ms", "cpu", "longest"].into_iter().zip(figures) {
                all.push(step[key].as_f64().with_context(|| format!("{name} has no {key}"))?);
            }
        }
    }
    let median = |mut all: Vec<f64>| {
        all.sort_unstable_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or_default()
    };
    Ok(found.into_iter().map(|(name, figures)| (name, figures.map(median))).collect())
}

fn row(width: u32, words: &str, figures: Option<&[f64; 4]>, goal: &str) -> String {
    let [first, all, computed, longest] = figures.copied().unwrap_or([f64::NAN; 4]);
    format!(
        "| {width} | {words} | {first:.0} | {all:.0} | {computed:.0} | {longest:.0} | {goal} |\n"
    )
}
