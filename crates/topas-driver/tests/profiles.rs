//! Links with the MPI profile: which words are added, and why none are.

mod site;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use site::{Site, text};
use topas_testkit::scratch::empty_object;

/// A site with every part of the profile, and two MPIs to link with.
struct Bench {
    site: Site,
    shared: PathBuf,
    archives: PathBuf,
}

impl Bench {
    fn new() -> Self {
        let site = Site::new();
        let lib = site.scratch.prefix().join("lib/topas");
        for object in ["topas-mpi.o", "topas-mpi.init.o"] {
            fs::write(lib.join(object), empty_object()).unwrap();
        }
        fs::write(lib.join("libtopas_mpi_wrap.a"), "!<arch>\n").unwrap();
        fs::write(lib.join("topas-mpi.wrap"), "--wrap=MPI_Send\n").unwrap();
        let mpi = |name: &str, files: &[&str]| {
            let dir = site.scratch.beside(name);
            files.iter().for_each(|file| fs::write(dir.join(file), "").unwrap());
            dir
        };
        let shared = mpi("shared", &["libmpiq.so", "libmpiq.a"]);
        let archives = mpi("archives", &["libmpiq.a"]);
        Bench { shared, archives, site }
    }

    fn lib(&self, name: &str) -> PathBuf {
        self.site.scratch.prefix().join("lib/topas").join(name)
    }

    /// The driver, in front of one that links the MPI in `dir`.
    fn command(&self, name: &str, dir: &Path) -> Command {
        let mut command = self.site.command(name);
        let answer = format!("gcc -I/x -L{} -lmpiq -lm\n", dir.display());
        command.env("FAKE_COMPILER_STDOUT", answer);
        command
    }

    /// The words the link itself gets behind its own, and how many calls there were.
    fn added(&self, command: &mut Command, args: &[&str]) -> (Vec<OsString>, usize) {
        let output = command.args(args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(text(&output.stderr), "");
        let mut calls = self.site.fake.take_calls();
        let link = calls.pop().unwrap();
        assert_eq!(link.args[1..=args.len()], args.iter().map(OsString::from).collect::<Vec<_>>());
        (link.args[args.len() + 1..].to_vec(), calls.len())
    }

    /// What follows `MPI profile:` in the explanation.
    fn explained(&self, command: &mut Command) -> Option<String> {
        let output = command.arg("--topas-explain").output().unwrap();
        let shown = text(&output.stdout);
        self.site.fake.take_calls();
        let line = shown.lines().find_map(|line| line.strip_prefix("MPI profile:"));
        line.map(|line| line.trim_start().to_owned())
    }
}

const LINK: &[&str] = &["a.c", "-o", "a"];

#[test]
fn a_shared_mpi_gets_the_object_in_front_of_the_module() {
    let bench = Bench::new();
    let object = bench.site.word(&bench.lib("topas-mpi.o"));
    for (name, language) in [("mpicc", "c"), ("mpicxx", "cxx"), ("mpif90", "f90")] {
        let mut command = bench.command(name, &bench.shared);
        let mut words = vec![object.clone()];
        words.extend(bench.site.module_words(language));
        assert_eq!(bench.added(command.env("TOPAS_MPI", "yes"), LINK), (words, 1), "{name}");
    }
}

#[test]
fn who_does_not_ask_gets_the_module_alone_and_no_question_is_asked() {
    let bench = Bench::new();
    let module = bench.site.module_words("c");
    for value in ["no", "", "perhaps"] {
        let mut command = bench.command("mpicc", &bench.shared);
        let added = bench.added(command.env("TOPAS_MPI", value), LINK);
        assert_eq!(added, (module.clone(), 0), "{value:?}");
    }
    // No executable, or a driver that links no MPI.
    for (name, args) in [("mpicc", &["-c", "a.c"][..]), ("mpicc", &["-shared", "a.o"])] {
        let mut command = bench.command(name, &bench.shared);
        assert_eq!(bench.added(command.env("TOPAS_MPI", "yes"), args), (vec![], 0));
    }
    let fake = bench.site.fake.dir();
    fs::hard_link(fake.join("mpicc"), fake.join("oshcc")).unwrap();
    let mut command = bench.command("oshcc", &bench.shared);
    assert_eq!(bench.added(command.env("TOPAS_MPI", "yes"), LINK), (module, 0));
}

#[test]
fn the_site_can_ask_for_everybody_and_the_user_can_refuse() {
    let bench = Bench::new();
    bench.site.scratch.configure("mpi_link = yes\n");
    let object = bench.site.word(&bench.lib("topas-mpi.o"));
    let mut command = bench.command("mpicc", &bench.shared);
    assert_eq!(bench.added(&mut command, LINK).0[..1], [object]);
    let shown = bench.explained(bench.command("mpicc", &bench.shared).args(LINK)).unwrap();
    assert!(shown.starts_with("linked, asked for by mpi_link ("), "{shown}");
    assert!(shown.ends_with("topas.conf:1)"), "{shown}");
    let mut command = bench.command("mpicc", &bench.shared);
    let alone = bench.site.module_words("c");
    assert_eq!(bench.added(command.env("TOPAS_MPI", "no"), LINK), (alone, 0));
    let mut command = bench.command("mpicc", &bench.shared);
    assert_eq!(bench.added(command.env("TOPAS", "off"), LINK), (vec![], 0));
}

#[test]
fn archives_are_wrapped_in_one_group_with_the_profile() {
    let bench = Bench::new();
    let expected = |dir: &Path| -> Vec<OsString> {
        let mut words = Vec::new();
        let word = |text: String| OsString::from(text);
        words.push(word(format!("-Wl,@{}", bench.lib("topas-mpi.wrap").display())));
        words.push(word("-Wl,--start-group".into()));
        words.push(bench.site.word(&bench.lib("libtopas_mpi_wrap.a")));
        words.push(word(format!("-L{}", dir.display())));
        words.push(word("-lmpiq".into()));
        words.push(word("-Wl,--end-group".into()));
        words.extend(bench.site.module_words("c"));
        words
    };
    let added = |dir: &Path, args: &[&str]| {
        bench.added(bench.command("mpicc", dir).env("TOPAS_MPI", "yes"), args).0
    };
    assert_eq!(added(&bench.archives, LINK), expected(&bench.archives));
    for option in ["-static", "-static-pie", "--static", "-Wl,-Bstatic"] {
        let args = &["a.c", option][..];
        assert_eq!(added(&bench.shared, args), expected(&bench.shared), "{option}");
    }
    // Shared libraries behind them after all.
    let dynamic = added(&bench.shared, &["a.c", "-Wl,-Bstatic,-lx,-Bdynamic"]);
    assert_eq!(dynamic.len(), 2, "{dynamic:?}");
}

#[test]
fn programs_that_use_counters_have_the_profile_alone() {
    let bench = Bench::new();
    let mut command = bench.command("mpicc", &bench.shared);
    let object = bench.site.word(&bench.lib("topas-mpi.o"));
    let added = bench.added(command.env("TOPAS_MPI", "yes"), &["a.c", "-lpapi"]);
    assert_eq!(added, (vec![object], 1));
}

#[test]
fn an_answer_carries_the_object() {
    let bench = Bench::new();
    let object = bench.site.word(&bench.lib("topas-mpi.init.o"));
    let mut command = bench.command("mpicc", &bench.shared);
    let (added, _) = bench.added(command.env("TOPAS_MPI", "yes"), &["-showme:link"]);
    assert_eq!(added[..1], [object]);
    let mut command = bench.command("mpicc", &bench.archives);
    let (added, _) = bench.added(command.env("TOPAS_MPI", "yes"), &["-showme:link"]);
    assert_eq!(added.len(), 1, "{added:?}");
}

#[test]
fn what_is_left_out_is_said() {
    let bench = Bench::new();
    let why = |dir: &Path, args: &[&str]| {
        let mut command = bench.command("mpicc", dir);
        let shown = bench.explained(command.env("TOPAS_MPI", "yes").args(args)).unwrap();
        let (by, why) = shown.split_once(", ").unwrap();
        assert_eq!(by, "asked for by TOPAS_MPI=yes", "{shown}");
        let why = why.strip_prefix("left out: ").unwrap_or_else(|| panic!("{shown}")).to_owned();
        // The link itself goes through with the module.
        let mut command = bench.command("mpicc", dir);
        let (added, _) = bench.added(command.env("TOPAS_MPI", "yes"), args);
        // Files are compared by name: the scratch directory has a name of any letters.
        let names = added.iter().filter_map(|word| Path::new(word).file_name());
        assert!(names.clone().count() == added.len(), "{added:?}");
        assert!(names.into_iter().all(|name| !name.to_string_lossy().contains("mpi")), "{added:?}");
        why
    };
    let none = bench.site.scratch.beside("none");
    assert_eq!(why(&none, LINK), "-lmpiq is in no directory that is known");
    let archive = why(&bench.shared, &["a.c", "/opt/lib/libmpi.a"]);
    assert_eq!(archive, "`/opt/lib/libmpi.a` is an MPI; let the driver link it");
    let kept = why(&bench.shared, &["a.c", "-m32"]);
    assert_eq!(kept, "what keeps the module out keeps it out, too");
    fs::remove_file(bench.lib("topas-mpi.wrap")).unwrap();
    let missing = why(&bench.archives, LINK);
    assert!(missing.contains("topas-mpi.wrap: No such file"), "{missing}");
    fs::write(bench.lib("topas-mpi.o"), "").unwrap();
    let unfit = why(&bench.shared, LINK);
    assert!(unfit.ends_with("topas-mpi.o: no relocatable object of this machine"), "{unfit}");
    // One who asks to be told is told.
    let mut command = bench.command("mpicc", &bench.shared);
    let command = command.args(LINK).env("TOPAS_MPI", "yes").env("TOPAS_VERBOSE", "1");
    let note = text(&command.output().unwrap().stderr);
    assert!(note.starts_with("mpicc: note: linked without the MPI profile: "), "{note}");
}

#[test]
fn a_driver_that_does_not_answer_is_left_alone() {
    let bench = Bench::new();
    let mut command = bench.site.command("mpicc");
    let command = command.args(LINK).env("TOPAS_MPI", "yes");
    let shown = bench.explained(command).unwrap();
    assert!(
        shown.ends_with("left out: no library of an MPI is named where one asks how to link")
            || shown.ends_with("left out: the real driver does not say how it links (-show)"),
        "{shown}"
    );
}
