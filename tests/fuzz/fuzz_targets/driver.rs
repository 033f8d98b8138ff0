//! Any bytes as a response file and as a command line: decided, never rewritten.
#![no_main]

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;

use libfuzzer_sys::fuzz_target;
use topas_driver::catalog::Catalog;
use topas_driver::cld;
use topas_driver::decision::{Facts, decide, examine_linker};
use topas_driver::options::COMPILER;
use topas_driver::response::{Response, words};

fuzz_target!(|text: &[u8]| {
    let catalog = Catalog::built_in();
    // Every response file holds the same text: the worst nesting there is.
    let read = |_: &OsStr| Response::Text(text.to_vec());
    let facts = Facts::new(&catalog, &read);
    let _ = decide(&words(text), &facts);
    let _ = examine_linker(&words(text), &facts);
    let _ = cld::without(&words(text), COMPILER, &read);
    let lines = text.split(|b| *b == b'\n').map(|line| OsString::from_vec(line.to_vec()));
    let _ = decide(&lines.collect::<Vec<_>>(), &facts);
});
