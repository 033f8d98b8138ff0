//! Lines on standard error.

/// Prints a line on standard error as `eprintln!` does, but a full disk or a closed
/// stream is no reason to stop: the compiler is still to be run.
macro_rules! say {
    ($($text:tt)*) => {{
        let _ = std::io::Write::write_fmt(
            &mut std::io::stderr(),
            format_args!("{}\n", format_args!($($text)*)),
        );
    }};
}

pub(crate) use say;
