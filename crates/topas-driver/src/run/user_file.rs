//! `topas.out`: the line of a rank that is measured because the user wants every rank.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use topas_config::Environment;
use topas_format::MAX_LINE;
use topas_format::form::{PLACED_RUN_LINE, UNKNOWN, Values, number};
use topas_format::hash::Fnv;
use topas_format::out::Out;
use topas_format::target::expand_launch;
use topas_launch::Rank;
use topas_launch::extended::Extended;
use topas_launch::gather::{ONE_HOST, SEVERAL_HOSTS, SOCKET};
use topas_launch::hash::spread;

use super::gather;

/// Longest path, with its NUL.
const PATH_MAX: usize = 4096;

/// Appends the line of a rank to the user's file, in the directory this process is in.
///
/// # Errors
/// The path, what is wrong with it, and whether this rank speaks for those of its host.
pub fn append(
    values: &mut Values<'_>,
    rank: &Rank,
    env: &Environment,
) -> Result<(), (PathBuf, io::Error, bool)> {
    let entries: Vec<Vec<u8>> = env
        .iter()
        .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
        .collect();
    let mut vars = Extended::new();
    entries.iter().for_each(|entry| vars.offer(entry));
    let pattern = match vars.out() {
        [] if vars.one_host(rank) => ONE_HOST,
        [] => SEVERAL_HOSTS,
        own => own,
    };
    // From outside nobody sees where the program ended.
    for slot in [number::CPU, number::NUMA] {
        if let Some(to) = values.numbers.get_mut(slot) {
            *to = UNKNOWN;
        }
    }
    let mut buffer = [0; MAX_LINE];
    let mut line = Out::new(&mut buffer);
    values.fill_line(&mut line, 0, PLACED_RUN_LINE);
    let mut buffer = [0; PATH_MAX - 1];
    let mut out = Out::new(&mut buffer);
    if !pattern.starts_with(b"/")
        && let Ok(here) = nix::unistd::getcwd()
    {
        out.put(here.as_os_str().as_bytes()).byte(b'/');
    }
    let shape = expand_launch(pattern, values, &mut out);
    let path = PathBuf::from(OsStr::from_bytes(out.text()));
    let done = match shape {
        None => Err(io::ErrorKind::InvalidInput.into()),
        Some(shape) => {
            let made = Cell::new(false);
            let open = || whole(&path, shape.own_dir.into(), &made);
            let done = if rank.size == 1 {
                gather::alone(&open, line.text())
            } else {
                // As the module has it.
                let file = Fnv::new().with(out.text()).value();
                let mut buffer = [0; SOCKET.len() + 16];
                let mut name = Out::new(&mut buffer);
                name.put(SOCKET).hex(spread(rank.id ^ file));
                gather::together(name.text(), &open, line.text())
            };
            // One that was made and took nothing would tell of a run without ranks.
            if done.is_err()
                && made.get()
                && fs::metadata(&path).is_ok_and(|about| about.len() == 0)
            {
                let _ = fs::remove_file(&path);
            }
            done
        }
    };
    done.map_err(|error| (path, error, vars.speaks(rank)))
}

/// Opens the file for whole lines: it may be made, and the directory that is the first bytes of
/// its path, too. `made` becomes true if it was.
fn whole(path: &Path, own_dir: usize, made: &Cell<bool>) -> io::Result<File> {
    let mut result = open(path, made);
    if matches!(&result, Err(error) if error.kind() == io::ErrorKind::NotFound)
        && let Some(dir) = path.as_os_str().as_bytes().get(..own_dir).filter(|dir| !dir.is_empty())
    {
        // Another rank may make it, too.
        let _ = DirBuilder::new().create(OsStr::from_bytes(dir));
        result = open(path, made);
    }
    let mut file = result?;
    // A write was cut short: what is torn must not take the next line along.
    let mut last = [b'\n'];
    let length = file.metadata().map_or(0, |about| about.len());
    if length > 0 && file.read_exact_at(&mut last, length - 1).is_ok() && last != *b"\n" {
        file.write_all(b"\n")?;
    }
    Ok(file)
}

/// It is the user's own, so links are followed, as by any program.
fn open(path: &Path, made: &Cell<bool>) -> io::Result<File> {
    let with = |read, new| {
        OpenOptions::new()
            .read(read)
            .append(true)
            .create(true)
            .create_new(new)
            .mode(0o644)
            .custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK)
            .open(path)
    };
    let new = with(true, true);
    made.set(new.is_ok());
    let opened = match new {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => with(true, false),
        new => new,
    };
    match opened {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && fs::exists(path)? => {
            with(false, false)
        }
        result => result,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_stays_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("topas.out");
        let write = |path: &Path, own_dir, line: &[u8]| {
            gather::alone(&|| whole(path, own_dir, &Cell::new(false)), line)
        };
        write(&path, 0, b"one\n").unwrap();
        fs::write(&path, b"one\ntorn").unwrap();
        write(&path, 0, b"two\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\ntorn\ntwo\n");
        let within = dir.path().join("5f/topas.out");
        write(&within, 0, b"x\n").unwrap_err();
        let own_dir = within.parent().unwrap().as_os_str().len();
        write(&within, own_dir, b"x\n").unwrap();
        assert_eq!(fs::read(&within).unwrap(), b"x\n");
    }
}
