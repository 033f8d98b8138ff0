//! Sentences with facts in them: `{wall}`, and parameters of their rule: `{$share}`.

use crate::fact::{Fact, FactValue, FactValues};

/// A sentence with its values: texts and facts, in their order.
pub type FindingWords = Vec<FindingWord>;

/// A piece of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub enum FindingWord {
    /// Text as it is
    Text(String),
    /// The value of a fact, to be written with the unit of the fact
    Value(&'static Fact, FactValue),
}

impl FindingWord {
    /// What it says, whatever fact it is of.
    pub(crate) fn value(&self) -> FactValue {
        match self {
            FindingWord::Text(text) => FactValue::Text(text.clone()),
            FindingWord::Value(_, value) => value.clone(),
        }
    }

    /// The number that it says.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            FindingWord::Value(_, FactValue::Number(value)) => Some(*value),
            FindingWord::Value(..) | FindingWord::Text(_) => None,
        }
    }
}

/// Puts a sentence behind others.
pub(crate) fn add_sentence(all: &mut FindingWords, sentence: FindingWords) {
    all.push(between_sentences());
    all.extend(sentence);
}

/// The sentences among these that are not among others, which are told with them.
pub(crate) fn without_told(all: FindingWords, told: &[FindingWord]) -> FindingWords {
    let sentences = |of| <[FindingWord]>::split(of, |word| *word == between_sentences());
    let is_told = |one: &&[FindingWord]| sentences(told).any(|other| other == *one);
    let rest: Vec<_> = sentences(&all).filter(|one| !is_told(one)).collect();
    rest.join(&between_sentences())
}

/// What is between two sentences; no template of a sentence has it between two facts.
fn between_sentences() -> FindingWord {
    FindingWord::Text(" ".to_owned())
}

/// A sentence whose values are not known yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    Fact(&'static Fact),
}

impl Template {
    /// The sentence that a text says, in which parameters have been replaced.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let (before, from) = rest.split_at(open);
            let close = from.find('}').ok_or("a { without its }")?;
            let name = &from[1..close];
            let fact = Fact::named(name).ok_or_else(|| format!("there is no fact {{{name}}}"))?;
            pieces.push(Piece::Text(before.to_owned()));
            pieces.push(Piece::Fact(fact));
            rest = &from[close + 1..];
        }
        pieces.push(Piece::Text(rest.to_owned()));
        pieces.retain(|piece| *piece != Piece::Text(String::new()));
        Ok(Template(pieces))
    }

    /// The facts in it.
    pub(crate) fn facts(&self) -> impl Iterator<Item = &'static Fact> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Fact(fact) => Some(*fact),
            Piece::Text(_) => None,
        })
    }

    /// The sentence with these values; None if one is missing.
    pub(crate) fn fill(&self, facts: &FactValues) -> Option<FindingWords> {
        let word = |piece: &Piece| match piece {
            Piece::Text(text) => Some(FindingWord::Text(text.clone())),
            Piece::Fact(fact) => Some(FindingWord::Value(fact, facts.get(fact.name)?.clone())),
        };
        self.0.iter().map(word).collect()
    }
}
