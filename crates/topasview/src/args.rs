//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Parser, ValueEnum};
use topas_data::pes::Column;
use topas_render::view::Drawing;
use topas_terminal::{ColorWish, Tool};

use crate::exit;
use crate::mpi::MpiArgs;

/// This tool.
pub const TOOL: Tool = Tool("topasview");

/// The PEs of a run: table, statistics, clusters, what stands out
///
/// Reads the lines that a program linked by `topas`, or run by `topas-run --all-pe`, leaves in
/// topas.out, one for each PE, and shows those of the newest launch. Without a view it prints
/// the table of the PEs and what stands out among them.
#[derive(Parser)]
#[command(
    name = "topasview",
    version,
    disable_help_subcommand = true,
    group = ArgGroup::new("data").args(["csv", "json", "jsonl"]),
    after_help = "Columns: wall system user cpu counter rate misses miss-rate misses-per-op ghz ipc rss.\n\
                  Exit codes: 0 shown, 1 some input or output failed, 2 usage, 3 no PEs.\n\
                  Examples:\n  topasview --stat --cluster\n  topasview --sort cpu --top 10\n  \
                  topasview --report --html run.html topas.out.*"
)]
pub struct Args {
    /// Files, plain or compressed by gzip, zstd or xz; of a directory its topas.out files, or
    /// all if there are none; - is standard input; default: topas.out and topas.out.* here
    #[arg(value_name = "FILE|DIR")]
    pub inputs: Vec<PathBuf>,

    /// The launch with this id, or whose id alone begins so; default: the newest
    #[arg(long, value_name = "ID", visible_alias = "id")]
    pub launch: Option<String>,

    /// List the launches, newest first
    #[arg(long)]
    pub list: bool,

    /// Table of the PEs
    #[arg(long)]
    pub raw: bool,

    /// Statistical summary of a column
    #[arg(long, value_name = "COLUMN", num_args = 0..=1)]
    stat: Option<Option<OsString>>,

    /// Clusters of a column: of width 1, of width N, or the best ones
    #[arg(long, value_name = "N|best", num_args = 0..=1)]
    cluster: Option<Option<OsString>>,

    /// PEs by host, NUMA node and program
    #[arg(long)]
    pub groups: bool,

    /// Load imbalance, what it costs, and what stands out
    #[arg(long)]
    pub balance: bool,

    /// Strip of the PEs, dark where a value is high
    #[arg(long)]
    pub strip: bool,

    /// Everything but the table of the PEs
    #[arg(long)]
    pub report: bool,

    /// Compare two runs: files, or ids of launches in the files given
    #[arg(long, value_names = ["OLD", "NEW"], num_args = 2)]
    pub compare: Option<Vec<OsString>>,

    /// Column of the views; default: rate, or CPU time if nothing was counted
    #[arg(long, value_name = "COLUMN", value_parser = column)]
    pub column: Option<Column>,

    /// Order of the table: largest first
    #[arg(long, value_name = "COLUMN", value_parser = column)]
    pub sort: Option<Column>,

    /// With --sort: smallest first
    #[arg(long, requires = "sort")]
    pub ascending: bool,

    /// The first N rows of the table only
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,

    /// All extremes and findings, however many
    #[arg(long)]
    pub all: bool,

    /// Comma separated values of one view
    #[arg(long)]
    pub csv: bool,

    /// A JSON object of the views, schema topas.view/1
    #[arg(long)]
    pub json: bool,

    /// Lines of JSON, one for each PE
    #[arg(long)]
    pub jsonl: bool,

    /// Write a picture as SVG (- is standard output)
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,

    /// Write a picture as PNG
    #[arg(long, value_name = "FILE")]
    pub png: Option<PathBuf>,

    /// What the picture shows
    #[arg(long, value_name = "KIND", value_enum, default_value = "points")]
    pub picture: Kind,

    /// Write a page of everything (- is standard output)
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Replace what is there by --svg, --png and --html, also an input or a log
    #[arg(long)]
    pub force: bool,

    /// Only the views: no line on the launch, no notes
    #[arg(long)]
    pub no_heading: bool,

    /// Colour of the strip
    #[arg(long, value_name = "WHEN", value_enum, default_value = "auto")]
    pub color: ColorWish,

    /// No warnings and no progress; errors only
    #[arg(short, long)]
    pub quiet: bool,

    /// The profile of MPI calls
    #[command(flatten)]
    pub mpi: MpiArgs,
}

/// Kinds of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// A point for each PE
    Points,
    /// A cell for each PE
    Strip,
    /// A box for each host
    Hosts,
}

impl From<Kind> for Drawing {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Points => Drawing::Points,
            Kind::Strip => Drawing::Strip,
            Kind::Hosts => Drawing::Hosts,
        }
    }
}

/// How PEs are put into clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clusters {
    /// By multiples of a width
    Width(f64),
    /// Optimal ones
    Best,
}

/// Views that are asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Views {
    /// Statistical summary
    pub stat: bool,
    /// Clusters
    pub cluster: Option<Clusters>,
    /// Column of the views, if named
    pub column: Option<Column>,
}

fn column(name: &str) -> Result<Column, String> {
    Column::of_name(name).ok_or_else(|| {
        let names: Vec<&str> = Column::ALL.iter().map(|column| column.name()).collect();
        format!("no such column; there are: {}", names.join(", "))
    })
}

/// Reads the command line; the Err is the exit code, all has then been said.
pub fn parse() -> Result<(Args, Views), u8> {
    let mut args = Args::try_parse_from(topas_config::command_line())
        .map_err(|error| if TOOL.command_line(&error) { exit::OK } else { exit::USAGE })?;
    let mut views = Views { stat: args.stat.is_some(), cluster: None, column: args.column };
    // A word behind --stat or --cluster that is none of theirs is a file.
    if let Some(word) = args.stat.take().flatten() {
        match word.to_str().and_then(Column::of_name) {
            Some(column) => views.column = Some(column),
            None => args.inputs.insert(0, file(word, "--stat", "column")?),
        }
    }
    if let Some(word) = args.cluster.take() {
        views.cluster = Some(Clusters::Width(1.0));
        if let Some(word) = word {
            match word.to_str().and_then(clusters) {
                Some(clusters) => views.cluster = Some(clusters),
                None => args.inputs.insert(0, file(word, "--cluster", "width")?),
            }
        }
    }
    check(&args, &views)?;
    Ok((args, views))
}

fn clusters(word: &str) -> Option<Clusters> {
    if word == "best" {
        return Some(Clusters::Best);
    }
    let width: f64 = word.parse().ok()?;
    (width.is_finite() && width > 0.0).then_some(Clusters::Width(width))
}

/// The word as a file, if there is one of this name.
fn file(word: OsString, option: &str, what: &str) -> Result<PathBuf, u8> {
    let path = PathBuf::from(word);
    if path.as_os_str() == "-" || path.exists() {
        return Ok(path);
    }
    let text = format!("{option} {}: no such {what}, and no such file", path.display());
    TOOL.error(&text, None, "topasview --help lists the columns");
    Err(exit::USAGE)
}

fn check(args: &Args, views: &Views) -> Result<(), u8> {
    if args.mpi.on {
        return check_mpi(args, views);
    }
    let asked = [
        args.raw,
        views.stat,
        views.cluster.is_some(),
        args.groups,
        args.balance,
        args.strip,
        args.report,
        args.list,
        args.compare.is_some(),
    ];
    let count = asked.iter().filter(|asked| **asked).count();
    let wrong = |what: &str, hint: &str| {
        TOOL.error(&what, None, hint);
        Err(exit::USAGE)
    };
    if args.csv && (count > 1 || args.balance || args.strip || args.report) {
        return wrong(
            "--csv is of one view",
            "take one of --raw, --stat, --cluster, --groups, --list and --compare, or --json",
        );
    }
    if args.jsonl && (count > 1 || count == 1 && !args.raw) {
        return wrong("--jsonl is of the table of the PEs", "take --json for other views");
    }
    if args.json && args.list {
        return wrong("--list has no JSON", "take --list --csv");
    }
    Ok(())
}

/// With --mpi: nothing that is of PEs, and one table at a time as CSV.
fn check_mpi(args: &Args, views: &Views) -> Result<(), u8> {
    let wrong = |what: &str, hint: &str| {
        TOOL.error(&what, None, hint);
        Err(exit::USAGE)
    };
    let of_pes = [
        (args.raw, "--raw"),
        (views.stat, "--stat"),
        (views.cluster.is_some(), "--cluster"),
        (args.groups, "--groups"),
        (args.balance, "--balance"),
        (args.strip, "--strip"),
        (args.report, "--report"),
        (args.compare.is_some(), "--compare"),
        (args.column.is_some(), "--column"),
        (args.sort.is_some(), "--sort"),
        (args.top.is_some(), "--top"),
        (args.all, "--all"),
        (args.jsonl, "--jsonl"),
        (args.html.is_some(), "--html"),
        (args.picture != Kind::Points, "--picture"),
    ];
    if let Some((_, name)) = of_pes.iter().find(|(asked, _)| *asked) {
        return wrong(
            &format!("{name} is of PEs, not of the profile of MPI calls"),
            "leave it or --mpi out; topasview --help lists the options of each",
        );
    }
    if args.list && args.json {
        return wrong("--list has no JSON", "take --list --csv");
    }
    if args.csv && args.mpi.kinds() > 1 {
        return wrong("--csv is of one view", "take one view at a time, or --json");
    }
    let has_picture = args.svg.is_some() || args.png.is_some();
    if has_picture && args.mpi.kinds() > 1 {
        return wrong("a picture is of one view", "take one of --peers, --sizes and --efficiency");
    }
    Ok(())
}
