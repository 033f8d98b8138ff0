//! Compilers by family and major version, from what they leave in an executable.

use std::borrow::Cow;

use topas_format::line::Extras;

use super::Value;
use super::value::of_name;

/// A word by which a family is known, and its name. The first that is found counts: the
/// start files of libc say `GCC` in every program, and most others are made of clang.
const FAMILIES: &[(&str, &str)] = &[
    ("rustc", "rustc"),
    ("Intel", "icx"),
    ("oneAPI", "icx"),
    ("AOCC", "aocc"),
    ("Cray", "cce"),
    ("NVC++", "nvhpc"),
    ("NVC", "nvhpc"),
    ("nvc", "nvhpc"),
    ("NVFORTRAN", "nvhpc"),
    ("NVIDIA", "nvhpc"),
    ("PGI", "pgi"),
    ("Arm C", "armclang"),
    ("Fujitsu", "fcc"),
    ("NAG", "nag"),
    ("flang", "flang"),
    ("clang", "clang"),
    ("GCC:", "gcc"),
    ("GNU", "gcc"),
    ("icx", "icx"),
    ("ifx", "icx"),
    ("gcc", "gcc"),
];

/// What the line says, blanks restored.
fn told(extras: Extras<'_>) -> Option<String> {
    match of_name(extras.name(b"cc")?) {
        Value::Text(text) => Some(String::from_utf8_lossy(&text).replace('_', " ")),
        _ => None,
    }
}

/// Family, and what stands from its word on.
fn parts(text: &str) -> Option<(&'static str, &str)> {
    FAMILIES.iter().find_map(|(word, family)| Some((*family, &text[text.find(word)?..])))
}

/// The digits before the first point of a version; a number if nothing has a point. gcc
/// names the distribution and its version in parentheses first.
fn major(text: &str) -> Option<&str> {
    let text = match (text.starts_with("GCC:"), text.find(") ")) {
        (true, Some(end)) => &text[end + 2..],
        _ => text,
    };
    let words = || text.split(|c: char| !c.is_ascii_digit() && c != '.');
    let mut pointed = words().filter_map(|word| word.split_once('.')).map(|(major, _)| major);
    let mut numbers = words().filter(|word| !word.contains('.'));
    pointed.find(|major| !major.is_empty()).or_else(|| numbers.find(|number| !number.is_empty()))
}

fn text<'a>(text: String) -> Value<'a> {
    Value::Text(Cow::Owned(text.into_bytes()))
}

/// Family and major version; the text as it stands if no family is known.
pub(super) fn version<'a>(extras: Extras<'_>) -> Value<'a> {
    let Some(told) = told(extras) else { return Value::Missing };
    text(match parts(&told) {
        Some((family, rest)) => match major(rest) {
            Some(major) => format!("{family} {major}"),
            None => family.to_owned(),
        },
        None => told,
    })
}

/// Family alone.
pub(super) fn family<'a>(extras: Extras<'_>) -> Value<'a> {
    let Some(told) = told(extras) else { return Value::Missing };
    text(parts(&told).map_or(told.clone(), |(family, _)| family.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cc: &str, read: for<'a> fn(Extras<'a>) -> Value<'static>) -> String {
        let line = format!("1999/05/04 12:00:00 u x 1 2 - B c - 0 0 1 f=- - 1 v=1 cc={cc}");
        let line = topas_testkit::with_lengths(&line);
        let (_, extras) = topas_format::line::Line::parse(line.as_bytes()).unwrap();
        match read(extras) {
            Value::Text(text) => String::from_utf8(text.into_owned()).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn texts_of_compilers() {
        for (cc, version_, family_) in [
            ("GCC:_(Debian_12.2.0-14+deb12u1)_12.2.0", "gcc 12", "gcc"),
            ("GCC:_(GNU)_8.5.0_20210514_(Red_Hat_8.5.0-22)", "gcc 8", "gcc"),
            ("Debian_clang_version_14.0.6", "clang 14", "clang"),
            ("GCC:_(Debian_12.2.0-14)_12.2.0;Debian_clang_version_16.0.6", "clang 16", "clang"),
            ("Intel(R)_oneAPI_DPC++/C++_Compiler_2024.0.2_(2024.0.2.20231213)", "icx 2024", "icx"),
            (
                "Cray_clang_version_15.0.1_(324a8e7de6a18594c06a0ee5d8c0eda2109c6ac6)",
                "cce 15",
                "cce",
            ),
            ("AMD_clang_version_16.0.3_(CLANG:_AOCC_4.1.0-Build#270)", "aocc 4", "aocc"),
            ("rustc_version_1.95.0_(abc_2026-01-01)", "rustc 1", "rustc"),
            ("flang_version_17.0.6", "flang 17", "flang"),
            ("GCC:_9", "gcc 9", "gcc"),
            ("clang_version_14", "clang 14", "clang"),
            ("tcc", "tcc", "tcc"),
        ] {
            assert_eq!(of(cc, version), version_, "{cc}");
            assert_eq!(of(cc, family), family_, "{cc}");
        }
        assert_eq!(version(Extras::default()), Value::Missing);
    }
}
