//! Writes an object closer than binutils does: one table of strings in place of two, and
//! sections in an order that leaves no gaps between them.

use anyhow::{Context, Result};
use goblin::elf::{Elf, section_header};

/// Bytes of the ELF header, of a section's header and of a symbol (64 bit).
const HEADER: usize = 64;
const SECTION: usize = 64;
const SYMBOL: usize = 24;

/// Returns the object with the names of its sections in the table of its symbols' names. It
/// stays as it is where their own table is not the last section.
pub fn pack(bytes: Vec<u8>) -> Result<Vec<u8>> {
    let elf = Elf::parse(&bytes).context("the finished object is not ELF")?;
    let sections = &elf.section_headers;
    let kept = usize::from(elf.header.e_shstrndx);
    let symbols = sections.iter().position(|s| s.sh_type == section_header::SHT_SYMTAB);
    let Some(symbols) = symbols else {
        return Ok(bytes);
    };
    let strings = sections[symbols].sh_link as usize;
    if kept + 1 != sections.len() || kept == strings {
        return Ok(bytes);
    }
    let name = |at: usize| elf.shdr_strtab.get_at(sections[at].sh_name).unwrap_or_default();

    let table = Strings::new(
        (0..kept).map(name).chain(elf.syms.iter().filter_map(|s| elf.strtab.get_at(s.st_name))),
    );
    let mut contents: Vec<Vec<u8>> = sections[..kept]
        .iter()
        .map(|s| s.file_range().map_or_else(Vec::new, |range| bytes[range].to_vec()))
        .collect();
    for (symbol, entry) in elf.syms.iter().zip(contents[symbols].chunks_exact_mut(SYMBOL)) {
        let name = elf.strtab.get_at(symbol.st_name).unwrap_or_default();
        entry[..4].copy_from_slice(&table.place(name).to_le_bytes());
    }
    contents[strings] = table.text.clone();

    // Those with the widest alignment first.
    let mut order: Vec<usize> = (0..kept).filter(|at| !contents[*at].is_empty()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(sections[*at].sh_addralign));
    let mut packed = bytes[..HEADER].to_vec();
    let mut offsets = vec![HEADER; kept];
    for at in order {
        align(&mut packed, sections[at].sh_addralign as usize);
        offsets[at] = packed.len();
        packed.extend_from_slice(&contents[at]);
    }
    align(&mut packed, 8);
    // e_shoff, e_shnum, e_shstrndx
    let headers = packed.len() as u64;
    packed[40..48].copy_from_slice(&headers.to_le_bytes());
    packed[60..62].copy_from_slice(&(kept as u16).to_le_bytes());
    packed[62..64].copy_from_slice(&(strings as u16).to_le_bytes());
    for at in 0..kept {
        let begin = elf.header.e_shoff as usize + at * SECTION;
        let mut header = bytes[begin..begin + SECTION].to_vec();
        header[..4].copy_from_slice(&table.place(name(at)).to_le_bytes());
        if at > 0 {
            header[24..32].copy_from_slice(&(offsets[at] as u64).to_le_bytes());
        }
        if at == strings {
            header[32..40].copy_from_slice(&(contents[at].len() as u64).to_le_bytes());
        }
        packed.extend_from_slice(&header);
    }
    Ok(packed)
}

fn align(bytes: &mut Vec<u8>, to: usize) {
    bytes.resize(bytes.len().next_multiple_of(to.max(1)), 0);
}

/// A table of strings in which one that another ends with stands inside that.
struct Strings {
    text: Vec<u8>,
}

impl Strings {
    fn new<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let mut names: Vec<&str> = names.collect();
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        let mut strings = Strings { text: vec![0] };
        for name in names {
            if strings.find(name).is_none() {
                strings.text.extend_from_slice(name.as_bytes());
                strings.text.push(0);
            }
        }
        strings
    }

    fn find(&self, name: &str) -> Option<usize> {
        let wanted = [name.as_bytes(), &[0]].concat();
        self.text.windows(wanted.len()).position(|window| window == wanted)
    }

    /// Where a name stands; 0, which is the empty one, for one that is not there.
    fn place(&self, name: &str) -> u32 {
        self.find(name).unwrap_or(0) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// The linker is the judge: the same program comes out of it.
    #[test]
    fn a_packed_object_links_to_the_same_program() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let source = "int two(void); int zero; int seven = 7;\n\
                      int main(void) { return two() + zero + seven - 9; }\n";
        std::fs::write(path("a.c"), source).unwrap();
        std::fs::write(path("b.c"), "static int n = 2;\nint two(void) { return n; }\n").unwrap();
        let run = |args: &[&str]| {
            let status = Command::new(args[0]).args(&args[1..]).current_dir(dir.path()).status();
            assert!(status.unwrap().success(), "{args:?}");
        };
        run(&["cc", "-c", "a.c", "b.c"]);
        let before = std::fs::read(path("a.o")).unwrap();
        let packed = pack(before.clone()).unwrap();
        assert!(packed.len() + SECTION <= before.len(), "{} {}", packed.len(), before.len());
        run(&["cc", "-Wl,--build-id=none", "-o", "plain", "a.o", "b.o"]);
        std::fs::write(path("a.o"), &packed).unwrap();
        run(&["cc", "-Wl,--build-id=none", "-o", "packed", "a.o", "b.o"]);
        run(&["./packed"]);
        assert_eq!(std::fs::read(path("plain")).unwrap(), std::fs::read(path("packed")).unwrap());
        assert_eq!(pack(packed.clone()).unwrap(), packed);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        assert!(pack(b"not ELF at all".to_vec()).is_err());
    }
}
