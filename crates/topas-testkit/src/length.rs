//! Lines of a log that a test composes.

/// The text with the `len=` that each of its lines with a version must have, at their ends;
/// what stands there is replaced. Other lines stay as they are.
pub fn with_lengths(text: &str) -> String {
    let whole = |line: &str| {
        let (line, newline) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        if !line.contains(" v=1") {
            return format!("{line}{newline}");
        }
        let line = line.rsplit_once(" len=").map_or(line, |(line, _)| line);
        format!("{line} len={:03}{newline}", line.len() + 8)
    };
    text.split_inclusive('\n').map(whole).collect()
}
