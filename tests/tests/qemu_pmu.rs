//! The module for AArch64 with a PMU that a real kernel drives, in a machine that qemu plays.
//! Ignored unless asked for: it fetches a kernel of 60 MB.
//!
//! qemu counts instructions exactly (`-icount`), and 0 of every event it does not know, FP
//! operations and cache misses among them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use topas_format::number::Count;
use topas_tests::build::source;
use topas_tests::record::Record;
use topas_tests::running::{run, run_cargo, run_within};
use topas_tests::site::{Scratch, xtask};

const TARGET: &str = "aarch64-unknown-linux-gnu";

/// What may differ between two runs beside what they were told to do.
const NOISE: u64 = 48;
/// The same of threads, which may have to wait for each other or not.
const NOISE_OF_THREADS: u64 = 500;

/// Counters of the processor that count any event.
const COUNTERS: u32 = 6;

/// Debian's kernel for AArch64, from where this system's packages come from. The system's own
/// state of packages is not touched.
fn kernel(scratch: &Scratch) -> PathBuf {
    let dir = scratch.sub("kernel");
    let mut targets = Command::new("apt-get");
    let format = "deb $(REPO_URI) $(RELEASE) $(COMPONENT)";
    targets.args(["indextargets", "--format", format, "Created-By: Packages"]);
    let list = dir.join("sources.list");
    fs::write(&list, run(&mut targets).good().stdout).expect("write");
    let apt = |program: &str, arguments: &[&str]| {
        let (lists, cache) = (scratch.sub("kernel/lists"), scratch.sub("kernel/cache"));
        let mut command = Command::new(program);
        command.args(["-qq", "-o", "APT::Architecture=arm64", "-o", "APT::Architectures=arm64"]);
        command.args([
            "-o",
            "Dir::Etc::sourceparts=/dev/null",
            "-o",
            "Dir::State::status=/dev/null",
        ]);
        for (key, path) in [("Etc::sourcelist", &list), ("State::lists", &lists), ("Cache", &cache)]
        {
            command.arg("-o").arg(format!("Dir::{key}={}", path.display()));
        }
        run(command.args(arguments).current_dir(&dir)).good().out()
    };
    apt("apt-get", &["update"]);
    let depends = apt("apt-cache", &["depends", "linux-image-arm64"]);
    let package = depends.lines().find_map(|line| line.trim().strip_prefix("Depends: "));
    apt("apt-get", &["download", package.expect("the newest kernel")]);
    let mut extract = Command::new("sh");
    extract.args(["-c", "dpkg-deb -x linux-image-*.deb ."]).current_dir(&dir);
    run(&mut extract).good();
    let mut boot = fs::read_dir(dir.join("boot")).expect("boot").flatten().map(|file| file.path());
    boot.find(|path| path.to_string_lossy().contains("vmlinuz")).expect("a kernel")
}

/// What the machine boots into: `init`, the rank with the module, and the runs.
fn initrd(scratch: &Scratch, runs: &str) -> PathBuf {
    let (objects, root) = (scratch.sub("objects"), scratch.sub("root"));
    // Its size is another test's matter.
    run_cargo(xtask().args(["object", "--target", TARGET, "--out"]).arg(&objects));
    let module = objects.join("topas.c.o");
    for (name, module) in [("init", None), ("rank", Some(&module))] {
        let mut gcc = Command::new("aarch64-linux-gnu-gcc");
        gcc.args(["-O1", "-Wall", "-Werror", "-static", "-pthread"]);
        gcc.arg(source(&format!("qemu/{name}.c"))).args(module).arg("-o").arg(root.join(name));
        run(&mut gcc).good();
    }
    fs::write(root.join("runs"), runs).expect("write");
    let archive = scratch.path().join("initrd");
    let mut cpio = Command::new("sh");
    cpio.args(["-c", "find . | cpio --quiet -o -H newc > \"$0\""]).arg(&archive).current_dir(&root);
    run(&mut cpio).good();
    archive
}

/// Boots, and returns what the console showed.
fn console(kernel: &Path, initrd: &Path) -> String {
    let mut qemu = Command::new("qemu-system-aarch64");
    qemu.args(["-machine", "virt", "-cpu", "neoverse-n1", "-m", "512", "-nographic"]);
    qemu.args(["-icount", "shift=0,sleep=off", "-net", "none", "-no-reboot"]);
    qemu.arg("-kernel").arg(kernel).arg("-initrd").arg(initrd).arg("-append");
    // The kernel passes what it does not know to the first process as its environment.
    qemu.arg(
        "console=ttyAMA0 quiet panic=-1 LOGNAME=tester TOPAS_LOG=file:/topas.log TOPAS_PE=1,2 \
         OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=8 \
         OMPI_MCA_orte_precondition_transports=0123456789abcdef-0123456789abcdef",
    );
    qemu.stdin(std::process::Stdio::null());
    let shown = run_within(&mut qemu, Duration::from_secs(300)).good().out().replace('\r', "");
    assert!(shown.contains("\nDONE\n"), "{shown}");
    shown
}

/// The line of a run, by which the counters that were to be taken away were.
#[track_caller]
fn line(scratch: &Scratch, shown: &str, wanted: &str) -> Record {
    let part = shown.split("RUN ").find_map(|part| part.strip_prefix(&format!("{wanted}\n")));
    let part = part.unwrap_or_else(|| panic!("no run {wanted}: {shown}"));
    let held = wanted.split(' ').next().expect("a number");
    assert!(part.starts_with(&format!("HELD {held}\nSTATUS 0\n")), "{wanted}: {part}");
    let lines: String = part.lines().skip(2).take(1).flat_map(|line| [line, "\n"]).collect();
    fs::write(scratch.log(), lines).expect("write");
    scratch.take_log().pop().expect("a line")
}

fn exact(line: &Record, key: &str) -> u64 {
    line.extra(key).parse().unwrap_or_else(|_| panic!("{key} is not exact: {}", line.text))
}

#[test]
#[ignore = "cargo xtask test --qemu-pmu"]
fn a_real_kernel_counts() {
    let scratch = Scratch::new();
    let held = |counters: u32| format!("{counters} 200000000 0 0");
    let runs = [
        "0 1000000 0 0".to_owned(),
        "0 3000000 0 0".to_owned(),
        "0 3000000 2 1500000".to_owned(),
        "0 1000000 2 500000".to_owned(),
        held(COUNTERS - 2),
        held(COUNTERS - 1),
        "4 100000000 2 50000000".to_owned(),
        held(COUNTERS),
    ];
    let initrd = initrd(&scratch, &(runs.join("\n") + "\n"));
    let shown = console(&kernel(&scratch), &initrd);
    let line = |wanted: &str| line(&scratch, &shown, wanted);

    // Two instructions a round.
    let [few, many] = [&runs[0], &runs[1]].map(|wanted| exact(&line(wanted), "ins"));
    assert!((many - few).abs_diff(4_000_000) <= NOISE, "{few} {many}");
    assert!(few - 2_000_000 < 20_000, "before and after the rounds: {few}");
    let [many, few] = [&runs[2], &runs[3]].map(|wanted| exact(&line(wanted), "ins"));
    assert!((many - few).abs_diff(8_000_000) <= NOISE_OF_THREADS, "threads: {few} {many}");

    // Fewer counters than events: a group that cannot come onto them opens all the same.
    for (wanted, least, most) in [(&runs[4], 0.4, 0.7), (&runs[5], 0.2, 0.4), (&runs[6], 0.4, 0.7)]
    {
        let line = line(wanted);
        let scaled = line.extra("ins").strip_prefix('~').expect("an estimate").parse::<u64>();
        let off = scaled.expect("a number").abs_diff(400_000_000);
        assert!(off < 4_000_000, "more than 1 % off: {}", line.text);
        let share: f64 = line.extra("run").parse().expect("a share");
        assert!((least..most).contains(&share), "{}", line.text);
    }
    let without = line(&runs[7]);
    assert_eq!((without.ops, without.l1_miss), (Count::Missing, Count::Missing));
    assert_eq!(without.extra("why"), "i:shared,m:shared", "{}", without.text);
    assert_eq!(without.extra("ins"), "", "{}", without.text);
}
