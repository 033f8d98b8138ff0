//! Size of the module's files, and what it adds to a C program.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, anyhow};

use super::{Bench, Linked};
use crate::process::output;
use crate::symcheck::MAX_SIZE;

/// Tables of both.
pub fn size(bench: &Bench) -> Result<String> {
    let mut text =
        String::from("## Size of the module\n\n| object | B | goal |\n| --- | --- | --- |\n");
    for language in ["c", "f90"] {
        let size = fs::metadata(bench.paths.module(language))?.len();
        writeln!(text, "| topas.{language}.o | {size} | {MAX_SIZE} |")?;
    }
    text.push_str(
        "\nWhat it adds to an empty C program, by `size`, in bytes (bss takes no room in the \
         file):\n\n\
         | link | text | data | bss | file | sections that differ, by `size -A` |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    let dir = bench.sub("size")?;
    for (name, options) in [("dynamic", &[][..]), ("static", &["-static"])] {
        let program = |linked: Linked| {
            let exe = dir.join(format!("{name}-{linked:?}"));
            bench.compile(&exe, &[options, &["empty.c"]].concat(), linked)?;
            Sizes::of(&exe)
        };
        let (bare, linked) = (program(Linked::Bare)?, program(Linked::Module)?);
        let [code, data, bss] = std::array::from_fn(|at| linked.kinds[at] - bare.kinds[at]);
        let file = linked.file - bare.file;
        let sections = linked.differences(&bare);
        writeln!(text, "| {name} | {code:+} | {data:+} | {bss:+} | {file:+} | {sections} |")?;
    }
    Ok(text)
}

/// Sizes of an executable, in bytes.
struct Sizes {
    /// Text with constants, data, bss
    kinds: [i64; 3],
    file: i64,
    sections: BTreeMap<String, i64>,
}

impl Sizes {
    fn of(exe: &Path) -> Result<Sizes> {
        let report = |form: &str| output(Command::new("size").arg(form).arg(exe));
        let number = |word: &str| {
            word.parse::<i64>()
                .with_context(|| format!("not a number in the output of size: {word}"))
        };
        let short = report("-B")?;
        let numbers = short.lines().nth(1).unwrap_or_default().split_whitespace().take(3);
        let numbers = numbers.map(number).collect::<Result<Vec<_>>>()?;
        let kinds = numbers.try_into().map_err(|_| anyhow!("size says: {short}"))?;
        let mut sections = BTreeMap::new();
        for line in report("-A")?.lines().filter(|line| line.starts_with('.')) {
            let mut words = line.split_whitespace();
            if let (Some(name), Some(size)) = (words.next(), words.next()) {
                sections.insert(name.to_owned(), number(size)?);
            }
        }
        Ok(Sizes { kinds, file: fs::metadata(exe)?.len() as i64, sections })
    }

    /// `.text +10, .bss +20`: against another.
    fn differences(&self, other: &Sizes) -> String {
        let names: BTreeSet<_> = self.sections.keys().chain(other.sections.keys()).collect();
        let size = |sizes: &Sizes, name: &str| sizes.sections.get(name).copied().unwrap_or(0);
        let differences =
            names.into_iter().map(|name| (name, size(self, name) - size(other, name)));
        let shown = differences.filter(|(_, more)| *more != 0);
        shown.map(|(name, more)| format!("{name} {more:+}")).collect::<Vec<_>>().join(", ")
    }
}
