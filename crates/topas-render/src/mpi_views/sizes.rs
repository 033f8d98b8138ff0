//! Messages by size.

use serde_json::{Value, json};
use topas_mpi_data::{CLASSES, MessageClass, MpiProfile};

use super::Views;
use super::body::ViewBody;
use super::cells::CellTable;
use super::json::number;
use crate::number::compact;
use topas_chart::{Arrangement, AxisUnit, BarPlaces, Bars, Chart, Quantity, Series};

/// Columns: class, whether sent, name.
const COLUMNS: [(MessageClass, bool, &str); 8] = [
    (MessageClass::PointToPoint, true, "point-to-point sent"),
    (MessageClass::PointToPoint, false, "received"),
    (MessageClass::Collective, true, "collective sent"),
    (MessageClass::Collective, false, "received"),
    (MessageClass::Rma, true, "memory put"),
    (MessageClass::Rma, false, "got"),
    (MessageClass::Io, true, "files written"),
    (MessageClass::Io, false, "read"),
];

/// Series of the chart.
const DRAWN: [(MessageClass, bool, &str); 4] = [
    (MessageClass::PointToPoint, true, "point-to-point"),
    (MessageClass::Collective, true, "collective"),
    (MessageClass::Rma, true, "put into memory"),
    (MessageClass::Io, true, "written to files"),
];

fn counts(profile: &MpiProfile, class: MessageClass, is_sent: bool) -> &[u128] {
    let sizes = profile.total.class(class);
    if is_sent { &sizes.sent } else { &sizes.received }
}

/// Whether there are messages whose sizes were counted.
pub(super) fn are_counted(profile: &MpiProfile) -> bool {
    span(profile).is_some()
}

/// First and last bin that has a message.
fn span(profile: &MpiProfile) -> Option<(usize, usize)> {
    let has = |bin: &usize| {
        COLUMNS.iter().any(|&(class, sent, _)| {
            counts(profile, class, sent).get(*bin).is_some_and(|count| *count > 0)
        })
    };
    let bins = counts(profile, MessageClass::PointToPoint, true).len();
    let first = (0..bins).find(has)?;
    Some((first, (0..bins).rev().find(has)?))
}

/// Sizes of a bin in B: the first, and the first of the next; the last bin has no end.
fn bounds(bin: usize, bins: usize) -> (u64, Option<u64>) {
    match bin {
        0 => (0, Some(1)),
        _ if bin + 1 == bins => (1 << (bin - 1), None),
        _ => (1 << (bin - 1), Some(1 << bin)),
    }
}

/// Such as `0 B`, `1 B`, `512 B`, `64 KiB`: the least size of a bin.
fn binary(bytes: u64) -> String {
    let prefixes = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = (bytes.checked_ilog2().unwrap_or(0) / 10) as usize;
    format!("{} {}", bytes >> (10 * power), prefixes.get(power).unwrap_or(&"B"))
}

/// The sizes of a bin: `4 to 7 B` is told as from 4 B on.
fn label(bin: usize, bins: usize) -> String {
    match bounds(bin, bins) {
        (from, None) => format!("≥{}", binary(from)),
        (from, Some(to)) if to == from + 1 => binary(from),
        (from, Some(to)) => format!("{}–{}", binary(from), binary(to)),
    }
}

/// Bars of what was sent by size, and the numbers.
pub(super) fn body(views: &Views<'_>) -> ViewBody {
    let profile = views.profile;
    let Some((first, last)) = span(profile) else {
        return ViewBody::default().prose("No messages, or their sizes were not counted.");
    };
    let mut chart = chart(profile);
    chart.caption = topas_chart::Caption::default();
    let characters = chart.terminal(views.screen).trim_start_matches('\n').to_owned();
    let shown = || COLUMNS.iter().filter(|&&(class, _, _)| !profile.total.class(class).is_empty());
    let bins = counts(profile, MessageClass::PointToPoint, true).len();
    let header = std::iter::once("messages of").chain(shown().map(|&(_, _, name)| name));
    let mut cells = CellTable::new(header).left(0);
    for bin in first..=last {
        let mut row = vec![if views.screen.unicode {
            label(bin, bins)
        } else {
            label(bin, bins).replace('–', " to ").replace('≥', ">=")
        }];
        let count = |&(class, sent, _): &(MessageClass, bool, &str)| {
            compact(counts(profile, class, sent).get(bin).copied().unwrap_or(0))
        };
        row.extend(shown().map(count));
        cells.row(row);
    }
    ViewBody::default()
        .characters(characters)
        .long_table("Messages by size", cells)
        .note("Numbers of messages of all ranks; a size that is a bound belongs to the next row.")
}

/// What was sent, by size.
pub(super) fn chart(profile: &MpiProfile) -> Bars {
    let bins = counts(profile, MessageClass::PointToPoint, true).len();
    let range = || span(profile).map(|(first, last)| first..=last).into_iter().flatten();
    let mut bars = Bars::new(
        BarPlaces::Categories(range().map(|bin| label(bin, bins)).collect()),
        Quantity::new("Size", AxisUnit::Count),
        Quantity::new("Messages", AxisUnit::Count),
    );
    bars.arrangement = Arrangement::Beside;
    for (class, sent, name) in DRAWN {
        let of = counts(profile, class, sent);
        let all: u128 = of.iter().sum();
        if all > 0 {
            let values = range().map(|bin| of.get(bin).map(|count| *count as f64));
            let mut series = Series::new(name, values);
            series.note = format!("({})", AxisUnit::Count.value(all as f64, 4));
            bars.series.push(series);
        }
    }
    bars.caption.title = "Messages sent, by size".to_owned();
    bars.caption.subtitle = super::heading::first_line(profile);
    bars.caption.notes = vec![
        "A size that is a bound belongs to the next bar. What was received is in the tables."
            .to_owned(),
    ];
    bars
}

/// A row for each bin of each class and direction that has messages.
pub(super) fn csv(profile: &MpiProfile) -> String {
    let mut cells = CellTable::new(["class", "direction", "from_bytes", "to_bytes", "messages"]);
    each(profile, |class, direction, (from, to), messages| {
        cells.row([
            class.to_owned(),
            direction.to_owned(),
            from.to_string(),
            to.map(|to| (to - 1).to_string()).unwrap_or_default(),
            messages.to_string(),
        ]);
    });
    cells.csv()
}

/// Calls `tell` for each bin with messages: class, direction, bounds, messages.
fn each(profile: &MpiProfile, mut tell: impl FnMut(&str, &str, (u64, Option<u64>), u128)) {
    for class in CLASSES {
        for (is_sent, direction) in [(true, "sent"), (false, "received")] {
            let of = counts(profile, class, is_sent);
            for (bin, &messages) in of.iter().enumerate().filter(|(_, count)| **count > 0) {
                tell(class.name(), direction, bounds(bin, of.len()), messages);
            }
        }
    }
}

/// The same for JSON.
pub(super) fn value(profile: &MpiProfile) -> Value {
    let mut all = Vec::new();
    each(profile, |class, direction, (from, to), messages| {
        all.push(json!({
            "class": class,
            "direction": direction,
            "from_bytes": from,
            "to_bytes": to.map(|to| to - 1),
            "messages": number(messages),
        }));
    });
    all.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use topas_mpi_profile::layout::{BINS, bin};

    #[test]
    fn bounds_are_those_of_the_bins() {
        for at in 0..BINS {
            let (from, to) = bounds(at, BINS);
            assert_eq!(bin(from), at);
            match to {
                Some(to) => assert_eq!((bin(to - 1), bin(to)), (at, at + 1)),
                None => assert_eq!((at, bin(u64::MAX)), (BINS - 1, BINS - 1)),
            }
        }
        let labels = [0, 1, 2, 10, 11, 12, 21, 39].map(|at| label(at, BINS));
        let expected = [
            "0 B",
            "1 B",
            "2 B–4 B",
            "512 B–1 KiB",
            "1 KiB–2 KiB",
            "2 KiB–4 KiB",
            "1 MiB–2 MiB",
            "≥256 GiB",
        ];
        assert_eq!(labels, expected);
    }
}
