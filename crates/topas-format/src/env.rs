//! Names of every environment variable TOPAS reads or sets.
//!
//! Variables of launchers and batch systems are listed in `topas-launch`, beside
//! the rules that use them. Man page: `topas-environment(7)`.

use crate::text::Words;

/// Declares the variables with their one-line meaning, for code and for `doc/`.
macro_rules! variables {
    ($($name:ident = $about:literal;)*) => {
        $(#[doc = $about] pub const $name: &str = stringify!($name);)*
        /// Every variable with its meaning.
        pub const ALL: &[(&str, &str)] = &[$((stringify!($name), $about)),*];
    };
}

variables! {
    TOPAS = "`off` (also `no`, `0`): no measurement, and at link time no module. Anything else: on.";
    TOPAS_PE = "Ranks that measure, such as `3,7`, in place of the random choice. At most 16.";
    TOPAS_OPS = "What every measuring rank counts: `fpops`, `intops`, `loads` or `stores`.";
    TOPAS_PRINT = "`yes` or `true`: each measuring rank prints its result on standard error.";
    TOPAS_VERBOSE = "`1`: say on standard error why nothing was measured or written.";
    TOPAS_LOG = "Log targets in place of those of topas.conf, where the site allows it.";
    TOPAS_CONF = "The topas.conf the tools read. The module does not look at it.";
    TOPAS_LAUNCH_ID = "Set by the mpiexec drop-in: the id of a launch whose launcher gives none.";
    TOPAS_RANK = "Set by a measuring rank for its children, so that none of them takes itself for the rank.";
}

/// Whether a value of [`TOPAS`] switches TOPAS off.
pub fn is_off(value: &[u8]) -> bool {
    Words(b"off no 0 OFF NO", b' ').place(value).is_some()
}

/// Whether a value asks for something: `yes`, `true`, `on` or `1`.
pub fn is_yes(value: &[u8]) -> bool {
    Words(b"yes true on 1 YES TRUE ON", b' ').place(value).is_some()
}
