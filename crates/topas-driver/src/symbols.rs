//! Which functions an object calls: its undefined symbols.
//!
//! Only what fits into a fraction of a millisecond is looked at. What is missed here, the
//! module finds when the program starts, and opens no counter then.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::fs::FileExt;

use goblin::elf64::header::{ELFCLASS64, ELFMAG, Header, SIZEOF_EHDR};
use goblin::elf64::section_header::{SHN_UNDEF, SHT_SYMTAB, SIZEOF_SHDR, SectionHeader};
use goblin::elf64::sym::Sym;

use crate::elf_records::{name, records};

/// How many objects of a command are looked at.
const MAX_OBJECTS: usize = 64;
/// How many bytes of their tables.
const MAX_BYTES: u64 = 1 << 20;

/// The first object that calls a function of which `wanted` is true, and that function.
pub fn caller<'a>(
    objects: &'a [OsString],
    wanted: &dyn Fn(&[u8]) -> bool,
) -> Option<(&'a OsStr, String)> {
    let mut budget = MAX_BYTES;
    objects.iter().take(MAX_OBJECTS).find_map(|object| {
        let name = undefined(object, wanted, &mut budget)?;
        Some((object.as_os_str(), String::from_utf8_lossy(&name).into_owned()))
    })
}

fn undefined(object: &OsStr, wanted: &dyn Fn(&[u8]) -> bool, budget: &mut u64) -> Option<Vec<u8>> {
    // A pipe must not be opened.
    if !std::fs::metadata(object).ok()?.is_file() {
        return None;
    }
    let file = File::open(object).ok()?;
    let mut read = |at: u64, length: u64| -> Option<Vec<u8>> {
        *budget = budget.checked_sub(length)?;
        let mut bytes = vec![0; length as usize];
        file.read_exact_at(&mut bytes, at).ok()?;
        Some(bytes)
    };
    let header = read(0, SIZEOF_EHDR as u64)?;
    // 64 bits, as this program is; what another byte order looks like makes no sense below.
    if header.strip_prefix(ELFMAG)?.first() != Some(&ELFCLASS64) {
        return None;
    }
    let header: Header = records(&header).next()?;
    let sections = read(header.e_shoff, u64::from(header.e_shnum) * SIZEOF_SHDR as u64)?;
    let all: Vec<SectionHeader> = records(&sections).collect();
    let table = all.iter().find(|section| section.sh_type == SHT_SYMTAB)?;
    let strings = all.get(table.sh_link as usize)?;
    let symbols = read(table.sh_offset, table.sh_size)?;
    let strings = read(strings.sh_offset, strings.sh_size)?;
    records::<Sym>(&symbols).find_map(|symbol| {
        let name = name(&strings, symbol.st_name as usize)?;
        (u32::from(symbol.st_shndx) == SHN_UNDEF && wanted(name)).then(|| name.to_vec())
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    #[test]
    fn a_call_is_seen_and_a_definition_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let object = |name: &str, source: &str| {
            let (c, o) = (dir.path().join(format!("{name}.c")), dir.path().join(name));
            fs::write(&c, source).unwrap();
            let status = Command::new("cc").arg("-c").arg(&c).arg("-o").arg(&o).status().unwrap();
            assert!(status.success());
            o.into_os_string()
        };
        let wanted = |name: &[u8]| name == b"PAPI_library_init";
        let calls = object(
            "calls.o",
            "int PAPI_library_init(int); int f(void) { return PAPI_library_init(1); }",
        );
        let defines = object("defines.o", "int PAPI_library_init(int v) { return v; }");
        let names = object("names.o", "const char *s = \"PAPI_library_init\";");
        let cut = dir.path().join("cut.o").into_os_string();
        let whole = fs::read(&calls).unwrap();
        for length in 0..whole.len() {
            fs::write(&cut, &whole[..length]).unwrap();
            assert_eq!(caller(std::slice::from_ref(&cut), &wanted), None, "{length}");
        }
        let objects = [defines, names, cut, "/dev/zero".into(), "missing".into()];
        assert_eq!(caller(&objects, &wanted), None);
        let objects = [&objects[..], std::slice::from_ref(&calls)].concat();
        let found = caller(&objects, &wanted).unwrap();
        assert_eq!(found, (calls.as_os_str(), "PAPI_library_init".to_owned()));
    }
}
