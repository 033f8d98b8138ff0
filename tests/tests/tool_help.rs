//! What tools say of themselves: if it cannot be written, they fail, as with any other output.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;

use topas_tests::running::command;
use topas_tests::site::Site;

/// The signal of a writer whose reader has gone.
const SIGPIPE: i32 = 13;

#[test]
fn help_and_version_that_cannot_be_written_are_an_error() {
    let stat = Site::shared().tool("topas-stat");
    let tools = fs::read_dir(stat.parent().expect("a directory")).expect("tools");
    let mut tools: Vec<_> = tools.map(|entry| entry.expect("a tool").path()).collect();
    tools.sort();
    let names: Vec<_> =
        tools.iter().map(|tool| tool.file_name().expect("a name").to_string_lossy()).collect();
    for name in ["topas", "topas-doctor", "topas-log", "topas-mpi", "topas-report", "topas-run"] {
        assert!(names.iter().any(|known| known == name), "no {name}: {names:?}");
    }
    for (tool, name) in tools.iter().zip(&names) {
        for word in ["--help", "--version"] {
            let said = command(tool).arg(word).output().expect("a tool");
            assert!(said.status.success() && !said.stdout.is_empty(), "{name} {word}: {said:?}");
            let full = File::options().write(true).open("/dev/full").expect("/dev/full");
            let ended = command(tool).arg(word).stdout(full).output().expect("a tool");
            let text = String::from_utf8_lossy(&ended.stderr);
            // The code that the manual page of each tool gives for this.
            let code = if name == "topas-doctor" { 4 } else { 1 };
            assert_eq!(ended.status.code(), Some(code), "{name} {word}: {text}");
            let told = ": error: cannot write to standard output";
            assert!(text.starts_with("topas") && text.contains(told), "{name} {word}: {text}");
            // A reader that has seen enough (`| head`) is no error; some tools end by the signal.
            let mut child = command(tool)
                .arg(word)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("a tool");
            drop(child.stdout.take());
            let ended = child.wait_with_output().expect("an end");
            let is_well = ended.status.success() || ended.status.signal() == Some(SIGPIPE);
            assert!(is_well && ended.stderr.is_empty(), "{name} {word}: {ended:?}");
        }
    }
}
