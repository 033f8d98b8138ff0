//! Every key of the JSON that topas-stat writes stands in topas-json(5), and no other does.

use std::fs;
use std::path::Path;
use std::process::Command;

use topas_testkit::{WrittenJson, with_lengths};

/// Documented keys that only files of several users have, which a test of one user cannot make.
const OF_OTHER_USERS: &str = "foreign.owners[].";

struct KeySite {
    dir: tempfile::TempDir,
}

impl KeySite {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let fixtures = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures"));
        for file in ["logs/v1/module.log", "logs/v1/broken.log", "sacct/slurm-22.05.txt"] {
            let name = Path::new(file).file_name().unwrap();
            fs::copy(fixtures.join(file), dir.path().join(name)).unwrap();
        }
        fs::copy(fixtures.join("sacct/slurm-22.05.log"), dir.path().join("jobs.log")).unwrap();
        // Two runs of a program in a partition, of which the later failed and waited for the system.
        let line = |day: u32, pe: u32, end: &str| {
            format!(
                "2026/11/{day} 12:00:00 ann heat {pe} 4 t2596 B c mpi 10.0 60.0 100.0 f=- - r{day} v=1 \
                 t={} uid=7 end={end} why=f:pmu job=9{day} part=batch host=n{pe} rss=1000\n",
                1_795_003_200 + u64::from(day - 18) * 86_400
            )
        };
        let mut text: String = (1..3).map(|pe| line(18, pe, "exit:0")).collect();
        text.extend((1..3).map(|pe| line(19, pe, "exit:1")));
        text += "2026/11/19 12:00:00 topas-mpi ann heat 4 r19 v=1 of=run line=1/1 t=1795089600 uid=7 \
             end=finalize ranks=4 wall=400 wallmax=100 mpisum=40 mpimax=12 mpimin=8 usemax=92 over=0.1 \
             thr=1 lang=c level=single late=1 latercv=1 coll=1 lateunk=1 f=Send:4:40:12:::::4\n";
        fs::write(dir.path().join("runs.log"), with_lengths(&text)).unwrap();
        let below = dir.path().join("logs");
        fs::create_dir(&below).unwrap();
        fs::copy(dir.path().join("runs.log"), below.join("runs.log")).unwrap();
        std::os::unix::fs::symlink("runs.log", below.join("link.log")).unwrap();
        KeySite { dir }
    }

    /// Adds the objects that a command prints.
    fn add(&self, words: &str, found: &mut WrittenJson) {
        let output = Command::new(env!("CARGO_BIN_EXE_topas-stat"))
            .args(words.split(' '))
            .current_dir(self.dir.path())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!text.is_empty(), "{words}: {error}");
        found.add(&text);
    }
}

#[test]
fn the_manual_has_every_key_and_no_other() {
    let site = KeySite::new();
    let mut found = WrittenJson::default();
    for words in [
        "--json --by mflops,wall --by ending --measure mflops,users,exes,failures,lost,days module.log broken.log runs.log",
        "--json --sacct slurm-22.05.txt --percent row --by lang,lib --measure wall,jobs,failures jobs.log",
        "--jsonl --by mflops,wall --by exe --measure mflops,users,failures,lost,days module.log",
        "--jsonl --by mflops,lang --percent column module.log",
        "--json --compare-where npes>0 --by exe,user runs.log",
        "--jsonl --compare-where npes>0 --by exe,user runs.log",
        "--json --runs module.log broken.log",
        "--jsonl --runs module.log",
        "--json --run r19 runs.log",
        "--json --utilisation day --capacity 100 runs.log",
        "--jsonl --utilisation day --capacity 100 runs.log",
        "--json --sacct slurm-22.05.txt --coverage jobs.log",
        "--jsonl --sacct slurm-22.05.txt --coverage jobs.log",
        "--check --json broken.log logs",
    ] {
        site.add(words, &mut found);
    }
    found.hold_against_manual("topas-stat", &[OF_OTHER_USERS]);
}
