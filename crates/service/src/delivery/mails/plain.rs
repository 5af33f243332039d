//! A letter as plain text, in lines of at most 72 columns. It says the same as the HTML, in the same order.

use super::letter::{Block, Footer, Letter, Row};

/// The longest line. Only a word that is longer, such as a link, gets a longer one.
const COLUMNS: usize = 72;

/// Writes a letter as text.
pub(super) fn write(letter: &Letter) -> String {
    let heading = wrap(&letter.heading);
    let underline = "=".repeat(heading.lines().map(width).max().unwrap_or_default());
    let mut parts = vec![wrap(&letter.shop), format!("{heading}\n{underline}")];
    parts.extend(letter.blocks.iter().map(block));
    let footer: Vec<String> = letter.footer.iter().map(footer).collect();
    // Mail programs cut an answer off at this line.
    format!("{}\n\n-- \n{}\n", parts.join("\n\n"), footer.join("\n"))
}

fn block(block: &Block) -> String {
    match block {
        Block::Paragraph(words) | Block::Note(words) => wrap(words),
        Block::Code { label, code } => wrap(&format!("{label}: {code}")),
        Block::Button { words, link } => format!("{}\n{link}", wrap(&format!("{words}:"))),
        Block::Rows(lines) => rows(lines),
        Block::Steps { heading, steps } => {
            let listed = match steps.as_slice() {
                [only] => wrap(only),
                steps => {
                    let numbered = (1..).zip(steps).map(|(number, step): (u32, _)| wrap(&format!("{number}. {step}")));
                    numbered.collect::<Vec<_>>().join("\n")
                }
            };
            format!("{}\n\n{listed}", wrap(&heading.to_uppercase()))
        }
    }
}

fn footer(line: &Footer) -> String {
    match line {
        Footer::Words(words) => wrap(words),
        Footer::Phone { words, phone, .. } => wrap(&format!("{words} {phone}.")),
        Footer::Links(links) => rows(links),
    }
}

fn rows(rows: &[Row]) -> String {
    rows.iter().map(|row| wrap(&format!("{}: {}", row.name, row.value))).collect::<Vec<_>>().join("\n")
}

/// Breaks a text into lines between its words.
fn wrap(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut().filter(|line| width(line) + 1 + width(word) <= COLUMNS) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn wrapping_keeps_every_word_and_no_line_is_longer_than_it_must_be(text in "(\\PC{0,90}[ \n]?){0,12}") {
            let wrapped = wrap(&text);
            prop_assert_eq!(wrapped.split_whitespace().collect::<Vec<_>>(), text.split_whitespace().collect::<Vec<_>>());
            for line in wrapped.lines() {
                prop_assert!(width(line) <= COLUMNS || !line.contains(' '), "{line}");
            }
            let lines: Vec<&str> = wrapped.split('\n').collect();
            for pair in lines.windows(2) {
                let first = pair[1].split_whitespace().next().unwrap_or_default();
                prop_assert!(width(pair[0]) + 1 + width(first) > COLUMNS, "{:?} has room for {first}", pair[0]);
            }
        }
    }
}
