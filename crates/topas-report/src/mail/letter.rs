//! A mail as it is sent.

use serde_json::Value;

use super::template::Templates;

/// Longest subject in characters.
const SUBJECT: usize = 150;

/// A mail.
pub struct Letter {
    /// One line
    pub subject: String,
    /// Plain text
    pub text: String,
    /// A page of HTML
    pub html: String,
}

impl Letter {
    /// From the values of a week. A faulty template is said; the Err is an exit code.
    pub fn write(templates: &Templates, values: &Value) -> Result<Self, u8> {
        let subject = templates.fill("subject.txt", values)?;
        let line: String = subject.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Letter {
            subject: line.chars().take(SUBJECT).collect(),
            text: templates.fill("weekly.txt", values)?,
            html: templates.fill("weekly.html", values)?,
        })
    }
}
