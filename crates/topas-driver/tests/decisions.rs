//! The decision on any command whatever, without running anything. What is decided on
//! which command stands in the tables of `tests/driver`, see `conformance.rs`.

use std::ffi::{OsStr, OsString};
use std::io;

use proptest::prelude::*;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use topas_driver::catalog::Catalog;
use topas_driver::decision::{Decision, Facts, decide};
use topas_driver::response::{Response, words};

/// Response files.
fn response_file(name: &OsStr) -> Response {
    let text: &[u8] = match name.to_str() {
        Some("objects") => b"a.o\nb.o\n",
        Some("nested") => b"-O2 @objects '-lm'",
        Some("compile") => b"-O2\t-c",
        Some("shared") => b"-shared",
        Some("circle") => b"@circle",
        Some("pipe") => return Response::Unfit(io::Error::other("not a regular file")),
        _ => return Response::Absent,
    };
    Response::Text(text.to_vec())
}

fn decision(args: &[OsString]) -> Decision {
    let catalog = Catalog::built_in();
    decide(args, &Facts::new(&catalog, &response_file))
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
        let all = decision(&args);
        // Whatever the rest says, a question is a question.
        let mut asking = vec![OsString::from("--version")];
        asking.extend(args.iter().cloned());
        prop_assert!(matches!(decision(&asking), Decision::NotALink(_)));
        // What is linked without a last option that takes a word is linked with more
        // inputs too.
        if all == Decision::Link {
            let mut more = args.clone();
            more.push("more.o".into());
            prop_assert_eq!(decision(&more), Decision::Link);
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
