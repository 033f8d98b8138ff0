//! The environment variables and the command line of this process.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use topas_format::env as names;

/// Variables by which a user chooses the compiler behind an MPI driver: those of Open
/// MPI, MPICH and its relatives, and Intel MPI.
const COMPILER_CHOICES: &[(&str, &[&str])] = &[
    ("c", &["OMPI_CC", "MPICH_CC", "I_MPI_CC"]),
    ("cxx", &["OMPI_CXX", "MPICH_CXX", "I_MPI_CXX"]),
    ("f77", &["OMPI_F77", "OMPI_FC", "MPICH_F77", "MPICH_FC", "I_MPI_F77", "I_MPI_FC"]),
    ("f90", &["OMPI_FC", "MPICH_FC", "MPICH_F90", "I_MPI_F90", "I_MPI_FC"]),
];

/// Search path where PATH is not set, as the C library has it.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// The file of this program, as the kernel knows it; None where it does not say.
pub fn own_executable() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

/// The command line of this process: its own name first, bytes as they came.
pub fn command_line() -> Vec<OsString> {
    env::args_os().collect()
}

/// What `TOPAS_LINK` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkWish {
    /// Without the module.
    Never,
    /// With it, also where a program uses the counters itself.
    Always,
}

/// A set of environment variables: those of this process or made-up ones.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// In the order of the process: what is passed on must not be rearranged.
    variables: Vec<(OsString, OsString)>,
}

impl Environment {
    /// The variables of this process.
    pub fn of_process() -> Self {
        env::vars_os().collect()
    }

    /// The value of one variable; `None` if it is not set.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.iter().find(|(of, _)| *of == OsStr::new(name)).map(|(_, value)| value)
    }

    /// Each variable as the system hands it to a program: `NAME=value`.
    pub fn entries(&self) -> Vec<Vec<u8>> {
        let entry =
            |(name, value): (&OsStr, &OsStr)| [name.as_bytes(), b"=", value.as_bytes()].concat();
        self.iter().map(entry).collect()
    }

    /// Every variable, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// Sets a variable in this copy.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        let (name, value) = (name.into(), value.into());
        match self.variables.iter_mut().find(|(of, _)| *of == name) {
            Some((_, old)) => *old = value,
            None => self.variables.push((name, value)),
        }
    }

    /// Removes a variable from this copy. True if it was set.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.variables.len();
        self.variables.retain(|(of, _)| of != OsStr::new(name));
        self.variables.len() < before
    }

    /// The value, or `None` if it is not set or empty.
    fn filled(&self, name: &str) -> Option<&OsStr> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// Whether `TOPAS` switches TOPAS off.
    pub fn is_off(&self) -> bool {
        self.get(names::TOPAS).is_some_and(|value| names::is_off(value.as_bytes()))
    }

    /// Whether `TOPAS_VERBOSE` asks for reasons on standard error.
    pub fn is_verbose(&self) -> bool {
        self.get(names::TOPAS_VERBOSE).is_some_and(|value| names::is_yes(value.as_bytes()))
    }

    /// Whether `TOPAS_PRINT` asks for the result on standard error.
    pub fn prints(&self) -> bool {
        self.get(names::TOPAS_PRINT).is_some_and(|value| names::is_yes(value.as_bytes()))
    }

    /// `TOPAS_LINK`: the user's word on linking the module.
    pub fn link(&self) -> Option<LinkWish> {
        let value = self.filled(names::TOPAS_LINK)?.as_bytes();
        if names::is_off(value) {
            Some(LinkWish::Never)
        } else if value.eq_ignore_ascii_case(b"always") {
            Some(LinkWish::Always)
        } else {
            None
        }
    }

    /// Whether `TOPAS_MEASURE_ALL_PE` asks for the module that measures every rank. Set and
    /// empty is a wish, too: `setenv` of csh sets it so.
    pub fn measures_all(&self) -> bool {
        let value = self.get(names::TOPAS_MEASURE_ALL_PE);
        value.is_some_and(|value| !names::is_off(value.as_bytes()))
    }

    /// `TOPAS_MPI`: whether MPI calls are profiled; at link time, whether the library for it is
    /// linked. None if it says neither.
    pub fn mpi(&self) -> Option<bool> {
        self.get(names::TOPAS_MPI).and_then(|value| names::switch(value.as_bytes()))
    }

    /// `TOPAS_MPI_SPOOL`: where the counters of running programs are.
    pub fn mpi_spool(&self) -> Option<PathBuf> {
        self.filled(names::TOPAS_MPI_SPOOL).map(PathBuf::from)
    }

    /// `TOPAS_PASSED`: the drivers that were passed on the way here.
    pub fn passed(&self) -> Option<&OsStr> {
        self.filled(names::TOPAS_PASSED)
    }

    /// The user, as a measured program takes it from the environment; empty if it says
    /// nothing.
    pub fn user(&self) -> &OsStr {
        self.filled("LOGNAME").or(self.filled("USER")).unwrap_or_default()
    }

    /// The user as rules of the site for users see it: the [name](Environment::user) or, without
    /// one, `#` and the numeric id.
    pub fn user_or_id(&self, uid: &str) -> OsString {
        match self.user() {
            user if user.is_empty() => format!("#{uid}").into(),
            user => user.to_owned(),
        }
    }

    /// `TOPAS_CONF`: the configuration file to read in place of the installed one.
    pub fn conf_file(&self) -> Option<PathBuf> {
        self.filled(names::TOPAS_CONF).map(PathBuf::from)
    }

    /// `TOPAS_LOG`: log targets in place of the site's.
    pub fn log(&self) -> Option<&OsStr> {
        self.filled(names::TOPAS_LOG)
    }

    /// `TOPAS_OPS`: what is counted.
    pub fn ops(&self) -> Option<&OsStr> {
        self.filled(names::TOPAS_OPS)
    }

    /// `TOPAS_LAUNCH_ID`, as a launch around this process set it.
    pub fn launch_id(&self) -> Option<&OsStr> {
        self.get(names::TOPAS_LAUNCH_ID)
    }

    /// Whether colour is unwanted: `NO_COLOR` is set and not empty.
    pub fn no_color(&self) -> bool {
        self.filled("NO_COLOR").is_some()
    }

    /// Whether colour is wanted also where nobody sees a terminal: `CLICOLOR_FORCE` or
    /// `FORCE_COLOR` is set, not empty and not 0.
    pub fn forces_color(&self) -> bool {
        let forces = |name| self.filled(name).is_some_and(|value| value != "0");
        forces("CLICOLOR_FORCE") || forces("FORCE_COLOR")
    }

    /// Whether the terminal shows plain text only: `TERM=dumb`.
    pub fn is_dumb_terminal(&self) -> bool {
        self.get("TERM").is_some_and(|value| value == "dumb")
    }

    /// Whether the locale's characters are UTF-8: `LC_ALL`, else `LC_CTYPE`, else `LANG`.
    pub fn is_utf8(&self) -> bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| self.filled(name));
        locale.is_some_and(|locale| {
            let locale = locale.as_bytes().to_ascii_lowercase();
            locale.ends_with(b".utf-8") || locale.ends_with(b".utf8")
        })
    }

    /// `HOME`.
    pub fn home(&self) -> Option<PathBuf> {
        self.filled("HOME").map(PathBuf::from)
    }

    /// `COLUMNS`: width of the terminal in characters, if it says so.
    pub fn columns(&self) -> Option<usize> {
        self.get("COLUMNS")?.to_str()?.parse().ok()
    }

    /// Where temporary files go: `TMPDIR`, else /tmp.
    pub fn temporary_dir(&self) -> PathBuf {
        self.filled("TMPDIR").map_or_else(|| "/tmp".into(), PathBuf::from)
    }

    /// The directories of `PATH` in order. An empty entry is the current directory and
    /// is given as `.`; without `PATH` the C library's default applies.
    pub fn search_path(&self) -> impl Iterator<Item = PathBuf> {
        let path = self.get("PATH").unwrap_or(OsStr::new(DEFAULT_PATH));
        path.as_bytes().split(|&b| b == b':').map(|entry| {
            let entry = if entry.is_empty() { b"." } else { entry };
            PathBuf::from(OsStr::from_bytes(entry))
        })
    }

    /// The variables that choose the compiler behind an MPI driver of `language` (`c`,
    /// `cxx`, `f77` or `f90`), as far as they are set, with their values.
    pub fn compiler_choices(&self, language: &str) -> impl Iterator<Item = (&'static str, &OsStr)> {
        COMPILER_CHOICES
            .iter()
            .filter(move |(of, _)| *of == language)
            .flat_map(|(_, variables)| variables.iter())
            .filter_map(|name| self.filled(name).map(|value| (*name, value)))
    }
}

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        let variables = variables.into_iter().map(|(n, v)| (n.into(), v.into())).collect();
        Environment { variables }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(variables: &[(&str, &str)]) -> Environment {
        variables.iter().copied().collect()
    }

    #[test]
    fn switches_are_read_as_the_format_crate_says() {
        assert!(made(&[("TOPAS", "off")]).is_off());
        assert!(made(&[("TOPAS", "0")]).is_off());
        assert!(!made(&[("TOPAS", "on")]).is_off());
        assert!(!made(&[]).is_off());
        assert!(made(&[("TOPAS_VERBOSE", "1")]).is_verbose());
        assert!(!made(&[("TOPAS_VERBOSE", "0")]).is_verbose());
    }

    #[test]
    fn wishes_for_the_link_are_read() {
        let link = |value| made(&[("TOPAS_LINK", value)]).link();
        assert_eq!(link("no"), Some(LinkWish::Never));
        assert_eq!(link("Always"), Some(LinkWish::Always));
        assert_eq!(link("perhaps"), None);
        let all = |value| made(&[("TOPAS_MEASURE_ALL_PE", value)]).measures_all();
        assert!(all("") && all("1") && !all("no") && !all("0"));
        assert!(!made(&[]).measures_all());
        assert_eq!(made(&[("USER", "a"), ("LOGNAME", "b")]).user(), "b");
        assert_eq!(made(&[("USER", "a"), ("LOGNAME", "")]).user(), "a");
    }

    #[test]
    fn an_empty_entry_of_path_is_the_current_directory() {
        let dirs: Vec<_> = made(&[("PATH", ":/a::/b:")]).search_path().collect();
        assert_eq!(dirs, [".", "/a", ".", "/b", "."].map(PathBuf::from));
        let dirs: Vec<_> = made(&[]).search_path().collect();
        assert_eq!(dirs, ["/bin", "/usr/bin"].map(PathBuf::from));
    }

    #[test]
    fn an_empty_variable_names_no_file() {
        let env = made(&[("TOPAS_CONF", ""), ("HOME", ""), ("NO_COLOR", "")]);
        assert_eq!(env.conf_file(), None);
        assert_eq!(env.home(), None);
        assert!(!env.no_color());
    }

    #[test]
    fn a_compiler_choice_counts_for_its_language_only() {
        let env = made(&[("OMPI_CC", "nvcc"), ("MPICH_FC", "flang"), ("OMPI_CXX", "")]);
        assert_eq!(
            env.compiler_choices("c").collect::<Vec<_>>(),
            [("OMPI_CC", OsStr::new("nvcc"))]
        );
        assert_eq!(env.compiler_choices("cxx").count(), 0);
        assert_eq!(env.compiler_choices("f90").count(), 1);
    }

    #[test]
    fn setting_and_removing_keep_the_order() {
        let mut env = made(&[("B", "1"), ("A", "2")]);
        env.set("C", "3");
        env.set("B", "4");
        assert!(env.remove("A") && !env.remove("A"));
        let left: Vec<_> = env.iter().collect();
        assert_eq!(left, [("B", "4"), ("C", "3")].map(|(n, v)| (OsStr::new(n), OsStr::new(v))));
    }

    #[test]
    fn the_process_environment_is_the_real_one() {
        let env = Environment::of_process();
        assert_eq!(env.get("PATH"), std::env::var_os("PATH").as_deref());
        assert_eq!(env.iter().count(), std::env::vars_os().count());
    }
}
