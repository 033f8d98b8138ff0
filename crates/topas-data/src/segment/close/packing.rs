//! Adds the text of files to a segment, and reads it again before it counts.

use std::fs::{File, Metadata, Permissions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use super::target::Target;
use super::{Closing, OpenFile, UNFINISHED};
use crate::holes::is_hollow;
use crate::own::OwnProfiles;
use crate::segment::index::{Index, IndexPart};
use crate::segment::merge::{is_foreign, judge};
use crate::segment::output::NewFile;
use crate::segment::raw::RawLines;
use crate::segment::zstd_frame;
use crate::vouch::{Vouch, mark};

/// Adds what is not there yet of each file. The segment appears whole, or is as before.
/// `join` makes it this process's, else it has owner and mode of the file.
pub(super) fn add(
    target: Target,
    group: &mut [OpenFile],
    join: bool,
    each: &mut dyn FnMut(Closing<'_>),
) -> io::Result<()> {
    let Target { path, there, mut index } = target;
    let mut to_add = Vec::new();
    for (number, open) in group.iter_mut().enumerate() {
        open.done = index.bytes_of(&open.work.token);
        let about = open.file.metadata()?;
        let size = about.len();
        // Its owner may have made it longer meanwhile.
        if is_hollow(&open.file, &about) {
            return Err(io::Error::other("most of the file is holes by now"));
        }
        if size > open.done {
            to_add.push((number, size - open.done));
        }
    }
    if to_add.is_empty() {
        return Ok(());
    }
    let mut new = NewFile::create(&path, UNFINISHED, 0o600)?;
    let owner = match &there {
        Some((file, about)) => {
            let mut file = file;
            file.rewind()?;
            if io::copy(&mut file.take(index.data), &mut new.file)? != index.data {
                return Err(io::Error::other("the closed segment became shorter"));
            }
            Some(about.clone())
        }
        None => group.first().filter(|_| !join).map(|open| open.about.clone()),
    };
    let first = index.parts.len();
    let mut added = Vec::new();
    for (number, len) in to_add {
        let open = &group[number];
        // A segment of its own belongs to the owner, who vouches for it as for the file.
        let vouch = if join { Vouch::of(&open.about) } else { Vouch::All };
        if let Some(last) = index.parts.last()
            && !last.newline
            && (last.token != open.work.token || vouch.owner().is_some())
        {
            // The line that the file before ended in must not swallow this one's first; and what
            // two parts of a line would be together was not looked at.
            new.file.write_all(&zstd::bulk::compress(b"\n", 1)?)?;
        }
        let at = new.file.stream_position()?;
        let part = pack(open, len, at, &vouch, &mut new.file, each)?;
        added.push((number, part.lines, part.bytes, new.file.stream_position()? - at));
        index.parts.push(part);
    }
    index.data = new.file.stream_position()?;
    new.file.write_all(&index.to_bytes()?)?;
    if let Some(owner) = owner {
        give_to(&new.file, &owner)?;
    }
    verify(&mut new.file, &index, first, each)?;
    new.commit()?;
    for (number, lines, bytes, packed) in added {
        let open = &mut group[number];
        open.done += bytes;
        let (all_lines, all_bytes, all_packed) = open.added;
        open.added = (all_lines + lines, all_bytes + bytes, all_packed + packed);
    }
    Ok(())
}

/// Gives a file owner, group and mode of another one.
pub(in crate::segment) fn give_to(file: &File, owner: &Metadata) -> io::Result<()> {
    let now = file.metadata()?;
    if (now.uid(), now.gid()) != (owner.uid(), owner.gid()) {
        fchown(file, Some(owner.uid()), Some(owner.gid()))?;
    }
    file.set_permissions(Permissions::from_mode(owner.mode() & 0o777))
}

/// Compresses `len` bytes of a file from where it is done. Lines that are not vouched for become
/// comments.
fn pack(
    open: &OpenFile,
    len: u64,
    at: u64,
    vouch: &Vouch,
    to: &mut File,
    each: &mut dyn FnMut(Closing<'_>),
) -> io::Result<IndexPart> {
    let mut file = &open.file;
    file.seek(SeekFrom::Start(open.done))?;
    let mut frame = zstd_frame(BufWriter::with_capacity(1 << 18, to))?;
    let owner = vouch.owner();
    if owner.is_none() {
        frame.set_pledged_src_size(Some(len))?;
    }
    let mut lines = RawLines::new(file.take(len));
    let mut hash = Sha256::new();
    let mut part = IndexPart {
        token: open.work.token.clone(),
        name: open.work.name.clone(),
        at,
        owner,
        ..IndexPart::default()
    };
    let mut before = OwnProfiles::default();
    while let Some(piece) = lines.next()? {
        let (time, kind) = judge(&piece);
        if let Some(owner) = owner
            && is_foreign(&piece, kind, vouch, &mut before)
        {
            let mark = mark(owner);
            frame.write_all(&mark)?;
            hash.update(&mark);
            part.marks += mark.len() as u64;
        }
        frame.write_all(piece.bytes)?;
        hash.update(piece.bytes);
        part.bytes += piece.bytes.len() as u64;
        part.lines += u64::from(piece.begins);
        if part.lines.is_multiple_of(4096) {
            each(Closing::Working { name: &part.name, bytes: part.bytes, again: false });
        }
        part.newline = piece.bytes.ends_with(b"\n");
        if let Some(time) = time {
            let (first, last) = part.times.unwrap_or((time, time));
            part.times = Some((first.min(time), last.max(time)));
        }
    }
    frame.finish()?.flush()?;
    if part.bytes != len {
        return Err(io::Error::other("the file became shorter while it was read"));
    }
    part.sha256 = HEXLOWER.encode(&hash.finalize());
    Ok(part)
}

/// Reads the index and the parts from `first` on as a reader would, and compares.
pub(in crate::segment) fn verify(
    file: &mut File,
    index: &Index,
    first: usize,
    each: &mut dyn FnMut(Closing<'_>),
) -> io::Result<()> {
    let differs = || io::Error::other("the compressed copy differs from the file; not used");
    if Index::read(file)?.as_ref() != Some(index) {
        return Err(differs());
    }
    let mut buffer = vec![0; 1 << 17];
    for part in &index.parts[first..] {
        file.seek(SeekFrom::Start(part.at))?;
        let mut reader = zstd::stream::read::Decoder::new(&mut *file)?.single_frame();
        let mut hash = Sha256::new();
        let (mut bytes, mut newlines, mut last) = (0, 0, 0);
        loop {
            let got = reader.read(&mut buffer)?;
            let Some(&end) = buffer[..got].last() else { break };
            hash.update(&buffer[..got]);
            bytes += got as u64;
            newlines += memchr::memchr_iter(b'\n', &buffer[..got]).count() as u64;
            last = end;
            each(Closing::Working { name: &part.name, bytes, again: true });
        }
        let lines = newlines + u64::from(bytes > 0 && last != b'\n');
        let hash = HEXLOWER.encode(&hash.finalize());
        let text = (part.bytes + part.marks).saturating_sub(part.removed);
        if (bytes, lines, hash) != (text, part.lines, part.sha256.clone()) {
            return Err(differs());
        }
    }
    Ok(())
}
