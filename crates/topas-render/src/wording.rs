//! Parts of sentences: counted nouns, lists of PEs, names, paragraphs.

use topas_data::pes::PeRange;
use topas_format::shown::replaced;

/// PEs, folded: `1-4, 6-8, 10`.
pub(crate) fn pes(ranges: &[PeRange]) -> String {
    let texts: Vec<String> = ranges.iter().map(range).collect();
    texts.join(", ")
}

fn range(range: &PeRange) -> String {
    if range.first == range.last {
        range.first.to_string()
    } else {
        format!("{}-{}", range.first, range.last)
    }
}

/// PEs, folded, at most `most` of the ranges; how many PEs are not named is said.
pub(crate) fn some_pes(ranges: &[PeRange], most: usize) -> String {
    if ranges.len() <= most {
        return pes(ranges);
    }
    let (named, others) = ranges.split_at(most);
    let count: u64 = others.iter().map(|range| range.count()).sum();
    format!("{} and {count} more", pes(named))
}

/// What begins a sentence or a title, with a capital letter.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// `1 PE`, `12 PEs`.
pub(crate) fn count(n: u64, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// `3 of 4 PEs`, or `4 PEs` of all.
pub(crate) fn count_of(n: u64, all: u64, one: &str) -> String {
    if n == all { count(n, one) } else { format!("{n} of {}", count(all, one)) }
}

/// `1 run`, `12 runs`.
pub(crate) fn runs(n: u64) -> String {
    count(n, "run")
}

/// Text of bytes that anybody may have written: what would act on a terminal becomes U+FFFD.
pub(crate) fn clean(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().map(replaced).collect()
}

/// The same, or `-` if empty.
pub(crate) fn named(bytes: &[u8]) -> String {
    if bytes.is_empty() { "-".to_owned() } else { clean(bytes) }
}

/// A program, and in brackets the scripts that it ran as an interpreter, if any are known.
pub(crate) fn with_scripts<'s>(exe: &[u8], scripts: impl IntoIterator<Item = &'s str>) -> String {
    programs(exe, &[], scripts)
}

/// The same of a launch in which further ranks run other programs.
pub(crate) fn programs<'s>(
    exe: &[u8],
    others: &[Box<[u8]>],
    scripts: impl IntoIterator<Item = &'s str>,
) -> String {
    /// So many are named.
    const NAMED: usize = 3;
    let mut scripts: Vec<String> =
        scripts.into_iter().take(NAMED + 1).map(|script| clean(script.as_bytes())).collect();
    if scripts.len() > NAMED {
        scripts[NAMED] = "...".to_owned();
    }
    let mut exes = vec![named(exe)];
    exes.extend(others.iter().map(|exe| named(exe)));
    if exes.len() > NAMED + 1 {
        let more = exes.split_off(NAMED).len();
        exes.push(format!("{more} more programs"));
    }
    let last = exes.pop().unwrap_or_default();
    let exes = match &exes[..] {
        [] => last,
        before => format!("{} and {last}", before.join(", ")),
    };
    match &scripts[..] {
        [] => exes,
        names => format!("{exes} ({})", names.join(", ")),
    }
}

/// Breaks a list at blanks behind commas into lines of `width`, further lines indented by
/// `indent`; the first has `indent` columns taken already.
pub(crate) fn wrapped(list: &str, indent: usize, width: usize) -> String {
    let room = width.saturating_sub(indent).max(20);
    let mut out = String::new();
    let mut line = 0;
    for (at, part) in list.split(", ").enumerate() {
        if at > 0 {
            if line + 2 + part.len() + 1 > room {
                out += ",\n";
                out += &" ".repeat(indent);
                line = 0;
            } else {
                out += ", ";
                line += 2;
            }
        }
        out += part;
        line += part.len();
    }
    out
}

/// Columns of text where nobody tells how many there are.
pub(crate) const TEXT_WIDTH: usize = 80;

/// Widest text of sentences, whatever the terminal: longer lines are hard to read.
pub const PROSE_WIDTH: usize = 100;

/// Breaks sentences at blanks into lines of `width`, but not less than 20.
pub(crate) fn paragraph(text: &str, width: usize) -> String {
    hanging(text, width, 0)
}

/// A [`paragraph`] whose further lines begin with `indent` blanks.
pub(crate) fn hanging(text: &str, width: usize, indent: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width.max(20) {
            out.push('\n');
            out += &" ".repeat(indent);
            used = indent;
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        out += word;
        used += length;
    }
    out.push('\n');
    out
}

/// What to do where nothing was counted.
pub(crate) const COUNTING_NEEDS: &str =
    "Call topas-doctor where the program ran: it says what counting needs there.";

/// The columns for which a terminal has no room, in words; nothing if there are none.
pub(crate) fn left_out_columns(names: &[String], width: usize) -> String {
    if names.is_empty() {
        return String::new();
    }
    let names = names.join(", ");
    paragraph(&format!("No room for the columns {names}; a wider terminal shows them."), width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_wrap_behind_commas() {
        let list = "1-4, 6-8, 10-12, 14-15";
        assert_eq!(wrapped(list, 8, 80), list);
        assert_eq!(wrapped(list, 8, 28), "1-4, 6-8, 10-12,\n        14-15");
        assert_eq!(wrapped(list, 8, 28).replace("\n       ", ""), list);
    }
}
