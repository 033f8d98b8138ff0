//! Hands messages over: to a program, a server or a maildir.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lettre::message::{Mailbox, MultiPart};
use lettre::{Message, SendmailTransport, SmtpTransport, Transport};

use super::MailArgs;
use super::letter::Letter;
use super::recipient::host_name;
use crate::{TOOL, exit};

/// How long a server may take for one step.
const PATIENCE: Duration = Duration::from_secs(60);

/// The port of SMTP.
const PORT: u16 = 25;

/// Where mails go.
enum Way {
    Program(SendmailTransport),
    Server(SmtpTransport),
    Maildir(PathBuf),
}

/// Sends mails.
pub struct Carrier {
    way: Way,
    from: Mailbox,
    domain: String,
}

impl Carrier {
    /// As the options say. What is wrong with them is said; the Err is an exit code.
    pub fn new(args: &MailArgs) -> Result<Self, u8> {
        let domain = args.domain.clone().unwrap_or_else(host_name);
        let wrong = |what: String, hint: &str| {
            TOOL.error(&what, None, hint);
            exit::USAGE
        };
        let from = args.from.clone().unwrap_or_else(|| format!("topas@{domain}"));
        let from: Mailbox = from.parse().map_err(|error| {
            wrong(format!("'{from}' is no address: {error}"), "give --from NAME@HOST, and --domain")
        })?;
        let way = match (&args.sendmail, &args.smtp, &args.maildir) {
            (Some(program), ..) => Way::Program(SendmailTransport::new_with_command(program)),
            (None, Some(server), _) => {
                let (host, port) = match server.rsplit_once(':') {
                    None => (server.as_str(), PORT),
                    Some((host, port)) => (
                        host,
                        port.parse().map_err(|_| {
                            wrong(
                                format!("--smtp: '{port}' is no port"),
                                "write HOST or HOST:PORT, such as localhost:25",
                            )
                        })?,
                    ),
                };
                let server = SmtpTransport::builder_dangerous(host).port(port);
                Way::Server(server.timeout(Some(PATIENCE)).build())
            }
            (None, None, Some(dir)) => Way::Maildir(dir.clone()),
            (None, None, None) => {
                let hint = "name --sendmail, --smtp HOST or --maildir DIR; --show prints them";
                return Err(wrong("where the mails go is not said".to_owned(), hint));
            }
        };
        Ok(Carrier { way, from, domain })
    }

    /// Sends a letter; the Err says why that failed.
    pub fn send(&self, letter: &Letter, address: &str) -> Result<(), String> {
        let to: Mailbox = address.parse().map_err(|error| format!("no address: {error}"))?;
        let id = format!("<{}.topas@{}>", unique(), self.domain);
        let parts = MultiPart::alternative_plain_html(letter.text.clone(), letter.html.clone());
        let message = Message::builder()
            .from(self.from.clone())
            .to(to)
            .subject(&letter.subject)
            .message_id(Some(id))
            .raw_header(automatic())
            .multipart(parts)
            .map_err(|error| error.to_string())?;
        match &self.way {
            Way::Program(program) => program.send(&message).map_err(|error| words(&error)),
            Way::Server(server) => server.send(&message).map(|_| ()).map_err(|error| words(&error)),
            Way::Maildir(dir) => {
                deliver(dir, &message.formatted()).map_err(|error| error.to_string())
            }
        }
    }
}

/// The header that says that nobody wrote the mail, so that no machine answers it (RFC 3834).
fn automatic() -> lettre::message::header::HeaderValue {
    let name = lettre::message::header::HeaderName::new_from_ascii_str("Auto-Submitted");
    lettre::message::header::HeaderValue::new(name, "auto-generated".to_owned())
}

/// An error with its causes.
fn words(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(of) = cause {
        text += &format!(": {of}");
        cause = of.source();
    }
    text.replace('\n', " ")
}

/// A name that no other message has.
fn unique() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}.M{}P{}", now.as_secs(), now.subsec_nanos(), std::process::id())
}

/// Writes a message into a maildir, where it appears complete.
fn deliver(dir: &std::path::Path, message: &[u8]) -> std::io::Result<()> {
    for part in ["tmp", "new", "cur"] {
        fs::create_dir_all(dir.join(part))?;
    }
    let name = format!("{}.{}", unique(), host_name().replace(['/', ':'], "-"));
    let path = dir.join("tmp").join(&name);
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    let written = file.write_all(message).and_then(|()| file.sync_all());
    if let Err(error) = written {
        let _ = fs::remove_file(&path);
        return Err(error);
    }
    fs::rename(&path, dir.join("new").join(&name))
}
