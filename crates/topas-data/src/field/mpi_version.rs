//! MPI libraries by implementation and version, from what they say of themselves.

use std::borrow::Cow;

use topas_format::line::Extras;

use super::Value;
use super::value::of_name;

/// What an implementation calls itself, and its short name.
const NAMES: &[(&str, &str)] = &[
    ("Intel(R) MPI Library", "Intel MPI"),
    ("CRAY MPICH", "Cray MPICH"),
    ("HPE MPT", "HPE MPT"),
    ("SGI MPT", "SGI MPT"),
];

/// Implementation and version, as far as they are told.
fn parts(extras: Extras<'_>) -> Option<(String, Option<String>)> {
    let Value::Text(text) = of_name(extras.name(b"mpi")?) else { return None };
    let text = String::from_utf8_lossy(&text).replace('_', " ");
    // A library that the program opened has told nothing but its file name.
    if text.contains(".so") {
        return Some((text, None));
    }
    let begins = |(at, _): &(usize, char)| text[..*at].ends_with([' ', 'v', ':']) || *at == 0;
    let digits = text.char_indices().filter(|(_, c)| c.is_ascii_digit());
    let Some((at, _)) = digits.into_iter().find(begins) else { return Some((text, None)) };
    let (name, rest) = text.split_at(at);
    let end = rest.find([' ', ',', '/']).unwrap_or(rest.len());
    let mut name = name.trim_end();
    for word in ["v", ":", "Version", "version"] {
        name = name.strip_suffix(word).unwrap_or(name).trim_end();
    }
    let known = NAMES.iter().find(|(long, _)| name == *long);
    let name = known.map_or(name, |(_, short)| short);
    if name.is_empty() {
        return Some((text, None));
    }
    Some((name.to_owned(), Some(rest[..end].to_owned())))
}

/// `Open MPI 4.1.4`.
pub(super) fn version<'a>(extras: Extras<'_>) -> Value<'a> {
    match parts(extras) {
        Some((name, Some(version))) => text(format!("{name} {version}")),
        Some((name, None)) => text(name),
        None => Value::Missing,
    }
}

/// `Open MPI`.
pub(super) fn name<'a>(extras: Extras<'_>) -> Value<'a> {
    parts(extras).map_or(Value::Missing, |(name, _)| text(name))
}

fn text<'a>(text: String) -> Value<'a> {
    Value::Text(Cow::Owned(text.into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_libraries() {
        for (mpi, version_, name_) in [
            ("Open_MPI_v4.1.4", "Open MPI 4.1.4", "Open MPI"),
            ("Open_MPI_v5.0.0rc12", "Open MPI 5.0.0rc12", "Open MPI"),
            ("MPICH_Version:_4.0.2", "MPICH 4.0.2", "MPICH"),
            ("MVAPICH2_Version_:_2.3.7", "MVAPICH2 2.3.7", "MVAPICH2"),
            ("Intel(R)_MPI_Library_2021.11_for_Linux*_OS", "Intel MPI 2021.11", "Intel MPI"),
            ("CRAY_MPICH_version_8.1.28.2", "Cray MPICH 8.1.28.2", "Cray MPICH"),
            ("libmpi.so.40", "libmpi.so.40", "libmpi.so.40"),
            ("HPE_MPT_2.25__08/14/21", "HPE MPT 2.25", "HPE MPT"),
            ("strange", "strange", "strange"),
            ("7", "7", "7"),
        ] {
            let line = format!("1999/05/04 12:00:00 u x 1 2 - B c - 0 0 1 f=- - 1 v=1 mpi={mpi}");
            let line = topas_testkit::with_lengths(&line);
            let (_, extras) = topas_format::line::Line::parse(line.as_bytes()).unwrap();
            assert_eq!(version(extras), text(version_.to_owned()), "{mpi}");
            assert_eq!(name(extras), text(name_.to_owned()), "{mpi}");
        }
        assert_eq!(name(Extras::default()), Value::Missing);
    }
}
