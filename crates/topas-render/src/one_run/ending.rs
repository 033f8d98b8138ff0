//! How a run ended, in words.

use topas_data::RunRecord;
use topas_findings::signal_name;

use super::named;
use crate::runs::length;
use crate::wording::{clean, count};

/// What became of a PE: `ended normally (exit:0)`.
pub(super) fn words(end: &[u8]) -> String {
    let end = clean(end);
    if let Some(signal) = end.strip_prefix("sig:") {
        let name = signal.parse().ok().and_then(signal_name);
        let name = name.map_or_else(String::new, |name| format!(" ({name})"));
        return format!("was ended by signal {signal}{name}");
    }
    match end.strip_prefix("exit:") {
        Some("0") => "ended normally (exit:0)".to_owned(),
        Some(code) => format!("ended with exit code {code}"),
        None if end == "abort" => "was aborted (SIGABRT)".to_owned(),
        None if end.is_empty() => "ended in a way that is not known".to_owned(),
        None => format!("ended as '{end}'"),
    }
}

/// Program, PEs, time, and how it ended; of each PE, if they differ.
pub(super) fn sentence(facts: &RunRecord) -> String {
    let begin = format!(
        "{} of {} ran on {} for {}",
        named(&facts.exe),
        named(&facts.user),
        count(facts.booked.into(), "PE"),
        length(facts.wall.into())
    );
    let mut groups: Vec<(&[u8], Vec<String>)> = Vec::new();
    for line in &facts.lines {
        let pe = line.record.pe.to_string();
        match groups.iter_mut().find(|(end, _)| *end == &*line.end) {
            Some((_, pes)) => pes.push(pe),
            None => groups.push((&line.end, vec![pe])),
        }
    }
    match &groups[..] {
        [(end, _)] => format!("{begin} and {}.", words(end)),
        groups => {
            let one = |(end, pes): &(&[u8], Vec<String>)| {
                let those = if pes.len() == 1 { "PE" } else { "PEs" };
                let mut words = words(end);
                if pes.len() > 1 {
                    words = words.replacen("was ", "were ", 1);
                }
                format!("{those} {} {words}", pes.join(", "))
            };
            let parts: Vec<String> = groups.iter().map(one).collect();
            format!("{begin}; {}.", parts.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn endings_in_words() {
        for (end, expected) in [
            ("exit:0", "ended normally (exit:0)"),
            ("exit:3", "ended with exit code 3"),
            ("abort", "was aborted (SIGABRT)"),
            ("sig:11", "was ended by signal 11 (SIGSEGV)"),
            ("sig:64", "was ended by signal 64"),
            ("", "ended in a way that is not known"),
            ("x\x1b", "ended as 'x\u{fffd}'"),
        ] {
            assert_eq!(words(end.as_bytes()), expected);
        }
    }
}
