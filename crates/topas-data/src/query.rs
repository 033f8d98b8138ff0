//! What is asked of a log: which lines count, and by what they are grouped.

mod expression;
mod lexer;
mod parser;
mod selection;

pub use expression::Expression;
pub use parser::{ExpressionError, MOST_NESTED};
pub use selection::Selection;
