//! Removes the lines of one user, as users may ask for.
//!
//! A file of the user is removed. Any other file that holds lines of the user is written anew
//! without them, if it is closed: programs still write to the others. What is interrupted is begun
//! again by the next call: a file is as before, or as it should be.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use topas_format::escape::Name;
use topas_format::line::Line;

use super::close::packing::{give_to, verify};
use super::close::{CLOSED, CloseError, LeftFile, UNFINISHED, remove_unfinished};
use super::index::{Index, IndexPart};
use super::merge::{GOOD, OTHER, judge};
use super::output::{Encoder, NewFile, Packing};
use super::raw::{RawLine, RawLines};
use super::tree::each_file;
use super::zstd_frame;
use crate::block::behind_torn;
use crate::decode::decoded;
use crate::holes::is_hollow;
use crate::opened::{is_link, open_no_link};
use crate::own::{OwnLines, OwnProfiles};
use crate::profile_line;
use crate::vouch::Vouch;

/// What became of a file that holds lines of the user.
#[derive(Debug)]
pub enum Forgetting {
    /// It is the user's, and is removed, or would be
    Removed {
        /// Its size in bytes
        bytes: u64,
    },
    /// It is written anew without lines of the user, or would be
    Rewritten {
        /// How many
        lines: u64,
    },
    /// It is no closed segment yet, so that programs may write to it
    NotClosed {
        /// Lines of the user in it
        lines: u64,
    },
    /// It is left as it is
    Left(LeftFile),
}

/// What was done in a directory and those below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForgetReport {
    /// Files of the user that were removed, or would be
    pub files: u64,
    /// Lines that were taken out of other files, or would be
    pub lines: u64,
    /// Files that still hold lines of the user
    pub left: u64,
    /// Directories and files that failed
    pub failed: u64,
}

/// Removes the lines of a user in `dir` and the directories below it; `dry_run` only tells. `each` hears
/// of every file that holds lines of the user, by its path as it is shown, and `failed` of directories in
/// which nothing was done.
pub fn forget(
    dir: &Path,
    user: &OwnLines,
    dry_run: bool,
    each: &mut dyn FnMut(&Path, &Forgetting),
    failed: &mut dyn FnMut(&Path, &CloseError),
) -> ForgetReport {
    let mut report = ForgetReport::default();
    let mut file = |entry: &fs::DirEntry, path: &Path| {
        let became = match one_file(&entry.path(), user, dry_run) {
            Ok(None) => return,
            Ok(Some(became)) => became,
            Err(cause) if is_link(&cause) => return,
            Err(cause) => Forgetting::Left(LeftFile::Failed(cause)),
        };
        match &became {
            Forgetting::Removed { .. } => report.files += 1,
            Forgetting::Rewritten { lines } => report.lines += lines,
            Forgetting::NotClosed { .. } | Forgetting::Left(LeftFile::Linked) => report.left += 1,
            Forgetting::Left(_) => report.failed += 1,
        }
        each(path, &became);
    };
    let failures = each_file(dir, &mut file, failed);
    report.failed += failures;
    report
}

/// Removes the lines of a user in a file; None if there are none.
fn one_file(path: &Path, user: &OwnLines, dry_run: bool) -> io::Result<Option<Forgetting>> {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    if name.starts_with(UNFINISHED.as_bytes()) {
        // Of a call that was killed. The lock is held: nobody uses it.
        if !dry_run && let Some(dir) = path.parent() {
            remove_unfinished(dir)?;
        }
        return Ok(None);
    }
    let file = open_no_link(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Ok(None);
    }
    if about.uid() == user.uid {
        if about.nlink() > 1 {
            return Ok(Some(Forgetting::Left(LeftFile::Linked)));
        }
        if !dry_run {
            fs::remove_file(path)?;
        }
        return Ok(Some(Forgetting::Removed { bytes: about.len() }));
    }
    if is_hollow(&file, &about) {
        return Ok(None);
    }
    let names = names_of(&file, user)?;
    let lines = lines_of(&file, user, &names)?;
    if lines == 0 {
        return Ok(None);
    }
    if !CLOSED.iter().any(|end| name.ends_with(end.as_bytes())) {
        return Ok(Some(Forgetting::NotClosed { lines }));
    }
    if about.nlink() > 1 {
        return Ok(Some(Forgetting::Left(LeftFile::Linked)));
    }
    if !dry_run {
        write_anew(path, file, &about, &mut Without::new(user, &names))?;
    }
    Ok(Some(Forgetting::Rewritten { lines }))
}

/// Names that lines of the user tell, as the system may not know the user any more. They are only looked
/// for in what is no whole line.
fn names_of(mut file: &File, user: &OwnLines) -> io::Result<BTreeSet<Vec<u8>>> {
    file.rewind()?;
    let mut lines = RawLines::new(decoded(file)?);
    let mut names = BTreeSet::new();
    while let Some(piece) = lines.next()? {
        let text = piece.text();
        let whole = whole_behind(text).unwrap_or(text);
        match Line::parse_far(whole) {
            Ok((line, extras)) if user.wrote(line.user, extras) => {
                names.insert(line.user.bytes().collect());
            }
            _ => {}
        }
    }
    Ok(names)
}

/// Lines of the user in a file.
fn lines_of(mut file: &File, user: &OwnLines, names: &BTreeSet<Vec<u8>>) -> io::Result<u64> {
    file.rewind()?;
    let mut lines = RawLines::new(decoded(file)?);
    let mut without = Without::new(user, names);
    let mut removed = 0;
    while let Some(piece) = lines.next()? {
        removed += u64::from(without.kept(&piece).len() < piece.bytes.len() && piece.begins);
    }
    Ok(removed)
}

/// Writes a closed file without the lines of a user; one of which nothing is left is removed.
fn write_anew(
    path: &Path,
    mut file: File,
    about: &Metadata,
    without: &mut Without<'_>,
) -> io::Result<()> {
    let mut new = NewFile::create(path, UNFINISHED, 0o600)?;
    let is_empty = match Index::read(&mut file)? {
        Some(index) => segment_anew(&mut file, index, &mut new.file, without)?,
        None => text_anew(path, file, &mut new.file, without)?,
    };
    if is_empty {
        return fs::remove_file(path);
    }
    give_to(&new.file, about)?;
    new.commit()
}

/// Writes a file that has no index. Gives whether it is empty.
fn text_anew(
    path: &Path,
    mut file: File,
    to: &mut File,
    without: &mut Without<'_>,
) -> io::Result<bool> {
    file.rewind()?;
    let mut lines = RawLines::new(decoded(file)?);
    let mut encoder = Encoder::new(Packing::of(path), BufWriter::with_capacity(1 << 18, to))?;
    let mut is_empty = true;
    while let Some(piece) = lines.next()? {
        let kept = without.kept(&piece);
        is_empty &= kept.is_empty();
        encoder.writer().write_all(kept)?;
    }
    encoder.finish()?.flush()?;
    Ok(is_empty)
}

/// Writes a closed segment, part by part: what tells a part from others stays, so that a close that was
/// interrupted adds nothing twice.
fn segment_anew(
    file: &mut File,
    index: Index,
    to: &mut File,
    without: &mut Without<'_>,
) -> io::Result<bool> {
    let mut anew = Index::default();
    let mut before: Option<(String, bool)> = None;
    let mut is_ended = true;
    for part in index.parts {
        let goes_on = before.as_ref().is_some_and(|(token, ended)| *token == part.token && !ended);
        if !goes_on && !is_ended {
            to.write_all(&zstd::bulk::compress(b"\n", 1)?)?;
            is_ended = true;
        }
        before = Some((part.token.clone(), part.newline));
        let part = IndexPart { newline: is_ended, ..part };
        let part = part_anew(file, part, to, without, goes_on)?;
        is_ended = part.newline;
        anew.parts.push(part);
    }
    anew.data = to.stream_position()?;
    to.write_all(&anew.to_bytes()?)?;
    verify(to, &anew, 0, &mut |_| {})?;
    Ok(anew.parts.iter().all(|part| part.lines == 0))
}

/// Writes a part. `goes_on`: its first line began in the part before. `newline` of the part is that of
/// what was written before.
fn part_anew(
    file: &mut File,
    part: IndexPart,
    to: &mut File,
    without: &mut Without<'_>,
    goes_on: bool,
) -> io::Result<IndexPart> {
    file.seek(SeekFrom::Start(part.at))?;
    let reader = zstd::stream::read::Decoder::new(&mut *file)?.single_frame();
    let mut lines = RawLines::new(reader);
    let mut anew = IndexPart { at: to.stream_position()?, lines: 0, times: None, ..part };
    let mut frame = zstd_frame(BufWriter::with_capacity(1 << 18, to))?;
    let mut hash = Sha256::new();
    let mut is_first = true;
    while let Some(piece) = lines.next()? {
        let begins = piece.begins && !(goes_on && is_first);
        is_first = false;
        let kept = without.kept(&RawLine { begins, ..piece });
        anew.removed += (piece.bytes.len() - kept.len()) as u64;
        if kept.is_empty() {
            continue;
        }
        frame.write_all(kept)?;
        hash.update(kept);
        anew.lines += u64::from(piece.begins);
        anew.newline = kept.ends_with(b"\n");
        if let Some(time) = judge(&piece).0 {
            let (first, last) = anew.times.unwrap_or((time, time));
            anew.times = Some((first.min(time), last.max(time)));
        }
    }
    frame.finish()?.flush()?;
    anew.sha256 = HEXLOWER.encode(&hash.finalize());
    Ok(anew)
}

/// Lines without those of a user.
struct Without<'u> {
    user: &'u OwnLines,
    names: &'u BTreeSet<Vec<u8>>,
    profiles: OwnProfiles,
    /// Whether the line that goes on is the user's
    inside: bool,
}

impl<'u> Without<'u> {
    fn new(user: &'u OwnLines, names: &'u BTreeSet<Vec<u8>>) -> Self {
        Without { user, names, profiles: OwnProfiles::default(), inside: false }
    }

    /// What stays of a piece.
    fn kept<'p>(&mut self, piece: &RawLine<'p>) -> &'p [u8] {
        let nothing = &piece.bytes[..0];
        if !piece.begins {
            self.inside |= self.is_named_in(piece.text());
            return if self.inside { nothing } else { piece.bytes };
        }
        self.inside = false;
        let text = piece.text();
        let kind = if piece.continues { None } else { Some(judge(piece).1) };
        let is_own = match kind {
            Some(GOOD) => self.wrote(text),
            Some(OTHER) => Vouch::All.marked(text).is_some_and(|stranger| {
                let uid = self.user.uid;
                stranger.owner == uid || stranger.claims == Some(u64::from(uid))
            }),
            // A whole line of somebody stands behind a part of a line of somebody else.
            Some(_) => match whole_behind(text) {
                Some(whole) => {
                    let torn = &text[..text.len() - whole.len()];
                    let is_own = self.wrote(whole);
                    if !is_own && self.is_named_in(torn) {
                        return &piece.bytes[torn.len()..];
                    }
                    is_own
                }
                None => self.is_named_in(text),
            },
            None => self.is_named_in(text),
        };
        self.inside = is_own;
        if is_own { nothing } else { piece.bytes }
    }

    /// Whether what is no whole line names the user.
    fn is_named_in(&self, text: &[u8]) -> bool {
        let is_name =
            |word: &[u8]| self.names.contains(&Name::from_token(word).bytes().collect::<Vec<u8>>());
        self.user.is_named_in(text) || text.split(u8::is_ascii_whitespace).any(is_name)
    }

    /// Whether a whole line is the user's.
    fn wrote(&mut self, text: &[u8]) -> bool {
        match Line::parse_far(text) {
            Ok((line, extras)) => self.user.wrote(line.user, extras),
            Err(_) => self.user.wrote_profile(text, &mut self.profiles),
        }
    }
}

/// The whole line at the end of a text that begins with something else.
fn whole_behind(text: &[u8]) -> Option<&[u8]> {
    match behind_torn(text) {
        Some((.., whole)) => Some(whole),
        None => profile_line::behind_torn(text),
    }
}
