//! Pictures stay as they are unless somebody wants them to change.
//!
//! `TOPAS_UPDATE_GOLDEN=1 cargo test -p topas-chart --test golden` writes them anew: look at
//! them before they are committed.

mod samples;

use std::fs;
use std::path::Path;

use topas_chart::{Chart, Screen, Size};

/// Set: write the files anew.
const UPDATE: &str = "TOPAS_UPDATE_GOLDEN";

/// Those whose files are small enough to be kept.
fn small() -> impl Iterator<Item = (&'static str, Box<dyn Chart>)> {
    samples::all().into_iter().filter(|(name, _)| !name.starts_with("large-"))
}

#[test]
fn pictures_are_what_they_were() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let update = std::env::var_os(UPDATE).is_some();
    let mut changed = Vec::new();
    for (name, chart) in small() {
        let svg = chart.picture(Size::default()).svg();
        let path = directory.join(format!("{name}.svg"));
        if update {
            fs::write(&path, svg).unwrap();
        } else if fs::read_to_string(&path).ok().as_deref() != Some(&svg) {
            changed.push(name);
        }
    }
    assert!(
        changed.is_empty(),
        "{changed:?} in {} changed: run with {UPDATE}=1 and look at them",
        directory.display()
    );
}

#[test]
fn characters_are_what_they_were() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let screens = [("txt", true), ("ascii", false)];
    let mut changed = Vec::new();
    for (name, chart) in small() {
        for (extension, unicode) in screens {
            let text = chart.terminal(Screen { width: 80, unicode, color: false });
            let path = directory.join(format!("{name}.{extension}"));
            if std::env::var_os(UPDATE).is_some() {
                fs::write(&path, text).unwrap();
            } else if fs::read_to_string(&path).ok().as_deref() != Some(&text) {
                changed.push(path);
            }
        }
    }
    assert!(changed.is_empty(), "{changed:?} changed: run with {UPDATE}=1 and look at them");
}
