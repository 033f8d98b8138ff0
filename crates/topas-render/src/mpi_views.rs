//! The MPI profile of a launch as text, as data and as pictures.
//!
//! [`Views`] is a profile with what the views need beside it; each [`View`] is a file of its
//! own. Text for people is no interface, but for the matrices, which have the form of SGI's
//! MPInside and are meant for awk; CSV and JSON are.

mod absent;
mod alike;
mod amount;
mod between;
mod body;
mod callers;
mod cells;
mod charge;
mod charged_rank;
mod communicators;
mod compare;
mod counters;
mod culprit;
mod efficiency;
mod ended;
mod followed;
mod function_name;
mod heading;
mod held_up;
mod json;
mod late_to_init;
mod launches;
mod matrix;
mod metrics;
mod open_messages;
mod order;
mod overview;
mod page;
mod partners;
mod paths;
mod peers;
mod routines;
mod sizes;
mod standing;
mod switches;
mod waited_place;
mod waiting;
mod waits;
mod worlds;

use topas_mpi_data::{Calibration, MpiProfile};

use topas_chart::{Chart, Screen};

pub use absent::absent_ranks;
pub(crate) use alike::as_long;
use body::ViewBody;
pub use charged_rank::ChargedRank;
pub use compare::{compare_csv, compare_json, compare_text};
pub use culprit::charged_rank;
pub(crate) use culprit::{measured, sentence};
pub use heading::{crowded_node, paused, shared_processors};
pub use json::SCHEMA;
pub(crate) use late_to_init::sentence as late_to_init;
pub use launches::{launches, launches_csv};
pub use matrix::{MATRICES, Matrix};
pub use order::{MpiOrder, MpiSort};
pub use paths::PathViews;
pub use peers::Direction;
pub use routines::{RoutineTime, ShownRoutines};
pub(crate) use routines::{
    UNCALIBRATED, language_words, mpi_share_words, overhead_words, seconds_and_hours,
};
pub use standing::{
    CallPlaces, call_places, call_words, ending_words, standing_words, standstill_words,
};
pub(crate) use waited_place::places_waited;
pub use waited_place::{WaitKind, where_waited};
pub use worlds::{
    WorldViews, link_started_by, started_by, starter, starters_in_words, worlds_in_words,
};

/// What can be shown of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// What stands out: share of MPI, efficiencies, the routines that took longest
    Overview,
    /// Ranks by routines
    Matrix(Matrix),
    /// Routines, with estimates of what their time was spent on
    Routines,
    /// Efficiencies in the scheme of POP
    Efficiency,
    /// What ranks sent to each other
    Peers(Direction),
    /// Messages by size
    Sizes,
    /// Communicators
    Communicators,
    /// Why ranks waited for each other
    Waits,
    /// Metrics of MPI-2's features by the names of K. Mohror
    Metrics,
    /// Callers
    Paths,
    /// Whom callers waited for
    Partners,
    /// Hardware counters inside and outside of MPI
    Counters,
    /// Environment switches of the MPI
    Switches,
}

/// A profile and what is known beside it.
pub struct Views<'v> {
    /// The profile
    pub profile: &'v MpiProfile,
    /// What routines cost on this machine
    pub calibration: Option<&'v Calibration>,
    /// Processors of the node that all ranks ran on, if they are known
    pub processors: Option<u64>,
    /// The command that replays the event log of the launch, if there is one
    pub replay: Option<String>,
    /// Call paths, if they are to be shown and were counted
    pub paths: Option<PathViews>,
    /// What the launch has to do with other worlds
    pub worlds: WorldViews,
    /// The order of rows, and how many are shown
    pub order: MpiOrder,
    /// What the terminal can show
    pub screen: Screen,
}

impl Views<'_> {
    fn columns(&self) -> usize {
        self.screen.width.min(crate::PROSE_WIDTH)
    }

    /// A view as text, without heading.
    pub fn text(&self, view: View) -> String {
        self.body(view).text(self)
    }

    fn body(&self, view: View) -> ViewBody {
        match view {
            View::Overview => overview::body(self),
            View::Matrix(of) => {
                ViewBody::default().lines("Ranks by routines", matrix::text(self.profile, of))
            }
            View::Routines => routines::body(self),
            View::Efficiency => efficiency::body(self),
            View::Peers(direction) => peers::body(self, direction),
            View::Sizes => sizes::body(self),
            View::Communicators => communicators::body(self),
            View::Waits => waits::body(self),
            View::Metrics => metrics::body(self),
            View::Paths => paths::body(self),
            View::Partners => partners::body(self),
            View::Counters => counters::body(self),
            View::Switches => ViewBody::default().lines("Switches", switches::text(self.profile)),
        }
    }

    /// The views on one page of HTML; without any, all of which the profile has figures. Its tables
    /// do not depend on the width of the screen.
    pub fn page(&self, views: &[View]) -> String {
        page::page(self, views)
    }

    /// The table of [`View::Routines`] in parts.
    pub fn routines(&self) -> ShownRoutines {
        routines::shown(self)
    }

    /// Views as comma separated values with one header: one view, or matrices.
    pub fn csv(&self, views: &[View]) -> String {
        let matrix = |view: &View| if let View::Matrix(of) = view { Some(*of) } else { None };
        let matrices: Vec<Matrix> = views.iter().filter_map(matrix).collect();
        match views.first() {
            Some(View::Matrix(_)) => matrix::csv(self.profile, &matrices),
            Some(View::Routines | View::Overview) => routines::csv(self),
            Some(View::Efficiency) => efficiency::csv(self.profile),
            Some(View::Peers(_)) => peers::csv(self.profile),
            Some(View::Sizes) => sizes::csv(self.profile),
            Some(View::Communicators) => communicators::csv(self.profile),
            Some(View::Waits) => waits::csv(self),
            Some(View::Metrics) => metrics::csv(self.profile),
            Some(View::Paths) => paths::csv(self),
            Some(View::Partners) => partners::csv(self),
            Some(View::Counters) => counters::csv(self.profile),
            Some(View::Switches) => switches::csv(self.profile),
            None => String::new(),
        }
    }

    /// One JSON object of the views.
    pub fn json(&self, views: &[View]) -> String {
        json::json(self, views)
    }

    /// A view as a picture; None where it has none.
    pub fn picture(&self, view: View) -> Option<Box<dyn Chart>> {
        match view {
            View::Peers(direction) => Some(Box::new(peers::chart(self.profile, direction))),
            View::Sizes => Some(Box::new(sizes::chart(self.profile))),
            View::Efficiency | View::Overview => Some(Box::new(efficiency::chart(self))),
            _ => None,
        }
    }

    /// Heading, notes and views, one blank line between them. What names the ranks that stand still or were lost,
    /// and the rank for which the others wait, stands above the notes.
    pub fn text_with_heading(&self, views: &[View]) -> String {
        let (first, others) = views.split_at(1.min(views.len()));
        let names_a_rank = |view: &&View| {
            matches!(view, View::Overview | View::Waits)
                && (waits::are_measured(self.profile) || standing::is_told(self.profile))
        };
        let mut parts = vec![self.heading()];
        let mut body = first.first().map(|view| self.body(*view)).unwrap_or_default();
        let mut sentence = ViewBody::default();
        if first.iter().any(|view| names_a_rank(&view)) {
            (sentence, body) = body.split_first();
        }
        parts.extend([sentence.text(self), self.notes(), body.text(self)]);
        parts.extend(others.iter().map(|view| self.text(*view)));
        parts.retain(|part| !part.is_empty());
        parts.join("\n")
    }

    /// The launch in lines: program, ranks, when, MPI, how it ended.
    pub fn heading(&self) -> String {
        heading::heading(self.profile)
            .lines()
            .map(|line| crate::wording::paragraph(line, self.screen.width))
            .collect()
    }

    /// The host that all ranks of a profile ran on, if it is one and that is known.
    pub fn host(profile: &MpiProfile) -> Option<&[u8]> {
        let hosts = heading::hosts(profile);
        if hosts.len() == 1 { hosts.first().copied() } else { None }
    }

    /// What must be known to read the figures: what was not counted, whose ranks are missing,
    /// what the measurement took; a paragraph each.
    pub fn notes(&self) -> String {
        heading::notes(self)
    }
}
