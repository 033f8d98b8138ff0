//! Whether the site wants a program measured: what topas.conf says of its launch, its name and
//! its user. The module, the library of MPI profiles and the tools ask here.

use core::fmt;

use crate::conf::{List, ListAnswer, Settings, Switch};

/// What the rules of topas.conf ask of a program.
#[derive(Clone, Copy, Debug)]
pub struct ProgramFacts<'a> {
    /// Whether a batch job runs it
    pub is_batch: bool,
    /// Ranks of its launch, 1 if it runs alone; 0 if the launcher does not tell
    pub ranks: u32,
    /// File name of the executable; None if it is not known, and no rule for executables counts
    pub exe: Option<&'a [u8]>,
    /// Name of the user, or `#` and the numeric id
    pub user: &'a [u8],
    /// Numeric id of the user, as decimal digits
    pub uid: &'a [u8],
}

/// The rule by which the site does not want a program measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteRefusal {
    /// A file `off` stands beside topas.conf. Whoever reads topas.conf looks for that file, too;
    /// `Settings::answer` does not know of it.
    Off,
    /// `measure`
    Measure,
    /// `batch_only`, and no batch job runs the program
    BatchOnly,
    /// `min_pes`, and the launch has fewer ranks
    MinPes,
    /// Not `serial`, and the program runs alone
    Serial,
    /// A list of programs or users
    List(List),
}

/// A rule that refuses a program, for people: what the site says, and the key in parentheses.
pub struct RefusalWords<'s> {
    refusal: SiteRefusal,
    settings: &'s Settings<'s>,
}

impl fmt::Display for RefusalWords<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.refusal {
            SiteRefusal::Off => f.write_str("every program is switched off"),
            SiteRefusal::Measure => f.write_str("measuring is switched off"),
            SiteRefusal::BatchOnly => f.write_str("the site measures batch jobs only"),
            SiteRefusal::MinPes => {
                write!(f, "the site measures launches of {} ranks or more", self.settings.min_pes)
            }
            SiteRefusal::Serial => f.write_str("the site does not measure programs that run alone"),
            SiteRefusal::List(List::OnlyUser | List::SkipUser) => {
                f.write_str("the site leaves this user out")
            }
            SiteRefusal::List(_) => f.write_str("the site leaves this program out"),
        }?;
        write!(f, " ({})", self.refusal.key())
    }
}

impl SiteRefusal {
    /// The rule in words, as these settings have it.
    pub fn words<'s>(self, settings: &'s Settings<'s>) -> RefusalWords<'s> {
        RefusalWords { refusal: self, settings }
    }

    /// The key of topas.conf, or the name of the file `off`.
    pub fn key(self) -> &'static str {
        match self {
            SiteRefusal::Off => "off",
            SiteRefusal::Measure => "measure",
            SiteRefusal::BatchOnly => "batch_only",
            SiteRefusal::MinPes => "min_pes",
            SiteRefusal::Serial => "serial",
            SiteRefusal::List(List::Log) => "log",
            SiteRefusal::List(List::OnlyExe) => "only_exe",
            SiteRefusal::List(List::SkipExe) => "skip_exe",
            SiteRefusal::List(List::OnlyUser) => "only_user",
            SiteRefusal::List(List::SkipUser) => "skip_user",
        }
    }
}

impl Settings<'_> {
    /// Whether the site wants a program measured.
    ///
    /// # Errors
    ///
    /// The first rule that refuses it.
    pub fn answer(&self, program: &ProgramFacts<'_>) -> Result<(), SiteRefusal> {
        if !self.is(Switch::Measure) {
            return Err(SiteRefusal::Measure);
        }
        self.answer_if_measured(program)
    }

    /// As [`Settings::answer`] where `measure` is known to be on, as it is in a program that has
    /// begun with topas.conf: to ask again would cost the module 16 bytes.
    ///
    /// # Errors
    ///
    /// The first rule that refuses the program.
    #[inline(always)]
    pub fn answer_if_measured(&self, program: &ProgramFacts<'_>) -> Result<(), SiteRefusal> {
        if !program.is_batch && self.is(Switch::BatchOnly) {
            return Err(SiteRefusal::BatchOnly);
        }
        if program.ranks != 0 && program.ranks < self.min_pes {
            return Err(SiteRefusal::MinPes);
        }
        if program.ranks == 1 && !self.is(Switch::Serial) {
            return Err(SiteRefusal::Serial);
        }
        self.answer_by_name(program.exe, program.user, program.uid)
    }

    /// The part of the answer that holds at link time, too: what the lists of programs and users
    /// say. Either of a user's name and numeric id counts.
    ///
    /// # Errors
    ///
    /// The first list that refuses the program.
    #[inline(always)]
    pub fn answer_by_name(
        &self,
        exe: Option<&[u8]>,
        user: &[u8],
        uid: &[u8],
    ) -> Result<(), SiteRefusal> {
        if let Some(exe) = exe {
            self.answer_by_lists(List::OnlyExe, List::SkipExe, exe, exe)?;
        }
        self.answer_by_lists(List::OnlyUser, List::SkipUser, user, uid)
    }

    /// What a list that lets names in, and the one that keeps names out, say of two names of one
    /// thing.
    #[inline(always)]
    fn answer_by_lists(
        &self,
        only: List,
        skip: List,
        name: &[u8],
        other: &[u8],
    ) -> Result<(), SiteRefusal> {
        match self.by_lists(only as usize, name, other) {
            ListAnswer::Wanted => Ok(()),
            ListAnswer::NotInOnly => Err(SiteRefusal::List(only)),
            ListAnswer::InSkip => Err(SiteRefusal::List(skip)),
        }
    }
}

/// What two lists of `topas.conf` that measured programs do not read say of a name, by the rule of
/// those they read.
pub fn answer_of_lists(only: &[u8], skip: &[u8], name: &[u8]) -> ListAnswer {
    let mut settings = Settings::unread();
    settings.put(List::OnlyExe, only);
    settings.put(List::SkipExe, skip);
    settings.by_lists(List::OnlyExe as usize, name, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: ProgramFacts<'_> =
        ProgramFacts { is_batch: false, ranks: 4, exe: Some(b"heat"), user: b"mohr", uid: b"1003" };

    /// The key that refuses a program by a file; empty if none does.
    fn key(conf: &str, program: ProgramFacts<'_>) -> &'static str {
        Settings::read(conf.as_bytes()).answer(&program).map_or_else(SiteRefusal::key, |()| "")
    }

    #[test]
    fn each_rule_refuses_by_its_key() {
        for (conf, refusing) in [
            ("", ""),
            ("measure = no\nbatch_only = yes", "measure"),
            ("batch_only = yes\nmin_pes = 5", "batch_only"),
            ("min_pes = 5\nskip_exe = *", "min_pes"),
            ("min_pes = 4", ""),
            ("only_exe = cg h*", ""),
            ("only_exe = cg\nskip_exe = *", "only_exe"),
            ("only_exe = heat\nskip_exe = conftest *t", "skip_exe"),
            ("only_user = mo*", ""),
            ("only_user = 10*", ""),
            ("only_user = anna\nskip_user = *", "only_user"),
            ("skip_user = 1003", "skip_user"),
            ("skip_user = anna mohr", "skip_user"),
            ("skip_user = anna", ""),
        ] {
            assert_eq!(key(conf, PROGRAM), refusing, "{conf}");
        }
    }

    #[test]
    fn launches_differ() {
        let of = |ranks| ProgramFacts { ranks, ..PROGRAM };
        assert_eq!(key("", of(1)), "serial");
        assert_eq!(key("serial = yes", of(1)), "");
        assert_eq!(key("serial = yes\nmin_pes = 2", of(1)), "min_pes");
        // A launcher that does not tell how many ranks there are.
        assert_eq!(key("min_pes = 1000", of(0)), "");
        assert_eq!(key("batch_only = yes", ProgramFacts { is_batch: true, ..PROGRAM }), "");
    }

    #[test]
    fn an_unknown_executable_is_refused_by_no_list_of_executables() {
        let unknown = ProgramFacts { exe: None, ..PROGRAM };
        assert_eq!(key("only_exe = cg\nskip_exe = *", unknown), "");
        assert_eq!(key("only_exe = cg\nskip_user = mohr", unknown), "skip_user");
    }

    /// Each key is one of topas.conf, which sets what refuses.
    #[test]
    fn keys_are_those_of_the_table() {
        let lists = [List::OnlyExe, List::SkipExe, List::OnlyUser, List::SkipUser, List::Log];
        let keys = [
            SiteRefusal::Measure,
            SiteRefusal::BatchOnly,
            SiteRefusal::MinPes,
            SiteRefusal::Serial,
        ];
        for refusal in keys.into_iter().chain(lists.map(SiteRefusal::List)) {
            let key = refusal.key();
            assert!(crate::conf::KEYS.iter().any(|known| known.name == key), "{key}");
        }
    }
}
