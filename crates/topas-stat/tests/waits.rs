//! Measures of MPI profiles: which programs of a center lose time because ranks wait.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use topas_testkit::with_lengths;

/// A directory with a log.
struct Center {
    dir: tempfile::TempDir,
}

/// The two lines of a run of 60 s by 4 ranks.
fn run(id: &str, exe: &str, minute: u32) -> String {
    let line = |pe: u32| {
        format!(
            "2026/11/20 08:{minute:02}:59 ann {exe} {pe} 4 t2596 B c mpi 50.0 0.5 60.0 f=100 - {id} \
             v=1 t={} uid=7 end=exit:0 host=n1 job=7{id}\n",
            epoch(minute)
        )
    };
    line(1) + &line(2)
}

/// Seconds since 1970 of that minute of that day.
fn epoch(minute: u32) -> u64 {
    1_795_162_858 + 60 * (u64::from(minute) - 20)
}

/// A record of its profile; `facts` are those of waits.
fn profile(id: &str, exe: &str, minute: u32, mpi: &str, facts: &str) -> String {
    let of = |key: &str| facts.split(' ').find_map(|word| word.strip_prefix(key)).unwrap_or("0");
    let by_routine = match facts {
        "" => String::new(),
        _ => format!(
            " l=Recv:400:{}:1:{}:100:{}:1:{}:0:0:0:0",
            of("late="),
            of("latercv="),
            of("coll="),
            of("lateunk=")
        ),
    };
    format!(
        "2026/11/20 08:{minute:02}:58 topas-mpi ann {exe} 4 {id} v=1 of=run line=1/1 t={} uid=7 \
         end=finalize host=n1 ranks=4 wall=240 wallmax=60 mpisum={mpi} mpimax=30 mpimin=1 usemax=59 \
         over=0.01 thr=1 lang=c{facts} f=Recv:400:60:0.5:400::::400:3{by_routine}\n",
        epoch(minute)
    )
}

impl Center {
    fn new() -> Center {
        let log = [
            // Loses 24 of 240 s to late senders, and 12 in collectives.
            profile("a1", "heat", 20, "60", " late=24 latercv=0 coll=12 lateunk=2.4"),
            run("a1", "heat", 20),
            // A smaller share, but two runs lose more together.
            run("b1", "cg", 22),
            run("b2", "cg", 24),
            profile("b1", "cg", 22, "40", " late=19.2 latercv=1.2 coll=0"),
            profile("b2", "cg", 24, "40", " late=19.2 latercv=1.2 coll=0"),
            // A profile that does not tell waits apart, and a run without one.
            run("c1", "ft", 26),
            profile("c1", "ft", 26, "120", ""),
            run("d1", "sh", 28),
            // Another program of the same id at another time, and of another user.
            profile("a1", "heat", 50, "60", " late=240 latercv=0 coll=0"),
            profile("a1", "heat", 20, "60", " late=200 latercv=0 coll=0").replace("uid=7", "uid=8"),
            // A rank's own record, and a subtotal, are parts of what is told already.
            profile("a1", "heat", 20, "60", " late=24 latercv=0 coll=12").replace("run", "rank"),
            profile("a1", "heat", 20, "60", " late=24").replace("of=run", "of=run at=1"),
            // A copy of a line counts once.
            profile("a1", "heat", 20, "60", " late=24 latercv=0 coll=12 lateunk=2.4"),
        ];
        Center::with(&log)
    }

    fn with(log: &[String]) -> Center {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("log"), with_lengths(&log.concat())).unwrap();
        Center { dir }
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join("log")
    }

    fn stat(&self, arguments: &[&str]) -> Output {
        let mut stat = Command::new(env!("CARGO_BIN_EXE_topas-stat"));
        stat.args(arguments).arg(self.log()).output().unwrap()
    }

    fn text(&self, arguments: &[&str]) -> String {
        let output = self.stat(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{error}");
        assert_eq!(error, "", "nothing is wrong with the log");
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.text(&[arguments, &["--json"]].concat())).unwrap()
    }

    /// Cells of a list of runs, without its header.
    fn rows(&self, arguments: &[&str]) -> Vec<String> {
        let csv = self.text(&[&["--runs", "--csv"], arguments].concat());
        csv.lines().skip(1).map(str::to_owned).collect()
    }
}

#[test]
fn programs_are_ranked_by_what_they_lose_to_late_senders() {
    let center = Center::new();
    let shown = center.json(&["--by", "exe", "--sort", "late"]);
    let rows = shown["tables"][0]["rows"].as_array().unwrap();
    let told: Vec<(&str, Option<f64>, Option<f64>)> = rows
        .iter()
        .map(|row| {
            let late = &row["measures"]["late"];
            let name = row["name"].as_str().unwrap_or_default();
            (name, late["mean"].as_f64(), late["sum"].as_f64())
        })
        .collect();
    assert_eq!(told.iter().map(|row| row.0).collect::<Vec<_>>(), ["cg", "heat", "ft", "sh"]);
    assert_eq!(told[0].1, Some(8.0), "38.4 of 480 s");
    assert_eq!(told[1].1, Some(10.0), "24 of 240 s");
    assert!((told[0].2.unwrap() - 38.4 / 3600.0).abs() < 1e-9, "hours of ranks: {told:?}");
    assert!(told[2].1.is_none() && told[3].1.is_none(), "not measured is not 0: {told:?}");
    let reversed = center.text(&["--by", "exe", "--sort", "late", "--reverse", "--csv"]);
    assert!(reversed.find("heat").unwrap() < reversed.find("cg").unwrap(), "{reversed}");
}

#[test]
fn runs_are_selected_and_listed_by_waits() {
    let center = Center::new();
    let columns = ["--columns", "id,mpi_share,late,latercv,coll,lateunk", "--sort", "id"];
    assert_eq!(
        center.rows(&columns),
        [
            "a1,25,10,0,5,1",
            "b1,16.6666667,8,0.5,0,0",
            "b2,16.6666667,8,0.5,0,0",
            "c1,50,,,,",
            "d1,,,,,"
        ]
    );
    for (condition, ids) in [
        ("late > 9%", &["a1"][..]),
        ("late > 10%", &[]),
        ("late < 9", &["b1", "b2"]),
        ("late = -", &["c1", "d1"]),
        ("mpi_share >= 50 and late = -", &["c1"]),
        ("coll > 1 or latercv > 0.4", &["a1", "b1", "b2"]),
    ] {
        let output = center.stat(&["--runs", "--csv", "--columns", "id", "--where", condition]);
        let text = String::from_utf8(output.stdout).unwrap();
        let mut found: Vec<&str> = text.lines().skip(1).collect();
        found.sort_unstable();
        assert_eq!(found, ids, "{condition}");
    }
    let sorted = center.rows(&["--columns", "id", "--sort", "late", "--top", "1"]);
    assert_eq!(sorted, ["a1"]);
}

#[test]
fn a_job_tells_its_waits() {
    let center = Center::new();
    let unbroken = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = unbroken(center.text(&["--job", "7a1"]));
    assert!(
        told.contains(
            "the ranks waited 24.000 s for late senders (10.00%), 0.000 s for late receivers \
             (0.00%), 12.000 s for others in collectives (5.00%); of another 2.400 s (1.00%) it is \
             not known; shares of the time of all ranks"
        ),
        "{told}"
    );
    assert!(told.contains("The ranks waited for late senders for 10"), "{told}");
    let job = center.json(&["--job", "7a1"]);
    let run = &job["runs"][0];
    assert_eq!(run["mpi_profile"]["waits"]["late_sender_s"], 24.0, "{run}");
    assert_eq!(run["measures"]["late"]["value"], 10.0);
    let without = center.json(&["--job", "7c1"]);
    assert!(without["runs"][0]["mpi_profile"]["waits"].is_null());
    assert!(without["runs"][0]["measures"]["late"]["value"].is_null());
    assert!(!unbroken(center.text(&["--job", "7c1"])).contains("the ranks waited"));
}

#[test]
fn a_job_tells_the_worlds_of_its_processes() {
    // Started by another world, and a rank of it starts one.
    let center = Center::with(&[
        run("e1", "boss", 30),
        profile("e1", "boss", 30, "60", " spawned=1795163400.5:ab:1"),
        profile("e1", "boss", 30, "60", " s=worker:2:1795163401:0.25:Comm_spawn:0:cd")
            .replace("of=run", "of=rank")
            .replace(" ranks=4", " rank=0 pid=5 ranks=1"),
    ]);
    let unbroken = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = unbroken(center.text(&["--job", "7e1"]));
    let words = "Worlds started by rank 1 of another world, and started 1 world of 2 ranks (topasview --mpi \
                 names each)";
    assert!(told.contains(words), "{told}");
    let others = unbroken(Center::new().text(&["--job", "7a1"]));
    assert!(!others.contains("world"), "{others}");
}
