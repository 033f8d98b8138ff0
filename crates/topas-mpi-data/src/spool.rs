//! Mapped files of ranks: live, or left over.
//!
//! They are read through `pread`: whoever wrote one may write on meanwhile, or have been
//! somebody else than it says.

use std::ffi::OsString;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::mem::{offset_of, size_of};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use topas_data::read_at_most;
use topas_mpi_profile::layout::now::NowLine;
use topas_mpi_profile::layout::{
    BLOCKS_AT, Block, COMMUNICATORS, COMMUNICATORS_AT, Communicator, FUNCTIONS, Header, MAGIC,
    PATH_FUNCTIONS, PathFunction, PathTable, Peer, RankState, TABLE, VERSION,
};

use super::decode::Decode;

/// First part of the name of such a file: `topas-mpi.UID.PID.NANOSECONDS`.
pub const SPOOL_PREFIX: &str = "topas-mpi.";

/// Most ranks that are believed: what is kept of each takes memory, and a file that says more can
/// be made of holes.
const MOST_RANKS: u32 = 1 << 22;

/// The call paths of a thread.
pub(super) struct ThreadPaths {
    /// Paths and modules
    pub(super) table: Box<PathTable>,
    /// Functions of Python
    pub(super) functions: Vec<PathFunction>,
}

/// Why a file is no profile that can be read.
#[derive(Debug)]
pub enum SpoolError {
    /// It cannot be opened or read
    File(io::Error),
    /// It is no such file: other first bytes
    Foreign,
    /// It is none yet: the rank is just making it, or died at that
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

/// Longer paths are none, in B.
const LONGEST_PATH: usize = 4096;

/// The mapped file of a rank: opened, and of a form that is known.
pub struct Spool {
    /// Where it is
    pub path: PathBuf,
    /// Device and inode, by which processes that have it mapped are found
    pub inode: (u64, u64),
    /// User it belongs to
    pub owner: u32,
    /// Its first part, as it was when it was opened
    pub header: Header,
    file: File,
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
        let mut bytes = vec![0; size_of::<Header>()];
        read_at_most(&file, &mut bytes, 0)?;
        let header = Header::decode(&bytes);
        // The first bytes are written last.
        if header.magic == [0; MAGIC.len()] {
            return Err(SpoolError::Unfinished);
        }
        if header.magic != MAGIC {
            return Err(SpoolError::Foreign);
        }
        if header.version != VERSION {
            return Err(SpoolError::Version(header.version));
        }
        if header.functions as usize != FUNCTIONS || header.table != TABLE {
            return Err(SpoolError::Table);
        }
        if header.ranks > MOST_RANKS {
            return Err(SpoolError::Damaged("number of ranks"));
        }
        let (length, owner) = (about.len(), about.uid());
        let needed = header.used.max(BLOCKS_AT as u64);
        if needed > length {
            return Err(SpoolError::Short { needed, length });
        }
        if header.uid != owner {
            return Err(SpoolError::Owner { says: header.uid, is: owner });
        }
        let inode = (about.dev(), about.ino());
        Ok(Spool { path: path.to_owned(), inode, owner, header, file })
    }

    /// Whether it belongs to the user that is wanted, if one is.
    ///
    /// # Errors
    ///
    /// [`SpoolError::Owner`] if it belongs to another user.
    pub(super) fn belongs_to(&self, wanted: Option<u32>) -> Result<(), SpoolError> {
        match wanted {
            Some(says) if says != self.owner => Err(SpoolError::Owner { says, is: self.owner }),
            _ => Ok(()),
        }
    }

    /// Its first part, as it is now.
    ///
    /// # Errors
    ///
    /// [`SpoolError`] if it cannot be read.
    pub fn header_now(&self) -> Result<Header, SpoolError> {
        Ok(Header::decode(&self.read(0, size_of::<Header>())?))
    }

    /// What became of it, as it says.
    pub fn state(&self) -> Option<RankState> {
        let states = [
            RankState::Running,
            RankState::Finalizing,
            RankState::Written,
            RankState::Aborted,
            RankState::Exited,
        ];
        states.into_iter().find(|state| *state as u32 == self.header.state)
    }

    /// Launch id.
    pub fn id(&self) -> &[u8] {
        text(&self.header.id)
    }

    /// The open file, for locks.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    fn read(&self, at: u64, len: usize) -> Result<Vec<u8>, SpoolError> {
        let mut bytes = vec![0; len];
        self.file.read_exact_at(&mut bytes, at)?;
        Ok(bytes)
    }

    /// Where the user wants the profile to be, if the user does.
    ///
    /// # Errors
    ///
    /// [`SpoolError`] if it cannot be read, or is no path.
    pub(super) fn user_file(&self) -> Result<Option<PathBuf>, SpoolError> {
        let Header { out, out_length, .. } = self.header;
        if out_length == 0 {
            return Ok(None);
        }
        let length = usize::try_from(out_length).ok().filter(|length| *length < LONGEST_PATH);
        let path = self.read(out, length.ok_or(SpoolError::Damaged("path of the user's file"))?)?;
        let path = PathBuf::from(OsString::from_vec(path));
        if path.is_absolute() {
            Ok(Some(path))
        } else {
            Err(SpoolError::Damaged("path of the user's file"))
        }
    }

    /// The table of communicators.
    ///
    /// # Errors
    ///
    /// [`SpoolError`] if it cannot be read.
    pub(super) fn communicators(&self) -> Result<Vec<Communicator>, SpoolError> {
        let len = size_of::<Communicator>();
        let bytes = self.read(COMMUNICATORS_AT as u64, COMMUNICATORS * len)?;
        Ok(bytes.chunks_exact(len).map(Communicator::decode).collect())
    }

    /// Most blocks that there can be, should they stand in a circle: each has a page of its own,
    /// and a file that consists of holes may be of any length.
    fn most_blocks(&self) -> Result<u64, SpoolError> {
        /// Pages that a file system which compresses may have spared
        const SPARED: u64 = 1024;
        let about = self.file.metadata()?;
        let pages = about.blocks() * 512 / 4096;
        Ok((about.len() / size_of::<Block>() as u64).min(pages + SPARED))
    }

    /// Calls `each` with the block of every thread.
    ///
    /// # Errors
    ///
    /// [`SpoolError`] if one cannot be read, or is not where it can be.
    pub(super) fn blocks(
        &self,
        mut each: impl FnMut(Box<Block>) -> Result<(), SpoolError>,
    ) -> Result<(), SpoolError> {
        let mut room = self.most_blocks()?;
        let mut at = self.header.first_block;
        while at != 0 {
            if at < BLOCKS_AT as u64 || !at.is_multiple_of(8) || room == 0 {
                return Err(SpoolError::Damaged("place of a thread"));
            }
            room -= 1;
            let block = Box::new(Block::decode(&self.read(at, size_of::<Block>())?));
            at = block.next;
            each(block)?;
        }
        Ok(())
    }

    /// The call paths of a thread; None if they are not counted.
    ///
    /// # Errors
    ///
    /// [`SpoolError`] if they cannot be read.
    pub(super) fn paths(&self, block: &Block) -> Result<Option<ThreadPaths>, SpoolError> {
        if block.paths == 0 {
            return Ok(None);
        }
        let table = PathTable::decode(&self.read(block.paths, size_of::<PathTable>())?);
        let mut functions = Vec::new();
        if table.functions != 0 {
            const LENGTH: usize = size_of::<PathFunction>();
            let count = (table.function_count as usize).min(PATH_FUNCTIONS);
            let bytes = self.read(table.functions, count * LENGTH)?;
            functions.extend(bytes.chunks_exact(LENGTH).map(PathFunction::decode));
        }
        Ok(Some(ThreadPaths { table: Box::new(table), functions }))
    }

    /// Calls `each` with the number of every thread, and the line that tells what it does. Only
    /// these lines are read, each until it was the same twice.
    ///
    /// # Errors
    ///
    /// [`SpoolError`] if one cannot be read, or is not where it can be.
    pub(super) fn now_lines(&self, mut each: impl FnMut(u32, NowLine)) -> Result<(), SpoolError> {
        /// A thread that calls more often than it is read does nothing for long.
        const TRIES: usize = 4;
        let mut room = self.most_blocks()?;
        // The first block of a process that begins is not in the header that was read.
        let mut at = u64::decode(&self.read(offset_of!(Header, first_block) as u64, 8)?);
        while at != 0 {
            if at < BLOCKS_AT as u64 || !at.is_multiple_of(8) || room == 0 {
                return Err(SpoolError::Damaged("place of a thread"));
            }
            room -= 1;
            let line_at = at + offset_of!(Block, now) as u64;
            let line =
                || Ok::<_, SpoolError>(NowLine::decode(&self.read(line_at, size_of::<NowLine>())?));
            let mut now = line()?;
            for _ in 0..TRIES {
                let again = line()?;
                if again == now {
                    break;
                }
                now = again;
            }
            each(u32::decode(&self.read(at + offset_of!(Block, tid) as u64, 4)?), now);
            at = u64::decode(&self.read(at + offset_of!(Block, next) as u64, 8)?);
        }
        Ok(())
    }

    /// Traffic of a thread with each rank of the world, then with all others; empty if that is
    /// not counted.
    ///
    /// # Errors
    ///
    /// [`SpoolError`] if it cannot be read.
    pub(super) fn peers(&self, block: &Block) -> Result<Vec<Peer>, SpoolError> {
        if block.peers == 0 {
            return Ok(Vec::new());
        }
        self.array(block.peers, self.header.ranks as usize + 1)
    }

    /// What stands at an offset.
    ///
    /// # Errors
    ///
    /// [`SpoolError`] if it cannot be read.
    pub(super) fn decode<T: Decode>(&self, at: u64) -> Result<T, SpoolError> {
        Ok(T::decode(&self.read(at, size_of::<T>())?))
    }

    /// So many of what stands at an offset.
    ///
    /// # Errors
    ///
    /// [`SpoolError`] if it cannot be read.
    pub(super) fn array<T: Decode>(&self, at: u64, count: usize) -> Result<Vec<T>, SpoolError> {
        let len = size_of::<T>();
        // Before memory is taken for a number that somebody made up.
        let end = at.saturating_add((count * len) as u64);
        let length = self.file.metadata()?.len();
        if end > length {
            return Err(SpoolError::Short { needed: end, length });
        }
        let bytes = self.read(at, count * len)?;
        Ok(bytes.chunks_exact(len).map(T::decode).collect())
    }
}

/// A text that ends with a NUL or fills its room.
pub(super) fn text(room: &[u8]) -> &[u8] {
    room.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// The files of ranks in a directory, in order of their names; those whose name says that
/// they are of a user, if one is wanted.
///
/// # Errors
///
/// If the directory cannot be listed.
pub fn spool_files(dir: &Path, uid: Option<u32>) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let of = owner_in_name(&entry.file_name());
        if of.is_some_and(|of| uid.is_none_or(|uid| uid == of)) {
            files.push(entry.path());
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Whether a file is the mapped file of a rank: by its first bytes, or by its name while these
/// are not written yet. What cannot be read is none.
pub fn is_spool(path: &Path) -> bool {
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path);
    let Some(file) = file.ok().filter(|file| file.metadata().is_ok_and(|about| about.is_file()))
    else {
        return false;
    };
    let mut first = [0; MAGIC.len()];
    let named = || path.file_name().is_some_and(|name| owner_in_name(name).is_some());
    file.read_exact_at(&mut first, 0).is_ok()
        && (first == MAGIC || first == [0; MAGIC.len()] && named())
}

/// The user that the name of a file says.
fn owner_in_name(name: &std::ffi::OsStr) -> Option<u32> {
    name.to_str()?.strip_prefix(SPOOL_PREFIX)?.split('.').next()?.parse().ok()
}
