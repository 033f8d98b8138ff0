//! Lines of MPI profiles without names.
//!
//! Their lines have other names than log lines: those of the program's communicators, which are
//! hashed, and environment switches, whose values may hold anything, and which are left out. A
//! line may become longer than 1,000 B: hashes are longer than most names.

use topas_format::escape::Name;
use topas_mpi_profile::keys::{KeyExport, export};
use topas_mpi_profile::parse::Line;

use super::{Anonymizer, CHARACTERS, Fate};

impl Anonymizer {
    /// Writes the line without names, with its newline. False if it is no line of a profile.
    pub fn write_profile(&mut self, text: &[u8], out: &mut Vec<u8>) -> bool {
        let Ok(line) = Line::parse(text) else { return false };
        let mut words = text.split(|byte| *byte == b' ');
        let begin = out.len();
        // Date, time and `topas-mpi` stay.
        for _ in 0..3 {
            out.extend_from_slice(words.next().unwrap_or_default());
            out.push(b' ');
        }
        self.replaced("user", line.user, out);
        self.replaced("exe", line.exe, out);
        let npes = words.nth(2).unwrap_or_default();
        out.extend_from_slice(npes);
        out.push(b' ');
        self.replaced("id", line.id, out);
        words.next();
        for word in words {
            let (key, value) = match word.iter().position(|byte| *byte == b'=') {
                Some(at) => (&word[..at], &word[at + 1..]),
                None => (word, &[][..]),
            };
            match export(key) {
                KeyExport::Kept => put(word, out),
                KeyExport::LeftOut | KeyExport::Anew => {}
                KeyExport::AsInLog => self.fact(key, value, out),
                KeyExport::Communicator => self.communicator(value, out),
            }
        }
        let len = out.len() - begin + 7;
        // ` len=` with three digits; a longer line has four, and is longer by that.
        let len = if len + 1 > 999 { len + 1 } else { len };
        let length = format!("len={len:03}\n");
        out.extend_from_slice(length.as_bytes());
        true
    }

    /// A name as a word, with the blank behind it.
    fn replaced(&self, field: &str, name: Name<'_>, out: &mut Vec<u8>) {
        let mut word = [0; CHARACTERS];
        let name = self.replace(field, name, &mut word);
        put_name(name, out);
    }

    /// A fact that a log line can have, too: what becomes of it there becomes of it here.
    fn fact(&self, key: &[u8], value: &[u8], out: &mut Vec<u8>) {
        let Some((field, fate)) = self.fate(key) else { return };
        if fate == Fate::Drop || value.is_empty() {
            return;
        }
        out.extend_from_slice(key);
        out.push(b'=');
        if fate == Fate::Keep {
            put(value, out);
        } else if field == "uid" {
            put(self.key.uid(Name::from_token(value)).to_string().as_bytes(), out);
        } else {
            put(&self.key.word(field, Name::from_token(value)), out);
        }
    }

    /// `NAME:SIZE:...`, the name hashed.
    fn communicator(&self, value: &[u8], out: &mut Vec<u8>) {
        let at = value.iter().position(|byte| *byte == b':').unwrap_or(value.len());
        let (name, rest) = value.split_at(at);
        out.extend_from_slice(b"c=");
        // Names that the library gives are those of functions of MPI.
        let bare = String::from_utf8_lossy(name);
        let own = topas_mpi_table::find(&format!("MPI_{bare}")).is_some();
        if own || name == b"others" {
            out.extend_from_slice(name);
        } else {
            out.extend_from_slice(&self.key.word("comm", Name::from_token(name)));
        }
        put(rest, out);
    }
}

fn put(word: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(word);
    out.push(b' ');
}

fn put_name(name: Name<'_>, out: &mut Vec<u8>) {
    let mut room = [0; 1024];
    let mut token = topas_format::out::Out::new(&mut room);
    name.write(&mut token, 0);
    put(token.text(), out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pseudonym::ExportKey;

    fn anonymous(text: &str) -> String {
        let mut anonymizer = Anonymizer::new(ExportKey::of(&[7; 32]).unwrap());
        let mut out = Vec::new();
        assert!(anonymizer.write_profile(text.as_bytes(), &mut out));
        String::from_utf8(out).unwrap()
    }

    fn with_length(text: &str) -> String {
        format!("{text} len={:03}", text.len() + 8)
    }

    #[test]
    fn no_name_is_left_and_no_number_is_lost() {
        let line = with_length(
            "2026/11/20 18:00:00 topas-mpi mohr heat3d 4 81f277aa v=1 of=host line=1/1 \
             t=1795197600 uid=1000 end=lost host=n0042 job=4711 mpi=Open_MPI_4.1 secret=x \
             ranks=4 wall=1.5 f=Send:2:0.5:0.3:10:2:80:::4 h=p2p:s:6=2 w=send:1:0.1 \
             c=mohr%20comm:4:1:0.5:1:8:0:0 c=Comm_split:2:1:0.5:1:8:0:0 p=1:1:2:3:4 \
             e=OMPI_MCA_x=/home/mohr ci.CYCLES=5 \
             pid=13 u=Recv:1:0.5",
        );
        let out = anonymous(&line);
        for name in
            ["mohr", "heat3d", "81f277aa", "n0042", "4711", "1000", "secret", "/home", "pid"]
        {
            assert!(!out.contains(name), "{name} is in {out}");
        }
        for kept in [
            " t=1795197600 ",
            " end=lost ",
            " mpi=Open_MPI_4.1 ",
            " ranks=4 ",
            " wall=1.5 ",
            " f=Send:2:0.5:0.3:10:2:80:::4 ",
            " h=p2p:s:6=2 ",
            ":4:1:0.5:1:8:0:0 ",
            " c=Comm_split:2:",
            " p=1:1:2:3:4 ",
            " ci.CYCLES=5 ",
            " u=Recv:1:0.5 ",
            " 4 ",
            "line=1/1",
        ] {
            assert!(out.contains(kept), "{kept} is not in {out}");
        }
        let read = Line::parse(out.trim_end().as_bytes()).unwrap();
        assert!(read.tokens().all(|token| token.is_ok()));
        assert_eq!(out, anonymous(&line));
    }

    #[test]
    fn long_lines_stay_lines() {
        let head = "2026/11/20 18:00:00 topas-mpi a b 4 c v=1 of=run line=1/1";
        for tokens in 20..70 {
            let text = with_length(&(head.to_owned() + &" f=Send:1:2:3".repeat(tokens)));
            let out = anonymous(&text);
            assert!(Line::parse(out.as_bytes()).is_ok(), "{tokens}: {out}");
        }
    }
}
