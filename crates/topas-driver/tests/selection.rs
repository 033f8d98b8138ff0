//! Which module, and which programs go without: all ranks, answers, lists, symbols, linkers.

mod site;

use std::fs;
use std::process::Command;

use site::{Site, text};
use topas_testkit::fake_compiler::FakeCompiler;
use topas_testkit::scratch::empty_object;

const LINK: &[&str] = &["a.c", "-o", "a"];

/// Standard error of a verbose call.
fn note(site: &Site, name: &str, args: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = site.command(name);
    command.args(args).env("TOPAS_VERBOSE", "1").envs(variables.iter().copied());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    text(&output.stderr)
}

#[test]
fn every_way_to_ask_for_all_ranks() {
    let site = Site::new();
    let all = site.scratch.variant("c", "all");
    fs::write(&all, empty_object()).unwrap();
    let word = site.word(&all);
    for value in ["1", "yes", ""] {
        let mut command = site.command("mpicc");
        let call = site.call(command.args(LINK).env("TOPAS_MEASURE_ALL_PE", value));
        assert_eq!(call.args[4..], *std::slice::from_ref(&word), "{value:?}");
    }
    let mut command = site.command("mpicc");
    let call = site.call(command.args(LINK).env("TOPAS_MEASURE_ALL_PE", "no"));
    assert_eq!(call.args[4..], site.module_words("c"));

    let call = site.call(site.command("mpicc").args(["a.o", "/cld/topas.cld", "-o", "a"]));
    assert_eq!(call.args[1..], ["a.o".into(), "-o".into(), "a".into(), word.clone()]);
    fs::write(site.work().join("cld.rsp"), "topas.cld 'b c.o'").unwrap();
    let call = site.call(site.command("mpicc").args(["a.o", "@cld.rsp"]));
    assert_eq!(call.args[1..], ["a.o".into(), "b c.o".into(), word.clone()]);

    // The command `topas`, from a PATH without the drivers.
    let topas = |args: &[&str]| {
        let mut command = Command::new(site.scratch.command());
        command.env_clear().args(args).current_dir(site.work());
        command.env("PATH", site.fake.dir()).env("FAKE_COMPILER_LOG", site.fake.log());
        command
    };
    let real = site.fake.dir().join("mpicc");
    for name in ["mpicc", real.to_str().unwrap()] {
        let call = site.call(topas(&[name, "a.c"]).env("FAKE_COMPILER_ENV", "PATH"));
        assert_eq!(call.args, [real.clone().into(), "a.c".into(), word.clone()], "{name}");
        let path = call.env["PATH".as_ref() as &std::ffi::OsStr].clone();
        assert_eq!(path, site.scratch.path_before(&[site.fake.dir()]), "{name}");
    }
    // A name of a set that is not on PATH, and a command that is no driver.
    FakeCompiler::install(site.fake.dir(), &["gcc", "make"]);
    let call = site.call(topas(&["gcc", "a.c"]).env("FAKE_COMPILER_ENV", "PATH"));
    assert_eq!(call.args.last(), Some(&word));
    let call = site.call(topas(&["make", "-j2"]).env("FAKE_COMPILER_ENV", "TOPAS_MEASURE_ALL_PE"));
    assert_eq!(call.args, ["make", "-j2"]);
    assert_eq!(call.env.len(), 1);
    let output = topas(&["nosuch"]).output().unwrap();
    assert_eq!(output.status.code(), Some(127));
    assert!(text(&output.stderr).starts_with("topas: error: no program `nosuch`"), "{output:?}");
}

#[test]
fn without_the_module_of_all_ranks_the_ordinary_one_is_linked_and_said() {
    let site = Site::new();
    let variables = [("TOPAS_MEASURE_ALL_PE", "1")];
    let said = note(&site, "mpicc", LINK, &variables);
    assert!(said.starts_with("mpicc: note: all ranks cannot be measured: module "), "{said}");
    assert!(said.contains("topas.c.all.o: ") && said.lines().count() == 1, "{said}");
    let calls = site.fake.take_calls();
    assert_eq!(calls[0].args[4..], site.module_words("c"));
    assert_eq!(note(&site, "mpicc", &["-c", "a.c"], &variables), "");
    let said = note(&site, "mpicc", &["-showme:link"], &variables);
    assert!(said.contains("topas.c.all.init.o: "), "{said}");
}

#[test]
fn off_passes_all_but_the_word_that_only_we_know() {
    let site = Site::new();
    let mut command = site.command("mpicc");
    command.args(["a.o", "topas.cld", "-o", "topas.cld"]).env("TOPAS", "off");
    assert_eq!(site.call(&mut command).args[1..], ["a.o", "-o", "topas.cld"]);
}

#[test]
fn an_answer_carries_the_module_for_libraries() {
    let site = Site::new();
    let word = site.word(&site.scratch.variant("c", "init"));
    for args in [&["-show"][..], &["-showme:link"], &["-link_info"], &["-show", "a.o", "-o", "a"]] {
        site.expect("mpicc", args, std::slice::from_ref(&word));
    }
    for args in [&["-showme:compile"][..], &["-compile_info"], &["-showme:version"], &["-v"]] {
        site.expect("mpicc", args, &[]);
    }
    let all = site.scratch.variant("c", "all.init");
    fs::write(&all, empty_object()).unwrap();
    let mut command = site.command("mpicc");
    let call = site.call(command.arg("-show").env("TOPAS_MEASURE_ALL_PE", "1"));
    assert_eq!(call.args[1..], ["-show".into(), site.word(&all)]);
    // Open MPI's leaves its flags out if an option is there and no input.
    let real = site.fake.dir().join("opal_wrapper");
    fs::rename(site.fake.dir().join("mpicc"), &real).unwrap();
    std::os::unix::fs::symlink(&real, site.fake.dir().join("mpicc")).unwrap();
    site.expect("mpicc", &["-show"], &[word.clone(), "".into()]);
    site.expect("mpicc", &["-show", "-O2"], &[]);
    site.expect("mpicc", &["-show", "a.o"], std::slice::from_ref(&word));
    site.expect("mpicc", &["-showme:link", "-O2"], std::slice::from_ref(&word));
    site.scratch.configure("link = no\n");
    site.expect("mpicc", &["-show"], &[]);
    // What a compiler itself means by -show is its own affair.
    site.scratch.configure("");
    FakeCompiler::install(site.fake.dir(), &["nvc"]);
    let call = site.call(site_command(&site, "nvidia", "nvc").arg("-show"));
    assert_eq!(call.args[1..], ["-show"]);
}

/// A command by a name of another set.
fn site_command(site: &Site, set: &str, name: &str) -> Command {
    let mut command = Command::new(site.scratch.wrappers_of(set).join(name));
    command.env_clear().current_dir(site.work()).env("FAKE_COMPILER_LOG", site.fake.log());
    command.env("PATH", site.scratch.path_before(&[site.fake.dir()]));
    command
}

#[test]
fn lists_and_the_kill_switch_count_at_link_time() {
    let site = Site::new();
    let word = site.module_words("c");
    site.scratch.configure("skip_exe = conftest cmTC_*\n");
    site.expect("mpicc", &["c.c", "-o", "conftest"], &[]);
    site.expect("mpicc", &["c.c", "-o", "dir/cmTC_12"], &[]);
    site.expect("mpicc", &["c.c"], &word);
    site.scratch.configure("only_exe = a.out\n");
    site.expect("mpicc", &["c.c"], &word);
    site.expect("mpicc", &["c.c", "-ob"], &[]);
    site.scratch.configure(&format!("skip_path = {}/*\n", site.work().display()));
    // By a way out of the directory and back.
    let detour = site.work().join("..").join(site.work().file_name().unwrap()).join("a");
    site.expect("mpicc", &["c.c", "-o", detour.to_str().unwrap()], &[]);
    site.expect("mpicc", &["c.c", "-o", "./a"], &[]);
    site.expect("mpicc", &["c.c", "-o", "../a"], &word);
    site.scratch.configure("skip_user = mohr\n");
    let by = |user: &str| site.call(site.command("mpicc").args(LINK).env("USER", user));
    assert_eq!(by("mohr").args[1..], *LINK);
    assert_eq!(by("smith").args[4..], word);
    let said = note(&site, "mpicc", LINK, &[("USER", "mohr")]);
    assert!(said.contains("the site leaves it out by `skip_user` ("), "{said}");
    assert!(said.ends_with("etc/topas/topas.conf:1)\n"), "{said}");
    site.fake.take_calls();

    site.scratch.configure("");
    fs::write(site.scratch.prefix().join("etc/topas/off"), "").unwrap();
    site.expect("mpicc", LINK, &[]);
    site.expect("mpicc", &["-showme:link"], &[]);
    let said = note(&site, "mpicc", LINK, &[]);
    assert!(said.contains("switched off by the file ") && said.ends_with("/off\n"), "{said}");
    site.fake.take_calls();
    let mut command = site.command("mpiexec");
    command.arg("x").env("FAKE_COMPILER_ENV", "TOPAS_LAUNCH_ID");
    assert!(site.call(&mut command).env.is_empty());
}

#[test]
fn the_user_has_a_word_on_the_link() {
    let site = Site::new();
    let with = |value: &str, args: &[&str]| {
        site.call(site.command("mpicc").args(args).env("TOPAS_LINK", value)).args
    };
    assert_eq!(with("no", LINK)[1..], *LINK);
    assert_eq!(with("always", &["a.c", "-lpapi"])[3..], site.module_words("c"));
    assert_eq!(with("perhaps", &["a.c", "-lpapi"])[1..], ["a.c", "-lpapi"]);
    // Not against the site's.
    site.scratch.configure("link = no\n");
    assert_eq!(with("always", LINK)[1..], *LINK);
}

#[test]
fn an_object_that_calls_the_counters_is_left_alone_unless_told_otherwise() {
    let site = Site::new();
    let source = site.work().join("p.c");
    fs::write(
        &source,
        "int PAPI_library_init(int); int f(void) { return PAPI_library_init(1); }\n",
    )
    .unwrap();
    let status = Command::new("cc").arg("-c").arg(&source).current_dir(site.work()).status();
    assert!(status.unwrap().success());
    site.expect("mpicc", &["p.o", "-o", "p"], &[]);
    let said = note(&site, "mpicc", &["p.o"], &[]);
    assert!(said.ends_with("uses the counters itself: `p.o` calls PAPI_library_init\n"), "{said}");
    site.fake.take_calls();
    fs::write(site.scratch.site_drivers_conf(), "PAPI_library_init plain\n").unwrap();
    site.expect("mpicc", &["p.o", "-o", "p"], &site.module_words("c"));
}

#[test]
fn a_linker_gets_the_object_itself() {
    let site = Site::new();
    FakeCompiler::install(site.fake.dir(), &["ld"]);
    let ld = |args: &[&str]| {
        let call = site.call(site_command(&site, "linker", "ld").args(args));
        call.args[1..].to_vec()
    };
    let program = ["-o", "a", "/usr/lib/Scrt1.o", "a.o", "-lc"];
    let module = |language: &str| site.scratch.module(language).into_os_string();
    let with = |args: &[&str], language: &str| {
        let mut words: Vec<_> = args.iter().map(std::ffi::OsString::from).collect();
        words.push(module(language));
        words
    };
    assert_eq!(ld(&program), with(&program, "c"));
    let cxx = ["/usr/lib/crt1.o", "a.o", "-lstdc++", "-lc"];
    assert_eq!(ld(&cxx), with(&cxx, "cxx"));
    let f90 = ["/usr/lib/crt1.o", "a.o", "-lgfortran", "-lstdc++", "-lc"];
    assert_eq!(ld(&f90), with(&f90, "f90"));
    // Before an archive that it needs.
    for (args, archive) in [
        (&["-static", "/usr/lib/crt1.o", "a.o", "-lc"][..], "-lc"),
        (&["/usr/lib/crt1.o", "a.o", "/usr/lib/libc.a"], "/usr/lib/libc.a"),
    ] {
        let mut expected = with(args, "c");
        expected.push(archive.into());
        assert_eq!(ld(args), expected);
    }
    let outer = module("c");
    for args in [
        &["a.o", "-lc"][..],
        &["/usr/lib/crt1.o", "a.o"],
        &["-r", "/usr/lib/crt1.o", "a.o", "-lc"],
        &["-shared", "/usr/lib/crt1.o", "a.o", "-lc"],
        &["-m", "elf_i386", "/usr/lib/crt1.o", "a.o", "-lc"],
        &["--version"],
        &["-v"],
        &["/usr/lib/crt1.o", "a.o", outer.to_str().unwrap(), "-lc"],
    ] {
        assert_eq!(ld(args), args, "{args:?}");
    }
}

#[test]
fn a_question_to_pkg_config_asks_for_the_module_too() {
    let site = Site::new();
    FakeCompiler::install(site.fake.dir(), &["pkg-config"]);
    let dir = site.scratch.prefix().join("lib/topas/pkgconfig");
    let ask = |args: &[&str]| {
        let mut command = site.command("pkg-config");
        command.args(args).env("FAKE_COMPILER_ENV", "PKG_CONFIG_PATH");
        command.env("PKG_CONFIG_PATH", "/opt/pc");
        let call = site.call(&mut command);
        let path = call.env["PKG_CONFIG_PATH".as_ref() as &std::ffi::OsStr].clone();
        (call.args[1..].to_vec(), path.into_string().unwrap())
    };
    let untouched = |args: &[&str]| assert_eq!(ask(args), (as_words(args), "/opt/pc".to_owned()));
    // Without the package there is nothing to ask for.
    untouched(&["--libs", "ompi-c"]);
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("topas-f90.pc"), "").unwrap();
    let both = format!("/opt/pc:{}", dir.display());
    let question = ["--cflags", "--libs", "ompi-fort >= 3"];
    assert_eq!(ask(&question), (as_words(&[&question[..], &["topas-f90"]].concat()), both));
    untouched(&["--cflags", "ompi-fort"]);
    untouched(&["--libs", "zlib"]);
    site.scratch.configure("link = no\n");
    untouched(&question);
}

fn as_words(args: &[&str]) -> Vec<std::ffi::OsString> {
    args.iter().map(std::ffi::OsString::from).collect()
}
