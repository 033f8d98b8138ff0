//! The tools: which there are, and how they are compiled for an installation.
//!
//! Linked with the shared C library, a tool starts on systems with the glibc of the building
//! machine or a later one. Linked statically with musl, a tool starts on every Linux, so released
//! tarballs and packages hold such tools.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process::{cargo, on_path, output, root, run, target_dir};

/// Tools that go to `bin`.
pub const TOOLS: [&str; 7] = [
    "topas-doctor",
    "topas-log",
    "topas-mpi",
    "topas-report",
    "topas-stat",
    "topas-top",
    "topasview",
];

/// Processors for which tools are released, by their Rust names.
pub const PROCESSORS: [&str; 2] = ["x86_64", "aarch64"];

/// The driver, which goes to `libexec`.
pub const DRIVER: &str = "topas-driver";

/// Names under which the driver is a tool.
pub const DRIVER_TOOLS: [&str; 2] = ["topas", "topas-run"];

/// The tool that opens the MPI of the system, which a program without a loader cannot do.
pub const OPENS_MPI: &str = "topas-mpi";

/// Built tools.
pub struct BuiltTools {
    /// The machine that they are for, by Rust's name, if it is another one than this
    pub target: Option<String>,
    /// The directory that holds each of them.
    pub dir: PathBuf,
    /// If the tools are static: the directory of [`OPENS_MPI`] with the shared C library.
    pub shared: Option<PathBuf>,
}

/// Builds the tools with a profile of Cargo for this machine and its C library.
///
/// # Errors
/// Of the compiler, shown by Cargo.
pub fn build(profile: &str) -> Result<BuiltTools> {
    run(cargo()
        .args(["build", "--quiet", "--profile", profile, "--package", DRIVER])
        .args(TOOLS.iter().flat_map(|tool| ["--package", tool])))?;
    Ok(BuiltTools { target: None, dir: target_dir().join(directory(profile)), shared: None })
}

/// Builds static tools with a profile of Cargo for a processor by its Rust name, and once more the
/// tool that has to open an MPI. No path of the builder is in them.
///
/// # Errors
/// If the target of the compiler or the compiler of C is missing, with the command that adds it;
/// and of the compiler.
pub fn build_static(profile: &str, processor: &str) -> Result<BuiltTools> {
    let musl = format!("{processor}-unknown-linux-musl");
    let gnu = format!("{processor}-unknown-linux-gnu");
    for target in [&musl, &gnu] {
        ensure_target(target)?;
    }
    let here = processor == std::env::consts::ARCH;
    let linker = format!("{processor}-linux-gnu-gcc");
    if !here && !on_path(&linker) {
        bail!("there is no {linker}\nhint: apt-get install gcc-{processor}-linux-gnu");
    }
    let all: Vec<&str> = TOOLS.into_iter().chain([DRIVER]).collect();
    for (target, tools) in [(&musl, &all[..]), (&gnu, &[OPENS_MPI])] {
        let mut build = cargo();
        build.args(["build", "--quiet", "--locked", "--profile", profile, "--target", target]);
        build.args(tools.iter().flat_map(|tool| ["--package", tool]));
        let variable = target.replace('-', "_");
        let mut options = String::new();
        if *target == musl {
            let (compiler, needed) = musl_compiler(processor)?;
            options = needed;
            build.env(format!("CC_{variable}"), compiler);
        } else if !here {
            build.env(format!("CC_{variable}"), &linker);
        }
        without_builder(&mut build, target, &options)?;
        if !here {
            build.env(format!("CARGO_TARGET_{}_LINKER", variable.to_uppercase()), &linker);
        }
        run(&mut build)?;
    }
    let built = |target: &str| target_dir().join(target).join(directory(profile));
    let (dir, shared) = (built(&musl), Some(built(&gnu)));
    Ok(BuiltTools { target: (!here).then_some(gnu), dir, shared })
}

/// Cargo's directory for what a profile makes.
fn directory(profile: &str) -> &str {
    // The one profile whose directory has another name.
    if profile == "dev" { "debug" } else { profile }
}

/// Fails with the remedy if the compiler has no standard library for a target.
fn ensure_target(target: &str) -> Result<()> {
    let libraries =
        output(Command::new("rustc").args(["--print", "target-libdir", "--target", target]))?;
    if !Path::new(libraries.trim()).is_dir() {
        bail!("the Rust target {target} is not installed\nhint: rustup target add {target}");
    }
    Ok(())
}

/// The compiler of C programs for musl, and its options. For another processor it is the compiler for
/// glibc with the headers of musl; the library itself comes with Rust.
fn musl_compiler(processor: &str) -> Result<(String, String)> {
    if processor == std::env::consts::ARCH {
        if !on_path("musl-gcc") {
            bail!(
                "there is no musl-gcc, which compiles the libraries in C\nhint: apt-get install musl-tools"
            );
        }
        return Ok(("musl-gcc".to_owned(), String::new()));
    }
    let headers = format!("/usr/include/{processor}-linux-musl");
    if !Path::new(&headers).is_dir() {
        let debian = debian_name(processor);
        bail!(
            "there is no {headers}, by which the libraries in C are compiled\n\
             hint: dpkg --add-architecture {debian}; apt-get update; apt-get install musl-dev:{debian}"
        );
    }
    let compiler = format!("{processor}-linux-gnu-gcc");
    let own = output(Command::new(&compiler).arg("-print-file-name=include"))?;
    let options = format!("-nostdinc -isystem {headers} -isystem {}", own.trim());
    Ok((compiler, options))
}

/// Debian's name of a processor.
pub fn debian_name(processor: &str) -> &str {
    match processor {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// Options for compilers of C by which the date of the build, which mimalloc prints, is a constant.
/// Cargo sees a change of options and compiles anew; of `SOURCE_DATE_EPOCH` it knows nothing.
const WITHOUT_DATE: [&str; 3] =
    ["-Wno-builtin-macro-redefined", "-D__DATE__=\"-\"", "-D__TIME__=\"-\""];

/// Keeps paths of the builder and the time of the build out of what is compiled: two builds make the
/// same bits. Compilers of C get `options`, too.
fn without_builder(build: &mut Command, target: &str, options: &str) -> Result<()> {
    let mut rust = Vec::new();
    let mut c = vec![options.to_owned()];
    c.extend(WITHOUT_DATE.iter().map(|option| quoted(option)));
    for (from, to) in builders_paths()? {
        rust.push(OsString::from(format!("--remap-path-prefix={}={to}", from.display())));
        c.push(quoted(&format!("-ffile-prefix-map={}={to}", from.display())));
    }
    build.env("CARGO_ENCODED_RUSTFLAGS", rust.join(std::ffi::OsStr::new("\u{1f}")));
    build.env(format!("CFLAGS_{}", target.replace('-', "_")), c.join(" "));
    // The options are words of a shell, because a path may have blanks.
    build.env("CC_SHELL_ESCAPED_FLAGS", "1");
    // Objects of incremental builds have random names.
    build.env("CARGO_INCREMENTAL", "0");
    Ok(())
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The directories of the builder that compilers see, and what stands in their place. Of several
/// that fit the compiler takes the last one.
///
/// # Errors
/// If there is no home directory of Cargo, or it cannot be read.
pub fn builders_paths() -> Result<Vec<(PathBuf, &'static str)>> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let home = home.context("neither CARGO_HOME nor HOME is set")?;
    let mut paths = vec![(home.clone(), "/cargo"), (root(), "/topas")];
    // One directory for each registry or mirror, whose name depends on its address.
    for entry in std::fs::read_dir(home.join("registry/src")).into_iter().flatten() {
        paths.push((entry?.path(), "/crates"));
    }
    paths.push((root().join("vendor"), "/crates"));
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_of_c_get_each_option_as_one_word() {
        let mut build = Command::new("sh");
        without_builder(&mut build, "a-b", "-x -y").unwrap();
        build.args(["-c", "eval \"set -- $CFLAGS_a_b\"; printf '%s\\n' \"$@\""]);
        let told = output(&mut build).unwrap();
        let words: Vec<&str> = told.lines().collect();
        assert_eq!(words[..2], ["-x", "-y"]);
        assert_eq!(words[2..5], WITHOUT_DATE);
        assert!(words.len() > 6, "{told}");
        assert!(words[5..].iter().all(|word| word.starts_with("-ffile-prefix-map=/")), "{told}");
        assert_eq!(quoted("/a 'b'"), r"'/a '\''b'\'''");
    }
}
