//! Who gets a mail: names, addresses, and who wants none.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use topas_config::Conf;
use topas_data::{Account, WeekUserId};
use topas_format::shown::Shown;
use topas_terminal::shown;

use super::MailArgs;
use crate::{TOOL, exit};

/// The file in the home directory of a user who wants no mails.
pub const HOME_FILE: &str = ".topas-no-mail";

/// The list of the center beside `topas.conf`: a name a line.
const LIST: &str = "mail/no-mail";

/// What is known of users.
pub struct Recipients {
    domain: Option<String>,
    /// Users who want no mails, by the list of the center
    listed: HashSet<String>,
}

impl Recipients {
    /// Reads the list of the center; the Err is an exit code.
    pub fn new(args: &MailArgs, conf: &Conf) -> Result<Self, u8> {
        let path = conf.file().map(|file| file.with_file_name(LIST));
        let text = match path.as_ref().map(fs::read_to_string) {
            Some(Ok(text)) => text,
            None => String::new(),
            Some(Err(error)) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Some(Err(error)) => {
                // Who is in it is not known, and must not get a mail.
                let what = format!("cannot read {}", shown(&path.unwrap_or_default()));
                TOOL.error(&what, Some(&error), "no mail is sent without it");
                return Err(exit::FAILED);
            }
        };
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        let listed = lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
        Ok(Recipients { domain: args.domain.clone(), listed })
    }

    /// What a mail calls a user: the name that the system knows, else the one in the lines.
    pub fn called(&self, id: &WeekUserId, in_lines: &[u8]) -> String {
        self.login(id).unwrap_or_else(|| Shown(in_lines).to_string())
    }

    /// The login name of a user; None if the system does not know the user. Of lines that tell an
    /// id the name in them does not count: it could be that of somebody else, who must not get the
    /// mail.
    pub fn login(&self, id: &WeekUserId) -> Option<String> {
        let known = match id {
            WeekUserId::Uid(uid) => Account::of_uid(u32::try_from(*uid).ok()?),
            WeekUserId::Name(name) => Account::of_name(OsStr::from_bytes(name)),
        };
        Some(known?.name.to_string_lossy().into_owned())
    }

    /// The address of a login name; None of a name that is no part of an address.
    pub fn address(&self, login: &str) -> Option<String> {
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"._-+".contains(&b);
        let is_name = !login.is_empty() && login.bytes().all(is_plain);
        is_name.then(|| format!("{login}@{}", self.domain()))
    }

    /// What stands behind names.
    pub fn domain(&self) -> String {
        self.domain.clone().unwrap_or_else(host_name)
    }

    /// Whether a user wants no mail: the list of the center, or the file in the home directory.
    pub fn declines(&self, login: &str) -> bool {
        let in_home = || {
            let home: Option<PathBuf> =
                Account::of_name(login.as_ref()).map(|account| account.home.join(HOME_FILE));
            // A link that leads nowhere says no as well.
            home.is_some_and(|path| fs::symlink_metadata(path).is_ok())
        };
        self.listed.contains(login) || in_home()
    }

    /// How a user says so.
    pub fn opt_out(&self) -> String {
        format!("To get no more of these mails: touch ~/{HOME_FILE}, or tell the center.")
    }
}

/// The name of this host.
pub fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "localhost".to_owned() } else { name.to_owned() }
}
