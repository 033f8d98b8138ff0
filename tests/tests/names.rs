//! Names of executables and users of any bytes come back exactly from the log.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use topas_tests::build::plain;
use topas_tests::mpi_installation::{Mpi, emulate_rank, launched};
use topas_tests::record::Record;
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};

const KEY: &str = "0123456789abcdef-0123456789abcdef";

/// Names that would break a line that is not written with care.
fn names() -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = [
        &b"plain"[..],
        b"two words",
        b" leading and trailing ",
        b"'single' \"double\" `back`",
        b"100%",
        b"%20",
        b"%",
        b"%%41",
        b"line\nbreak",
        b"\n",
        b"tab\tcarriage\rreturn",
        b"-",
        b"--",
        b"-dash",
        b"#1000",
        b"a=b",
        b"v=1",
        b"\\back\\slash",
        b"$HOME;rm *",
        "Gr\u{fc}\u{df}e \u{65e5}\u{672c}\u{8a9e} \u{1f680}".as_bytes(),
        b"\xff\xfe not UTF-8 \x80",
        b"\x01\x1b[31mred\x7f",
    ]
    .map(<[u8]>::to_vec)
    .into();
    // The longest a file system takes, as they are and with bytes that are escaped.
    let mixed = "r\u{e9}sum\u{e9} 100% 'x' ".as_bytes().iter().copied().cycle();
    names.push(vec![b'a'; 255]);
    names.push(vec![0xc3; 255]);
    names.push(mixed.take(255).collect());
    names
}

fn rank(command: &mut Command) {
    command.env("TOPAS_PE", "1,2");
    emulate_rank(command, 1, 4, KEY);
}

/// Runs the program under a name; its line.
#[track_caller]
fn by_name(scratch: &Scratch, name: &[u8]) -> Record {
    let path = scratch.sub("named").join(OsStr::from_bytes(name));
    fs::hard_link(scratch.path().join("program"), &path).expect("name the program");
    let mut command = scratch.command(&path);
    rank(&mut command);
    let ended = run(&mut command).good();
    assert_eq!(ended.err(), "");
    fs::remove_file(&path).expect("remove");
    let mut lines = scratch.take_log();
    assert_eq!(lines.len(), 1, "{}", path.display());
    lines.remove(0)
}

fn site_with_program() -> Scratch {
    let scratch = Scratch::new();
    plain(Site::shared(), "c/empty.c", false, &scratch.path().join("program"));
    scratch
}

#[track_caller]
fn comes_back(got: &[u8], expected: &[u8], line: &Record) {
    let shown = String::from_utf8_lossy(expected);
    assert!(got == expected, "{shown:?} comes back as {:?}", String::from_utf8_lossy(got));
    assert_eq!(line.extra("cut"), "", "{}", line.text);
    assert_eq!(line.id.len(), 16, "no id: {}", line.text);
    assert!(line.text.len() <= 999, "longer than 1,000 bytes with its newline: {}", line.text);
}

#[test]
fn executables() {
    let scratch = site_with_program();
    for name in names() {
        let line = by_name(&scratch, &name);
        comes_back(&line.exe, &name, &line);
    }
}

#[test]
fn users() {
    let scratch = site_with_program();
    for name in names() {
        for variable in ["LOGNAME", "USER"] {
            let mut command = scratch.command(scratch.path().join("program"));
            rank(&mut command);
            command.env_remove("LOGNAME").env(variable, OsStr::from_bytes(&name));
            run(&mut command).good();
            let lines = scratch.take_log();
            assert_eq!(lines.len(), 1, "{variable}={:?}", String::from_utf8_lossy(&name));
            comes_back(&lines[0].user, &name, &lines[0]);
        }
    }
}

/// 255 bytes each of which takes three in the line.
#[test]
fn executables_of_escapes_only() {
    let scratch = site_with_program();
    for byte in *b"% \n" {
        let line = by_name(&scratch, &[byte; 255]);
        comes_back(&line.exe, &[byte; 255], &line);
    }
}

/// Both at their longest: the line stays whole, and says that something was cut if it was.
#[test]
fn the_longest_user_and_executable() {
    let scratch = site_with_program();
    let program = scratch.path().join("program");
    for (byte, fits) in [(b'a', true), (b'%', false)] {
        let name = [byte; 255];
        let path = scratch.path().join(OsStr::from_bytes(&name));
        fs::hard_link(&program, &path).expect("name the program");
        let mut command = scratch.command(&path);
        rank(&mut command);
        run(command.env("LOGNAME", OsStr::from_bytes(&name))).good();
        let lines = scratch.take_log();
        assert_eq!(lines.len(), 1);
        let line = &lines[0];
        assert_eq!(line.extra("cut"), if fits { "" } else { "1" }, "{}", line.text);
        assert_eq!(line.user == name && line.exe == name, fits, "{}", line.text);
        assert!(name.starts_with(&line.user) && name.starts_with(&line.exe), "{}", line.text);
        assert_eq!((line.pe, line.npes, line.id.len()), (1, 4, 16), "{}", line.text);
    }
}

#[test]
fn who_nobody_names() {
    let scratch = site_with_program();
    let program = scratch.path().join("program");
    let own = run(topas_tests::running::command("id").arg("-u")).good().out().trim().to_owned();
    let user = |variables: &[(&str, &str)]| {
        let mut command = scratch.command(&program);
        rank(&mut command);
        command.env_remove("LOGNAME").envs(variables.iter().copied());
        run(&mut command).good();
        let line = scratch.take_log().remove(0);
        assert_eq!(line.extra("uid"), own, "{}", line.text);
        String::from_utf8(line.user).expect("text")
    };
    assert_eq!(user(&[]), format!("#{own}"));
    assert_eq!(user(&[("LOGNAME", "")]), format!("#{own}"));
    assert_eq!(user(&[("LOGNAME", "l"), ("USER", "u")]), "l");
    assert_eq!(user(&[("LOGNAME", ""), ("USER", "u")]), "u", "LOGNAME is set and empty");
}

/// Through the launchers, too.
#[test]
fn under_a_launcher() {
    let site = Site::shared();
    let scratch = Scratch::new();
    let program = scratch.path().join("two words, 100%\nand 'more'");
    plain(site, "c/empty.c", false, &program);
    for mpi in Mpi::installed("under_a_launcher") {
        launched(&scratch, mpi.launch(site, &scratch, 4).arg(&program)).good();
        let lines = scratch.take_log();
        assert_eq!(lines.len(), 2, "{}", mpi.name());
        for line in lines {
            assert_eq!(line.exe, program.file_name().unwrap().as_bytes(), "{}", mpi.name());
        }
    }
}
