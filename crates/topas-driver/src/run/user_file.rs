//! `topas.out`: the line of a rank that is measured because the user wants every rank.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use topas_config::Environment;
use topas_format::MAX_LINE;
use topas_format::form::{PLACED_RUN_LINE, UNKNOWN, Values, number};
use topas_format::hash::Fnv;
use topas_format::out::Out;
use topas_format::target::expand_launch;
use topas_launch::Rank;
use topas_launch::extended::Extended;
use topas_launch::gather::{ONE_HOST, SEVERAL_HOSTS};
use topas_node::gather::{self, GatherFile, GatherOutcome, Teller};
use topas_node::sys::{EINVAL, PATH_MAX};

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
    let mut buffer = [0; PATH_MAX];
    let mut out = Out::new(&mut buffer);
    if !pattern.starts_with(b"/")
        && let Ok(here) = nix::unistd::getcwd()
    {
        out.put(here.as_os_str().as_bytes()).byte(b'/');
    }
    let shape = expand_launch(pattern, values, &mut out);
    let hash = Fnv::new().with(out.text()).value();
    let path = PathBuf::from(OsStr::from_bytes(out.text()));
    let mut outcome = GatherOutcome { errno: EINVAL, teller: Teller::First };
    if let (Some(shape), false) = (shape, out.byte(0).is_cut()) {
        let file = &mut GatherFile::new(out.take_mut(), shape);
        outcome = if rank.size == 1 {
            gather::alone(file, line.text())
        } else {
            let mut room = [0; 64];
            let mut address = Out::new(&mut room);
            gather::together(gather::address(&mut address, rank.id, hash), file, line.text())
        };
    }
    if outcome.errno == 0 {
        return Ok(());
    }
    let told = outcome.is_told(vars.speaks(rank));
    Err((path, io::Error::from_raw_os_error(outcome.errno), told))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    use topas_format::target::Shape;

    /// Appends a line, or says by which error number it could not.
    fn append_line(path: &Path, own_dir: usize, line: &[u8]) -> i32 {
        let mut path = [path.as_os_str().as_bytes(), b"\0"].concat();
        let shape = Shape { per_user: false, own_dir: own_dir as u16 };
        gather::alone(&mut GatherFile::new(&mut path, shape), line).errno
    }

    #[test]
    fn a_torn_line_stays_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("topas.out");
        assert_eq!(append_line(&path, 0, b"one\n"), 0);
        fs::write(&path, b"one\ntorn").unwrap();
        assert_eq!(append_line(&path, 0, b"two\n"), 0);
        assert_eq!(fs::read(&path).unwrap(), b"one\ntorn\ntwo\n");
        let within = dir.path().join("5f/topas.out");
        assert_eq!(append_line(&within, 0, b"x\n"), libc::ENOENT);
        let own_dir = within.parent().unwrap().as_os_str().len();
        assert_eq!(append_line(&within, own_dir, b"x\n"), 0);
        assert_eq!(fs::read(&within).unwrap(), b"x\n");
    }

    /// Ranks that end together, as threads of this process.
    #[test]
    fn many_lines_of_one_launch() {
        const RANKS: u32 = 64;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let address = format!("\x01\0\0topas.test.{}", std::process::id());
        std::thread::scope(|scope| {
            for rank in 0..RANKS {
                let (path, address) = (&path, &address);
                scope.spawn(move || {
                    let mut path = [path.as_os_str().as_bytes(), b"\0"].concat();
                    let file = &mut GatherFile::new(&mut path, Shape::default());
                    let line = format!("rank {rank}\n");
                    let outcome = gather::together(address.as_bytes(), file, line.as_bytes());
                    assert_eq!(outcome.errno, 0, "{line}");
                });
            }
        });
        let text = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<u32> =
            text.lines().map(|line| line.strip_prefix("rank ").unwrap().parse().unwrap()).collect();
        lines.sort_unstable();
        assert!(lines.into_iter().eq(0..RANKS), "{text}");
    }

    #[test]
    fn what_cannot_be_written_is_told_by_the_first_of_the_host() {
        let outcome = |path: &str| {
            let mut path = format!("{path}\0").into_bytes();
            let file = &mut GatherFile::new(&mut path, Shape::default());
            gather::together(b"\x01\0\0topas.test.full", file, b"x\n")
        };
        for (path, errno) in [("/dev/full", libc::ENOSPC), ("/proc/none/f", libc::ENOENT)] {
            let outcome = outcome(path);
            assert_eq!(outcome.errno, errno, "{path}");
            assert!(outcome.is_told(true) && !outcome.is_told(false), "{path}");
        }
    }
}
