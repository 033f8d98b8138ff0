//! The index of a closed segment: what it was made of, at its end in a frame that every
//! decompressor passes over.
//!
//! A closed segment is one frame of zstd for each part, then the index as a skippable frame:
//! its header, JSON, its length, a mark. As the file appears with a rename, data and index
//! always agree, and a part is never added twice.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use serde_json::{Value, json};

/// First bytes of the frame: one of the sixteen numbers of skippable frames.
const FRAME: [u8; 4] = 0x184d_2a57_u32.to_le_bytes();

/// Last bytes of the file.
const MARK: &[u8; 8] = b"TOPASIDX";

/// Bytes before the JSON.
const HEAD: usize = 8;

/// Bytes behind it: the length of the frame, the mark.
const TAIL: usize = 12;

/// Longest index that is believed, in bytes.
const LONGEST: u32 = 64 << 20;

/// A part: what was added at once, of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexPart {
    /// What tells the file from all others that were closed
    pub token: String,
    /// Its name
    pub name: String,
    /// The one user who vouches for its lines; None if they are believed as they are, or stand in
    /// a segment of that user
    pub owner: Option<u32>,
    /// Bytes of the file
    pub bytes: u64,
    /// Bytes that stand before foreign lines, beside those of the file
    pub marks: u64,
    /// Bytes of both that are no more here: the lines of users who asked for that
    pub removed: u64,
    /// Lines, the last one also without newline
    pub lines: u64,
    /// When the first and the last of its programs ended, in s since 1970-01-01; None without
    /// a log line
    pub times: Option<(i64, i64)>,
    /// SHA-256 of the text in hexadecimal digits
    pub sha256: String,
    /// Whether the text ends with a newline
    pub newline: bool,
    /// Place of its frame in the file in bytes
    pub at: u64,
}

impl IndexPart {
    fn to_json(&self) -> Value {
        json!({
            "token": self.token,
            "name": self.name,
            "owner": self.owner,
            "bytes": self.bytes,
            "marks": self.marks,
            "removed": self.removed,
            "lines": self.lines,
            "first": self.times.map(|(first, _)| first),
            "last": self.times.map(|(_, last)| last),
            "sha256": self.sha256,
            "newline": self.newline,
            "at": self.at,
        })
    }

    fn of_json(value: &Value) -> Option<IndexPart> {
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let number = |key: &str| value[key].as_u64();
        Some(IndexPart {
            token: text("token")?,
            name: text("name")?,
            // Segments of before know neither.
            owner: number("owner").and_then(|uid| u32::try_from(uid).ok()),
            marks: number("marks").unwrap_or(0),
            removed: number("removed").unwrap_or(0),
            bytes: number("bytes")?,
            lines: number("lines")?,
            times: value["first"].as_i64().zip(value["last"].as_i64()),
            sha256: text("sha256")?,
            newline: value["newline"].as_bool()?,
            at: number("at")?,
        })
    }
}

/// What a closed segment was made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// In the order of the file
    pub parts: Vec<IndexPart>,
    /// Bytes of the file before the index
    pub data: u64,
}

impl Index {
    /// The index at the end of a file; None if there is none, as the file is of somebody else.
    ///
    /// # Errors
    ///
    /// What reading says.
    pub fn read(file: &mut File) -> io::Result<Option<Index>> {
        let len = file.metadata()?.len();
        let mut tail = [0; TAIL];
        if len < (HEAD + TAIL) as u64 {
            return Ok(None);
        }
        file.seek(SeekFrom::Start(len - TAIL as u64))?;
        file.read_exact(&mut tail)?;
        let [l0, l1, l2, l3, mark @ ..] = tail;
        let frame = u32::from_le_bytes([l0, l1, l2, l3]);
        if mark != *MARK || frame > LONGEST || frame < (HEAD + TAIL) as u32 {
            return Ok(None);
        }
        let Some(data) = len.checked_sub(frame.into()) else { return Ok(None) };
        file.seek(SeekFrom::Start(data))?;
        let mut bytes = vec![0; frame as usize];
        file.read_exact(&mut bytes)?;
        let json = &bytes[HEAD..bytes.len() - TAIL];
        let Ok(value) = serde_json::from_slice::<Value>(json) else { return Ok(None) };
        if !bytes.starts_with(&FRAME) || value["schema"] != "topas.segment/1" {
            return Ok(None);
        }
        let parts: Option<Vec<IndexPart>> = value["parts"]
            .as_array()
            .and_then(|parts| parts.iter().map(IndexPart::of_json).collect());
        Ok(parts.map(|parts| Index { parts, data }))
    }

    /// The index as it stands in the file.
    ///
    /// # Errors
    ///
    /// Of so many parts that the frame would be too long.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let parts: Vec<Value> = self.parts.iter().map(IndexPart::to_json).collect();
        let json = json!({ "schema": "topas.segment/1", "parts": parts }).to_string();
        let frame = HEAD + json.len() + TAIL;
        if frame as u64 > LONGEST.into() {
            return Err(io::Error::other("the index of the segment is too long"));
        }
        let mut bytes = Vec::with_capacity(frame);
        bytes.extend_from_slice(&FRAME);
        bytes.extend_from_slice(&((frame - HEAD) as u32).to_le_bytes());
        bytes.extend_from_slice(json.as_bytes());
        bytes.extend_from_slice(&(frame as u32).to_le_bytes());
        bytes.extend_from_slice(MARK);
        Ok(bytes)
    }

    /// Bytes that are here of the file with this token.
    pub fn bytes_of(&self, token: &str) -> u64 {
        self.parts
            .iter()
            .filter(|part| part.token == token)
            .map(|part| part.bytes)
            .fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    fn read(bytes: &[u8]) -> Option<Index> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Index::read(&mut file).unwrap()
    }

    fn part() -> impl Strategy<Value = IndexPart> {
        let texts = ("[0-9a-f]{16}", any::<String>(), "[0-9a-f]{64}");
        let numbers = (any::<[u64; 5]>(), any::<Option<u32>>());
        (texts, numbers, any::<Option<(i64, i64)>>(), any::<bool>()).prop_map(
            |(
                (token, name, sha256),
                ([bytes, marks, removed, lines, at], owner),
                times,
                newline,
            )| {
                IndexPart {
                    token,
                    name,
                    owner,
                    bytes,
                    marks,
                    removed,
                    lines,
                    times,
                    sha256,
                    newline,
                    at,
                }
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn an_index_comes_back(
            before in proptest::collection::vec(any::<u8>(), 0..200),
            parts in proptest::collection::vec(part(), 0..5),
        ) {
            let index = Index { parts, data: before.len() as u64 };
            let mut bytes = before;
            bytes.extend(index.to_bytes().unwrap());
            prop_assert_eq!(read(&bytes), Some(index));
            // A part of it, or one byte more, is none.
            prop_assert_eq!(read(&bytes[..bytes.len() - 1]), None);
            bytes.push(0);
            prop_assert_eq!(read(&bytes), None);
        }

        #[test]
        fn what_is_no_index_is_none(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..300),
            length in any::<u32>(),
        ) {
            prop_assert_eq!(read(&bytes), None);
            bytes.extend((length % 400).to_le_bytes());
            bytes.extend(MARK);
            prop_assert_eq!(read(&bytes), None);
        }
    }
}
