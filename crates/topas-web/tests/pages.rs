//! Pages: who sees what, and what a request can do.

use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use topas_data::{ExportKey, Inputs};
use topas_findings::Rules;
use topas_store::{Index, Ingest, Store};
use topas_testkit::with_lengths;
use topas_web::{Answer, Asked, Listen, Roles, SignIn, Web, serve};

const EVIL: &str = "<script>alert(1)</script>'--";

/// A line of a run that ended so many seconds after the first of October 2026.
fn line(uid: u32, user: &str, exe: &str, at: u64, job: &str, rate: u64) -> String {
    let epoch = 1_790_812_800 + at;
    let (day, second) = (1 + at / 86_400, at % 86_400);
    with_lengths(&format!(
        "2026/10/{day:02} {:02}:{:02}:{:02} {user} {exe} 3 16 t2596 B f90 mpi 8.0 0.5 10.0 f={} 4567 j{at}.{uid} v=1 \
         t={epoch} uid={uid} host=n1 job={job} end=exit:0\n",
        second / 3600,
        second / 60 % 60,
        second % 60,
        rate * 10_000_000
    ))
}

/// A web of a small log: anna has 60 runs, bert one, six others one each, and mallory one with
/// names that are code.
fn web(dir: &Path) -> (Web, Arc<Mutex<Vec<String>>>) {
    let evil: String = EVIL.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let mut text = String::new();
    for run in 0..60 {
        text += &line(1000, "anna", "heat", 1000 * run, &format!("7{run}"), 100 + run);
    }
    text += &line(1001, "bert", "solve", 5000, "80", 900);
    for other in 0..6 {
        text += &line(
            2000 + other,
            &format!("other{other}"),
            "x",
            100 + u64::from(other),
            "9",
            10 + u64::from(other),
        );
    }
    text += &line(1666, &evil, &evil, 6000, &evil, 1);
    // Somebody says to be anna.
    text += &line(1666, "anna", "fake", 7000, "666", 1);
    web_of(dir, &text, 69)
}

/// A web of a log of so many runs.
fn web_of(dir: &Path, text: &str, runs: u64) -> (Web, Arc<Mutex<Vec<String>>>) {
    let log = dir.join("log");
    fs::create_dir_all(&log).unwrap();
    fs::write(log.join("a.log"), text).unwrap();
    let path = dir.join("index");
    let mut index = Index::open(&path).unwrap();
    let inputs = Inputs::new(&[log]);
    let ingested = Ingest::new(&mut index, 100, false).run(&inputs.sources, |_| {}).unwrap();
    assert_eq!(ingested.runs, runs);
    let notes = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&notes);
    let uid_of = |name: &str| match name {
        "anna" => Some(1000),
        "bert" => Some(1001),
        "mallory" => Some(1666),
        _ => None,
    };
    let proxy: IpAddr = "127.0.0.1".parse().unwrap();
    let mut sign_in = SignIn::new("X-Remote-User");
    sign_in.proxies.push(proxy);
    sign_in.key = ExportKey::of(b"0123456789abcdef0123456789abcdef");
    let web = Web {
        all_pes: Box::new(|_| topas_web::AllPes::None),
        sign_in,
        roles: Roles::read("admin root\nsupport carla\nlead lena of anna\n").unwrap(),
        rules: Rules::builtin(),
        open: Box::new(move || Ok(Box::new(Index::read(&path)?) as Box<dyn Store + Send>)),
        monitors: vec!["10.1.1.1".parse().unwrap()],
        encrypted: true,
        note: Box::new(move |what| noted.lock().unwrap().push(what.to_owned())),
        uid_of,
        waiting: Mutex::default(),
    };
    (web, notes)
}

/// What an account gets.
fn get(web: &Web, account: &str, target: &str) -> Answer {
    let asked = Asked {
        peer: Some("127.0.0.1".parse().unwrap()),
        accounts: vec![account.to_owned()],
        ..Asked::new(target).unwrap()
    };
    web.answer(&asked)
}

/// Links to runs on a page.
fn run_links(page: &str) -> Vec<String> {
    let links = page.split("href=\"/run/").skip(1);
    links.map(|rest| format!("/run/{}", rest.split('"').next().unwrap())).collect()
}

/// The record of the MPI profile of the run of [`line`].
fn mpi_record(uid: u32, user: &str, exe: &str, at: u64, job: &str, more: &str) -> String {
    let epoch = 1_790_812_800 + at;
    let (day, second) = (1 + at / 86_400, at % 86_400);
    with_lengths(&format!(
        "2026/10/{day:02} {:02}:{:02}:{:02} topas-mpi {user} {exe} 16 j{at}.{uid} v=1 of=run line=1/1 t={epoch} \
         uid={uid} end=finalize host=n1 job={job} ranks=16 wall=160 wallmax=10 mpisum=16 mpimax=1 mpimin=1 \
         usemax=9 over=0 thr=1 {more}\n",
        second / 3600,
        second / 60 % 60,
        second % 60,
    ))
}

#[test]
fn worlds_of_one_launch_name_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let mut text = String::new();
    let mut add = |uid, user: &str, exe: &str, at, job: &str, more: &str| {
        text += &line(uid, user, exe, at, job, 100);
        text += &mpi_record(uid, user, exe, at, job, more);
    };
    add(1000, "anna", "master", 1000, "7", "launcher=b7");
    add(1000, "anna", "worker", 1001, "7", "spawned=1790813791:0:0:b7");
    // Another launch of the same job, another launch, another user, and a run long before.
    add(1000, "anna", "elsewhere", 1002, "7", "launcher=b9");
    add(1000, "anna", "nothing", 1003, "7", "");
    add(1001, "bert", "foreign", 1004, "7", "launcher=b7");
    add(1000, "anna", "before", 900, "7", "launcher=b7");
    let (web, _) = web_of(dir.path(), &text, 6);
    let runs = run_links(&get(&web, "anna", "/runs").content);
    let page = |exe: &str| {
        let pages = runs.iter().map(|run| get(&web, "anna", run).content);
        let title = format!("Run of {exe}");
        pages.into_iter().find(|page| page.contains(&title)).unwrap_or_else(|| panic!("no {exe}"))
    };
    let told = |page: &str| {
        let part =
            page.split("Runs of the same launch").nth(1).map(|rest| rest.split("<h2>").next());
        part.flatten().unwrap_or_default().to_owned()
    };
    let master = told(&page("master"));
    assert_eq!(run_links(&master).len(), 1, "{master}");
    assert!(master.contains(">worker</a>, 16 PEs, ") && master.contains("by ranks of another run"));
    let worker = page("worker");
    assert!(worker.contains("started by a rank of another world"), "{worker}");
    let worker = told(&worker);
    assert!(
        worker.contains(">master</a>, 16 PEs, ") && worker.contains("by the launcher"),
        "{worker}"
    );
    for other in ["elsewhere", "nothing", "before"] {
        assert_eq!(told(&page(other)), "", "{other}");
    }
}

#[test]
fn users_see_their_own_runs_and_staff_what_the_role_says() {
    let dir = tempfile::tempdir().unwrap();
    let (web, notes) = web(dir.path());
    let first = get(&web, "anna", "/runs");
    assert_eq!((first.status, run_links(&first.content).len()), (200, 50));
    assert!(!first.content.contains("fake") && !first.content.contains("solve"));
    let next =
        first.content.split("href=\"/runs?behind=").nth(1).unwrap().split('"').next().unwrap();
    let second = get(&web, "anna", &format!("/runs?behind={next}"));
    let mut all = run_links(&first.content);
    all.extend(run_links(&second.content));
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 60);
    let annas = &all[0];
    let berts = run_links(&get(&web, "bert", "/runs").content);
    assert_eq!(berts.len(), 1);
    for (account, target, status) in [
        ("anna", annas.as_str(), 200),
        ("bert", annas, 404),
        ("lena", annas, 200),
        ("lena", &berts[0], 404),
        ("carla", &berts[0], 200),
        ("root", annas, 200),
        ("anna", "/runs?user=bert", 404),
        ("anna", "/runs?all=1", 404),
        ("lena", "/runs?all=1", 404),
        ("lena", "/runs?user=anna", 200),
        ("carla", "/runs?all=1", 200),
        ("anna", "/metrics", 403),
        ("root", "/metrics", 200),
        ("anna", &format!("{annas}.json"), 200),
        ("bert", &format!("{annas}.json"), 404),
        ("bert", &format!("{annas}.csv"), 404),
        ("bert", &format!("/compare?a={}&b={}", &berts[0][5..], &annas[5..]), 404),
        ("anna", &format!("/compare?a={}&b={}", &all[1][5..], &annas[5..]), 200),
        ("anna", "/", 303),
    ] {
        assert_eq!(get(&web, account, target).status, status, "{account} {target}");
    }
    let notes = notes.lock().unwrap();
    assert!(
        notes.iter().any(|note| note.starts_with("view by carla (support): run ")),
        "{notes:?}"
    );
    assert!(notes.iter().any(|note| note.contains("view by lena (project lead)")));
    assert!(
        !notes.iter().any(|note| note.contains("by anna") || note.contains("by bert")),
        "{notes:?}"
    );
}

#[test]
fn a_run_is_told_with_what_it_is_compared_with() {
    let dir = tempfile::tempdir().unwrap();
    let (web, _) = web(dir.path());
    let list = get(&web, "anna", "/runs?text=heat&from=2026-10-01&to=2026-10-01");
    let latest = &run_links(&list.content)[0];
    let page = get(&web, "anna", latest).content;
    for part in [
        "heat of anna ran on 16 PEs for 10.00 s and ended normally",
        "earlier runs of heat by anna with 16 PEs",
        "MFlop/s per PE",
        "Not measured: a log line counts no input and output.",
        // Six others with 10 to 15, bert with 900 and mallory with 1.
        "<td class=\"n\">12.50</td>",
        "<td class=\"n\">8</td>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let json = get(&web, "anna", &format!("{latest}.json")).content;
    assert!(
        json.contains("\"schema\": \"topas.run/1\"") && json.contains("\"earlier\": {"),
        "{json}"
    );
    let csv = get(&web, "anna", "/runs.csv?exe=heat").content;
    assert_eq!(csv.lines().count(), 61);
    let metrics = get(&web, "root", "/metrics").content;
    assert!(metrics.contains("topas_runs_total 69\n") && metrics.ends_with("# EOF\n"), "{metrics}");
}

#[test]
fn names_that_are_code_stay_names() {
    let dir = tempfile::tempdir().unwrap();
    let (web, _) = web(dir.path());
    let list = get(&web, "mallory", "/runs").content;
    let links = run_links(&list);
    assert_eq!(links.len(), 2, "{list}");
    let mut pages = vec![list];
    for link in &links {
        pages.push(get(&web, "mallory", link).content);
    }
    pages.push(get(&web, "carla", "/runs?all=1").content);
    pages.push(get(&web, "carla", &format!("/runs?text={}", "%3Cscript%3E%22%27")).content);
    for page in &pages {
        assert!(!page.contains("<script") && !page.contains(EVIL), "{page}");
    }
    assert!(pages.iter().any(|page| page.contains("&lt;script&gt;alert(1)")));
    for text in ["%27%20OR%20%271%27=%271", "x%27;DROP%20TABLE%20runs;--", "%25", "_"] {
        let found = get(&web, "anna", &format!("/runs?text={text}"));
        assert_eq!((found.status, run_links(&found.content).len()), (200, 0), "{text}");
    }
    assert_eq!(run_links(&get(&web, "anna", "/runs").content).len(), 50);
}

#[test]
fn nobody_gets_in_by_a_header_of_the_own() {
    let dir = tempfile::tempdir().unwrap();
    let (web, _) = web(dir.path());
    let mut asked = Asked::new("/runs").unwrap();
    assert_eq!(web.answer(&asked).status, 401);
    asked.accounts = vec!["root".to_owned()];
    asked.peer = Some("192.168.0.7".parse().unwrap());
    assert_eq!(web.answer(&asked).status, 401);
    asked.peer = Some("127.0.0.1".parse().unwrap());
    asked.accounts.push("anna".to_owned());
    assert_eq!(web.answer(&asked).status, 401);
    asked.accounts.clear();
    asked.session = Some("root/9999999999/00".to_owned());
    assert_eq!(web.answer(&asked).status, 401);
    let token = SignIn::token(web.sign_in.key.as_ref().unwrap(), "anna").unwrap();
    let link = Asked::new(&format!("/sign-in?token={token}")).unwrap();
    let signed = web.answer(&link);
    let cookie = &signed.headers.iter().find(|(name, _)| *name == "set-cookie").unwrap().1;
    assert!(cookie.contains("HttpOnly") && cookie.contains("Secure"), "{cookie}");
    asked.session =
        cookie.strip_prefix("topas=").and_then(|rest| rest.split(';').next()).map(str::to_owned);
    assert_eq!(web.answer(&asked).status, 200);
    assert_eq!(web.answer(&link).status, 401);
    for path in
        ["/../etc/passwd", "/run/../../index", "/run/", "/run/1.2", "/runs/", "/style.css/x", "//"]
    {
        assert_eq!(get(&web, "anna", path).status, 404, "{path}");
    }
}

/// Status line and all of an answer.
fn request(address: &str, text: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // A server may answer and close before it has read everything.
    let _ = stream.write_all(text);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn two_hundred_clients_and_requests_that_are_none() {
    let dir = tempfile::tempdir().unwrap();
    let (web, _) = web(dir.path());
    let (ready, place) = mpsc::channel();
    thread::spawn(move || {
        let listen = Listen::Tcp("127.0.0.1:0".parse().unwrap());
        serve(web, &listen, |place| ready.send(place.to_owned()).unwrap()).unwrap();
    });
    let place = place.recv_timeout(Duration::from_secs(30)).unwrap();
    let address = place.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let page = |account: &str, path: &str| {
        format!(
            "GET {path} HTTP/1.1\r\nHost: x\r\nX-Remote-User: {account}\r\nConnection: close\r\n\r\n"
        )
    };
    let answer = request(&address, page("anna", "/runs").as_bytes());
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("content-security-policy: default-src 'none'; style-src 'self'"));
    for (what, status) in [
        ("POST /runs HTTP/1.1\r\nHost: x\r\nX-Remote-User: anna\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_owned(), "405"),
        (page("anna", &format!("/runs?text={}", "x".repeat(5000))), "400"),
        (page("anna", "/runs?text=%zz"), "400"),
        (page("anna\r\nX-Remote-User: root", "/runs"), "401"),
        (page(&"a".repeat(100), "/runs"), "401"),
        (page("anna", "/%2e%2e/%2e%2e/etc/passwd"), "404"),
    ] {
        let answer = request(&address, what.as_bytes());
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{what}: {answer}");
    }
    // Neither is an answer needed, nor does it harm the server.
    request(&address, format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(2 << 20)).as_bytes());
    request(&address, b"\x16\x03\x01\x02\x00\x01\x00nonsense\r\n\r\n");
    let begun = Instant::now();
    let clients: Vec<_> = (0..200)
        .map(|client| {
            let (address, text) =
                (address.clone(), page(["anna", "bert", "carla"][client % 3], "/runs"));
            thread::spawn(move || request(&address, text.as_bytes()))
        })
        .collect();
    for client in clients {
        let answer = client.join().unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("</html>"), "{answer}");
    }
    assert!(begun.elapsed() < Duration::from_secs(60));
}
