//! The directory in which TOPAS keeps what it knows beside the log: the index of runs, and which
//! mails were sent.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use topas_config::{Environment, Paths};

/// The file of this name in `var/lib/topas` of this installation; None if it is not known.
pub fn default_file(env: &Environment, name: &str) -> Option<PathBuf> {
    let argv0 = topas_config::command_line().into_iter().next().unwrap_or_default();
    Some(Paths::of_this_program(&argv0, env)?.state_dir().join(name))
}

/// Makes the directory of a file unless there is one. A new directory is for its owner alone,
/// because the files in it name users.
pub fn make_room(file: &Path) -> io::Result<()> {
    let Some(dir) = file.parent().filter(|dir| !dir.as_os_str().is_empty()) else {
        return Ok(());
    };
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}
