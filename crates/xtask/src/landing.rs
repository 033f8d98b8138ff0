//! Proves that every function that may be called by its address begins with a landing pad.
//!
//! Before relocations are folded each place that forms an address has one: a code address comes
//! from nowhere else. So all of them but calls and jumps must lead to a landing pad, and tables of
//! jumps, which would lead into the middle of functions, are found, too.

use anyhow::{Context, Result, bail};
use goblin::elf::{Elf, Reloc, header, reloc, sym};

/// Reached by the return of a signal handler, which is no indirect jump.
const RETURNED_TO: &str = "topas_signal_return";

/// `endbr64`
const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
/// `bti c`
const BTI_C: [u8; 4] = [0x5f, 0x24, 0x03, 0xd5];

/// Relocations that are addresses, not distances; on AArch64 those of the second instruction of a
/// pair, too.
const ABSOLUTE: [u32; 3] =
    [reloc::R_X86_64_64, reloc::R_AARCH64_ABS64, reloc::R_AARCH64_ADD_ABS_LO12_NC];

/// Bytes of a relocation, and where its type is.
const RELA: usize = 24;
const TYPE: usize = 8;

/// The landing pad of a processor.
pub fn pad(machine: u16) -> [u8; 4] {
    if machine == header::EM_AARCH64 { BTI_C } else { ENDBR64 }
}

/// Calls of functions in the object itself that go through a table of addresses, as they were
/// compiled before it was known where the functions are: lets the linker make direct ones of them
/// (`R_X86_64_GOTPCRELX`).
pub fn call_directly(mut object: Vec<u8>) -> Result<Vec<u8>> {
    let elf = Elf::parse(&object).context("the merged object is not ELF")?;
    let mut places = Vec::new();
    for (at, relocations) in &elf.shdr_relocs {
        let entries = &elf.section_headers[*at];
        let section = &elf.section_headers[entries.sh_info as usize];
        let bytes = &object[section.file_range().unwrap_or_default()];
        for (entry, found) in relocations.iter().enumerate() {
            let defined = elf.syms.get(found.r_sym).is_some_and(|symbol| symbol.st_shndx != 0);
            let before = bytes.get((found.r_offset as usize).wrapping_sub(2)..);
            let calls = before.is_some_and(|code| matches!(code, [0xff, 0x15 | 0x25, ..]));
            if defined && calls && found.r_type == reloc::R_X86_64_GOTPCREL {
                places.push(entries.sh_offset as usize + entry * RELA + TYPE);
            }
        }
    }
    for place in places {
        object[place..place + 4].copy_from_slice(&reloc::R_X86_64_GOTPCRELX.to_le_bytes());
    }
    Ok(object)
}

/// Fails if a function of the object whose address is taken has no landing pad.
pub fn check(object: &[u8]) -> Result<()> {
    let elf = Elf::parse(object).context("the merged object is not ELF")?;
    let machine = elf.header.e_machine;
    let name = |at: usize| elf.strtab.get_at(at).unwrap_or_default();
    let functions: Vec<_> = elf.syms.iter().filter(|symbol| symbol.is_function()).collect();
    let function = |section: usize, offset: u64| {
        functions.iter().find(|function| {
            function.st_shndx == section
                && (function.st_value..function.st_value + function.st_size).contains(&offset)
        })
    };
    for (at, relocations) in &elf.shdr_relocs {
        let place = elf.section_headers[*at].sh_info as usize;
        // How to unwind is no way to get anywhere.
        if elf.shdr_strtab.get_at(elf.section_headers[place].sh_name) == Some(".eh_frame") {
            continue;
        }
        let bytes = &object[elf.section_headers[place].file_range().unwrap_or_default()];
        for found in relocations.iter().filter(|found| !is_branch(machine, found, bytes)) {
            let symbol = elf.syms.get(found.r_sym).context("relocation without a symbol")?;
            if symbol.st_shndx == 0 || name(symbol.st_name) == RETURNED_TO {
                continue;
            }
            let in_code = function(place, found.r_offset).is_some();
            let relative = !ABSOLUTE.contains(&found.r_type);
            // On x86-64 the distances of instructions count from behind themselves.
            let behind = if in_code && relative && machine == header::EM_X86_64 { 4 } else { 0 };
            let addend = found.r_addend.unwrap_or(0) + behind;
            let target = symbol.st_value.wrapping_add_signed(addend);
            let Some(function) = function(symbol.st_shndx, target) else { continue };
            let (from, to) = (found.r_offset, name(function.st_name));
            if !in_code && relative {
                bail!("at {from:#x} there is a table of jumps, of {to}");
            }
            let code =
                &object[elf.section_headers[symbol.st_shndx].file_range().unwrap_or_default()];
            if code.get(target as usize..).is_none_or(|code| !code.starts_with(&pad(machine))) {
                bail!("the address taken at {from:#x}, of {to}, has no landing pad");
            }
        }
    }
    if machine == header::EM_AARCH64 {
        no_jumps_by_register(&elf, object)?;
    }
    Ok(())
}

/// Whether a relocation is that of a call or jump.
fn is_branch(machine: u16, found: &Reloc, bytes: &[u8]) -> bool {
    if machine == header::EM_AARCH64 {
        return matches!(
            found.r_type,
            reloc::R_AARCH64_CALL26 | reloc::R_AARCH64_JUMP26 | reloc::R_AARCH64_ADR_PREL_PG_HI21
        );
    }
    // call, jmp; and conditional jumps.
    let before = |distance| bytes.get((found.r_offset as usize).wrapping_sub(distance)).copied();
    found.r_type == reloc::R_X86_64_PLT32
        || found.r_type == reloc::R_X86_64_GOTPCRELX && before(2) == Some(0xff)
        || matches!(before(1), Some(0xe8 | 0xe9))
        || before(2) == Some(0x0f) && before(1).is_some_and(|code| code & 0xf0 == 0x80)
}

/// There the offsets of a table of jumps need no relocation; but the jumps are seen, because all
/// instructions have four bytes.
fn no_jumps_by_register(elf: &Elf<'_>, object: &[u8]) -> Result<()> {
    for function in elf.syms.iter().filter(|symbol| symbol.st_type() == sym::STT_FUNC) {
        let section = elf.section_headers.get(function.st_shndx);
        let Some(code) = section.and_then(|section| section.file_range()) else { continue };
        let code = object[code].get(function.st_value as usize..).unwrap_or_default();
        let code = &code[..code.len().min(function.st_size as usize)];
        // br
        let jumps = code.chunks_exact(4).any(|instruction| {
            let word = u32::from_le_bytes(std::array::from_fn(|i| instruction[i]));
            word & 0xffff_fc1f == 0xd61f_0000
        });
        if jumps {
            bail!("{} jumps by a register", elf.strtab.get_at(function.st_name).unwrap_or("?"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn checked(code: &str) -> Result<()> {
        let dir = tempfile::tempdir().unwrap();
        let (source, object) = (dir.path().join("a.s"), dir.path().join("a.o"));
        // A section for each function, as compilers do.
        let source_text = format!(
            ".section .text.with,\"ax\"\n.type with,@function\nwith: endbr64\nret\n.size with,.-with\n\
             .section .text.bare,\"ax\"\n.type bare,@function\nbare: nop\nret\n.size bare,.-bare\n\
             .section .text.run,\"ax\"\n.type run,@function\nrun: {code}\n.size run,64\n"
        );
        std::fs::write(&source, source_text).unwrap();
        let status =
            Command::new("cc").args(["-c", "-o"]).args([&object, &source]).status().unwrap();
        assert!(status.success());
        check(&std::fs::read(object).unwrap())
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn only_addresses_without_a_landing_pad_are_refused() {
        for fit in [
            "lea with(%rip), %rdi",
            "call bare",
            "jmp bare",
            "je bare",
            "nop\n.section .init_array,\"aw\"\n.quad with",
            "mov with@GOTPCREL(%rip), %rax",
            "nop\n.section .text.b,\"ax\"\ntopas_signal_return: ret\n.section .text.run\nlea topas_signal_return(%rip), %rdi",
        ] {
            checked(fit).unwrap();
        }
        for unfit in [
            "lea bare(%rip), %rdi",
            "nop\n.section .init_array,\"aw\"\n.quad bare",
            "nop\n.section .init_array,\"aw\"\n.quad with+4",
            "mov bare@GOTPCREL(%rip), %rax",
            "nop\n.section .rodata\ntable: .long bare-table",
        ] {
            let error = checked(unfit).unwrap_err().to_string();
            assert!(error.ends_with(", of bare") || error.contains("no landing pad"), "{error}");
        }
    }
}
