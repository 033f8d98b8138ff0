//! Each option of a tool stands in its manual page, and a page tells of no option that no tool has.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use topas_tests::running::{command, run};
use topas_tests::site::{Site, source_root};

/// Tools below the prefix, and the sections of their pages.
const TOOLS: [(&str, &str); 10] = [
    ("bin/topas", "1"),
    ("bin/topas-doctor", "8"),
    ("bin/topas-log", "1"),
    ("bin/topas-mpi", "1"),
    ("bin/topas-report", "1"),
    ("bin/topas-run", "1"),
    ("bin/topas-stat", "1"),
    ("bin/topas-top", "1"),
    ("bin/topasview", "1"),
    ("libexec/topas/topas-driver", "1"),
];

/// Long options of other programs, of which pages tell.
const FOREIGN: [&str; 7] = [
    // Of `cargo xtask install`.
    "--relocatable",
    // Of ld and numactl.
    "--wrap",
    "--interleave",
    // Of srun and sbatch.
    "--jobid",
    "--ntasks-per-node",
    "--overlap",
    // Of pkg-config.
    "--libs",
];

type Options = BTreeSet<String>;

/// A tool and its page.
struct Tool {
    name: String,
    page: String,
    /// Of the tool and of its commands
    options: Options,
    /// Of each command alone, with those that all commands have
    commands: Vec<(String, Options)>,
}

impl Tool {
    fn new(place: &str, section: &str) -> Tool {
        let wrappers = Site::shared().wrappers();
        let prefix = wrappers.ancestors().nth(3).expect("libexec/topas/wrappers");
        let path = prefix.join(place);
        let name = place.rsplit('/').next().expect("a name").to_owned();
        let page = source_root().join("doc").join(format!("{name}.{section}"));
        let help = help(&path, &[]);
        let mut options = told_by_help(&help);
        let mut commands = Vec::new();
        for command in commands_of(&help) {
            let own = told_by_help(&self::help(&path, &[&command]));
            options.extend(own.iter().cloned());
            commands.push((command, own));
        }
        Tool { name, page: plain(&fs::read_to_string(page).expect("a page")), options, commands }
    }
}

fn help(tool: &Path, words: &[&str]) -> String {
    run(command(tool.to_str().expect("text")).args(words).arg("--help")).good().out()
}

/// The options in the list of a help text, and those in its first paragraph, in which some tools show
/// how they are called: short and long names.
fn told_by_help(help: &str) -> Options {
    let mut options = options_in(help.split("\n\n").next().unwrap_or_default());
    for line in help.lines().filter(|line| line.starts_with("  ")) {
        // A text that continues stands further to the right than every option.
        let (indent, line) = (line.len() - line.trim_start().len(), line.trim_start());
        if indent <= 6 && line.starts_with('-') {
            let names = line.split("  ").next().unwrap_or_default();
            options.extend(names.split([' ', ',', '=', '[']).filter_map(option));
        }
    }
    options
}

fn commands_of(help: &str) -> Vec<String> {
    let list = help.split("\nCommands:\n").nth(1).unwrap_or_default();
    let lines = list.lines().take_while(|line| line.starts_with("  "));
    let lines = lines.filter_map(|line| line.strip_prefix("  ")).filter(|l| !l.starts_with(' '));
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// `--name` or `-n`, if the word begins with one.
fn option(word: &str) -> Option<String> {
    let long = word.strip_prefix("--");
    let name = long.or_else(|| word.strip_prefix('-'))?;
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || long.is_some() && c == '-';
    let end = name.find(|c| !is_of_name(c)).unwrap_or(name.len());
    let is_name = match long {
        Some(_) => name[..end].starts_with(|c: char| c.is_ascii_alphanumeric()),
        None => end == 1,
    };
    is_name.then(|| word[..word.len() - name.len() + end].to_owned())
}

/// The text of a page without the marks of its fonts.
fn plain(page: &str) -> String {
    let mut text = page.replace("\\-", "-").replace("\\c\n", "").replace("\\&", "");
    for font in ["\\fB", "\\fI", "\\fR", "\\fP", "\""] {
        text = text.replace(font, "");
    }
    text
}

/// All options in a text.
fn options_in(text: &str) -> Options {
    let of_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    text.split(|c| !of_word(c)).filter_map(option).collect()
}

/// The terms of the lists of a page: where options are explained.
fn terms(page: &str) -> impl Iterator<Item = &str> {
    let lines = page.lines().zip(page.lines().skip(1));
    lines.filter(|(mark, _)| *mark == ".TP").map(|(_, term)| term)
}

#[test]
fn pages_and_tools_have_the_same_options() {
    let tools: Vec<Tool> = TOOLS.iter().map(|(place, section)| Tool::new(place, section)).collect();
    let everybody: Options = tools.iter().flat_map(|tool| tool.options.iter().cloned()).collect();
    let mut faults = Vec::new();
    for Tool { name, page, options, commands } in &tools {
        assert!(options.len() > 3, "{name}: {options:?}");
        let in_page = options_in(page);
        for missing in options.difference(&in_page) {
            faults.push(format!("{name} has {missing}, of which its page does not tell"));
        }
        // What a list explains, the tool has; the examples are commands of all kinds.
        let (before, behind) = page.split_once("\n.SH EXAMPLES\n").expect("examples");
        let behind = behind.split_once("\n.SH ").expect("sections").1;
        for term in terms(before).chain(terms(behind)).filter(|term| term.contains(" -")) {
            let first = term.split_whitespace().nth(1).unwrap_or_default();
            let of_tool = first.starts_with('-');
            for unknown in options_in(term).difference(options).filter(|_| of_tool) {
                faults.push(format!("the page of {name} explains {unknown}: {term}"));
            }
        }
        for long in in_page.iter().filter(|option| option.starts_with("--")) {
            if !everybody.contains(long) && !FOREIGN.contains(&long.as_str()) {
                faults.push(format!("the page of {name} has {long}, which no tool has"));
            }
        }
        // The synopsis has a paragraph for each command.
        let synopsis = page.split_once(".SH SYNOPSIS\n").expect("a synopsis").1;
        let synopsis = synopsis.split("\n.SH ").next().unwrap_or_default();
        for (command, own) in commands {
            let begin = format!(".B {name} {command}");
            let has = |text: &&str| text.lines().any(|line| line == begin);
            let paragraphs = synopsis.split("\n.br\n").filter(has);
            let told: Vec<Options> = paragraphs.map(options_in).collect();
            if told.is_empty() {
                faults.push(format!("the synopsis of {name} has no {command}"));
            }
            for unknown in told.iter().flatten().filter(|option| !own.contains(*option)) {
                faults.push(format!("the synopsis of {name} {command} has {unknown}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
