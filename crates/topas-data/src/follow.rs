//! Reads what came into a source since it was read last.
//!
//! A file is known by its device and inode, so it may be renamed; whether it is still the same
//! text up to the place that was noted is told by a checksum of the bytes before this place. A
//! file of which this is not so is read from its beginning, and so is a compressed one that
//! changed: who follows sources must know lines again.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

use rapidhash::v3::rapidhash_v3;
use topas_format::line::{Extras, Line};

use crate::decode::is_plain;
use crate::engine::launch_key;
use crate::first_extras::FirstExtras;
use crate::holes::has_holes;
use crate::own::OwnProfiles;
use crate::profile_line;
use crate::segment::lines::{LeftOut, whole_line};
use crate::segment::open_opened;
use crate::segment::raw::RawLines;
use crate::source::{Source, SourceError};
use crate::vouch::Vouch;
use crate::when::Clock;

/// Bytes before a place that are compared when reading goes on there.
const CHECKED: u64 = 4096;

/// A file, whatever its name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileIdentity {
    /// Its device
    pub device: u64,
    /// Its inode
    pub inode: u64,
}

/// How far a file was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePlace {
    /// Bytes of the file, compressed as they are
    pub offset: u64,
    /// Hash of the last bytes before
    pub check: u64,
}

impl FilePlace {
    /// The place behind so many bytes of a file.
    fn of(file: &File, offset: u64) -> io::Result<Self> {
        let len = offset.min(CHECKED);
        let mut bytes = vec![0; len as usize];
        file.read_exact_at(&mut bytes, offset - len)?;
        Ok(FilePlace { offset, check: rapidhash_v3(&bytes) })
    }
}

/// A line of a run that its file vouches for.
#[derive(Clone, Copy, Debug)]
pub struct LoggedLine<'l> {
    /// Hash of what the lines of its launch have in common
    pub launch: u64,
    /// When its program began, in µs since 1970-01-01
    pub start: i64,
    /// When it ended, likewise
    pub end: i64,
    /// The line without its newline
    pub text: &'l [u8],
}

impl<'l> LoggedLine<'l> {
    /// Of a line in its parts; `text` is all of it.
    pub fn new(line: &Line<'_>, extras: Extras<'_>, text: &'l [u8]) -> Self {
        let first = FirstExtras::of_line(extras);
        let end = Clock::default().read(line, first.epoch).end.saturating_mul(1_000_000);
        LoggedLine {
            launch: launch_key(line, first.claim),
            start: end.saturating_sub_unsigned(line.wall_time.0),
            end,
            text,
        }
    }
}

/// A line of an MPI profile that its file vouches for.
#[derive(Clone, Copy, Debug)]
pub struct LoggedProfileLine<'l> {
    /// The user of whose file it is, if only lines of that user count in it
    pub owner: Option<u32>,
    /// Hash of the text
    pub hash: u64,
    /// The line without its newline
    pub text: &'l [u8],
}

impl LoggedProfileLine<'_> {
    /// The launch id that it tells.
    pub fn id(&self) -> Vec<u8> {
        profile_line::id(self.text)
    }
}

/// A line of a source that is followed.
#[derive(Clone, Copy, Debug)]
pub enum FollowedLine<'l> {
    /// Of a run
    Run(LoggedLine<'l>),
    /// Of an MPI profile
    Profile(LoggedProfileLine<'l>),
}

/// A source that is open behind what was read of it before.
pub struct FollowedSource<'s> {
    source: &'s Source,
    /// What the place is noted of; None of a pipe
    file: Option<(File, FileIdentity)>,
    /// Whether reading can go on in its middle
    goes_on: bool,
    vouch: Vouch,
    pieces: RawLines<Box<dyn io::Read + Send>>,
    before: OwnProfiles,
    /// Bytes of whole lines that were given
    offset: u64,
    /// Length when it was opened
    len: u64,
    lines: u64,
    ended: bool,
}

impl<'s> FollowedSource<'s> {
    /// Opens a source behind the place that is `known` of its file; None if nothing came since.
    ///
    /// # Errors
    ///
    /// [`SourceError::Open`] if it cannot be opened.
    pub fn open(
        source: &'s Source,
        known: impl FnOnce(FileIdentity) -> Option<FilePlace>,
    ) -> Result<Option<Self>, SourceError> {
        let failed = |cause| SourceError::Open { source: source.clone(), cause };
        Self::try_open(source, known).map_err(failed)
    }

    fn try_open(
        source: &'s Source,
        known: impl FnOnce(FileIdentity) -> Option<FilePlace>,
    ) -> io::Result<Option<Self>> {
        let opened = source.open()?;
        let (mut offset, mut len, mut goes_on, mut file) = (0, u64::MAX, false, None);
        if let Some(opened) = opened.as_ref().filter(|opened| opened.about.is_file()) {
            let about = &opened.about;
            let identity = FileIdentity { device: about.dev(), inode: about.ino() };
            len = about.len();
            goes_on = is_plain(&opened.file)? && !has_holes(&opened.file, len);
            let place = known(identity).filter(|place| place.offset <= len);
            let own = opened.file.try_clone()?;
            let place = match place {
                Some(place) => (FilePlace::of(&own, place.offset)? == place).then_some(place),
                None => None,
            };
            if place.is_some_and(|place| place.offset == len) {
                return Ok(None);
            }
            offset = place.filter(|_| goes_on).map_or(0, |place| place.offset);
            file = Some((own, identity));
        }
        let (text, vouch) = open_opened(opened, offset, len - offset)?;
        Ok(Some(FollowedSource {
            source,
            file,
            goes_on,
            vouch,
            pieces: RawLines::new(text),
            before: OwnProfiles::default(),
            offset,
            len,
            lines: 0,
            ended: false,
        }))
    }

    /// Gives the next lines, so many of every kind at most: whether there are more. A last line
    /// of a file that may not be whole yet is left for the next time. `out` gets the number of
    /// lines that are left out.
    ///
    /// # Errors
    ///
    /// [`SourceError::Broken`] if it breaks off; the lines before have been given.
    pub fn portion(
        &mut self,
        most: usize,
        out: &mut LeftOut,
        mut each: impl FnMut(FollowedLine<'_>),
    ) -> Result<bool, SourceError> {
        for _ in 0..most {
            let lines = self.lines;
            let source = self.source;
            let broken = |cause| SourceError::Broken { source: source.clone(), lines, cause };
            let Some(piece) = self.pieces.next().map_err(broken)? else {
                self.ended = true;
                return Ok(false);
            };
            let is_unfinished = piece.is_unfinished() && self.goes_on;
            // A line tells its own length: one that is all there counts at once.
            let whole = match is_unfinished {
                true => {
                    let mut none = LeftOut::default();
                    whole_line(&piece, &self.vouch, &mut self.before, &mut none)
                        .filter(|(line, _)| none.bad == 0 && tells_its_length(line))
                }
                false => whole_line(&piece, &self.vouch, &mut self.before, out),
            };
            match whole {
                Some((Some((line, extras)), text)) => {
                    each(FollowedLine::Run(LoggedLine::new(&line, extras, text)));
                }
                Some((None, text)) => {
                    let (owner, hash) = (self.vouch.owner(), rapidhash_v3(text));
                    each(FollowedLine::Profile(LoggedProfileLine { owner, hash, text }));
                }
                None => {}
            }
            if !is_unfinished {
                self.lines += u64::from(piece.begins);
                self.offset += piece.bytes.len() as u64;
            }
        }
        Ok(true)
    }

    /// The file, and how far it was read; None of a pipe, and of a compressed file before its end.
    ///
    /// # Errors
    ///
    /// [`SourceError::Broken`] if the file cannot be read there any more.
    pub fn place(&self) -> Result<Option<(FileIdentity, FilePlace)>, SourceError> {
        let Some((file, identity)) = &self.file else { return Ok(None) };
        let offset = match (self.goes_on, self.ended) {
            (true, _) => self.offset,
            (false, true) => self.len,
            (false, false) => return Ok(None),
        };
        let (source, lines) = (self.source, self.lines);
        let broken = |cause| SourceError::Broken { source: source.clone(), lines, cause };
        Ok(Some((*identity, FilePlace::of(file, offset).map_err(broken)?)))
    }
}

/// Whether a line has the `len=` that proves it whole.
fn tells_its_length(line: &Option<(Line<'_>, Extras<'_>)>) -> bool {
    line.as_ref().is_some_and(|(_, extras)| extras.get(b"len").is_some())
}
