//! The id of a launch, for launchers that give their ranks none.

use std::fs::File;
use std::io::Read;

/// Bytes of randomness in an id.
const BYTES: usize = 16;

/// A fresh id: 32 hexadecimal digits. `None` if the system has no randomness to give;
/// the module then finds another way.
pub fn fresh() -> Option<String> {
    let mut random = [0; BYTES];
    File::open("/dev/urandom").ok()?.read_exact(&mut random).ok()?;
    Some(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_32_digits_and_differ() {
        let (a, b) = (fresh().unwrap(), fresh().unwrap());
        assert_eq!(a.len(), 2 * BYTES);
        assert!(a.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase()));
        assert_ne!(a, b);
    }
}
