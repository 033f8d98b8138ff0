//! `topas-report serve` as browsers, proxies and strangers reach it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use topas_testkit::WrittenJson;

use super::{Center, Line, log, read, stderr};

/// A server of a center, which ends with this.
struct Server {
    process: Child,
    address: String,
    center: Center,
}

impl Server {
    /// Of the runs of a log, behind a proxy on this machine.
    fn of(text: &str) -> Self {
        let center = Center::new(text);
        let made = center.report(&["ingest", "log", "--index", "index"]);
        assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
        fs::write(center.path("roles"), "admin chief\naccount other1 70001\n").unwrap();
        let (process, said) =
            started(&center, &["--listen", "127.0.0.1:0", "--proxy", "127.0.0.1"]);
        let address = said.strip_prefix("http://").unwrap_or_else(|| panic!("{said}"));
        Server { process, address: address.trim_end_matches('/').to_owned(), center }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// What the server answers to these bytes, to the end of the connection.
    fn answer(&self, request: &[u8]) -> String {
        let mut stream = self.connect();
        // The server may close before it has read all.
        let _ = stream.write_all(request);
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    /// A page as a user gets it; nobody is signed in as an empty name.
    fn get(&self, method: &str, path: &str, user: &str) -> String {
        let user = match user {
            "" => String::new(),
            user => format!("X-Remote-User: {user}\r\n"),
        };
        let head = format!("{method} {path} HTTP/1.1\r\nHost: topas\r\nConnection: close\r\n");
        self.answer(format!("{head}{user}\r\n").as_bytes())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A server with these options, and where it serves.
fn started(center: &Center, options: &[&str]) -> (Child, String) {
    let mut process = Command::new(env!("CARGO_BIN_EXE_topas-report"))
        .args(["serve", "--index", "index", "--roles", "roles", "--access-log", "views"])
        .args(options)
        .current_dir(center.path("."))
        .env_clear()
        .env("TOPAS_CONF", center.path("etc/topas.conf"))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(process.stderr.take().unwrap()).read_line(&mut said).unwrap();
    let place = said.trim().strip_prefix("topas-report: serving at ");
    let place = place.unwrap_or_else(|| panic!("{said}")).to_owned();
    (process, place)
}

/// Ends a server as an administrator does.
fn end(process: &mut Child) {
    Command::new("kill").arg(process.id().to_string()).status().unwrap();
    let asked = Instant::now();
    while process.try_wait().unwrap().is_none() {
        assert!(asked.elapsed() < Duration::from_secs(20), "SIGTERM does not end the server");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The status of an answer.
fn status(answer: &str) -> &str {
    answer.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).unwrap_or(answer)
}

fn hostile() -> String {
    log() + &Line { id: "h1", exe: "<script>alert(1)</script>", ..Line::default() }.text()
}

#[test]
fn everybody_gets_the_own_runs_and_no_others() {
    let server = Server::of(&hostile());
    for path in ["/runs", "/runs.json", "/runs.csv"] {
        assert_eq!(status(&server.get("GET", path, "")), "401", "{path}");
        let own = server.get("GET", path, "root");
        assert_eq!(status(&own), "200", "{own}");
        assert!(own.contains("heat") && own.contains("post"), "{own}");
        let other = server.get("GET", path, "other1");
        assert_eq!(status(&other), "200", "{other}");
        assert!(other.contains("heat") && !other.contains("post"), "{other}");
    }
    let list = server.get("GET", "/runs.json", "root");
    let mut written = WrittenJson::default();
    written.add(list.split_once("\r\n\r\n").expect("a body").1);
    written.hold_against_manual("topas-report", &[]);
    let page = server.get("GET", "/runs", "root");
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;"), "{page}");
    for header in ["content-security-policy: default-src 'none'", "x-content-type-options: nosniff"]
    {
        assert!(page.contains(header), "{header}: {page}");
    }
    // A run of root's is a page for root, and for others as if there were none.
    let run = page.split("/run/").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let path = format!("/run/{run}");
    assert_eq!(status(&server.get("GET", &path, "root")), "200");
    assert_eq!(status(&server.get("GET", &path, "other1")), "404");
    assert_eq!(status(&server.get("GET", "/run/0.0", "root")), "404");
    // Staff sees the run, and that is noted.
    assert_eq!(status(&server.get("GET", &path, "chief")), "200");
    let views = read(&server.center.path("views"));
    assert!(views.contains(" view by chief (administrator): run "), "{views}");
    assert_eq!(views.lines().count(), 1, "{views}");
}

#[test]
fn what_is_no_request_is_refused() {
    let server = Server::of(&log());
    let head = server.get("HEAD", "/runs", "root");
    assert_eq!(status(&head), "200");
    assert!(head.ends_with("\r\n\r\n"), "no content: {head}");
    assert_eq!(status(&server.get("POST", "/runs", "root")), "405");
    assert_eq!(status(&server.get("GET", "/nothing", "root")), "404");
    assert_eq!(status(&server.get("GET", "/runs?user=%zz&&==", "root")).len(), 3);
    let long = server.get("GET", &format!("/{}", "a".repeat(1 << 20)), "root");
    assert!(["", "414", "431"].contains(&status(&long)), "{long}");
    assert!(!server.answer(b"\x16\x03\x01\x02\x00 nonsense\r\n\r\n").contains("200 OK"));
    // The server is there all the same.
    assert_eq!(status(&server.get("GET", "/runs", "root")), "200");
}

#[test]
fn silent_clients_hold_up_nobody_and_are_sent_away() {
    let mut server = Server::of(&log());
    let silent: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(b"GET /runs HTTP/1.1\r\nHost: to").unwrap();
            stream
        })
        .collect();
    let asked = Instant::now();
    assert_eq!(status(&server.get("GET", "/runs", "root")), "200");
    assert!(asked.elapsed() < Duration::from_secs(8), "{:?}", asked.elapsed());
    for mut stream in silent {
        let mut rest = Vec::new();
        // An end or a reset; a client that is still heard would time out.
        if let Err(error) = stream.read_to_end(&mut rest) {
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}");
        }
    }
    end(&mut server.process);
}

/// The time is for the whole head: a byte now and then does not make it longer.
#[test]
fn a_client_that_sends_a_byte_at_a_time_is_sent_away() {
    let server = Server::of(&log());
    let mut stream = server.connect();
    let begun = Instant::now();
    while stream.write_all(b"G").is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(40), "the client is still heard");
        thread::sleep(Duration::from_millis(300));
    }
    assert!(begun.elapsed() > Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn a_socket_that_an_ended_server_left_is_used_again() {
    let center = Center::new(&log());
    assert!(center.report(&["ingest", "log", "--index", "index"]).status.success());
    fs::write(center.path("roles"), "admin chief\n").unwrap();
    let options = ["--listen", "./socket", "--proxy", "unix"];
    for _ in 0..2 {
        let (mut process, place) = started(&center, &options);
        assert_eq!(place, "./socket");
        let mut stream = UnixStream::connect(center.path("socket")).unwrap();
        stream.write_all(b"GET /runs HTTP/1.0\r\nX-Remote-User: root\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains(" 200 ") && answer.contains("heat"), "{answer}");
        // A second server leaves the first one its socket.
        let refused = center.report(&[&["serve", "--index", "index"][..], &options].concat());
        assert_eq!(refused.status.code(), Some(1), "{}", stderr(&refused));
        assert!(UnixStream::connect(center.path("socket")).is_ok());
        end(&mut process);
    }
    // Another file is not a socket that was left.
    fs::remove_file(center.path("socket")).unwrap();
    fs::write(center.path("socket"), "mine").unwrap();
    let refused = center.report(&[&["serve", "--index", "index"][..], &options].concat());
    assert_eq!(refused.status.code(), Some(1), "{}", stderr(&refused));
    assert_eq!(read(&center.path("socket")), "mine");
}

#[test]
fn a_store_that_is_none_is_told_at_once() {
    let center = Center::new(&log());
    let bad: [&[u8]; 3] = [b"store = mysql://db/topas\n", b"store = db\n", b"store = \xff://x\n"];
    for text in bad {
        fs::write(center.path("etc/topas.conf"), text).unwrap();
        for args in [&["serve", "--proxy", "unix"], &["ingest", "log", "--quiet"]] {
            let output = center.report(&[&args[..], &["--index", "index"]].concat());
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(said.starts_with("topas-report: error: store = in topas.conf names"), "{said}");
        }
    }
}
