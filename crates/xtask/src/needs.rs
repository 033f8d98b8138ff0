//! What a tool needs of the system: shared libraries, and the version of glibc.
//!
//! A tool starts only where these are. A crate that links one library more, or a call of a newer
//! function, would silently take the tools away from older systems.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use goblin::elf::Elf;

use crate::process::output;
use crate::tools::{DRIVER, TOOLS};

/// Libraries that a tool with the shared C library may need: the C library and its loader, and what
/// the standard library of Rust needs to print the place of a panic.
const LIBRARIES: [&str; 5] =
    ["ld-linux-aarch64.so.1", "ld-linux-x86-64.so.2", "libc.so.6", "libgcc_s.so.1", "libm.so.6"];

/// The highest version of glibc that a tool may need: that of RHEL 9 and Debian 12, where TOPAS is
/// built.
const HIGHEST: Version = (2, 34);

/// The glibc of Debian 12. A linker of a later system takes later versions of functions, which says
/// nothing of the sources.
const BUILDING: Version = (2, 36);

/// Numbers of a version of glibc.
type Version = (u32, u32);

/// What a program needs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Shared libraries, by the name that the loader looks for
    pub libraries: Vec<String>,
    /// The highest version of glibc
    pub glibc: Option<Version>,
}

impl Needs {
    /// Reads an executable or a library.
    ///
    /// # Errors
    /// If the bytes are no ELF file, or its tables are broken.
    pub fn of(bytes: &[u8]) -> Result<Needs> {
        let elf = Elf::parse(bytes).context("no ELF file")?;
        let mut needs = Needs {
            libraries: elf.libraries.iter().map(|name| (*name).to_owned()).collect(),
            glibc: None,
        };
        for needed in elf.verneed.iter().flat_map(|section| section.iter()) {
            for version in needed.iter() {
                let name = elf.dynstrtab.get_at(version.vna_name).unwrap_or_default();
                needs.glibc = needs.glibc.max(name.strip_prefix("GLIBC_").and_then(numbers));
            }
        }
        Ok(needs)
    }

    /// What is more than a tool with the shared C library may need, a phrase each.
    fn too_much(&self) -> Vec<String> {
        let unknown = self.libraries.iter().filter(|name| !LIBRARIES.contains(&name.as_str()));
        let mut faults: Vec<String> = unknown.map(|name| format!("needs {name}")).collect();
        if let Some(version) = self.glibc.filter(|version| *version > HIGHEST) {
            let (major, minor) = version;
            faults.push(format!(
                "needs GLIBC_{major}.{minor}, allowed is {}.{}",
                HIGHEST.0, HIGHEST.1
            ));
        }
        faults
    }
}

/// The first two numbers of a version such as `2.2.5`.
fn numbers(text: &str) -> Option<Version> {
    let mut parts = text.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// Checks the tools in a directory. Static tools may need nothing.
///
/// # Errors
/// All that is needed too much, by tool.
pub fn check(dir: &Path, are_static: bool) -> Result<()> {
    let mut faults = Vec::new();
    let names = TOOLS.into_iter().chain([DRIVER]);
    for path in names.map(|name| dir.join(name)) {
        let needs = needs_of(&path)?;
        let found = match are_static {
            true if needs != Needs::default() => vec![format!("is not static: {needs:?}")],
            true => Vec::new(),
            false => needs.too_much(),
        };
        faults.extend(found.into_iter().map(|fault| format!("{}: {fault}", path.display())));
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    Ok(())
}

/// Checks tools that Cargo has built with the shared C library of this machine. The versions are
/// not looked at if this machine is newer than the one for which they are stated.
///
/// # Errors
/// As [`check`].
pub fn check_built_here(dir: &Path) -> Result<()> {
    let here = output(Command::new("getconf").arg("GNU_LIBC_VERSION")).ok();
    let here = here.as_deref().and_then(|said| numbers(said.trim().strip_prefix("glibc ")?));
    match here {
        Some(here) if here <= BUILDING => check(dir, false),
        _ => {
            println!("note: not checked, because this system does not have the glibc of Debian 12");
            Ok(())
        }
    }
}

fn needs_of(path: &PathBuf) -> Result<Needs> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Needs::of(&bytes).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_and_versions_are_read_from_programs() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("a.c");
        std::fs::write(
            &source,
            "#include <math.h>\nint main(int c, char **v) { return sin(c) > 1; }\n",
        )
        .unwrap();
        let built = |name: &str, args: &[&str]| {
            let program = dir.path().join(name);
            let mut cc = Command::new("cc");
            assert!(cc.arg("-o").args([&program, &source]).args(args).status().unwrap().success());
            needs_of(&program).unwrap()
        };
        let needs = built("shared", &["-lm"]);
        assert_eq!(needs.libraries, ["libm.so.6", "libc.so.6"]);
        assert!(needs.glibc >= Some((2, 2)) && needs.glibc < Some((3, 0)), "{needs:?}");
        assert_eq!(built("static", &["-static", "-lm"]), Needs::default());
        assert!(Needs::of(b"no program").is_err());
    }

    #[test]
    fn what_grows_is_a_fault() {
        let needs = |libraries: &[&str], glibc| Needs {
            libraries: libraries.iter().map(|name| (*name).to_owned()).collect(),
            glibc,
        };
        assert_eq!(needs(&["libc.so.6"], Some(HIGHEST)).too_much(), [""; 0]);
        assert_eq!(needs(&["libssl.so.3"], None).too_much(), ["needs libssl.so.3"]);
        let later = (HIGHEST.0, HIGHEST.1 + 1);
        assert_eq!(needs(&[], Some(later)).too_much().len(), 1);
        // As numbers, and not as texts.
        assert!(numbers("2.4").unwrap() < numbers("2.17").unwrap());
        assert_eq!((numbers("2.2.5"), numbers("2"), numbers("x.y")), (Some((2, 2)), None, None));
    }
}
