//! Any bytes as topas.conf, log target and zone rule.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topas_format::capacity::CapacityLine;
use topas_format::conf::{List, Settings, entries, in_force, words};
use topas_format::form::{Values, text};
use topas_format::out::Out;
use topas_format::target::{expand, kind};
use topas_format::zone::{footer, offset_at};

fuzz_target!(|bytes: &[u8]| {
    let settings = Settings::read(bytes);
    // The tools read entry by entry and must come to the same settings as the module.
    let mut same = Settings::default();
    for entry in entries(in_force(bytes)).flatten() {
        same.set(entry.key, entry.value);
    }
    assert_eq!(settings, same);
    let _ = settings.answer_by_name(Some(bytes), bytes, b"0");
    let mut values = Values::new();
    values.set_time(1_795_161_662);
    values.texts[text::HOST] = Some(b"n1");
    for target in words(settings.list(List::Log)).chain([bytes]) {
        let mut path = [0; 300];
        let mut out = Out::new(&mut path);
        if expand(kind(target).1, &mut values, &mut out).is_some() {
            assert!(!out.is_cut());
        }
    }
    let _ = CapacityLine::parse(bytes);
    let _ = offset_at(footer(bytes), 1_795_161_662);
    let _ = offset_at(bytes, 1_795_161_662);
});
