//! Who gets what from `topas-report serve`: users, project leads, support and administrators, and
//! what somebody could try who wants more.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::thread;
use std::time::Instant;

use topas_data::{ExportKey, clock};

use super::serve::{Server, end, started, status};
use super::{Center, Line, log, read, stderr};

/// Roles; what is no role is a user.
const ROLES: &str = "admin chief\nsupport carla\nlead lena of other1 other2\n\
                     account other1 70001\naccount other2 70002\naccount other3 70003\n\
                     account lena 70010\naccount carla 70011\naccount chief 70012\n";

/// Names that are code, as lines have them.
const CODE: [&str; 3] =
    ["<script>alert(1)</script>", "'%20OR%20'1'='1", "x';DROP%20TABLE%20runs;--"];

/// A log with hostile names of programs, users and jobs.
fn hostile() -> String {
    let mut text = log();
    for (number, code) in CODE.iter().enumerate() {
        let id = format!("h{number}");
        text +=
            &Line { id: &id, exe: code, user: code, uid: Some(70_666), ..Line::default() }.text();
    }
    text
}

/// A server with all roles behind a proxy, with links, and its key.
fn server() -> (Server, ExportKey) {
    let server = Server::with(&hostile(), ROLES, |center| {
        let key = center.path("key");
        ExportKey::make(&key).unwrap();
        vec!["--key".to_owned(), key.display().to_string(), "--monitor=10.1.1.1".to_owned()]
    });
    let key = ExportKey::read(&server.center.path("key")).unwrap();
    fs::write(server.center.path("views"), "").unwrap();
    (server, key)
}

/// The runs that a list in JSON names, with their users.
fn runs(server: &Server, target: &str, account: &str) -> BTreeMap<String, String> {
    let answer = server.get("GET", target, account);
    assert_eq!(status(&answer), "200", "{target} for {account}: {answer}");
    let content = answer.split_once("\r\n\r\n").unwrap().1;
    let list: serde_json::Value = serde_json::from_str(content).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let all = list["runs"].as_array().unwrap();
    all.iter().map(|run| (text(&run["run"]), text(&run["user"]))).collect()
}

/// Every account, every page of one run, and the list of its user: the status, and what is noted.
#[test]
fn each_role_sees_what_it_may_and_staff_is_noted() {
    let (server, _) = server();
    let run_of = |account: &str| runs(&server, "/runs.json", account).into_keys().next().unwrap();
    let (one, three) = (run_of("other1"), run_of("other3"));
    let two = run_of("other2");
    let views = || read(&server.center.path("views"));
    let mut noted = BTreeSet::new();
    for (account, role, projects, all, metrics) in [
        ("other1", "", [true, false], false, "403"),
        ("other3", "", [false, true], false, "403"),
        ("root", "", [false, false], false, "403"),
        ("stranger", "", [false, false], false, "403"),
        ("lena", "project lead", [true, false], false, "403"),
        ("carla", "support", [true, true], true, "403"),
        ("chief", "administrator", [true, true], true, "200"),
    ] {
        for ((run, user), may) in [(&one, "other1"), (&three, "other3")].into_iter().zip(projects) {
            let expected = if may { "200" } else { "404" };
            for target in [
                format!("/run/{run}"),
                format!("/run/{run}.json"),
                format!("/run/{run}.csv"),
                format!("/compare?a={run}&b={run}"),
                format!("/runs?user={user}"),
                format!("/runs.json?user={user}"),
                format!("/runs.csv?user={user}"),
            ] {
                let before = views().lines().count();
                let answer = server.get("GET", &target, account);
                assert_eq!(status(&answer), expected, "{target} for {account}");
                assert!(may || !answer.contains("heat"), "{target} for {account}: {answer}");
                // Whoever looks at the runs of others stands in the access log, each time.
                let new: Vec<String> = views().lines().skip(before).map(str::to_owned).collect();
                let is_view = may && account != user;
                assert_eq!(!new.is_empty(), is_view, "{target} for {account}: {new:?}");
                for line in new {
                    let by = format!(" view by {account} ({role}): ");
                    assert!(line.contains(&by), "{line}");
                    noted.insert(account);
                }
            }
        }
        let everything = if all { "200" } else { "404" };
        for target in ["/runs?all=1", "/runs.json?all=1", "/runs.csv?all=1"] {
            assert_eq!(status(&server.get("GET", target, account)), everything, "{account}");
        }
        assert_eq!(status(&server.get("GET", "/metrics", account)), metrics, "{account}");
    }
    assert_eq!(noted, BTreeSet::from(["carla", "chief", "lena"]));
    // A run of the own project beside one that is not: nothing of both is told.
    let both = format!("/compare?a={two}&b={three}");
    assert_eq!(status(&server.get("GET", &both, "lena")), "404");
    assert_eq!(status(&server.get("GET", &format!("/compare?a={one}&b={two}"), "lena")), "200");
    let users: BTreeSet<String> =
        runs(&server, "/runs.json?all=1", "carla").into_values().collect();
    assert!(users.contains("root") && users.contains("other4"), "{users:?}");
    assert_eq!(status(&server.get("GET", "/metrics", "")), "403", "no monitor of this address");
}

/// An id of another user's run, or one that is nobody's, or a name of another account: the same
/// answer, so that it does not even tell which of them there are.
#[test]
fn what_is_not_the_own_looks_like_what_is_not_there() {
    let (server, _) = server();
    let others = runs(&server, "/runs.json", "root").into_keys().next().unwrap();
    let own = runs(&server, "/runs.json", "other1").into_keys().next().unwrap();
    let content = |answer: String| {
        assert_eq!(status(&answer), "404", "{answer}");
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    };
    let missing = content(server.get("GET", "/run/0000000000000000.0000000000000000", "other1"));
    assert_eq!(content(server.get("GET", &format!("/run/{others}"), "other1")), missing);
    assert_eq!(content(server.get("GET", "/runs?user=root", "other1")), missing);
    assert_eq!(content(server.get("GET", "/runs?user=no-such-user", "other1")), missing);
    // Each digit of the own id changed.
    for at in (0..own.len()).filter(|at| own.as_bytes()[*at] != b'.') {
        let mut changed = own.clone().into_bytes();
        changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
        let changed = String::from_utf8(changed).unwrap();
        assert_eq!(content(server.get("GET", &format!("/run/{changed}"), "other1")), missing);
    }
    for path in [
        "/run/../../etc/passwd",
        "/run/..%2f..%2fetc%2fpasswd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/run//",
        "/run/%00",
        "/run/.json",
        "/style.css/../key",
        "/key",
        "/index",
        "/views",
        "/sign-in/",
    ] {
        let answer = server.get("GET", path, "other1");
        assert_eq!(content(answer), missing, "{path}");
    }
    // A request as a proxy sends it, and the path of a file in place of a page.
    assert_eq!(status(&server.get("GET", "http://elsewhere/runs", "other1")), "200");
    let position =
        server.get("GET", "/runs?behind=9223372036854775807.9223372036854775807", "root");
    assert_eq!(status(&position), "200");
    for behind in ["0.0", "x.y", "-1", "99999999999999999999.0", "1.1'--"] {
        let answer = server.get("GET", &format!("/runs?behind={behind}"), "root");
        assert_eq!(status(&answer), "200", "{behind}");
    }
}

#[test]
fn a_forged_header_is_no_account() {
    let (server, _) = server();
    let with = |headers: &str| {
        let request =
            format!("GET /runs HTTP/1.1\r\nHost: topas\r\nConnection: close\r\n{headers}\r\n");
        server.answer(request.as_bytes())
    };
    assert_eq!(status(&with("x-remote-user: root\r\n")), "200");
    for headers in [
        "X-Remote-User: root\r\nX-Remote-User: chief\r\n",
        "X-Remote-User: root, chief\r\n",
        "X-Remote-User: root\tchief\r\n",
        "X-Remote-User: \r\n",
        "X-Remote-User: ../root\r\n",
        "X-Remote-User: ro\u{f6}t\r\n",
        "X_Remote_User: root\r\n",
        "X-Remote-User : root\r\n",
        "Remote-User: root\r\n",
        "X-Forwarded-User: root\r\nX-Forwarded-For: 127.0.0.1\r\n",
        "Authorization: Basic cm9vdDo=\r\n",
        "Cookie: topas=root/99999999999/00\r\n",
        "Cookie: topas=root\r\n",
    ] {
        let answer = with(headers);
        assert!(["400", "401"].contains(&status(&answer)), "{headers:?}: {answer}");
        assert!(!answer.contains("heat"), "{headers:?}");
    }
    let long = format!("X-Remote-User: {}\r\n", "r".repeat(65));
    assert_eq!(status(&with(&long)), "401");
    // The header of a peer that is no proxy, whatever else it says.
    let options = ["--listen", "127.0.0.1:0", "--proxy", "10.9.9.9"];
    let (mut process, place) = started(&server.center, &options);
    let address = place.strip_prefix("http://").unwrap().trim_end_matches('/');
    let direct = "GET /runs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Remote-User: root\r\n\
                  X-Forwarded-For: 10.9.9.9\r\nX-Real-IP: 10.9.9.9\r\n\r\n";
    let answer = super::serve::answer_of(address, direct.as_bytes());
    assert_eq!(status(&answer), "401", "{answer}");
    end(&mut process);
}

#[test]
fn a_link_signs_in_once_and_a_forged_or_old_one_never() {
    let (server, key) = server();
    let printed = server.center.report(&["link", "other1", "--key", "key", "--url", "https://t"]);
    assert_eq!(printed.status.code(), Some(0), "{}", stderr(&printed));
    let link = String::from_utf8(printed.stdout).unwrap();
    let target = link.trim().strip_prefix("https://t").unwrap().to_owned();
    let token = target.strip_prefix("/sign-in?token=").unwrap();
    let refused = |target: &str| {
        let answer = server.get("GET", target, "");
        assert_eq!(status(&answer), "401", "{target}: {answer}");
        assert!(!answer.contains("set-cookie"), "{answer}");
    };
    // Another account, another time, another signature.
    for forged in [
        token.replace("other1", "chief"),
        token.replacen('/', "/1", 1),
        format!("{token}0"),
        token[..token.len() - 1].to_owned(),
        token.rsplit_once('/').unwrap().0.to_owned(),
        String::new(),
    ] {
        refused(&format!("/sign-in?token={forged}"));
    }
    let signed = server.get("GET", &target, "");
    assert_eq!(status(&signed), "303", "{signed}");
    let cookie = signed.split("set-cookie: ").nth(1).unwrap().lines().next().unwrap();
    for part in ["HttpOnly", "SameSite=Lax", "Secure", "Max-Age=43200"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    refused(&target);
    // What the key of the site has signed, but too long ago, or for the future.
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let signed = |purpose: &str, text: String| {
        let signature = hex(&key.sign(purpose, text.as_bytes()));
        format!("{text}/{signature}")
    };
    for made in [clock::epoch() - 601, clock::epoch() - 86_400, clock::epoch() + 300] {
        refused(&format!("/sign-in?token={}", signed("link", format!("chief/{made}/00aa"))));
    }
    let with = |cookie: &str| {
        let head = "GET /runs.json HTTP/1.1\r\nHost: t\r\nConnection: close\r\n";
        server.answer(format!("{head}Cookie: a=b; {cookie}\r\n\r\n").as_bytes())
    };
    let session = cookie.split(';').next().unwrap();
    let list = with(session);
    assert_eq!(status(&list), "200");
    assert!(list.contains("other1") && !list.contains("root"), "{list}");
    let later = clock::epoch() + 1000;
    for forged in [
        session.replace("other1", "chief"),
        format!("topas={}", signed("session", format!("chief/{}", clock::epoch() - 1))),
        format!("topas={}", signed("link", format!("chief/{later}"))),
        format!("topas={}", token),
    ] {
        assert_eq!(status(&with(&forged)), "401", "{forged}");
    }
    // A key that others can read is refused.
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(server.center.path("key"), fs::Permissions::from_mode(0o644)).unwrap();
    let open = server.center.report(&["serve", "--index", "index", "--key", "key"]);
    assert_eq!(open.status.code(), Some(1), "{}", stderr(&open));
}

#[test]
fn names_that_are_code_are_shown_and_searched_as_names() {
    let (server, _) = server();
    let before = runs(&server, "/runs.json?all=1", "carla").len();
    for target in ["/runs?all=1", "/runs.csv?all=1"] {
        let page = server.get("GET", target, "carla");
        assert_eq!(page.contains("<script"), target.contains("csv"), "{page}");
    }
    for name in runs(&server, "/runs.json?all=1", "carla").keys() {
        let page = server.get("GET", &format!("/run/{name}"), "carla");
        assert_eq!(status(&page), "200");
        assert!(!page.contains("<script"), "{page}");
    }
    // As a search, a filter and a user, each of them is only itself.
    for (code, found) in [
        ("%27%20OR%20%271%27%3D%271", 1),
        ("x%27%3BDROP%20TABLE%20runs%3B--", 1),
        ("%3Cscript%3E", 1),
        ("%27%20OR%201%3D1%20--", 0),
        ("%25", 0),
        ("_", 0),
    ] {
        let list = runs(&server, &format!("/runs.json?all=1&text={code}"), "carla");
        assert_eq!(list.len(), found, "{code}");
        assert_eq!(status(&server.get("GET", &format!("/runs?job={code}"), "carla")), "200");
        let own = runs(&server, &format!("/runs.json?exe={code}"), "other1");
        assert!(own.is_empty(), "{code}: {own:?}");
    }
    assert_eq!(runs(&server, "/runs.json?all=1", "carla").len(), before);
}

#[test]
fn oversized_requests_harm_nobody() {
    let (server, _) = server();
    let many: String = (0..2000).map(|at| format!("X-{at}: {}\r\n", "y".repeat(500))).collect();
    let head = "GET /runs HTTP/1.1\r\nHost: t\r\nX-Remote-User: root\r\n";
    for (what, request) in [
        ("path", format!("GET /{} HTTP/1.1\r\nHost: t\r\n\r\n", "a".repeat(1 << 20))),
        ("query", head.replace("/runs", &format!("/runs?text={}", "b".repeat(9000))) + "\r\n"),
        ("pairs", head.replace("/runs", &format!("/runs?{}", "a=1&".repeat(3000))) + "\r\n"),
        ("header", format!("{head}X-Long: {}\r\n\r\n", "c".repeat(4 << 20))),
        ("headers", format!("{head}{many}\r\n")),
        ("cookies", format!("{head}{}\r\n", "Cookie: topas=a/1/b\r\n".repeat(2000))),
        ("length", format!("{head}Content-Length: 99999999999999999999\r\n\r\n")),
    ] {
        let answer = server.answer(request.as_bytes());
        assert!(!answer.contains("heat"), "{what}: {answer}");
        assert!(
            ["", "400", "401", "414", "431"].contains(&status(&answer)),
            "{what}: {answer:.200}"
        );
    }
    // Content that nobody asked for is not read.
    let body = format!("{head}Connection: close\r\nContent-Length: 8000000\r\n\r\n");
    let answer = server.answer(format!("{body}{}", "z".repeat(8_000_000)).as_bytes());
    assert!(["", "200"].contains(&status(&answer)), "{answer:.200}");
    assert_eq!(status(&server.get("GET", "/runs", "root")), "200");
}

/// Everybody asks at once for the own list, and gets just that.
#[test]
fn two_hundred_clients_at_once_get_each_their_own() {
    let (server, _) = server();
    let accounts = ["root", "other1", "other2", "other3", "carla"];
    let own: Vec<BTreeMap<String, String>> =
        accounts.iter().map(|account| runs(&server, "/runs.json", account)).collect();
    let begun = Instant::now();
    thread::scope(|scope| {
        let clients: Vec<_> = (0..200)
            .map(|client| {
                let at = client % accounts.len();
                let (server, own) = (&server, &own[at]);
                scope.spawn(move || {
                    for _ in 0..3 {
                        assert_eq!(runs(server, "/runs.json", accounts[at]), *own);
                    }
                })
            })
            .collect();
        clients.into_iter().for_each(|client| client.join().unwrap());
    });
    println!("600 lists of 200 clients in {:.2} s", begun.elapsed().as_secs_f64());
    // 600 requests were answered, and the server is as it was.
    assert_eq!(runs(&server, "/runs.json", "root"), own[0]);
    let center: &Center = &server.center;
    assert!(!read(&center.path("views")).contains("error"));
}
