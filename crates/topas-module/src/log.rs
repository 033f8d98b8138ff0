//! Where the line goes: the first target that takes it.

use topas_format::out::Out;
use topas_format::target::{self, Facts, Form, expand, file_pattern, forms};

use crate::say;
use crate::sys::{
    EEXIST, EINVAL, ENOENT, File, O_APPEND, O_CLOEXEC, O_CREAT, O_EXCL, O_NOCTTY, O_NONBLOCK,
    O_WRONLY, PATH_MAX, make_dir, open,
};

/// Appends the line to the first of `targets` that takes it. True if one did.
pub fn append<'a>(
    targets: impl Iterator<Item = &'a [u8]>,
    facts: &Facts<'_>,
    line: &[u8],
    verbose: bool,
) -> bool {
    let mut any = false;
    for target in targets {
        any = true;
        match file_pattern(target).ok_or(EINVAL).and_then(|path| to_file(path, facts, line)) {
            Ok(()) => return true,
            Err(errno) if verbose => say::line(&[b"log ", target, b": ", meaning(errno)]),
            Err(_) => {}
        }
    }
    if verbose && !any {
        say::line(&[b"not written: no log target in topas.conf"]);
    }
    false
}

/// Appends with one `write`, so that lines of many processes stay whole.
fn to_file(pattern: &[u8], facts: &Facts<'_>, line: &[u8]) -> Result<(), i32> {
    let mut path = [0; PATH_MAX];
    let mut path = Out::new(&mut path);
    if !expand(pattern, facts, &mut path) {
        return Err(EINVAL);
    }
    // Not to wait for the reader of a named pipe.
    const FLAGS: u32 = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    let file = match open(path.text(), FLAGS, 0) {
        Err(ENOENT) => match create(&path, pattern, facts, FLAGS) {
            // Another rank was faster.
            Err(EEXIST) => open(path.text(), FLAGS, 0)?,
            created => created?,
        },
        opened => opened?,
    };
    file.write_once(line)
}

/// Makes the file, and its directory if that is named after a date or host.
fn create(path: &Out<'_>, pattern: &[u8], facts: &Facts<'_>, flags: u32) -> Result<File, i32> {
    let make = || open(path.text(), flags | O_CREAT | O_EXCL, 0o600);
    let file = match make() {
        Err(ENOENT) => {
            make_parent(pattern, facts)?;
            make()?
        }
        made => made?,
    };
    if !target::is_per_user(pattern) {
        // The file is everybody's, whatever this user's umask is.
        file.set_mode(0o666);
    }
    Ok(file)
}

/// Makes the directory of a pattern if its last part holds a `%` form: a directory with
/// a fixed name that is missing was not meant to be made by us.
fn make_parent(pattern: &[u8], facts: &Facts<'_>) -> Result<(), i32> {
    let end = pattern.iter().rposition(|b| *b == b'/').ok_or(ENOENT)?;
    let parent = pattern.get(..end).ok_or(ENOENT)?;
    let name = parent.rsplit(|b| *b == b'/').next().unwrap_or_default();
    if !forms(name).any(|form| matches!(form, Form::Percent(_))) {
        return Err(ENOENT);
    }
    let mut path = [0; PATH_MAX];
    let mut path = Out::new(&mut path);
    if !expand(parent, facts, &mut path) {
        return Err(EINVAL);
    }
    // Everybody may add a file, nobody may list or remove those of others.
    match make_dir(path.text(), 0o1733) {
        Err(EEXIST) => Ok(()),
        made => made,
    }
}

/// An error number in words.
fn meaning(errno: i32) -> &'static [u8] {
    match errno {
        1 | 13 => b"permission denied",
        ENOENT => b"no such directory",
        6 => b"nobody reads this pipe",
        20 => b"part of the path is not a directory",
        21 => b"is a directory",
        EINVAL => b"not a target this module knows, or not of its form",
        28 | 122 => b"no space left",
        30 => b"read-only file system",
        _ => b"cannot be written",
    }
}
