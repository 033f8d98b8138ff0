//! Time lines of runs whose ranks start others: all worlds stand in one page, by their names and in one time.

use data_encoding::BASE64;
use serde_json::Value;
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::profile::{Places, build, library};
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};

/// What the script of a page has to know.
fn facts(page: &str) -> Value {
    let text = page.split_once("id=\"facts\" type=\"application/json\">").expect("facts").1;
    serde_json::from_str(text.split_once("</script>").expect("an end").0).expect("JSON")
}

/// When each row begins in the page, in s: in its line of the index, that is the sixth number.
fn begins(page: &str) -> Vec<f64> {
    let text = page.split_once("id=\"index\" type=\"text/plain\">").expect("an index").1;
    let lines = text.split_once("</script>").expect("an end").0.trim().lines().skip(1);
    let sixth = |line: &str| {
        let bytes = BASE64.decode(line.as_bytes()).expect("base64");
        let ends = |byte: &u8| *byte < 128;
        let number: Vec<u8> = bytes.split_inclusive(ends).nth(5).expect("six numbers").to_vec();
        number.iter().rev().fold(0, |sum: u64, byte| sum << 7 | u64::from(byte & 127)) as f64 / 1e9
    };
    lines.map(sixth).collect()
}

/// What topasview writes of the files in the directory.
fn view(scratch: &Scratch, args: &[&str]) -> String {
    let mut view = scratch.command(Site::shared().tool("topasview"));
    run(view.args(args)).good().out()
}

#[test]
fn worlds_of_a_run_stand_in_one_page_and_one_time() {
    // MPICH of Debian cannot start processes, whatever the program.
    let all = Mpi::installed("worlds_of_a_run_stand_in_one_page_and_one_time");
    for mpi in all.into_iter().filter(|mpi| mpi.name() != "mpich") {
        let scratch = Scratch::new();
        let (master, worker) = (scratch.path().join("master"), scratch.path().join("worker"));
        build(mpi, "mpicc", &["spawn/master.c"], &["-O2", "-g"], &master);
        build(mpi, "mpicc", &["spawn/worker.c"], &["-O2", "-g"], &worker);
        let places = Places::new(&scratch);
        let [master, worker] = [&master, &worker].map(|path| path.to_str().expect("path"));
        // Processes that are started have the environment of the launcher, not that of the ranks.
        let mut launch = mpi.launch_bare(&scratch, 2);
        launch.envs(places.variables()).env("LD_PRELOAD", library(Site::shared()));
        launch.env("TOPAS_MPI_WAITS", "yes").env("TOPAS_MPI_LOG", "yes");
        launched(&scratch, launch.args([master, worker]).current_dir(scratch.path())).good();

        let dir = scratch.path().to_str().expect("a path").to_owned();
        let text = view(&scratch, &["--timeline", &dir]);
        assert!(text.contains("<h1>master: time line of 7 ranks in 4 worlds</h1>"), "{text:.2000}");
        let told = facts(&text);
        let worlds = told["worlds"].as_array().expect("worlds");
        let words: Vec<_> = worlds.iter().map(|world| &world["words"]).collect();
        assert_eq!(
            words,
            [
                "World 1: master",
                "World 2: worker (started by rank 1)",
                "World 3: worker (started by rank 0 of world 2)",
                "World 4: worker (started by rank 1)"
            ],
            "{told:#}"
        );
        let processes = told["processes"].as_array().expect("processes");
        let ranks: Vec<_> = processes
            .iter()
            .map(|process| (process["world"].as_u64().unwrap(), process["rank"].as_u64().unwrap()))
            .collect();
        assert_eq!(ranks, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (3, 0), (3, 1)]);
        assert!(text.contains(">1 of world 4</th>"), "the table of ranks");

        // A launch that is named stands alone.
        let data = places.out.to_str().expect("a path");
        let profile = |args: &[&str]| -> Value {
            let told = view(&scratch, &[&["--json"], args, &[data]].concat());
            serde_json::from_str(&told).expect("JSON")
        };
        let why = profile(&["--why"]);
        let id = |world: usize| why["worlds"][world]["launch"]["id"].as_str().expect("an id");
        let alone = view(&scratch, &["--timeline", "--launch", id(0), &dir]);
        assert!(alone.contains("<h1>worker: time line of 2 ranks</h1>"), "{alone:.2000}");

        // A world begins during the call that starts it, as the profile of the rank that called tells.
        let began = begins(&text);
        assert_eq!(began.len(), 7);
        let master = why["launch"]["id"].as_str().expect("an id");
        let told = profile(&["--mpi", "--launch", master]);
        let call = |place: usize, key: &str| {
            told["launch"]["started"][place][key].as_f64().unwrap_or_else(|| panic!("{told:#}"))
        };
        let between = began[5] - began[2];
        let calls = call(1, "began_s") - call(0, "began_s");
        let (least, most) = (calls - call(0, "seconds"), calls + call(1, "seconds"));
        // began_s has the digits of a number of 64 bits.
        assert!(least - 1e-5 < between && between < most + 1e-5, "{least} {between} {most}");
        assert!(began[0].min(began[1]) < 0.01, "the origin: {began:?}");
        assert!(began[1] < began[2] && began[2] < began[4], "{began:?}");
        // In worlds 2 and 4, rank 1 comes late to 130 barriers by 15 ms each.
        for row in [2, 5] {
            let time = waited(&facts(&text), row);
            assert!((1.5..4.0).contains(&time), "row {row}: {time} s");
        }
    }
}

/// For how long a row has waited in collectives, in s.
fn waited(facts: &Value, row: usize) -> f64 {
    const COLLECTIVE_WAIT: usize = 5;
    facts["rows"][row]["times"][COLLECTIVE_WAIT].as_f64().expect("a time") / 1e9
}
