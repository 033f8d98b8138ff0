//! The launch of event logs that is shown, and what is said of it on standard error: that there are others, which ranks
//! are not in the logs, and which did not come to their end. One rule for all that reads logs.

use topas_format::shown::Shown;
use topas_mpi_data::{
    TraceLog, absent_in_words, absent_ranks, launch_of, launches_in, launches_in_words,
    ranks_in_words, several_launches_in_words,
};

use crate::{TOOL, exit};

/// The launch that is meant, by its id: the newest, or that of `--launch`. If there are others and none was named, this
/// is said. The Err is the exit code, if there is no such launch; that has been said, too.
pub fn chosen(logs: &[TraceLog], wanted: Option<&str>) -> Result<String, u8> {
    let launches = launches_in(logs);
    let Some(id) = launch_of(&launches, wanted) else {
        let what = format!("no launch {} in the logs", Shown(wanted.unwrap_or("").as_bytes()));
        TOOL.error(&what, None, &format!("there are: {}", launches_in_words(&launches)));
        return Err(exit::FAILED);
    };
    if let Some(words) = several_launches_in_words(&launches).filter(|_| wanted.is_none()) {
        TOOL.say(&words);
    }
    Ok(id.to_owned())
}

/// Says which ranks of a launch are not in the logs, of these ranks or of all: whether some are missing. Of a file that
/// was cut, this has been said with the rest of its damage.
pub fn lacks_ranks(logs: &[TraceLog], launch: &str, asked: &[u32]) -> bool {
    let (mut absent, size) = absent_ranks(logs, launch);
    absent.retain(|rank| asked.is_empty() || asked.contains(rank));
    if let Some(words) = absent_in_words(logs, &absent, size) {
        TOOL.warning(&words, None, "name the logs of all hosts");
    }
    !absent.is_empty()
}

/// That ranks ended without `MPI_Finalize`, in words; None if none did.
pub fn unfinished_in_words(ranks: &[u32]) -> Option<String> {
    (!ranks.is_empty()).then(|| {
        let (plural, its) = if ranks.len() == 1 { ("", "its") } else { ("s", "their") };
        let which = ranks_in_words(ranks);
        format!("rank{plural} {which} ended without MPI_Finalize: {its} end is not in the log")
    })
}
