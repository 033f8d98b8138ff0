//! What goes wrong around a build: the user sees what the real driver would say, or one clear
//! line, and nothing runs for ever.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use topas_tests::alone::{as_nobody, is_root};
use topas_tests::mpi_installation::Mpi;
use topas_tests::project::MARK;
use topas_tests::running::{Run, command, have, run, run_within, system_path};
use topas_tests::site::{Scratch, Site, source_root};
use topas_tests::skip::skip;

/// How long a command may take that must not run for ever.
const SOON: Duration = Duration::from_secs(60);

/// A directory everybody may write, with `plain.c`.
fn work(scratch: &Scratch) -> PathBuf {
    let work = scratch.sub("work");
    fs::set_permissions(&work, fs::Permissions::from_mode(0o777)).expect("mode");
    let source = source_root().join("tests/driver/sources/plain.c");
    fs::copy(source, work.join("plain.c")).expect("copy");
    work
}

/// `NAME words` in a directory, with a PATH of these directories and the system's.
fn called(program: &Path, words: &[&str], dirs: &[&Path], work: &Path) -> Command {
    let mut command = command(program);
    let dirs: Vec<_> = dirs.iter().map(|dir| dir.display().to_string()).collect();
    command.env("PATH", format!("{}:{}", dirs.join(":"), system_path()));
    command.args(words).current_dir(work).env("TMPDIR", work);
    command
}

/// Whether an executable holds the module.
fn is_linked(program: &Path) -> bool {
    let bytes = fs::read(program).expect("executable");
    bytes.windows(MARK.len()).any(|window| window == MARK)
}

const LINK: &[&str] = &["plain.c", "-o", "prog"];

/// A copy of the installation, to be broken.
fn copied(scratch: &Scratch) -> PathBuf {
    let wrappers = Site::shared().wrappers();
    let prefix = wrappers.ancestors().nth(3).expect("prefix");
    let copy = scratch.path().join("prefix");
    run(command("cp").arg("-a").arg(prefix).arg(&copy)).good();
    copy
}

#[test]
fn our_directory_twice_on_path_and_through_links() {
    for mpi in Mpi::installed("our_directory_twice_on_path_and_through_links") {
        let scratch = Scratch::new();
        let work = work(&scratch);
        let (wrappers, tools) = (Site::shared().wrappers(), mpi.tools());
        let link = scratch.path().join("link");
        symlink(&wrappers, &link).expect("link");
        let single = scratch.sub("single");
        symlink(link.join("mpicc"), single.join("mpicc")).expect("link");
        let plain = [wrappers.as_path(), &tools];
        run(&mut called(&wrappers.join("mpicc"), LINK, &plain, &work)).good();
        let once = fs::read(work.join("prog")).expect("executable");
        assert!(is_linked(&work.join("prog")));
        for first in [&wrappers, &link, &single] {
            let dirs = [first, &single, &wrappers, &link, &wrappers, &tools].map(PathBuf::as_path);
            let mut twice = called(&first.join("mpicc"), LINK, &dirs, &work);
            run_within(&mut twice, SOON).good();
            assert_eq!(fs::read(work.join("prog")).expect("executable"), once);
        }
    }
}

/// Names of compilers and linkers in front of PATH, where a site asks for them: a driver calls
/// a compiler, which calls a linker, and each is ours.
#[test]
fn drivers_around_drivers_link_one_module() {
    for mpi in Mpi::installed("drivers_around_drivers_link_one_module") {
        let scratch = Scratch::new();
        let work = work(&scratch);
        let (wrappers, tools) = (Site::shared().wrappers(), mpi.tools());
        let [gnu, linker] =
            ["gnu", "linker"].map(|set| wrappers.with_file_name(format!("{set}-wrappers")));
        let dirs = [gnu.as_path(), &wrappers, &tools];
        let shim = format!("-B{}/", linker.display());
        let link = |program: &Path, more: &[&str], dirs: &[&Path]| {
            let words = [LINK, more].concat();
            let ended = run_within(&mut called(program, &words, dirs, &work), SOON).good();
            assert_eq!(ended.err(), "", "{}", program.display());
            fs::read(work.join("prog")).expect("executable")
        };
        let once = link(&wrappers.join("mpicc"), &[], &dirs[1..]);
        assert!(is_linked(&work.join("prog")));
        assert!(link(&wrappers.join("mpicc"), &[], &dirs) == once, "a compiler of ours behind");
        assert!(link(&wrappers.join("mpicc"), &[&shim], &dirs) == once, "a linker of ours behind");
        assert!(link(&tools.join("mpicc"), &[], &dirs[2..]) != once, "the real driver alone");
        assert!(!is_linked(&work.join("prog")), "the real driver alone");
        link(&tools.join("mpicc"), &[&shim], &dirs[2..]);
        assert!(is_linked(&work.join("prog")), "a linker of ours alone");
        link(&gnu.join("gcc"), &[], &dirs);
        assert!(is_linked(&work.join("prog")), "a compiler of ours alone");
    }
}

#[test]
fn without_a_real_compiler_one_message_names_the_remedy() {
    let scratch = Scratch::new();
    let work = work(&scratch);
    let wrappers = Site::shared().wrappers();
    let mut alone = called(&wrappers.join("mpicc"), LINK, &[], &work);
    let ended = run_within(alone.env("PATH", &wrappers), SOON).ends(127);
    let said = ended.err();
    assert!(said.starts_with("mpicc: error: no program `mpicc` on PATH"), "{said}");
    assert_eq!(
        (said.matches("error:").count(), said.matches("\nhint: ").count()),
        (1, 1),
        "{said}"
    );
}

/// A compiler cache under the name of the driver, in front of ours and behind it.
#[test]
fn a_cache_and_ours_do_not_call_each_other_for_ever() {
    const TEST: &str = "a_cache_and_ours_do_not_call_each_other_for_ever";
    if !have("ccache") {
        return skip(TEST, "no ccache on this machine");
    }
    for mpi in Mpi::installed(TEST) {
        let scratch = Scratch::new();
        let work = work(&scratch);
        let caches = scratch.sub("caches");
        symlink("/usr/bin/ccache", caches.join("mpicc")).expect("link");
        let (wrappers, tools) = (Site::shared().wrappers(), mpi.tools());
        for dirs in [[&wrappers, &caches, &tools], [&caches, &wrappers, &tools]] {
            for words in [LINK, &["-c", "plain.c"]] {
                for off in ["on", "off"] {
                    let dirs = dirs.map(PathBuf::as_path);
                    let mut build = called(&dirs[0].join("mpicc"), words, &dirs, &work);
                    build.env("CCACHE_DIR", scratch.path().join("cache")).env("TOPAS", off);
                    let ended = run_within(&mut build, SOON).good();
                    assert_eq!(ended.err(), "", "{words:?}");
                    if words == LINK {
                        assert_eq!(is_linked(&work.join("prog")), off == "on", "{dirs:?}");
                    }
                }
            }
        }
    }
}

/// The other cache has a server, which is started here on a port of its own and stopped.
#[test]
fn a_cache_with_a_server_in_front_and_behind() {
    const TEST: &str = "a_cache_with_a_server_in_front_and_behind";
    /// How often the server may be asked for until it is there.
    const STARTS: usize = 6;
    if !have("sccache") {
        return skip(TEST, "no sccache on this machine");
    }
    let port = free_port();
    for mpi in Mpi::installed(TEST) {
        let scratch = Scratch::new();
        let work = work(&scratch);
        let (wrappers, tools) = (Site::shared().wrappers(), mpi.tools());
        let dirs = [wrappers.as_path(), &tools];
        let sccache = Path::new("/usr/bin/sccache");
        let cached = |program: &Path, words: &[&str]| {
            let mut build = called(program, words, &dirs, &work);
            build
                .env("SCCACHE_DIR", scratch.path().join("cache"))
                .env("SCCACHE_SERVER_PORT", &port);
            build.env("SCCACHE_IDLE_TIMEOUT", "60");
            // In front and behind at once its server would wait for itself.
            if program != sccache {
                build.env("OMPI_CC", "sccache gcc").env("MPICH_CC", "sccache gcc");
            }
            run_within(&mut build, SOON)
        };
        // Who starts the server waits for 10 s, which may be too short where much else runs; it comes up nevertheless.
        let is_up = || cached(sccache, &["--show-stats"]).code() == 0;
        assert!((0..STARTS).any(|_| is_up()), "{}: no server", mpi.name());
        let compiled = cached(sccache, &["mpicc", "-c", "plain.c", "-o", "plain.o"]);
        let linked = cached(sccache, &["mpicc", "plain.o", "-o", "prog"]);
        let in_front = work.join("prog").exists() && is_linked(&work.join("prog"));
        let _ = fs::remove_file(work.join("prog"));
        let behind = cached(&wrappers.join("mpicc"), LINK);
        cached(sccache, &["--stop-server"]);
        compiled.good();
        linked.good();
        assert!(in_front, "{}: in front", mpi.name());
        behind.good();
        assert!(is_linked(&work.join("prog")), "{}: behind", mpi.name());
    }
}

/// A port that nobody listens on.
fn free_port() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("address").port().to_string()
}

#[test]
fn a_deleted_installation_still_builds() {
    for mpi in Mpi::installed("a_deleted_installation_still_builds") {
        let scratch = Scratch::new();
        let work = work(&scratch);
        let tools = mpi.tools();
        run(&mut called(&tools.join("mpicc"), LINK, &[&tools], &work)).good();
        let real = fs::read(work.join("prog")).expect("executable");
        let prefix = copied(&scratch);
        let wrappers = prefix.join("libexec/topas/wrappers");
        let build = || {
            let ended = run_within(
                &mut called(&wrappers.join("mpicc"), LINK, &[&wrappers, &tools], &work),
                SOON,
            );
            let ended = ended.good();
            assert_eq!(ended.err(), "");
            fs::read(work.join("prog")).expect("executable")
        };
        assert_ne!(build(), real, "the copy is no installation");
        fs::remove_dir_all(prefix.join("lib")).expect("remove");
        assert_eq!(build(), real, "without the modules");
        fs::remove_dir_all(prefix.join("share")).expect("remove");
        fs::remove_dir_all(prefix.join("etc")).expect("remove");
        assert_eq!(build(), real, "without data and configuration");
        // Deleted while a build holds the driver open.
        let script =
            "exec 9<\"$1\" && rm -rf \"$2\" && shift 2 && exec -a mpicc /proc/self/fd/9 \"$@\"";
        let mut late =
            called(Path::new("/bin/bash"), &["-c", script, "bash"], &[&wrappers, &tools], &work);
        late.arg(wrappers.join("mpicc")).arg(&prefix).args(LINK);
        let ended = run_within(&mut late, SOON).good();
        assert_eq!(ended.err(), "");
        assert_eq!(fs::read(work.join("prog")).expect("executable"), real, "deleted meanwhile");
    }
}

#[test]
fn what_this_user_may_not_read_is_not_there() {
    const TEST: &str = "what_this_user_may_not_read_is_not_there";
    if !is_root(TEST) {
        return;
    }
    let mpi = Mpi::installed(TEST);
    let Some(mpi) = mpi.first() else { return };
    let scratch = Scratch::new();
    let work = work(&scratch);
    let open = scratch.sub("site");
    let tools = mpi.tools();
    // The directories of the build may be closed to others.
    let names = open.join("tools");
    run(command("cp").arg("-a").arg(&tools).arg(&names)).good();
    let prefix = copied(&scratch);
    let wrappers = prefix.join("libexec/topas/wrappers");
    let dirs = [wrappers.as_path(), &names];
    let nobody = |switch: &str| {
        let mut build = called(&wrappers.join("mpicc"), LINK, &dirs, &work);
        build.env("TOPAS", switch).env("TOPAS_VERBOSE", "1");
        let ended = run_within(&mut as_nobody(&build), SOON).good();
        (ended.err(), fs::read(work.join("prog")).expect("executable"))
    };
    let (_, real) = nobody("off");
    let (said, with) = nobody("on");
    assert_eq!(said, "");
    assert_ne!(with, real, "linked with the module");
    let close = |part: &str| {
        let mode = fs::Permissions::from_mode(0o000);
        fs::set_permissions(prefix.join(part), mode).expect("mode");
    };
    close("lib/topas/topas.c.o");
    let (said, without) = nobody("on");
    assert_eq!(without, real);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("topas.c.o: Permission denied"), "{said}");
    for part in ["etc/topas/topas.conf", "share/topas/wrappers/drivers.conf", "lib/topas"] {
        close(part);
        let (said, without) = nobody("on");
        assert_eq!(without, real, "{part}: {said}");
    }
}

#[test]
fn an_output_that_cannot_be_written_is_the_compilers_message() {
    const TEST: &str = "an_output_that_cannot_be_written_is_the_compilers_message";
    if !is_root(TEST) {
        return;
    }
    for mpi in Mpi::installed(TEST) {
        let scratch = Scratch::new();
        let work = work(&scratch);
        let closed = scratch.sub("work/closed");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).expect("mode");
        let names = scratch.path().join("tools");
        run(command("cp").arg("-a").arg(mpi.tools()).arg(&names)).good();
        let prefix = copied(&scratch);
        let wrappers = prefix.join("libexec/topas/wrappers");
        let build = |program: &Path, dirs: &[&Path]| -> Run {
            let words = ["plain.c", "-o", "closed/prog"];
            run_within(&mut as_nobody(&called(&program.join("mpicc"), &words, dirs, &work)), SOON)
        };
        let real = build(&names, &[&names]);
        let ours = build(&wrappers, &[&wrappers, &names]);
        assert_eq!(real.code(), 1, "{}", real.err());
        assert_eq!((ours.code(), ours.err()), (real.code(), real.err()));
        assert_eq!(ours.err().matches("Permission denied").count(), 1, "{}", ours.err());
    }
}

/// The process that was started is the one that dies, as without us.
#[test]
fn a_build_killed_by_a_signal_dies_by_it() {
    for mpi in Mpi::installed("a_build_killed_by_a_signal_dies_by_it") {
        let scratch = Scratch::new();
        let work = work(&scratch);
        let (wrappers, tools) = (Site::shared().wrappers(), mpi.tools());
        for signal in [Signal::SIGTERM, Signal::SIGKILL, Signal::SIGINT, Signal::SIGHUP] {
            let killed = |program: &Path| {
                // It waits for its input.
                let words = ["-x", "c", "-", "-o", "prog"];
                let mut build = called(&program.join("mpicc"), &words, &[&wrappers, &tools], &work);
                build.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
                let mut child = build.spawn().expect("start");
                let pid = Pid::from_raw(child.id().cast_signed());
                assert!(becomes_real(&child.id().to_string()), "never got to the real driver");
                kill(pid, signal).expect("kill");
                drop(child.stdin.take());
                child.wait().expect("wait").signal()
            };
            let (real, ours) = (killed(&tools), killed(&wrappers));
            // A shell that waits for a child leaves an interrupt to that child, or not.
            if signal == Signal::SIGINT && mpi == Mpi::Mpich {
                assert!(ours.is_none() || ours == Some(signal as i32), "{ours:?}");
                continue;
            }
            assert_eq!(ours, real, "{} {signal}", mpi.name());
            assert_eq!(ours, Some(signal as i32), "{} {signal}", mpi.name());
        }
    }
}

/// Waits until a process has become the real driver, and has had time to start its child.
fn becomes_real(pid: &str) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < SOON {
        let exe = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        if !exe.ends_with("topas-driver") && children.is_ok_and(|list| !list.is_empty()) {
            return true;
        }
        sleep(Duration::from_millis(5));
    }
    false
}

/// One exec of the real driver, with the words and the environment as they came.
#[test]
fn off_is_one_exec_with_everything_as_it_came() {
    const TEST: &str = "off_is_one_exec_with_everything_as_it_came";
    if !have("strace") {
        return skip(TEST, "no strace on this machine");
    }
    for mpi in Mpi::installed(TEST) {
        let scratch = Scratch::new();
        let work = work(&scratch);
        let (wrappers, tools) = (Site::shared().wrappers(), mpi.tools());
        for words in
            [LINK, &["-c", "plain.c"], &["-showme:link"], &["plain.c", "-DA=\"b c\"", "-o", "x y"]]
        {
            let trace = scratch.path().join("trace");
            let mut traced = called(Path::new("/usr/bin/strace"), &[], &[&wrappers, &tools], &work);
            traced.args(["-v", "-s", "100000", "-e", "trace=execve,execveat", "-o"]).arg(&trace);
            traced.arg(wrappers.join("mpicc")).args(words);
            traced.env("TOPAS", "off").env("ODD", "a\nb \"c\"").env("EMPTY", "");
            run(&mut traced);
            let trace = fs::read_to_string(&trace).expect("trace");
            let calls: Vec<_> = trace.lines().filter(|line| line.starts_with("exec")).collect();
            // The driver itself; the real one; what that becomes is its own affair.
            assert!(calls.len() >= 2, "strace may not trace here:\n{trace}");
            let parts = |line: &str| -> (String, String, String) {
                let line = line.strip_prefix("execve(\"").expect("a path").to_owned();
                let (path, rest) = line.split_once("\", [").expect("words");
                let (words, env) = rest.split_once("], [").expect("environment");
                let words = words.split_once(", ").map_or("", |(_, words)| words);
                (path.to_owned(), words.to_owned(), env.to_owned())
            };
            let (_, words_before, env_before) = parts(calls[0]);
            let (path, words_behind, env_behind) = parts(calls[1]);
            assert_eq!(Path::new(&path), tools.join("mpicc"));
            assert_eq!(words_behind, words_before);
            assert_eq!(env_behind, env_before);
            assert!(
                env_before.contains("TOPAS=off") && env_before.contains("EMPTY="),
                "{env_before}"
            );
        }
    }
}
