//! `topas-report purge`: removes what is older than the site keeps it, or what is of a user.
//!
//! The log itself is the business of `topas-log purge`. Each step can be interrupted, and is done by the
//! next call.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use clap::Args;
use topas_config::{Conf, Environment};
use topas_data::{Month, OwnLines, UnknownUser};
use topas_store::{Index, Purged, StoreError, ToPurge, deliver, shown_text, stored_text};
use topas_terminal::shown;

use crate::ingest::{IndexArgs, shared_store, store_failed};
use crate::mail::forget_mails;
use crate::pages::Pages;
use crate::state_dir::default_file;
use crate::{TOOL, exit};

/// Options of `topas-report purge`.
#[derive(Args, Debug)]
pub struct PurgeArgs {
    #[command(flatten)]
    index: IndexArgs,

    /// Keep so many whole months before the present month [default: `keep` in topas.conf]
    #[arg(long, value_name = "MONTHS", conflicts_with = "before")]
    keep: Option<NonZero<u16>>,

    /// Remove what is of the months before this one
    #[arg(long, value_name = "YYYY-MM")]
    before: Option<Month>,

    /// Remove what is of this user, by name or numeric id, instead of what is old
    #[arg(long, value_name = "USER", conflicts_with_all = ["keep", "before"])]
    user: Option<String>,

    /// A directory that topas-report pages has made [default: pages in the directory var/lib/topas of
    /// this installation, if it exists]
    #[arg(long, value_name = "DIR")]
    pages: Option<PathBuf>,

    /// The file that knows which mails were sent [default: mails-sent in the directory var/lib/topas of
    /// this installation, if it exists]
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,

    /// Only say what would be removed
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// Say only what is wrong
    #[arg(short, long)]
    quiet: bool,
}

/// What goes: the exit code of a wrong wish, whose reason has been said.
enum Wish {
    Before(Month),
    User(OwnLines),
}

impl Wish {
    fn of(args: &PurgeArgs, conf: &Conf) -> Result<Self, u8> {
        if let Some(name) = &args.user {
            return OwnLines::named(name).map(Wish::User).map_err(|unknown| {
                TOOL.error(&unknown, None, UnknownUser::HINT);
                exit::USAGE
            });
        }
        let kept = || args.keep.or_else(|| conf.keep());
        let before = args.before.or_else(|| Some(Month::present().earlier(kept()?.get())));
        before.map(Wish::Before).ok_or_else(|| {
            let hint = "give --keep MONTHS, or set keep = in topas.conf";
            TOOL.error(&"nothing says how long runs are kept", None, hint);
            exit::USAGE
        })
    }

    /// What goes, in words.
    fn words(&self) -> String {
        match self {
            Wish::Before(month) => format!("from before {month}"),
            Wish::User(user) => format!("of the user {}", user.uid),
        }
    }
}

/// Removes: the exit code. The Err is one whose reason has been said.
pub fn run(args: &PurgeArgs, env: &Environment, conf: &Conf) -> Result<u8, u8> {
    let wish = Wish::of(args, conf)?;
    let path = args.index.path(env)?;
    let say = |what: String| {
        if !args.quiet {
            TOOL.say(&what);
        }
    };
    let would = if args.dry_run { "would be" } else { "were" };
    let words = wish.words();
    // What goes wrong with one of them keeps nobody from removing the rest; but the index, which knows
    // the names of a user, comes last, and stays until pages that may name the user are gone.
    let mut code = exit::OK;
    // Before the first mail, and where no pages are made, there is nothing to remove.
    let existing = |given: &Option<PathBuf>, name, what| {
        let path = given.clone().or_else(|| default_file(env, name))?;
        let is_there = path.try_exists().unwrap_or(true);
        if !is_there {
            say(format!("{}: there are no {what}", shown(&path)));
        }
        is_there.then_some(path)
    };
    if let Some(dir) = existing(&args.pages, "pages", "pages") {
        let removed = Pages::open(&dir).and_then(|pages| match &wish {
            Wish::Before(month) => pages.remove_before(*month, args.dry_run),
            Wish::User(user) => pages.remove_naming(&names(user, &path)?, args.dry_run),
        });
        match removed {
            Ok(pages) => {
                let number = pages.len();
                say(format!("{}: {number} pages {words} {would} removed", shown(&dir)));
                pages.iter().for_each(|page| say(format!("  {page}")));
                if matches!(wish, Wish::User(_)) && number > 0 {
                    say("topas-report pages --period NAME makes a page again from the log"
                        .to_owned());
                }
            }
            Err(failed) if matches!(wish, Wish::User(_)) => return Ok(failed),
            Err(failed) => code = failed,
        }
    }
    if let Some(path) = existing(&args.state, "mails-sent", "notes of mails") {
        let goes = |week: &str, id: &str| match &wish {
            Wish::Before(month) => week_ends_before(week, *month),
            Wish::User(user) => id == format!("uid:{}", user.uid) || is_name_of(user, id),
        };
        match forget_mails(&path, &goes, args.dry_run) {
            Ok(lines) => say(format!("{}: {lines} notes {words} {would} removed", shown(&path))),
            Err(failed) => code = failed,
        }
    }
    if path.exists() {
        match purge_index(args, &wish, &path, conf) {
            Ok(Purged { runs, profiles }) => say(format!(
                "{}: {runs} runs and {profiles} lines of MPI profiles {words} {would} removed",
                shown(&path)
            )),
            Err(failed) => code = failed,
        }
    } else {
        say(format!("{}: there is no index", shown(&path)));
    }
    Ok(code)
}

/// The names that pages may have of a user. The Err is an exit code, and the reason has been said.
fn names(user: &OwnLines, index: &Path) -> Result<Vec<String>, u8> {
    if !index.exists() {
        return Ok(user.name().map(|name| shown_text(&stored_text(name))).into_iter().collect());
    }
    let names = Index::open(index).and_then(|index| index.names_of(user));
    let names = names.map_err(|error| store_failed(&error))?;
    Ok(names.iter().map(|name| shown_text(name)).collect())
}

fn is_name_of(user: &OwnLines, id: &str) -> bool {
    let name = id.strip_prefix("name:").map(str::as_bytes);
    name.is_some() && name == user.name()
}

/// Whether a week such as 2026-W47 ended in a month before this one.
fn week_ends_before(week: &str, month: Month) -> bool {
    crate::reading::period(week).is_ok_and(|period| crate::pages::ends_before(&period, month))
}

/// Removes from the index and the shared database.
fn purge_index(args: &PurgeArgs, wish: &Wish, path: &Path, conf: &Conf) -> Result<Purged, u8> {
    let mut remote = shared_store(conf)?;
    let mut index = Index::open(path).map_err(|error| store_failed(&error))?;
    let what = match wish {
        Wish::Before(month) => ToPurge::Before(*month),
        Wish::User(user) => ToPurge::User(user),
    };
    let mut purge = || -> Result<Purged, StoreError> {
        let purged = index.purge(what, remote.is_some(), args.dry_run)?;
        if !args.dry_run {
            index.compact()?;
            if let Some(remote) = &mut remote {
                deliver(&mut index, &mut **remote)?;
            }
        }
        Ok(purged)
    };
    purge().map_err(|error| store_failed(&error))
}
