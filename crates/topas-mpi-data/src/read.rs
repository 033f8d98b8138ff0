//! Profiles from lines: of the center's log, and of files of users.

use std::io::Read;

use topas_data::{Period, Source, SourceError, Tally, scan_profiles, scan_profiles_of};
use topas_mpi_profile::parse::Line;

use super::launch_profile;
use super::profile::MpiProfile;
use super::record::Records;

/// What was read.
pub struct Profiles {
    /// The launches, the one that ended last first
    pub profiles: Vec<MpiProfile>,
    /// What became of the lines; log lines of runs are passed over, and counted as good
    pub tally: Tally,
}

/// Reads the profiles in all sources. What is bad is counted; a source that cannot be read, or
/// not to its end, is told, and the others are read. `progress` gets the number of bytes read so
/// far, compressed as they are.
pub fn read_profiles(
    sources: &[Source],
    progress: &mut dyn FnMut(u64),
) -> (Profiles, Vec<SourceError>) {
    let mut records = Records::default();
    let (tally, failures) =
        scan_profiles(sources, progress, &mut |text, owner| records.line(text, owner));
    (put_together(records, tally), failures)
}

/// The same of what ended in a period; lines of other days take no memory, and are counted as good
/// whatever is in them.
pub fn read_profiles_in(
    sources: &[Source],
    period: Period,
    progress: &mut dyn FnMut(u64),
) -> (Profiles, Vec<SourceError>) {
    let mut records = Records::default();
    let (tally, failures) =
        scan_profiles(sources, progress, &mut |text, owner| match Line::parse(text) {
            Ok(line) if !period.has_day(line.at.date) => Ok(()),
            _ => records.line(text, owner),
        });
    (put_together(records, tally), failures)
}

/// The same of the launches with this id alone; lines of others take no memory, and are counted
/// as good whatever is in them.
pub fn read_launch_profiles(
    sources: &[Source],
    id: &[u8],
    progress: &mut dyn FnMut(u64),
) -> (Profiles, Vec<SourceError>) {
    let mut records = Records::default();
    let (tally, failures) =
        scan_profiles(sources, progress, &mut |text, owner| match Line::parse(text) {
            Ok(line) if !line.id.bytes().eq(id.iter().copied()) => Ok(()),
            _ => records.line(text, owner),
        });
    (put_together(records, tally), failures)
}

/// The same from any reader of plain or compressed lines; `source` is what messages call it.
pub fn read_profiles_of(
    source: &Source,
    text: impl Read + Send,
) -> (Profiles, Option<SourceError>) {
    let mut records = Records::default();
    let (tally, failure) =
        scan_profiles_of(source, text, &mut |text, owner| records.line(text, owner));
    (put_together(records, tally), failure)
}

fn put_together(records: Records, tally: Tally) -> Profiles {
    let (records, routines) = records.finish();
    Profiles { profiles: launch_profile::profiles(records, &routines), tally }
}
