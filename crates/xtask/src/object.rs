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
use crate::{fold, group, landing, pack};

/// The symbol by which the linker finds the module in its archive, and the name of the group of
/// its sections. Code of another build has another one, or one of the two would be dropped.
const ROOTS: [(&str, &str); 2] = [("", "topas_state"), ("topas_extended", "topas_state_extended")];

/// The root of a build with these `--cfg`s.
pub fn root_symbol(cfgs: &[&str]) -> &'static str {
    ROOTS[usize::from(cfgs.contains(&ROOTS[1].0))].1
}

/// What the names of extended objects hold.
pub const EXTENDED: &str = ".all.";

/// Languages a driver can have.
pub const LANGUAGES: [Lang; 4] = [Lang::C, Lang::Cxx, Lang::F77, Lang::F90];

/// Compiled modules: the `--cfg`s of each, and what is made of it.
const BUILDS: [Build; 2] = [
    Build {
        cfgs: &[],
        variants: &[
            Variant { name: "", serial: false, preinit: true },
            Variant { name: ".serial", serial: true, preinit: true },
            Variant { name: ".init", serial: false, preinit: false },
        ],
    },
    // In which every rank measures; a program that runs alone, too, whatever the site wants.
    Build {
        cfgs: &["topas_extended"],
        variants: &[
            Variant { name: ".all", serial: true, preinit: true },
            Variant { name: ".all.init", serial: true, preinit: false },
        ],
    },
];

struct Build {
    cfgs: &'static [&'static str],
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
/// loops at the price of more registers, and no load is doubled to spare another path one;
/// callers know which registers our functions leave alone; sequences of instructions that occur
/// more than once become functions; registers are spilled where the code is shortest; of two
/// conditions the second is looked at only if the first holds; nothing is computed beforehand to
/// spare a jump; and loops count what needs the fewest registers. Each can be left out.
const X86_64_CODEGEN: &[&str] = &[
    "-Cllvm-args=-enable-machine-outliner=always",
    "-Cllvm-args=-x86-cmov-converter=false",
    "-Cllvm-args=-split-spill-mode=size",
    "-Cllvm-args=-greedy-reverse-local-assignment",
    "-Cllvm-args=-inline-threshold=8",
    "-Cllvm-args=-enable-ipra",
    "-Cllvm-args=-disable-machine-licm",
    "-Cllvm-args=-sink-common-insts",
    "-Cllvm-args=-enable-load-pre=0",
    "-Cllvm-args=-x86-br-merging-base-cost=0",
    "-Cllvm-args=-phi-node-folding-threshold=0",
    "-Cllvm-args=-lsr-insns-cost=false",
];

/// The same for the crates the module is made of, too: functions that call nothing may not use what
/// lies below the stack, beside which LLVM loads each small constant by ten bytes.
const X86_64_ALL_CRATES: &str = "-Cno-redzone=yes";

/// The same elsewhere: nothing is hoisted out of loops.
const CODEGEN: &[&str] = &["-Cllvm-args=-disable-machine-licm"];

/// What gives functions whose address is taken a landing pad on x86-64, and makes no tables of
/// jumps, which would need some of their own: by an option of LLVM, because the one of rustc is newer
/// than the oldest Rust that builds TOPAS, and gives the same bits. [`landing`] finds it if that fails.
pub const X86_64_LANDING: [&str; 2] =
    ["-Cllvm-args=-x86-indirect-branch-tracking", "-Cllvm-args=-min-jump-table-entries=1000000"];

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
    fn target_dir(&self, cfgs: &[&str]) -> PathBuf {
        let kind = if self.any_processor { "any-processor" } else { "module" };
        let build = if cfgs.is_empty() { "ordinary".to_owned() } else { cfgs.join("-") };
        target_dir().join(kind).join(build)
    }

    /// Where Cargo puts what it builds for the machine, below its directory.
    pub fn built(&self) -> &Path {
        Path::new(self.target.unwrap_or_default())
    }

    /// `cargo rustc` of a package as a staticlib, with a profile and in a directory of its own.
    pub fn staticlib(&self, package: &str, profile: &str, target_dir: &Path) -> Command {
        let mut rustc = cargo();
        rustc.args(["rustc", "--quiet", "--package", package, "--profile", profile]);
        rustc.args(["--crate-type", "staticlib"]);
        rustc.args(self.target.iter().flat_map(|target| ["--target", target]));
        rustc.env("CARGO_TARGET_DIR", target_dir).arg("--");
        rustc
    }

    /// First part of the name: the processor.
    pub fn processor(&self) -> &str {
        self.target.and_then(|t| t.split('-').next()).unwrap_or(std::env::consts::ARCH)
    }

    /// A program of binutils, with the prefix that Debian gives it for other machines.
    pub fn tool(&self, name: &str) -> Command {
        match self.target {
            Some(_) => Command::new(format!("{}-linux-gnu-{name}", self.processor())),
            None => Command::new(name),
        }
    }
}

/// Where an installation has what goes into programs built for a processor by its Rust name.
pub fn built_for(processor: &str) -> PathBuf {
    match processor {
        std::env::consts::ARCH => target_dir().join("topas"),
        other => target_dir().join(format!("topas-{other}")),
    }
}

/// The `topas.conf` that every object knows.
pub const USUAL_CONF: &str = "/etc/topas/topas.conf";

/// Builds and checks all objects; their paths. `conf` is the topas.conf they name.
pub fn build(machine: &Machine<'_>, out: &Path, conf: &Path, size: Size) -> Result<Vec<PathBuf>> {
    let merged = out.join("module.merged.o");
    let mut objects = Vec::new();
    for Build { cfgs, variants } in &BUILDS {
        merge(machine, cfgs, &merged)?;
        for (lang, variant) in LANGUAGES.iter().flat_map(|l| variants.iter().map(|v| (*l, v))) {
            let object = out.join(format!("topas.{}{}.o", lang.word(), variant.name));
            let every_rank = cfgs.contains(&"topas_extended");
            let group = root_symbol(cfgs);
            let facts = ObjectFacts { lang, serial: variant.serial, every_rank, conf, group };
            let removed = ["--remove-section=.preinit_array"];
            let removed = if variant.preinit { &[][..] } else { &removed };
            specialize(machine, &merged, &facts, removed, &object)?;
            objects.push(object);
        }
    }
    std::fs::remove_file(&merged)?;
    symcheck::check_files(&objects, size, path_bytes(conf))?;
    Ok(objects)
}

/// Bytes that the path of a site's own `topas.conf` takes in an object, whose parts begin at
/// multiples of 8. The usual path stands in every object.
fn path_bytes(conf: &Path) -> usize {
    if conf == Path::new(USUAL_CONF) { 0 } else { conf.as_os_str().len().next_multiple_of(8) }
}

/// Compiles the module with these `--cfg`s and links its archive to one object, `to`, in a
/// directory that is made on the way.
pub fn merge(machine: &Machine<'_>, cfgs: &[&str], to: &Path) -> Result<()> {
    let dir = to.parent().context("an object without a directory")?;
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let mut rustc = machine.staticlib("topas-module", "module", &machine.target_dir(cfgs));
    if machine.processor() == "x86_64" {
        rustc.args(X86_64_CODEGEN).args(X86_64_LANDING);
        for_all_crates(&mut rustc, X86_64_ALL_CRATES);
    } else {
        rustc.args(CODEGEN).arg(X86_64_LANDING[1]);
    }
    if machine.any_processor {
        rustc.args(["--cfg", "topas_any_processor"]);
    }
    rustc.args(cfgs.iter().flat_map(|cfg| ["--cfg", cfg]));
    run(&mut rustc)?;
    let built = machine.target_dir(cfgs).join(machine.built());
    let archive = built.join("module/libtopas_module.a");
    let begin = root_symbol(cfgs);
    run(machine
        .tool("ld")
        .args(["-r", "--gc-sections", "-u", begin, "-e", begin, "-T"])
        .arg(root().join("crates/topas-module/merge.ld"))
        .arg("-o")
        .args([to, &archive]))?;
    let bytes = std::fs::read(to).context("cannot read the merged object")?;
    landing::check(&bytes)?;
    std::fs::write(to, fold::fold(bytes)?).context("cannot write the merged object")
}

/// Compiles dependencies with an option, too, beside those that the environment names.
fn for_all_crates(cargo: &mut Command, option: &str) {
    const FIRST: &str = "CARGO_ENCODED_RUSTFLAGS";
    const OTHER: &str = "RUSTFLAGS";
    let (name, between) = match std::env::var_os(FIRST) {
        Some(_) => (FIRST, "\u{1f}"),
        None => (OTHER, " "),
    };
    let mut options = std::env::var_os(name).unwrap_or_default();
    if !options.is_empty() {
        options.push(between);
    }
    options.push(option);
    cargo.env(name, options);
}

/// What an object knows from its installation.
pub struct ObjectFacts<'f> {
    /// Language of the programs it is for
    pub lang: Lang,
    /// Whether programs that run alone may be measured
    pub serial: bool,
    /// Whether every rank measures
    pub every_rank: bool,
    /// The topas.conf it looks for first
    pub conf: &'f Path,
    /// The name of its group
    pub group: &'static str,
}

/// Makes the object of a language from the merged one, without the sections `removed` names.
pub fn specialize(
    machine: &Machine<'_>,
    merged: &Path,
    facts: &ObjectFacts<'_>,
    removed: &[&str],
    object: &Path,
) -> Result<()> {
    let conf = facts.conf.as_os_str().as_encoded_bytes();
    let (mut section, mut len) = module_facts::section(facts.lang, facts.serial, conf)
        .with_context(|| format!("path of topas.conf is too long: {}", facts.conf.display()))?;
    if facts.every_rank {
        let mark = section.get_mut(len);
        *mark.with_context(|| {
            format!("path of topas.conf is too long: {}", facts.conf.display())
        })? = module_facts::EVERY_RANK;
        len += 1;
    }
    let file = object.with_extension("facts");
    std::fs::write(&file, &section[..len])?;
    run(machine
        .tool("objcopy")
        // Nothing is called so: all symbols become local.
        .args(["--strip-unneeded", "--keep-global-symbol=."])
        .args(["--keep-symbol", facts.group])
        .args(removed)
        .arg(format!("--update-section=.topas={}", file.display()))
        .args([merged, object]))?;
    std::fs::remove_file(&file)?;
    let grouped = group::group(&std::fs::read(object)?, facts.group)?;
    std::fs::write(object, pack::pack(grouped)?)?;
    Ok(())
}
