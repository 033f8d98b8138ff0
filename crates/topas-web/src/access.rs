//! Who may see whose runs.

use std::collections::{BTreeMap, BTreeSet};

use topas_store::stored_text;

/// What somebody may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ViewerRole {
    /// Own runs
    User,
    /// Besides, the runs of the users of a project
    Lead,
    /// The runs of all users
    Support,
    /// The same, and sums of the center
    Administrator,
}

impl ViewerRole {
    /// The role in a word.
    pub fn word(self) -> &'static str {
        match self {
            ViewerRole::User => "user",
            ViewerRole::Lead => "project lead",
            ViewerRole::Support => "support",
            ViewerRole::Administrator => "administrator",
        }
    }
}

/// The file of roles. Whoever does not stand in it is a user.
#[derive(Clone, Debug, Default)]
pub struct Roles {
    administrators: BTreeSet<String>,
    support: BTreeSet<String>,
    leads: BTreeMap<String, BTreeSet<String>>,
    accounts: BTreeMap<String, u32>,
    by_name: bool,
}

/// A line of the file that cannot be understood: nothing of the file holds then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleFault {
    /// The number of the line, from 1
    pub line: usize,
    /// The line that is wrong
    pub text: String,
}

impl std::fmt::Display for RoleFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {} of the roles is not understood: {}", self.line, self.text)
    }
}

impl std::error::Error for RoleFault {}

impl Roles {
    /// Of a text, a role in each line: `admin USER...`, `support USER...`, `lead USER of USER...`,
    /// `account USER UID` for users whom this machine does not know, and `names trusted` where user
    /// names in lines are proven.
    ///
    /// # Errors
    ///
    /// [`RoleFault`] for the first line that is of no such form.
    pub fn read(text: &str) -> Result<Self, RoleFault> {
        let mut roles = Roles::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            let owned =
                |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
            match &words[..] {
                [] => {}
                ["admin", names @ ..] if !names.is_empty() => {
                    roles.administrators.extend(owned(names))
                }
                ["support", names @ ..] if !names.is_empty() => roles.support.extend(owned(names)),
                ["lead", lead, "of", names @ ..] if !names.is_empty() => {
                    roles.leads.entry((*lead).to_owned()).or_default().extend(owned(names));
                }
                ["account", name, uid] if uid.parse::<u32>().is_ok() => {
                    roles.accounts.insert((*name).to_owned(), uid.parse().unwrap_or_default());
                }
                ["names", "trusted"] => roles.by_name = true,
                _ => return Err(RoleFault { line: number + 1, text: line.trim().to_owned() }),
            }
        }
        Ok(roles)
    }

    /// What a user may see. `uid` looks up the numeric id of an account of this machine.
    pub fn viewer(&self, name: &str, uid: impl Fn(&str) -> Option<u32>) -> Viewer {
        let role = match name {
            _ if self.administrators.contains(name) => ViewerRole::Administrator,
            _ if self.support.contains(name) => ViewerRole::Support,
            _ if self.leads.contains_key(name) => ViewerRole::Lead,
            _ => ViewerRole::User,
        };
        let uid = |name: &str| self.accounts.get(name).copied().or_else(|| uid(name));
        let owners = |name: &str| {
            let of_name = format!("@{}", stored_text(name.as_bytes()));
            uid(name).map(|uid| uid.to_string()).into_iter().chain([of_name]).collect::<Vec<_>>()
        };
        let of_project: Vec<&String> = self.leads.get(name).into_iter().flatten().collect();
        let all = of_project.iter().flat_map(|name| owners(name)).chain(owners(name)).collect();
        Viewer {
            name: name.to_owned(),
            role,
            own: owners(name),
            all,
            names: of_project.into_iter().cloned().chain([name.to_owned()]).collect(),
            by_name: self.by_name,
        }
    }
}

/// Somebody who is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Viewer {
    /// Account
    pub name: String,
    /// What may be seen
    pub role: ViewerRole,
    /// Owners of the own runs
    pub own: Vec<String>,
    /// Owners of all runs that a user or a project lead may see
    all: BTreeSet<String>,
    /// The same by user names
    names: BTreeSet<String>,
    by_name: bool,
}

impl Viewer {
    /// Whether the runs of an owner may be seen, whose lines name this user. The only place that
    /// decides this.
    pub fn may_see(&self, owner: &str, user: &str) -> bool {
        self.role >= ViewerRole::Support
            || self.all.contains(owner)
            || self.by_name && self.names.iter().any(|name| stored_text(name.as_bytes()) == user)
    }

    /// Whether a run is of somebody else.
    pub fn is_of_other(&self, owner: &str, user: &str) -> bool {
        let is_own = self.own.iter().any(|own| own == owner);
        let is_named = || self.by_name && stored_text(self.name.as_bytes()) == user;
        !(is_own || is_named())
    }

    /// Whether runs are also known by the names in their lines.
    pub fn is_by_name(&self) -> bool {
        self.by_name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uid(name: &str) -> Option<u32> {
        match name {
            "anna" => Some(1000),
            "bert" => Some(1001),
            _ => None,
        }
    }

    #[test]
    fn everybody_sees_what_the_role_says() {
        let roles =
            Roles::read("# roles\nadmin root\nsupport carla\nlead bert of anna\naccount dora 7\n")
                .unwrap();
        for (name, role, own, annas, others) in [
            ("anna", ViewerRole::User, true, true, false),
            ("bert", ViewerRole::Lead, true, true, false),
            ("carla", ViewerRole::Support, true, true, true),
            ("root", ViewerRole::Administrator, true, true, true),
            ("dora", ViewerRole::User, true, false, false),
            ("nobody", ViewerRole::User, true, false, false),
        ] {
            let viewer = roles.viewer(name, uid);
            assert_eq!(viewer.role, role, "{name}");
            assert_eq!(viewer.may_see(&viewer.own[0], "x"), own, "{name}");
            assert_eq!(viewer.may_see("1000", "anna"), annas, "{name}");
            assert_eq!(viewer.may_see("1002", "x"), others, "{name}");
            // A name in a line is what its user says.
            assert_eq!(viewer.may_see("1002", name), others, "{name}");
        }
        assert_eq!(roles.viewer("dora", uid).own[0], "7");
    }

    #[test]
    fn a_line_that_is_not_understood_is_no_role() {
        for bad in ["admin", "lead bert anna", "root admin", "account x y", "names"] {
            assert_eq!(Roles::read(bad).unwrap_err().line, 1, "{bad}");
        }
    }
}
