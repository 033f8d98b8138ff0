//! `topas mpi`: a directory of drivers for each MPI, to be named in the modulefile of that MPI.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use nix::unistd::getcwd;
use topas_config::policy::absolute;
use topas_config::{Environment, Paths};

use crate::catalog::Catalog;
use crate::message::say;
use crate::mpis;
use crate::shadow::{Refused, Shadow, ShadowState};
use crate::{EXIT_CANNOT_WRITE, EXIT_OK, EXIT_USAGE, links, print};

/// The word behind `topas`.
pub const WORD: &str = "mpi";

/// How messages name it.
const TOOL: &str = "topas mpi";

const HELP: &str = "\
Usage: topas mpi find
       topas mpi list
       topas mpi add DIRECTORY [--name NAME]
       topas mpi refresh [NAME | DIRECTORY]
       topas mpi remove NAME | DIRECTORY

topas mpi makes a shadow of an MPI. A shadow is a prefix whose directory bin has exactly the names
of the MPI's own bin: its compiler drivers and launchers are the drivers of TOPAS, and all other
names are links to the MPI. The modulefile of the MPI puts the bin of the shadow in front of PATH
and names the shadow in MPI_HOME (for Intel MPI also in I_MPI_ROOT), where CMake looks before PATH.

  find      look for MPIs on PATH and in the usual places; print a line for each MPI: the
            directory of its programs, then the name of its shadow, or `-` if it has no shadow
  list      print a line for each shadow: its name, the prefix of the MPI, and `ok` or the fault
  add       make the shadow of the MPI whose prefix or bin is DIRECTORY, and print its path
  refresh   make one shadow anew, or all of them, after the MPI or TOPAS was updated
  remove    remove a shadow; the MPI itself is not changed

Exit codes: 0 the work is done; 1 the work is not done, or a shadow does not fit its MPI; 2 the
command line is wrong.
Profiles of MPI calls are the subject of topas-mpi(1). The manual page of this command is topas(1).
";

/// Answers. Returns the exit code.
pub fn run(args: &[OsString], env: &Environment, paths: Option<&Paths>) -> i32 {
    let words: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    if let ["--help" | "-h"] = words.as_slice() {
        return print(OsStr::new(HELP));
    }
    let Some(paths) = paths else {
        say!("{TOOL}: error: this program does not stand in an installation");
        say!("hint: call PREFIX/bin/topas");
        return EXIT_CANNOT_WRITE;
    };
    let site =
        Installed { catalog: Catalog::load(Some(paths)), paths, shadows: Shadow::all(paths) };
    match (words.as_slice(), args) {
        (["find"], _) => site.find(env),
        (["list"], _) => site.list(),
        (["add", "--name", ..], [_, _, name, dir]) => site.add(dir, Some(name)),
        (["add", _, "--name", _], [_, dir, _, name]) => site.add(dir, Some(name)),
        (["add", _], [_, dir]) => site.add(dir, None),
        (["refresh"], _) => site.refresh(&site.shadows),
        (["refresh", _], [_, which]) => match site.named(which) {
            Some(shadow) => site.refresh(&[shadow]),
            None => site.none_named(which),
        },
        (["remove", _], [_, which]) => match site.named(which) {
            Some(shadow) => site.remove(&shadow),
            None => site.none_named(which),
        },
        ([], _) => usage("no command given"),
        ([first, ..], _) if ["find", "list", "add", "refresh", "remove"].contains(first) => {
            usage(&format!("wrong operands of `{first}`"))
        }
        ([first, ..], _) => usage(&format!("unknown command `{first}`")),
    }
}

fn usage(what: &str) -> i32 {
    say!("{TOOL}: error: {what}");
    say!("hint: see {TOOL} --help");
    EXIT_USAGE
}

/// An installation, and the shadows it has.
struct Installed<'a> {
    catalog: Catalog,
    paths: &'a Paths,
    shadows: Vec<Shadow>,
}

impl Installed<'_> {
    /// The shadow of this name, or of the MPI in this directory.
    fn named(&self, which: &OsStr) -> Option<Shadow> {
        let dir = here(which);
        let of = |shadow: &&Shadow| {
            shadow.name() == which
                || shadow.dir == dir
                || shadow.prefix() == dir
                || [dir.join("bin"), dir.clone()].iter().any(|bin| shadow.is_of(bin))
        };
        self.shadows.iter().find(of).cloned()
    }

    fn none_named(&self, which: &OsStr) -> i32 {
        say!("{TOOL}: error: there is no shadow `{}`", which.to_string_lossy());
        say!("hint: `{TOOL} list` shows those there are");
        EXIT_CANNOT_WRITE
    }

    fn find(&self, env: &Environment) -> i32 {
        let mut out = OsString::new();
        let found = mpis::find(Path::new("/"), env, &self.catalog, &self.shadows);
        for mpi in &found {
            out.push(&mpi.bin);
            out.push(" ");
            out.push(mpi.shadow.as_ref().map_or(OsStr::new("-"), Shadow::name));
            out.push("\n");
        }
        let code = print(&out);
        for mpi in found.iter().filter(|mpi| mpi.shadow.is_none()) {
            match &mpi.prefix {
                Some(prefix) => {
                    let topas = self.paths.bin().join("topas");
                    say!("hint: {} mpi add {}", topas.display(), prefix.display());
                }
                None => say!("note: {}", system_says(&mpi.bin, self.paths)),
            }
        }
        code
    }

    fn list(&self) -> i32 {
        let mut out = OsString::new();
        let mut code = EXIT_OK;
        for shadow in &self.shadows {
            let wrong = shadow.state(&self.catalog).says(shadow);
            out.push(shadow.name());
            out.push(" ");
            out.push(shadow.prefix());
            out.push(format!(" {}\n", wrong.as_deref().unwrap_or("ok")));
            if wrong.is_some() {
                code = EXIT_CANNOT_WRITE;
            }
        }
        code.max(print(&out))
    }

    fn add(&self, dir: &OsStr, name: Option<&OsString>) -> i32 {
        if name.is_some_and(|name| !is_name(name)) {
            return usage("a name has no slash, and begins neither with a dot nor with a dash");
        }
        let dir = here(dir);
        let shadow =
            match Shadow::of(&dir, name.map(OsString::as_os_str), &self.catalog, self.paths) {
                Ok(shadow) => shadow,
                Err(refused) => return self.refuse(&dir, &refused),
            };
        // An MPI has one shadow, unless another one is asked for by name.
        let there = self.shadows.iter().find(|old| match name {
            None => old.is_of(&shadow.real_bin),
            Some(_) => old.dir == shadow.dir,
        });
        let shadow = match there.or(self.shadows.iter().find(|old| old.dir == shadow.dir)) {
            Some(old) if !old.is_of(&shadow.real_bin) => {
                say!("{TOOL}: error: {} is the shadow of another MPI", old.dir.display());
                say!("cause: of {}", old.prefix().display());
                say!("hint: choose a name: {TOOL} add {} --name NAME", dir.display());
                return EXIT_CANNOT_WRITE;
            }
            Some(old) => old.clone(),
            None => shadow,
        };
        if let Err((path, error)) = shadow.make(&self.catalog) {
            return failed("make", &path, &error);
        }
        let names = shadow.names();
        say!("{} names of {}: {}", names.len(), shadow.prefix().display(), links::in_words(&names));
        say!("hint: in the modulefile of this MPI, behind its own lines:");
        say!("  prepend-path PATH {}", shadow.bin().display());
        say!("  setenv MPI_HOME {}", shadow.dir.display());
        if names.iter().any(|name| name.as_encoded_bytes().starts_with(b"mpii")) {
            say!("  setenv I_MPI_ROOT {}", shadow.dir.display());
        }
        let mut line = shadow.dir.into_os_string();
        line.push("\n");
        print(&line)
    }

    fn refuse(&self, dir: &Path, refused: &Refused) -> i32 {
        say!("{TOOL}: error: no shadow can be made of {}", dir.display());
        match refused {
            Refused::NoMpi => {
                say!("cause: neither it nor its bin has a compiler driver of an MPI");
                say!("hint: give the prefix of an MPI, or the directory of its mpicc");
            }
            Refused::Ours(bin) => {
                say!("cause: {} holds drivers of TOPAS", bin.display());
                say!("hint: give the prefix of the MPI itself");
            }
            Refused::System(prefix) => {
                say!("cause: {}", system_says(&prefix.join("bin"), self.paths));
                say!("hint: {} --link-names", self.paths.driver().display());
            }
        }
        EXIT_CANNOT_WRITE
    }

    fn refresh(&self, shadows: &[Shadow]) -> i32 {
        let mut code = EXIT_OK;
        for shadow in shadows {
            let name = shadow.name().to_string_lossy();
            if shadow.state(&self.catalog) == ShadowState::Gone {
                say!("{TOOL}: error: cannot refresh {name}");
                say!("cause: {}", ShadowState::Gone.says(shadow).unwrap_or_default());
                say!("hint: {TOOL} remove {name}");
                code = EXIT_CANNOT_WRITE;
                continue;
            }
            match shadow.make(&self.catalog) {
                Ok(changes) if changes.is_empty() => {}
                Ok(changes) => say!("{name}: {}", changes.says()),
                Err((path, error)) => code = failed("make", &path, &error),
            }
        }
        code
    }

    fn remove(&self, shadow: &Shadow) -> i32 {
        match shadow.remove() {
            Ok(()) => EXIT_OK,
            Err(error) => failed("remove", &shadow.dir, &error),
        }
    }
}

/// What holds for the MPI of the system itself.
fn system_says(bin: &Path, paths: &Paths) -> String {
    format!(
        "the programs of {} are on everybody's PATH: the drivers for them are in {}",
        bin.display(),
        paths.wrappers().display()
    )
}

fn failed(what: &str, path: &Path, error: &io::Error) -> i32 {
    say!("{TOOL}: error: cannot {what} {}", path.display());
    say!("cause: {error}");
    say!("hint: call it as the owner of the installation");
    EXIT_CANNOT_WRITE
}

fn is_name(name: &OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    !bytes.is_empty() && !bytes.contains(&b'/') && !matches!(bytes.first(), Some(b'.' | b'-'))
}

/// An absolute path without a slash at its end.
fn here(dir: &OsStr) -> PathBuf {
    absolute(&getcwd().unwrap_or_default(), Path::new(dir))
}
