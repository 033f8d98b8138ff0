//! What the command line of hydra's proxy tells of a launch.

use topas_format::hash::{Fnv, word};
use topas_format::text::Cursor;

/// Bytes of it that are looked at. One number for all, because another one could be another
/// id of the same launch.
pub const COMMAND_LINE: usize = 8192;

/// Hash of the address its launcher listens at (`--control-port`), 0 if it has none. Words end
/// with a NUL, as in `/proc/PID/cmdline`.
pub fn control_port(command_line: &[u8]) -> u64 {
    const OPTION: u32 = word(b"--control-port");
    let mut line = Cursor::new(command_line.get(..COMMAND_LINE).unwrap_or(command_line));
    while !line.rest.is_empty() {
        if word(line.until(0)) == OPTION {
            return Fnv::new().with(line.until(0)).value();
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn hash(address: &[u8]) -> u64 {
        Fnv::new().with(address).value()
    }

    #[test]
    fn the_word_behind_the_option() {
        let line = b"/usr/bin/hydra_pmi_proxy\0--control-port\0n1:40001\0--rmk\0slurm\0";
        assert_eq!(control_port(line), hash(b"n1:40001"));
        assert_eq!(control_port(b"sh\0-c\0--control-port=1\0"), 0);
        assert_eq!(control_port(b""), 0);
    }

    #[test]
    fn a_long_line_is_read_as_far_as_everybody_reads_it() {
        let behind = |bytes: usize| {
            let mut line: Vec<u8> = std::vec![b'x'; bytes];
            line.extend_from_slice(b"\0--control-port\0n1:1\0");
            control_port(&line)
        };
        assert_eq!(behind(2000), hash(b"n1:1"));
        assert_eq!(behind(COMMAND_LINE), 0);
    }
}
