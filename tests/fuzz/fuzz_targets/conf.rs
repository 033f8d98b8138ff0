//! Any bytes as topas.conf, log target and zone rule.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topas_format::civil::Date;
use topas_format::conf::{Settings, entries, words};
use topas_format::out::Out;
use topas_format::target::{Facts, expand, file_pattern};
use topas_format::zone::{footer, offset_at};

fuzz_target!(|text: &[u8]| {
    let settings = Settings::read(text);
    // The tools read entry by entry and must come to the same settings as the module.
    let mut same = Settings::default();
    for entry in entries(text).flatten() {
        same.set(entry.key, entry.value);
    }
    assert_eq!(settings, same);
    let facts = Facts { date: Date { year: 2026, month: 11, day: 20 }, host: b"n1", uid: 1 };
    for target in words(settings.log).chain([text]) {
        let mut path = [0; 300];
        let mut out = Out::new(&mut path);
        if expand(file_pattern(target), &facts, &mut out).is_some() {
            assert!(!out.is_cut());
        }
    }
    let _ = offset_at(footer(text), 1_795_161_662);
    let _ = offset_at(text, 1_795_161_662);
});
