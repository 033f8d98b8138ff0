//! Programs of all kinds, one measuring rank at a time: how each is measured, what it sees.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use topas_format::field::{Lang, Lib};
use topas_tests::build::{plain, source, with_module};
use topas_tests::running::{command, have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

use crate::{as_rank, built, measuring, one_line, silent, topas_run};

fn script(path: &Path, text: &str) {
    fs::write(path, text).expect("write a script");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("mode of a script");
}

#[test]
fn a_rank_that_does_not_measure_becomes_the_program() {
    let scratch = Scratch::new();
    let program = built(&scratch, "c/says.c", "says");
    for rank in [0, 3] {
        let ended = run(as_rank(&scratch, rank).arg(&program)).ends(3);
        assert_eq!(ended.out(), "result 42\n");
    }
    assert!(scratch.take_log().is_empty());
}

/// It opens nothing, and asks the kernel hardly anything, before it is the program.
#[test]
fn a_rank_that_does_not_measure_costs_little() {
    let test = "a_rank_that_does_not_measure_costs_little";
    if !have("strace") {
        return skip(test, "no strace");
    }
    let scratch = Scratch::new();
    let program = built(&scratch, "c/says.c", "says");
    let report = scratch.path().join("report");
    let rank = as_rank(&scratch, 0);
    let mut strace = command("strace");
    strace.envs(rank.get_envs().filter_map(|(name, value)| Some((name, value?))));
    strace.arg("-o").arg(&report).arg(topas_run()).arg(&program);
    run(&mut strace).ends(3);
    let text = fs::read_to_string(report).expect("the report of strace");
    let calls: Vec<&str> = text.lines().collect();
    let becomes = calls.iter().skip(1).position(|call| call.starts_with("execve(")).unwrap() + 1;
    // The loader is done when it unmaps its cache.
    let loaded = calls[..becomes].iter().rposition(|call| call.starts_with("munmap(")).unwrap();
    let own = &calls[loaded + 1..becomes];
    assert!(own.len() <= 8 && !own.iter().any(|call| call.contains("open")), "{own:#?}");
}

#[test]
fn what_may_stand_between() {
    let scratch = Scratch::new();
    built(&scratch, "c/says.c", "says");
    for (words, exe, end) in [
        ("./says", "says", "exit:3"),
        ("env ./says", "says", "exit:3"),
        ("nice -n 1 env A=b ./says", "says", "exit:3"),
        ("taskset -c 0 ./says", "says", "exit:3"),
        ("stdbuf -oL ./says", "says", "exit:3"),
        ("sh -c ./says", "sh", "exit:3"),
        ("sh -c exec\u{a0}./says", "sh", "exit:3"),
        ("timeout 60 ./says", "timeout", "exit:3"),
        ("setsid -w ./says", "setsid", "exit:3"),
        ("--outside ./says", "says", "exit:3"),
        ("-- ./says", "says", "exit:3"),
    ] {
        let words: Vec<_> = words.split(' ').map(|word| word.replace('\u{a0}', " ")).collect();
        if words[0].starts_with(char::is_alphabetic) && !have(&words[0]) {
            skip("what_may_stand_between", &format!("no {} on this machine", words[0]));
            continue;
        }
        let ended = run(measuring(&scratch).args(&words)).ends(3);
        assert_eq!(ended.out(), "result 42\n", "{words:?}");
        assert_eq!(ended.err(), "a warning of the program\n", "{words:?}");
        let line = one_line(&scratch);
        let shown = (line.exe.as_slice(), line.extra("end"), line.pe);
        assert_eq!(shown, (exe.as_bytes(), end, 1), "{words:?}");
    }
}

/// What a script of a shell starts is measured with it, and none of it a second time.
#[test]
fn scripts_that_start_many_programs() {
    let scratch = Scratch::new();
    let site = Site::shared();
    plain(site, "c/says.c", false, &scratch.path().join("linked"));
    built(&scratch, "c/says.c", "says");
    script(
        &scratch.path().join("job.sh"),
        "#!/bin/sh\n\
         for i in 1 2 3 4 5 6 7 8 9 10; do echo $i | sed s/1/x/ | tr x y; done\n\
         (./says; ./linked) 2>&1 | wc -l\n\
         i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done\n\
         echo ${LD_PRELOAD-none}\n\
         exit 5\n",
    );
    let ended = silent(measuring(&scratch).arg("./job.sh")).ends(5);
    assert_eq!(ended.out(), "y\n2\n3\n4\n5\n6\n7\n8\n9\ny0\n4\nnone\n");
    let line = one_line(&scratch);
    assert_eq!((line.exe.as_slice(), line.lang), (&b"job.sh"[..], Lang::Unknown));
    assert_eq!(line.extra("end"), "exit:5");
    // The processor time is that of the shell and of all that it waited for.
    let user: f64 = line.text.split(' ').nth(10).unwrap().parse().unwrap();
    assert!(user > 0.01, "{}", line.text);
}

/// One measurement, by the module.
#[test]
fn a_program_with_the_module_measures_itself() {
    let scratch = Scratch::new();
    let site = Site::shared();
    for (name, options) in [("dynamic", &[][..]), ("stripped", &["-s"]), ("static", &["-static"])] {
        let program = scratch.path().join(name);
        let mut gcc = command("gcc");
        gcc.args(options).arg(source("c/says.c")).arg(with_module(site, "c"));
        run(gcc.arg("-o").arg(&program)).good();
        for words in [&[][..], &["env"], &["--outside"]] {
            let mut command = measuring(&scratch);
            run(command.args(words).arg(&program)).ends(3);
            let lines = scratch.take_log();
            assert_eq!(lines.len(), 1, "{name}: {lines:#?}");
            assert!(!lines[0].extras.contains_key("via"), "{}", lines[0].text);
        }
    }
    // A library that has the module, in a program that has not.
    let library = scratch.path().join("libpart.so");
    let init = site.module("c").with_extension("init.o");
    let mut gcc = command("gcc");
    gcc.args(["-shared", "-fPIC"]).arg(source("c/part.c")).arg(&init).arg("-o").arg(&library);
    run(&mut gcc).good();
    let program = scratch.path().join("uses_part");
    let mut gcc = command("gcc");
    gcc.arg(source("c/uses_part.c")).arg(&library).arg("-o").arg(&program);
    run(gcc.arg(format!("-Wl,-rpath,{}", scratch.path().display()))).good();
    silent(measuring(&scratch).arg(&program)).good();
    one_line(&scratch);
}

#[test]
fn programs_for_musl() {
    if !have("musl-gcc") {
        return skip("programs_for_musl", "no musl-gcc");
    }
    let scratch = Scratch::new();
    for (name, options) in [("dynamic", &[][..]), ("static", &["-static"])] {
        let program = scratch.path().join(name);
        let mut gcc = command("musl-gcc");
        run(gcc.args(options).arg(source("c/says.c")).arg("-o").arg(&program)).good();
        run(measuring(&scratch).arg(&program)).ends(3);
        let line = one_line(&scratch);
        // musl does not tell its exit handlers the status; from outside it is seen.
        let end = line.extras.get("end").map(String::as_str);
        assert_eq!(end, (name == "static").then_some("exit:3"), "{}", line.text);
    }
}

/// Of another kind of machine: nothing is loaded, and no loader complains.
#[test]
fn programs_of_32_bits() {
    if !cfg!(target_arch = "x86_64") {
        return skip("programs_of_32_bits", "for x86-64");
    }
    let scratch = Scratch::new();
    let at = |name: &str| scratch.path().join(name);
    let code = ".globl _start\n_start: movl $1, %eax\n movl $7, %ebx\n int $0x80\n";
    fs::write(at("a.s"), code).expect("write");
    run(command("as").arg("--32").arg("-o").arg(at("a.o")).arg(at("a.s"))).good();
    run(command("ld").args(["-m", "elf_i386", "-o"]).arg(at("a")).arg(at("a.o"))).good();
    if run(&mut command(at("a"))).code() != 7 {
        return skip("programs_of_32_bits", "the kernel runs no programs of 32 bits");
    }
    silent(measuring(&scratch).arg("./a")).ends(7);
    assert_eq!(one_line(&scratch).extra("end"), "exit:7");
}

/// A checker of memory that refuses to be the second library in a program.
#[test]
fn memory_checkers_run() {
    let scratch = Scratch::new();
    let program = scratch.path().join("checked");
    let mut gcc = command("gcc");
    gcc.args(["-fsanitize=address", "-O1"]).arg(source("c/says.c")).arg("-o").arg(&program);
    if run(&mut gcc).code() != 0 {
        return skip("memory_checkers_run", "gcc has no libasan");
    }
    let ended = run(measuring(&scratch).arg(&program)).ends(3);
    assert_eq!(ended.err(), "a warning of the program\n");
    assert_eq!(one_line(&scratch).extra("end"), "exit:3");
}

/// Threads that a library starts before `main` are counted with the program: theirs is the
/// processor time.
#[test]
fn python_with_threads_of_numpy() {
    const PYTHON: &str = "/usr/bin/python3";
    if run(command(PYTHON).args(["-c", "import numpy"])).code() != 0 {
        return skip("python_with_threads_of_numpy", "no numpy on this machine");
    }
    let scratch = Scratch::new();
    let text = "import numpy, sys; a = numpy.ones((600, 600)); b = a @ a @ a; \
                sys.stdout.write(str(b[0, 0]))";
    let ended = silent(measuring(&scratch).args([PYTHON, "-c", text])).good();
    assert_eq!(ended.out(), "360000.0");
    let line = one_line(&scratch);
    assert_eq!(line.lib, Lib::None, "{}", line.text);
}

/// Rust's library sets handlers only where it finds the default.
#[test]
fn a_full_stack_of_a_rust_program_is_told_by_rust() {
    let scratch = Scratch::new();
    let program = scratch.path().join("overflow");
    let mut rustc = Command::new("rustc");
    rustc.args(["-O", "-Cstrip=symbols"]).arg(source("rust/overflow.rs")).arg("-o").arg(&program);
    run(&mut rustc).good();
    let bare = run(command(&program).current_dir(scratch.path()));
    assert!(bare.err().contains("overflowed its stack"), "{}", bare.err());
    // As packages have it, too.
    for removed in [".none", ".comment"] {
        run(command("objcopy").arg(format!("--remove-section={removed}")).arg(&program)).good();
        let ended = run(measuring(&scratch).arg(&program));
        assert_eq!(ended.code(), bare.code());
        assert!(ended.err().contains("overflowed its stack"), "{}", ended.err());
        one_line(&scratch);
    }
}

#[test]
fn what_cannot_be_run() {
    let scratch = Scratch::new();
    fs::write(scratch.path().join("text"), "x").expect("write");
    script(&scratch.path().join("lost"), "#!/nonexistent/interpreter\n");
    script(&scratch.path().join("bare"), "exit 6\n");
    for rank in [0, 1] {
        for (word, code, said) in [
            ("./none", 127, "topas-run: error: no program `./none`\n"),
            ("none-of-that-name", 127, "topas-run: error: no program `none-of-that-name`\n"),
            ("./lost", 127, "topas-run: error: no program `./lost`\n"),
            ("./text", 126, "topas-run: error: cannot run ./text\n"),
            ("/", 126, "topas-run: error: cannot run /\n"),
            ("./bare", 6, ""),
        ] {
            let ended = run(as_rank(&scratch, rank).arg(word)).ends(code);
            assert!(ended.err().starts_with(said), "{word}: {}", ended.err());
            assert_eq!(ended.err().is_empty(), said.is_empty(), "{word}: {}", ended.err());
            assert_eq!(scratch.take_log().len(), usize::from(rank == 1 && code == 6), "{word}");
        }
    }
    for (words, said) in [
        (&["--none"][..], "topas-run: error: unknown option `--none`\n"),
        (&[], "topas-run: error: no program given\n"),
    ] {
        let ended = run(measuring(&scratch).args(words)).ends(125);
        assert!(ended.err().starts_with(said) && ended.err().contains("hint: "), "{}", ended.err());
    }
}

/// Set-user-id programs see no such environment, and are not measured.
#[test]
fn programs_with_the_rights_of_others() {
    let scratch = Scratch::new();
    let program = built(&scratch, "c/says.c", "says");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).expect("mode");
    let ended = run(measuring(&scratch).env("TOPAS_VERBOSE", "1").arg(&program)).ends(3);
    assert!(ended.err().contains("runs with the rights of another"), "{}", ended.err());
    assert!(scratch.take_log().is_empty());
}

/// Switched off, or refused by the site: the program and nothing else.
#[test]
fn switched_off() {
    let scratch = Scratch::new();
    let program = built(&scratch, "c/says.c", "says");
    run(measuring(&scratch).env("TOPAS", "off").arg(&program)).ends(3);
    assert!(scratch.take_log().is_empty());

    let prefix = scratch.sub("prefix");
    let site = Site::installed_at(&prefix);
    let conf = fs::read_to_string(site.conf()).expect("topas.conf");
    for (words, key, measured) in [
        ("", "", true),
        ("measure = no", "measure", false),
        ("min_pes = 8", "min_pes", false),
        ("skip_exe = sa*", "skip_exe", false),
        ("only_user = nobody", "only_user", false),
        ("batch_only = yes", "batch_only", false),
    ] {
        fs::write(site.conf(), format!("{conf}\n{words}\n")).expect("write topas.conf");
        for outside in [&[][..], &["--outside"]] {
            let mut command = scratch.command(site.tool("topas-run"));
            command.env("TOPAS_VERBOSE", "1").env("TOPAS_PE", "1,2");
            topas_tests::mpi_installation::emulate_rank(&mut command, 1, 4, crate::KEY);
            let ended = run(command.args(outside).arg(&program)).ends(3);
            assert_eq!(scratch.take_log().len(), usize::from(measured), "{words} {outside:?}");
            assert_eq!(ended.err().contains(&format!("({key})")), !measured, "{}", ended.err());
        }
    }
    // A program alone is measured where the site measures such programs.
    fs::write(site.conf(), format!("{conf}\nserial = yes\n")).expect("write topas.conf");
    for outside in [&[][..], &["--outside"]] {
        let mut command = scratch.command(site.tool("topas-run"));
        run(command.args(outside).arg(&program)).ends(3);
        let line = one_line(&scratch);
        assert_eq!((line.pe, line.npes), (0, 1), "{}", line.text);
    }
    // Without the library it is measured all the same, and said.
    fs::write(site.conf(), conf).expect("write topas.conf");
    fs::remove_file(prefix.join("lib/topas/libtopas-run.c.so")).expect("remove the library");
    let mut command = scratch.command(site.tool("topas-run"));
    command.env("TOPAS_PE", "1,2");
    topas_tests::mpi_installation::emulate_rank(&mut command, 1, 4, crate::KEY);
    let ended = run(command.arg(&program)).ends(3);
    assert!(ended.err().contains("topas-run: warning: library "), "{}", ended.err());
    one_line(&scratch);
}

/// Standard input reaches the program, and its output the next one.
#[test]
fn streams_pass_through() {
    let scratch = Scratch::new();
    let input: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
    fs::write(scratch.path().join("input"), &input).expect("write");
    for options in ["", "--outside"] {
        let tool = topas_run().display().to_string();
        let mut shell = command("sh");
        shell.envs(measuring(&scratch).get_envs().filter_map(|(n, v)| Some((n, v?))));
        shell.current_dir(scratch.path());
        let script = format!("cat input | {tool} {options} sort -n -k 2 | {tool} {options} cat");
        let ended = silent(shell.args(["-c", &script])).good();
        assert!(ended.out() == input, "{options}: {} B", ended.out().len());
        assert_eq!(scratch.take_log().len(), 2, "{options}");
        // Who reads may go away first.
        let script = format!("{tool} {options} yes | head -n 1");
        assert_eq!(silent(shell_again(&shell).args(["-c", &script])).good().out(), "y\n");
        scratch.take_log();
    }
}

/// The same command without its arguments.
fn shell_again(shell: &std::process::Command) -> std::process::Command {
    let mut again = command("sh");
    again.envs(shell.get_envs().filter_map(|(name, value)| Some((name, value?))));
    again.current_dir(shell.get_current_dir().expect("a directory"));
    again
}

#[test]
fn what_would_be_done_is_told() {
    let scratch = Scratch::new();
    built(&scratch, "c/says.c", "says");
    for (rank, words, decision) in [
        (1, "./says", "measure, with a library loaded into it"),
        (1, "sh -c x", "measure from outside: a shell, with all that it starts"),
        (0, "./says", "run without measuring: other ranks of this run measure"),
        (1, "./none", "run without measuring: no such program"),
    ] {
        let mut command = as_rank(&scratch, rank);
        let told = silent(command.arg("--explain").args(words.split(' '))).good().out();
        let expected = format!("decision:      {decision}\n");
        assert!(told.contains(&expected), "{words}: {told}");
        assert!(told.ends_with(&format!("command:       {words}\n")), "{told}");
    }
    assert!(scratch.take_log().is_empty());
}
