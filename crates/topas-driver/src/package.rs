//! Questions to `pkg-config` on how to link with an MPI.
//!
//! The answer gets the module by a further package that is asked for: `topas-c` and its
//! like, which are found through `PKG_CONFIG_PATH`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::catalog::{Catalog, Language};

/// Options whose answer holds words for the linker of any kind.
const LINK: [&str; 3] = ["--libs", "--libs-only-other", "--static-libs"];

/// The language of the MPI that a command asks how to link with, and the option that asks.
/// `None`: it asks something else, or for other packages.
pub fn asked<'a>(args: &'a [OsString], catalog: &Catalog) -> Option<(Language, &'a OsStr)> {
    let option = args.iter().find(|arg| LINK.iter().any(|link| *arg == *link))?;
    let names = args.iter().filter(|arg| !arg.as_bytes().starts_with(b"-")).flat_map(|arg| {
        // `ompi-c >= 4`, in one word or several, and lists with commas.
        arg.as_bytes().split(|b| b.is_ascii_whitespace() || *b == b',')
    });
    let language = names.filter_map(|name| catalog.package(name)).next()?;
    Some((language, option))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::words;

    #[test]
    fn only_links_with_an_mpi_are_meant() {
        let catalog = Catalog::built_in();
        for (command, expected) in [
            ("--libs ompi-c", Some(Language::C)),
            ("--cflags --libs mpich", Some(Language::C)),
            ("--libs --static 'ompi-cxx >= 3'", Some(Language::Cxx)),
            ("--libs-only-other zlib,ompi-fort", Some(Language::F90)),
            ("--cflags ompi-c", None),
            ("--libs-only-l ompi-c", None),
            ("--libs zlib", None),
            ("--modversion ompi-c", None),
            ("--libs", None),
        ] {
            let words = words(command.as_bytes());
            let language = asked(&words, &catalog).map(|(language, _)| language);
            assert_eq!(language, expected, "{command}");
        }
    }
}
