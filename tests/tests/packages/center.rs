//! A center comes up by INSTALL.md alone: its commands are called, one after the other, on a machine
//! whose process 1 is systemd, which is a root of Debian in namespaces of its own. Lines come by
//! rsyslog, mails leave by SMTP, users look through nginx; timers elapse and services run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use topas_format::civil::Civil;
use topas_testkit::with_lengths;
use topas_tests::documents::blocks;
use topas_tests::running::{Run, command, have, run, run_within};
use topas_tests::site::{Scratch, source_root};
use topas_tests::skip::skip;

use crate::{TIME, copied, documents, inside, nix_is_root, quick_release};

/// What a center is made of, and what the test needs besides: a client of HTTP and a server of SMTP.
const INCLUDED: &str = "--include=systemd,systemd-sysv,dbus,nginx-light,openssl,curl,rsyslog,\
                        rsyslog-relp,python3-aiosmtpd";

/// Makes a root the root of all processes in it, and becomes its systemd. The file that is looked for
/// last is in no other root: systemd clears /tmp and the like of whatever root it starts in. What is in
/// /proc/sys is of the machine, whose settings are not those of the root.
const BOOT: &str = "\
    set -e; echo $$ >\"$2/cgroup.procs\"; \
    exec unshare --mount --uts --ipc --net --pid --cgroup --fork --kill-child sh -ec '\
    mount --make-rprivate /; mount --bind \"$1\" \"$1\"; cd \"$1\"; \
    for dir in run tmp dev; do mount -t tmpfs tmpfs $dir; done; mkdir -p dev/shm dev/pts; \
    for name in null zero full random urandom tty; do \
    touch dev/$name; mount --bind /dev/$name dev/$name; done; \
    ln -s /proc/self/fd dev/fd; mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts; \
    ln -s pts/ptmx dev/ptmx; mount -t proc proc proc; mount --bind proc/sys proc/sys; \
    mount -o remount,bind,ro proc/sys; mount -t sysfs -o ro sysfs sys; \
    mount -t cgroup2 cgroup2 sys/fs/cgroup; hostname center; pivot_root . mnt; cd /; umount -l /mnt; \
    test -e /etc/root-of-a-test; \
    exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd' sh \"$1\"";

/// A machine that runs.
struct Machine {
    namespaces: Child,
    systemd: String,
    cgroup: PathBuf,
}

impl Machine {
    /// Boots a root. None if the kernel or the container around this test does not allow that.
    fn boot(root: &Path) -> Option<Self> {
        let mounts = fs::read_to_string("/proc/mounts").expect("mounts");
        let is_second = |line: &&str| line.split(' ').nth(2) == Some("cgroup2");
        let mounted = mounts.lines().find(is_second)?.split(' ').nth(1)?;
        let cgroup = Path::new(mounted).join(format!("topas-test-{}", std::process::id()));
        fs::create_dir(&cgroup).ok()?;
        fs::write(root.join("etc/root-of-a-test"), "").expect("a file");
        // Not a first boot, which would enable every service that there is.
        fs::write(root.join("etc/machine-id"), "00000000000000000000000000000016\n")
            .expect("an id");
        let mut shell = command("sh");
        shell.args(["-c", BOOT, "sh"]).arg(root).arg(&cgroup).stderr(Stdio::null());
        let namespaces = shell.stdout(Stdio::null()).spawn().expect("a shell");
        let id = namespaces.id();
        let mut machine = Machine { namespaces, systemd: String::new(), cgroup };
        let begun = Instant::now();
        loop {
            let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
            machine.systemd = children.unwrap_or_default().trim().to_owned();
            let name = fs::read_to_string(format!("/proc/{}/comm", machine.systemd));
            if name.is_ok_and(|name| name == "systemd\n") {
                break;
            }
            if machine.namespaces.try_wait().expect("a shell").is_some() {
                return None;
            }
            assert!(begun.elapsed() < TIME, "the root does not boot");
            sleep(Duration::from_millis(100));
        }
        // The code of a machine on which a service failed is not 0.
        let waits = "until test -S /run/systemd/private; do sleep 0.1; done; \
                     systemctl is-system-running --wait || true";
        let state = machine.call(waits).out();
        assert!(["running\n", "degraded\n"].contains(&&*state), "{state}");
        Some(machine)
    }

    /// Calls a script as root.
    fn call(&self, script: &str) -> Run {
        let mut nsenter = command("nsenter");
        nsenter.args(["-t", &self.systemd, "-m", "-p", "-u", "-n", "-i", "-C", "-r", "-w"]);
        run_within(nsenter.args(["sh", "-ec", script]), TIME)
    }

    /// Calls a script until it succeeds.
    fn wait_for(&self, script: &str) {
        let begun = Instant::now();
        while self.call(script).code() != 0 {
            assert!(begun.elapsed() < Duration::from_secs(300), "{script}: {}", self.journal());
            sleep(Duration::from_millis(500));
        }
    }

    fn journal(&self) -> String {
        self.call("journalctl --no-pager -o cat -u 'topas-*'; ls -l /var/log/topas-center").out()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // All processes of its namespace end with process 1.
        let _ = run(command("kill").args(["-9", &self.systemd]));
        let _ = self.namespaces.kill();
        let _ = self.namespaces.wait();
        let find = "for n in 1 2 3 4 5 6 7 8 9 10; do \
                    find \"$1\" -depth -type d -exec rmdir {} + 2>/dev/null && break; sleep 1; done";
        let _ = run(command("sh").args(["-c", find, "sh"]).arg(&self.cgroup));
    }
}

/// A run of ada so many days ago.
fn line(days: i64, user: &str, uid: u32, exe: &str) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a date").as_secs();
    let epoch = now as i64 - days * 86_400;
    let date = Civil::from_seconds(epoch).date;
    let second = epoch.rem_euclid(86_400);
    with_lengths(&format!(
        "{:04}/{:02}/{:02} {:02}:{:02}:{:02} {user} {exe} 0 4 t2400 B c mpi 3600.0 0.1 3600.0 \
         f=3600000000 1000 {exe} v=1 t={epoch} uid={uid} end=exit:0\n",
        date.year,
        date.month,
        date.day,
        second / 3600,
        second / 60 % 60,
        second % 60
    ))
}

/// Users, the certificate of a site, and a server of SMTP that keeps what it gets.
const GIVEN: &str = "\
    useradd -u 1001 -m ada; useradd -u 1002 -m bob; \
    openssl req -x509 -newkey rsa:2048 -nodes -keyout /etc/nginx/center.key -out /etc/nginx/center.pem \
    -days 2 -subj /CN=center.example 2>/dev/null; \
    for user in ada bob; do echo \"$user:$(openssl passwd -apr1 $user)\" >>/etc/nginx/topas-users; done; \
    printf '%s\\n' 'import time' 'from aiosmtpd.controller import Controller' \
    'from aiosmtpd.handlers import Mailbox' \
    \"Controller(Mailbox('/srv/mails'), hostname='127.0.0.1', port=25).start()\" \
    'time.sleep(9999)' >/srv/smtp.py";

/// What `curl` gets of a path as a user, who says to be ada.
const GET: &str = "\
    get() { curl -skL -u $1:$1 -H 'X-Remote-User: ada' https://localhost/$2 | sed 's/<[^>]*>/ /g'; }; ";

#[test]
#[ignore = "cargo xtask test --packages"]
fn a_center_comes_up_by_install_md() {
    const NAME: &str = "a_center_comes_up_by_install_md";
    if !have("mmdebstrap") || !have("nsenter") || !nix_is_root() {
        return skip(NAME, "no mmdebstrap or nsenter, or not root");
    }
    let scratch = Scratch::new();
    let root = scratch.path().join("bookworm");
    let mut bootstrap = command("mmdebstrap");
    bootstrap.args(["--quiet", "--variant=essential", "--dpkgopt=force-unsafe-io", INCLUDED]);
    run_within(bootstrap.arg("bookworm").arg(&root), TIME).good();
    fs::write(root.join("etc/hosts"), "127.0.0.1 localhost center\n").expect("hosts");
    copied(quick_release(), &root.join("srv/first"));
    let installs = documents::documented_command("dpkg");
    inside(&root, &format!("cd /srv/first; {installs} >/dev/null; {GIVEN}")).good();
    let Some(machine) = Machine::boot(&root) else {
        return skip(NAME, "no systemd in namespaces of its own");
    };

    // A month of long ago, and what is sent to the node: last week's runs of ada, one of them by bob.
    let center = root.join("var/log/topas-center");
    fs::create_dir(&center).expect("a directory");
    fs::set_permissions(&center, fs::Permissions::from_mode(0o750)).expect("a mode");
    let old = line(2000, "ada", 1001, "old");
    let file = center.join(format!("{}-{}.log", &old[..4], &old[5..7]));
    fs::write(&file, &old).expect("a log");
    // Nobody has written to this file for long, so it is closed.
    let file = fs::File::options().append(true).open(&file).expect("a log");
    file.set_modified(SystemTime::now() - Duration::from_secs(1_000_000)).expect("a time");
    drop(file);
    let send = |user: &str, line: &str| {
        fs::write(root.join("srv/line"), line.trim_end()).expect("a line");
        let python = "import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); \
                      s.sendto(open(\"/srv/line\", \"rb\").read(), \"/run/topas/log\")";
        machine.call(&format!("runuser -u {user} -- python3 -c '{python}'")).good();
    };

    let text = fs::read_to_string(source_root().join("INSTALL.md")).expect("INSTALL.md");
    let section =
        text.split("\n## ").find(|part| part.starts_with("A center, from the first line"));
    let scripts = blocks(section.expect("the section"));
    assert_eq!(scripts.len(), 8, "{scripts:?}");
    for (at, script) in scripts.iter().enumerate() {
        if script.contains("topas-report-mail.service") {
            machine.call("systemd-run --quiet --unit=smtp python3 /srv/smtp.py").good();
        }
        // The packages of Debian are there, as the root has no network.
        let script = script.replace("NAME-OF-THE-CENTER", "localhost").replace("apt-get", "true");
        let called = machine.call(&script);
        let (code, said) = (called.code(), format!("{}{}", called.out(), called.err()));
        assert_eq!(code, 0, "{script}{said}{}", machine.journal());
        assert!(!said.contains("error") && !said.contains("no installation config"), "{said}");
        if at == 1 {
            send("ada", &line(7, "ada", 1001, "heat"));
            send("bob", &line(7, "bob", 1002, "solve"));
            send("bob", &line(7, "ada", 1001, "forged"));
            machine.wait_for("grep -q ' heat ' /var/log/topas-center/*.log");
            machine.wait_for("grep -q ' solve ' /var/log/topas-center/*.log");
        }
    }
    assert_eq!(machine.call("grep -l forged -r /var/log/topas-center").out(), "");
    machine.call("systemctl is-enabled topas-report-serve.service").good();
    let timers = machine.call("systemctl list-timers --no-legend 'topas-*'").good().out();
    assert_eq!(timers.lines().count(), 5, "{timers}");
    let failed = machine.call("systemctl list-units --failed --no-legend 'topas-*'").good().out();
    assert_eq!(failed, "", "{}", machine.journal());
    // Closed, and then older than what is kept.
    assert_eq!(
        machine.call(&format!("ls /var/log/topas-center | grep {} || true", &old[..4])).out(),
        ""
    );
    machine.call("grep -q solve /var/lib/topas/pages/*.html").good();

    machine.call("systemctl start topas-report-mail.service").good();
    let mails = machine.call("cat /srv/mails/new/*").good().out();
    for text in ["To: ada@center.example", "To: bob@center.example", "Your programs in "] {
        assert!(mails.contains(text), "{text}: {mails}");
    }

    let code = "curl -sk -o /dev/null -w '%{http_code}' https://localhost/runs";
    assert_eq!(machine.call(code).out(), "401");
    let page = machine.call(&format!("{GET} get ada runs")).good().out();
    assert!(page.contains("heat") && page.contains("ada, administrator"), "{page}");
    let page = machine.call(&format!("{GET} get bob 'runs?all=1'; get bob runs")).good().out();
    assert!(page.contains("solve") && !page.contains("heat"), "{page}");
    assert!(page.contains("bob, user"), "{page}");
    let page = machine.call(&format!("{GET} get ada 'runs?all=1'")).good().out();
    assert!(page.contains("heat") && page.contains("solve"), "{page}");
    let access =
        machine.call("cat /var/lib/topas/access.log; stat -c '%a %U' /var/lib/topas/access.log");
    assert!(access.out().contains("ada") && access.out().contains("\n640 root"), "{access:?}");
    // The group of nginx sees the socket and nothing else.
    let reads = "runuser -u www-data -- cat /var/lib/topas/index.sqlite 2>&1 | sed 's/.*: //'";
    assert_eq!(machine.call(reads).out(), "Permission denied\n");

    // A timer elapses, and its service brings what came: every two seconds in place of five minutes.
    machine
        .call(
            "mkdir -p /etc/systemd/system/topas-report-ingest.timer.d; \
             printf '[Timer]\\nOnCalendar=\\nOnCalendar=*:*:0/2\\nRandomizedDelaySec=0\\n' \
             >/etc/systemd/system/topas-report-ingest.timer.d/often.conf; \
             systemctl daemon-reload; systemctl restart topas-report-ingest.timer",
        )
        .good();
    send("bob", &line(0, "bob", 1002, "later"));
    machine.wait_for(&format!("{GET} get bob runs | grep -q later"));
    // A server that dies is started again.
    machine.call("systemctl kill --signal=KILL topas-report-serve.service").good();
    machine.wait_for(&format!("{GET} get bob runs | grep -q later"));
}
