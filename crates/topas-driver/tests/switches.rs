//! Off, missing parts, explanations, and the driver under its own name.

mod site;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use site::{DRIVER, Site, path, text};
use topas_testkit::fake_compiler::FakeCompiler;

const LINK: &[&str] = &["a.c", "-o", "a"];

#[test]
fn off_is_untouched() {
    let site = Site::new();
    for value in ["off", "no", "0", "OFF"] {
        let call = site.call(site.command("mpicc").args(LINK).env("TOPAS", value));
        assert_eq!(call.args[1..], *LINK, "TOPAS={value}");
    }
    for value in ["on", "yes", "1", ""] {
        let call = site.call(site.command("mpicc").args(LINK).env("TOPAS", value));
        assert_eq!(call.args[4..], site.module_words("c"), "TOPAS={value}");
    }
    // The option that only we know is not passed on even then: it is answered.
    let output = site
        .command("mpicc")
        .args(LINK)
        .arg("--topas-explain")
        .env("TOPAS", "off")
        .output()
        .unwrap();
    assert!(text(&output.stdout).contains("switched off by TOPAS\n"), "{output:?}");
    assert_eq!(site.fake.take_calls(), []);
}

#[test]
fn the_site_can_switch_linking_off() {
    let site = Site::new();
    site.scratch.configure("link = no\n");
    site.expect("mpicc", LINK, &[]);
    let mine = site.work().join("mine.conf");
    fs::write(&mine, "link = yes\n").unwrap();
    let call = site.call(site.command("mpicc").args(LINK).env("TOPAS_CONF", &mine));
    assert_eq!(call.args[4..], site.module_words("c"));
    // A file that cannot be read means defaults, silently.
    let call = site.call(site.command("mpicc").args(LINK).env("TOPAS_CONF", "/dev/zero"));
    assert_eq!(call.args[4..], site.module_words("c"));
}

#[test]
fn without_a_module_the_link_is_untouched() {
    let site = Site::new();
    let module = site.scratch.module("c");
    let elf = fs::read(&module).unwrap();
    let mut shared = elf.clone();
    shared[16..18].copy_from_slice(&3u16.to_ne_bytes());
    let mut foreign = elf.clone();
    foreign[18..20].copy_from_slice(&4u16.to_ne_bytes());
    let mut narrow = elf.clone();
    narrow[4] = 1;
    for (what, bytes) in [
        ("empty", &[][..]),
        ("cut short", &elf[..19]),
        ("text", b"this is not an object file at all"),
        ("shared library", &shared),
        ("other machine", &foreign),
        ("32 bit", &narrow),
    ] {
        site.scratch.put_module("c", bytes);
        let call = site.call(site.command("mpicc").args(LINK));
        assert_eq!(call.args[1..], *LINK, "{what}");
    }
    fs::remove_file(&module).unwrap();
    site.expect("mpicc", LINK, &[]);
    fs::create_dir(&module).unwrap();
    site.expect("mpicc", LINK, &[]);
    // The other languages do not mind.
    site.expect("mpicxx", LINK, &site.module_words("cxx"));
    fs::remove_dir(&module).unwrap();
    fs::write(&module, &elf).unwrap();
    site.expect("mpicc", LINK, &site.module_words("c"));
}

#[test]
fn an_unreadable_module_is_a_missing_one() {
    let site = Site::new();
    let module = site.scratch.module("c");
    fs::set_permissions(&module, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(&module).is_ok() {
        println!("SKIPPED: this user may read everything");
        return;
    }
    site.expect("mpicc", LINK, &[]);
}

#[test]
fn a_comma_in_the_prefix_goes_through_xlinker() {
    let site = Site::with_prefix("a,b c");
    let module = site.scratch.module("c").into_os_string();
    site.expect("mpicc", LINK, &["-Xlinker".into(), module]);
}

#[test]
fn verbose_tells_why_an_executable_goes_without() {
    let site = Site::new();
    let stderr = |args: &[&str]| {
        let output = site.command("mpicc").args(args).env("TOPAS_VERBOSE", "1").output().unwrap();
        assert!(output.status.success());
        text(&output.stderr)
    };
    let note = stderr(&["a.c", "-lpapi"]);
    assert!(note.starts_with("mpicc: note: linked without the TOPAS module: "), "{note}");
    assert!(note.ends_with("-lpapi\n") && note.lines().count() == 1, "{note}");
    for args in [&["-c", "a.c"][..], &["a.c"], &["--version"], &[], &["-shared", "a.o"]] {
        assert_eq!(stderr(args), "", "{args:?}");
    }
    fs::remove_file(site.scratch.module("c")).unwrap();
    let note = stderr(&["a.c"]);
    assert!(note.contains("lib/topas/topas.c.o: No such file"), "{note}");
}

#[test]
fn a_note_that_cannot_be_written_costs_nothing() {
    let site = Site::new();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = site.command("mpicc");
    command.args(["a.c", "-lpapi"]).env("TOPAS_VERBOSE", "1").stderr(full);
    let call = site.call(&mut command);
    assert_eq!(call.args[1..], ["a.c", "-lpapi"]);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let status = Command::new(DRIVER).arg("--list").stdout(full).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn off_reads_no_file_of_the_site() {
    let site = Site::new();
    let Ok(strace) = Command::new("strace").arg("-V").output() else {
        println!("SKIPPED: no strace to see the files with");
        return;
    };
    assert!(strace.status.success());
    let opened = |value: &str| {
        let trace = site.work().join("trace");
        let mut command = Command::new("strace");
        command
            .args(["-f", "-e", "trace=open,openat,execve", "-o"])
            .arg(&trace)
            .arg(site.scratch.wrappers().join("mpicc"))
            .args(LINK)
            .env("PATH", site.scratch.path_before(&[site.fake.dir(), "/usr/bin".as_ref()]))
            .env("TOPAS", value);
        let output = command.output().unwrap();
        output.status.success().then(|| fs::read_to_string(trace).unwrap())
    };
    let (Some(on), Some(off)) = (opened("on"), opened("off")) else {
        println!("SKIPPED: strace may not trace here");
        return;
    };
    for file in ["topas.conf", "drivers.conf", "topas.c.o"] {
        assert!(on.contains(file), "{file}: {on}");
        assert!(!off.contains(file), "{file}: {off}");
    }
    // The driver itself, then the real program.
    assert_eq!(off.matches("execve(").count(), 2, "{off}");
}

#[test]
fn the_compiler_behind_is_looked_at() {
    let site = Site::new();
    let call = site.call(site.command("mpicc").args(LINK).env("OMPI_CC", "/opt/cuda/bin/nvcc"));
    assert_eq!(call.args[1..], *LINK);
    let call = site.call(site.command("mpicxx").args(LINK).env("OMPI_CC", "nvcc"));
    assert_eq!(call.args[4..], site.module_words("cxx"));
}

#[test]
fn explain_runs_nothing_and_shows_the_command() {
    let site = Site::new();
    let explain = |args: &[&str]| {
        let output = site.command("mpicc").args(args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(text(&output.stderr), "");
        assert_eq!(site.fake.take_calls(), []);
        text(&output.stdout)
    };
    let real = site.fake.dir().join("mpicc");
    let shown = explain(&["a b.c", "--topas-explain", "-DX='1'", "-o", "x"]);
    let command = shown.lines().last().unwrap();
    assert!(shown.contains("\ndecision:      link with the module\n"), "{shown}");
    assert!(shown.contains("topas.c.o (64 B)\n"), "{shown}");
    // The shown command, given to a shell, does what the driver would do.
    let typed = command.strip_prefix("command:").unwrap().trim();
    let status = Command::new("/bin/sh")
        .args(["-c", typed])
        .env("FAKE_COMPILER_LOG", site.fake.log())
        .status()
        .unwrap();
    assert!(status.success());
    let calls = site.fake.take_calls();
    assert_eq!(calls[0].args[0], real);
    assert_eq!(calls[0].args[1..5], ["a b.c", "-DX='1'", "-o", "x"]);
    assert_eq!(calls[0].args[5..], site.module_words("c"));

    let shown = explain(&["-c", "a.c", "--topas-explain"]);
    assert!(shown.contains("no link of an executable: `-c` stops before the link"), "{shown}");
    assert!(shown.ends_with(&format!("command:       {} -c a.c\n", real.display())), "{shown}");
    let shown = explain(&["--topas-explain", "a.c", "-lpapi"]);
    assert!(shown.contains("link without the module: "), "{shown}");
    site.scratch.configure("colour = red\nlink = no\n");
    let shown = explain(&["--topas-explain", "a.c"]);
    assert!(shown.contains("etc/topas/topas.conf:2)"), "{shown}");
    assert!(shown.contains("topas.conf:1: unknown key `colour`"), "{shown}");
}

#[test]
fn launchers_get_an_id_where_they_give_none() {
    let site = Site::new();
    let args = ["-n", "4", "./a.out", "--topas-explain", "-c"];
    let launch = |name: &str, outer: Option<&str>| {
        let mut command = site.command(name);
        command.args(args).env("FAKE_COMPILER_ENV", "TOPAS_LAUNCH_ID KEPT").env("KEPT", "1");
        if let Some(id) = outer {
            command.env("TOPAS_LAUNCH_ID", id);
        }
        let call = site.call(&mut command);
        assert_eq!(call.args[1..], args);
        assert_eq!(call.env["KEPT".as_ref() as &std::ffi::OsStr], "1");
        call.env.get("TOPAS_LAUNCH_ID".as_ref() as &std::ffi::OsStr).cloned()
    };
    let first = launch("mpiexec", None).unwrap();
    assert_eq!(first.len(), 32);
    assert!(first.to_str().unwrap().bytes().all(|b| b.is_ascii_hexdigit()));
    let second = launch("mpirun", Some("outer")).unwrap();
    assert_ne!(first, second);
    assert_ne!(second, "outer");
    // Open MPI's are known by their file, or by what stands beside it.
    FakeCompiler::install(site.fake.dir(), &["ompi_info"]);
    assert_eq!(launch("mpirun", None), None);
    assert_eq!(launch("mpiexec", Some("outer")), None);
}

#[test]
fn a_launch_with_topas_off_is_untouched() {
    let site = Site::new();
    let mut command = site.command("mpiexec");
    command.arg("x").env("TOPAS", "off").env("TOPAS_LAUNCH_ID", "outer");
    let call = site.call(command.env("FAKE_COMPILER_ENV", "TOPAS_LAUNCH_ID"));
    assert_eq!(call.env["TOPAS_LAUNCH_ID".as_ref() as &std::ffi::OsStr], "outer");
}

#[test]
fn launchers_explain_with_the_first_argument_only() {
    let site = Site::new();
    let output =
        site.command("mpiexec").args(["--topas-explain", "-n", "2", "a"]).output().unwrap();
    let shown = text(&output.stdout);
    assert!(shown.contains("launch id:     TOPAS_LAUNCH_ID is set"), "{shown}");
    assert!(shown.ends_with("mpiexec -n 2 a\n"), "{shown}");
    assert_eq!(site.fake.take_calls(), []);
}

#[test]
fn the_driver_answers_under_its_own_name() {
    let run = |args: &[&str]| Command::new(DRIVER).args(args).output().unwrap();
    let list = run(&["--list"]);
    assert!(list.status.success());
    let names = text(&list.stdout);
    assert!(names.lines().any(|line| line == "mpif90.mpich compiler f90"), "{names}");
    assert!(names.lines().any(|line| line == "mpirun launcher"), "{names}");
    assert_eq!(
        text(&run(&["--version"]).stdout),
        concat!("topas-driver ", env!("CARGO_PKG_VERSION"), "\n")
    );
    assert!(text(&run(&["--help"]).stdout).contains("--topas-explain"));
    for wrong in [&[][..], &["--lists"], &["--list", "x"], &["a.c"]] {
        let output = run(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(text(&output.stderr).starts_with("topas-driver: error: "), "{output:?}");
        assert_eq!(text(&output.stdout), "");
    }
}

#[test]
fn outside_an_installation_everything_passes() {
    let site = Site::new();
    let names = site.scratch.beside("no-prefix");
    let link = names.join("mpicc");
    std::os::unix::fs::symlink(DRIVER, &link).unwrap();
    let mut command = Command::new(&link);
    command.args(LINK).env("PATH", path(&[&names, site.fake.dir()]));
    let call = site.call(command.env("FAKE_COMPILER_LOG", site.fake.log()));
    assert_eq!(call.args[1..], *LINK);
    assert_eq!(call.args[0], site.fake.dir().join("mpicc"));
}

#[test]
fn a_deleted_installation_still_compiles() {
    let site = Site::new();
    let driver = site.scratch.beside("moved").join("topas-driver");
    fs::rename(site.scratch.driver(), &driver).unwrap();
    fs::remove_dir_all(site.scratch.prefix()).unwrap();
    let link = site.scratch.beside("moved").join("mpicc");
    std::os::unix::fs::symlink(&driver, &link).unwrap();
    let mut command = Command::new(&link);
    command.args(LINK).env("PATH", path(&[site.fake.dir()]));
    let call = site.call(command.env("FAKE_COMPILER_LOG", site.fake.log()));
    assert_eq!(call.args[1..], *LINK);
}
