//! What a site says at link time: its kill switch, and which programs get the module.
//!
//! The lists of programs and users are those that measured programs read, too. Paths count
//! only here: where a program lies when it runs says little, and costs a system call.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use topas_format::conf::{Key, ListAnswer};
use topas_format::env::switch;
use topas_format::module_facts::OFF;
use topas_format::policy::answer_of_lists;

use crate::conf::Conf;
use crate::paths::{Paths, SYSTEM_CONF};

/// Keys of `topas.conf` that only the drivers read.
pub const KEYS: &[Key] = &[
    Key {
        name: ONLY_PATH,
        form: "list of paths",
        default: "(all)",
        about: "Paths of executables that are linked with the module; `*` stands for any \
                characters, slashes too.",
    },
    Key {
        name: SKIP_PATH,
        form: "list of paths",
        default: "(none)",
        about: "Paths of executables that are linked without the module; `*` stands for any \
                characters, slashes too.",
    },
    Key {
        name: MPI_LINK,
        form: "yes|no",
        default: "no",
        about: "`yes` makes the drivers of MPI link the library of MPI profiles into every \
                executable.",
    },
];

/// A list of paths: of no others.
const ONLY_PATH: &str = "only_path";

/// A list of paths: not of these.
const SKIP_PATH: &str = "skip_path";

/// The key of a switch; the others are lists.
pub(crate) const MPI_LINK: &str = "mpi_link";

/// Whether this is one of [`KEYS`] with a value of its form.
pub(crate) fn is_valid(key: &[u8], value: &[u8]) -> bool {
    KEYS.iter().any(|known| known.name.as_bytes() == key)
        && if key == MPI_LINK.as_bytes() { switch(value).is_some() } else { !value.is_empty() }
}

/// The file that switches TOPAS off for everybody, if there is one: of the installation,
/// then of the system. Programs look at the same two, whatever `TOPAS_CONF` says.
pub fn kill_switch(paths: Option<&Paths>) -> Option<PathBuf> {
    let files = [paths.map(Paths::conf_file), Some(SYSTEM_CONF.into())];
    files
        .into_iter()
        .flatten()
        .map(|conf| conf.with_file_name(OsStr::from_bytes(OFF)))
        .find(|off| off.exists())
}

/// A program that is about to be linked.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// Where it will lie, absolute.
    pub path: &'a Path,
    /// Name of the user who links it; may be empty.
    pub user: &'a OsStr,
    /// Numeric id of that user.
    pub uid: u32,
}

impl Conf {
    /// The key by which the site refuses a program the module, if one does.
    pub fn refuses(&self, program: &Program<'_>) -> Option<&'static str> {
        let settings = self.settings();
        let exe = program.path.file_name().unwrap_or_default().as_bytes();
        let path = program.path.as_os_str().as_bytes();
        let uid = program.uid.to_string();
        let user = program.user.as_bytes();
        if let Err(refusal) = settings.answer_by_name(Some(exe), user, uid.as_bytes()) {
            return Some(refusal.key());
        }
        let (only, skip) = (self.value(ONLY_PATH), self.value(SKIP_PATH));
        match answer_of_lists(only, skip, path) {
            ListAnswer::Wanted => None,
            ListAnswer::NotInOnly => Some(ONLY_PATH),
            ListAnswer::InSkip => Some(SKIP_PATH),
        }
    }
}

/// A path seen from a directory, without `.` and `..`. Nothing is looked at: the file may
/// not be there yet.
pub fn absolute(dir: &Path, path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in dir.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                whole.pop();
            }
            part => whole.push(part),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn refused(text: &str, path: &str, user: &str) -> Option<&'static str> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("topas.conf");
        fs::write(&file, text).unwrap();
        let program = Program { path: Path::new(path), user: OsStr::new(user), uid: 1003 };
        Conf::read(&file).refuses(&program)
    }

    #[test]
    fn lists_refuse_programs_users_and_paths() {
        for (text, expected) in [
            ("", None),
            ("only_exe = heat cg", None),
            ("only_exe = cg", Some("only_exe")),
            ("skip_exe = h*", Some("skip_exe")),
            ("only_user = mohr", None),
            ("only_user = 1003", None),
            ("only_user = smith", Some("only_user")),
            ("skip_user = 1003", Some("skip_user")),
            ("only_path = /home/*", None),
            ("only_path = /opt/*", Some("only_path")),
            ("skip_path = /opt/* /home/*/heat", Some("skip_path")),
            ("skip_path = /home/*\nskip_path = /opt/*", None),
            ("skip_path =", None),
        ] {
            assert_eq!(refused(text, "/home/mohr/src/heat", "mohr"), expected, "{text}");
        }
        // Of a user without a name the id counts.
        assert_eq!(refused("only_user = mohr 1003", "/a", ""), None);
    }

    #[test]
    fn a_file_named_off_stops_everything() {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths::at(dir.path().join("p"));
        let off = paths.conf_file().with_file_name("off");
        assert_ne!(kill_switch(Some(&paths)), Some(off.clone()));
        fs::create_dir_all(off.parent().unwrap()).unwrap();
        fs::write(&off, "").unwrap();
        assert_eq!(kill_switch(Some(&paths)), Some(off));
    }

    #[test]
    fn paths_are_made_absolute_without_looking() {
        let of = |path: &str| absolute(Path::new("/home/build"), Path::new(path));
        assert_eq!(of("a"), Path::new("/home/build/a"));
        assert_eq!(of("./../x//a"), Path::new("/home/x/a"));
        assert_eq!(of("/opt/./a"), Path::new("/opt/a"));
        assert_eq!(of("../../../../a"), Path::new("/a"));
    }
}
