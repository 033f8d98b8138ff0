//! What passes through the driver untouched: bytes, streams, exit codes, signals.

mod site;

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use site::{Site, text};
use topas_testkit::scratch::place_script;

#[test]
fn exit_codes_are_the_real_ones() {
    let site = Site::new();
    for code in [0, 1, 2, 42, 126, 127, 255] {
        for args in [["-c", "a.c"], ["a.c", "b.c"]] {
            let status = site
                .command("mpicc")
                .args(args)
                .env("FAKE_COMPILER_EXIT", code.to_string())
                .status()
                .unwrap();
            assert_eq!(status.code(), Some(code));
        }
    }
}

#[test]
fn death_by_signal_is_the_real_one() {
    let site = Site::new();
    for (name, number) in [("TERM", 15), ("KILL", 9), ("INT", 2), ("PIPE", 13)] {
        let status =
            site.command("mpicc").arg("a.c").env("FAKE_COMPILER_SIGNAL", name).status().unwrap();
        assert_eq!(status.signal(), Some(number), "{name}");
    }
}

#[test]
fn standard_streams_are_inherited() {
    let site = Site::new();
    let mut child = site
        .command("mpicc")
        .args(["-x", "c", "-"])
        .env("FAKE_COMPILER_CAT", "1")
        .env("FAKE_COMPILER_STDOUT", "to stdout")
        .env("FAKE_COMPILER_STDERR", "to stderr")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"int main;\0\xff\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"int main;\0\xff\nto stdout");
    assert_eq!(output.stderr, b"to stderr");
}

#[test]
fn arguments_keep_every_byte() {
    let site = Site::new();
    let odd: Vec<OsString> = [
        b"a.c".to_vec(),
        b"\xff\xfe\x01.o".to_vec(),
        b"-DX=\xc3\x28".to_vec(),
        b"new\nline.o".to_vec(),
        b"\x1b[31m".to_vec(),
        b"".to_vec(),
        (1..=255).collect(),
    ]
    .into_iter()
    .map(OsString::from_vec)
    .collect();
    let call = site.call(site.command("mpicc").args(&odd));
    assert_eq!(call.args[1..=odd.len()], odd);
    assert_eq!(call.args[1 + odd.len()..], site.module_words("c"));
}

#[test]
fn many_arguments_pass() {
    let site = Site::new();
    // 100 kB, and 1 MB.
    for count in [5_000, 50_000] {
        let objects: Vec<_> = (0..count).map(|i| format!("dir/object-{i:08}.o")).collect();
        let call = site.call(site.command("mpicc").args(&objects));
        assert_eq!(call.args.len(), 1 + count + 1);
        assert_eq!(call.args[1], "dir/object-00000000.o");
        assert_eq!(call.args.last(), site.module_words("c").last());
    }
}

#[test]
fn one_argument_too_many_costs_the_module_only() {
    let site = Site::new();
    let work = site.work();
    // By names of one length, so that the kernel counts as much for the real program as
    // for the driver: at the limit there is room for the arguments and no more.
    symlink(site.scratch.wrappers(), work.join("w")).unwrap();
    symlink(site.fake.dir(), work.join("r")).unwrap();
    let call = |count: usize| {
        let mut command = Command::new("w/mpicc");
        command.current_dir(&work).env_clear().env("PATH", "w:r");
        command.args(std::iter::repeat_n("x.o", count)).output()
    };
    let (mut fits, mut fails) = (1_000, 1_000_000);
    assert!(call(fails).is_err(), "no limit to the length of a command was found");
    while fails - fits > 1 {
        let middle = (fits + fails) / 2;
        match call(middle) {
            Ok(_) => fits = middle,
            Err(_) => fails = middle,
        }
    }
    let output = call(fits).unwrap();
    assert!(output.status.success(), "{fits} arguments: {}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn signal_dispositions_and_closed_streams_are_inherited() {
    let site = Site::new();
    let bin = site.scratch.beside("scripts");
    place_script(
        &bin.join("mpicc"),
        "#!/bin/sh\ngrep -E '^Sig(Ign|Blk)' /proc/self/status\nls /proc/$$/fd\n",
    );
    let run = |program: &std::path::Path, setup: &str| {
        let output = Command::new("/bin/sh")
            .args(["-c", &format!("{setup}; exec \"$0\" a.c"), program.to_str().unwrap()])
            .env("PATH", site.scratch.path_before(&[&bin, "/usr/bin".as_ref(), "/bin".as_ref()]))
            .output()
            .unwrap();
        text(&output.stdout)
    };
    for setup in ["true", "trap '' PIPE", "trap '' PIPE INT HUP", "exec 0<&-", "exec 0<&- 2>&-"] {
        let bare = run(&bin.join("mpicc"), setup);
        assert!(bare.contains("SigIgn"), "{setup}: {bare}");
        assert_eq!(run(&site.scratch.wrappers().join("mpicc"), setup), bare, "{setup}");
    }
}

#[test]
fn the_environment_stays_as_it_is() {
    let site = Site::new();
    let bin = site.scratch.beside("scripts");
    place_script(&bin.join("mpicc"), "#!/bin/sh\ntr '\\0' '\\n' </proc/$$/environ\n");
    let run = |program: &std::path::Path| {
        let path = site.scratch.path_before(&[&bin, "/usr/bin".as_ref(), "/bin".as_ref()]);
        let mut command = Command::new(program);
        command.env_clear().env("PATH", path).env("Z", "1").env("A", "2").arg("a.c");
        text(&command.output().unwrap().stdout)
    };
    let bare = run(&bin.join("mpicc"));
    assert!(bare.contains("Z=1"), "{bare}");
    assert_eq!(run(&site.scratch.wrappers().join("mpicc")), bare);
}

#[test]
fn a_script_without_a_first_line_runs_in_the_shell() {
    let site = Site::new();
    let bin = site.scratch.beside("scripts");
    place_script(&bin.join("mpicc"), "echo \"shell $1\"\n");
    let path = site.scratch.path_before(&[&bin, "/bin".as_ref()]);
    let output = site.command("mpicc").env("PATH", path).arg("a.c").output().unwrap();
    assert_eq!(text(&output.stdout), "shell a.c\n");
}

#[test]
fn a_pipe_as_response_file_is_not_drained() {
    let site = Site::new();
    let bin = site.scratch.beside("scripts");
    place_script(&bin.join("mpicc"), "#!/bin/sh\ncat \"${2#@}\"\necho \" $#\"\n");
    let path = site.scratch.path_before(&[&bin, "/usr/bin".as_ref(), "/bin".as_ref()]);
    let fifo = site.work().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let writer = {
        let fifo = fifo.clone();
        std::thread::spawn(move || fs::write(fifo, "a.o b.o"))
    };
    let output = site.command("mpicc").env("PATH", path).args(["c.o", "@fifo"]).output().unwrap();
    writer.join().unwrap().unwrap();
    assert_eq!(text(&output.stdout), "a.o b.o 2\n", "{}", text(&output.stderr));
}
