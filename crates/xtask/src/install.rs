//! `cargo xtask install`: what packages, sites and the demo install, from one list.

mod documents;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;
use topas_config::Paths;

use topas_format::module_facts::{CONF, LONGEST_DIRECTORY};

use crate::licences;
use crate::object::{self, LANGUAGES, Machine};
use crate::preload;
use crate::process::{root, run};
use crate::profile_library;
use crate::symcheck::Size;
use crate::tools::{self, BuiltTools, DRIVER, DRIVER_TOOLS, OPENS_MPI, TOOLS};

/// What to install where.
#[derive(Args)]
pub struct InstallOptions {
    /// Where TOPAS will live; programs linked there remember its topas.conf
    #[arg(long, value_name = "P")]
    pub prefix: PathBuf,
    /// Stage below this directory, as packages do; paths in files stay those of the prefix
    #[arg(long, value_name = "D")]
    pub destdir: Option<PathBuf>,
    /// Install tools that are linked statically, which start on every Linux
    #[arg(long = "static")]
    pub static_tools: bool,
    /// Leave room in what goes into programs for the path of another prefix, so that
    /// `topas-driver --relocate` can write it
    #[arg(long)]
    pub relocatable: bool,
    /// For tests: Cargo's profile that tools are compiled with. What goes into programs is always
    /// compiled the same
    #[arg(long, value_name = "NAME", default_value = "release", hide = true)]
    pub tools_profile: String,
    /// For tests: a directory with tools that are built already
    #[arg(long, value_name = "D", hide = true, conflicts_with_all = ["tools_profile", "static_tools"])]
    pub tools_from: Option<PathBuf>,
}

impl InstallOptions {
    /// As `cargo xtask install --prefix P`.
    pub fn into(prefix: PathBuf) -> InstallOptions {
        InstallOptions {
            prefix,
            destdir: None,
            static_tools: false,
            relocatable: false,
            tools_profile: "release".into(),
            tools_from: None,
        }
    }

    /// The `topas.conf` that is written into objects.
    fn conf_in_objects(&self, paths: &Paths) -> PathBuf {
        if self.relocatable { with_room(&paths.conf_file()) } else { paths.conf_file() }
    }
}

/// The same path, with as many slashes in front of the file name as an object has room for. To the
/// kernel several slashes are one.
fn with_room(conf: &Path) -> PathBuf {
    let mut text = conf.parent().unwrap_or(conf).as_os_str().to_owned();
    while text.len() < LONGEST_DIRECTORY {
        text.push("/");
    }
    text.push(str::from_utf8(CONF).unwrap_or_default());
    text.into()
}

/// Builds everything and installs it. An existing topas.conf and logs are kept.
pub fn install(options: &InstallOptions) -> Result<()> {
    let tools = match &options.tools_from {
        Some(dir) => BuiltTools { target: None, dir: dir.clone(), shared: None },
        None if options.static_tools => {
            tools::build_static(&options.tools_profile, std::env::consts::ARCH)?
        }
        None => tools::build(&options.tools_profile)?,
    };
    install_tools(options, &tools)
}

/// Installs tools that are built already, and builds and installs what goes into programs.
pub fn install_tools(options: &InstallOptions, tools: &BuiltTools) -> Result<()> {
    if !options.prefix.is_absolute() {
        bail!("the prefix must be an absolute path: {}", options.prefix.display());
    }
    let final_paths = Paths::at(&options.prefix);
    let conf = options.conf_in_objects(&final_paths);
    let machine = Machine::of(tools.target.as_deref());
    let built = object::built_for(machine.processor());
    let objects = object::build(&machine, &built, &conf, Size::Told)?;
    let libraries = preload::build(&machine, &built, &conf)?;
    let profile = profile_library::build(&machine, &built, &final_paths, &conf, None)?;
    let staged = |path: PathBuf| match &options.destdir {
        None => path,
        Some(dir) => dir.join(path.strip_prefix("/").unwrap_or(&path)),
    };

    for tool in TOOLS {
        put(&tools.dir.join(tool), &staged(final_paths.bin().join(tool)), 0o755)?;
    }
    put(&tools.dir.join(DRIVER), &staged(final_paths.driver()), 0o755)?;
    if let Some(shared) = &tools.shared {
        put(&shared.join(OPENS_MPI), &staged(final_paths.mpi_calibrate()), 0o755)?;
    }
    for object in objects.iter().chain(&libraries).chain(&profile) {
        let name = object.file_name().context("an object has no name")?;
        put(object, &staged(final_paths.lib().join(name)), 0o644)?;
    }
    put(&root().join("wrappers/drivers.conf"), &staged(final_paths.drivers_conf()), 0o644)?;
    for name in DRIVER_TOOLS {
        link(Path::new("../libexec/topas/topas-driver"), &staged(final_paths.bin().join(name)))?;
    }
    install_conf(&final_paths, &staged)?;
    install_rules(&final_paths, &staged)?;
    let logs = staged(final_paths.log_dir());
    if !logs.exists() {
        fs::create_dir_all(&logs)?;
        // Everybody may add a file, nobody may list or remove those of others.
        fs::set_permissions(&logs, fs::Permissions::from_mode(0o1733))?;
    }
    install_docs(&options.prefix, &staged)?;
    install_examples(&final_paths, &options.prefix, &staged)?;
    install_completions(&options.prefix, &staged)?;
    install_environment(&final_paths, &staged)?;
    match options.destdir {
        None => link_names(&final_paths)?,
        Some(_) => {
            eprintln!(
                "xtask: note: no names are linked: which compilers there are is seen where it is installed"
            );
            eprintln!("hint: there call {} --link-names", final_paths.driver().display());
        }
    }
    println!("installed in {}", staged(options.prefix.clone()).display());
    println!("to use it: export PATH={}:$PATH", final_paths.wrappers().display());
    Ok(())
}

/// Links the names that have a program behind them here, brings the shadows of MPIs up to date,
/// and says how those that have none would get one.
fn link_names(paths: &Paths) -> Result<()> {
    run(Command::new(paths.driver()).arg("--link-names").stdout(Stdio::null()))?;
    let topas = paths.bin().join("topas");
    // A shadow whose MPI has gone is said, and keeps nobody from installing.
    let refreshed = Command::new(&topas).args(["mpi", "refresh"]).status();
    refreshed.with_context(|| topas.display().to_string())?;
    run(Command::new(&topas).args(["mpi", "find"]).stdout(Stdio::null()))
}

/// The sample with a log target for this prefix. A site's own file is not touched: a sample that is
/// another than the last one, and than that file, comes to stand beside it.
fn install_conf(paths: &Paths, staged: &impl Fn(PathBuf) -> PathBuf) -> Result<()> {
    let sample = fs::read_to_string(root().join("etc/topas.conf"))?;
    let log = format!("log = file:{}/%Y-%m.%u.log", escaped(&paths.log_dir()));
    let text = sample.replace("\n#log = file:/var/log/topas/%Y-%m.log\n", &format!("\n{log}\n"));
    if !text.contains(&log) {
        bail!("etc/topas.conf has no line to put the log target in");
    }
    let conf = staged(paths.conf_file());
    let last = staged(paths.prefix().join("share/doc/topas/examples/topas.conf"));
    let is = |path: &Path| fs::read(path).is_ok_and(|there| there == text.as_bytes());
    if !conf.exists() {
        write(&conf, text.as_bytes(), 0o644)?;
    } else if !is(&conf) && !is(&last) {
        write(&conf.with_extension("conf.new"), text.as_bytes(), 0o644)?;
    }
    write(&last, text.as_bytes(), 0o644)
}

/// The rules that are built in as examples, and a directory for those of the site with a text that
/// says so. Files of the site are not touched.
fn install_rules(paths: &Paths, staged: &impl Fn(PathBuf) -> PathBuf) -> Result<()> {
    let site = paths.conf_file().with_file_name("rules.d");
    let examples = paths.prefix().join("share/doc/topas/examples/rules.d");
    for entry in fs::read_dir(root().join("etc/topas/rules.d"))? {
        let path = entry?.path();
        let name = path.file_name().context("a rule has no name")?;
        let is_rule = path.extension().is_some_and(|extension| extension == "conf");
        let directory = if is_rule { &examples } else { &site };
        put(&path, &staged(directory.join(name)), 0o644)?;
    }
    let templates = paths.prefix().join("share/doc/topas/examples/mail");
    for entry in fs::read_dir(root().join("etc/topas/mail"))? {
        let path = entry?.path();
        let name = path.file_name().context("a template has no name")?;
        put(&path, &staged(templates.join(name)), 0o644)?;
    }
    Ok(())
}

/// A path as `log =` takes it: a percent sign doubled.
fn escaped(path: &Path) -> String {
    path.display().to_string().replace('%', "%%")
}

fn install_docs(prefix: &Path, staged: &impl Fn(PathBuf) -> PathBuf) -> Result<()> {
    for entry in fs::read_dir(root().join("doc"))? {
        let path = entry?.path();
        let name = path.file_name().context("a document has no name")?;
        let section = path.extension().and_then(|extension| extension.to_str());
        if let Some(section @ ("1" | "5" | "7" | "8")) = section {
            let man = prefix.join("share/man").join(format!("man{section}")).join(name);
            put(&path, &staged(man), 0o644)?;
        }
    }
    let documents = prefix.join("share/doc/topas");
    for (name, bytes) in documents::all()? {
        write(&staged(documents.join(name)), &bytes, 0o644)?;
    }
    let texts = licences::third_party(&licences::crates()?)?;
    write(&staged(documents.join("THIRD-PARTY")), texts.as_bytes(), 0o644)?;
    // What programs include to name their states.
    for entry in fs::read_dir(root().join("etc/include"))? {
        let path = entry?.path();
        let name = path.file_name().context("a header has no name")?;
        put(&path, &staged(prefix.join("include").join(name)), 0o644)?;
    }
    // The tools contain the fonts, whose licence wants to be with them.
    let licence = root().join("crates/topas-chart/fonts/OFL.txt");
    put(&licence, &staged(prefix.join("share/doc/topas/fonts/OFL.txt")), 0o644)
}

/// The completions of the shells, where they look for them by the name of a tool.
fn install_completions(prefix: &Path, staged: &impl Fn(PathBuf) -> PathBuf) -> Result<()> {
    let from = root().join("etc/completions");
    let share = prefix.join("share");
    let fish = fs::read_to_string(from.join("topas.fish"))?;
    for tool in TOOLS.into_iter().chain(DRIVER_TOOLS) {
        let bash = share.join("bash-completion/completions").join(tool);
        put(&from.join("topas.bash"), &staged(bash), 0o644)?;
        let place = share.join("fish/vendor_completions.d").join(format!("{tool}.fish"));
        write(&staged(place), fish.replace("@TOOL@", tool).as_bytes(), 0o644)?;
    }
    put(&from.join("_topas"), &staged(share.join("zsh/site-functions/_topas")), 0o644)
}

/// Files of `etc` that put the drivers in front of PATH, and where they go. A directory of
/// modulefiles holds both forms under the name of the version: each kind reads its own.
const ENVIRONMENT: [(&str, &str); 4] = [
    ("modulefiles/topas.lua", concat!("modulefiles/topas/", env!("CARGO_PKG_VERSION"), ".lua")),
    ("modulefiles/topas.tcl", concat!("modulefiles/topas/", env!("CARGO_PKG_VERSION"))),
    ("profile.d/topas.sh", "topas/profile.d/topas.sh"),
    ("profile.d/topas.csh", "topas/profile.d/topas.csh"),
];

fn install_environment(paths: &Paths, staged: &impl Fn(PathBuf) -> PathBuf) -> Result<()> {
    let prefix = paths.prefix().to_str().context("the prefix is no text")?;
    if !paths.stands_in_texts() {
        eprintln!("xtask: warning: no modulefiles and packages: not for a prefix like {prefix}");
        return Ok(());
    }
    let modules = LANGUAGES
        .map(|language| language.word())
        .map(|language| (language, "the TOPAS measurement module", paths.init_module(language)));
    let profile = ("mpi", "the TOPAS profile of MPI calls", paths.mpi_init_object());
    for (name, what, object) in modules.into_iter().chain([profile]) {
        let text = format!(
            "Name: topas-{name}\n\
             Description: {what}, for programs and shared libraries\n\
             Version: {}\nLibs: -Wl,{}\n",
            env!("CARGO_PKG_VERSION"),
            object.display()
        );
        let file = paths.packages().join(format!("topas-{name}.pc"));
        write(&staged(file), text.as_bytes(), 0o644)?;
    }
    let conf = paths.conf_file();
    let etc = conf.parent().and_then(Path::to_str).context("topas.conf has no directory")?;
    for (name, place) in ENVIRONMENT {
        let from = root().join("etc").join(name);
        let text = fs::read_to_string(&from)
            .with_context(|| format!("cannot read {}", from.display()))?
            .replace("@PREFIX@", prefix)
            .replace("@ETC@", etc)
            .replace("@VERSION@", env!("CARGO_PKG_VERSION"));
        write(&staged(paths.prefix().join("share").join(place)), text.as_bytes(), 0o644)?;
    }
    Ok(())
}

/// Makes a symbolic link, or leaves the one that is there.
fn link(to: &Path, path: &Path) -> Result<()> {
    if fs::read_link(path).is_ok_and(|there| there == to) {
        return Ok(());
    }
    symlink(to, path).with_context(|| format!("cannot link {}", path.display()))
}

/// Files of `etc` for other daemons, as they stand, but with the log directory of this
/// prefix.
const EXAMPLES: [&str; 18] = [
    "logrotate/topas",
    "rsyslog/center.conf",
    "rsyslog/node.conf",
    "systemd/topas-log-close.service",
    "systemd/topas-log-close.timer",
    "systemd/topas-purge.service",
    "systemd/topas-purge.timer",
    "systemd/topas-report-ingest.service",
    "systemd/topas-report-ingest.timer",
    "systemd/topas-report-serve.service",
    "systemd/topas-mpi-collect.service",
    "systemd/topas-mpi-collect.timer",
    "systemd/topas-report-mail.service",
    "systemd/topas-report-mail.timer",
    "systemd/topas-report-pages.service",
    "systemd/topas-report-pages.timer",
    "slurm/epilog-topas-mpi.sh",
    "tmpfiles.d/topas-mpi.conf",
];

fn install_examples(
    paths: &Paths,
    prefix: &Path,
    staged: &impl Fn(PathBuf) -> PathBuf,
) -> Result<()> {
    let logs = paths.log_dir().display().to_string();
    for name in EXAMPLES {
        let from = root().join("etc").join(name);
        let text = fs::read_to_string(&from)
            .with_context(|| format!("cannot read {}", from.display()))?
            .replace("/var/log/topas/", &format!("{logs}/"))
            .replace("/var/log/topas-closed", &format!("{logs}-closed"))
            .replace("@PREFIX@", &prefix.display().to_string())
            .replace("@LOGS@", &logs);
        let to = prefix.join("share/doc/topas/examples").join(name);
        write(&staged(to), text.as_bytes(), 0o644)?;
    }
    Ok(())
}

fn put(from: &Path, to: &Path, mode: u32) -> Result<()> {
    let bytes = fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
    write(to, &bytes, mode)
}

/// Writes beside and renames, so that a driver in use is never half there.
fn write(to: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let dir = to.parent().context("no directory")?;
    fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let fresh = to.with_extension("installing");
    let done = fs::write(&fresh, bytes)
        .and_then(|()| fs::set_permissions(&fresh, fs::Permissions::from_mode(mode)))
        .and_then(|()| fs::rename(&fresh, to));
    done.with_context(|| format!("cannot write {}", to.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_comes_beside_the_configuration_only_if_it_is_new() {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths::at(dir.path());
        let (conf, new) = (paths.conf_file(), paths.conf_file().with_extension("conf.new"));
        let install = || install_conf(&paths, &|path| path).unwrap();
        install();
        let sample = fs::read(&conf).unwrap();
        install();
        assert!(!new.exists(), "as it was installed");
        fs::write(&conf, "measure = no\n").unwrap();
        install();
        assert!(!new.exists(), "the site has changed it, we have not");
        // As an earlier version shipped it, or one that kept no sample.
        let last = dir.path().join("share/doc/topas/examples/topas.conf");
        for change in
            [|path: &Path| fs::write(path, "# older\n"), |path: &Path| fs::remove_file(path)]
        {
            change(&last).unwrap();
            install();
            assert_eq!(fs::read(&new).unwrap(), sample);
            assert_eq!(fs::read(&conf).unwrap(), b"measure = no\n");
            fs::remove_file(&new).unwrap();
        }
    }
}
