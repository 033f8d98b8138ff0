//! The list of fields in the manual page is made from the table of fields.
//!
//! `TOPAS_UPDATE_GOLDEN=1 cargo test -p topas-stat --test manual` writes it anew.

use std::fs;
use std::path::Path;
use std::process::Command;

use topas_data::field::FIELDS;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../doc/topas-stat.1");

/// The fields as `--list-fields` lists them, in the words of the page.
fn fields() -> String {
    let words = |text: &str| text.replace('`', "").replace('-', "\\-");
    let mut text = String::new();
    for field in FIELDS.iter() {
        let also = match field.also {
            "" => String::new(),
            also => format!(" \\fRor\\fP {also}"),
        };
        let (about, kind) = (words(field.about), words(&field.holds()));
        text += &format!(".TP\n.B {}{also}\n{about} ({kind})\n", field.name);
    }
    text + ".TP\n.B extra.KEY\nAny extra as it stands in the line. (text; of a rank, unless the field KEY is of the run)\n"
}

#[test]
fn the_page_lists_the_fields_of_the_table() {
    let page = fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(".SS Fields\n").unwrap();
    let (_, behind) = rest.split_once(".SS Measures\n").unwrap();
    let made = [before, ".SS Fields\n", &fields(), ".SS Measures\n", behind].concat();
    if std::env::var_os("TOPAS_UPDATE_GOLDEN").is_some() {
        fs::write(PAGE, &made).unwrap();
    } else {
        assert!(page == made, "the fields in {PAGE} are not those of the table");
    }
}

/// A log with runs of real launches, and what sacct said of jobs.
const LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/logs/v1/module.log");
const JOBS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/sacct/slurm-22.05.txt");

/// The commands of both sections of examples, without those of gnuplot.
fn examples(page: &str) -> Vec<String> {
    let section = |name: &str| {
        let rest = page.split_once(&format!(".SH {name}\n")).unwrap().1;
        rest.split("\n.SH ").next().unwrap().to_owned()
    };
    let text = section("EXAMPLES") + "\n" + &section("MORE EXAMPLES");
    let plain = |line: &str| line.replace("\\(aq", "'").replace("\\-", "-");
    let lines = text.lines().map(|line| line.strip_prefix(".B ").unwrap_or(line));
    lines.map(plain).filter(|line| line.starts_with("topas-stat ")).collect()
}

/// Every example does what a reader expects of a command: it runs, and complains of nothing.
#[test]
fn every_example_runs() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("topas.log");
    fs::copy(LOG, &log).unwrap();
    fs::copy(JOBS, dir.path().join("sacct.txt")).unwrap();
    let conf = dir.path().join("topas.conf");
    fs::write(&conf, format!("log = file:{}\n", log.display())).unwrap();
    let tools = Path::new(env!("CARGO_BIN_EXE_topas-stat")).parent().unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let examples = examples(&fs::read_to_string(PAGE).unwrap());
    assert!(examples.len() > 24, "{examples:?}");
    for example in examples {
        let command = example.replace("/var/log/topas", "topas.log");
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).current_dir(dir.path());
        let output = shell.env("PATH", &path).env("TOPAS_CONF", &conf).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        // The log has no runs of some of the periods.
        assert!(matches!(code, Some(0 | 3)), "{example}: {code:?}: {error}");
        assert!(!error.contains("error: ") || code == Some(3), "{example}: {error}");
    }
}
