//! Records of ELF files of this machine, read by the types of `goblin` wherever they stand: the
//! memory that a part of a file was read into need not be aligned.

use goblin::elf64::header::{EM_AARCH64, EM_PPC64, EM_RISCV, EM_X86_64};
use scroll::ctx::TryFromCtx;
use scroll::{Endian, NATIVE, Pread};

/// `e_machine` of this machine; none that exists where it is not known.
pub const MACHINE: Option<u16> = if cfg!(target_arch = "x86_64") {
    Some(EM_X86_64)
} else if cfg!(target_arch = "aarch64") {
    Some(EM_AARCH64)
} else if cfg!(target_arch = "powerpc64") {
    Some(EM_PPC64)
} else if cfg!(target_arch = "riscv64") {
    Some(EM_RISCV)
} else {
    None
};

/// The records of a table; bytes behind the last whole one do not count.
pub fn records<'t, R>(table: &'t [u8]) -> impl Iterator<Item = R>
where
    R: TryFromCtx<'t, Endian> + 't,
    R::Error: From<scroll::Error>,
{
    let whole = table.chunks_exact(size_of::<R>());
    whole.filter_map(|record| record.pread_with(0, NATIVE).ok())
}

/// The name at a place of a table of strings, without its NUL.
pub fn name(strings: &[u8], at: usize) -> Option<&[u8]> {
    strings.get(at..)?.split(|byte| *byte == 0).next()
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use super::*;
    use goblin::elf64::sym::Sym;

    #[test]
    fn a_table_may_stand_anywhere() {
        let mut bytes = [0; 1 + 2 * 24 + 5];
        bytes[1..5].copy_from_slice(&7u32.to_ne_bytes());
        bytes[25..29].copy_from_slice(&9u32.to_ne_bytes());
        let names: Vec<u32> = records::<Sym>(&bytes[1..]).map(|symbol| symbol.st_name).collect();
        assert_eq!(names, [7, 9]);
        assert_eq!(records::<Sym>(&bytes[..20]).count(), 0);
        assert_eq!((name(b"\0a\0b", 1), name(b"\0a\0b", 3)), (Some(&b"a"[..]), Some(&b"b"[..])));
        assert_eq!(name(b"", 1), None);
    }
}
