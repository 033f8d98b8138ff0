//! `topas-report pages`: static pages for the staff of a center.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use clap::Args;
use topas_config::{Conf, Environment};
use topas_data::{
    AskAnswer, Capacity, CompareOrder, ComparePlan, CompareReport, CompareTable, LogReport, Month,
    Period, WeekPlan, clock,
};
use topas_mpi_data::CenterProfiles;
use topas_render::center::{Center, change_plan, parts, plans};
use topas_render::period_words;
use topas_render::week::period_name;
use topas_terminal::shown;
use topas_web::{CenterIndex, IndexEntry, center_index, center_page, names_in_page};

use crate::mail::{available, calibration};
use crate::reading::{ReadingArgs, ReportLog, period};
use crate::{TOOL, exit};

/// The page that leads to all others.
const INDEX: &str = "index.html";

/// The lines of the index, from which it is made again: a period a line.
const LIST: &str = ".topas-pages";

/// The options.
#[derive(Args, Debug)]
pub struct PagesArgs {
    /// Which logs
    #[command(flatten)]
    pub reading: ReadingArgs,

    /// The directory of the pages, which is made if it is not there
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,

    /// The times that are told, such as `last week`, 2026-W47, 2026-10 or 2026; repeat it for
    /// further ones [default: last week, last month, this year]
    #[arg(long, value_name = "PERIOD", value_parser = period)]
    pub period: Vec<Period>,
}

/// Makes the pages: the exit code. The Err is one whose reason has been said.
pub fn run(args: &PagesArgs, env: &Environment, conf: &Conf) -> Result<u8, u8> {
    let mut periods = args.period.clone();
    if periods.is_empty() {
        periods
            .extend(["last week", "last month", "this year"].iter().filter_map(|w| period(w).ok()));
    }
    if periods.iter().any(|of| of.since.is_none() || of.until.is_none()) {
        TOOL.error(
            &"--period has no end",
            None,
            "name a week, a month or a year: 2026-W47, 2026-10",
        );
        return Err(exit::USAGE);
    }
    let log = ReportLog::find(&args.reading, env)?;
    let made = clock::now().to_string();
    let mut pages = Pages::open(&args.out)?;
    let mut unreadable = log.inputs.failed.len();
    let mut runs = 0;
    for (at, of) in periods.iter().enumerate() {
        let page = Page::read(*of, &log, env, conf, at == 0)?;
        unreadable += page.unreadable;
        runs += page.runs;
        if page.runs == 0 {
            TOOL.say(&format!("no runs in {}: it gets no page", page.entry.name));
            continue;
        }
        pages.put(page, &made)?;
    }
    pages.index(made)?;
    Ok(match (unreadable, runs) {
        (1.., _) => exit::FAILED,
        (0, 0) => exit::NO_RUNS,
        (0, _) => exit::OK,
    })
}

/// A page before it is written.
struct Page {
    entry: IndexEntry,
    parts: Vec<topas_render::center::Part>,
    runs: u64,
    unreadable: usize,
}

impl Page {
    /// Asks the log what a page tells. What is wrong is said; the Err is an exit code.
    fn read(
        of: Period,
        log: &ReportLog,
        env: &Environment,
        conf: &Conf,
        is_first: bool,
    ) -> Result<Self, u8> {
        let wrong = |error: topas_data::PlanError| {
            TOOL.error(&error, None, "this is a fault of topas-report");
            exit::FAILED
        };
        let [ways, people, course] = plans(of).map_err(wrong)?;
        let asked = |plan| log.ask(plan, || LogReport::new(plan));
        let answer = asked(&ways)?;
        if is_first {
            log.remark(&answer);
        }
        let AskAnswer { fold: by_ways, tally, failed, .. } = answer;
        let reports = [by_ways, asked(&people)?.fold, asked(&course)?.fold];
        let before = WeekPlan::new(of).map_or(of, |week| week.before);
        let sides = [change_plan(of).map_err(wrong)?, change_plan(before).map_err(wrong)?];
        let sides = ComparePlan::new(sides);
        let compared = log.ask(&sides, || CompareReport::new(&sides))?.fold;
        let changes: Vec<CompareTable> = match compared.sides[1].total.runs {
            0 => Vec::new(),
            _ => compared.tables(&CompareOrder::default()),
        };
        let mut profiles = CenterProfiles::default();
        if tally.profile > 0 {
            let read = log.profiles(of);
            read.profiles.iter().for_each(|profile| profiles.add(profile));
        }
        let capacity = Capacity::new(conf.capacity());
        let calibration = calibration(env);
        let center = Center {
            period: of,
            reports: &reports,
            tally: &tally,
            changes: &changes,
            before: &period_words(before),
            profiles: &profiles,
            calibration: calibration.as_ref(),
            available: available(&capacity, of),
        };
        let parts = parts(&center);
        let name = period_name(of);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let file: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        let entry = IndexEntry {
            file: format!("{file}.html"),
            days: period_words(of),
            sentence: parts.first().map(|part| part.sentence.clone()).unwrap_or_default(),
            name,
        };
        Ok(Page { entry, parts, runs: reports[0].total.runs, unreadable: failed.len() })
    }
}

/// Whether a period ended before the first day of a month.
pub fn ends_before(period: &Period, month: Month) -> bool {
    period.until.is_some_and(|until| (until.year, until.month) < (month.year, month.month))
}

/// The directory of pages.
pub struct Pages {
    dir: PathBuf,
    entries: Vec<IndexEntry>,
}

impl Pages {
    /// Removes the pages about times that ended before a month: their names. The Err is an exit code, and
    /// the reason has been said.
    pub fn remove_before(self, month: Month, dry_run: bool) -> Result<Vec<String>, u8> {
        let is_old = |_: &Path, entry: &IndexEntry| {
            Ok(period(&entry.name).is_ok_and(|period| ends_before(&period, month)))
        };
        self.remove(&is_old, dry_run)
    }

    /// Removes the pages that name somebody.
    pub fn remove_naming(self, who: &[String], dry_run: bool) -> Result<Vec<String>, u8> {
        let names_user = |path: &Path, _: &IndexEntry| {
            let page = fs::read(path)?;
            let page = String::from_utf8_lossy(&page);
            Ok(who.iter().any(|name| names_in_page(&page, name)))
        };
        self.remove(&names_user, dry_run)
    }

    /// Removes pages, and what the index says of them. Nothing is removed if of one it cannot be told
    /// whether it goes.
    fn remove(
        mut self,
        goes: &dyn Fn(&Path, &IndexEntry) -> io::Result<bool>,
        dry_run: bool,
    ) -> Result<Vec<String>, u8> {
        let mut gone = Vec::new();
        for entry in std::mem::take(&mut self.entries) {
            let path = self.dir.join(&entry.file);
            let goes = goes(&path, &entry).map_err(|error| {
                let what = format!("cannot read {}", shown(&path));
                TOOL.error(&what, Some(&error), "make it readable, or remove it");
                exit::FAILED
            })?;
            if goes { &mut gone } else { &mut self.entries }.push(entry);
        }
        let names = gone.iter().map(|entry| entry.name.clone()).collect();
        if dry_run {
            return Ok(names);
        }
        for entry in &gone {
            let path = self.dir.join(&entry.file);
            fs::remove_file(&path).map_err(|error| {
                let what = format!("cannot remove {}", shown(&path));
                TOOL.error(&what, Some(&error), "check the directory and its permissions");
                exit::FAILED
            })?;
        }
        // Also if no page goes: a call that was killed may have removed some.
        self.index(clock::now().to_string())?;
        Ok(names)
    }

    /// Opens the directory, which others may not read: pages name users.
    pub fn open(dir: &Path) -> Result<Self, u8> {
        let failed = |error: io::Error| {
            let what = format!("cannot use {}", shown(dir));
            TOOL.error(&what, Some(&error), "name another directory with --out");
            exit::FAILED
        };
        fs::DirBuilder::new().recursive(true).mode(0o750).create(dir).map_err(failed)?;
        let list = match fs::read_to_string(dir.join(LIST)) {
            Ok(list) => list,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(error)),
        };
        let entry = |line: &str| {
            let mut parts = line.splitn(4, '\t').map(str::to_owned);
            Some(IndexEntry {
                name: parts.next()?,
                file: parts.next()?,
                days: parts.next()?,
                sentence: parts.next()?,
            })
        };
        let mut entries: Vec<IndexEntry> = list.lines().filter_map(entry).collect();
        entries.retain(|entry| !entry.file.contains('/') && dir.join(&entry.file).exists());
        Ok(Pages { dir: dir.to_owned(), entries })
    }

    /// Writes a page, which takes the place of an older one.
    fn put(&mut self, page: Page, made: &str) -> Result<(), u8> {
        let Page { entry, parts, .. } = page;
        let text = center_page(&entry.name, &entry.days, &parts, INDEX, made);
        self.write(&entry.file, &text)?;
        self.entries.retain(|known| known.file != entry.file);
        self.entries.push(entry);
        Ok(())
    }

    /// Writes the index of all pages that were ever made here.
    fn index(mut self, made: String) -> Result<(), u8> {
        self.entries.sort_by(|a, b| b.days.cmp(&a.days).then_with(|| a.name.cmp(&b.name)));
        let line = |entry: &IndexEntry| {
            let IndexEntry { name, file, days, sentence } = entry;
            format!("{name}\t{file}\t{days}\t{}\n", sentence.replace(['\t', '\n'], " "))
        };
        let list: String = self.entries.iter().map(line).collect();
        self.write(LIST, &list)?;
        let entries = std::mem::take(&mut self.entries);
        self.write(INDEX, &center_index(&CenterIndex { entries, made }))
    }

    /// Writes a file that appears complete.
    fn write(&self, name: &str, text: &str) -> Result<(), u8> {
        let path = self.dir.join(name);
        let fresh = self.dir.join(format!(".{name}.{}", std::process::id()));
        let mut options = fs::OpenOptions::new();
        let opened = options.write(true).create_new(true).mode(0o640).open(&fresh);
        let written = opened.and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes()));
        written.and_then(|()| fs::rename(&fresh, &path)).map_err(|error| {
            let _ = fs::remove_file(&fresh);
            let what = format!("cannot write {}", shown(&path));
            TOOL.error(&what, Some(&error), "check the directory and its permissions");
            exit::FAILED
        })
    }
}
