//! Data blocks for gnuplot, which R and awk read as well.

use std::fmt::Write;

use topas_data::{Share, Statistics};

use crate::Form;
use crate::number::{date, percent, runs, seconds};
use crate::table::{buckets, langs, libs, unmeasured};

/// Three data blocks of the same columns, with two blank lines between them.
pub struct Gnuplot;

impl Form for Gnuplot {
    fn render(&self, statistics: &Statistics) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        match statistics.days {
            Some((first, last)) => {
                let (count, first, last) = (runs(statistics.total.runs), date(first), date(last));
                let _ = writeln!(out, "# TOPAS report, {first} to {last}, {count}");
            }
            None => out += "# TOPAS report, no runs\n",
        }
        out += "# set datafile missing \"-\"\n\
                # plot FILE index 0 using (($2+$3)/2):5:($3-$2) with boxes\n\
                # plot FILE index 1 using 5:xtic(1) with boxes\n\
                # columns: name, from and to (MFlop/s per PE), runs, % of runs, PE x wall (s), % of it\n";
        let rest = unmeasured(statistics);
        out += "# index 0: MFlop/s per PE; % of the runs with a rate\n";
        for bucket in buckets(statistics) {
            let (from, to) = (&bucket.from, &bucket.to);
            row(&mut out, &format!("{from}-{to}"), from, to, bucket.share, statistics.measured);
        }
        if rest.runs > 0 {
            row(&mut out, "not measured", "-", "-", rest, Share::default());
        }
        let others = [
            ("# index 1: languages; % of all runs\n", langs(statistics)),
            ("# index 2: message passing libraries; % of all runs\n", libs(statistics)),
        ];
        for (heading, shares) in others {
            out += "\n\n";
            out += heading;
            for (word, share) in shares {
                row(&mut out, word, "-", "-", share, statistics.total);
            }
        }
        out
    }
}

fn row(out: &mut String, name: &str, from: &str, to: &str, share: Share, of: Share) {
    let part = |part, whole| percent(part, whole, 4).unwrap_or_else(|| "-".to_owned());
    let (runs, time) = (share.runs, seconds(share.time));
    let num_percent = part(runs.into(), of.runs.into());
    let time_percent = part(share.time.0, of.time.0);
    let _ = writeln!(out, "\"{name}\" {from} {to} {runs} {num_percent} {time} {time_percent}");
}
