//! The templates of mails: built in, or those of the center in `mail/` beside `topas.conf`.

use std::fs;
use std::io;
use std::path::PathBuf;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment as Jinja, Error, ErrorKind, UndefinedBehavior};
use serde_json::Value;
use topas_config::Conf;
use topas_terminal::shown;

use crate::{TOOL, exit};

/// Their names and what is built in.
const BUILTIN: [(&str, &str); 3] = [
    ("subject.txt", include_str!("../../../../etc/topas/mail/subject.txt")),
    ("weekly.txt", include_str!("../../../../etc/topas/mail/weekly.txt")),
    ("weekly.html", include_str!("../../../../etc/topas/mail/weekly.html")),
];

/// Most text that a template may make, in B: what is more would be no mail.
const MOST: usize = 4 << 20;

/// Most steps of a template.
const FUEL: u64 = 5_000_000;

/// All templates.
pub struct Templates {
    jinja: Jinja<'static>,
    /// Files of the center by the names of templates
    files: Vec<(&'static str, PathBuf)>,
}

impl Templates {
    /// Reads those of the center. A faulty one is said, with its line; the Err is an exit code.
    pub fn load(conf: &Conf) -> Result<Self, u8> {
        let mut jinja = Jinja::new();
        // A name that is spelled wrong is an error, not a hole in the mail.
        jinja.set_undefined_behavior(UndefinedBehavior::Strict);
        jinja.set_auto_escape_callback(|name| match name.ends_with(".html") {
            true => AutoEscape::Html,
            false => AutoEscape::None,
        });
        let mut syntax = SyntaxConfig::builder();
        syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
        let syntax = syntax.build();
        syntax.into_iter().for_each(|syntax| jinja.set_syntax(syntax));
        // A loop without end is an error, too.
        jinja.set_fuel(Some(FUEL));
        jinja.add_filter("left", |text: String, width: usize| format!("{text:<width$}"));
        jinja.add_filter("right", |text: String, width: usize| format!("{text:>width$}"));
        jinja.add_filter("cut", |text: String, width: usize| cut(&text, width));
        jinja.add_filter("fold", |text: String, width: usize, indent: Option<usize>| {
            fold(&text, width.max(20), indent.unwrap_or(0).min(60))
        });
        let mut templates = Templates { jinja, files: Vec::new() };
        let dir = conf.file().map(|file| file.with_file_name("mail"));
        for (name, builtin) in BUILTIN {
            let own = dir.as_ref().map(|dir| dir.join(name));
            let text = match own.as_ref().map(fs::read_to_string) {
                Some(Ok(text)) => {
                    templates.files.extend(own.map(|path| (name, path)));
                    text
                }
                Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => {
                    let what = format!("cannot read {}", shown(&own.unwrap_or_default()));
                    TOOL.error(&what, Some(&error), "without this file the built-in one is used");
                    return Err(exit::FAILED);
                }
                _ => builtin.to_owned(),
            };
            let added = templates.jinja.add_template_owned(name, text);
            added.map_err(|error| templates.faulty(name, &error))?;
        }
        Ok(templates)
    }

    /// The text that a template makes of values. A fault is said; the Err is an exit code.
    pub fn fill(&self, name: &'static str, values: &Value) -> Result<String, u8> {
        let filled =
            self.jinja.get_template(name).and_then(|template| template.render(Serde(values)));
        let text = filled.map_err(|error| self.faulty(name, &error))?;
        if text.len() > MOST {
            let what = format!("the template {name} makes {} B of text", text.len());
            TOOL.error(&what, None, &format!("a mail has {MOST} B at most"));
            return Err(exit::FAILED);
        }
        Ok(text)
    }

    fn faulty(&self, name: &str, error: &Error) -> u8 {
        let file = self.files.iter().find(|(of, _)| *of == name);
        let file = file.map_or_else(
            || format!("built-in template {name}"),
            |(_, path)| shown(path).to_string(),
        );
        let line = error.line().map_or_else(String::new, |line| format!(":{line}"));
        let what = match (error.kind(), error.detail()) {
            (ErrorKind::UndefinedError, None) => "a value that no mail has".to_owned(),
            (kind, None) => kind.to_string(),
            (kind, Some(detail)) => format!("{kind}: {detail}"),
        };
        let hint = "topas-report(1) lists the values; without the file the built-in one is used";
        TOOL.error(&format!("{file}{line}: {what}"), None, hint);
        exit::FAILED
    }
}

/// At most so many characters of a text; that some are left out is shown.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(2)).collect();
    kept + ".."
}

/// A paragraph in lines of so many characters, each behind so many blanks. A word that is longer
/// than a line is broken, but no address of a page.
fn fold(text: &str, width: usize, indent: usize) -> String {
    let room = width.saturating_sub(indent).max(1);
    let mut lines: Vec<String> = Vec::new();
    let mut used = room;
    for word in text.split_whitespace() {
        let letters: Vec<char> = word.chars().collect();
        let is_kept = letters.len() <= room || word.contains("://");
        for part in letters.chunks(if is_kept { letters.len() } else { room }) {
            match lines.last_mut().filter(|_| used + 1 + part.len() <= room) {
                Some(line) => {
                    line.push(' ');
                    line.extend(part);
                    used += 1 + part.len();
                }
                None => {
                    lines.push(" ".repeat(indent) + &part.iter().collect::<String>());
                    used = part.len();
                }
            }
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_folded_and_names_cut() {
        assert_eq!(fold("aa bb  cc\ndd", 5, 0), "aa bb\ncc dd");
        assert_eq!(fold("x a-long-word b", 4, 0), "x\na-lo\nng-w\nord\nb");
        assert_eq!(fold("see http://a.b/c now", 8, 2), "  see\n  http://a.b/c\n  now");
        assert_eq!((fold("", 5, 2), fold("aa bb", 7, 2)), (String::new(), "  aa bb".to_owned()));
        assert_eq!((cut("abcdef", 6), cut("abcdefg", 6)), ("abcdef".into(), "abcd..".into()));
    }
}
