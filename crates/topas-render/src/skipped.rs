//! Lines and files that were not counted, in words.

use std::os::unix::ffi::OsStrExt;

use serde_json::{Map, Value, json};
use topas_data::{Foreign, Inputs, Tally};
use topas_format::shown::Shown;

/// How many lines were skipped and why, and below it the first of them; then foreign lines. None
/// if there is neither.
pub fn skipped(tally: &Tally) -> Option<String> {
    let skipped = tally.skipped();
    let foreign = foreign(&tally.foreign);
    if skipped == 0 {
        return foreign;
    }
    let reasons: Vec<String> =
        tally.problems().map(|(problem, count)| format!("{count} {}", problem.words())).collect();
    let mut text =
        format!("{skipped} of {} lines skipped: {}\n", tally.lines(), reasons.join(", "));
    for example in tally.examples() {
        let words = example.problem.words();
        text += &format!("  {}:{}: {words}: {}\n", example.source, example.line, example.text);
    }
    Some(text + &foreign.unwrap_or_default())
}

/// How many foreign lines there are, in whose files, and of whom they say that they are; None
/// without one.
pub fn foreign(foreign: &Foreign) -> Option<String> {
    let lines = foreign.lines();
    if lines == 0 {
        return None;
    }
    let mut text = match lines {
        1 => "1 foreign line is not counted: its file's owner vouches for no other user's\n",
        _ => "{} foreign lines are not counted: their files' owners vouch for no other user's\n",
    }
    .replace("{}", &lines.to_string());
    for (owner, claims) in foreign.owners() {
        let named: u64 = claims.by_uid.values().sum();
        let mut parts: Vec<String> = claims
            .by_uid
            .iter()
            .map(|(uid, lines)| match uid {
                Some(uid) => format!("{lines} of uid {uid}"),
                None => format!("{lines} of no one user"),
            })
            .collect();
        parts.extend((claims.lines > named).then(|| format!("{} of others", claims.lines - named)));
        text += &format!("  in files of uid {owner}: {}\n", parts.join(", "));
    }
    Some(text)
}

/// The same as a JSON object.
pub(crate) fn foreign_json(foreign: &Foreign) -> Value {
    let owners: Vec<Value> = foreign
        .owners()
        .map(|(owner, claims)| {
            let claimed: Vec<Value> = claims
                .by_uid
                .iter()
                .map(|(uid, lines)| json!({ "uid": uid, "lines": lines }))
                .collect();
            json!({ "owner": owner, "lines": claims.lines, "claimed": claimed })
        })
        .collect();
    json!({ "lines": foreign.lines(), "owners": owners })
}

/// What was found in directories and is not read, and the first of each sort; None if all is.
pub fn passed_over(inputs: &Inputs) -> Option<String> {
    let lines = inputs.passed.iter().map(|(why, (count, first))| {
        let first = Shown(first.as_os_str().as_bytes());
        let more = match count {
            1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        format!("  {first}: {}{more}\n", why.words())
    });
    let lines: Vec<String> = lines.collect();
    let count: u64 = inputs.passed.values().map(|(count, _)| count).sum();
    (count > 0).then(|| format!("{count} in directories not read:\n{}", lines.concat()))
}

/// What was looked at, for an answer without a run, and how many of the lines are what:
/// `2 directories, 3 files, 5 lines (4 skipped)`.
pub fn looked_at(inputs: &Inputs, lines: u64, of_them: &[(u64, &str)]) -> String {
    let count = |n: u64, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    let mut parts = Vec::new();
    if inputs.directories > 0 {
        parts.push(count(inputs.directories, "directory", "directories"));
    }
    let files = inputs.sources.iter().filter(|source| source.path().is_some()).count();
    if files < inputs.sources.len() {
        parts.push("standard input".to_owned());
    }
    if files == inputs.sources.len() || files > 0 {
        parts.push(count(files as u64, "file", "files"));
    }
    parts.push(count(lines, "line", "lines"));
    let others: Vec<String> =
        of_them.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    let mut text = parts.join(", ");
    if !others.is_empty() {
        text += &format!(" ({})", others.join(", "));
    }
    let passed: u64 = inputs.passed.values().map(|(count, _)| count).sum();
    if passed > 0 {
        text += &format!("; {passed} in directories not read");
    }
    text
}

/// What was found in directories and is not read, as JSON: how many of each sort.
pub(crate) fn passed_json(inputs: &Inputs) -> Value {
    let all = inputs.passed.iter().map(|(why, (count, _))| (why.name().to_owned(), json!(count)));
    Value::Object(all.collect::<Map<String, Value>>())
}
