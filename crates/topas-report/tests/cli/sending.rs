//! How mails are sent: to a program, to a server, into a maildir; and never twice.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::thread;

use super::{Center, Line, log, read, stderr};

const SEND: [&str; 8] =
    ["mail", "log", "--period", "2026-W47", "--domain", "center.example", "--state", "sent"];

/// The messages of a maildir.
fn messages(center: &Center) -> Vec<String> {
    let Ok(entries) = fs::read_dir(center.path("box/new")) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

/// Runs of root and of daemon, who are users of every system, and of one who is not.
fn two_users() -> String {
    let daemon = Line { user: "daemon", uid: Some(1), id: "d1", ..Line::default() };
    log() + &daemon.text()
}

#[test]
fn a_maildir_gets_each_mail_once() {
    let center = Center::new(&two_users());
    let send = || {
        let output = center.report(&[&SEND[..], &["--maildir", "box"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stderr(&output)
    };
    let said = send();
    assert!(said.contains("mails of 2026-W47: 2 sent, 4 without an address"), "{said}");
    let both = messages(&center);
    assert_eq!(both.len(), 2);
    for user in ["root", "daemon"] {
        let to = format!("To: {user}@center.example\r\n");
        let mail = both.iter().find(|mail| mail.contains(&to)).expect(user);
        for part in [
            "From: topas@center.example\r\n",
            "Subject: Your programs in 2026-W47: ",
            "Auto-Submitted: auto-generated\r\n",
            "multipart/alternative",
            "Content-Type: text/plain; charset=utf-8",
            "Content-Type: text/html; charset=utf-8",
        ] {
            assert!(mail.contains(part), "{part}: {mail}");
        }
        assert!(mail.is_ascii() && mail.lines().all(|line| line.len() < 999), "as SMTP takes it");
    }
    let said = send();
    assert!(said.contains("0 sent, 2 sent before"), "{said}");
    assert_eq!(messages(&center).len(), 2);
    // The mail of another time is another one.
    let other = [
        "mail",
        "log",
        "--period",
        "2026-11",
        "--domain",
        "d",
        "--state",
        "sent",
        "--maildir",
        "box",
        "-u",
        "root",
    ];
    assert_eq!(center.report(&other).status.code(), Some(0));
    assert_eq!(messages(&center).len(), 3);
}

#[test]
fn what_was_begun_and_not_ended_is_not_sent_again() {
    let center = Center::new(&two_users());
    fs::write(center.path("sent"), "begin 2026-W47 uid:0\nfailed 2026-W47 uid:1\nbegin 2026-W4")
        .unwrap();
    let output = center.report(&[&SEND[..], &["--maildir", "box"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("whether root got the mail of 2026-W47 is not known"));
    let sent = messages(&center);
    assert!(sent.len() == 1 && sent[0].contains("To: daemon@"), "{sent:?}");
    assert!(read(&center.path("sent")).ends_with("begin 2026-W47 uid:1\nsent 2026-W47 uid:1\n"));
}

#[test]
fn a_mail_goes_to_the_user_of_the_id_and_not_to_a_name_in_a_line() {
    let stranger =
        Line { user: "root", uid: Some(70_009), id: "e1", exe: "secret", ..Line::default() };
    let center = Center::new(&(two_users() + &stranger.text()));
    let output = center.report(&[&SEND[..], &["--maildir", "box"]].concat());
    assert!(stderr(&output).contains("2 sent, 5 without an address"), "{}", stderr(&output));
    assert!(messages(&center).iter().all(|mail| !mail.contains("secret")));
}

#[test]
fn who_wants_no_mail_gets_none() {
    let center = Center::new(&two_users());
    fs::create_dir(center.path("etc/mail")).unwrap();
    fs::write(center.path("etc/mail/no-mail"), "# asked for it\nroot  # 2026-11-01\n").unwrap();
    let output = center.report(&[&SEND[..], &["--maildir", "box"]].concat());
    assert!(stderr(&output).contains("1 sent, 1 not wanted"), "{}", stderr(&output));
    assert!(messages(&center).iter().all(|mail| mail.contains("To: daemon@")));
    let short = [&SEND[..], &["--maildir", "box", "--least", "1000"]].concat();
    assert!(stderr(&center.report(&short)).contains("0 sent, 6 of less than --least PE-h"));
}

#[test]
fn a_program_gets_the_message() {
    let center = Center::new(&two_users());
    let program = center.path("sendmail");
    let script = "#!/bin/sh\nprintf '%s\\n' \"$@\" > args\ncat > message\n";
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let option = format!("--sendmail={}", program.display());
    let output = center.report(&[&SEND[..], &[&option, "--user", "root"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(read(&center.path("args")).lines().any(|arg| arg == "root@center.example"));
    assert!(read(&center.path("message")).contains("Subject: Your programs in 2026-W47"));
    // One that fails is told, and the mail is tried again.
    fs::remove_file(center.path("sent")).unwrap();
    fs::write(&program, "#!/bin/sh\ncat > /dev/null\necho no room >&2\nexit 75\n").unwrap();
    let output = center.report(&[&SEND[..], &[&option, "--user", "root"]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("error: cannot send to root@center.example"),
        "{}",
        stderr(&output)
    );
    assert!(read(&center.path("sent")).ends_with("failed 2026-W47 uid:0\n"));
    fs::write(&program, script).unwrap();
    assert_eq!(
        center.report(&[&SEND[..], &[&option, "--user", "root"]].concat()).status.code(),
        Some(0)
    );
}

/// A server that takes so many mails: what it was told, in lines.
fn server(mails: usize, answer: &'static str) -> (u16, thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = thread::spawn(move || {
        let mut told = Vec::new();
        for _ in 0..mails {
            let (stream, _) = listener.accept().unwrap();
            let mut out = stream.try_clone().unwrap();
            let mut say = |text: &str| out.write_all(format!("{text}\r\n").as_bytes()).unwrap();
            say("220 test ESMTP");
            let mut in_data = false;
            for line in BufReader::new(stream).lines() {
                let Ok(line) = line else { break };
                let command = line.to_ascii_uppercase();
                told.push(line);
                match () {
                    () if in_data && command == "." => {
                        in_data = false;
                        say("250 taken");
                    }
                    () if in_data => {}
                    () if command.starts_with("EHLO") => say("250-test\r\n250 8BITMIME"),
                    () if command.starts_with("RCPT") => say(answer),
                    () if command == "DATA" => {
                        in_data = true;
                        say("354 go on");
                    }
                    () if command == "QUIT" => {
                        say("221 bye");
                        break;
                    }
                    () => say("250 ok"),
                }
            }
        }
        told
    });
    (port, served)
}

#[test]
fn a_server_gets_the_message() {
    let center = Center::new(&two_users());
    let (port, served) = server(2, "250 ok");
    let address = format!("127.0.0.1:{port}");
    let output = center.report(&[&SEND[..], &["--smtp", &address]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let told = served.join().unwrap();
    for expected in [
        "MAIL FROM:<topas@center.example>",
        "RCPT TO:<root@center.example>",
        "RCPT TO:<daemon@center.example>",
    ] {
        assert!(told.iter().any(|line| line.starts_with(expected)), "{expected}: {told:#?}");
    }
    assert_eq!(told.iter().filter(|line| line.starts_with("Subject: ")).count(), 2);
}

#[test]
fn a_server_that_refuses_is_told_and_tried_again() {
    let center = Center::new(&log());
    let (port, served) = server(1, "550 no such user");
    let address = format!("127.0.0.1:{port}");
    let output = center.report(&[&SEND[..], &["--smtp", &address, "-u", "root"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("no such user"), "{}", stderr(&output));
    drop(served.join());
    // Nobody listens any more.
    let output = center.report(&[&SEND[..], &["--smtp", &address, "-u", "root"]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cannot send to root@center.example"), "{}", stderr(&output));
    assert!(read(&center.path("sent")).ends_with("failed 2026-W47 uid:0\n"));
}
