//! `etc/topas.conf` shows every key, commented out, with its type and default.

use topas_config::conf::{CAPACITY, KEEP, LOG_OWNER, STORE, keys};
use topas_config::policy::KEYS;
use topas_format::capacity::CapacityLine;
use topas_format::conf::{NotAnEntry, Settings, entries};
use topas_format::mpi_conf;

const SAMPLE: &str = include_str!("../../../etc/topas.conf");

/// Lines of the form `#key = value`: the keys of the sample in force if uncommented.
fn shown() -> Vec<(&'static str, &'static str)> {
    SAMPLE
        .lines()
        .filter_map(|line| line.strip_prefix('#'))
        .filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()))
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.trim(), value.trim()))
        .collect()
}

#[test]
fn the_sample_sets_nothing() {
    assert_eq!(entries(SAMPLE.as_bytes()).collect::<Vec<_>>(), Vec::<Result<_, NotAnEntry>>::new());
}

#[test]
fn the_sample_shows_every_key_once_with_its_default() {
    let shown = shown();
    let names: Vec<_> = shown.iter().map(|(key, _)| *key).collect();
    let known: Vec<_> = keys().map(|key| key.name).collect();
    assert_eq!(names, known, "keys of etc/topas.conf, in the order of topas_config::conf::keys()");
    for (key, value) in shown {
        let known = keys().find(|k| k.name == key).unwrap();
        let mut settings = Settings::default();
        let by_drivers = KEYS.iter().any(|k| k.name == key);
        let by_profiles = mpi_conf::Settings::default().set(key.as_bytes(), value.as_bytes());
        let by_tools = key == LOG_OWNER.name
            || key == STORE.name && value.starts_with("postgres://")
            || key == KEEP.name && value.parse::<u16>().is_ok_and(|months| months > 0)
            || key == CAPACITY.name && CapacityLine::parse(value.as_bytes()).is_some();
        let known_here = by_drivers || by_profiles || by_tools;
        assert!(known_here || settings.set(key.as_bytes(), value.as_bytes()), "{key} = {value}");
        // A default in parentheses is no value, and an example stands in its place.
        if !known.default.starts_with('(') {
            assert_eq!(value, known.default, "{key}");
        }
    }
}

#[test]
fn the_sample_names_type_and_default_of_every_key() {
    for key in keys() {
        let head = format!("# {} ({}, default {})", key.name, key.form, key.default);
        assert!(SAMPLE.lines().any(|line| line == head), "etc/topas.conf lacks the line:\n{head}");
    }
}

#[test]
fn the_manual_page_tells_of_every_key() {
    let page = include_str!("../../../doc/topas.conf.5");
    for key in keys() {
        let default = key.default.trim_matches(['(', ')']);
        let head = format!(".BR {} \" ({}, default {default})\"", key.name, key.form);
        assert!(page.lines().any(|line| line == head), "doc/topas.conf.5 lacks the line:\n{head}");
    }
}

/// Measured programs read so much and no more; a site needs room for its own lines.
#[test]
fn the_sample_fits_into_what_programs_read() {
    let half = topas_format::conf::MAX_READ / 2;
    assert!(SAMPLE.len() <= half, "etc/topas.conf has {} bytes of {half}", SAMPLE.len());
}
