//! The driver under its own name: what names are there, which version.

use std::ffi::{OsStr, OsString};

use topas_config::Paths;
use topas_config::paths::DRIVER;

use crate::catalog::{Catalog, Personality};
use crate::message::say;
use crate::{EXIT_USAGE, print};

const HELP: &str = "\
Usage: topas-driver --list | --version | --help
       NAME [--topas-explain] [ARGUMENT...]     by a link of that name: mpicc, mpif90, mpiexec, ...

Stands in front of compiler and launch drivers. Links of executables get the TOPAS
measurement module; everything else goes through untouched.

Options:
  --list      print the names it answers to, one per line: NAME KIND [LANGUAGE]
  --version   print the version
  --help      print this text

Under another name:
  --topas-explain   print what would be done and why; run nothing

Environment: TOPAS=off passes everything through; TOPAS_VERBOSE=1 says on standard
error why an executable is linked without the module. Manual page: topas-driver(1).
";

/// Answers a call under the own name. Returns the exit code.
pub fn answer(args: &[OsString], paths: Option<&Paths>) -> i32 {
    let option = match args {
        [] => None,
        [option] => option.to_str(),
        _ => return usage("takes one option"),
    };
    match option {
        Some("--list") => print(&list(&Catalog::load(paths))),
        Some("--version") => {
            print(OsStr::new(concat!("topas-driver ", env!("CARGO_PKG_VERSION"), "\n")))
        }
        Some("--help") => print(OsStr::new(HELP)),
        None if args.is_empty() => usage("no option given"),
        _ => {
            let given = args.first().map(|arg| arg.to_string_lossy()).unwrap_or_default();
            usage(&format!("unknown option `{given}`"))
        }
    }
}

fn usage(what: &str) -> i32 {
    say!("{DRIVER}: error: {what}");
    say!("hint: it works through links such as mpicc; see {DRIVER} --help");
    EXIT_USAGE
}

fn list(catalog: &Catalog) -> OsString {
    for line in catalog.skipped() {
        say!("{DRIVER}: warning: drivers.conf:{line}: not understood; ignored");
    }
    let mut out = OsString::new();
    for (name, personality) in catalog.names() {
        out.push(name);
        match personality {
            Personality::Compiler(language) => out.push(format!(" compiler {}\n", language.word())),
            Personality::Launcher => out.push(" launcher\n"),
        }
    }
    out
}
