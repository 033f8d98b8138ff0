//! What is asked of a log: which lines and runs count.

mod expression;
mod lexer;
mod parser;
mod selection;

pub use expression::{Expression, Operand, UnknownOperand, Valuation};
pub use parser::{ExpressionError, MOST_NESTED};
pub use selection::Selection;
