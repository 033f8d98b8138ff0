//! `topas-report ingest`: brings what came into the log into the index of runs.

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::mpsc::sync_channel;
use std::thread;

use clap::Args;
use topas_config::{Conf, Environment};
use topas_render::asking::source_hint;
use topas_store::{
    Delivered, Index, Ingest, IngestReport, LEAST_BATCH, MOST_BATCH, RemoteStore, StoreError,
    deliver, remote_store,
};
use topas_terminal::{Progress, shown};

use crate::reading::{ReadingArgs, ReportLog};
use crate::state_dir::{default_file, make_room};
use crate::{TOOL, exit};

/// Options of `topas-report ingest`.
#[derive(Args, Debug)]
pub struct IngestArgs {
    #[command(flatten)]
    reading: ReadingArgs,

    #[command(flatten)]
    index: IndexArgs,

    /// Forget the index and make it again from the log that is named
    #[arg(long)]
    rebuild: bool,

    /// Lines that become part of the index at once: more are faster and take more memory
    #[arg(long, value_name = "LINES", default_value_t = MOST_BATCH)]
    batch: usize,
}

/// Which index is used.
#[derive(Args, Debug)]
pub struct IndexArgs {
    /// The index of runs [default: index.sqlite in the directory var/lib/topas of this installation]
    #[arg(long, value_name = "FILE")]
    index: Option<PathBuf>,
}

impl IndexArgs {
    /// The file of the index; the Err is an exit code, and the reason has been said.
    pub fn path(&self, env: &Environment) -> Result<PathBuf, u8> {
        let of_prefix = || default_file(env, "index.sqlite");
        self.index.clone().or_else(of_prefix).ok_or_else(|| {
            TOOL.error(&"no index", None, "name one by --index FILE");
            exit::USAGE
        })
    }
}

/// Says why a store could not be used: the exit code.
pub fn store_failed(error: &StoreError) -> u8 {
    let hint = match error {
        StoreError::Version { .. } => "remove it, and make it again: topas-report ingest",
        StoreError::Index { .. } => {
            "check the directory, its permissions and its room; it can be made again from the log"
        }
        StoreError::Remote { .. } => {
            "check that it runs and store = in topas.conf; nothing is lost"
        }
        StoreError::Value { .. } => "make the index again: topas-report ingest --rebuild",
        StoreError::Source(_) => "check its name and its permissions",
    };
    let cause = std::error::Error::source(error).map(ToString::to_string);
    TOOL.error(error, cause.as_ref().map(|cause| cause as &dyn std::fmt::Display), hint);
    exit::FAILED
}

/// The database that the site shares; None if it names none. The Err is an exit code, and the reason
/// has been said.
pub fn shared_store(conf: &Conf) -> Result<Option<Box<dyn RemoteStore>>, u8> {
    let url = conf.store();
    if url.is_empty() {
        return Ok(None);
    }
    remote_store(&url).map(Some).ok_or_else(|| {
        // A URL may hold a password.
        let what = "store = in topas.conf names no store that is known";
        TOOL.error(&what, None, "give postgres://... or clickhouse://..., as in topas.conf(5)");
        exit::USAGE
    })
}

/// Makes the index; the exit code. The Err is one whose reason has been said.
pub fn run(args: &IngestArgs, env: &Environment, conf: &Conf) -> Result<u8, u8> {
    if args.batch < LEAST_BATCH {
        TOOL.error(&"--batch: a batch has at least one line", None, "leave it out");
        return Err(exit::USAGE);
    }
    let path = args.index.path(env)?;
    let log = ReportLog::find(&args.reading, env)?;
    let mut remote = shared_store(conf)?;
    make_room(&path).map_err(|error| {
        let what = format!("cannot make the directory of {}", shown(&path));
        TOOL.error(&what, Some(&error), "make one for the index, or name another by --index");
        exit::FAILED
    })?;
    // An index names users, so it is for its owner and the owner's group, as are the files that SQLite
    // puts beside it. SQLite reports a file that cannot be made.
    let _ = fs::OpenOptions::new().write(true).create_new(true).mode(0o640).open(&path);
    let mut index = Index::open(&path).map_err(|error| store_failed(&error))?;
    if args.rebuild {
        index.clear().map_err(|error| store_failed(&error))?;
    }
    let (report, delivered) = match &mut remote {
        None => (ingest(args, &mut index, &log, false, |_| ()), None),
        Some(remote) => {
            let (report, delivered) = ingest_and_deliver(args, &mut index, &log, &mut **remote);
            (report, Some((delivered, remote.name())))
        }
    };
    let report = report.map_err(|error| store_failed(&error))?;
    for error in &report.failed {
        let (cause, hint) = source_hint(error);
        TOOL.error(error, Some(cause), hint);
    }
    if !args.reading.quiet {
        log.remark_inputs();
        say(&report);
    }
    if let Some((delivered, name)) = delivered {
        // What came is in the index, and is brought by the next call if it could not be now.
        let Delivered { rows, batches } = delivered.map_err(|error| store_failed(&error))?;
        if !args.reading.quiet {
            TOOL.say(&format!("{rows} rows of {batches} batches brought to {name}"));
        }
    }
    let unreadable = report.failed.len() + log.inputs.failed.len();
    Ok(if unreadable > 0 { exit::FAILED } else { exit::OK })
}

/// Brings batches to the database while the next ones are made part of the index.
fn ingest_and_deliver(
    args: &IngestArgs,
    index: &mut Index,
    log: &ReportLog,
    remote: &mut dyn RemoteStore,
) -> (Result<IngestReport, StoreError>, Result<Delivered, StoreError>) {
    let path = index.path().to_owned();
    thread::scope(|scope| {
        // Batches that are made part of the index while one is brought are brought together.
        let (made, is_made) = sync_channel(1);
        let delivery = scope.spawn(move || {
            let mut index = Index::open(&path)?;
            let mut all = Delivered::default();
            let mut more = true;
            while more {
                more = is_made.recv().is_ok();
                let Delivered { batches, rows } = deliver(&mut index, remote)?;
                all.batches += batches;
                all.rows += rows;
            }
            Ok(all)
        });
        let report = ingest(args, index, log, true, |_| {
            // It is full if the delivery will look anyway, and closed if it failed.
            let _ = made.try_send(());
        });
        drop(made);
        let delivered = delivery.join().unwrap_or_else(|panic| resume_unwind(panic));
        (report, delivered)
    })
}

/// Makes what came into the log part of the index; `made` is told the number of lines after each batch.
fn ingest(
    args: &IngestArgs,
    index: &mut Index,
    log: &ReportLog,
    has_remote: bool,
    mut made: impl FnMut(u64),
) -> Result<IngestReport, StoreError> {
    let mut progress = Progress::new(TOOL, args.reading.quiet);
    let ingest = Ingest::new(index, args.batch, has_remote);
    let done = ingest.run_listed(&log.inputs, |lines| {
        progress.at(|| format!("{lines} lines read"));
        made(lines);
    });
    progress.clear();
    done
}

/// Says what was done.
fn say(report: &IngestReport) {
    let out = &report.left_out;
    if out.bad > 0 {
        TOOL.say(&format!("{} lines that are no log lines were skipped", out.bad));
    }
    if out.foreign.lines() > 0 {
        let lines = out.foreign.lines();
        TOOL.say(&format!(
            "{lines} foreign lines do not count: the owner of their file is another"
        ));
    }
    if report.too_old > 0 {
        let lines = report.too_old;
        TOOL.say(&format!("{lines} lines are older than what topas-report purge keeps"));
    }
    TOOL.say(&format!(
        "{} of {} lines are new, in {} files that changed; {} runs are new or different",
        report.new_lines, report.lines, report.sources, report.runs
    ));
}
