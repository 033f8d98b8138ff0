//! Comparing what the real driver and ours say.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What may differ in texts.
pub struct ComparedTexts {
    /// The directory of temporary files, whose names differ from call to call.
    pub temporary: OsString,
    /// The modules.
    pub modules: Vec<PathBuf>,
}

impl ComparedTexts {
    /// The first difference between a text of the real driver and ours, in words.
    pub fn difference(&self, real: &[u8], ours: &[u8]) -> Option<String> {
        let real = self.masked(real);
        let ours = self.masked(ours);
        if real.contains("\nLinker script and memory map\n") {
            return self.map_difference(&real, &ours);
        }
        let ours = self.without_module(ours);
        (real != ours).then(|| first_difference(real.as_bytes(), ours.as_bytes()))
    }

    /// Temporary names become `TEMPORARY`.
    fn masked(&self, text: &[u8]) -> String {
        let text = String::from_utf8_lossy(text);
        let begin = format!("{}/", self.temporary.to_string_lossy());
        let mut parts = text.split(&begin);
        let mut masked = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part.find(|c: char| c.is_whitespace() || "'\":;,)".contains(c));
            masked.push_str("TEMPORARY");
            masked.push_str(&part[end.unwrap_or(part.len())..]);
        }
        masked
    }

    /// The words that link the module are left out, as commands and linkers show them.
    fn without_module(&self, mut text: String) -> String {
        for module in &self.modules {
            let object = String::from_utf8_lossy(module.as_os_str().as_bytes()).into_owned();
            for shown in [
                format!("attempt to open {object} succeeded\n"),
                format!(" \"{object}\""),
                format!(" '-Wl,{object}'"),
                format!(" -Wl,{object}"),
                format!(" {object}"),
                format!("{object}\n"),
            ] {
                text = text.replace(&shown, "");
            }
        }
        text
    }

    /// Link maps are the same line for line but for addresses and sizes; lines that only
    /// ours has speak of the module.
    fn map_difference(&self, real: &str, ours: &str) -> Option<String> {
        let mut balance: BTreeMap<String, i64> = BTreeMap::new();
        for line in map_lines(ours) {
            *balance.entry(line).or_default() += 1;
        }
        for line in map_lines(real) {
            *balance.entry(line).or_default() -= 1;
        }
        let modules: Vec<_> = self.modules.iter().map(|m| m.display().to_string()).collect();
        // Our section, and relocations, which are listed under the first input.
        let of_module = |line: &str| {
            [".topas ", ".rela.preinit_array "].iter().any(|own| line.starts_with(own))
                || modules.iter().any(|module| line.contains(module))
        };
        let mut seen = false;
        for (line, count) in balance {
            match count {
                0 => {}
                1.. if of_module(&line) => seen = true,
                _ => return Some(format!("as a map differs by {count:+} of the line\n    {line}")),
            }
        }
        (!seen).then(|| "as a map does not name the module".to_owned())
    }
}

/// The lines of a map of GNU ld: numbers masked, blanks joined, a long name and what follows
/// on the next line together.
fn map_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let words: Vec<_> = line
            .split_whitespace()
            .map(|word| if word.starts_with("0x") { "0x#" } else { word })
            .collect();
        // Gaps come and go with the sizes of their neighbours, and which file was the first to
        // need libc says nothing.
        if words.is_empty() || ["*fill*", "libc.so.6"].contains(&words[0]) {
            continue;
        }
        let joined = words.join(" ");
        match lines.last_mut() {
            Some(last) if open && line.starts_with("                ") => {
                last.push(' ');
                last.push_str(&joined);
            }
            _ => lines.push(joined),
        }
        open = line.starts_with([' ', '.']) && words.len() == 1 && words[0].starts_with('.');
    }
    lines
}

/// What is wrong with our answer to a question: it is the real one, and names the module once.
pub fn answer_fault(real: &[u8], ours: &[u8], module: &Path) -> Option<String> {
    let [real, ours] = [real, ours].map(|text| String::from_utf8_lossy(text).into_owned());
    let module = format!("-Wl,{}", module.display());
    let kept: Vec<_> = ours.split_whitespace().filter(|word| **word != *module).collect();
    let fits = kept.iter().copied().eq(real.split_whitespace())
        && ours.split_whitespace().count() == kept.len() + 1;
    (!fits).then(|| format!("answers {ours}    in place of {real}    with {module}"))
}

/// Where two texts differ, with what stands there.
pub fn first_difference(real: &[u8], ours: &[u8]) -> String {
    let at = real.iter().zip(ours).position(|(a, b)| a != b).unwrap_or(real.len().min(ours.len()));
    let shown = |text: &[u8]| {
        let begin = at.saturating_sub(60);
        String::from_utf8_lossy(&text[begin..text.len().min(at + 120)]).into_owned()
    };
    format!(
        "differs from byte {at} of {} and {}:\n    real: {}\n    ours: {}",
        real.len(),
        ours.len(),
        shown(real),
        shown(ours)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts() -> ComparedTexts {
        ComparedTexts { temporary: "/t".into(), modules: vec!["/p/topas.c.o".into()] }
    }

    #[test]
    fn only_the_module_and_temporary_names_may_differ() {
        let texts = texts();
        for (real, ours, same) in [
            ("a /t/cc1.o b", "a /t/cc2.o b", true),
            ("a /t/cc1.o b", "a /t/cc2.o c", false),
            ("ld a.o", "ld a.o /p/topas.c.o", true),
            ("ld a.o", "ld a.o -Wl,/p/topas.c.o", true),
            ("ld a.o", "ld a.o /p/other.o", false),
            ("a.o\n", "a.o\n/p/topas.c.o\n", true),
        ] {
            let difference = texts.difference(real.as_bytes(), ours.as_bytes());
            assert_eq!(difference.is_none(), same, "{real} / {ours}: {difference:?}");
        }
    }

    #[test]
    fn an_answer_names_the_module_once() {
        let fault = |ours: &str| answer_fault(b"gcc -lmpi\n", ours.as_bytes(), Path::new("/m.o"));
        assert_eq!(fault("gcc -Wl,/m.o  -lmpi\n"), None);
        for wrong in ["gcc -lmpi\n", "gcc -Wl,/m.o\n", "gcc -Wl,/m.o -lmpi -Wl,/m.o\n"] {
            assert!(fault(wrong).is_some(), "{wrong}");
        }
    }

    #[test]
    fn a_map_may_have_more_of_the_module_only() {
        let texts = texts();
        let real = "x\n\nLinker script and memory map\n\nLOAD a.o\n .text  0x1 0x2 a.o\n";
        let with = |more: &str| format!("{real}{more}");
        assert_eq!(texts.difference(real.as_bytes(), with("LOAD /p/topas.c.o\n").as_bytes()), None);
        let long = " .preinit_array\n                0x7 0x8 /p/topas.c.o\n";
        assert_eq!(texts.difference(real.as_bytes(), with(long).as_bytes()), None);
        for wrong in ["", "LOAD b.o\n", "LOAD /p/topas.c.o\nLOAD a.o\n"] {
            assert!(texts.difference(real.as_bytes(), with(wrong).as_bytes()).is_some(), "{wrong}");
        }
    }
}
