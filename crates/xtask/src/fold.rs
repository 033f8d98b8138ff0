//! Resolves the relocations that do not depend on the final link.
//!
//! After the partial link code and constants are one section, and calls from one place
//! of it to another are distances that no linker will change. `ld -r` keeps a relocation
//! of 24 bytes for each of them all the same: half of the object. Here they are computed
//! (S + A - P, System V ABI AMD64 table 4.9) and dropped. On other processors, where
//! distances are split over instructions, the object stays as it is.

use anyhow::{Context, Result, bail};
use goblin::elf::{Elf, header, reloc, section_header, sym};

/// Returns the object with the relocations of `.text` against itself resolved.
pub fn fold(mut bytes: Vec<u8>) -> Result<Vec<u8>> {
    let elf = Elf::parse(&bytes).context("the merged object is not ELF")?;
    if elf.header.e_machine != header::EM_X86_64 {
        return Ok(bytes);
    }
    let index = |name: &str| {
        elf.section_headers.iter().position(|s| elf.shdr_strtab.get_at(s.sh_name) == Some(name))
    };
    let text = index(".text").context("no .text section")?;
    let rela = index(".rela.text").context("no .rela.text section")?;
    let text_at = elf.section_headers[text].sh_offset as usize;
    let section = &elf.section_headers[rela];
    if section.sh_type != section_header::SHT_RELA {
        bail!(".rela.text holds no RELA entries");
    }
    let rela_at = section.sh_offset as usize;
    let header_at = elf.header.e_shoff as usize + rela * usize::from(elf.header.e_shentsize);

    let mut kept = Vec::new();
    let mut patches = Vec::new();
    let relocations = elf.shdr_relocs.iter().find(|(i, _)| *i == rela).context("no relocations")?;
    for (i, r) in relocations.1.iter().enumerate() {
        let symbol = elf.syms.get(r.r_sym).context("relocation without a symbol")?;
        let local = symbol.st_shndx == text && symbol.st_bind() == sym::STB_LOCAL;
        if local && matches!(r.r_type, reloc::R_X86_64_PC32 | reloc::R_X86_64_PLT32) {
            let distance = symbol.st_value as i64 + r.r_addend.unwrap_or(0) - r.r_offset as i64;
            let distance = i32::try_from(distance).context("distance beyond 31 bits")?;
            patches.push((text_at + r.r_offset as usize, distance.to_le_bytes()));
        } else {
            let entry = rela_at + 24 * i;
            kept.extend_from_slice(&bytes[entry..entry + 24]);
        }
    }
    for (at, distance) in patches {
        bytes[at..at + 4].copy_from_slice(&distance);
    }
    bytes[rela_at..rela_at + kept.len()].copy_from_slice(&kept);
    // sh_size, the fifth field of an Elf64_Shdr.
    bytes[header_at + 32..header_at + 40].copy_from_slice(&(kept.len() as u64).to_le_bytes());
    Ok(bytes)
}
