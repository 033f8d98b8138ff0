//! The rows as CSV and as lines of JSON.

use topas_data::pes::{Pe, PeTable};
use topas_format::number::Count;

use super::piece::Piece;
use crate::csv::field;
use crate::number::{dec, per_second, six_places, three_places};

/// Columns of the CSV. Times in s, rates per s; what was not measured is empty.
const HEADER: &str = "pe,host,numa,cpu,exe,wall_s,system_s,user_s,metric,count,estimate,\
                      rate_per_s,l1_misses,l1_estimate,l1_misses_per_s,cycles,instructions,\
                      rss_bytes,end,why\n";

/// The rows as CSV with a header.
pub fn csv<'v>(table: &'v PeTable, rows: &'v [u32]) -> Vec<Piece<'v>> {
    let texts = |names: &[Box<[u8]>]| -> Vec<String> {
        names.iter().map(|name| field(&String::from_utf8_lossy(name))).collect()
    };
    let (hosts, exes) = (texts(&table.hosts), texts(&table.exes));
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
        for word in [table.ending(pe), table.why(pe)] {
            out.push(b',');
            out.extend_from_slice(field(&String::from_utf8_lossy(word)).as_bytes());
        }
        out.push(b'\n');
    };
    vec![HEADER.to_owned().into(), Piece::Rows { rows, write: Box::new(write) }]
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
pub fn jsonl<'v>(table: &'v PeTable, rows: &'v [u32]) -> Vec<Piece<'v>> {
    let launch = super::json::string(&table.launch.id);
    let start = format!("{{\"schema\":\"topas.view.pe/1\",\"launch\":{launch},");
    vec![objects(table, rows, start, "}\n", "")]
}

/// An object for each row between `start` and `end`, and `between` any two.
pub(super) fn objects<'v>(
    table: &'v PeTable,
    rows: &'v [u32],
    start: String,
    end: &'static str,
    between: &'static str,
) -> Piece<'v> {
    let first = rows.first().copied();
    let texts = |names: &[Box<[u8]>]| -> Vec<String> {
        names.iter().map(|name| super::json::string(name)).collect()
    };
    let (hosts, exes) = (texts(&table.hosts), texts(&table.exes));
    let write = move |out: &mut Vec<u8>, row: u32| {
        let Some(pe) = table.rows.get(row as usize) else { return };
        if first != Some(row) {
            out.extend_from_slice(between.as_bytes());
        }
        out.extend_from_slice(start.as_bytes());
        let key = |out: &mut Vec<u8>, key: &str| {
            out.push(b',');
            quoted(out, key);
        };
        quoted(out, "pe");
        dec(out, pe.pe.into());
        for (name, texts, at) in [("host", &hosts, pe.host), ("exe", &exes, pe.exe)] {
            key(out, name);
            out.extend_from_slice(texts.get(at as usize).map_or(b"null", |text| text.as_bytes()));
        }
        for (name, number) in [("numa", pe.numa), ("cpu", pe.cpu)] {
            key(out, name);
            or_null(out, number.map(u64::from), dec);
        }
        for (name, time) in [("wall_s", pe.wall), ("system_s", pe.system), ("user_s", pe.user)] {
            key(out, name);
            six_places(out, time);
        }
        key(out, "metric");
        out.extend_from_slice(&[b'"', pe.metric.letter(), b'"']);
        for (names, count) in [
            (["count", "estimate", "rate_per_s"], pe.count),
            (["l1_misses", "l1_estimate", "l1_misses_per_s"], pe.l1_misses),
        ] {
            key(out, names[0]);
            or_null(out, count.value(), dec);
            key(out, names[1]);
            let estimate = matches!(count, Count::Estimate(_));
            out.extend_from_slice(if estimate { b"true" } else { b"false" });
            key(out, names[2]);
            or_null(out, count.value().and_then(|n| per_second(n, pe.wall)), three_places);
        }
        for (name, number) in
            [("cycles", pe.cycles), ("instructions", pe.instructions), ("rss_bytes", pe.rss)]
        {
            key(out, name);
            or_null(out, number, dec);
        }
        for (name, word) in [("end", table.ending(pe)), ("why", table.why(pe))] {
            key(out, name);
            out.extend_from_slice(super::json::string(word).as_bytes());
        }
        out.extend_from_slice(end.as_bytes());
    };
    Piece::Rows { rows, write: Box::new(write) }
}

fn quoted(out: &mut Vec<u8>, key: &str) {
    out.push(b'"');
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":");
}

fn or_null(out: &mut Vec<u8>, number: Option<u64>, write: impl Fn(&mut Vec<u8>, u64)) {
    match number {
        Some(number) => write(out, number),
        None => out.extend_from_slice(b"null"),
    }
}
