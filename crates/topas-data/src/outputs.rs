//! What the files that a tool makes may not replace: its inputs, and whatever holds a log.

use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use topas_format::line::Line;
use topas_mpi_profile::layout::MAGIC;

use crate::block::MAX_LINE_READ;
use crate::decode::decoded;
use crate::profile_line;
use crate::segment::output::Output;
use crate::source::Source;

/// Bytes of a file in which a line of a log is looked for.
const HEAD: u64 = 2 * MAX_LINE_READ as u64;

/// A file that stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptFile {
    /// What was to be written
    pub path: PathBuf,
    /// Why it is not
    pub because: Because,
}

/// Why a file is not replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// It is read
    Input,
    /// Something else was written there by the same command
    Output,
    /// There is a line of a log in it, or one of an MPI profile
    Log,
    /// A rank counts its calls of MPI in it
    Profile,
}

impl fmt::Display for KeptFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.because {
            Because::Input => write!(f, "{path} is an input, and is not replaced"),
            Because::Output => write!(f, "{path} is written already, by another option"),
            Because::Log => write!(f, "{path} holds lines of a log, and is not replaced"),
            Because::Profile => {
                write!(f, "{path} holds the MPI profile of a rank, and is not replaced")
            }
        }
    }
}

impl std::error::Error for KeptFile {}

/// The outputs of a command.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    /// Device and inode of each input
    inputs: Vec<(u64, u64)>,
    /// Paths of outputs, as they were named and as they are
    named: Vec<PathBuf>,
    force: bool,
}

impl Outputs {
    /// Of a command that reads these; with `force` any file is replaced.
    pub fn new<'s>(inputs: impl IntoIterator<Item = &'s Source>, force: bool) -> Self {
        let about = |source: &Source| match source {
            Source::Stdin => {
                File::from(io::stdin().as_fd().try_clone_to_owned().ok()?).metadata().ok()
            }
            named => named.about().and_then(Result::ok),
        };
        let inputs = inputs.into_iter().filter_map(about).map(|about| inode(&about)).collect();
        Outputs { inputs, named: Vec::new(), force }
    }

    /// Takes note of an output; `-` is standard output, and may come more than once.
    ///
    /// # Errors
    ///
    /// [`KeptFile`] if there is a file that is not to be replaced. What is no regular file, as
    /// `/dev/null`, is none.
    pub fn add(&mut self, path: &Path) -> Result<(), KeptFile> {
        self.judge(path, Self::why).map_err(|because| KeptFile { path: path.to_owned(), because })
    }

    /// As [`Outputs::add`], of a file that lines are appended to: it may hold such.
    ///
    /// # Errors
    ///
    /// As [`Outputs::add`].
    pub fn add_appended(&mut self, path: &Path) -> Result<(), KeptFile> {
        let why = |path: &Path| Self::why(path).filter(|because| *because != Because::Log);
        self.judge(path, why).map_err(|because| KeptFile { path: path.to_owned(), because })
    }

    fn judge(
        &mut self,
        path: &Path,
        why: impl Fn(&Path) -> Option<Because>,
    ) -> Result<(), Because> {
        if path.as_os_str() == "-" {
            return Ok(());
        }
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let about = fs::metadata(path).ok().filter(Metadata::is_file);
        if about.is_some() || !path.exists() {
            if self.named.contains(&real) {
                return Err(Because::Output);
            }
            self.named.push(real);
        }
        let Some(about) = about.filter(|_| !self.force) else { return Ok(()) };
        if self.inputs.contains(&inode(&about)) {
            return Err(Because::Input);
        }
        why(path).map_or(Ok(()), Err)
    }

    /// What makes the content of a file worth keeping. What cannot be read cannot be judged; who
    /// may write it all the same has to know.
    fn why(path: &Path) -> Option<Because> {
        let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path).ok()?;
        let mut head = Vec::new();
        // A compressed file that is damaged is judged by what comes before the damage.
        let _ = decoded(file).ok()?.take(HEAD).read_to_end(&mut head);
        if head.starts_with(&MAGIC) {
            return Some(Because::Profile);
        }
        let is_line = |text: &[u8]| {
            Line::parse(text).is_ok() || matches!(profile_line::judge(text), Some(Ok(_)))
        };
        head.split(|byte| *byte == b'\n').any(is_line).then_some(Because::Log)
    }

    /// Writes a file as a whole: it appears when it is complete, with the mode that a new file
    /// gets, or that of the file it replaces. The path has been added before.
    ///
    /// # Errors
    ///
    /// What the system says; a file that was there before still is.
    pub fn save(path: &Path, data: &[u8]) -> io::Result<()> {
        let mut output = Output::shared(path)?;
        output.write_all(data)?;
        output.finish()
    }
}

fn inode(about: &Metadata) -> (u64, u64) {
    (about.dev(), about.ino())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    const LINE: &str =
        "1999/05/04 12:00:00 mohr a.out 5 16 t450 B f90 mpi 1.0 0.1 2.0 f=1000 10 4711\n";

    #[test]
    fn inputs_by_any_name_and_logs_stay() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let put = |name: &str, bytes: &[u8]| fs::write(path(name), bytes).unwrap();
        put("input", b"x");
        put("log", format!("# a comment\ntorn\n{LINE}").as_bytes());
        put("log.zst", &zstd::encode_all(LINE.as_bytes(), 1).unwrap());
        put("rank", &[&MAGIC[..], &[0; 100]].concat());
        put("picture", b"<svg/>");
        fs::hard_link(path("input"), path("hard")).unwrap();
        symlink("input", path("soft")).unwrap();
        let inputs = [Source::File(path("input"))];
        let of = |force| Outputs::new(&inputs, force);
        for (name, because) in [
            ("input", Some(Because::Input)),
            ("hard", Some(Because::Input)),
            ("soft", Some(Because::Input)),
            ("log", Some(Because::Log)),
            ("log.zst", Some(Because::Log)),
            ("rank", Some(Because::Profile)),
            ("picture", None),
            ("new", None),
        ] {
            let added = of(false).add(&path(name));
            assert_eq!(added.err().map(|kept| kept.because), because, "{name}");
            assert_eq!(of(true).add(&path(name)), Ok(()), "{name}");
            let appended = of(false).add_appended(&path(name));
            let because = because.filter(|because| *because != Because::Log);
            assert_eq!(appended.err().map(|kept| kept.because), because, "{name}");
        }
        let mut twice = of(true);
        twice.add(&path("new")).unwrap();
        assert_eq!(twice.add(&path("new")).unwrap_err().because, Because::Output);
        for path in ["-", "-", "/dev/null", "/dev/null"] {
            twice.add(Path::new(path)).unwrap();
        }
    }

    #[test]
    fn links_are_followed_to_files_that_do_not_exist_yet() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        symlink("next", path("first")).unwrap();
        symlink("last", path("next")).unwrap();
        for text in ["made", "replaced"] {
            Outputs::save(&path("first"), text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(path("last")).unwrap(), text);
            assert!(fs::symlink_metadata(path("first")).unwrap().is_symlink());
        }
        symlink("circle", path("circle")).unwrap();
        assert!(Outputs::save(&path("circle"), b"x").is_err());
        assert!(fs::symlink_metadata(path("circle")).unwrap().is_symlink());
    }

    #[test]
    fn what_is_saved_replaces_as_a_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        Outputs::save(&path, b"new").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o600, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        Outputs::save(&path, b"newer").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"newer");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        Outputs::save(Path::new("/dev/null"), b"x").unwrap();
    }
}
