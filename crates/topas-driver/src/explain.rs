//! `--topas-explain`: the plan in words.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::decision::Decision;
use crate::module;
use crate::plan::{LaunchId, Plan, Role};
use crate::profile::Profile;
use crate::relocate;

/// What helps if the objects of an installation name the topas.conf of another place.
pub const RELOCATE: &str = "call PREFIX/libexec/topas/topas-driver --relocate";

/// What would be done and why: a line `what: value` for each fact, the command last.
pub fn text(plan: &Plan) -> OsString {
    let mut out = OsString::new();
    let mut fact = |what: &str, value: &OsStr| {
        out.push(format!("{:<15}", format!("{what}:")));
        out.push(value);
        out.push("\n");
    };
    fact("name", &plan.name);
    match &plan.role {
        Role::Linking { kind, language, decision, module } => {
            fact("kind", OsStr::new(&format!("{kind}, language {}", language.word())));
            fact("real program", plan.real.as_os_str());
            fact("decision", OsStr::new(&decision_in_words(decision)));
            if let Some(module) = module {
                fact("module", &with_state(module));
                if let Some(conf) = relocate::conf_named_by(module) {
                    fact("module reads", conf.as_os_str());
                }
            }
            if let Some(other) = &plan.other_conf {
                fact(
                    "warning",
                    OsStr::new(&format!(
                        "the module was made for another place: {}",
                        other.display()
                    )),
                );
                fact("hint", OsStr::new(RELOCATE));
            }
        }
        Role::Launcher(id) => {
            fact("kind", OsStr::new("launcher"));
            fact("real program", plan.real.as_os_str());
            let id = match id {
                LaunchId::Fresh => "TOPAS_LAUNCH_ID is set: this launcher gives no id",
                LaunchId::Removed => "TOPAS_LAUNCH_ID is not set: this launcher gives an id",
                LaunchId::Untouched => "TOPAS_LAUNCH_ID stays as it is: switched off",
            };
            fact("launch id", OsStr::new(id));
        }
        Role::Unknown => {
            fact("kind", OsStr::new("not in drivers.conf: passed through"));
            fact("real program", plan.real.as_os_str());
        }
    }
    if let Some(Profile { by, words }) = &plan.profile {
        let text = match words {
            Ok(_) => format!("linked, asked for by {by}"),
            Err(why) => format!("asked for by {by}, left out: {why}"),
        };
        fact("MPI profile", OsStr::new(&text));
    }
    for note in &plan.notes {
        fact("note", OsStr::new(note));
    }
    for (name, value) in &plan.set {
        let mut text = OsString::from(format!("{name}="));
        text.push(value);
        fact("environment", &text);
    }
    if let Some(conf) = &plan.conf {
        match conf.file() {
            Some(file) => fact("configuration", file.as_os_str()),
            None => fact("configuration", OsStr::new("no file: defaults")),
        }
        if let Some(problem) = conf.problem() {
            fact("problem", OsStr::new(&format!("cannot read it: {problem}; defaults hold")));
        }
        for warning in conf.warnings() {
            fact("warning", OsStr::new(&warning.to_string()));
        }
    }
    fact("command", &command(plan));
    out
}

fn decision_in_words(decision: &Decision) -> String {
    match decision {
        Decision::Link => "link with the module".to_owned(),
        Decision::Answer(question) => {
            format!("answer `{}` with the module", question.option.to_string_lossy())
        }
        Decision::LeaveAlone(why) => format!("link without the module: {why}"),
        Decision::NotALink(why) => format!("no link of an executable: {why}"),
    }
}

fn with_state(module: &std::path::Path) -> OsString {
    let mut text = module.as_os_str().to_owned();
    match module::check(module) {
        Ok(size) => text.push(format!(" ({size} B)")),
        Err(unfit) => text.push(format!(" ({unfit})")),
    }
    text
}

/// The command as one would type it into a shell.
fn command(plan: &Plan) -> OsString {
    let mut text = quoted(plan.real.as_os_str());
    for word in plan.args.iter().chain(&plan.added) {
        text.push(" ");
        text.push(quoted(word));
    }
    text
}

/// A word as a POSIX shell reads it back.
pub fn quoted(word: &OsStr) -> OsString {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"-_./=,+:@%^".contains(b);
    if !word.is_empty() && word.as_bytes().iter().all(plain) {
        return word.to_owned();
    }
    let mut text = OsString::from("'");
    for (i, piece) in word.as_bytes().split(|&b| b == b'\'').enumerate() {
        if i > 0 {
            text.push("'\\''");
        }
        text.push(OsStr::from_bytes(piece));
    }
    text.push("'");
    text
}
