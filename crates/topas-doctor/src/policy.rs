//! The site's rules, as they meet this user and this launch.

use std::os::unix::ffi::OsStrExt;

use nix::unistd::getuid;
use topas_config::Environment;
pub use topas_config::policy::kill_switch;
use topas_format::conf::{List, Settings, Switch};

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
    let size = launch.rank.map_or(1, |rank| rank.size);
    let alone = size == 1 && !launch.is_child;
    match launch.would_measure() {
        Err(_) if alone && settings.is(Switch::Serial) => {}
        answer => answer.map_err(str::to_owned)?,
    }
    if settings.is(Switch::BatchOnly) && !launch.batch {
        return Err("the site measures batch jobs only (batch_only)".to_owned());
    }
    if size != 0 && size < settings.min_pes {
        let least = settings.min_pes;
        return Err(format!("the site measures launches of {least} ranks or more (min_pes)"));
    }
    let mut of_users = *settings;
    of_users.put(List::OnlyExe, b"");
    of_users.put(List::SkipExe, b"");
    let named = |name| env.get(name).filter(|user| !user.is_empty()).map(OsStrExt::as_bytes);
    let user = named("LOGNAME").or(named("USER")).unwrap_or_default();
    if !of_users.allow(b"", user, getuid().to_string().as_bytes()) {
        return Err("the site leaves this user out (only_user, skip_user)".to_owned());
    }
    Ok(())
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
            ("batch_only = yes".to_owned(), "batch_only"),
            ("min_pes = 5".to_owned(), "5 ranks"),
            ("only_user = anna".to_owned(), "only_user"),
            ("skip_user = mo*".to_owned(), "skip_user"),
            (format!("skip_user = {uid}"), "skip_user"),
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
