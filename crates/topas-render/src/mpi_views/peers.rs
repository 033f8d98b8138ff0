//! What ranks sent to each other: point-to-point messages, and access to memory of others.

use serde_json::{Value, json};
use topas_mpi_data::{MpiProfile, TrafficSums};

use super::Views;
use super::body::ViewBody;
use super::cells::CellTable;
use super::json::number;
use super::matrix::Matrix;
use crate::number::{NONE, compact};
use crate::wording::{count, paragraph};
use topas_chart::{AxisUnit, Chart, HeatMatrix, Quantity};

/// What is shown of a pair; a row is of the rank that counted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Bytes sent
    Sent,
    /// Messages sent
    Sends,
    /// Bytes received
    Received,
    /// Messages received
    Receives,
}

impl Direction {
    fn of(self, traffic: &TrafficSums) -> u128 {
        match self {
            Direction::Sent => traffic.sent,
            Direction::Sends => traffic.sends,
            Direction::Received => traffic.received,
            Direction::Receives => traffic.receives,
        }
    }

    const fn sends(self) -> bool {
        matches!(self, Direction::Sent | Direction::Sends)
    }

    /// As the title of a picture.
    pub(super) fn title(self) -> String {
        format!("{} between ranks", self.quantity().0)
    }

    const fn quantity(self) -> (&'static str, AxisUnit) {
        match self {
            Direction::Sent => ("Bytes sent", AxisUnit::Si("B")),
            Direction::Sends => ("Messages sent", AxisUnit::Count),
            Direction::Received => ("Bytes received", AxisUnit::Si("B")),
            Direction::Receives => ("Messages received", AxisUnit::Count),
        }
    }

    /// Its name in JSON: that of the matrix of ranks by routines.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Sent => Matrix::Sent.name(),
            Direction::Sends => Matrix::Sends.name(),
            Direction::Received => Matrix::Received.name(),
            Direction::Receives => Matrix::Receives.name(),
        }
    }
}

/// Whether peers were counted of any rank.
pub(super) fn are_counted(profile: &MpiProfile) -> bool {
    profile.ranks.iter().any(|rank| !rank.sums.peers.is_empty())
}

/// Ranks of the world: those it was started with, or that are known.
fn size(profile: &MpiProfile) -> usize {
    let known = profile.ranks.iter().flat_map(|rank| {
        let peers = rank.sums.peers.iter().filter_map(|peer| peer.rank);
        peers.chain([rank.rank])
    });
    let known = known.max().map_or(0, |last| last as usize + 1);
    profile.facts.npes.map_or(known, |npes| (npes as usize).max(known))
}

/// Traffic with processes outside of the world.
fn others(profile: &MpiProfile, direction: Direction) -> u128 {
    let peers = profile.ranks.iter().flat_map(|rank| &rank.sums.peers);
    peers.filter(|peer| peer.rank.is_none()).map(|peer| direction.of(&peer.traffic)).sum()
}

/// The matrix as a chart.
pub(super) fn chart(profile: &MpiProfile, direction: Direction) -> HeatMatrix {
    let (name, unit) = direction.quantity();
    let size = size(profile);
    let mut matrix = HeatMatrix::new(Quantity::new(name, unit), size);
    let (row, column) =
        if direction.sends() { ("sender", "receiver") } else { ("receiver", "sender") };
    (matrix.row, matrix.column) = (row.to_owned(), column.to_owned());
    let counted = are_counted(profile);
    let mut measured = vec![false; size];
    for rank in profile.ranks.iter().filter(|_| counted) {
        measured.get_mut(rank.rank as usize).into_iter().for_each(|measured| *measured = true);
        for peer in &rank.sums.peers {
            let value = direction.of(&peer.traffic);
            if let (Some(to), true) = (peer.rank, value > 0) {
                matrix.values.push((rank.rank, to, value as f64));
            }
        }
    }
    matrix.missing =
        (0..).zip(&measured).filter(|(_, measured)| !**measured).map(|(rank, _)| rank).collect();
    matrix.caption.title = direction.title();
    matrix.caption.subtitle = super::heading::first_line(profile);
    matrix.caption.notes = notes(profile, direction);
    matrix
}

fn notes(profile: &MpiProfile, direction: Direction) -> Vec<String> {
    let mut notes = vec![
        "Point-to-point messages and access to memory of others; collectives have no peers."
            .to_owned(),
    ];
    let others = others(profile, direction);
    if others > 0 {
        let (name, unit) = direction.quantity();
        notes.push(format!(
            "With processes outside of the world: {} {}.",
            unit.value(others as f64, 4),
            name.to_lowercase()
        ));
    }
    notes
}

/// Numbers if they fit, else signs for classes.
pub(super) fn body(views: &Views<'_>, direction: Direction) -> ViewBody {
    let profile = views.profile;
    if !are_counted(profile) {
        return ViewBody::default().prose(
            "Peers were not counted, or the ranks are not told one by one: run with \
             TOPAS_MPI_PEERS=yes.",
        );
    }
    ViewBody::default().characters(characters(views, direction))
}

/// The numbers as far as the terminal is wide enough, or else a picture of them.
fn characters(views: &Views<'_>, direction: Direction) -> String {
    let profile = views.profile;
    let size = size(profile);
    // A column is four wide at least.
    if size * 4 <= views.screen.width {
        let table = numbers(profile, direction, size);
        if table.lines().all(|line| line.chars().count() <= views.screen.width) {
            let (name, unit) = direction.quantity();
            let unit = if unit == AxisUnit::Count { "" } else { " (B)" };
            let (row, column) =
                if direction.sends() { ("sender", "receiver") } else { ("receiver", "sender") };
            let mut out = format!("{name}{unit}: {row}s down, {column}s from left to right\n\n");
            out += &table;
            out.push('\n');
            for note in notes(profile, direction) {
                out += &paragraph(&note, views.columns());
            }
            return out;
        }
    }
    let mut chart = chart(profile, direction);
    chart.caption.title.clear();
    chart.caption.subtitle.clear();
    chart.terminal(views.screen)
}

fn numbers(profile: &MpiProfile, direction: Direction, size: usize) -> String {
    let header: Vec<String> = (0..size).map(|rank| rank.to_string()).collect();
    let mut cells =
        CellTable::new(std::iter::once("rank").chain(header.iter().map(String::as_str))).left(0);
    for row in 0..size {
        let rank = profile.ranks.iter().find(|rank| rank.rank as usize == row);
        let mut line = vec![row.to_string()];
        match rank {
            None => line.extend(vec![NONE.to_owned(); size]),
            Some(rank) => {
                let mut values = vec![0u128; size];
                for peer in &rank.sums.peers {
                    let cell = peer.rank.and_then(|to| values.get_mut(to as usize));
                    cell.into_iter().for_each(|cell| *cell += direction.of(&peer.traffic));
                }
                line.extend(values.into_iter().map(compact));
            }
        }
        cells.row(line);
    }
    cells.aligned(2)
}

/// A row for each pair with traffic; the peer is empty for processes outside of the world.
pub(super) fn csv(profile: &MpiProfile) -> String {
    let mut cells =
        CellTable::new(["rank", "peer", "sends", "sent_bytes", "receives", "received_bytes"]);
    for rank in &profile.ranks {
        for peer in &rank.sums.peers {
            let TrafficSums { sends, sent, receives, received } = peer.traffic;
            cells.row([
                rank.rank.to_string(),
                peer.rank.map(|peer| peer.to_string()).unwrap_or_default(),
                sends.to_string(),
                sent.to_string(),
                receives.to_string(),
                received.to_string(),
            ]);
        }
    }
    cells.csv()
}

/// The same for JSON; null if peers were not counted.
pub(super) fn value(profile: &MpiProfile) -> Value {
    if !are_counted(profile) {
        return Value::Null;
    }
    let mut pairs = Vec::new();
    for rank in &profile.ranks {
        for peer in &rank.sums.peers {
            pairs.push(json!({
                "rank": rank.rank,
                "peer": peer.rank,
                "sends": number(peer.traffic.sends),
                "sent_bytes": number(peer.traffic.sent),
                "receives": number(peer.traffic.receives),
                "received_bytes": number(peer.traffic.received),
            }));
        }
    }
    json!({ "ranks": size(profile), "pairs": pairs })
}

/// How many pairs have traffic, for the overview.
pub(super) fn summary(profile: &MpiProfile) -> Option<String> {
    are_counted(profile).then(|| {
        let pairs: usize = profile.ranks.iter().map(|rank| rank.sums.peers.len()).sum();
        format!("Peers were counted: {} have traffic (--peers).", count(pairs as u64, "pair"))
    })
}
