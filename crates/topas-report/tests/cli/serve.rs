//! `topas-report serve` as browsers, proxies and strangers reach it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::chown;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use topas_testkit::WrittenJson;

use super::{Center, Line, log, read, stderr};

/// A server of a center, which ends with this.
pub(crate) struct Server {
    process: Child,
    address: String,
    pub(crate) center: Center,
}

impl Server {
    /// Of the runs of a log, behind a proxy on this machine.
    fn of(text: &str) -> Self {
        Server::with(text, "admin chief\naccount other1 70001\n", |_| Vec::new())
    }

    /// The same with these roles, and options that may need files of the center.
    pub(crate) fn with(
        text: &str,
        roles: &str,
        options: impl FnOnce(&Center) -> Vec<String>,
    ) -> Self {
        let center = Center::new(text);
        let made = center.report(&["ingest", "log", "--index", "index"]);
        assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
        fs::write(center.path("roles"), roles).unwrap();
        let more = options(&center);
        let mut all = vec!["--listen", "127.0.0.1:0", "--proxy", "127.0.0.1"];
        all.extend(more.iter().map(String::as_str));
        let (process, said) = started(&center, &all);
        let address = said.strip_prefix("http://").unwrap_or_else(|| panic!("{said}"));
        Server { process, address: address.trim_end_matches('/').to_owned(), center }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// What the server answers to these bytes, to the end of the connection.
    pub(crate) fn answer(&self, request: &[u8]) -> String {
        answer_of(&self.address, request)
    }

    /// A page as a user gets it; nobody is signed in as an empty name.
    pub(crate) fn get(&self, method: &str, path: &str, user: &str) -> String {
        let user = match user {
            "" => String::new(),
            user => format!("X-Remote-User: {user}\r\n"),
        };
        let head = format!("{method} {path} HTTP/1.1\r\nHost: topas\r\nConnection: close\r\n");
        self.answer(format!("{head}{user}\r\n").as_bytes())
    }
}

/// What a server answers to these bytes, to the end of the connection.
pub(crate) fn answer_of(address: &str, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // The server may close before it has read all.
    let _ = stream.write_all(request);
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A server with these options, and where it serves.
pub(crate) fn started(center: &Center, options: &[&str]) -> (Child, String) {
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
pub(crate) fn end(process: &mut Child) {
    Command::new("kill").arg(process.id().to_string()).status().unwrap();
    let asked = Instant::now();
    while process.try_wait().unwrap().is_none() {
        assert!(asked.elapsed() < Duration::from_secs(20), "SIGTERM does not end the server");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The status of an answer.
pub(crate) fn status(answer: &str) -> &str {
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
        // The proxy's group reaches it, whatever the umask is.
        let about = fs::metadata(center.path("socket")).unwrap();
        assert_eq!(about.permissions().mode() & 0o777, 0o660);
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

/// The page of the first run of a list.
fn first_run(server: &Server, list: &str, user: &str) -> String {
    let list = server.get("GET", list, user);
    let link = list.split("href=\"/run/").nth(1).unwrap_or_else(|| panic!("{list}"));
    server.get("GET", &format!("/run/{}", link.split('"').next().unwrap()), user)
}

#[test]
fn a_run_with_an_mpi_profile_tells_share_and_routines() {
    let profile = |of: &str, share: &str| {
        super::mail::profile(&format!(
            "mpisum={share} mpimax=1800 mpimin=1800 usemax=1800 over=1 thr=1 lang=c \
             f={of}:80:14000:1:80:80:640:80:640:8"
        ))
    };
    let server = Server::of(&(log() + &profile("Allreduce", "14400")));
    let day = "/runs?from=2026-11-17&to=2026-11-17";
    let page = first_run(&server, day, "root");
    assert!(page.contains("50.00% of the time of 8 ranks was spent in MPI"), "{page}");
    assert!(page.contains(">Allreduce</th><td class=\"n\">80</td>"), "{page}");
    assert!(page.contains("1 of 1 routines"), "{page}");
    // Another run of the same user has none.
    let without = first_run(&server, "/runs?from=2026-11-18&to=2026-11-18", "root");
    assert!(without.contains("no MPI profile of this run came into the log"), "{without}");
    // The same line under another name, and one of a stranger in a file of the own.
    let center = &server.center;
    fs::create_dir(center.path("more")).unwrap();
    fs::copy(center.log(), center.path("more/copy.log")).unwrap();
    let forged = profile("Barrier", "28000").replace(" uid=0", "");
    let forged =
        format!("{} len={:03}\n", forged.rsplit_once(" len=").unwrap().0, forged.len() - 1);
    fs::write(center.path("more/forged.log"), forged).unwrap();
    chown(center.path("more/forged.log"), Some(70_001), None).unwrap();
    let made = center.report(&["ingest", "more", "--index", "index"]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    // The head tells the time of the answer.
    let content = |answer: &str| answer.split_once("\r\n\r\n").unwrap().1.to_owned();
    assert_eq!(content(&first_run(&server, day, "root")), content(&page));
}

/// The pages of single runs as Chromium shows them.
#[test]
#[ignore = "cargo xtask test --browser"]
fn a_browser_shows_pages_of_runs_readably() {
    let long = Line { id: "l1", exe: &"long_name_".repeat(24), ..Line::default() }.text();
    let profile = super::mail::profile(
        "mpisum=14400 mpimax=1800 mpimin=1800 usemax=1800 over=1 thr=1 lang=c \
         f=Allreduce:80:14000:1:80:80:640:80:640:8 f=Barrier:8:400:1::::::8",
    );
    let server = Server::of(&(hostile() + &long + &profile));
    let content = |answer: String| answer.split_once("\r\n\r\n").unwrap().1.to_owned();
    let style = format!("<style>{}</style>", content(server.get("GET", "/style.css", "root")));
    let list = server.get("GET", "/runs", "root");
    let links: Vec<&str> =
        list.split("href=\"/run/").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let compare = format!("/compare?a={}&b={}", links[0], links[1]);
    let run = first_run(&server, "/runs?from=2026-11-17&to=2026-11-17&exe=heat", "root");
    assert!(run.contains("Allreduce"), "{run}");
    for (name, page) in [
        ("list", list.clone()),
        ("no runs", server.get("GET", "/runs?text=none-such", "root")),
        ("all runs", server.get("GET", "/runs?all=1", "chief")),
        ("run", run),
        ("run of a long name", first_run(&server, "/runs?text=long_name", "root")),
        ("two runs", server.get("GET", &compare, "root")),
        ("nobody", server.get("GET", "/runs", "")),
    ] {
        let page = content(page);
        for (part, times) in [("<main", 1), ("<h1", 1), ("<nav", 1), ("<html lang=\"en\"", 1)] {
            assert_eq!(page.matches(part).count(), times, "{name}: {part}: {page}");
        }
        let link = "<link rel=\"stylesheet\" href=\"/style.css\">";
        assert!(page.contains(link), "{name}: {page}");
        super::browser::assert_readable(&server.center, name, &page.replace(link, &style));
    }
    let server = with_all_pes();
    let page = content(pages_with_all_pes(&server).remove(0));
    let link = "<link rel=\"stylesheet\" href=\"/style.css\">";
    super::browser::assert_readable(&server.center, "all PEs", &page.replace(link, &style));
}

/// Lines of all ranks of a launch, of which one computes longer.
fn all_pes(id: &str, uid: u32) -> String {
    let run = |seconds| Line { npes: 64, seconds, id, uid: Some(uid), ..Line::default() }.text();
    (0..64)
        .map(|pe| {
            let line = run(if pe == 37 { 900 } else { 300 });
            topas_testkit::with_lengths(&line.replace(" heat 1 64 ", &format!(" heat {pe} 64 ")))
        })
        .collect()
}

/// A server of three runs, of one of which the site has the lines of all ranks.
fn with_all_pes() -> Server {
    let run = |id: &str| Line { npes: 64, id, ..Line::default() }.text();
    let center = Center::new(&(run("p1") + &run("p2") + &run("p3")));
    let made = center.report(&["ingest", "log", "--index", "index"]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    fs::write(center.path("roles"), "admin chief\n").unwrap();
    fs::create_dir_all(center.path("pes/0")).unwrap();
    fs::write(center.path("pes/0/p1.out"), all_pes("p1", 0)).unwrap();
    // Lines of another user's launch with the same id, and a link.
    fs::write(center.path("pes/0/p2.out"), all_pes("p2", 7)).unwrap();
    std::os::unix::fs::symlink(center.path("pes/0/p1.out"), center.path("pes/0/p3.out")).unwrap();
    let pattern = center.path("pes/%u/%i.out");
    let options = ["--listen", "127.0.0.1:0", "--proxy", "127.0.0.1", "--pes"];
    let (process, said) = started(&center, &[&options[..], &[pattern.to_str().unwrap()]].concat());
    let address = said.strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
    Server { process, address, center }
}

/// The pages of the runs whose ranks are all drawn.
fn pages_with_all_pes(server: &Server) -> Vec<String> {
    let list = server.get("GET", "/runs", "root");
    let links = list.split("\"/run/").skip(1).map(|part| part.split(['"', '?']).next().unwrap());
    let pages = links.map(|link| server.get("GET", &format!("/run/{link}"), "root"));
    let all: Vec<String> = pages.inspect(|page| assert_eq!(status(page), "200")).collect();
    assert_eq!(all.len(), 3, "{list}");
    all.into_iter().filter(|page| page.contains("<h2>All PEs</h2>")).collect()
}

#[test]
fn all_ranks_of_a_run_are_drawn_where_the_site_has_their_lines() {
    let pages = pages_with_all_pes(&with_all_pes());
    let [page] = &pages[..] else { panic!("{} pages", pages.len()) };
    for part in ["p1", "<svg", "PE 37", "what all PEs say is below"] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn a_place_of_all_ranks_that_names_no_launch_is_refused() {
    let center = Center::new(&log());
    center.report(&["ingest", "log", "--index", "index"]);
    let output =
        center.report(&["serve", "--index", "index", "--proxy", "unix", "--pes", "/r/topas.out"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("names no file of a launch"), "{}", stderr(&output));
}
