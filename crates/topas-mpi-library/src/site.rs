//! What the site and the user want: topas.conf, the switch beside it, and variables.

use topas_format::conf::{Settings, Switch};
use topas_format::env::{is_off, is_yes, switch};
use topas_format::module_facts::{CONF, OFF};
use topas_format::mpi_conf;
use topas_format::out::Out;
use topas_format::policy::ProgramFacts;
use topas_mpi_profile::layout::{Header, flag};
use topas_mpi_profile::lines::text;
use topas_node::sys as kernel;

use crate::workspace::{Kept, kept};
use crate::{installation, paths, sys, trace};

/// What topas.conf says.
pub struct ProfileSite<'a> {
    /// Keys of all programs
    pub settings: Settings<'a>,
    /// Keys of the MPI profile
    pub mpi: mpi_conf::Settings<'a>,
}

/// Reads the topas.conf of the installation or, if that has gone, of the system. None if the site
/// wants nothing measured.
pub fn read<'a>(conf: &'a mut [u8], path: &mut [u8]) -> Option<ProfileSite<'a>> {
    let mut found = 0;
    for directory in installation::directories() {
        let mut out = Out::new(path);
        if kernel::exists(kernel::path(out.put(directory).put(OFF))) {
            return None;
        }
        if found == 0 {
            let mut out = Out::new(path);
            found = kernel::load(kernel::path(out.put(directory).put(CONF)), conf).len();
        }
    }
    let conf: &'a [u8] = conf.get(..found).unwrap_or_default();
    let site = ProfileSite { settings: Settings::read(conf), mpi: mpi_conf::Settings::read(conf) };
    site.settings.is(Switch::Measure).then_some(site)
}

/// Whether the site wants the line of this program in its log.
pub fn wants(site: &ProfileSite<'_>, header: &Header, kept: &Kept) -> bool {
    let mut room = [0; 16];
    let uid = {
        let mut out = Out::new(&mut room);
        out.dec(header.uid.into());
        out.take()
    };
    let program = ProgramFacts {
        is_batch: kept.batch,
        ranks: kept.size,
        exe: Some(text(&header.exe)),
        user: text(&header.user),
        uid,
    };
    site.settings.answer_if_measured(&program).is_ok()
}

/// Whether the process is to be profiled at all, as far as variables tell: None if they leave it
/// to the site.
pub fn by_variables() -> Option<bool> {
    if sys::variable(c"TOPAS").is_some_and(is_off) {
        return Some(false);
    }
    let wish = sys::variable(c"TOPAS_MPI").unwrap_or_default();
    if is_off(wish) {
        return Some(false);
    }
    (is_yes(wish) || wants_file()).then_some(true)
}

fn wants_file() -> bool {
    sys::variable(c"TOPAS_MPI_OUT").is_some_and(|path| !path.is_empty())
}

/// Decides, when the launch is known: whether the process is profiled. Notes what the user wants.
pub fn decide(header: &mut Header, conf: &mut [u8], path: &mut [u8]) -> bool {
    let wish = by_variables();
    if wish == Some(false) {
        return false;
    }
    if wish == Some(true) {
        header.flags |= flag::USER;
    }
    let Some(site) = read(conf, path) else {
        return false;
    };
    let waits = sys::variable(c"TOPAS_MPI_WAITS").and_then(switch);
    if waits.unwrap_or(site.mpi.waits) {
        header.flags |= flag::WAITS;
    }
    let Some(kept) = kept() else { return false };
    let depth = sys::variable(c"TOPAS_MPI_PATHS").and_then(mpi_conf::path_depth);
    let depth = depth.unwrap_or(site.mpi.paths);
    if depth > 0 {
        header.flags |= flag::PATHS;
    }
    paths::want(depth);
    let log = sys::variable(c"TOPAS_MPI_LOG").and_then(mpi_conf::log_size).unwrap_or(0);
    if log > 0 {
        header.flags |= flag::LOG;
    }
    trace::want(log);
    wish == Some(true) || site.mpi.on && wants(&site, header, kept)
}
