//! The launches in the files.

use std::fmt::Write;

use topas_data::pes::PeLaunch;

use super::heading::when;
use crate::csv::field;
use crate::wording::named;

/// A launch and what its table knows: PEs that left a line, and hosts.
type Known<'l> = (&'l PeLaunch, usize, usize);

/// A table of the launches, in the order given.
pub fn launches(launches: &[Known<'_>]) -> String {
    let heading = ["launch", "ended", "user", "program", "PEs", "of", "hosts"].map(str::to_owned);
    let mut rows = vec![heading];
    rows.extend(launches.iter().map(|(launch, pes, hosts)| {
        [
            named(&launch.id),
            when(launch),
            named(&launch.user),
            named(&launch.exe),
            pes.to_string(),
            launch.npes.map_or_else(|| "-".to_owned(), |npes| npes.to_string()),
            hosts.to_string(),
        ]
    }));
    let widths: [usize; 7] = std::array::from_fn(|cell| {
        rows.iter().map(|row| row[cell].chars().count()).max().unwrap_or(0)
    });
    let mut out = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, (text, width)) in row.iter().zip(widths).enumerate() {
            // Writing to a String cannot fail.
            let _ = match cell {
                0..4 => write!(line, "{text:<width$}  "),
                _ => write!(line, "{text:>width$}  "),
            };
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}

/// The same as CSV.
pub fn launches_csv(launches: &[Known<'_>]) -> String {
    let mut out = String::from("launch,ended,user,exe,pes,npes,hosts,lines\n");
    for (launch, pes, hosts) in launches {
        let npes = launch.npes.map(|npes| npes.to_string()).unwrap_or_default();
        let names = [&launch.id, &launch.user, &launch.exe]
            .map(|name| field(&String::from_utf8_lossy(name)));
        let [id, user, exe] = names;
        let _ = writeln!(
            out,
            "{id},{},{user},{exe},{pes},{npes},{hosts},{}",
            when(launch),
            launch.lines
        );
    }
    out
}
