//! The closed segment that a file goes into.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::holes::is_hollow;
use crate::opened::open_no_link;
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
            // A user may have put a link or a pipe there.
            let mut file = match open_no_link(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    return Ok(Target { path, there: None, index: Index::default() });
                }
                Err(_) => continue,
            };
            let about = file.metadata()?;
            let taken = !about.is_file() || about.nlink() > 1 || about.uid() != owner;
            if taken || is_hollow(&file, &about) {
                continue;
            }
            if let Some(index) = Index::read(&mut file)? {
                return Ok(Target { path, there: Some((file, about)), index });
            }
        }
        Err(io::Error::other(format!("{base}.zst to {base}.{MOST}.zst are taken by others")))
    }
}
