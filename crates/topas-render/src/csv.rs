//! Comma separated values (RFC 4180, but lines end with a newline only).

use std::fmt::Write;

use topas_data::{Share, Statistics};

use crate::Form;
use crate::number::{percent, seconds};
use crate::table::{buckets, langs, libs, unmeasured};

/// One table with a header; the first column tells the three tables apart.
pub struct Csv;

impl Form for Csv {
    fn render(&self, statistics: &Statistics) -> String {
        let mut out = String::from(
            "table,name,from_mflops,to_mflops,runs,runs_percent,pe_seconds,time_percent\n",
        );
        let mut row = |table: &str, name: &str, from: &str, to: &str, share: Share, of: Share| {
            let part = |part, whole| percent(part, whole, 4).unwrap_or_default();
            let (runs, time) = (share.runs, seconds(share.time));
            let num_percent = part(runs.into(), of.runs.into());
            let time_percent = part(share.time.0, of.time.0);
            // Writing to a String cannot fail; no field holds a comma or a quote.
            let _ = writeln!(
                out,
                "{table},{name},{from},{to},{runs},{num_percent},{time},{time_percent}"
            );
        };
        for bucket in buckets(statistics) {
            let (from, to) = (&bucket.from, &bucket.to);
            row("mflops", &format!("{from}-{to}"), from, to, bucket.share, statistics.measured);
        }
        let rest = unmeasured(statistics);
        if rest.runs > 0 {
            row("mflops", "not measured", "", "", rest, Share::default());
        }
        for (table, shares) in [("lang", langs(statistics)), ("mp_lib", libs(statistics))] {
            for (word, share) in shares {
                row(table, word, "", "", share, statistics.total);
            }
        }
        out
    }
}
