//! Room on a disk.

use std::path::Path;

use anyhow::{Context, Result, bail};
use nix::sys::statvfs::statvfs;

/// Fails if the disk of a directory has less room than these bytes: what needs more would end with errors that
/// do not tell so.
pub fn needs_room(dir: &Path, bytes: u64) -> Result<()> {
    let disk = statvfs(dir).with_context(|| dir.display().to_string())?;
    let free = disk.blocks_available() * disk.fragment_size();
    if free < bytes {
        const GB: f64 = 1e9;
        bail!(
            "{} needs {:.1} GB of room, and {:.1} GB are free on its disk",
            dir.display(),
            bytes as f64 / GB,
            free as f64 / GB
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_too_small_is_refused_with_what_is_free() {
        let dir = Path::new("/");
        assert!(needs_room(dir, 0).is_ok());
        let error = needs_room(dir, u64::MAX).expect_err("too much").to_string();
        assert!(
            error.starts_with("/ needs ") && error.ends_with(" GB are free on its disk"),
            "{error}"
        );
    }
}
