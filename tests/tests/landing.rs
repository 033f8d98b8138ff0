//! Programs whose processor insists on landing pads and a shadow stack: the module does not take
//! that from them.

use std::path::Path;
use std::process::Command;

use topas_tests::build::{source, with_module};
use topas_tests::mpi_installation::emulate_rank;
use topas_tests::running::{command, have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

const KEY: &str = "0123456789abcdef-0123456789abcdef";

/// A start file with landing pads, which not every system's has.
const START: &str = ".globl _start\n_start: endbr64\nxor %ebp, %ebp\nmov %rdx, %r9\npop %rsi\n\
    mov %rsp, %rdx\nand $-16, %rsp\npush %rax\npush %rsp\nxor %r8d, %r8d\nxor %ecx, %ecx\n\
    lea main(%rip), %rdi\ncall *__libc_start_main@GOTPCREL(%rip)\nhlt\n\
    .section .note.GNU-stack, \"\", @progbits\n\
    .section .note.gnu.property, \"a\"\n.balign 8\n.long 4, 16, 5, 0x554e47, 0xc0000002, 4, 3, 0\n";

/// What an executable says of itself.
fn features(program: &Path) -> String {
    run(command("readelf").arg("-nW").arg(program)).good().out()
}

#[test]
#[cfg(target_arch = "x86_64")]
fn links_that_insist() {
    let site = Site::shared();
    let scratch = Scratch::new();
    let path = |name: &str| scratch.path().join(name);
    std::fs::write(path("start.s"), START).expect("source");
    let program = path("program");
    for (linker, insist) in [
        ("bfd", &["-Wl,-z,cet-report=error"][..]),
        ("lld", &["-Wl,-z,cet-report=error", "-Wl,-z,force-ibt", "-Wl,-z,shstk"]),
    ] {
        if !have(&format!("ld.{linker}")) {
            skip("links_that_insist", &format!("no ld.{linker}"));
            continue;
        }
        for variant in ["", "c", "c.serial", "c.init", "cxx", "f90", "c.all", "c.all.init"] {
            for way in ["-pie", "-no-pie"] {
                let mut link: Command = command("gcc");
                link.args(["-fcf-protection=full", "-nostartfiles", way]).args(insist);
                link.arg(format!("-fuse-ld={linker}")).arg(path("start.s"));
                link.arg(source("c/no_mpi.c")).arg("-o").arg(&program);
                if !variant.is_empty() {
                    link.arg(with_module(site, variant));
                }
                let case = format!("{linker} {way} {variant}");
                assert_eq!(run(&mut link).good().err(), "", "{case}");
                let features = features(&program);
                assert!(features.contains("IBT, SHSTK"), "{case}: {features}");
                if variant.is_empty() {
                    continue;
                }
                let mut rank = scratch.command(&program);
                emulate_rank(&mut rank, 1, 4, KEY);
                run(rank.env("TOPAS_PE", "1").env("TOPAS_OUT", path("topas.out"))).good();
                assert_eq!(scratch.take_log().len(), 1, "{case}");
            }
        }
    }
}

/// Static ones, with nothing of a libc that may have no landing pads.
#[test]
#[cfg(target_arch = "x86_64")]
fn static_links_that_insist() {
    let scratch = Scratch::new();
    let file = scratch.path().join("static.c");
    let libc = "char **environ; int __cxa_atexit(void) { return 1; }\n\
                unsigned long getauxval(unsigned long t) { return t - t; }\n\
                void _start(void) { __builtin_trap(); }\n";
    std::fs::write(&file, libc).expect("source");
    let program = scratch.path().join("program");
    for linker in ["bfd", "lld"] {
        if !have(&format!("ld.{linker}")) {
            skip("static_links_that_insist", &format!("no ld.{linker}"));
            continue;
        }
        let mut link = command("gcc");
        link.args(["-fcf-protection=full", "-static", "-nostdlib", "-Wl,-z,cet-report=error"]);
        link.arg(format!("-fuse-ld={linker}")).arg(&file).arg("-o").arg(&program);
        run(link.arg(with_module(Site::shared(), "c"))).good();
        assert!(features(&program).contains("IBT, SHSTK"), "{linker}: {}", features(&program));
    }
}

/// What the linker makes a function pointer lead to begins with a landing pad in the finished
/// program, too, and the libraries that are loaded say the same as the object.
#[test]
#[cfg(target_arch = "x86_64")]
fn libraries_have_landing_pads() {
    let site = Site::shared();
    let dir = site.module("c").parent().expect("a directory").to_owned();
    let mut seen = 0;
    for file in std::fs::read_dir(&dir).expect("directory").flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        if name.ends_with(".so") || name.ends_with(".o") {
            let features = features(&file.path());
            assert!(features.contains("IBT, SHSTK"), "{name}: {features}");
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen} files in {}", dir.display());
}
