//! Which mails were sent: a file of lines, so that no user gets the mail of a week twice.
//!
//! A line is written and synced before a mail is handed over, and another one after it:
//!
//! ```text
//! begin 2026-W47 uid:1004
//! sent 2026-W47 uid:1004
//! failed 2026-W47 uid:1005
//! ```
//!
//! After a `failed` the mail is tried again. After a `begin` without an end it is not: it may have
//! been sent, and twice would be worse than not at all.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use topas_config::Environment;
use topas_data::{Output, WeekUserId};
use topas_format::shown::Shown;
use topas_terminal::shown;

use super::MailArgs;
use crate::state_dir::{default_file, make_room};
use crate::{TOOL, exit};

/// What is to be done with a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// The mail is to be sent, and that is noted
    Begun,
    /// The mail was sent
    Done,
    /// The mail may have been sent
    Unclear,
}

/// The file. It is locked: two calls at once would send twice.
pub struct MailState {
    path: PathBuf,
    file: File,
    known: HashMap<String, String>,
}

impl MailState {
    /// Opens and reads it. What is wrong is said; the Err is an exit code.
    pub fn open(args: &MailArgs, env: &Environment) -> Result<Self, u8> {
        let path =
            args.state.clone().or_else(|| default_file(env, "mails-sent")).ok_or_else(|| {
                TOOL.error(&"no file for what was sent", None, "name one with --state FILE");
                exit::USAGE
            })?;
        let failed = |error: io::Error| {
            let what = format!("cannot use {}", shown(&path));
            TOOL.error(&what, Some(&error), "no mail is sent without it; --state names another");
            exit::FAILED
        };
        make_room(&path).map_err(failed)?;
        let opened = OpenOptions::new().read(true).append(true).create(true).open(&path);
        let mut file = opened.map_err(failed)?;
        if let Err(error) = file.try_lock() {
            let what = format!("{} is in use", shown(&path));
            TOOL.error(&what, Some(&error), "another topas-report mail is running");
            return Err(exit::FAILED);
        }
        let place = |about: fs::Metadata| (about.dev(), about.ino());
        let opened = file.metadata().map(place).map_err(failed)?;
        if fs::metadata(&path).map(place).map_err(failed)? != opened {
            let what = format!("{} was written anew just now", shown(&path));
            TOOL.error(&what, None, "topas-report purge was at work; call this again");
            return Err(exit::FAILED);
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        let mut known = HashMap::new();
        for line in text.split_inclusive('\n') {
            // A line that a crash cut off says nothing; what is appended begins on a new one.
            let Some((word, of)) = line.strip_suffix('\n').and_then(|line| line.split_once(' '))
            else {
                file.write_all(b"\n").map_err(failed)?;
                continue;
            };
            known.insert(of.to_owned(), word.to_owned());
        }
        Ok(MailState { path, file, known })
    }

    /// Notes that a mail is about to be sent, unless it was.
    pub fn begin(&mut self, week: &str, id: &WeekUserId) -> Result<Sending, u8> {
        let of = key(week, id);
        match self.known.get(&of).map(String::as_str) {
            None | Some("failed") => {}
            Some("sent") => return Ok(Sending::Done),
            Some(_) => return Ok(Sending::Unclear),
        }
        self.note("begin", of)?;
        Ok(Sending::Begun)
    }

    /// Notes what became of it.
    pub fn end(&mut self, week: &str, id: &WeekUserId, is_sent: bool) -> Result<(), u8> {
        self.note(if is_sent { "sent" } else { "failed" }, key(week, id))
    }

    fn note(&mut self, word: &str, of: String) -> Result<(), u8> {
        let line = format!("{word} {of}\n");
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| {
            let what = format!("cannot write {}", shown(&self.path));
            TOOL.error(&what, Some(&error), "no further mail is sent: it could be sent twice");
            exit::FAILED
        })?;
        self.known.insert(of, word.to_owned());
        Ok(())
    }
}

/// Removes the notes about mails that `goes` chooses by their week and their user: how many. The Err is an
/// exit code, and the reason has been said.
pub fn forget_mails(
    path: &Path,
    goes: &dyn Fn(&str, &str) -> bool,
    dry_run: bool,
) -> Result<u64, u8> {
    let failed = |error: io::Error| {
        let what = format!("cannot use {}", shown(path));
        TOOL.error(&what, Some(&error), "check its permissions; --state names another");
        exit::FAILED
    };
    let mut file = OpenOptions::new().read(true).append(true).open(path).map_err(failed)?;
    // No mail is sent meanwhile.
    file.lock().map_err(failed)?;
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(failed)?;
    let goes = |line: &&str| {
        let mut words = line.trim_end().splitn(3, ' ').skip(1);
        words.next().zip(words.next()).is_some_and(|(week, id)| goes(week, id))
    };
    let (gone, kept): (Vec<&str>, Vec<&str>) = text.split_inclusive('\n').partition(goes);
    if !gone.is_empty() && !dry_run {
        // Whole, because notes that are lost would send mails twice.
        let write = || {
            let mut output = Output::create(path)?;
            output.write_all(kept.concat().as_bytes())?;
            output.finish()
        };
        write().map_err(failed)?;
    }
    Ok(gone.len() as u64)
}

fn key(week: &str, id: &WeekUserId) -> String {
    match id {
        WeekUserId::Uid(uid) => format!("{week} uid:{uid}"),
        WeekUserId::Name(name) => format!("{week} name:{}", Shown(name)),
    }
}
