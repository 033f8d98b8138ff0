//! How many instructions the MPI profile adds to a call: counted by valgrind's callgrind, with an
//! MPI whose functions do nothing. So the figures are exact, on any machine and however busy.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::{BenchedMpi, EVERYTHING, MPIS};
use crate::bench::{Bench, lines};
use crate::process::{output, root, run};
use crate::profile_library::build_without_long_calls;

/// Calls that the program makes of each routine between two counts.
const CALLS: f64 = 1000.0;

/// How the profile is switched.
struct ProfileSetting {
    /// In headings
    title: &'static str,
    variables: &'static [(&'static str, &'static str)],
    /// Of the program
    argument: Option<&'static str>,
    /// No call is taken for a long one
    short: bool,
}

impl ProfileSetting {
    const fn new(title: &'static str, variables: &'static [(&str, &str)]) -> ProfileSetting {
        ProfileSetting { title, variables, argument: None, short: false }
    }
}

const WAITS: [(&str, &str); 2] = [EVERYTHING[0], ("TOPAS_MPI_WAITS", "yes")];

const SETTINGS: [ProfileSetting; 9] = [
    ProfileSetting::new("bytes, sizes", EVERYTHING.split_at(1).0),
    ProfileSetting::new("and peers", EVERYTHING.split_at(2).0),
    ProfileSetting::new("and communicators", &EVERYTHING),
    ProfileSetting { short: true, ..ProfileSetting::new("waits", &WAITS) },
    ProfileSetting::new("waits, some long", &WAITS),
    ProfileSetting::new("paths, 4 frames", &[EVERYTHING[0], ("TOPAS_MPI_PATHS", "4")]),
    ProfileSetting::new("log", &[EVERYTHING[0], ("TOPAS_MPI_LOG", "yes")]),
    ProfileSetting {
        argument: Some("paused"),
        ..ProfileSetting::new("paused", EVERYTHING.split_at(2).0)
    },
    ProfileSetting::new("off", &[("TOPAS_MPI", "no")]),
];

/// Nothing in front.
const BARE: ProfileSetting = ProfileSetting::new("nothing in front", &[]);

/// What a call may execute more: routine, setting, instructions.
const GOALS: [(&str, &str, u32); 6] = [
    ("Comm_rank", "bytes, sizes", 90),
    ("Allreduce", "bytes, sizes", 150),
    ("Allreduce", "and communicators", 200),
    ("Fortran: Comm_rank", "bytes, sizes", 90 + 60),
    ("Fortran: Allreduce", "bytes, sizes", 150 + 60),
    ("Comm_rank", "off", 30),
];

/// Instructions of a call by routine, in the order of the program.
type Counts = Vec<(String, f64)>;

/// The tables.
pub fn instructions(bench: &Bench) -> Result<String> {
    let mut text = String::from(
        "## MPI profile: instructions of a call\n\n\
         Instructions that a call executes more with the profile linked to the program, counted by \
         callgrind over 1,000 calls of each routine. The MPI is `bench/mpi_nothing.c`, whose functions do \
         nothing; it has the binary interface of the one that is named, and its Fortran calls its C. \
         Messages are of one double. \"waits\" is with bytes, without peers, and no call is taken for a long \
         one. Under callgrind some are: these look at the stamp of the other side, and no message has one, \
         so they also look again for those that were missing (\"some long\"). How many do so depends on the \
         time, so that figures of this column vary. \"paths\" and \"log\" are with bytes, without peers; the program \
         calls from `main`. \"paused\" is after `MPI_Pcontrol(0)`, with peers. All other figures have no noise.\n",
    );
    for mpi in MPIS {
        let dir = bench.sub(&format!("{}-instructions", mpi.name))?;
        let program = build(bench, mpi, &dir)?;
        let count = |exe: &Path, setting: &ProfileSetting| {
            bench.progress(&format!("{}, {}", mpi.title, setting.title));
            counted(exe, &dir, setting)
        };
        let without = count(&program.bare, &BARE)?;
        let mut settings: Vec<BTreeMap<String, f64>> = Vec::new();
        for setting in &SETTINGS {
            let exe = if setting.short { &program.short } else { &program.linked };
            settings.push(count(exe, setting)?.into_iter().collect());
        }
        let titles = SETTINGS.map(|setting| setting.title).join(" | ");
        writeln!(
            text,
            "\n{}'s binary interface:\n\n| routine | bare call | {titles} | goal |\n| --- |{}",
            mpi.title,
            " --- |".repeat(SETTINGS.len() + 2)
        )?;
        for (name, bare) in &without {
            write!(text, "| {name} | {bare:.0} |")?;
            for counts in &settings {
                let with = counts.get(name).with_context(|| format!("{name} was not counted"))?;
                write!(text, " {:+.0} |", with - bare)?;
            }
            let goals = GOALS.iter().filter(|(routine, ..)| routine == name);
            let goals: Vec<String> =
                goals.map(|(_, title, goal)| format!("{title} +{goal}")).collect();
            writeln!(text, " {} |", goals.join(", "))?;
        }
    }
    Ok(text)
}

/// The program, without and with the library.
struct CountedProgram {
    bare: PathBuf,
    linked: PathBuf,
    /// With the library that takes no call for a long one
    short: PathBuf,
}

fn build(bench: &Bench, mpi: BenchedMpi, dir: &Path) -> Result<CountedProgram> {
    let object = |source: &str| -> Result<PathBuf> {
        let object = dir.join(source).with_extension("o");
        let mut cc = mpi.compiler("mpicc");
        run(cc.args(["-Wextra", "-fPIC", "-c", source, "-o"]).arg(&object))?;
        Ok(object)
    };
    // Not by the MPI's own linker, which would have it loaded, too.
    let link = |arguments: &[&Path], to: &str| -> Result<PathBuf> {
        let to = dir.join(to);
        let mut gcc = Command::new("gcc");
        // Or the MPI would not be needed, since the library has all of its names.
        gcc.current_dir(root().join("bench")).arg("-Wl,--no-as-needed");
        gcc.args(arguments).arg("-o").arg(&to);
        run(&mut gcc)?;
        Ok(to)
    };
    let nothing = link(&[Path::new("-shared"), &object("mpi_nothing.c")?], "libnothing.so")?;
    let program = object("mpi_instructions.c")?;
    let bare = link(&[&program, &nothing], "bare")?;
    let link_with = |library: &Path, to: &str| {
        let found = library.parent().context("the library is in no directory")?;
        let found = PathBuf::from(format!("-Wl,-rpath,{}", found.display()));
        link(&[&program, library, &nothing, &found], to)
    };
    let linked = link_with(&bench.paths.mpi_library(), "linked")?;
    let library = build_without_long_calls(&bench.sub("no-long-calls")?, &bench.paths)?;
    let short = link_with(&library, "short")?;
    Ok(CountedProgram { bare, linked, short })
}

/// Runs the program under callgrind.
fn counted(exe: &Path, dir: &Path, setting: &ProfileSetting) -> Result<Counts> {
    let counts = dir.join("counts");
    let out = dir.join("topas-mpi.out");
    fs::create_dir_all(&counts)?;
    for file in fs::read_dir(&counts)? {
        fs::remove_file(file?.path())?;
    }
    let _ = fs::remove_file(&out);
    let mut valgrind = Command::new("valgrind");
    valgrind.env_clear().env("PATH", "/usr/bin:/bin").envs(setting.variables.iter().copied());
    valgrind.env("TOPAS_LOG", format!("file:{}", dir.join("log").display()));
    valgrind.env("TOPAS_MPI_OUT", &out).current_dir(dir).stdin(Stdio::null());
    valgrind.args(["--tool=callgrind", "--quiet"]);
    valgrind.arg(format!("--callgrind-out-file={}", counts.join("part").display()));
    output(valgrind.arg(exe).args(setting.argument))?;
    // Figures of a profile that did not count would be worth nothing.
    let wanted = setting.variables.first() == Some(&EVERYTHING[0]);
    if wanted != (lines(&out)? > 0) {
        bail!("{}: {}: lines in {}: {}", exe.display(), setting.title, out.display(), lines(&out)?);
    }
    let mut parts: Vec<(u32, String, f64)> = Vec::new();
    for file in fs::read_dir(&counts)? {
        let path = file?.path();
        let text = fs::read_to_string(&path)?;
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
        // The rest of the program, after the last of them, has no name.
        let Some(name) = value("desc: Trigger: Client Request: ") else { continue };
        let part = value("part: ").and_then(|part| part.trim().parse().ok());
        let total = value("totals: ").and_then(|total| total.trim().parse::<f64>().ok());
        let (Some(part), Some(total)) = (part, total) else {
            bail!("no number of a part, or no total in {}", path.display());
        };
        parts.push((part, name.trim().to_owned(), total));
    }
    parts.sort_by_key(|(part, ..)| *part);
    Ok(parts.into_iter().map(|(_, name, total)| (name, total / CALLS)).collect())
}
