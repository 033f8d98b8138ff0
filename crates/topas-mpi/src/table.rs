//! Tables of text in which no cell acts on the terminal.

use topas_format::shown::Shown;

/// Text that a program gave as a cell: nothing acts on the terminal, and no blank ends the cell.
pub fn cell(text: &[u8]) -> String {
    if text.is_empty() { "-".to_owned() } else { Shown(text).to_string().replace(' ', "?") }
}

/// Lines of rows whose columns are aligned: words to the left, numbers to the right.
pub fn aligned<const N: usize>(rows: &[[String; N]], is_word: impl Fn(usize) -> bool) -> String {
    let length = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: [usize; N] = std::array::from_fn(|column| length(column).unwrap_or(0));
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            line += &match is_word(column) {
                true => format!("{cell:<width$}  "),
                false => format!("{cell:>width$}  "),
            };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_cells_do_nothing() {
        let rows = [["N", "NAME"].map(str::to_owned), ["1000".to_owned(), cell(b"a b\x1b[2J")]];
        assert_eq!(aligned(&rows, |column| column == 1), "   N  NAME\n1000  a?b%1B[2J\n");
        assert_eq!(cell(b""), "-");
    }
}
