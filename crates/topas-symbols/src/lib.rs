//! Functions, files and lines of the frames of call paths: from the debug information of the
//! executables and libraries, which may stand in files of their own, else from their symbol
//! tables.
//!
//! A file is believed only if it is the one that ran: by its build id or, without one, by a hash of
//! its segments. Its name comes from a profile, that is from any user, and no file may stop or
//! exhaust the reader.
#![deny(unsafe_code)]

mod debug_file;
mod demangled;
mod elf_file;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use topas_mpi_data::{LaunchPaths, PathFrame, PathModule, SourceFrame, SourceFrames};

use debug_file::DebugFile;
use demangled::demangled;
use elf_file::ElfFile;

/// Where distributions put debug information.
const DEBUG_DIRECTORY: &str = "/usr/lib/debug";

/// Why the frames of a module have no names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSymbols {
    /// The file of the module is not there, or cannot be read
    Gone,
    /// The file of the module is another one than that which ran
    Changed,
}

/// Modules that were opened.
#[derive(Default)]
pub struct Symbols {
    modules: HashMap<PathModule, Result<Module, NoSymbols>>,
}

struct Module {
    /// With debug information, if there is some
    debug: Option<DebugFile>,
    /// The file itself
    own: Option<DebugFile>,
}

impl Symbols {
    /// What all frames of a launch are, and the modules that tell nothing.
    pub fn of(&mut self, paths: &LaunchPaths) -> (SourceFrames, Vec<(PathModule, NoSymbols)>) {
        let mut found = SourceFrames::new();
        for frame in paths.paths.iter().flat_map(|path| &path.sums.frames) {
            let module = frame.module.and_then(|module| paths.modules.get(module as usize));
            if let Some(module) = module
                && !found.contains_key(frame)
            {
                found.insert(*frame, self.frames(module, frame));
            }
        }
        let failed = paths.modules.iter().filter_map(|module| {
            let why = self.modules.get(module)?.as_ref().err()?;
            Some((module.clone(), *why))
        });
        (found, failed.collect())
    }

    /// The functions of a frame: the innermost first, behind it those into which it was inlined.
    /// Empty if nothing is known.
    fn frames(&mut self, module: &PathModule, frame: &PathFrame) -> Vec<SourceFrame> {
        // The library of the profile has read from the interpreter what a function of Python is.
        if let Some(function) = &module.function {
            return vec![SourceFrame {
                function: Some(function.to_string()),
                file: Some(module.file.to_string()),
                line: u32::try_from(frame.offset).ok().filter(|line| *line > 0),
                inlined: false,
            }];
        }
        let opened = self.modules.entry(module.clone()).or_insert_with(|| Module::open(module));
        let Ok(opened) = opened else { return Vec::new() };
        // The address behind a call may be that of the next line, or of the next function.
        opened.frames(frame.offset.saturating_sub(1))
    }
}

impl Module {
    fn open(module: &PathModule) -> Result<Module, NoSymbols> {
        let path = Path::new(&*module.file);
        let separate = module.id.strip_prefix('b').and_then(by_build_id);
        let own = ElfFile::read(path).ok_or(NoSymbols::Gone).and_then(|file| {
            if file.id == *module.id { Ok(file) } else { Err(NoSymbols::Changed) }
        });
        match own {
            Err(why) if separate.is_none() => Err(why),
            Err(_) => {
                Ok(Module { debug: separate.as_deref().and_then(DebugFile::read), own: None })
            }
            Ok(file) => {
                let separate = separate.or_else(|| {
                    let link = file.debug_link.as_deref()?;
                    beside(path, link)
                        .into_iter()
                        .find(|found| ElfFile::read(found).is_some_and(|debug| debug.id == file.id))
                });
                let debug = separate.as_deref().and_then(DebugFile::read);
                Ok(Module { debug, own: DebugFile::new(path, &file.bytes) })
            }
        }
    }

    fn frames(&self, address: u64) -> Vec<SourceFrame> {
        let files = || self.debug.iter().chain(&self.own);
        let found = files().map(|file| file.frames(address)).find(|frames| !frames.is_empty());
        if let Some(frames) = found {
            return frames;
        }
        let symbol = files().find_map(|file| file.symbol(address));
        let frame =
            |name: &str| SourceFrame { function: Some(readable(name)), ..SourceFrame::default() };
        symbol.map(frame).into_iter().collect()
    }
}

/// Debug information that stands under its build id.
fn by_build_id(id: &str) -> Option<PathBuf> {
    let (first, rest) = id.split_at_checked(2)?;
    let path =
        Path::new(DEBUG_DIRECTORY).join(".build-id").join(first).join(format!("{rest}.debug"));
    path.is_file().then_some(path)
}

/// Where the debug information of a file may be that names it.
fn beside(path: &Path, link: &str) -> Vec<PathBuf> {
    let Some(directory) = path.parent() else { return Vec::new() };
    let below = directory.strip_prefix("/").unwrap_or(directory);
    vec![
        directory.join(link),
        directory.join(".debug").join(link),
        Path::new(DEBUG_DIRECTORY).join(below).join(link),
    ]
}

/// A name as the source has it: demangled, of Fortran with its module in front.
fn readable(name: &str) -> String {
    if name == "MAIN__" {
        return "main program".to_owned();
    }
    // Of gfortran and of flang.
    if let Some(rest) = name.strip_prefix("__")
        && let Some((module, procedure)) = rest.split_once("_MOD_")
    {
        return format!("{module}::{procedure}");
    }
    if let Some(rest) = name.strip_prefix("_QM")
        && let Some((module, procedure)) = rest.split_once('P')
    {
        return format!("{module}::{procedure}");
    }
    demangled(name).unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::sync::mpsc;
    use std::time::Duration;

    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    /// A module whose file is a copy of this test.
    fn copied(dir: &Path) -> PathModule {
        let path = dir.join("prog");
        fs::copy(std::env::current_exe().unwrap(), &path).unwrap();
        let id = ElfFile::read(&path).unwrap().id;
        PathModule { id: id.into(), file: path.to_str().unwrap().into(), function: None }
    }

    /// What opening says, which must come soon.
    fn opened(module: &PathModule) -> Result<(), NoSymbols> {
        let (to, from) = mpsc::channel();
        let module = module.clone();
        std::thread::spawn(move || to.send(Module::open(&module).map(|_| ())));
        from.recv_timeout(Duration::from_secs(60)).expect("it waits for ever")
    }

    /// Whoever names a file in a profile may make it and what is beside it, too.
    #[test]
    fn no_file_stops_the_reader() {
        let dir = tempfile::tempdir().unwrap();
        let module = copied(dir.path());
        assert_eq!(opened(&module), Ok(()));
        let mode = Mode::S_IRWXU;
        for beside in ["prog.dwp", ".dwp", "prog.debug"] {
            mkfifo(&dir.path().join(beside), mode).unwrap();
        }
        assert_eq!(opened(&module), Ok(()));
        let named = |name: &str| {
            let path = dir.path().join(name);
            PathModule { file: path.to_str().unwrap().into(), ..module.clone() }
        };
        mkfifo(&dir.path().join("pipe"), mode).unwrap();
        std::os::unix::fs::symlink("/dev/zero", dir.path().join("zero")).unwrap();
        // More than there is memory, and none of it on the disk.
        fs::copy(&*module.file, dir.path().join("long")).unwrap();
        let long = File::options().write(true).open(dir.path().join("long")).unwrap();
        long.set_len(1 << 40).unwrap();
        for name in ["pipe", "zero", "long", "none", ""] {
            assert_eq!(opened(&named(name)), Err(NoSymbols::Gone), "{name}");
        }
        fs::write(dir.path().join("text"), "no object").unwrap();
        assert_eq!(opened(&named("text")), Err(NoSymbols::Gone));
    }

    #[test]
    fn names_are_those_of_the_source() {
        for (name, readable_name) in [
            ("exchange", "exchange"),
            ("__halo_MOD_exchange", "halo::exchange"),
            ("_QMhaloPexchange", "halo::exchange"),
            ("MAIN__", "main program"),
            ("_ZN4Grid8exchangeEi", "Grid::exchange(int)"),
        ] {
            assert_eq!(readable(name), readable_name);
        }
    }

    #[test]
    fn places_of_debug_files_are_those_of_gdb() {
        let places = beside(Path::new("/opt/a/prog"), "prog.debug");
        let expected =
            ["/opt/a/prog.debug", "/opt/a/.debug/prog.debug", "/usr/lib/debug/opt/a/prog.debug"];
        assert_eq!(places, expected.map(PathBuf::from));
    }
}
