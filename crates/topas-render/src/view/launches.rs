//! The launches in the files.

use std::fmt::Write;

use topas_data::pes::PeLaunch;

use super::heading::when;
use super::in_columns::in_columns;
use crate::csv::field;
use crate::wording::named;

/// A launch and what its table knows: PEs that left a line, and hosts.
type CountedLaunch<'l> = (&'l PeLaunch, usize, usize);

/// A table of the launches, in the order given and in lines of so many columns.
pub fn launches(launches: &[CountedLaunch<'_>], columns: usize) -> String {
    let heading = ["launch", "ended", "user", "program", "PEs", "of", "hosts"].map(str::to_owned);
    let mut rows = vec![heading.to_vec()];
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
        .to_vec()
    }));
    in_columns(&rows, 4, &["hosts", "of", "user", "program"], columns)
}

/// The same as CSV.
pub fn launches_csv(launches: &[CountedLaunch<'_>]) -> String {
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
