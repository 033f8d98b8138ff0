//! File systems that are soon full.

use std::fs;
use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;

use crate::running::{command, run};

/// A tmpfs on a directory, unmounted when dropped.
#[derive(Debug)]
pub struct SmallDisk {
    dir: PathBuf,
}

impl SmallDisk {
    /// Mounts a tmpfs with these options, such as `size=64k,mode=1777`; None where this process
    /// must not mount.
    pub fn mount(dir: &Path, options: &str) -> Option<SmallDisk> {
        let mut mount = command("mount");
        mount.args(["-t", "tmpfs", "-o", options, "none"]).arg(dir);
        (run(&mut mount).code() == 0).then(|| SmallDisk { dir: dir.to_owned() })
    }

    /// Writes a file that leaves about this many bytes free, a page at least.
    ///
    /// # Panics
    ///
    /// If more is free afterwards.
    pub fn leave(&self, left: u64) -> PathBuf {
        let free = || {
            let data = statvfs(&self.dir).expect("free room");
            data.blocks_available() as u64 * data.fragment_size() as u64
        };
        let filler = self.dir.join("filler");
        fs::write(&filler, vec![1; free().saturating_sub(left) as usize]).expect("fill");
        assert!(free() <= left.max(4096), "{} B free", free());
        filler
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        run(command("umount").arg(&self.dir));
    }
}
