//! Names of functions as sentences have them.

/// The name of a function of C++ without what its types add: the arguments of templates and of the function, the type of
/// what it returns, and `const`. What is no such name stays as it is.
pub(super) fn short(name: &str) -> String {
    // `<T as Trait>::f` of Rust begins with what would be left out.
    if name.starts_with('<') || !name.contains(['<', '(']) {
        return name.to_owned();
    }
    let mut kept = String::new();
    let (mut depth, mut rest) = (0_usize, name);
    while let Some(letter) = rest.chars().next() {
        let sign = operator_sign(&kept, rest).filter(|_| depth == 0);
        let anonymous = rest.starts_with(ANONYMOUS).then_some(ANONYMOUS).filter(|_| depth == 0);
        if let Some(whole) = sign.or(anonymous) {
            kept += whole;
            rest = &rest[whole.len()..];
            continue;
        }
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(letter),
            _ => {}
        }
        rest = &rest[letter.len_utf8()..];
    }
    if depth > 0 {
        return name.to_owned();
    }
    let kept = kept.trim_end();
    let kept = kept.strip_suffix(" const").unwrap_or(kept);
    // The blank in front of the name, not that of `(anonymous namespace)` or of `operator bool`.
    let searched = kept.replace(ANONYMOUS, &"_".repeat(ANONYMOUS.len()));
    let end = searched.find("operator").unwrap_or(searched.len());
    let begin = searched[..end].rfind(' ').map_or(0, |blank| blank + 1);
    let short = kept[begin..].trim_start_matches(['*', '&']);
    if short.is_empty() { name.to_owned() } else { short.to_owned() }
}

const ANONYMOUS: &str = "(anonymous namespace)";

/// The sign of an operator that has brackets in it, which are none of arguments.
fn operator_sign<'r>(before: &str, rest: &'r str) -> Option<&'r str> {
    if !before.ends_with("operator") {
        return None;
    }
    let signs = ["<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "[]", "<", ">"];
    signs.into_iter().find(|sign| rest.starts_with(sign)).map(|sign| &rest[..sign.len()])
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn names_have_no_types() {
        for (name, told) in [
            ("main", "main"),
            ("solver::step", "solver::step"),
            (
                "void miniFE::cg_solve<miniFE::CSRMatrix<double, int, int>, double>(miniFE::CSRMatrix<double, int, int>&, double*)",
                "miniFE::cg_solve",
            ),
            (
                "miniFE::TypeTraits<miniFE::Vector<double>::ScalarType>::magnitude_type miniFE::dot<miniFE::Vector<double> >(miniFE::Vector<double> const&)",
                "miniFE::dot",
            ),
            ("Mesh::exchange(int, double*) const", "Mesh::exchange"),
            ("(anonymous namespace)::exchange(int)", "(anonymous namespace)::exchange"),
            ("void (anonymous namespace)::exchange<int>(int)", "(anonymous namespace)::exchange"),
            ("std::ostream& operator<< <char>(std::ostream&, char)", "operator<<"),
            ("A::operator()(int) const", "A::operator()"),
            ("A::operator bool() const", "A::operator bool"),
            (
                "run(int)::{lambda(double)#1}::operator()(double) const",
                "run::{lambda#1}::operator()",
            ),
            ("<app::Solver as app::Step>::step", "<app::Solver as app::Step>::step"),
            ("broken<int", "broken<int"),
        ] {
            assert_eq!(short(name), told);
        }
    }
}
