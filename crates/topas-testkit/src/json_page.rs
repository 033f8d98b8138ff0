//! The keys of the JSON that a tool writes, held against topas-json(5) both ways.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

const PAGE: &str = include_str!("../../../doc/topas-json.5");

/// The member of an amount of which only some calls were counted: `{"at_least": n}` is an amount.
const PARTLY_COUNTED: &str = ".at_least";

/// Paths of keys by schema.
type JsonKeys = BTreeMap<String, BTreeSet<String>>;

/// The keys of all objects that a tool wrote.
#[derive(Debug, Default)]
pub struct WrittenJson {
    keys: JsonKeys,
}

impl WrittenJson {
    /// Adds one object, or an object in each line.
    ///
    /// # Panics
    ///
    /// If the text is none of the two, or an object has no schema.
    pub fn add(&mut self, text: &str) {
        let objects: Vec<Value> = match serde_json::from_str(text) {
            Ok(object) => vec![object],
            Err(_) => {
                text.lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
            }
        };
        assert!(!objects.is_empty(), "no object");
        for object in objects {
            let schema = object["schema"].as_str().expect("a schema").to_owned();
            leaves(&object, "", self.keys.entry(schema).or_default());
        }
    }

    /// Holds these keys against the sections that the manual page has about `tool`, which are those
    /// whose first sentence names the tool. Every key must stand there. Every key that stands there
    /// must have been written, except for those that contain one of `never`.
    ///
    /// # Panics
    ///
    /// If a key or a schema stands on one side only.
    pub fn hold_against_manual(&self, tool: &str, never: &[&str]) {
        self.hold_all_but(&[], tool, never);
    }

    /// As [`WrittenJson::hold_against_manual`], but for the schemas `others` of the tool, which have
    /// a test of their own.
    ///
    /// # Panics
    ///
    /// If a key or a schema stands on one side only.
    pub fn hold_all_but(&self, others: &[&str], tool: &str, never: &[&str]) {
        let documented = documented(tool);
        let mut known: Vec<&str> = self.keys.keys().map(String::as_str).collect();
        known.extend(others);
        known.sort_unstable();
        let described: Vec<&str> = documented.keys().map(String::as_str).collect();
        assert_eq!(known, described, "schemas of {tool}");
        for (schema, paths) in &self.keys {
            let patterns = &documented[schema];
            for path in paths {
                let known = patterns.iter().any(|pattern| describes(pattern, path));
                assert!(known, "topas-json(5) does not describe {path} of {schema}");
            }
            let made = |pattern: &&String| !never.iter().any(|part| pattern.contains(part));
            for pattern in patterns.iter().filter(made) {
                let whole = |path: &&String| depth(path) == depth(pattern);
                let real = paths.iter().filter(whole).any(|path| describes(pattern, path));
                assert!(real, "nothing is {pattern} of {schema}: {paths:#?}");
            }
        }
    }
}

/// The patterns that a heading stands for: names in braces are alternatives.
fn expanded(heading: &str) -> Vec<String> {
    let Some((before, rest)) = heading.split_once('{') else { return vec![heading.to_owned()] };
    let (names, behind) = rest.split_once('}').expect("a brace is closed");
    let names = names.split(',').map(|name| format!("{before}{name}{behind}"));
    names.flat_map(|pattern| expanded(&pattern)).collect()
}

/// The patterns of each schema of a tool.
fn documented(tool: &str) -> JsonKeys {
    let page = PAGE.replace("\\-", "-");
    let schemas = page.split_once(".SH SCHEMAS\n").expect("schemas").1;
    let schemas = schemas.split("\n.SH ").next().expect("a part");
    let sections = schemas.split(".SS ").skip(1);
    let of_tool = |section: &&str| {
        let sentence = section.lines().nth(1).expect("a sentence");
        sentence.split(' ').any(|word| word.trim_end_matches('.') == tool)
    };
    sections
        .filter(of_tool)
        .map(|section| {
            let (name, rest) = section.split_once('\n').expect("a name");
            let entries = rest.split(".TP\n.B ").skip(1);
            let heads = entries.map(|entry| entry.lines().next().expect("a heading"));
            (name.to_owned(), heads.flat_map(expanded).collect())
        })
        .collect()
}

/// The paths of all values that are no objects and no lists of objects.
fn leaves(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| leaves(value, &below(key), found));
        }
        Value::Array(values) if values.iter().any(Value::is_object) => {
            values.iter().for_each(|value| leaves(value, &format!("{path}[]"), found));
        }
        _ => {
            found.insert(path.strip_suffix(PARTLY_COUNTED).unwrap_or(path).to_owned());
        }
    }
}

/// Whether a path is one that the pattern describes. A value that is null or an empty list stands
/// for all that it could hold.
fn describes(pattern: &str, path: &str) -> bool {
    let mut names = pattern.split('.');
    for name in path.split('.') {
        let Some(expected) = names.next() else { return false };
        let same = expected == "*" || expected == name || expected.trim_end_matches("[]") == name;
        if !same {
            return false;
        }
    }
    true
}

/// How many keys lead to a value.
fn depth(path: &str) -> usize {
    path.split('.').count()
}
