//! Fields that are made from a single token or extra.

use topas_format::line;

use super::{Field, RAW};

/// What a field is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// The token of this number, from 0
    Token(usize),
    /// The extra of this key
    Extra(Vec<u8>),
}

impl Field {
    /// The only token or extra that its value depends on; None if that is not known of the field.
    pub(crate) fn column(&self) -> Option<Column> {
        let token = |name: &str| line::FIELDS.iter().position(|field| field.name == name);
        let name = self.name();
        let of = match name {
            "month" | "week" | "year" | "weekday" => "date",
            "hour" => "time",
            "cputype" => "mhz",
            "npes_class" => "npes",
            name => name,
        };
        if let Some(number) = token(of) {
            return Some(Column::Token(number));
        }
        let extra = match name.strip_prefix(RAW).unwrap_or(name) {
            "compiler" => "cc",
            "mpi_name" => "mpi",
            extra if name.starts_with(RAW) => extra,
            extra if topas_format::extra::EXTRAS.iter().any(|known| known.name == extra) => extra,
            _ => return None,
        };
        // Such a key is of no token.
        (!extra.contains('=')).then(|| Column::Extra(extra.as_bytes().to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use topas_format::line::Line;

    use super::*;
    use crate::field::FIELDS;

    /// Lines of which each differs from the others in all tokens and extras.
    const LINES: [&str; 3] = [
        "2026/11/20 08:01:02 anna heat 1 16 t2596 B f90 mpi 1.5 0.25 2.000001 f=12 34 id1 \
         v=1 t=1795161662 uid=7 host=n1 end=exit:0 cc=GCC:_(GNU)_12.3.0 mpi=Open_MPI_v4.1.4 gpu=cuda",
        "2025/02/03 17:11:12 bert cool 2 64 t3100 I cxx sma 2.5 0.75 9.000002 i~13 35 id2 \
         v=1 t=1738602672 uid=8 host=n2 end=sig:11 cc=clang_version_17.0.6 mpi=MPICH_Version:4.1.2",
        "1999/05/04 12:00:00 carl warm 3 8 - B c - 3.5 0.5 9999.5 l=- - 4711 v=1",
    ];

    /// A line with one token or extra of another.
    fn with(line: &str, column: &Column, of: &str) -> String {
        let words =
            |line: &'static str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
        let find = |line: &str| LINES.into_iter().find(|known| *known == line).unwrap();
        let (mut own, other) = (words(find(line)), words(find(of)));
        match column {
            Column::Token(number) => own[*number] = other[*number].clone(),
            Column::Extra(key) => {
                let key = String::from_utf8(key.clone()).unwrap() + "=";
                own.retain(|word| !word.starts_with(&key));
                let extra = other.iter().find(|word| word.starts_with(&key));
                own.extend(extra.cloned());
            }
        }
        own.join(" ")
    }

    #[test]
    fn a_field_depends_on_its_column_alone() {
        // The length is that of the whole line.
        for row in FIELDS.iter().filter(|row| row.name != "len") {
            let Ok(field) = Field::named(row.name) else { continue };
            let Some(column) = field.column() else { continue };
            for line in LINES {
                for of in LINES {
                    let text = |text: &str| topas_testkit::with_lengths(text);
                    let (mixed, of) = (text(&with(line, &column, of)), text(of));
                    let (one, extras) = Line::parse(mixed.as_bytes()).unwrap();
                    let (other, other_extras) = Line::parse(of.as_bytes()).unwrap();
                    let value = field.value(&one, extras);
                    assert_eq!(value, field.value(&other, other_extras), "{}: {mixed}", row.name);
                }
            }
        }
    }

    #[test]
    fn fields_of_several_tokens_have_no_column() {
        for name in ["ending", "wall_class", "fpops", "pe_time", "cpu_time", "estimate", "metric"] {
            let column = Field::named(name).unwrap().column();
            assert!(column.is_none(), "{name}: {column:?}");
        }
        let raw = |name: &str| Field::named(name).unwrap().column();
        assert_eq!(raw("extra.a"), Some(Column::Extra(b"a".to_vec())));
        assert_eq!(raw("extra.a=b"), None);
        assert_eq!(raw("lang"), Some(Column::Token(8)));
    }
}
