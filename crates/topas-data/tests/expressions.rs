//! Conditions on lines: what they mean, and what is said of bad ones.

use proptest::prelude::*;
use topas_data::field::{FieldKind, FieldUnit, Value};
use topas_data::{Expression, ExpressionError, Operand, UnknownOperand, Valuation};
use topas_format::line::Line;

const HEAT: &str = "2026/11/20 08:01:02 mohr heat3d 5 16 t2596 B f90 mpi 12.340 0.120 12.460 \
    f=123456789 4567 81f277aa v=1 t=1795161662 end=exit:0 host=n42 mpi=Open_MPI_v4.1.4 rss=4294967296";
const CG: &str = "1999/05/04 23:59:59 a%20b cg 0 - - I - - 0.0 0.0 0.0 i=- - -";

fn is(text: &str, line: &str) -> bool {
    let line = topas_testkit::with_lengths(line);
    let (line, extras) = Line::parse(line.as_bytes()).unwrap();
    Expression::parse(text).unwrap_or_else(|e| panic!("{text}: {e}")).is_true(&line, extras)
}

#[test]
fn comparisons() {
    for text in [
        "lang = f90",
        "lang==f90 and mode=B",
        "user != root",
        "npes >= 16 and npes <= 16",
        "npes > 15.999999",
        "wall_time > 12s and wall_time < 0.01h and wall_time < 5m",
        "ops > 123M and ops < 0.2G",
        "rss = 4GiB",
        "date = 2026-11-20 and month = 2026-11 and week = 2026-W47 and weekday = Fri",
        "time >= 08:00 and hour = 8 and year = 2026",
        "cputype = t2596 and mhz > 2GHz",
        "exe ~ ^heat and exe !~ 2d$",
        "exe ~ '^(heat|cg)'",
        "mpi = 'Open MPI 4.1.4' and mpi_name = \"Open MPI\"",
        "extra.mpi = Open_MPI_v4.1.4",
        "ending = ok and npes_class = 9-16 and wall_class = 10-60s",
        "metric = fpops and fpops = 123456789 and intops = -",
        "lang = c or lang = f90",
        "not lang = c",
        "NOT (lang = c OR lang = cxx) AND npes=16",
        // `and` binds closer than `or`.
        "lang = f90 or lang = c and npes = 1",
        "pe_time = 199.36 and cpu_time = 12.46",
        // Two fields of one kind.
        "sys_time < user_time and cpu_time <= wall_time and cpu_time = wall_time",
        "npes > pe and not pe >= npes",
    ] {
        assert!(is(text, HEAT), "{text}");
        assert!(!is(&format!("not ({text})"), HEAT), "not ({text})");
    }
}

#[test]
fn not_measured_is_neither_true_nor_false() {
    for text in [
        "ops = 0",
        "ops != 0",
        "ops >= 0",
        "npes < 5",
        "lang != c",
        "host ~ ''",
        "mhz > 0",
        "pe < npes",
    ] {
        assert!(!is(text, CG), "{text}");
        assert!(!is(&format!("not {text}"), CG), "not {text}");
    }
    for text in ["ops = -", "npes = -", "lang = -", "host = -", "id = -", "extra.nothing = -"] {
        assert!(is(text, CG), "{text}");
        assert!(!is(&text.replace('=', "!="), CG), "{text}");
        assert!(!is(&format!("not {text}"), CG), "not {text}");
    }
    // Unknown or true is true; unknown and false is false.
    assert!(is("ops > 5 or user = 'a b'", CG));
    assert!(is("not (ops > 5 and user = x)", CG));
    assert!(!is("ops > 5 or user = x", CG));
    // No message passing library is a value.
    assert!(is("lib = - and lib != mpi", CG));
}

fn bad(text: &str) -> ExpressionError {
    match Expression::parse(text) {
        Err(error) => error,
        Ok(expression) => panic!("{text:?} is {expression:?}"),
    }
}

#[test]
fn bad_ones_tell_the_place() {
    for (text, marked, what) in [
        ("", "", "a name is expected here"),
        ("npes", "", "a comparison is expected here"),
        ("npes >=", "", "a value is expected here"),
        ("npes >= 64 lang = c", "lang", "'and' or 'or' is expected here"),
        ("npez > 5", "npez", "no field is called 'npez'; did you mean 'npes'?"),
        ("npes > many", "many", "npes cannot be 'many': not a number such as 12, 0.5, 2.5G"),
        ("npes ~ 1", "~", "npes is no text, so nothing can match it"),
        (
            "npes > wall_time",
            "wall_time",
            "npes cannot be compared with wall_time: their units differ",
        ),
        ("pe < 'npes'", "'npes'", "pe cannot be 'npes': not a number such as 12, 0.5, 2.5G"),
        ("user < m", "<", "user is a text, which is neither less nor more"),
        ("exe ~ a[", "a[", "no regular expression: unclosed character class"),
        ("exe = 'a", "'", "a quote that is not closed"),
        ("(npes = 1", "", "a ')' is missing here"),
        ("npes = 1)", ")", "a ')' without its '('"),
        ("wall_time > 5 and", "", "a name is expected here"),
        (
            "date > yesterday",
            "yesterday",
            "date cannot be 'yesterday': not a day such as 2026-11-20",
        ),
        (
            "weekday = Friday",
            "Friday",
            "weekday cannot be 'Friday': not one of Mon Tue Wed Thu Fri Sat Sun",
        ),
        ("ops = (5)", "(", "a value is expected here"),
    ] {
        let error = bad(text);
        assert_eq!((&text[error.at..error.end], error.what.as_str()), (marked, what), "{text}");
    }
    assert_eq!(
        bad("größe = 1 or npez > 5").marked("größe = 1 or npez > 5"),
        "größe = 1 or npez > 5\n^^^^^"
    );
    assert_eq!(
        bad("npes = 1 or npez > 5").marked("npes = 1 or npez > 5"),
        "npes = 1 or npez > 5\n            ^^^^"
    );
}

#[test]
fn nesting_has_an_end() {
    let nested = |n| format!("{}npes = 16{}", "(".repeat(n), ")".repeat(n));
    assert!(is(&nested(63), HEAT));
    assert!(bad(&nested(64)).what.contains("64 levels"));
    assert!(bad(&"(".repeat(100_000)).what.contains("64 levels"));
    assert!(bad(&"not ".repeat(100_000)).what.contains("64 levels"));
    // Long without nesting is no harm.
    assert!(is(&vec!["npes = 16"; 10_000].join(" and "), HEAT));
}

/// A number of some name.
#[derive(Clone, Debug)]
struct NamedOperand(&'static str);

impl Operand for NamedOperand {
    fn name(&self) -> &str {
        self.0
    }

    fn kind(&self) -> FieldKind {
        FieldKind::Number(if self.0 == "wait" { FieldUnit::Seconds } else { FieldUnit::Percent })
    }
}

struct OperandNumbers;

impl Valuation<NamedOperand> for OperandNumbers {
    fn value(&self, operand: &NamedOperand) -> Value<'_> {
        match operand.0 {
            "wait" => Value::whole(90),
            "share" => Value::Number(12_500_000),
            _ => Value::Missing,
        }
    }
}

#[test]
fn expressions_are_over_any_names() {
    let named = |name: &str| match ["wait", "share", "unknown"].iter().find(|n| **n == name) {
        Some(name) => Ok(NamedOperand(name)),
        None => Err(UnknownOperand { what: format!("no {name}"), hint: "look".to_owned() }),
    };
    for (text, truth) in [
        ("wait > 1m and share = 12.5%", Some(true)),
        ("wait > 2m or share > 50%", Some(false)),
        ("wait > 2m or unknown > 50", None),
        ("wait > 1m or not unknown > 50", Some(true)),
        ("unknown = - and wait != -", Some(true)),
    ] {
        let expression = Expression::parse_with(text, named).unwrap();
        assert_eq!(expression.truth(&OperandNumbers), truth, "{text}");
        assert_eq!(expression.operands().len(), 2);
    }
    let error = Expression::parse_with("wait > 5 and x = 1", named).unwrap_err();
    assert_eq!((error.at, error.what.as_str(), error.hint.as_str()), (13, "no x", "look"));
}

/// An expression over three facts, and what it is by two-valued logic.
fn known() -> impl Strategy<Value = (String, bool)> {
    let leaf = prop_oneof![
        Just(("lang = f90".to_owned(), true)),
        Just(("npes<16".to_owned(), false)),
        Just(("ops!=-".to_owned(), true)),
        Just(("exe ~ 'x y'".to_owned(), false)),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|(text, truth)| (format!("not ({text})"), !truth)),
            (inner.clone(), inner.clone())
                .prop_map(|((a, x), (b, y))| (format!("({a}) and ({b})"), x && y)),
            (inner.clone(), inner).prop_map(|((a, x), (b, y))| (format!("({a}) or ({b})"), x || y)),
        ]
    })
}

proptest! {
    #[test]
    fn logic((text, truth) in known()) {
        prop_assert_eq!(is(&text, HEAT), truth);
    }

    #[test]
    fn any_text_is_read_or_refused_at_a_place_in_it(text in "\\PC{0,60}") {
        if let Err(error) = Expression::parse(&text) {
            prop_assert!(error.at <= error.end && error.end <= text.len());
            prop_assert!(text.is_char_boundary(error.at) && text.is_char_boundary(error.end));
            let _ = error.marked(&text);
        }
    }

    #[test]
    fn words_of_the_grammar_in_any_order(words in proptest::collection::vec(
        proptest::sample::select(vec![
            "npes", "lang", "and", "or", "not", "(", ")", "=", "!=", "<", "~", "-", "16", "f90",
            "'", "\"q\"", "ops", "2G", "date", "2026-11-20",
        ]), 0..14)) {
        for glue in [" ", ""] {
            let text = words.join(glue);
            if let Err(error) = Expression::parse(&text) {
                prop_assert!(error.end <= text.len() && text.is_char_boundary(error.at));
            }
        }
    }

    #[test]
    fn numbers_compare_as_numbers(a in 0..u32::MAX, b in 0..u32::MAX) {
        let line = HEAT.replace(" 5 16 ", &format!(" 5 {a} "));
        for (sign, truth) in [("<", a < b), ("<=", a <= b), ("=", a == b), (">", a > b), ("!=", a != b)] {
            prop_assert_eq!(is(&format!("npes {sign} {b}"), &line), truth);
        }
    }
}
