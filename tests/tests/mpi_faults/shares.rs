//! Shares of ranks that wait for processors: none is negative or more than the whole.

use topas_tests::mpi_installation::Mpi;
use topas_tests::profile::{Places, build, profiled};
use topas_tests::running::{command, have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

#[test]
fn efficiencies_of_four_ranks_on_one_processor() {
    let test = "four ranks on one processor";
    if !have("taskset") {
        return skip(test, "no taskset on this machine");
    }
    for mpi in Mpi::installed(test) {
        let scratch = Scratch::new();
        let program = scratch.path().join("diffuse");
        build(mpi, "mpicc", &["grindstone/diffuse_procedure.c"], &["-O1"], &program);
        let places = Places::new(&scratch);
        let words = ["taskset", "-c", "0", program.to_str().expect("path"), "40", "2"];
        profiled(mpi, &scratch, 4, &words, &places).good();
        let view = |format: &[&str]| {
            let mut view = command(Site::shared().tool("topasview"));
            run(view.args(["--mpi", "--efficiency"]).args(format).arg(&places.out)).good().out()
        };
        let json = view(&["--json"]);
        let value = |name: &str| {
            let label = format!("\"{name}\": ");
            let line = json.lines().find_map(|line| line.trim().strip_prefix(&label));
            let number = line.and_then(|value| value.trim_end_matches(',').parse::<f64>().ok());
            number.unwrap_or_else(|| panic!("no {name} in {json}"))
        };
        let names = ["parallel_efficiency", "load_balance", "communication_efficiency"];
        let [parallel, balance, communication] = names.map(value);
        for share in [parallel, balance, communication] {
            assert!((0.0..=1.0).contains(&share), "{share} under {}: {json}", mpi.name());
        }
        assert!((parallel - balance * communication).abs() < 1e-6, "{json}");
        // That they are too few is said where the node has fewer.
        let said = view(&[]).contains("they waited for processors");
        assert_eq!(said, value("processors") < 4.0, "under {}: {json}", mpi.name());
    }
}
