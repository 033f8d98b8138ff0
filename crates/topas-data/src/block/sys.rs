//! The lines of a block one after the other, by the vectors of x86-64 if the processor has them.

use super::{BlockLines, BlockRoom, LineSink};

/// Reads the lines of a text, of which `room` has the index.
#[inline(always)]
pub(super) fn lines<E: LineSink>(lines: &mut BlockLines<'_, E>, text: &[u8], room: &mut BlockRoom) {
    #[cfg(target_arch = "x86_64")]
    if crate::line_index::has_vectors() {
        // SAFETY: the processor has these instructions.
        return unsafe { vectors::lines(lines, text, room) };
    }
    for line in room.index.lines(text) {
        lines.line(&line);
    }
}

#[cfg(target_arch = "x86_64")]
mod vectors {
    use topas_format::line::{Extras, IndexedLine, Line, UsualSink};

    use super::{BlockLines, BlockRoom, LineSink};

    /// All that is done with a usual line comes into this function, so that it is made of these
    /// instructions, too.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn lines<E: LineSink>(
        lines: &mut BlockLines<'_, E>,
        text: &[u8],
        room: &mut BlockRoom,
    ) {
        for of in room.index.lines(text) {
            if !room.usual.read(&of, GoodLine(lines)) {
                lines.unusual(of);
            }
        }
    }

    /// A line that goes the way of good lines.
    struct GoodLine<'l, 's, E>(&'l mut BlockLines<'s, E>);

    impl<'a, E: LineSink> UsualSink<'a> for GoodLine<'_, '_, E> {
        #[inline(always)]
        fn take(self, line: &Line<'a>, extras: Extras<'a>, of: &IndexedLine<'a>) {
            self.0.number += 1;
            self.0.good(line, extras, of);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use topas_format::line::{Extras, FirstNumbers, IndexedLine, Line};

    use super::*;
    use crate::feed::Feed;
    use crate::source::Source;
    use crate::tally::Tally;

    /// Lines as they came, and whether the first extras of each were read.
    #[derive(Default)]
    struct Seen {
        lines: Vec<String>,
        usual: Vec<bool>,
    }

    impl LineSink for &mut Seen {
        fn line(&mut self, line: &Line<'_>, extras: Extras<'_>, of: &IndexedLine<'_>) {
            if let Some(FirstNumbers { t, uid }) = of.first {
                let number = |value: &[u8]| std::str::from_utf8(value).unwrap().parse().unwrap();
                let read: Vec<(&[u8], u64)> =
                    extras.skip(1).take(2).map(|(key, value)| (key, number(value))).collect();
                assert_eq!(read, [(&b"t"[..], t), (b"uid", uid)]);
            }
            let all: Vec<_> = extras.map(|(key, value)| (key.to_vec(), value.to_vec())).collect();
            self.lines.push(format!("{line:?} {all:?} {:?}", of.bytes()));
            self.usual.push(of.first.is_some());
        }
    }

    /// What is found in a text in one of the two ways.
    fn seen(text: &[u8], by_vectors: bool) -> (Seen, String) {
        let source = Source::Stdin;
        let feed = Feed::of_reader(&source, &b""[..], Arc::default()).unwrap();
        let (mut seen, mut tally) = (Seen::default(), Tally::default());
        let mut room = BlockRoom::default();
        room.index.fill(text);
        let mut reader = BlockLines::new(&feed, &mut tally, &mut seen);
        if by_vectors {
            lines(&mut reader, text, &mut room);
        } else {
            room.index.lines(text).for_each(|line| reader.line(&line));
        }
        let number = reader.number;
        (seen, format!("{number} {tally:?}"))
    }

    /// Mostly a token of one form, else one of another.
    fn token(usual: &'static str, other: &'static str) -> impl Strategy<Value = String> {
        prop_oneof![24 => usual, 1 => other]
    }

    fn tokens() -> impl Strategy<Value = Vec<String>> {
        let time = || token("[0-9]{1,9}\\.([0-9]{3}|[0-9]{6})", "[0-9]{0,12}\\.?[0-9]{0,8}");
        let name = || token("[a-z]{1,20}|-", "[a-z%]{0,3}");
        (
            (
                token("20[0-9]{2}/(0[1-9]|1[0-2])/[0-2][1-9]", "[0-9]{3,4}/[0-9]{2}/[0-9]{1,2}"),
                token("[01][0-9]:[0-5][0-9]:[0-5][0-9]", "[0-9]{2}:[0-9]{2}:[0-9]{1,3}"),
                (name(), name()),
                token("[0-9]{1,9}", "[0-9]{10,18}|-"),
                token("[0-9]{1,9}|-", "[0-9]{10,18}|--"),
                token("t[0-9]{1,9}|-", "t?[0-9]{10,18}|t-|t|[0-9]"),
            ),
            (token("B|I", "[A-Z]{0,2}"), token("c|cxx|f77|f90|cc|-", "f|cc-|f901")),
            token("mpi|pvm|sma|-", "mp|mpi2"),
            (time(), time(), time()),
            (token("[fils](=[0-9]{1,16}|~[0-9]{1,16}|=-)", "[a-z][=~:][0-9]{0,20}-?")),
            token("~?[0-9]{1,16}|-", "~-|[0-9~-]{0,20}"),
            name(),
            token(
                "v=1 t=[0-9]{1,12} uid=[0-9]{1,12}( host=[a-z]{1,9}| uid=5| job=7)?",
                "(v=1 )?(t=[0-9x]{1,18} )?(uid=[0-9-]{1,18} )?a",
            ),
        )
            .prop_map(|(first, words, lib, times, ops, misses, id, extras)| {
                let (date, time, (user, exe), pe, npes, mhz) = first;
                let (mode, lang) = words;
                let (one, two, three) = times;
                [
                    date, time, user, exe, pe, npes, mhz, mode, lang, lib, one, two, three, ops,
                    misses, id, extras,
                ]
                .into()
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        /// Lines of any form, and with bytes changed that may stand in any place.
        #[test]
        fn lines_are_the_same_in_both_ways(
            lines in proptest::collection::vec((tokens(), proptest::collection::vec((
                any::<prop::sample::Index>(),
                prop::sample::select(b" -=.~%/:0129tfv\0\x7f\xff".as_slice()),
            ), 0..2)), 1..8),
        ) {
            let mut text = Vec::new();
            for (tokens, changes) in &lines {
                let begin = text.len();
                text.extend(topas_testkit::with_lengths(&tokens.join(" ")).into_bytes());
                // Half of the lines stay as they are.
                for (at, byte) in changes.iter().skip(1) {
                    let at = begin + at.index(text.len() - begin);
                    text[at] = *byte;
                }
                text.push(b'\n');
            }
            let ((one, tally), (two, other_tally)) = (seen(&text, true), seen(&text, false));
            prop_assert_eq!(one.lines, two.lines);
            prop_assert_eq!(tally, other_tally);
        }
    }

    #[test]
    fn lines_of_the_module_are_usual() {
        let start = "2026/11/20 08:01:02 anna heat";
        let lines = [
            "1 16 t2596 B f90 mpi 1.5 0.25 2.000 f=12 34 id1 v=1 t=1795161662 uid=7 host=n1",
            "1 16 t2596 B f90 mpi 1.500 0.250000 2.000001 f=12 34 id1 v=1 t=1795161662 uid=7",
            "0 - - I - - 123456789.123 0.000 999999999.999999 i~12 ~34 - v=1 t=1795161662 uid=0",
            "4294967295 1 t1 B c sma 1.500 0.250 2.000 l=- - 1 v=1 t=1 uid=4294967295 cyc=-",
        ];
        let text: String = lines
            .map(|line| topas_testkit::with_lengths(&format!("{start} {line}")) + "\n")
            .concat();
        let (seen, _) = seen(text.as_bytes(), true);
        #[cfg(target_arch = "x86_64")]
        if crate::line_index::has_vectors() {
            assert_eq!(seen.usual, [false, true, true, true]);
        }
        assert_eq!(seen.lines.len(), 4);
    }
}
