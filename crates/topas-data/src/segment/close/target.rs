//! The closed segment that a file goes into.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use crate::segment::index::Index;

/// Segments of one name that are tried.
const MOST: u32 = 1000;

/// A segment, there already or not.
pub(super) struct Target {
    pub path: PathBuf,
    /// The file that is there
    pub there: Option<(File, Metadata)>,
    /// What it was made of
    pub index: Index,
}

impl Target {
    /// The first of `BASE.zst`, `BASE.2.zst`, ... that does not exist or is a closed segment
    /// of `owner`, of this process if there is none. Others are not ours to change.
    pub fn find(dir: &Path, base: &str, owner: Option<u32>) -> io::Result<Target> {
        let owner = owner.unwrap_or_else(|| nix::unistd::geteuid().as_raw());
        for number in 1..=MOST {
            let name = match number {
                1 => format!("{base}.zst"),
                n => format!("{base}.{n}.zst"),
            };
            let path = dir.join(name);
            // Not to follow a link that a user put there, nor to wait for a pipe's writer.
            let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
            let opened = OpenOptions::new().read(true).custom_flags(flags.bits()).open(&path);
            let mut file = match opened {
                Ok(file) => file,
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    return Ok(Target { path, there: None, index: Index::default() });
                }
                Err(_) => continue,
            };
            let about = file.metadata()?;
            if !about.is_file() || about.nlink() > 1 || about.uid() != owner {
                continue;
            }
            if let Some(index) = Index::read(&mut file)? {
                return Ok(Target { path, there: Some((file, about)), index });
            }
        }
        Err(io::Error::other(format!("{base}.zst to {base}.{MOST}.zst are taken by others")))
    }
}
