//! Where event logs lie, and what lies beside them.

use std::io;
use std::path::{Path, PathBuf};

/// The event logs in a directory, by name: the files `*.trace`.
///
/// # Errors
///
/// If the directory cannot be listed.
pub fn trace_files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if is_event_log(&path) && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a path is that of an event log, by its name.
pub fn is_event_log(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "trace")
}

/// The user's data file beside an event log, which the same ranks wrote: `run.out` or `run` beside
/// `run.HOST.trace`. None if there is none.
pub fn data_file_beside(log: &Path) -> Option<PathBuf> {
    let mut name = log.file_name()?.to_str()?.strip_suffix(".trace")?;
    // The name of a host may have points.
    while let Some((shorter, _)) = name.rsplit_once('.') {
        name = shorter;
        let found = [format!("{name}.out"), name.to_owned()];
        let found =
            found.into_iter().map(|name| log.with_file_name(name)).find(|path| path.is_file());
        if found.is_some() {
            return found;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_of_a_directory_are_found() {
        let dir = tempfile::tempdir().expect("a directory");
        for name in ["b.trace", "a.trace", "topas-mpi.out"] {
            std::fs::write(dir.path().join(name), "").expect("written");
        }
        let found: Vec<PathBuf> = trace_files(dir.path()).expect("listed");
        assert_eq!(found, [dir.path().join("a.trace"), dir.path().join("b.trace")]);
    }

    #[test]
    fn the_data_file_lies_beside_the_log() {
        let dir = tempfile::tempdir().expect("a directory");
        for name in ["run.out", "a.b", "c.out.d"] {
            std::fs::write(dir.path().join(name), "").expect("written");
        }
        std::fs::create_dir(dir.path().join("d")).expect("made");
        for (log, data) in [
            ("run.node1.site.org.trace", Some("run.out")),
            ("a.b.node1.trace", Some("a.b")),
            ("d.node1.trace", None),
            ("other.node1.trace", None),
            ("run.node1", None),
        ] {
            let found = data_file_beside(&dir.path().join(log));
            assert_eq!(found, data.map(|name| dir.path().join(name)), "{log}");
        }
    }
}
