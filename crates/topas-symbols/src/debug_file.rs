//! Debug information and symbols of one file, which is read as a whole.
//!
//! The names of these files come from profiles, so any user may have chosen them, and the user to
//! whom a file belongs may change it while it is read. So nothing but regular files of a limited
//! size is read, no file is mapped, and sections are unpacked to a limited size.

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use addr2line::{Context, LookupContinuation, LookupResult, SplitDwarfLoad};
use gimli::{Dwarf, DwarfPackage, EndianArcSlice, Reader, RunTimeEndian};
use object::read::{CompressionFormat, Object, ObjectSection, SymbolMap, SymbolMapEntry};
use topas_config::regular;
use topas_mpi_data::SourceFrame;

use crate::readable;

/// Most bytes of a file that are read.
pub const MOST_BYTES: u64 = 1 << 30;

/// Most bytes of the packed sections of a file when they are unpacked.
const MOST_UNPACKED: u64 = 1 << 30;

type Bytes = EndianArcSlice<RunTimeEndian>;

/// A file that was read.
pub struct DebugFile {
    context: Option<Context<Bytes>>,
    /// Debug information of several files in one, if the compiler made such a file
    package: Option<DwarfPackage<Bytes>>,
    symbols: SymbolMap<FileSymbol>,
}

struct FileSymbol {
    address: u64,
    size: u64,
    name: Box<str>,
}

impl SymbolMapEntry for FileSymbol {
    fn address(&self) -> u64 {
        self.address
    }

    fn size(&self) -> u64 {
        self.size
    }
}

impl DebugFile {
    /// Of a file with this content. None if it is no object.
    pub fn new(path: &Path, bytes: &[u8]) -> Option<DebugFile> {
        let sections = Sections::of(bytes)?;
        let symbols = sections.object.symbol_map();
        let symbols = symbols.symbols().iter().map(|symbol| FileSymbol {
            address: symbol.address(),
            size: symbol.size(),
            name: symbol.name().into(),
        });
        let dwarf = Dwarf::load(|id| sections.section(Some(id.name()))).ok();
        Some(DebugFile {
            context: dwarf.and_then(|mut dwarf| {
                let strategy = gimli::AbbreviationsCacheStrategy::Duplicates;
                dwarf.populate_abbreviations_cache(strategy);
                Context::from_dwarf(dwarf).ok()
            }),
            package: package(path),
            symbols: SymbolMap::new(symbols.collect()),
        })
    }

    /// Reads the file. None if it cannot be read, or is no object.
    pub fn read(path: &Path) -> Option<DebugFile> {
        DebugFile::new(path, &regular::read(path, MOST_BYTES).ok()?)
    }

    /// The name of the symbol that an address is in.
    pub fn symbol(&self, address: u64) -> Option<&str> {
        self.symbols.containing(address).map(|symbol| &*symbol.name)
    }

    /// The functions that an address is in: the innermost first. Empty if no function is known.
    pub fn frames(&self, address: u64) -> Vec<SourceFrame> {
        let Some(context) = &self.context else { return Vec::new() };
        let mut lookup = context.find_frames(address);
        let mut frames = loop {
            match lookup {
                LookupResult::Output(Ok(frames)) => break frames,
                LookupResult::Output(Err(_)) => return Vec::new(),
                LookupResult::Load { load, continuation } => {
                    lookup = continuation.resume(self.split(load));
                }
            }
        };
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
        if found.iter().all(|frame| frame.function.is_none()) {
            return Vec::new();
        }
        if let Some(last) = found.last_mut() {
            last.inlined = false;
        }
        found
    }

    /// The part of the debug information that the compiler put into another file
    /// (`-gsplit-dwarf`).
    fn split(&self, load: SplitDwarfLoad<Bytes>) -> Option<Arc<Dwarf<Bytes>>> {
        if let Some(package) = &self.package
            && let Ok(Some(found)) = package.find_cu(load.dwo_id, &load.parent)
        {
            return Some(Arc::new(found));
        }
        let text = |part: &Bytes| {
            let bytes = part.to_slice().ok()?.into_owned();
            Some(PathBuf::from(OsString::from_vec(bytes)))
        };
        let directory = load.comp_dir.as_ref().and_then(text).unwrap_or_default();
        let path = directory.join(text(load.path.as_ref()?)?);
        let bytes = regular::read(&path, MOST_BYTES).ok()?;
        let sections = Sections::of(&bytes)?;
        let mut dwarf = Dwarf::load(|id| sections.section(id.dwo_name())).ok()?;
        let header = dwarf.units().next().ok()??;
        if dwarf.unit(header).ok()?.dwo_id != Some(load.dwo_id) {
            return None;
        }
        dwarf.make_dwo(&load.parent);
        Some(Arc::new(dwarf))
    }
}

/// The file beside a file in which `dwp` has put its split debug information.
fn package(path: &Path) -> Option<DwarfPackage<Bytes>> {
    let mut name = path.file_name()?.to_owned();
    name.push(".dwp");
    let bytes = regular::read(&path.with_file_name(name), MOST_BYTES).ok()?;
    let sections = Sections::of(&bytes)?;
    let empty = Bytes::new(Arc::from([]), RunTimeEndian::Little);
    DwarfPackage::load(|id| sections.section(id.dwo_name()), empty).ok()
}

/// Takes the sections of a file out of it.
struct Sections<'b> {
    object: object::File<'b>,
    /// Bytes that may still be unpacked
    room: Cell<u64>,
}

impl<'b> Sections<'b> {
    fn of(bytes: &'b [u8]) -> Option<Self> {
        let object = object::File::parse(bytes).ok()?;
        Some(Sections { object, room: Cell::new(MOST_UNPACKED) })
    }

    /// A section; empty if there is none, or if it is too long.
    fn section(&self, name: Option<&str>) -> Result<Bytes, gimli::Error> {
        let found = name.and_then(|name| self.object.section_by_name(name));
        let data = found.and_then(|section| self.unpacked(&section)).unwrap_or_default();
        let endian = match self.object.is_little_endian() {
            true => RunTimeEndian::Little,
            false => RunTimeEndian::Big,
        };
        Ok(Bytes::new(Arc::from(&*data), endian))
    }

    fn unpacked(&self, section: &object::Section<'b, '_>) -> Option<Cow<'b, [u8]>> {
        let packed = section.compressed_data().ok()?;
        if packed.format != CompressionFormat::None {
            self.room.set(self.room.get().checked_sub(packed.uncompressed_size)?);
        }
        packed.decompress().ok()
    }
}
