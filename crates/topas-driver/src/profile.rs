//! The MPI profile at link time: whether a link gets it, and in which words.
//!
//! Where MPI is a shared library an object is added that has the program loaded with the library
//! of the profile, and defines nothing: who asks whether an MPI has a function gets the answer of
//! that MPI. It stands in front of the module, since it replaces the process. Nothing can be loaded
//! in front of an MPI that the program holds, so there the linker is told to lead each call
//! (`--wrap`) into an archive. Calls among the archives of the MPI are led, too, so these stand in
//! one group with it.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use topas_config::{Environment, Paths};
use topas_format::env::TOPAS_MPI;

use crate::module;
use crate::mpi_libraries::{Libraries, MpiLibraryKind, Unknown, is_mpi_file};
use crate::plan::link_arguments;

/// The package that pkg-config is asked for, too.
const PACKAGE: &str = "topas-mpi";

/// What became of a profile that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Who asks: a variable, or a line of topas.conf.
    pub by: String,
    /// The words that are added, or why none are.
    pub words: Result<Vec<OsString>, Left>,
}

/// Why a link goes without the profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    /// The program goes without the module, for a reason that holds here, too.
    Module,
    /// The driver does not stand in an installation.
    NotInstalled,
    /// A part of the profile cannot be linked: its path and why.
    Unfit(PathBuf, String),
    /// It cannot be told how MPI is linked.
    Unknown(Unknown),
    /// An archive of an MPI stands among the arguments.
    Archive(OsString),
    /// An answer can name only what a shared library takes, too.
    Answer,
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Left::Module => write!(f, "what keeps the module out keeps it out, too"),
            Left::NotInstalled => write!(f, "the driver does not stand in an installation"),
            Left::Unfit(path, why) => write!(f, "{}: {why}", path.display()),
            Left::Unknown(why) => write!(f, "{why}"),
            Left::Archive(word) => {
                write!(f, "`{}` is an MPI; let the driver link it", word.to_string_lossy())
            }
            Left::Answer => write!(f, "MPI is linked from archives; link by the driver itself"),
        }
    }
}

/// Who asks for the profile of a link by a driver of MPI, if anybody does. The user's word comes
/// before the site's.
pub fn asked_by(env: &Environment, site: impl FnOnce() -> Option<String>) -> Option<String> {
    match env.mpi() {
        Some(true) => Some(format!("{TOPAS_MPI}={}", env.get(TOPAS_MPI)?.to_string_lossy())),
        Some(false) => None,
        None => site(),
    }
}

/// A link that is to get the profile.
pub struct Link<'a> {
    /// The real driver
    pub real: &'a Path,
    /// Its arguments
    pub args: &'a [OsString],
    /// Whether the link takes archives in place of shared libraries
    pub archives: bool,
    /// Whether it is not done, but asked about
    pub answer: bool,
}

impl Link<'_> {
    /// The words that add the profile.
    ///
    /// # Errors
    /// [`Left`]: why it cannot be added.
    pub fn words(&self, paths: &Paths, env: &Environment) -> Result<Vec<OsString>, Left> {
        if let Some(word) = self.args.iter().find(|word| is_mpi_archive(word)) {
            return Err(Left::Archive(word.clone()));
        }
        // An answer is about shared libraries, too.
        let object = if self.answer { paths.mpi_init_object() } else { paths.mpi_object() };
        module::check(&object).map_err(|why| Left::Unfit(object.clone(), why.to_string()))?;
        let libraries = Libraries::ask(self.real, env).map_err(Left::Unknown)?;
        let kind = if self.archives { MpiLibraryKind::Archives } else { libraries.kind(env) };
        match kind {
            MpiLibraryKind::Shared => Ok(link_arguments(&object)),
            MpiLibraryKind::Archives if self.answer => Err(Left::Answer),
            MpiLibraryKind::Archives => wrapped(&libraries, paths),
            MpiLibraryKind::Unknown(why) => Err(Left::Unknown(why)),
        }
    }
}

/// The words that add the profile to a question to `real`, which is pkg-config.
///
/// # Errors
/// [`Left`]: why it cannot be added.
pub fn package(
    real: &Path,
    args: &[OsString],
    paths: &Paths,
    env: &Environment,
) -> Result<Vec<OsString>, Left> {
    let file = paths.packages().join(PACKAGE).with_extension("pc");
    File::open(&file).map_err(|why| Left::Unfit(file, why.to_string()))?;
    match Libraries::answered(real, args, env).map(|libraries| libraries.kind(env)) {
        Ok(MpiLibraryKind::Shared) => Ok(vec![PACKAGE.into()]),
        Ok(MpiLibraryKind::Archives) => Err(Left::Answer),
        Ok(MpiLibraryKind::Unknown(why)) | Err(why) => Err(Left::Unknown(why)),
    }
}

/// The words for a program that holds its MPI.
fn wrapped(libraries: &Libraries, paths: &Paths) -> Result<Vec<OsString>, Left> {
    let (names, archive) = (paths.mpi_wrap_names(), paths.mpi_wrap_archive());
    let unfit = |path: &Path, why: String| Left::Unfit(path.to_path_buf(), why);
    File::open(&names).map_err(|why| unfit(&names, why.to_string()))?;
    check_archive(&archive).map_err(|why| unfit(&archive, why.to_string()))?;
    // A response file has words of its own, so its path is taken as it stands.
    let mut file = OsString::from("@");
    file.push(&names);
    let mut words = link_arguments(Path::new(&file));
    words.push("-Wl,--start-group".into());
    words.extend(link_arguments(&archive));
    words.extend(libraries.words());
    words.push("-Wl,--end-group".into());
    Ok(words)
}

fn check_archive(path: &Path) -> io::Result<()> {
    const MAGIC: &[u8; 8] = b"!<arch>\n";
    let mut head = [0; MAGIC.len()];
    File::open(path)?.read_exact(&mut head)?;
    if head == *MAGIC { Ok(()) } else { Err(io::Error::other("is no archive")) }
}

fn is_mpi_archive(word: &OsStr) -> bool {
    let path = Path::new(word);
    path.extension() == Some(OsStr::new("a")) && is_mpi_file(path)
}
