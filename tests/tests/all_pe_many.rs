//! 4,096 ranks of a host that end at the same moment: every line is whole and there, and few of
//! them open the file.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::fanotify::{EventFFlags, Fanotify, InitFlags, MarkFlags, MaskFlags};
use topas_tests::alone::is_root;
use topas_tests::build::{source, with_module};
use topas_tests::gang::Gang;
use topas_tests::record::read_log;
use topas_tests::running::{command, run};
use topas_tests::site::{Scratch, Site};

const RANKS: u32 = 4096;

/// Builds `c/gate.c`, statically because so many processes start faster then; `variant` is what
/// stands between language and `.o` in the name of the module.
fn gate(scratch: &Scratch, variant: &str) -> PathBuf {
    let program = scratch.path().join(format!("gate-{variant}"));
    let mut gcc = command("gcc");
    gcc.args(["-static", "-O1"]).arg(source("c/gate.c")).arg("-o").arg(&program);
    run(gcc.arg(with_module(Site::shared(), variant))).good();
    program
}

/// How often a file is opened, by the kernel's own account.
struct Opens(Fanotify);

impl Opens {
    fn of(path: &Path) -> Opens {
        let flags = InitFlags::FAN_CLASS_NOTIF
            | InitFlags::FAN_NONBLOCK
            | InitFlags::FAN_CLOEXEC
            | InitFlags::FAN_UNLIMITED_QUEUE;
        let opens = Fanotify::init(flags, EventFFlags::O_RDONLY).expect("fanotify");
        let dir = File::open("/").expect("directory");
        opens.mark(MarkFlags::FAN_MARK_ADD, MaskFlags::FAN_OPEN, &dir, Some(path)).expect("mark");
        Opens(opens)
    }

    /// Process ids of those that opened it. Events of one process that follow each other may be
    /// one, and no process here has a reason to open it twice.
    fn who(&self) -> BTreeSet<i32> {
        let mut who = BTreeSet::new();
        while let Ok(events) = self.0.read_events() {
            for event in events {
                assert!(!event.mask().contains(MaskFlags::FAN_Q_OVERFLOW), "events were lost");
                who.insert(event.pid());
            }
        }
        who
    }
}

/// The time until all have ended.
fn ended(gang: Gang) -> Duration {
    let (statuses, time) = gang.release();
    assert_eq!(statuses.len(), RANKS as usize);
    assert!(statuses.iter().all(|status| status.code() == Some(0)));
    time
}

#[test]
fn four_thousand_ranks_end_together() {
    if !is_root("four_thousand_ranks_end_together") {
        return;
    }
    let scratch = Scratch::new();
    let out = scratch.path().join("topas.out");
    File::create(&out).expect("file");
    let opens = Opens::of(&out);
    let extended = gate(&scratch, "c.all");
    let gang = Gang::of(&scratch, &extended, RANKS);
    let started: BTreeSet<i32> = gang.ranks.iter().map(|rank| rank.id() as i32).collect();
    let time = ended(gang);
    let opened = opens.who().intersection(&started).count();
    let lines = read_log(&out);
    let ranks: BTreeSet<u32> = lines.iter().map(|line| line.pe).collect();
    assert_eq!(lines.len(), RANKS as usize, "a line is missing, or there twice");
    assert_eq!(ranks, (0..RANKS).collect());
    fs::remove_file(&out).expect("remove");
    scratch.take_log();
    let ordinary = gate(&scratch, "c");
    let without = ended(Gang::of(&scratch, &ordinary, RANKS));
    eprintln!(
        "{RANKS} ranks: {opened} opens; {:.3} s until all had ended, {:.3} s with two measuring",
        time.as_secs_f64(),
        without.as_secs_f64()
    );
    assert!(opened > 0, "nothing was counted");
    assert!(opened < RANKS as usize / 20, "{opened} opens of {}", out.display());
}
