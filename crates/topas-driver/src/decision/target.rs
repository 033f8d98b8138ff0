//! Which machine code is made for.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Names of this machine in target triples.
const OURS: &[&str] = if cfg!(target_arch = "x86_64") {
    &["x86_64", "amd64"]
} else if cfg!(target_arch = "aarch64") {
    &["aarch64", "arm64"]
} else if cfg!(target_arch = "powerpc64") {
    &["powerpc64le", "ppc64le"]
} else if cfg!(target_arch = "riscv64") {
    &["riscv64", "riscv64gc"]
} else {
    &[]
};

/// What linkers call the format of our programs.
const EMULATION: &str = if cfg!(target_arch = "x86_64") {
    "elf_x86_64"
} else if cfg!(target_arch = "aarch64") {
    "aarch64linux"
} else if cfg!(target_arch = "powerpc64") {
    "elf64lppc"
} else if cfg!(target_arch = "riscv64") {
    "elf64lriscv"
} else {
    ""
};

/// Machines that cross compilers are named after.
const MACHINES: &[&str] = &[
    "aarch64",
    "alpha",
    "arm",
    "armv7l",
    "avr",
    "hppa",
    "i386",
    "i486",
    "i586",
    "i686",
    "loongarch64",
    "m68k",
    "mips",
    "mips64",
    "mips64el",
    "mipsel",
    "powerpc",
    "powerpc64",
    "powerpc64le",
    "riscv32",
    "riscv64",
    "s390x",
    "sh4",
    "sparc64",
    "x86_64",
];

/// Whether programs of this triple run where the module does.
pub fn is_ours(triple: &OsStr) -> bool {
    let Some(triple) = triple.to_str() else { return false };
    let machine = triple.split('-').next().unwrap_or_default();
    OURS.contains(&machine)
        && triple.contains("linux")
        && !triple.contains("android")
        && !triple.ends_with("x32")
}

/// Whether a linker makes programs for this machine, as its option `-m` says.
pub fn is_our_emulation(name: &OsStr) -> bool {
    name == EMULATION
}

/// The target of a cross compiler for another machine, told by its name, such as
/// `aarch64-linux-gnu-gcc`.
pub fn foreign_compiler(command: &OsStr) -> Option<OsString> {
    command.as_bytes().split(u8::is_ascii_whitespace).find_map(|word| {
        let name = Path::new(OsStr::from_bytes(word)).file_name()?.to_str()?;
        let (triple, _) = name.rsplit_once('-')?;
        let machine = triple.split('-').next()?;
        let cross = MACHINES.contains(&machine) && !is_ours(OsStr::new(triple));
        cross.then(|| OsString::from(triple))
    })
}
