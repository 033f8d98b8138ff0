//! The index of runs: how fast `topas-report ingest` fills it, and how soon a page of it is there.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::{Bench, lines, median, ms, used_by_children};
use crate::process::{cargo, run};

/// Runs in the index; each has two lines.
const RUNS: u64 = 1_000_000;

/// How long a page may take to come, when something is wrong.
const PATIENCE: Duration = Duration::from_secs(60);

pub fn store(bench: &Bench) -> Result<String> {
    let runs = if bench.quick { RUNS / 10 } else { RUNS };
    let dir = bench.sub("store")?;
    fs::create_dir_all(dir.join("log"))?;
    run(cargo()
        .args(["run", "--quiet", "--release", "--package", "topas-data", "--example"])
        .args(["generate-log", "--", "--year", &runs.to_string()])
        .arg(dir.join("log")))?;
    let mut files: Vec<_> =
        fs::read_dir(dir.join("log"))?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.sort();
    let user = busiest_user(&files)?;
    let (mut count, mut wall, mut cpu) = (0, Duration::ZERO, Duration::ZERO);
    for file in &files {
        count += lines(file)?;
        bench.progress(&format!("store: ingest of {}", file.display()));
        let mut ingest = Command::new(bench.paths.bin().join("topas-report"));
        ingest.args(["ingest", "--quiet", "--index", "index"]).arg(file).current_dir(&dir);
        let (before, begun) = (used_by_children()?, Instant::now());
        run(&mut ingest)?;
        wall += begun.elapsed();
        cpu += used_by_children()? - before;
        fs::remove_file(file)?;
    }
    let per_second = |time: Duration| count as f64 / time.as_secs_f64();
    let mut text = format!(
        "## Index of runs\n\n`topas-report ingest` of a generated year, a file a month: {count} lines, {runs} \
         runs; one thread.\n\n| time | lines/s | goal |\n| --- | --- | --- |\n\
         | CPU | {:.0} | 20000 |\n| wall clock | {:.0} | 20000 |\n\n\
         `topas-report serve` from this index of {} MB, from the request to the last byte; the user with \
         most runs.\n\n| page | time (ms) | goal (ms) |\n| --- | --- | --- |\n",
        per_second(cpu),
        per_second(wall),
        fs::metadata(dir.join("index"))?.len() / 1_000_000,
    );
    let server = Server::start(&bench.paths.bin().join("topas-report"), &dir, &user)?;
    let mut first = String::new();
    for (what, path) in [
        ("first page of own runs", "/runs"),
        ("those that ended badly", "/runs?failed=1"),
        ("a search that finds nothing", "/runs?text=none-such"),
        ("one run", ""),
    ] {
        let path = if path.is_empty() { first.as_str() } else { path };
        let mut times = Vec::new();
        let mut page = String::new();
        for round in 0..=bench.rounds(20).max(3) {
            let begun = Instant::now();
            page = server.page(path, &user)?;
            if round > 0 {
                times.push(begun.elapsed());
            }
        }
        times.sort_unstable();
        text += &format!("| {what} | {} | 50 |\n", ms(median(&times)));
        if path == "/runs" {
            let link = page.split_once("href=\"/run/").context("a list without runs")?.1;
            first = format!("/run/{}", link.split('"').next().unwrap_or_default());
        }
    }
    drop(server);
    fs::remove_dir_all(&dir)?;
    Ok(text)
}

/// The user name in most lines.
fn busiest_user(files: &[std::path::PathBuf]) -> Result<String> {
    let mut users: HashMap<String, u64> = HashMap::new();
    for file in files {
        for line in BufReader::new(fs::File::open(file)?).lines() {
            let line = line?;
            if let Some(user) = line.split(' ').nth(2) {
                *users.entry(user.to_owned()).or_default() += 1;
            }
        }
    }
    let most = users.into_iter().max_by_key(|(_, count)| *count);
    Ok(most.context("an empty log")?.0)
}

/// A server of the index, which ends with this.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(tool: &Path, dir: &Path, user: &str) -> Result<Self> {
        // The generator numbers its users from 20000 on: u0016 is 20016.
        let uid = 20_000 + user.trim_start_matches('u').parse::<u32>()?;
        fs::write(dir.join("roles"), format!("account {user} {uid}\n"))?;
        let mut process = Command::new(tool)
            .args(["serve", "--index", "index", "--roles", "roles", "--access-log", "views"])
            .args(["--listen", "127.0.0.1:0", "--proxy", "127.0.0.1"])
            .current_dir(dir)
            .stderr(Stdio::piped())
            .spawn()?;
        let mut said = String::new();
        if let Some(errors) = process.stderr.take() {
            BufReader::new(errors).read_line(&mut said)?;
        }
        let mut server = Server { process, address: String::new() };
        let Some((_, address)) = said.trim().split_once("http://") else { bail!("{said}") };
        address.trim_end_matches('/').clone_into(&mut server.address);
        Ok(server)
    }

    fn page(&self, path: &str, user: &str) -> Result<String> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: topas\r\nConnection: close\r\nX-Remote-User: {user}\r\n\r\n"
        )?;
        let mut page = String::new();
        stream.read_to_string(&mut page)?;
        if !page.starts_with("HTTP/1.1 200") {
            bail!("{path}: {}", page.lines().next().unwrap_or_default());
        }
        Ok(page)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
