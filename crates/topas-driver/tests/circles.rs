//! Programs that look for the next driver on PATH, and find this one.

mod site;

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output};

use site::{Site, path, text};
use topas_testkit::scratch::place_script;

/// Looks for the next `mpicc` that is not in its own directory, as compiler caches do.
const LOOKS: &str = "#!/bin/bash
own=$(dirname \"$0\")
IFS=: read -ra dirs <<< \"$PATH\"
for dir in \"${dirs[@]}\"; do
    [ \"$dir\" = \"$own\" ] || [ ! -x \"$dir/mpicc\" ] || HOW \"$dir/mpicc\" \"$@\"
done
";

/// A run that is killed should it never end.
fn run(site: &Site, program: &Path, dirs: &[&Path], off: &str) -> Output {
    let mut command = Command::new("/usr/bin/timeout");
    command.arg("30").arg(program).arg("a.c").env("PATH", path(dirs)).env("TOPAS", off);
    command.env("FAKE_COMPILER_LOG", site.fake.log()).env("FAKE_COMPILER_ENV", "TOPAS_PASSED");
    command.output().unwrap()
}

#[test]
fn a_script_that_looks_for_the_next_is_called_once() {
    let site = Site::new();
    let wrappers = site.scratch.wrappers();
    let tools = ["/usr/bin".as_ref(), "/bin".as_ref()] as [&Path; 2];
    let call = "run() { \"$@\"; exit; }\nrun";
    for (how, dir) in [("exec", "becomes"), (call, "calls")] {
        let script = site.scratch.beside(dir);
        let body = LOOKS.replace("HOW", how.rsplit('\n').next().unwrap());
        let function = how.rsplit_once('\n').map_or("", |(function, _)| function);
        let body = body.replacen("own=", &format!("{function}\nown="), 1);
        place_script(&script.join("mpicc"), &body);
        for off in ["on", "off"] {
            for program in [wrappers.join("mpicc"), script.join("mpicc")] {
                let dirs = [&wrappers, &*script, site.fake.dir(), tools[0], tools[1]];
                let output = run(&site, &program, &dirs, off);
                assert!(output.status.success(), "{dir} {off}: {output:?}");
                let calls = site.fake.take_calls();
                assert_eq!(calls.len(), 1, "{dir} {off}: {calls:?}");
                let added: &[_] = if off == "on" { &site.module_words("c") } else { &[] };
                assert_eq!(calls[0].args[2..], *added, "{dir} {off}");
            }
        }
    }
}

#[test]
fn programs_that_only_call_each_other_end_with_a_message() {
    let site = Site::new();
    let wrappers = site.scratch.wrappers();
    for how in ["exec mpicc \"$@\"", "mpicc \"$@\""] {
        let script = site.scratch.beside("again");
        place_script(&script.join("mpicc"), &format!("#!/bin/sh\n{how}\n"));
        for off in ["on", "off"] {
            let dirs = [&wrappers, &*script, "/nonexistent".as_ref()];
            let output = run(&site, &wrappers.join("mpicc"), &dirs, off);
            assert_eq!(output.status.code(), Some(127), "{how} {off}: {output:?}");
            let said = text(&output.stderr);
            assert!(said.starts_with("mpicc: error: no program `mpicc` on PATH"), "{said}");
            assert!(said.contains("/again/mpicc calls `mpicc` by its name again"), "{said}");
            assert_eq!(said.matches("error:").count(), 1, "{said}");
        }
    }
}

#[test]
fn nothing_is_left_in_the_environment_of_an_ordinary_call() {
    let site = Site::new();
    for off in ["on", "off"] {
        let mut command = site.command("mpicc");
        command.arg("a.c").env("TOPAS", off).env("FAKE_COMPILER_ENV", "TOPAS_PASSED");
        assert!(site.call(&mut command).env.is_empty());
    }
    // Where somebody was suspected before, the way goes on.
    let mut command = site.command("mpicc");
    command.arg("a.c").env("TOPAS_PASSED", "1.2").env("FAKE_COMPILER_ENV", "TOPAS_PASSED");
    let call = site.call(&mut command);
    let passed = call.env["TOPAS_PASSED".as_ref() as &OsStr].to_str().unwrap().to_owned();
    assert!(passed.starts_with("1.2 "), "{passed}");
}
