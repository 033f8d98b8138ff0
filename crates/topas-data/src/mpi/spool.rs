//! Mapped files of ranks: live, or left over.
//!
//! They are read by offsets of the layout, through `pread`: whoever wrote one may write on
//! meanwhile, or have been somebody else than it says.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::mem::{offset_of, size_of};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use topas_mpi_profile::layout::{
    BLOCKS_AT, Block, COMMUNICATORS, COMMUNICATORS_AT, Communicator, FUNCTIONS, Header, MAGIC,
    Peer, State, VERSION, table_hash,
};

/// First part of the name of such a file: `topas-mpi.UID.ID.RANK.PID`.
pub const SPOOL_PREFIX: &str = "topas-mpi.";

/// Largest number of threads that is believed.
const MOST_BLOCKS: u32 = 1 << 16;

/// Why a file is no profile that can be read.
#[derive(Debug)]
pub enum SpoolError {
    /// It cannot be opened or read
    File(io::Error),
    /// It is no such file: other first bytes
    Foreign,
    /// It is none yet: the rank is just making it
    Unfinished,
    /// It has another version of the layout
    Version(u32),
    /// It was written with another table of functions
    Table,
    /// It is shorter than it says, in B
    Short {
        /// What it should have
        needed: u64,
        /// What it has
        length: u64,
    },
    /// What it says of itself cannot be
    Damaged(&'static str),
    /// It says that it is of another user than the one it belongs to
    Owner {
        /// User it says
        says: u32,
        /// User it belongs to
        is: u32,
    },
}

impl fmt::Display for SpoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpoolError::File(cause) => cause.fmt(f),
            SpoolError::Foreign => f.write_str("it is no profile"),
            SpoolError::Unfinished => f.write_str("its rank has not finished making it"),
            SpoolError::Version(version) => {
                write!(f, "it has version {version} of the layout, this program knows {VERSION}")
            }
            SpoolError::Table => f.write_str("it was written with another table of MPI functions"),
            SpoolError::Short { needed, length } => {
                write!(f, "it has {length} B of the {needed} B that it should have")
            }
            SpoolError::Damaged(what) => write!(f, "its {what} cannot be"),
            SpoolError::Owner { says, is } => {
                write!(f, "it says that it is of uid {says} and belongs to uid {is}")
            }
        }
    }
}

impl std::error::Error for SpoolError {}

impl From<io::Error> for SpoolError {
    fn from(cause: io::Error) -> Self {
        match cause.kind() {
            io::ErrorKind::UnexpectedEof => SpoolError::Damaged("length"),
            _ => SpoolError::File(cause),
        }
    }
}

/// A mapped file that was opened and looks right.
#[derive(Debug)]
pub struct Spool {
    /// Where it is
    pub path: PathBuf,
    /// Device and inode, by which processes that have it mapped are found
    pub inode: (u64, u64),
    /// User it belongs to
    pub owner: u32,
    pub(super) file: File,
    length: u64,
    header: Vec<u8>,
}

impl Spool {
    /// Opens the file; not through a link, and without waiting for what is no file.
    ///
    /// # Errors
    ///
    /// [`SpoolError`]
    pub fn open(path: &Path) -> Result<Spool, SpoolError> {
        let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
        let about = file.metadata()?;
        if !about.is_file() {
            return Err(SpoolError::Foreign);
        }
        let mut magic = [0; MAGIC.len()];
        let length = about.len();
        if length == 0 {
            return Err(SpoolError::Unfinished);
        }
        file.read_exact_at(&mut magic, 0).map_err(|_| SpoolError::Foreign)?;
        if magic == [0; MAGIC.len()] {
            return Err(SpoolError::Unfinished);
        }
        if magic != MAGIC {
            return Err(SpoolError::Foreign);
        }
        let mut header = vec![0; size_of::<Header>()];
        let version = read_u32(&file, offset_of!(Header, version))?;
        if version != VERSION {
            return Err(SpoolError::Version(version));
        }
        file.read_exact_at(&mut header, 0)?;
        let inode = (about.dev(), about.ino());
        let spool =
            Spool { path: path.to_owned(), inode, owner: about.uid(), file, length, header };
        spool.check()?;
        Ok(spool)
    }

    fn check(&self) -> Result<(), SpoolError> {
        let functions = self.header().u32(offset_of!(Header, functions));
        let table = self.header().u64(offset_of!(Header, table));
        if functions as usize != FUNCTIONS || table != table_hash() {
            return Err(SpoolError::Table);
        }
        let says = self.header().u32(offset_of!(Header, uid));
        if says != self.owner {
            return Err(SpoolError::Owner { says, is: self.owner });
        }
        let used = self.header().u64(offset_of!(Header, used));
        if used > self.length {
            return Err(SpoolError::Short { needed: used, length: self.length });
        }
        if self.header().u32(offset_of!(Header, blocks)) > MOST_BLOCKS {
            return Err(SpoolError::Damaged("number of threads"));
        }
        Ok(())
    }

    /// Its first part.
    pub(super) fn header(&self) -> Part<'_> {
        Part(&self.header)
    }

    /// What became of it, as it says.
    pub fn state(&self) -> Option<State> {
        let states =
            [State::Running, State::Finalizing, State::Written, State::Aborted, State::Exited];
        let number = self.header().u32(offset_of!(Header, state));
        states.into_iter().find(|state| *state as u32 == number)
    }

    /// Process that wrote it.
    pub fn pid(&self) -> u32 {
        self.header().u32(offset_of!(Header, pid))
    }

    /// Rank in the world.
    pub fn rank(&self) -> u32 {
        self.header().u32(offset_of!(Header, rank))
    }

    /// Launch id.
    pub fn id(&self) -> &[u8] {
        self.header().text(offset_of!(Header, id), size_of_id())
    }

    fn read(&self, at: u64, len: usize) -> Result<Vec<u8>, SpoolError> {
        let end = at.checked_add(len as u64).filter(|end| *end <= self.length);
        let Some(_) = end else { return Err(SpoolError::Damaged("offset of a part")) };
        let mut bytes = vec![0; len];
        self.file.read_exact_at(&mut bytes, at)?;
        Ok(bytes)
    }

    /// The table of communicators.
    pub(super) fn communicators(&self) -> Result<Vec<u8>, SpoolError> {
        self.read(COMMUNICATORS_AT as u64, COMMUNICATORS * size_of::<Communicator>())
    }

    /// The blocks of all threads.
    pub(super) fn blocks(&self) -> Result<Vec<Vec<u8>>, SpoolError> {
        let mut blocks: Vec<Vec<u8>> = Vec::new();
        let mut at = self.header().u64(offset_of!(Header, first_block));
        while at != 0 {
            // A block that is just being added may not be counted yet; none is there twice.
            let count = self.header().u32(offset_of!(Header, blocks)) as usize;
            if at < BLOCKS_AT as u64 || !at.is_multiple_of(8) || blocks.len() > count {
                return Err(SpoolError::Damaged("offset of a thread"));
            }
            let block = self.read(at, size_of::<Block>())?;
            at = Part(&block).u64(offset_of!(Block, next));
            blocks.push(block);
        }
        Ok(blocks)
    }

    /// Traffic with peers of a thread; empty if they are not counted.
    pub(super) fn peers(&self, block: Part<'_>) -> Result<Vec<u8>, SpoolError> {
        let at = block.u64(offset_of!(Block, peers));
        if at == 0 {
            return Ok(Vec::new());
        }
        let ranks = self.header().u32(offset_of!(Header, ranks)) as usize;
        self.read(at, (ranks + 1) * size_of::<Peer>())
    }
}

const fn size_of_id() -> usize {
    offset_of!(Header, host) - offset_of!(Header, id)
}

fn read_u32(file: &File, at: usize) -> io::Result<u32> {
    let mut bytes = [0; 4];
    file.read_exact_at(&mut bytes, at as u64)?;
    Ok(u32::from_ne_bytes(bytes))
}

/// Bytes of the file, read by offset. What lies outside of them is zero, which the offsets of
/// the layout never are.
#[derive(Clone, Copy)]
pub(super) struct Part<'b>(pub(super) &'b [u8]);

impl<'b> Part<'b> {
    pub(super) fn at(self, at: usize, len: usize) -> Part<'b> {
        Part(self.0.get(at..at + len).unwrap_or_default())
    }

    fn bytes<const N: usize>(self, at: usize) -> [u8; N] {
        self.0.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
    }

    pub(super) fn u16(self, at: usize) -> u16 {
        u16::from_ne_bytes(self.bytes(at))
    }

    pub(super) fn u32(self, at: usize) -> u32 {
        u32::from_ne_bytes(self.bytes(at))
    }

    pub(super) fn u64(self, at: usize) -> u64 {
        u64::from_ne_bytes(self.bytes(at))
    }

    /// A text that ends with a NUL or fills its room.
    pub(super) fn text(self, at: usize, room: usize) -> &'b [u8] {
        let text = self.0.get(at..at + room).unwrap_or_default();
        text.split(|byte| *byte == 0).next().unwrap_or_default()
    }
}

/// Names of all files of the directory that are of ranks, in order; those of a user by `uid`.
///
/// # Errors
///
/// If the directory cannot be listed.
pub fn spool_files(dir: &Path, uid: Option<u32>) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(SPOOL_PREFIX));
        let of = rest.and_then(|rest| rest.split('.').next()).and_then(|uid| uid.parse().ok());
        if of.is_some_and(|of: u32| uid.is_none_or(|uid| uid == of)) {
            files.push(entry.path());
        }
    }
    files.sort_unstable();
    Ok(files)
}
