//! Finding the real program, and never oneself.

mod site;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use site::{DRIVER, Site, path, text};
use topas_testkit::fake_compiler::FakeCompiler;
use topas_testkit::scratch::{ScratchSite, place_script};

#[test]
fn our_directory_twice_and_through_links_on_path() {
    let site = Site::new();
    let wrappers = site.scratch.wrappers();
    let link = site.scratch.beside("links").join("wrappers");
    symlink(&wrappers, &link).unwrap();
    let prefix = site.scratch.beside("links").join("prefix");
    symlink(site.scratch.prefix(), &prefix).unwrap();
    let through = prefix.join("libexec/topas/wrappers");
    let doubled = format!("{}//", wrappers.display());
    let dirs = [&wrappers, &wrappers, &link, &through, Path::new(&doubled), site.fake.dir()];
    for program in [&wrappers, &link, &through] {
        let mut command = site.command("mpicc");
        let call = site.call(
            Command::new(program.join("mpicc"))
                .env("PATH", path(&dirs))
                .env("FAKE_COMPILER_LOG", site.fake.log())
                .arg("a.c"),
        );
        assert_eq!(call.args[0], site.fake.dir().join("mpicc"));
        // Whatever way it was called by, the module's path is the same.
        assert_eq!(call.args[2..], site.module_words("c"));
        site.call(command.arg("a.c"));
    }
}

#[test]
fn called_by_its_bare_name() {
    let site = Site::new();
    let call = site.call(
        Command::new("/bin/sh")
            .args(["-c", "mpicc a.c"])
            .env("PATH", site.scratch.path_before(&[site.fake.dir()]))
            .env("FAKE_COMPILER_LOG", site.fake.log()),
    );
    assert_eq!(call.args[0], site.fake.dir().join("mpicc"));
    assert_eq!(call.args[2..], site.module_words("c"));
}

#[test]
fn what_is_no_program_is_passed_over() {
    let site = Site::new();
    let dirs = ["directory", "not-executable", "dangling"].map(|name| site.scratch.beside(name));
    fs::create_dir(dirs[0].join("mpicc")).unwrap();
    fs::write(dirs[1].join("mpicc"), "text").unwrap();
    symlink("/nonexistent/mpicc", dirs[2].join("mpicc")).unwrap();
    let absent = Path::new("/nonexistent/bin");
    let [a, b, c] = &dirs;
    let dirs = site.scratch.path_before(&[a, b, c, absent, site.fake.dir()]);
    let call = site.call(site.command("mpicc").env("PATH", dirs).arg("a.c"));
    assert_eq!(call.args[0], site.fake.dir().join("mpicc"));
}

#[test]
fn an_empty_entry_of_path_is_the_current_directory() {
    let site = Site::new();
    let here = FakeCompiler::install(&site.work(), &["mpicc"]);
    for dirs in [":", "::", ".", "/nonexistent:"] {
        let mut dirs = std::ffi::OsString::from(dirs);
        dirs.push(":");
        dirs.push(site.scratch.wrappers());
        let mut command = site.command("mpicc");
        command.env("PATH", &dirs).env("FAKE_COMPILER_LOG", here.log()).arg("a.c");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{dirs:?}: {}", text(&output.stderr));
        let calls = here.take_calls();
        assert_eq!(calls[0].args[0], "./mpicc", "{dirs:?}");
    }
}

#[test]
fn nothing_behind_us_is_127_with_a_hint() {
    let site = Site::new();
    for value in [site.scratch.path_before(&[]), "".into(), "/nonexistent".into()] {
        for off in ["on", "off"] {
            let mut command = site.command("mpif90");
            let output = command.env("PATH", &value).env("TOPAS", off).arg("a.f").output().unwrap();
            assert_eq!(output.status.code(), Some(127));
            let message = text(&output.stderr);
            assert!(message.starts_with("mpif90: error: no program `mpif90` on PATH"), "{message}");
            assert!(message.contains("\nhint: "), "{message}");
            assert_eq!(text(&output.stdout), "");
        }
    }
}

#[test]
fn a_program_that_cannot_run_is_126_with_its_cause() {
    let site = Site::new();
    let bin = site.scratch.beside("broken");
    place_script(&bin.join("mpicc"), "#!/nonexistent/interpreter\n");
    let mut command = site.command("mpicc");
    let output = command.env("PATH", path(&[&bin])).arg("a.c").output().unwrap();
    assert_eq!(output.status.code(), Some(126));
    let message = text(&output.stderr);
    let expected = format!("mpicc: error: cannot run {}/mpicc\ncause: ", bin.display());
    assert!(message.starts_with(&expected), "{message}");
    assert!(message.contains("\nhint: "), "{message}");
}

#[test]
fn two_installations_on_one_path_do_not_call_each_other() {
    let site = Site::new();
    let other = ScratchSite::new(Path::new(DRIVER));
    let (a, b) = (site.scratch.wrappers(), other.wrappers());
    for dirs in [[&a, &b], [&b, &a]] {
        let mut command = site.command("mpicc");
        let call =
            site.call(command.env("PATH", path(&[dirs[0], dirs[1], site.fake.dir()])).arg("a.c"));
        assert_eq!(call.args[0], site.fake.dir().join("mpicc"));
        assert_eq!(call.args[2..], site.module_words("c"));
    }
}

#[test]
fn plain_copies_of_other_versions_are_known_for_drivers() {
    let site = Site::new();
    // Different in length and inode, and no links that would tell. Written by another
    // process, see `place_program`.
    let copies = ["one", "two"].map(|version| {
        let dir = site.scratch.beside(version);
        let status = Command::new("/bin/sh")
            .args(["-c", "cp \"$0\" \"$1\" && echo \"$2\" >> \"$1\"", DRIVER])
            .args([dir.join("mpicc").as_os_str(), version.as_ref()])
            .status();
        assert!(status.unwrap().success());
        dir
    });
    // Two that took each other for real would never end.
    let run = |dirs: &[&Path]| {
        Command::new("/usr/bin/timeout")
            .args(["20".as_ref(), copies[0].join("mpicc").as_os_str(), "a.c".as_ref()])
            .env("PATH", path(dirs))
            .env("FAKE_COMPILER_LOG", site.fake.log())
            .output()
            .unwrap()
    };
    let call = site.checked(&run(&[&copies[0], &copies[1], site.fake.dir()]));
    assert_eq!(call.args, [site.fake.dir().join("mpicc").into_os_string(), "a.c".into()]);
    let output = run(&[&copies[0], &copies[1]]);
    assert_eq!(output.status.code(), Some(127), "{output:?}");
}

#[test]
fn a_real_driver_that_calls_another_by_path_links_one_module() {
    let site = Site::new();
    let bin = site.scratch.beside("scripts");
    place_script(&bin.join("mpif77"), "#!/bin/sh\nexec mpifort \"$@\"\n");
    let dirs = site.scratch.path_before(&[&bin, site.fake.dir(), "/bin".as_ref()]);
    let call = site.call(site.command("mpif77").env("PATH", dirs).args(["a.f", "-o", "a"]));
    assert_eq!(call.args[0], site.fake.dir().join("mpifort"));
    assert_eq!(call.args[1..4], ["a.f", "-o", "a"]);
    assert_eq!(call.args[4..], site.module_words("f77"));
}

#[test]
fn a_name_that_is_not_in_the_data_passes_through() {
    let site = Site::new();
    site.scratch.add_wrapper("oddcc");
    let fake = FakeCompiler::install(site.fake.dir(), &["oddcc"]);
    site.expect("oddcc", &["a.c", "-o", "a"], &[]);
    // One line of data makes it a driver.
    fs::write(site.scratch.drivers_conf(), "oddcc compiler cxx\n").unwrap();
    site.expect("oddcc", &["a.c", "-o", "a"], &site.module_words("cxx"));
    // Without the file, what was built in holds.
    fs::remove_file(site.scratch.drivers_conf()).unwrap();
    site.expect("mpicc", &["a.c", "-o", "a"], &site.module_words("c"));
    assert_eq!(fake.take_calls(), []);
}
