//! Windows and files are told by name beside communicators, and findings say which of them the time
//! is in.

use std::fs;

use serde_json::Value;
use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, build, profiled};
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};

const RANKS: u64 = 3;

#[test]
fn windows_and_files_have_rows_with_names() {
    for mpi in Mpi::installed("windows and files") {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let program = scratch.path().join("objects");
        build(mpi, "mpicc", &["output/objects.c"], &[], &program);
        let directory = scratch.path().display().to_string();
        let program = program.to_str().expect("a path");
        let words = ["TOPAS_MPI_COMMS=yes", program, &directory, "3", "0"];
        profiled(mpi, &scratch, RANKS as u32, &words, &places).good();
        let view = |form: &[&str]| {
            let mut command = scratch.command(Site::shared().tool("topasview"));
            run(command.args(["--mpi", "--comms"]).args(form).arg(&places.out)).good().out()
        };
        let text = view(&["--json"]);
        let json: Value = serde_json::from_str(&text).expect("JSON");
        let find = |kind: &str, name: &str| {
            let all = json["communicators"].as_array().expect("a list");
            let is_it = |of: &&Value| of["kind"] == kind && of["name"] == name;
            all.iter().find(is_it).unwrap_or_else(|| panic!("{kind} {name} in {text}")).clone()
        };
        let told = |of: &Value| {
            ["size", "calls", "sends", "sent_bytes", "receives", "received_bytes"]
                .map(|key| of[key].as_u64().unwrap_or_else(|| panic!("{key} in {of}")))
        };
        let n = RANKS;
        // Six fences and three puts of 32 B a rank.
        assert_eq!(told(&find("window", "buckets")), [n, 9 * n, 3 * n, 96 * n, 0, 0], "{text}");
        assert_eq!(told(&find("window", "Win_create")), [n, 2 * n, 0, 0, 0, 0], "{text}");
        // Two rounds of a write of 64 B, a flush, and a read.
        let file = find("file", "restart.bin");
        assert_eq!(told(&file), [n, 6 * n, 2 * n, 128 * n, 2 * n, 128 * n], "{text}");
        let table = view(&[]);
        for shown in ["window buckets", "window Win_create", "file restart.bin", "MPI_COMM_WORLD"] {
            assert!(table.contains(shown), "{shown} in {table}");
        }
        let csv = view(&["--csv"]);
        assert!(
            csv.lines().any(|line| line.starts_with("restart.bin,") && line.ends_with(",file"))
        );
        // A record says it behind all else.
        let data = fs::read_to_string(&places.out).expect("a profile");
        assert!(data.contains(" c=buckets:3:9:") && data.contains(":window"), "{data}");

        // Nearly all of the time is waiting at one window.
        fs::remove_file(&places.out).expect("a profile");
        let words = ["TOPAS_MPI_COMMS=yes", program, &directory, "120", "10000"];
        profiled(mpi, &scratch, RANKS as u32, &words, &places).good();
        let mut why = scratch.command(Site::shared().tool("topasview"));
        let why = run(why.arg("--why").arg(&places.out)).good().out();
        let words = why.split_whitespace().collect::<Vec<_>>().join(" ");
        let told = words.contains("of the time in MPI is in calls on the window buckets");
        assert!(told, "{} {why}", mpi.name());
    }
}
