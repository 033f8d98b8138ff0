//! The developers' verbs, and with them the README's and CI's: `cargo xtask --help`.

mod bench;
mod codegen;
mod demo;
mod disk;
mod fold;
mod group;
mod install;
mod landing;
mod licences;
mod needs;
mod object;
mod pack;
mod packages;
mod pictures;
mod preload;
mod process;
mod profile_check;
mod profile_library;
mod release;
mod site;
mod symcheck;
mod test;
mod tools;
mod wheels;
mod wrap;
mod wrap_member;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use topas_config::Paths;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Builds, installs, shows, tests and measures TOPAS")]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Measures what we promise, as ratios, and writes bench/results.md
    Bench(bench::BenchOptions),
    /// Writes the committed files that are made from tables
    Codegen {
        /// Only says which of them are not as they would be written
        #[arg(long)]
        check: bool,
    },
    /// Builds, installs into a scratch prefix, compiles two programs, runs them under Open
    /// MPI and MPICH, shows the log and the report
    Demo {
        /// Generates a year of a center's log instead, and makes mails and pages of it
        #[arg(long)]
        center: bool,
    },
    /// Installs into a prefix
    Install(install::InstallOptions),
    /// Builds the MPI profile: the object for the linker and the library for the loader
    Mpi {
        /// Where they go
        #[arg(long, default_value = "target/topas")]
        out: PathBuf,
        /// Path of the library that programs linked with the object will look for; where it is
        /// built if nothing is said
        #[arg(long)]
        installed: Option<PathBuf>,
        /// The installation whose topas.conf they will read
        #[arg(long, default_value = "/usr")]
        prefix: PathBuf,
        /// Another machine, by Rust's name: aarch64-unknown-linux-gnu
        #[arg(long)]
        target: Option<String>,
    },
    /// Builds the measurement module: one relocatable object per language and variant
    Object {
        /// Where the objects go
        #[arg(long, default_value = "target/topas")]
        out: PathBuf,
        /// topas.conf that programs linked with them will read
        #[arg(long, default_value = object::USUAL_CONF)]
        conf: PathBuf,
        /// Another machine, by Rust's name: aarch64-unknown-linux-gnu
        #[arg(long)]
        target: Option<String>,
        /// The objects of earlier releases, each as VERSION.o, from the sources and by the compiler
        /// that tests/fixtures/objects names; fails if one has another checksum
        #[arg(long, conflicts_with_all = ["conf", "target"])]
        earlier: bool,
        /// For tests: the module takes its processor from a file of the directory it runs in
        #[arg(long, conflicts_with = "target", hide = true)]
        any_processor: bool,
    },
    /// Makes doc/gallery.md and its pictures anew, by the commands in it
    Pictures {
        /// Write nothing; fail if something is not what the tools make
        #[arg(long)]
        check: bool,
    },
    /// Makes the files of a release: a tarball and packages with static tools
    Release(release::ReleaseOptions),
    /// Builds the site of documentation by mdBook, and follows its links
    Site {
        /// Where it goes [default: target/site]
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Checks built objects: size, symbols, sections, no panic code
    Symcheck {
        /// Objects to check
        #[arg(required = true)]
        objects: Vec<PathBuf>,
    },
    /// Runs everything that is tested
    Test(test::TestOptions),
}

fn main() {
    let result = match Arguments::parse().verb {
        Verb::Bench(options) => bench::bench(&options),
        Verb::Codegen { check } => codegen::codegen(&process::root(), check),
        Verb::Demo { center } => demo::demo(center),
        Verb::Mpi { out, installed, prefix, target } => {
            let paths = Paths::at(prefix);
            let library = installed.unwrap_or_else(|| out.join("libtopas_mpi.so"));
            let (machine, conf) = (object::Machine::of(target.as_deref()), paths.conf_file());
            profile_library::build(&machine, &out, &paths, &conf, Some(&library)).map(drop)
        }
        Verb::Install(options) => install::install(&options),
        Verb::Object { out, earlier: true, .. } => release::objects::build(&out),
        Verb::Object { out, conf, any_processor: true, .. } => {
            let machine = object::Machine::ANY_PROCESSOR;
            object::build(&machine, &out, &conf, symcheck::Size::Told).map(drop)
        }
        Verb::Object { out, conf, target, .. } => {
            let machine = object::Machine::of(target.as_deref());
            object::build(&machine, &out, &conf, symcheck::Size::Held)
                .and_then(|_| preload::build(&machine, &out, &conf))
                .map(drop)
        }
        Verb::Pictures { check } => pictures::pictures(check),
        Verb::Release(options) => release::release(&options),
        Verb::Site { out } => site::site(out),
        Verb::Symcheck { objects } => symcheck::check_files(&objects, symcheck::Size::Held, 0),
        Verb::Test(options) => test::test(&options),
    };
    if let Err(error) = result {
        eprintln!("xtask: error: {error}");
        for cause in error.chain().skip(1) {
            eprintln!("  {cause}");
        }
        std::process::exit(1);
    }
}
