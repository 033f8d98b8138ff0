//! By which function one was called that calls MPI, where it is called by several: the first that tells their paths apart.

use topas_mpi_data::{LaunchPath, SourceFrame};

use super::paths::{PathViews, in_short};

/// `, called by solve (halo.c:30)`, or `, mostly called by ...` if so are most but not all of some amounts, which are those of
/// paths of the same routine. Empty if the function is called from one place only, or from none that has most, or if nobody knows
/// where in the source that is: callers without a source file are those of runtime libraries. Without amounts it is that of this
/// path alone.
pub(super) fn caller(
    views: &PathViews,
    path: &LaunchPath,
    amounts: &[(&LaunchPath, u128)],
) -> String {
    let own = views.frames(path);
    // Frames in words are made for those paths alone that call from the same place.
    let is_near = |other: &&LaunchPath| other.sums.frames.first() == path.sums.frames.first();
    let near = views.paths.paths.iter().filter(is_near);
    let forks = near.filter_map(|other| fork(&own, &views.frames(other)));
    let at = forks.min();
    let called_by = at.and_then(|at| own.get(at)).filter(|frame| frame.file.is_some());
    let (Some(at), Some(called_by)) = (at, called_by) else { return String::new() };
    let (mut all, mut by_it) = (0, 0);
    for (other, amount) in amounts.iter().filter(|(other, _)| is_near(other)) {
        let frames = views.frames(other);
        if frames.first() == own.first() {
            all += amount;
        }
        if frames.get(..=at) == own.get(..=at) {
            by_it += amount;
        }
    }
    match by_it {
        _ if 2 * by_it < all => String::new(),
        _ if by_it == all => format!(", called by {}", in_short(called_by)),
        _ => format!(", mostly called by {}", in_short(called_by)),
    }
}

/// At which function two paths part; None if that which calls MPI is another, or all are the same.
fn fork(own: &[SourceFrame], other: &[SourceFrame]) -> Option<usize> {
    let same = own.iter().zip(other).take_while(|(own, other)| own == other).count();
    (same > 0 && (same < own.len() || same < other.len())).then_some(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_part_at_the_first_function_that_differs() {
        let path = |names: &[&str]| -> Vec<SourceFrame> {
            let frame = |name: &&str| SourceFrame {
                function: Some((*name).to_owned()),
                ..SourceFrame::default()
            };
            names.iter().map(frame).collect()
        };
        let fork = |own: &[&str], other: &[&str]| super::fork(&path(own), &path(other));
        assert_eq!(fork(&["send", "solve", "main"], &["send", "load", "main"]), Some(1));
        assert_eq!(fork(&["send", "put", "solve"], &["send", "put"]), Some(2));
        assert_eq!(fork(&["send", "solve"], &["send", "solve"]), None);
        assert_eq!(fork(&["send", "solve"], &["recv", "solve"]), None);
    }
}
