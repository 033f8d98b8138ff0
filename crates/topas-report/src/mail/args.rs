//! The options of `topas-report mail`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use topas_data::Period;

use crate::reading::{ReadingArgs, period};

/// How a mail is shown in place of being sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MailForm {
    /// The subject and the text
    Text,
    /// The page of HTML
    Html,
}

/// The options.
#[derive(Args, Debug)]
pub struct MailArgs {
    /// Which logs
    #[command(flatten)]
    pub reading: ReadingArgs,

    /// Only the mail of this user: a name, or a numeric id. Repeat it for further users
    #[arg(short, long, value_name = "USER")]
    pub user: Vec<String>,

    /// Print the mails and send nothing
    #[arg(
        long,
        value_name = "FORM",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text"
    )]
    pub show: Option<MailForm>,

    /// The time that is told: `last week`, 2026-W47, 2026-10, 2026
    #[arg(long, value_name = "PERIOD", default_value = "last week", value_parser = period)]
    pub period: Period,

    /// Send no mail to users with less than so many PE-hours in the time
    #[arg(long, value_name = "PE-H", default_value_t = 0.0)]
    pub least: f64,

    /// Hand the mails to this program, which reads them from standard input
    #[arg(long, value_name = "PROGRAM", num_args = 0..=1, default_missing_value = "/usr/sbin/sendmail", require_equals = true, group = "carrier")]
    pub sendmail: Option<PathBuf>,

    /// Hand the mails to this server, which must take mails without a password or encryption: the
    /// mail server of this machine or of the center
    #[arg(long, value_name = "HOST[:PORT]", group = "carrier")]
    pub smtp: Option<String>,

    /// Write the mails into this maildir
    #[arg(long, value_name = "DIR", group = "carrier")]
    pub maildir: Option<PathBuf>,

    /// The sender. Without this option the sender is `topas` at the domain
    #[arg(long, value_name = "ADDRESS")]
    pub from: Option<String>,

    /// What stands behind the users' names in their addresses [default: the name of this host]
    #[arg(long, value_name = "DOMAIN")]
    pub domain: Option<String>,

    /// The file that knows which mails were sent
    /// [default: var/lib/topas/mails-sent of this installation]
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
}
