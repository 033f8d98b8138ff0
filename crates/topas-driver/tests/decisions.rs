//! The table `commands/decisions.txt` against the decision, without running anything.

use std::ffi::{OsStr, OsString};
use std::io;

use proptest::prelude::*;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use topas_driver::catalog::Catalog;
use topas_driver::decision::{Decision, Facts, decide};
use topas_driver::response::{Response, words};

const TABLE: &str = include_str!("commands/decisions.txt");

/// The response files of the table.
fn response_file(name: &OsStr) -> Response {
    let text: &[u8] = match name.to_str() {
        Some("objects") => b"a.o\nb.o\n",
        Some("nested") => b"-O2 @objects '-lm'",
        Some("compile") => b"-O2\t-c",
        Some("shared") => b"-shared",
        Some("quoted-shared") => b"'-sha'\"red\" -o \"a b.so\"",
        Some("libs") => b"-L/opt/lib @more-libs",
        Some("more-libs") => b"-lpapi",
        Some("circle") => b"@circle",
        Some("dangling") => b"a.o -o",
        Some("empty") => b" \n",
        Some("pipe") => return Response::Unfit(io::Error::other("not a regular file")),
        _ => return Response::Absent,
    };
    Response::Text(text.to_vec())
}

fn decision(args: &[OsString], compilers: &[(&str, &OsStr)]) -> Decision {
    let catalog = Catalog::built_in();
    decide(args, &Facts { compilers, ..Facts::new(&catalog, &response_file) })
}

/// A decision as the table has it: the kind and the name of the reason.
fn in_short(decision: &Decision) -> (&'static str, String) {
    let name = |reason: String| reason.split(['(', ' ']).next().unwrap_or_default().to_owned();
    match decision {
        Decision::Link => ("link", String::new()),
        Decision::LeaveAlone(why) => ("alone", name(format!("{why:?}"))),
        Decision::Answer(question) => {
            ("answer", if question.command { "Command" } else { "Link" }.to_owned())
        }
        Decision::NotALink(why) => ("no", name(format!("{why:?}"))),
    }
}

/// Rows of the table: line number, expected kind, expected reason, words.
fn rows() -> impl Iterator<Item = (usize, &'static str, &'static str, Vec<OsString>)> {
    TABLE.lines().zip(1..).filter(|(line, _)| !line.is_empty() && !line.starts_with('#')).map(
        |(line, number)| {
            let (expected, rest) = line.split_once(' ').unwrap_or((line, ""));
            let (kind, reason) = expected.split_once(':').unwrap_or((expected, ""));
            (number, kind, reason, words(rest.as_bytes()))
        },
    )
}

#[test]
fn the_table_is_decided_as_it_says() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (number, kind, reason, words) in rows() {
        count += 1;
        let decision = decision(&words, &[]);
        let (got, why) = in_short(&decision);
        if got != kind || (!reason.is_empty() && why != reason) {
            wrong.push(format!("decisions.txt:{number}: {words:?}: {decision:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(count >= 150, "{count} command lines");
}

#[test]
fn every_reason_can_be_shown() {
    for (number, .., words) in rows() {
        let text = match decision(&words, &[]) {
            Decision::Link | Decision::Answer(_) => continue,
            Decision::LeaveAlone(why) => why.to_string(),
            Decision::NotALink(why) => why.to_string(),
        };
        assert!(text.len() > 10 && !text.contains('\n'), "decisions.txt:{number}: {text:?}");
    }
}

#[test]
fn the_compiler_chosen_by_a_variable_counts() {
    let args = [OsString::from("a.c")];
    for (command, expected) in [
        ("nvcc", "alone"),
        ("ccache /opt/cuda/bin/nvcc", "alone"),
        ("m68k-linux-gnu-gcc", "alone"),
        ("gcc-12", "link"),
        ("clang -O1", "link"),
    ] {
        let decision = decision(&args, &[("OMPI_CC", OsStr::new(command))]);
        assert_eq!(in_short(&decision).0, expected, "{command}: {decision:?}");
    }
}

/// Words made of pieces that mean something, and of anything.
fn word() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "-", "--", "@", "-o", "-c", "-x", "-Wl,", "-Xlinker", ",", "-l", "papi", "objects",
        "nested", "circle", "-shared", "-target", "=", "a.o", ".", "/", "-cc=", "é", "'", "\"",
        "\\", " ",
    ]);
    let piece = prop_oneof![
        3 => piece.prop_map(|piece| piece.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_command_is_decided(command in prop::collection::vec(word(), 0..12)) {
        let args: Vec<_> = command.iter().cloned().map(OsString::from_vec).collect();
        let all = decision(&args, &[]);
        // Whatever the rest says, a question is a question.
        let mut asking = vec![OsString::from("--version")];
        asking.extend(args.iter().cloned());
        prop_assert_eq!(in_short(&decision(&asking, &[])).0, "no");
        // What is linked without a last option that takes a word is linked with more
        // inputs too.
        if all == Decision::Link {
            let mut more = args.clone();
            more.push("more.o".into());
            prop_assert_eq!(decision(&more, &[]), Decision::Link);
        }
    }

    #[test]
    fn any_text_is_split(text in prop::collection::vec(any::<u8>(), 0..200)) {
        for word in words(&text) {
            prop_assert!(!word.as_bytes().contains(&0));
        }
    }

    #[test]
    fn what_is_quoted_comes_back(list in prop::collection::vec(
        prop::collection::vec(1u8..=255, 0..12), 0..8))
    {
        let mut text = Vec::new();
        for word in &list {
            text.push(b'\'');
            for &byte in word {
                if byte == b'\'' || byte == b'\\' {
                    text.push(b'\\');
                }
                text.push(byte);
            }
            text.extend_from_slice(b"' ");
        }
        let back: Vec<_> = words(&text).into_iter().map(OsString::into_vec).collect();
        prop_assert_eq!(back, list);
    }
}
