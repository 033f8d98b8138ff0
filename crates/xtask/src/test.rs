//! `cargo xtask test`: everything that is tested, with one count at the end.

mod executables;
mod outcome;

use std::env::consts::ARCH;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;

use crate::disk::needs_room;
use crate::needs;
use crate::object::{self, Machine};
use crate::packages::{self, ensure};
use crate::pictures;
use crate::process::{cargo, root, run, shown, target_dir};
use crate::symcheck::Size;
use crate::wheels;
use crate::{release, site};

use executables::{TestExecutableRun, TestSelection, seconds};
use outcome::TestCount;

/// Slow or exotic sets.
#[derive(Args)]
pub struct TestOptions {
    /// 200 launches under each MPI and 64,000 appended lines, in place of a tenth; each link and
    /// each command line of a driver with each MPI, in place of one of them; 500 launches with waits,
    /// and topas-top by a real ssh
    #[arg(long)]
    full: bool,
    /// With a real Slurm, started for the tests on this machine
    #[arg(long)]
    slurm: bool,
    /// Under Open MPI, MPICH and Intel MPI in many versions, from Python wheels (800 MB)
    #[arg(long)]
    all_mpi: bool,
    /// The module and the release for AArch64 under qemu's user mode (adds the Rust targets), and libpfm4's
    /// events of Arm and POWER
    #[arg(long)]
    arm64: bool,
    /// The slower build systems: libtool, configure macros, setup.py, chosen compilers, CMake in
    /// many versions (from Python wheels)
    #[arg(long)]
    builds: bool,
    /// Pictures and pages as a browser shows them: Chromium, without a screen
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
    /// Reports and answers compared with DuckDB, from a Python wheel
    #[arg(long)]
    duckdb: bool,
    /// Exports of event logs read by Perfetto's own definitions, from a Python wheel
    #[arg(long)]
    perfetto: bool,
    /// A release, built in two directories, and installed in roots of Debian 11, 12 and 13
    #[arg(long)]
    packages: bool,
    /// The index, a real PostgreSQL, a real ClickHouse of two shards, started for the test, and a current
    /// engine of ClickHouse, from a Python wheel
    #[arg(long)]
    stores: bool,
    /// The search for bottlenecks in all programs whose bottleneck is known, and in healthy ones
    #[arg(long)]
    findings: bool,
    /// The MPI profile beside mpiP, whose sources are in this directory
    #[arg(long, value_name = "DIR")]
    mpip: Option<PathBuf>,
    /// The site of documentation, with each of its links; needs mdBook
    #[arg(long)]
    site: bool,
    /// Nothing but the tests that the other options add: no lints, and no test of the default set
    #[arg(long)]
    only: bool,
    /// Fuzz the parsers for so many seconds each, with the address sanitizer
    #[arg(long, value_name = "SECONDS")]
    fuzz: Option<u32>,
}

impl TestOptions {
    /// The names of the options that are there, of those by which tests say that they are ignored:
    /// `#[ignore = "cargo xtask test --slurm"]`.
    fn sets(&self) -> Vec<&'static str> {
        self.all_sets()
            .into_iter()
            .filter(|(asked_for, _)| *asked_for)
            .map(|(_, set)| set)
            .collect()
    }

    /// Those that are not there, as they are written.
    fn others(&self) -> Vec<String> {
        let sets = self.all_sets().into_iter().filter(|(asked_for, _)| !asked_for);
        sets.map(|(_, set)| format!("--{set}")).collect()
    }

    /// Every such option, and whether it is there.
    fn all_sets(&self) -> [(bool, &'static str); 15] {
        [
            (self.full, "full"),
            (self.slurm, "slurm"),
            (self.all_mpi, "all-mpi"),
            (self.arm64, "arm64"),
            (self.builds, "builds"),
            (self.browser, "browser"),
            (self.projects, "projects"),
            (self.programs, "programs"),
            (self.qemu_pmu, "qemu-pmu"),
            (self.duckdb, "duckdb"),
            (self.perfetto, "perfetto"),
            (self.packages, "packages"),
            (self.stores, "stores"),
            (self.findings, "findings"),
            (self.mpip.is_some(), "mpip"),
        ]
    }
}

/// Steps that were done, and what came out.
#[derive(Default)]
struct TestSteps {
    /// What each took.
    took: Vec<(String, Duration)>,
    /// The same of those that ran beside the tests.
    took_beside: Vec<(String, Duration)>,
    /// Those that failed.
    failed: Vec<String>,
    executables: Vec<TestExecutableRun>,
}

/// Test executables at the end of the summary.
const SLOWEST: usize = 20;

/// What the first run in a directory takes of its disk, in bytes: builds, an installation, and what tests write.
const FIRST_RUN: u64 = 4_000_000_000;

/// Runs all steps, even after a failure, and counts.
pub fn test(options: &TestOptions) -> Result<()> {
    let mut steps = TestSteps::default();
    let begun = Instant::now();
    let builds = Builds::of_this_directory();
    if builds.first {
        needs_room(&target_dir(), FIRST_RUN)?;
    }
    let (mpis, cmakes) = prepare(options)?;
    let duckdb = options.duckdb.then(wheels::duckdb).transpose()?;
    let chdb = options.stores.then(wheels::chdb).transpose()?;
    let easybuild = options.packages.then(wheels::easybuild).transpose()?;
    let perfetto = options.perfetto.then(wheels::perfetto).transpose()?;
    let mpip = options.mpip.as_deref().map(std::path::absolute).transpose()?;
    steps.took.push(("packages".into(), begun.elapsed()));
    if !options.only {
        steps.call("format", cargo().args(["fmt", "--all", "--check"]));
        steps.step("object", || {
            let conf = Path::new(object::USUAL_CONF);
            object::build(&Machine::HERE, &object::built_for(ARCH), conf, Size::Held).map(drop)
        });
    }
    let mut built = Vec::new();
    if !options.only || !options.sets().is_empty() {
        steps.step("building tests", || {
            built = executables::build(&mut builds.cargo())?;
            Ok(())
        });
    }
    if !options.only {
        steps.step("what tools need of a system", || {
            needs::check_built_here(&target_dir().join("debug"))
        });
        steps.step("pictures", || pictures::pictures_by_built_tools(true));
    }
    let variables = |tests: &mut Command| {
        if options.full {
            tests.env("TOPAS_TEST_LAUNCHES", "200").env("TOPAS_TEST_APPENDS", "1000");
            tests.env("TOPAS_TEST_FULL", "1").env("TOPAS_TEST_SPIN", "1");
        }
        // What users get, or what Cargo has built for the tests of the tools themselves: calling it
        // for the tools alone compiles much of them again, with other features of libraries.
        let debug = target_dir().join("debug");
        let tools = if options.full { OsStr::new("release") } else { debug.as_os_str() };
        tests.env("TOPAS_TEST_TOOLS", tools);
        // Not what runs here: building the tests may have put another one in its place.
        tests.env("TOPAS_TEST_XTASK", debug.join("xtask"));
        tests.envs(cmakes.as_ref().map(|dir| ("TOPAS_TEST_CMAKES", dir)));
        tests.envs(chdb.as_ref().map(|python| ("TOPAS_TEST_CHDB", python)));
        tests.envs(duckdb.as_ref().map(|python| ("TOPAS_TEST_DUCKDB", python)));
        tests.envs(easybuild.as_ref().map(|python| ("TOPAS_TEST_EASYBUILD", python)));
        tests.envs(perfetto.as_ref().map(|python| ("TOPAS_TEST_PERFETTO", python)));
        tests.envs(mpip.as_ref().map(|sources| ("TOPAS_TEST_MPIP", sources)));
        tests.envs(mpis.as_ref().map(|dir| ("TOPAS_TEST_ALL_MPI", dir)));
    };
    let mut runs = Vec::new();
    let mut beside = TestSteps::default();
    steps.step("tests", || {
        let selection = TestSelection { sets: &options.sets(), only: options.only };
        runs = executables::run(built, selection, &variables, || {
            if !options.only {
                check_sources(&mut beside, builds);
            }
        });
        let failed: Vec<_> = runs.iter().filter(|run| run.failed).map(|run| &*run.source).collect();
        if !failed.is_empty() {
            bail!("failed: {}", failed.join(", "));
        }
        Ok(())
    });
    steps.executables = runs;
    steps.took_beside = beside.took;
    steps.failed.extend(beside.failed);
    if !options.only {
        steps.call(
            "examples of the documentation",
            builds.cargo().args(["test", "--workspace", "--doc", "--quiet"]),
        );
    }
    if options.packages {
        steps.step("licences and sources of crates", release::check::deny);
    }
    if options.site {
        steps.step("site of documentation", || site::site(None));
    }
    if let Some(seconds) = options.fuzz {
        fuzz(&mut steps, seconds)?;
    }
    steps.finish(begun.elapsed(), &options.others())
}

/// How Cargo is called by the steps that build most of the workspace.
#[derive(Clone, Copy)]
struct Builds {
    /// Whether the target directory has none of it yet
    first: bool,
}

impl Builds {
    fn of_this_directory() -> Self {
        Builds { first: !target_dir().join("debug/topas-stat").exists() }
    }

    /// Cargo. What a build writes down for the next one takes a sixth of its processor time: a first
    /// build, which may be the only one, leaves it out.
    fn cargo(self) -> Command {
        self.set(cargo())
    }

    /// Cargo in what other processes leave of the processors, and a little more.
    fn nice_cargo(self) -> Command {
        let cargo = cargo();
        let mut nice = Command::new("nice");
        nice.args(["-n", "10"]).arg(cargo.get_program()).current_dir(root());
        self.set(nice)
    }

    fn set(self, mut cargo: Command) -> Command {
        if self.first {
            cargo.env("CARGO_INCREMENTAL", "0");
        }
        cargo
    }
}

/// What the compilers say of the sources without building them. Tests wait for launchers, files and
/// locks for a part of their time, which is enough for this.
fn check_sources(steps: &mut TestSteps, builds: Builds) {
    let strict = ["--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"];
    steps.call_quietly("lints", builds.nice_cargo().arg("clippy").args(strict));
    let mut documentation = builds.nice_cargo();
    documentation.args(["doc", "--workspace", "--no-deps", "--quiet"]);
    steps.call_quietly("documentation", documentation.env("RUSTDOCFLAGS", "--deny warnings"));
    // Built only, so that they do not fall behind what they fuzz; with the libraries of the rest.
    let mut fuzz_targets = builds.nice_cargo();
    let manifest = root().join("tests/fuzz/Cargo.toml");
    fuzz_targets.args(["check", "--quiet", "--manifest-path"]).arg(manifest);
    fuzz_targets.env("CARGO_TARGET_DIR", target_dir()).env("CARGO_PROFILE_DEV_DEBUG", "false");
    steps.call_quietly("fuzz targets", &mut fuzz_targets);
}

/// Gets what the sets need: the directories of MPIs and of CMakes, where options ask for them.
fn prepare(options: &TestOptions) -> Result<(Option<PathBuf>, Option<PathBuf>)> {
    ensure(&[packages::DEMO, packages::TEST, packages::BUILDS].concat())?;
    for (asked_for, packages) in [
        (options.builds, packages::MORE_BUILDS),
        (options.browser, packages::BROWSER),
        (options.projects, packages::PROJECTS),
        (options.full, packages::FULL),
        (options.slurm, packages::SLURM),
        (options.qemu_pmu, packages::QEMU_PMU),
        (options.arm64, packages::ARM64),
        (options.programs, packages::PROGRAMS),
        (options.packages || options.arm64, packages::RELEASE),
        (options.stores, packages::STORES),
    ] {
        if asked_for {
            ensure(packages)?;
        }
    }
    if options.arm64 || options.qemu_pmu {
        run(Command::new("rustup").args(["target", "add", "aarch64-unknown-linux-gnu"]))?;
    }
    if options.arm64 {
        run(Command::new("rustup").args(["target", "add", "aarch64-unknown-linux-musl"]))?;
        packages::ensure_architecture(packages::ARM64_ARCHITECTURE)?;
        ensure(packages::MUSL_ARM64)?;
    }
    let mpis = options.all_mpi.then(wheels::ensure).transpose()?;
    let cmakes = options.builds.then(wheels::cmakes).transpose()?;
    Ok((mpis, cmakes))
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
fn fuzz(steps: &mut TestSteps, seconds: u32) -> Result<()> {
    let dir = root().join("tests/fuzz");
    let built = target_dir().join("fuzz-address");
    let machine = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut build = cargo();
    build.args(["build", "--quiet", "--release", "--target", &machine, "--manifest-path"]);
    build.arg(dir.join("Cargo.toml")).env("CARGO_TARGET_DIR", &built);
    build.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", FUZZ_FLAGS);
    steps.call("fuzz targets with the address sanitizer", &mut build);
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
        steps.call(&format!("fuzz {target}"), &mut fuzz);
    }
    Ok(())
}

impl TestSteps {
    /// Does a step, and tells its time.
    fn step(&mut self, name: &str, step: impl FnOnce() -> Result<()>) {
        println!("== {name}");
        let begun = Instant::now();
        if let Err(error) = step() {
            eprintln!("xtask: error: {error:#}");
            self.failed.push(name.into());
        }
        println!("== {name}: {}", seconds(begun.elapsed()));
        self.took.push((name.into(), begun.elapsed()));
    }

    /// A step that is one command.
    fn call(&mut self, name: &str, command: &mut Command) {
        self.step(name, || run(command));
    }

    /// A step that is one command and runs beside others: what the command says is kept together.
    fn call_quietly(&mut self, name: &str, command: &mut Command) {
        let begun = Instant::now();
        let line = shown(command);
        let (said, succeeded) = match command.stdin(Stdio::null()).output() {
            Ok(out) => ([out.stdout, out.stderr].concat(), out.status.success()),
            Err(error) => (format!("cannot run: {error}\n").into_bytes(), false),
        };
        let said = String::from_utf8_lossy(&said);
        let took = seconds(begun.elapsed());
        if succeeded {
            println!("== {name}, beside the tests: {took}\n{said}");
        } else {
            println!("== {name}, beside the tests: FAILED, {took}: {line}\n{said}");
            self.failed.push(name.into());
        }
        self.took.push((name.into(), begun.elapsed()));
    }

    /// Tells where the time went and what came out; an error if not all is well.
    /// `others` are the options that would have added sets.
    fn finish(mut self, took: Duration, others: &[String]) -> Result<()> {
        println!("\nsteps:");
        for (name, took) in &self.took {
            println!("{:>10}  {name}", seconds(*took));
        }
        println!("{:>10}  all", seconds(took));
        for (name, took) in &self.took_beside {
            println!("{:>10}  {name}, beside the tests", seconds(*took));
        }
        self.executables.sort_by_key(|run| std::cmp::Reverse(run.took));
        println!("\nslowest test executables, and processor time of each with its children:");
        for run in self.executables.iter().take(SLOWEST) {
            let processor = run.processor.map_or_else(|| "unknown".to_owned(), seconds);
            println!("{:>10} {processor:>10}  {}", seconds(run.took), run.source);
        }
        let mut count = TestCount::default();
        self.executables.iter().for_each(|run| count.add(&run.count));
        if count.left_out > 0 {
            println!(
                "\n{} left out: tests of sets that were not asked for. These options of `cargo xtask \
                 test` add sets, and its --help describes them:\n  {}",
                count.left_out,
                others.join(" ")
            );
        }
        println!("\n{} passed, {} failed, {} skipped", count.passed, count.failed, count.skipped);
        if !self.failed.is_empty() {
            bail!("failed: {}", self.failed.join(", "));
        }
        // What CI names must run there; only the sets behind an option may be missing.
        if std::env::var_os("CI").is_some() && count.skipped > 0 {
            bail!("{} tests could not run; in CI none may be skipped", count.skipped);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Call {
        #[command(flatten)]
        options: TestOptions,
    }

    /// A test that no option runs would never run.
    #[test]
    fn each_ignored_test_names_an_option_and_each_option_has_one() {
        let options = Call::parse_from(["test"]).options;
        let mut unused: Vec<&str> = options.all_sets().iter().map(|(_, set)| *set).collect();
        let known = unused.clone();
        let mut places = ["crates", "tests"].map(|name| root().join(name)).to_vec();
        while let Some(place) = places.pop() {
            if place.is_dir() {
                places.extend(fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()));
                continue;
            }
            if place.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = fs::read_to_string(&place).unwrap();
            for line in text.lines().filter(|line| line.trim_start().starts_with("#[ignore")) {
                let reason = line.split('"').nth(1).unwrap_or_default();
                let set = outcome::option_of(reason);
                let is_known = set.is_some_and(|set| known.contains(&set));
                let what = format!("{}: {line}", place.display());
                assert!(is_known || reason == outcome::PART, "{what}");
                unused.retain(|name| set != Some(*name));
            }
        }
        assert!(unused.is_empty(), "no test names {unused:?}");
    }
}
