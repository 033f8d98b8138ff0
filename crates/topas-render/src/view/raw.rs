//! The raw table: one line per PE.

use topas_data::pes::{Column, Pe, PeTable};
use topas_format::number::Count;

use super::piece::OutputPiece;
use super::quantity::shown;
use crate::number::{dec, millis, thousandths, three_places};
use crate::wording::{clean, named};

/// Columns of numbers, as wide as their widest number or heading; 0 if a column is left out.
#[derive(Clone, Copy)]
struct Widths {
    pe: usize,
    host: usize,
    wall: usize,
    system: usize,
    user: usize,
    count: usize,
    rate: usize,
    misses: usize,
}

impl Widths {
    /// As wide as either.
    fn max(self, other: Widths) -> Widths {
        Widths {
            pe: self.pe.max(other.pe),
            host: self.host.max(other.host),
            wall: self.wall.max(other.wall),
            system: self.system.max(other.system),
            user: self.user.max(other.user),
            count: self.count.max(other.count),
            rate: self.rate.max(other.rate),
            misses: self.misses.max(other.misses),
        }
    }

    /// Leaves out columns for which there is no room: they have no width.
    fn make_room(&mut self, columns: usize) {
        let taken = |widths: &Widths| {
            let Widths { pe, host, wall, system, user, count, rate, misses } = *widths;
            let shown = [wall, system, user, count, rate, misses].into_iter().filter(|&w| w > 0);
            pe + 1 + host + shown.map(|width| width + 1).sum::<usize>()
        };
        let first_to_go: [fn(&mut Widths) -> &mut usize; 4] =
            [|w| &mut w.misses, |w| &mut w.count, |w| &mut w.wall, |w| &mut w.system];
        for column in first_to_go {
            if taken(self) > columns {
                *column(self) = 0;
            }
        }
    }
}

/// What a cell without a value shows.
const NONE: &[u8] = b"-";

/// Columns of a terminal from which on it has all columns of the table, however wide they are: who
/// reads the table by a program finds each of them in its place.
const ALL_FROM: usize = 70;

/// The table of these rows: PE, host, wall,
/// system and user time in s, operations, their rate, L1 misses in 10^6/s. A `~` marks an
/// estimate. In lines of less than 70 columns, those for which there is no room are left out.
pub fn raw<'v>(table: &'v PeTable, rows: &'v [u32], columns: usize) -> Vec<OutputPiece<'v>> {
    let hosts: Vec<String> = table.hosts.iter().map(|host| named(host)).collect();
    let lengths: Vec<usize> = hosts.iter().map(|host| host.chars().count()).collect();
    let mut widths = widths(table, rows, &lengths);
    if columns < ALL_FROM {
        widths.make_room(columns);
    }
    let heading = heading(table, widths);
    let write = move |out: &mut Vec<u8>, row: u32| {
        let Some(pe) = table.rows.get(row as usize) else { return };
        let host = pe.host as usize;
        cell(out, widths.pe, |out| dec(out, pe.pe.into()));
        out.push(b' ');
        out.extend_from_slice(hosts.get(host).map_or(NONE, |host| host.as_bytes()));
        blanks(out, widths.host.saturating_sub(lengths.get(host).copied().unwrap_or(1)));
        for (width, time) in
            [(widths.wall, pe.wall), (widths.system, pe.system), (widths.user, pe.user)]
        {
            if width > 0 {
                out.push(b' ');
                cell(out, width, |out| three_places(out, millis(time)));
            }
        }
        let count = if pe.metric == table.metric { pe.count } else { Count::Missing };
        if widths.count > 0 {
            out.push(b' ');
            cell(out, widths.count, |out| marked(out, count, dec));
        }
        for (width, count) in [(widths.rate, count), (widths.misses, pe.l1_misses)] {
            if width > 0 {
                out.push(b' ');
                cell(out, width, |out| {
                    marked(out, by_time(count, pe), three_places);
                });
            }
        }
        out.push(b'\n');
    };
    vec![heading.into(), OutputPiece::Rows { rows, write: Box::new(write) }]
}

/// Thousandths of 10^6 per s.
#[inline]
fn by_time(count: Count, pe: &Pe) -> Count {
    let rate = |n| thousandths(n, pe.wall);
    match count {
        Count::Missing => Count::Missing,
        Count::Exact(n) => rate(n).map_or(Count::Missing, Count::Exact),
        Count::Estimate(n) => rate(n).map_or(Count::Missing, Count::Estimate),
    }
}

fn marked(out: &mut Vec<u8>, count: Count, number: impl FnOnce(&mut Vec<u8>, u64)) {
    match count {
        Count::Missing => out.extend_from_slice(NONE),
        Count::Exact(n) => number(out, n),
        Count::Estimate(n) => {
            out.push(b'~');
            number(out, n);
        }
    }
}

fn blanks(out: &mut Vec<u8>, count: usize) {
    out.resize(out.len() + count, b' ');
}

/// What `write` writes, to the right of `width` columns.
#[inline]
fn cell(out: &mut Vec<u8>, width: usize, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    write(out);
    let len = out.len() - start;
    if len < width {
        blanks(out, width - len);
        out[start..].rotate_right(width - len);
    }
}

/// Rows that are looked at for one column after the other: they stay in the cache.
const CHUNK: usize = 512;

fn widths(table: &PeTable, rows: &[u32], hosts: &[usize]) -> Widths {
    let chunks = rows.chunks(CHUNK).map(|rows| widths_of(table, rows, hosts));
    chunks.reduce(Widths::max).unwrap_or_else(|| widths_of(table, &[], hosts))
}

fn widths_of(table: &PeTable, rows: &[u32], hosts: &[usize]) -> Widths {
    let pes = || rows.iter().filter_map(|&row| table.rows.get(row as usize));
    let digits = |n: u64| n.checked_ilog10().unwrap_or(0) as usize + 1;
    let most = |of: &dyn Fn(&Pe) -> u64| pes().map(of).max().unwrap_or(0);
    let time = |of: &dyn Fn(&Pe) -> u64| digits(millis(most(of)) / 1000) + 4;
    let tilde = |count: Count| usize::from(matches!(count, Count::Estimate(_)));
    let widest_rate = |of: &dyn Fn(&Pe) -> Count| {
        let widest = |pe: &Pe| {
            let rate = by_time(of(pe), pe);
            rate.value().map_or(0, |n| digits(n / 1000) + 4) + tilde(rate)
        };
        pes().map(widest).max().unwrap_or(0)
    };
    Widths {
        pe: digits(most(&|pe| pe.pe.into())).max(4),
        host: pes().filter_map(|pe| hosts.get(pe.host as usize)).max().copied().unwrap_or(0).max(4),
        wall: time(&|pe| pe.wall).max(9),
        system: time(&|pe| pe.system).max(8),
        user: time(&|pe| pe.user).max(9),
        count: pes()
            .map(|pe| pe.count.value().map_or(0, digits) + tilde(pe.count))
            .max()
            .unwrap_or(0)
            .max(12),
        rate: widest_rate(&|pe| pe.count).max(8),
        misses: widest_rate(&|pe| pe.l1_misses).max(9),
    }
}

fn heading(table: &PeTable, widths: Widths) -> String {
    let unit = |column| clean(shown(column, table.metric).unit.as_bytes());
    let line = |pe: &str, host: &str, cells: [&str; 6]| {
        let w = widths;
        let mut line = format!("{pe:>0$} {host:<1$}", w.pe, w.host);
        for (width, cell) in
            [w.wall, w.system, w.user, w.count, w.rate, w.misses].into_iter().zip(cells)
        {
            if width > 0 {
                line += &format!(" {cell:>width$}");
            }
        }
        line + "\n"
    };
    line("PE", "host", ["wall", "system", "user", "counter", "rate", "L1 misses"])
        + &line(
            "",
            "",
            ["s", "s", "s", &unit(Column::Counter), &unit(Column::Rate), &unit(Column::MissRate)],
        )
}
