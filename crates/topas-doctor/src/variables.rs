//! What the `TOPAS` variables of this environment would do to a program.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use topas_config::{Environment, LinkWish};
use topas_format::conf::Ops;
use topas_format::env::{self as names, is_off, is_yes, switch as switch_of};
use topas_format::form::Values;
use topas_format::mpi_conf::{log_size, path_depth};
use topas_format::out::Out;
use topas_format::target::expand_launch;
use topas_launch::Rank;
use topas_launch::named::{self, NamedRanksFault};

/// A variable that is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name
    pub name: String,
    /// Its value
    pub value: String,
    /// What it does
    pub effect: String,
    /// Whether it does what a value of its kind is meant to
    pub valid: bool,
}

/// Every variable of the environment that begins with `TOPAS`, in order of their names.
pub fn variables(env: &Environment, rank: Option<&Rank>, user_log: bool) -> Vec<Variable> {
    let mut found: Vec<Variable> = env
        .iter()
        .filter(|(name, _)| name.as_bytes().starts_with(b"TOPAS"))
        .map(|(name, value)| {
            let name = name.to_string_lossy().into_owned();
            let (effect, valid) = effect(&name, value.as_bytes(), rank, user_log);
            let value = value.to_string_lossy().into_owned();
            Variable { name, value, effect, valid }
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn effect(name: &str, value: &[u8], rank: Option<&Rank>, user_log: bool) -> (String, bool) {
    let switch = |on: &str| match is_yes(value) {
        true => (on.to_owned(), true),
        false => ("no effect: only yes, true, on or 1 ask for it".to_owned(), is_no(value)),
    };
    match name {
        names::TOPAS if is_off(value) => {
            ("no program is measured, and links go without the module".to_owned(), true)
        }
        names::TOPAS => {
            ("no effect: TOPAS is on; only off, no or 0 switch it off".to_owned(), is_yes(value))
        }
        names::TOPAS_PE => pe(value, rank),
        names::TOPAS_OPS => match Ops::parse(value) {
            Some(Ops::Auto) => (
                "the lower rank counts FP, the other integer operations if the processor does"
                    .into(),
                true,
            ),
            Some(Ops::Both) => {
                ("the lower rank counts FP, the other integer operations".into(), true)
            }
            Some(Ops::One(_)) => ("every measuring rank counts them".to_owned(), true),
            None => (
                "no effect: it is none of auto, both, fpops, intops, loads, stores; topas.conf decides"
                    .to_owned(),
                value.is_empty(),
            ),
        },
        names::TOPAS_PRINT => switch("each measuring rank prints its result on standard error"),
        names::TOPAS_VERBOSE => switch("programs say why nothing was measured or written"),
        names::TOPAS_LOG if value.is_empty() => ("no effect: it is empty".to_owned(), true),
        names::TOPAS_LOG if user_log => {
            ("lines go there, not to topas.conf's log".to_owned(), true)
        }
        names::TOPAS_LOG => {
            ("no effect: user_log = no in topas.conf keeps the site's log".to_owned(), false)
        }
        names::TOPAS_CONF => (
            "tools read this file; programs read the one they were linked with".to_owned(),
            !value.is_empty(),
        ),
        names::TOPAS_LINK => match one_variable(name, value).link() {
            Some(LinkWish::Never) => ("links go without the module".to_owned(), true),
            Some(LinkWish::Always) => {
                ("programs that use the counters are linked with it, too".to_owned(), true)
            }
            None => ("no effect: it is neither no nor always".to_owned(), value.is_empty()),
        },
        names::TOPAS_MEASURE_ALL_PE if one_variable(name, value).measures_all() => {
            ("programs linked now will measure every rank".to_owned(), true)
        }
        names::TOPAS_MEASURE_ALL_PE => ("no effect: switched off".to_owned(), true),
        names::TOPAS_OUT => out(value),
        names::TOPAS_MPI => match switch_of(value) {
            Some(true) => {
                ("MPI programs are linked with the MPI profile, and write it".to_owned(), true)
            }
            Some(false) => ("MPI calls are not profiled".to_owned(), true),
            None => ("no effect: it is neither yes nor no".to_owned(), value.is_empty()),
        },
        names::TOPAS_MPI_OUT => out(value),
        names::TOPAS_MPI_PEERS => switch("MPI profiles tell messages for each peer"),
        names::TOPAS_MPI_COMMS => switch("MPI profiles tell calls for each communicator"),
        names::TOPAS_MPI_WAITS => switch("MPI profiles tell why ranks wait for each other"),
        names::TOPAS_MPI_COUNTERS => switch("MPI profiles read hardware counters around calls"),
        names::TOPAS_MPI_PATHS => match path_depth(value) {
            Some(0) => ("MPI profiles tell no call paths".to_owned(), true),
            Some(depth) => (format!("MPI profiles tell call paths of {depth} frames"), true),
            None => ("no effect: it is no number of frames from 1 to 16, yes or no".to_owned(), false),
        },
        names::TOPAS_MPI_LOG => match log_size(value) {
            Some(0) => ("no event log of MPI calls".to_owned(), true),
            Some(size) => {
                let size = size >> 20;
                (format!("an event log of MPI calls, of {size} MiB for each thread"), true)
            }
            None => ("no effect: it is no size from 1M to 256M, yes or no".to_owned(), false),
        },
        names::TOPAS_MPI_SPOOL if value.first() == Some(&b'/') => {
            ("running programs keep the counters of MPI calls there".to_owned(), true)
        }
        names::TOPAS_MPI_SPOOL => {
            ("no effect: it is no absolute path".to_owned(), value.is_empty())
        }
        names::TOPAS_MPI_DOOR => ("marks a process that has the MPI profile".to_owned(), true),
        names::TOPAS_ROOT => ("where a modulefile says TOPAS is".to_owned(), true),
        names::TOPAS_PASSED => ("left by a driver that suspected a circle".to_owned(), true),
        names::TOPAS_LAUNCH_ID => ("the id of this launch, from mpiexec".to_owned(), true),
        names::TOPAS_RANK => ("marks children of a measuring rank".to_owned(), true),
        _ => ("no effect: no variable of that name is known".to_owned(), false),
    }
}

/// An environment of one variable, read as the drivers do.
fn one_variable(name: &str, value: &[u8]) -> Environment {
    [(name, OsStr::from_bytes(value))].into_iter().collect()
}

/// `TOPAS_PE`, for this launch or, without one, for the largest.
fn pe(list: &[u8], rank: Option<&Rank>) -> (String, bool) {
    let (size, own) = rank.map_or((u32::MAX, 0), |rank| (rank.size, rank.rank));
    match (named::place(list, size, own), rank) {
        (Ok(_), Some(_)) => ("these ranks measure".to_owned(), true),
        (Ok(_), None) => ("these ranks measure, if a run has all of them".to_owned(), true),
        (Err(fault), _) => {
            let says = match fault {
                NamedRanksFault::NotANumber => "it is not a list of ranks like 3,7",
                NamedRanksFault::NoSuchRank => "it names a rank that this run does not have",
                NamedRanksFault::Repeated => "it names a rank twice",
            };
            (format!("no effect: {says}; two ranks are chosen at random"), false)
        }
    }
}

/// `TOPAS_OUT`: a name that can be made of it.
fn out(value: &[u8]) -> (String, bool) {
    let mut room = [0; 4096];
    let expanded = expand_launch(value, &mut Values::new(), &mut Out::new(&mut room));
    if value.is_empty() {
        ("no effect: it is empty".to_owned(), true)
    } else if expanded.is_none() {
        ("no name of a file: %i %h %u %Y %m %d and %% are known".to_owned(), false)
    } else {
        ("programs of which every rank is measured write there, not to topas.out".to_owned(), true)
    }
}

/// Whether a value says no where yes could stand.
fn is_no(value: &[u8]) -> bool {
    value.is_empty() || is_off(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use topas_launch::Family;

    const RANK: Rank = Rank { family: Family::Pmi, rank: 1, size: 8, id: 7 };

    fn one(name: &str, value: &str, rank: Option<&Rank>, user_log: bool) -> (String, bool) {
        let env = [("PATH", "/bin"), (name, value)].into_iter().collect();
        let mut all = variables(&env, rank, user_log);
        assert_eq!(all.len(), 1, "{name}");
        let it = all.remove(0);
        assert_eq!((it.name.as_str(), it.value.as_str()), (name, value));
        (it.effect, it.valid)
    }

    #[test]
    fn each_variable_has_its_effect() {
        for (name, value, valid, effect) in [
            ("TOPAS", "off", true, "no program is measured"),
            ("TOPAS", "on", true, "TOPAS is on"),
            ("TOPAS", "perhaps", false, "TOPAS is on"),
            ("TOPAS_PE", "3,7", true, "these ranks measure"),
            ("TOPAS_PE", "3,8", false, "does not have; two"),
            ("TOPAS_PE", "3,,7", false, "not a list"),
            ("TOPAS_OPS", "loads", true, "counts them"),
            ("TOPAS_OPS", "both", true, "integer"),
            ("TOPAS_OPS", "flops", false, "none of auto"),
            ("TOPAS_PRINT", "true", true, "prints"),
            ("TOPAS_PRINT", "no", true, "no effect"),
            ("TOPAS_PRINT", "FALSE", true, "no effect"),
            ("TOPAS_MPI_PEERS", "YES", true, "each peer"),
            ("TOPAS_MPI_PATHS", "12", true, "12 frames"),
            ("TOPAS_MPI_PATHS", "17", false, "no effect"),
            ("TOPAS_MPI_LOG", "8M", true, "8 MiB"),
            ("TOPAS_MPI_LOG", "1G", false, "no effect"),
            ("TOPAS_PRINT", "ja", false, "no effect"),
            ("TOPAS_VERBOSE", "1", true, "why nothing"),
            ("TOPAS_LOG", "file:/a", true, "lines go there"),
            ("TOPAS_CONF", "/a", true, "programs read"),
            ("TOPAS_LINK", "no", true, "without"),
            ("TOPAS_LINK", "ja", false, "neither"),
            ("TOPAS_MEASURE_ALL_PE", "", true, "every rank"),
            ("TOPAS_MEASURE_ALL_PE", "0", true, "switched off"),
            ("TOPAS_OUT", "%h/%i.out", true, "not to topas.out"),
            ("TOPAS_OUT", "%q", false, "no name of a file"),
            ("TOPAS_PES", "3", false, "no variable of that name"),
        ] {
            let (says, is_valid) = one(name, value, Some(&RANK), true);
            assert!(says.contains(effect), "{name}={value}: {says}");
            assert_eq!(is_valid, valid, "{name}={value}: {says}");
        }
    }

    #[test]
    fn every_known_variable_has_an_effect_of_its_own() {
        for (name, _) in names::ALL {
            assert!(!one(name, "1", None, true).0.contains("no variable of that name"), "{name}");
        }
    }

    #[test]
    fn a_list_without_a_launch_is_judged_by_its_form() {
        assert!(one("TOPAS_PE", "3,4000000", None, true).1);
        assert!(!one("TOPAS_PE", "3,3", None, true).1);
        assert!(!one("TOPAS_LOG", "file:/a", None, false).1);
    }
}
