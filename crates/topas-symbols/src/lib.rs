//! Functions, files and lines of the frames of call paths: from the debug information of the
//! executables and libraries, which may stand in files of their own, else from their symbol
//! tables.
//!
//! A file is believed only if it is the one that ran: by its build id or, without one, by a hash of
//! its segments.
#![deny(unsafe_code)]

mod elf_file;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use addr2line::{Loader, demangle_auto};
use topas_mpi_data::{LaunchPaths, PathFrame, PathModule, SourceFrame, SourceFrames};

use elf_file::ElfFile;

/// Where distributions put debug information.
const DEBUG_DIRECTORY: &str = "/usr/lib/debug";

/// Why the frames of a module have no names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSymbols {
    /// Its file is not there, or cannot be read
    Gone,
    /// Its file is another one than that which ran
    Changed,
}

/// Modules that were opened.
#[derive(Default)]
pub struct Symbols {
    modules: HashMap<PathModule, Result<Module, NoSymbols>>,
}

struct Module {
    /// With debug information, if there is some
    debug: Option<Loader>,
    /// The file itself
    own: Option<Loader>,
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
        let loader = |path: &Path| Loader::new(path).ok();
        match own {
            Err(why) if separate.is_none() => Err(why),
            Err(_) => Ok(Module { debug: separate.as_deref().and_then(loader), own: None }),
            Ok(file) => {
                let separate = separate.or_else(|| {
                    let link = file.debug_link.as_deref()?;
                    beside(path, link)
                        .into_iter()
                        .find(|found| ElfFile::read(found).is_some_and(|debug| debug.id == file.id))
                });
                let debug = separate.as_deref().and_then(loader);
                Ok(Module { debug, own: loader(path) })
            }
        }
    }

    fn frames(&self, address: u64) -> Vec<SourceFrame> {
        let loaders = || self.debug.iter().chain(&self.own);
        for loader in loaders() {
            let Ok(mut frames) = loader.find_frames(address) else { continue };
            let mut found = Vec::new();
            while let Ok(Some(frame)) = frames.next() {
                let name = frame.function.as_ref().and_then(|name| name.raw_name().ok());
                let location = frame.location.as_ref();
                found.push(SourceFrame {
                    function: name.map(|name| readable(&name)),
                    file: location.and_then(|at| at.file).map(str::to_owned),
                    line: location.and_then(|at| at.line),
                    inlined: true,
                });
            }
            if found.iter().any(|frame| frame.function.is_some()) {
                if let Some(last) = found.last_mut() {
                    last.inlined = false;
                }
                return found;
            }
        }
        let symbol = loaders().find_map(|loader| loader.find_symbol(address));
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
    demangle_auto(name.into(), None).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

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
