//! The first proxy of a hydra: up to version 4, it has a proxy and a port of its own for each world that ranks start.
//!
//! The launcher itself is the parent of the proxies on its node, and of what starts them on others. All have their port in
//! their command line, and the first of them is that of the world that the user launched.

use topas_format::out::Out;
use topas_launch::Proof;
use topas_node::proof::{KernelProof, OnStack};
use topas_node::sys as kernel;

/// Processes of a launcher that are looked at. The first is there as long as the launch.
const LOOKED_AT: usize = 16;

/// The port to which the first process was told to connect that the launcher of this proxy has started; 0 if that
/// is not known, as of a proxy on another node.
pub fn port(proxy: u32, room: &mut [u8]) -> u64 {
    let launcher = parent(with_path(proxy, b"/stat", room)).unwrap_or(0);
    if launcher <= 1 {
        return 0;
    }
    let mut text = [0; 64];
    let mut path = Out::new(&mut text);
    path.put(b"/proc/").dec(launcher.into()).put(b"/task/").dec(launcher.into());
    path.put(b"/children");
    let mut started = [0; LOOKED_AT];
    let told = kernel::load(kernel::path(&mut path), room);
    for (place, word) in started.iter_mut().zip(told.split(|byte| *byte == b' ')) {
        *place = number(word).unwrap_or(0);
    }
    let mut proof = KernelProof { room, path: OnStack };
    let ports = started.iter().filter(|process| **process != 0);
    ports.map(|process| proof.control_port(*process)).find(|port| *port != 0).unwrap_or(0)
}

fn with_path<'r>(process: u32, file: &[u8], room: &'r mut [u8]) -> &'r [u8] {
    let mut text = [0; 64];
    let mut path = Out::new(&mut text);
    path.put(b"/proc/").dec(process.into()).put(file);
    kernel::load(kernel::path(&mut path), room)
}

/// The parent of a process, as its `stat` tells. Its name may have any byte.
fn parent(stat: &[u8]) -> Option<u32> {
    let name_ends = stat.iter().rposition(|byte| *byte == b')')?;
    number(stat.get(name_ends + 2..)?.split(|byte| *byte == b' ').nth(1)?)
}

fn number(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u32, |number, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number.checked_mul(10)?.checked_add(digit.into())
    })
}

#[cfg(test)]
mod tests {
    use super::{number, parent};

    #[test]
    fn the_parent_of_a_process_is_found() {
        assert_eq!(parent(b"123 (a ) (b) S 4711 2 3"), Some(4711));
        assert_eq!(parent(b"123 (a) S"), None);
        assert_eq!(parent(b""), None);
        assert_eq!((number(b""), number(b"12x"), number(b"99999999999")), (None, None, None));
    }
}
