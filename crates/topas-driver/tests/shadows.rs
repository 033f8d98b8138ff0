//! Shadows of MPIs, and directories that hold only names with a program behind them.

mod site;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use site::{Site, path, text};
use topas_testkit::fake_compiler::FakeCompiler;

/// An MPI of its own, with these programs.
fn mpi(site: &Site, prefix: &str, names: &[&str]) -> (PathBuf, FakeCompiler) {
    let prefix = site.scratch.beside(prefix);
    let fake = FakeCompiler::install(&prefix.join("bin"), names);
    fs::create_dir_all(prefix.join("include")).unwrap();
    (prefix, fake)
}

fn topas(site: &Site, words: &[&OsStr]) -> Output {
    let mut command = Command::new(site.scratch.command());
    command.env_clear().env("PATH", "/nonexistent").arg("mpi").args(words);
    command.output().expect("run topas")
}

/// Makes the shadow of a prefix; its path.
#[track_caller]
fn add(site: &Site, prefix: &Path) -> PathBuf {
    let output = topas(site, &[OsStr::new("add"), prefix.as_os_str()]);
    assert!(output.status.success(), "{output:?}");
    PathBuf::from(text(&output.stdout).trim_end())
}

#[track_caller]
fn refused(site: &Site, words: &[&OsStr], code: i32, says: &str) {
    let output = topas(site, words);
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert!(text(&output.stderr).contains(says), "{output:?}");
    assert_eq!(text(&output.stdout), "");
}

/// A command that finds the record of a fake compiler, and a PATH of these directories.
fn command(program: &Path, fake: &FakeCompiler, dirs: &[&Path]) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", path(dirs)).env("FAKE_COMPILER_LOG", fake.log());
    command
}

#[test]
fn a_shadow_leads_to_its_own_mpi_by_path_and_on_path() {
    let site = Site::new();
    let (prefix, fake) = mpi(&site, "one", &["mpicc", "mpif90"]);
    let shadow = add(&site, &prefix);
    let bin = shadow.join("bin");
    assert_eq!(names(&bin), ["mpicc", "mpif90"], "what the MPI has");

    // By its path, whatever is on PATH; and by a link to the shadow.
    let link = site.scratch.beside("links").join("mpi");
    symlink(&shadow, &link).unwrap();
    for program in [bin.join("mpicc"), link.join("bin/mpicc")] {
        for dirs in [&[site.fake.dir()][..], &[Path::new("/nonexistent")]] {
            let call = site_call(&fake, command(&program, &fake, dirs).arg("a.c"));
            assert_eq!(call[0], prefix.join("bin/mpicc"));
            assert_eq!(call[2..], site.module_words("c"));
        }
    }
    // By its name: the shadow on PATH stands for the MPI, also behind the general directory.
    let general = site.scratch.wrappers();
    for dirs in [&[bin.as_path()][..], &[&general, &bin], &[&general, &link.join("bin")]] {
        let mut shell = command(Path::new("/bin/sh"), &fake, dirs);
        let call = site_call(&fake, shell.args(["-c", "mpif90 a.f90"]));
        assert_eq!(call[0], prefix.join("bin/mpif90"), "{dirs:?}");
        assert_eq!(call[2..], site.module_words("f90"));
    }
    // Off: the same program.
    let call = site_call(
        &fake,
        command(&bin.join("mpicc"), &fake, &[site.fake.dir()]).env("TOPAS", "off").arg("a.c"),
    );
    assert_eq!(call, [prefix.join("bin/mpicc").into_os_string(), "a.c".into()]);
}

#[track_caller]
fn site_call(fake: &FakeCompiler, command: &mut Command) -> Vec<std::ffi::OsString> {
    let output = command.output().expect("run the driver");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(text(&output.stderr), "");
    let mut calls = fake.take_calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    calls.remove(0).args
}

#[test]
fn a_name_that_the_mpi_lost_is_no_other_mpis() {
    let site = Site::new();
    let (prefix, fake) = mpi(&site, "one", &["mpicc", "mpifort"]);
    let shadow = add(&site, &prefix);
    fs::remove_file(prefix.join("bin/mpifort")).unwrap();
    // By its path: an error, as it would be by the path of the MPI.
    let program = shadow.join("bin/mpifort");
    let output = command(&program, &fake, &[site.fake.dir()]).arg("a.f90").output().unwrap();
    assert_eq!(output.status.code(), Some(127));
    let said = text(&output.stderr);
    assert!(
        said.contains(&format!("no program {}", prefix.join("bin/mpifort").display())),
        "{said}"
    );
    assert!(said.contains("hint: topas mpi refresh "), "{said}");
    // By its name: the next on PATH, as if the shadow were not there.
    let bin = shadow.join("bin");
    let mut shell = command(Path::new("/bin/sh"), &site.fake, &[&bin, site.fake.dir()]);
    let call = site_call(&site.fake, shell.args(["-c", "mpifort a.f90"]));
    assert_eq!(call[0], site.fake.dir().join("mpifort"));

    let list = topas(&site, &[OsStr::new("list")]);
    assert_eq!(list.status.code(), Some(1));
    assert!(text(&list.stdout).contains("its MPI has changed: gone mpifort"), "{list:?}");
    assert!(topas(&site, &[OsStr::new("refresh")]).status.success());
    assert!(!program.exists());
    let list = topas(&site, &[OsStr::new("list")]);
    let expected =
        format!("{} {} ok\n", shadow.file_name().unwrap().to_str().unwrap(), prefix.display());
    assert_eq!((list.status.code(), text(&list.stdout)), (Some(0), expected));
}

#[test]
fn programs_of_the_mpi_see_the_mpis_prefix() {
    let site = Site::new();
    let (prefix, fake) = mpi(&site, "intel", &["mpiicx", "mpicc", "mpirun"]);
    let shadow = add(&site, &prefix);
    let shown = ["I_MPI_ROOT", "MPI_HOME", "TOPAS_LAUNCH_ID"];
    for (name, off) in [("mpiicx", ""), ("mpirun", ""), ("mpicc", "off"), ("mpirun", "off")] {
        let mut driver = command(&shadow.join("bin").join(name), &fake, &[&shadow.join("bin")]);
        driver.env("I_MPI_ROOT", &shadow).env("MPI_HOME", &shadow).env("TOPAS", off);
        driver.env("FAKE_COMPILER_ENV", shown.join(" ")).arg("x");
        assert!(driver.output().unwrap().status.success());
        let call = fake.take_calls().remove(0);
        let value = |name: &str| call.env.get(OsStr::new(name));
        assert_eq!(value("I_MPI_ROOT"), Some(&prefix.clone().into_os_string()), "{name}");
        assert_eq!(value("MPI_HOME"), Some(&shadow.clone().into_os_string()), "{name}");
        let launched = name == "mpirun" && off.is_empty();
        assert_eq!(value("TOPAS_LAUNCH_ID").is_some(), launched, "{name} {off}");
    }
}

#[test]
fn an_mpi_has_one_shadow_and_a_name_one_mpi() {
    let site = Site::new();
    let (one, _) = mpi(&site, "a-b", &["mpicc"]);
    let (other, _) = mpi(&site, "a/b", &["mpicc"]);
    let shadow = add(&site, &one);
    assert_eq!(add(&site, &one.join("bin")), shadow, "by its bin");
    let link = site.scratch.beside("links").join("latest");
    symlink(&one, &link).unwrap();
    assert_eq!(add(&site, &link), shadow, "by a link to it");
    let add = OsStr::new("add");
    refused(&site, &[add, other.as_os_str()], 1, "is the shadow of another MPI");
    let named = topas(&site, &[add, other.as_os_str(), OsStr::new("--name"), OsStr::new("two")]);
    assert!(text(&named.stdout).ends_with("/libexec/topas/mpi/two\n"), "{named:?}");
    let said = text(&named.stderr);
    assert!(said.contains("prepend-path PATH ") && said.contains("setenv MPI_HOME "), "{said}");

    let bad = ["../x", "", ".x", "-x"];
    for name in bad {
        let words = [add, other.as_os_str(), OsStr::new("--name"), OsStr::new(name)];
        refused(&site, &words, 2, "a name has no slash");
    }
    refused(&site, &[add, OsStr::new("/usr")], 1, "no shadow can be made of /usr");
    refused(&site, &[add, shadow.as_os_str()], 1, "holds drivers of TOPAS");
    let empty = site.scratch.beside("empty");
    refused(&site, &[add, empty.as_os_str()], 1, "neither it nor its bin has a compiler driver");
    refused(&site, &[add], 2, "wrong operands of `add`");
    refused(&site, &[OsStr::new("drop")], 2, "unknown command `drop`");
    refused(&site, &[OsStr::new("remove"), OsStr::new("x")], 1, "there is no shadow `x`");

    assert!(topas(&site, &[OsStr::new("remove"), OsStr::new("two")]).status.success());
    assert!(topas(&site, &[OsStr::new("remove"), one.as_os_str()]).status.success());
    assert_eq!(text(&topas(&site, &[OsStr::new("list")]).stdout), "");
    assert!(one.join("bin/mpicc").exists() && one.join("include").exists());
}

/// The names in a directory.
fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn only_names_with_a_program_behind_them_are_linked() {
    let site = Site::new();
    let (prefix, _) = mpi(&site, "mpi1", &["mpicc", "mpif90", "gcc", "ld"]);
    let bin = prefix.join("bin");
    let link = |path: &Path| {
        let mut driver = Command::new(site.scratch.driver());
        let output = driver.arg("--link-names").env("PATH", path).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        text(&output.stderr)
    };
    let general = site.scratch.wrappers();
    assert!(names(&general).len() > 40, "all of them, before");
    let said = link(&bin);
    assert_eq!(names(&general), ["mpicc", "mpif90"]);
    assert!(said.contains("note: removed from "), "{said}");
    assert!(said.contains(&format!("holds names of {}: mpicc, mpif90", bin.display())), "{said}");
    assert_eq!(names(&site.scratch.wrappers_of("gnu")), ["gcc"]);
    assert_eq!(names(&site.scratch.wrappers_of("linker")), ["ld"]);
    // Compilers of modules are not on PATH now, and may be later.
    assert!(names(&site.scratch.wrappers_of("nvidia")).len() > 5);

    // The MPI has a shadow: its programs are on PATH only with its module.
    add(&site, &prefix);
    let said = link(&bin);
    assert_eq!(names(&general), [""; 0]);
    assert!(said.contains("holds no compiler driver"), "{said}");
    assert!(said.contains("hint: `topas mpi find`"), "{said}");
    // What the site itself says is done.
    fs::write(site.scratch.site_drivers_conf(), "mpifrtx compiler f90\n").unwrap();
    link(&bin);
    assert_eq!(names(&general), ["mpifrtx"]);

    // One set in a directory of its own.
    let dir = site.scratch.beside("nvhpc");
    let one = |words: &[&str], path: &Path| {
        let mut driver = Command::new(site.scratch.driver());
        driver.arg("--link-names").args(words).arg(&dir).env("PATH", path).output().unwrap()
    };
    let none = one(&["nvidia"], &bin);
    assert_eq!(none.status.code(), Some(1));
    assert!(text(&none.stderr).contains("no program of the set `nvidia` is on PATH"), "{none:?}");
    let module = FakeCompiler::install(&site.scratch.beside("nv/bin"), &["nvc", "nvfortran"]);
    assert!(one(&["nvidia"], module.dir()).status.success());
    assert_eq!(names(&dir), ["nvc", "nvfortran"]);
    assert!(one(&["--all", "nvidia"], &bin).status.success());
    assert!(names(&dir).len() > 5);
}

#[test]
fn the_command_topas_calls_an_mpi_by_its_shadow() {
    let site = Site::new();
    let (prefix, fake) = mpi(&site, "mpi1", &["mpicc"]);
    let script = "echo \"$PATH $MPI_HOME\"";
    let run = |dirs: &[&Path]| {
        let mut topas = command(&site.scratch.command(), &fake, dirs);
        topas.env("MPI_HOME", &prefix).args(["/bin/sh", "-c", script]);
        let output = topas.output().unwrap();
        (text(&output.stdout), text(&output.stderr))
    };
    let general = site.scratch.wrappers();
    fs::remove_file(general.join("mpicc")).unwrap();
    let bin = prefix.join("bin");
    let (_, said) = run(&[&bin]);
    assert!(said.contains("no driver of TOPAS stands in front of"), "{said}");
    let shadow = add(&site, &prefix);
    let (out, said) = run(&[&bin]);
    assert_eq!(said, "");
    let dirs = [&general, &shadow.join("bin"), &bin].map(|dir| dir.display().to_string());
    assert_eq!(out, format!("{} {}\n", dirs.join(":"), shadow.display()));
}
