//! The present time of the site, as the names and lines of its logs have it.
//!
//! The zone is told by the rule of the module, not by `chrono::Local`: that one obeys `TZ`, and a
//! user who sets it would write lines, and look for files, of another day than the site's programs.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use topas_format::civil::Civil;
use topas_format::zone;

/// Seconds since 1970-01-01 00:00 UTC.
pub fn epoch() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// Local time of `/etc/localtime`, whatever `TZ` says.
pub fn now() -> Civil {
    local(epoch())
}

/// The rule of the site's zone, such as `CET-1CEST,M3.5.0,M10.5.0/3`: the last line of
/// `/etc/localtime`. Empty if there is none.
pub fn zone_rule() -> Vec<u8> {
    zone::footer(&fs::read("/etc/localtime").unwrap_or_default()).to_vec()
}

/// Local time of seconds since 1970-01-01 00:00 UTC.
pub fn local(epoch: i64) -> Civil {
    let offset = zone::offset_at(&zone_rule(), epoch).unwrap_or(0);
    Civil::from_seconds(epoch + offset)
}
