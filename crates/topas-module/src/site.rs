//! What the site wants: topas.conf, and the switch beside it.

use topas_format::conf::{MAX_READ, Settings, Switch};
use topas_format::module_facts::{CONF, OFF};

use crate::state::out;
use crate::{facts, sys};

/// What topas.conf said last. Buffers last, because what is near the front is reached by
/// shorter instructions.
#[repr(C)]
pub struct ModuleSite {
    settings: Settings<'static>,
    /// Bytes of `conf`
    len: usize,
    conf: [u8; MAX_READ],
}

impl ModuleSite {
    /// Nothing read.
    pub const fn new() -> Self {
        ModuleSite { settings: Settings::unread(), len: 0, conf: [0; MAX_READ] }
    }

    /// Reads the topas.conf of the installation or, if that has gone or says nothing, of the
    /// system; keeps what it said before if there is none. None if nothing is to be measured.
    #[inline(never)]
    pub fn read(&'static mut self) -> Option<&'static Settings<'static>> {
        let mut dirs = facts::texts();
        dirs.until(0);
        let mut found = 0;
        loop {
            let dir = dirs.until(0);
            if dir.is_empty() {
                break;
            }
            // A file `off` beside it stops everything.
            if sys::exists(sys::path(out().put(dir).put(OFF))) {
                return None;
            }
            if found == 0 {
                let path = sys::path(out().put(dir).put(CONF));
                found = sys::load(path, &mut self.conf).len();
            }
        }
        if found > 0 {
            self.len = found;
        }
        self.settings.fill(sys::written(&self.conf, self.len as isize));
        self.settings.is(Switch::Measure).then_some(&self.settings)
    }
}
