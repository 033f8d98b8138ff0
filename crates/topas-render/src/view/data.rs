//! The rows as CSV and as lines of JSON.

use topas_data::pes::{Pe, PeTable};
use topas_format::number::Count;

use super::piece::OutputPiece;
use crate::csv::field;
use crate::number::{dec, per_second, six_places, three_places};

/// Columns of the CSV. Times in s, rates per s; what was not measured is empty.
const HEADER: &str = "pe,host,numa,cpu,exe,wall_s,system_s,user_s,metric,count,estimate,\
                      rate_per_s,l1_misses,l1_estimate,l1_misses_per_s,cycles,instructions,\
                      rss_bytes,end,why\n";

/// The rows as CSV with a header.
pub fn csv<'v>(table: &'v PeTable, rows: &'v [u32]) -> Vec<OutputPiece<'v>> {
    let texts = |names: &[Box<[u8]>]| -> Vec<String> {
        names.iter().map(|name| field(&String::from_utf8_lossy(name))).collect()
    };
    let (hosts, exes, told) = (texts(&table.hosts), texts(&table.exes), texts(table.texts()));
    let write = move |out: &mut Vec<u8>, row: u32| {
        let Some(pe) = table.rows.get(row as usize) else { return };
        let text = |out: &mut Vec<u8>, texts: &[String], at: u32| {
            out.extend_from_slice(texts.get(at as usize).map_or(b"", |text| text.as_bytes()));
        };
        dec(out, pe.pe.into());
        out.push(b',');
        text(out, &hosts, pe.host);
        for number in [pe.numa, pe.cpu] {
            out.push(b',');
            maybe(out, number.map(u64::from));
        }
        out.push(b',');
        text(out, &exes, pe.exe);
        for time in [pe.wall, pe.system, pe.user] {
            out.push(b',');
            six_places(out, time);
        }
        out.extend_from_slice(&[b',', pe.metric.letter(), b',']);
        counted(out, pe, pe.count);
        out.push(b',');
        counted(out, pe, pe.l1_misses);
        for number in [pe.cycles, pe.instructions, pe.rss] {
            out.push(b',');
            maybe(out, number);
        }
        for word in PeTable::text_numbers(pe) {
            out.push(b',');
            text(out, &told, word);
        }
        out.push(b'\n');
    };
    vec![HEADER.to_owned().into(), OutputPiece::Rows { rows, write: Box::new(write) }]
}

/// Count, 1 if it is an estimate, rate.
fn counted(out: &mut Vec<u8>, pe: &Pe, count: Count) {
    maybe(out, count.value());
    out.push(b',');
    if count.value().is_some() {
        out.push(if matches!(count, Count::Estimate(_)) { b'1' } else { b'0' });
    }
    out.push(b',');
    if let Some(rate) = count.value().and_then(|n| per_second(n, pe.wall)) {
        three_places(out, rate);
    }
}

fn maybe(out: &mut Vec<u8>, number: Option<u64>) {
    if let Some(number) = number {
        dec(out, number);
    }
}

/// The rows as JSON, an object in each line with `schema` and `launch`; no value is null.
pub fn jsonl<'v>(table: &'v PeTable, rows: &'v [u32]) -> Vec<OutputPiece<'v>> {
    let launch = super::json::string(&table.launch.id);
    let start = format!("{{\"schema\":\"topas.view.pe/1\",\"launch\":{launch},");
    vec![objects(table, rows, start, "}\n", "")]
}

/// A key behind others, as the text of an object has it.
macro_rules! key {
    ($name:literal) => {
        concat!(",\"", $name, "\":")
    };
}

/// An object for each row between `start` and `end`, and `between` any two.
pub(super) fn objects<'v>(
    table: &'v PeTable,
    rows: &'v [u32],
    start: String,
    end: &'static str,
    between: &'static str,
) -> OutputPiece<'v> {
    let first = rows.first().copied();
    let texts = |names: &[Box<[u8]>]| -> Vec<String> {
        names.iter().map(|name| super::json::string(name)).collect()
    };
    let (hosts, exes, told) = (texts(&table.hosts), texts(&table.exes), texts(table.texts()));
    let write = move |out: &mut Vec<u8>, row: u32| {
        let Some(pe) = table.rows.get(row as usize) else { return };
        if first != Some(row) {
            out.extend_from_slice(between.as_bytes());
        }
        out.extend_from_slice(start.as_bytes());
        let text = |out: &mut Vec<u8>, texts: &[String], at: u32| {
            out.extend_from_slice(texts.get(at as usize).map_or(b"null", |text| text.as_bytes()));
        };
        let key = |out: &mut Vec<u8>, key: &str| out.extend_from_slice(key.as_bytes());
        key(out, "\"pe\":");
        dec(out, pe.pe.into());
        for (name, texts, at) in [(key!("host"), &hosts, pe.host), (key!("exe"), &exes, pe.exe)] {
            key(out, name);
            text(out, texts, at);
        }
        for (name, number) in [(key!("numa"), pe.numa), (key!("cpu"), pe.cpu)] {
            key(out, name);
            or_null(out, number.map(u64::from), dec);
        }
        for (name, time) in
            [(key!("wall_s"), pe.wall), (key!("system_s"), pe.system), (key!("user_s"), pe.user)]
        {
            key(out, name);
            six_places(out, time);
        }
        key(out, key!("metric"));
        out.extend_from_slice(&[b'"', pe.metric.letter(), b'"']);
        for ([count, estimate, rate], of) in [
            ([key!("count"), key!("estimate"), key!("rate_per_s")], pe.count),
            ([key!("l1_misses"), key!("l1_estimate"), key!("l1_misses_per_s")], pe.l1_misses),
        ] {
            key(out, count);
            or_null(out, of.value(), dec);
            key(out, estimate);
            let is_estimate = matches!(of, Count::Estimate(_));
            out.extend_from_slice(if is_estimate { b"true" } else { b"false" });
            key(out, rate);
            or_null(out, of.value().and_then(|n| per_second(n, pe.wall)), three_places);
        }
        for (name, number) in [
            (key!("cycles"), pe.cycles),
            (key!("instructions"), pe.instructions),
            (key!("rss_bytes"), pe.rss),
        ] {
            key(out, name);
            or_null(out, number, dec);
        }
        for (name, word) in [key!("end"), key!("why")].into_iter().zip(PeTable::text_numbers(pe)) {
            key(out, name);
            text(out, &told, word);
        }
        out.extend_from_slice(end.as_bytes());
    };
    OutputPiece::Rows { rows, write: Box::new(write) }
}

fn or_null(out: &mut Vec<u8>, number: Option<u64>, write: impl Fn(&mut Vec<u8>, u64)) {
    match number {
        Some(number) => write(out, number),
        None => out.extend_from_slice(b"null"),
    }
}
