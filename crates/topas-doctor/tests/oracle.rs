//! What the self-test expects of its loops, proven without counters: by a disassembler,
//! which sees every loop, and by a simulated processor, which runs those it knows.
#![cfg(target_arch = "x86_64")]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use topas_doctor::sys::{self, LINES, Loop, Memory};

/// Set in the child that runs under the simulator: how often each loop is repeated.
const ITERATIONS: &str = "TOPAS_DOCTOR_TEST_ITERATIONS";

/// Says why a test did not run, past the capture of output of tests that pass.
fn skip(reason: &str) {
    writeln!(std::io::stderr(), "skipped: {reason}").expect("standard error");
}

fn this_program() -> std::path::PathBuf {
    std::env::current_exe().expect("path of the test")
}

/// What the instructions between a loop's head and its jump back do.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    instructions: u64,
    fp_ops: u64,
    loads: u64,
    stores: u64,
    multiplications: u64,
}

/// FP operations of an instruction, from its mnemonic and the width of its registers.
fn fp_ops(mnemonic: &str, operands: &str) -> u64 {
    let of = |stem: &str| mnemonic.trim_start_matches('v').strip_prefix(stem);
    let (suffix, each) = match (of("add"), of("mul"), of("fmadd231")) {
        (Some(suffix), _, _) | (_, Some(suffix), _) => (suffix, 1),
        (_, _, Some(suffix)) => (suffix, 2),
        _ => return 0,
    };
    let bits = match operands.get(..1) {
        Some("x") => 128,
        Some("y") => 256,
        Some("z") => 512,
        _ => return 0,
    };
    match suffix {
        "sd" | "ss" => each,
        "pd" => each * bits / 64,
        "ps" => each * bits / 32,
        _ => 0,
    }
}

/// Counts the loop in a disassembled function: lines of `(address, mnemonic, operands)`.
fn loop_of(function: &[(u64, String, String)]) -> Seen {
    let back = function.iter().enumerate().find_map(|(at, (address, mnemonic, operands))| {
        let target = operands.split_whitespace().next()?;
        let target = u64::from_str_radix(target, 16).ok()?;
        (mnemonic == "jne" && target < *address).then_some((at, target))
    });
    let (last, target) = back.expect("a jump back");
    let first = function.iter().position(|(address, ..)| *address == target).expect("its target");
    let mut seen = Seen::default();
    for (_, mnemonic, operands) in &function[first..=last] {
        seen.instructions += 1;
        seen.fp_ops += fp_ops(mnemonic, operands);
        seen.multiplications += u64::from(mnemonic == "imul");
        let mut sides = operands.split(',').map(|side| side.contains('['));
        seen.stores += u64::from(sides.next() == Some(true));
        seen.loads += u64::from(sides.any(|memory| memory));
    }
    seen
}

/// Functions of the loops in the output of `objdump`, by name.
fn functions(listing: &str) -> BTreeMap<String, Vec<(u64, String, String)>> {
    let mut all: BTreeMap<String, Vec<_>> = BTreeMap::new();
    let mut current = None;
    for line in listing.lines() {
        if let Some((_, name)) = line.strip_suffix(">:").and_then(|head| head.split_once('<')) {
            current = name.strip_prefix("topas_doctor::sys::arch::").map(str::to_owned);
        } else if let (Some(name), Some((address, code))) = (&current, line.split_once(':')) {
            let address = u64::from_str_radix(address.trim(), 16).expect("an address");
            let (mnemonic, operands) = code.trim().split_once(' ').unwrap_or((code.trim(), ""));
            let entry = (address, mnemonic.to_owned(), operands.trim().to_owned());
            all.entry(name.clone()).or_default().push(entry);
        }
    }
    all
}

#[test]
fn the_disassembler_sees_the_work_of_every_loop() {
    let mut objdump = Command::new("objdump");
    objdump.args(["-d", "-C", "-M", "intel", "--no-show-raw-insn"]).arg(this_program());
    let listing = match objdump.output() {
        Ok(output) if output.status.success() => String::from_utf8(output.stdout).unwrap(),
        Ok(output) => panic!("objdump: {}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => return skip(&format!("disassembly of the loops: no objdump: {error}")),
    };
    let functions = functions(&listing);
    let mut widths = [0; 3];
    for known in sys::loops() {
        let function = functions.get(known.symbol).unwrap_or_else(|| panic!("no {}", known.symbol));
        let work = known.work;
        let expected = Seen {
            instructions: work.instructions,
            fp_ops: work.fp_ops,
            loads: work.loads,
            stores: work.stores,
            multiplications: work.chained,
        };
        assert_eq!(loop_of(function), expected, "{}", known.name);
        for (width, register) in ["xmm", "ymm", "zmm"].iter().enumerate() {
            widths[width] += u32::from(function.iter().any(|(.., o)| o.starts_with(register)));
        }
    }
    // Every loop clears its registers with SSE; four of each wider kind work on it.
    assert_eq!((widths[1], widths[2]), (4, 4));
}

/// Runs every loop that this processor, real or simulated, has.
fn run_loops(iterations: u64) {
    let mut memory = Memory::new();
    for known in sys::loops() {
        known.run(iterations, &mut memory);
    }
}

/// Costs of a loop's function under the simulator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cost {
    instructions: u64,
    reads: u64,
    writes: u64,
    read_misses: u64,
}

/// Sums the costs of the loops' functions in callgrind's output: names may be given once
/// and then as `(number)`; the line after `calls=` is the cost of others.
fn costs(text: &str) -> BTreeMap<String, Cost> {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    let mut all: BTreeMap<String, Cost> = BTreeMap::new();
    let (mut current, mut of_others) = (None, false);
    for line in text.lines() {
        let function = ["fn=", "cfn="].iter().find_map(|key| line.strip_prefix(key));
        if let Some(function) = function {
            let (number, name) = function.split_once(' ').unwrap_or((function, ""));
            if !name.is_empty() {
                names.insert(number, name);
            }
            if line.starts_with("fn=") {
                let name = names.get(number).copied().unwrap_or_default();
                current = name.split_once("sys::arch::").map(|(_, tail)| {
                    tail.split("::").next().unwrap_or(tail).split('\'').next().unwrap_or(tail)
                });
            }
        } else if line.starts_with("calls=") {
            of_others = true;
        } else if line.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) {
            if std::mem::take(&mut of_others) {
                continue;
            }
            if let Some(name) = current {
                let mut numbers = line.split(' ').skip(1).map(|n| n.parse().unwrap_or(0));
                let mut next = || numbers.next().unwrap_or(0u64);
                let cost = all.entry(name.to_owned()).or_default();
                cost.instructions += next();
                cost.reads += next();
                cost.writes += next();
                next();
                cost.read_misses += next();
            }
        }
    }
    all
}

/// Runs this test again under callgrind with so many iterations of each loop.
///
/// # Errors
/// Why that cannot be done here.
fn simulate(iterations: usize, dir: &Path) -> Result<BTreeMap<String, Cost>, String> {
    let out = dir.join(iterations.to_string());
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--cache-sim=yes", "--D1=32768,8,64", "--quiet"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(this_program())
        .args(["--exact", "the_simulator_counts_the_work_of_every_loop", "--test-threads=1"])
        .env(ITERATIONS, iterations.to_string())
        .stdout(Stdio::null())
        .output()
        .map_err(|error| format!("no valgrind: {error}"))?;
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
    let text = std::fs::read_to_string(out).expect("callgrind's output");
    assert!(text.contains("\nevents: Ir Dr Dw I1mr D1mr "), "other events than expected");
    Ok(costs(&text))
}

/// Two runs, of which one makes twice the iterations: their difference is the loop alone.
#[test]
fn the_simulator_counts_the_work_of_every_loop() {
    if let Ok(iterations) = std::env::var(ITERATIONS) {
        return run_loops(iterations.parse().expect("a number"));
    }
    let dir = tempfile::tempdir().unwrap();
    let runs = [LINES, 2 * LINES].map(|iterations| simulate(iterations, dir.path()));
    let [once, twice] = match runs {
        [Ok(once), Ok(twice)] => [once, twice],
        [Err(reason), _] | [_, Err(reason)] => {
            return skip(&format!("simulation of the loops: {reason}"));
        }
    };
    let simulated: Vec<&Loop> = sys::loops().filter(|l| once.contains_key(l.symbol)).collect();
    // The simulator has no AVX-512, and AVX only on hosts that have it.
    assert!(simulated.len() >= 8, "{once:?}");
    let lines = LINES as u64;
    for known in simulated {
        let (a, b) = (once[known.symbol], twice[known.symbol]);
        let each = Cost {
            instructions: (b.instructions - a.instructions) / lines,
            reads: (b.reads - a.reads) / lines,
            writes: (b.writes - a.writes) / lines,
            read_misses: 0,
        };
        let work = known.work;
        let expected = Cost {
            instructions: work.instructions,
            reads: work.loads,
            writes: work.stores,
            read_misses: 0,
        };
        assert_eq!(each, expected, "{}", known.name);
        // What surrounds the loop is the same in both runs, and no more than a handful.
        assert!(a.instructions - work.instructions * lines < 100, "{}: {a:?}", known.name);
        let misses = b.read_misses - a.read_misses;
        let wanted = work.misses * lines;
        assert!(misses.abs_diff(wanted) <= lines / 1000, "{}: {misses} of {wanted}", known.name);
    }
}
