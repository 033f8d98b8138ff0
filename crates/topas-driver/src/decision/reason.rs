//! The reasons for a link without the module, in words.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use crate::response::Trouble;

/// Why a command does not link an executable; with the option that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotALink {
    /// The compiler stops earlier.
    StopsBeforeLink(OsString),
    /// A question is answered.
    Asks(OsString),
    /// The result is an object.
    Relocatable(OsString),
    /// The result is a shared library.
    SharedLibrary(OsString),
    /// There is nothing to link: no source, object or archive.
    NoInput,
    /// Headers are precompiled.
    OnlyHeaders,
    /// Nobody asks how to link with an MPI.
    OtherQuestion,
}

impl fmt::Display for NotALink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotALink::StopsBeforeLink(o) => {
                write!(f, "`{}` stops before the link", o.to_string_lossy())
            }
            NotALink::Asks(o) => write!(f, "`{}` asks a question", o.to_string_lossy()),
            NotALink::Relocatable(o) => {
                write!(f, "`{}` makes a relocatable object", o.to_string_lossy())
            }
            NotALink::SharedLibrary(o) => {
                write!(f, "`{}` makes a shared library", o.to_string_lossy())
            }
            NotALink::NoInput => write!(f, "no source, object or archive among the arguments"),
            NotALink::OtherQuestion => write!(f, "no question on how to link with an MPI"),
            NotALink::OnlyHeaders => write!(f, "headers are precompiled"),
        }
    }
}

/// Why an executable is linked without the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftAlone {
    /// TOPAS is switched off: by this variable or line.
    Off(String),
    /// The driver does not stand in an installation, so there is no module.
    NotInstalled,
    /// The module cannot be linked: its path and why.
    Module(PathBuf, String),
    /// The command has the module already.
    HasModule(OsString),
    /// The site's list of this key leaves the program out.
    Refused(String),
    /// The program drives the counters itself, through this library.
    UsesCounters(OsString),
    /// The program drives the counters itself: an object of it calls this function.
    CallsCounters(OsString, String),
    /// No start files, so nobody would call the module.
    NoStartFiles(OsString),
    /// No C library.
    NoLibc(OsString),
    /// Code of another width.
    OtherWidth(OsString),
    /// Code for another machine or system.
    OtherTarget(OsString),
    /// The output is no ELF file.
    RawOutput(OsString),
    /// The compiler behind the driver does not know `-Wl,`.
    Compiler {
        /// The option or variable that chose it.
        by: String,
        /// The compiler.
        command: OsString,
    },
    /// The last option wants an argument, and would take what is added for it.
    Dangling(OsString),
    /// After `--` an option would be taken for a file.
    EndOfOptions,
    /// A response file cannot be read.
    ResponseFile(Trouble),
}

impl fmt::Display for LeftAlone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LeftAlone::Off(by) => write!(f, "switched off by {by}"),
            LeftAlone::NotInstalled => write!(f, "the driver does not stand in an installation"),
            LeftAlone::Module(path, why) => write!(f, "module {}: {why}", path.display()),
            LeftAlone::HasModule(o) => write!(f, "`{}` is linked already", o.to_string_lossy()),
            LeftAlone::UsesCounters(o) => {
                write!(f, "the program uses the counters itself, by -l{}", o.to_string_lossy())
            }
            LeftAlone::Refused(by) => write!(f, "the site leaves it out by {by}"),
            LeftAlone::CallsCounters(object, function) => write!(
                f,
                "the program uses the counters itself: `{}` calls {function}",
                object.to_string_lossy()
            ),
            LeftAlone::NoStartFiles(o) => write!(f, "`{}`: no start files", o.to_string_lossy()),
            LeftAlone::NoLibc(o) => write!(f, "`{}`: no C library", o.to_string_lossy()),
            LeftAlone::OtherWidth(o) => {
                write!(f, "`{}`: code of another width", o.to_string_lossy())
            }
            LeftAlone::OtherTarget(o) => {
                write!(f, "code for another machine: `{}`", o.to_string_lossy())
            }
            LeftAlone::RawOutput(o) => write!(f, "`{}`: the output is no ELF", o.to_string_lossy()),
            LeftAlone::Compiler { by, command } => {
                let command = command.to_string_lossy();
                write!(f, "{by}: the compiler `{command}` does not know -Wl,")
            }
            LeftAlone::Dangling(o) => {
                write!(f, "the last option, `{}`, lacks its argument", o.to_string_lossy())
            }
            LeftAlone::EndOfOptions => write!(f, "`--` ends the options"),
            LeftAlone::ResponseFile(Trouble::Unfit(file, why)) => {
                write!(f, "response file `{}`: {why}", file.to_string_lossy())
            }
            LeftAlone::ResponseFile(Trouble::Endless(file)) => write!(
                f,
                "response file `{}`: they name each other without end",
                file.to_string_lossy()
            ),
        }
    }
}
