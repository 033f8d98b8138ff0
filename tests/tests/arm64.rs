//! The module for AArch64, under qemu's user mode. Ignored unless asked for.

use std::path::Path;
use std::process::Command;

use topas_format::field::Lib;
use topas_tests::record::read_log;
use topas_tests::running::{run, run_cargo};
use topas_tests::site::{Scratch, xtask};

const TARGET: &str = "aarch64-unknown-linux-gnu";

/// Processors that qemu plays, and why nothing is counted: it plays a kernel without perf
/// events, the first has no event for FP operations, the second is in no row.
const PROCESSORS: [(&str, &str); 2] =
    [("neoverse-n1", "f:event,m:kernel"), ("cortex-a53", "f:cpu,m:kernel")];

#[test]
#[ignore = "cargo xtask test --arm64"]
fn under_qemu() {
    let scratch = Scratch::new();
    run_cargo(xtask().args(["object", "--target", TARGET, "--out"]).arg(scratch.path())).good();
    let source = scratch.path().join("a.c");
    std::fs::write(&source, "int main(void) { return 5; }\n").expect("source");

    for way in ["-O1", "-static", "-static-pie"] {
        let program = scratch.path().join("program");
        let mut link = Command::new("aarch64-linux-gnu-gcc");
        link.arg(way).arg(&source).arg(scratch.path().join("topas.cxx.o")).arg("-o").arg(&program);
        run(&mut link).good();
        for (processor, why) in PROCESSORS {
            for rank in 0..3 {
                let mut qemu = Command::new("qemu-aarch64-static");
                qemu.args(["-L", "/usr/aarch64-linux-gnu", "-cpu", processor]).arg(&program);
                qemu.env("OMPI_COMM_WORLD_RANK", rank.to_string()).env("OMPI_COMM_WORLD_SIZE", "4");
                qemu.env("PMIX_NAMESPACE", "12").env("TOPAS_PE", "1").env("LOGNAME", "ada");
                qemu.env("TOPAS_LOG", format!("file:{}", scratch.log().display()));
                let ended = run(&mut qemu);
                assert_eq!(ended.code(), 5, "{way}: {}", ended.err());
                assert_eq!(ended.err(), "", "{way}");
            }
            let lines = scratch.take_log();
            let [line] = lines.as_slice() else { panic!("{way}: {} lines", lines.len()) };
            assert_eq!((line.pe, line.npes, line.lib), (1, 4, Lib::None), "{}", line.text);
            assert_eq!((line.user.as_slice(), line.exe.as_slice()), (&b"ada"[..], &b"program"[..]));
            assert_eq!((line.extra("end"), line.extra("why")), ("exit:5", why), "{}", line.text);
        }
    }
    every_rank(&scratch, &source);
}

/// The extended module: a line of each rank.
fn every_rank(scratch: &Scratch, source: &Path) {
    let program = scratch.path().join("program");
    let mut link = Command::new("aarch64-linux-gnu-gcc");
    link.args(["-static", "-o"]).arg(&program).arg(source);
    run(link.arg(scratch.path().join("topas.c.all.o"))).good();
    for rank in 0..3 {
        let mut qemu = Command::new("qemu-aarch64-static");
        qemu.arg(&program).current_dir(scratch.path()).env("LOGNAME", "ada").env("TOPAS_PE", "1");
        qemu.env("OMPI_COMM_WORLD_RANK", rank.to_string()).env("OMPI_COMM_WORLD_SIZE", "3");
        qemu.env("OMPI_COMM_WORLD_LOCAL_SIZE", "3").env("PMIX_NAMESPACE", "12");
        qemu.env("TOPAS_LOG", format!("file:{}", scratch.log().display()));
        assert_eq!(run(&mut qemu).ends(5).err(), "");
    }
    let ranks: Vec<u32> =
        read_log(&scratch.path().join("topas.out")).iter().map(|line| line.pe).collect();
    assert_eq!(ranks, [0, 1, 2]);
    assert_eq!(scratch.take_log().len(), 1);
}
