//! Completions of the shells, as they are installed: bash completes options, commands and names
//! that the tools tell.

use std::path::PathBuf;

use topas_tests::running::{command, run};
use topas_tests::site::Site;

/// The prefix of the installation that all tests share.
fn prefix() -> PathBuf {
    Site::shared().wrappers().ancestors().nth(3).expect("libexec/topas/wrappers").to_owned()
}

/// What bash offers for the last word of a command line.
fn offered(words: &[&str]) -> Vec<String> {
    let file = prefix().join("share/bash-completion/completions").join(words[0]);
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let script = format!(
        "source '{}' && complete -p {} >&2 && COMP_WORDS=({}) COMP_CWORD={} && \
         _topas_complete '{}' '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        file.display(),
        words[0],
        quoted.join(" "),
        words.len() - 1,
        words[0],
        words[words.len() - 1],
        words[words.len() - 2],
    );
    let path = format!("{}:/usr/bin:/bin", prefix().join("bin").display());
    let done = run(command("bash").args(["--norc", "-c", &script]).env("PATH", path)).good();
    done.out().lines().map(str::to_owned).filter(|line| !line.is_empty()).collect()
}

#[test]
fn bash_completes_what_the_tools_tell() {
    for (words, expected) in [
        (&["topas-stat", "--util"][..], &["--utilisation"][..]),
        (&["topas-stat", "--mine", "--covera"], &["--coverage"]),
        (&["topas-stat", "--measure", "users,jo"], &["users,jobs"]),
        (&["topas-stat", "--by", "npes_c"], &["npes_class"]),
        (&["topas-stat", "--measure", "npes_c"], &[]),
        (&["topas-log", "clo"], &["close"]),
        (&["topas-log", "close", "--befo"], &["--before"]),
        (&["topas-log", "--befo"], &[]),
        (&["topasview", "--mpi", "--effi"], &["--efficiency"]),
        (&["topasview", "--sort", "mem"], &[]),
        (&["topasview", "--sort", "miss-"], &["miss-rate"]),
        (&["topas-mpi", ""], &["calibrate", "collect", "list", "trace", "replay"]),
        (&["topas-doctor", "--buil"], &["--build"]),
        (&["topas-run", "--all"], &["--all-pe"]),
        (&["topas-top", "--onc"], &["--once"]),
        (&["topas-report", "ma"], &["mail"]),
        (&["topas-report", "mail", "--mai"], &["--maildir"]),
        // What is left to bash: names of files.
        (&["topas-stat", "topas.l"], &[]),
    ] {
        assert_eq!(offered(words), expected, "{words:?}");
    }
}

#[test]
fn every_tool_has_completions_where_the_shells_look() {
    let share = prefix().join("share");
    let zsh = std::fs::read_to_string(share.join("zsh/site-functions/_topas")).unwrap();
    let first = zsh.lines().next().unwrap();
    let tools = first.strip_prefix("#compdef ").expect("the names that zsh completes");
    for tool in tools.split(' ') {
        assert!(prefix().join("bin").join(tool).exists(), "{tool}");
        assert!(share.join("bash-completion/completions").join(tool).exists(), "{tool}");
        let fish = share.join("fish/vendor_completions.d").join(format!("{tool}.fish"));
        let fish = std::fs::read_to_string(fish).unwrap();
        assert!(fish.contains(&format!("complete -c {tool} ")) && !fish.contains("@TOOL@"));
    }
    let installed = std::fs::read_dir(prefix().join("bin")).unwrap().count();
    assert_eq!(tools.split(' ').count(), installed, "a tool without completions");
}
