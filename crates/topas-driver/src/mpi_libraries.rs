//! How a driver links its MPI: as shared libraries, or as archives.
//!
//! A library of MPI profiles is loaded in front of an MPI that is loaded itself; in a program that
//! holds its MPI it would see no call. So the real driver is asked what it would link, and the
//! directories it names are looked at.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use topas_config::Environment;

use crate::response;

/// The option that every driver around a compiler answers with its command.
const QUESTION: &str = "-show";

/// Directories of Debian and its children for this machine.
const MULTIARCH: [&str; 2] = if cfg!(target_arch = "x86_64") {
    ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu"]
} else if cfg!(target_arch = "aarch64") {
    ["/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu"]
} else if cfg!(target_arch = "powerpc64") {
    ["/lib/powerpc64le-linux-gnu", "/usr/lib/powerpc64le-linux-gnu"]
} else {
    ["/lib", "/usr/lib"]
};

/// Directories every linker looks at, behind those it is told.
const USUAL: [&str; 8] = [
    "/lib64",
    "/usr/lib64",
    "/usr/local/lib64",
    MULTIARCH[0],
    MULTIARCH[1],
    "/usr/local/lib",
    "/lib",
    "/usr/lib",
];

/// The kind of an MPI's libraries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MpiLibraryKind {
    /// Shared libraries, which the loader brings.
    Shared,
    /// Archives, which become a part of the program.
    Archives,
    /// It cannot be told: why.
    Unknown(Unknown),
}

/// Why the kind cannot be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The driver does not answer.
    NoAnswer,
    /// The answer names no library of an MPI.
    NoLibrary,
    /// A library is in none of the directories.
    NotFound(OsString),
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unknown::NoAnswer => {
                write!(f, "the real driver does not say how it links ({QUESTION})")
            }
            Unknown::NoLibrary => {
                write!(f, "no library of an MPI is named where one asks how to link")
            }
            Unknown::NotFound(name) => {
                write!(f, "-l{} is in no directory that is known", lossy(name))
            }
        }
    }
}

fn lossy(name: &OsStr) -> std::borrow::Cow<'_, str> {
    name.to_string_lossy()
}

/// What a driver says of its MPI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Libraries {
    /// Directories it names, in order.
    dirs: Vec<PathBuf>,
    /// Libraries of the MPI: `mpich` of `-lmpich`, or the path of an archive.
    names: Vec<OsString>,
}

impl Libraries {
    /// Asks the real driver.
    ///
    /// # Errors
    /// [`Unknown`], if there is no answer that tells.
    pub fn ask(real: &Path, env: &Environment) -> Result<Self, Unknown> {
        Libraries::answered(real, &[QUESTION.into()], env)
    }

    /// What a program answers to these words.
    ///
    /// # Errors
    /// [`Unknown`], if there is no answer that tells.
    pub fn answered(real: &Path, words: &[OsString], env: &Environment) -> Result<Self, Unknown> {
        let answer = Command::new(real)
            .args(words)
            .env_clear()
            .envs(env.iter())
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .ok()
            .filter(|answer| answer.status.success())
            .ok_or(Unknown::NoAnswer)?;
        Libraries::of(&answer.stdout)
    }

    /// Reads an answer.
    fn of(answer: &[u8]) -> Result<Self, Unknown> {
        let mut found = Libraries { dirs: Vec::new(), names: Vec::new() };
        // The command is the last line that has words: some print their settings before it.
        let command = answer.split(|b| *b == b'\n').rfind(|line| !line.trim_ascii().is_empty());
        let words = response::words(command.ok_or(Unknown::NoAnswer)?);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let bytes = word.as_bytes();
            if let Some(dir) = bytes.strip_prefix(b"-L") {
                let dir = if dir.is_empty() { words.next().cloned() } else { Some(os(dir)) };
                found.dirs.extend(dir.map(PathBuf::from));
            } else if let Some(name) = bytes.strip_prefix(b"-l") {
                let name = if name.is_empty() { words.next().cloned() } else { Some(os(name)) };
                found.names.extend(name.filter(|name| is_mpi(name.as_bytes())));
            } else if !bytes.starts_with(b"-") && is_mpi_file(Path::new(word)) {
                found.names.push(word.clone());
            }
        }
        if found.names.is_empty() { Err(Unknown::NoLibrary) } else { Ok(found) }
    }

    /// What a link takes of these: the first directory decides, and in it the shared library.
    pub fn kind(&self, env: &Environment) -> MpiLibraryKind {
        let usual = USUAL.iter().map(PathBuf::from);
        // GCC and Clang look there, too.
        let path = env.get("LIBRARY_PATH").unwrap_or_default().as_bytes();
        let named = path.split(|b| *b == b':').filter(|dir| !dir.is_empty());
        let named = named.map(|dir| PathBuf::from(os(dir)));
        let dirs: Vec<PathBuf> = self.dirs.iter().cloned().chain(named).chain(usual).collect();
        for name in &self.names {
            if name.as_bytes().contains(&b'/') {
                if is_archive(Path::new(name)) {
                    return MpiLibraryKind::Archives;
                }
                continue;
            }
            let file = |ending: &str| {
                let mut file = OsString::from("lib");
                file.push(name);
                file.push(ending);
                file
            };
            let (shared, archive) = (file(".so"), file(".a"));
            let holds = |dir: &&PathBuf| dir.join(&shared).exists() || dir.join(&archive).exists();
            match dirs.iter().find(holds) {
                Some(dir) if dir.join(&shared).exists() => {}
                Some(_) => return MpiLibraryKind::Archives,
                None => return MpiLibraryKind::Unknown(Unknown::NotFound(name.clone())),
            }
        }
        MpiLibraryKind::Shared
    }

    /// The words that link the same libraries once more.
    pub fn words(&self) -> impl Iterator<Item = OsString> {
        let with = |front: &str, name: &OsStr| {
            let mut word = OsString::from(front);
            word.push(name);
            word
        };
        let dirs = self.dirs.iter().map(move |dir| with("-L", dir.as_os_str()));
        let front = |name: &OsStr| if name.as_bytes().contains(&b'/') { "" } else { "-l" };
        dirs.chain(self.names.iter().map(move |name| with(front(name), name)))
    }
}

fn os(bytes: &[u8]) -> OsString {
    OsStr::from_bytes(bytes).to_owned()
}

/// Whether a library, as in `-lNAME`, is a part of an MPI: `mpi`, `mpich`, `mpi_mpifh`, `pmpi`,
/// `fmpich`, `:libmpi.so`.
fn is_mpi(name: &[u8]) -> bool {
    memchr::memmem::find(name, b"mpi").is_some()
}

/// The same of a file among the words.
pub fn is_mpi_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_bytes();
    name.starts_with(b"lib") && is_mpi(name) && (is_archive(path) || is_shared(name))
}

fn is_archive(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("a"))
}

fn is_shared(name: &[u8]) -> bool {
    memchr::memmem::find(name, b".so").is_some()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn answers_of_real_drivers() {
        for (answer, dirs, names) in [
            (
                "gcc -Wl,-z,relro -I/usr/include/mpich -L/usr/lib/x86_64-linux-gnu -lmpich\n",
                &["/usr/lib/x86_64-linux-gnu"][..],
                &["mpich"][..],
            ),
            (
                "gfortran -I/o/lib -L/o/lib -lmpi_usempif08 -lmpi_mpifh -lmpi -lopen-rte -lhwloc\n",
                &["/o/lib"],
                &["mpi_usempif08", "mpi_mpifh", "mpi"],
            ),
            (
                "some setting\ngcc '-I/a b' -L'/a b/lib' /a/lib/libmpi.a -L /c -l mpifort -ldl\n\n",
                &["/a b/lib", "/c"],
                &["/a/lib/libmpi.a", "mpifort"],
            ),
        ] {
            let found = Libraries::of(answer.as_bytes()).unwrap();
            assert_eq!(found.dirs, dirs.iter().map(PathBuf::from).collect::<Vec<_>>(), "{answer}");
            assert_eq!(found.names, names, "{answer}");
        }
        assert_eq!(Libraries::of(b"gcc -I/usr/include -lm\n"), Err(Unknown::NoLibrary));
        assert_eq!(Libraries::of(b"\n"), Err(Unknown::NoAnswer));
    }

    #[test]
    fn the_first_directory_decides_and_shared_comes_before_archive() {
        let dir = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        };
        make("archives/libmpiq.a");
        make("both/libmpiq.a");
        make("both/libmpiq.so");
        make("both/libmpiq_f.a");
        let env = Environment::default();
        let kind = |dirs: &[&str], names: &[&str], env: &Environment| {
            let libraries = Libraries {
                dirs: dirs.iter().map(|name| dir.path().join(name)).collect(),
                names: names.iter().map(OsString::from).collect(),
            };
            libraries.kind(env)
        };
        assert_eq!(kind(&["archives", "both"], &["mpiq"], &env), MpiLibraryKind::Archives);
        assert_eq!(kind(&["both", "archives"], &["mpiq"], &env), MpiLibraryKind::Shared);
        assert_eq!(kind(&["both"], &["mpiq", "mpiq_f"], &env), MpiLibraryKind::Archives);
        assert_eq!(kind(&["both"], &["mpiq", "/x/libmpi.a"], &env), MpiLibraryKind::Archives);
        let missing = MpiLibraryKind::Unknown(Unknown::NotFound("mpiq".into()));
        assert_eq!(kind(&["none"], &["mpiq"], &env), missing);
        let path = dir.path().join("archives").display().to_string();
        let env: Environment = [("LIBRARY_PATH", path.as_str())].into_iter().collect();
        assert_eq!(kind(&["none"], &["mpiq"], &env), MpiLibraryKind::Archives);
    }

    #[test]
    fn the_words_link_them_again() {
        let found = Libraries::of(b"cc -L/a -lmpifort /b/libmpi.a -lm\n").unwrap();
        assert_eq!(found.words().collect::<Vec<_>>(), ["-L/a", "-lmpifort", "/b/libmpi.a"]);
    }
}
