//! `cargo xtask demo --center`: mails, pages and runs on the web of a generated year of a center.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::say;
use crate::process::{cargo, output, run, target_dir};
use crate::tools;

/// Runs of the year.
const RUNS: u64 = 1_000_000;

/// PEs of the three partitions that the generated log has.
const CAPACITY: &str =
    "capacity = cpu19 620x48\ncapacity = cpu21 310x128\ncapacity = cpu24 220x96\n";

/// Where the runs can be looked at.
const LISTEN: &str = "127.0.0.1:8080";

/// Makes the year, its index of runs, its pages, and the mails of a week.
pub fn demo() -> Result<()> {
    say("Compiling the tools and the generator of logs");
    // All of them, as an installation: a choice would be compiled with other features once more.
    let release = tools::build("release")?.dir;
    let mut build = cargo();
    build.args(["build", "--quiet", "--release", "--package", "topas-data", "--example"]);
    run(build.arg("generate-log"))?;
    let began = Instant::now();
    let dir = target_dir().join("demo-center");
    if dir.exists() {
        fs::remove_dir_all(&dir).with_context(|| format!("cannot clear {}", dir.display()))?;
    }
    let dir = {
        fs::create_dir_all(dir.join("log"))?;
        dir.canonicalize()?
    };
    say(&format!("A year of a center: {RUNS} runs of 2026"));
    let mut generate = Command::new(release.join("examples/generate-log"));
    run(generate.args(["--year", &RUNS.to_string()]).arg(dir.join("log")))?;
    fs::write(dir.join("topas.conf"), CAPACITY)?;
    let tool = |args: &[&str]| {
        let mut tool = Command::new(release.join("topas-report"));
        tool.args(args).current_dir(&dir).env("TOPAS_CONF", dir.join("topas.conf"));
        tool
    };
    let report = |args: &[&str]| {
        println!("$ topas-report {}", args.join(" "));
        run(&mut tool(args))
    };
    say("The index of runs, in the background");
    let ingest = ["ingest", "log", "--index", "index", "--quiet"];
    println!("$ topas-report {} &", ingest.join(" "));
    let mut ingesting = tool(&ingest).spawn().context("cannot start topas-report")?;
    say("Pages for the staff: the year, two months, a week");
    report(&[
        "pages", "log", "--out", "pages", "--period", "2026", "--period", "2026-06", "--period",
        "2026-07", "--period", "2026-W28",
    ])?;
    say("The mail of a user");
    let user = profiled_user(&dir.join("log/2026-07.log"))?;
    report(&["mail", "log", "--period", "2026-W28", "--user", &user, "--show"])?;
    let html = Command::new(release.join("topas-report"))
        .args(["mail", "log", "--period", "2026-W28", "--user", &user, "--show=html"])
        .current_dir(&dir)
        .env("TOPAS_CONF", dir.join("topas.conf"))
        .output()?;
    fs::write(dir.join("mail.html"), html.stdout)?;
    println!("Open in a browser: {}", dir.join("pages/index.html").display());
    println!("and the mail:      {}", dir.join("mail.html").display());
    say(&format!("{:.0} s until here; what is left of the index", began.elapsed().as_secs_f64()));
    let ended = ingesting.wait()?;
    ensure!(ended.success(), "topas-report ingest: {ended}");
    run(Command::new(release.join("topas-log")).args(["key", "key"]).current_dir(&dir))?;
    fs::write(dir.join("roles"), "admin demo\n")?;
    let link = ["link", "demo", "--key", "key", "--url", &format!("http://{LISTEN}/")];
    let link = output(&mut tool(&link))?;
    say(&format!("Done in {:.0} s", began.elapsed().as_secs_f64()));
    println!(
        "Runs on the web: cd {}; {} serve --index index --listen {LISTEN} --key key --roles roles \
         --plain-http",
        dir.display(),
        release.join("topas-report").display()
    );
    println!("and within ten minutes this link, which signs in once: {}", link.trim());
    Ok(())
}

/// The user of the first profiled run of a program that became slower.
fn profiled_user(log: &Path) -> Result<String> {
    let text = fs::read_to_string(log).with_context(|| format!("cannot read {}", log.display()))?;
    let is_one = |line: &&str| line.contains(" topas-mpi ") && line.contains(" cfd_les ");
    let in_week = |line: &&str| (&line[..10] >= "2026/07/06") && (&line[..10] <= "2026/07/12");
    let line = text.lines().filter(is_one).find(in_week).context("no profiled run in the week")?;
    Ok(line.split(' ').nth(3).context("a line without a user")?.to_owned())
}
