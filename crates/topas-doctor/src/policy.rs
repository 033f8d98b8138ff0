//! The site's rules, as they meet this user and this launch.

use std::os::unix::ffi::OsStrExt;

use nix::unistd::getuid;
use topas_config::Environment;
pub use topas_config::policy::kill_switch;
use topas_format::conf::{Settings, Switch};
use topas_format::policy::ProgramFacts;

use crate::launch::Launch;

/// Whether a program in place of this process would measure, or why not: first whether
/// its launcher lets it, then whether the site does. Rules for executables are left out,
/// because which one it would be is not known.
///
/// # Errors
///
/// Why not, for people.
pub fn would_measure(
    settings: &Settings<'_>,
    launch: &Launch,
    env: &Environment,
) -> Result<(), String> {
    let ranks = launch.rank.map_or(1, |rank| rank.size);
    let alone = ranks == 1 && !launch.is_child;
    match launch.would_measure() {
        Err(_) if alone && settings.is(Switch::Serial) => {}
        answer => answer.map_err(str::to_owned)?,
    }
    let uid = getuid().to_string();
    let user = env.user_or_id(&uid);
    let (user, uid) = (user.as_bytes(), uid.as_bytes());
    settings
        .answer(&ProgramFacts { is_batch: launch.batch, ranks, exe: None, user, uid })
        .map_err(|refusal| refusal.words(settings).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANK: [(&str, &str); 3] =
        [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "4"), ("TOPAS_PE", "1,2")];

    fn answer(conf: &str, variables: &[(&str, &str)]) -> Result<(), String> {
        let env: Environment = variables.iter().copied().collect();
        would_measure(&Settings::read(conf.as_bytes()), &Launch::of(&env), &env)
    }

    #[test]
    fn each_rule_is_named() {
        let with = |more: &[(&'static str, &'static str)]| [&RANK[..], more].concat();
        let uid = getuid();
        assert_eq!(answer("", &with(&[])), Ok(()));
        for (conf, key) in [
            ("batch_only = yes".to_owned(), "(batch_only)"),
            ("measure = no".to_owned(), "(measure)"),
            ("min_pes = 5".to_owned(), "5 ranks or more (min_pes)"),
            ("only_user = anna".to_owned(), "(only_user)"),
            ("skip_user = mo*".to_owned(), "(skip_user)"),
            (format!("skip_user = {uid}"), "(skip_user)"),
        ] {
            let why = answer(&conf, &with(&[("LOGNAME", "mohr")])).unwrap_err();
            assert!(why.contains(key), "{conf}: {why}");
        }
        let batch = [("PBS_ENVIRONMENT", "PBS_BATCH"), ("USER", "anna")];
        let all = "batch_only = yes\nmin_pes = 4\nonly_user = anna\nonly_exe = heat";
        assert_eq!(answer(all, &with(&batch)), Ok(()));
    }

    #[test]
    fn alone_only_where_the_site_wants_it() {
        assert!(answer("", &[]).unwrap_err().contains("no launcher"));
        assert_eq!(answer("serial = yes", &[]), Ok(()));
        assert!(answer("serial = yes\nmin_pes = 2", &[]).unwrap_err().contains("min_pes"));
    }
}
