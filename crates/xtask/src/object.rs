//! `cargo xtask object`: from the Rust staticlib to one small relocatable object per
//! language and variant.
//!
//! Partial link with the sections merged, local relocations folded, symbols made local,
//! then the `.topas` section replaced: language and topas.conf are data, so the module
//! is compiled twice only, as the ordinary and as the extended one.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use topas_format::field::Lang;
use topas_format::module_facts;

use crate::process::{cargo, root, run, target_dir};
use crate::symcheck::{self, Size};
use crate::{fold, pack};

/// The one symbol that stays global.
pub const MARKER: &str = "topas_module_seen";

/// What the names of extended objects hold.
pub const EXTENDED: &str = ".all.";

/// Languages a driver can have.
pub const LANGUAGES: [Lang; 4] = [Lang::C, Lang::Cxx, Lang::F77, Lang::F90];

/// Compiled modules: the options of each, and what is made of it.
const BUILDS: [Build; 2] = [
    Build {
        name: "ordinary",
        options: &[],
        variants: &[
            Variant { name: "", serial: false, preinit: true },
            Variant { name: ".serial", serial: true, preinit: true },
            Variant { name: ".init", serial: false, preinit: false },
        ],
    },
    // In which every rank measures; a program that runs alone, too, whatever the site wants.
    Build {
        name: "extended",
        options: &["--cfg", "topas_extended"],
        variants: &[
            Variant { name: ".all", serial: true, preinit: true },
            Variant { name: ".all.init", serial: true, preinit: false },
        ],
    },
];

struct Build {
    name: &'static str,
    options: &'static [&'static str],
    variants: &'static [Variant],
}

struct Variant {
    /// Between the language and `.o`
    name: &'static str,
    /// Whether programs that run alone may be measured
    serial: bool,
    /// Whether the earlier door is there, which shared libraries cannot have
    preinit: bool,
}

/// What makes the code smaller beyond `opt-level = "z"` on x86-64: nothing is hoisted out of
/// loops at the price of more registers, and no load is doubled to spare another path one. Each
/// can be left out.
const X86_64_CODEGEN: &[&str] = &[
    "-Cllvm-args=-disable-lsr",
    "-Cllvm-args=-disable-machine-licm",
    "-Cllvm-args=-sink-common-insts",
    "-Cllvm-args=-enable-load-pre=0",
];

/// The machine the objects are for.
pub struct Machine<'t> {
    /// Rust's name of it; None for this one
    target: Option<&'t str>,
    /// For tests: believes a file which processor it has
    any_processor: bool,
}

impl<'t> Machine<'t> {
    /// The machine we run on.
    pub const HERE: Machine<'static> = Machine { target: None, any_processor: false };

    /// A machine by Rust's name, such as `aarch64-unknown-linux-gnu`.
    pub fn of(target: Option<&'t str>) -> Self {
        Machine { target, any_processor: false }
    }

    /// The machine we run on, with a module that believes a file which processor it has.
    pub const ANY_PROCESSOR: Machine<'static> = Machine { target: None, any_processor: true };

    /// Where Cargo builds for it: a directory for each build, or they would be made anew in
    /// turn. What tests build for themselves must not lie where the product's is taken from.
    fn target_dir(&self, build: &Build) -> PathBuf {
        let kind = if self.any_processor { "any-processor" } else { "module" };
        target_dir().join(kind).join(build.name)
    }

    /// First part of the name: the processor.
    fn processor(&self) -> &str {
        self.target.and_then(|t| t.split('-').next()).unwrap_or(std::env::consts::ARCH)
    }

    /// A program of binutils, with the prefix that Debian gives it for other machines.
    fn tool(&self, name: &str) -> Command {
        match self.target {
            Some(_) => Command::new(format!("{}-linux-gnu-{name}", self.processor())),
            None => Command::new(name),
        }
    }
}

/// Builds and checks all objects; their paths. `conf` is the topas.conf they name.
pub fn build(machine: &Machine<'_>, out: &Path, conf: &Path, size: Size) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    let merged = out.join("module.merged.o");
    let facts = out.join("facts.bin");
    let mut objects = Vec::new();
    for build in &BUILDS {
        compile(machine, build, &merged)?;
        for (lang, variant) in LANGUAGES.iter().flat_map(|l| build.variants.iter().map(|v| (*l, v)))
        {
            let conf_bytes = conf.as_os_str().as_encoded_bytes();
            let (section, len) = module_facts::section(lang, variant.serial, conf_bytes)
                .with_context(|| format!("path of topas.conf is too long: {}", conf.display()))?;
            std::fs::write(&facts, &section[..len])?;
            let object = out.join(format!("topas.{}{}.o", lang.word(), variant.name));
            let removed = (!variant.preinit).then_some("--remove-section=.preinit_array");
            run(machine
                .tool("objcopy")
                .args(["--strip-unneeded", "--keep-global-symbol", MARKER])
                .args(removed)
                .arg(format!("--update-section=.topas={}", facts.display()))
                .args([&merged, &object]))?;
            std::fs::write(&object, pack::pack(std::fs::read(&object)?)?)?;
            objects.push(object);
        }
    }
    std::fs::remove_file(&facts)?;
    std::fs::remove_file(&merged)?;
    symcheck::check_files(&objects, size)?;
    Ok(objects)
}

/// Compiles the module and links it partially into one object.
fn compile(machine: &Machine<'_>, build: &Build, merged: &Path) -> Result<()> {
    let dir = machine.target_dir(build);
    let mut rustc = cargo();
    rustc.args(["rustc", "--quiet", "--package", "topas-module", "--profile", "module"]);
    rustc.args(machine.target.iter().flat_map(|target| ["--target", target]));
    rustc.env("CARGO_TARGET_DIR", &dir).arg("--").args(build.options);
    if machine.processor() == "x86_64" {
        rustc.args(X86_64_CODEGEN);
    }
    if machine.any_processor {
        rustc.args(["--cfg", "topas_any_processor"]);
    }
    run(&mut rustc)?;
    let archive = dir.join(machine.target.unwrap_or_default()).join("module/libtopas_module.a");
    run(machine
        .tool("ld")
        .args(["-r", "--gc-sections", "-u", MARKER, "-e", MARKER, "-T"])
        .arg(root().join("crates/topas-module/merge.ld"))
        .arg("-o")
        .args([merged, &archive]))?;
    let bytes = std::fs::read(merged).context("cannot read the merged object")?;
    std::fs::write(merged, fold::fold(bytes)?)?;
    Ok(())
}
