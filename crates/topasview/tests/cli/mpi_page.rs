//! The profile of MPI calls on a page of HTML.

use std::fs;

use super::mpi_against_awk::{ranks, shown};
use super::mpi_compare::two;
use super::page::{has_its_parts, is_readable};
use super::view;

/// The page of a profile with waits.
fn written(args: &[&str]) -> String {
    let dir = two();
    let out = shown(dir.path(), &[&["--html", "page.html", "after.out"][..], args].concat());
    assert_eq!(out, "", "the page stands for the text");
    fs::read_to_string(dir.path().join("page.html")).unwrap()
}

/// The sections by their names.
fn sections(page: &str) -> Vec<&str> {
    let section = |text: &'_ str| text.split_once('"').map(|(id, _)| id.len());
    page.split("<h2 id=\"").skip(1).map(|text| &text[..section(text).unwrap()]).collect()
}

#[test]
fn a_page_of_the_profile_has_all_that_is_known() {
    let page = written(&[]);
    has_its_parts(&page, "heat2d: MPI calls of 6 ranks");
    let known = ["overview", "waits", "routines", "sizes", "communicators", "switches"];
    assert_eq!(sections(&page), known);
    // Efficiency and sizes of messages, each in two sizes.
    assert_eq!(page.matches("<svg").count(), 4);
    for text in ["load balance", "Waitall", "late sender s", "bytes", "Times are in seconds (s)"] {
        assert!(page.contains(text), "{text}");
    }
    // The numbers are those of the text.
    let dir = two();
    let text = shown(dir.path(), &["--waits", "after.out"]);
    let row = text.lines().find(|line| line.starts_with("Waitall ")).unwrap();
    let cells: String = row.split_whitespace().skip(1).map(|n| format!("<td>{n}</td>")).collect();
    assert!(page.contains(&cells), "{cells}");
    let sentence = text.split("\n\n").find(|part| part.contains("wait for each other")).unwrap();
    assert!(page.contains(&sentence.trim().replace('\n', " ")), "{sentence}");
}

#[test]
fn a_page_of_the_profile_has_the_views_that_are_asked_for() {
    let page = written(&["--waits", "--efficiency"]);
    has_its_parts(&page, "heat2d: MPI calls of 6 ranks");
    assert_eq!(sections(&page), ["efficiency", "waits"]);
    let page = written(&["--routines", "--matrix", "all"]);
    let matrices = ["time", "sent", "sends", "received", "receives"];
    let matrices = matrices.map(|name| format!("matrix-{name}"));
    assert_eq!(sections(&page)[..5], matrices);
    assert!(page.contains("wait for each other"), "the sentence stands above any views");
    let dir = two();
    let without = shown(dir.path(), &["--html", "-", "--waits", "--paths", "before.out"]);
    assert_eq!(sections(&without), ["paths", "waits"]);
    for said in ["Call paths were not counted", "Waits were not told apart"] {
        assert!(without.contains(said), "{said}");
    }
    let json = shown(dir.path(), &["--html", "page.html", "--waits", "--json", "after.out"]);
    assert!(json.starts_with('{') && dir.path().join("page.html").exists());
}

#[test]
fn a_page_of_the_profile_has_a_picture_of_the_peers() {
    let page = shown(ranks(5).path(), &["--html", "-"]);
    has_its_parts(&page, "heat2d: MPI calls of 5 ranks");
    assert!(sections(&page).contains(&"peers"), "{:?}", sections(&page));
    assert_eq!(page.matches("<svg").count(), 6);
}

#[test]
fn a_page_of_the_profile_replaces_no_profile() {
    let dir = two();
    let before = fs::read(dir.path().join("before.out")).unwrap();
    let kept = view(dir.path(), &["--mpi", "--html", "before.out", "after.out"]);
    assert!(kept.code == 2 && kept.err.contains("is not replaced"), "{}", kept.err);
    assert_eq!(fs::read(dir.path().join("before.out")).unwrap(), before);
    shown(dir.path(), &["--html", "before.out", "after.out", "--force"]);
    assert!(fs::read(dir.path().join("before.out")).unwrap().starts_with(b"<!DOCTYPE html>"));
}

#[test]
#[ignore = "cargo xtask test --browser"]
fn a_browser_shows_the_page_of_the_profile_readably() {
    is_readable(&written(&[]), 2, 200);
}
