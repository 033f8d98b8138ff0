//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Parser, ValueEnum};
use topas_data::parse_size;
use topas_data::pes::Column;
use topas_render::asking::SIZE_HINT;
use topas_render::mpi_views::MpiSort;
use topas_render::view::Drawing;
use topas_terminal::{ColorWish, Tool};

use crate::exit;
use crate::mpi_profile::MpiArgs;

/// This tool.
pub const TOOL: Tool = Tool("topasview");

/// The PEs of a run: a table, statistics, clusters and findings
///
/// topasview reads the lines that a program linked by `topas`, or run by `topas-run --all-pe`,
/// leaves in topas.out, one line for each PE, and shows the lines of the newest launch. Without an
/// option for a view, topasview prints what costs time or stands out, and the table of the PEs.
#[derive(Parser)]
#[command(
    name = "topasview",
    version,
    disable_help_subcommand = true,
    group = ArgGroup::new("data").args(["csv", "json", "jsonl"]),
    after_help = "Columns: wall system user cpu counter rate misses miss-rate misses-per-op ghz ipc rss.\n\
                  Exit codes: 0 the views were shown; 1 an input or output failed; 2 the command line is\n\
                  wrong; 3 the input holds no PEs.\n\
                  Examples:\n  topasview --stat --cluster\n  topasview --sort cpu --top 10\n  \
                  topasview --report --html run.html topas.out.*"
)]
pub struct Args {
    /// Files, plain or compressed by gzip, zstd or xz. A directory stands for its topas.out files,
    /// or for all its files if it has none of that name; `-` reads standard input [default:
    /// topas.out and topas.out.* in the working directory]
    #[arg(value_name = "FILE|DIR")]
    pub inputs: Vec<PathBuf>,

    /// Show the launch with this id; the beginning of the id is enough if no other id begins the
    /// same way [default: the newest launch]
    #[arg(long, value_name = "ID", visible_alias = "id")]
    pub launch: Option<String>,

    /// List the launches, the newest first
    #[arg(long)]
    pub list: bool,

    /// Show the table of the PEs
    #[arg(long)]
    pub raw: bool,

    /// Show a statistical summary of a column
    #[arg(long, value_name = "COLUMN", num_args = 0..=1)]
    stat: Option<Option<OsString>>,

    /// Show clusters of the values of a column: clusters of width 1, of width N, or the best ones
    #[arg(long, value_name = "N|best", num_args = 0..=1)]
    cluster: Option<Option<OsString>>,

    /// Show the PEs by host, by NUMA node and by program
    #[arg(long)]
    pub groups: bool,

    /// Search for what costs time, in the lines of PEs and in the profile of MPI calls: at most five
    /// findings, the largest loss first, what was ruled out, and a next step for each
    #[arg(long)]
    pub why: bool,

    /// Show the load imbalance, the time it costs, and the PEs that stand out
    #[arg(long)]
    pub balance: bool,

    /// Show a strip of the PEs, which is dark where a value is high
    #[arg(long)]
    pub strip: bool,

    /// Show all views but the table of the PEs
    #[arg(long)]
    pub report: bool,

    /// Compare two runs, each named by its file or by the id of its launch; with --mpi, their profiles
    /// of MPI calls
    #[arg(long, value_names = ["OLD", "NEW"], num_args = 2)]
    pub compare: Option<Vec<OsString>>,

    /// The column of the views [default: rate, or the CPU time if no operations were counted]
    #[arg(long, value_name = "COLUMN", value_parser = column)]
    pub column: Option<Column>,

    /// Sort the table by a column, the largest value first. With --mpi, sort rows by time, calls, sent,
    /// received, waits, change or name
    #[arg(long, value_name = "COLUMN", value_parser = sort_name)]
    pub sort: Option<SortName>,

    /// With --sort, put the smallest value first
    #[arg(long, requires = "sort")]
    pub ascending: bool,

    /// Show only the first N rows of the table
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,

    /// Show all extremes and findings, however many there are
    #[arg(long)]
    pub all: bool,

    /// Print one view as comma separated values
    #[arg(long)]
    pub csv: bool,

    /// Print the views as a JSON object of the schema topas.view/1
    #[arg(long)]
    pub json: bool,

    /// Print a line of JSON for each PE
    #[arg(long)]
    pub jsonl: bool,

    /// Write a picture as SVG; `-` writes it to standard output
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,

    /// Write a picture as PNG
    #[arg(long, value_name = "FILE")]
    pub png: Option<PathBuf>,

    /// What the picture shows
    #[arg(long, value_name = "KIND", value_enum, default_value = "points")]
    pub picture: PictureKind,

    /// Write an HTML page with all views, or with --mpi with those that are asked for; `-` writes the
    /// page to standard output
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Let --svg, --png and --html replace an existing file, even an input or a log
    #[arg(long)]
    pub force: bool,

    /// Print the views alone, without the line on the launch and without notes
    #[arg(long)]
    pub no_heading: bool,

    /// When the strip has colours
    #[arg(long, value_name = "WHEN", value_enum, default_value = "auto")]
    pub color: ColorWish,

    /// Memory that the lines of all launches may take. With more lines there is an error, and no
    /// part of an answer
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "4GiB")]
    pub memory: u64,

    /// Print errors only: no warnings and no progress
    #[arg(short, long)]
    pub quiet: bool,

    /// Write the time lines of event logs, which `topas-run --mpi=log` wrote, as a page of HTML: to the
    /// file of --html, else to standard output. Of a run on several hosts, name all logs; without a
    /// file, those in the working directory are read
    #[arg(long)]
    pub timeline: bool,

    /// With --timeline, leave single calls out of the page, which then opens the log itself. So it is
    /// for logs of more than 32 MB, in any case
    #[arg(long, requires = "timeline")]
    pub log_beside: bool,

    /// The profile of MPI calls
    #[command(flatten)]
    pub mpi: MpiArgs,
}

/// Kinds of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PictureKind {
    /// A point for each PE
    Points,
    /// A cell for each PE
    Strip,
    /// A box for each host
    Hosts,
}

impl From<PictureKind> for Drawing {
    fn from(kind: PictureKind) -> Self {
        match kind {
            PictureKind::Points => Drawing::Points,
            PictureKind::Strip => Drawing::Strip,
            PictureKind::Hosts => Drawing::Hosts,
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

impl Clusters {
    /// The width; None if the best are asked for.
    pub fn width(self) -> Option<f64> {
        match self {
            Clusters::Width(width) => Some(width),
            Clusters::Best => None,
        }
    }
}

/// Views that are asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedViews {
    /// Statistical summary
    pub stat: bool,
    /// Clusters
    pub cluster: Option<Clusters>,
    /// Column of the views, if named
    pub column: Option<Column>,
}

fn size(text: &str) -> Result<u64, String> {
    parse_size(text).map_err(|error| format!("{error}; {SIZE_HINT}"))
}

fn column(name: &str) -> Result<Column, String> {
    Column::of_name(name).ok_or_else(|| {
        let names: Vec<&str> = Column::ALL.iter().map(|column| column.name()).collect();
        format!("no such column; there are: {}", names.join(", "))
    })
}

/// What a table is sorted by: a column of the PEs, or with --mpi one of the profile. A name can be of
/// both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SortName {
    /// Of the PEs
    pub column: Option<Column>,
    /// Of the profile of MPI calls
    pub mpi: Option<MpiSort>,
}

fn sort_name(name: &str) -> Result<SortName, String> {
    match (Column::of_name(name), MpiSort::of_name(name)) {
        (None, None) => column(name).map(|column| SortName { column: Some(column), mpi: None }),
        (column, mpi) => Ok(SortName { column, mpi }),
    }
}

/// Reads the command line; the Err is the exit code, all has then been said.
pub fn parse() -> Result<(Args, AskedViews), u8> {
    let mut args = Args::try_parse_from(topas_config::command_line())
        .map_err(|error| TOOL.command_line(&error, exit::INPUT, exit::USAGE))?;
    let mut views = AskedViews { stat: args.stat.is_some(), cluster: None, column: args.column };
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

fn check(args: &Args, views: &AskedViews) -> Result<(), u8> {
    if args.timeline {
        return check_timeline(args, views);
    }
    if args.why {
        return check_why(args, views);
    }
    if args.mpi.on {
        return check_mpi(args, views);
    }
    if args.sort.is_some_and(|sort| sort.column.is_none()) {
        TOOL.error(
            &"this --sort is of the profile of MPI calls",
            None,
            "add --mpi, or name a column",
        );
        return Err(exit::USAGE);
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

/// The views of PEs alone: whether each is asked for, and its name.
fn views_of_pes(args: &Args, views: &AskedViews) -> [(bool, &'static str); 10] {
    [
        (args.raw, "--raw"),
        (views.stat, "--stat"),
        (views.cluster.is_some(), "--cluster"),
        (args.groups, "--groups"),
        (args.balance, "--balance"),
        (args.strip, "--strip"),
        (args.report, "--report"),
        (args.column.is_some(), "--column"),
        (args.all, "--all"),
        (args.jsonl, "--jsonl"),
    ]
}

/// With --timeline: a page, and nothing of PEs or profiles.
fn check_timeline(args: &Args, views: &AskedViews) -> Result<(), u8> {
    let others = [
        (args.list, "--list"),
        (args.compare.is_some(), "--compare"),
        (args.sort.is_some(), "--sort"),
        (args.top.is_some(), "--top"),
        (args.csv, "--csv"),
        (args.json, "--json"),
        (args.svg.is_some(), "--svg"),
        (args.png.is_some(), "--png"),
        (args.mpi.on, "--mpi"),
        (args.why, "--why"),
    ];
    if let Some((_, name)) =
        views_of_pes(args, views).iter().chain(&others).find(|(asked, _)| *asked)
    {
        let what = format!("{name} is no option of --timeline, which writes a page");
        TOOL.error(&what, None, "topas-mpi trace has the events as CSV");
        return Err(exit::USAGE);
    }
    Ok(())
}

/// With --why: nothing but the form of the answer.
fn check_why(args: &Args, views: &AskedViews) -> Result<(), u8> {
    let Args { list, raw, groups, balance, strip, report, csv, jsonl, .. } = *args;
    let files = args.svg.is_some() || args.png.is_some() || args.html.is_some();
    let others = list || raw || groups || balance || strip || report || csv || jsonl || files;
    let views = views.stat || views.cluster.is_some() || args.compare.is_some();
    if others || views || args.mpi.kinds() > 0 {
        TOOL.error(&"--why is a view of its own", None, "leave the other views out; --json works");
        return Err(exit::USAGE);
    }
    Ok(())
}

/// With --mpi: nothing that is of PEs, and one table at a time as CSV.
fn check_mpi(args: &Args, views: &AskedViews) -> Result<(), u8> {
    let wrong = |what: &str, hint: &str| {
        TOOL.error(&what, None, hint);
        Err(exit::USAGE)
    };
    let of_pes = [
        (args.sort.is_some_and(|sort| sort.mpi.is_none()), "this --sort"),
        (args.picture != PictureKind::Points, "--picture"),
    ];
    if let Some((_, name)) =
        views_of_pes(args, views).iter().chain(&of_pes).find(|(asked, _)| *asked)
    {
        return wrong(
            &format!("{name} is of PEs, not of the profile of MPI calls"),
            "leave it or --mpi out; topasview --help lists the options of each",
        );
    }
    if args.list && args.json {
        return wrong("--list has no JSON", "take --list --csv");
    }
    let has_picture = args.svg.is_some() || args.png.is_some();
    let has_files = has_picture || args.html.is_some();
    if args.list && has_files {
        return wrong("--list has no picture and no page", "take --list --csv");
    }
    if args.compare.is_some() && (args.mpi.kinds() > 0 || has_files) {
        let what = "--mpi --compare is a view of its own, and has no picture and no page";
        return wrong(what, "leave the other views out");
    }
    if args.csv && args.mpi.kinds() > 1 {
        return wrong("--csv is of one view", "take one view at a time, or --json");
    }
    if has_picture && args.mpi.kinds() > 1 {
        return wrong("a picture is of one view", "take one of --peers, --sizes and --efficiency");
    }
    Ok(())
}
