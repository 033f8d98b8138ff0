//! The profile on one page of HTML, without script and without other files.

use maud::{Markup, html};

use super::body::ViewBody;
use super::{Direction, View, Views};
use super::{communicators, culprit, heading, partners, peers, sizes, waits};
use crate::html::{document, figure, section};
use crate::wording::{count, programs};

/// The name of a view's section, and the title above it.
fn title(view: View) -> (String, String) {
    let (id, title) = match view {
        View::Overview => ("overview", "What stands out"),
        View::Matrix(matrix) => {
            let name = matrix.name();
            return (format!("matrix-{name}"), format!("Ranks by routines: {name}"));
        }
        View::Routines => ("routines", "Routines"),
        View::Efficiency => ("efficiency", "Efficiency"),
        View::Peers(direction) => return ("peers".to_owned(), direction.title()),
        View::Sizes => ("sizes", "Messages by size"),
        View::Communicators => ("communicators", "Communicators"),
        View::Waits => ("waits", "Waits"),
        View::Metrics => ("metrics", "Processes, memory of others, and files"),
        View::Paths => ("paths", "Call paths"),
        View::Partners => ("partners", "Partners of call paths"),
        View::Counters => ("counters", "Hardware counters"),
        View::Switches => ("switches", "Environment switches of the MPI"),
    };
    (id.to_owned(), title.to_owned())
}

/// The overview, and all views of which the profile has figures.
fn all(views: &Views<'_>) -> Vec<View> {
    let profile = views.profile;
    let paths = views.paths.as_ref();
    let known = [
        (true, View::Overview),
        (waits::are_measured(profile), View::Waits),
        (paths.is_some_and(|of| !of.paths.paths.is_empty()), View::Paths),
        (paths.is_some_and(partners::has_partners), View::Partners),
        (!profile.total.routines.is_empty(), View::Routines),
        (peers::are_counted(profile), View::Peers(Direction::Sent)),
        (sizes::are_counted(profile), View::Sizes),
        (communicators::are_counted(profile), View::Communicators),
        (!profile.total.counters.is_empty(), View::Counters),
        (!profile.facts.switches.is_empty(), View::Switches),
    ];
    known.into_iter().filter(|(known, _)| *known).map(|(_, view)| view).collect()
}

/// The page of these views; without any, of all that are known.
pub(super) fn page(views: &Views<'_>, asked: &[View]) -> String {
    let profile = views.profile;
    let shown = if asked.is_empty() { all(views) } else { asked.to_vec() };
    let title = format!(
        "{}: MPI calls of {}",
        programs(&profile.facts.exe, &profile.facts.other_exes, profile.scripts()),
        count(profile.total.ranks, "rank")
    );
    let has_sentence = shown.iter().any(|view| matches!(view, View::Overview | View::Waits));
    let sentence = culprit::first_sentence(profile, views.paths.as_ref()).filter(|_| !has_sentence);
    document(
        &title,
        &html! {
            h1 { (title) }
            @for line in heading::heading(profile).lines() { p.soft { (line) } }
            @for note in heading::note_list(views) { p.note { (note) } }
            (sentence.into_iter().fold(ViewBody::default(), ViewBody::prose).markup())
        },
        &html! { @for view in shown { (view_section(views, view)) } },
        &html! {
            p.note {
                "Made by topasview --mpi, a tool of TOPAS. Times are in seconds (s), summed over the \
                 ranks unless a column names a rank. This page is one file and has no scripts."
            }
        },
    )
}

/// The section of a view: its picture, if it has one that shows something, and its body.
fn view_section(views: &Views<'_>, view: View) -> Markup {
    let profile = views.profile;
    let has_picture = match view {
        View::Peers(_) => peers::are_counted(profile),
        View::Sizes => sizes::are_counted(profile),
        View::Overview | View::Efficiency => topas_mpi_data::efficiency(profile).is_ok(),
        _ => false,
    };
    let picture = views.picture(view).filter(|_| has_picture);
    let (id, title) = title(view);
    section(
        &id,
        &title,
        &html! {
            (views.body(view).markup())
            @if let Some(picture) = picture { (figure(&*picture)) }
            @if matches!(view, View::Peers(_)) && has_picture {
                p.note { "topasview --mpi --peers --csv has the numbers." }
            }
        },
    )
}
