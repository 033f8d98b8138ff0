//! Every field that a log can be asked for, by name: the sixteen tokens, the extras, and
//! what follows from them. Selection, grouping, listings and the manual use this table.

mod accelerator;
mod calendar;
mod class;
mod column;
mod compiler;
mod label;
mod literal;
mod mpi_version;
mod table;
mod value;

pub(crate) use calendar::{WEEKDAYS, civil_day};
pub(crate) use class::{ENDED_WELL, ending_class, is_from_outside};
pub(crate) use column::Column;
pub use label::label;
pub(crate) use label::seconds;
pub use literal::LiteralError;
pub(crate) use literal::literal;
pub use table::FIELDS;
pub use value::{MILLION, Value};

use std::borrow::Cow;
use std::fmt;

use topas_format::extra::ExportRule;
use topas_format::line::{Extras, Line};

/// What a field holds: how it compares, sorts and is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// Any bytes; equal or not, or matched by a regular expression
    Text,
    /// A number of a unit
    Number(FieldUnit),
    /// A day: [`Value::Number`] of days since 1970-01-01
    Day,
    /// A month: months since January of year 0
    Month,
    /// A week of ISO 8601: days since 1970-01-01 of its Monday
    Week,
    /// A time of day: seconds since midnight
    Time,
    /// A type of processor, known by its nominal frequency: MHz
    CpuType,
    /// Numbers by powers of two: the exponent k of the class from 2^(k-1)+1 to 2^k
    PowerOfTwo,
    /// Classes in an order of their own: the place in the list
    Class(&'static [&'static str]),
}

/// Unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldUnit {
    /// A count, or a number such as a rank
    None,
    /// Seconds
    Seconds,
    /// Bytes
    Bytes,
    /// Millions of cycles in a second
    Megahertz,
    /// Millions in a second
    MillionPerSecond,
    /// Hundredths
    Percent,
}

impl FieldUnit {
    /// Its symbol; empty for counts.
    pub const fn symbol(self) -> &'static str {
        match self {
            FieldUnit::None => "",
            FieldUnit::Seconds => "s",
            FieldUnit::Bytes => "B",
            FieldUnit::Megahertz => "MHz",
            FieldUnit::MillionPerSecond => "M/s",
            FieldUnit::Percent => "%",
        }
    }
}

impl fmt::Display for FieldKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldKind::Text => f.write_str("text"),
            FieldKind::Number(FieldUnit::None) => f.write_str("number"),
            FieldKind::Number(unit) => write!(f, "number, {}", unit.symbol()),
            FieldKind::Day => f.write_str("day, YYYY-MM-DD"),
            FieldKind::Month => f.write_str("month, YYYY-MM"),
            FieldKind::Week => f.write_str("week, YYYY-Www"),
            FieldKind::Time => f.write_str("time, HH:MM:SS"),
            FieldKind::CpuType => f.write_str("type, tMHZ"),
            FieldKind::PowerOfTwo => f.write_str("class"),
            FieldKind::Class(words) if words.len() <= 3 => f.write_str(&words.join("|")),
            FieldKind::Class(_) => f.write_str("class"),
        }
    }
}

/// Reads a size in bytes: `4096`, `512M`, `4GiB`.
///
/// # Errors
///
/// [`LiteralError`] if it is of another form, or no whole number of bytes.
pub fn parse_size(text: &str) -> Result<u64, LiteralError> {
    match literal(FieldKind::Number(FieldUnit::Bytes), text)? {
        Value::Number(n) if n % value::MILLION == 0 => {
            u64::try_from(n / value::MILLION).map_err(|_| LiteralError::Range)
        }
        _ => Err(LiteralError::Form("a whole number of bytes")),
    }
}

/// Whose a field is: what decides whether a condition selects runs or lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FieldScope {
    /// Of the launch: all lines of a run agree
    Launch,
    /// Of the run, whose lines may differ: that of the line with the lowest PE counts
    Run,
    /// Of the run, whose lines may differ: the last of its classes that a line is in counts
    Last,
    /// Of a single rank: each line has its own
    Rank,
}

/// Finds the value of a field in a line.
type ReadField = for<'a> fn(&Line<'a>, Extras<'a>) -> Value<'a>;

/// How the value of a field is got from a line.
#[derive(Clone, Copy)]
enum Read {
    /// By a function of the tokens and extras
    Of(ReadField),
    /// The extra of this name
    Extra,
}

/// A row of [`FIELDS`]: all that the tools know of a field.
#[derive(Clone)]
pub struct FieldRow {
    /// Name of the field
    pub name: &'static str,
    /// Another name that it is known by, or none
    pub also: &'static str,
    /// What it holds
    pub kind: FieldKind,
    /// Whose it is
    pub scope: FieldScope,
    /// What becomes of it where lines are handed on without names; None if no line holds it
    pub export: Option<ExportRule>,
    /// Whether a `-` is a value of its own; of all other fields it says that there is none
    dash_is_value: bool,
    read: Read,
    /// What it means, as a sentence
    pub about: &'static str,
    heading: &'static str,
    title: &'static str,
}

impl FieldRow {
    /// What it holds and, if that is so, that it is of a single rank: `number, s; of a rank`.
    pub fn holds(&self) -> String {
        let rank = if self.scope == FieldScope::Rank { "; of a rank" } else { "" };
        format!("{}{rank}", self.kind)
    }

    /// The heading above its values in a report: `PEs`, `Wall_time`.
    pub fn heading(&self) -> String {
        if self.heading.is_empty() { capital(self.name) } else { self.heading.to_owned() }
    }

    /// What the titles of pictures call it: `number of PEs`, `wall time`.
    pub fn title(&self) -> String {
        if self.title.is_empty() { self.name.replace('_', " ") } else { self.title.to_owned() }
    }

    fn called(self, heading: &'static str, title: &'static str) -> Self {
        FieldRow { heading, title, ..self }
    }
}

/// A word with its first letter as a capital.
fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A field that a query names.
#[derive(Clone)]
pub struct Field {
    name: Cow<'static, str>,
    kind: FieldKind,
    read: Read,
    /// Its row, if it is not an extra as it stands
    row: Option<&'static FieldRow>,
}

/// Prefix of names of extras that are read as they stand, known or not.
pub const RAW: &str = "extra.";

/// No field has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownField {
    /// The name as it was given
    pub name: String,
    /// A field of a similar name
    pub similar: Option<&'static str>,
    /// Whether it is a field of jobs, and no jobs were joined
    pub needs_sacct: bool,
}

/// Prefix of names of fields that have values only if jobs were joined.
const OF_JOBS: &str = "sacct.";

impl fmt::Display for UnknownField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.needs_sacct {
            return write!(f, "'{}' needs --sacct FILE", self.name);
        }
        write!(f, "no field is called '{}'", self.name)?;
        match self.similar {
            Some(similar) => write!(f, "; did you mean '{similar}'?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UnknownField {}

impl Field {
    /// The field of this name: one of [`FIELDS`], or `extra.KEY` for any extra as it
    /// stands in the line.
    ///
    /// # Errors
    ///
    /// [`UnknownField`] if there is none.
    pub fn named(name: &str) -> Result<Field, UnknownField> {
        let called = |row: &&FieldRow| !name.is_empty() && [row.name, row.also].contains(&name);
        if let Some(row) = FIELDS.iter().find(called) {
            let FieldRow { name, kind, read, .. } = *row;
            if name.starts_with(OF_JOBS) && !crate::sacct::is_joined() {
                return Err(UnknownField { name: name.into(), similar: None, needs_sacct: true });
            }
            return Ok(Field { name: name.into(), kind, read, row: Some(row) });
        }
        if let Some(key) = name.strip_prefix(RAW)
            && !key.is_empty()
        {
            let name = name.to_owned().into();
            return Ok(Field { name, kind: FieldKind::Text, read: Read::Extra, row: None });
        }
        Err(UnknownField { name: name.to_owned(), similar: similar(name), needs_sacct: false })
    }

    /// Its name in [`FIELDS`], or `extra.KEY`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it holds.
    pub fn kind(&self) -> FieldKind {
        self.kind
    }

    /// Whose it is. Of an extra as it stands, it is that of the field of its name.
    pub fn scope(&self) -> FieldScope {
        if let Some(row) = self.row {
            return row.scope;
        }
        let extra = self.name.strip_prefix(RAW).unwrap_or(&self.name);
        let row = FIELDS.iter().find(|row| row.name == extra);
        row.map_or(FieldScope::Rank, |row| row.scope)
    }

    /// The heading above its values in a report.
    pub fn heading(&self) -> String {
        self.row.map_or_else(|| capital(&self.name), FieldRow::heading)
    }

    /// What the titles of pictures call it.
    pub fn title(&self) -> String {
        self.row.map_or_else(|| self.name.replace('_', " "), FieldRow::title)
    }

    /// Whether a `-` that is compared with it is a value, not the lack of one.
    pub(crate) fn dash_is_value(&self) -> bool {
        self.row.is_some_and(|row| row.dash_is_value)
    }

    /// Its value in a line.
    #[inline]
    pub fn value<'a>(&self, line: &Line<'a>, extras: Extras<'a>) -> Value<'a> {
        match self.read {
            Read::Of(read) => read(line, extras),
            Read::Extra => {
                let key = self.name.strip_prefix(RAW).unwrap_or(&self.name);
                value::of_extra(extras.get(key.as_bytes()), self.kind)
            }
        }
    }
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// The field that has a name or a further name most similar to `name`.
fn similar(name: &str) -> Option<&'static str> {
    let names = FIELDS.iter().flat_map(|row| [(row.name, row.name), (row.also, row.name)]);
    most_similar(name, names.filter(|(known, _)| !known.is_empty()))
}

/// Of words and what they stand for, what the word stands for that the fewest changes of a
/// letter make of `word`, if two are enough.
pub(crate) fn most_similar(
    word: &str,
    known: impl Iterator<Item = (&'static str, &'static str)>,
) -> Option<&'static str> {
    let (changes, name) =
        known.map(|(known, name)| (strsim::levenshtein(word, known), name)).min()?;
    (changes <= 2).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use topas_format::extra::EXTRAS;

    #[test]
    fn every_field_of_the_format_is_here() {
        let tokens = topas_format::line::FIELDS.iter().map(|field| field.name);
        let extras = EXTRAS.iter().map(|extra| extra.name);
        let of_lines = FIELDS.iter().filter(|row| row.export.is_some()).map(|row| row.name);
        assert!(of_lines.eq(tokens.chain(extras)));
        let mut names: Vec<_> = FIELDS.iter().flat_map(|row| [row.name, row.also]).collect();
        names.retain(|name| !name.is_empty());
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all, "a name stands for two fields");
        for row in FIELDS.iter() {
            assert!(row.about.ends_with('.'), "{} has no description", row.name);
            // A selection holds the place of a class in a byte.
            let few = matches!(row.kind, FieldKind::Class(words) if words.len() < 255);
            assert!(row.scope != FieldScope::Last || few, "{}", row.name);
        }
    }

    #[test]
    fn fields_are_of_launches_runs_or_ranks() {
        let scope = |name: &str| Field::named(name).unwrap().scope();
        for (name, whose) in [
            ("user", FieldScope::Launch),
            ("npes_class", FieldScope::Launch),
            ("month", FieldScope::Run),
            ("extra.mpi", FieldScope::Run),
            ("ending", FieldScope::Last),
            ("host", FieldScope::Rank),
            ("wall_time", FieldScope::Rank),
            ("extra.what", FieldScope::Rank),
        ] {
            assert_eq!(scope(name), whose, "{name}");
        }
        assert_eq!(Field::named("npes").unwrap().row.unwrap().holds(), "number");
        assert_eq!(Field::named("host").unwrap().row.unwrap().holds(), "text; of a rank");
    }

    #[test]
    fn words_for_people() {
        let words = |name: &str| {
            let field = Field::named(name).unwrap();
            (field.heading(), field.title())
        };
        for (name, heading, title) in [
            ("npes", "PEs", "number of PEs"),
            ("mpi", "MPI", "MPI library"),
            ("cputype", "CPU", "type of processor"),
            ("wall_time", "Wall_time", "wall time"),
            ("host", "Host", "host"),
            ("extra.my_key", "Extra.my_key", "extra.my key"),
        ] {
            assert_eq!(words(name), (heading.to_owned(), title.to_owned()));
        }
    }

    #[test]
    fn names_and_their_neighbours() {
        assert_eq!(Field::named("mplib").unwrap().name(), "lib");
        assert_eq!(Field::named("langg").unwrap_err().similar, Some("lang"));
        assert_eq!(Field::named("mplb").unwrap_err().similar, Some("lib"));
        assert_eq!(Field::named("xyzzyxyzzy").unwrap_err().similar, None);
        assert!(Field::named("extra.").is_err() && Field::named("").is_err());
        assert_eq!(Field::named("extra.foo").unwrap().kind(), FieldKind::Text);
        // Letters are counted, not their bytes.
        assert_eq!(Field::named("längü").unwrap_err().similar, Some("lang"));
    }
}
