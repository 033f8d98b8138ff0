//! The driver under its own name: what names are there, which version, and the links.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use topas_config::Paths;
use topas_config::paths::{DRIVER, Executable};

use crate::catalog::{Catalog, MPI_SET, Personality};
use crate::message::say;
use crate::{EXIT_CANNOT_WRITE, EXIT_USAGE, links, print};

const HELP: &str = "\
Usage: topas-driver --list | --link-names [SET DIRECTORY] | --version | --help
       NAME [--topas-explain] [ARGUMENT...]     by a link of that name: mpicc, mpif90, mpiexec, ...

Stands in front of compiler and launch drivers. Links of executables get the TOPAS
measurement module; everything else goes through untouched.

Options:
  --list        print the names it answers to, one per line: NAME KIND [LANGUAGE] [SET]
  --link-names  link the names of every set in its directory beside the driver, or those
                of one set in another directory; prints the directories
  --version     print the version
  --help        print this text

Under another name:
  --topas-explain   print what would be done and why; run nothing

Environment: TOPAS=off passes everything through; TOPAS_VERBOSE=1 says on standard
error why an executable is linked without the module. Manual page: topas-driver(1).
";

/// Answers a call under the own name. Returns the exit code.
pub fn answer(args: &[OsString], own: Option<&Executable>, paths: Option<&Paths>) -> i32 {
    let words: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        ["--list"] => print(&list(&catalog(paths))),
        ["--link-names"] => link_all(paths),
        ["--link-names", ..] => match args {
            [_, set, dir] => link_set(set, Path::new(dir), own, paths),
            _ => usage("--link-names takes a set and a directory, or nothing"),
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

fn link_all(paths: Option<&Paths>) -> i32 {
    let Some(paths) = paths else { return not_installed() };
    match links::all(&catalog(Some(paths)), paths) {
        Ok(dirs) => print(&lines(dirs.iter().map(|dir| dir.as_os_str()))),
        Err(failure) => failed(&failure),
    }
}

fn link_set(set: &OsStr, dir: &Path, own: Option<&Executable>, paths: Option<&Paths>) -> i32 {
    let (Some(own), Some(_)) = (own, paths) else { return not_installed() };
    let catalog = catalog(paths);
    if !catalog.names().any(|(.., of)| of == set) {
        return usage(&format!("no name of a set `{}` in drivers.conf", set.to_string_lossy()));
    }
    match links::one(&catalog, set, dir, &own.path) {
        Ok(()) => print(&lines(std::iter::once(dir.as_os_str()))),
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
