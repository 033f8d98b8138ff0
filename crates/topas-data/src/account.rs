//! Accounts of the system: names, numeric ids and home directories.
//!
//! The C library of a tool that is linked statically (musl) knows the accounts of `/etc/passwd`
//! alone. Accounts that a directory service such as LDAP or sssd provides are known to the C
//! library of the system, and `getent` is the program that asks this library. So a static tool asks
//! `getent` for accounts that its own C library does not know. Each answer is kept until the end of
//! the process, because an answer costs a process and may come from another machine.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use users::os::unix::UserExt;

/// Places of `getent`. `PATH` is not asked, because root runs these tools, too.
const GETENT: [&str; 2] = ["/usr/bin/getent", "/bin/getent"];

/// An account of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The login name
    pub name: OsString,
    /// The numeric user id
    pub uid: u32,
    /// The home directory
    pub home: PathBuf,
}

impl Account {
    /// The account with a numeric user id; None if the system does not know one.
    pub fn of_uid(uid: u32) -> Option<Account> {
        let known = users::get_user_by_uid(uid).map(Account::from);
        known.or_else(|| elsewhere(uid.to_string().into(), |account| account.uid == uid))
    }

    /// The account with a login name; None if the system does not know one.
    pub fn of_name(name: &OsStr) -> Option<Account> {
        let known = users::get_user_by_name(name).map(Account::from);
        known.or_else(|| elsewhere(name.to_owned(), |account| account.name == name))
    }

    /// The user id that a text is, or that the system knows for the login name that it is.
    pub fn uid_of(text: &str) -> Option<u32> {
        text.parse().ok().or_else(|| Some(Account::of_name(text.as_ref())?.uid))
    }

    /// An account as `/etc/passwd` and `getent passwd` write it; None if a field is missing or the
    /// user id is no number.
    fn of_line(line: &[u8]) -> Option<Account> {
        let mut fields = line.split(|byte| *byte == b':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        let uid = str::from_utf8(fields.nth(1)?).ok()?.parse().ok()?;
        let home = fields.nth(2)?;
        Some(Account {
            name: OsStr::from_bytes(name).to_owned(),
            uid,
            home: OsString::from_vec(home.to_vec()).into(),
        })
    }
}

impl From<users::User> for Account {
    fn from(user: users::User) -> Account {
        Account { name: user.name().to_owned(), uid: user.uid(), home: user.home_dir().into() }
    }
}

/// What `getent` says of a name or a user id, in a tool whose C library does not know every account.
/// The answer has to be `meant`, because `getent` takes a name of digits for a user id.
fn elsewhere(key: OsString, meant: impl Fn(&Account) -> bool) -> Option<Account> {
    static ANSWERS: Mutex<Option<HashMap<OsString, Option<Account>>>> = Mutex::new(None);
    if cfg!(not(target_env = "musl")) {
        return None;
    }
    let mut answers = ANSWERS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let answers = answers.get_or_insert_default();
    if !answers.contains_key(&key) {
        let answer = GETENT.iter().find_map(|place| asked(&mut Command::new(place), &key));
        answers.insert(key.clone(), answer);
    }
    answers.get(&key)?.clone().filter(meant)
}

/// Asks `getent` for one account. None if there is no such account, or no such program.
fn asked(getent: &mut Command, key: &OsStr) -> Option<Account> {
    getent.args(["passwd", "--"]).arg(key).env_clear();
    let output = getent.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let line = output.stdout.split(|byte| *byte == b'\n').next()?;
    output.status.success().then(|| Account::of_line(line))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_of_the_system_are_found_by_both_keys() {
        let root = Account::of_uid(0).expect("every system has a root");
        assert_eq!((root.name.as_bytes(), root.uid), (&b"root"[..], 0));
        assert_eq!(Account::of_name(OsStr::new("root")), Some(root));
        assert_eq!(Account::of_name(OsStr::new("no-such-account")), None);
        let uids = ["root", "4294967295", "4294967296", "no-such-account", ""].map(Account::uid_of);
        assert_eq!(uids, [Some(0), Some(u32::MAX), None, None, None]);
        assert_eq!(Account::of_uid(4_294_967_290), None);
    }

    #[test]
    fn a_line_that_is_no_account_is_refused() {
        let account = |line: &str| Account::of_line(line.as_bytes());
        let mohr = account("mohr:x:1017:100:Bernd:/home/mohr:/bin/sh").unwrap();
        assert_eq!((mohr.name.as_bytes(), mohr.uid), (&b"mohr"[..], 1017));
        assert_eq!(mohr.home, PathBuf::from("/home/mohr"));
        for wrong in ["", "mohr", "mohr:x:1017", "mohr:x:many:1::/:", ":x:1:1::/:"] {
            assert_eq!(account(wrong), None, "{wrong}");
        }
    }

    /// The stand-in knows one account, says with which words it was called, and fails for others.
    #[test]
    fn getent_is_asked_for_one_key_that_is_no_option() {
        let dir = tempfile::tempdir().unwrap();
        let (script, words) = (dir.path().join("getent"), dir.path().join("words"));
        let text = "printf '%s\\n' \"$@\" > \"$(dirname \"$0\")/words\"\n\
                    test \"$3\" = --help -o \"$3\" = 70017 || exit 2\n\
                    echo 'remote:*:70017:70017:of a directory service:/home/remote:/bin/sh'\n";
        std::fs::write(&script, text).unwrap();
        let ask = |key: &str| {
            let mut getent = Command::new("/bin/sh");
            asked(getent.arg(&script), OsStr::new(key))
        };
        let remote = ask("70017").expect("an account");
        assert_eq!((remote.name.as_bytes(), remote.uid), (&b"remote"[..], 70017));
        assert_eq!(std::fs::read_to_string(&words).unwrap(), "passwd\n--\n70017\n");
        assert!(ask("--help").is_some());
        assert_eq!(std::fs::read_to_string(&words).unwrap(), "passwd\n--\n--help\n");
        assert_eq!(ask("70018"), None);
        assert_eq!(asked(&mut Command::new("/no/such/program"), OsStr::new("0")), None);
    }
}
