//! The node this program runs on, and for whom.

use std::fs;

/// Where Linux tells the name of the node.
const NAME: &str = "/proc/sys/kernel/hostname";

/// Where Linux lists the processors that are on: `0-3,8`.
const ONLINE: &str = "/sys/devices/system/cpu/online";

/// The user that this program runs for.
pub fn own_uid() -> u32 {
    nix::unistd::getuid().as_raw()
}

/// Processors of the node of this name; None of another node than this one.
pub fn processors_of(host: &[u8]) -> Option<u64> {
    let name = fs::read(NAME).ok()?;
    if host.is_empty() || name.trim_ascii_end() != host {
        return None;
    }
    count(&fs::read_to_string(ONLINE).ok()?)
}

/// Numbers in a list of ranges.
fn count(list: &str) -> Option<u64> {
    let range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    list.trim().split(',').map(range).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_processors() {
        assert_eq!(count("0-3\n"), Some(4));
        assert_eq!(count("0,2-5,9"), Some(6));
        assert_eq!([count(""), count("3-1"), count("a")], [None; 3]);
    }

    #[test]
    fn only_this_node_is_known() {
        assert_eq!(processors_of(b"no-such-node.example"), None);
        assert_eq!(processors_of(b""), None);
    }
}
