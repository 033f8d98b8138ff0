//! What the terminal can show: width, colour, characters.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use topas_config::Environment;

/// Width where nobody tells it.
const DEFAULT_WIDTH: usize = 80;

/// The user's word on colour, as an option `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorWish {
    /// On a terminal that can show it
    #[default]
    Auto,
    /// Also into a pipe or a file
    Always,
    /// None
    Never,
}

/// How text may look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Columns: `COLUMNS`, else those of the terminal, else 80
    pub width: usize,
    /// Whether one of the first two told the columns: else nobody sees where a line ends
    pub has_width: bool,
    /// Whether colour is shown; it never carries a meaning alone
    pub color: bool,
    /// Whether the locale has characters beyond ASCII, such as block characters
    pub unicode: bool,
}

impl Look {
    /// Of text on `stream`.
    ///
    /// Colour: the option; else none if `NO_COLOR` is set and not empty; else if
    /// `CLICOLOR_FORCE` or `FORCE_COLOR` is; else on a terminal whose `TERM` is not `dumb`.
    pub fn of(env: &Environment, wish: ColorWish, stream: &(impl IsTerminal + AsFd)) -> Self {
        let terminal = stream.is_terminal();
        let color = match wish {
            ColorWish::Always => true,
            ColorWish::Never => false,
            ColorWish::Auto if env.no_color() => false,
            ColorWish::Auto => env.forces_color() || terminal && !env.is_dumb_terminal(),
        };
        let size = || terminal_size::terminal_size_of(stream).map(|(width, _)| width.0.into());
        let width = env.columns().filter(|&width| width > 0);
        let width = width.or_else(|| size().filter(|&width: &usize| width > 0));
        let has_width = width.is_some();
        Look { width: width.unwrap_or(DEFAULT_WIDTH), has_width, color, unicode: env.is_utf8() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn look(variables: &[(&str, &str)], wish: ColorWish) -> Look {
        let file = File::open("/dev/null").unwrap();
        Look::of(&variables.iter().copied().collect(), wish, &file)
    }

    #[test]
    fn colour_is_decided_in_the_order_that_is_promised() {
        let color = |variables: &[(&str, &str)], wish| look(variables, wish).color;
        assert!(!color(&[], ColorWish::Auto));
        assert!(color(&[("FORCE_COLOR", "1")], ColorWish::Auto));
        assert!(color(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "")], ColorWish::Auto));
        assert!(!color(&[("FORCE_COLOR", "1"), ("NO_COLOR", "1")], ColorWish::Auto));
        assert!(!color(&[("FORCE_COLOR", "0")], ColorWish::Auto));
        assert!(color(&[("NO_COLOR", "1")], ColorWish::Always));
        assert!(!color(&[("FORCE_COLOR", "1")], ColorWish::Never));
    }

    #[test]
    fn width_and_characters() {
        let auto = ColorWish::Auto;
        assert_eq!(look(&[], auto).width, 80);
        assert_eq!(look(&[("COLUMNS", "132")], auto).width, 132);
        assert!(look(&[("COLUMNS", "132")], auto).has_width);
        assert!(!look(&[("COLUMNS", "0")], auto).has_width);
        assert_eq!(look(&[("COLUMNS", "0")], auto).width, 80);
        assert!(!look(&[], auto).unicode);
        assert!(look(&[("LANG", "de_DE.UTF-8")], auto).unicode);
        assert!(look(&[("LANG", "C"), ("LC_CTYPE", "C.utf8")], auto).unicode);
        assert!(!look(&[("LANG", "C.UTF-8"), ("LC_ALL", "C")], auto).unicode);
        assert!(look(&[("LANG", "C.UTF-8"), ("LC_ALL", "")], auto).unicode);
    }
}
