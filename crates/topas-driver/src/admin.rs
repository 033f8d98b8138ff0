//! The driver under its own name: what names are there, which version, and the links.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use topas_config::paths::{DRIVER, Executable};
use topas_config::{Environment, Paths};

use crate::catalog::{Catalog, MPI_SET, Personality};
use crate::links::{self, Changes, Chosen};
use crate::message::say;
use crate::relocate::{self, RelocateError};
use crate::shadow::Shadow;
use crate::{EXIT_CANNOT_WRITE, EXIT_OK, EXIT_USAGE, print};

const HELP: &str = "\
Usage: topas-driver --list | --link-names [--all] [SET DIRECTORY] | --relocate [PREFIX]
       topas-driver --version | --help
       NAME [--topas-explain] [ARGUMENT...]     by a link of that name: mpicc, mpif90, mpiexec, ...

topas-driver stands in front of compiler drivers and launchers. The driver adds the measurement
module of TOPAS to links of executables, and passes all other command lines on unchanged.

Options:
  --list        print the names of the drivers, one per line: NAME KIND [LANGUAGE] [SET]
  --link-names  make the links of every set in the directory of the set beside the driver, or
                the links of one set in another directory, and print the directories. A name
                is linked only if PATH has a program of that name, or if the drivers.conf of
                the site adds the name; --all links every name
  --relocate    write the place where this installation stands into what goes into programs and
                into the files for shells, modules and daemons; then link the names as
                --link-names does. With PREFIX, write that place, where the installation is going
                to stand, and link no names
  --version     print the version
  --help        print this text

Under another name:
  --topas-explain   print what the driver would do, and why; nothing is run

Environment: with TOPAS=off the driver passes every command line on unchanged. With
TOPAS_VERBOSE=1 the driver says on standard error why an executable is linked without the module.
The manual page is topas-driver(1).
";

/// Answers a call under the own name. Returns the exit code.
pub fn answer(
    args: &[OsString],
    env: &Environment,
    own: Option<&Executable>,
    paths: Option<&Paths>,
) -> i32 {
    let words: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        ["--list"] => print(&list(&catalog(paths))),
        ["--link-names", rest @ ..] => {
            let all = rest.first() == Some(&"--all");
            match args.get(if all { 2.. } else { 1.. }).unwrap_or_default() {
                [] => link_sets(all, env, own, paths),
                [set, dir] => link_set(set, Path::new(dir), all, env, own, paths),
                _ => usage("--link-names takes a set and a directory, or nothing"),
            }
        }
        ["--relocate"] => relocate_here(env, own, paths),
        ["--relocate", _] => match (paths, args.get(1)) {
            (Some(paths), Some(prefix)) => relocate_to(paths, &relocate::tidy(prefix)),
            _ => not_installed(),
        },
        ["--version"] => {
            print(OsStr::new(concat!("topas-driver ", env!("CARGO_PKG_VERSION"), "\n")))
        }
        ["--help"] => print(OsStr::new(HELP)),
        [] => usage("no option given"),
        [given] => usage(&format!("unknown option `{given}`")),
        _ => usage("takes one option"),
    }
}

fn usage(what: &str) -> i32 {
    say!("{DRIVER}: error: {what}");
    say!("hint: it works through links such as mpicc; see {DRIVER} --help");
    EXIT_USAGE
}

/// Writes the place where the installation stands, and links the names.
fn relocate_here(env: &Environment, own: Option<&Executable>, paths: Option<&Paths>) -> i32 {
    let Some(paths) = paths else { return not_installed() };
    let done = relocate_to(paths, paths.prefix());
    if done != EXIT_OK {
        return done;
    }
    if !Shadow::all(paths).is_empty() {
        say!("{DRIVER}: note: shadows of MPIs may lead to the former place");
        say!("hint: topas mpi refresh");
    }
    link_sets(false, env, own, Some(paths))
}

/// Writes a prefix into the installation, and says what was done.
fn relocate_to(paths: &Paths, prefix: &Path) -> i32 {
    let done = match relocate::relocate(paths, prefix) {
        Ok(done) => done,
        Err(error) => {
            say!("{DRIVER}: error: cannot relocate {}", paths.prefix().display());
            say!("cause: {error}");
            say!("hint: {}", error.hint());
            return match error {
                RelocateError::Prefix(_) | RelocateError::OfPackages => EXIT_USAGE,
                _ => EXIT_CANNOT_WRITE,
            };
        }
    };
    for former in &done.from {
        say!("{DRIVER}: note: {} was made for {}", paths.prefix().display(), former.display());
        say!(
            "hint: programs that were linked there read {}",
            Paths::at(former).conf_file().display()
        );
    }
    if let Some(conf) = &done.kept {
        say!("{DRIVER}: warning: {} is the site's own and names the former place", conf.display());
        say!("hint: look at its `log =`; the sample is {}", relocate::SAMPLE);
    }
    say!("{DRIVER}: {} files written for {}", done.written.len(), prefix.display());
    EXIT_OK
}

/// The names, with a warning for each line that has no effect.
fn catalog(paths: Option<&Paths>) -> Catalog {
    let catalog = Catalog::load(paths);
    for (file, line) in catalog.skipped() {
        say!("{DRIVER}: warning: {}:{line}: not understood; ignored", file.display());
    }
    catalog
}

fn list(catalog: &Catalog) -> OsString {
    let mut out = OsString::new();
    for (name, personality, set) in catalog.names() {
        out.push(name);
        match personality {
            Personality::Compiler(language) => out.push(format!(" compiler {}", language.word())),
            Personality::Launcher => out.push(" launcher"),
            Personality::Linker => out.push(" linker"),
            Personality::PackageQuery => out.push(" package-query"),
        }
        if set != MPI_SET {
            out.push(" ");
            out.push(set);
        }
        out.push("\n");
    }
    out
}

/// Links the names of every set in its own directory.
fn link_sets(all: bool, env: &Environment, own: Option<&Executable>, paths: Option<&Paths>) -> i32 {
    let Some(paths) = paths else { return not_installed() };
    let catalog = catalog(Some(paths));
    let shadows = Shadow::all(paths);
    let mut sets: Vec<&OsStr> = Vec::new();
    catalog.names().for_each(|(.., set)| {
        if !sets.contains(&set) {
            sets.push(set)
        }
    });
    let mut dirs = Vec::new();
    for set in sets {
        let chosen = Chosen::of(set, all, &catalog, env, own, &shadows);
        let dir = links::directory(set, paths);
        // Compilers that come with modules are not on PATH when TOPAS is installed: what was
        // linked for them stays.
        if set != MPI_SET && chosen.names.is_empty() {
            continue;
        }
        // Relative, so that an installation can be moved or staged as a whole.
        match chosen.link(&dir, &Path::new("..").join(DRIVER)) {
            Ok(changes) => tell(set, &dir, &chosen, &changes, &catalog),
            Err(failure) => return failed(&failure),
        }
        dirs.push(dir);
    }
    print(&lines(dirs.iter().map(|dir| dir.as_os_str())))
}

/// Says what a user of the directory has to know.
fn tell(set: &OsStr, dir: &Path, chosen: &Chosen, changes: &Changes, catalog: &Catalog) {
    if !changes.removed.is_empty() {
        let names = links::in_words(&changes.removed);
        say!("{DRIVER}: note: removed from {}: {names}", dir.display());
        say!("cause: there is no program behind these names on PATH");
    }
    for (bin, names) in chosen.outside.iter().filter(|_| set == MPI_SET) {
        let (names, bin) = (links::in_words(names), bin.display());
        say!("{DRIVER}: note: {} holds names of {bin}: {names}", dir.display());
        say!(
            "hint: if {bin} is not on everybody's PATH: topas mpi add {bin}, then {DRIVER} --link-names"
        );
    }
    if set == MPI_SET && !chosen.names.iter().any(|name| catalog.links_mpi(name)) {
        say!("{DRIVER}: note: {} holds no compiler driver", dir.display());
        say!("cause: no MPI is on PATH that has no directory of its own");
        say!(
            "hint: `topas mpi find` looks for MPIs, `topas mpi add DIR` makes directories for them"
        );
    }
}

fn link_set(
    set: &OsStr,
    dir: &Path,
    all: bool,
    env: &Environment,
    own: Option<&Executable>,
    paths: Option<&Paths>,
) -> i32 {
    let (Some(driver), Some(_)) = (own, paths) else { return not_installed() };
    let catalog = catalog(paths);
    if !catalog.names().any(|(.., of)| of == set) {
        return usage(&format!("no name of a set `{}` in drivers.conf", set.to_string_lossy()));
    }
    // A directory that the caller chose is for where these programs are.
    let chosen = Chosen::of(set, all, &catalog, env, own, &[]);
    if chosen.names.is_empty() {
        say!("{DRIVER}: error: no program of the set `{}` is on PATH", set.to_string_lossy());
        say!("cause: looked for {}", links::in_words(&chosen.without));
        say!("hint: load the module of these compilers first, or give --all");
        return EXIT_CANNOT_WRITE;
    }
    match chosen.link(dir, &driver.path) {
        Ok(_) => print(&lines(std::iter::once(dir.as_os_str()))),
        Err(failure) => failed(&failure),
    }
}

fn lines<'a>(words: impl Iterator<Item = &'a OsStr>) -> OsString {
    let mut out = OsString::new();
    for word in words {
        out.push(word);
        out.push("\n");
    }
    out
}

fn not_installed() -> i32 {
    say!("{DRIVER}: error: the driver does not stand in an installation");
    say!("hint: call PREFIX/libexec/topas/{DRIVER}");
    EXIT_CANNOT_WRITE
}

fn failed((path, error): &links::Failure) -> i32 {
    say!("{DRIVER}: error: cannot link {}", path.display());
    say!("cause: {error}");
    say!("hint: call it as the owner of that directory");
    EXIT_CANNOT_WRITE
}
