//! Single log lines in forms other programs read: CSV and JSON, a field each.

use topas_format::escape::Name;
use topas_format::extra::{EXTRAS, Extra, ExtraValue};
use topas_format::field::{Lang, Lib};
use topas_format::line::{Extras, FIELDS, Line};
use topas_format::number::{Count, Micros, whole};

use crate::csv::field;

/// A value, typed.
enum Value {
    /// Not known or not measured
    Null,
    /// Digits as they are to be written
    Number(String),
    Text(String),
}

/// A count without its mark.
fn count(count: Count) -> Value {
    count.value().map_or(Value::Null, |n| Value::Number(n.to_string()))
}

fn text(name: Name<'_>) -> Value {
    if name.is_empty() {
        return Value::Null;
    }
    let bytes: Vec<u8> = name.bytes().collect();
    // What is no UTF-8 is escaped as in the line.
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text += chunk.valid();
        text.extend(chunk.invalid().iter().map(|byte| format!("%{byte:02X}")));
    }
    Value::Text(text)
}

fn seconds(micros: Micros) -> Value {
    let (whole, fraction) = (micros.0 / 1_000_000, micros.0 % 1_000_000);
    Value::Number(if fraction % 1000 == 0 {
        format!("{whole}.{:03}", fraction / 1000)
    } else {
        format!("{whole}.{fraction:06}")
    })
}

/// The sixteen fields; `ops` is `metric` and `ops`.
fn fields(line: &Line<'_>) -> Vec<(&'static str, Value)> {
    let word = |word: &str| match word {
        "-" => Value::Null,
        word => Value::Text(word.to_owned()),
    };
    let number = |n: Option<u32>| n.map_or(Value::Null, |n| Value::Number(n.to_string()));
    let (date, time) = (line.date, line.time);
    let values = [
        Value::Text(format!("{:04}-{:02}-{:02}", date.year, date.month, date.day)),
        Value::Text(format!("{:02}:{:02}:{:02}", time.hour, time.minute, time.second)),
        text(line.user),
        text(line.exe),
        number(Some(line.pe)),
        number(line.npes.0),
        number(line.mhz.0),
        word(line.mode.word()),
        word(Lang::word(line.lang)),
        word(Lib::word(line.lib)),
        seconds(line.user_time),
        seconds(line.sys_time),
        seconds(line.wall_time),
        count(line.ops.count),
        count(line.l1_miss),
        text(line.id),
    ];
    let mut fields = Vec::with_capacity(values.len() + 1);
    for (field, value) in FIELDS.iter().zip(values) {
        if field.name == "ops" {
            let letter = char::from(line.ops.metric.letter());
            fields.push(("metric", Value::Text(letter.to_string())));
        }
        fields.push((field.name, value));
    }
    fields
}

/// The value of an extra that is known. What is not of its form is text.
fn extra(extra: &Extra, value: &[u8]) -> Value {
    let number = |digits: &[u8]| whole(digits).map(|n| Value::Number(n.to_string()));
    let typed = match extra.value {
        ExtraValue::Text => None,
        ExtraValue::Count => number(value.strip_prefix(b"~").unwrap_or(value)),
        ExtraValue::Number | ExtraValue::Seconds | ExtraValue::Bytes => number(value),
        ExtraValue::Share => {
            let share = str::from_utf8(value).ok().filter(|share| share.parse::<f64>().is_ok());
            let plain = |share: &&str| {
                share.ends_with(|c: char| c.is_ascii_digit())
                    && share.bytes().all(|b| b.is_ascii_digit() || b == b'.')
            };
            share.filter(plain).map(|share| Value::Number(share.to_owned()))
        }
    };
    typed.unwrap_or_else(|| text(Name::from_token(value)))
}

/// Names of the counts that are estimates.
fn estimates(line: &Line<'_>, extras: Extras<'_>) -> Vec<&'static str> {
    let marked = |count| matches!(count, Count::Estimate(_));
    let of_line = [("ops", marked(line.ops.count)), ("l1_miss", marked(line.l1_miss))];
    let counts = EXTRAS.iter().filter(|extra| extra.value == ExtraValue::Count);
    let of_extras = counts.map(|extra| {
        let value = extras.get(extra.name.as_bytes());
        (extra.name, value.is_some_and(|value| value.starts_with(b"~")))
    });
    of_line
        .into_iter()
        .chain(of_extras)
        .filter(|(_, marked)| *marked)
        .map(|(name, _)| name)
        .collect()
}

/// Extras of unknown meaning as they stand in the line.
fn others(extras: Extras<'_>) -> impl Iterator<Item = (String, Value)> {
    extras.filter(|(key, _)| Extra::known(key).is_none()).map(|(key, value)| {
        let key = String::from_utf8_lossy(key).into_owned();
        (key, text(Name::from_token(value)))
    })
}

/// The names of the columns of [`csv`], with the end of the line (RFC 4180).
pub fn csv_header() -> String {
    let mut names: Vec<&str> = Vec::new();
    for field in FIELDS {
        names.extend((field.name == "ops").then_some("metric"));
        names.push(field.name);
    }
    names.extend(EXTRAS.iter().map(|extra| extra.name));
    names.extend(["estimates", "other"]);
    names.join(",") + "\r\n"
}

/// A line as one of CSV: a column for each field and each extra that is known, empty where
/// there is no value; the counts that are estimates; other extras, `key=value`, separated by
/// blanks.
pub fn csv(line: &Line<'_>, extras: Extras<'_>, out: &mut String) {
    let mut cell = |value: &Value, first: bool| {
        if !first {
            out.push(',');
        }
        match value {
            Value::Null => {}
            Value::Number(digits) => *out += digits,
            Value::Text(text) => *out += &field(text),
        }
    };
    for (n, (_, value)) in fields(line).iter().enumerate() {
        cell(value, n == 0);
    }
    for known in EXTRAS {
        let value = extras.get(known.name.as_bytes());
        cell(&value.map_or(Value::Null, |value| extra(known, value)), false);
    }
    cell(&Value::Text(estimates(line, extras).join(" ")), false);
    let others: Vec<String> = extras
        .filter(|(key, _)| Extra::known(key).is_none())
        .map(|(key, value)| {
            let token = [key, b"=", value].concat();
            String::from_utf8_lossy(&token).into_owned()
        })
        .collect();
    cell(&Value::Text(others.join(" ")), false);
    *out += "\r\n";
}

/// A line as one of JSON, schema `topas.line/1`: what is not known or not measured is null,
/// extras that are not there are left out, those of unknown meaning stand in `other`.
pub fn json(line: &Line<'_>, extras: Extras<'_>, out: &mut String) {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let value = |value: &Value| match value {
        Value::Null => "null".to_owned(),
        Value::Number(digits) => {
            // JSON has no leading zeros, and wants a digit before the point.
            let digits = digits.trim_start_matches('0');
            let lead = if digits.is_empty() || digits.starts_with('.') { "0" } else { "" };
            format!("{lead}{digits}")
        }
        Value::Text(text) => quoted(text),
    };
    let mut members = vec!["\"schema\":\"topas.line/1\"".to_owned()];
    let mut add = |key: &str, text: String| members.push(format!("{}:{text}", quoted(key)));
    for (name, of) in fields(line) {
        add(name, value(&of));
    }
    for known in EXTRAS {
        if let Some(of) = extras.get(known.name.as_bytes()) {
            add(known.name, value(&extra(known, of)));
        }
    }
    let estimates: Vec<String> = estimates(line, extras).into_iter().map(quoted).collect();
    add("estimates", format!("[{}]", estimates.join(",")));
    let mut other: Vec<(String, String)> = Vec::new();
    for (key, of) in others(extras) {
        // The last of several wins, as everywhere.
        other.retain(|(before, _)| *before != key);
        other.push((key, value(&of)));
    }
    if !other.is_empty() {
        let other: Vec<String> =
            other.iter().map(|(key, value)| format!("{}:{value}", quoted(key))).collect();
        add("other", format!("{{{}}}", other.join(",")));
    }
    *out += &format!("{{{}}}\n", members.join(","));
}
