//! `topas-report serve` as browsers, proxies and strangers reach it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

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
        std::fs::write(center.path("roles"), "admin chief\naccount other1 70001\n").unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_topas-report"))
            .args(["serve", "--index", "index", "--listen", "127.0.0.1:0"])
            .args(["--proxy", "127.0.0.1", "--roles", "roles", "--access-log", "views"])
            .current_dir(center.path("."))
            .env_clear()
            .env("TOPAS_CONF", center.path("etc/topas.conf"))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        BufReader::new(process.stderr.take().unwrap()).read_line(&mut said).unwrap();
        let address = said.trim().strip_prefix("topas-report: serving at http://");
        let address = address.unwrap_or_else(|| panic!("{said}")).trim_end_matches('/').to_owned();
        Server { process, address, center }
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
    Command::new("kill").arg(server.process.id().to_string()).status().unwrap();
    let ended = Instant::now();
    while server.process.try_wait().unwrap().is_none() {
        assert!(ended.elapsed() < Duration::from_secs(20), "SIGTERM does not end the server");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_store_that_is_none_is_told_at_once() {
    let center = Center::new(&log());
    let bad: [&[u8]; 3] = [b"store = mysql://db/topas\n", b"store = db\n", b"store = \xff://x\n"];
    for text in bad {
        std::fs::write(center.path("etc/topas.conf"), text).unwrap();
        for args in [&["serve", "--proxy", "unix"], &["ingest", "log", "--quiet"]] {
            let output = center.report(&[&args[..], &["--index", "index"]].concat());
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(said.starts_with("topas-report: error: store = in topas.conf names"), "{said}");
        }
    }
}
