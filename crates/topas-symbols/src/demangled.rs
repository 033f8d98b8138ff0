//! Names of C++ and Rust as the source has them.

use std::fmt::{self, Write};

use cpp_demangle::{DemangleOptions, Symbol};

/// Most bytes of a name: each part of a name may stand for all parts before it, so the length can
/// double with every few bytes.
const LONGEST: usize = 1 << 16;

/// A text that takes no more than [`LONGEST`] bytes.
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// The name in the source; None if it is the same, or too long.
pub fn demangled(name: &str) -> Option<String> {
    let mut text = Bounded(String::new());
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        write!(text, "{rust:#}").ok()?;
    } else {
        let symbol = Symbol::new(name).ok()?;
        symbol.structured_demangle(&mut text, &DemangleOptions::default()).ok()?;
    }
    Some(text.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_both_languages() {
        assert_eq!(demangled("_ZN4Grid8exchangeEi").as_deref(), Some("Grid::exchange(int)"));
        assert_eq!(demangled("_RNvC4heat4main").as_deref(), Some("heat::main"));
        assert_eq!(demangled("main"), None);
    }

    #[test]
    fn no_name_takes_all_memory() {
        // Each parameter is a pair of the one before it: 2^60 names.
        let mut name = "_Z1fSt4pairIiiE".to_owned();
        for number in 0..60 {
            let before = match number {
                0 => "S0_".to_owned(),
                _ => format!("S{}_", base_36(number)),
            };
            name += &format!("S_I{before}{before}E");
        }
        assert_eq!(demangled(&name), None, "{name}");
    }

    /// A number as substitutions have it.
    fn base_36(number: u32) -> String {
        let digit = |n: u32| char::from_digit(n, 36).unwrap().to_ascii_uppercase();
        if number < 36 {
            digit(number).to_string()
        } else {
            format!("{}{}", digit(number / 36), digit(number % 36))
        }
    }
}
