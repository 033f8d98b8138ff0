//! `cargo xtask test`: everything that is tested, with one count at the end.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::object::{self, Machine};
use crate::packages::{self, ensure};
use crate::pictures;
use crate::process::{cargo, root, run, shown, target_dir};
use crate::symcheck::Size;
use crate::wheels;

/// Slow or exotic sets.
#[derive(Args)]
pub struct Options {
    /// 200 launches under each MPI and 64,000 appended lines, in place of a tenth
    #[arg(long)]
    full: bool,
    /// With a real Slurm, started for the tests on this machine
    #[arg(long)]
    slurm: bool,
    /// Under Open MPI, MPICH and Intel MPI in many versions, from Python wheels (800 MB)
    #[arg(long)]
    all_mpi: bool,
    /// The module for AArch64 under qemu's user mode (adds the Rust target), and libpfm4's
    /// events of Arm and POWER
    #[arg(long)]
    arm64: bool,
    /// The slower build systems: libtool, configure macros, setup.py, chosen compilers, CMake in
    /// many versions (from Python wheels)
    #[arg(long)]
    builds: bool,
    /// Pictures as a browser shows them: Chromium, without a screen
    #[arg(long)]
    browser: bool,
    /// Real projects, with and without TOPAS, and with the MPI profile: fetches sources, takes
    /// hours
    #[arg(long)]
    projects: bool,
    /// PETSc's own tests, with the module and without
    #[arg(long)]
    programs: bool,
    /// Counters that a real kernel drives: AArch64 in a machine that qemu plays
    #[arg(long)]
    qemu_pmu: bool,
    /// Fuzz the parsers for so many seconds each, with the address sanitizer
    #[arg(long, value_name = "SECONDS")]
    fuzz: Option<u32>,
}

/// What came out.
#[derive(Default)]
struct Count {
    passed: usize,
    failed: usize,
    skipped: usize,
    /// Sets behind a flag, which count as not run
    left_out: usize,
    /// Steps that failed, tests or not
    broken: Vec<String>,
}

/// Runs all steps, even after a failure, and counts.
pub fn test(options: &Options) -> Result<()> {
    ensure(&[packages::DEMO, packages::TEST, packages::BUILDS].concat())?;
    if options.builds {
        ensure(packages::MORE_BUILDS)?;
    }
    if options.browser {
        ensure(packages::BROWSER)?;
    }
    if options.projects {
        ensure(packages::PROJECTS)?;
    }
    if options.slurm {
        ensure(packages::SLURM)?;
    }
    if options.qemu_pmu {
        ensure(packages::QEMU_PMU)?;
    }
    if options.arm64 {
        ensure(packages::ARM64)?;
    }
    if options.arm64 || options.qemu_pmu {
        run(Command::new("rustup").args(["target", "add", "aarch64-unknown-linux-gnu"]))?;
    }
    if options.programs {
        ensure(packages::PROGRAMS)?;
    }
    let mpis = options.all_mpi.then(wheels::ensure).transpose()?;
    let cmakes = options.builds.then(wheels::cmakes).transpose()?;
    let mut count = Count::default();
    count.step("format", cargo().args(["fmt", "--all", "--check"]));
    let strict = ["--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"];
    count.step("lints", cargo().arg("clippy").args(strict));
    count.step(
        "documentation",
        cargo()
            .args(["doc", "--workspace", "--no-deps", "--quiet"])
            .env("RUSTDOCFLAGS", "--deny warnings"),
    );
    // Built only, so that they do not fall behind what they fuzz.
    let manifest = root().join("tests/fuzz/Cargo.toml");
    let target = target_dir().join("fuzz");
    let check = ["check", "--quiet", "--manifest-path"];
    count.step("fuzz targets", cargo().args(check).arg(manifest).env("CARGO_TARGET_DIR", target));
    println!("== object");
    if let Err(error) = object::build(
        &Machine::HERE,
        &target_dir().join("topas"),
        Path::new("/etc/topas/topas.conf"),
        Size::Held,
    ) {
        eprintln!("xtask: error: {error:#}");
        count.broken.push("object".into());
    }
    println!("== pictures");
    if let Err(error) = pictures::pictures(true) {
        eprintln!("xtask: error: {error:#}");
        count.broken.push("pictures".into());
    }
    // Tests send these signals, and expect what they find at a terminal: not what `nohup` and a
    // shell's background leave behind.
    let cargo = cargo();
    let mut tests = Command::new("env");
    tests.arg("--default-signal=HUP,INT,QUIT").arg(cargo.get_program()).current_dir(root());
    tests.args(["test", "--workspace", "--no-fail-fast"]);
    if options.full {
        tests.env("TOPAS_TEST_LAUNCHES", "200").env("TOPAS_TEST_APPENDS", "1000");
    }
    if options.slurm {
        tests.env("TOPAS_TEST_SLURM", "1");
    }
    if options.builds {
        tests.env("TOPAS_TEST_BUILDS", "1");
    }
    tests.envs(cmakes.map(|dir| ("TOPAS_TEST_CMAKES", dir)));
    if options.browser {
        tests.env("TOPAS_TEST_BROWSER", "1");
    }
    if options.projects {
        tests.env("TOPAS_TEST_PROJECTS", "1");
    }
    tests.envs(mpis.map(|dir| ("TOPAS_TEST_ALL_MPI", dir)));
    if options.arm64 {
        tests.env("TOPAS_TEST_ARM64", "1");
    }
    if options.programs {
        tests.env("TOPAS_TEST_PROGRAMS", "1");
    }
    if options.qemu_pmu {
        tests.env("TOPAS_TEST_QEMU_PMU", "1");
    }
    count.step("tests", &mut tests);
    if let Some(seconds) = options.fuzz {
        fuzz(&mut count, seconds)?;
    }

    if count.left_out > 0 {
        println!("\n{} left out, see `cargo xtask test --help`", count.left_out);
    }
    println!("\n{} passed, {} failed, {} skipped", count.passed, count.failed, count.skipped);
    if !count.broken.is_empty() {
        bail!("failed: {}", count.broken.join(", "));
    }
    // What CI names must run there; only the sets behind a flag may be missing.
    if std::env::var_os("CI").is_some() && count.skipped > 0 {
        bail!("{} tests could not run; in CI none may be skipped", count.skipped);
    }
    Ok(())
}

/// What libFuzzer and the address sanitizer want of the code: the flags of cargo-fuzz, which a
/// stable compiler takes with `RUSTC_BOOTSTRAP`. Debug assertions look at sums and indices.
const FUZZ_FLAGS: &str = "--cfg fuzzing -Zsanitizer=address -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Cdebug-assertions -Ccodegen-units=1";

/// Fuzzes every target with the address sanitizer, from its seeds and what earlier runs found.
fn fuzz(count: &mut Count, seconds: u32) -> Result<()> {
    let dir = root().join("tests/fuzz");
    let built = target_dir().join("fuzz-address");
    let machine = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut build = cargo();
    build.args(["build", "--quiet", "--release", "--target", &machine, "--manifest-path"]);
    build.arg(dir.join("Cargo.toml")).env("CARGO_TARGET_DIR", &built);
    build.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", FUZZ_FLAGS);
    count.step("fuzz targets with the address sanitizer", &mut build);
    let mut targets = Vec::new();
    for entry in fs::read_dir(dir.join("fuzz_targets"))? {
        let path = entry?.path();
        targets.extend(path.file_stem().and_then(|name| name.to_str()).map(str::to_owned));
    }
    targets.sort();
    for target in &targets {
        let corpus = dir.join("corpus").join(target);
        let artifacts = dir.join("artifacts").join(target);
        fs::create_dir_all(&corpus)?;
        fs::create_dir_all(&artifacts)?;
        let mut fuzz = Command::new(built.join(&machine).join("release").join(target));
        fuzz.arg(&corpus).arg(dir.join("seeds").join(target));
        fuzz.arg(format!("-max_total_time={seconds}")).arg("-timeout=30");
        fuzz.arg(format!("-artifact_prefix={}/", artifacts.display()));
        count.step(&format!("fuzz {target}"), &mut fuzz);
    }
    Ok(())
}

impl Count {
    /// Runs a step, shows what it prints, and counts the tests in it.
    fn step(&mut self, name: &str, command: &mut Command) {
        println!("== {name}");
        match self.counted(command) {
            Ok(true) => {}
            Ok(false) => self.broken.push(name.into()),
            Err(error) => {
                eprintln!("xtask: error: {error:#}");
                self.broken.push(name.into());
            }
        }
    }

    fn counted(&mut self, command: &mut Command) -> Result<bool> {
        let line = shown(command);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot run: {line}"))?;
        let errors = child.stderr.take().context("no stderr")?;
        let skips = thread::spawn(move || forward(errors, &mut std::io::stderr()));
        let output = child.stdout.take().context("no stdout")?;
        let results = forward(output, &mut std::io::stdout());
        let skips = skips.join().unwrap_or_default();
        for line in results.iter().chain(&skips) {
            if let Some(rest) = line.strip_prefix("test result: ") {
                self.passed += number_before(rest, " passed");
                self.failed += number_before(rest, " failed");
                self.skipped += number_before(rest, " ignored");
            } else if line.starts_with("skipped: ") {
                // A test that could not run returned early, and libtest took it as passed.
                self.skipped += 1;
                self.passed = self.passed.saturating_sub(1);
            } else {
                self.left_out += 1;
                self.passed = self.passed.saturating_sub(1);
            }
        }
        Ok(child.wait()?.success())
    }
}

/// Passes lines on and keeps those that count.
fn forward(from: impl Read, to: &mut impl Write) -> Vec<String> {
    let mut kept = Vec::new();
    for line in BufReader::new(from).split(b'\n').map_while(Result::ok) {
        let _ = to.write_all(&line).and_then(|()| to.write_all(b"\n"));
        let text = String::from_utf8_lossy(&line);
        if ["test result: ", "skipped: ", "left out: "].iter().any(|kind| text.starts_with(kind)) {
            kept.push(text.into_owned());
        }
    }
    kept
}

/// The number that stands before a word.
fn number_before(text: &str, word: &str) -> usize {
    text.split(word)
        .next()
        .and_then(|t| t.rsplit(' ').next())
        .and_then(|n| n.parse().ok())
        .unwrap_or(0)
}
