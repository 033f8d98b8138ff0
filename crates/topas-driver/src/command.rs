//! The command `topas`: links under TOPAS with every rank measured, and answers about the
//! installation.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use nix::unistd::getcwd;
use topas_config::paths::Executable;
use topas_config::policy::{absolute, kill_switch};
use topas_config::{Conf, Environment, Paths};
use topas_format::conf::{List, Switch};
use topas_format::env::TOPAS_MEASURE_ALL_PE;

use crate::catalog::{Catalog, Language, Personality};
use crate::explain::quoted;
use crate::message::say;
use crate::plan::link_arguments;
use crate::shadow::{Shadow, TELL_BUILDS};
use crate::{
    EXIT_CANNOT_WRITE, EXIT_NOT_FOUND, EXIT_USAGE, execute, module, mpi_command, print, search,
};

/// Its name.
pub const NAME: &str = "topas";

const HELP: &str = "\
Usage: topas COMMAND [ARGUMENT...]
       topas mpi find | list | add DIRECTORY [--name NAME] | refresh [NAME] | remove NAME
       topas --prefix | --wrappers | --link-flags [LANGUAGE] | --log | --version | --help

topas runs a command that links, such as `mpif90 heat.f90 -o heat` or `make`, with the drivers of
TOPAS in front of PATH, so that every rank of the resulting program is measured.
`topas mpi` makes a directory of drivers for one MPI: see `topas mpi --help`.
`topas top` shows what the ranks of running programs do in MPI: see topas-top(1).

Options; the answer to each of them is one line:
  --prefix       print the directory in which TOPAS is installed
  --wrappers     print the directory that goes in front of PATH
  --link-flags   print the words to add to a link that calls no driver, for programs and for
                 shared libraries; LANGUAGE is c (the default), cxx, f77 or f90
  --log          print where measured programs write their lines
  --version      print the version
  --help         print this text

The manual page is topas(1).
";

/// Answers, or becomes the command. Returns the exit code if there is nothing to become.
pub fn run(
    args: &[OsString],
    env: &Environment,
    own: Option<&Executable>,
    paths: Option<&Paths>,
) -> i32 {
    let Some((first, rest)) = args.split_first() else { return usage("no command given") };
    if first == mpi_command::WORD {
        return mpi_command::run(rest, env, paths);
    }
    // A program of this name links nothing.
    if first == "top"
        && let Some(tool) = paths.map(|paths| paths.bin().join("topas-top"))
        && tool.exists()
    {
        return execute::program(&tool, tool.as_os_str(), rest, env);
    }
    if !first.as_encoded_bytes().starts_with(b"-") {
        return link(first, rest, env, own, paths);
    }
    let option = first.to_string_lossy();
    let operands = if option == "--link-flags" { 1 } else { 0 };
    if rest.len() > operands {
        return usage(&format!("`{option}` takes no further argument"));
    }
    match option.as_ref() {
        "--help" => return print(OsStr::new(HELP)),
        "--version" => {
            return print(OsStr::new(concat!("topas ", env!("CARGO_PKG_VERSION"), "\n")));
        }
        "--prefix" | "--wrappers" | "--link-flags" | "--log" => {}
        _ => return usage(&format!("unknown option `{option}`")),
    }
    let Some(paths) = paths else {
        say!("{NAME}: error: this program does not stand in an installation");
        say!("hint: call PREFIX/bin/{NAME}");
        return EXIT_CANNOT_WRITE;
    };
    match option.as_ref() {
        "--prefix" => line(paths.prefix().as_os_str()),
        "--wrappers" => line(paths.wrappers().as_os_str()),
        "--log" => log(env, paths),
        _ => {
            let word =
                rest.first().map_or(Language::C.word().into(), |word| word.to_string_lossy());
            match Language::parse(word.as_bytes()) {
                Some(language) => link_flags(language, env, paths),
                None => usage(&format!("no language `{word}`: c, cxx, f77 or f90")),
            }
        }
    }
}

fn usage(what: &str) -> i32 {
    say!("{NAME}: error: {what}");
    say!("hint: see {NAME} --help");
    EXIT_USAGE
}

fn line(text: &OsStr) -> i32 {
    let mut line = text.to_owned();
    line.push("\n");
    print(&line)
}

/// The words for a link without a driver. The module is the one that a shared library can
/// take, too: such flags end up on both. Switched off, there is nothing to add.
fn link_flags(language: Language, env: &Environment, paths: &Paths) -> i32 {
    let conf = Conf::load(Some(paths), env);
    if !conf.settings().is(Switch::Link) || kill_switch(Some(paths)).is_some() {
        return line(OsStr::new(""));
    }
    let object = match env.measures_all() {
        true => paths.all_init_module(language.word()),
        false => paths.init_module(language.word()),
    };
    if let Err(unfit) = module::check(&object) {
        say!("{NAME}: error: module {}: {unfit}", object.display());
        say!("hint: install TOPAS anew");
        return EXIT_CANNOT_WRITE;
    }
    let words: Vec<_> = link_arguments(&object).iter().map(|word| quoted(word)).collect();
    line(&words.join(OsStr::new(" ")))
}

fn log(env: &Environment, paths: &Paths) -> i32 {
    let conf = Conf::load(Some(paths), env);
    let settings = conf.settings();
    let targets = String::from_utf8_lossy(settings.list(List::Log));
    if targets.is_empty() {
        let file = conf.file().map_or_else(|| paths.conf_file(), Path::to_path_buf);
        say!("{NAME}: error: no line is written: `log` is not set in {}", file.display());
        say!("hint: set it to a target such as file:/var/log/topas/%Y-%m.log");
        return EXIT_CANNOT_WRITE;
    }
    line(OsStr::new(targets.as_ref()))
}

/// A PATH of these directories; `None` if one has a colon.
fn join<'a>(dirs: impl Iterator<Item = &'a PathBuf>) -> Option<OsString> {
    let mut value = OsString::new();
    for (dir, at) in dirs.zip(0..) {
        if dir.as_os_str().as_encoded_bytes().contains(&b':') {
            return None;
        }
        if at > 0 {
            value.push(":");
        }
        value.push(dir);
    }
    Some(value)
}

/// Becomes the command, with the drivers in front of PATH and every rank chosen.
fn link(
    command: &OsStr,
    args: &[OsString],
    env: &Environment,
    own: Option<&Executable>,
    paths: Option<&Paths>,
) -> i32 {
    let mut env = env.clone();
    env.set(TOPAS_MEASURE_ALL_PE, "yes");
    let path = Path::new(command);
    let name = path.file_name().unwrap_or_default();
    // A compiler named by its path is the real one that is meant.
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let known = matches!(
        Catalog::load(paths).personality(name),
        Some(Personality::Compiler(_) | Personality::Linker)
    );
    let mut front: Vec<PathBuf> = paths.map(Paths::wrappers).into_iter().collect();
    front.extend(dir.filter(|_| known).map(|dir| absolute(&getcwd().unwrap_or_default(), dir)));
    // An MPI that has a shadow is called by it, also where CMake looks before PATH.
    let shadows = paths.map(Shadow::all).unwrap_or_default();
    let shadow_of = |bin: &Path| shadows.iter().find(|shadow| shadow.is_of(bin));
    for name in TELL_BUILDS {
        let told = env.get(name).and_then(|dir| shadow_of(&Path::new(dir).join("bin")));
        if let Some(shadow) = told {
            env.set(name, shadow.dir.clone());
        }
    }
    let rest = env.search_path().filter(|dir| !front.contains(dir));
    let rest: Vec<_> =
        rest.flat_map(|dir| [shadow_of(&dir).map(Shadow::bin), Some(dir)]).flatten().collect();
    match join(front.iter().chain(&rest)) {
        Some(value) => env.set("PATH", value),
        None => return usage("the prefix has a colon, so it cannot stand in PATH"),
    }
    if known && let Some(own) = own {
        // The name may be in a set that is not on PATH.
        return execute::program(&own.path, name, args, &env);
    }
    // What a build will call is the real one where no name stands in front of it.
    if let Some(mpicc) = search::any_program(OsStr::new("mpicc"), &env)
        && !search::is_driver_file(&mpicc)
    {
        let bin = mpicc.parent().unwrap_or(&mpicc).display();
        say!("{NAME}: warning: no driver of TOPAS stands in front of {}", mpicc.display());
        say!("hint: as the owner of TOPAS call: {NAME} mpi add {bin}");
    }
    let found =
        if dir.is_some() { Some(path.to_path_buf()) } else { search::any_program(name, &env) };
    match found {
        Some(program) => execute::program(&program, command, args, &env),
        None => {
            say!("{NAME}: error: no program `{}` on PATH", command.to_string_lossy());
            say!("hint: give a command that links, such as: {NAME} mpicc heat.c -o heat");
            EXIT_NOT_FOUND
        }
    }
}
