//! Whom call paths waited for: the rank, the path by which that one came to MPI, and how closely the
//! two are in step.

use serde_json::{Value, json};
use topas_mpi_data::{Blame, LaunchPartner, LaunchPath, Slack};

use super::Views;
use super::body::ViewBody;
use super::cells::CellTable;
use super::json::{number, seconds as json_seconds};
use super::paths::{PathViews, routine};
use crate::number::{NONE, compact, exact_seconds, machine, percent_of, seconds};

/// Paths in text for people.
const PATHS_SHOWN: usize = 20;

/// Partners of a path in text for people.
const PARTNERS_SHOWN: usize = 5;

const NOT_TOLD: &str =
    "Partners of call paths were not told: run with topas-run --mpi=waits,paths.";

/// Whether some path has partners.
pub(super) fn has_partners(of: &PathViews) -> bool {
    !with_partners(of).is_empty()
}

/// Paths with partners, that with the longest waits first.
fn with_partners(of: &PathViews) -> Vec<&LaunchPath> {
    let mut paths: Vec<&LaunchPath> =
        of.paths.paths.iter().filter(|path| !path.partners.is_empty()).collect();
    paths.sort_by_key(|path| std::cmp::Reverse(waited(path)));
    paths
}

/// What all ranks waited by this path, in ns.
fn waited(path: &LaunchPath) -> u128 {
    path.amounts().waits.iter().sum()
}

/// Where a partner came from.
fn its_path(views: &Views<'_>, of: &PathViews, partner: &LaunchPartner) -> String {
    let path = partner.peer_path.and_then(|id| of.paths.path(id));
    path.map_or_else(
        || NONE.to_owned(),
        |path| format!("{}, {}", routine(views, path), of.innermost_in_full(path)),
    )
}

/// The limits of the class that a median is in: `2 to 4 us`, `-8 to -4 us`.
fn median(slack: &Slack) -> String {
    match slack.median() {
        None => NONE.to_owned(),
        Some((Some(from), Some(to))) => format!("{from} to {to}"),
        Some((Some(from), None)) => format!("over {from}"),
        Some((None, Some(to))) => format!("below {to}"),
        Some((None, None)) => NONE.to_owned(),
    }
}

/// A table for each path.
pub(super) fn body(views: &Views<'_>) -> ViewBody {
    let Some(of) = &views.paths else { return ViewBody::default().prose(NOT_TOLD) };
    let paths = with_partners(of);
    if paths.is_empty() {
        return ViewBody::default().prose(NOT_TOLD);
    }
    let mut body = ViewBody::default();
    let shown = views.order.top.unwrap_or(PATHS_SHOWN);
    for path in paths.iter().take(shown) {
        let amounts = path.amounts();
        let all = waited(path);
        body = body.prose(format!(
            "{} by {}: {} s, {} of these waiting",
            routine(views, path),
            of.line(path),
            seconds(amounts.time, 6),
            percent_of(all, amounts.time)
        ));
        let mut cells = CellTable::new([
            "rank",
            "waited s",
            "share %",
            "late %",
            "calls seen",
            "slack < 1 us %",
            "median slack us",
            "its call",
        ])
        .words();
        for partner in path.partners.iter().take(PARTNERS_SHOWN) {
            let Blame { late, .. } = partner.blame;
            let seen = partner.slack.calls();
            cells.row([
                partner.peer.to_string(),
                seconds(partner.blame.time(), 6),
                percent_of(partner.blame.time(), all),
                percent_of(late.calls, seen),
                compact(seen),
                percent_of(partner.slack.stiff(), seen),
                median(&partner.slack),
                its_path(views, of, partner),
            ]);
        }
        body = body.table("Partners", cells).joined();
        if let Some(rest) = path.partners.get(PARTNERS_SHOWN..).filter(|rest| !rest.is_empty()) {
            let time: u128 = rest.iter().map(|partner| partner.blame.time()).sum();
            let text = format!("{} further partners: {} s.", rest.len(), seconds(time, 6));
            body = body.note(text).joined();
        }
    }
    if let Some(rest) = paths.get(shown..).filter(|rest| !rest.is_empty()) {
        let time: u128 = rest.iter().map(|path| waited(path)).sum();
        let what = format!("{} further paths waited {} s", rest.len(), seconds(time, 6));
        body = body.note(format!("{what}; --csv has all."));
    }
    body.note(
        "Share: of what was waited by the path. Calls seen: those that took so long that the moment \
         of sending was looked at (more than 1 us, up to 4 us where messages take longer); shorter \
         calls are in no column. Late: of the calls seen, those whose message was sent after they \
         had begun. Slack: how long before the call its last message was sent; negative if it was \
         late. Waits in collectives and for receivers have no slack.",
    )
}

/// The same as data: all partners of all paths.
pub(super) fn csv(views: &Views<'_>) -> String {
    let mut cells = CellTable::new([
        "path",
        "routine",
        "callers",
        "partner_rank",
        "partner_path",
        "partner_callers",
        "late_sender_calls",
        "late_sender_seconds",
        "late_receiver_calls",
        "late_receiver_seconds",
        "collective_calls",
        "collective_seconds",
        "calls_seen",
        "calls_slack_below_1us",
        "median_slack_from_us",
        "median_slack_to_us",
    ]);
    let Some(of) = &views.paths else { return cells.csv() };
    for path in with_partners(of) {
        for partner in &path.partners {
            let Blame { late, late_receiver, collective } = partner.blame;
            let its = partner.peer_path.and_then(|id| of.paths.path(id));
            let limit = |limit: Option<i64>| limit.map(|us| us.to_string()).unwrap_or_default();
            let (from, to) = partner.slack.median().unwrap_or_default();
            let mut row = vec![
                format!("{:016x}", path.id),
                routine(views, path),
                of.line(path),
                partner.peer.to_string(),
                its.map(|path| format!("{:016x}", path.id)).unwrap_or_default(),
                its.map(|path| of.line(path)).unwrap_or_default(),
            ];
            for waiting in [late, late_receiver, collective] {
                row.extend([waiting.calls.to_string(), exact_seconds(waiting.time)]);
            }
            row.extend([partner.slack.calls().to_string(), partner.slack.stiff().to_string()]);
            row.extend([limit(from), limit(to)]);
            cells.row(row);
        }
    }
    cells.csv()
}

/// The partners of a path, for JSON.
pub(super) fn value(path: &LaunchPath) -> Value {
    let partner = |partner: &LaunchPartner| {
        let Blame { late, late_receiver, collective } = partner.blame;
        let seen = partner.slack.calls();
        let stiff = (seen > 0).then(|| machine(partner.slack.stiff() as f64 / seen as f64));
        let (from, to) = partner.slack.median().unwrap_or_default();
        let ranks: Vec<Value> = partner
            .ranks
            .iter()
            .map(|(rank, time)| json!({ "rank": rank, "waited_seconds": json_seconds(*time) }))
            .collect();
        json!({
            "rank": partner.peer,
            "path": partner.peer_path.map(|id| format!("{id:016x}")),
            "late_sender_calls": number(late.calls),
            "late_sender_seconds": json_seconds(late.time),
            "late_receiver_calls": number(late_receiver.calls),
            "late_receiver_seconds": json_seconds(late_receiver.time),
            "collective_calls": number(collective.calls),
            "collective_seconds": json_seconds(collective.time),
            "calls_seen": number(seen),
            "stiffness": stiff,
            "median_slack_us": [from, to],
            "ranks": ranks,
        })
    };
    path.partners.iter().map(partner).collect()
}
